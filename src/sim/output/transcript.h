/* What a run looks like to a person: the transcript, the summary, and why a violation came about. */
#ifndef ELECTOR_SIM_OUTPUT_TRANSCRIPT_H
#define ELECTOR_SIM_OUTPUT_TRANSCRIPT_H

#include <stdio.h>

#include "sim/world/world.h"

struct sim_style {
    bool colour;
};

void sim_write_transcript(FILE *out, const struct sim_world *world, struct sim_style style);
void sim_write_summary(FILE *out, const struct sim_world *world, const struct sim_result *result,
                       struct sim_style style);
/* Each violation, with the shortest tail of the trace that explains it: the chain of causes. */
void sim_write_violations(FILE *out, const struct sim_world *world, const struct sim_result *result,
                          struct sim_style style);

/* sim/plan/expect.c: whether one expectation of the plan holds. */
bool sim_expectation_holds(const struct sim_plan *plan, const struct sim_result *result,
                           const struct sim_expect *expect);
/* All of them hold, and there is no violation that was not expected. */
bool sim_expectations_hold(const struct sim_plan *plan, const struct sim_result *result);
/* Violations that no expectation names, as el_violation bits. */
uint32_t sim_unexpected_violations(const struct sim_plan *plan, const struct sim_result *result);

#endif
