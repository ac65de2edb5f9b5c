/*
 * What the checker must see although the world that shows it looks like one seen before, or never begins a tick.
 */
#include "checked_toy.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_the_toy(sees_a_token_fall_although_the_world_was_innocent_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
