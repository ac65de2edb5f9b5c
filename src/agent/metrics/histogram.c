/* See metrics.h: observations into buckets. */
#include "agent/metrics/metrics.h"

#include "base/clock.h"

#define US NS_PER_US
#define MS NS_PER_MS
#define S NS_PER_S

const uint64_t metrics_bounds_ns[METRICS_BOUNDS] = {
    10 * US, 25 * US, 50 * US,  100 * US, 250 * US, 500 * US, 1 * MS,    2500 * US, 5 * MS, 10 * MS,
    25 * MS, 50 * MS, 100 * MS, 250 * MS, 500 * MS, 1 * S,    2500 * MS, 5 * S,     10 * S};

void metrics_observe(struct metrics_histogram *histogram, uint64_t ns)
{
    uint32_t at = 0;
    while (at < METRICS_BOUNDS && ns > metrics_bounds_ns[at]) at++;
    histogram->counts[at]++;
    histogram->sum_ns += ns;
}

void metrics_turn(struct metrics *metrics, uint64_t ns, uint64_t processor_ns)
{
    metrics_observe(&metrics->turns, ns);
    if (processor_ns > metrics->most_of_a_turn_ns) metrics->most_of_a_turn_ns = processor_ns;
    if (ns > metrics->longest_turn_ns) metrics->longest_turn_ns = ns;
}
