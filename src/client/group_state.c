/*
 * Terms and events. An engine's report is accepted only if it is consistent. So the callback sees elected,
 * stop, lost, new leader in this order for each group, even if an agent repeats itself or is faulty.
 */
#include "client/group_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/group_hash.h"

elector_status engine_fail(elector *e, elector_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun in the line above
    vsnprintf(e->message, sizeof e->message, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- Groups and terms ---- */

static size_t bucket_of(const char *group, size_t length)
{
    return group_hash(group, length) >> (64 - BUCKET_BITS);
}

struct group_state *group_state_find(const elector *e, const char *group)
{
    const size_t length = strlen(group);
    struct group_state *o = atomic_load_explicit(&e->buckets[bucket_of(group, length)], memory_order_acquire);
    while (o && (o->length != length || memcmp(o->group, group, length) != 0)) o = o->next_in_bucket;
    return o;
}

struct group_state *group_state_make(elector *e, const char *group, elector_status *status)
{
    struct group_state *o = group_state_find(e, group);
    if (o) return o;
    if (e->group_state_count == GROUPS_MAX) {
        *status = engine_fail(e, ELECTOR_REFUSED, "%s: %d groups at most for one elector; open another", group,
                              GROUPS_MAX);
        return NULL;
    }
    o = calloc(1, sizeof *o);
    if (!o) {
        *status = engine_fail(e, ELECTOR_NO_MEMORY, "%s: out of memory", group);
        return NULL;
    }
    snprintf(o->group, sizeof o->group, "%s", group);
    o->length = strlen(group);
    o->slot = ENGINE_NO_SLOT;
    _Atomic(struct group_state *) *bucket = &e->buckets[bucket_of(group, o->length)];
    o->next = atomic_load_explicit(&e->group_states, memory_order_relaxed);
    o->next_in_bucket = atomic_load_explicit(bucket, memory_order_relaxed);
    e->group_state_count++;
    atomic_store_explicit(&e->group_states, o, memory_order_release);
    atomic_store_explicit(bucket, o, memory_order_release);
    return o;
}

static void begin_work(struct group_state *o)
{
    atomic_store_explicit(&o->deadline_ns, o->term.deadline_ns, memory_order_release);
    atomic_store_explicit(&o->token, o->term.token, memory_order_release);
}

void group_state_end_work(struct group_state *o)
{
    o->over = true;
    atomic_store_explicit(&o->token, 0, memory_order_release);
}

void group_state_resume_work(struct group_state *o, uint64_t token)
{
    if (!o->leading || o->term.token != token) return;
    o->over = false;
    begin_work(o);
}

uint64_t group_state_deadline(const elector *e, const struct group_state *o, uint64_t *token)
{
    *token = atomic_load_explicit(&o->token, memory_order_acquire);
    if (*token == 0) return 0;
    const uint32_t slot = atomic_load_explicit(&o->slot, memory_order_acquire);
    const uint64_t deadline_ns = slot == ENGINE_NO_SLOT
                                     ? atomic_load_explicit(&o->deadline_ns, memory_order_acquire)
                                     : deadline_view_deadline(&e->page, slot, *token);
    return atomic_load_explicit(&o->token, memory_order_acquire) == *token ? deadline_ns : 0;
}

/* If the agent has vacated the slot, the last known deadline holds until it reports why. */
static uint64_t newest_deadline(const elector *e, const struct group_state *o)
{
    const uint32_t slot = atomic_load_explicit(&o->slot, memory_order_relaxed);
    const uint64_t read = slot == ENGINE_NO_SLOT ? 0 : deadline_view_deadline(&e->page, slot, o->term.token);
    return read ? read : o->term.deadline_ns;
}

void group_state_refresh(const elector *e, struct group_state *o)
{
    o->term.deadline_ns = newest_deadline(e, o);
}

/* ---- The queue ---- */

/* An event of our own, not queued yet. NULL: the connection ends, because too many wait or memory ran out. */
static struct queued *make_own(elector *e, elector_event_type type, const char *group)
{
    const bool is_full = e->events.own_count >= OWN_EVENTS_MAX;
    struct queued *q = is_full ? NULL : event_make(type, group);
    if (!q && is_full)
        engine_gone(e, "too many events", "more than %d events are waiting: call elector_dispatch() more often",
                    OWN_EVENTS_MAX);
    else if (!q)
        engine_gone(e, "out of memory", "%s: out of memory", group);
    return q;
}

static void tell_own(elector *e, struct group_state *o, struct queued *q, const char *reason)
{
    q->own.term = o->term;
    snprintf(q->own.reason, sizeof q->own.reason, "%s", reason);
    o->last_event = event_queue_add(&e->events, q);
}

/* `o` is NULL for a group that is only observed. */
static void tell_leader(elector *e, const struct group_state *o, const char *group,
                        const elector_leader *leader)
{
    if (e->events.leader_count >= LEADERS_MAX)
        engine_gone(e, "too many groups", "leaders of more than %d groups; is it an agent?", LEADERS_MAX);
    else if (!event_queue_tell_leader(&e->events, group, leader, o ? o->last_event : 0))
        engine_gone(e, "out of memory", "%s: out of memory", group);
}

static void lose(elector *e, struct group_state *o, const char *reason)
{
    group_state_end_work(o);
    o->leading = o->stopping = false;
    group_state_refresh(e, o);
    tell_own(e, o, o->loss, reason);
    o->loss = NULL;
    if (o->leader_waits && !e->gone) tell_leader(e, o, o->group, &o->leader);
    o->leader_waits = false;
}

static void deliver(const elector *e, const struct queued *q)
{
    elector_event event = {.type = q->type, .group = q->group, .reason = ""};
    if (q->type == ELECTOR_NEW_LEADER) {
        event.leader = q->leader;
    } else {
        event.term = q->own.term;
        event.reason = q->own.reason;
    }
    e->callback(e->context, &event);
}

size_t group_state_deliver(elector *e)
{
    const uint64_t last = e->events.numbers; /* later ones, which callbacks cause, wait for the next call */
    size_t count = 0;
    e->delivering = true;
    for (struct queued *q; (q = event_queue_take(&e->events, last)); count++) {
        if (e->callback) deliver(e, q);
        free(q);
    }
    e->delivering = false;
    return count;
}

/* ---- What engines report ---- */

static void begin_term(elector *e, struct group_state *o, uint64_t token, uint64_t deadline_ns)
{
    struct queued *q = e->gone ? NULL : make_own(e, ELECTOR_ELECTED, o->group);
    o->loss = q ? make_own(e, ELECTOR_LOST_OFFICE, o->group) : NULL;
    if (!o->loss) { /* the connection has ended, so the term was never reported */
        free(q);
        return;
    }
    o->term = (elector_term){.token = token, .deadline_ns = deadline_ns};
    o->leading = true;
    o->stopping = o->over = o->lapsed = o->leader_waits = false;
    tell_own(e, o, q, "");
    begin_work(o);
}

static void move_on(struct group_state *o, uint64_t deadline_ns)
{
    o->term.deadline_ns = deadline_ns;
    if (!o->over) begin_work(o);
}

bool engine_page(elector *e, int fd)
{
    return deadline_view_map(&e->page, fd);
}

void engine_elected(elector *e, const char *group, uint64_t token, uint64_t deadline_ns, uint32_t slot)
{
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->standing || e->gone) return;
    if (token == o->term.token && (o->leading || o->lapsed)) {
        engine_lease(e, group, token, deadline_ns);
        return;
    }
    if (token <= o->term.token) {
        engine_gone(e, "the token went back", "%s: elected with token %llu after %llu: tokens must rise", group,
                    (unsigned long long)token, (unsigned long long)o->term.token);
        return;
    }
    if (o->leading) lose(e, o, "elected anew");
    atomic_store_explicit(&o->slot, slot, memory_order_release); /* token is 0 now, so nobody reads it */
    begin_term(e, o, token, deadline_ns);
}

void engine_lease(elector *e, const char *group, uint64_t token, uint64_t deadline_ns)
{
    struct group_state *o = group_state_find(e, group);
    if (!o || token != o->term.token || e->gone) return;
    if (o->leading)
        move_on(o, deadline_ns);
    else if (o->lapsed && deadline_ns > clock_boottime_ns()) /* nobody else has led since: the same term */
        begin_term(e, o, token, deadline_ns);
}

void engine_stop(elector *e, const char *group, uint64_t token, uint64_t deadline_ns, const char *reason)
{
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->leading || o->stopping || token != o->term.token || e->gone) return;
    if (o->over) { /* an agent of an earlier version asks although elector_hand_over() has said so */
        (void)e->engine->kind->stopped(e->engine, group, token);
        return;
    }
    move_on(o, deadline_ns);
    o->stopping = true;
    struct queued *q = make_own(e, ELECTOR_STOP, group);
    if (q) tell_own(e, o, q, reason);
}

void engine_lost(elector *e, const char *group, uint64_t token, const char *reason, bool stands)
{
    struct group_state *o = group_state_find(e, group);
    if (!o || token != o->term.token || e->gone) return;
    o->lapsed = false;
    if (!stands) o->standing = false;
    if (o->leading) lose(e, o, reason);
}

void engine_leader(elector *e, const char *group, const elector_leader *leader)
{
    struct group_state *o = group_state_find(e, group);
    elector_leader l = *leader;
    if (e->gone) return;
    l.is_me = o && o->leading && l.name[0] && l.token == o->term.token;
    if (o && o->leading && !l.is_me) {
        if (l.token < o->term.token) { /* outdated, or our own loss, which engine_lost() reports first */
            o->leader = l;
            o->leader_waits = true;
            return;
        }
        lose(e, o, "another leads");
        if (e->gone) return;
    }
    if (o) o->leader_waits = false;
    tell_leader(e, o, group, &l);
}

elector_status engine_gone(elector *e, const char *reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun in the line above
    vsnprintf(e->message, sizeof e->message, format, arguments);
    va_end(arguments);
    if (e->gone) return ELECTOR_LOST;
    e->gone = true;
    for (struct group_state *o = atomic_load_explicit(&e->group_states, memory_order_relaxed); o; o = o->next) {
        o->standing = o->lapsed = false;
        if (o->leading) lose(e, o, reason);
    }
    return ELECTOR_LOST;
}

bool engine_is_gone(const elector *e)
{
    return e->gone;
}

/* ---- Deadlines ---- */

void group_state_expire(elector *e)
{
    const uint64_t now = clock_boottime_ns();
    for (struct group_state *o = atomic_load_explicit(&e->group_states, memory_order_relaxed); o; o = o->next) {
        if (!o->leading) continue;
        group_state_refresh(e, o);
        if (o->term.deadline_ns > now) continue;
        o->lapsed = !o->over;
        lose(e, o, "the deadline has passed");
    }
}

uint64_t group_state_next_deadline(const elector *e)
{
    uint64_t next = ENGINE_NEVER;
    for (const struct group_state *o = atomic_load_explicit(&e->group_states, memory_order_relaxed); o;
         o = o->next) {
        const uint64_t its = o->leading ? newest_deadline(e, o) : ENGINE_NEVER;
        if (its < next) next = its;
    }
    return next;
}
