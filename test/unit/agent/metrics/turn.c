/* Turns of a loop: how long they are, and how much of it others took. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/metrics/metrics.h"
#include "base/clock.h"

static struct metrics metrics;
static uint64_t waited;

static int begin(void **state)
{
    metrics = (struct metrics){0};
    waited = 0;
    return 0;
}

static void end_turn(void)
{
    metrics_turn(&metrics, clock_monotonic_ns(), waited);
}

static void sleep_ms(uint64_t ms)
{
    const struct timespec span = {.tv_nsec = (long)(ms * NS_PER_MS)};
    nanosleep(&span, NULL);
}

static void compute_ms(uint64_t ms)
{
    struct timespec now;
    uint64_t end = 0;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        const uint64_t used = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
        if (end == 0) end = used + ms * NS_PER_MS;
        if (used >= end) break;
    } while (true);
}

static void the_first_end_only_begins(void **state)
{
    end_turn();
    assert_int_equal(metrics.turns.longest_ns, 0);
    assert_int_equal(metrics.turns.histogram.sum_ns, 0);
}

static void what_the_loop_has_computed_is_its_own(void **state)
{
    end_turn();
    compute_ms(5);
    end_turn();
    assert_true(metrics.turns.longest_own_ns >= 5 * NS_PER_MS);
    assert_true(metrics.turns.longest_ns >= metrics.turns.longest_own_ns / 2); /* two clocks */
}

/* Waiting is no part of a turn, and the one sleep in it is no call that blocks. */
static void to_wait_is_no_turn(void **state)
{
    end_turn();
    const uint64_t began = clock_monotonic_ns();
    sleep_ms(50);
    waited += clock_monotonic_ns() - began;
    end_turn();
    assert_true(metrics.turns.longest_own_ns < 25 * NS_PER_MS);
}

/* A call that blocks takes no processor time, and keeps the loop from its leases all the same. */
static void a_call_that_blocks_is_its_own_too(void **state)
{
    end_turn();
    sleep_ms(20);
    end_turn();
    assert_true(metrics.turns.longest_own_ns >= 20 * NS_PER_MS);
}

static void also_after_a_wait(void **state)
{
    end_turn();
    const uint64_t began = clock_monotonic_ns();
    sleep_ms(1);
    waited += clock_monotonic_ns() - began;
    sleep_ms(20);
    end_turn();
    assert_true(metrics.turns.longest_own_ns >= 20 * NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_end_only_begins, begin),
        cmocka_unit_test_setup(what_the_loop_has_computed_is_its_own, begin),
        cmocka_unit_test_setup(to_wait_is_no_turn, begin),
        cmocka_unit_test_setup(a_call_that_blocks_is_its_own_too, begin),
        cmocka_unit_test_setup(also_after_a_wait, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
