/*
 * Where whatever was sent may arrive any number of times or never, a world with more under way can do all that one with
 * less can, and so can one with more of its budgets left. So of worlds whose nodes are alike, only the richest are kept:
 * one that is covered by another seen before is not looked at. Ways stay shortest, since the other was found no later.
 */
#ifndef ELECTOR_CHECK_REDUCE_SUBSUMPTION_H
#define ELECTOR_CHECK_REDUCE_SUBSUMPTION_H

#include "check/tables/visited.h"
#include "check/world/model.h"

struct check_cover {
    const struct check_model *model;
    uint32_t *heads;      /* buckets: number + 1 of the first; 0: empty */
    unsigned char *arena; /* the kept worlds, one after another */
    uint64_t arena_size;
    _Atomic uint64_t arena_used;
    uint64_t *places; /* by number, where in the arena */
    uint64_t place_max;
    pthread_mutex_t *locks;    /* of buckets, a stripe each */
    _Atomic uint32_t *renamed; /* [permutation][letter] → letter + 1; 0: not known yet */
    _Atomic uint64_t covered;  /* how many were not looked at */
};

bool check_cover_init(struct check_cover *cover, const struct check_model *model, uint64_t memory);
void check_cover_free(struct check_cover *cover);
uint64_t check_cover_memory(const struct check_cover *cover, uint64_t worlds);
/* True if no kept world covers it; it is kept then, and *number is its number. */
bool check_cover_add(struct check_cover *cover, struct check_visited *visited, const struct check_world *world,
                     struct check_origin origin, uint32_t *number);
/* No room for another level of them. */
bool check_cover_is_full(const struct check_cover *cover, const struct check_visited *visited);

#endif
