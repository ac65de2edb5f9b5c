/* When SIGTERM and SIGKILL are due: in time before the deadline, and not for a renewal that is merely late. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "supervise/stop_times.h"

#define MS UINT64_C(1000000)

static void is(uint64_t deadline_ms, uint64_t lease_ms, uint64_t stop_timeout_ms, uint64_t term_ms,
               uint64_t kill_ms)
{
    const struct stop_times stop = supervise_stop_times(deadline_ms * MS, lease_ms * MS, stop_timeout_ms * MS);
    assert_int_equal(stop.term_at_ns, term_ms * MS);
    assert_int_equal(stop.kill_at_ns, kill_ms * MS);
}

static void kill_comes_a_tenth_of_the_lease_before_the_deadline(void **state)
{
    is(50000, 2000, 100, 49700, 49800);
    is(50000, 20000, 100, 48900, 49000); /* 1 s at most */
}

static void term_comes_a_stop_timeout_earlier_and_leaves_most_of_the_lease(void **state)
{
    is(50000, 4000, 500, 49100, 49600);
    is(50000, 4000, 5000, 48600, 49600); /* a quarter of the lease at most */
    is(50000, 4000, 0, 49600, 49600);
}

static void without_a_lease_there_is_no_limit(void **state)
{
    struct stop_times stop = supervise_stop_times(0, 1000 * MS, MS);
    assert_int_equal(stop.term_at_ns | stop.kill_at_ns, 0);
    stop = supervise_stop_times(UINT64_MAX, 1000 * MS, MS);
    assert_int_equal(stop.term_at_ns | stop.kill_at_ns, 0);
}

/* 0 would mean that there is no limit. */
static void a_deadline_just_after_boot_is_one(void **state)
{
    const struct stop_times stop = supervise_stop_times(5, 1000 * MS, 1000 * MS);
    assert_int_equal(stop.kill_at_ns, 1);
    assert_int_equal(stop.term_at_ns, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kill_comes_a_tenth_of_the_lease_before_the_deadline),
        cmocka_unit_test(term_comes_a_stop_timeout_earlier_and_leaves_most_of_the_lease),
        cmocka_unit_test(without_a_lease_there_is_no_limit),
        cmocka_unit_test(a_deadline_just_after_boot_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
