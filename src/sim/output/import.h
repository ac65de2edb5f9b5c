/*
 * Imports records of a real run into a world that never ran, so that recordings of agents can be written in the
 * simulator's formats (export.h, transcript.h).
 */
#ifndef ELECTOR_SIM_OUTPUT_IMPORT_H
#define ELECTOR_SIM_OUTPUT_IMPORT_H

#include "sim/world/world.h"

/* The plan is borrowed and needs only algorithm, cluster and unit. NULL if memory ran out. Free with
 * sim_world_free(). */
struct sim_world *sim_import_new(const struct sim_plan *);
/* Adds a record, in order of time. Returns its index, by which causes and messages refer to it; 0 if memory ran
 * out. */
uint64_t sim_import_record(struct sim_world *, const struct sim_record *);
void sim_import_violation(struct sim_world *, enum el_violation, sim_time, el_node one, el_node other);

#endif
