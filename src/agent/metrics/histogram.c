/* See metrics.h: observations into buckets. */
#include "agent/metrics/metrics.h"

#include <string.h>

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

enum { S_PER_MINUTE = 60, STILL_S = 10 };

static uint64_t minute_of(uint64_t now)
{
    return now / (S_PER_MINUTE * NS_PER_S);
}

/* Empties the places of the minutes that have begun since. */
static void turn_over(struct metrics_lateness *lateness, uint64_t minute)
{
    if (minute >= lateness->minute + METRICS_MINUTES) {
        memset(lateness->longest_ns, 0, sizeof lateness->longest_ns);
        lateness->minute = minute;
    }
    while (lateness->minute < minute) lateness->longest_ns[++lateness->minute % METRICS_MINUTES] = 0;
}

void metrics_woke(struct metrics_lateness *lateness, uint64_t now, uint64_t asked)
{
    const uint64_t late = now > asked ? now - asked : 0;
    uint64_t *longest = &lateness->longest_ns[minute_of(now) % METRICS_MINUTES];
    turn_over(lateness, minute_of(now));
    metrics_observe(&lateness->histogram, late);
    if (late > *longest) *longest = late;
    lateness->asked_ns = now;
    if (late < lateness->still_ns && now - lateness->still_until < STILL_S * NS_PER_S) return;
    lateness->still_ns = late;
    lateness->still_until = now;
}

uint64_t metrics_stood_still_ns(const struct metrics_lateness *lateness, uint64_t now, uint64_t since)
{
    const uint64_t measured = lateness->still_until >= since ? lateness->still_ns : 0,
                   asked = lateness->asked_ns, pending = asked && now > asked ? now - asked : 0;
    return measured > pending ? measured : pending;
}

uint64_t metrics_longest_lateness_ns(const struct metrics_lateness *lateness, uint64_t now)
{
    uint64_t longest = 0;
    for (uint64_t i = 0, minute = lateness->minute; i < METRICS_MINUTES && i <= minute; i++) {
        const uint64_t each = lateness->longest_ns[(minute - i) % METRICS_MINUTES];
        if (minute_of(now) - (minute - i) < METRICS_MINUTES && each > longest) longest = each;
    }
    return longest;
}

uint64_t metrics_median_ns(const struct metrics_histogram *histogram, uint64_t least)
{
    uint64_t count = 0, below = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i <= METRICS_BOUNDS; i++) count += histogram->counts[i];
    if (count == 0 || count < least) return 0;
    for (; at < METRICS_BOUNDS - 1 && (below += histogram->counts[at]) * 2 < count; at++) {}
    return metrics_bounds_ns[at];
}

/* ---- Renewals ---- */

uint64_t metrics_step_ns(uint32_t step)
{
    const uint64_t pair = 250 * US << step / 2;
    return step + 1 >= METRICS_STEPS ? UINT64_MAX : step % 2 ? pair + pair / 2 : pair;
}

static void begin_minutes(struct metrics_renewals *renewals, uint64_t minute)
{
    const uint64_t behind = minute > renewals->minute ? minute - renewals->minute : 0;
    for (uint64_t i = 0; i < behind && i < METRICS_MINUTES; i++) {
        const uint64_t place = (minute - i) % METRICS_MINUTES;
        memset(renewals->counts[place], 0, sizeof renewals->counts[place]);
        renewals->longest_ns[place] = renewals->lost[place] = 0;
    }
    renewals->minute = minute;
}

void metrics_renewed(struct metrics_renewals *renewals, uint64_t now, uint64_t late_ns)
{
    const uint64_t minute = minute_of(now), place = minute % METRICS_MINUTES;
    uint32_t step = 0;
    if (minute != renewals->minute) begin_minutes(renewals, minute);
    while (late_ns > metrics_step_ns(step)) step++;
    renewals->counts[place][step]++;
    if (late_ns > renewals->longest_ns[place]) renewals->longest_ns[place] = late_ns;
}

void metrics_lost(struct metrics_renewals *renewals, uint64_t now, uint64_t late_ns)
{
    metrics_renewed(renewals, now, late_ns);
    renewals->lost[minute_of(now) % METRICS_MINUTES]++;
}

/* The minutes of the hour that ends now are those behind `minute` with a smaller number. */
static uint64_t minutes_of_hour(const struct metrics_renewals *renewals, uint64_t now)
{
    const uint64_t behind = minute_of(now) - renewals->minute;
    return behind >= METRICS_MINUTES ? 0 : METRICS_MINUTES - behind;
}

uint64_t metrics_lost_in_hour(const struct metrics_renewals *renewals, uint64_t now)
{
    const uint64_t minutes = minutes_of_hour(renewals, now);
    uint64_t lost = 0;
    for (uint64_t i = 0; i < minutes && i <= renewals->minute; i++)
        lost += renewals->lost[(renewals->minute - i) % METRICS_MINUTES];
    return lost;
}

uint64_t metrics_renewals_of_hour(const struct metrics_renewals *renewals, uint64_t now,
                                  uint64_t counts[METRICS_STEPS])
{
    const uint64_t minutes = minutes_of_hour(renewals, now);
    uint64_t longest = 0;
    memset(counts, 0, METRICS_STEPS * sizeof *counts);
    for (uint64_t i = 0; i < minutes && i <= renewals->minute; i++) {
        const uint64_t place = (renewals->minute - i) % METRICS_MINUTES;
        for (uint32_t step = 0; step < METRICS_STEPS; step++) counts[step] += renewals->counts[place][step];
        if (renewals->longest_ns[place] > longest) longest = renewals->longest_ns[place];
    }
    return longest;
}
