/* See history.h. Stores events, and judges each change of leaders when it is seen. */
#include "agent/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"
#include "base/clock.h"

/* A change is explained by the last 64 events: with many changes at once, searching all of them would be
 * slow. */
enum { LOOK_BACK = 64 };
static const uint64_t HEARD_RECENTLY_NS = 10 * NS_PER_MS;

struct history *history_new(const struct config *config, uint64_t now_ns)
{
    struct history *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (struct history){.config = config, .since = now_ns};
    const bool has_steps = history_ring_init(&c->steps, HISTORY_STEPS),
               has_changes = history_ring_init(&c->changes, HISTORY_CHANGES);
    c->stated = calloc(HISTORY_STATEMENTS, sizeof *c->stated);
    if (has_steps && has_changes && c->stated) return c;
    history_free(c);
    return NULL;
}

void history_free(struct history *c)
{
    if (!c) return;
    history_ring_free(&c->steps);
    history_ring_free(&c->changes);
    free(c->stated);
    free(c->reasons);
    free(c);
}

uint64_t history_since(const struct history *c)
{
    return c->since - c->shift;
}

uint64_t history_group(const char *name)
{
    return el_fingerprint(name, strlen(name)).low | 1;
}

int history_quorum_note(const struct history_entry *e)
{
    if (e->what != HISTORY_NOTE || e->by != &el_quorum || e->note >= QUORUM_NOTES) return -1;
    return (int)e->note;
}

/* ---- Adding ---- */

static void add(struct history *c, struct history_ring *ring, struct history_entry entry)
{
    entry.number = ++c->added;
    entry.times = 1;
    history_ring_add(ring, &entry);
}

void history_add_step(struct history *c, struct history_entry entry)
{
    add(c, &c->steps, entry);
}

void history_add_change(struct history *c, struct history_entry entry)
{
    add(c, &c->changes, entry);
}

const char *history_keep_reason(struct history *c, const char *reason)
{
    if (!c->reasons) c->reasons = calloc(HISTORY_REASONS_MAX, sizeof *c->reasons);
    if (!c->reasons || !*reason) return NULL;
    for (uint32_t i = 0; i < c->reason_count; i++)
        if (strcmp(c->reasons[i], reason) == 0) return c->reasons[i];
    if (c->reason_count == HISTORY_REASONS_MAX) return NULL;
    snprintf(c->reasons[c->reason_count], HISTORY_REASON, "%s", reason);
    return c->reasons[c->reason_count++];
}

void history_note(struct history *c, uint64_t now_ns, uint64_t group, const struct host_note *note)
{
    if (!c || note->number > UINT8_MAX)
        return; /* larger numbers are malformed messages, which explain nothing */
    add(c, &c->steps,
        (struct history_entry){.what = HISTORY_NOTE,
                               .at_ns = now_ns + c->shift,
                               .group = group,
                               .by = note->by,
                               .note = (uint8_t)note->number,
                               .token = note->values[0],
                               .more = note->values[1]});
}

void history_hear(struct history *c, uint64_t now_ns, uint64_t group, const struct el_algorithm *by,
                  const struct el_msg *m)
{
    if (!c || by != &el_quorum || (m->kind != QUORUM_GRANT && m->kind != QUORUM_REFUSE)) return;
    if (m->from > c->config->member_count || m->subject > c->config->member_count) return;
    add(c, &c->steps,
        (struct history_entry){.what = HISTORY_HEARD,
                               .at_ns = now_ns + c->shift,
                               .group = group,
                               .note = (uint8_t)m->kind,
                               .flags = m->flags,
                               .token = m->epoch,
                               .who = (uint8_t)m->from,
                               .whom = m->kind == QUORUM_REFUSE ? (uint8_t)m->subject : 0});
}

void history_write(struct history *c, uint64_t now_ns, uint64_t took_ns)
{
    if (c)
        add(c, &c->steps,
            (struct history_entry){.what = HISTORY_WRITTEN, .at_ns = now_ns + c->shift, .token = took_ns});
}

void history_leadership(struct history *c, uint64_t now_ns, uint64_t group, enum history_what what, el_node who,
                        const char *reason)
{
    if (!c) return;
    add(c, &c->steps,
        (struct history_entry){.what = (uint8_t)what,
                               .at_ns = now_ns + c->shift,
                               .group = group,
                               .who = (uint8_t)who,
                               .reason = reason});
}

/* ---- Judging a change ---- */

static enum history_end end_by(const struct history_entry *e, el_node leader, bool is_self)
{
    const bool about_it = e->token == leader;
    if (is_self && e->what == HISTORY_GONE) return HISTORY_WORKER_GONE;
    if (is_self && e->what == HISTORY_NO_MAJORITY) return HISTORY_NO_QUORUM;
    switch (history_quorum_note(e)) {
    case QUORUM_LAPSES: return is_self ? HISTORY_RAN_OUT : HISTORY_GOES_ON;
    case QUORUM_RESIGNS: return is_self ? HISTORY_RESIGNS : HISTORY_GOES_ON;
    case QUORUM_HANDS_OVER: return is_self ? HISTORY_TRANSFERS : HISTORY_GOES_ON;
    case QUORUM_IS_DEPOSED: return is_self ? HISTORY_DEPOSED : HISTORY_GOES_ON;
    case QUORUM_IS_RELEASED: return about_it && !is_self ? HISTORY_RELEASED : HISTORY_GOES_ON;
    case QUORUM_BURIES: return about_it ? HISTORY_OBITUARY : HISTORY_GOES_ON;
    default: return HISTORY_GOES_ON;
    }
}

static enum history_beginning beginning_by(const struct history_entry *e, el_node leader, uint64_t token,
                                           bool is_self)
{
    switch (history_quorum_note(e)) {
    case QUORUM_STANDS:
    case QUORUM_RISES: return is_self && e->token == token ? HISTORY_ELECTED : HISTORY_SEEN;
    case QUORUM_GRANTS: return e->token == leader && e->more == token ? HISTORY_ELECTED : HISTORY_SEEN;
    case QUORUM_IS_PUSHED: return is_self && e->more == token ? HISTORY_PUSHED : HISTORY_SEEN;
    case QUORUM_PUSHES: return e->token == leader && e->more == token ? HISTORY_PUSHED : HISTORY_SEEN;
    case QUORUM_HANDS_OVER: return e->token == leader ? HISTORY_HANDED_OVER : HISTORY_SEEN;
    default: return HISTORY_SEEN;
    }
}

static bool is_refusal_of(const struct history_entry *e, el_node who)
{
    const int note = history_quorum_note(e);
    return (note == QUORUM_REFUSES_HELD || note == QUORUM_REFUSES_LOW || note == QUORUM_REFUSES_SILENT) &&
           e->token == who;
}

static uint32_t within_reach(const struct history_ring *ring)
{
    const uint32_t held = history_held(ring);
    return held < LOOK_BACK ? held : LOOK_BACK;
}

/* The last change, and the last change to a leader, when its tenure began; NULL: none among the last LOOK_BACK. */
static void find_last(const struct history *c, uint64_t group, const struct history_entry **change,
                      const struct history_entry **leader)
{
    const uint32_t reach = within_reach(&c->changes);
    *change = *leader = NULL;
    for (uint32_t back = 1; back <= reach && !*leader; back++) {
        const struct history_entry *e = history_back(&c->changes, back);
        if (e->group != group) continue;
        if (!*change) *change = e;
        if (e->who && e->note != HISTORY_RETURN) *leader = e;
    }
}

/* If no note says why. */
static enum history_end end_by_default(const struct history_entry *e, bool is_self)
{
    if (e->whom == 0) return HISTORY_GOES_ON; /* there was no leader */
    if (e->who) return HISTORY_FOLLOWED;
    if (is_self) return HISTORY_RAN_OUT;
    return e->more < HEARD_RECENTLY_NS ? HISTORY_LET_GO : HISTORY_LOST_SIGHT;
}

/* Finds how the tenure before ended and how the new one began. A candidate that was refused at first counts as
 * elected, even if its votes were pushed to it in the end. */
static void judge(const struct history *c, struct history_entry *change)
{
    const struct history_entry *began, *latest;
    find_last(c, change->group, &latest, &began);
    const el_node before = change->whom ? change->whom : began ? began->who : EL_NOBODY;
    const bool was_self = before == c->config->self, is_self = change->who == c->config->self;
    const uint32_t reach = within_reach(&c->steps);
    enum history_end ended = HISTORY_GOES_ON;
    enum history_beginning beginning = HISTORY_SEEN;
    bool asked = false;
    for (uint32_t back = 1; back <= reach; back++) {
        const struct history_entry *e = history_back(&c->steps, back);
        if (began && e->number < began->number) break;
        if (!history_is_of(e, change->group)) continue;
        const enum history_end end = before ? end_by(e, before, was_self) : HISTORY_GOES_ON;
        const enum history_beginning how =
            change->who ? beginning_by(e, change->who, change->token, is_self) : HISTORY_SEEN;
        if (end > ended) ended = end;
        if (how > beginning) beginning = how;
        if (!latest || e->number > latest->number) asked = asked || is_refusal_of(e, change->who);
    }
    if (ended == HISTORY_GOES_ON) ended = end_by_default(change, was_self);
    if (beginning == HISTORY_PUSHED && asked) beginning = HISTORY_ELECTED;
    if (beginning == HISTORY_PUSHED && ended >= HISTORY_RELEASED && ended != HISTORY_OBITUARY &&
        ended != HISTORY_NO_QUORUM)
        beginning = HISTORY_HANDED_OVER;
    change->ended = (uint8_t)ended;
    change->began = (uint8_t)beginning;
}

const struct history_entry *history_lead(struct history *c, uint64_t now_ns, const struct history_change *seen,
                                         struct history_statement list[HISTORY_STATEMENTS_MAX], uint32_t *count)
{
    const struct history_entry *began, *latest;
    *count = 0;
    if (!c) return NULL;
    struct history_entry change = {.what = HISTORY_LEADER,
                                   .at_ns = now_ns + c->shift,
                                   .group = seen->group,
                                   .token = seen->token,
                                   .who = (uint8_t)seen->leader,
                                   .whom = (uint8_t)seen->before,
                                   .more = seen->heard_ns,
                                   .nobody_ns = seen->nobody_ns,
                                   .note = seen->is_failover ? HISTORY_FAILOVER : HISTORY_PLAIN};
    judge(c, &change);
    find_last(c, change.group, &latest, &began);
    if (change.who && began && began->who == change.who && began->token == change.token) {
        change.note = HISTORY_RETURN;
        change.nobody_ns = UINT64_MAX;
    }
    *count = history_make_statements(c, &change, began, list);
    add(c, &c->changes, change);
    return history_back(&c->changes, 1);
}

/* ---- Tenures ---- */

uint64_t history_lost_at(const struct history_entry *e)
{
    return e->more > e->at_ns ? e->at_ns : e->at_ns - e->more;
}

void history_unshift(const struct history *c, struct history_tenure *t)
{
    t->began_ns -= c->shift;
    if (t->ended_ns) t->ended_ns -= c->shift;
}

bool history_is_by_start(const struct history_entry *e)
{
    return e->ended == HISTORY_AGENT_ENDED || (e->ended == HISTORY_LOST_SIGHT && e->more == UINT64_MAX);
}

static void close_last(struct history_tenure *last, const struct history_entry *change)
{
    const uint64_t at = history_lost_at(change);
    if (last->ended_ns == 0) last->is_led_at_most = history_is_by_start(change);
    if (last->ended_ns == 0) last->ended_ns = at > last->began_ns ? at : last->began_ns;
    if (change->ended > last->ended) last->ended = change->ended; /* a later change may know the cause better */
}

uint32_t history_tenures(const struct history *c, uint64_t group, struct history_tenure *list, uint32_t most)
{
    const struct history_entry *changes[HISTORY_COLLECTED_MAX];
    const uint32_t held = history_collect(&c->changes, group, false, changes);
    el_node earlier = EL_NOBODY; /* the leader before those in the list */
    uint32_t count = 0;
    for (uint32_t i = 0; i < held; i++) {
        const struct history_entry *e = changes[i];
        struct history_tenure *last = count ? &list[count - 1] : NULL;
        if (last && last->leader == e->who && last->token == e->token) {
            last->ended_ns = 0; /* it was silent, and is back in the same term */
            last->ended = HISTORY_GOES_ON;
            last->is_led_at_most = false;
            continue;
        }
        if (last) close_last(last, e);
        if (e->who == EL_NOBODY) continue;
        if (count == most) {
            earlier = list[0].leader;
            memmove(list, list + 1, --count * sizeof *list);
        }
        list[count++] = (struct history_tenure){.leader = e->who,
                                                .token = e->token,
                                                .began_ns = e->at_ns,
                                                .nobody_ns = e->nobody_ns,
                                                .began = e->began};
    }
    for (uint32_t i = 0; i < count; i++) {
        history_correct(c, group, &list[i], i ? list[i - 1].leader : earlier);
        if (i) history_clip(&list[i - 1], &list[i]);
    }
    for (uint32_t i = 0; i < count; i++) history_unshift(c, &list[i]);
    return count;
}
