/* Ten lines in a second, and a count of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log/budget.h"

static void a_flood_is_counted(void **state)
{
    struct log_budget budget = {0};
    const uint64_t now = 5 * NS_PER_S;
    for (int i = 0; i < LOG_BUDGET_LINES; i++) assert_true(log_budget_admits(&budget, now + (uint64_t)i));
    for (int i = 0; i < 1000; i++) assert_false(log_budget_admits(&budget, now + 100));
    assert_int_equal(log_budget_take(&budget, now + NS_PER_S - 1), 0);
    assert_int_equal(log_budget_take(&budget, now + NS_PER_S), 1000);
    assert_int_equal(log_budget_take(&budget, now + 3 * NS_PER_S), 0);
    assert_true(log_budget_admits(&budget, now + NS_PER_S + 1));
}

static void what_was_left_out_is_told_before_new_lines(void **state)
{
    struct log_budget budget = {0};
    const uint64_t now = 5 * NS_PER_S;
    for (int i = 0; i <= LOG_BUDGET_LINES; i++) (void)log_budget_admits(&budget, now);
    assert_false(log_budget_admits(&budget, now + 2 * NS_PER_S));
    assert_int_equal(log_budget_take(&budget, now + 2 * NS_PER_S), 2);
    assert_true(log_budget_admits(&budget, now + 2 * NS_PER_S));
}

static void a_trickle_passes(void **state)
{
    struct log_budget budget = {0};
    for (uint64_t i = 1; i < 100; i++) assert_true(log_budget_admits(&budget, i * NS_PER_S));
    assert_int_equal(log_budget_take(&budget, 200 * NS_PER_S), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_is_counted),
        cmocka_unit_test(what_was_left_out_is_told_before_new_lines),
        cmocka_unit_test(a_trickle_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
