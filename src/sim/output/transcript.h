/* Output for people: the transcript, the summary, and the explanation of each violation. */
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
/* Writes each violation with the chain of causes that explains it. */
void sim_write_violations(FILE *out, const struct sim_world *world, const struct sim_result *result,
                          struct sim_style style);

/* Summary and violations, and the seed unless it is 1. */
void sim_write_report(FILE *out, const struct sim_world *world, const struct sim_result *result,
                      struct sim_style style);

/* In sim/plan/expect.c: true if one expectation of the plan holds. */
bool sim_expectation_holds(const struct sim_plan *plan, const struct sim_result *result,
                           const struct sim_expect *expect);
/* True if all expectations hold and there is no unexpected violation. */
bool sim_expectations_hold(const struct sim_plan *plan, const struct sim_result *result);
/* The violations that no expectation names, as el_violation bits. */
uint32_t sim_unexpected_violations(const struct sim_plan *plan, const struct sim_result *result);

#endif
