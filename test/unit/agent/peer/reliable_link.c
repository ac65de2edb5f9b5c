/* A link that keeps order and loses nothing, over a network that does neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/peer/reliable_link.h"

enum { MILLISECOND = 1000000, UNDER_WAY_MAX = 8192, MANY = 2000 };
static const uint64_t PATIENCE = UINT64_C(300) * MILLISECOND;

struct end {
    struct reliable_link link;
    struct reliable_link_hooks hooks;
    uint64_t heard[2 * MANY];
    unsigned heard_count, failed_count;
};

static struct {
    el_node to;
    struct payload_entry entry;
} under_way[UNDER_WAY_MAX];
static unsigned under_way_count;
static struct end ends[3];
static uint64_t now, seed, loss; /* of a hundred */

static uint64_t draw(void *context)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 11;
}

static void sends(void *context, el_node to, struct payload_entry *entry)
{
    const unsigned copies = draw(NULL) % 100 < loss ? 0 : draw(NULL) % 10 == 0 ? 2 : 1;
    for (unsigned i = 0; i < copies && under_way_count < UNDER_WAY_MAX; i++) {
        under_way[under_way_count].to = to;
        under_way[under_way_count++].entry = *entry;
    }
}

static void delivers(void *context, const struct el_msg *msg)
{
    struct end *end = context;
    assert_true(end->heard_count < 2 * MANY);
    end->heard[end->heard_count++] = msg->epoch;
}

static void fails(void *context, const struct el_msg *msg)
{
    ((struct end *)context)->failed_count++;
}

static void begin(el_node which)
{
    struct end *end = &ends[which];
    memset(end, 0, sizeof *end);
    end->hooks = (struct reliable_link_hooks){end, sends, delivers, fails, draw};
    reliable_link_init(&end->link, 3 - which, &end->hooks);
}

static void open_both(uint64_t lost)
{
    now = 1;
    seed = 7;
    loss = lost;
    under_way_count = 0;
    begin(1);
    begin(2);
}

/* One of those under way arrives, whichever. */
static void deliver_one(void)
{
    if (under_way_count == 0) return;
    const unsigned which = (unsigned)(draw(NULL) % under_way_count);
    const struct payload_entry entry = under_way[which].entry;
    struct end *end = &ends[under_way[which].to];
    under_way[which] = under_way[--under_way_count];
    reliable_link_receive(&end->link, &end->hooks, now, &entry);
}

static void run(unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        now += MILLISECOND / 4;
        for (unsigned j = 0; j < 4; j++) deliver_one();
        for (el_node which = 1; which <= 2; which++)
            (void)reliable_link_tick(&ends[which].link, &ends[which].hooks, now, PATIENCE);
    }
}

static void keeps_order_and_loses_nothing(void **state)
{
    for (uint64_t lost = 0; lost <= 40; lost += 20) {
        open_both(lost);
        for (uint64_t i = 1; i <= MANY;) {
            const struct el_msg msg = {.kind = 1, .epoch = i};
            if (ends[1].link.count < LINK_WAITING_MAX) {
                reliable_link_send(&ends[1].link, &ends[1].hooks, now, &msg);
                i++;
            }
            run(1);
        }
        run(20000);
        if (ends[1].failed_count) continue; /* forty of a hundred, for too long: it says so */
        assert_int_equal(ends[2].heard_count, MANY);
        for (uint64_t i = 0; i < MANY; i++) assert_int_equal(ends[2].heard[i], i + 1);
    }
    assert_int_equal(ends[2].heard_count + ends[1].failed_count >= MANY, 1);
}

static void who_never_answers_has_failed(void **state)
{
    open_both(100);
    for (uint64_t i = 1; i <= 5; i++)
        reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1, .epoch = i});
    run(2000);
    assert_int_equal(ends[1].failed_count, 5);
    loss = 0;
    reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1, .epoch = 6});
    run(100);
    assert_int_equal(ends[2].heard_count, 1); /* what failed is not delivered after all */
    assert_int_equal(ends[2].heard[0], 6);
}

static void goes_on_with_one_that_was_started_again(void **state)
{
    open_both(0);
    for (uint64_t i = 1; i <= 3; i++)
        reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1, .epoch = i});
    run(100);
    assert_int_equal(ends[2].heard_count, 3);
    begin(2);
    reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1, .epoch = 4});
    run(400);
    assert_int_equal(ends[2].heard_count, 1);
    assert_int_equal(ends[2].heard[0], 4);
    begin(1);
    reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1, .epoch = 5});
    run(400);
    assert_int_equal(ends[2].heard_count, 2);
    assert_int_equal(ends[2].heard[1], 5);
}

static void too_many_fail_together(void **state)
{
    open_both(100);
    for (unsigned i = 0; i < LINK_WAITING_MAX; i++)
        reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1});
    reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1});
    assert_int_equal(ends[1].failed_count, 0); /* not from within the step that sends */
    (void)reliable_link_tick(&ends[1].link, &ends[1].hooks, now + PATIENCE / 2, PATIENCE);
    assert_int_equal(ends[1].failed_count, LINK_WAITING_MAX);
    assert_int_equal(ends[1].link.count, 0);
}

static void rests_when_nothing_waits(void **state)
{
    open_both(0);
    assert_int_equal(reliable_link_tick(&ends[1].link, &ends[1].hooks, now, PATIENCE), UINT64_MAX);
    reliable_link_send(&ends[1].link, &ends[1].hooks, now, &(struct el_msg){.kind = 1});
    assert_true(reliable_link_tick(&ends[1].link, &ends[1].hooks, now, PATIENCE) < UINT64_MAX);
    run(100);
    assert_int_equal(reliable_link_tick(&ends[1].link, &ends[1].hooks, now, PATIENCE), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_and_loses_nothing),
        cmocka_unit_test(who_never_answers_has_failed),
        cmocka_unit_test(goes_on_with_one_that_was_started_again),
        cmocka_unit_test(too_many_fail_together),
        cmocka_unit_test(rests_when_nothing_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
