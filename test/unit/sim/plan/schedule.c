/*
 * The story in a plan: what happens when, in order of time,
 * and what is expected to come of it.
 */
#include "lib/sim/typed.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_stand_in_order_of_time),
        cmocka_unit_test(a_break_knows_its_sides),
        cmocka_unit_test(expectations_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
