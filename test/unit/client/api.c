/*
 * elector.h over an agent's socket: what is asked, what is believed, and in which order an application hears of
 * it, whatever the agent does.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "base/clock.h"
#include "elector.h"
#include "lib/client/fake_agent.h"
#include "lib/give_up.h"

#define S UINT64_C(1000000000)

static struct fake_agent agent;
static elector *e;
static char heard[32768];             /* what the callback was told, in short */
static elector_status (*react)(void); /* called from within the callback at STOP */
static elector_status reaction;

static void hear(void *context, const elector_event *event)
{
    char text[400];
    const elector_leader *l = event->leader;
    const unsigned long long token = event->token;
    text[0] = '\0';
    if (event->type == ELECTOR_ELECTED) snprintf(text, sizeof text, "%s elected %llu; ", event->group, token);
    if (event->type == ELECTOR_STOP)
        snprintf(text, sizeof text, "%s stop %llu (%s); ", event->group, token, event->text);
    if (event->type == ELECTOR_LOST_OFFICE)
        snprintf(text, sizeof text, "%s lost %llu (%s); ", event->group, token, event->text);
    if (event->type == ELECTOR_NEW_LEADER)
        snprintf(text, sizeof text, "%s led by %s %llu%s; ", event->group, l->name[0] ? l->name : "nobody",
                 (unsigned long long)l->token, l->is_me ? " me" : "");
    if (event->type == ELECTOR_DONE && event->status != ELECTOR_OK && event->status != ELECTOR_LOST)
        snprintf(text, sizeof text, "%s %s (%s); ", event->group[0] ? event->group : "all",
                 elector_status_name(event->status), event->text);
    strncat(heard, text, sizeof heard - strlen(heard) - 1);
    if (event->type == ELECTOR_STOP && react) reaction = react();
}

static int start(void **state)
{
    heard[0] = '\0';
    react = NULL;
    reaction = ELECTOR_OK;
    if (!fake_start(&agent) || elector_open(agent.url, &e) != ELECTOR_OK) return -1;
    elector_on_event(e, hear, NULL);
    while (!elector_member(e)[0])
        if (elector_wait(e, give_up_ms()) != ELECTOR_OK) return -1;
    return 0;
}

static int stop(void **state)
{
    elector_close(e);
    e = NULL;
    fake_stop(&agent);
    return 0;
}

/* An event of the agent, with a deadline from now on. */
static void say(const char *event, uint64_t token, int64_t from_now_ms, const char *reason)
{
    char line[300];
    snprintf(line, sizeof line,
             "{\"event\":\"%s\",\"group\":\"jobs\",\"token\":%llu,\"deadline_ns\":%llu,\"reason\":\"%s\"}",
             event, (unsigned long long)token,
             (unsigned long long)clock_boottime_ns() + (unsigned long long)from_now_ms * 1000000, reason);
    fake_say(&agent, line);
}

static void say_leader(const char *name, uint64_t token)
{
    char line[300];
    snprintf(line, sizeof line,
             "{\"event\":\"leader\",\"group\":\"jobs\",\"leader\":%s,\"token\":%llu,\"value\":null}", name,
             (unsigned long long)token);
    fake_say(&agent, line);
}

/* Until the callback has been told so, and nothing else. */
static void hears(const char *expected)
{
    for (int i = 0; i < give_up_ms() / 10 && strcmp(heard, expected) != 0; i++) elector_wait(e, 10);
    assert_string_equal(heard, expected);
}

static void become_leader(uint64_t token)
{
    uint64_t told = 0;
    char wanted[64];
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, &told), ELECTOR_TIMEOUT);
    json_decref(fake_asked(&agent, "campaign")); /* it is connected */
    say("elected", token, 60000, "");
    assert_int_equal(elector_campaign(e, "jobs", NULL, give_up_ms(), &told), ELECTOR_OK);
    assert_int_equal(told, token);
    snprintf(wanted, sizeof wanted, "jobs elected %llu; ", (unsigned long long)token);
    hears(wanted);
}

/* Until the agent has answered a new connection. */
static void await_agent(void)
{
    const elector_leader *leader;
    fake_refuse(&agent, "status", "\"ok\":true,\"groups\":[]");
    assert_int_equal(elector_leader_of(e, "jobs", give_up_ms(), &leader), ELECTOR_OK);
    fake_refuse(&agent, "", "");
}

/* ---- The ordinary life ---- */

static void a_campaign_asks_and_is_elected(void **state)
{
    elector_options options;
    uint64_t token = 0;
    elector_options_init(&options, sizeof options);
    options.priority = 7;
    options.value = "a:\"9000\"";
    assert_int_equal(elector_campaign(e, "jobs", &options, 0, &token), ELECTOR_TIMEOUT);
    json_t *request = fake_asked(&agent, "campaign");
    assert_string_equal(json_string_value(json_object_get(request, "group")), "jobs");
    assert_int_equal(json_integer_value(json_object_get(request, "priority")), 7);
    assert_string_equal(json_string_value(json_object_get(request, "value")), "a:\"9000\"");
    json_decref(request);
    assert_false(elector_is_leader(e, "jobs"));
    say("elected", 41, 60000, "");
    assert_int_equal(elector_campaign(e, "jobs", &options, give_up_ms(), &token), ELECTOR_OK);
    assert_int_equal(token, 41);
    assert_true(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_token(e, "jobs"), 41);
    assert_true(elector_deadline(e, "jobs") > clock_boottime_ns());
    assert_false(elector_is_leader(e, "other"));
    assert_int_equal(elector_token(e, "other"), 0);
}

static void who_resigns_leads_no_more_before_the_agent_knows(void **state)
{
    become_leader(5);
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_OK);
    assert_false(elector_is_leader(e, "jobs"));
    say("lease", 5, 60000, ""); /* on its way when we resigned */
    say("lost", 5, 0, "resigned");
    hears("jobs elected 5; jobs lost 5 (resigned); ");
    assert_false(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_NOT_LEADING);
}

static void who_hands_over_leads_no_more_before_the_agent_knows(void **state)
{
    assert_int_equal(elector_hand_over(e, "jobs", "b"), ELECTOR_NOT_LEADING);
    become_leader(5);
    assert_int_equal(elector_hand_over(e, "jobs", "b"), ELECTOR_OK);
    assert_false(elector_is_leader(e, "jobs"));
    json_t *request = fake_asked(&agent, "transfer");
    assert_string_equal(json_string_value(json_object_get(request, "to")), "b");
    assert_int_equal(json_integer_value(json_object_get(request, "stopped")), 5);
    json_decref(request);
    say("lease", 5, 60000, ""); /* on its way meanwhile */
    say("lost", 5, 0, "transferred");
    say("elected", 7, 60000, ""); /* it is a candidate still */
    hears("jobs elected 5; jobs lost 5 (transferred); jobs elected 7; ");
}

static void who_may_not_hand_over_leads_on(void **state)
{
    become_leader(5);
    fake_refuse(&agent, "transfer", "\"ok\":false,\"error\":\"out-of-touch\",\"message\":\"b is silent\"");
    assert_int_equal(elector_hand_over(e, "jobs", "b"), ELECTOR_OK);
    assert_false(elector_is_leader(e, "jobs"));
    hears("jobs elected 5; jobs refused (b is silent); ");
    assert_int_equal(elector_token(e, "jobs"), 5);
    assert_int_equal(elector_hand_over(e, "jobs", ""), ELECTOR_INVALID);
    say("lost", 5, 0, "no-quorum");
    fake_refuse(&agent, "transfer", "\"ok\":false,\"error\":\"not-leading\",\"message\":\"no more\"");
    assert_int_equal(elector_hand_over(e, "jobs", "b"), ELECTOR_OK);
    hears("jobs elected 5; jobs refused (b is silent); jobs lost 5 (no-quorum); jobs not-leading (no more); ");
    assert_false(elector_is_leader(e, "jobs")); /* what is lost meanwhile is not taken up again */
}

static elector_status stop_work(void)
{
    return elector_stopped(e, "jobs");
}

static void stop_is_answered_from_the_callback(void **state)
{
    become_leader(5);
    react = stop_work;
    assert_int_equal(elector_stopped(e, "jobs"), ELECTOR_NOT_LEADING); /* nobody asked */
    say("stop", 5, 60000, "transfer to b");
    hears("jobs elected 5; jobs stop 5 (transfer to b); ");
    assert_int_equal(reaction, ELECTOR_OK);
    assert_false(elector_is_leader(e, "jobs"));
    json_t *request = fake_asked(&agent, "stopped");
    assert_int_equal(json_integer_value(json_object_get(request, "token")), 5);
    json_decref(request);
    say("lost", 5, 0, "transferred");
    say_leader("\"b\"", 6);
    hears("jobs elected 5; jobs stop 5 (transfer to b); jobs lost 5 (transferred); jobs led by b 6; ");
    say("elected", 7, 60000, ""); /* it is a candidate still */
    hears("jobs elected 5; jobs stop 5 (transfer to b); jobs lost 5 (transferred); jobs led by b 6; "
          "jobs elected 7; ");
}

static elector_status wait_inside(void)
{
    const elector_leader *leader;
    if (elector_dispatch(e) != ELECTOR_BUSY || elector_wait(e, 1) != ELECTOR_BUSY) return ELECTOR_INVALID;
    if (elector_leader_of(e, "jobs", 1, &leader) != ELECTOR_BUSY) return ELECTOR_INVALID;
    if (elector_campaign(e, "jobs", NULL, 1, NULL) != ELECTOR_BUSY) return ELECTOR_INVALID;
    return elector_campaign(e, "more", NULL, 0, NULL);
}

static void what_would_call_callbacks_is_busy_inside_of_one(void **state)
{
    become_leader(5);
    react = wait_inside;
    say("stop", 5, 60000, "x");
    hears("jobs elected 5; jobs stop 5 (x); ");
    assert_int_equal(reaction, ELECTOR_TIMEOUT); /* it has begun */
    json_decref(fake_asked(&agent, "campaign"));
    assert_true(elector_is_leader(e, "jobs"));
}

static void the_others_are_told_what_was_proclaimed(void **state)
{
    const elector_leader *leader;
    assert_int_equal(elector_proclaim(e, "jobs", "v"), ELECTOR_NOT_LEADING);
    become_leader(5);
    assert_int_equal(elector_proclaim(e, "jobs", "v"), ELECTOR_OK);
    json_decref(fake_asked(&agent, "proclaim"));
    fake_refuse(&agent, "status",
                "\"ok\":true,\"groups\":[{\"group\":\"jobs\",\"leader\":\"a\",\"token\":5,\"value\":\"v\"}]");
    assert_int_equal(elector_leader_of(e, "jobs", give_up_ms(), &leader), ELECTOR_OK);
    assert_string_equal(leader->name, "a");
    assert_string_equal(leader->value, "v");
    assert_true(leader->is_me);
    fake_refuse(&agent, "status", "\"ok\":true,\"groups\":[{\"group\":\"jobs\",\"leader\":null,\"token\":0}]");
    assert_int_equal(elector_leader_of(e, "jobs", give_up_ms(), &leader), ELECTOR_OK);
    assert_string_equal(leader->name, "");
    fake_refuse(&agent, "transfer",
                "\"ok\":false,\"error\":\"unknown-member\",\"message\":\"there is no member z\"");
    assert_int_equal(elector_transfer(e, "jobs", "z"), ELECTOR_OK);
    hears("jobs elected 5; jobs refused (there is no member z); ");
    fake_refuse(&agent, "observe", "\"ok\":false,\"error\":\"bad-group\"");
    assert_int_equal(elector_observe(e, NULL), ELECTOR_OK);
    hears("jobs elected 5; jobs refused (there is no member z); all invalid (the agent says: bad-group); ");
}

/* ---- Deadlines and order ---- */

static void a_deadline_that_passes_ends_it_though_the_agent_is_silent(void **state)
{
    elector_campaign(e, "jobs", NULL, 0, NULL);
    say("elected", 5, 60000, "");
    hears("jobs elected 5; ");
    assert_true(elector_timeout_ms(e) > 0);
    say("lease", 5, 50, "");
    hears("jobs elected 5; jobs lost 5 (the deadline has passed); ");
    assert_false(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_token(e, "jobs"), 0);
    say("lease", 5, 60000, ""); /* it was slow: the same term goes on */
    hears("jobs elected 5; jobs lost 5 (the deadline has passed); jobs elected 5; ");
    assert_true(elector_is_leader(e, "jobs"));
    say("lost", 5, 0, "no-quorum");
    say("lease", 5, 60000, ""); /* but not after that */
    say_leader("null", 0);
    hears("jobs elected 5; jobs lost 5 (the deadline has passed); jobs elected 5; jobs lost 5 (no-quorum); "
          "jobs led by nobody 0; ");
    assert_false(elector_is_leader(e, "jobs"));
}

static void a_lease_that_waits_to_be_read_is_read_before_anybody_judges(void **state)
{
    elector_campaign(e, "jobs", NULL, 0, NULL);
    say("elected", 5, -1000, "");
    say("lease", 5, 60000, "");
    hears("jobs elected 5; ");
    assert_true(elector_is_leader(e, "jobs"));
}

static void a_new_leader_is_told_after_the_loss_of_the_old(void **state)
{
    become_leader(5);
    say_leader("\"a\"", 5);
    say_leader("\"old\"", 4);
    say_leader("null", 0);
    say("lost", 5, 0, "preempted");
    hears("jobs elected 5; jobs led by a 5 me; jobs lost 5 (preempted); jobs led by nobody 0; ");
    say("elected", 8, 60000, "");
    say_leader("\"b\"", 9); /* before any word of loss: it is lost all the same */
    hears("jobs elected 5; jobs led by a 5 me; jobs lost 5 (preempted); jobs led by nobody 0; "
          "jobs elected 8; jobs lost 8 (another leads); jobs led by b 9; ");
}

static void nobody_is_elected_twice_without_a_loss_between(void **state)
{
    become_leader(5);
    say("elected", 5, 60000, "");
    say("lost", 4, 0, "of another term");
    say("elected", 6, 60000, "");
    hears("jobs elected 5; jobs lost 5 (elected anew); jobs elected 6; ");
    say("elected", 3, 60000, "");
    hears("jobs elected 5; jobs lost 5 (elected anew); jobs elected 6; jobs lost 6 (the token went back); ");
    assert_int_equal(elector_dispatch(e), ELECTOR_LOST);
    assert_non_null(strstr(elector_message(e), "tokens must rise"));
}

static void nobody_is_elected_who_did_not_stand(void **state)
{
    say("elected", 5, 60000, "");
    say_leader("\"a\"", 5);
    hears("jobs led by a 5; ");
    assert_false(elector_is_leader(e, "jobs"));
}

/* ---- An agent that fails ---- */

static void leadership_ends_with_the_connection(void **state)
{
    const int fd = elector_fd(e);
    become_leader(5);
    fake_hang_up(&agent);
    hears("jobs elected 5; jobs lost 5 (the agent is gone); ");
    assert_false(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_fd(e), fd); /* one for its whole life */
    assert_int_equal(elector_dispatch(e), ELECTOR_LOST);
    assert_int_equal(elector_wait(e, 10), ELECTOR_LOST);
    assert_non_null(strstr(elector_message(e), "has closed the connection"));
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT); /* connects anew */
    assert_int_equal(elector_fd(e), fd);
    await_agent();
    say("elected", 6, 60000, "");
    hears("jobs elected 5; jobs lost 5 (the agent is gone); jobs elected 6; ");
}

static void hostile_lines_end_it_with_a_clear_word(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"nonsense", "not a JSON object"},
        {"[1]", "not a JSON object"},
        {"{\"a\":1,\"a\":2}", "not a JSON object"},
        {"{}", "neither an answer nor an event"},
        {"{\"event\":7}", "neither an answer nor an event"},
        {"{\"event\":\"elected\"}", "missing or wrong"},
        {"{\"event\":\"lease\",\"group\":\"jobs\",\"token\":\"5\",\"deadline_ns\":9}", "missing or wrong"},
        {"{\"event\":\"lease\",\"group\":\"jobs\",\"token\":5.5,\"deadline_ns\":9}", "missing or wrong"},
        {"{\"event\":\"lease\",\"group\":\"jobs\",\"token\":-5,\"deadline_ns\":9}", "missing or wrong"},
        {"{\"event\":\"lease\",\"group\":\"jobs\",\"token\":9007199254740992,\"deadline_ns\":9}",
         "missing or wrong"},
        {"{\"event\":\"lease\",\"group\":\"jobs\",\"token\":5,\"deadline_ns\":true}", "missing or wrong"},
        {"{\"event\":\"lease\",\"group\":\"jobs\",\"token\":5,\"deadline_ns\":1e300}", "missing or wrong"},
        {"{\"event\":\"leader\",\"group\":\"jobs\",\"leader\":{},\"token\":9}", "missing or wrong"},
        {"{\"event\":\"leader\",\"group\":[],\"leader\":\"b\",\"token\":9}", "missing or wrong"},
        {"{\"ok\":false,\"error\":\"bad-request\",\"message\":\"no such\\nthing\"}", "no such thing"},
    };
    static const char gone[] = "(the agent is gone)";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heard[0] = '\0';
        await_agent();
        become_leader(i + 5);
        fake_say(&agent, cases[i].line);
        for (int n = 0; n < give_up_ms() / 10 && !strstr(heard, gone); n++) elector_wait(e, 10);
        assert_non_null(strstr(heard, gone));
        assert_int_equal(elector_dispatch(e), ELECTOR_LOST);
        if (!strstr(elector_message(e), cases[i].message))
            fail_msg("%s: %s", cases[i].line, elector_message(e));
        assert_true(fake_is_left(&agent));
    }
}

static void a_line_without_end_ends_it(void **state)
{
    static char line[70001];
    become_leader(5);
    memset(line, 'x', sizeof line - 1);
    fake_say(&agent, line);
    hears("jobs elected 5; jobs lost 5 (the agent is gone); ");
    assert_non_null(strstr(elector_message(e), "longer than 65536 bytes"));
}

static void what_it_does_not_know_is_ignored(void **state)
{
    become_leader(5);
    fake_say(&agent, "{\"event\":\"weather\",\"rain\":true}");
    fake_say(&agent, "{\"id\":999,\"ok\":true}");
    fake_say(&agent, "{\"event\":\"lease\",\"group\":\"jobs\",\"token\":5,\"deadline_ns\":null,\"more\":[]}");
    say_leader("\"a\"", 5);
    hears("jobs elected 5; jobs led by a 5 me; ");
    assert_int_equal(elector_deadline(e, "jobs"), UINT64_MAX);
}

/* ---- Opening, and arguments ---- */

static void refuses(const char *url, elector_status status, const char *message)
{
    elector *other;
    elector_status opened = elector_open(url, &other);
    while (opened == ELECTOR_OK && !elector_member(other)[0]) opened = elector_wait(other, give_up_ms());
    assert_int_equal(opened, status);
    if (!strstr(elector_message(other), message)) fail_msg("%s: %s", url, elector_message(other));
    assert_false(elector_is_leader(other, "jobs"));
    elector_close(other);
}

static void what_cannot_be_opened_says_why(void **state)
{
    char url[200];
    refuses("http://x", ELECTOR_INVALID, "expected unix:PATH");
    refuses("unix:", ELECTOR_INVALID, "expected unix:PATH");
    refuses("", ELECTOR_INVALID, "expected unix:PATH");
    refuses("unix:/nowhere/agent.sock", ELECTOR_UNAVAILABLE, "is the agent running");
    refuses("etcd:10.0.0.1:2379", ELECTOR_INVALID, "'etcd:10.0.0.1:2379': expected etcd://HOST:PORT/PREFIX");
    refuses("etcds:/a", ELECTOR_INVALID, "expected etcds://HOST");
    refuses("zookeeper:a:2181/b", ELECTOR_INVALID, "expected zookeeper://HOST:PORT/PATH");
    refuses("unix://run/agent.sock", ELECTOR_INVALID, "expected unix:PATH, or unix:// and an absolute path");
    refuses("file://", ELECTOR_INVALID, "expected file:PATH, or");
    refuses("http://10.0.0.1:2379", ELECTOR_INVALID, "a store: etcd://HOST:PORT (etcds: with TLS)");
    memset(url, 'x', sizeof url);
    memcpy(url, "unix:/", 6);
    url[sizeof url - 1] = '\0';
    refuses(url, ELECTOR_INVALID, "at most 107 bytes");
    setenv("ELECTOR_URL", "unix:/nowhere/else.sock", 1);
    refuses(NULL, ELECTOR_UNAVAILABLE, "/nowhere/else.sock");
    unsetenv("ELECTOR_URL");
    fake_hang_up(&agent); /* it serves one at a time */
    assert_true(fake_is_left(&agent));
    fake_refuse(&agent, "hello", "\"ok\":true,\"version\":2");
    refuses(agent.url, ELECTOR_UNAVAILABLE, "another version");
    fake_refuse(&agent, "hello", "!HTTP/1.0 400 Bad Request");
    refuses(agent.url, ELECTOR_UNAVAILABLE, "is it an agent?");
    elector_close(NULL);
    assert_string_equal(elector_message(NULL), "out of memory");
}

static void arguments_that_make_no_sense_are_invalid(void **state)
{
    static char too_long[ELECTOR_GROUP_MAX + 2];
    const char *const groups[] = {NULL, "", "-x", ".x", "a b", "caf\xc3\xa9", too_long};
    char value[ELECTOR_VALUE_MAX + 2];
    elector_options options = {0};
    memset(too_long, 'x', ELECTOR_GROUP_MAX + 1);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        assert_int_equal(elector_campaign(e, groups[i], NULL, 0, NULL), ELECTOR_INVALID);
        assert_int_equal(elector_resign(e, groups[i]), ELECTOR_INVALID);
        assert_false(elector_is_leader(e, groups[i]));
    }
    assert_int_equal(elector_campaign(e, "jobs", &options, 0, NULL), ELECTOR_INVALID);
    elector_options_init(&options, sizeof options);
    options.priority = UINT64_C(1) << 53;
    assert_int_equal(elector_campaign(e, "jobs", &options, 0, NULL), ELECTOR_INVALID);
    options.priority = 0;
    options.value = "\xff";
    assert_int_equal(elector_campaign(e, "jobs", &options, 0, NULL), ELECTOR_INVALID);
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = '\0';
    assert_int_equal(elector_proclaim(e, "jobs", value), ELECTOR_INVALID);
    assert_int_equal(elector_transfer(e, "jobs", NULL), ELECTOR_INVALID);
    assert_int_equal(elector_dispatch(e), ELECTOR_OK); /* none of it has reached the agent */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_campaign_asks_and_is_elected),
        TEST(who_resigns_leads_no_more_before_the_agent_knows),
        TEST(who_hands_over_leads_no_more_before_the_agent_knows),
        TEST(who_may_not_hand_over_leads_on),
        TEST(stop_is_answered_from_the_callback),
        TEST(what_would_call_callbacks_is_busy_inside_of_one),
        TEST(the_others_are_told_what_was_proclaimed),
        TEST(a_deadline_that_passes_ends_it_though_the_agent_is_silent),
        TEST(a_lease_that_waits_to_be_read_is_read_before_anybody_judges),
        TEST(a_new_leader_is_told_after_the_loss_of_the_old),
        TEST(nobody_is_elected_twice_without_a_loss_between),
        TEST(nobody_is_elected_who_did_not_stand),
        TEST(leadership_ends_with_the_connection),
        TEST(hostile_lines_end_it_with_a_clear_word),
        TEST(a_line_without_end_ends_it),
        TEST(what_it_does_not_know_is_ignored),
        TEST(what_cannot_be_opened_says_why),
        TEST(arguments_that_make_no_sense_are_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
