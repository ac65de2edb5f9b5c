/* A set of numbers, against one that is simple. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/serve/limits/number_set.h"

static bool simple[NUMBER_SET_END];

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*seed >> 33);
}

static uint32_t next_of_simple(uint32_t from)
{
    while (from < NUMBER_SET_END && !simple[from]) from++;
    return from;
}

static void is_a_set(void **state)
{
    struct number_set set = {0};
    uint64_t seed = 7;
    uint32_t count = 0;
    for (int i = 0; i < 20000; i++) {
        const uint32_t near = draw(&seed) % 3 ? 500 : NUMBER_SET_END, number = draw(&seed) % near;
        if (draw(&seed) % 2) {
            count += !simple[number];
            simple[number] = true;
            assert_true(number_set_add(&set, number));
        } else {
            count -= simple[number];
            simple[number] = false;
            number_set_remove(&set, number);
        }
        assert_int_equal(set.count, count);
        assert_int_equal(number_set_has(&set, number), simple[number]);
        if (i % 100 == 0) {
            const uint32_t from = draw(&seed) % NUMBER_SET_END;
            assert_int_equal(number_set_next(&set, from), next_of_simple(from));
        }
    }
    for (uint32_t at = 0; at < NUMBER_SET_END; at++) number_set_remove(&set, at);
    assert_null(set.pages); /* empty: it takes no memory */
    assert_int_equal(number_set_next(&set, 0), NUMBER_SET_NONE);
    assert_true(number_set_add(&set, NUMBER_SET_END - 1));
    assert_int_equal(number_set_next(&set, 0), NUMBER_SET_END - 1);
    assert_int_equal(number_set_next(&set, NUMBER_SET_END), NUMBER_SET_NONE);
    assert_false(number_set_has(&set, NUMBER_SET_END)); /* nor does it look there */
    number_set_clear(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_a_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
