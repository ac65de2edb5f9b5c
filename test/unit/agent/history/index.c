/* The entries of one group, found by links, against all of them, looked through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/history/internal.h"

enum { SIZE = 256, GROUPS = 40 };

static uint64_t seed = 11;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(seed >> 33) % below;
}

/* Group 0 concerns all. Some groups share a bucket. */
static uint64_t group_of(uint32_t number)
{
    return number == 0 ? 0 : ((uint64_t)(number % 7 + (number % 2) * SIZE) << 8) | (number / 7 * 2) | 1;
}

static void expect_all_of(const struct history_ring *ring, uint64_t group, bool with_all)
{
    const struct history_entry *list[HISTORY_COLLECTED_MAX];
    const uint32_t count = history_collect(ring, group, with_all, list);
    uint32_t at = 0;
    for (uint32_t i = 0; i < history_held(ring); i++) {
        const struct history_entry *e = history_at(ring, i);
        if (e->group != group && !(with_all && e->group == 0)) continue;
        assert_true(at < count);
        assert_ptr_equal(list[at++], e);
    }
    assert_int_equal(at, count);
}

static void finds_what_looking_through_all_finds(void **state)
{
    struct history_ring ring;
    assert_true(history_ring_init(&ring, SIZE));
    for (uint64_t number = 1; number <= 5 * SIZE; number++) {
        history_ring_add(&ring, &(struct history_entry){.number = number, .group = group_of(draw(GROUPS))});
        const uint64_t group = group_of(1 + draw(GROUPS - 1));
        expect_all_of(&ring, group, false);
        expect_all_of(&ring, group, true);
    }
    history_ring_free(&ring);
}

/* The newest, if there are very many. */
static void keeps_the_newest(void **state)
{
    const struct history_entry *list[HISTORY_COLLECTED_MAX];
    struct history_ring ring;
    assert_true(history_ring_init(&ring, 4096));
    for (uint64_t number = 1; number <= 10000; number++)
        history_ring_add(&ring,
                         &(struct history_entry){.number = number, .group = number % 2 ? 0 : group_of(3)});
    assert_int_equal(history_collect(&ring, group_of(3), true, list), HISTORY_COLLECTED_MAX);
    for (uint32_t i = 0; i < HISTORY_COLLECTED_MAX; i++)
        assert_int_equal(list[i]->number, 10000 - HISTORY_COLLECTED_MAX + 1 + i);
    history_ring_free(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_looking_through_all_finds),
                                       cmocka_unit_test(keeps_the_newest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
