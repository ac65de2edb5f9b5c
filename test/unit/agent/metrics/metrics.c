/* Numbers as Prometheus wants them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/metrics/metrics.h"

static struct metrics metrics;
static struct metrics_gauges scene;
static struct config config;
static char *text;

static int begin(void **state)
{
    memset(&metrics, 0, sizeof metrics);
    memset(&scene, 0, sizeof scene);
    memset(&config, 0, sizeof config);
    metrics.version = "1.2.3";
    scene.config = &config;
    config.self = 2;
    config.member_count = 3;
    strcpy(config.cluster, "shop");
    for (uint32_t i = 0; i < 3; i++) config.members[i].name[0] = (char)('a' + i);
    scene.heard_ns[2] = UINT64_MAX;
    return 0;
}

static int finish(void **state)
{
    free(text);
    text = NULL;
    return 0;
}

static void write_all(void)
{
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    metrics_write(&metrics, &scene, out);
    assert_int_equal(fclose(out), 0);
}

static void expect(const char *lines)
{
    char whole[2000];
    snprintf(whole, sizeof whole, "\n%s\n", lines);
    if (!strstr(text, whole)) fail_msg("no '%s' in %s", lines, text);
}

static void a_bucket_has_all_up_to_its_bound(void **state)
{
    metrics_observe(&metrics.failovers, 0);
    metrics_observe(&metrics.failovers, 10000);
    metrics_observe(&metrics.failovers, 10001);
    metrics_observe(&metrics.failovers, 2500000000);
    metrics_observe(&metrics.failovers, 2500000001);
    metrics_observe(&metrics.failovers, 10000000001);
    write_all();
    expect("elector_failover_seconds_bucket{le=\"0.00001\"} 2\n"
           "elector_failover_seconds_bucket{le=\"0.000025\"} 3");
    expect("elector_failover_seconds_bucket{le=\"1\"} 3\n"
           "elector_failover_seconds_bucket{le=\"2.5\"} 4\n"
           "elector_failover_seconds_bucket{le=\"5\"} 5\n"
           "elector_failover_seconds_bucket{le=\"10\"} 5\n"
           "elector_failover_seconds_bucket{le=\"+Inf\"} 6\n"
           "elector_failover_seconds_sum 15.000020003\n"
           "elector_failover_seconds_count 6");
}

static void peers_have_lines_and_we_have_none(void **state)
{
    metrics.peers[0] = (struct metrics_peer){.sent_bytes = 7, .received_bytes = 8, .unsent = 9, .refused = 4};
    metrics_observe(&metrics.peers[0].round_trips, 2000000000);
    scene.heard_ns[0] = 1500000000;
    scene.is_connected[0] = true;
    write_all();
    expect(
        "elector_network_peer_sent_bytes_total{to=\"a\"} 7\nelector_network_peer_sent_bytes_total{to=\"c\"} 0");
    expect("elector_network_peer_received_bytes_total{from=\"a\"} 8");
    expect("elector_network_peer_sent_failures_total{to=\"a\"} 9");
    expect("elector_network_peer_refused_messages_total{from=\"a\"} 4");
    expect("elector_network_peer_round_trip_time_seconds_bucket{to=\"a\",le=\"1\"} 0\n"
           "elector_network_peer_round_trip_time_seconds_bucket{to=\"a\",le=\"2.5\"} 1");
    expect("elector_network_peer_round_trip_time_seconds_sum{to=\"a\"} 2\n"
           "elector_network_peer_round_trip_time_seconds_count{to=\"a\"} 1");
    expect("elector_network_peer_connected{to=\"a\"} 1\nelector_network_peer_connected{to=\"c\"} 0");
    expect("elector_network_peer_silence_seconds{from=\"a\"} 1.5");
    assert_null(strstr(text, "silence_seconds{from=\"c\"}")); /* who was never heard */
    assert_null(strstr(text, "to=\"b\""));
    assert_null(strstr(text, "from=\"b\""));
}

static void who_is_alone_has_no_peers(void **state)
{
    config.self = config.member_count = 1;
    write_all();
    assert_null(strstr(text, "elector_network_peer"));
}

static void drops_and_answers_say_why(void **state)
{
    scene.seal = (struct seal_stats){
        .forged = 1, .malformed = 2, .rate_limited = 3, .replayed = 4, .strangers = 5, .handshakes = 6};
    metrics_answered(&metrics, 503);
    metrics_answered(&metrics, 503);
    metrics_answered(&metrics, 418); /* not one of ours */
    metrics.started_ms = 1700000000123;
    write_all();
    expect("elector_network_datagrams_dropped_total{reason=\"forged\"} 1");
    expect("elector_network_datagrams_dropped_total{reason=\"malformed\"} 2");
    expect("elector_network_datagrams_dropped_total{reason=\"rate_limited\"} 3");
    expect("elector_network_datagrams_dropped_total{reason=\"replayed\"} 4");
    expect("elector_network_datagrams_dropped_total{reason=\"stranger\"} 5");
    expect("elector_network_handshakes_total 6");
    expect("elector_http_requests_total{code=\"503\"} 2");
    expect("elector_http_requests_total{code=\"200\"} 0");
    expect("process_start_time_seconds 1700000000.123");
    expect("elector_build_info{version=\"1.2.3\"} 1");
    expect("elector_member_info{cluster=\"shop\",member=\"b\"} 1");
}

#define MINUTE UINT64_C(60000000000)

static void what_is_late_is_counted_and_what_is_not_too(void **state)
{
    metrics_woke(&metrics.lateness, MINUTE, MINUTE);
    metrics_woke(&metrics.lateness, MINUTE + 30000, MINUTE);
    metrics_woke(&metrics.lateness, MINUTE, MINUTE + 30000); /* by another clock: never negative */
    scene.longest_lateness_ns = metrics_longest_lateness_ns(&metrics.lateness, MINUTE);
    write_all();
    expect("elector_loop_late_seconds_bucket{le=\"0.00001\"} 2");
    expect("elector_loop_late_seconds_bucket{le=\"0.00005\"} 3");
    expect("elector_loop_late_seconds_sum 0.00003\nelector_loop_late_seconds_count 3");
    expect("elector_loop_late_longest_seconds 0.00003");
}

static void the_longest_lateness_is_of_the_last_hour(void **state)
{
    const struct metrics_lateness *l = &metrics.lateness;
    const uint64_t first = 1000 * MINUTE;
    assert_int_equal(metrics_longest_lateness_ns(l, first), 0);
    metrics_woke(&metrics.lateness, first, first - 700);
    metrics_woke(&metrics.lateness, first + 1, first - 99);
    assert_int_equal(metrics_longest_lateness_ns(l, first), 700);
    metrics_woke(&metrics.lateness, first + MINUTE, first + MINUTE - 300);
    metrics_woke(&metrics.lateness, first + 58 * MINUTE, first + 58 * MINUTE - 5);
    assert_int_equal(metrics_longest_lateness_ns(l, first + 59 * MINUTE), 700);
    assert_int_equal(metrics_longest_lateness_ns(l, first + 60 * MINUTE),
                     300); /* although nothing came since */
    metrics_woke(&metrics.lateness, first + 60 * MINUTE,
                 first + 60 * MINUTE - 1); /* takes the place of the first */
    assert_int_equal(metrics_longest_lateness_ns(l, first + 60 * MINUTE), 300);
    metrics_woke(&metrics.lateness, first + 61 * MINUTE, first + 61 * MINUTE - 1);
    assert_int_equal(metrics_longest_lateness_ns(l, first + 61 * MINUTE), 5);
    metrics_woke(&metrics.lateness, first + 5000 * MINUTE, first + 5000 * MINUTE - 2);
    assert_int_equal(metrics_longest_lateness_ns(l, first + 5000 * MINUTE), 2);
}

static void a_loop_that_stood_still_is_known_before_and_after_it_is_measured(void **state)
{
    const uint64_t at = 1000 * MINUTE, second = MINUTE / 60;
    struct metrics_lateness *l = &metrics.lateness;
    assert_int_equal(metrics_stood_still_ns(l, at, at), 0);
    l->asked_ns = at;
    assert_int_equal(metrics_stood_still_ns(l, at - 1, at - 1), 0);
    assert_int_equal(metrics_stood_still_ns(l, at + 3 * second, at), 3 * second);
    metrics_woke(l, at + 3 * second, at);
    assert_int_equal(metrics_stood_still_ns(l, at + 3 * second, at), 3 * second);
    metrics_woke(l, at + 4 * second, at + 4 * second - 20); /* a shorter one soon after hides nothing */
    assert_int_equal(metrics_stood_still_ns(l, at + 4 * second, at), 3 * second);
    assert_int_equal(metrics_stood_still_ns(l, at + 4 * second, at + 3 * second + 1), 0);
    metrics_woke(l, at + 14 * second, at + 14 * second - 20);
    assert_int_equal(metrics_stood_still_ns(l, at + 14 * second, at), 20);
    assert_int_equal(metrics_stood_still_ns(l, at + 16 * second, at), 2 * second); /* within a turn */
}

/* The first round trip to a peer may include a handshake: 146 ms on a loopback, as a mean of few, would mislead. */
static void a_median_needs_several_and_one_late_does_not_move_it(void **state)
{
    struct metrics_histogram trips = {0};
    assert_int_equal(metrics_median_ns(&trips, 0), 0);
    trips.counts[13] = 1; /* up to 250 ms */
    trips.counts[4] = 6;  /* up to 250 us */
    assert_int_equal(metrics_median_ns(&trips, 8), 0);
    trips.counts[5] = 1;
    assert_int_equal(metrics_median_ns(&trips, 8), 250000);
    trips.counts[METRICS_BOUNDS] = 100; /* longer than any bound */
    assert_int_equal(metrics_median_ns(&trips, 8), metrics_bounds_ns[METRICS_BOUNDS - 1]);
}

static void late_renewals_are_those_of_the_last_hour(void **state)
{
    struct metrics_renewals *r = &metrics.renewals;
    const uint64_t first = 1000 * MINUTE;
    uint64_t counts[METRICS_STEPS];
    assert_int_equal(metrics_renewals_of_hour(r, first, counts), 0);
    metrics_renewed(r, first, 0);
    metrics_renewed(r, first, 250000);
    metrics_renewed(r, first + 1, 250001);
    metrics_renewed(r, first + 30 * MINUTE, 700000);
    metrics_renewed(r, first + 59 * MINUTE, 1000 * MINUTE);
    assert_int_equal(metrics_renewals_of_hour(r, first + 59 * MINUTE, counts), 1000 * MINUTE);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[3], 1);
    assert_int_equal(counts[METRICS_STEPS - 1], 1);
    (void)metrics_renewals_of_hour(r, first + 60 * MINUTE, counts); /* although nothing came since */
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[3], 1);
    metrics_renewed(r, first + 60 * MINUTE, 5); /* takes the place of the first */
    (void)metrics_renewals_of_hour(r, first + 60 * MINUTE, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 0);
    metrics_renewed(r, first + 5000 * MINUTE, 300000);
    assert_int_equal(metrics_renewals_of_hour(r, first + 5000 * MINUTE, counts), 300000);
    assert_int_equal(counts[0] + counts[3] + counts[METRICS_STEPS - 1], 0);
    assert_int_equal(counts[1], 1);
}

static void lost_leases_are_those_of_the_last_hour(void **state)
{
    struct metrics_renewals *r = &metrics.renewals;
    const uint64_t first = 1000 * MINUTE;
    uint64_t counts[METRICS_STEPS];
    assert_int_equal(metrics_lost_in_hour(r, first), 0);
    metrics_renewed(r, first, 900000);
    metrics_lost(r, first, 700000);
    metrics_lost(r, first + 30 * MINUTE, 700000);
    assert_int_equal(metrics_lost_in_hour(r, first + 59 * MINUTE), 2);
    assert_int_equal(metrics_renewals_of_hour(r, first + 59 * MINUTE, counts), 900000);
    assert_int_equal(counts[3], 2); /* each is a renewal, too */
    assert_int_equal(metrics_lost_in_hour(r, first + 60 * MINUTE), 1);
    metrics_renewed(r, first + 60 * MINUTE, 0); /* takes the place of the first */
    assert_int_equal(metrics_lost_in_hour(r, first + 60 * MINUTE), 1);
    assert_int_equal(metrics_lost_in_hour(r, first + 200 * MINUTE), 0);
}

static void steps_rise_without_a_gap(void **state)
{
    assert_int_equal(metrics_step_ns(0), 250000);
    for (uint32_t i = 0; i + 2 < METRICS_STEPS; i++) {
        assert_true(metrics_step_ns(i + 1) > metrics_step_ns(i));
        assert_true(metrics_step_ns(i + 1) <= metrics_step_ns(i) / 2 * 3);
    }
    assert_true(metrics_step_ns(METRICS_STEPS - 2) > UINT64_C(4000000000));
    assert_true(metrics_step_ns(METRICS_STEPS - 1) == UINT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bucket_has_all_up_to_its_bound),
        TEST(peers_have_lines_and_we_have_none),
        TEST(who_is_alone_has_no_peers),
        TEST(drops_and_answers_say_why),
        TEST(what_is_late_is_counted_and_what_is_not_too),
        TEST(the_longest_lateness_is_of_the_last_hour),
        TEST(a_loop_that_stood_still_is_known_before_and_after_it_is_measured),
        TEST(a_median_needs_several_and_one_late_does_not_move_it),
        TEST(lost_leases_are_those_of_the_last_hour),
        TEST(late_renewals_are_those_of_the_last_hour),
        TEST(steps_rise_without_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
