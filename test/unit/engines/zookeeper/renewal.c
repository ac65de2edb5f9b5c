/* Which answered writes prove that the session lives. Times are in ms, as if they were ns. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "engines/zookeeper/renewal.h"

enum { GAP = 80, NEVER = 0 };

static struct renewal begin(void)
{
    struct renewal r;
    renewal_init(&r, GAP);
    (void)renewal_connected(&r);
    return r;
}

/* Sends the write that is due, and has it answered after `ms`. */
static uint64_t write_at(struct renewal *r, uint64_t now, uint64_t ms)
{
    assert_true(renewal_due(r) <= now);
    renewal_sent(r, now);
    assert_int_equal(renewal_due(r), UINT64_MAX); /* one at a time */
    return renewal_answered(r, now + ms);
}

static void one_answered_write_proves_nothing(void **state)
{
    struct renewal r = begin();
    (void)renewal_ask(&r);
    assert_int_equal(write_at(&r, 1000, 5), NEVER);
}

static void a_second_write_half_a_tick_later_proves_the_first(void **state)
{
    struct renewal r = begin();
    const uint64_t number = renewal_ask(&r);
    (void)write_at(&r, 1000, 5);
    assert_int_equal(renewal_due(&r), 1005 + GAP);
    assert_true(write_at(&r, 1005 + GAP, 5) >= number);
    assert_int_equal(renewal_due(&r), UINT64_MAX); /* and nobody wants more */
}

static void a_second_write_too_early_proves_nothing(void **state)
{
    struct renewal r = begin();
    (void)renewal_ask(&r);
    (void)write_at(&r, 1000, 5);
    (void)renewal_ask(&r); /* somebody else makes a write due before */
    assert_int_equal(write_at(&r, 1005 + GAP - 1, 5), NEVER);
}

static void the_gap_counts_from_the_answer_of_the_first(void **state)
{
    struct renewal r = begin();
    const uint64_t number = renewal_ask(&r);
    (void)write_at(&r, 1000, 500);
    assert_int_equal(renewal_due(&r), 1500 + GAP);
    assert_true(write_at(&r, 1500 + GAP, 500) >= number);
}

static void who_asks_after_the_sending_waits_for_the_next_write(void **state)
{
    struct renewal r = begin();
    const uint64_t first = renewal_ask(&r);
    renewal_sent(&r, 1000);
    const uint64_t second = renewal_ask(&r);
    assert_true(second > first);
    (void)renewal_answered(&r, 1005);
    (void)write_at(&r, 1020, 5); /* the second one's first */
    const uint64_t proved = write_at(&r, 1005 + GAP, 5);
    assert_true(proved >= first && proved < second);
    assert_true(write_at(&r, 1025 + GAP, 5) >= second);
}

static void writes_keep_their_distance(void **state)
{
    struct renewal r = begin();
    (void)renewal_ask(&r);
    (void)write_at(&r, 1000, 1);
    (void)renewal_ask(&r);
    assert_int_equal(renewal_due(&r), 1000 + GAP / 8);
}

static void a_broken_connection_takes_its_first_writes_with_it(void **state)
{
    struct renewal r = begin();
    const uint64_t number = renewal_ask(&r);
    (void)write_at(&r, 1000, 5);
    renewal_broken(&r);
    assert_int_equal(renewal_due(&r), UINT64_MAX);
    assert_true(renewal_connected(&r) >= number); /* the leader was asked whether the session lives */
    const uint64_t next = renewal_ask(&r);
    assert_true(next > number);
    assert_int_equal(write_at(&r, 1005 + GAP, 5), NEVER); /* a first write, on another connection */
}

static void who_asks_while_away_is_not_proved_by_the_connection(void **state)
{
    struct renewal r = begin();
    renewal_broken(&r);
    const uint64_t number = renewal_ask(&r);
    assert_true(renewal_connected(&r) < number);
    (void)write_at(&r, 1000, 5);
    assert_true(write_at(&r, 1005 + GAP, 5) >= number);
}

static void an_answer_to_a_write_of_before_is_ignored(void **state)
{
    struct renewal r = begin();
    (void)renewal_ask(&r);
    renewal_sent(&r, 1000);
    renewal_broken(&r);
    assert_int_equal(renewal_answered(&r, 1005), NEVER);
    assert_int_equal(r.open_count, 0);
}

static void as_many_as_there_is_room_for_are_open(void **state)
{
    struct renewal r = begin();
    uint64_t now = 1000;
    r.gap_ns = 1000000;
    for (uint32_t i = 0; i < RENEWAL_OPEN_MAX; i++, now += GAP) {
        (void)renewal_ask(&r);
        (void)write_at(&r, now, 1);
    }
    const uint64_t number = renewal_ask(&r);
    assert_true(renewal_due(&r) > now + GAP); /* no more, until some are proved */
    now = r.open[0].answered_at + r.gap_ns;
    assert_true(write_at(&r, now, 1) < number);
    now = r.open[r.open_count - 1].answered_at + r.gap_ns;
    assert_true(write_at(&r, now, 1) >= number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_answered_write_proves_nothing),
        cmocka_unit_test(a_second_write_half_a_tick_later_proves_the_first),
        cmocka_unit_test(a_second_write_too_early_proves_nothing),
        cmocka_unit_test(the_gap_counts_from_the_answer_of_the_first),
        cmocka_unit_test(who_asks_after_the_sending_waits_for_the_next_write),
        cmocka_unit_test(writes_keep_their_distance),
        cmocka_unit_test(a_broken_connection_takes_its_first_writes_with_it),
        cmocka_unit_test(who_asks_while_away_is_not_proved_by_the_connection),
        cmocka_unit_test(an_answer_to_a_write_of_before_is_ignored),
        cmocka_unit_test(as_many_as_there_is_room_for_are_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
