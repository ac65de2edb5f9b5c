/*
 * Lies in a world of stills: one host's agent is compromised, and says of the third what only the third may say
 * (algorithms/quorum/speakers.h). It goes on as an honest member otherwise.
 */
#ifndef ELECTOR_TEST_LIB_HOST_SCENE_LIES_H
#define ELECTOR_TEST_LIB_HOST_SCENE_LIES_H

#include "lib/host/stills.h"

enum lie {
    LIE_OBITUARY, /* the third is dead */
    LIE_RELEASE,  /* it has released the group, and the liar is its heir */
    LIE_VOTE, /* it asks for votes; and the last release, which older agents send along, is the receiver's own */
    LIES
};

static const char *const lie_names[LIES] = {"is dead", "has released it", "stands"};

/* The head and the settings are those of any letter that was sent. */
static inline void begin_lie(struct payload *payload, struct payload_entry *entry)
{
    uint64_t digest;
    for (uint32_t i = 0; i < album.letter_count; i++) {
        const struct letter *l = album.letters[i];
        struct payload_place at = PAYLOAD_FIRST;
        require(payload_head(l->bytes, l->size, &digest));
        while (payload_next(l->bytes, l->size, &at, entry) == PAYLOAD_ENTRY) {
            if (entry->type != PAYLOAD_SESSION) continue;
            payload_begin(payload, digest);
            return;
        }
    }
    require(false); /* nobody has said anything yet */
}

/* `life` is the third's. Terms are high enough for whatever it holds. */
static inline uint32_t tell_lie(enum lie lie, el_node liar, el_node to, unsigned group, unsigned life)
{
    const el_node third = 6 - liar - to;
    const struct quorum_tenant done = {.id = third, .incarnation = life, .term = quorum_term(1000, third)};
    struct payload payload;
    struct payload_entry entry;
    begin_lie(&payload, &entry);
    struct el_msg *m = &entry.msg;
    if (lie == LIE_OBITUARY) *m = quorum_make_obit(third, life);
    if (lie == LIE_RELEASE) *m = quorum_make_release(done, liar, quorum_term(1001, liar));
    if (lie == LIE_VOTE) {
        *m = quorum_make_vote(quorum_term(1002, third), 1, true);
        m->subject = third;
        m->extra[2] = life;
        m->extra[3] = QUORUM_EVER;
    }
    *m = quorum_addressed(*m, life + 10, 0, 0); /* as high as it takes to be about an earlier life */
    m->from = liar;
    m->to = to;
    entry.type = lie == LIE_OBITUARY ? PAYLOAD_SESSION : PAYLOAD_MESSAGE;
    entry.group = lie == LIE_OBITUARY ? 0 : world.watched[group].key;
    require(payload_add(&payload, &entry));
    struct letter letter = {.from = liar, .to = to, .size = payload.size};
    memcpy(letter.bytes, payload.bytes, payload.size);
    return keep_letter(&letter);
}

#endif
