/* Numbers, decimals, units and sizes as people type them: what is read, what is not, and how far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"

static void whole_numbers_do_not_overflow(void **state)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t number;
        size_t read;
    } cases[] = {
        {"0", true, 0, 1},
        {"007x", true, 7, 3},
        {"18446744073709551615", true, UINT64_MAX, 20},
        {"18446744073709551616", false, 0, 0},
        {"99999999999999999999", false, 0, 0},
        {"", false, 0, 0},
        {"-1", false, 0, 0},
        {"+1", false, 0, 0},
        {" 1", false, 0, 0},
        {"x", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].text;
        uint64_t number = 0;
        assert_int_equal(units_read_number(&at, &number), cases[i].good);
        assert_int_equal(number, cases[i].number);
        assert_int_equal(at - cases[i].text, cases[i].read);
    }
}

static void a_decimal_is_rounded_down_and_says_so(void **state)
{
    static const struct {
        const char *text;
        uint64_t scale, scaled;
        bool exact;
        const char *rest;
    } cases[] = {{"2.5", 1000, 2500, true, ""},
                 {".5s", 1000, 500, true, "s"},
                 {"4.", 10, 40, true, "."},
                 {"1..2", 10, 10, true, "..2"},
                 {"0.0015", 1000, 1, false, ""},
                 {"1.50000000000000000000000", 10, 15, true, ""},
                 {"1.50000000000000000000001", 10, 15, false, ""},
                 {"0.3", 3, 0, false, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].text;
        uint64_t scaled = 77;
        bool exact = !cases[i].exact;
        assert_true(units_read_decimal(&at, cases[i].scale, &scaled, &exact));
        assert_int_equal(scaled, cases[i].scaled);
        assert_int_equal(exact, cases[i].exact);
        assert_string_equal(at, cases[i].rest);
    }
    static const char *const bad[] = {"", ".", "..5", "x", "-1", "18446744073709551615"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        uint64_t scaled = 77;
        assert_false(units_read_decimal(&at, 1000, &scaled, NULL));
        assert_int_equal(scaled, 77);
        assert_ptr_equal(at, bad[i]);
    }
}

static void a_time_needs_its_unit_and_loses_nothing(void **state)
{
    static const char *const bad[] = {"",   "5",      "ms",   ".5s",  "5.s",  "1..5s", "1.5ns",
                                      "0s", "86401s", "5 ms", "5min", "5msx", "-5ms",  "0.0000000001s"};
    el_duration time = 0;
    assert_true(units_time("86400s", &time));
    assert_int_equal(time, UNITS_TIME_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(units_time(bad[i], &time));
}

static void a_whole_text_is_a_number_within_its_limits(void **state)
{
    uint64_t number = 0;
    uint32_t millionths = 0;
    assert_true(units_number("18446744073709551615", UINT64_MAX, &number));
    assert_false(units_number("18446744073709551616", UINT64_MAX, &number));
    assert_false(units_number("6", 5, &number));
    assert_false(units_number("5 ", 5, &number));
    assert_true(units_octal("0660", 0777, &number));
    assert_int_equal(number, 0660);
    assert_false(units_octal("0680", 0777, &number));
    assert_false(units_octal("1000", 0777, &number));
    assert_true(units_millionths("0.01", 500000, &millionths));
    assert_int_equal(millionths, 10000);
    assert_false(units_millionths("0.0000001", 500000, &millionths));
    assert_false(units_millionths(".5", 500000, &millionths));
    assert_false(units_millionths("0.6", 500000, &millionths));
}

static void a_size_names_its_power_of_two(void **state)
{
    uint64_t bytes = 0;
    assert_true(units_size("4MiB", 0, UINT64_C(1) << 30, &bytes));
    assert_int_equal(bytes, 4 << 20);
    assert_true(units_size("17179869183GiB", 0, UINT64_MAX, &bytes));
    static const char *const bad[] = {"", "4", "MiB", "4MB", "4MiBs", "1023B", "2GiB", "17179869185GiB"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(units_size(bad[i], 1024, UINT64_C(1) << 30, &bytes));
}

static void times_are_written_as_they_are_read(void **state)
{
    static const char *const times[] = {"1ns",      "999ns", "1us",          "1.5us", "20ms",
                                        "150.25ms", "1s",    "1.000000001s", "86400s"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char written[UNITS_TIME_TEXT];
        el_duration time = 0;
        assert_true(units_time(times[i], &time));
        assert_string_equal(units_write_time(time, written), times[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_do_not_overflow),
        cmocka_unit_test(a_decimal_is_rounded_down_and_says_so),
        cmocka_unit_test(a_time_needs_its_unit_and_loses_nothing),
        cmocka_unit_test(a_whole_text_is_a_number_within_its_limits),
        cmocka_unit_test(a_size_names_its_power_of_two),
        cmocka_unit_test(times_are_written_as_they_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
