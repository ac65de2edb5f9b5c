/* What an order of deliveries that stands for all others must not leave out. */
#include "lib/sim/checked_toy.h"

static void send_around(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, cfg->self % cfg->cluster->count + 1, LETTER, 3);
}

static void pass_on(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    ((struct toy *)state)->count++;
    if (m->epoch > 0) post(out, cfg, cfg->self % cfg->cluster->count + 1, LETTER, m->epoch - 1);
}

static int bring_a_ring(void **state)
{
    bring_a_new_toy(state);
    toy.ring = true;
    toy.needs = EL_NEEDS_FIFO;
    toy.on_campaign = send_around;
    toy.on_message = pass_on;
    cluster.count = 3;
    question.initiators = 7;
    return 0;
}

/* ---- Draws ---- */

static void draw(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct toy *me = state;
    if (cfg->self == 2 && m->kind == LETTER)
        act(out, EL_CHOOSE)->n = 2;
    else if (m->epoch == 1)
        me->leads = 1;
    if (cfg->self == 1 && me->leads) post(out, cfg, 2, ANSWER, 1);
}

static void send_what_was_drawn(void *state, const struct el_config *cfg, uint32_t chosen,
                                struct el_outbox *out)
{
    post(out, cfg, 1, LETTER, chosen);
}

static void takes_every_draw(void **state)
{
    cluster.count = 2;
    question.initiators = 1;
    toy.on_message = draw;
    toy.on_chosen = send_what_was_drawn;
    breaks(CHECK_ONE_LEADER, 4);
}

/* ---- Bounds ---- */

static uint64_t worlds(bool reduced)
{
    question.reduce = reduced;
    holds(CHECK_ONE_LEADER);
    return result.states;
}

static void leaves_out_orders_where_nothing_bounds_them(void **state)
{
    assert_true(worlds(true) < worlds(false));
}

static void takes_every_order_that_a_bound_on_moves_tells_apart(void **state)
{
    question.depth = 6;
    assert_int_equal(worlds(true), worlds(false));
}

static void takes_every_order_that_a_bound_on_messages_tells_apart(void **state)
{
    question.flight = 1;
    assert_int_equal(worlds(true), worlds(false));
}

static void takes_every_order_that_lets_a_message_be_late(void **state)
{
    question.time = CHECK_TICKS;
    question.late = 1;
    assert_int_equal(worlds(true), worlds(false));
}

/* ---- Two ways in ---- */

/* The first writes to both its neighbours, and the third passes it on to the second. */
static void write_to_both(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1);
    post(out, cfg, 3, LETTER, 1);
}

static void lead_if_the_long_way_was_shorter(void *state, const struct el_config *cfg, const struct el_msg *m,
                                             struct el_outbox *out)
{
    struct toy *me = state;
    me->count = me->count * 4 + m->from;
    if (cfg->self == 3 && m->from == 1) post(out, cfg, 2, LETTER, 1);
    if (cfg->self == 3 && m->from == 2) me->leads = 1;
    if (cfg->self != 2 || me->count != 3 * 4 + 1) return;
    me->leads = 1;
    post(out, cfg, 3, LETTER, 1);
}

static void hears_two_neighbours_in_either_order(void **state)
{
    question.initiators = 1;
    toy.on_campaign = write_to_both;
    toy.on_message = lead_if_the_long_way_was_shorter;
    breaks(CHECK_ONE_LEADER, 5);
}

#define on_the_ring(test) cmocka_unit_test_setup_teardown(test, bring_a_ring, put_the_toy_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_the_ring(takes_every_draw),
        on_the_ring(leaves_out_orders_where_nothing_bounds_them),
        on_the_ring(takes_every_order_that_a_bound_on_moves_tells_apart),
        on_the_ring(takes_every_order_that_a_bound_on_messages_tells_apart),
        on_the_ring(takes_every_order_that_lets_a_message_be_late),
        on_the_ring(hears_two_neighbours_in_either_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
