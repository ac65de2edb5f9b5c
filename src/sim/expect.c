/* Comparing what came with what was expected. */
#include "transcript.h"

bool sim_expectation_holds(const struct sim_plan *plan, const struct sim_result *result,
                           const struct sim_expect *expect)
{
    switch (expect->type) {
    case SIM_EXPECT_LEADER:
        if (expect->value == SIM_NO_ID) return !result->agreed;
        return result->agreed && el_id(&plan->cluster, result->leader) == expect->value;
    case SIM_EXPECT_AGREEMENT: return result->agreed;
    case SIM_EXPECT_NO_AGREEMENT: return !result->agreed;
    case SIM_EXPECT_MESSAGES: return result->sent[expect->kind] == expect->value;
    case SIM_EXPECT_FAILED_HOPS: return result->failed_hops == expect->value;
    case SIM_EXPECT_TURNAROUND: return result->turnaround == expect->value;
    case SIM_EXPECT_VIOLATION: return (result->violation_kinds & expect->kind) != 0;
    case SIM_EXPECT_NO_VIOLATION: return result->violation_kinds == 0;
    }
    return false;
}

uint32_t sim_unexpected_violations(const struct sim_plan *plan, const struct sim_result *result)
{
    uint32_t unexpected = result->violation_kinds;
    for (size_t i = 0; i < plan->expect_count; i++)
        if (plan->expects[i].type == SIM_EXPECT_VIOLATION) unexpected &= ~plan->expects[i].kind;
    return unexpected;
}

bool sim_expectations_hold(const struct sim_plan *plan, const struct sim_result *result)
{
    for (size_t i = 0; i < plan->expect_count; i++)
        if (!sim_expectation_holds(plan, result, &plan->expects[i])) return false;
    return sim_unexpected_violations(plan, result) == 0;
}
