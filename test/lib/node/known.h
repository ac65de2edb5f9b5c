/* A set of 128-bit fingerprints. The probability that two of n different values collide is about n^2 /
 * 2^129. */
#ifndef ELECTOR_TEST_LIB_NODE_KNOWN_H
#define ELECTOR_TEST_LIB_NODE_KNOWN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "elector/core.h"

/* Numbers by fingerprint, or only which there are. */
struct known {
    struct el_hash *sums; /* zeros: the place is free */
    uint32_t *numbers;    /* NULL: there are none */
    uint64_t size, count;
    bool is_set;
};

static inline uint64_t known_place(const struct known *k, struct el_hash what)
{
    uint64_t at = what.low & (k->size - 1);
    while ((k->sums[at].low || k->sums[at].high) &&
           (k->sums[at].low != what.low || k->sums[at].high != what.high))
        at = (at + 1) & (k->size - 1);
    return at;
}

static inline void known_free(struct known *k)
{
    free(k->sums);
    free(k->numbers);
    *k = (struct known){0};
}

static inline void known_grow(struct known *k)
{
    struct known was = *k;
    if (k->size && 3 * k->count < 2 * k->size) return;
    k->size = k->size ? 2 * k->size : 1 << 16;
    k->sums = calloc(k->size, sizeof *k->sums);
    k->numbers = k->is_set ? NULL : calloc(k->size, sizeof *k->numbers);
    assert_true(k->sums && (k->is_set || k->numbers));
    for (uint64_t i = 0; i < was.size; i++) {
        if (!was.sums[i].low && !was.sums[i].high) continue;
        const uint64_t at = known_place(k, was.sums[i]);
        k->sums[at] = was.sums[i];
        if (k->numbers) k->numbers[at] = was.numbers[i];
    }
    known_free(&was);
}

/* Its number, which is `next` if it is new: then *is_new. */
static inline uint32_t know(struct known *k, struct el_hash what, uint32_t next, bool *is_new)
{
    known_grow(k);
    const uint64_t at = known_place(k, what);
    *is_new = !k->sums[at].low && !k->sums[at].high;
    if (!*is_new) return k->numbers ? k->numbers[at] : 0;
    k->sums[at] = what;
    if (k->numbers) k->numbers[at] = next;
    k->count++;
    return next;
}

#endif
