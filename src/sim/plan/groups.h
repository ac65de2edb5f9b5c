/*
 * Many groups over the same members: each elects a leader of its own, by its own algorithm and its own ranks, while
 * members, network, faults and failure detector are common to all. Groups do not hear each other, so each is a run
 * of its own; what they share is drawn from the same dice.
 */
#ifndef ELECTOR_SIM_PLAN_GROUPS_H
#define ELECTOR_SIM_PLAN_GROUPS_H

#include "sim/world/world.h"

enum { SIM_GROUPS_MAX = 10000, SIM_GROUP_NAME = 32 };

struct sim_group {
    char name[SIM_GROUP_NAME];
    struct sim_settings settings;
    struct sim_plan plan;
    bool built;
    struct sim_world *world; /* after the run; kept for its result */
    const struct sim_result *result;
};

struct sim_groups {
    struct sim_group *list;
    size_t count;
};

/* Whether these settings speak of groups at all. */
bool sim_groups_wanted(const struct sim_settings *settings);
/*
 * One plan for each group. Where no attributes are given, each group ranks the members by a hash of its name and
 * their ids, so that leaders are spread. 0, or -1 with the error filled in; free them in either case.
 */
int sim_groups_build(struct sim_groups *groups, const struct sim_settings *settings, struct sim_error *error);
/* False if memory ran out. */
bool sim_groups_run(struct sim_groups *groups);
void sim_groups_free(struct sim_groups *groups);

#endif
