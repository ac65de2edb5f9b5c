/* Pieces of memory: nobody's is another's, what is given back is used again, and all comes as zeros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/slab.h"

enum { PIECES = 5000 };

static struct piece {
    uint8_t *at;
    uint32_t number, units;
    uint8_t fill;
} pieces[PIECES];

static uint64_t seed = 1;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % sides;
}

static bool is_all(const struct piece *p, uint8_t fill)
{
    for (size_t i = 0; i < (size_t)p->units * SLAB_UNIT; i++)
        if (p->at[i] != fill) return false;
    return true;
}

static void take(struct slab *slab, struct piece *p, uint32_t units)
{
    *p = (struct piece){NULL, slab_take(slab, units), units, (uint8_t)(1 + dice(255))};
    assert_int_not_equal(p->number, 0);
    p->at = slab_at(slab, p->number);
    assert_int_equal((uintptr_t)p->at % SLAB_UNIT, 0);
    assert_true(is_all(p, 0));
    memset(p->at, p->fill, (size_t)units * SLAB_UNIT);
}

static void no_piece_is_anothers(void **state)
{
    struct slab slab = {0};
    for (uint32_t i = 0; i < PIECES; i++) take(&slab, &pieces[i], 1 + dice(i % 50 ? 8 : SLAB_UNITS_MAX));
    for (uint32_t round = 0; round < 10 * PIECES; round++) {
        struct piece *p = &pieces[dice(PIECES)];
        assert_true(is_all(p, p->fill));
        slab_give_back(&slab, p->number, p->units);
        take(&slab, p, 1 + dice(round % 50 ? 8 : SLAB_UNITS_MAX));
    }
    for (uint32_t i = 0; i < PIECES; i++) assert_true(is_all(&pieces[i], pieces[i].fill));
    slab_free(&slab);
}

static void what_is_given_back_is_used_again(void **state)
{
    struct slab slab = {0};
    for (uint32_t i = 0; i < PIECES; i++) take(&slab, &pieces[i], 3);
    const uint32_t blocks = slab.block_count;
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < PIECES; i++) slab_give_back(&slab, pieces[i].number, 3);
        for (uint32_t i = 0; i < PIECES; i++) take(&slab, &pieces[i], 3);
    }
    assert_int_equal(slab.block_count, blocks);
    assert_int_equal(blocks, (PIECES * 3 * SLAB_UNIT + SLAB_BLOCK - 1) / SLAB_BLOCK);
    slab_free(&slab);
    slab_give_back(&slab, 0, 3);
    assert_int_equal(slab.block_count, 0);
    assert_null(slab_at(&slab, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_piece_is_anothers),
        cmocka_unit_test(what_is_given_back_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
