/* See wire.h. One table says what an entry of each type is made of; writing and reading both follow it. */
#include "agent/wire.h"

#include <string.h>

enum part {
    END,
    GROUP,
    SETTINGS,
    FLAGS,
    MSG,
    LIFE,
    ANSWERS,
    SEQUENCE,
    ROUND,
    NUMBER,
    PATIENCE,
    VERSION,
    BEFORE,
    CLAIM,
    NAME,
    VALUE,
    MORE
};
enum { PARTS_MAX = 12 };

static const uint8_t layout[][PARTS_MAX] = {
    [WIRE_MESSAGE] = {GROUP, SETTINGS, FLAGS, MSG},
    [WIRE_LINKED] = {GROUP, SETTINGS, ROUND, LIFE, SEQUENCE, MSG},
    [WIRE_LINK_ACK] = {GROUP, LIFE, ANSWERS, SEQUENCE},
    [WIRE_WHO] = {GROUP},
    [WIRE_GROUP] = {GROUP, SETTINGS, FLAGS, ROUND, NUMBER, PATIENCE, NAME},
    [WIRE_VALUE] = {GROUP, NUMBER, VALUE},
    [WIRE_SESSION] = {SETTINGS, MSG},
    [WIRE_BOARD] = {SETTINGS, FLAGS, LIFE, ANSWERS, VERSION, BEFORE},
    [WIRE_POSTING] = {GROUP, SETTINGS, FLAGS, LIFE, VERSION, BEFORE, NUMBER, PATIENCE, CLAIM, NAME, MORE},
    [WIRE_OBITUARY] = {SETTINGS, NUMBER},
    [WIRE_RELEASED] = {GROUP, SETTINGS, LIFE, NUMBER},
};
enum { TYPES = sizeof layout / sizeof *layout };

/* ---- Writing ---- */

struct writer {
    uint8_t *at, *end;
    bool fits;
};

static void put(struct writer *w, uint64_t value, uint32_t bytes)
{
    if ((size_t)(w->end - w->at) < bytes) w->fits = false;
    for (uint32_t i = 0; i < bytes && w->fits; i++) *w->at++ = (uint8_t)(value >> 8 * i);
}

static void put_text(struct writer *w, const char *text, uint8_t length)
{
    put(w, length, 1);
    for (uint32_t i = 0; i < length; i++) put(w, (uint8_t)text[i], 1);
}

static void put_part(struct writer *w, const struct wire_entry *entry, enum part part)
{
    uint8_t wire[EL_WIRE_SIZE];
    switch (part) {
    case GROUP: put(w, entry->group, 8); break;
    case SETTINGS: put(w, entry->settings, 4); break;
    case FLAGS: put(w, entry->flags, 1); break;
    case MSG:
        el_encode(&entry->msg, wire);
        for (uint32_t i = 0; i < EL_WIRE_SIZE; i++) put(w, wire[i], 1);
        break;
    case LIFE: put(w, entry->life, 8); break;
    case ANSWERS: put(w, entry->answers, 8); break;
    case SEQUENCE: put(w, entry->sequence, 4); break;
    case ROUND: put(w, entry->round, 4); break;
    case NUMBER: put(w, entry->number, 8); break;
    case PATIENCE: put(w, entry->patience, 4); break;
    case VERSION: put(w, entry->version, 8); break;
    case BEFORE: put(w, entry->before, 8); break;
    case CLAIM:
        put(w, entry->term, 8);
        put(w, entry->heir_term, 8);
        put(w, entry->heir, 2);
        break;
    case NAME:
    case VALUE: put_text(w, entry->text, entry->length); break;
    case MORE: put_text(w, entry->value, entry->value_length); break;
    case END: break;
    }
}

void wire_begin(struct wire_payload *payload, uint64_t members_digest)
{
    struct writer w = {payload->bytes, payload->bytes + sizeof payload->bytes, true};
    put(&w, WIRE_VERSION, 1);
    put(&w, members_digest, 8);
    payload->size = WIRE_HEAD;
}

bool wire_add(struct wire_payload *payload, const struct wire_entry *entry)
{
    struct writer w = {payload->bytes + payload->size, payload->bytes + sizeof payload->bytes, true};
    put(&w, entry->type, 1);
    for (uint32_t i = 0; i < PARTS_MAX && layout[entry->type][i]; i++)
        put_part(&w, entry, (enum part)layout[entry->type][i]);
    if (w.fits) payload->size = (size_t)(w.at - payload->bytes);
    return w.fits;
}

/* ---- Reading ---- */

struct reader {
    const uint8_t *at, *end;
    bool good;
};

static uint64_t get(struct reader *r, uint32_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) r->good = false;
    for (uint32_t i = 0; i < bytes && r->good; i++) value |= (uint64_t)*r->at++ << 8 * i;
    return r->good ? value : 0;
}

static uint8_t get_text(struct reader *r, char *text, uint32_t most)
{
    const uint8_t length = (uint8_t)get(r, 1);
    if (length > most || (size_t)(r->end - r->at) < length ||
        memchr(r->at, 0, length)) /* a name or a value is text */
        r->good = false;
    if (!r->good) return 0;
    memcpy(text, r->at, length);
    r->at += length;
    return length;
}

static void get_part(struct reader *r, struct wire_entry *entry, enum part part)
{
    switch (part) {
    case GROUP: entry->group = get(r, 8); break;
    case SETTINGS: entry->settings = (uint32_t)get(r, 4); break;
    case FLAGS: entry->flags = (uint8_t)get(r, 1); break;
    case MSG:
        if ((size_t)(r->end - r->at) < EL_WIRE_SIZE ||
            el_decode(r->at, EL_WIRE_SIZE, &entry->msg) != EL_WIRE_OK)
            r->good = false;
        else
            r->at += EL_WIRE_SIZE;
        break;
    case LIFE: entry->life = get(r, 8); break;
    case ANSWERS: entry->answers = get(r, 8); break;
    case SEQUENCE: entry->sequence = (uint32_t)get(r, 4); break;
    case ROUND: entry->round = (uint32_t)get(r, 4); break;
    case NUMBER: entry->number = get(r, 8); break;
    case PATIENCE: entry->patience = (uint32_t)get(r, 4); break;
    case VERSION: entry->version = get(r, 8); break;
    case BEFORE: entry->before = get(r, 8); break;
    case CLAIM:
        entry->term = get(r, 8);
        entry->heir_term = get(r, 8);
        entry->heir = (uint32_t)get(r, 2);
        break;
    case NAME: entry->length = get_text(r, entry->text, WIRE_NAME_MAX); break;
    case VALUE: entry->length = get_text(r, entry->text, WIRE_VALUE_MAX); break;
    case MORE: entry->value_length = get_text(r, entry->value, WIRE_VALUE_MAX); break;
    case END: break;
    }
}

bool wire_head(const uint8_t *payload, size_t size, uint64_t *members_digest)
{
    struct reader r = {payload, payload + size, true};
    const bool known = get(&r, 1) == WIRE_VERSION;
    *members_digest = get(&r, 8);
    return known && r.good;
}

enum wire_outcome wire_next(const uint8_t *payload, size_t size, size_t *at, struct wire_entry *entry)
{
    struct reader r = {payload + *at, payload + size, true};
    if (*at >= size) return WIRE_END;
    memset(entry, 0, sizeof *entry);
    const uint64_t type = get(&r, 1);
    if (type == 0 || type >= TYPES) return WIRE_BAD;
    entry->type = (enum wire_type)type;
    for (uint32_t i = 0; i < PARTS_MAX && layout[type][i] && r.good; i++)
        get_part(&r, entry, (enum part)layout[type][i]);
    if (!r.good) return WIRE_BAD;
    *at = (size_t)(r.at - payload);
    return WIRE_ENTRY;
}

static bool is_of_the_dead(const struct wire_entry *entry)
{
    return entry->type == WIRE_OBITUARY || entry->type == WIRE_RELEASED;
}

bool wire_may_pass(const uint8_t *payload, size_t size, bool sealed_in_advance)
{
    struct wire_entry entry;
    size_t at = WIRE_HEAD;
    enum wire_outcome outcome;
    while ((outcome = wire_next(payload, size, &at, &entry)) == WIRE_ENTRY)
        if (is_of_the_dead(&entry) != sealed_in_advance) return false;
    return !sealed_in_advance || (outcome == WIRE_END && size > WIRE_HEAD);
}
