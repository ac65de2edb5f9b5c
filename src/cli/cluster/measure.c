/* See measure.h. */
#include "cli/cluster/measure.h"

#include <string.h>

#include "base/clock.h"

const uint32_t measure_leases_ms[MEASURE_LEASES] = {30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000};

enum { PER_MILLE = 1000, PROMILLE_USUAL = 999, LEAST_MARGIN_MS = 4, BLOCK_MOST = 64, VOTES_LEAST = 5 };

uint64_t measured_count(const struct measured *m)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->steps; i++) count += m->counts[i];
    return count;
}

/* The longest counts for what is above the last step. */
static uint64_t end_of_step(const struct measured *m, uint32_t step)
{
    return step + 1 < m->steps && m->ends_us[step] < m->longest_us ? m->ends_us[step] : m->longest_us;
}

uint64_t measured_usual_us(const struct measured *m)
{
    const uint64_t count = measured_count(m), few = count / PER_MILLE * (PER_MILLE - PROMILLE_USUAL),
                   unusual = few > m->lost ? few : m->lost, wanted = count > unusual ? count - unusual : 1;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->steps; i++)
        if ((sum += m->counts[i]) >= wanted) return end_of_step(m, i);
    return m->longest_us;
}

/* All of a step count as the latest of it. */
static uint64_t count_later(const struct measured *m, uint64_t than_us)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->steps; i++)
        if (end_of_step(m, i) > than_us) count += m->counts[i];
    return count;
}

static double square_root(double of)
{
    double root = of;
    for (int i = 0; i < 50; i++) root = (root + of / root) / 2; /* Newton; `of` is at least 1 */
    return root;
}

/* Of how many events a Poisson process is the mean at most, with a confidence of 95 %, if `seen` were seen (E. Wilson and
 * M. Hilferty, 1931). 3.0 for none. */
static double mean_at_most(uint64_t seen)
{
    const double more = (double)seen + 1, root = 1 - 1 / (9 * more) + 1.645 / (3 * square_root(more));
    return more * root * root * root;
}

static void set_option(struct config_group *section, const char *name, const char *unit, uint64_t number)
{
    char(*option)[64] = section->options[section->option_count++];
    snprintf(option[0], sizeof option[0], "%s", name);
    snprintf(option[1], sizeof option[1], "%llu%s", (unsigned long long)number, unit);
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The proportions of profile realtime. A message takes half of what a renewal usually is late by, which is a round trip and
 * more. */
static void choose_times(struct measured_lease *lease, const struct measured *m, uint32_t lease_ms)
{
    struct config_group *section = &lease->section;
    const uint64_t beat_us = (uint64_t)lease_ms * PER_MILLE * 2 / 15,
                   margin_ms = at_least(LEAST_MARGIN_MS, lease_ms / 16),
                   transmit_ms = at_least(1, (measured_usual_us(m) / 2 + PER_MILLE - 1) / PER_MILLE),
                   block = lease_ms / VOTES_LEAST;
    lease->transmit_max = transmit_ms * NS_PER_MS;
    snprintf(section->name, sizeof section->name, "*");
    set_option(section, "lease", "ms", lease_ms);
    set_option(section, "beat", "us", beat_us);
    set_option(section, "margin", "ms", margin_ms);
    set_option(section, "re-ask", "us", beat_us + beat_us / 4);
    set_option(section, "stagger", "ms", at_least(LEAST_MARGIN_MS, 2 * transmit_ms + 2));
    if (block < BLOCK_MOST) set_option(section, "block", "", block);
}

void measure_lease(struct measured_lease *lease, struct config *config, const struct measured *m,
                   uint32_t lease_ms, double hours)
{
    struct config_inequality one;
    memset(lease, 0, sizeof *lease);
    choose_times(lease, m, lease_ms);
    config->transmit_max = lease->transmit_max;
    lease->settings = bounds_settings_of(config, &lease->section);
    lease->is_possible = true;
    for (uint32_t i = 0; config_inequality(config, &lease->section, i, &one); i++)
        if (!one.holds) lease->is_possible = false;
    if (!lease->is_possible) return;
    const struct bounds bounds = bounds_of(&lease->settings);
    lease->may_be_late_us =
        bounds.term_at > lease->settings.beat ? (bounds.term_at - lease->settings.beat) / NS_PER_US : 0;
    lease->too_late = count_later(m, lease->may_be_late_us);
    lease->false_alarms_most = mean_at_most(lease->too_late) / hours;
}
