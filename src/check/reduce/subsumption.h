/*
 * Subsumption. If each message may arrive any number of times or never, a world with more messages in flight,
 * or more budget left, can do everything that one with less can. So a world is not visited if one with equal
 * nodes and at least as many messages and budgets was seen before: that one covers it. Counterexamples stay
 * shortest, since the covering world was found no later.
 */
#ifndef ELECTOR_CHECK_REDUCE_SUBSUMPTION_H
#define ELECTOR_CHECK_REDUCE_SUBSUMPTION_H

#include "check/tables/visited.h"
#include "check/world/model.h"

struct check_cover {
    const struct check_model *model;
    uint32_t *heads;      /* buckets: number + 1 of the first world; 0: empty */
    unsigned char *arena; /* the kept worlds, one after another */
    uint64_t arena_size;
    _Atomic uint64_t arena_used;
    uint64_t *places; /* by number: the offset in the arena */
    uint64_t place_max;
    pthread_mutex_t *locks;    /* one for each stripe of buckets */
    _Atomic uint32_t *renamed; /* [permutation][letter] → letter + 1; 0: not known yet */
    _Atomic uint64_t covered;  /* how many worlds were not visited */
};

bool check_cover_init(struct check_cover *cover, const struct check_model *model, uint64_t memory);
void check_cover_free(struct check_cover *cover);
uint64_t check_cover_memory(const struct check_cover *cover, uint64_t worlds);
/* True if no kept world covers this one; it is then kept, and *number is its number. */
bool check_cover_add(struct check_cover *cover, struct check_visited *visited, const struct check_world *world,
                     struct check_origin origin, uint32_t *number);
/* True if there is no room for another level. */
bool check_cover_is_full(const struct check_cover *cover, const struct check_visited *visited);

#endif
