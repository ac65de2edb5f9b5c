/*
 * The shortest lease that a cluster would have kept, by how late an agent's leases were renewed in the last hour (the request
 * `renewals`, agent/metrics/metrics.h). Pure arithmetic; plan_measure.c asks and prints.
 */
#ifndef ELECTOR_CLI_CLUSTER_MEASURE_H
#define ELECTOR_CLI_CLUSTER_MEASURE_H

#include "cli/cluster/bounds.h"

enum { MEASURE_LEASES = 11, MEASURE_STEPS_MAX = 64 };
extern const uint32_t measure_leases_ms[MEASURE_LEASES];

/* An agent's history. */
struct measured {
    uint32_t steps; /* at least one */
    uint64_t
        counts[MEASURE_STEPS_MAX]; /* of renewals, by how late they came: up to ends_us each; the last: above */
    uint64_t ends_us[MEASURE_STEPS_MAX];
    uint64_t longest_us;
    uint64_t lost; /* of the renewals: leases that were lost, which counts as late by a lease or more */
};

/* One lease with the times that go with it, and what it would have done. */
struct measured_lease {
    el_duration transmit_max;
    struct config_group section; /* the other times, as options */
    struct bounds_settings settings;
    bool is_possible;         /* its inequalities hold */
    uint64_t may_be_late_us;  /* a renewal, before the work is disturbed */
    uint64_t too_late;        /* renewals that were later than that */
    double false_alarms_most; /* an hour, with a confidence of 95 % */
};

uint64_t measured_count(const struct measured *);
/* The time within which 999 of 1,000 renewals came, and all but as many as leases were lost; to the end of a step. */
uint64_t measured_usual_us(const struct measured *);
/* `config` is a copy: its `transmit_max` is changed. `hours`: for how long the history is of leading. */
void measure_lease(struct measured_lease *, struct config *, const struct measured *, uint32_t lease_ms,
                   double hours);

#endif
