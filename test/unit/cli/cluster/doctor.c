/* elector doctor: what readings of the kernel's clocks mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cluster/doctor/doctor.h"

enum { TICKS = 100, TICK_US = 10000, DRIFT = 1000 }; /* the kernel's usual tick, and 0.001 */

static char text[256];

/* The kernel is told to run faster by so many millionths: by its frequency, and by microseconds a tick. */
static enum verdict rate(double millionths, long more_a_tick, uint32_t drift)
{
    const struct timex t = {.freq = (long)(millionths * 65536), .tick = TICK_US + more_a_tick};
    return doctor_rate(&t, TICKS, drift, text, sizeof text);
}

static void a_rate_within_the_drift_is_fine(void **state)
{
    assert_int_equal(rate(0, 0, DRIFT), FINE);
    assert_string_equal(text, "changed by 0.0 millionths of 1000 allowed");
    assert_int_equal(rate(-12.5, 0, DRIFT), FINE);
    assert_string_equal(text, "changed by -12.5 millionths of 1000 allowed");
    assert_int_equal(rate(500, 5, DRIFT), FINE);
    assert_int_equal(rate(-500, -5, DRIFT), FINE);
}

/* Either way: a leader whose clock is slow, and a voter whose clock is fast, are the same to a lease. */
static void a_rate_beyond_the_drift_is_wrong(void **state)
{
    assert_int_equal(rate(501, 5, DRIFT), WRONG);
    assert_string_equal(text, "is changed by 1001 millionths, and `drift` allows for 1000; see to the time "
                              "service, or raise drift everywhere");
    assert_int_equal(rate(-501, -5, DRIFT), WRONG);
    assert_int_equal(rate(0, 11, DRIFT), WRONG);
    assert_int_equal(rate(500, -16, DRIFT), WRONG);
    assert_int_equal(rate(12, 0, 10), WRONG);
    assert_int_equal(rate(0.5, 0, 0), WRONG);
    assert_int_equal(rate(0, 0, 0), FINE);
}

static void who_is_not_synchronised_is_told_that_leases_do_not_mind(void **state)
{
    const struct timex t = {.tick = TICK_US, .status = STA_UNSYNC};
    assert_int_equal(doctor_rate(&t, TICKS, DRIFT, text, sizeof text), FINE);
    assert_non_null(strstr(text, "not synchronised"));
}

static void a_source_that_is_rare_is_warned_of(void **state)
{
    assert_int_equal(doctor_source("tsc", text, sizeof text), FINE);
    assert_string_equal(text, "tsc");
    assert_int_equal(doctor_source("kvm-clock", text, sizeof text), FINE);
    assert_int_equal(doctor_source("hpet", text, sizeof text), WARN);
    assert_non_null(strstr(text, "hpet, which is slow or rare"));
    assert_int_equal(doctor_source("", text, sizeof text), WARN);
    assert_string_equal(text, "/sys does not tell");
}

/* What is told apart: less than half of what a lease allows, more, and more than all of it. */
static void a_late_agent_is_warned_of_before_it_costs_the_lease(void **state)
{
    const uint64_t ms = 1000000;
    assert_int_equal(doctor_lateness(5 * ms, 10 * ms, text, sizeof text), FINE);
    assert_string_equal(text, "the agent ran at most 5.0 ms late in the last hour; 10.0 ms would stop work");
    assert_int_equal(doctor_lateness(5 * ms + 1, 10 * ms, text, sizeof text), WARN);
    assert_non_null(strstr(text, "up to 5.0 ms late in the last hour, and 10.0 ms would stop work;"));
    assert_int_equal(doctor_lateness(10 * ms, 10 * ms, text, sizeof text), WARN);
    assert_non_null(strstr(text, "up to 10.0 ms late in the last hour, and 10.0 ms stop work;"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_within_the_drift_is_fine),
        cmocka_unit_test(a_rate_beyond_the_drift_is_wrong),
        cmocka_unit_test(who_is_not_synchronised_is_told_that_leases_do_not_mind),
        cmocka_unit_test(a_source_that_is_rare_is_warned_of),
        cmocka_unit_test(a_late_agent_is_warned_of_before_it_costs_the_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
