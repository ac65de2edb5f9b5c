/*
 * Settings become a plan: who takes part, how the network behaves, what happens when.
 * Those that cannot are in errors.c.
 */
#include "lib/sim/typed.h"

/* ---- Defaults ---- */

static void little_need_be_said(void **state)
{
    planned("bully; nodes 3");
    assert_string_equal(plan.algorithm->name, "bully");
    assert_int_equal(plan.cluster.count, 3);
    assert_null(plan.cluster.ids);
    assert_null(plan.cluster.attributes);
    assert_null(plan.cluster.roles);
    assert_int_equal(plan.cluster.transmit_max, MS);
    assert_int_equal(plan.cluster.process_max, 0);
    assert_int_equal(plan.seed, 1);
    assert_int_equal(plan.unit, MS);
    assert_true(plan.in_units);
    assert_int_equal(plan.delay.shape, SIM_DELAY_FIXED);
    assert_int_equal(plan.delay.max, MS);
    assert_int_equal(plan.loss + plan.duplicate + plan.reorder, 0);
    assert_int_equal(plan.detect, SIM_NEVER);
    assert_int_equal(plan.until, SIM_NEVER);
    assert_int_equal(plan.horizon, (10 * 9 + 200) * MS);
    assert_int_equal(plan.incumbent, EL_NOBODY);
    assert_null(plan.rates);
    assert_int_equal(plan.miss_count + plan.break_count + plan.expect_count, 0);
    assert_int_equal(plan.command_count, 1); /* the first node calls an election */
    assert_int_equal(plan.commands[0].type, SIM_DO_CAMPAIGN);
    assert_int_equal(plan.commands[0].node, 1);
}

static void somebody_calls_unless_something_else_will(void **state)
{
    static const struct {
        const char *text;
        el_node caller; /* nobody: no campaign */
    } cases[] = {
        {"bully; nodes 3", 1},
        {"bully; nodes 3; crash 1@0", 2},
        {"bully; nodes 3; crash 1@1", 1},
        {"bully; nodes 2; crash 1@0,2@0", 0},
        {"bully; nodes 3; initiator none", 0},
        {"bully; nodes 3; initiator 3", 3},
        {"bully; nodes 3; leader 3; crash 3@0", 1},
        {"bully; nodes 3; leader 3; crash 3@0; detect 1", 0},
        {"bully; nodes 3; crash 3@0; detect 1", 1}, /* nobody leads: nobody is missed */
        {"bully; nodes 3; leader 3; false-suspect 1:3@0", 0},
        {"bully; nodes 3; leader 3; crash 3@0; restart 3@5", 0},
        {"bully; nodes 3; leader 3", 0}, /* a leader is in office: somebody must have a reason to call */
        {"bully; nodes 3; leader 3; crash 3@2", 0},
        {"bully; nodes 3; leader 3; resign 3@3", 0},
        {"bully; nodes 3; leader 3; transfer 2@3", 0},
        {"bully; nodes 3; leader 3; pause 3@1..3", 0},
        {"bully; nodes 3; leader 3; resource 1", 0},
        {"bully; nodes 3; leader 3; partition 1,2|3@0", 0},
        {"bully; nodes 3; leader 3; crash 1@0", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned(cases[i].text);
        el_node caller = EL_NOBODY;
        for (size_t k = 0; k < plan.command_count; k++)
            if (plan.commands[k].type == SIM_DO_CAMPAIGN) caller = plan.commands[k].node;
        if (caller != cases[i].caller) print_error("%s\n", cases[i].text);
        assert_int_equal(caller, cases[i].caller);
    }
}

static void a_run_may_be_as_long_as_its_size_and_story_ask(void **state)
{
    planned("bully; nodes 10; crash 1@7; delay 2");
    assert_int_equal(plan.horizon, (7 + 2400) * MS);
    planned("bully; nodes 10; bound 3");
    assert_int_equal(plan.horizon, 3600 * MS);
    planned("chang-roberts; nodes 1000000");
    assert_int_equal(plan.horizon, (100 * UINT64_C(1000000) + 1000000) * MS);
    planned("bully; nodes 3; horizon 50");
    assert_int_equal(plan.horizon, 50 * MS);
}

/* ---- Who takes part ---- */

static void ids_stand_in_ring_order(void **state)
{
    planned("chang-roberts; ids 3, 32,5 ,80");
    assert_int_equal(plan.cluster.count, 4);
    assert_int_equal(plan.ids[0], 3);
    assert_int_equal(plan.ids[3], 80);
    assert_int_equal(sim_plan_node(&plan, 32), 2);
    assert_int_equal(sim_plan_node(&plan, 4), EL_NOBODY);
    planned("chang-roberts; nodes 4");
    assert_int_equal(sim_plan_node(&plan, 4), 4);
    assert_int_equal(sim_plan_node(&plan, 5), EL_NOBODY);
    assert_int_equal(sim_plan_node(&plan, 0), EL_NOBODY);
}

static void the_later_of_ids_and_nodes_counts(void **state)
{
    planned("bully; nodes 9; ids 4,7");
    assert_int_equal(plan.cluster.count, 2);
    assert_non_null(plan.ids);
    planned("bully; ids 4,7; nodes 9");
    assert_int_equal(plan.cluster.count, 9);
    assert_null(plan.ids);
    planned("bully; nodes 9; nodes 4");
    assert_int_equal(plan.cluster.count, 4);
    planned("bully; algorithm ring-max; nodes 4");
    assert_string_equal(plan.algorithm->name, "ring-max");
}

static void attributes_and_the_leader_go_by_id(void **state)
{
    planned("bully; ids 10,20,30; attr 20=7,30=1; attr 30=9; leader 30");
    assert_int_equal(plan.attributes[0], 0);
    assert_int_equal(plan.attributes[1], 7);
    assert_int_equal(plan.attributes[2], 9);
    assert_int_equal(plan.incumbent, 3);
}

static void options_are_set_by_name(void **state)
{
    planned("bully; nodes 3");
    assert_int_equal(plan.options[0].number, 0);
    planned("bully; nodes 3; set exclude-suspects=on; set serial=on; set serial=off");
    assert_int_equal(plan.options[0].number, 1);
    assert_int_equal(plan.options[1].number, 0);
    planned("multicast; nodes 3; set mode=disagree");
    assert_int_equal(plan.options[0].number, 2);
    planned("candidate-ordinary; ids 5,6,7; set candidates=7,5; set delta=2.5");
    assert_int_equal(plan.roles[0], EL_CANDIDATE);
    assert_int_equal(plan.roles[1], EL_ORDINARY);
    assert_int_equal(plan.roles[2], EL_CANDIDATE);
    assert_int_equal(plan.options[1].number, 5 * MS / 2);
    planned("candidate-ordinary; nodes 3; set candidates=1; set candidates=2");
    assert_int_equal(plan.roles[0], EL_ORDINARY);
    assert_int_equal(plan.roles[1], EL_CANDIDATE);
    planned("next-in-line; ids 10,20,30; set alternatives=30,10");
    assert_int_equal(plan.options[2].member_count, 2);
    assert_int_equal(plan.options[2].members[0], 3);
    assert_int_equal(plan.options[2].members[1], 1);
}

/* ---- The network ---- */

static void a_delay_has_a_shape(void **state)
{
    static const struct {
        const char *text;
        enum sim_delay_shape shape;
        sim_time min, max, mean, unit;
    } cases[] = {
        {"bully; nodes 2; delay 2", SIM_DELAY_FIXED, 2 * MS, 2 * MS, 0, MS},
        {"bully; nodes 2; delay 0.5..2", SIM_DELAY_RANGE, MS / 2, 2 * MS, 0, MS},
        {"bully; nodes 2; delay 0..1", SIM_DELAY_RANGE, 0, MS, 0, MS},
        {"bully; nodes 2; delay 10ms", SIM_DELAY_FIXED, 10 * MS, 10 * MS, 0, 10 * MS},
        {"bully; nodes 2; delay 5..15ms", SIM_DELAY_RANGE, 5 * MS, 15 * MS, 0, 15 * MS},
        {"bully; nodes 2; delay exp:1", SIM_DELAY_EXPONENTIAL, 0, 10 * MS, MS, MS},
        {"bully; nodes 2; delay exp:1..4", SIM_DELAY_EXPONENTIAL, 0, 4 * MS, MS, MS},
        {"bully; nodes 2; delay exp:2..20ms", SIM_DELAY_EXPONENTIAL, 0, 20 * MS, 2 * MS, 20 * MS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned(cases[i].text);
        assert_int_equal(plan.delay.shape, cases[i].shape);
        assert_int_equal(plan.delay.min, cases[i].min);
        assert_int_equal(plan.delay.max, cases[i].max);
        assert_int_equal(plan.delay.mean, cases[i].mean);
        assert_int_equal(plan.unit, cases[i].unit);
        assert_int_equal(plan.in_units, cases[i].unit == MS);
        assert_int_equal(plan.cluster.transmit_max, cases[i].max);
    }
}

static void disks_clocks_and_parts_are_set(void **state)
{
    planned("bully; nodes 3");
    assert_int_equal(plan.disk.max, 0);
    assert_int_equal(plan.cluster.drift, 5000);
    assert_int_equal(plan.work + plan.mercy, 0);
    assert_null(plan.detector);
    planned(
        "raft; nodes 3; disk 0.5..2; drift 0.15; resource 5; quality 7; settle 9; detector phi:10; ordinary 2; "
        "ordinary 3");
    assert_int_equal(plan.disk.shape, SIM_DELAY_RANGE);
    assert_int_equal(plan.disk.max, 2 * MS);
    assert_int_equal(plan.cluster.drift, 150000);
    assert_int_equal(plan.detector_cluster.drift, 150000);
    assert_int_equal(plan.work, 5 * MS);
    assert_int_equal(plan.mercy, 7 * MS);
    assert_int_equal(plan.settle, 9 * MS);
    assert_string_equal(plan.detector->name, "phi");
    assert_int_equal(plan.detector_options[0].number, 10);
    assert_true(el_may_lead(&plan.cluster, 1));
    assert_false(el_may_lead(&plan.cluster, 2));
    assert_false(el_may_lead(&plan.cluster, 3));
    planned("bully; nodes 3; drift 0.5; detector heartbeat:threshold=5,interval=20ms");
    assert_int_equal(plan.cluster.drift, 500000);
    assert_int_equal(plan.detector_options[0].number, 20 * MS);
    assert_int_equal(plan.detector_options[1].number, 5);
}

static void requests_facts_and_leaps_are_commands(void **state)
{
    planned("raft; nodes 3; crash 1@0; wipe 1@1; resign leader@2,3@3; transfer 2@4; fact 2:log-index=7@5; "
            "jump 3@6=-2,3@7=+1");
    assert_int_equal(plan.command_count, 8);
    assert_int_equal(plan.commands[1].type, SIM_DO_RESTART);
    assert_true(plan.commands[1].wiped);
    assert_int_equal(plan.commands[2].type, SIM_DO_RESIGN);
    assert_int_equal(plan.commands[2].node, EL_NOBODY);
    assert_int_equal(plan.commands[3].node, 3);
    assert_int_equal(plan.commands[4].type, SIM_DO_TRANSFER);
    assert_int_equal(plan.commands[4].node, EL_NOBODY);
    assert_int_equal(plan.commands[4].peer, 2);
    assert_int_equal(plan.commands[5].type, SIM_DO_FACT);
    assert_int_equal(plan.commands[5].node, 2);
    assert_int_equal(plan.commands[5].fact, 1);
    assert_int_equal(plan.commands[5].value, 7);
    assert_int_equal(plan.commands[6].type, SIM_DO_JUMP);
    assert_true(plan.commands[6].leap == -2 * (int64_t)MS);
    assert_true(plan.commands[7].leap == (int64_t)MS);
}

static void rest_takes_as_long_as_the_longest_wait_asks(void **state)
{
    planned("raft; nodes 3");
    assert_int_equal(plan.settle, UINT64_C(1500) * MS);
    planned("raft; nodes 3; clock 2=0.5");
    assert_int_equal(plan.settle, UINT64_C(3000) * MS);
    planned("raft; nodes 3; disk 400");
    assert_int_equal(plan.settle, UINT64_C(4000) * MS);
    planned("bully; nodes 3; detector heartbeat");
    assert_int_equal(plan.settle, UINT64_C(30000) * MS);
    planned("raft; nodes 3; set election=9000000s; clock 2=0.001"); /* and no longer than there is time */
    assert_int_equal(plan.settle, SIM_TIME_MAX);
}

static void the_network_and_the_detector_are_set(void **state)
{
    planned("bully; nodes 3; loss 10%; dup 0.5; reorder 1; bound 7; detect 2; until 9; seed 42");
    assert_int_equal(plan.loss, SIM_CERTAIN / 10);
    assert_int_equal(plan.duplicate, SIM_CERTAIN / 2);
    assert_int_equal(plan.reorder, SIM_CERTAIN);
    assert_int_equal(plan.cluster.transmit_max, 7 * MS);
    assert_int_equal(plan.detect, 2 * MS);
    assert_int_equal(plan.until, 9 * MS);
    assert_int_equal(plan.seed, 42);
    planned("bully; nodes 3; detect 0");
    assert_int_equal(plan.detect, 0);
    planned("bully; nodes 3; delay 10ms; detect 2");
    assert_int_equal(plan.detect, 20 * MS); /* a unit is a delay */
}

static void clocks_and_misses_go_by_id(void **state)
{
    planned("bully; ids 10,20,30; clock 20=1.05,30=0.001; clock 10=1000; miss all:30,10:all, 20:10");
    assert_int_equal(plan.rates[1], 1000000000);
    assert_int_equal(plan.rates[2], 1050000);
    assert_int_equal(plan.rates[3], 1000);
    assert_int_equal(plan.miss_count, 3);
    assert_int_equal(plan.misses[0].node, EL_NOBODY);
    assert_int_equal(plan.misses[0].peer, 3);
    assert_int_equal(plan.misses[1].node, 1);
    assert_int_equal(plan.misses[1].peer, EL_NOBODY);
    assert_int_equal(plan.misses[2].node, 2);
    assert_int_equal(plan.misses[2].peer, 1);
}

/* ---- Words for people ---- */

static void times_are_shown_in_units_or_milliseconds(void **state)
{
    char text[SIM_TIME_TEXT];
    planned("bully; nodes 3");
    assert_string_equal(sim_time_text(&plan, 0, text), "0");
    assert_string_equal(sim_time_text(&plan, 7 * MS, text), "7");
    assert_string_equal(sim_time_text(&plan, 7 * MS / 2, text), "3.5");
    assert_string_equal(sim_time_text(&plan, 1001, text), "0.001");
    assert_string_equal(sim_time_text(&plan, 100 * MS, text), "100");
    assert_string_equal(sim_time_text(&plan, SIM_NEVER, text), "18446744073709.551");
    planned("bully; nodes 3; delay 10ms");
    assert_string_equal(sim_time_text(&plan, 12 * MS + MS / 4, text), "12.25 ms");
    assert_string_equal(sim_time_text(&plan, 0, text), "0 ms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_need_be_said),
        cmocka_unit_test(somebody_calls_unless_something_else_will),
        cmocka_unit_test(a_run_may_be_as_long_as_its_size_and_story_ask),
        cmocka_unit_test(ids_stand_in_ring_order),
        cmocka_unit_test(the_later_of_ids_and_nodes_counts),
        cmocka_unit_test(attributes_and_the_leader_go_by_id),
        cmocka_unit_test(options_are_set_by_name),
        cmocka_unit_test(a_delay_has_a_shape),
        cmocka_unit_test(the_network_and_the_detector_are_set),
        cmocka_unit_test(clocks_and_misses_go_by_id),
        cmocka_unit_test(disks_clocks_and_parts_are_set),
        cmocka_unit_test(requests_facts_and_leaps_are_commands),
        cmocka_unit_test(rest_takes_as_long_as_the_longest_wait_asks),
        cmocka_unit_test(times_are_shown_in_units_or_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
