/*
 * Opens and closes the engine, and opens it again. One epoll descriptor is the elector's for its whole life; the
 * engine's own descriptor comes and goes in it.
 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "client/group_state.h"

static const struct engine_kind *const kinds[] = {&engine_agent, &engine_file,      &engine_etcd,
                                                  &engine_etcds, &engine_zookeeper, &engine_kubernetes};

static const uint64_t first_delay_ns = NS_PER_S / 10;

/* ---- The descriptor ---- */

static bool watch(const elector *e, int operation, int fd, uint32_t events)
{
    struct epoll_event wanted = {.events = events, .data.fd = fd};
    return epoll_ctl(e->poll_fd, operation, fd, &wanted) == 0;
}

static elector_status make_descriptor(elector *e)
{
    e->poll_fd = descriptors_above_standard(epoll_create1(EPOLL_CLOEXEC));
    e->wake_fd = descriptors_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (e->poll_fd >= 0 && e->wake_fd >= 0 && watch(e, EPOLL_CTL_ADD, e->wake_fd, EPOLLIN)) return ELECTOR_OK;
    return engine_fail(e, ELECTOR_UNAVAILABLE, "cannot make a descriptor to poll: %s", strerror(errno));
}

static bool has_output(const elector *e)
{
    return e->engine->kind->has_output && e->engine->kind->has_output(e->engine);
}

/* Polls for what the engine waits for. */
static void follow(elector *e)
{
    if (!e->engine || e->engine_fd < 0 || e->polls_output == has_output(e)) return;
    e->polls_output = !e->polls_output;
    (void)watch(e, EPOLL_CTL_MOD, e->engine_fd, e->polls_output ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

int elector_fd(const elector *e)
{
    return e->poll_fd;
}

int engine_socket(const elector *e)
{
    return e->engine_fd;
}

/* ---- Standing again ---- */

static struct queued *ticket_again(elector_call call, const char *group, bool owes)
{
    struct queued *ticket = ticket_make(call, group);
    if (ticket) ticket->done.is_quiet = !owes;
    return ticket;
}

static void observe_again(elector *e, const char *group, bool owes)
{
    struct queued *ticket = ticket_again(ELECTOR_CALL_OBSERVE, group, owes);
    if (!ticket)
        engine_gone(e, "out of memory", "out of memory");
    else if (e->engine->kind->observe(e->engine, group, ticket) != ELECTOR_OK)
        engine_done(e, ticket, e->gone ? ELECTOR_LOST : ELECTOR_REFUSED, e->message);
}

static void stand_again(elector *e, struct group_state *o)
{
    const struct candidacy *c = o->candidacy;
    const elector_options options = {
        .size = sizeof options,
        .priority = c->priority,
        .value = c->value,
        .preempt_after_ms = c->preempt_after_ms == UINT32_MAX ? ELECTOR_NEVER : c->preempt_after_ms,
        .stop_within_ms = c->stop_within_ms,
        .watchdog_ms = c->watchdog_ms};
    struct queued *ticket = ticket_again(ELECTOR_CALL_CAMPAIGN, o->name, o->owes_campaign);
    o->owes_campaign = false;
    if (!ticket) {
        engine_gone(e, "out of memory", "out of memory");
        return;
    }
    o->campaigns++;
    const elector_status status = e->engine->kind->campaign(e->engine, o->name, &options, ticket);
    if (status != ELECTOR_OK) engine_done(e, ticket, status, e->message);
}

static void resume(elector *e)
{
    if (e->observes_all) observe_again(e, NULL, e->owes_observe_all);
    e->owes_observe_all = false;
    for (struct group_state *o = e->group_states; o && !e->gone; o = o->next) {
        if (o->observed) observe_again(e, o->name, o->owes_observe);
        o->owes_observe = false;
        if (o->candidacy && !e->gone) stand_again(e, o);
    }
}

/* ---- Connecting ---- */

elector_status elector_connect(elector *e)
{
    if (e->engine) return ELECTOR_OK;
    if (e->closing) return engine_fail(e, ELECTOR_CLOSED, "this elector is closed");
    if (!e->kind)
        return engine_fail(e, ELECTOR_INVALID, "this elector was opened with a bad URL; open another");
    if (!e->parting) e->parting = event_make(ELECTOR_DISCONNECTED, "", sizeof e->message - 1);
    if (!e->parting) return engine_fail(e, ELECTOR_NO_MEMORY, "out of memory");
    e->gone = e->connected = false;
    e->engine_fd = -1;
    elector_status status = e->kind->open(e, e->rest, &e->engine);
    if (status == ELECTOR_OK && !e->gone) {
        /* Our own descriptor: the engine may close its one at any time, and a forked child may keep it open. */
        e->engine_fd = fcntl(e->engine->kind->fd(e->engine), F_DUPFD_CLOEXEC, 3);
        e->polls_output = false;
        if (e->engine_fd < 0 || !watch(e, EPOLL_CTL_ADD, e->engine_fd, EPOLLIN))
            engine_gone(e, "no descriptor", "cannot poll the connection: %s", strerror(errno));
    }
    if (status != ELECTOR_OK) {
        status = e->gone ? ELECTOR_UNAVAILABLE : status;
        e->engine = NULL;
        e->gone = false;
        return status;
    }
    if (e->longest_delay_ns) resume(e);
    return elector_settle(e, ELECTOR_OK);
}

static void schedule_retry(elector *e)
{
    const uint64_t twice = e->delay_ns ? 2 * e->delay_ns : first_delay_ns;
    e->delay_ns = twice < e->longest_delay_ns ? twice : e->longest_delay_ns;
    e->retry_ns = clock_boottime_ns() + e->delay_ns;
}

void elector_disconnect(elector *e)
{
    if (!e->engine) return;
    if (e->engine_fd >= 0) {
        (void)watch(e, EPOLL_CTL_DEL, e->engine_fd, 0);
        close(e->engine_fd);
    }
    e->engine_fd = -1;
    e->engine->kind->close(e->engine);
    e->engine = NULL;
    deadline_view_clear(&e->page); /* unmaps nothing: another thread may be reading it */
}

/* Says that the connection is over, after everything that ended with it. */
static void part(elector *e)
{
    struct queued *q = e->parting;
    e->parting = NULL;
    elector_disconnect(e);
    if (q) {
        q->reason = ELECTOR_REASON_DISCONNECTED;
        q->status = e->gone_status;
        memcpy(q->text, e->message, sizeof e->message);
        event_queue_add(&e->events, q);
    }
    if (e->longest_delay_ns) schedule_retry(e);
}

elector_status elector_settle(elector *e, elector_status status)
{
    follow(e);
    if (!e->gone || !e->engine) return status;
    part(e);
    return e->gone_status;
}

/* ---- Reconnecting ---- */

bool elector_reconnects(const elector *e)
{
    return !e->engine && e->kind && e->longest_delay_ns;
}

void elector_retry(elector *e)
{
    if (!elector_reconnects(e) || clock_boottime_ns() < e->retry_ns) return;
    if (elector_connect(e) != ELECTOR_OK && !e->gone) schedule_retry(e); /* else part() has done it */
}

void elector_set_reconnect(elector *e, uint64_t longest_ms)
{
    e->longest_delay_ns = longest_ms < UINT32_MAX ? longest_ms * NS_PER_MS : UINT32_MAX * NS_PER_MS;
    if (!e->engine) e->retry_ns = clock_boottime_ns();
}

/* ---- Opening and closing ---- */

static bool has_scheme(const struct engine_kind *kind, const char *url)
{
    const size_t length = strlen(kind->scheme);
    return strncmp(url, kind->scheme, length) == 0 && url[length] == ':';
}

static elector_status read_url(elector *e, const char *url)
{
    const char *flaw = engine_url_flaw(url);
    if (flaw) return engine_fail(e, ELECTOR_INVALID, "'%.200s': %s", url, flaw);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!has_scheme(kinds[i], url)) continue;
        const char *rest = url + strlen(kinds[i]->scheme) + 1;
        if (!*rest || strlen(rest) > URL_MAX) break;
        e->kind = kinds[i];
        snprintf(e->rest, sizeof e->rest, "%s", rest);
        return ELECTOR_OK;
    }
    return engine_fail(e, ELECTOR_INVALID, "'%.200s': %s", url, ENGINE_URL_EXPECTED);
}

elector_status elector_open(const char *url, elector **out)
{
    *out = NULL;
    elector *e = calloc(1, sizeof *e);
    if (!e) return ELECTOR_NO_MEMORY;
    *out = e;
    e->engine_fd = -1;
    elector_status status = make_descriptor(e);
    if (status == ELECTOR_OK) status = read_url(e, url ? url : engine_usual_url());
    return status == ELECTOR_OK ? elector_connect(e) : status;
}

void elector_destroy(elector *e)
{
    event_queue_clear(&e->events);
    group_states_free(e);
    deadline_view_free(&e->page);
    event_free(e->parting);
    free(e->answer);
    if (e->wake_fd >= 0) close(e->wake_fd);
    if (e->poll_fd >= 0) close(e->poll_fd);
    free(e);
}

void elector_close(elector *e)
{
    if (!e || e->closing) return;
    for (struct group_state *o = e->group_states; o; o = o->next) group_state_end_work(o);
    e->gone = true; /* nothing that ends with the connection changes a state any more */
    e->longest_delay_ns = 0;
    elector_disconnect(e);
    e->closing = true;
    if (!e->delivering) elector_destroy(e); /* else the call that runs the callback does */
}

const char *elector_message(const elector *e)
{
    if (!e) return "out of memory";
    return e->message[0] ? e->message : "no error";
}

const char *elector_member(const elector *e)
{
    return e->member;
}

const char *elector_cluster(const elector *e)
{
    return e->cluster;
}
