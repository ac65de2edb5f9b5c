/* Many groups in one table: the leader, messages and turnaround of each, and their sums. */
#ifndef ELECTOR_SIM_OUTPUT_GROUPS_TABLE_H
#define ELECTOR_SIM_OUTPUT_GROUPS_TABLE_H

#include <stdio.h>

#include "sim/plan/groups.h"

struct sim_group_totals {
    uint64_t messages, detector, agreed, broken;
    uint32_t *led; /* [count + 1] groups that each member leads; 0: no agreement. The caller frees it. */
};

/* After sim_groups_run(). False if memory ran out. */
bool sim_groups_sum_up(const struct sim_groups *groups, struct sim_group_totals *totals);
void sim_write_groups(FILE *out, const struct sim_groups *groups, const struct sim_group_totals *totals);

#endif
