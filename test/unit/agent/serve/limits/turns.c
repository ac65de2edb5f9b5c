/* Whose turn it is, and when it is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/serve/limits/turns.h"

static struct turns turns;
static struct turn_place places[6];

static int begin(void **state)
{
    turns = (struct turns){0};
    for (int i = 0; i < 6; i++) places[i] = (struct turn_place){0};
    turns_begin(&turns, 1000);
    return 0;
}

static void serves_in_order_and_candidates_first(void **state)
{
    turns_join(&turns, &places[0], TURN_OTHERS);
    turns_join(&turns, &places[1], TURN_OTHERS);
    turns_join(&turns, &places[2], TURN_CANDIDATES);
    turns_join(&turns, &places[1], TURN_OTHERS); /* again: it keeps its position */
    assert_ptr_equal(turns_next(&turns, 1000), &places[2]);
    assert_ptr_equal(turns_next(&turns, 1000), &places[0]);
    turns_join(&turns, &places[0], TURN_OTHERS);
    assert_ptr_equal(turns_next(&turns, 1000), &places[1]);
    assert_ptr_equal(turns_next(&turns, 1000), &places[0]);
    assert_null(turns_next(&turns, 1000));
    assert_false(turns_wait(&turns));
}

/* Candidates that never rest do not keep the others out: half of each turn is for those. */
static void others_have_the_second_half(void **state)
{
    turns_join(&turns, &places[0], TURN_CANDIDATES);
    turns_join(&turns, &places[1], TURN_OTHERS);
    assert_ptr_equal(turns_next(&turns, 1000), &places[0]);
    turns_join(&turns, &places[0], TURN_CANDIDATES);
    turns.requests = TURN_REQUESTS / 2;
    assert_ptr_equal(turns_next(&turns, 1000), &places[1]);
    assert_ptr_equal(turns_next(&turns, 1000), &places[0]); /* nobody else waits */
    turns_begin(&turns, 1000);
    turns_join(&turns, &places[0], TURN_CANDIDATES);
    turns_join(&turns, &places[1], TURN_OTHERS);
    assert_ptr_equal(turns_next(&turns, 1000 + TURN_US * 1000 / 2), &places[1]);
}

/* A candidate with thousands of groups: its portion is the whole turn. */
static void others_begin_every_second_turn(void **state)
{
    turns_join(&turns, &places[0], TURN_CANDIDATES);
    turns_join(&turns, &places[1], TURN_OTHERS);
    assert_ptr_equal(turns_next(&turns, 1000), &places[0]);
    turns_join(&turns, &places[0], TURN_CANDIDATES);
    turns.bytes = TURN_BYTES;
    assert_true(turns_are_over(&turns, 1000));
    turns_begin(&turns, 2000);
    assert_ptr_equal(turns_next(&turns, 2000), &places[1]);
    turns_join(&turns, &places[1], TURN_OTHERS);
    assert_ptr_equal(turns_next(&turns, 2000), &places[0]); /* then as always */
    turns_join(&turns, &places[0], TURN_CANDIDATES);
    turns_begin(&turns, 3000);
    assert_ptr_equal(turns_next(&turns, 3000), &places[0]); /* the others had a portion in the last turn */
}

static void who_leaves_is_not_served(void **state)
{
    for (int i = 0; i < 5; i++) turns_join(&turns, &places[i], TURN_OTHERS);
    turns_leave(&turns, &places[0]);
    turns_leave(&turns, &places[2]);
    turns_leave(&turns, &places[4]);
    turns_leave(&turns, &places[4]);
    turns_leave(&turns, &places[5]);
    assert_ptr_equal(turns_next(&turns, 1000), &places[1]);
    assert_ptr_equal(turns_next(&turns, 1000), &places[3]);
    assert_null(turns_next(&turns, 1000));
    turns_join(&turns, &places[4], TURN_OTHERS);
    assert_ptr_equal(turns_next(&turns, 1000), &places[4]);
}

static void a_turn_ends_by_time_requests_or_bytes(void **state)
{
    const uint64_t ns = UINT64_C(1000) * TURN_US;
    assert_false(turns_are_over(&turns, 1000 + ns - 1));
    assert_true(turns_are_over(&turns, 1000 + ns));
    turns.requests = TURN_REQUESTS - 1;
    turns.bytes = TURN_BYTES - 1;
    assert_false(turns_are_over(&turns, 1000));
    turns.requests++;
    assert_true(turns_are_over(&turns, 1000));
    turns_begin(&turns, 5000);
    assert_false(turns_are_over(&turns, 5000));
    turns.bytes = TURN_BYTES;
    assert_true(turns_are_over(&turns, 5000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(serves_in_order_and_candidates_first, begin),
        cmocka_unit_test_setup(others_have_the_second_half, begin),
        cmocka_unit_test_setup(others_begin_every_second_turn, begin),
        cmocka_unit_test_setup(who_leaves_is_not_served, begin),
        cmocka_unit_test_setup(a_turn_ends_by_time_requests_or_bytes, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
