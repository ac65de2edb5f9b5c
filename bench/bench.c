/*
 * How fast the simulator is, and what a node costs. Counts are exact and checked; times are of this machine,
 * and noisy: each line is the best of five runs without a trace, with the making of the world and its nodes.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "sim/world/world.h"

enum { RUNS = 5 };

struct setting {
    const char *key, *value;
};

struct trial {
    const char *title;
    struct setting settings[8];
    uint64_t messages; /* what the literature says */
};

/* "4000,3999,…,1": the order in which every claim travels as far as it can. */
static char descending[4000 * 5];

static void fill_descending(void)
{
    size_t used = 0;
    for (int id = 4000; id > 0; id--)
        used += (size_t)snprintf(descending + used, sizeof descending - used, "%s%d", used ? "," : "", id);
}

static const struct trial trials[] = {
    {"ring of 1,000,000, worst initiator",
     {{"algorithm", "chang-roberts"}, {"nodes", "1000000"}, {"initiator", "1"}},
     2999999},
    {"the same, without the flag",
     {{"algorithm", "ring-basic"}, {"nodes", "1000000"}, {"initiator", "1"}},
     2999999},
    {"the same, with runs and patience",
     {{"algorithm", "ring-initiator"}, {"nodes", "1000000"}, {"initiator", "1"}},
     2999999},
    {"ring of 1,000,000, all at once",
     {{"algorithm", "chang-roberts"}, {"nodes", "1000000"}, {"initiator", "all"}},
     2999999},
    {"ring of 4,000, descending, all at once",
     {{"algorithm", "chang-roberts"}, {"ids", descending}, {"initiator", "all"}},
     8006000},
    {"ring of 1,000,000, max travels",
     {{"algorithm", "ring-max"}, {"nodes", "1000000"}, {"initiator", "1"}},
     2000000},
    {"mesh of 10,000, tenth from the top",
     {{"algorithm", "bully"},
      {"nodes", "10000"},
      {"leader", "10000"},
      {"crash", "10000@0"},
      {"initiator", "9990"}},
     10098},
    {"mesh of 1,000, lowest: the worst case",
     {{"algorithm", "bully"}, {"nodes", "1000"}, {"leader", "1000"}, {"crash", "1000@0"}, {"initiator", "1"}},
     998999},
    {"mesh of 10,000, next in line",
     {{"algorithm", "next-in-line"},
      {"nodes", "10000"},
      {"leader", "10000"},
      {"crash", "10000@0"},
      {"initiator", "1"}},
     10000},
    {"mesh of 10,000, one candidate polls",
     {{"algorithm", "candidate-ordinary"},
      {"nodes", "10000"},
      {"leader", "10000"},
      {"crash", "10000@0"},
      {"initiator", "9999"}},
     29994},
};

static double seconds(void)
{
    return (double)clock_monotonic_ns() / 1e9;
}

/* One run: how long it took; the count is checked. */
static bool run_once(const struct sim_plan *plan, const struct trial *trial, double *took, uint64_t *sent,
                     uint64_t *delivered, uint64_t *bytes)
{
    const double begin = seconds();
    struct sim_world *world = sim_world_new(plan, 0);
    if (!world) return false;
    const struct sim_result *result = sim_world_run(world);
    *took = seconds() - begin;
    *sent = result->sent[0];
    *delivered = result->delivered;
    *bytes = sim_world_bytes_per_node(world);
    const bool right = result->violation_kinds == 0 && result->sent[0] == trial->messages;
    sim_world_free(world);
    return right;
}

static bool run(const struct trial *trial)
{
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error = {""};
    for (const struct setting *s = trial->settings; s->key; s++)
        if (!sim_settings_add(&settings, s->key, s->value, 0, 0)) return false;
    if (sim_plan_build(&plan, &settings, &error) != 0) {
        fprintf(stderr, "bench: %s\n", error.text);
        return false;
    }
    double best = 0;
    uint64_t sent = 0, delivered = 0, bytes = 0;
    bool right = true;
    for (int i = 0; i < RUNS; i++) {
        double took = 0;
        right = run_once(&plan, trial, &took, &sent, &delivered, &bytes) && right;
        if (i == 0 || took < best) best = took;
    }
    printf("%-20s%-38s%12" PRIu64 "%9.3f s%14.2f%10" PRIu64 "%s\n", plan.algorithm->name, trial->title, sent,
           best, (double)delivered / best / 1e6, bytes, right ? "" : "   WRONG COUNT");
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return right;
}

int main(int argc, char **argv)
{
    bool right = true;
    fill_descending();
    printf("%-20s%-38s%12s%11s%14s%10s\n", "algorithm", "story", "messages", "time", "million/s", "bytes");
    printf("%-20s%-38s%12s%11s%14s%10s\n", "", "", "sent", "", "delivered", "a node");
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        if (argc > 1 && strcmp(argv[1], trials[i].settings[0].value) != 0) continue;
        right = run(&trials[i]) && right;
        fflush(stdout);
    }
    return right ? 0 : 1;
}
