/* The shortest lease that a history of late renewals would have kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/cluster/measure.h"

enum { STEPS = 16 }; /* up to 4 s, and above */

static struct config config;
static struct measured found;
static struct measured_lease lease;

static int begin(void **state)
{
    memset(&config, 0, sizeof config);
    config.member_count = 3;
    config.self = 1;
    config.drift = 10000;
    memset(&found, 0, sizeof found);
    found.steps = STEPS;
    for (uint32_t i = 0; i + 1 < STEPS; i++) found.ends_us[i] = UINT64_C(250) << i;
    return 0;
}

/* So many renewals, so late. */
static void renewed(uint64_t count, uint64_t late_us)
{
    uint32_t step = 0;
    while (step + 1 < STEPS && late_us > found.ends_us[step]) step++;
    found.counts[step] += count;
    if (late_us > found.longest_us) found.longest_us = late_us;
}

static void measure_ms(uint32_t ms, double hours)
{
    measure_lease(&lease, &config, &found, ms, hours);
}

static void nothing_seen_is_three_at_most(void **state)
{
    renewed(24000, 200);
    measure_ms(30, 1);
    assert_true(lease.is_possible);
    assert_int_equal(lease.too_late, 0);
    assert_true(lease.false_alarms_most > 2.9 && lease.false_alarms_most < 3.1);
    measure_ms(30, 2);
    assert_true(lease.false_alarms_most > 1.45 && lease.false_alarms_most < 1.55);
}

static void what_came_too_late_counts(void **state)
{
    renewed(100000, 300);
    renewed(7, 60000);
    measure_ms(30, 1);
    assert_int_equal(lease.too_late, 7);
    assert_true(lease.false_alarms_most > 13 &&
                lease.false_alarms_most < 13.3); /* 13.15 by the exact quantile */
    measure_ms(500, 1);
    assert_int_equal(lease.too_late, 0);
}

/* A renewal may be as late as leaves `elector run` alone. */
static void the_limit_is_that_of_the_plan(void **state)
{
    renewed(100000, 100);
    measure_ms(1000, 1);
    const struct bounds bounds = bounds_of(&lease.settings);
    assert_int_equal(lease.may_be_late_us, (bounds.term_at - lease.settings.beat) / NS_PER_US);
    renewed(1, lease.may_be_late_us + 1000000); /* in the last step: the longest counts for it */
    measure_ms(1000, 1);
    assert_int_equal(lease.too_late, 1);
}

static void the_longest_lease_of_the_table_is_possible_on_a_fast_network(void **state)
{
    renewed(100000, 400);
    for (uint32_t i = 0; i < MEASURE_LEASES; i++) {
        measure_ms(measure_leases_ms[i], 1);
        assert_true(lease.is_possible);
        assert_int_equal(lease.transmit_max, NS_PER_MS);
        assert_int_equal(lease.settings.lease, measure_leases_ms[i] * NS_PER_MS);
    }
}

static void slow_messages_need_long_leases(void **state)
{
    renewed(100000, 40000);
    measure_ms(30, 1);
    assert_false(lease.is_possible);
    measure_ms(1000, 1);
    assert_true(lease.is_possible);
    assert_int_equal(lease.transmit_max, 20 * NS_PER_MS); /* half of it */
}

static void the_usual_is_that_of_all_but_one_in_a_thousand(void **state)
{
    renewed(9990, 240);
    renewed(10, 3000);
    assert_int_equal(measured_count(&found), 10000);
    assert_int_equal(measured_usual_us(&found), 250);
    renewed(1, 3000);
    renewed(1, 3000);
    assert_int_equal(measured_usual_us(&found), 3000);
}

/* Also if it was one of few: how late it was tells nothing of the messages. */
static void a_lost_lease_is_too_late_for_each_shorter_one(void **state)
{
    renewed(100, 240);
    renewed(1, 1000000);
    found.lost = 1;
    for (uint32_t i = 0; i < MEASURE_LEASES; i++) {
        measure_ms(measure_leases_ms[i], 1);
        assert_true(lease.is_possible);
        assert_int_equal(lease.too_late, 1);
    }
    found.lost = 1000; /* as an agent that is wrong may say */
    assert_int_equal(measured_usual_us(&found), 250);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(nothing_seen_is_three_at_most),
        TEST(what_came_too_late_counts),
        TEST(the_limit_is_that_of_the_plan),
        TEST(the_longest_lease_of_the_table_is_possible_on_a_fast_network),
        TEST(slow_messages_need_long_leases),
        TEST(a_lost_lease_is_too_late_for_each_shorter_one),
        TEST(the_usual_is_that_of_all_but_one_in_a_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
