/*
 * What goes wrong on purpose: links that are cut, nodes that stand still, die and come back,
 * and clocks that are fast or slow. The toy notes what its nodes see of it.
 */
#include "lib/sim/toy.h"

/* ---- Breaks ---- */

static void a_cut_goes_one_way(void **state)
{
    errand = write_to_all;
    toys("nodes 2; initiator all; cut 1>2");
    story("1:1 got 7 2");
    assert_int_equal(bench.result->lost, 1);
    sent_in_all(2);
    assert_true(happened(EL_PARTITIONS));
    assert_false(happened(EL_LOSSES));
}

static void a_slow_link_goes_one_way_for_a_time_and_keeps_order(void **state)
{
    errand = write_to_all;
    toys("nodes 2; initiator all; initiator 1@2; initiator 1@6; slow 1>2=4@0..2");
    story("1:1 got 7 2; 5:2 got 7 1; 5:2 got 7 1; 7:2 got 7 1");
    assert_true(happened(EL_LATENESS));
    assert_false(happened(EL_REORDERS));
    toys("nodes 2; initiator all; slow 1>2=4@0..2; bound 5");
    assert_false(happened(EL_LATENESS));
}

static void whoever_is_on_no_side_reaches_everybody(void **state)
{
    errand = write_to_all;
    toys("nodes 3; initiator all; partition 1|3");
    story("1:2 got 7 1; 1:1 got 7 2; 1:3 got 7 2; 1:2 got 7 3");
    assert_int_equal(bench.result->lost, 2);
}

static void what_is_under_way_when_a_link_breaks_still_arrives(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@0,1@2,1@4; partition 1|2@0.5..3");
    story("1:2 got 7 1; 5:2 got 7 1"); /* not the second */
}

static void breaks_may_overlap(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@2,1@4; cut 1>2@0..3; partition 1|2@1..3.5");
    story("5:2 got 7 1");
    toys("nodes 2; initiator 1@2,1@4; cut 1>2@0..3; partition 1|2@1..5");
    story("");
}

/* ---- Standing still ---- */

/* Node 1 writes to 2; node 2 sets an alarm for when the letter comes. */
static void write_or_set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (cfg->self == 1) post(out, cfg, 2, LETTER, 1, 7);
    if (cfg->self == 2) arm(out, FIRST, 0, 10);
}

static void at_one_instant_messages_come_before_timers(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1");
    story("1:2 got 7 1; 1:2 rang 0");
}

static void a_paused_node_reacts_later_and_to_what_is_overdue_first(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1; pause 2@0.5..3");
    story("3:2 rang 0; 3:2 got 7 1");
    assert_true(happened(EL_PAUSES));
}

static void a_timer_that_is_due_when_a_pause_ends_is_not_overdue(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1; pause 2@0.5..1");
    story("1:2 got 7 1; 1:2 rang 0");
}

static void requests_and_suspicions_wait_as_well(void **state)
{
    errand = write_to_two;
    toys("nodes 3; initiator 1@1; pause 1@0..4; crash 3@0; detect 1");
    story("1:2 suspects 3; 4:1 suspects 3; 5:2 got 7 1");
}

static void one_that_dies_while_paused_is_dead(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1; pause 2@0.5..3; crash 2@2");
    story("");
    assert_int_equal(bench.result->to_the_dead, 1);
    toys("nodes 2; initiator 2,1; pause 2@0.5..3; crash 2@2; restart 2@2.5");
    story("2.5:2 started 0; 3:2 got 7 1"); /* awake, but what was put off stays so */
}

/* ---- Clocks ---- */

static void a_fast_clock_makes_timers_short(void **state)
{
    errand = set_an_alarm;
    toys("nodes 3; initiator all; clock 1=2,3=0.5");
    story("2:1 rang 0; 4:2 rang 0; 8:3 rang 0");
    assert_true(happened(EL_CLOCKS));
}

/* ---- Death and return ---- */

static void a_crash_voids_the_timers(void **state)
{
    errand = set_an_alarm;
    toys("nodes 2; initiator 1; crash 1@1; restart 1@2");
    story("2:1 started 0");
    toys("nodes 2; initiator 1,1@2.5; crash 1@1; restart 1@2");
    story("2:1 started 0; 6.5:1 rang 0");
}

static void whoever_comes_back_has_an_empty_memory(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1; crash 2@2; restart 2@3");
    story("1:2 got 7 1; 3:2 started 0"); /* it has forgotten the letter */
    assert_true(happened(EL_CRASHES | EL_RESTARTS));
    assert_true(sim_world_alive(bench.world, 2));
}

static void save(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    act(out, EL_SAVE)->durable = (struct el_durable){.epoch = 41};
    act(out, EL_SAVE)->durable = (struct el_durable){.epoch = 42};
}

static void what_was_saved_last_survives(void **state)
{
    errand = save;
    toys("nodes 2; initiator 2; crash 2@2; restart 2@3; crash 2@4; restart 2@5");
    story("3:2 started 42; 5:2 started 42");
}

static void the_dead_call_no_elections(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@2; crash 1@1");
    story("");
    assert_false(sim_world_alive(bench.world, 1));
    took(0);
}

/* ---- What was once wrong ---- */

static void write_numbered(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, cfg->self, ++me->electing);
}

static void a_pause_keeps_the_order_of_a_link(void **state)
{
    errand = write_numbered;
    toys("nodes 2; initiator 1@0,1@0.5; pause 2@0.9..1.5");
    story("1.5:2 got 1 1; 1.5:2 got 2 1");
}

static void pauses_may_overlap(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@4; pause 2@0..3; pause 2@1..9");
    story("9:2 got 7 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(a_pause_keeps_the_order_of_a_link),
        check(pauses_may_overlap),
        check(a_cut_goes_one_way),
        check(a_slow_link_goes_one_way_for_a_time_and_keeps_order),
        check(whoever_is_on_no_side_reaches_everybody),
        check(what_is_under_way_when_a_link_breaks_still_arrives),
        check(breaks_may_overlap),
        check(at_one_instant_messages_come_before_timers),
        check(a_paused_node_reacts_later_and_to_what_is_overdue_first),
        check(a_timer_that_is_due_when_a_pause_ends_is_not_overdue),
        check(requests_and_suspicions_wait_as_well),
        check(one_that_dies_while_paused_is_dead),
        check(a_fast_clock_makes_timers_short),
        check(a_crash_voids_the_timers),
        check(whoever_comes_back_has_an_empty_memory),
        check(what_was_saved_last_survives),
        check(the_dead_call_no_elections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
