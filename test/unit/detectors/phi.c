/*
 * The phi accrual detector: phi itself against values computed to fifty digits, and its rules on node 1 of three,
 * with an interval of one second.
 */
#include "detectors/phi.h"
#include "detectors/fixed.h"
#include "lib/node/crowd.h"
#include "lib/node/node.h"

/* ---- Phi ---- */

/* -1000 log10(erfc(y / sqrt 2) / 2), rounded down; y in thousandths. */
static const struct {
    int64_t y;
    uint32_t phi;
} reference[] = {
    {-4000, 0},     {-2500, 2},     {-2000, 9},     {-1000, 75},     {-500, 160},     {0, 301},
    {500, 510},     {1000, 799},    {1500, 1175},   {1999, 1641},    {2000, 1643},    {2001, 1644},
    {3000, 2869},   {4000, 4499},   {5000, 6542},   {5612, 7999},    {6000, 9005},    {8000, 15206},
    {10000, 23118}, {12000, 32750}, {20000, 88560}, {30000, 197309}, {37000, 299242}, {64000, 891640},
};

/* With a mean of 10^7 and a deviation of 1000 the elapsed time says y in thousandths. */
static uint32_t phi_of(int64_t y)
{
    return el_phi_thousandths((uint64_t)(10000000 + y), 10000000, 1000);
}

static void phi_is_the_tail_of_the_normal_distribution(void **state)
{
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++)
        assert_int_equal(phi_of(reference[i].y), reference[i].phi);
}

static void phi_is_sound_a_million_digits_out(void **state)
{
    assert_in_range(phi_of(1000000), 217150640 - 217, 217150640 + 217);
    assert_in_range(phi_of(4000000), 3474359856 - 3474, 3474359856 + 3474);
    const uint32_t last = phi_of(4096000);
    assert_in_range(last, 3643130000 - 3643, 3643130000 + 3643);
    assert_int_equal(phi_of(9000000), last);
    assert_int_equal(el_phi_thousandths(UINT64_MAX, 0, 1), last);
    assert_int_equal(el_phi_thousandths(UINT64_MAX, 0, 0), last);
    assert_int_equal(el_phi_thousandths(0, UINT64_MAX, 1), 0);
    assert_int_equal(el_phi_thousandths(7, 7, 0), 301);
}

static void phi_is_the_same_in_any_unit(void **state)
{
    const uint64_t huge = UINT64_MAX / 8;
    assert_int_equal(el_phi_thousandths(6 * huge, 2 * huge, huge), 4499);
    assert_int_equal(el_phi_thousandths(huge, 2 * huge, huge), 75);
    assert_int_equal(el_phi_thousandths(6, 2, 1), 4499);
}

static void phi_never_falls(void **state)
{
    uint32_t last = 0;
    for (uint64_t elapsed = 6000000; elapsed < 60000000; elapsed += elapsed < 13000000 ? 37 : 9973) {
        const uint32_t phi = el_phi_thousandths(elapsed, 10000000, 1000000);
        assert_true(phi >= last);
        last = phi;
    }
    assert_true(last > 540000);
    for (int64_t seam = -1; seam < 2; seam++) /* where one formula hands over to the other */
        for (uint64_t step = 0; step < 2000; step++)
            assert_true(el_phi_thousandths((uint64_t)(2000000 + seam * 1000) + step, 0, 1000000) <=
                        el_phi_thousandths((uint64_t)(2000000 + seam * 1000) + step + 1, 0, 1000000));
}

static void thresholds_have_their_deviations(void **state)
{
    static const struct {
        uint64_t threshold, millionths;
    } cases[] = {{1, 1281552},  {2, 2326348},  {3, 3090232},   {5, 4264891},    {8, 5612001},
                 {10, 6361341}, {16, 8222082}, {50, 14933338}, {100, 21273454}, {300, 37047096}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t found = el_phi_deviations(cases[i].threshold) * 1000000 >> PHI_DEVIATION_BITS;
        assert_in_range(found, cases[i].millionths - 3, cases[i].millionths + 3);
    }
}

static void logarithms_are_right_to_six_digits(void **state)
{
    static const struct {
        uint64_t number, millionths;
    } cases[] = {{1, 0},        {2, 301030},        {3, 477121},           {9, 954243},           {10, 1000000},
                 {64, 1806180}, {1000000, 6000000}, {UINT32_MAX, 9632960}, {UINT64_MAX, 19265920}};
    assert_int_equal(fixed_log10(0), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t found = (fixed_log10(cases[i].number) * 1000000 + (1 << (FIXED_BITS - 1))) >> FIXED_BITS;
        assert_in_range(found, cases[i].millionths ? cases[i].millionths - 1 : 0, cases[i].millionths + 1);
    }
}

/* ---- The machine ---- */

static void sit_among(uint32_t count)
{
    sit_down(el_detector_named("phi"), count, 1);
    option("threshold", 8);
    option("interval", SECOND);
    option("window", 100);
    option("min-deviation", 100 * MILLISECOND);
}

/* The first two samples are 0.75 s and 1.25 s: their deviation is 0.25 s, and 8 is 5.612 of those away. */
#define FIRST_WAIT "2403001000"
/* Where the deviation is the least allowed, 0.1 s. */
#define STEADY_WAIT "1561201000"

static void beats_at_once_and_expects_a_first_estimate(void **state)
{
    sit_among(3);
    starts();
    did("arm beat 1000000000; send 2,3 Heartbeat 1; arm silence@2 " FIRST_WAIT "; arm silence@3 " FIRST_WAIT);
    times_out("beat");
    did("arm beat 1000000000; send 2,3 Heartbeat 1");
}

static void may_be_given_another_first_estimate(void **state)
{
    sit_among(2);
    option("first-estimate", 400 * MILLISECOND);
    starts();
    did("arm beat 1000000000; send 2 Heartbeat 1; arm silence@2 961201000"); /* 0.4 + 5.612 * 0.1 */
}

static void accepts_a_pause_and_a_threshold(void **state)
{
    sit_among(2);
    option("pause", 3 * SECOND);
    option("threshold", 1);
    starts();
    did("arm beat 1000000000; send 2 Heartbeat 1; arm silence@2 4320389000"); /* 1 + 3 + 1.28155 * 0.25 */
}

static void measures_the_intervals(void **state)
{
    sit_among(2);
    option("window", 2);
    starts();
    hears_after(20 * MILLISECOND, 2, "Heartbeat 2"); /* since START: no interval */
    did("disarm confirm@2; arm silence@2 " FIRST_WAIT);
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 1826501000"); /* of 1.25 and 1: 1.125 + 5.612 * 0.125 */
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
    hears_after(3000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 7612002000"); /* of 1 and 3: 2 + 5.612 * 1 */
}

static void a_window_of_one_knows_no_deviation(void **state)
{
    sit_among(2);
    option("window", 0);
    starts();
    hears_after(0, 2, "Heartbeat 2");
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
}

/* Sums slide for ever and stay exact. */
static void forgets_what_has_left_the_window(void **state)
{
    sit_among(2);
    option("min-deviation", 1000);
    starts();
    hears_after(0, 2, "Heartbeat 2");
    for (uint64_t i = 0; i < 250; i++) hears_after((777777 + i * 997) * 1000, 2, "Heartbeat 2");
    for (uint64_t i = 0; i < 99; i++) hears_after(SECOND, 2, "Heartbeat 2");
    hears_after(SECOND + 10000, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 1000006000"); /* sd of 99 times 0 and one 10: 0.99 -> the least, 1 us */
    hears_after(SECOND + 90000, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 1000052000"); /* mean + 1 us, sd 8.99 -> 8: 44.9 -> 44 + 1 */
}

static void looks_once_more_before_it_accuses(void **state)
{
    sit_among(3);
    starts();
    times_out_for("silence", 2);
    did("note misses 2; arm confirm@2 1");
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2"); /* it waited to be read */
    did("disarm confirm@2; arm silence@2 " FIRST_WAIT);
    times_out_for("silence", 2);
    times_out_for("confirm", 2);
    did("note accuses 2 8; accuse 2");
}

/* Six seconds asleep, and six beats that waited. */
static void a_pause_of_its_own_is_not_learned(void **state)
{
    sit_among(2);
    option("window", 10);
    starts();
    for (int i = 0; i < 11; i++) hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
    times_out_for("silence", 2);
    hears_after(6000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
    for (int i = 0; i < 5; i++) hears_after(0, 2, "Heartbeat 2");
    hears_after(249 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
    hears_after(250 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 2187701000"); /* nine times 1 and a quarter: 0.925 + 5.612 * 0.225 */
}

static void a_silence_that_was_a_suspicion_is_not_learned(void **state)
{
    sit_among(2);
    option("window", 2);
    starts();
    hears_after(0, 2, "Heartbeat 2");
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    times_out_for("silence", 2);
    times_out_for("confirm", 2);
    hears_after(1600 * MILLISECOND, 2, "Heartbeat 2"); /* six deviations */
    did("note returns 2 9005; clear 2; disarm confirm@2; arm silence@2 " STEADY_WAIT);
    hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
}

static void the_dead_do_not_make_it_patient(void **state)
{
    sit_among(2);
    starts();
    times_out_for("silence", 2);
    times_out_for("confirm", 2);
    hears_after(UINT64_MAX, 2, "Heartbeat 2");
    did("note returns 2 3643130173; clear 2; disarm confirm@2; arm silence@2 " FIRST_WAIT);
}

static void absurd_numbers_are_bounded(void **state)
{
    sit_down(el_detector_named("phi"), 2, 1);
    for (uint32_t i = 0; i < 6; i++) seat.options[i].number = UINT64_MAX;
    starts();
    hears_after(UINT64_MAX, 2, "Heartbeat 2");
    for (int i = 0; i < 300; i++) hears_after(UINT64_MAX, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 10481625345000"); /* three hours, for a window of 268 s */
    sit_down(el_detector_named("phi"), 2, 1);
    starts();
    did("arm beat 0; send 2 Heartbeat 1; arm silence@2 1000"); /* and nothing is 0 for ever */
}

/* ---- A crowd ---- */

static void four_with_habits(void)
{
    gather("phi", 4);
    crowd_option("threshold", 8);
    crowd_option("interval", SECOND);
    crowd_option("window", 100);
    crowd_option("min-deviation", 100 * MILLISECOND);
    all_start();
}

static void a_crash_is_noticed_after_one_interval_and_six_tenths(void **state)
{
    four_with_habits();
    live(300 * SECOND);
    assert_int_equal(crowd.accusations, 0);
    kills(4);
    live(1561 * MILLISECOND + crowd.delay);
    assert_string_equal(suspicions(), "");
    live(2 * MILLISECOND);
    assert_string_equal(suspicions(), "1:4 2:4 3:4");
    revives(4);
    live(60 * SECOND);
    assert_string_equal(suspicions(), "");
    assert_int_equal(crowd.accusations, 3);
}

static void who_never_beat_is_noticed_too(void **state)
{
    four_with_habits();
    kills(3);
    for (size_t i = 0; i < crowd.post_count; i++)
        if (crowd.post[i].msg.from == 3) crowd.post[i].msg.to = 3; /* its first beat never arrived */
    live(2404 * MILLISECOND);
    assert_string_equal(suspicions(), "");
    live(MILLISECOND);
    assert_string_equal(suspicions(), "1:3 2:3 4:3");
}

/* The same silence, which a steady member is accused for, is forgiven to one that beats at odd times. */
static void jitter_makes_it_patient(void **state)
{
    sit_among(3);
    starts();
    hears_after(0, 2, "Heartbeat 2");
    hears_after(0, 3, "Heartbeat 3");
    for (int i = 0; i < 100; i++) hears_after(1000 * MILLISECOND, 2, "Heartbeat 2");
    did("disarm confirm@2; arm silence@2 " STEADY_WAIT);
    for (int i = 0; i < 100; i++) hears_after((i % 2 ? 500 : 1500) * MILLISECOND, 3, "Heartbeat 3");
    did("disarm confirm@3; arm silence@3 3806001000"); /* 1 + 5.612 * 0.5 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phi_is_the_tail_of_the_normal_distribution),
        cmocka_unit_test(phi_is_sound_a_million_digits_out),
        cmocka_unit_test(phi_is_the_same_in_any_unit),
        cmocka_unit_test(phi_never_falls),
        cmocka_unit_test(thresholds_have_their_deviations),
        cmocka_unit_test(logarithms_are_right_to_six_digits),
        cmocka_unit_test(beats_at_once_and_expects_a_first_estimate),
        cmocka_unit_test(may_be_given_another_first_estimate),
        cmocka_unit_test(accepts_a_pause_and_a_threshold),
        cmocka_unit_test(measures_the_intervals),
        cmocka_unit_test(a_window_of_one_knows_no_deviation),
        cmocka_unit_test(forgets_what_has_left_the_window),
        cmocka_unit_test(looks_once_more_before_it_accuses),
        cmocka_unit_test(a_pause_of_its_own_is_not_learned),
        cmocka_unit_test(a_silence_that_was_a_suspicion_is_not_learned),
        cmocka_unit_test(the_dead_do_not_make_it_patient),
        cmocka_unit_test(absurd_numbers_are_bounded),
        cmocka_unit_test(a_crash_is_noticed_after_one_interval_and_six_tenths),
        cmocka_unit_test(who_never_beat_is_noticed_too),
        cmocka_unit_test(jitter_makes_it_patient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
