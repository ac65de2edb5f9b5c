/*
 * Every way in which links can be cut for good, each link by itself and each way by itself: 4,096 directed graphs
 * of four nodes (ELECTOR_LINK_NODES=5: 1,048,576 of five). A leader could serve if it reaches a majority both ways.
 * For each algorithm, and whoever led before (or nobody): for how many graphs does a leader stay although none could,
 * or none although one could? Of `quorum` more is asked: the leader that stays is there after so many lease times.
 *
 * Environment: ELECTOR_ONLY one algorithm, ELECTOR_LINK_STRIDE=K every K-th graph, ELECTOR_LINK_FIRST the first of
 * them, ELECTOR_LINK_TELL lists graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sim/environment.h"
#include "sim/world/world.h"

enum { NODES_MAX = 5 };

/* What quorum is held to, in leases. */
enum {
    SECOND = 1000000000, /* a lease, by default */
    LEASES_TO_ELECT = 4,
    LEASES_TO_LAST = 3
};

struct graph {
    uint32_t nodes;
    bool link[NODES_MAX + 1][NODES_MAX + 1];
};

struct tally {
    uint64_t graphs, possible, wrong, missing, restless; /* graphs, whoever led before */
    sim_time latest;                                     /* when a leader that lasted took leadership */
};

/* Bit k of the number says whether the k-th link is cut. */
static struct graph graph_of(uint32_t nodes, uint32_t number)
{
    struct graph g = {.nodes = nodes};
    for (uint32_t a = 1; a <= nodes; a++)
        for (uint32_t b = 1; b <= nodes; b++) {
            if (a == b) continue;
            g.link[a][b] = !(number & 1u);
            number >>= 1;
        }
    return g;
}

/* With a store, which is the last node, a leader could serve if it reaches that both ways. */
static bool one_could_lead(const struct graph *g, bool store)
{
    for (uint32_t a = 1; store && a < g->nodes; a++)
        if (g->link[a][g->nodes] && g->link[g->nodes][a]) return true;
    if (store) return false;
    for (uint32_t a = 1; a <= g->nodes; a++) {
        uint32_t reached = 1;
        for (uint32_t b = 1; b <= g->nodes; b++) reached += a != b && g->link[a][b] && g->link[b][a];
        if (reached > g->nodes / 2) return true;
    }
    return false;
}

static void add(struct sim_settings *settings, const char *key, const char *value)
{
    assert_true(sim_settings_add(settings, key, value, 0, 0));
}

static void cut_links(struct sim_settings *settings, const struct graph *g)
{
    char text[32];
    for (uint32_t a = 1; a <= g->nodes; a++)
        for (uint32_t b = 1; b <= g->nodes; b++) {
            if (a == b || g->link[a][b]) continue;
            snprintf(text, sizeof text, "%u>%u", a, b);
            add(settings, "cut", text);
        }
}

/* Led by one node, in one term, for so long: by default ten of the longest times that it waits by its options. */
static bool has_lasting_leader(const struct sim_world *world, sim_time lasting)
{
    const el_node leading = sim_world_leading(world);
    return leading && sim_world_tenure(world, leading) >= lasting;
}

static void bound_the_run(struct sim_plan *plan)
{
    plan->horizon = SIM_NEVER - 1;
    plan->until = 4 * plan->settle;
    if (strcmp(plan->algorithm->name, "quorum") != 0) return;
    plan->settle = (sim_time)LEASES_TO_LAST * SECOND;
    plan->until = (sim_time)(LEASES_TO_ELECT + LEASES_TO_LAST) * SECOND;
}

enum outcome { LED = 1, NOT_LED = 2, RESTLESS = 4 };

static uint32_t run_graph(const char *algorithm, const char *option, const struct graph *g, uint32_t incumbent,
                          sim_time *latest)
{
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error;
    char text[16];
    snprintf(text, sizeof text, "%u", g->nodes);
    add(&settings, "algorithm", algorithm);
    add(&settings, "nodes", text);
    if (option) add(&settings, "set", option);
    snprintf(text, sizeof text, "%u", incumbent);
    if (incumbent) add(&settings, "leader", text);
    cut_links(&settings, g);
    if (sim_plan_build(&plan, &settings, &error) != 0) fail_msg("%s", error.text);
    bound_the_run(&plan);
    struct sim_world *world = sim_world_new(&plan, 0);
    assert_non_null(world);
    const struct sim_result *result = sim_world_run(world);
    const bool led = has_lasting_leader(world, plan.settle);
    const uint32_t outcome = (led ? LED : NOT_LED) | (result->came_to_rest ? 0 : RESTLESS);
    if (led) {
        const sim_time since = result->ended - sim_world_tenure(world, sim_world_leading(world));
        if (since > *latest) *latest = since;
    }
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return outcome;
}

static void try_graph(const char *algorithm, const char *option, uint32_t nodes, uint32_t number,
                      struct tally *tally)
{
    const struct graph g = graph_of(nodes, number);
    const bool store = el_algorithm_named(algorithm)->store, possible = one_could_lead(&g, store);
    uint32_t outcomes = 0;
    for (uint32_t incumbent = 0; incumbent <= nodes - store; incumbent++)
        outcomes |= run_graph(algorithm, option, &g, incumbent, &tally->latest);
    tally->graphs++;
    tally->possible += possible;
    tally->wrong += !possible && outcomes & LED;
    tally->missing += possible && outcomes & NOT_LED;
    tally->restless += (outcomes & RESTLESS) != 0;
    if (getenv("ELECTOR_LINK_TELL") && outcomes & (possible ? NOT_LED : LED))
        printf("%s %s graph %u: %s\n", algorithm, option ? option : "", number, possible ? "missing" : "wrong");
}

static uint32_t node_count(void)
{
    return (uint32_t)environment("ELECTOR_LINK_NODES", 4);
}

static struct tally try_all(const char *algorithm, const char *option)
{
    struct tally tally = {0};
    const uint32_t nodes = node_count();
    const uint32_t graphs = 1u << (nodes * (nodes - 1));
#ifdef ELECTOR_SANITIZED
    const uint32_t stride = 32;
#else
    const uint32_t stride = (uint32_t)environment("ELECTOR_LINK_STRIDE", 1);
#endif
    assert_true(stride > 0);
    /* A soak takes them in an order that a factor without a common divisor mixes, so that a part of it is a sample. */
    const uint32_t factor = seconds_of_soak() == UINT64_MAX ? 1 : 648053;
    const uint64_t first = environment("ELECTOR_LINK_FIRST", 0), end_ns = end_of(seconds_of_soak());
    for (uint64_t i = first; i < first + graphs && clock_monotonic_ns() < end_ns; i += stride)
        try_graph(algorithm, option, nodes, (uint32_t)(i * factor % graphs), &tally);
    fprintf(
        stderr,
        "%-14s %-17s %u nodes: %7llu graphs, %7llu could have a leader; %6llu have one although none could, "
        "%6llu have none although one could; views never rest in %llu; the last took office at %.3f s\n",
        algorithm, option ? option : "", nodes, (unsigned long long)tally.graphs,
        (unsigned long long)tally.possible, (unsigned long long)tally.wrong, (unsigned long long)tally.missing,
        (unsigned long long)tally.restless, (double)tally.latest / SECOND);
    return tally;
}

static void no_leader_lasts_where_none_could_serve(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i]->beats || !all[i]->majority) continue;
        const char *only = getenv("ELECTOR_ONLY");
        if (only && strcmp(all[i]->name, only) != 0) continue;
        if (node_count() > 4 && !only && strcmp(all[i]->name, "raft") != 0) continue;
        const struct tally tally = try_all(all[i]->name, NULL);
        assert_int_equal(tally.wrong, 0);
        if (strcmp(all[i]->name, "quorum") == 0) assert_int_equal(tally.missing, 0);
    }
}

/* What the guards are for: with each of them off the table is another. */
static void without_check_quorum_a_leader_that_hears_nobody_stays(void **state)
{
    if (node_count() > 4) return;
    const struct tally unchecked = try_all("raft", "check-quorum=off"),
                       unasked = try_all("raft", "prevote=off");
    assert_true(unchecked.wrong > 0);
    assert_int_equal(unasked.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_leader_lasts_where_none_could_serve),
        cmocka_unit_test(without_check_quorum_a_leader_that_hears_nobody_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
