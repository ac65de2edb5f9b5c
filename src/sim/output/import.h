/*
 * A story that happened elsewhere, told to a world that never ran: so that what real agents did can be written in the
 * simulator's formats (export.h, transcript.h).
 */
#ifndef ELECTOR_SIM_OUTPUT_IMPORT_H
#define ELECTOR_SIM_OUTPUT_IMPORT_H

#include "sim/world/world.h"

/* The plan is borrowed, and needs no more than algorithm, cluster and unit. NULL: no memory. sim_world_free() ends it. */
struct sim_world *sim_told_new(const struct sim_plan *);
/* In the order of time. Its index, which causes and messages are named by; 0: no memory. */
uint64_t sim_told(struct sim_world *, const struct sim_record *);
void sim_told_violation(struct sim_world *, enum el_violation, sim_time, el_node one, el_node other);

#endif
