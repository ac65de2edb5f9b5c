/*
 * Numbers that rise for ever, and of which only the order matters: worlds that differ in nothing else count as one, and no
 * others do. The toy's node 1 sends letters with rising
 * numbers, for ever, and node 2 keeps the last one.
 */
#include "lib/sim/checked_toy.h"

enum { TICK = 1000000 };

static void numbers(void *state, const struct el_config *cfg, el_number_visit *visit, void *context)
{
    struct toy *me = state;
    (void)cfg;
    visit(context, 1, &me->count);
}

static void numbers_sent(struct el_msg *msg, const struct el_config *cfg, el_number_visit *visit, void *context)
{
    (void)cfg;
    visit(context, 1, &msg->epoch);
}

static void start_to_count(void *state, const struct el_config *cfg, const struct el_start *start,
                           struct el_outbox *out)
{
    (void)state;
    (void)start;
    if (cfg->self == 1) arm(out, TICK);
}

static void send_the_next(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                          struct el_outbox *out)
{
    struct toy *me = state;
    (void)timer;
    (void)slot;
    post(out, cfg, 2, LETTER, ++me->count);
    arm(out, 2 * (el_duration)TICK);
}

/* Takes each but a copy, and leads by a copy. */
static void take_the_next(void *state, const struct el_config *cfg, const struct el_msg *msg,
                          struct el_outbox *out)
{
    struct toy *me = state;
    (void)cfg;
    (void)out;
    if (msg->epoch <= me->count) me->leads = 1;
    me->count = msg->epoch;
}

static int bring_a_toy_that_counts(void **state)
{
    bring_a_new_toy(state);
    toy.beats = true;
    toy.on_start = start_to_count;
    toy.on_timer = send_the_next;
    toy.on_message = take_the_next;
    toy.numbers = numbers;
    toy.numbers_sent = numbers_sent;
    question.time = CHECK_TICKS;
    question.rounds = true;
    question.threads = 1;
    return 0;
}

static void a_search_ends_although_the_numbers_do_not(void **state)
{
    (void)state;
    holds(CHECK_ONE_LEADER);
    assert_true(result.states < 20);
}

static void without_reductions_it_needs_a_horizon(void **state)
{
    (void)state;
    question.reduce = false;
    question.horizon = 20;
    holds(CHECK_ONE_LEADER);
    assert_true(result.states > 20);
}

static void numbers_and_terms(void *state, const struct el_config *cfg, el_number_visit *visit, void *context)
{
    struct toy *me = state;
    numbers(state, cfg, visit, context);
    visit(context, 0, &me->term);
}

static void begin_a_term_with_each(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                                   struct el_outbox *out)
{
    struct toy *me = state;
    send_the_next(state, cfg, timer, slot, out);
    me->term = me->count;
}

/* A world that is cut for its high term must not stand for one with a lower term, which would never be looked at. */
static void with_a_bound_on_terms_numbers_are_themselves(void **state)
{
    (void)state;
    toy.numbers = numbers_and_terms;
    toy.on_timer = begin_a_term_with_each;
    question.terms = 12;
    holds(CHECK_ONE_LEADER);
    assert_true(result.states > 2 * question.terms); /* a letter under way, and none, in each */
}

/* Were all numbers alike, the world with the copy would look like one with the next letter. */
static void lead_by_a_copy(void *state, const struct el_config *cfg, const struct el_msg *msg,
                           struct el_outbox *out)
{
    struct toy *me = state;
    take_the_next(state, cfg, msg, out);
    if (me->leads) me->term = 1;
    if (cfg->self == 2 && me->leads) post(out, cfg, 1, ANSWER, 1);
    if (cfg->self == 1) me->leads = 1;
}

static void sees_a_copy_of_an_old_number(void **state)
{
    (void)state;
    toy.on_message = lead_by_a_copy;
    question.budget[CHECK_DUPLICATE] = 1;
    question.budget[CHECK_DELAY] = 1;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_BROKEN);
}

/* A later letter overtakes one that was late: the order of two numbers in flight matters. */
static void sees_a_number_that_is_overtaken(void **state)
{
    (void)state;
    toy.on_message = lead_by_a_copy;
    question.budget[CHECK_DELAY] = 3;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_BROKEN);
}

#define counting(test) cmocka_unit_test_setup_teardown(test, bring_a_toy_that_counts, put_the_toy_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        counting(a_search_ends_although_the_numbers_do_not),
        counting(without_reductions_it_needs_a_horizon),
        counting(with_a_bound_on_terms_numbers_are_themselves),
        counting(sees_a_copy_of_an_old_number),
        counting(sees_a_number_that_is_overtaken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
