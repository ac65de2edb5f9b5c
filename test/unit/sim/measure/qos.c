/*
 * What a failure detector is worth: hand-counted recordings, the tally of suspicions at its edges, runs with
 * and without crashes, recordings that cannot be read, and the drawing.
 */
#include "sim/measure/qos.h"

#include <unistd.h>

#include "lib/sim/exports.h"
#include "sim/measure/tradeoff.h"

#include "lib/scratch.h"

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct sim_settings settings;
static struct sim_plan plan;
static struct sim_error error;
static struct sim_qos qos;

/* ---- The network and the detector ---- */

static void network(const story told)
{
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    for (size_t i = 0; told[i]; i += 2) assert_true(sim_settings_add(&settings, told[i], told[i + 1], 0, 0));
    if (sim_plan_build_for(&plan, &sim_watcher, &settings, &error) != 0) fail_msg("%s", error.text);
}

static void replay(const char *detector, const sim_time *ms, size_t count)
{
    sim_time times[300];
    assert_true(count <= 300);
    for (size_t i = 0; i < count; i++) times[i] = ms[i] * MS;
    network((story){"nodes", "2", "detector", detector, NULL});
    assert_true(sim_qos_can_replay(plan.detector));
    const struct sim_arrivals arrivals = {times, count};
    assert_int_equal(sim_qos_replay(&qos, &plan, &arrivals), SIM_MEASURED);
}

static int clear(void **state)
{
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return 0;
}

/* ---- Recordings ---- */

/* Silent for 4 s and for 5.5 s: suspected after 3 s, for 1 s and for 2.5 s, of 14 s in all. */
static const sim_time two_gaps[] = {0, 1000, 2000, 6000, 7000, 12500, 13000, 14000};

static void a_threshold_makes_just_these_mistakes(void **state)
{
    replay("heartbeat:interval=1s,threshold=3", two_gaps, 8);
    assert_int_equal(qos.mistakes, 2);
    assert_int_equal(qos.mistaken, 3500 * MS);
    assert_int_equal(qos.watched, 14 * SECOND);
    assert_int_equal(sim_qos_recurrence(&qos), 7 * SECOND);
    assert_int_equal(sim_qos_duration(&qos), 1750 * MS);
    assert_true(sim_qos_accuracy(&qos) == 0.75);
    assert_int_equal(sim_qos_mistakes_per_hour(&qos) * 1000, 514285); /* 2 in 14 s */
    assert_int_equal(qos.messages + qos.node_time, 0);
}

static void the_end_of_a_recording_is_a_crash_and_no_mistake(void **state)
{
    replay("heartbeat:interval=1s,threshold=3", two_gaps, 8);
    assert_int_equal(qos.noticed, 1);
    assert_int_equal(qos.unnoticed, 0);
    assert_int_equal(sim_qos_detection(&qos), 3 * SECOND);
    assert_int_equal(qos.detection_max, 3 * SECOND);
}

static void a_higher_threshold_makes_fewer(void **state)
{
    static const struct {
        const char *detector;
        uint64_t mistakes, mistaken_ms;
    } cases[] = {
        {"heartbeat:interval=1s,threshold=1", 2, 3000 + 4500}, /* what comes in time is no mistake */
        {"heartbeat:interval=1s,threshold=4", 1, 1500},        /* 4 s of silence are just in time */
        {"heartbeat:interval=1s,threshold=5", 1, 500},
        {"heartbeat:interval=1s,threshold=6", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        replay(cases[i].detector, two_gaps, 8);
        assert_int_equal(qos.mistakes, cases[i].mistakes);
        assert_int_equal(qos.mistaken, cases[i].mistaken_ms * MS);
    }
}

static void phi_learns_a_steady_habit(void **state)
{
    sim_time beats[200];
    for (size_t i = 0; i < 200; i++) beats[i] = 500 * i;
    replay("phi:8,interval=500ms,min-deviation=20ms", beats, 200);
    assert_int_equal(qos.mistakes, 0);
    assert_true(sim_qos_accuracy(&qos) == 1);
    assert_in_range(sim_qos_detection(&qos), 612 * MS, 613 * MS); /* 500 ms and 5.612 deviations */
}

static void only_those_that_judge_by_arrivals_are_replayed(void **state)
{
    assert_true(sim_qos_can_replay(el_detector_named("heartbeat")));
    assert_true(sim_qos_can_replay(el_detector_named("phi")));
    assert_false(sim_qos_can_replay(el_detector_named("swim")));
    assert_false(sim_qos_can_replay(el_detector_named("path")));
}

static void a_recording_that_takes_too_many_beats_is_given_up(void **state)
{
    sim_time times[] = {0, 1000 * SECOND};
    const struct sim_arrivals arrivals = {times, 2};
    network((story){"nodes", "2", "detector", "heartbeat:interval=1us,threshold=4000000000", NULL});
    plan.event_max = 1000;
    assert_int_equal(sim_qos_replay(&qos, &plan, &arrivals), SIM_TOO_MUCH);
}

/* ---- The tally ---- */

static void only_what_lies_within_the_time_watched_counts(void **state)
{
    static const struct {
        sim_time began, ended; /* SIM_NEVER: it lasts */
        uint64_t mistakes;
        sim_time mistaken;
    } cases[] = {
        {12, 15, 1, 3},        {5, 12, 1, 2},         {18, 25, 1, 2},        {5, 25, 1, 10}, {1, 9, 0, 0},
        {1, 10, 0, 0},         {10, 10, 1, 0},        {20, 25, 0, 0},        {21, 25, 0, 0}, {15, 15, 1, 0},
        {19, SIM_NEVER, 1, 1}, {2, SIM_NEVER, 1, 10}, {20, SIM_NEVER, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_tally tally;
        memset(&qos, 0, sizeof qos);
        assert_true(sim_tally_open(&tally, &qos, 3, 10, 20));
        sim_tally_verdict(&tally, cases[i].began, 2, 3, true);
        if (cases[i].ended != SIM_NEVER) sim_tally_verdict(&tally, cases[i].ended, 2, 3, false);
        sim_tally_close(&tally);
        sim_tally_free(&tally);
        assert_int_equal(qos.mistakes, cases[i].mistakes);
        assert_int_equal(qos.mistaken, cases[i].mistaken);
    }
}

static void each_pair_has_its_own_entry(void **state)
{
    struct sim_tally tally;
    memset(&qos, 0, sizeof qos);
    assert_true(sim_tally_open(&tally, &qos, 3, 0, 100));
    sim_tally_verdict(&tally, 10, 1, 2, true);
    sim_tally_verdict(&tally, 20, 2, 1, true);
    sim_tally_verdict(&tally, 25, 1, 3, false); /* trusted anyway */
    sim_tally_verdict(&tally, 30, 1, 2, false);
    sim_tally_close(&tally);
    assert_int_equal(qos.mistakes, 2);
    assert_int_equal(qos.mistaken, 20 + 80);
    sim_tally_free(&tally);
}

static void a_crash_is_noticed_when_the_last_suspicion_begins(void **state)
{
    struct sim_tally tally;
    memset(&qos, 0, sizeof qos);
    assert_true(sim_tally_open(&tally, &qos, 4, 0, 0));
    sim_tally_verdict(&tally, 40, 1, 4, true); /* before the crash, and rightly since */
    sim_tally_verdict(&tally, 60, 2, 4, true);
    sim_tally_verdict(&tally, 65, 2, 4, false); /* a beat that was still on its way */
    sim_tally_verdict(&tally, 80, 2, 4, true);
    assert_false(sim_tally_all_noticed(&tally, 4));
    for (el_node survivor = 1; survivor <= 3; survivor++) sim_tally_crash(&tally, 4, survivor, 50);
    assert_int_equal(qos.noticed, 2);
    assert_int_equal(qos.unnoticed, 1);
    assert_int_equal(qos.detection_max, 30);
    assert_int_equal(sim_qos_detection(&qos), 15);
    assert_int_equal(qos.mistakes, 0);
    sim_tally_verdict(&tally, 90, 3, 4, true);
    assert_true(sim_tally_all_noticed(&tally, 4));
    sim_tally_free(&tally);
}

static void nothing_measured_divides_by_nothing(void **state)
{
    memset(&qos, 0, sizeof qos);
    assert_int_equal(sim_qos_detection(&qos) + sim_qos_duration(&qos) + sim_qos_recurrence(&qos), 0);
    assert_true(sim_qos_accuracy(&qos) == 0 && sim_qos_mistakes_per_hour(&qos) == 0 &&
                sim_qos_messages_per_second(&qos) == 0);
}

/* ---- Simulated ---- */

static void simulate(const story told, uint64_t seconds, uint32_t runs)
{
    network(told);
    assert_int_equal(sim_qos_simulate(&qos, &plan, seconds * SECOND, runs), SIM_MEASURED);
}

static void three_intervals_notice_a_crash_within_three_and_a_delay(void **state)
{
    simulate((story){"nodes", "3", "delay", "10ms", "detector", "heartbeat", NULL}, 600, 40);
    assert_int_equal(qos.mistakes, 0);
    assert_int_equal(qos.watched, 3600 * SECOND);
    assert_int_equal(qos.noticed, 80);
    assert_int_equal(qos.unnoticed, 0);
    assert_in_range(sim_qos_detection(&qos), 2300 * MS, 2700 * MS);
    assert_in_range(qos.detection_max, 2800 * MS, 3010 * MS);
    assert_int_equal(qos.messages / 6, qos.node_time / 3 / SECOND + 1); /* one at the start, too */
}

static void a_pause_is_a_mistake_on_both_sides(void **state)
{
    /* 2 last hears a beat of 999 s and suspects 3 s later, until that of 1010 s; 1 wakes up and suspects what
     * it has not read yet. */
    simulate((story){"nodes", "2", "delay", "10ms", "detector", "heartbeat", "pause", "1@1000s..1010s", NULL},
             3600, 1);
    assert_int_equal(qos.mistakes, 2);
    assert_int_equal(qos.mistaken, 8 * SECOND);
    simulate((story){"nodes", "2", "delay", "10ms", "detector", "heartbeat", "pause", "1@20s..30s", NULL}, 3600,
             1);
    assert_int_equal(qos.mistakes, 0); /* not watched yet */
}

static void a_patient_detector_is_waited_for(void **state)
{
    simulate((story){"nodes", "2", "delay", "10ms", "detector", "heartbeat:threshold=200", NULL}, 60, 3);
    assert_int_equal(qos.noticed, 3);
    assert_in_range(sim_qos_detection(&qos), 199 * SECOND, 201 * SECOND);
    assert_true(qos.patience >= 200 * SECOND);
}

static void of_two_members_path_never_suspects(void **state)
{
    simulate((story){"nodes", "2", "delay", "10ms", "detector", "path", NULL}, 60, 2);
    assert_int_equal(qos.noticed, 0);
    assert_int_equal(qos.unnoticed, 2);
    assert_int_equal(sim_qos_detection(&qos), 0);
}

static void a_seed_gives_the_same_figures(void **state)
{
    struct sim_qos first;
    const story lossy_story = {"nodes", "3", "delay", "exp:10..90ms", "loss", "20%", "detector", "phi",
                               "seed",  "7", NULL};
    simulate(lossy_story, 600, 5);
    first = qos;
    assert_true(first.mistakes > 0 && first.mistaken > 0);
    simulate(lossy_story, 600, 5);
    assert_memory_equal(&first, &qos, sizeof qos);
    assert_true(sim_settings_add(&settings, "seed", "8", 0, 0));
    sim_plan_free(&plan);
    assert_int_equal(sim_plan_build_for(&plan, &sim_watcher, &settings, &error), 0);
    assert_int_equal(sim_qos_simulate(&qos, &plan, 600 * SECOND, 5), SIM_MEASURED);
    assert_memory_not_equal(&first, &qos, sizeof qos);
}

static void a_run_in_which_too_much_happens_is_given_up(void **state)
{
    network((story){"nodes", "3", "detector", "heartbeat", NULL});
    plan.event_max = 1000;
    assert_int_equal(sim_qos_simulate(&qos, &plan, 3600 * SECOND, 1), SIM_TOO_MUCH);
}

static void nobody_else_knows_the_watcher(void **state)
{
    assert_null(el_algorithm_named("watcher"));
}

/* ---- Files ---- */

static const char *file_with(const char *text, size_t size)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/elector-qos-%ld", scratch_root(), (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void arrivals_are_read_as_written(void **state)
{
    static const char text[] = "# a comment\r\n\r\n  1700000000000.25\t# the first\n1700000000001#\n\t\n"
                               "1700000000002.000001";
    struct sim_arrivals arrivals;
    const char *path = file_with(text, sizeof text - 1);
    assert_int_equal(sim_arrivals_read(&arrivals, path, &error), 0);
    assert_int_equal(arrivals.count, 3);
    assert_int_equal(arrivals.times[0], 0);
    assert_int_equal(arrivals.times[1], 750000);
    assert_int_equal(arrivals.times[2], 1750001);
    sim_arrivals_free(&arrivals);
    unlink(path);
}

#define TEXT(literal) (literal), sizeof(literal) - 1

static void what_is_wrong_with_arrivals_is_said_where(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        const char *said;
    } cases[] = {
        {TEXT(""), ": fewer than two arrivals"},
        {TEXT("1\n# 2\n"), ": fewer than two arrivals"},
        {TEXT("1\n  x\n"), ":2:3: expected a time in milliseconds such as 1042.5"},
        {TEXT("1\n-2\n"), ":2:1: expected a time"},
        {TEXT("1\n2ms\n"), ":2:2: expected a time"},
        {TEXT("1\n2 3\n"), ":2:3: expected a time"},
        {TEXT("1\n2\0003\n"), ":2:2: expected a time"},
        {TEXT("1\n\0\n"), ":2:1: expected a time"},
        {TEXT("1\n\033[31m\n"),
         ":2:1: expected a time in milliseconds such as 1042.5, and nothing behind it but a # "
         "comment, not '?[31m'"},
        {TEXT("1\n\n1.0\n"), ":3:1: not after the arrival before it, in line 1"},
        {TEXT("1\n2\n1.5\n"), ":3:1: not after the arrival before it, in line 2"},
        {TEXT("1\n9000000000000\n"), ":2:1: more than a hundred days"},
        {TEXT("1\n99999999999999999999999\n"), ":2:1: expected a time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_arrivals arrivals;
        char expected[128];
        const char *path = file_with(cases[i].text, cases[i].size);
        assert_int_equal(sim_arrivals_read(&arrivals, path, &error), -1);
        snprintf(expected, sizeof expected, "%s%s", path, cases[i].said);
        assert_memory_equal(error.text, expected, strlen(expected));
        assert_null(arrivals.times);
        unlink(path);
    }
    struct sim_arrivals arrivals;
    assert_int_equal(sim_arrivals_read(&arrivals, "/nowhere/at all", &error), -1);
    assert_int_equal(sim_arrivals_read(&arrivals, "/", &error), -1);
}

/* ---- The drawing ---- */

static char *drawn(const struct sim_tradeoff *tradeoff)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(sim_write_tradeoff(file, tradeoff), 0);
    const long size = ftell(file);
    char *text = calloc(1, (size_t)size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static void a_drawing_has_a_mark_for_each_that_notices(void **state)
{
    const uint64_t hours = 3600 * SECOND;
    const struct sim_qos often = {.watched = 10 * hours,
                                  .mistakes = 300,
                                  .mistaken = hours,
                                  .noticed = 2,
                                  .detection_sum = SECOND,
                                  .detection_max = SECOND};
    const struct sim_qos none = {.watched = 10 * hours, .noticed = 1, .detection_sum = 4 * SECOND};
    const struct sim_qos some = {
        .watched = 10 * hours, .noticed = 1, .unnoticed = 1, .detection_sum = 90 * SECOND};
    const struct sim_qos blind = {.watched = 10 * hours, .unnoticed = 3};
    const struct sim_point points[] = {
        {&often, "1", "a:1", 0}, {&none, "2", "a:2", 0}, {&some, "3", "b<&>", 1}, {&blind, "4", "b:4", 1}};
    const char *const curves[] = {"a, by k", "b <& \"others\">"};
    for (uint32_t shown = 0; shown <= 4; shown++) {
        char *text = drawn(&(struct sim_tradeoff){"nodes 2", curves, 2, points, shown});
        assert_well_formed(text);
        assert_int_equal(count(text, "<g class=\"point\">"), shown < 4 ? shown : 3);
        assert_has(text, shown ? "none in 10.0 hours" : "none in 0.0 hours");
        free(text);
    }
    char *text = drawn(&(struct sim_tradeoff){"nodes 2", curves, 2, points, 4});
    assert_has(text, "not drawn, since it notices no crash: b:4");
    assert_has(text, "hollow, since it does not notice every crash: b&lt;&amp;&gt;");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_threshold_makes_just_these_mistakes),
        cmocka_unit_test(the_end_of_a_recording_is_a_crash_and_no_mistake),
        cmocka_unit_test(a_higher_threshold_makes_fewer),
        cmocka_unit_test(phi_learns_a_steady_habit),
        cmocka_unit_test(only_those_that_judge_by_arrivals_are_replayed),
        cmocka_unit_test(a_recording_that_takes_too_many_beats_is_given_up),
        cmocka_unit_test(only_what_lies_within_the_time_watched_counts),
        cmocka_unit_test(each_pair_has_its_own_entry),
        cmocka_unit_test(a_crash_is_noticed_when_the_last_suspicion_begins),
        cmocka_unit_test(nothing_measured_divides_by_nothing),
        cmocka_unit_test(three_intervals_notice_a_crash_within_three_and_a_delay),
        cmocka_unit_test(a_pause_is_a_mistake_on_both_sides),
        cmocka_unit_test(a_patient_detector_is_waited_for),
        cmocka_unit_test(of_two_members_path_never_suspects),
        cmocka_unit_test(a_seed_gives_the_same_figures),
        cmocka_unit_test(a_run_in_which_too_much_happens_is_given_up),
        cmocka_unit_test(nobody_else_knows_the_watcher),
        cmocka_unit_test(arrivals_are_read_as_written),
        cmocka_unit_test(what_is_wrong_with_arrivals_is_said_where),
        cmocka_unit_test(a_drawing_has_a_mark_for_each_that_notices),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
