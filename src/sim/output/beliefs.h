/* Which nodes believe what at the end of a run: the table for people, and the list for JSON. */
#ifndef ELECTOR_SIM_OUTPUT_BELIEFS_H
#define ELECTOR_SIM_OUTPUT_BELIEFS_H

#include <stdio.h>

#include "sim/world/world.h"

/* One row for all nodes that believe the same, in the order of their first node; at most 12 rows. */
void sim_write_beliefs(FILE *out, const struct sim_world *world);
/* "idle", "electing", "follower", "leader". */
const char *sim_role_name(enum el_role role);

#endif
