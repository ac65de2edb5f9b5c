/*
 * Events that nobody has fetched: of each group the latest leader waits, our own events wait in their order, and
 * no number of groups ends the connection.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "client/event_queue.h"
#include "elector.h"
#include "lib/client/fake_agent.h"

enum { LONG_MS = 30000, MANY = 20000, ROUNDS = 3, OWN_MAX = 4096 + 16 /* of one group */ };

/* ---- The queue alone ---- */

static struct event_queue queue;
static uint64_t last_own[256]; /* by the first letter of the group */

static void own(elector_event_type type, const char *group)
{
    struct queued *q = event_make(type, group, EVENT_REASON_MAX);
    assert_non_null(q);
    last_own[(unsigned char)*group] = event_queue_add(&queue, q);
}

static void leader(const char *group, uint64_t token)
{
    const elector_leader l = {.name = "a", .value = "", .token = token};
    assert_true(event_queue_tell_leader(&queue, group, &l, last_own[(unsigned char)*group]));
}

/* E, S, L: our own events; a number: the token of a leader. */
static void takes(const char *expected)
{
    static const char letters[] = {[ELECTOR_ELECTED] = 'E', [ELECTOR_STOP] = 'S', [ELECTOR_LOST_OFFICE] = 'L'};
    char text[400] = "";
    for (struct queued *q; (q = event_queue_take(&queue, UINT64_MAX)); event_free(q)) {
        const size_t used = strlen(text);
        if (q->type == ELECTOR_NEW_LEADER)
            snprintf(text + used, sizeof text - used, "%s%llu ", q->group,
                     (unsigned long long)q->leader->told.token);
        else
            snprintf(text + used, sizeof text - used, "%s%c ", q->group, letters[q->type]);
    }
    assert_string_equal(text, expected);
    assert_int_equal(queue.own_count, 0);
    assert_int_equal(queue.leader_count, 0);
    assert_null(queue.first);
    assert_null(queue.last);
}

static void a_newer_leader_takes_the_place_of_the_older(void **state)
{
    leader("a", 1);
    leader("b", 2);
    leader("a", 3);
    assert_int_equal(queue.leader_count, 2);
    takes("a3 b2 ");
}

static void a_leader_is_told_after_our_own_events_that_came_before_it(void **state)
{
    leader("a", 1);
    own(ELECTOR_ELECTED, "a");
    leader("b", 5);
    leader("a", 2); /* does not take the place before ELECTED */
    leader("a", 3);
    own(ELECTOR_STOP, "a");
    own(ELECTOR_LOST_OFFICE, "a");
    leader("a", 4);
    leader("b", 6);
    leader("a", 5);
    takes("a1 aE b6 a3 aS aL a5 ");
}

static void events_queued_later_are_not_taken(void **state)
{
    leader("a", 1);
    own(ELECTOR_ELECTED, "b");
    const uint64_t last = queue.numbers;
    own(ELECTOR_STOP, "b");
    leader("a", 2); /* in place: it may be taken */
    for (int i = 0; i < 2; i++) {
        struct queued *q = event_queue_take(&queue, last);
        assert_non_null(q);
        event_free(q);
    }
    assert_null(event_queue_take(&queue, last));
    takes("bS ");
}

static void many_groups_are_found_again(void **state)
{
    char group[32];
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) {
            snprintf(group, sizeof group, "g/%d", i);
            leader(group, round * MANY + (uint64_t)i);
        }
    }
    assert_int_equal(queue.leader_count, MANY);
    for (int i = 0; i < MANY; i++) {
        struct queued *q = event_queue_take(&queue, UINT64_MAX);
        assert_int_equal(q->leader->told.token, (uint64_t)ROUNDS * MANY + (uint64_t)i);
        event_free(q);
    }
    takes("");
}

/* ---- Through the library ---- */

static struct fake_agent agent;
static elector *e;
static char own_events[1 << 18]; /* what the callback heard of "jobs", in short */
static size_t own_size;
static bool is_entered; /* the campaign has been answered */
static uint64_t tokens[MANY];
static unsigned times[MANY];

static void hear(void *context, const elector_event *event)
{
    static const char *const words[] = {
        [ELECTOR_ELECTED] = "elected", [ELECTOR_STOP] = "stop", [ELECTOR_LOST_OFFICE] = "lost"};
    const long number = event->group[0] == 'g' ? strtol(event->group + 1, NULL, 10) : MANY;
    is_entered = is_entered || event->call == ELECTOR_CALL_CAMPAIGN;
    if (event->type < ELECTOR_NEW_LEADER) {
        own_size += (size_t)snprintf(own_events + own_size, sizeof own_events - own_size, "%s %llu; ",
                                     words[event->type], (unsigned long long)event->token);
    } else if (event->type == ELECTOR_NEW_LEADER && number < MANY) {
        assert_true(event->leader->token > tokens[number]);
        tokens[number] = event->leader->token;
        times[number]++;
    }
}

static int start(void **state)
{
    memset(tokens, 0, sizeof tokens);
    memset(times, 0, sizeof times);
    own_size = 0;
    is_entered = false;
    own_events[0] = '\0';
    if (!fake_start(&agent) || elector_open(agent.url, &e) != ELECTOR_OK) return -1;
    elector_on_event(e, hear, NULL);
    if (elector_campaign(e, "jobs", NULL, 0, NULL) != ELECTOR_TIMEOUT) return -1;
    while (!is_entered)
        if (elector_wait(e, LONG_MS) != ELECTOR_OK) return -1;
    return 0;
}

static int stop(void **state)
{
    elector_close(e);
    fake_stop(&agent);
    return 0;
}

static void say_own(const char *event, uint64_t token)
{
    char line[200];
    snprintf(line, sizeof line, "{\"event\":\"%s\",\"group\":\"jobs\",\"token\":%llu,\"deadline_ns\":%llu}",
             event, (unsigned long long)token, (unsigned long long)clock_boottime_ns() + 60 * NS_PER_S);
    fake_say(&agent, line);
}

/* Events are queued until it returns. */
static elector_status ask_without_dispatching(void)
{
    const elector_leader *leader;
    return elector_leader_of(e, "jobs", LONG_MS, &leader);
}

static void answer(const char *op)
{
    char line[64];
    json_t *request = fake_asked(&agent, op);
    snprintf(line, sizeof line, "{\"id\":%lld,\"ok\":true,\"groups\":[]}",
             json_integer_value(json_object_get(request, "id")));
    fake_say(&agent, line);
    json_decref(request);
}

/* Between the request and its answer every group changes its leader several times. */
static void *flood_with_leaders(void *context)
{
    char line[200];
    json_decref(fake_asked(&agent, "status"));
    say_own("elected", 5);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MANY; i++) {
            snprintf(line, sizeof line,
                     "{\"event\":\"leader\",\"group\":\"g%d\",\"leader\":\"b\",\"token\":%llu}", i,
                     (unsigned long long)round);
            fake_say(&agent, line);
        }
    }
    say_own("stop", 5);
    answer("status");
    return NULL;
}

static void twenty_thousand_groups_do_not_end_the_connection(void **state)
{
    pthread_t thread;
    fake_set_mute(&agent, true);
    assert_int_equal(pthread_create(&thread, NULL, flood_with_leaders, NULL), 0);
    const elector_status status = ask_without_dispatching();
    pthread_join(thread, NULL);
    if (status != ELECTOR_OK) print_error("%s\n", elector_message(e));
    assert_int_equal(status, ELECTOR_OK);
    assert_true(elector_is_leader(e, "jobs"));
    while (elector_timeout_ms(e) == 0) assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_string_equal(own_events, "elected 5; stop 5; ");
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(tokens[i], ROUNDS);
        assert_int_equal(times[i], 1);
    }
}

static void *flood_with_terms(void *context)
{
    const uint64_t terms = *(const uint64_t *)context;
    json_decref(fake_asked(&agent, "status"));
    for (uint64_t token = 1; token <= terms; token++) {
        say_own("elected", token);
        say_own("lost", token);
    }
    answer("status");
    return NULL;
}

/* Nothing of our own is dropped. */
static void expect_terms(uint64_t terms)
{
    static char expected[sizeof own_events];
    size_t size = 0;
    for (uint64_t token = 1; token <= terms; token++)
        size += (size_t)snprintf(expected + size, sizeof expected - size, "elected %llu; lost %llu; ",
                                 (unsigned long long)token, (unsigned long long)token);
    assert_string_equal(own_events, expected);
}

static void our_own_events_are_all_told_in_their_order(void **state)
{
    pthread_t thread;
    uint64_t terms = 1500;
    fake_set_mute(&agent, true);
    assert_int_equal(pthread_create(&thread, NULL, flood_with_terms, &terms), 0);
    assert_int_equal(ask_without_dispatching(), ELECTOR_OK);
    pthread_join(thread, NULL);
    while (elector_timeout_ms(e) == 0) assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    expect_terms(terms);
}

/* An agent that elects and deposes without end must not take all memory. */
static void terms_without_end_end_the_connection(void **state)
{
    pthread_t thread;
    uint64_t terms = OWN_MAX;
    fake_set_mute(&agent, true);
    assert_int_equal(pthread_create(&thread, NULL, flood_with_terms, &terms), 0);
    assert_int_equal(ask_without_dispatching(), ELECTOR_LOST);
    if (!strstr(elector_message(e), "more than 4112 events are waiting")) fail_msg("%s", elector_message(e));
    pthread_join(thread, NULL);
    while (elector_timeout_ms(e) == 0) elector_dispatch(e);
    expect_terms(OWN_MAX / 2);
}

int main(void)
{
#define THROUGH(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_leader_takes_the_place_of_the_older),
        cmocka_unit_test(a_leader_is_told_after_our_own_events_that_came_before_it),
        cmocka_unit_test(events_queued_later_are_not_taken),
        cmocka_unit_test(many_groups_are_found_again),
        THROUGH(twenty_thousand_groups_do_not_end_the_connection),
        THROUGH(our_own_events_are_all_told_in_their_order),
        THROUGH(terms_without_end_end_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
