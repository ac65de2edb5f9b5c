/*
 * The table that closes a chapter on elections, measured: what an election costs as the nodes become more, how
 * many deaths it survives, whether a partition makes two leaders, and whether a leader that lives may stay.
 *
 * Garcia-Molina 1982 and Coulouris et al., section 15.3: the bully and the ring; Ongaro, Ousterhout 2014: raft.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/measure/trial.h"
#include "sim/world/world.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 10 };
#else
enum { RUNS = 100 };
#endif
enum { NODES = 6 };

static const struct sim_trial_terms terms = {.nodes = NODES, .runs = RUNS, .seed = 1};

static const struct el_algorithm *named(const char *name)
{
    const struct el_algorithm *algorithm = el_algorithm_named(name);
    assert_non_null(algorithm);
    return algorithm;
}

static struct sim_cost cost_of(const char *name, uint32_t nodes)
{
    const struct sim_trial_terms these = {.nodes = nodes, .runs = RUNS, .seed = 1};
    struct sim_cost cost = {0};
    struct sim_error error = {""};
    if (sim_measure_cost(named(name), &these, &cost, &error) != 0) fail_msg("%s: %s", name, error.text);
    return cost;
}

static uint32_t survived_by(const char *name, uint32_t nodes)
{
    const struct sim_trial_terms these = {.nodes = nodes, .runs = RUNS, .seed = 1};
    uint32_t deaths = 0;
    struct sim_error error = {""};
    if (sim_measure_survived(named(name), &these, &deaths, &error) != 0) fail_msg("%s: %s", name, error.text);
    return deaths;
}

static struct sim_trial trial_of(const struct el_algorithm *algorithm, enum sim_trouble trouble)
{
    struct sim_trial trial = {0};
    struct sim_error error = {""};
    if (sim_measure_trouble(algorithm, trouble, &terms, &trial, &error) != 0)
        fail_msg("%s: %s", algorithm->name, error.text);
    assert_int_equal(trial.runs, RUNS);
    return trial;
}

static uint64_t broken(const char *name, enum sim_trouble trouble)
{
    return trial_of(named(name), trouble).broken;
}

static bool promised(const char *name, enum sim_trouble trouble)
{
    return trial_of(named(name), trouble).promised;
}

/* ---- What it costs ---- */

static void the_bully_sends_n_squared_at_worst(void **state)
{
    for (uint32_t n = 3; n <= SIM_TRIAL_NODES_MAX; n *= 2) {
        const struct sim_cost cost = cost_of("bully", n);
        assert_int_equal(cost.need, SIM_ONE_NOTICES);
        assert_int_equal(cost.runs, RUNS);
        assert_int_equal(cost.messages, (uint64_t)RUNS * (n * n - n - 1));
        assert_int_equal(cost.turnaround, (uint64_t)RUNS * 4000);
    }
}

static void two_laps_of_a_ring_are_linear(void **state)
{
    for (uint32_t n = 3; n <= SIM_TRIAL_NODES_MAX; n *= 2)
        assert_int_equal(cost_of("ring-max", n).messages, (uint64_t)RUNS * 2 * (n - 1));
}

/* A few messages to and from everybody, whatever the timeouts were. */
static void raft_is_linear(void **state)
{
    const struct sim_cost six = cost_of("raft", 6), twelve = cost_of("raft", 12);
    assert_int_equal(six.need, SIM_ONE_NOTICES);
    assert_in_range(twelve.messages, 3 * six.messages / 2, 3 * six.messages);
    assert_true(six.messages > 0 && six.messages < UINT64_C(60) * RUNS);
}

static void groups_need_that_all_notice(void **state)
{
    assert_int_equal(cost_of("invitation", NODES).need, SIM_ALL_NOTICE);
}

static void with_one_of_two_dead_no_majority_is_left(void **state)
{
    assert_int_equal(cost_of("raft", 2).need, SIM_NOBODY_DIES);
    assert_int_equal(cost_of("bully", 2).need, SIM_ONE_NOTICES);
}

/* ---- What it survives ---- */

static void the_bully_and_the_rings_survive_all_deaths_but_one(void **state)
{
    static const char *const names[] = {"ring-basic", "chang-roberts", "ring-max", "bully", "next-in-line"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(survived_by(names[i], NODES), NODES - 1);
        assert_int_equal(broken(names[i], SIM_CRASHES), 0);
    }
}

static void a_majority_survives_the_death_of_fewer_than_half(void **state)
{
    for (uint32_t n = 2; n <= 9; n++) assert_int_equal(survived_by("raft", n), (n - 1) / 2);
    assert_int_equal(broken("raft", SIM_CRASHES), 0);
    assert_true(promised("raft", SIM_CRASHES));
}

/* An election that stops at a broken link has no two leaders. That says nothing about its safety. */
static void a_ring_that_elects_nobody_in_a_partition_is_not_called_safe(void **state)
{
    static const char *const rings[] = {"lelann", "hirschberg-sinclair", "peterson", "itai-rodeh"};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        const struct sim_trial trial = trial_of(named(rings[i]), SIM_PARTITIONS);
        assert_int_equal(trial.broken, 0);
        assert_true(sim_trial_is_vacuous(&trial, SIM_PARTITIONS));
    }
    const struct sim_trial raft = trial_of(named("raft"), SIM_PARTITIONS),
                           bully = trial_of(named("bully"), SIM_PARTITIONS);
    assert_false(sim_trial_is_vacuous(&bully, SIM_PARTITIONS));
    if (RUNS >= 50)
        assert_false(sim_trial_is_vacuous(&raft, SIM_PARTITIONS)); /* only some runs leave a majority */
}

static void without_a_majority_a_partition_makes_two_leaders(void **state)
{
    uint32_t count = 0, found = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i]->majority) continue;
        const struct sim_trial trial = trial_of(all[i], SIM_PARTITIONS);
        if (sim_trial_is_vacuous(&trial, SIM_PARTITIONS)) continue;
        assert_in_range(trial.broken, RUNS * 8 / 10, RUNS);
        assert_false(trial.promised);
        found++;
    }
    assert_true(found > 0);
}

static void with_a_majority_it_does_not(void **state)
{
    uint32_t count = 0, found = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i]->majority) continue;
        const struct sim_trial trial = trial_of(all[i], SIM_PARTITIONS);
        if (trial.broken) fail_msg("%s: split brain in %u runs", all[i]->name, (unsigned)trial.broken);
        assert_true(trial.promised);
        found++;
    }
    assert_true(found > 0);
}

static void a_bully_that_comes_back_bullies(void **state)
{
    assert_int_equal(broken("bully", SIM_COMEBACKS), RUNS);
    assert_true(broken("bully", SIM_RESTARTS) > 0);
    assert_false(promised("bully", SIM_COMEBACKS));
}

static void a_raft_leader_stays_whoever_comes_back_or_calls(void **state)
{
    assert_int_equal(broken("raft", SIM_COMEBACKS), 0);
    assert_int_equal(broken("raft", SIM_RESTARTS), 0);
    assert_true(promised("raft", SIM_COMEBACKS));
    assert_true(promised("raft", SIM_RESTARTS));
}

/* ---- Held against what the algorithm says ---- */

static void nothing_happens_that_an_algorithm_denies(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (int trouble = 0; trouble < SIM_TROUBLES; trouble++) {
            const struct sim_trial trial = trial_of(all[i], (enum sim_trouble)trouble);
            if (trial.unexcused)
                fail_msg("%s: trouble %d, run %u: violations 0x%x by faults 0x%x", all[i]->name, trouble,
                         (unsigned)trial.run, trial.violations, trial.faults);
        }
}

/* The bully, if it denied everything. */
static void a_run_that_shows_what_is_denied_can_be_told_again(void **state)
{
    struct el_algorithm proud = *named("bully");
    proud.break_count = 0;
    const struct sim_trial trial = trial_of(&proud, SIM_PARTITIONS);
    assert_true(trial.promised);
    assert_true(trial.unexcused > 0 && trial.unexcused >= trial.broken);
    assert_true(trial.faults & EL_PARTITIONS);
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error;
    assert_true(sim_story_of_trouble(&settings, &proud, SIM_PARTITIONS, &terms, trial.run));
    assert_int_equal(sim_plan_build(&plan, &settings, &error), 0);
    struct sim_world *world = sim_world_new(&plan, 0);
    assert_int_equal(sim_world_run(world)->violation_kinds, trial.violations);
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&settings);
}

static void another_seed_is_another_measurement_and_the_same_the_same(void **state)
{
    struct sim_trial_terms other = terms;
    struct sim_trial once = trial_of(named("bully"), SIM_RESTARTS), again = {0};
    struct sim_error error;
    assert_int_equal(sim_measure_trouble(named("bully"), SIM_RESTARTS, &other, &again, &error), 0);
    assert_int_equal(once.broken, again.broken);
    bool differs = false;
    for (other.seed = 1000; other.seed <= 5000; other.seed += 1000) {
        assert_int_equal(sim_measure_trouble(named("bully"), SIM_RESTARTS, &other, &again, &error), 0);
        differs = differs || once.broken != again.broken;
    }
    assert_true(differs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bully_sends_n_squared_at_worst),
        cmocka_unit_test(two_laps_of_a_ring_are_linear),
        cmocka_unit_test(raft_is_linear),
        cmocka_unit_test(groups_need_that_all_notice),
        cmocka_unit_test(with_one_of_two_dead_no_majority_is_left),
        cmocka_unit_test(the_bully_and_the_rings_survive_all_deaths_but_one),
        cmocka_unit_test(a_majority_survives_the_death_of_fewer_than_half),
        cmocka_unit_test(without_a_majority_a_partition_makes_two_leaders),
        cmocka_unit_test(a_ring_that_elects_nobody_in_a_partition_is_not_called_safe),
        cmocka_unit_test(with_a_majority_it_does_not),
        cmocka_unit_test(a_bully_that_comes_back_bullies),
        cmocka_unit_test(a_raft_leader_stays_whoever_comes_back_or_calls),
        cmocka_unit_test(nothing_happens_that_an_algorithm_denies),
        cmocka_unit_test(a_run_that_shows_what_is_denied_can_be_told_again),
        cmocka_unit_test(another_seed_is_another_measurement_and_the_same_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
