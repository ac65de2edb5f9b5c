/* The worlds that the search keeps after a given one. */
#ifndef ELECTOR_CHECK_WORLD_NEXT_H
#define ELECTOR_CHECK_WORLD_NEXT_H

#include "check/world/model.h"

struct check_found {
    const struct check_step *steps; /* the steps that led there; borrowed */
    uint32_t count;
    uint32_t broken; /* bits of properties */
    bool is_fault;   /* some step was a fault */
};

/* Called for each world, which is borrowed for the duration of the call. False ends the search. */
typedef bool check_finder(void *context, const struct check_world *world, const struct check_found *found);

/* True if some node can act without a fault: the world is not at rest. */
bool check_next(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                check_finder *find, void *context);
/* The same with an ample move only; false if there is none. */
bool check_next_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_finder *find, void *context);

#endif
