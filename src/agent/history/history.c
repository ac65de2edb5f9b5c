/* See history.h. Keeping, and what a change of leaders meant when it was seen. */
#include "agent/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"

/* A change is explained by what came shortly before; a search through all of it would make many at once slow. */
enum { LOOK_BACK = 64 };
static const uint64_t LATELY_NS = 10000000;

struct chronicle *chronicle_new(const struct config *config, uint64_t now_ns)
{
    struct chronicle *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (struct chronicle){.config = config,
                            .since = now_ns,
                            .steps = {.size = CHRONICLE_STEPS},
                            .changes = {.size = CHRONICLE_CHANGES}};
    c->steps.entries = calloc(CHRONICLE_STEPS, sizeof *c->steps.entries);
    c->changes.entries = calloc(CHRONICLE_CHANGES, sizeof *c->changes.entries);
    if (c->steps.entries && c->changes.entries) return c;
    chronicle_free(c);
    return NULL;
}

void chronicle_free(struct chronicle *c)
{
    if (!c) return;
    free(c->steps.entries);
    free(c->changes.entries);
    free(c);
}

uint64_t chronicle_since(const struct chronicle *c)
{
    return c->since;
}

uint64_t chronicle_group(const char *name)
{
    return el_fingerprint(name, strlen(name)).low | 1;
}

int chronicle_quorum_note(const struct chronicle_entry *e)
{
    if (e->what != CHRONICLE_NOTE || e->by != &el_quorum || e->note >= QUORUM_NOTES) return -1;
    return (int)e->note;
}

/* ---- Adding ---- */

static void add(struct chronicle *c, struct chronicle_ring *ring, struct chronicle_entry entry)
{
    entry.number = ++c->added;
    entry.times = 1;
    ring->entries[ring->count++ & (ring->size - 1)] = entry;
}

void chronicle_note(struct chronicle *c, uint64_t now_ns, uint64_t group, const struct host_note *note)
{
    if (!c || note->number > UINT8_MAX) return; /* a malformed message is part of no story */
    add(c, &c->steps,
        (struct chronicle_entry){.what = CHRONICLE_NOTE,
                                 .at_ns = now_ns,
                                 .group = group,
                                 .by = note->by,
                                 .note = (uint8_t)note->number,
                                 .token = note->values[0],
                                 .more = note->values[1]});
}

void chronicle_hear(struct chronicle *c, uint64_t now_ns, uint64_t group, const struct el_algorithm *by,
                    const struct el_msg *m)
{
    if (!c || by != &el_quorum || (m->kind != QUORUM_GRANT && m->kind != QUORUM_REFUSE)) return;
    if (m->from > c->config->member_count || m->subject > c->config->member_count) return;
    add(c, &c->steps,
        (struct chronicle_entry){.what = CHRONICLE_HEARD,
                                 .at_ns = now_ns,
                                 .group = group,
                                 .note = (uint8_t)m->kind,
                                 .flags = m->flags,
                                 .token = m->epoch,
                                 .who = (uint8_t)m->from,
                                 .whom = m->kind == QUORUM_REFUSE ? (uint8_t)m->subject : 0});
}

void chronicle_write(struct chronicle *c, uint64_t now_ns, uint64_t took_ns)
{
    if (c)
        add(c, &c->steps,
            (struct chronicle_entry){.what = CHRONICLE_WRITTEN, .at_ns = now_ns, .token = took_ns});
}

void chronicle_office(struct chronicle *c, uint64_t now_ns, uint64_t group, enum chronicle_what what,
                      el_node who, const char *reason)
{
    if (!c) return;
    add(c, &c->steps,
        (struct chronicle_entry){
            .what = (uint8_t)what, .at_ns = now_ns, .group = group, .who = (uint8_t)who, .reason = reason});
}

/* ---- What a change meant ---- */

static enum chronicle_end end_by(const struct chronicle_entry *e, el_node leader, bool is_self)
{
    const bool about_it = e->token == leader;
    if (is_self && e->what == CHRONICLE_GONE) return CHRONICLE_WORKER_GONE;
    switch (chronicle_quorum_note(e)) {
    case QUORUM_LAPSES: return is_self ? CHRONICLE_RAN_OUT : CHRONICLE_GOES_ON;
    case QUORUM_RESIGNS: return is_self ? CHRONICLE_RESIGNS : CHRONICLE_GOES_ON;
    case QUORUM_HANDS_OVER: return is_self ? CHRONICLE_TRANSFERS : CHRONICLE_GOES_ON;
    case QUORUM_IS_DEPOSED: return is_self ? CHRONICLE_DEPOSED : CHRONICLE_GOES_ON;
    case QUORUM_IS_RELEASED:
    case QUORUM_IS_PROVED_FREE: return about_it && !is_self ? CHRONICLE_RELEASED : CHRONICLE_GOES_ON;
    case QUORUM_BURIES: return about_it ? CHRONICLE_OBITUARY : CHRONICLE_GOES_ON;
    default: return CHRONICLE_GOES_ON;
    }
}

static enum chronicle_beginning beginning_by(const struct chronicle_entry *e, el_node leader, uint64_t token,
                                             bool is_self)
{
    switch (chronicle_quorum_note(e)) {
    case QUORUM_STANDS:
    case QUORUM_RISES: return is_self && e->token == token ? CHRONICLE_ELECTED : CHRONICLE_SEEN;
    case QUORUM_GRANTS: return e->token == leader && e->more == token ? CHRONICLE_ELECTED : CHRONICLE_SEEN;
    case QUORUM_IS_PUSHED: return is_self && e->more == token ? CHRONICLE_PUSHED : CHRONICLE_SEEN;
    case QUORUM_PUSHES: return e->token == leader && e->more == token ? CHRONICLE_PUSHED : CHRONICLE_SEEN;
    case QUORUM_HANDS_OVER: return e->token == leader ? CHRONICLE_HANDED_OVER : CHRONICLE_SEEN;
    default: return CHRONICLE_SEEN;
    }
}

static bool is_refusal_of(const struct chronicle_entry *e, el_node who)
{
    const int note = chronicle_quorum_note(e);
    return (note == QUORUM_REFUSES_HELD || note == QUORUM_REFUSES_LOW || note == QUORUM_REFUSES_SILENT) &&
           e->token == who;
}

static uint32_t within_reach(const struct chronicle_ring *ring)
{
    const uint32_t held = chronicle_held(ring);
    return held < LOOK_BACK ? held : LOOK_BACK;
}

/* The last change, and the last that was to somebody; NULL: too long ago, or there was none. */
static void find_last(const struct chronicle *c, uint64_t group, const struct chronicle_entry **change,
                      const struct chronicle_entry **leader)
{
    const uint32_t reach = within_reach(&c->changes);
    *change = *leader = NULL;
    for (uint32_t back = 1; back <= reach && !*leader; back++) {
        const struct chronicle_entry *e = chronicle_back(&c->changes, back);
        if (e->group != group) continue;
        if (!*change) *change = e;
        if (e->who) *leader = e;
    }
}

/* Where no note says why. */
static enum chronicle_end end_by_default(const struct chronicle_entry *e, bool is_self)
{
    if (e->whom == 0) return CHRONICLE_GOES_ON; /* it had ended before */
    if (e->who) return CHRONICLE_FOLLOWED;
    if (is_self) return CHRONICLE_RAN_OUT;
    return e->more < LATELY_NS ? CHRONICLE_LET_GO : CHRONICLE_LOST_SIGHT;
}

/* Who asked while nobody led, and had to wait for its votes, was elected, though they came unasked in the end. */
static void judge(const struct chronicle *c, struct chronicle_entry *change)
{
    const struct chronicle_entry *began, *latest;
    find_last(c, change->group, &latest, &began);
    const el_node before = change->whom ? change->whom : began ? began->who : EL_NOBODY;
    const bool was_self = before == c->config->self, is_self = change->who == c->config->self;
    const uint32_t reach = within_reach(&c->steps);
    enum chronicle_end ended = CHRONICLE_GOES_ON;
    enum chronicle_beginning beginning = CHRONICLE_SEEN;
    bool asked = false;
    for (uint32_t back = 1; back <= reach; back++) {
        const struct chronicle_entry *e = chronicle_back(&c->steps, back);
        if (began && e->number < began->number) break;
        if (!chronicle_is_of(e, change->group)) continue;
        const enum chronicle_end end = before ? end_by(e, before, was_self) : CHRONICLE_GOES_ON;
        const enum chronicle_beginning how =
            change->who ? beginning_by(e, change->who, change->token, is_self) : CHRONICLE_SEEN;
        if (end > ended) ended = end;
        if (how > beginning) beginning = how;
        if (!latest || e->number > latest->number) asked = asked || is_refusal_of(e, change->who);
    }
    if (ended == CHRONICLE_GOES_ON) ended = end_by_default(change, was_self);
    if (beginning == CHRONICLE_PUSHED && asked) beginning = CHRONICLE_ELECTED;
    if (beginning == CHRONICLE_PUSHED && ended >= CHRONICLE_RELEASED && ended != CHRONICLE_OBITUARY)
        beginning = CHRONICLE_HANDED_OVER;
    change->ended = (uint8_t)ended;
    change->began = (uint8_t)beginning;
}

void chronicle_lead(struct chronicle *c, uint64_t now_ns, uint64_t group, el_node before, el_node leader,
                    uint64_t token, uint64_t heard_ns)
{
    if (!c) return;
    struct chronicle_entry change = {.what = CHRONICLE_LEADER,
                                     .at_ns = now_ns,
                                     .group = group,
                                     .token = token,
                                     .who = (uint8_t)leader,
                                     .whom = (uint8_t)before,
                                     .more = heard_ns};
    judge(c, &change);
    add(c, &c->changes, change);
}

/* ---- Tenures ---- */

static void close_last(struct chronicle_tenure *last, const struct chronicle_entry *change)
{
    if (last->ended_ns == 0) last->ended_ns = change->at_ns;
    if (change->ended > last->ended) last->ended = change->ended; /* it may have become clear later */
}

uint32_t chronicle_tenures(const struct chronicle *c, uint64_t group, struct chronicle_tenure *list,
                           uint32_t most)
{
    const uint32_t held = chronicle_held(&c->changes);
    uint32_t count = 0;
    for (uint32_t i = 0; i < held; i++) {
        const struct chronicle_entry *e = chronicle_at(&c->changes, i);
        if (e->group != group) continue;
        struct chronicle_tenure *last = count ? &list[count - 1] : NULL;
        if (last && last->leader == e->who && last->token == e->token) {
            last->ended_ns = 0; /* it was out of sight, and has led on */
            last->ended = CHRONICLE_GOES_ON;
            continue;
        }
        if (last) close_last(last, e);
        if (e->who == EL_NOBODY) continue;
        const uint64_t nobody = last ? e->at_ns - last->ended_ns : UINT64_MAX;
        if (count == most) memmove(list, list + 1, --count * sizeof *list);
        list[count++] = (struct chronicle_tenure){
            .leader = e->who, .token = e->token, .began_ns = e->at_ns, .nobody_ns = nobody, .began = e->began};
    }
    return count;
}
