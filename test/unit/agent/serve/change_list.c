/* The line of groups and readers: what is told, once and in its newest form, however slow the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/serve/change_list.h"

static struct change_list change_list;
static int moves;

static void moved(void *context)
{
    moves++;
}

static int begin(void **state)
{
    change_list_free(&change_list);
    change_list.moved = moved;
    moves = 0;
    return 0;
}

static void change(const char *which)
{
    for (; *which; which++) change_list_change(&change_list, (uint32_t)(*which - 'a'));
}

static uint32_t next(struct change_list_reader *reader)
{
    uint32_t group = UINT32_MAX;
    assert_true(change_list_next(&change_list, reader, &group));
    return group;
}

static const char *told(struct change_list_reader *reader)
{
    static char text[32];
    uint32_t group;
    size_t size = 0;
    while (size < 16 && change_list_next(&change_list, reader, &group)) text[size++] = (char)('a' + group);
    text[size] = '\0';
    return text;
}

static void a_new_reader_is_told_of_all(void **state)
{
    struct change_list_reader reader = {0};
    change("abc");
    change_list_join(&change_list, &reader);
    assert_string_equal(told(&reader), "abc");
    assert_string_equal(told(&reader), "");
}

static void a_reader_may_skip_what_was(void **state)
{
    struct change_list_reader reader = {0}, first = {0};
    change("abc");
    change_list_join(&change_list, &reader);
    change_list_skip(&change_list, &reader);
    assert_string_equal(told(&reader), "");
    change("b");
    assert_string_equal(told(&reader), "b");
    change_list_join(&change_list, &first);
    assert_string_equal(told(&first), "acb");
    change_list_leave(&change_list, &first);
    change_list_leave(&change_list, &reader);
}

static void what_changes_is_told_once(void **state)
{
    struct change_list_reader reader = {0};
    change("abc");
    change_list_join(&change_list, &reader);
    assert_string_equal(told(&reader), "abc");
    change("bbab");
    assert_string_equal(told(&reader), "ab");
    assert_int_equal(moves, 4); /* before, nobody was there to hear of them */
}

static void a_change_before_it_was_told_moves_back(void **state)
{
    struct change_list_reader reader = {0};
    change("abcd");
    change_list_join(&change_list, &reader);
    assert_int_equal(next(&reader), 0);
    change("b");
    assert_string_equal(told(&reader), "cdb");
}

static void the_last_may_change_again(void **state)
{
    struct change_list_reader reader = {0};
    change("aaa");
    change_list_join(&change_list, &reader);
    assert_string_equal(told(&reader), "a");
    change("a");
    assert_string_equal(told(&reader), "a");
}

static void readers_do_not_get_in_each_others_way(void **state)
{
    struct change_list_reader fast = {0}, slow = {0}, late = {0};
    change("abcd");
    change_list_join(&change_list, &fast);
    change_list_join(&change_list, &slow);
    assert_string_equal(told(&fast), "abcd");
    assert_int_equal(next(&slow), 0);
    change("a");
    change_list_join(&change_list, &late);
    assert_string_equal(told(&fast), "a");
    assert_string_equal(told(&late), "bcda");
    change_list_leave(&change_list, &fast);
    assert_string_equal(told(&slow), "bcda");
    change_list_leave(&change_list, &late);
    change_list_leave(&change_list, &late); /* twice is once */
    change("d");
    assert_string_equal(told(&slow), "d");
}

static void nobody_reads_and_there_is_no_line(void **state)
{
    struct change_list_reader first = {0}, second = {0};
    change("abcba");
    assert_null(change_list.places);
    change_list_join(&change_list, &first);
    change_list_join(&change_list, &second);
    assert_string_equal(told(&first), "abc");
    change_list_leave(&change_list, &first);
    change("a");
    assert_string_equal(told(&second), "bca");
    change_list_leave(&change_list, &second);
    assert_null(change_list.places);
    change("d");
    change_list_join(&change_list, &first);
    change("e");
    assert_string_equal(told(&first), "abcde");
    change_list_leave(&change_list, &first);
}

static void thousands_stand_in_one_line(void **state)
{
    enum { GROUPS = 5000 };
    struct change_list_reader reader = {0};
    change_list_join(&change_list, &reader);
    uint32_t group;
    assert_false(change_list_next(&change_list, &reader, &group));
    for (uint32_t i = 0; i < GROUPS; i++) change_list_change(&change_list, i);
    for (uint32_t i = 0; i < GROUPS; i += 2) change_list_change(&change_list, i);
    for (uint32_t i = 1; i < GROUPS; i += 2) assert_int_equal(next(&reader), i);
    for (uint32_t i = 0; i < GROUPS; i += 2) assert_int_equal(next(&reader), i);
    assert_false(change_list_next(&change_list, &reader, &group));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_reader_is_told_of_all, begin),
        cmocka_unit_test_setup(a_reader_may_skip_what_was, begin),
        cmocka_unit_test_setup(what_changes_is_told_once, begin),
        cmocka_unit_test_setup(a_change_before_it_was_told_moves_back, begin),
        cmocka_unit_test_setup(the_last_may_change_again, begin),
        cmocka_unit_test_setup(readers_do_not_get_in_each_others_way, begin),
        cmocka_unit_test_setup(nobody_reads_and_there_is_no_line, begin),
        cmocka_unit_test_setup(thousands_stand_in_one_line, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
