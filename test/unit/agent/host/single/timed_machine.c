/* A machine with its timers: which fires first, what is left, what is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/host/single/timed_machine.h"

enum { CLAIM, OTHER, TIMERS };

/* Leads until CLAIM has fired; writes down what fires. */
struct toy {
    uint64_t leads, fired_count;
    uint64_t fired[8], slots[8];
    uint64_t chosen;
};

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct toy *me = state;
    me->leads = 1;
    out->actions[out->count++] =
        (struct el_action){.type = EL_ARM, .timer = OTHER, .slot = 2, .min = 10, .max = 10};
    out->actions[out->count++] =
        (struct el_action){.type = EL_ARM, .timer = OTHER, .slot = 1, .min = 5, .max = 15};
    out->actions[out->count++] =
        (struct el_action){.type = EL_ARM, .timer = CLAIM, .slot = 0, .min = 20, .max = 20};
    out->actions[out->count++] = (struct el_action){.type = EL_CHOOSE, .n = 10};
}

static void on_chosen(void *state, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out)
{
    ((struct toy *)state)->chosen = 1 + chosen;
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct toy *me = state;
    me->fired[me->fired_count] = timer;
    me->slots[me->fired_count++] = slot;
    if (timer == CLAIM) me->leads = 0;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct toy *me = state;
    v->role = me->leads ? EL_LEADER : EL_IDLE;
    v->leader = me->leads ? cfg->self : EL_NOBODY;
    v->timer = me->leads ? CLAIM : EL_NO_TIMER;
}

static const char *const timers[] = {"claim", "other"};
static const struct el_algorithm algorithm = {.name = "toy",
                                              EL_TIMERS(timers),
                                              .state_bytes = sizeof(struct toy),
                                              .outbox_fixed = 8,
                                              .on_start = on_start,
                                              .on_chosen = on_chosen,
                                              .on_timer = on_timer,
                                              .view = view};
static const struct el_cluster cluster = {.count = 3};
static uint64_t now, drawn;

static uint64_t tell_now(void *context)
{
    return now;
}

static uint64_t draw(void *context)
{
    return drawn;
}

static void act(void *context, struct timed_machine *m, const struct el_action *action)
{
}

static struct toy *begin(struct timed_machine *m, uint64_t random)
{
    now = 100;
    drawn = random;
    assert_true(timed_machine_init(m, &algorithm, &cluster, 1,
                                   (struct timed_machine_owner){NULL, tell_now, draw, act}));
    timed_machine_step(m, &(struct el_event){.type = EL_START});
    return m->state;
}

static void fires_in_order_when_nothing_is_late(void **state)
{
    struct timed_machine m;
    struct toy *toy = begin(&m, 1); /* slot 1 of OTHER is due after 6 */
    assert_int_equal(m.next_due, 106);
    assert_false(timed_machine_fire(&m, 105));
    assert_true(timed_machine_fire(&m, 106));
    assert_false(timed_machine_fire(&m, 109));
    assert_true(timed_machine_fire(&m, 110));
    assert_int_equal(m.next_due, 120);
    assert_true(timed_machine_fire(&m, 120));
    assert_false(timed_machine_fire(&m, 1000));
    assert_int_equal(m.next_due, UINT64_MAX);
    assert_int_equal(toy->fired_count, 3);
    assert_int_equal(toy->slots[0], 1);
    assert_int_equal(toy->slots[1], 2);
    assert_int_equal(toy->fired[2], CLAIM);
    timed_machine_free(&m);
}

/* After a pause all are overdue: nothing may renew a claim that is over. */
static void what_bounds_a_claim_comes_before_all_that_is_overdue(void **state)
{
    struct timed_machine m;
    struct toy *toy = begin(&m, 1);
    now = 5000;
    while (timed_machine_fire(&m, now)) {}
    assert_int_equal(toy->fired_count, 3);
    assert_int_equal(toy->fired[0], CLAIM);
    assert_int_equal(toy->slots[1], 1);
    assert_int_equal(toy->slots[2], 2);
    timed_machine_free(&m);
}

static void a_claim_is_bounded_by_its_timer(void **state)
{
    struct timed_machine m;
    uint64_t bound = 0;
    begin(&m, 0);
    assert_int_equal(timed_machine_view(&m, &bound).role, EL_LEADER);
    assert_int_equal(bound, 120);
    assert_int_equal(timed_machine_left(&m, CLAIM, 0, 110), 10);
    assert_int_equal(timed_machine_left(&m, CLAIM, 0, 120), 0);
    assert_int_equal(timed_machine_left(&m, OTHER, 3, 110), 0); /* never armed */
    now = 5000;
    assert_true(timed_machine_fire(&m, now));
    assert_int_equal(timed_machine_view(&m, &bound).role, EL_IDLE);
    assert_int_equal(bound, UINT64_MAX);
    timed_machine_free(&m);
}

static void what_is_drawn_stays_in_its_range(void **state)
{
    for (uint64_t random = 0; random < 50; random++) {
        struct timed_machine m;
        const struct toy *toy = begin(&m, random);
        const uint64_t left = timed_machine_left(&m, OTHER, 1, 100);
        assert_true(left >= 5 && left <= 15);
        assert_true(toy->chosen >= 1 && toy->chosen <= 10);
        timed_machine_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_in_order_when_nothing_is_late),
        cmocka_unit_test(what_bounds_a_claim_comes_before_all_that_is_overdue),
        cmocka_unit_test(a_claim_is_bounded_by_its_timer),
        cmocka_unit_test(what_is_drawn_stays_in_its_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
