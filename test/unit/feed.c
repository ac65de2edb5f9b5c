/* The line of groups and readers: what is told, once and in its newest form, however slow the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/feed.h"

static struct feed feed;
static struct feed_place groups[4];
static const char *names[] = {"a", "b", "c", "d"};
static int moves;

static void moved(void *whose)
{
    moves++;
}

static int begin(void **state)
{
    memset(groups, 0, sizeof groups);
    feed_init(&feed);
    feed.moved = moved;
    moves = 0;
    for (int i = 0; i < 4; i++) groups[i].subject = (void *)(size_t)names[i];
    return 0;
}

static void change(const char *which)
{
    for (; *which; which++) feed_change(&feed, &groups[*which - 'a']);
}

static const char *told(struct feed_place *reader)
{
    static char text[32];
    const char *name;
    size_t size = 0;
    text[0] = '\0';
    while (size < 16 && (name = feed_next(&feed, reader)))
        size += (size_t)snprintf(text + size, sizeof text - size, "%s", name);
    return text;
}

static void a_new_reader_is_told_of_all(void **state)
{
    struct feed_place reader = {0};
    change("abc");
    feed_join(&feed, &reader);
    assert_string_equal(told(&reader), "abc");
    assert_string_equal(told(&reader), "");
}

static void what_changes_is_told_once(void **state)
{
    struct feed_place reader = {0};
    change("abc");
    feed_join(&feed, &reader);
    assert_string_equal(told(&reader), "abc");
    change("bbab");
    assert_string_equal(told(&reader), "ab");
    assert_int_equal(moves, 7);
}

static void a_change_before_it_was_told_moves_back(void **state)
{
    struct feed_place reader = {0};
    change("abcd");
    feed_join(&feed, &reader);
    assert_string_equal(feed_next(&feed, &reader), "a");
    change("b");
    assert_string_equal(told(&reader), "cdb");
}

static void the_last_may_change_again(void **state)
{
    struct feed_place reader = {0};
    change("aaa");
    feed_join(&feed, &reader);
    assert_string_equal(told(&reader), "a");
    change("a");
    assert_string_equal(told(&reader), "a");
}

static void readers_do_not_get_in_each_others_way(void **state)
{
    struct feed_place fast = {0}, slow = {0}, late = {0};
    change("abcd");
    feed_join(&feed, &fast);
    feed_join(&feed, &slow);
    assert_string_equal(told(&fast), "abcd");
    assert_string_equal(feed_next(&feed, &slow), "a");
    change("a");
    feed_join(&feed, &late);
    assert_string_equal(told(&fast), "a");
    assert_string_equal(told(&late), "bcda");
    feed_leave(&fast);
    assert_string_equal(told(&slow), "bcda");
    feed_leave(&late);
    feed_leave(&late); /* twice is once */
    change("d");
    assert_string_equal(told(&slow), "d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_reader_is_told_of_all, begin),
        cmocka_unit_test_setup(what_changes_is_told_once, begin),
        cmocka_unit_test_setup(a_change_before_it_was_told_moves_back, begin),
        cmocka_unit_test_setup(the_last_may_change_again, begin),
        cmocka_unit_test_setup(readers_do_not_get_in_each_others_way, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
