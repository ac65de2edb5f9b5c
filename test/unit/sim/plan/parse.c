/*
 * Reading the pieces of a setting: chances, times and ranges of them,
 * as far as they go and no further.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/plan/parse.h"

static void a_chance_is_a_fraction_or_a_percentage(void **state)
{
    static const struct {
        const char *text;
        sim_chance chance;
    } good[] = {{"0", 0},
                {"1", SIM_CERTAIN},
                {"1.0", SIM_CERTAIN},
                {"0.5", SIM_CERTAIN / 2},
                {".25", SIM_CERTAIN / 4},
                {"25%", SIM_CERTAIN / 4},
                {"0.1%", SIM_CERTAIN / 1000},
                {"100%", SIM_CERTAIN},
                {"0.12345678", 530242832}};
    static const char *const bad[] = {"", ".", "x", "1.1", "100.1%", "-0.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        sim_chance chance = 77;
        assert_true(parse_chance(&at, &chance));
        assert_int_equal(chance, good[i].chance);
        assert_int_equal(*at, '\0');
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        sim_chance chance = 77;
        assert_false(parse_chance(&at, &chance));
        assert_int_equal(chance, 77);
        assert_ptr_equal(at, bad[i]);
    }
}

static void a_time_is_in_units_or_real(void **state)
{
    static const struct {
        const char *text;
        sim_time time;
        bool real;
        const char *rest;
    } good[] = {
        {"4", 4000, false, ""},       {"2.5", 2500, false, ""},
        {"2.5T", 2500, false, ""},    {".5", 500, false, ""},
        {"4.", 4000, false, "."},     {"1..2", 1000, false, "..2"},
        {"0", 0, false, ""},          {"3ns", 3, true, ""},
        {"20us", 20000, true, ""},    {"150ms", 150000000, true, ""},
        {"1.5ms", 1500000, true, ""}, {"1s", 1000000000, true, ""},
        {"2x", 2000, false, "x"},     {"0.0001", 0, false, ""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        sim_time time = 0;
        bool real = !good[i].real;
        assert_true(parse_time(&at, 1000, &time, &real));
        assert_int_equal(time, good[i].time);
        assert_int_equal(real, good[i].real);
        assert_string_equal(at, good[i].rest);
        at = good[i].text;
        assert_true(parse_time(&at, 1000, &time, NULL));
    }
    static const char *const bad[] = {"", ".", "x", "-1", "ms", "99999999999999999999", "10000000000000s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        sim_time time = 0;
        assert_false(parse_time(&at, 1000, &time, NULL));
        assert_ptr_equal(at, bad[i]);
    }
}

static void in_a_range_one_unit_stands_for_both(void **state)
{
    static const struct {
        const char *text;
        sim_time min, max;
        bool real;
    } good[] = {
        {"2", 2000, 2000, false},
        {"0.5..2", 500, 2000, false},
        {"5..15ms", 5000000, 15000000, true},
        {"5us..1ms", 5000, 1000000, true},
        {"5ms..6", 5000000, 6000, true},
        {"7ms", 7000000, 7000000, true},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        sim_time min = 0, max = 0;
        bool real = false;
        assert_true(parse_time_range(&at, 1000, &min, &max, &real));
        assert_int_equal(min, good[i].min);
        assert_int_equal(max, good[i].max);
        assert_int_equal(real, good[i].real);
        assert_int_equal(*at, '\0');
    }
    static const char *const bad[] = {"", "..", "1..", "..2", "x..y", "9000000000000000000..15ms"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        sim_time min = 0, max = 0;
        bool real = false;
        assert_false(parse_time_range(&at, 1000, &min, &max, &real));
        assert_ptr_equal(at, bad[i]);
    }
}

static void clock_rates_are_in_millionths(void **state)
{
    const char *at = "1.05 ";
    uint64_t rate = 0;
    assert_true(parse_millionths(&at, &rate));
    assert_int_equal(rate, 1050000);
    assert_true(parse_end(&at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chance_is_a_fraction_or_a_percentage),
        cmocka_unit_test(a_time_is_in_units_or_real),
        cmocka_unit_test(in_a_range_one_unit_stands_for_both),
        cmocka_unit_test(clock_rates_are_in_millionths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
