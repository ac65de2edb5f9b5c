/*
 * See payload.h. One table lists the words of each type of entry; writing and reading both follow it. Words
 * that repeat the entry before are omitted: a thousand votes differ only in group and term.
 */
#include "agent/peer/payload.h"

#include <string.h>

#include "base/varint.h"
#include "core/bytes.h"

/* ---- The words of each type ---- */

enum word {
    END,
    SETTINGS,
    FLAGS,
    KIND,
    MSG_FLAGS,
    FROM,
    TO,
    SUBJECT,
    EPOCH,
    RANK,
    AUX,
    MORE,
    EXTRA_0,
    EXTRA_1,
    EXTRA_2,
    EXTRA_3,
    INCARNATION,
    ANSWERS,
    SEQUENCE,
    ROUND,
    NUMBER,
    PREEMPT_AFTER,
    VERSION,
    BEFORE,
    TERM,
    HEIR_TERM,
    HEIR,
    WORDS
};
_Static_assert((int)WORDS == (int)PAYLOAD_WORDS, "payload.h has room for all words");

#define WORD(field)                                                                     \
    {                                                                                   \
        offsetof(struct payload_entry, field), sizeof((struct payload_entry *)0)->field \
    }
static const struct {
    uint16_t at;
    uint8_t size;
} words[WORDS] = {
    [SETTINGS] = WORD(settings),
    [FLAGS] = WORD(flags),
    [KIND] = WORD(msg.kind),
    [MSG_FLAGS] = WORD(msg.flags),
    [FROM] = WORD(msg.from),
    [TO] = WORD(msg.to),
    [SUBJECT] = WORD(msg.subject),
    [EPOCH] = WORD(msg.epoch),
    [RANK] = WORD(msg.rank),
    [AUX] = WORD(msg.aux),
    [MORE] = WORD(msg.more),
    [EXTRA_0] = WORD(msg.extra[0]),
    [EXTRA_1] = WORD(msg.extra[1]),
    [EXTRA_2] = WORD(msg.extra[2]),
    [EXTRA_3] = WORD(msg.extra[3]),
    [INCARNATION] = WORD(incarnation),
    [ANSWERS] = WORD(answers),
    [SEQUENCE] = WORD(sequence),
    [ROUND] = WORD(round),
    [NUMBER] = WORD(number),
    [PREEMPT_AFTER] = WORD(preempt_after_ms),
    [VERSION] = WORD(version),
    [BEFORE] = WORD(before),
    [TERM] = WORD(term),
    [HEIR_TERM] = WORD(heir_term),
    [HEIR] = WORD(heir),
};

enum { LAYOUT_MAX = 18 };
enum text { NO_TEXT, NAME, VALUE, NAME_AND_VALUE };
/* Words that seldom differ come last, so that the mask is short. */
#define MSG EPOCH, AUX, EXTRA_1, KIND, MSG_FLAGS, SUBJECT, RANK, EXTRA_2, EXTRA_3, FROM, TO, MORE, EXTRA_0

static const struct {
    uint8_t words[LAYOUT_MAX];
    bool has_group, has_msg;
    enum text text;
} layouts[] = {
    [PAYLOAD_MESSAGE] = {{MSG, SETTINGS, FLAGS}, true, true, NO_TEXT},
    [PAYLOAD_LINKED] = {{MSG, SETTINGS, SEQUENCE, ROUND, INCARNATION}, true, true, NO_TEXT},
    [PAYLOAD_LINK_ACK] = {{SEQUENCE, INCARNATION, ANSWERS}, true, false, NO_TEXT},
    [PAYLOAD_WHO] = {{END}, true, false, NO_TEXT},
    [PAYLOAD_GROUP] = {{SETTINGS, FLAGS, ROUND, NUMBER, PREEMPT_AFTER}, true, false, NAME},
    [PAYLOAD_VALUE] = {{NUMBER}, true, false, VALUE},
    [PAYLOAD_SESSION] = {{MSG, SETTINGS}, false, true, NO_TEXT},
    [PAYLOAD_POSTINGS] = {{VERSION, BEFORE, FLAGS, SETTINGS, INCARNATION, ANSWERS}, false, false, NO_TEXT},
    [PAYLOAD_POSTING] = {{VERSION, BEFORE, TERM, HEIR_TERM, HEIR, FLAGS, NUMBER, PREEMPT_AFTER, SETTINGS,
                          INCARNATION},
                         true,
                         false,
                         NAME_AND_VALUE},
    [PAYLOAD_OBITUARY] = {{SETTINGS, NUMBER}, false, false, NO_TEXT},
    [PAYLOAD_RELEASED] = {{NUMBER, SETTINGS, INCARNATION}, true, false, NO_TEXT},
    [PAYLOAD_MARK] = {{SEQUENCE}, false, false, NO_TEXT},
    [PAYLOAD_ECHO] = {{SEQUENCE}, false, false, NO_TEXT},
    [PAYLOAD_STATEMENT] = {{VERSION, BEFORE, FLAGS, TERM, NUMBER, INCARNATION}, false, false, NAME_AND_VALUE},
    [PAYLOAD_STATED] = {{VERSION, INCARNATION, ANSWERS}, false, false, NO_TEXT},
    [PAYLOAD_REQUEST] = {{SEQUENCE, FLAGS, HEIR, TERM, NUMBER, INCARNATION}, false, false, NAME},
    [PAYLOAD_ANSWER] = {{SEQUENCE, FLAGS, ANSWERS}, false, false, NO_TEXT},
    [PAYLOAD_TOLD] = {{VERSION, BEFORE, TERM, SUBJECT, EXTRA_2, AUX, EXTRA_3, EXTRA_0, FLAGS, NUMBER,
                       PREEMPT_AFTER, SETTINGS, INCARNATION},
                      true,
                      false,
                      NAME_AND_VALUE},
};
enum { TYPES = sizeof layouts / sizeof *layouts };

static uint64_t load(const struct payload_entry *entry, enum word word)
{
    const char *from = (const char *)entry + words[word].at;
    uint32_t four;
    uint64_t eight;
    if (words[word].size == 1) return *(const uint8_t *)from;
    if (words[word].size == 4) return memcpy(&four, from, sizeof four), four;
    return memcpy(&eight, from, sizeof eight), eight;
}

/* False: the value does not fit into the field. */
static bool store(struct payload_entry *entry, enum word word, uint64_t value)
{
    char *to = (char *)entry + words[word].at;
    const uint8_t one = (uint8_t)value;
    const uint32_t four = (uint32_t)value;
    switch (words[word].size) {
    case 1: memcpy(to, &one, sizeof one); return one == value;
    case 4: memcpy(to, &four, sizeof four); return four == value;
    default: memcpy(to, &value, sizeof value); return true;
    }
}

/* ---- Writing ---- */

struct writer {
    uint8_t *at, *end;
    bool fits;
};

static void put(struct writer *w, uint64_t value, uint32_t bytes)
{
    if ((size_t)(w->end - w->at) < bytes) w->fits = false;
    if (!w->fits) return;
    el_put(w->at, value, bytes);
    w->at += bytes;
}

/* A varint. */
static void put_number(struct writer *w, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    const unsigned count = varint_put(bytes, value);
    if ((size_t)(w->end - w->at) < count) w->fits = false;
    if (!w->fits) return;
    memcpy(w->at, bytes, count);
    w->at += count;
}

static void put_text(struct writer *w, const char *text, uint8_t length)
{
    put(w, length, 1);
    if ((size_t)(w->end - w->at) < length) w->fits = false;
    if (!w->fits) return;
    memcpy(w->at, text, length);
    w->at += length;
}

void payload_begin(struct payload *payload, uint64_t members_digest)
{
    struct writer w = {payload->bytes, payload->bytes + sizeof payload->bytes, true};
    put(&w, PAYLOAD_VERSION, 1);
    put(&w, members_digest, 8);
    payload->size = PAYLOAD_HEAD;
    memset(payload->before, 0, sizeof payload->before);
}

bool payload_add(struct payload *payload, const struct payload_entry *entry)
{
    struct writer w = {payload->bytes + payload->size, payload->bytes + sizeof payload->bytes, true};
    const uint8_t *made_of = layouts[entry->type].words;
    const enum text text = layouts[entry->type].text;
    uint64_t values[LAYOUT_MAX];
    uint32_t differ = 0;
    for (uint32_t i = 0; i < LAYOUT_MAX && made_of[i]; i++) {
        values[i] = load(entry, (enum word)made_of[i]);
        if (values[i] != payload->before[made_of[i]]) differ |= UINT32_C(1) << i;
    }
    put(&w, entry->type, 1);
    if (layouts[entry->type].has_group) put(&w, entry->group, 8);
    put_number(&w, differ);
    for (uint32_t i = 0, left = differ; left; i++, left >>= 1)
        if (left & 1) put_number(&w, values[i]);
    if (text) put_text(&w, entry->text, entry->length);
    if (text == NAME_AND_VALUE) put_text(&w, entry->value, entry->value_length);
    if (!w.fits) return false;
    for (uint32_t i = 0, left = differ; left; i++, left >>= 1)
        if (left & 1) payload->before[made_of[i]] = values[i];
    payload->size = (size_t)(w.at - payload->bytes);
    return true;
}

bool payload_resume(struct payload *payload)
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    enum payload_outcome outcome;
    while ((outcome = payload_next(payload->bytes, payload->size, &at, &entry)) == PAYLOAD_ENTRY) {}
    memcpy(payload->before, at.before, sizeof payload->before);
    return outcome == PAYLOAD_END;
}

/* ---- Reading ---- */

struct reader {
    const uint8_t *at, *end;
    bool good;
};

static uint64_t get(struct reader *r, uint32_t bytes)
{
    if ((size_t)(r->end - r->at) < bytes) r->good = false;
    if (!r->good) return 0;
    r->at += bytes;
    return el_get(r->at - bytes, bytes);
}

/* Accepts only the shortest encoding, the one that put_number() writes. */
static uint64_t get_number(struct reader *r)
{
    uint64_t value;
    const unsigned count = varint_get(r->at, (size_t)(r->end - r->at), &value);
    if (count == 0) r->good = false;
    r->at += count;
    return r->good ? value : 0;
}

static uint8_t get_text(struct reader *r, char *text, uint32_t most)
{
    const uint8_t length = (uint8_t)get(r, 1);
    if (length > most || (size_t)(r->end - r->at) < length ||
        memchr(r->at, 0, length)) /* no zero within a text */
        r->good = false;
    if (!r->good) return 0;
    memcpy(text, r->at, length);
    r->at += length;
    return length;
}

uint8_t payload_version(const uint8_t *payload, size_t size)
{
    return size ? payload[0] : 0;
}

bool payload_head(const uint8_t *payload, size_t size, uint64_t *members_digest)
{
    struct reader r = {payload, payload + size, true};
    const bool known = payload_reads((uint8_t)get(&r, 1));
    *members_digest = get(&r, 8);
    return known && r.good;
}

/* Reads the words that differ, and copies the others. */
static void get_words(struct reader *r, struct payload_entry *entry, uint64_t *before)
{
    const uint8_t *made_of = layouts[entry->type].words;
    uint64_t differ = get_number(r);
    for (uint32_t i = 0; i < LAYOUT_MAX && made_of[i]; i++, differ >>= 1) {
        if (differ & 1) before[made_of[i]] = get_number(r);
        if (!store(entry, (enum word)made_of[i], before[made_of[i]])) r->good = false;
    }
    if (differ || (layouts[entry->type].has_msg && entry->msg.kind == 0)) r->good = false;
}

enum payload_outcome payload_next(const uint8_t *payload, size_t size, struct payload_place *place,
                                  struct payload_entry *entry)
{
    struct reader r = {payload + place->at, payload + size, true};
    if (place->at >= size) return PAYLOAD_END;
    memset(entry, 0, sizeof *entry);
    const uint64_t type = get(&r, 1);
    if (type == 0 || type >= TYPES) return PAYLOAD_BAD;
    const enum text text = layouts[type].text;
    entry->type = (enum payload_type)type;
    if (layouts[type].has_group) entry->group = get(&r, 8);
    get_words(&r, entry, place->before);
    if (text) entry->length = get_text(&r, entry->text, text == VALUE ? PAYLOAD_VALUE_MAX : PAYLOAD_NAME_MAX);
    if (text == NAME_AND_VALUE) entry->value_length = get_text(&r, entry->value, PAYLOAD_VALUE_MAX);
    if (!r.good) return PAYLOAD_BAD;
    place->at = (size_t)(r.at - payload);
    return PAYLOAD_ENTRY;
}

static bool is_about_a_death(const struct payload_entry *entry)
{
    return entry->type == PAYLOAD_OBITUARY || entry->type == PAYLOAD_RELEASED;
}

bool payload_may_pass(const uint8_t *payload, size_t size, bool sealed_in_advance)
{
    struct payload_entry entry;
    struct payload_place at = PAYLOAD_FIRST;
    enum payload_outcome outcome;
    while ((outcome = payload_next(payload, size, &at, &entry)) == PAYLOAD_ENTRY)
        if (is_about_a_death(&entry) != sealed_in_advance) return false;
    return !sealed_in_advance || (outcome == PAYLOAD_END && size > PAYLOAD_HEAD);
}

bool payload_is_exchange(const uint8_t *payload, size_t size)
{
    return size > PAYLOAD_HEAD && payload[PAYLOAD_HEAD] >= PAYLOAD_STATEMENT &&
           payload[PAYLOAD_HEAD] <= PAYLOAD_ANSWER;
}
