/*
 * Groups that nobody uses. Status stops listing them after `forget-after`. Then they are dropped, as soon as no promise of them
 * lives and every peer in touch knows that nobody here uses them (agent/host/host.h, host_forget()): their numbers, their
 * metrics and their places in the host are free for others.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/serve/internal.h"
#include "base/clock.h"

/* A pass over all groups is done in pieces of 0.5 ms, one every 10 ms. */
static const uint64_t PIECE = NS_PER_MS / 2, PIECE_PAUSE = 10 * NS_PER_MS, PASS_PAUSE_MOST = 60 * NS_PER_S;
enum { LOOK_EACH = 16 }; /* groups between two looks at the clock */

enum { IN_USE = 0 };
static const uint32_t FORGOTTEN =
    UINT32_MAX; /* by hand; other numbers: since this second of CLOCK_BOOTTIME, plus 1 */

bool serve_is_used(const struct serve *serve, const struct leadership *o)
{
    const char *name = host_name(o->group);
    if (o->candidate_count > 0 || host_view_of(o->group).leader != EL_NOBODY) return true;
    for (el_node member = 1; member <= serve->config->member_count; member++)
        if (host_stands(o->group, member, NULL)) return true;
    const struct config_group *section = config_group_of(serve->config, name);
    return section && strcmp(section->name, name) == 0; /* the file names it: somebody wants to see it */
}

/* NULL: out of memory. Then nothing is forgotten. */
static uint32_t *idle_since(struct serve *serve, const struct leadership *o)
{
    if (o->number >= serve->idle_room) {
        const uint32_t room = 2 * o->number + LEADERSHIP_BLOCK;
        uint32_t *grown = realloc(serve->idle_since_s, room * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + serve->idle_room, 0, (room - serve->idle_room) * sizeof *grown);
        serve->idle_since_s = grown;
        serve->idle_room = room;
    }
    return &serve->idle_since_s[o->number];
}

/* Names made up for jobs must not run out, however many jobs there are within `forget-after`. */
static bool is_scarce(const struct serve *serve)
{
    const uint32_t limit = serve->config->group_limit ? serve->config->group_limit : SERVE_GROUPS_MAX;
    return serve->config->forget_after && leaderships_used(&serve->leaderships) >= limit - limit / 8;
}

void serve_touch(struct serve *serve, const struct leadership *o)
{
    uint32_t *since = idle_since(serve, o);
    if (since && *since != FORGOTTEN) *since = IN_USE;
}

bool serve_is_forgotten(struct serve *serve, const struct leadership *o)
{
    const uint32_t now_s = (uint32_t)(host_clock(serve->host) / NS_PER_S) + 1;
    const uint64_t after_s = is_scarce(serve) ? 1 : serve->config->forget_after / NS_PER_S;
    uint32_t *since = idle_since(serve, o);
    if (!since) return false;
    if (serve_is_used(serve, o)) {
        *since = IN_USE;
        return false;
    }
    if (*since == IN_USE) *since = now_s;
    return *since == FORGOTTEN || (after_s && now_s - *since >= after_s);
}

/* ---- Dropping ---- */

static bool is_observed(const struct serve *serve, const struct leadership *o)
{
    return o->number < serve->observers_room && serve->observers[o->number];
}

/* No set of a connection names it any more: another group may get its number. */
static void strike_out(const struct serve *serve, uint32_t number)
{
    for (uint32_t i = 0, left = serve->connection_count; i < SERVE_CONNECTIONS_MAX && left; i++) {
        struct connection *c = serve->connections[i];
        if (!c) continue;
        left--;
        number_set_remove(&c->entered, number);
        number_set_remove(&c->leader_waits, number);
        number_set_remove(&c->lease_waits, number);
    }
}

/* False: not now. A client that observes the group by its name keeps it. */
static bool drop(struct serve *serve, struct leadership *o)
{
    const uint32_t number = o->number;
    if (serve_is_used(serve, o) || is_observed(serve, o) || !host_forget(o->group)) return false;
    strike_out(serve, number);
    serve->idle_since_s[number] = IN_USE;
    leadership_vacate(o);
    return true;
}

/* If no pass goes on already. */
static void look_within_a_second(struct serve *serve)
{
    const uint64_t at = host_clock(serve->host) + NS_PER_S;
    if (serve->forget_next == 0 && at < serve->forget_at_ns) serve->forget_at_ns = at;
}

bool serve_forget(struct serve *serve, struct leadership *o)
{
    uint32_t *since = serve_is_used(serve, o) ? NULL : idle_since(serve, o);
    if (!since) return false;
    *since = FORGOTTEN;
    if (drop(serve, o)) return true;
    serve->some_wait_to_be_dropped = true; /* serve_forget_some() does it later */
    look_within_a_second(serve);
    return true;
}

void serve_count_groups(struct serve *serve)
{
    if (is_scarce(serve)) look_within_a_second(serve);
}

/* From the end of a pass over all groups to the beginning of the next. UINT64_MAX: none is needed. */
static uint64_t between_passes(const struct serve *serve)
{
    const uint64_t eighth = serve->config->forget_after / 8;
    if (serve->some_wait_to_be_dropped) return NS_PER_S;
    if (eighth == 0) return UINT64_MAX;
    return eighth < NS_PER_S ? NS_PER_S : eighth < PASS_PAUSE_MOST ? eighth : PASS_PAUSE_MOST;
}

/* True: the pass has come to its end. */
static bool go_on(struct serve *serve)
{
    const struct leaderships *all = &serve->leaderships;
    const uint64_t until = host_stopwatch(serve->host) + PIECE;
    for (; serve->forget_next < all->count; serve->forget_next++) {
        struct leadership *o = leadership_at(all, serve->forget_next);
        if (serve->forget_next % LOOK_EACH == 0 && host_stopwatch(serve->host) > until) return false;
        if (leadership_is_free(o)) continue;
        const bool is_forgotten = serve_is_forgotten(serve, o);
        const bool is_idle = o->number < serve->idle_room && serve->idle_since_s[o->number] != IN_USE;
        if (is_forgotten ? !drop(serve, o) : is_idle && is_scarce(serve)) serve->some_wait_to_be_dropped = true;
    }
    return true;
}

uint64_t serve_forget_some(struct serve *serve, uint64_t now_ns)
{
    if (now_ns < serve->forget_at_ns) return serve->forget_at_ns;
    if (serve->forget_next == 0) serve->some_wait_to_be_dropped = false;
    uint64_t pause = PIECE_PAUSE;
    if (go_on(serve)) {
        serve->forget_next = 0;
        pause = between_passes(serve);
    }
    serve->forget_at_ns = pause == UINT64_MAX ? UINT64_MAX : now_ns + pause;
    return serve->forget_at_ns;
}
