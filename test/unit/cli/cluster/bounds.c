/* What settings promise: the figures of docs/quorum-protocol.md and docs/run.md, worked out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cluster/bounds.h"

static const uint64_t MS = 1000000;

static struct bounds_settings usual(void)
{
    return (struct bounds_settings){.lease = 1000 * MS,
                                    .beat = 150 * MS,
                                    .margin = 50 * MS,
                                    .reask = 200 * MS,
                                    .stagger = 25 * MS,
                                    .transmit = 10 * MS,
                                    .process = MS,
                                    .drift = 5000,
                                    .block = 64,
                                    .voters = 3};
}

/* The warnings by name, with spaces. */
static const char *warnings(struct bounds_settings s)
{
    static char text[400];
    const struct bounds p = bounds_of(&s);
    size_t used = 0;
    text[0] = '\0';
    for (enum bounds_warning w = 0; w < BOUNDS_WARNINGS; w++) {
        if (!p.warnings[w]) continue;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", bounds_warnings[w].name);
        assert_true(strlen(bounds_warnings[w].text) > 20);
    }
    return text;
}

static void majorities(void **state)
{
    static const uint32_t rows[][6] = {
        /* voters, witnesses: votes, majority, failures, of those that may lead */
        {1, 0, 1, 1, 0, 0}, {2, 0, 2, 2, 0, 0}, {3, 0, 3, 2, 1, 1}, {4, 0, 4, 3, 1, 1}, {5, 0, 5, 3, 2, 2},
        {2, 1, 3, 2, 1, 1}, {1, 2, 3, 2, 1, 0}, {2, 3, 5, 3, 2, 1}, {7, 0, 7, 4, 3, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct bounds_votes count = bounds_count(rows[i][0], rows[i][1], 0);
        assert_int_equal(count.votes, rows[i][2]);
        assert_int_equal(count.majority, rows[i][3]);
        assert_int_equal(count.failures, rows[i][4]);
        assert_int_equal(count.candidate_failures, rows[i][5]);
    }
}

/* "Worked": D = 1 s and ρ = 0.005 give P = 1.010050252 s. */
static void the_promise_is_that_of_the_protocol(void **state)
{
    const struct bounds_settings s = usual();
    const struct bounds p = bounds_of(&s);
    assert_true(p.promise >= UINT64_C(1010050252) && p.promise <= UINT64_C(1010050253));
}

static void bounds_are_their_formulas(void **state)
{
    const struct bounds_settings s = usual();
    const struct bounds p = bounds_of(&s);
    const uint64_t slow = p.promise * 1000 / 995 + 1, election = (3 * 25 + 200 + 4 * 10) * MS;
    assert_int_equal(p.bounds[BOUNDS_WORKER_CRASH], 22 * MS);
    assert_int_equal(p.bounds[BOUNDS_TRANSFER], 22 * MS);
    assert_int_equal(p.bounds[BOUNDS_RESIGN], 22 * MS);
    assert_int_equal(p.bounds[BOUNDS_AGENT_CRASH_GUARDED], 33 * MS);
    assert_int_equal(p.bounds[BOUNDS_HOST_SILENT], slow + election);
    assert_int_equal(p.bounds[BOUNDS_AGENT_CRASH], slow + election);
    assert_int_equal(p.bounds[BOUNDS_ALL_RESTART], slow + election);
    assert_int_equal(p.bounds[BOUNDS_MAJORITY_BACK], slow + 150 * MS + election);
    assert_int_equal(p.bounds[BOUNDS_FOLLOWER_RESTARTS], 0);
    assert_int_equal(p.support_back, slow + (150 + 22) * MS);
    assert_int_equal(p.detection, (450 + 225 + 11) * MS);
}

/* "Losses": five with the defaults. cli/run/leadership.c: KILL a tenth before the deadline, TERM a quarter before that. */
static void work_is_stopped_before_the_lease_ends(void **state)
{
    const struct bounds_settings s = usual();
    const struct bounds p = bounds_of(&s);
    assert_int_equal(p.deadline, 950 * MS);
    assert_int_equal(p.kill_at, 855 * MS);
    assert_int_equal(p.term_at, 855 * MS - 237 * MS - MS / 2);
    assert_int_equal(p.losses, 5);
    assert_int_equal(p.run_losses, 2);
    assert_int_equal(p.stall, (950 - 150 - 21) * MS);
    assert_int_equal(p.run_stall, p.term_at - 171 * MS);
}

static void a_long_lease_leaves_five_seconds_to_stop(void **state)
{
    struct bounds_settings s = usual();
    s.lease = 60000 * MS;
    const struct bounds p = bounds_of(&s);
    assert_int_equal(p.deadline - p.kill_at, 1000 * MS);
    assert_int_equal(p.kill_at - p.term_at, 5000 * MS);
}

/* With x as it is told, (D - g) / (1 - x) is P / (1 + x), to a millionth. */
static void work_overlaps_later_than_leases(void **state)
{
    const struct bounds_settings s = usual();
    const struct bounds p = bounds_of(&s);
    const double x = (double)p.work_drift / 1e6;
    const double work = (double)p.deadline / (1 - x), promise = (double)p.promise / (1 + x);
    assert_true(p.work_drift > s.drift);
    assert_true(work <= promise);
    assert_true((double)p.deadline / (1 - x - 3e-6) > (double)p.promise / (1 + x + 3e-6));
}

/* Three that beat to two each every 150 ms, and are answered with beats; or else by witnesses and observers. */
static void packets_at_rest(void **state)
{
    struct bounds_settings s = usual();
    assert_int_equal(bounds_of(&s).packets_all, 40000);
    assert_int_equal(bounds_of(&s).packets_sent, 13333);
    s.voters = 2, s.witnesses = 1, s.observers = 2; /* two beat to four each */
    assert_int_equal(bounds_of(&s).packets_all, 93333);
    assert_int_equal(bounds_of(&s).packets_sent, 26666);
    assert_int_equal(bounds_of(&s).packets_of_candidate, 0);
}

/* Each says to three voters once a second that it is there. A voter answers, beside its beats. */
static void packets_of_candidates_at_rest(void **state)
{
    struct bounds_settings s = usual();
    s.candidates = 10;
    assert_int_equal(bounds_of(&s).packets_of_candidate, 3000);
    assert_int_equal(bounds_of(&s).packets_sent, 13333 + 10000);
    assert_int_equal(bounds_of(&s).packets_all, 40000 + 60000);
    s.lease = 2000 * MS;
    assert_int_equal(bounds_of(&s).packets_of_candidate, 1500);
}

static void poor_settings_are_warned_of(void **state)
{
    struct bounds_settings s = usual();
    assert_string_equal(warnings(s), "");
    s.voters = 1;
    assert_string_equal(warnings(s), "one-vote");
    s.voters = 2;
    assert_string_equal(warnings(s), "two-votes");
    s.voters = 4;
    assert_string_equal(warnings(s), "even-votes");
    s.voters = 1, s.witnesses = 2;
    assert_string_equal(warnings(s), "one-candidate");
    s.voters = 2, s.witnesses = 1;
    assert_string_equal(warnings(s), "");
    s.voters = 2, s.witnesses = 3;
    assert_string_equal(warnings(s), "many-witnesses");
    s = usual();
    s.lease = 400 * MS, s.beat = 100 * MS;
    assert_string_equal(warnings(s), "short-lease few-losses short-stop");
    s = usual();
    s.beat = 250 * MS;
    assert_string_equal(warnings(s), "few-losses");
    s = usual();
    s.margin = 9 * MS;
    assert_string_equal(warnings(s), "small-margin");
    s = usual();
    s.drift = 999;
    assert_string_equal(warnings(s), "small-drift");
    s = usual();
    s.block = 400;
    assert_string_equal(warnings(s), "large-block");
}

static void every_event_is_named(void **state)
{
    for (enum bounds_event e = 0; e < BOUNDS_EVENTS; e++) {
        assert_non_null(bounds_events[e].name);
        assert_non_null(bounds_events[e].formula);
        assert_true(strlen(bounds_events[e].text) < 39); /* its column */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(majorities),
        cmocka_unit_test(the_promise_is_that_of_the_protocol),
        cmocka_unit_test(bounds_are_their_formulas),
        cmocka_unit_test(work_is_stopped_before_the_lease_ends),
        cmocka_unit_test(a_long_lease_leaves_five_seconds_to_stop),
        cmocka_unit_test(work_overlaps_later_than_leases),
        cmocka_unit_test(packets_at_rest),
        cmocka_unit_test(packets_of_candidates_at_rest),
        cmocka_unit_test(poor_settings_are_warned_of),
        cmocka_unit_test(every_event_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
