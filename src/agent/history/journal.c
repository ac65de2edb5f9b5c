/* See journal.h. */
#include "agent/history/journal.h"

#include <stdlib.h>
#include <string.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"
#include "core/bytes.h"

enum { JOURNAL_RESTATES = 4096 };
enum { VERSION = 1, FRAME = 6, BODY_MAX = 256, CHANGE = 1, STEP = 2, STATED = 3 };
static const uint8_t magic[8] = {'e', 'l', 'e', 'c', 'h', 'i', 's', 't'};

/* Notes are stored by their numbers: with other notes they mean something else. */
static uint64_t digest_notes(void)
{
    struct el_hash sum = {VERSION, QUORUM_NOTES};
    for (uint32_t i = 0; i < QUORUM_NOTES; i++) {
        const char *name = el_quorum.notes[i].name;
        const uint64_t words[] = {sum.low, el_fingerprint(name, strlen(name)).low};
        sum = el_fingerprint(words, sizeof words);
    }
    return sum.low;
}

void journal_head(const struct journal_place *place, uint8_t bytes[JOURNAL_HEAD])
{
    memset(bytes, 0, JOURNAL_HEAD);
    memcpy(bytes, magic, sizeof magic);
    el_put(bytes + 8, digest_notes(), 8);
    el_put(bytes + 16, place->members, 8);
    memcpy(bytes + 24, place->boot, JOURNAL_BOOT);
    el_put(bytes + 40, place->boot_ns, 8);
    el_put(bytes + 48, place->wall_ns, 8);
    el_put(bytes + 56, el_fingerprint(bytes, 56).low, 8);
}

/* ---- One record, in both directions ---- */

struct body {
    uint8_t bytes[BODY_MAX];
    size_t at, size;
    bool reads, failed;
};

static void number(struct body *b, uint64_t *value, unsigned width)
{
    if (b->at + width > (b->reads ? b->size : sizeof b->bytes)) {
        b->failed = true;
        return;
    }
    if (b->reads)
        *value = el_get(b->bytes + b->at, width);
    else
        el_put(b->bytes + b->at, *value, width);
    b->at += width;
}

static void byte(struct body *b, uint8_t *value, uint64_t most)
{
    uint64_t wide = *value;
    number(b, &wide, 1);
    if (wide > most) b->failed = true;
    *value = (uint8_t)wide;
}

/* Printable, since it is shown: `room` includes the zero at its end. */
static void text(struct body *b, char *value, size_t room)
{
    uint8_t length = b->reads ? 0 : (uint8_t)strlen(value);
    byte(b, &length, room - 1);
    if (b->failed || b->at + length > (b->reads ? b->size : sizeof b->bytes)) {
        b->failed = true;
        return;
    }
    if (!b->reads) memcpy(b->bytes + b->at, value, length);
    if (b->reads) memcpy(value, b->bytes + b->at, length);
    value[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (value[i] < ' ' || value[i] == 0x7f) b->failed = true;
    b->at += length;
}

static void times(struct body *b, struct history_entry *e)
{
    number(b, &e->at_ns, 8);
    number(b, &e->group, 8);
    number(b, &e->token, 8);
    number(b, &e->more, 8);
}

static void change(struct body *b, struct history_entry *e, uint32_t members)
{
    times(b, e);
    number(b, &e->nobody_ns, 8);
    byte(b, &e->who, members);
    byte(b, &e->whom, members);
    byte(b, &e->note, HISTORY_RETURN);
    byte(b, &e->began, HISTORY_HANDED_OVER);
    byte(b, &e->ended, HISTORY_AGENT_ENDED);
    e->what = HISTORY_LEADER;
}

/* Of the notes, only those of quorum: others' cannot be checked. */
static void step(struct body *b, struct history_entry *e, uint32_t members, char reason[HISTORY_REASON])
{
    times(b, e);
    byte(b, &e->what, HISTORY_TOLD_LOST);
    byte(b, &e->note, UINT8_MAX);
    byte(b, &e->flags, UINT8_MAX);
    byte(b, &e->who, members);
    byte(b, &e->whom, members);
    text(b, reason, HISTORY_REASON);
    if (e->what == 0 || e->what == HISTORY_LEADER) b->failed = true;
    if (e->what == HISTORY_NOTE && e->note >= QUORUM_NOTES) b->failed = true;
    if (e->what == HISTORY_HEARD && e->note != QUORUM_GRANT && e->note != QUORUM_REFUSE) b->failed = true;
}

static void stated(struct body *b, struct history_stated *s, uint32_t members)
{
    number(b, &s->group, 8);
    number(b, &s->token, 8);
    number(b, &s->span_ns, 8);
    byte(b, &s->by, members);
    byte(b, &s->what, HISTORY_STATES_GAP);
    byte(b, &s->word, s->what == HISTORY_STATES_END ? HISTORY_DEPOSED : HISTORY_HANDED_OVER);
    text(b, s->detail, sizeof s->detail);
}

/* ---- Writing ---- */

struct output {
    uint8_t *bytes;
    size_t size, room;
};

static struct body begin_body(uint8_t kind)
{
    struct body b = {.at = 1};
    b.bytes[0] = kind;
    return b;
}

static void end_body(struct output *to, const struct body *b)
{
    if (b->failed || to->size + FRAME + b->at > to->room) return;
    uint8_t *frame = to->bytes + to->size;
    el_put(frame, b->at, 2);
    el_put(frame + 2, el_fingerprint(b->bytes, b->at).low & UINT32_MAX, 4);
    memcpy(frame + FRAME, b->bytes, b->at);
    to->size += FRAME + b->at;
}

static void put_change(struct output *to, const struct history *c, const struct history_entry *e)
{
    struct history_entry copy = *e;
    struct body b = begin_body(CHANGE);
    copy.at_ns -= c->shift;
    change(&b, &copy, CONFIG_MEMBERS_MAX);
    end_body(to, &b);
}

static void put_step(struct output *to, const struct history *c, const struct history_entry *e)
{
    struct history_entry copy = *e;
    struct body b = begin_body(STEP);
    char reason[HISTORY_REASON] = "";
    if (e->what == HISTORY_NOTE && e->by != &el_quorum) return;
    if (e->what == HISTORY_TOLD_LOST && e->reason) snprintf(reason, sizeof reason, "%s", e->reason);
    copy.at_ns -= c->shift;
    step(&b, &copy, CONFIG_MEMBERS_MAX, reason);
    end_body(to, &b);
}

/* The first entry that is not taken yet, counted from 0; at most `most` of them. */
static uint64_t first_to_take(const struct history_ring *ring, uint64_t taken, uint32_t most)
{
    const uint64_t held = history_held(ring), last = held < most ? held : most, oldest = ring->count - last;
    return taken > oldest ? taken : oldest;
}

static const struct history_entry *entry_at(const struct history_ring *ring, uint64_t at)
{
    return at < ring->count ? &ring->entries[at & (ring->size - 1)] : NULL;
}

uint8_t *journal_take(struct history *c, bool all, size_t *size)
{
    if (all) c->taken_changes = c->taken_steps = c->taken_stated = 0;
    uint64_t change_at = first_to_take(&c->changes, c->taken_changes, HISTORY_CHANGES),
             step_at = first_to_take(&c->steps, c->taken_steps, JOURNAL_STEPS_MAX), stated_at = c->taken_stated;
    *size = 0;
    if (change_at == c->changes.count && stated_at == c->stated_count)
        return NULL; /* steps alone explain nothing */
    if (c->stated_count - stated_at > HISTORY_STATEMENTS) stated_at = c->stated_count - HISTORY_STATEMENTS;
    struct output to = {.room = (size_t)(c->changes.count - change_at + c->steps.count - step_at +
                                         c->stated_count - stated_at) *
                                (FRAME + BODY_MAX)};
    to.bytes = malloc(to.room);
    if (!to.bytes) return NULL;
    for (;;) { /* in the order in which they were added */
        const struct history_entry *a = entry_at(&c->changes, change_at), *b = entry_at(&c->steps, step_at);
        if (!a && !b) break;
        if (a && (!b || a->number < b->number)) {
            put_change(&to, c, a);
            change_at++;
        } else {
            put_step(&to, c, b);
            step_at++;
        }
    }
    for (; stated_at < c->stated_count; stated_at++) {
        struct history_stated copy = c->stated[stated_at % HISTORY_STATEMENTS];
        struct body b = begin_body(STATED);
        stated(&b, &copy, CONFIG_MEMBERS_MAX);
        end_body(&to, &b);
    }
    c->taken_changes = c->changes.count;
    c->taken_steps = c->steps.count;
    c->taken_stated = c->stated_count;
    *size = to.size;
    return to.bytes;
}

/* ---- Reading ---- */

struct input {
    struct history *c;
    uint64_t later;  /* added to times: those of an earlier boot may lie before this one */
    bool is_checked; /* the first pass only checks, and finds the earliest time */
    uint64_t earliest;
};

/* Later entries of the same boot are compared with those of earlier ones: all are shifted, so that none is negative. */
static void place_time(struct input *in, struct history_entry *e)
{
    e->at_ns += in->later;
    if (!in->is_checked && (int64_t)e->at_ns < (int64_t)in->earliest) in->earliest = e->at_ns;
    e->at_ns += in->c->shift;
}

static bool read_record(struct input *in, struct body *b)
{
    const uint32_t members = in->c->config->member_count;
    struct history_entry e = {0};
    struct history_stated s = {0};
    char reason[HISTORY_REASON] = "";
    const uint8_t kind = b->bytes[0];
    b->at = 1;
    if (kind == CHANGE) change(b, &e, members);
    if (kind == STEP) step(b, &e, members, reason);
    if (kind == STATED) stated(b, &s, members);
    if (b->failed || b->at != b->size || kind == 0 || kind > STATED) return false;
    if (kind != STATED) place_time(in, &e);
    if (!in->is_checked) return true;
    if (kind == STEP && e.what == HISTORY_NOTE) e.by = &el_quorum;
    if (kind == STEP && e.what == HISTORY_TOLD_LOST) e.reason = history_keep_reason(in->c, reason);
    if (kind == CHANGE) history_add_change(in->c, e);
    if (kind == STEP) history_add_step(in->c, e);
    if (kind == STATED) in->c->stated[in->c->stated_count++ % HISTORY_STATEMENTS] = s;
    return true;
}

/* False: no head is here. */
static bool read_head(const uint8_t *bytes, size_t size, struct journal_place *place, uint64_t *notes)
{
    if (size < JOURNAL_HEAD || memcmp(bytes, magic, sizeof magic) != 0) return false;
    if (el_get(bytes + 56, 8) != el_fingerprint(bytes, 56).low) return false;
    *notes = el_get(bytes + 8, 8);
    place->members = el_get(bytes + 16, 8);
    memcpy(place->boot, bytes + 24, JOURNAL_BOOT);
    place->boot_ns = el_get(bytes + 40, 8);
    place->wall_ns = el_get(bytes + 48, 8);
    return true;
}

static enum journal_outcome read_records(struct input *in, const uint8_t *bytes, size_t size)
{
    for (size_t at = JOURNAL_HEAD; at < size;) {
        struct body b = {.reads = true};
        b.size = size - at < FRAME ? 0 : (size_t)el_get(bytes + at, 2);
        if (size - at < FRAME || size - at - FRAME < b.size)
            return JOURNAL_CUT; /* the agent died while writing it */
        if (b.size == 0 || b.size > BODY_MAX) return JOURNAL_DAMAGED;
        memcpy(b.bytes, bytes + at + FRAME, b.size);
        if (el_get(bytes + at + 2, 4) != (el_fingerprint(b.bytes, b.size).low & UINT32_MAX) ||
            !read_record(in, &b))
            return JOURNAL_DAMAGED;
        at += FRAME + b.size;
    }
    return JOURNAL_READ;
}

/* For each leader when we last looked: an own tenure ended with the agent, and others' were out of sight. */
static void close_tenures(struct history *c, uint64_t now_ns)
{
    const uint64_t count = c->changes.count, held = history_held(&c->changes);
    for (uint64_t i = count - held; i < count; i++) {
        const struct history_entry e = *entry_at(&c->changes, i), *list[HISTORY_COLLECTED_MAX];
        const uint32_t found = e.who ? history_collect(&c->changes, e.group, false, list) : 0;
        if (!found || list[found - 1]->number != e.number) continue; /* not its last */
        const bool is_own = e.who == c->config->self;
        history_add_change(c,
                           (struct history_entry){.what = HISTORY_LEADER,
                                                  .at_ns = now_ns + c->shift,
                                                  .group = e.group,
                                                  .whom = e.who,
                                                  .more = UINT64_MAX,
                                                  .nobody_ns = UINT64_MAX,
                                                  .ended = is_own ? HISTORY_AGENT_ENDED : HISTORY_LOST_SIGHT});
    }
}

enum journal_outcome journal_read(struct history *c, const struct journal_place *now, const uint8_t *bytes,
                                  size_t size)
{
    struct input in = {.c = c, .earliest = now->boot_ns};
    struct journal_place then;
    uint64_t notes;
    if (size == 0) return JOURNAL_EMPTY;
    if (!read_head(bytes, size, &then, &notes)) return JOURNAL_DAMAGED;
    if (notes != digest_notes() || then.members != now->members) return JOURNAL_OTHER;
    const bool is_this_boot = memcmp(then.boot, now->boot, JOURNAL_BOOT) == 0;
    in.later = is_this_boot ? 0 : now->boot_ns - then.boot_ns - (now->wall_ns - then.wall_ns);
    const enum journal_outcome outcome = read_records(&in, bytes, size);
    if (outcome == JOURNAL_DAMAGED) return outcome;
    c->shift = (int64_t)in.earliest < 0 ? 0 - in.earliest : 0;
    c->since += c->shift;
    in.is_checked = true;
    (void)read_records(&in, bytes, size);
    if (in.earliest + c->shift < c->since) c->since = in.earliest + c->shift;
    close_tenures(c, now->boot_ns);
    c->settled = c->taken_changes = c->changes.count;
    c->taken_steps = c->steps.count;
    c->taken_stated = c->restated = c->stated_count;
    c->restates = c->stated_count ? JOURNAL_RESTATES : 0;
    return outcome;
}
