/* From a world to those that are kept next. */
#ifndef ELECTOR_CHECK_WORLD_NEXT_H
#define ELECTOR_CHECK_WORLD_NEXT_H

#include "check/world/model.h"

struct check_found {
    const struct check_step *steps; /* that led there; borrowed */
    uint32_t count;
    uint32_t broken; /* bits of properties */
    bool is_fault;   /* some step was */
};

/* Called for each; the world, with its history, is the caller's to keep until it returns. False ends the search. */
typedef bool check_finder(void *whose, const struct check_world *world, const struct check_found *found);

/* True if something can go on without a fault: the world is not at rest. */
bool check_next(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                check_finder *find, void *whose);
/* The same by an ample move alone; false if there is none. */
bool check_next_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_finder *find, void *whose);

#endif
