/*
 * What the checker must not leave out, or do for ever, or count wrongly, when there is a great deal of something:
 * losses and copies without end, messages beyond a bound, successors of one world, messages, ticks.
 */
#include "lib/sim/checked_toy.h"

/* ---- Any number of losses and copies ---- */

static void lead_and_say_so(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    ((struct toy *)state)->leads = 1;
    post(out, cfg, 2, LETTER, 0);
}

static void follow(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    ((struct toy *)state)->leader = m->from;
}

static void comes_to_rest_among_any_number_of_losses_and_copies(void **state)
{
    toy.on_campaign = lead_and_say_so;
    toy.on_message = follow;
    question.initiators = 1;
    question.budget[CHECK_LOSE] = question.budget[CHECK_DUPLICATE] = CHECK_ANY;
    breaks(CHECK_AGREEMENT, 2);
    holds(CHECK_RESTS);
}

/* ---- More messages than may be under way ---- */

static void lead_and_send_a_dozen(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    ((struct toy *)state)->leads = 1;
    for (uint64_t i = 0; i < 12; i++) post(out, cfg, 2, LETTER, i);
}

static void lead_by_the_last(void *state, const struct el_config *cfg, const struct el_msg *m,
                             struct el_outbox *out)
{
    ((struct toy *)state)->leads = m->epoch == 11;
}

static void sheds_any_number_of_messages(void **state)
{
    toy.on_campaign = lead_and_send_a_dozen;
    toy.on_message = lead_by_the_last;
    question.initiators = 1;
    question.flight = 1;
    breaks(CHECK_ONE_LEADER, 2);
    assert_int_equal(result.path.moves[2].shed_count, 11);
    toy.on_message = NULL;
    holds(CHECK_ONE_LEADER);
    assert_int_equal(result.states, 2 + 1 + 12 + 1); /* each of the twelve alone, and none */
}

/* ---- More successors than the table has room for ---- */

static void send_fifteen(void *state, const struct el_config *cfg, const struct el_start *start,
                         struct el_outbox *out)
{
    for (uint64_t i = 0; i < 15 && cfg->self == 1; i++) post(out, cfg, 2, LETTER, i);
}

static void remember(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    ((struct toy *)state)->count |= UINT64_C(1) << m->epoch;
}

static void makes_room_while_it_looks_at_one_world(void **state)
{
    toy.beats = true;
    toy.on_start = send_fifteen;
    toy.on_message = remember;
    question.time = CHECK_TICKS;
    question.rounds = true;
    question.budget[CHECK_LOSE] = CHECK_ANY;
    holds(CHECK_ONE_LEADER);
    assert_true(result.states > 1 << 15);
}

static void makes_room_for_all_beginnings(void **state)
{
    cluster.count = 9;
    cluster.drift = 100000;
    question.time = CHECK_TICKS;
    question.rates = true;
    holds(CHECK_ONE_LEADER);
    assert_true(result.states > 19683);
}

static void arm_for_a_while(void *state, const struct el_config *cfg, const struct el_start *start,
                            struct el_outbox *out)
{
    arm(out, 2);
}

static void looks_at_one_combination_of_clocks_if_it_is_named(void **state)
{
    enum { COMBINATIONS = 9 };
    uint8_t rate[2];
    uint64_t sum = 0;
    cluster.count = 2;
    cluster.drift = 100000;
    toy.on_start = arm_for_a_while;
    question.time = CHECK_TICKS;
    question.rates = true;
    for (uint32_t i = 0; i < COMBINATIONS; i++) {
        rate[0] = (uint8_t)(i % 3);
        rate[1] = (uint8_t)(i / 3);
        question.rate = rate;
        holds(CHECK_ONE_LEADER);
        sum += result.states;
    }
    question.rate = NULL;
    holds(CHECK_ONE_LEADER);
    assert_int_equal(result.states, sum);
}

/* ---- More than can be numbered ---- */

enum { FORTY = 40, ROUNDS = 1700 };

static void set_out(void *state, const struct el_config *cfg, const struct el_start *start,
                    struct el_outbox *out)
{
    if (cfg->self == 1) arm(out, 1);
}

static void send_forty(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                       struct el_outbox *out)
{
    struct toy *me = state;
    for (uint64_t i = 0; i < FORTY; i++) post(out, cfg, 2, LETTER, me->count * FORTY + i);
    if (++me->count < ROUNDS) arm(out, 1);
}

static bool is_not_the_last(const void *state, const struct el_config *cfg, const struct el_msg *m)
{
    return m->epoch < ROUNDS * FORTY - 1;
}

static void says_when_there_are_too_many_messages_to_number(void **state)
{
    toy.on_start = set_out;
    toy.on_timer = send_forty;
    toy.moot = is_not_the_last;
    question.budget[CHECK_LOSE] = question.budget[CHECK_DUPLICATE] = CHECK_ANY;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_STOPPED);
}

static void arm_for_long(void *state, const struct el_config *cfg, const struct el_start *start,
                         struct el_outbox *out)
{
    arm(out, UINT64_C(70000) * 1000000);
}

static void says_when_there_are_too_many_ticks_to_count(void **state)
{
    toy.on_start = arm_for_long;
    question.time = CHECK_TICKS;
    ask(1u << CHECK_ONE_LEADER);
    assert_int_equal(result.verdict, CHECK_STOPPED);
    assert_non_null(strstr(result.text, "--tick"));
    question.rates = true;
    cluster.drift = 10000;
    question.late = 1000;
    is_refused(1u << CHECK_ONE_LEADER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_the_toy(comes_to_rest_among_any_number_of_losses_and_copies),
        on_the_toy(sheds_any_number_of_messages),
        on_the_toy(makes_room_while_it_looks_at_one_world),
        on_the_toy(makes_room_for_all_beginnings),
        on_the_toy(looks_at_one_combination_of_clocks_if_it_is_named),
        on_the_toy(says_when_there_are_too_many_messages_to_number),
        on_the_toy(says_when_there_are_too_many_ticks_to_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
