/*
 * Timers: replaced, disarmed, drawn from a range, moved to another, carried by a message,
 * read as a stopwatch, and carried along when the clock leaps. What other faults do to them is in faults.c.
 */
#include "lib/sim/toy.h"

static void arm_again(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 10);
    arm(out, FIRST, 0, 30); /* replaces it */
    arm(out, FIRST, 1, 20); /* another slot is another timer */
    arm(out, SECOND, 0, 5);
    struct el_action *off = act(out, EL_DISARM);
    off->timer = SECOND;
    off->slot = 0;
    off = act(out, EL_DISARM); /* never armed, no error */
    off->timer = WATCH;
    off->slot = 0;
}

static void timers_are_replaced_and_disarmed(void **state)
{
    errand = arm_again;
    toys("nodes 1; initiator 1");
    story("2:1 rang 0 1; 3:1 rang 0");
    assert_true(bench.result->came_to_rest);
}

static void arm_in_a_range(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (uint32_t slot = 0; slot <= cfg->cluster->count; slot++) {
        arm(out, FIRST, slot, 20);
        out->actions[out->count - 1].max = 4 * T;
    }
}

static void a_range_of_time_is_drawn_from(void **state)
{
    errand = arm_in_a_range;
    toys("nodes 100; initiator 1");
    const struct sim_trace *trace = sim_world_trace(bench.world);
    sim_time first = SIM_NEVER, last = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_NOTED) continue;
        if (r->time < first) first = r->time;
        last = r->time;
    }
    assert_in_range(first, 2 * T, 2 * T + T / 4);
    assert_in_range(last, 4 * T - T / 4, 4 * T);
}

static void move_timers(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    static const struct {
        uint32_t timer, to;
    } moves[] = {{FIRST, SECOND}, {WATCH, FIRST}, {FIRST, WATCH}};
    arm(out, FIRST, 0, 30);
    arm(out, SECOND, 0, 10);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        struct el_action *move = act(out, EL_MOVE);
        move->timer = moves[i].timer;
        move->slot = 0;
        move->to = moves[i].to;
    }
}

static void a_timer_takes_over_what_is_left_of_another(void **state)
{
    errand = move_timers;
    toys("nodes 1; initiator 1");
    story("3:1 rang 1"); /* and moving what is not armed does nothing */
    assert_true(bench.result->came_to_rest);
}

static void move_to_a_new_timer(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 30);
    struct el_action *move = act(out, EL_MOVE);
    move->timer = FIRST;
    move->slot = 0;
    move->to = WATCH;
}

static void a_timer_that_never_was_may_take_over(void **state)
{
    errand = move_to_a_new_timer;
    toys("nodes 1; initiator 1");
    story("3:1 rang 2");
}

/* Each letter carries what is left of the first timer; the addressee has a stopwatch for its sender. */
static void set_two_alarms(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 10);
    arm(out, SECOND, 0, 20);
}

static void move_the_other(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                           struct el_outbox *out)
{
    note(out, RANG, timer, slot);
    if (timer != FIRST) return;
    struct el_action *move = act(out, EL_MOVE);
    move->timer = SECOND;
    move->slot = 0;
    move->to = WATCH;
}

static void one_that_is_overdue_when_it_is_moved_fires_at_once_and_not_in_the_past(void **state)
{
    errand = set_two_alarms;
    toy.on_timer = move_the_other;
    toys("nodes 1; initiator 1@0; pause 1@0.5..5");
    story("5:1 rang 0; 5:1 rang 2");
}

static void write_with_what_is_left(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (cfg->self == 2) {
        arm(out, WATCH, 1, 1);
        return;
    }
    if (me->electing++ == 0) arm(out, FIRST, 0, 40);
    struct el_action *action = post(out, cfg, 2, LETTER, 1, 0);
    action->timer = FIRST;
    action->slot = 0;
}

static void a_message_carries_what_is_left_of_a_timer(void **state)
{
    errand = write_with_what_is_left;
    toy.on_arrival = toy_arrival;
    toys("nodes 2; initiator 1@0,1@1.5,1@4,1@6");
    story("1:2 got 40; 2.5:2 got 25; 4:1 rang 0; 5:2 got 0; 7:2 got 0");
    toys("nodes 2; initiator 1@0,1@1.5; clock 1=2");
    story("1:2 got 40; 2:1 rang 0; 2.5:2 got 10"); /* on its own clock */
}

static void a_stopwatch_counts_past_its_firing(void **state)
{
    errand = write_with_what_is_left;
    toy.on_arrival = toy_arrival;
    toys("nodes 2; initiator 2@0,1@0,1@1.5; clock 2=2");
    story("0.05:2 rang 2 1; 1:2 got 40 20; 2.5:2 got 25 50; 4:1 rang 0");
}

/* ---- Clocks that leap ---- */

static void a_clock_that_leaps_forward_makes_timers_due_sooner(void **state)
{
    errand = set_an_alarm; /* for four delays */
    toys("nodes 2; initiator all; jump 1@1=+2");
    story("2:1 rang 0; 4:2 rang 0");
    assert_true(happened(EL_DRIFTS));
    toys("nodes 1; initiator 1; jump 1@1=+9");
    story("1:1 rang 0"); /* at once, and not before */
    toys("nodes 1; initiator 1; jump 1@5=+9");
    story("4:1 rang 0"); /* and only what is armed */
    assert_true(bench.result->came_to_rest);
}

static void a_clock_that_is_set_back_makes_them_due_later(void **state)
{
    errand = set_an_alarm;
    toys("nodes 1; initiator 1; jump 1@1=-2,1@2=-1");
    story("7:1 rang 0");
    toys("nodes 1; initiator 1; jump 1@1=-2,1@2=+5");
    story("2:1 rang 0");
}

static void a_stopwatch_leaps_along(void **state)
{
    errand = write_with_what_is_left;
    toy.on_arrival = toy_arrival;
    toys("nodes 2; initiator 2@0,1@0,1@4; jump 2@2=+3");
    story("0.1:2 rang 2 1; 1:2 got 40 10; 4:1 rang 0; 5:2 got 0 80");
    toys("nodes 2; initiator 2@0,1@0,1@4; jump 2@2=-3");
    story("0.1:2 rang 2 1; 1:2 got 40 10; 4:1 rang 0; 5:2 got 0 20");
    toys("nodes 2; initiator 2@0,1@0; jump 2@0.5=-3");
    story("0.1:2 rang 2 1; 1:2 got 40; 4:1 rang 0"); /* never less than nothing */
}

static void a_leap_is_measured_on_the_clock_that_leaps(void **state)
{
    errand = set_an_alarm;
    toys("nodes 2; initiator all; clock 1=2,2=0.5; jump 1@1=+1,2@4=+1");
    story("1.5:1 rang 0; 6:2 rang 0");
}

static void the_dead_have_no_clock(void **state)
{
    errand = set_an_alarm;
    toys("nodes 1; initiator 1; crash 1@1; jump 1@2=+2; restart 1@3");
    story("3:1 started 0");
    assert_false(happened(EL_DRIFTS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(timers_are_replaced_and_disarmed),
        check(a_range_of_time_is_drawn_from),
        check(a_timer_takes_over_what_is_left_of_another),
        check(a_timer_that_never_was_may_take_over),
        check(one_that_is_overdue_when_it_is_moved_fires_at_once_and_not_in_the_past),
        check(a_message_carries_what_is_left_of_a_timer),
        check(a_stopwatch_counts_past_its_firing),
        check(a_clock_that_leaps_forward_makes_timers_due_sooner),
        check(a_clock_that_is_set_back_makes_them_due_later),
        check(a_stopwatch_leaps_along),
        check(a_leap_is_measured_on_the_clock_that_leaps),
        check(the_dead_have_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
