/* The sparse table of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/world/map.h"
#include "sim/world/random.h"

static void a_pair_that_was_never_set_has_nothing(void **state)
{
    struct sim_map map = {0};
    assert_int_equal(sim_map_get(&map, 1, 2), 0);
    assert_true(sim_map_set(&map, 1, 2, 0));
    assert_int_equal(map.used, 0); /* and taking it out costs nothing */
    assert_true(sim_map_set(&map, 1, 2, 5));
    assert_int_equal(sim_map_get(&map, 2, 1), 0);
    sim_map_free(&map);
    sim_map_free(&map);
}

static void the_order_of_a_pair_matters(void **state)
{
    struct sim_map map = {0};
    assert_true(sim_map_set(&map, 1, 2, 12));
    assert_true(sim_map_set(&map, 2, 1, 21));
    assert_int_equal(sim_map_get(&map, 1, 2), 12);
    assert_int_equal(sim_map_get(&map, 2, 1), 21);
    sim_map_free(&map);
    assert_int_equal(sim_map_get(&map, 1, 2), 0);
}

static void zero_takes_a_pair_out(void **state)
{
    struct sim_map map = {0};
    assert_true(sim_map_set(&map, 1, 2, UINT64_MAX));
    assert_int_equal(sim_map_get(&map, 1, 2), UINT64_MAX);
    assert_true(sim_map_set(&map, 1, 2, 0));
    assert_int_equal(sim_map_get(&map, 1, 2), 0);
    assert_true(sim_map_set(&map, 1, 2, 7));
    assert_int_equal(sim_map_get(&map, 1, 2), 7);
    assert_int_equal(map.used, 1); /* its place was kept */
    sim_map_free(&map);
}

static void the_greatest_nodes_fit(void **state)
{
    struct sim_map map = {0};
    assert_true(sim_map_set(&map, UINT32_MAX, UINT32_MAX, 1));
    assert_true(sim_map_set(&map, UINT32_MAX, 1, 2));
    assert_int_equal(sim_map_get(&map, UINT32_MAX, UINT32_MAX), 1);
    assert_int_equal(sim_map_get(&map, UINT32_MAX, 1), 2);
    assert_int_equal(sim_map_get(&map, 1, UINT32_MAX), 0);
    sim_map_free(&map);
}

static void agrees_with_a_plain_table(void **state)
{
    enum { SIDE = 200, CHANGES = 200000 };
    static uint64_t plain[SIDE + 1][SIDE + 1];
    struct sim_random dice;
    struct sim_map map = {0};
    sim_random_seed(&dice, 2, 0);
    for (int i = 0; i < CHANGES; i++) {
        const el_node a = 1 + (el_node)sim_random_below(&dice, SIDE),
                      b = 1 + (el_node)sim_random_below(&dice, SIDE);
        const uint64_t value = sim_random_below(&dice, 3) ? sim_random_next(&dice) : 0;
        assert_int_equal(sim_map_get(&map, a, b), plain[a][b]);
        assert_true(sim_map_set(&map, a, b, value));
        plain[a][b] = value;
    }
    for (el_node a = 1; a <= SIDE; a++)
        for (el_node b = 1; b <= SIDE; b++) assert_int_equal(sim_map_get(&map, a, b), plain[a][b]);
    sim_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_was_never_set_has_nothing),
        cmocka_unit_test(the_order_of_a_pair_matters),
        cmocka_unit_test(zero_takes_a_pair_out),
        cmocka_unit_test(the_greatest_nodes_fit),
        cmocka_unit_test(agrees_with_a_plain_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
