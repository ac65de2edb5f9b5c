/*
 * The work that only a leader may do, for the cluster tests: a line in a log that all workers share, every 2 ms.
 *
 *     cluster-worker LOG             as the command of `elector run`
 *     cluster-worker LOG URL GROUP   campaigns by itself, through the library
 *
 * The lines: `begin TOKEN NS PID NAME`, `tick TOKEN NS PID`, `end TOKEN NS PID`. NS is CLOCK_MONOTONIC, read before the
 * question whether this process leads: what is stamped was done while the answer was yes, whenever it reaches the log.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elector.h"

static const uint64_t SECOND = 1000000000;
static const long PERIOD_NS = 2000000, RETRY_NS = 50000000;

static int shared_log;
static volatile sig_atomic_t is_asked_to_end;

static void on_end(int number)
{
    (void)number;
    is_asked_to_end = 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void pause_for(long ns)
{
    const struct timespec period = {.tv_nsec = ns};
    nanosleep(&period, NULL);
}

static void say(const char *what, uint64_t token, uint64_t ns, const char *name)
{
    char line[400];
    const int size = snprintf(line, sizeof line, "%s %" PRIu64 " %" PRIu64 " %d%s%.300s\n", what, token, ns,
                              getpid(), *name ? " " : "", name);
    if (write(shared_log, line, (size_t)size) != size)
        exit(1); /* one write a line: O_APPEND keeps them apart */
}

/*
 * ---- As a command: it works until it is ended ----
 *
 * Then it ends without exit(): the sanitizer's search for leaks attaches to this process like a debugger. That waits for ever if a SIGCONT
 * comes meanwhile, which `elector run` sends after SIGTERM.
 */

static int work_as_command(void)
{
    const char *token = getenv("ELECTOR_TOKEN"), *name = getenv("ELECTOR_ID");
    if (!token) {
        fprintf(stderr, "cluster-worker: no ELECTOR_TOKEN: run it by `elector run`\n");
        return 2;
    }
    const uint64_t number = strtoull(token, NULL, 10);
    say("begin", number, now_ns(), name ? name : "?");
    while (!is_asked_to_end) {
        say("tick", number, now_ns(), "");
        pause_for(PERIOD_NS);
    }
    say("end", number, now_ns(), "");
    _exit(0);
}

/* ---- Through the library: it works while it leads ---- */

struct work {
    const char *group, *url;
    elector *elector;
    uint64_t token; /* that it works with; 0: it does not */
};

static void on_event(void *whose, const elector_event *event)
{
    struct work *work = whose;
    if (event->type != ELECTOR_STOP) return;
    if (work->token) say("end", work->token, now_ns(), "");
    work->token = 0;
    elector_stopped(work->elector, work->group);
}

static bool join(struct work *work)
{
    elector_close(work->elector);
    if (elector_open(work->url, &work->elector) != ELECTOR_OK) return false;
    elector_on_event(work->elector, on_event, work);
    const elector_status status = elector_campaign(work->elector, work->group, NULL, 0, NULL);
    return status == ELECTOR_OK || status == ELECTOR_TIMEOUT;
}

static void do_a_little(struct work *work)
{
    const uint64_t ns = now_ns(), token = elector_token(work->elector, work->group);
    if (token == 0 || !elector_is_leader(work->elector, work->group)) {
        work->token = 0;
        return;
    }
    if (token != work->token) say("begin", token, ns, work->url);
    work->token = token;
    say("tick", token, ns, "");
}

static int work_by_library(struct work *work)
{
    bool is_in = false;
    while (!is_asked_to_end) {
        if (!is_in) is_in = join(work);
        if (!is_in) {
            pause_for(RETRY_NS);
            continue;
        }
        const elector_status status = elector_dispatch(work->elector);
        is_in = status == ELECTOR_OK || status == ELECTOR_TIMEOUT;
        if (is_in) do_a_little(work);
        pause_for(PERIOD_NS);
    }
    elector_close(work->elector);
    return 0;
}

int main(int argc, char **argv)
{
    const struct sigaction end = {.sa_handler = on_end};
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: cluster-worker LOG [URL GROUP]\n");
        return 2;
    }
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    shared_log = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (shared_log < 0) {
        perror(argv[1]);
        return 1;
    }
    if (argc == 2) return work_as_command();
    return work_by_library(&(struct work){.url = argv[2], .group = argv[3]});
}
