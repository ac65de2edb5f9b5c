/* Which changes get a line of their own: the first few of each kind, and the others a number. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/serve/limits/audit.h"

enum { ALICE = 1001, MALLORY = 1002 };

static struct audit audit;

static int clear(void **state)
{
    memset(&audit, 0, sizeof audit);
    return 0;
}

static uint32_t count_lines(uint64_t now, uid_t uid, const char *what, bool is_granted, int changes)
{
    uint32_t count = 0;
    for (int i = 0; i < changes; i++) count += audit_admits(&audit, now, uid, what, is_granted);
    return count;
}

static void a_flood_becomes_a_number(void **state)
{
    struct audit_kind kind;
    assert_int_equal(count_lines(5, MALLORY, "campaign", true, 100000), AUDIT_LINES);
    assert_true(audit_has_left_out(&audit));
    assert_false(audit_take_left_out(&audit, 5 + AUDIT_WINDOW - 1, &kind));
    assert_true(audit_take_left_out(&audit, 5 + AUDIT_WINDOW, &kind));
    assert_int_equal(kind.uid, MALLORY);
    assert_string_equal(kind.what, "campaign");
    assert_true(kind.is_granted);
    assert_int_equal(kind.left_out, 100000 - AUDIT_LINES);
    assert_false(audit_has_left_out(&audit));
    assert_false(audit_take_left_out(&audit, 5 + AUDIT_WINDOW, &kind));
    assert_int_equal(count_lines(5 + AUDIT_WINDOW, MALLORY, "campaign", true, 1), 1); /* a new window */
}

static void a_flood_hides_nothing_else(void **state)
{
    (void)count_lines(5, MALLORY, "campaign", true, 1000);
    assert_true(audit_admits(&audit, 6, ALICE, "campaign", true));
    assert_true(audit_admits(&audit, 6, MALLORY, "campaign", false));
    assert_true(audit_admits(&audit, 6, MALLORY, "transfer", true));
}

static void what_was_left_out_is_told_before_the_next_line(void **state)
{
    struct audit_kind kind;
    (void)count_lines(5, MALLORY, "campaign", true, AUDIT_LINES + 1);
    assert_false(audit_admits(&audit, 5 + 2 * AUDIT_WINDOW, MALLORY, "campaign", true));
    assert_true(audit_take_left_out(&audit, 5 + 2 * AUDIT_WINDOW, &kind));
    assert_int_equal(kind.left_out, 2);
    assert_true(audit_admits(&audit, 5 + 2 * AUDIT_WINDOW, MALLORY, "campaign", true));
}

static void more_users_than_places_are_counted_together(void **state)
{
    struct audit_kind kind;
    for (uid_t uid = 0; uid < AUDIT_KINDS; uid++) assert_true(audit_admits(&audit, 5, uid, "resign", true));
    assert_false(audit_admits(&audit, 6, AUDIT_KINDS, "resign", true));
    assert_true(audit_has_left_out(&audit));
    assert_true(audit_take_left_out(&audit, 6, &kind));
    assert_null(kind.what);
    assert_int_equal(kind.left_out, 1);
    assert_true(
        audit_admits(&audit, 5 + AUDIT_WINDOW, AUDIT_KINDS, "resign", true)); /* places are free again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_flood_becomes_a_number, clear),
        cmocka_unit_test_setup(a_flood_hides_nothing_else, clear),
        cmocka_unit_test_setup(what_was_left_out_is_told_before_the_next_line, clear),
        cmocka_unit_test_setup(more_users_than_places_are_counted_together, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
