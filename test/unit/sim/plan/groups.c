/* Many groups over the same members: their ranks, their dice, what they share, and what is wrong with how they are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/plan/groups.h"

static struct sim_settings settings;
static struct sim_groups groups;
static struct sim_error error;

static void say(const char *key, const char *value)
{
    assert_true(sim_settings_add(&settings, key, value, 0, 0));
}

static int begin(void **state)
{
    settings = (struct sim_settings){0};
    groups = (struct sim_groups){0};
    say("algorithm", "bully");
    say("nodes", "5");
    return 0;
}

static int end(void **state)
{
    sim_groups_free(&groups);
    sim_settings_free(&settings);
    return 0;
}

static void run(void)
{
    if (sim_groups_build(&groups, &settings, &error) != 0) fail_msg("%s", error.text);
    assert_true(sim_groups_run(&groups));
}

static void one_plan_is_no_group(void **state)
{
    assert_false(sim_groups_wanted(&settings));
    say("groups", "2");
    assert_true(sim_groups_wanted(&settings));
}

static void every_group_elects_the_best_of_its_own_ranks(void **state)
{
    uint32_t led[6] = {0};
    say("groups", "200");
    run();
    assert_int_equal(groups.count, 200);
    for (size_t i = 0; i < groups.count; i++) {
        const struct sim_group *group = &groups.list[i];
        assert_true(group->result->agreed);
        assert_int_equal(group->result->violation_kinds, 0);
        for (el_node node = 1; node <= 5; node++)
            assert_false(el_outranks(&group->plan.cluster, node, group->result->leader));
        led[group->result->leader]++;
    }
    for (el_node node = 1; node <= 5; node++) assert_in_range(led[node], 20, 60); /* 40 each, by chance */
}

static void given_attributes_are_kept(void **state)
{
    say("groups", "20");
    say("attr", "2=7");
    run();
    for (size_t i = 0; i < groups.count; i++) assert_int_equal(groups.list[i].result->leader, 2);
}

static void each_has_its_own_algorithm(void **state)
{
    say("groups", "1");
    say("group", "shard=chang-roberts");
    say("group", "meta=raft");
    run();
    assert_string_equal(groups.list[0].plan.algorithm->name, "bully");
    assert_string_equal(groups.list[1].plan.algorithm->name, "chang-roberts");
    assert_string_equal(groups.list[2].plan.algorithm->name, "raft");
    assert_string_equal(groups.list[2].name, "meta");
    for (size_t i = 0; i < groups.count; i++) assert_true(groups.list[i].result->agreed);
}

/* A death strikes them all, and only those that it led have a new leader to find. */
static void a_crash_is_common_to_all(void **state)
{
    say("groups", "40");
    say("leader", "3");
    say("crash", "3@10");
    say("detect", "1");
    run();
    for (size_t i = 0; i < groups.count; i++) {
        assert_true(groups.list[i].result->agreed);
        assert_int_not_equal(groups.list[i].result->leader, 3);
    }
}

/* Elections differ, for each has dice of its own; the detector's are the same for all. */
static void the_detector_is_one_for_all(void **state)
{
    say("group", "a=raft");
    say("group", "b=raft");
    say("group", "c=raft");
    say("delay", "1..20ms");
    say("loss", "0.2");
    say("detector", "heartbeat:interval=100ms");
    say("until", "20s");
    say("settle", "30s");
    run();
    for (size_t i = 1; i < groups.count; i++) {
        assert_int_equal(groups.list[i].result->detector_sent, groups.list[0].result->detector_sent);
        assert_int_not_equal(groups.list[i].plan.seed, groups.list[0].plan.seed);
        assert_int_equal(groups.list[i].plan.detector_seed, groups.list[0].plan.detector_seed);
    }
}

static void refuses(const char *key, const char *value, const char *text)
{
    struct sim_groups made;
    struct sim_settings all = {0};
    assert_true(sim_settings_add(&all, "algorithm", "bully", 0, 0));
    assert_true(sim_settings_add(&all, "nodes", "5", 0, 0));
    assert_true(sim_settings_add(&all, key, value, 0, 0));
    assert_int_equal(sim_groups_build(&made, &all, &error), -1);
    assert_string_equal(error.text, text);
    sim_groups_free(&made);
    sim_settings_free(&all);
}

static void what_is_wrong_is_said(void **state)
{
    refuses("groups", "0", "--groups 0: how many groups: a number from 1 to 10000");
    refuses("groups", "x", "--groups x: how many groups: a number from 1 to 10000");
    refuses("groups", "10001", "--groups 10001: how many groups: a number from 1 to 10000");
    refuses("group", "a", "--group a: expected NAME=ALGORITHM");
    refuses("group", "=raft", "--group =raft: a group's name has 1 to 31 characters");
    refuses("group", "a=rift", "--group a=rift: there is no algorithm 'rift'; `elector algorithms` lists them");
    say("group", "a=raft");
    say("group", "a=bully");
    assert_int_equal(sim_groups_build(&groups, &settings, &error), -1);
    assert_string_equal(error.text, "--group a=bully: there are two groups 'a'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_plan_is_no_group, begin, end),
        cmocka_unit_test_setup_teardown(every_group_elects_the_best_of_its_own_ranks, begin, end),
        cmocka_unit_test_setup_teardown(given_attributes_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(each_has_its_own_algorithm, begin, end),
        cmocka_unit_test_setup_teardown(a_crash_is_common_to_all, begin, end),
        cmocka_unit_test_setup_teardown(the_detector_is_one_for_all, begin, end),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
