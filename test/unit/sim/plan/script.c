/* Reading a script: what a step may say, how it is kept, and what is refused. How it is played: unit/sim/world/scripted.c. */
#include "lib/sim/typed.h"

#include "elector/core.h"

#define SCRIPT "bully; ids 7,5,9; script steps; step "
#define RING "chang-roberts; nodes 3; script steps; step "

static const struct sim_step *last(void)
{
    assert_true(plan.step_count > 0);
    return &plan.steps[plan.step_count - 1];
}

/* ---- What a step may say ---- */

static void steps_are_kept_in_order(void **state)
{
    planned("bully; nodes 3; script steps; step campaign 1; step deliver 1>2 Election; step fire 2 answers");
    assert_int_equal(plan.script, SIM_BY_STEPS);
    assert_int_equal(plan.step_count, 3);
    assert_int_equal(plan.steps[0].type, SIM_STEP_COMMAND);
    assert_int_equal(plan.steps[1].type, SIM_STEP_DELIVER);
    assert_int_equal(plan.steps[2].type, SIM_STEP_FIRE);
    assert_int_equal(plan.command_count, 0); /* nobody calls an election but the script */
    planned("bully; nodes 3; script ticks");
    assert_int_equal(plan.script, SIM_BY_TICKS);
    assert_int_equal(plan.step_count, 0);
}

static void members_are_named_by_their_ids(void **state)
{
    planned(SCRIPT "deliver 9>7 Answer");
    assert_int_equal(last()->from, 3);
    assert_int_equal(last()->to, 1);
    assert_int_equal(last()->kind, 2);
    assert_int_equal(last()->place, 1);
    planned(SCRIPT "lose  9>5  Coordinator \t #12 ");
    assert_int_equal(last()->type, SIM_STEP_LOSE);
    assert_int_equal(last()->place, 12);
    planned(SCRIPT "copy 9>5 Answer#3");
    assert_int_equal(last()->type, SIM_STEP_COPY);
    planned(RING "return 3>1 Election");
    assert_int_equal(last()->type, SIM_STEP_RETURN);
}

static void every_command_has_a_word(void **state)
{
    static const struct {
        const char *step;
        enum sim_command_type type;
        el_node node, peer;
    } rows[] = {
        {"campaign 5", SIM_DO_CAMPAIGN, 2, 0},   {"crash 9", SIM_DO_CRASH, 3, 0},
        {"restart 9", SIM_DO_RESTART, 3, 0},     {"pause 7", SIM_DO_PAUSE, 1, 0},
        {"resume 7", SIM_DO_RESUME, 1, 0},       {"suspect 7:9", SIM_DO_SUSPECT, 1, 3},
        {"trust 9:5", SIM_DO_TRUST, 3, 2},       {"resign 5", SIM_DO_RESIGN, 2, 0},
        {"transfer 7 5", SIM_DO_TRANSFER, 1, 2},
    };
    char text[100];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, SCRIPT "%s", rows[i].step);
        planned(text);
        assert_int_equal(last()->type, SIM_STEP_COMMAND);
        assert_int_equal(last()->command.type, rows[i].type);
        assert_int_equal(last()->command.node, rows[i].node);
        assert_int_equal(last()->command.peer, rows[i].peer);
    }
    planned(SCRIPT "restart 9");
    assert_false(last()->command.wiped);
    planned(SCRIPT "restart 9 wiped");
    assert_true(last()->command.wiped);
    planned("raft; nodes 3; script steps; step fact 2:log-index=9");
    assert_int_equal(last()->command.type, SIM_DO_FACT);
    assert_int_equal(last()->command.node, 2);
    assert_int_equal(last()->command.value, 9);
}

static void a_timer_is_named_with_its_slot(void **state)
{
    planned(SCRIPT "fire 5 coordinator");
    assert_int_equal(last()->node, 2);
    assert_int_equal(last()->timer, 1);
    assert_int_equal(last()->slot, 0);
    planned(SCRIPT "fire 5 line free:3"); /* a name of two words */
    assert_int_equal(last()->timer, 2);
    assert_int_equal(last()->slot, 3);
}

static void death_and_choices_stand_before_the_step(void **state)
{
    planned(SCRIPT "campaign 5");
    assert_false(last()->dying);
    assert_int_equal(last()->choice_count, 0);
    planned(SCRIPT "dying=2 campaign 5");
    assert_true(last()->dying);
    assert_int_equal(last()->acts, 2);
    planned(SCRIPT "choosing=2,0,7 dying=0 deliver 7>9 Election");
    assert_true(last()->dying);
    assert_int_equal(last()->acts, 0);
    assert_int_equal(last()->choice_count, 3);
    assert_int_equal(last()->choices[0], 2);
    assert_int_equal(last()->choices[2], 7);
}

static void waiting_is_a_time(void **state)
{
    planned(SCRIPT "wait 3");
    assert_int_equal(last()->wait, 3 * MS);
    planned(SCRIPT "wait 250us");
    assert_int_equal(last()->wait, MS / 4);
}

/* ---- What is refused ---- */

static void a_step_that_says_nothing_clear_is_refused(void **state)
{
    static const struct {
        const char *step, *error;
    } rows[] = {
        {"", "f:4:6: step: a step is campaign, deliver, return, lose, copy, fire, suspect, trust, crash, "},
        {"frob 7", "f:4:6: step: a step is campaign"},
        {"delivers 7>9 Election", "f:4:6: step: a step is campaign"},
        {"campaign", "f:4:14: step: expected the id of a node, not ''"},
        {"campaign 8", "f:4:15: step: no node has the id 8; the ids are 7, 5, 9"},
        {"campaign 18446744073709551616", "f:4:15: step: expected the id"},
        {"campaign 7 9", "f:4:17: step: did not expect '9' here"},
        {"campaign 7@3", "f:4:16: step: did not expect '@3' here"},
        {"deliver 7:9 Election", "f:4:15: step: expected A>B"},
        {"deliver 7>7 Election", "f:4:14: step: the two nodes must differ"},
        {"deliver 7>9", "f:4:17: step: expected a kind of message here"},
        {"deliver 7>9 Elect",
         "f:4:18: step: a message of bully is Election, Answer or Coordinator, not 'Elect'"},
        {"deliver 7>9 Elections", "f:4:18: step: a message of bully is"},
        {"deliver 7>9 Election 2", "f:4:27: step: did not expect '2' here"},
        {"deliver 7>9 Election #", "f:4:27: step: expected #2"},
        {"deliver 7>9 Election #0", "f:4:27: step: expected #2"},
        {"deliver 7>9 Election #99999999999999999999", "f:4:27: step: expected #2"},
        {"return 7>9 Election", "f:4:6: step: bully does not learn of failed hops; use lose instead"},
        {"fire 7", "f:4:12: step: expected a timer's name here"},
        {"fire 7 answer", "f:4:13: step: a timer of bully is answers, coordinator, line free or settled, not"},
        {"fire 7 answers:", "f:4:21: step: expected a slot from 0 to 3"},
        {"fire 7 answers:4", "f:4:21: step: expected a slot from 0 to 3"},
        {"suspect 7>9", "f:4:15: step: expected A:B"},
        {"suspect 7:7", "f:4:14: step: the two nodes must differ"},
        {"restart 7 wipe", "f:4:16: step: did not expect 'wipe' here"},
        {"transfer 7", "f:4:16: step: expected to whom it hands over here"},
        {"transfer 7 7", "f:4:15: step: the two nodes must differ"},
        {"fact 7:weight=3", "f:4:13: step: bully takes no facts"},
        {"wait", "f:4:10: step: expected a time such as"},
        {"wait 0", "f:4:11: step: expected a time above 0"},
        {"wait -3", "f:4:11: step: a time cannot be before 0"},
        {"loop twice", "f:4:11: step: did not expect 'twice' here"},
        {"loop", "f:4:6: step: the loop has no steps in which anything happens"},
        {"dying campaign 7", "f:4:6: step: a step is"},
        {"dying= campaign 7", "f:4:6: step: expected dying=N"},
        {"dying=1", "f:4:13: step: expected the step itself here"},
        {"dying=1 dying=1 campaign 7", "f:4:14: step: a step is"},
        {"choosing= campaign 7", "f:4:15: step: expected choosing=N"},
        {"choosing=1, campaign 7", "f:4:17: step: expected choosing=N"},
        {"choosing=4294967296 campaign 7", "f:4:15: step: expected choosing=N"},
        {"dying=1 crash 7", "f:4:14: step: no node takes a step in 'crash'"},
        {"dying=0 lose 7>9 Election", "f:4:14: step: no node takes a step in 'lose'"},
        {"choosing=1 wait 3", "f:4:17: step: no node takes a step in 'wait'"},
    };
    char text[160];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, SCRIPT "%s", rows[i].step);
        refused(text, "f", rows[i].error);
    }
    refused("chang-roberts; nodes 2; script steps; step fire 1 answers", "f",
            "f:4:6: step: chang-roberts has no timers");
}

static void a_script_has_one_loop_that_goes_somewhere(void **state)
{
    planned(SCRIPT "loop; step campaign 7");
    refused(SCRIPT "loop; step campaign 7; step loop", "f", "f:6:6: step: a run has one loop at most");
    refused(SCRIPT "loop; step wait 3; step wait 1", "f",
            "f:4:6: step: the loop has no steps in which anything happens");
}

static void a_script_says_how_time_passes(void **state)
{
    refused("bully; nodes 3; step campaign 1", "f", "f:3:6: step: a script begins with 'script steps' or");
    refused("bully; nodes 3; script", "f", "f:3:7: script: a script is steps or ticks");
    refused("bully; nodes 3; script step", "f", "f:3:8: script: a script is steps or ticks");
}

static void what_happens_by_itself_has_no_place_beside_steps(void **state)
{
    static const char *const others[] = {
        "initiator 1",  "crash 1@2",   "restart 1@2", "wipe 1@2",      "resign 1@2",        "transfer 1@2",
        "pause 1@2..3", "cut 1>2",     "loss 0.5",    "dup 0.5",       "reorder 0.5",       "delay 2",
        "detect 2",     "miss 1:2",    "disk 3",      "partition 1|2", "false-suspect 1:2", "jump 1@2=+3",
        "seed 3",       "until 3",     "resource 3",  "quality 3",     "settle 3",          "horizon 3",
        "groups 3",     "detector phi"};
    char text[160], expected[80];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, "bully; nodes 3; script steps; %s; step campaign 1", others[i]);
        snprintf(expected, sizeof expected, "--%.*s", (int)strcspn(others[i], " "), others[i]);
        refused(text, NULL, expected);
        assert_non_null(strstr(error.text, "cannot be used in a scripted run"));
    }
    planned("raft; ids 1,2,3; attr 1=4; ordinary 2; leader 3; clock 1=1.01; drift 0.1; bound 2; "
            "set prevote=off; fact 1:log-index=3; script ticks; step campaign 1; expect no violation");
    refused("raft; nodes 3; script steps; fact 1:log-index=3@2", "f",
            "f:4:6: fact: in a scripted run a fact is known from the start");
}

static void a_script_does_not_last_for_ever(void **state)
{
    planned(SCRIPT "wait 8000000s; step wait 1000000s");
    refused(SCRIPT "wait 9000000s; step wait 1000000s", "f",
            "f:5:6: step: the waits add up to more than a hundred days");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_kept_in_order),
        cmocka_unit_test(members_are_named_by_their_ids),
        cmocka_unit_test(every_command_has_a_word),
        cmocka_unit_test(a_timer_is_named_with_its_slot),
        cmocka_unit_test(death_and_choices_stand_before_the_step),
        cmocka_unit_test(waiting_is_a_time),
        cmocka_unit_test(a_step_that_says_nothing_clear_is_refused),
        cmocka_unit_test(a_script_has_one_loop_that_goes_somewhere),
        cmocka_unit_test(a_script_says_how_time_passes),
        cmocka_unit_test(what_happens_by_itself_has_no_place_beside_steps),
        cmocka_unit_test(a_script_does_not_last_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
