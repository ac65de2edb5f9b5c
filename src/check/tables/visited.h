/*
 * The worlds seen so far: 128-bit fingerprints in an open-addressing table that many threads fill without
 * locks; and for each world its number, its predecessor and the move from there.
 */
#ifndef ELECTOR_CHECK_TABLES_VISITED_H
#define ELECTOR_CHECK_TABLES_VISITED_H

#include <stdatomic.h>

#include "elector/core.h"

struct check_slot {
    _Atomic uint64_t low, high; /* 0: free, or not yet written; a fingerprint's words are never 0 here */
};

struct check_origin {
    uint32_t parent; /* a world's number */
    uint32_t move;   /* the index among the parent's successors */
};

struct check_visited { /* NOLINT(clang-analyzer-optin.performance.Padding): see count */
    struct check_slot *slots;
    _Atomic uint32_t *numbers; /* for each slot, the world's number; NULL if not needed */
    uint64_t mask;
    struct check_origin *origins; /* by number */
    uint64_t origin_max;
    _Alignas(64) _Atomic uint64_t count; /* worlds with a number; not on the cache line of read-only fields */
    _Atomic uint64_t filled;             /* slots in use */
};

bool check_visited_init(struct check_visited *visited, uint64_t memory, bool numbered);
void check_visited_free(struct check_visited *visited);
uint64_t check_visited_memory(const struct check_visited *visited);

/* True if the world is new; *number is then its number. In a numbered table *number is also set for known
 * worlds. */
bool check_visited_add(struct check_visited *visited, struct el_hash hash, struct check_origin origin,
                       uint32_t *number);

/* Prefetches the slot of this fingerprint. */
static inline void check_visited_expect(const struct check_visited *visited, struct el_hash hash)
{
    __builtin_prefetch(&visited->slots[hash.low & visited->mask], 1);
}

/* Remembers the fingerprint without a number; true if it is new. */
bool check_visited_meet(struct check_visited *visited, struct el_hash hash);
/* A number for a world that is kept elsewhere. */
uint32_t check_visited_number(struct check_visited *visited, struct check_origin origin);

/* True if the table should grow. Growing returns false if the next size would exceed `memory`; no thread may
 * add meanwhile. */
bool check_visited_is_full(const struct check_visited *visited);
/* True if the table is nearly full and cannot grow: the search must stop. */
bool check_visited_is_brimming(const struct check_visited *visited);
/* The world's number, in a numbered table; UINT32_MAX if it was never seen. */
uint32_t check_visited_find(const struct check_visited *visited, struct el_hash hash);
bool check_visited_grow(struct check_visited *visited, uint64_t memory);

#endif
