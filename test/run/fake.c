/*
 * elector run over a library that a test directs by files in a folder ($ELECTOR_FAKE):
 *
 *     silent   somebody is there, and does not answer
 *     away     nobody answers           stalled   the lease is not renewed any more, and no event comes
 *     held     another leads            stop      asks for a hand-over, once for each file
 *     broken   the connection breaks    again     elects this member again as soon as it has stopped
 *     mute     no event tells of the loss after a stop
 *     gone     a campaign finds that the connection is broken, before any event tells
 *     crowded  no process can be created      answers   the agent answers who else stands, and a transfer
 *
 * Only the group `fake` is ever led; campaigns for others wait.
 *
 * The lease is $ELECTOR_FAKE_LEASE_MS (2000) and is renewed by every dispatch; the file `deadline` has the end of the last one.
 * The calls of `elector run` are appended to the file `log`, and each group whose candidacy it ends to `resigned`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "client/engine.h"
#include "elector.h"

enum { LOOK_MS = 20 };

struct elector {
    elector_callback *callback;
    void *whose;
    bool standing, leading, stopping, observed, is_asked, is_to_transfer;
    uint64_t token, deadline_ns;
    const char *message;
};

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("ELECTOR_FAKE"), name);
    return path;
}

static bool there_is(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

pid_t fork(void)
{
    pid_t (*real)(void) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "fork");
    if (real && !there_is("crowded")) return real();
    errno = EAGAIN;
    return -1;
}

static bool is_fake(const char *group)
{
    return strcmp(group, "fake") == 0;
}

static void append(const char *name, const char *what)
{
    FILE *file = fopen(path_of(name), "ae");
    if (!file) return;
    fprintf(file, "%s %llu\n", what, (unsigned long long)clock_boottime_ns());
    fclose(file);
}

static void write_log(const char *what)
{
    append("log", what);
}

static void extend(elector *e)
{
    const char *lease_ms = getenv("ELECTOR_FAKE_LEASE_MS");
    e->deadline_ns = clock_boottime_ns() + (lease_ms ? strtoull(lease_ms, NULL, 10) : 2000) * 1000000;
    char draft[4096];
    snprintf(draft, sizeof draft, "%s",
             path_of("deadline.new")); /* whole or not at all: we may be stopped here */
    FILE *file = fopen(draft, "we");
    if (!file) return;
    fprintf(file, "%llu\n", (unsigned long long)e->deadline_ns);
    fclose(file);
    rename(draft, path_of("deadline"));
}

static void tell(elector *e, elector_event event)
{
    event.size = sizeof event;
    event.group = "fake";
    event.token = e->token;
    event.deadline_ns = e->deadline_ns;
    event.reason = ELECTOR_REASON_OTHER;
    event.text = "the test says so";
    if (e->callback) e->callback(e->whose, &event);
}

static void lose(elector *e)
{
    if (!e->leading) return;
    e->leading = e->stopping = false;
    e->deadline_ns = 0;
    tell(e, (elector_event){.type = ELECTOR_LOST_OFFICE});
}

static void win(elector *e)
{
    static uint64_t tokens;
    e->token = ++tokens;
    e->leading = true;
    extend(e);
    tell(e, (elector_event){.type = ELECTOR_ELECTED});
}

elector_status elector_open(const char *url, elector **out)
{
    (void)url;
    *out = calloc(1, sizeof **out);
    if (!*out) return ELECTOR_NO_MEMORY;
    (*out)->message = "nobody answers";
    return there_is("away") ? ELECTOR_UNAVAILABLE : ELECTOR_OK;
}

void elector_close(elector *e)
{
    if (e && e->leading) write_log("closed");
    free(e);
}

const char *elector_message(const elector *e)
{
    return e->message;
}

void elector_options_init(elector_options *options, size_t size)
{
    *options = (elector_options){.size = size};
}

const char *elector_member(const elector *e)
{
    (void)e;
    return "myself";
}

elector_status engine_try_connection(elector *e)
{
    (void)e;
    if (!there_is("silent")) return ELECTOR_OK;
    write_log("hello");
    return ELECTOR_TIMEOUT;
}

bool engine_lacks(const elector *e, const char *what)
{
    (void)e, (void)what;
    return false;
}

bool engine_has_store(const elector *e)
{
    (void)e;
    return false;
}

bool engine_is_realtime(const elector *e)
{
    (void)e;
    return false;
}

int engine_socket(const elector *e)
{
    (void)e;
    return -1;
}

elector_status elector_campaign(elector *e, const char *group, const elector_options *options, int timeout_ms,
                                uint64_t *token) /* NOLINT(readability-non-const-parameter): as in elector.h */
{
    char text[64];
    (void)timeout_ms, (void)token;
    if (there_is("gone")) return ELECTOR_LOST;
    snprintf(text, sizeof text, "campaign %llu %s", (unsigned long long)options->priority,
             options->preempt_after_ms == ELECTOR_NEVER ? "never preempts" : "may preempt");
    write_log(text);
    if (!is_fake(group)) return ELECTOR_TIMEOUT;
    e->standing = true;
    if (!there_is("held")) win(e);
    return e->leading ? ELECTOR_OK : ELECTOR_TIMEOUT;
}

elector_status elector_resign(elector *e, const char *group)
{
    append("resigned", group);
    if (!is_fake(group)) return ELECTOR_NOT_LEADING;
    e->standing = false;
    if (!e->leading) return ELECTOR_NOT_LEADING;
    write_log("resign");
    lose(e);
    return ELECTOR_OK;
}

elector_status engine_resign_unrenewed(elector *e, const char *group)
{
    write_log("unrenewed");
    return elector_resign(e, group);
}

elector_status elector_stopped(elector *e, const char *group)
{
    (void)group;
    if (!e->stopping) return ELECTOR_NOT_LEADING;
    write_log("stopped");
    if (there_is("mute"))
        e->standing = e->leading = e->stopping = false;
    else
        lose(e);
    if (there_is("again")) win(e);
    return ELECTOR_OK;
}

elector_status elector_alive(elector *e)
{
    (void)e;
    return ELECTOR_OK;
}

/* With a URL of an agent, not `fake:`, it is asked who else stands. It answers when there is a file `answers`. */
elector_status elector_candidates(elector *e, const char *group)
{
    (void)group;
    write_log("candidates");
    e->is_asked = true;
    return ELECTOR_OK;
}

elector_status elector_transfer(elector *e, const char *group, const char *member)
{
    char text[64];
    (void)group;
    snprintf(text, sizeof text, "transfer %s", member);
    write_log(text);
    e->is_to_transfer = true;
    return ELECTOR_OK;
}

static void answer(elector *e)
{
    static const elector_candidate other = {.size = sizeof other, .member = "other", .priority = 7};
    static const elector_candidate *const others[] = {&other};
    if (!there_is("answers")) return;
    if (e->is_asked)
        tell(e, (elector_event){.type = ELECTOR_DONE,
                                .call = ELECTOR_CALL_CANDIDATES,
                                .candidates = others,
                                .candidate_count = 1});
    else if (e->is_to_transfer)
        tell(e, (elector_event){.type = ELECTOR_DONE, .call = ELECTOR_CALL_TRANSFER});
    if (!e->is_asked) e->is_to_transfer = false;
    e->is_asked = false;
}

int engine_left_ms(uint64_t until_ns) /* for the wire, which is not used */
{
    return until_ns == UINT64_MAX ? -1 : 0;
}

uint64_t elector_deadline(const elector *e, const char *group)
{
    (void)group;
    return e->deadline_ns;
}

bool elector_is_leader(const elector *e, const char *group)
{
    return is_fake(group) && e->leading && clock_boottime_ns() < e->deadline_ns;
}

uint64_t elector_token(const elector *e, const char *group)
{
    return elector_is_leader(e, group) ? e->token : 0;
}

elector_status engine_work(elector *e, int line)
{
    (void)e, (void)line;
    return ELECTOR_REFUSED;
}

elector_status elector_observe(elector *e, const char *group)
{
    (void)group;
    e->observed = true;
    return ELECTOR_OK;
}

void elector_on_event(elector *e, elector_callback *callback, void *whose)
{
    e->callback = callback;
    e->whose = whose;
}

int elector_fd(const elector *e)
{
    (void)e;
    return -1;
}

int elector_timeout_ms(const elector *e)
{
    (void)e;
    return LOOK_MS;
}

static void renew(elector *e)
{
    if (clock_boottime_ns() >= e->deadline_ns) {
        lose(e);
    } else if (!there_is("stalled")) {
        extend(e);
        if (!e->stopping && unlink(path_of("stop")) == 0) {
            e->stopping = true;
            tell(e, (elector_event){.type = ELECTOR_STOP});
        }
    }
}

elector_status elector_dispatch(elector *e)
{
    if (unlink(path_of("broken")) == 0) {
        lose(e);
        e->message = "fake: the connection broke"; /* with the group, as the library has it */
        return ELECTOR_LOST;
    }
    if (e->leading) renew(e);
    answer(e);
    if (e->standing && !e->leading && !there_is("held") && !there_is("stalled")) win(e);
    static const elector_leader other = {.size = sizeof other, .name = "other", .value = "", .token = 9};
    if (e->observed && there_is("held")) tell(e, (elector_event){.type = ELECTOR_NEW_LEADER, .leader = &other});
    return ELECTOR_OK;
}

int main(int argc, char **argv)
{
    return cli_run(argc - 1, argv + 1);
}
