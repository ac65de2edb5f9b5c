/*
 * Settings become a plan, who takes part and how the network behaves,
 * or an error that says where and what to do.
 */
#include "typed.h"

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
        {"bully; nodes 3; leader 3", 1},
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

/* ---- Errors ---- */

#define A_TIME "expected a time such as 4, 2.5 or 150ms"
#define NO_NODE_9 "no node has the id 9; the ids are 1, 2, 3"

static void what_is_wrong_is_said_with_what_to_do(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"rift; nodes 3",
         "--algorithm rift: there is no algorithm of that name; `elector algorithms` lists them"},
        {"bully", "how many nodes? Give nodes N, or ids A,B,…"},
        {"bully; nodes 0", "--nodes 0: an election needs at least one node"},
        {"bully; nodes x", "--nodes x: expected a whole number below 2^53"},
        {"bully; nodes 3x", "--nodes 3x: expected a whole number below 2^53"},
        {"bully; nodes 16777217", "--nodes 16777217: at most 16777216 nodes"},
        {"bully; ids", "--ids : expected ids separated by commas, not ''"},
        {"bully; ids 1,,2", "--ids 1,,2: expected ids separated by commas, not ',2'"},
        {"bully; ids 1,2,1", "--ids 1,2,1: the id 1 is there twice; ids must differ"},
        {"bully; ids 1 2", "--ids 1 2: did not expect '2' here"},
        {"invitation; nodes 65", "--nodes 65: a message of invitation can speak of at most 64 members"},
        {"ring-collect; nodes 65", "--nodes 65: a message of ring-collect can speak of at most 64 members"},
        {"bully; nodes 3; attr 9=1", "--attr 9=1: " NO_NODE_9},
        {"bully; nodes 3; attr 1", "--attr 1: expected ID=VALUE with a whole number below 2^53 as VALUE"},
        {"bully; nodes 3; attr 1=x", "--attr 1=x: expected ID=VALUE with a whole number below 2^53 as VALUE"},
        {"bully; nodes 3; attr 1=2 3", "--attr 1=2 3: did not expect '3' here"},
        {"bully; nodes 3; leader 9", "--leader 9: " NO_NODE_9},
        {"bully; nodes 3; leader x", "--leader x: expected the id of a node, not 'x'"},
        {"bully; nodes 3; leader 1,2", "--leader 1,2: one leader, please"},
        {"bully; nodes 14; leader 99",
         "--leader 99: no node has the id 99; the ids are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …"},
        {"bully; nodes 3; set speed=1",
         "--set speed=1: bully has the options exclude-suspects, serial, set as KEY=VALUE"},
        {"bully; nodes 3; set serial",
         "--set serial: bully has the options exclude-suspects, serial, set as KEY=VALUE"},
        {"bully; nodes 3; set serial=1", "--set serial=1: 'serial' is one of off|on"},
        {"bully; nodes 3; set serial=", "--set serial=: 'serial' is one of off|on"},
        {"multicast; nodes 3; set mode=al", "--set mode=al: 'mode' is one of timeout|all|disagree"},
        {"ring-max; nodes 3; set a=b", "--set a=b: ring-max has no options of its own"},
        {"candidate-ordinary; nodes 3; set candidates=9", "--set candidates=9: " NO_NODE_9},
        {"candidate-ordinary; nodes 3; set candidates=1 2", "--set candidates=1 2: did not expect '2' here"},
        {"candidate-ordinary; nodes 3; set delta=x", "--set delta=x: " A_TIME},
        {"candidate-ordinary; nodes 3; set delta=1 2",
         "--set delta=1 2: expected a time and nothing behind it"},
        {"next-in-line; nodes 6; set alternatives=1,2,3,4,5",
         "--set alternatives=1,2,3,4,5: 'alternatives' names at most 4 members"},
        {"bully; nodes 3; delay x", "--delay x: a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10"},
        {"bully; nodes 3; delay 1 2", "--delay 1 2: a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10"},
        {"bully; nodes 3; delay 2..1", "--delay 2..1: the range ends before it begins"},
        {"bully; nodes 3; delay exp:2..1", "--delay exp:2..1: the range ends before it begins"},
        {"bully; nodes 3; delay 0", "--delay 0: a message must take some time"},
        {"bully; nodes 3; delay 1001s", "--delay 1001s: at most 1000 s"},
        {"bully; nodes 3; loss 2",
         "--loss 2: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; dup x", "--dup x: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; reorder 1 1",
         "--reorder 1 1: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; bound 0", "--bound 0: nobody can believe in messages that take no time"},
        {"bully; nodes 3; bound x", "--bound x: " A_TIME},
        {"bully; nodes 3; detect -1", "--detect -1: a time cannot be before 0"},
        {"bully; nodes 3; detect 1 2", "--detect 1 2: expected a time and nothing behind it"},
        {"bully; nodes 3; until soon", "--until soon: " A_TIME},
        {"bully; nodes 3; horizon soon", "--horizon soon: " A_TIME},
        {"bully; nodes 3; seed x", "--seed x: expected a whole number below 2^53"},
        {"bully; nodes 3; clock 9=1", "--clock 9=1: " NO_NODE_9},
        {"bully; nodes 3; clock 1", "--clock 1: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=x", "--clock 1=x: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=0.0009", "--clock 1=0.0009: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=1001", "--clock 1=1001: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=1 2", "--clock 1=1 2: did not expect '2' here"},
        {"bully; nodes 3; miss 1", "--miss 1: expected A:B, whose detector and whom it misses"},
        {"bully; nodes 3; miss 9:1", "--miss 9:1: " NO_NODE_9},
        {"bully; nodes 3; miss 1:9", "--miss 1:9: " NO_NODE_9},
        {"bully; nodes 3; miss 1:2 3", "--miss 1:2 3: did not expect '3' here"},
        {"bully; nodes 3; crash 1", "--crash 1: say when: ID@T, with T in message delays or as 150ms"},
        {"bully; nodes 3; crash 9@0", "--crash 9@0: " NO_NODE_9},
        {"bully; nodes 3; crash 1@x", "--crash 1@x: " A_TIME},
        {"bully; nodes 3; crash 1@-1", "--crash 1@-1: a time cannot be before 0"},
        {"bully; nodes 3; crash 1@0 2", "--crash 1@0 2: did not expect '2' here"},
        {"bully; nodes 3; crash 1@0,1@4", "--crash 1@0,1@4: 1 cannot crash at 4: it is dead already then"},
        {"bully; nodes 3; restart 1@2", "--restart 1@2: 1 cannot restart at 2: it is not dead then"},
        {"bully; nodes 3; pause 1@2", "--pause 1@2: a pause has an end: ID@T..T; one without is a crash"},
        {"bully; nodes 3; pause 1@2..2", "--pause 1@2..2: a span must end after it begins"},
        {"bully; nodes 3; pause 9@1..2", "--pause 9@1..2: " NO_NODE_9},
        {"bully; nodes 3; pause 1@x..2", "--pause 1@x..2: " A_TIME},
        {"bully; nodes 3; pause 1@1..x", "--pause 1@1..x: " A_TIME},
        {"bully; nodes 3; pause 1@1..2 3", "--pause 1@1..2 3: did not expect '3' here"},
        {"bully; nodes 3; partition 1,2", "--partition 1,2: a partition has sides: A,B|C,D"},
        {"bully; nodes 3; partition 1|9", "--partition 1|9: " NO_NODE_9},
        {"bully; nodes 3; partition 1|1", "--partition 1|1: 1 is on two sides"},
        {"bully; nodes 3; partition 1|2@x", "--partition 1|2@x: " A_TIME},
        {"bully; nodes 3; partition 1|2 3", "--partition 1|2 3: did not expect '3' here"},
        {"bully; nodes 3; cut 1", "--cut 1: expected A>B: messages from A to B are lost"},
        {"bully; nodes 3; cut 1>1", "--cut 1>1: a node has no link to itself"},
        {"bully; nodes 3; cut 9>1", "--cut 9>1: " NO_NODE_9},
        {"bully; nodes 3; cut 1>9", "--cut 1>9: " NO_NODE_9},
        {"bully; nodes 3; cut 1>2 3", "--cut 1>2 3: did not expect '3' here"},
        {"bully; nodes 3; false-suspect 1", "--false-suspect 1: expected A:B@T: A suspects B"},
        {"bully; nodes 3; false-suspect 9:1", "--false-suspect 9:1: " NO_NODE_9},
        {"bully; nodes 3; false-suspect 1:9", "--false-suspect 1:9: " NO_NODE_9},
        {"bully; nodes 3; false-suspect 1:1", "--false-suspect 1:1: nobody suspects itself"},
        {"bully; nodes 3; false-suspect 1:2 3", "--false-suspect 1:2 3: did not expect '3' here"},
        {"bully; nodes 3; initiator 9", "--initiator 9: " NO_NODE_9},
        {"bully; nodes 3; initiator 1@x", "--initiator 1@x: " A_TIME},
        {"bully; nodes 3; initiator 1 2", "--initiator 1 2: did not expect '2' here"},
        {"bully; nodes 3; initiator all 2", "--initiator all 2: did not expect '2' here"},
        {"bully; nodes 3; initiator all@x", "--initiator all@x: " A_TIME},
        {"bully; nodes 3; expect leader 9", "--expect leader 9: " NO_NODE_9},
        {"bully; nodes 3; expect messages x",
         "--expect messages x: expected [KIND] N with a kind of message of bully"},
        {"bully; nodes 3; expect messages Vote 3",
         "--expect messages Vote 3: expected [KIND] N with a kind of message of bully"},
        {"bully; nodes 3; expect violation x",
         "--expect violation x: a violation is two-leaders, same-term, disagreement, no-leader, dead-leader, not-best, demoted or "
         "endless"},
        {"bully; nodes 3; expect failed-hops x", "--expect failed-hops x: expected a whole number below 2^53"},
        {"bully; nodes 3; expect turnaround x", "--expect turnaround x: " A_TIME},
        {"bully; nodes 3; expect victory",
         "--expect victory: expect one of: leader ID|none, agreement, no agreement, messages [KIND] N, "
         "failed-hops N, turnaround T, refused N, violation KIND, no violation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(cases[i].text, NULL, cases[i].error);
    clear();
    assert_int_equal(sim_plan_build(&plan, &settings, &error), -1);
    assert_string_equal(error.text, "no algorithm is named; say which, for instance chang-roberts");
}

static void an_error_in_a_file_names_line_and_column(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"rift; nodes 3",
         "story:1:1: algorithm: there is no algorithm of that name; `elector algorithms` lists them"},
        {"bully; nodes 3; crash 1@0,9@2", "story:3:11: crash: " NO_NODE_9},
        {"bully; nodes 3; crash 1@0, x@2", "story:3:12: crash: expected the id of a node, not 'x@2'"},
        {"bully; nodes 3; crash 1@0,2@y", "story:3:13: crash: " A_TIME},
        {"bully; nodes 3; leader 1 2", "story:3:10: leader: one leader, please"},
        {"bully; nodes 3; partition 1|2,1", "story:3:15: partition: 1 is on two sides"},
        {"bully; nodes 3; loss 1; loss 2",
         "story:4:6: loss: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; crash 1@1; crash 1@2",
         "story:4:7: crash: 1 cannot crash at 2: it is dead already then"},
        {"bully; leader 3", "story: how many nodes? Give nodes N, or ids A,B,…"},
        {"bully; nodes 3; set serial=maybe", "story:3:12: set: 'serial' is one of off|on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(cases[i].text, "story", cases[i].error);
}

static void sides_are_counted(void **state)
{
    char text[4096] = "chang-roberts; nodes 300; partition 1";
    for (int i = 2; i <= 256; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "|%d", i);
    }
    const char *value = strstr(text, "partition ") + strlen("partition ");
    clear();
    assert_true(sim_settings_add(&settings, "algorithm", "chang-roberts", 0, 0));
    assert_true(sim_settings_add(&settings, "nodes", "300", 0, 0));
    assert_true(sim_settings_add(&settings, "partition", value, 0, 0));
    assert_int_equal(sim_plan_build(&plan, &settings, &error), -1);
    assert_non_null(strstr(error.text, "at most 255 sides"));
}

static void words_that_are_too_long_are_cut_short_in_errors(void **state)
{
    char text[480] = "bully; nodes 3; leader ";
    const size_t used = strlen(text);
    memset(text + used, 'x', sizeof text - used - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(build(text, NULL), -1);
    assert_in_range(strlen(error.text), 1, sizeof error.text - 1);
    assert_non_null(strstr(error.text, "expected the id of a node, not 'xxxxxxxxxxxxxxxxxxxx'"));
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
        cmocka_unit_test(what_is_wrong_is_said_with_what_to_do),
        cmocka_unit_test(an_error_in_a_file_names_line_and_column),
        cmocka_unit_test(sides_are_counted),
        cmocka_unit_test(words_that_are_too_long_are_cut_short_in_errors),
        cmocka_unit_test(times_are_shown_in_units_or_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
