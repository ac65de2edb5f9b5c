/*
 * What the checker must see although the world that shows it looks like one seen before, or never begins a tick.
 */
#include "lib/sim/checked_toy.h"

static void start_with_an_alarm(void *state, const struct el_config *cfg, const struct el_start *start,
                                struct el_outbox *out)
{
    arm(out, 1000000);
}

/* ---- Tokens ---- */

static void lead_and_rest_by_turns(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                                   struct el_outbox *out)
{
    struct toy *me = state;
    me->leads = !me->leads;
    me->term = me->leads;
    arm(out, 1000000);
}

static void sees_a_token_fall_although_the_world_was_innocent_before(void **state)
{
    cluster.count = 1;
    toy.on_start = start_with_an_alarm;
    toy.on_timer = lead_and_rest_by_turns;
    breaks(CHECK_TOKENS_RISE, 3);
}

/* ---- Rounds ---- */

static void arm_once(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    if (start->how == EL_FRESH) arm(out, 1000000);
    ((struct toy *)state)->leads = start->how != EL_FRESH && start->durable.epoch == 7;
}

static void save_twice(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                       struct el_outbox *out)
{
    act(out, EL_SAVE)->durable.epoch = 7;
    act(out, EL_SAVE)->durable.epoch = 8;
}

static int bring_a_toy_for_rounds(void **state)
{
    bring_a_new_toy(state);
    toy.beats = true;
    toy.on_start = arm_once;
    toy.on_timer = save_twice;
    question.time = CHECK_TICKS;
    question.rounds = true;
    return 0;
}

static void comes_to_rest_in_rounds_although_no_tick_follows(void **state)
{
    breaks(CHECK_AGREEMENT, 3);
    holds(CHECK_RESTS);
}

/* All die in the middle of their steps: no tick begins after that, and yet they come back. */
static void comes_back_in_rounds_although_all_are_dead(void **state)
{
    question.budget[CHECK_CRASH] = question.budget[CHECK_RESTART] = 2;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_BROKEN);
}

static void refuses_rounds_in_which_somebody_would_have_to_call(void **state)
{
    question.initiators = 1;
    is_refused(1u << CHECK_ONE_LEADER);
}

/* ---- What is called moot ---- */

static void write_to_the_second(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    ((struct toy *)state)->leads = 1;
    post(out, cfg, 2, LETTER, 0);
}

static void lead_after_all(void *state, const struct el_config *cfg, const struct el_msg *m,
                           struct el_outbox *out)
{
    ((struct toy *)state)->leads = 1;
}

static bool call_it_moot(const void *state, const struct el_config *cfg, const struct el_msg *m)
{
    return true;
}

static void does_not_take_an_algorithms_word_for_what_is_moot(void **state)
{
    toy.on_campaign = write_to_the_second;
    toy.moot = call_it_moot;
    question.initiators = 1;
    holds(CHECK_ONE_LEADER);
    toy.on_message = lead_after_all;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_STOPPED);
    question.reduce = false;
    breaks(CHECK_ONE_LEADER, 2);
}

static void refuses_wipes_without_end_where_the_time_of_day_is_told(void **state)
{
    static const char *const facts[] = {"wall-clock"};
    question.budget[CHECK_WIPE] = 1;
    holds(CHECK_ONE_LEADER);
    toy.facts = facts;
    toy.fact_count = 1;
    question.budget[CHECK_WIPE] = CHECK_ANY; /* the clock counts them */
    is_refused(1u << CHECK_ONE_LEADER);
}

#define in_rounds(test) cmocka_unit_test_setup_teardown(test, bring_a_toy_for_rounds, put_the_toy_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_the_toy(sees_a_token_fall_although_the_world_was_innocent_before),
        on_the_toy(does_not_take_an_algorithms_word_for_what_is_moot),
        on_the_toy(refuses_wipes_without_end_where_the_time_of_day_is_told),
        in_rounds(comes_to_rest_in_rounds_although_no_tick_follows),
        in_rounds(comes_back_in_rounds_although_all_are_dead),
        in_rounds(refuses_rounds_in_which_somebody_would_have_to_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
