/*
 * The rules of a world, each by a toy of which one knows every world: what a death leaves behind, who comes first, what
 * keeps its order, what goes round for ever. With the rule broken the toy breaks too, or there are other worlds.
 */
#include "lib/sim/checked_toy.h"

enum { TICK = 1000000 };

static void wait_a_tick(void *state, const struct el_config *cfg, const struct el_start *start,
                        struct el_outbox *out)
{
    if (start->how == EL_FRESH) arm(out, TICK);
}

/* ---- Counting ---- */

static void count_to_two(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                         struct el_outbox *out)
{
    if (++((struct toy *)state)->count < 2) arm(out, TICK);
}

static void two_that_count_to_two_make_nine_worlds(void **state)
{
    toy.on_start = wait_a_tick;
    toy.on_timer = count_to_two;
    holds(CHECK_ONE_LEADER);
    assert_int_equal(result.states, 2 + 3 * 3); /* none has started, one has; then each at 0, 1 or 2 */
    assert_int_equal(result.resting, 1);
    assert_int_equal(result.depth, 4);
}

static void each_may_die_once_in_each_of_its_states(void **state)
{
    toy.on_start = wait_a_tick;
    toy.on_timer = count_to_two;
    question.budget[CHECK_CRASH] = 1;
    holds(CHECK_ONE_LEADER);
    assert_int_equal(result.states, 2 + 9 + 2 * 3); /* once all have started; the other counts alone */
    question.budget[CHECK_CRASH] = 2;
    holds(CHECK_ONE_LEADER);
    assert_int_equal(result.states, 2 + 9 + 2 * 3 + 1);
}

/* ---- Dying in the middle of a step ---- */

static void lead_if_nothing_was_saved(void *state, const struct el_config *cfg, const struct el_start *start,
                                      struct el_outbox *out)
{
    if (start->how == EL_FRESH && cfg->self == 1) arm(out, TICK);
    if (start->how == EL_RESTORED && start->durable.epoch == 0) ((struct toy *)state)->leads = 1;
}

static void speak_then_save_then_speak_twice(void *state, const struct el_config *cfg, uint32_t timer,
                                             uint32_t slot, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1);
    act(out, EL_SAVE)->durable.epoch = 7;
    post(out, cfg, 2, LETTER, 2);
    post(out, cfg, 2, LETTER, 3); /* so that it can die between the second letter and the end */
}

static uint64_t telling; /* the letter that makes its reader lead */
static void lead_by_a_letter(void *state, const struct el_config *cfg, const struct el_msg *msg,
                             struct el_outbox *out)
{
    struct toy *me = state;
    if (msg->epoch == telling) me->leads = 1;
}

static int bring_a_toy_that_saves(void **state)
{
    bring_a_new_toy(state);
    toy.on_start = lead_if_nothing_was_saved;
    toy.on_timer = speak_then_save_then_speak_twice;
    toy.on_message = lead_by_a_letter;
    question.budget[CHECK_CRASH] = question.budget[CHECK_RESTART] = 1;
    return 0;
}

static void what_comes_after_a_save_leaves_after_it(void **state)
{
    telling = 2;
    holds(CHECK_ONE_LEADER);
    question.reduce = false;
    holds(CHECK_ONE_LEADER);
}

static void what_comes_before_a_save_may_be_all_that_was_done(void **state)
{
    telling = 1;
    breaks(CHECK_ONE_LEADER, 3); /* dies after one of four, comes back, and its letter is read */
    assert_int_equal(result.path.moves[2].dying, 1);
}

static void also_where_letters_are_read_any_number_of_times(void **state)
{
    question.budget[CHECK_LOSE] = question.budget[CHECK_DUPLICATE] = CHECK_ANY;
    telling = 2;
    holds(CHECK_ONE_LEADER);
    telling = 1;
    breaks(CHECK_ONE_LEADER, 3);
}

/* ---- Who comes first ---- */

static void arm_by_name(void *state, const struct el_config *cfg, const struct el_start *start,
                        struct el_outbox *out)
{
    arm(out, (el_duration)cfg->self * TICK);
}

/* 2 leads and says so at the second tick; 1 leads if it hears that before its own alarm of the first. */
static void ring(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot, struct el_outbox *out)
{
    struct toy *me = state;
    me->count = 1;
    if (cfg->self == 1) return;
    me->leads = 1;
    post(out, cfg, 1, LETTER, 1);
}

static void lead_if_it_comes_too_early(void *state, const struct el_config *cfg, const struct el_msg *msg,
                                       struct el_outbox *out)
{
    struct toy *me = state;
    if (me->count == 0) me->leads = 1;
}

static void what_is_overdue_comes_first_after_a_pause(void **state)
{
    toy.on_start = arm_by_name;
    toy.on_timer = ring;
    toy.on_message = lead_if_it_comes_too_early;
    question.time = CHECK_TICKS;
    question.budget[CHECK_PAUSE] = 1;
    holds(CHECK_ONE_LEADER);
    assert_true(result.states > 10);
    question.time = CHECK_FREE; /* where nothing is ever due, so nothing is overdue */
    breaks(CHECK_ONE_LEADER, 2);
}

/* ---- Order ---- */

static void wait_if_first(void *state, const struct el_config *cfg, const struct el_start *start,
                          struct el_outbox *out)
{
    if (cfg->self == 1) arm(out, TICK);
}

static void write_twice_and_lead(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                                 struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1);
    post(out, cfg, 2, LETTER, 2);
    ((struct toy *)state)->leads = 1;
}

static void lead_if_the_second_is_first(void *state, const struct el_config *cfg, const struct el_msg *msg,
                                        struct el_outbox *out)
{
    struct toy *me = state;
    if (me->count == 0 && msg->epoch == 2) me->leads = 1;
    me->count++;
}

static void links_keep_order_where_an_algorithm_needs_it(void **state)
{
    toy.on_start = wait_if_first;
    toy.on_timer = write_twice_and_lead;
    toy.on_message = lead_if_the_second_is_first;
    breaks(CHECK_ONE_LEADER, 2);
    toy.needs = EL_NEEDS_FIFO;
    holds(CHECK_ONE_LEADER);
    question.budget[CHECK_LOSE] = 1; /* with the first one gone the second is first */
    breaks(CHECK_ONE_LEADER, 3);
}

/* ---- For ever ---- */

static void serve(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                  struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1);
}

static void return_it(void *state, const struct el_config *cfg, const struct el_msg *msg, struct el_outbox *out)
{
    post(out, cfg, msg->from, LETTER, 1);
}

static void return_it_twice(void *state, const struct el_config *cfg, const struct el_msg *msg,
                            struct el_outbox *out)
{
    struct toy *me = state;
    if (me->count++ < 2) return_it(state, cfg, msg, out);
}

static void a_ball_that_is_always_returned_never_rests(void **state)
{
    toy.on_start = wait_if_first;
    toy.on_timer = serve;
    toy.on_message = return_it;
    ask(1u << CHECK_RESTS);
    assert_int_equal(result.verdict, CHECK_BROKEN);
    assert_true(result.path.loop < result.path.count);
    assert_int_equal(result.path.count - result.path.loop, 2); /* there and back */
    toy.on_message = return_it_twice;
    holds(CHECK_RESTS);
}

static void a_ball_that_may_be_lost_rests(void **state)
{
    toy.on_start = wait_if_first;
    toy.on_timer = serve;
    toy.on_message = return_it;
    question.budget[CHECK_LOSE] = 1;
    ask(1u << CHECK_RESTS);
    assert_int_equal(result.verdict, CHECK_BROKEN); /* that would be a fault, and none is owed */
}

/* ---- Without a leader ---- */

static void wait_three_ticks(void *state, const struct el_config *cfg, const struct el_start *start,
                             struct el_outbox *out)
{
    if (start->how == EL_FRESH && cfg->self == 1) arm(out, 3 * TICK);
}

static void lead(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot, struct el_outbox *out)
{
    ((struct toy *)state)->leads = 1;
}

static void so_many_ticks_may_pass_without_a_leader(void **state)
{
    toy.on_start = wait_three_ticks;
    toy.on_timer = lead;
    question.time = CHECK_TICKS;
    question.within = 3;
    holds(CHECK_LED);
    question.within = 2;
    breaks(CHECK_LED, 3);
    question.within = 0;
    is_refused(1u << CHECK_LED);
    question.within = 3;
    question.time = CHECK_FREE;
    is_refused(1u << CHECK_LED);
}

static void the_time_of_a_fault_does_not_count(void **state)
{
    toy.on_start = wait_three_ticks;
    toy.on_timer = lead;
    question.time = CHECK_TICKS;
    question.within = 3;
    question.budget[CHECK_PAUSE] = 1; /* however long: it is overdue when it goes on */
    holds(CHECK_LED);
    question.budget[CHECK_CRASH] = 1;
    ask(1u << CHECK_LED); /* the first is dead, and the other does nothing: at rest, with nobody */
    assert_int_equal(result.verdict, CHECK_BROKEN);
}

static void lead_with_its_term(void *state, const struct el_config *cfg, const struct el_start *start,
                               struct el_outbox *out)
{
    struct toy *me = state;
    me->leads = cfg->self == 1;
    me->leader = 1;
    me->term = cfg->self == 1 ? telling : 5; /* the second is the store, whose first key is 5 */
}

static void nobody_leads_before_his_turn(void **state)
{
    toy.on_start = lead_with_its_term;
    toy.store = true;
    telling = 5;
    holds(CHECK_IN_ORDER);
    telling = 7;
    breaks(CHECK_IN_ORDER, 0);
    toy.store = false;
    is_refused(1u << CHECK_IN_ORDER);
}

/* ---- Memory ---- */

static void count_for_ever(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                           struct el_outbox *out)
{
    ((struct toy *)state)->count++;
    arm(out, TICK);
}

static void stops_when_its_memory_is_used_up(void **state)
{
    toy.on_start = wait_a_tick;
    toy.on_timer = count_for_ever;
    question.memory = UINT64_C(16) << 20;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_STOPPED);
    assert_string_not_equal(result.text, "");
    assert_true(result.states > 1000 && result.frontier > 0 && result.depth > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_the_toy(two_that_count_to_two_make_nine_worlds),
        on_the_toy(each_may_die_once_in_each_of_its_states),
        cmocka_unit_test_setup_teardown(what_comes_after_a_save_leaves_after_it, bring_a_toy_that_saves,
                                        put_the_toy_away),
        cmocka_unit_test_setup_teardown(what_comes_before_a_save_may_be_all_that_was_done,
                                        bring_a_toy_that_saves, put_the_toy_away),
        cmocka_unit_test_setup_teardown(also_where_letters_are_read_any_number_of_times, bring_a_toy_that_saves,
                                        put_the_toy_away),
        on_the_toy(what_is_overdue_comes_first_after_a_pause),
        on_the_toy(links_keep_order_where_an_algorithm_needs_it),
        on_the_toy(a_ball_that_is_always_returned_never_rests),
        on_the_toy(a_ball_that_may_be_lost_rests),
        on_the_toy(so_many_ticks_may_pass_without_a_leader),
        on_the_toy(the_time_of_a_fault_does_not_count),
        on_the_toy(nobody_leads_before_his_turn),
        on_the_toy(stops_when_its_memory_is_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
