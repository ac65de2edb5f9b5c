/*
 * Playing a script: nothing happens but what a step says, and what it says happens; what cannot be is refused. Death
 * in the middle of a step, choices and the end of a run: scripted_ends.c.
 */
#include "lib/sim/scripted.h"

/* ---- Messages ---- */

static void write_three(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (uint64_t i = 1; i <= 3; i++) post(out, cfg, 2, LETTER, cfg->self, i);
}

static void nothing_arrives_by_itself(void **state)
{
    errand = write_to_two;
    staged(TWO "step campaign 1; step wait 100", "");
    assert_false(bench.result->came_to_rest);
    assert_int_equal(bench.result->sent[LETTER], 1);
    staged(TWO "step campaign 1; step deliver 1>2 Letter", "1:2 got 7 1");
    assert_true(bench.result->came_to_rest);
    assert_int_equal(bench.result->delivered, 1);
    assert_true(faults_are(0));
}

static void steps_are_one_delay_apart(void **state)
{
    errand = write_three;
    staged(TWO "step campaign 1; step deliver 1>2 Letter; step wait 3; step deliver 1>2 Letter; "
               "step deliver 1>2 Letter; step campaign 1; step deliver 1>2 Letter; step deliver 1>2 Letter",
           "1:2 got 1 1; 5:2 got 2 1; 6:2 got 3 1; 8:2 got 1 1; 9:2 got 2 1");
}

static void a_message_is_named_by_link_kind_and_age(void **state)
{
    errand = write_three;
    staged(TWO "step campaign 1; step deliver 1>2 Letter; step deliver 1>2 Letter; step deliver 1>2 Letter",
           "1:2 got 1 1; 2:2 got 2 1; 3:2 got 3 1");
    assert_true(faults_are(0));
    staged(TWO "step campaign 1; step deliver 1>2 Letter #3; step deliver 1>2 Letter #2; "
               "step deliver 1>2 Letter #1",
           "1:2 got 3 1; 2:2 got 2 1; 3:2 got 1 1");
    assert_true(faults_are(EL_REORDERS));
}

static void a_lost_message_is_gone(void **state)
{
    errand = write_three;
    staged(TWO "step campaign 1; step lose 1>2 Letter #2; step deliver 1>2 Letter; step deliver 1>2 Letter",
           "2:2 got 1 1; 3:2 got 3 1");
    assert_int_equal(bench.result->lost, 1);
    assert_true(faults_are(EL_LOSSES));
    assert_true(bench.result->came_to_rest);
}

static void a_message_to_the_dead_is_no_loss(void **state)
{
    errand = write_to_two;
    staged(TWO "step campaign 1; step crash 2; step suspect 1:2; step lose 1>2 Letter", "2:1 suspects 2");
    assert_int_equal(bench.result->lost, 0);
    assert_int_equal(bench.result->to_the_dead, 1);
    assert_true(faults_are(EL_CRASHES));
}

static void a_copy_is_in_flight_too(void **state)
{
    errand = write_to_two;
    staged(TWO "step campaign 1; step copy 1>2 Letter; step deliver 1>2 Letter; step deliver 1>2 Letter",
           "2:2 got 7 1; 3:2 got 7 1");
    assert_int_equal(bench.result->copies, 1);
    assert_true(faults_are(EL_DUPLICATES));
    assert_true(bench.result->came_to_rest);
}

static void a_returned_hop_is_told_to_its_sender(void **state)
{
    errand = write_to_two;
    toy.needs = EL_NEEDS_HOP_ACKS;
    staged(TWO "step campaign 1; step crash 2; step return 1>2 Letter", "2:1 unsent 7 2");
    assert_int_equal(bench.result->failed_hops, 1);
    assert_int_equal(bench.result->sent[0], 0);
    assert_true(faults_are(EL_CRASHES | EL_UNNOTICED));
    staged(TWO "step campaign 1; step return 1>2 Letter", "1:1 unsent 7 2"); /* a cut link */
    assert_true(faults_are(EL_PARTITIONS));
    stuck(TWO "step campaign 1; step copy 1>2 Letter; step deliver 1>2 Letter; step return 1>2 Letter",
          "f:6:6: step: this is a copy; only the first message can return");
    stuck(TWO "step campaign 1; step crash 1; step return 1>2 Letter", "f:5:6: step: 1 is dead");
    stuck(TWO "step campaign 1; step crash 1; step restart 1; step return 1>2 Letter",
          "f:6:6: step: 1 has restarted since it sent this");
}

static void a_message_outlives_its_sender_and_waits_for_the_addressee(void **state)
{
    errand = write_to_two;
    staged(TWO "step campaign 1; step crash 1; step crash 2; step restart 2; step deliver 1>2 Letter",
           "3:2 started 0; 4:2 got 7 1");
}

static void only_what_is_in_flight_can_be_delivered(void **state)
{
    errand = write_to_all;
    stuck(THREE "step deliver 1>2 Letter",
          "f:3:6: step: no Letter from 1 to 2 is in flight; in flight: nothing");
    stuck(THREE "step campaign 1; step lose 2>1 Letter",
          "f:4:6: step: no Letter from 2 to 1 is in flight; in flight: 1>2 Letter, 1>3 Letter");
    stuck(THREE "step campaign 1; step copy 1>3 Crown",
          "f:4:6: step: no Crown from 1 to 3 is in flight; in flight: 1>2 Letter, 1>3 Letter");
    stuck(THREE "step campaign 1; step deliver 1>3 Letter #2",
          "f:4:6: step: only 1 Letter from 1 to 3 is in flight");
    stuck(THREE "step campaign 1; step crash 3; step deliver 1>3 Letter",
          "f:5:6: step: 3 is dead: the message can only be lost");
    toy.needs = EL_NEEDS_HOP_ACKS;
    stuck(THREE "step campaign 1; step crash 3; step deliver 1>3 Letter",
          "f:5:6: step: 3 is dead: the message can only be returned or lost");
}

static void a_long_list_of_what_is_in_flight_is_cut_short(void **state)
{
    errand = write_to_all;
    stage("nodes 50; script steps; step campaign 1; step deliver 2>1 Letter");
    const size_t length = strlen(bench.result->error.text);
    assert_in_range(length, 200, 320);
    assert_string_equal(bench.result->error.text + length - 3, "...");
}

/* ---- Timers ---- */

static void set_alarms(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 10);
    arm(out, SECOND, 2, 20);
}

static void a_timer_fires_only_when_it_is_told_to(void **state)
{
    errand = set_alarms;
    staged(TWO "step campaign 1; step wait 100", "");
    assert_false(bench.result->came_to_rest);
    staged(TWO "step campaign 1; step fire 1 second:2; step fire 1 first", "1:1 rang 1 2; 2:1 rang 0");
    assert_true(bench.result->came_to_rest);
    staged("nodes 2; script ticks; step campaign 1; step fire 1 first", "0:1 rang 0"); /* early: as it says */
}

static void only_what_is_armed_can_fire(void **state)
{
    errand = set_alarms;
    stuck(TWO "step fire 1 first", "f:3:6: step: this timer is not armed; armed at 1: none");
    stuck(TWO "step campaign 1; step fire 2 first", "f:4:6: step: this timer is not armed; armed at 2: none");
    stuck(TWO "step campaign 1; step fire 1 second",
          "f:4:6: step: this timer is not armed; armed at 1: second:2, first");
    stuck(TWO "step campaign 1; step fire 1 first; step fire 1 first",
          "f:5:6: step: this timer is not armed; armed at 1: second:2");
    stuck(TWO "step campaign 1; step crash 1; step fire 1 first", "f:5:6: step: 1 is dead");
    stuck(TWO "step campaign 1; step crash 1; step restart 1; step fire 1 first",
          "f:6:6: step: this timer is not armed; armed at 1: none");
}

static void arm_and_tell_what_is_left(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->electing++ == 0) {
        struct el_action *action = act(out, EL_ARM);
        action->timer = FIRST;
        action->min = T;
        action->max = 40 * T;
        return;
    }
    struct el_action *action = post(out, cfg, 2, LETTER, 1, 0);
    action->timer = FIRST;
    action->slot = 0;
}

static void by_ticks_time_is_what_the_script_says(void **state)
{
    errand = arm_and_tell_what_is_left;
    toy.on_arrival = toy_arrival;
    const char *rest =
        "step campaign 1; step wait 3; step campaign 1; step deliver 1>2 Letter; step wait 50ms; "
        "step campaign 1; step deliver 1>2 Letter";
    char text[300];
    snprintf(text, sizeof text, "nodes 2; script ticks; %s", rest);
    staged(text, "3:2 got 370; 53:2 got 0"); /* the longest it may run, less three; then nothing */
    snprintf(text, sizeof text, "nodes 2; clock 1=0.5; script ticks; %s", rest);
    staged(text, "3:2 got 385; 53:2 got 135");
    assert_true(happened(EL_CLOCKS | EL_DRIFTS));
    snprintf(text, sizeof text, "nodes 2; script steps; %s", rest);
    staged(text, "5:2 got 400; 57:2 got 400"); /* where time means nothing, all of it */
}

static void what_takes_too_long_is_late(void **state)
{
    errand = write_to_two;
    staged("nodes 2; script ticks; step campaign 1; step wait 1; step deliver 1>2 Letter", "1:2 got 7 1");
    assert_true(faults_are(0));
    staged("nodes 2; script ticks; step campaign 1; step wait 1.1; step deliver 1>2 Letter", "1.1:2 got 7 1");
    assert_true(faults_are(EL_LATENESS));
    staged("nodes 2; bound 2; script ticks; step campaign 1; step wait 1.1; step deliver 1>2 Letter",
           "1.1:2 got 7 1");
    assert_true(faults_are(0));
    staged("nodes 2; bound 0.5; script ticks; step campaign 1; step deliver 1>2 Letter", "0:2 got 7 1");
    assert_true(faults_are(0));
}

static void what_is_never_delivered_is_late_too(void **state)
{
    errand = write_to_two;
    staged("nodes 2; script ticks; step campaign 1; step wait 1; step wait 0.1", "");
    assert_true(faults_are(EL_LATENESS));
    staged("nodes 2; script ticks; step campaign 1; step crash 2; step wait 5", ""); /* it finds nobody */
    assert_true(faults_are(EL_CRASHES));
}

static void set_a_vague_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    struct el_action *action = act(out, EL_ARM);
    action->timer = FIRST;
    action->min = 4 * T;
    action->max = 9 * T;
}

static void by_ticks_a_timer_that_fires_early_has_a_clock_that_leapt(void **state)
{
    errand = set_a_vague_alarm;
    staged("nodes 2; script ticks; step campaign 1; step wait 3.9; step fire 1 first", "3.9:1 rang 0");
    assert_true(faults_are(EL_DRIFTS));
    staged("nodes 2; script ticks; step campaign 1; step wait 4; step fire 1 first", "4:1 rang 0");
    assert_true(faults_are(0));
    staged("nodes 2; script ticks; step campaign 1; step wait 40; step fire 1 first", "40:1 rang 0");
    assert_true(faults_are(0));
    staged("nodes 2; clock 1=1.6; drift 0.5; script ticks; step campaign 1; step wait 2.5; step fire 1 first",
           "2.5:1 rang 0");
    assert_true(faults_are(EL_CLOCKS | EL_DRIFTS)); /* by its rate alone */
    staged("nodes 2; clock 1=1.25; drift 0.5; script ticks; step campaign 1; step wait 3.2; step fire 1 first",
           "3.2:1 rang 0");
    assert_true(faults_are(EL_CLOCKS));
}

static void write_and_set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    write_to_two(me, cfg, out);
    set_an_alarm(me, cfg, out);
}

static void by_steps_a_message_is_late_if_a_timer_does_not_wait_for_it(void **state)
{
    errand = write_and_set_an_alarm;
    staged(TWO "step campaign 1; step deliver 1>2 Letter; step fire 1 first", "1:2 got 7 1; 2:1 rang 0");
    assert_true(faults_are(0));
    staged(TWO "step campaign 1; step fire 1 first; step deliver 1>2 Letter", "1:1 rang 0; 2:2 got 7 1");
    assert_true(faults_are(EL_LATENESS));
}

/* ---- Suspicion, pauses ---- */

static void nobody_is_told_of_a_death_but_by_the_script(void **state)
{
    staged(THREE "step crash 3", "");
    assert_true(faults_are(EL_CRASHES | EL_UNNOTICED));
    staged(THREE "step crash 3; step suspect 1:3; step suspect 2:3; step restart 3; step trust 2:3",
           "1:1 suspects 3; 2:2 suspects 3; 3:3 started 0; 4:2 trusts 3");
    assert_true(faults_are(EL_CRASHES | EL_RESTARTS));
    staged(THREE "step crash 3; step suspect 1:3; step suspect 2:3", "1:1 suspects 3; 2:2 suspects 3");
    assert_true(faults_are(EL_CRASHES));
    staged(THREE "step suspect 1:3", "0:1 suspects 3");
    assert_true(faults_are(EL_FALSE_SUSPICIONS));
    errand = write_to_two;
    staged(THREE "step campaign 1; step crash 3", ""); /* it may still be noticed */
    assert_true(faults_are(EL_CRASHES));
}

static void suspicion_and_trust_take_turns(void **state)
{
    stuck(TWO "step suspect 1:2; step suspect 1:2", "f:4:6: step: 1 suspects 2 already");
    stuck(TWO "step trust 1:2", "f:3:6: step: 1 does not suspect 2");
    stuck(TWO "step suspect 1:2; step crash 1; step restart 1; step trust 1:2",
          "f:6:6: step: 1 does not suspect 2");
    staged(TWO "step suspect 1:2; step trust 1:2; step suspect 1:2",
           "0:1 suspects 2; 1:1 trusts 2; 2:1 suspects 2");
}

static void whoever_stands_still_does_nothing(void **state)
{
    errand = write_and_set_an_alarm;
    staged(TWO "step campaign 1; step pause 2; step resume 2; step deliver 1>2 Letter", "3:2 got 7 1");
    assert_true(faults_are(EL_PAUSES));
    stuck(TWO "step campaign 1; step pause 2; step deliver 1>2 Letter",
          "f:5:6: step: 2 is paused; resume it first");
    stuck(TWO "step campaign 1; step pause 1; step fire 1 first", "f:5:6: step: 1 is paused; resume it first");
    stuck(TWO "step pause 1; step campaign 1", "f:4:6: step: 1 is paused; resume it first");
    stuck(TWO "step pause 1; step pause 1", "f:4:6: step: 1 is paused; resume it first");
    stuck(TWO "step resume 1", "f:3:6: step: 1 is not paused");
    staged(TWO "step pause 1; step crash 1; step restart 1; step campaign 1; step deliver 1>2 Letter",
           "2:1 started 0; 4:2 got 7 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(nothing_arrives_by_itself),
        check(steps_are_one_delay_apart),
        check(a_message_is_named_by_link_kind_and_age),
        check(a_lost_message_is_gone),
        check(a_message_to_the_dead_is_no_loss),
        check(a_copy_is_in_flight_too),
        check(a_returned_hop_is_told_to_its_sender),
        check(a_message_outlives_its_sender_and_waits_for_the_addressee),
        check(only_what_is_in_flight_can_be_delivered),
        check(a_long_list_of_what_is_in_flight_is_cut_short),
        check(a_timer_fires_only_when_it_is_told_to),
        check(only_what_is_armed_can_fire),
        check(by_ticks_time_is_what_the_script_says),
        check(what_takes_too_long_is_late),
        check(what_is_never_delivered_is_late_too),
        check(by_ticks_a_timer_that_fires_early_has_a_clock_that_leapt),
        check(by_steps_a_message_is_late_if_a_timer_does_not_wait_for_it),
        check(nobody_is_told_of_a_death_but_by_the_script),
        check(suspicion_and_trust_take_turns),
        check(whoever_stands_still_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
