/* The line of groups and readers: what is told, once and in its newest form, however slow the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/serve/change_list.h"

static struct feed feed;
static int moves;

static void moved(void *whose)
{
    moves++;
}

static int begin(void **state)
{
    feed_free(&feed);
    feed.moved = moved;
    moves = 0;
    return 0;
}

static void change(const char *which)
{
    for (; *which; which++) feed_change(&feed, (uint32_t)(*which - 'a'));
}

static uint32_t next(struct feed_reader *reader)
{
    uint32_t group = UINT32_MAX;
    assert_true(feed_next(&feed, reader, &group));
    return group;
}

static const char *told(struct feed_reader *reader)
{
    static char text[32];
    uint32_t group;
    size_t size = 0;
    while (size < 16 && feed_next(&feed, reader, &group)) text[size++] = (char)('a' + group);
    text[size] = '\0';
    return text;
}

static void a_new_reader_is_told_of_all(void **state)
{
    struct feed_reader reader = {0};
    change("abc");
    feed_join(&feed, &reader);
    assert_string_equal(told(&reader), "abc");
    assert_string_equal(told(&reader), "");
}

static void what_changes_is_told_once(void **state)
{
    struct feed_reader reader = {0};
    change("abc");
    feed_join(&feed, &reader);
    assert_string_equal(told(&reader), "abc");
    change("bbab");
    assert_string_equal(told(&reader), "ab");
    assert_int_equal(moves, 4); /* before, nobody was there to hear of them */
}

static void a_change_before_it_was_told_moves_back(void **state)
{
    struct feed_reader reader = {0};
    change("abcd");
    feed_join(&feed, &reader);
    assert_int_equal(next(&reader), 0);
    change("b");
    assert_string_equal(told(&reader), "cdb");
}

static void the_last_may_change_again(void **state)
{
    struct feed_reader reader = {0};
    change("aaa");
    feed_join(&feed, &reader);
    assert_string_equal(told(&reader), "a");
    change("a");
    assert_string_equal(told(&reader), "a");
}

static void readers_do_not_get_in_each_others_way(void **state)
{
    struct feed_reader fast = {0}, slow = {0}, late = {0};
    change("abcd");
    feed_join(&feed, &fast);
    feed_join(&feed, &slow);
    assert_string_equal(told(&fast), "abcd");
    assert_int_equal(next(&slow), 0);
    change("a");
    feed_join(&feed, &late);
    assert_string_equal(told(&fast), "a");
    assert_string_equal(told(&late), "bcda");
    feed_leave(&feed, &fast);
    assert_string_equal(told(&slow), "bcda");
    feed_leave(&feed, &late);
    feed_leave(&feed, &late); /* twice is once */
    change("d");
    assert_string_equal(told(&slow), "d");
}

static void nobody_reads_and_there_is_no_line(void **state)
{
    struct feed_reader first = {0}, second = {0};
    change("abcba");
    assert_null(feed.places);
    feed_join(&feed, &first);
    feed_join(&feed, &second);
    assert_string_equal(told(&first), "abc");
    feed_leave(&feed, &first);
    change("a");
    assert_string_equal(told(&second), "bca");
    feed_leave(&feed, &second);
    assert_null(feed.places);
    change("d");
    feed_join(&feed, &first);
    change("e");
    assert_string_equal(told(&first), "abcde");
    feed_leave(&feed, &first);
}

static void thousands_stand_in_one_line(void **state)
{
    enum { GROUPS = 5000 };
    struct feed_reader reader = {0};
    feed_join(&feed, &reader);
    uint32_t group;
    assert_false(feed_next(&feed, &reader, &group));
    for (uint32_t i = 0; i < GROUPS; i++) feed_change(&feed, i);
    for (uint32_t i = 0; i < GROUPS; i += 2) feed_change(&feed, i);
    for (uint32_t i = 1; i < GROUPS; i += 2) assert_int_equal(next(&reader), i);
    for (uint32_t i = 0; i < GROUPS; i += 2) assert_int_equal(next(&reader), i);
    assert_false(feed_next(&feed, &reader, &group));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_reader_is_told_of_all, begin),
        cmocka_unit_test_setup(what_changes_is_told_once, begin),
        cmocka_unit_test_setup(a_change_before_it_was_told_moves_back, begin),
        cmocka_unit_test_setup(the_last_may_change_again, begin),
        cmocka_unit_test_setup(readers_do_not_get_in_each_others_way, begin),
        cmocka_unit_test_setup(nobody_reads_and_there_is_no_line, begin),
        cmocka_unit_test_setup(thousands_stand_in_one_line, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
