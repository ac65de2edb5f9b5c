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

/* ---- Terms ---- */

static void begin_work(struct group_state *o)
{
    atomic_store_explicit(&o->deadline_ns, o->term_deadline_ns, memory_order_release);
    atomic_store_explicit(&o->token, o->term_token, memory_order_release);
}

void group_state_end_work(struct group_state *o)
{
    o->over = true;
    atomic_store_explicit(&o->token, 0, memory_order_release);
}

void group_state_resume_work(struct group_state *o, uint64_t token)
{
    if (!o->leading || o->term_token != token) return;
    o->over = false;
    begin_work(o);
}

void group_state_withdraw(struct group_state *o)
{
    free(o->candidacy);
    o->candidacy = NULL;
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
    const uint64_t read = slot == ENGINE_NO_SLOT ? 0 : deadline_view_deadline(&e->page, slot, o->term_token);
    return read ? read : o->term_deadline_ns;
}

static void refresh(const elector *e, struct group_state *o)
{
    o->term_deadline_ns = newest_deadline(e, o);
}

bool group_state_ran_out(const elector *e, const struct group_state *o)
{
    return o->lapsed || (o->leading && !o->over && newest_deadline(e, o) <= clock_boottime_ns());
}

/* ---- The queue ---- */

/* An event of our own, not queued yet. NULL: the connection ends, because too many wait or memory ran out. */
static struct queued *make_own(elector *e, elector_event_type type, const struct group_state *o)
{
    const size_t most = OWN_EVENTS_MAX + OWN_EVENTS_EACH * e->group_state_count;
    const bool is_full = e->events.own_count >= most;
    struct queued *q = is_full ? NULL : event_make(type, o->name, EVENT_REASON_MAX);
    if (!q && is_full)
        engine_gone(e, "too many events",
                    "more than %zu events are waiting: call elector_dispatch() more often", most);
    else if (!q)
        engine_gone(e, "out of memory", "%s: out of memory", o->name);
    return q;
}

static void tell_own(elector *e, struct group_state *o, struct queued *q, elector_reason reason,
                     const char *text)
{
    q->own.token = o->term_token;
    q->own.deadline_ns = o->term_deadline_ns;
    q->reason = reason;
    snprintf(q->text, EVENT_REASON_MAX + 1, "%s", text);
    o->last_event = event_queue_add(&e->events, q);
}

/* `o` is NULL for a group that this elector never named. */
static void tell_leader(elector *e, const struct group_state *o, const char *group,
                        const elector_leader *leader)
{
    if (o ? o->ignored || (e->ignores_all && !o->observed) : e->ignores_all) return; /* elector_unobserve() */
    if (e->events.leader_count >= LEADERS_MAX)
        engine_gone(e, "too many groups", "leaders of more than %d groups; is it an agent?", LEADERS_MAX);
    else if (!event_queue_tell_leader(&e->events, group, leader, o ? o->last_event : 0))
        engine_gone(e, "out of memory", "%s: out of memory", group);
}

static void lose(elector *e, struct group_state *o, elector_reason reason, const char *text)
{
    group_state_end_work(o);
    o->leading = o->stopping = false;
    refresh(e, o);
    deadlines_remove(e, o);
    tell_own(e, o, o->loss, reason, text);
    o->loss = NULL;
    struct leader_copy *leader = o->leader;
    o->leader = NULL;
    if (leader && !e->gone) tell_leader(e, o, o->name, &leader->told);
    free(leader);
}

/* ---- What engines report ---- */

static void begin_term(elector *e, struct group_state *o, uint64_t token, uint64_t deadline_ns)
{
    struct queued *q = e->gone ? NULL : make_own(e, ELECTOR_ELECTED, o);
    o->loss = q ? make_own(e, ELECTOR_LOST_OFFICE, o) : NULL;
    if (!o->loss) { /* the connection has ended, so the term was never reported */
        event_free(q);
        return;
    }
    o->term_token = token;
    o->term_deadline_ns = deadline_ns;
    o->leading = true;
    o->stopping = o->over = o->lapsed = false;
    free(o->leader);
    o->leader = NULL;
    deadlines_put(e, o);
    tell_own(e, o, q, ELECTOR_REASON_NONE, "");
    begin_work(o);
}

static void move_on(elector *e, struct group_state *o, uint64_t deadline_ns)
{
    o->term_deadline_ns = deadline_ns;
    deadlines_put(e, o);
    if (!o->over) begin_work(o);
}

bool engine_page(elector *e, int fd)
{
    return deadline_view_map(&e->page, fd);
}

/* The group's state, if the agent may speak of its candidacy: not while we wait for the answer to a resignation, since
 * an election that was under way then is not ours to take up, even if we campaign again. */
static struct group_state *find_candidate(const elector *e, const char *group)
{
    struct group_state *o = e->gone ? NULL : group_state_find(e, group);
    return o && o->resigns == 0 ? o : NULL;
}

void engine_elected(elector *e, const char *group, uint64_t token, uint64_t deadline_ns, uint32_t slot)
{
    struct group_state *o = find_candidate(e, group);
    if (!o || !o->candidacy) return;
    if (token == o->term_token && (o->leading || o->lapsed)) {
        engine_lease(e, group, token, deadline_ns);
        return;
    }
    if (token <= o->term_token) {
        engine_gone(e, "the token went back", "%s: elected with token %llu after %llu: tokens must rise", group,
                    (unsigned long long)token, (unsigned long long)o->term_token);
        return;
    }
    if (o->leading) lose(e, o, ELECTOR_REASON_SUPERSEDED, "elected anew");
    atomic_store_explicit(&o->slot, slot, memory_order_release); /* token is 0 now, so nobody reads it */
    begin_term(e, o, token, deadline_ns);
}

void engine_lease(elector *e, const char *group, uint64_t token, uint64_t deadline_ns)
{
    struct group_state *o = find_candidate(e, group);
    if (!o || token != o->term_token) return;
    if (o->leading)
        move_on(e, o, deadline_ns);
    else if (o->lapsed && deadline_ns > clock_boottime_ns()) /* nobody else has led since: the same term */
        begin_term(e, o, token, deadline_ns);
}

void engine_stop(elector *e, const char *group, uint64_t token, uint64_t deadline_ns, elector_reason reason,
                 const char *text)
{
    struct group_state *o = find_candidate(e, group);
    if (!o || !o->leading || o->stopping || token != o->term_token) return;
    if (o->over) { /* an agent of an earlier version asks although elector_hand_over() has said so */
        (void)e->engine->kind->stopped(e->engine, group, token);
        return;
    }
    move_on(e, o, deadline_ns);
    o->stopping = true;
    struct queued *q = make_own(e, ELECTOR_STOP, o);
    if (q) tell_own(e, o, q, reason, text);
}

void engine_lost(elector *e, const char *group, uint64_t token, elector_reason reason, const char *text,
                 bool stands)
{
    struct group_state *o = e->gone ? NULL : group_state_find(e, group);
    if (!o || token != o->term_token) return;
    o->lapsed = false;
    if (!stands && o->resigns == 0)
        group_state_withdraw(o); /* else it is of the candidacy that we have ended */
    if (o->leading) lose(e, o, reason, text);
}

void engine_leader(elector *e, const char *group, const elector_leader *leader)
{
    struct group_state *o = group_state_find(e, group);
    elector_leader l = *leader;
    if (e->gone) return;
    l.is_me = o && o->leading && l.name[0] && l.token == o->term_token;
    if (o && o->leading && !l.is_me) {
        if (l.token < o->term_token) { /* outdated, or our own loss, which engine_lost() reports first */
            free(o->leader);
            o->leader = leader_copy_make(&l);
            return;
        }
        lose(e, o, ELECTOR_REASON_SUPERSEDED, "another leads");
        if (e->gone) return;
    }
    if (o) free(o->leader);
    if (o) o->leader = NULL;
    tell_leader(e, o, group, &l);
}

/* Ends what is led. Candidacies remain if the connection will be made again. */
static void lose_all(elector *e, const char *reason)
{
    for (struct group_state *o = e->group_states; o; o = o->next) {
        o->lapsed = false;
        o->campaigns = o->resigns = 0;
        if (!e->longest_delay_ns) group_state_withdraw(o);
        if (!e->longest_delay_ns) o->observed = false;
        if (o->leading) lose(e, o, ELECTOR_REASON_DISCONNECTED, reason);
    }
    if (!e->longest_delay_ns) e->observes_all = false;
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
    e->gone_status = e->connected ? ELECTOR_LOST : ELECTOR_UNAVAILABLE;
    lose_all(e, reason);
    return ELECTOR_LOST;
}

void engine_is_in_vain(elector *e)
{
    if (!e->connected) e->gone_status = ELECTOR_INVALID;
}

bool engine_is_gone(const elector *e)
{
    return e->gone;
}

/* ---- Deadlines ---- */

/* Looks at some terms in turn: a faulty agent may move a deadline back, and then the loss is to be told soon. */
static void look_around(elector *e)
{
    enum { A_TURN = 64 };
    for (size_t i = 0; i < A_TURN && i < e->heap_count; i++) {
        struct group_state *o = e->heap[e->heap_next++ % e->heap_count];
        const uint64_t newest = newest_deadline(e, o);
        if (newest == o->term_deadline_ns) continue;
        o->term_deadline_ns = newest;
        deadlines_put(e, o);
    }
}

void group_state_expire(elector *e)
{
    look_around(e);
    const uint64_t now = clock_boottime_ns();
    while (e->heap_count && e->heap[0]->term_deadline_ns <= now) {
        struct group_state *o = e->heap[0];
        refresh(e, o);
        if (o->term_deadline_ns > now) {
            deadlines_put(e, o);
            continue;
        }
        o->lapsed = !o->over;
        lose(e, o, ELECTOR_REASON_DEADLINE, "the deadline has passed");
    }
}

/* Not later than the first deadline: of the first term the newest, and of the others the last that we know. */
uint64_t group_state_next_deadline(const elector *e)
{
    uint64_t next = e->heap_count ? newest_deadline(e, e->heap[0]) : ENGINE_NEVER;
    for (size_t i = 1; i < e->heap_count && i <= 2; i++)
        if (e->heap[i]->term_deadline_ns < next) next = e->heap[i]->term_deadline_ns;
    return next;
}
