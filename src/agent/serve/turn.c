/*
 * Serves the clients that have something to do, a portion each, until the turn is over (limits/turns.h). It does so after the
 * loop has polled: by then the messages of peers have been read. The host's due timers come first, here and before the next
 * poll, which does not wait while clients do.
 */
#define _GNU_SOURCE
#include <stddef.h>

#include "agent/serve/internal.h"
#include "base/clock.h"

static void on_idle(uv_idle_t *idle)
{
    (void)idle; /* its being active keeps the loop from waiting */
}

static void join(struct connection *c)
{
    turns_join(&c->serve->turns, &c->turn, c->campaigns ? TURN_CANDIDATES : TURN_OTHERS);
}

void serve_queue(struct connection *c)
{
    if (c->is_closed || c->serve->is_freed) return;
    join(c);
    (void)uv_idle_start(&c->serve->go_on, on_idle);
}

static struct connection *connection_at(struct turn_place *place)
{
    return (struct connection *)(void *)((char *)place - offsetof(struct connection, turn));
}

void serve_queue_parting(struct connection *c)
{
    join(c);
    (void)uv_idle_start(&c->serve->go_on, on_idle);
}

void serve_part_with_all(struct serve *serve)
{
    while (turns_wait(&serve->turns)) {
        struct connection *c = connection_at(turns_next(&serve->turns, 0));
        number_set_clear(&c->entered);
        (void)connection_go_on(c);
    }
}

void serve_on_turn(uv_check_t *check)
{
    struct serve *serve = check->data;
    uint64_t now = clock_boottime_ns();
    if (!turns_wait(&serve->turns)) return;
    (void)host_tick(serve->host);
    turns_begin(&serve->turns, now);
    for (; turns_wait(&serve->turns) && !turns_are_over(&serve->turns, now); now = clock_boottime_ns()) {
        struct connection *c = connection_at(turns_next(&serve->turns, now));
        if (connection_go_on(c)) join(c);
    }
    if (serve->leaderships.has_endings) serve_look_later(serve);
    if (!turns_wait(&serve->turns)) (void)uv_idle_stop(&serve->go_on);
}
