/* Reading what people type: settings become a plan, or an error that says where and what to do. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/parse.h"
#include "sim/plan.h"

#define MS UINT64_C(1000000) /* T, unless --delay says otherwise */

static struct sim_settings settings;
static struct sim_plan plan;
static struct sim_error error;

static void clear(void)
{
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    memset(&error, 0, sizeof error);
}

/* "bully; nodes 5; crash 2@0": keys and values, as typed; each is a line of a file if one is named. */
static int build(const char *text, const char *file)
{
    char line[512];
    uint32_t number = 0;
    clear();
    settings.file = file;
    for (const char *at = text; at; number++) {
        const char *end = strchr(at, ';');
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        assert_true(length < sizeof line);
        memcpy(line, at, length);
        line[length] = '\0';
        at = end ? end + 1 + strspn(end + 1, " ") : NULL;
        char *value = line;
        const char *key = "algorithm";
        if (number) {
            key = line;
            value = line + strcspn(line, " ");
            if (*value) *value++ = '\0';
        }
        const uint32_t column = number ? (uint32_t)(value - line) + 1 : 1;
        assert_true(sim_settings_add(&settings, key, value, file ? number + 1 : 0, column));
    }
    return sim_plan_build(&plan, &settings, &error);
}

static void planned(const char *text)
{
    if (build(text, NULL) == 0) return;
    print_error("%s: %s\n", text, error.text);
    fail();
}

/* The error, at least its beginning. */
static void refused(const char *text, const char *file, const char *expected)
{
    if (build(text, file) == 0) {
        print_error("accepted: %s\n", text);
        fail();
    }
    if (strncmp(error.text, expected, strlen(expected)) != 0) {
        print_error("%s\n  expected: %s\n  but said: %s\n", text, expected, error.text);
        fail();
    }
}

/* ---- Pieces ---- */

static void whole_numbers_do_not_overflow(void **state)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t number;
        size_t read;
    } cases[] = {
        {"0", true, 0, 1},
        {"007x", true, 7, 3},
        {"18446744073709551615", true, UINT64_MAX, 20},
        {"18446744073709551616", false, 0, 0},
        {"99999999999999999999", false, 0, 0},
        {"", false, 0, 0},
        {"-1", false, 0, 0},
        {"+1", false, 0, 0},
        {" 1", false, 0, 0},
        {"x", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].text;
        uint64_t number = 0;
        assert_int_equal(parse_number(&at, &number), cases[i].good);
        assert_int_equal(number, cases[i].number);
        assert_int_equal(at - cases[i].text, cases[i].read);
    }
}

static void a_chance_is_a_fraction_or_a_percentage(void **state)
{
    static const struct {
        const char *text;
        sim_chance chance;
    } good[] = {{"0", 0},
                {"1", SIM_CERTAIN},
                {"1.0", SIM_CERTAIN},
                {"0.5", SIM_CERTAIN / 2},
                {".25", SIM_CERTAIN / 4},
                {"25%", SIM_CERTAIN / 4},
                {"0.1%", SIM_CERTAIN / 1000},
                {"100%", SIM_CERTAIN},
                {"0.12345678", 530242832}};
    static const char *const bad[] = {"", ".", "x", "1.1", "100.1%", "-0.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        sim_chance chance = 77;
        assert_true(parse_chance(&at, &chance));
        assert_int_equal(chance, good[i].chance);
        assert_int_equal(*at, '\0');
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        sim_chance chance = 77;
        assert_false(parse_chance(&at, &chance));
        assert_int_equal(chance, 77);
        assert_ptr_equal(at, bad[i]);
    }
}

static void a_time_is_in_units_or_real(void **state)
{
    static const struct {
        const char *text;
        sim_time time;
        bool real;
        const char *rest;
    } good[] = {
        {"4", 4000, false, ""},       {"2.5", 2500, false, ""},
        {"2.5T", 2500, false, ""},    {".5", 500, false, ""},
        {"4.", 4000, false, "."},     {"1..2", 1000, false, "..2"},
        {"0", 0, false, ""},          {"3ns", 3, true, ""},
        {"20us", 20000, true, ""},    {"150ms", 150000000, true, ""},
        {"1.5ms", 1500000, true, ""}, {"1s", 1000000000, true, ""},
        {"2x", 2000, false, "x"},     {"0.0001", 0, false, ""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        sim_time time = 0;
        bool real = !good[i].real;
        assert_true(parse_time(&at, 1000, &time, &real));
        assert_int_equal(time, good[i].time);
        assert_int_equal(real, good[i].real);
        assert_string_equal(at, good[i].rest);
        at = good[i].text;
        assert_true(parse_time(&at, 1000, &time, NULL));
    }
    static const char *const bad[] = {"", ".", "x", "-1", "ms", "99999999999999999999", "10000000000000s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        sim_time time = 0;
        assert_false(parse_time(&at, 1000, &time, NULL));
        assert_ptr_equal(at, bad[i]);
    }
}

static void in_a_range_one_unit_stands_for_both(void **state)
{
    static const struct {
        const char *text;
        sim_time min, max;
        bool real;
    } good[] = {
        {"2", 2000, 2000, false},
        {"0.5..2", 500, 2000, false},
        {"5..15ms", 5000000, 15000000, true},
        {"5us..1ms", 5000, 1000000, true},
        {"5ms..6", 5000000, 6000, true},
        {"7ms", 7000000, 7000000, true},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        sim_time min = 0, max = 0;
        bool real = false;
        assert_true(parse_time_range(&at, 1000, &min, &max, &real));
        assert_int_equal(min, good[i].min);
        assert_int_equal(max, good[i].max);
        assert_int_equal(real, good[i].real);
        assert_int_equal(*at, '\0');
    }
    static const char *const bad[] = {"", "..", "1..", "..2", "x..y", "9000000000000000000..15ms"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        sim_time min = 0, max = 0;
        bool real = false;
        assert_false(parse_time_range(&at, 1000, &min, &max, &real));
        assert_ptr_equal(at, bad[i]);
    }
}

static void clock_rates_are_in_millionths(void **state)
{
    const char *at = "1.05 ";
    uint64_t rate = 0;
    assert_true(parse_millionths(&at, &rate));
    assert_int_equal(rate, 1050000);
    assert_true(parse_end(&at));
}

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

/* ---- What happens when ---- */

static void commands(const char *text, const char *expected)
{
    static const char *const words[] = {"campaign", "crash", "restart", "pause", "resume",
                                        "part",     "heal",  "suspect", "trust"};
    char said[512] = "";
    planned(text);
    for (size_t i = 0; i < plan.command_count; i++) {
        const struct sim_command *c = &plan.commands[i];
        const size_t used = strlen(said);
        snprintf(said + used, sizeof said - used, "%s%s %u%s%s@%g", i ? ", " : "", words[c->type], c->node,
                 c->peer ? ":" : "", c->peer ? (char[2]){(char)('0' + c->peer), '\0'} : "",
                 (double)c->at / (double)MS);
    }
    assert_string_equal(said, expected);
}

static void commands_stand_in_order_of_time(void **state)
{
    commands("bully; nodes 3; initiator 2@3,1; crash 3@1.5", "campaign 1@0, crash 3@1.5, campaign 2@3");
    commands("bully; nodes 3; initiator all", "campaign 1@0, campaign 2@0, campaign 3@0");
    commands("bully; nodes 2; initiator all@2", "campaign 1@2, campaign 2@2");
    commands("bully; nodes 3; initiator none; crash 3@1, 2@0; restart 3@2",
             "crash 2@0, crash 3@1, restart 3@2");
    commands("bully; nodes 3; initiator 1; pause 2@1..4", "campaign 1@0, pause 2@1, resume 2@4");
    commands("bully; nodes 3; initiator 1@2; partition 1,2|3@1..5", "part 0@1, campaign 1@2, heal 0@5");
    commands("bully; nodes 3; initiator 1; cut 1>3", "part 0@0, campaign 1@0");
    commands("bully; nodes 3; initiator none; false-suspect all:3@1..2,1:2@4",
             "suspect 1:3@1, suspect 2:3@1, trust 1:3@2, trust 2:3@2, suspect 1:2@4");
}

static void a_break_knows_its_sides(void **state)
{
    planned("bully; nodes 5; partition 1,2|3|5@1..2; cut 4>2@3");
    assert_int_equal(plan.break_count, 2);
    assert_int_equal(plan.breaks[0].side[1], 1);
    assert_int_equal(plan.breaks[0].side[2], 1);
    assert_int_equal(plan.breaks[0].side[3], 2);
    assert_int_equal(plan.breaks[0].side[4], 0); /* not named: reaches everybody */
    assert_int_equal(plan.breaks[0].side[5], 3);
    assert_string_equal(plan.breaks[0].text, "1,2|3|5");
    assert_null(plan.breaks[1].side);
    assert_int_equal(plan.breaks[1].from, 4);
    assert_int_equal(plan.breaks[1].to, 2);
    assert_string_equal(plan.breaks[1].text, "4>2");
}

/* ---- What is expected ---- */

static void expectations_are_read(void **state)
{
    planned("bully; ids 10,20; expect leader 20; expect leader none; expect agreement; expect no agreement; "
            "expect messages 7; expect messages Answer 2; expect turnaround 2.5; expect violation endless; "
            "expect no violation; expect failed-hops 3");
    static const struct {
        enum sim_expect_type type;
        uint32_t kind;
        uint64_t value;
    } expected[] = {
        {SIM_EXPECT_LEADER, 0, 20},
        {SIM_EXPECT_LEADER, 0, SIM_NO_ID},
        {SIM_EXPECT_AGREEMENT, 0, 0},
        {SIM_EXPECT_NO_AGREEMENT, 0, 0},
        {SIM_EXPECT_MESSAGES, 0, 7},
        {SIM_EXPECT_MESSAGES, 2, 2},
        {SIM_EXPECT_TURNAROUND, 0, 5 * MS / 2},
        {SIM_EXPECT_VIOLATION, EL_ENDLESS, 0},
        {SIM_EXPECT_NO_VIOLATION, 0, 0},
        {SIM_EXPECT_FAILED_HOPS, 0, 3},
    };
    assert_int_equal(plan.expect_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < plan.expect_count; i++) {
        assert_int_equal(plan.expects[i].type, expected[i].type);
        assert_int_equal(plan.expects[i].kind, expected[i].kind);
        assert_int_equal(plan.expects[i].value, expected[i].value);
    }
    assert_string_equal(plan.expects[5].text, "messages Answer 2");
}

/* ---- Errors ---- */

#define A_TIME "expected a time such as 4, 2.5 or 150ms"
#define NO_NODE_9 "no node has the id 9; the ids are 1, 2, 3"

static void what_is_wrong_is_said_with_what_to_do(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"raft; nodes 3",
         "--algorithm raft: there is no algorithm of that name; `elector algorithms` lists them"},
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
         "--expect violation x: a violation is two-leaders, disagreement, no-leader, dead-leader, not-best or "
         "endless"},
        {"bully; nodes 3; expect failed-hops x", "--expect failed-hops x: expected a whole number below 2^53"},
        {"bully; nodes 3; expect turnaround x", "--expect turnaround x: " A_TIME},
        {"bully; nodes 3; expect victory",
         "--expect victory: expect one of: leader ID|none, agreement, no agreement, messages [KIND] N, "
         "failed-hops N, turnaround T, violation KIND, no violation"},
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
        {"raft; nodes 3",
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

/* ---- Files ---- */

static char path[64];

static int read_text(const char *text, size_t size)
{
    clear();
    snprintf(path, sizeof path, "%s/elector-XXXXXX", P_tmpdir);
    const int file = mkstemp(path);
    assert_int_not_equal(file, -1);
    assert_int_equal(write(file, text, size), size);
    close(file);
    const int status = sim_settings_read(&settings, path, &error);
    unlink(path);
    return status;
}

static void reads(const char *text, const char *expected)
{
    char said[512] = "";
    if (read_text(text, strlen(text)) != 0) print_error("%s\n", error.text);
    for (size_t i = 0; i < settings.count; i++) {
        const struct sim_setting *s = &settings.list[i];
        const size_t used = strlen(said);
        snprintf(said + used, sizeof said - used, "%s%u:%u %s=%s", i ? "; " : "", s->line, s->column, s->key,
                 s->value);
    }
    assert_string_equal(said, expected);
}

static void a_scenario_is_one_setting_a_line(void **state)
{
    reads("", "");
    reads("algorithm bully", "1:11 algorithm=bully");
    reads("algorithm bully\nnodes 3\n", "1:11 algorithm=bully; 2:7 nodes=3");
    reads("algorithm bully\r\nnodes 3\r\n", "1:11 algorithm=bully; 2:7 nodes=3");
    reads("# a story\n\n  nodes\t 3  \n   # indented\nseed 7 # lucky\n", "3:10 nodes=3; 5:6 seed=7");
    reads("expect leader 5\nexpect no violation", "1:8 expect=leader 5; 2:8 expect=no violation");
    reads("leader\n", "1:7 leader=");
    reads("partition 1|2#3\n", "1:11 partition=1|2#3"); /* no comment: there is no space before it */
    reads("seed 7\t# lucky\n", "1:6 seed=7");
}

static void fails_to_read(const char *text, size_t size, const char *expected)
{
    char whole[256];
    assert_int_equal(read_text(text, size), -1);
    snprintf(whole, sizeof whole, "%s%s", path, expected);
    assert_string_equal(error.text, whole);
}

static void an_unknown_word_is_named_with_its_place(void **state)
{
    const char text[] = "nodes 3\n  nodez 3\n";
    fails_to_read(
        text, strlen(text),
        ":2:3: unknown word 'nodez'; a line is one of the options of `elector sim --help` and its value");
}

static void a_file_that_is_not_text_is_refused(void **state)
{
    fails_to_read("nodes 3\nseed\0 1\n", 16, ":2:5: this is not text; a scenario is a text file");
    fails_to_read("nodes \x7F\n", 8, ":1:7: this is not text; a scenario is a text file");
    fails_to_read("nodes 3\n\x1B[1m", 12, ":2:1: this is not text; a scenario is a text file");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    const size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '\n', size);
    fails_to_read(text, size, ": larger than a scenario may be (1 MiB)");
    free(text);
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    clear();
    assert_int_equal(sim_settings_read(&settings, "no/such/file", &error), -1);
    assert_string_equal(error.text, "no/such/file: cannot read it: No such file or directory");
    clear();
    assert_int_equal(sim_settings_read(&settings, ".", &error), -1);
    assert_non_null(strstr(error.text, ".: cannot read it: "));
}

/* ---- Words for people ---- */

static void every_key_says_what_it_takes(void **state)
{
    size_t count = 0;
    const struct sim_key *keys = sim_keys(&count);
    assert_int_equal(count, 25);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(keys[i].argument);
        assert_true(strlen(keys[i].help) > 0);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(keys[i].name, keys[k].name);
    }
}

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

static void many_settings_fit(void **state)
{
    clear();
    for (int i = 0; i < 100; i++) assert_true(sim_settings_add(&settings, "seed", "1", 0, 0));
    assert_int_equal(settings.count, 100);
}

static int finish(void **state)
{
    clear();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_do_not_overflow),
        cmocka_unit_test(a_chance_is_a_fraction_or_a_percentage),
        cmocka_unit_test(a_time_is_in_units_or_real),
        cmocka_unit_test(in_a_range_one_unit_stands_for_both),
        cmocka_unit_test(clock_rates_are_in_millionths),
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
        cmocka_unit_test(commands_stand_in_order_of_time),
        cmocka_unit_test(a_break_knows_its_sides),
        cmocka_unit_test(expectations_are_read),
        cmocka_unit_test(what_is_wrong_is_said_with_what_to_do),
        cmocka_unit_test(an_error_in_a_file_names_line_and_column),
        cmocka_unit_test(sides_are_counted),
        cmocka_unit_test(words_that_are_too_long_are_cut_short_in_errors),
        cmocka_unit_test(a_scenario_is_one_setting_a_line),
        cmocka_unit_test(an_unknown_word_is_named_with_its_place),
        cmocka_unit_test(a_file_that_is_not_text_is_refused),
        cmocka_unit_test(a_file_that_is_too_large_is_refused),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error),
        cmocka_unit_test(every_key_says_what_it_takes),
        cmocka_unit_test(times_are_shown_in_units_or_milliseconds),
        cmocka_unit_test(many_settings_fit),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
