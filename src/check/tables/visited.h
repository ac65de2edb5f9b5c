/*
 * The worlds seen so far: 128-bit fingerprints in an open-addressing table that many threads fill without locks, and
 * for each world its number, whence it came and by which move.
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
    uint32_t move;   /* the how-manieth of its successors */
};

struct check_visited { /* NOLINT(clang-analyzer-optin.performance.Padding): the counters lie apart on purpose */
    struct check_slot *slots;
    _Atomic uint32_t *numbers; /* beside each slot, where a world's number must be found again; NULL: nowhere */
    uint64_t mask;
    struct check_origin *origins; /* by number */
    uint64_t origin_max;
    _Alignas(64) _Atomic uint64_t count; /* worlds with a number; apart from what all only read */
    _Atomic uint64_t filled;             /* slots in use */
};

bool check_visited_init(struct check_visited *visited, uint64_t memory, bool numbered);
void check_visited_free(struct check_visited *visited);
uint64_t check_visited_memory(const struct check_visited *visited);

/* True if it is new; *number is its number then, and where the table is numbered, otherwise too. */
bool check_visited_add(struct check_visited *visited, struct el_hash hash, struct check_origin origin,
                       uint32_t *number);

/* It will be asked for soon. */
static inline void check_visited_expect(const struct check_visited *visited, struct el_hash hash)
{
    __builtin_prefetch(&visited->slots[hash.low & visited->mask], 1);
}

/* Only remembers that it was met; true if it was not before. */
bool check_visited_meet(struct check_visited *visited, struct el_hash hash);
/* A number for a world that is kept elsewhere. */
uint32_t check_visited_number(struct check_visited *visited, struct check_origin origin);

/* Whether it is time to grow; nobody may add meanwhile. False if the next size would exceed `memory`. */
bool check_visited_is_full(const struct check_visited *visited);
/* And it cannot grow: the last moment to stop. */
bool check_visited_is_brimming(const struct check_visited *visited);
/* Its number, in a numbered table; UINT32_MAX if it was never seen. */
uint32_t check_visited_find(const struct check_visited *visited, struct el_hash hash);
bool check_visited_grow(struct check_visited *visited, uint64_t memory);

#endif
