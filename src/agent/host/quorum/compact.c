/*
 * The compact form of a group. Nearly all words of an expanded group are zero and the others are small, so the
 * compact form takes a tenth of the space. For every eight words, one byte says which are not zero. Those
 * follow as varints (base/varint.h). A varint 0 repeats the last word above 127, since terms often repeat.
 * Timers are stored plus 1, because most are UINT64_MAX, not armed. Where two numbers share a word, the halves
 * are swapped, because often only the second is set.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/host/quorum/sessions.h"
#include "base/varint.h"

enum {
    FIRST = offsetof(struct session_work, timers),
    WORD = sizeof(uint64_t),
    QUORUM = (int)((offsetof(struct session_work, quorum) - FIRST) / WORD),
    FIXED = QUORUM + (int)(sizeof(struct quorum_group) / WORD),
    EACH = sizeof(struct quorum_ballot) / WORD,
    WORDS_MAX = FIXED + (int)CONFIG_MEMBERS_MAX * EACH,
    LONGEST = 10, /* bytes of one varint */
    HALVES = QUORUM + (int)(offsetof(struct quorum_group, claim_heir) / WORD),
    FOLDED_MAX = WORDS_MAX * LONGEST + WORDS_MAX / 8 + 1
};
_Static_assert(sizeof(struct session_work) == FIRST + WORDS_MAX * WORD, "words, and nothing between them");
_Static_assert(WORDS_MAX / 8 + 1 <= (int)SESSION_COMPACTED, "zeros are a group that nothing has happened to");
_Static_assert(FOLDED_MAX <= (int)SLAB_UNITS_MAX * (int)SLAB_UNIT, "it fits into a piece");
_Static_assert((int)SLAB_UNITS_MAX < 1 << 9, "which can be told");

static uint32_t count_words(const struct session *s)
{
    return FIXED + s->cluster.count * EACH;
}

static uint8_t *words_of(struct session_work *work)
{
    return (uint8_t *)work + FIRST;
}

static uint64_t swap_halves(uint64_t word, uint32_t at)
{
    return at == HALVES || at == HALVES + 1 ? word << 32 | word >> 32 : word;
}

static uint64_t get(const struct session_work *work, uint32_t at)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)work + FIRST + (size_t)at * WORD, sizeof word);
    return word + (at < SESSION_GROUP_TIMERS);
}

static void put(struct session_work *work, uint32_t at, uint64_t word)
{
    word = at < SESSION_GROUP_TIMERS ? word - 1 : swap_halves(word, at);
    memcpy((uint8_t *)work + FIRST + (size_t)at * WORD, &word, sizeof word);
}

static uint8_t *folded_of(const struct session *s, const struct session_group *group)
{
    uint32_t aside;
    if (group->units_aside == 0) return (uint8_t *)(uintptr_t)group->folded;
    memcpy(&aside, group->folded, sizeof aside);
    el_require(aside);
    return slab_at(&s->slab, aside);
}

/* Space for the compact form: in the group if it fits, else in the slab. NULL: no memory. */
static uint8_t *room_for(struct session *s, struct session_group *group, uint32_t size)
{
    const uint32_t units = size > sizeof group->folded ? slab_units(size) : 0;
    uint32_t aside;
    if (units == group->units_aside) return folded_of(s, group);
    memcpy(&aside, group->folded, sizeof aside);
    if (group->units_aside) slab_give_back(&s->slab, aside, group->units_aside);
    group->units_aside = units & 0x1ff;
    if (units == 0) return group->folded;
    aside = slab_take(&s->slab, units);
    memcpy(group->folded, &aside, sizeof aside);
    return slab_at(&s->slab, aside);
}

struct session_work *session_expand(const struct session_group *group)
{
    struct session *s = session_of(group);
    struct session_work *work = &s->work;
    const uint32_t count = count_words(s);
    const uint8_t *from = folded_of(s, group);
    uint64_t last = 0;
    if (work->group == group) return work;
    work->group = group;
    memset(work->timers, 0xff, sizeof work->timers);
    memset(&work->candidates, 0, (size_t)(count - SESSION_GROUP_TIMERS) * WORD);
    for (uint32_t first = 0; first < count; first += 8) {
        for (unsigned set = *from++; set; set &= set - 1) {
            uint64_t word;
            from += varint_get(from, VARINT_MAX, &word);
            if (word == 0) word = last;
            if (word > 0x7f) last = word;
            put(work, first + (uint32_t)__builtin_ctz(set), word);
        }
    }
    memcpy(words_of(&s->folded), words_of(work), (size_t)count * WORD);
    return work;
}

static uint32_t fold(const struct session_work *work, uint32_t count, uint8_t bytes[FOLDED_MAX])
{
    uint8_t *to = bytes;
    uint64_t last = 0;
    for (uint32_t first = 0; first < count; first += 8) {
        uint8_t *set = to++;
        *set = 0;
        for (uint32_t i = 0; i < 8 && first + i < count; i++) {
            uint64_t word = get(work, first + i);
            if (word == 0) continue;
            word = swap_halves(word, first + i);
            *set |= (uint8_t)(1u << i);
            if (word == last)
                word = 0;
            else if (word > 0x7f)
                last = word;
            to += varint_put(to, word);
        }
    }
    return (uint32_t)(to - bytes);
}

void session_compact(struct session_group *group)
{
    struct session *s = session_of(group);
    struct session_work *work = &s->work;
    const size_t length = (size_t)count_words(s) * WORD;
    uint8_t bytes[FOLDED_MAX];
    el_require(work->group == group);
    if (memcmp(words_of(&s->folded), words_of(work), length) == 0) return;
    memcpy(words_of(&s->folded), words_of(work), length);
    const uint32_t size = fold(work, count_words(s), bytes);
    uint8_t *to = room_for(s, group, size);
    if (!to) abort(); /* a voter that cannot store its promise must crash rather than forget it */
    memcpy(to, bytes, size);
    group->role = work->quorum.role;
}
