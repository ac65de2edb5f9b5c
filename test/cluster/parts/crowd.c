/*
 * A candidate for many groups, for the cluster tests.
 *
 *     cluster-crowd URL COUNT   for the groups crowd-0, crowd-1, ...; prints `leads COUNT` once it leads them all
 *
 * It leads until it is ended by SIGTERM.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "elector.h"

static volatile sig_atomic_t is_asked_to_end;

static void on_end(int number)
{
    (void)number;
    is_asked_to_end = 1;
}

static void count(void *context, const elector_event *event)
{
    long *led = context;
    if (event->type == ELECTOR_ELECTED) ++*led;
    if (event->type == ELECTOR_LOST_OFFICE) --*led;
}

static int fail(const elector *e)
{
    fprintf(stderr, "cluster-crowd: %s\n", e ? elector_message(e) : "out of memory");
    return 1;
}

int main(int argc, char **argv)
{
    const struct sigaction end = {.sa_handler = on_end};
    elector *e = NULL;
    long led = 0, told = 0;
    if (argc != 3) return 2;
    const long wanted = strtol(argv[2], NULL, 10);
    sigaction(SIGTERM, &end, NULL);
    if (elector_open(argv[1], &e) != ELECTOR_OK) return fail(e);
    elector_on_event(e, count, &led);
    for (long i = 0; i < wanted; i++) {
        char group[32];
        snprintf(group, sizeof group, "crowd-%ld", i);
        const elector_status status = elector_campaign(e, group, NULL, 0, NULL);
        if (status != ELECTOR_OK && status != ELECTOR_TIMEOUT) return fail(e);
        if (i % 256 == 0 && elector_dispatch(e) != ELECTOR_OK) return fail(e);
    }
    while (!is_asked_to_end) {
        const elector_status status = elector_wait(e, 100);
        if (status == ELECTOR_LOST || status == ELECTOR_UNAVAILABLE) return fail(e);
        if (led != told && led == wanted) printf("leads %ld\n", led);
        if (led != told) fflush(stdout);
        told = led;
    }
    elector_close(e);
    return 0;
}
