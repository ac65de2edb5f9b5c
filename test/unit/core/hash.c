/* Fingerprints: the same on every machine, and different for things that differ, as far as we looked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elector/core.h"

enum { BLOCK = 64, INPUTS = 60000 };

static bool same(struct el_hash a, struct el_hash b)
{
    return a.high == b.high && a.low == b.low;
}

static void known_bytes_have_known_fingerprints(void **state)
{
    static const struct {
        const char *text;
        struct el_hash hash;
    } known[] = {
        {"", {UINT64_C(0xF5116B353B8CE86D), UINT64_C(0x425B8D80B8048165)}},
        {"a", {UINT64_C(0x236A07D6138DF697), UINT64_C(0xFD26BD79515D88A8)}},
        {"elector", {UINT64_C(0x747006F9C405A049), UINT64_C(0x4330A01B1A22E06F)}},
        {"elections", {UINT64_C(0x130B9616E22B2271), UINT64_C(0x156548D33AE99639)}},
        {"the quick brown fox jumps over the lazy dog",
         {UINT64_C(0xB3777C10C0EB7E76), UINT64_C(0xD1D11588E593575C)}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct el_hash hash = el_fingerprint(known[i].text, strlen(known[i].text));
        assert_int_equal(hash.high, known[i].hash.high);
        assert_int_equal(hash.low, known[i].hash.low);
    }
    assert_true(same(el_fingerprint(NULL, 0), el_fingerprint("", 0)));
}

static void every_single_bit_changes_both_halves(void **state)
{
    for (int pattern = 0; pattern < 3; pattern++) {
        uint8_t block[BLOCK];
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = (uint8_t)(pattern == 2 ? 37 * i : pattern ? 0xFF : 0);
        const struct el_hash before = el_fingerprint(block, sizeof block);
        for (size_t bit = 0; bit < 8 * sizeof block; bit++) {
            block[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const struct el_hash after = el_fingerprint(block, sizeof block);
            assert_true(after.high != before.high && after.low != before.low);
            block[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static void about_half_of_all_bits_change_with_one(void **state)
{
    uint8_t block[BLOCK] = {0};
    const struct el_hash before = el_fingerprint(block, sizeof block);
    uint64_t changed = 0;
    for (size_t bit = 0; bit < 8 * sizeof block; bit++) {
        block[bit / 8] = (uint8_t)(1u << bit % 8);
        const struct el_hash after = el_fingerprint(block, sizeof block);
        changed += (uint64_t)__builtin_popcountll(after.high ^ before.high);
        changed += (uint64_t)__builtin_popcountll(after.low ^ before.low);
        block[bit / 8] = 0;
    }
    assert_in_range(changed, 8 * sizeof block * 60, 8 * sizeof block * 68);
}

static void size_matters(void **state)
{
    static const uint8_t zeros[2 * BLOCK];
    for (size_t a = 0; a <= sizeof zeros; a++)
        for (size_t b = 0; b < a; b++) assert_false(same(el_fingerprint(zeros, a), el_fingerprint(zeros, b)));
}

static void alignment_does_not_matter(void **state)
{
    uint8_t room[2 * BLOCK];
    for (size_t size = 0; size < BLOCK; size++) {
        struct el_hash first = {0, 0};
        for (size_t shift = 0; shift < 16; shift++) {
            memset(room, 0xA5, sizeof room); /* what lies around does not, either */
            for (size_t i = 0; i < size; i++) room[shift + i] = (uint8_t)(i * i + 3);
            const struct el_hash hash = el_fingerprint(room + shift, size);
            if (shift == 0) first = hash;
            assert_true(same(hash, first));
        }
    }
}

static int compare(const void *a, const void *b)
{
    const struct el_hash *x = a, *y = b;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* States of machines are like this: mostly zero, with a few small numbers in them. */
static void structured_inputs_do_not_collide(void **state)
{
    struct el_hash *hashes = malloc(INPUTS * sizeof *hashes);
    assert_non_null(hashes);
    size_t count = 0;
    for (uint64_t a = 0; a < 20; a++)
        for (uint64_t b = 0; b < 20; b++)
            for (uint64_t c = 0; c < 150; c++) {
                const uint64_t words[] = {a, 0, b << 32, c, 0, a ^ b};
                hashes[count++] = el_fingerprint(words, sizeof words);
            }
    assert_int_equal(count, INPUTS);
    qsort(hashes, count, sizeof *hashes, compare);
    for (size_t i = 1; i < count; i++) {
        assert_int_not_equal(hashes[i].high, hashes[i - 1].high);
        assert_int_not_equal(hashes[i].low, hashes[i - 1].low);
    }
    free(hashes);
}

static void the_order_of_words_matters(void **state)
{
    const uint64_t ab[] = {1, 2}, ba[] = {2, 1};
    assert_false(same(el_fingerprint(ab, sizeof ab), el_fingerprint(ba, sizeof ba)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes_have_known_fingerprints),
        cmocka_unit_test(every_single_bit_changes_both_halves),
        cmocka_unit_test(about_half_of_all_bits_change_with_one),
        cmocka_unit_test(size_matters),
        cmocka_unit_test(alignment_does_not_matter),
        cmocka_unit_test(structured_inputs_do_not_collide),
        cmocka_unit_test(the_order_of_words_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
