/* The dice: the same numbers on every machine, one stream for each purpose, and fair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/world/random.h"

enum { THROWS = 300000, EXPONENTIALS = 1000000 };

static struct sim_random seeded(uint64_t seed, uint64_t stream)
{
    struct sim_random dice;
    sim_random_seed(&dice, seed, stream);
    return dice;
}

static void the_first_numbers_of_each_stream_are_known(void **state)
{
    static const struct {
        uint64_t seed, stream, numbers[3];
    } known[] = {
        {1, 0, {UINT64_C(0x5858FC074EF2CB9C), UINT64_C(0x0BCBB32585CBF0C0), UINT64_C(0xF1AF7C3492BAC3FC)}},
        {1, 1, {UINT64_C(0x757B740A2E2EB870), UINT64_C(0x98DD24A4E8B91380), UINT64_C(0xCF7DAA80B453531C)}},
        {1, 2, {UINT64_C(0x5072F87657172324), UINT64_C(0xAEF14AC4878A47A7), UINT64_C(0xE04C4D09A24A7152)}},
        {UINT64_MAX,
         7,
         {UINT64_C(0xA656377993975D98), UINT64_C(0x532E2F4DAB0F61DE), UINT64_C(0xAD5141DED420914D)}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct sim_random dice = seeded(known[i].seed, known[i].stream);
        for (int k = 0; k < 3; k++) assert_int_equal(sim_random_next(&dice), known[i].numbers[k]);
    }
}

static void neighbouring_seeds_and_streams_have_nothing_in_common(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++)
        for (uint64_t stream = 0; stream < 20; stream++) {
            struct sim_random a = seeded(seed, stream), b = seeded(seed + 1, stream),
                              c = seeded(seed, stream + 1);
            for (int i = 0; i < 20; i++) {
                const uint64_t drawn = sim_random_next(&a);
                assert_int_not_equal(drawn, sim_random_next(&b));
                assert_int_not_equal(drawn, sim_random_next(&c));
            }
        }
}

static void every_number_below_is_as_likely_as_any_other(void **state)
{
    static const uint64_t sides[] = {2, 3, 6, 7, 10};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct sim_random dice = seeded(3, i);
        uint64_t counts[10] = {0};
        for (int k = 0; k < THROWS; k++) {
            const uint64_t drawn = sim_random_below(&dice, sides[i]);
            assert_true(drawn < sides[i]);
            counts[drawn]++;
        }
        const uint64_t fair = THROWS / sides[i];
        for (uint64_t k = 0; k < sides[i]; k++) assert_in_range(counts[k], fair * 97 / 100, fair * 103 / 100);
    }
}

static void below_one_is_zero(void **state)
{
    struct sim_random dice = seeded(1, 0);
    for (int i = 0; i < 100; i++) assert_int_equal(sim_random_below(&dice, 1), 0);
}

/* Just above half of all numbers: every other draw must be thrown away, and the mean stays in the middle. */
static void large_limits_are_fair_as_well(void **state)
{
    const uint64_t limit = (UINT64_C(1) << 63) + 1;
    struct sim_random dice = seeded(5, 0);
    uint64_t upper = 0;
    for (int i = 0; i < THROWS; i++) {
        const uint64_t drawn = sim_random_below(&dice, limit);
        assert_true(drawn < limit);
        upper += drawn >= limit / 2;
    }
    assert_in_range(upper, THROWS * 49 / 100, THROWS * 51 / 100);
    for (int i = 0; i < 100; i++) assert_true(sim_random_below(&dice, UINT64_MAX) < UINT64_MAX);
}

static void no_chance_never_happens_and_throws_no_dice(void **state)
{
    struct sim_random dice = seeded(1, 0);
    const uint64_t before = dice.state;
    for (int i = 0; i < THROWS; i++) assert_false(sim_random_chance(&dice, 0));
    assert_int_equal(dice.state, before);
}

static void certainty_always_happens(void **state)
{
    struct sim_random dice = seeded(1, 0);
    for (int i = 0; i < THROWS; i++) assert_true(sim_random_chance(&dice, SIM_CERTAIN));
}

static void a_chance_happens_as_often_as_it_says(void **state)
{
    for (uint64_t percent = 10; percent < 100; percent += 20) {
        struct sim_random dice = seeded(9, percent);
        uint64_t happened = 0;
        for (int i = 0; i < THROWS; i++) happened += sim_random_chance(&dice, SIM_CERTAIN * percent / 100);
        assert_in_range(happened, THROWS * percent / 100 - THROWS / 200, THROWS * percent / 100 + THROWS / 200);
    }
}

static void the_exponential_has_its_mean_and_its_tail(void **state)
{
    static const uint64_t means[] = {1000, 65535, 1000000, UINT64_C(1000000000000)};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct sim_random dice = seeded(4, i);
        uint64_t sum = 0, beyond = 0;
        for (int k = 0; k < EXPONENTIALS; k++) {
            const uint64_t drawn = sim_random_exponential(&dice, means[i]);
            sum += drawn / (means[i] / 1000); /* in thousandths */
            beyond += drawn > means[i];
            assert_true(drawn <= 45 * means[i]); /* 64 ln 2: no number of 64 bits is smaller than 2^-64 */
        }
        const uint64_t mean = sum / (EXPONENTIALS / 1000); /* in millionths */
        assert_in_range(mean, 990000, 1010000);
        assert_in_range(beyond, EXPONENTIALS / 1000 * 364, EXPONENTIALS / 1000 * 372); /* 1/e */
    }
}

static void an_exponential_of_mean_zero_is_zero(void **state)
{
    struct sim_random dice = seeded(4, 0);
    for (int i = 0; i < 100; i++) assert_int_equal(sim_random_exponential(&dice, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_numbers_of_each_stream_are_known),
        cmocka_unit_test(neighbouring_seeds_and_streams_have_nothing_in_common),
        cmocka_unit_test(every_number_below_is_as_likely_as_any_other),
        cmocka_unit_test(below_one_is_zero),
        cmocka_unit_test(large_limits_are_fair_as_well),
        cmocka_unit_test(no_chance_never_happens_and_throws_no_dice),
        cmocka_unit_test(certainty_always_happens),
        cmocka_unit_test(a_chance_happens_as_often_as_it_says),
        cmocka_unit_test(the_exponential_has_its_mean_and_its_tail),
        cmocka_unit_test(an_exponential_of_mean_zero_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
