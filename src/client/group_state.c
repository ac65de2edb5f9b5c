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

static uint64_t mix(uint64_t hash, const char *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count); /* `count` is a constant in every caller */
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* elector_is_leader() is called before every write, so this hashes 8 bytes at a time; the last 8 overlap. */
static size_t bucket_of(const char *group, size_t length)
{
    uint64_t hash = length;
    if (length >= 8) {
        for (size_t at = 0; at + 8 < length; at += 8) hash = mix(hash, group + at, 8);
        hash = mix(hash, group + length - 8, 8);
    } else if (length >= 4) {
        hash = mix(mix(hash, group, 4), group + length - 4, 4);
    } else {
        for (size_t at = 0; at < length; at++) hash = mix(hash, group + at, 1);
    }
    return hash >> 56;
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

static struct queued *queued_at(const elector *e, size_t at)
{
    return &e->queue[(e->first + at) % EVENTS_MAX];
}

/* The group's newest queued event if it is NEW_LEADER: a newer leader replaces it. */
static struct queued *stale_leader(const elector *e, const char *group)
{
    for (size_t at = e->count; at-- > 0;) {
        struct queued *q = queued_at(e, at);
        if (strcmp(q->group, group) == 0) return q->type == ELECTOR_NEW_LEADER ? q : NULL;
    }
    return NULL;
}

/* NULL: the queue is full, which ends the connection. LOST_OFFICE always finds room, once per group. */
static struct queued *push(elector *e, elector_event_type type, const char *group)
{
    const size_t room = type == ELECTOR_LOST_OFFICE ? EVENTS_MAX : EVENTS_MAX - GROUPS_MAX;
    if (e->count >= room) {
        if (!e->gone)
            engine_gone(e, "too many events",
                        "more than %d events are waiting: call elector_dispatch() more often",
                        EVENTS_MAX - GROUPS_MAX);
        return NULL;
    }
    struct queued *q = queued_at(e, e->count++);
    memset(q, 0, sizeof *q);
    q->type = type;
    snprintf(q->group, sizeof q->group, "%s", group);
    return q;
}

static void tell_leader(elector *e, const char *group, const elector_leader *leader)
{
    struct queued *q = stale_leader(e, group);
    if (!q) q = push(e, ELECTOR_NEW_LEADER, group);
    if (q) q->leader = *leader;
}

static void lose(elector *e, struct group_state *o, const char *reason)
{
    group_state_end_work(o);
    o->leading = o->stopping = false;
    group_state_refresh(e, o);
    struct queued *q = push(e, ELECTOR_LOST_OFFICE, o->group);
    if (q) {
        q->term = o->term;
        snprintf(q->reason, sizeof q->reason, "%s", reason);
    }
    if (o->leader_waits && !e->gone) tell_leader(e, o->group, &o->leader);
    o->leader_waits = false;
}

size_t group_state_deliver(elector *e)
{
    const size_t count = e->count; /* events that callbacks cause wait for the next call, so this ends */
    e->delivering = true;
    for (size_t i = 0; i < count; i++) {
        const struct queued q = *queued_at(e, 0);
        e->first = --e->count == 0 ? 0 : (e->first + 1) % EVENTS_MAX;
        if (!e->callback) continue;
        const elector_event event = {
            .type = q.type, .group = q.group, .term = q.term, .leader = q.leader, .reason = q.reason};
        e->callback(e->context, &event);
    }
    e->delivering = false;
    return count;
}

/* ---- What engines report ---- */

static void begin_term(elector *e, struct group_state *o, uint64_t token, uint64_t deadline_ns)
{
    struct queued *q = e->gone ? NULL : push(e, ELECTOR_ELECTED, o->group);
    if (!q) return; /* the connection has ended, so the term was never reported */
    o->term = (elector_term){.token = token, .deadline_ns = deadline_ns};
    o->leading = true;
    o->stopping = o->over = o->lapsed = o->leader_waits = false;
    q->term = o->term;
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
    struct queued *q = push(e, ELECTOR_STOP, group);
    if (!q) return;
    q->term = o->term;
    snprintf(q->reason, sizeof q->reason, "%s", reason);
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
    tell_leader(e, group, &l);
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
