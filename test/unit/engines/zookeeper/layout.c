/* Names of candidates' nodes, ours and those of kazoo and Curator. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "engines/zookeeper/layout.h"

static const uint8_t random_bytes[LAYOUT_UUID] = {1, 2, 3, 4, 5, 6, 0xf7, 8, 0xf9, 10, 11, 12, 13, 14, 15, 16};

static enum layout_sort sort_of(const char *layout, const char *node, uint32_t *sequence)
{
    const struct layout *other = NULL;
    return layout_read(layout_named(layout), node, sequence, &other);
}

static void writes_names_as_kazoo_and_curator_do(void **state)
{
    char prefix[LAYOUT_PREFIX];
    layout_prefix(layout_named("kazoo"), random_bytes, prefix);
    assert_string_equal(prefix, "656c656305068708b90a0b0c0d0e0f10__lock__");
    layout_prefix(layout_named("latch"), random_bytes, prefix);
    assert_string_equal(prefix, "_c_656c6563-0506-8708-b90a-0b0c0d0e0f10-latch-");
    layout_prefix(layout_named("selector"), random_bytes, prefix);
    assert_string_equal(prefix, "_c_656c6563-0506-8708-b90a-0b0c0d0e0f10-lock-");
}

static void reads_the_place_of_a_candidate(void **state)
{
    uint32_t sequence = 0;
    assert_int_equal(sort_of("kazoo", "d33ec138f60a4e68bc7d5c2bdba03115__lock__0000000042", &sequence),
                     LAYOUT_CANDIDATE);
    assert_int_equal(sequence, 42);
    assert_int_equal(sort_of("latch", "_c_0f0e5a8c-6f52-4a58-9a62-5a0a0f7e3f11-latch-2147483647", &sequence),
                     LAYOUT_CANDIDATE);
    assert_int_equal(sequence, INT32_MAX);
    assert_int_equal(sort_of("selector", "_c_0f0e5a8c-6f52-4a58-9a62-5a0a0f7e3f11-lock-0000000007", &sequence),
                     LAYOUT_CANDIDATE);
    assert_int_equal(sequence, 7);
    assert_int_equal(sort_of("latch", "latch-0000000003", &sequence),
                     LAYOUT_CANDIDATE); /* without protection */
    assert_int_equal(sequence, 3);
}

static void tells_another_layout(void **state)
{
    const struct layout *other = NULL;
    uint32_t sequence;
    assert_int_equal(layout_read(layout_named("kazoo"), "_c_x-latch-0000000003", &sequence, &other),
                     LAYOUT_FOREIGN);
    assert_string_equal(layout_name(other), "latch");
    assert_int_equal(layout_read(layout_named("kazoo"), "x__rlock__0000000003", &sequence, &other),
                     LAYOUT_FOREIGN);
    assert_int_equal(layout_read(layout_named("selector"), "x__lock__0000000003", &sequence, &other),
                     LAYOUT_FOREIGN);
    assert_string_equal(layout_name(other), "kazoo");
}

static void leaves_other_nodes_alone(void **state)
{
    uint32_t sequence;
    static const char *const names[] = {"leases",
                                        "",
                                        "shard-1",
                                        "x__lock__",
                                        "x__lock__12345",
                                        "x__lock__12345678901",
                                        "x__lock__000000000x",
                                        "x__lock__0000000001.bak"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(sort_of("kazoo", names[i], &sequence), LAYOUT_UNRELATED);
}

static void notices_that_the_numbers_are_used_up(void **state)
{
    uint32_t sequence;
    assert_int_equal(sort_of("kazoo", "x__lock__-2147483648", &sequence), LAYOUT_USED_UP);
    assert_int_equal(sort_of("kazoo", "x__lock__9999999999", &sequence), LAYOUT_USED_UP);
}

static void knows_its_own(void **state)
{
    assert_true(layout_is_ours(layout_named("kazoo"), "656c6563050687088b90a0b0c0d0e0f10__lock__0000000001"));
    assert_false(layout_is_ours(layout_named("kazoo"), "d33ec138f60a4e68bc7d5c2bdba03115__lock__0000000042"));
    assert_true(
        layout_is_ours(layout_named("latch"), "_c_656c6563-0506-8708-b90a-0b0c0d0e0f10-latch-0000000001"));
    assert_null(layout_named("x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_names_as_kazoo_and_curator_do),
        cmocka_unit_test(reads_the_place_of_a_candidate),
        cmocka_unit_test(tells_another_layout),
        cmocka_unit_test(leaves_other_nodes_alone),
        cmocka_unit_test(notices_that_the_numbers_are_used_up),
        cmocka_unit_test(knows_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
