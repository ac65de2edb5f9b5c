/*
 * Many groups over the same members. Each group elects its own leader, by its own algorithm and ranks;
 * members, network, faults and failure detector are common to all. Groups do not exchange messages, so each
 * is a run of its own; the common parts use the same random numbers.
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

/* True if the settings mention groups. */
bool sim_groups_wanted(const struct sim_settings *settings);
/*
 * Builds one plan for each group. Without given attributes, each group ranks the members by a hash of its
 * name and their ids, so that leaders are spread. Returns 0, or -1 with the error filled in; free in either
 * case.
 */
int sim_groups_build(struct sim_groups *groups, const struct sim_settings *settings, struct sim_error *error);
/* False if memory ran out. */
bool sim_groups_run(struct sim_groups *groups);
void sim_groups_free(struct sim_groups *groups);

#endif
