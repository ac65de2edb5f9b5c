/*
 * Clients that promised signs of life (`watchdog_ms` of a campaign, and the request `alive`). While such a client leads
 * and gives none for that long, its deadlines no longer move on, and it is told to stop. It may still work, so nobody
 * else leads before these deadlines. If it still gives none when the first of them has passed, it is disconnected.
 *
 * A sign of life may wait in the socket because this process was late. So a client is suspected first, and judged only
 * after the loop has read what had arrived.
 */
#define _GNU_SOURCE
#include "agent/serve/internal.h"
#include "agent/serve/limits/portion.h"
#include "base/clock.h"

enum { QUEUED_MS = 100 }; /* for that long a client whose turn has not come is not judged */

static void on_watchdog(uv_timer_t *);

/* Rounds up. The loop's idea of the time may be older than the host's; then on_watchdog() finds nothing and waits again. */
static void wake_at(struct serve *serve, uint64_t now, uint64_t at)
{
    if (serve->is_freed || at == UINT64_MAX) return;
    (void)uv_timer_start(&serve->watchdog, on_watchdog, at <= now ? 1 : (at - now) / NS_PER_MS + 1, 0);
}

bool serve_abandon_some(struct connection *c)
{
    const struct leaderships *leaderships = &c->serve->leaderships;
    uint32_t next = c->abandon_next;
    if (!c->hangs || c->is_closed || next == NUMBER_SET_NONE) return false;
    host_batch_begin(c->serve->host);
    for (struct portion portion = portion_begin(); !portion_is_over(&portion); portion.left--) {
        next = number_set_next(&c->entered, next);
        if (next == NUMBER_SET_NONE) break;
        leadership_abandon(leadership_at(leaderships, next++), c);
        c->serve->turns.requests++; /* it takes as long as one */
    }
    host_batch_end(c->serve->host);
    c->abandon_next = next;
    return next != NUMBER_SET_NONE;
}

/* In portions: a client may lead thousands of groups. Until a group's turn comes, its lease is renewed as before. */
static void abandon_all(struct connection *c)
{
    c->hangs = true;
    c->abandon_next = 0;
    serve_queue(c);
}

/* When to look at it again. */
static uint64_t judge(struct connection *c, uint64_t now)
{
    const uint64_t due = c->alive_ns + c->watchdog_ns;
    if (!c->watchdog_ns || !c->leads || c->hangs) return UINT64_MAX;
    if (now < due) return due;
    if (c->is_suspect && c->turn.is_queued && now < due + QUEUED_MS * NS_PER_MS)
        return now; /* it may have said so */
    if (c->is_suspect) {
        abandon_all(c);
        return UINT64_MAX;
    }
    c->is_suspect = true;
    return now;
}

static void on_watchdog(uv_timer_t *timer)
{
    struct serve *serve = timer->data;
    (void)host_tick(serve->host);
    const uint64_t now = host_clock(serve->host);
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++) {
        const uint64_t its = serve->connections[i] ? judge(serve->connections[i], now) : UINT64_MAX;
        if (its < next) next = its;
    }
    wake_at(serve, now, next);
}

static void note_alive(struct connection *c)
{
    c->alive_ns = host_clock(c->serve->host);
    c->is_suspect = c->hangs = false;
}

static void begin_watch(struct connection *c)
{
    const uint64_t now = host_clock(c->serve->host);
    note_alive(c);
    wake_at(c->serve, now, now); /* on_watchdog() finds out when to look next, for all clients */
}

/* One that hung was no longer looked at. Groups that had not been given up yet it leads on. */
void serve_hear_alive(struct connection *c)
{
    if (c->hangs && c->abandon_next != NUMBER_SET_NONE)
        begin_watch(c);
    else
        note_alive(c);
}

void serve_watch(struct connection *c, uint64_t watchdog_ms)
{
    const uint64_t most = UINT64_MAX / 2 / NS_PER_MS;
    const uint64_t ns = (watchdog_ms < most ? watchdog_ms : most) * NS_PER_MS;
    if (!ns || (c->watchdog_ns && c->watchdog_ns <= ns)) return;
    c->watchdog_ns = ns;
    begin_watch(c);
}

/* One that hung and is alive again is not looked at, if all that it led was given up. These tenures still count for a while. */
static void count_election(struct connection *c)
{
    const uint64_t now = host_clock(c->serve->host);
    const bool is_first = c->leads++ == 0;
    if (!c->watchdog_ns) return;
    if (is_first)
        begin_watch(c);
    else
        wake_at(c->serve, now, now);
}

void serve_count_tenures(struct connection *c, const struct leadership_event *event)
{
    if (event->type == LEADERSHIP_ELECTED) count_election(c);
    if (event->type == LEADERSHIP_LOST) c->leads--;
    if (event->type == LEADERSHIP_LOST && c->hangs) connection_doom(c);
}

bool serve_hangs(void *context, const void *client)
{
    (void)context;
    return ((const struct connection *)client)->hangs;
}
