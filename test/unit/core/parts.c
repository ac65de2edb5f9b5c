/*
 * The parts beside an election: lease times are exact to the nanosecond and err on the safe side, a guard never
 * goes back, a member that fails again and again loses its rank and earns it back.
 */
#include "lib/node/trap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elector/parts.h"
#include "sim/world/random.h"

#define MS UINT64_C(1000000)

__extension__ typedef unsigned __int128 wide;

/* ---- Leases ---- */

enum { WHOLE = 1000000, TRIES = 200000 };

/* D (1 + rho) <= P (1 - rho), in whole numbers. */
static bool is_over_first(el_duration lease, el_duration promise, uint32_t drift)
{
    return (wide)lease * (WHOLE + drift) <= (wide)promise * (WHOLE - drift);
}

static void known_leases(void **state)
{
    static const struct {
        el_duration promise, lease;
        uint32_t drift;
    } known[] = {
        {1000 * MS, 990049751, 5000},    /* 990.05 ms */
        {2000 * MS, 1636363636, 100000}, /* 1636.36 ms */
        {1000 * MS, 1000 * MS, 0},       /* perfect clocks */
        {1000 * MS, 333333333, 500000},  /* one may be three times as fast as another */
        {1000 * MS, 500, 999999},        /* two million times */
        {0, 0, 5000},                    /* */
        {1, 0, 1},                       /* the least drift costs a whole nanosecond of one */
        {UINT64_MAX / 4, UINT64_MAX / 4, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(el_lease_held(known[i].promise, known[i].drift), known[i].lease);
}

static void known_promises(void **state)
{
    static const struct {
        el_duration lease, promise;
        uint32_t drift;
    } known[] = {
        {1000 * MS, 1010050252, 5000}, /* rounded up */
        {990049751, 1000 * MS, 5000},  /* and back */
        {1636363636, 2000 * MS, 100000},
        {1000 * MS, 1000 * MS, 0},
        {1, 3, 500000},
        {1, 2, 1},
        {1, 1999999, 999999},
        {0, 0, 999999},
        {7200000 * MS, UINT64_C(7272361809046), 5000}, /* two hours */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(el_lease_promised(known[i].lease, known[i].drift), known[i].promise);
}

/* What a promise allows is over first, and a nanosecond more would not be. */
static void held_is_the_longest(el_duration promise, uint32_t drift)
{
    const el_duration held = el_lease_held(promise, drift);
    assert_true(held <= promise);
    assert_true(is_over_first(held, promise, drift));
    assert_false(is_over_first(held + 1, promise, drift));
    assert_true(el_lease_promised(held, drift) <= promise); /* no more is needed than was promised */
}

/* What a lease needs is enough, a nanosecond less would not be, and nothing of it is wasted: it allows that
 * same lease. */
static void promised_is_the_shortest(el_duration lease, uint32_t drift)
{
    const el_duration promised = el_lease_promised(lease, drift);
    assert_true(promised >= lease);
    assert_true(is_over_first(lease, promised, drift));
    assert_true(promised == 0 || !is_over_first(lease, promised - 1, drift));
    assert_int_equal(el_lease_held(promised, drift), lease);
}

/* The longest lease whose promise stays in what el_lease_held takes, and the conversions with it. */
static el_duration longest(uint32_t drift)
{
    return UINT64_MAX / 8 / (WHOLE + drift) * (WHOLE - drift);
}

static void the_holders_time_is_over_first_whatever_the_drift(void **state)
{
    static const uint32_t drifts[] = {0, 1, 2, 5000, 100000, 499999, 500000, 999998, 999999};
    for (size_t i = 0; i < sizeof drifts / sizeof *drifts; i++) {
        const uint32_t drift = drifts[i];
        const uint64_t steps[] = {0, WHOLE - drift, WHOLE + drift, 3 * (uint64_t)WHOLE, longest(drift)};
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            for (uint64_t off = 0; off < 3; off++) { /* just below, at and above where rounding turns */
                if (steps[k] + off < 1) continue;
                held_is_the_longest(steps[k] + off - 1, drift);
                if (steps[k] + off - 1 <= longest(drift)) promised_is_the_shortest(steps[k] + off - 1, drift);
            }
        }
        held_is_the_longest(UINT64_MAX / 4, drift);
    }
    struct sim_random dice;
    sim_random_seed(&dice, 1, 0);
    for (int i = 0; i < TRIES; i++) {
        const uint32_t drift = (uint32_t)sim_random_below(&dice, WHOLE);
        const unsigned shorter = (unsigned)sim_random_below(&dice, 60); /* of every size */
        held_is_the_longest(sim_random_below(&dice, UINT64_MAX / 4 + 1) >> shorter, drift);
        promised_is_the_shortest(sim_random_below(&dice, longest(drift) + 1) >> shorter, drift);
    }
}

static volatile el_duration ignored;

static void holds_with_a_drift_of_all(void)
{
    ignored = el_lease_held(MS, WHOLE);
}

static void bounds_with_a_drift_of_all(void)
{
    ignored = el_lease_promised(MS, WHOLE);
}

static void holds_for_ever(void)
{
    ignored = el_lease_held(UINT64_MAX / 4 + 1, 5000);
}

static void bounds_for_ever(void)
{
    ignored = el_lease_promised(UINT64_MAX, 5000);
}

static void bounds_more_than_there_is(void)
{
    ignored = el_lease_promised(10000000 * MS, 999999); /* less than three hours, two million times */
}

static void no_mercy_at_all(void)
{
    struct el_quality quality = {0};
    el_quality_failed(&quality, MS, 0);
}

static void no_mercy_in_the_end(void)
{
    const struct el_quality quality = {0};
    ignored = el_quality_attribute(&quality, 1, MS, 0);
}

static void a_programmers_error_traps(void **state)
{
    assert_true(traps(holds_with_a_drift_of_all));
    assert_true(traps(bounds_with_a_drift_of_all));
    assert_true(traps(holds_for_ever));
    assert_true(traps(bounds_for_ever));
    assert_true(traps(bounds_more_than_there_is));
    assert_true(traps(no_mercy_at_all));
    assert_true(traps(no_mercy_in_the_end));
}

/* ---- The guard ---- */

static void a_guard_admits_the_newest_and_refuses_all_others(void **state)
{
    struct el_guard guard = {0};
    assert_int_equal(el_guard_admit(&guard, 7), EL_ADMITTED_NEWER);
    assert_int_equal(el_guard_admit(&guard, 7), EL_ADMITTED);
    assert_int_equal(el_guard_admit(&guard, 7), EL_ADMITTED);
    assert_int_equal(el_guard_admit(&guard, 6), EL_REFUSED);
    assert_int_equal(el_guard_admit(&guard, 8), EL_ADMITTED_NEWER); /* others may be skipped */
    assert_int_equal(el_guard_admit(&guard, 7), EL_REFUSED);
    assert_int_equal(el_guard_admit(&guard, UINT64_MAX), EL_ADMITTED_NEWER);
    assert_int_equal(el_guard_admit(&guard, UINT64_MAX), EL_ADMITTED);
    assert_int_equal(el_guard_admit(&guard, UINT64_MAX - 1), EL_REFUSED);
    assert_int_equal(guard.highest, UINT64_MAX);
}

static void nobodys_token_is_refused(void **state)
{
    struct el_guard guard = {0};
    assert_int_equal(el_guard_admit(&guard, 0), EL_REFUSED);
    assert_int_equal(guard.highest, 0);
    assert_int_equal(el_guard_admit(&guard, 1), EL_ADMITTED_NEWER);
    assert_int_equal(el_guard_admit(&guard, 0), EL_REFUSED);
    assert_int_equal(guard.highest, 1);
}

static void a_guard_never_goes_back(void **state)
{
    struct el_guard guard = {0};
    struct sim_random dice;
    sim_random_seed(&dice, 2, 0);
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = guard.highest, token = sim_random_below(&dice, (uint64_t)i + 1);
        const enum el_guarded said = el_guard_admit(&guard, token);
        assert_int_equal(said == EL_REFUSED, token == 0 || token < before);
        assert_int_equal(said == EL_ADMITTED_NEWER, token > before);
        assert_int_equal(guard.highest, token > before ? token : before);
    }
}

static void a_guard_comes_back_from_its_record(void **state)
{
    static const uint64_t tokens[] = {0,         1, 2, 255, 256, EL_EPOCH_MAX - 1, UINT64_C(0x0123456789ABCDEF),
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const struct el_guard saved = {tokens[i]};
        struct el_guard loaded = {0};
        uint8_t record[EL_GUARD_SIZE];
        el_guard_save(&saved, record);
        assert_memory_equal(record, "elguard1", 8);
        assert_true(el_guard_load(&loaded, record, sizeof record));
        assert_int_equal(loaded.highest, tokens[i]);
    }
}

static void an_old_record_does_not_lower_a_guard(void **state)
{
    uint8_t record[EL_GUARD_SIZE];
    el_guard_save(&(struct el_guard){5}, record);
    struct el_guard guard = {9};
    assert_true(el_guard_load(&guard, record, sizeof record));
    assert_int_equal(guard.highest, 9);
    guard.highest = 4;
    assert_true(el_guard_load(&guard, record, sizeof record));
    assert_int_equal(guard.highest, 5);
}

/* It is no record, and the guard is as it was. */
static void no_record(const uint8_t *record, size_t size)
{
    struct el_guard guard = {3};
    assert_false(el_guard_load(&guard, record, size));
    assert_int_equal(guard.highest, 3);
}

static void a_record_with_any_byte_changed_is_none(void **state)
{
    uint8_t record[EL_GUARD_SIZE];
    el_guard_save(&(struct el_guard){UINT64_C(0x1122334455667788)}, record);
    for (size_t at = 0; at < sizeof record; at++) {
        const uint8_t good = record[at];
        for (unsigned change = 1; change < 256; change++) { /* every bit among them */
            record[at] = (uint8_t)(good ^ change);
            no_record(record, sizeof record);
        }
        record[at] = good;
    }
    assert_true(el_guard_load(&(struct el_guard){0}, record, sizeof record));
}

static void a_record_of_another_size_is_none(void **state)
{
    uint8_t record[2 * EL_GUARD_SIZE] = {0};
    no_record(record, EL_GUARD_SIZE); /* all zero: never written */
    el_guard_save(&(struct el_guard){7}, record);
    for (size_t size = 0; size <= sizeof record; size++)
        if (size != EL_GUARD_SIZE) no_record(record, size);
    no_record(NULL, 0);
}

/* ---- Quality ---- */

static struct el_quality after_failures(unsigned failures)
{
    struct el_quality quality = {0};
    while (failures-- > 0) el_quality_failed(&quality, MS, 10 * MS);
    return quality;
}

static void each_failure_doubles_the_penalty_up_to_a_limit(void **state)
{
    for (unsigned failures = 1; failures <= 21; failures++)
        assert_int_equal(after_failures(failures).penalty, UINT64_C(1) << (failures - 1));
    assert_int_equal(after_failures(21).penalty, EL_PENALTY_MAX);
    assert_int_equal(after_failures(22).penalty, EL_PENALTY_MAX);
    assert_int_equal(after_failures(1000).penalty, EL_PENALTY_MAX);
}

static void each_mercy_of_uptime_halves_it(void **state)
{
    const struct el_quality eight = after_failures(4);
    static const struct {
        el_duration uptime;
        uint64_t attribute;
    } cases[] = {
        {0, 92},         {10 * MS - 1, 92}, {10 * MS, 96},     {20 * MS - 1, 96},
        {20 * MS, 98},   {30 * MS, 99},     {40 * MS - 1, 99}, {40 * MS, 100},
        {639 * MS, 100}, {640 * MS, 100},   {650 * MS, 100},   {UINT64_MAX, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(el_quality_attribute(&eight, 100, cases[i].uptime, 10 * MS), cases[i].attribute);
    assert_int_equal(el_quality_attribute(&eight, 100, UINT64_MAX, 1), 100); /* more halves than bits */
}

static void what_uptime_has_made_up_for_is_not_doubled(void **state)
{
    struct el_quality quality = after_failures(4);
    el_quality_failed(&quality, 20 * MS, 10 * MS); /* 8, then 2, then 4 */
    assert_int_equal(quality.penalty, 4);
    el_quality_failed(&quality, 640 * MS, 10 * MS); /* all is forgiven: the first failure again */
    assert_int_equal(quality.penalty, 1);
    quality.penalty = EL_PENALTY_MAX;
    el_quality_failed(&quality, 10 * MS, 10 * MS);
    assert_int_equal(quality.penalty, EL_PENALTY_MAX);
    quality.penalty = EL_PENALTY_MAX / 2 - 1;
    el_quality_failed(&quality, 0, 10 * MS);
    assert_int_equal(quality.penalty, EL_PENALTY_MAX - 2);
}

static void an_attribute_never_falls_below_nothing(void **state)
{
    const struct el_quality eight = after_failures(4), none = {0};
    static const struct {
        uint64_t priority, attribute;
    } cases[] = {{0, 0}, {7, 0}, {8, 0}, {9, 1}, {UINT64_MAX, UINT64_MAX - 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(el_quality_attribute(&eight, cases[i].priority, 0, MS), cases[i].attribute);
        assert_int_equal(el_quality_attribute(&none, cases[i].priority, 0, MS), cases[i].priority);
    }
    struct el_quality broken = {UINT64_MAX}; /* as read from a bad record */
    assert_int_equal(el_quality_attribute(&broken, 5, 0, MS), 0);
    el_quality_failed(&broken, 0, MS);
    assert_int_equal(broken.penalty, EL_PENALTY_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_leases),
        cmocka_unit_test(known_promises),
        cmocka_unit_test(the_holders_time_is_over_first_whatever_the_drift),
        cmocka_unit_test(a_programmers_error_traps),
        cmocka_unit_test(a_guard_admits_the_newest_and_refuses_all_others),
        cmocka_unit_test(nobodys_token_is_refused),
        cmocka_unit_test(a_guard_never_goes_back),
        cmocka_unit_test(a_guard_comes_back_from_its_record),
        cmocka_unit_test(an_old_record_does_not_lower_a_guard),
        cmocka_unit_test(a_record_with_any_byte_changed_is_none),
        cmocka_unit_test(a_record_of_another_size_is_none),
        cmocka_unit_test(each_failure_doubles_the_penalty_up_to_a_limit),
        cmocka_unit_test(each_mercy_of_uptime_halves_it),
        cmocka_unit_test(what_uptime_has_made_up_for_is_not_doubled),
        cmocka_unit_test(an_attribute_never_falls_below_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
