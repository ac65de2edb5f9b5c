/*
 * The calls of elector.h that complete by an event, over an agent that a test directs: nothing of them blocks, each
 * completes once, and what a program holds on to (descriptor, candidacies, data of groups) survives what it should.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/time.h>

#include "base/clock.h"
#include "elector.h"
#include "lib/client/fake_agent.h"
#include "lib/give_up.h"

static struct fake_agent agent;
static elector *e;
static char heard[8192];
static const elector_event *last; /* only inside `react` */
static void (*react)(void);       /* called from within the callback, for each event */

static void hear(void *context, const elector_event *event)
{
    static const char *const calls[] = {"none",      "campaign", "change",  "resign",    "transfer",
                                        "hand-over", "proclaim", "observe", "unobserve", "candidates"};
    static const char *const types[] = {"",       "elected", "stop",      "lost",
                                        "leader", "done",    "connected", "disconnected"};
    char text[300];
    assert_int_equal(event->size, sizeof *event);
    assert_true(ELECTOR_HAS(event, candidate_count));
    snprintf(text, sizeof text, "%s%s%s", event->group, event->group[0] ? " " : "", types[event->type]);
    const size_t used = strlen(text);
    if (event->type == ELECTOR_DONE)
        snprintf(text + used, sizeof text - used, " %s %s", calls[event->call],
                 elector_status_name(event->status));
    else if (event->type == ELECTOR_STOP || event->type == ELECTOR_LOST_OFFICE)
        snprintf(text + used, sizeof text - used, " %s", elector_reason_name(event->reason));
    strncat(heard, text, sizeof heard - strlen(heard) - 1);
    strncat(heard, "; ", sizeof heard - strlen(heard) - 1);
    last = event;
    if (react) react();
    last = NULL;
}

static int start(void **state)
{
    heard[0] = '\0';
    react = NULL;
    if (!fake_start(&agent) || elector_open(agent.url, &e) != ELECTOR_OK) return -1;
    elector_on_event(e, hear, NULL);
    return 0;
}

static int stop(void **state)
{
    elector_close(e);
    e = NULL;
    fake_stop(&agent);
    return 0;
}

/* Until the callback has been told so, and nothing else; then forgets it. */
static void hears(const char *expected)
{
    for (int i = 0; i < give_up_ms() / 10 && strcmp(heard, expected) != 0; i++) elector_wait(e, 10);
    assert_string_equal(heard, expected);
    heard[0] = '\0';
}

static void say(const char *event, uint64_t token, const char *reason)
{
    char line[300];
    snprintf(line, sizeof line,
             "{\"event\":\"%s\",\"group\":\"jobs\",\"token\":%llu,\"deadline_ns\":%llu,\"reason\":\"%s\"}",
             event, (unsigned long long)token, clock_boottime_ns() + 60ULL * NS_PER_S, reason);
    fake_say(&agent, line);
}

static void say_leader(const char *group, const char *name, uint64_t token)
{
    char line[300];
    snprintf(line, sizeof line, "{\"event\":\"leader\",\"group\":\"%s\",\"leader\":\"%s\",\"token\":%llu}",
             group, name, (unsigned long long)token);
    fake_say(&agent, line);
}

static void become_leader(uint64_t token)
{
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    hears("connected; jobs done campaign ok; ");
    say("elected", token, "");
    hears("jobs elected; ");
}

/* ---- Completion ---- */

static void nothing_waits_for_an_agent_that_does_not_answer(void **state)
{
    hears("connected; ");
    fake_set_mute(&agent, true);
    const uint64_t before = clock_boottime_ns();
    elector *other;
    assert_int_equal(elector_open(agent.url, &other), ELECTOR_OK); /* nobody has accepted it yet */
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    assert_int_equal(elector_observe(e, "jobs"), ELECTOR_OK);
    assert_int_equal(elector_observe(e, NULL), ELECTOR_OK);
    assert_int_equal(elector_unobserve(e, "jobs"), ELECTOR_OK);
    assert_int_equal(elector_candidates(e, "jobs"), ELECTOR_OK);
    assert_int_equal(elector_transfer(e, "jobs", "b"), ELECTOR_OK);
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_OK);
    assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_true(clock_boottime_ns() - before < 4 * NS_PER_S); /* an answer is awaited for 5 s */
    assert_string_equal(heard, "");
    elector_close(other);
    fake_hang_up(&agent);
    hears("jobs done campaign lost; jobs done observe lost; done observe lost; jobs done unobserve lost; "
          "jobs done candidates lost; jobs done transfer lost; jobs done resign lost; disconnected; ");
}

static void every_call_completes_once_in_order(void **state)
{
    become_leader(5);
    assert_int_equal(elector_proclaim(e, "jobs", "v"), ELECTOR_OK);
    assert_int_equal(elector_observe(e, NULL), ELECTOR_OK);
    fake_refuse(&agent, "transfer", "\"ok\":false,\"error\":\"unknown-member\",\"message\":\"no z\"");
    assert_int_equal(elector_transfer(e, "jobs", "z"), ELECTOR_OK);
    hears("jobs done proclaim ok; done observe ok; jobs done transfer refused; ");
}

static void a_campaign_that_is_declined_says_why(void **state)
{
    fake_refuse(&agent, "campaign",
                "\"ok\":false,\"error\":\"not-permitted\",\"message\":\"ask the operator\"");
    assert_int_equal(elector_campaign(e, "jobs", NULL, give_up_ms(), NULL), ELECTOR_REFUSED);
    assert_string_equal(elector_message(e), "ask the operator");
    hears("connected; jobs done campaign refused; ");
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_NOT_LEADING); /* we are no candidate */
}

/* The election was under way when we resigned. Another may lead as soon as the agent has read the resignation. */
static void an_election_before_the_resignation_is_not_taken_up_after_it(void **state)
{
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    hears("connected; jobs done campaign ok; ");
    fake_set_mute(&agent, true);
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_OK);
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    say("elected", 5, "");
    say_leader("else", "b", 1);
    hears("else leader; "); /* so the line before it has been read */
    assert_false(elector_is_leader(e, "jobs"));
    say("lost", 5, "resigned");
    fake_say(&agent, "{\"id\":3,\"ok\":true}\n{\"id\":4,\"ok\":true}");
    hears("jobs done resign ok; jobs done campaign ok; ");
    say("elected", 6, "");
    hears("jobs elected; ");
    assert_int_equal(elector_token(e, "jobs"), 6);
}

static char members[200];

static void note_candidates(void)
{
    for (size_t i = 0; i < last->candidate_count; i++) {
        const elector_candidate *c = last->candidates[i];
        assert_int_equal(c->size, sizeof *c);
        snprintf(members + strlen(members), sizeof members - strlen(members), "%s %llu ", c->member,
                 (unsigned long long)c->priority);
    }
}

static void candidates_come_with_the_answer(void **state)
{
    members[0] = '\0';
    react = note_candidates;
    fake_refuse(
        &agent, "status",
        "\"ok\":true,\"groups\":[{\"group\":\"jobs\",\"leader\":null,\"standing\":[{\"member\":\"a\","
        "\"priority\":7},{\"member\":\"b\",\"priority\":0},{\"member\":\"c\"}]}]"); /* that of c is not known */
    assert_int_equal(elector_candidates(e, "jobs"), ELECTOR_OK);
    hears("connected; jobs done candidates ok; ");
    assert_string_equal(members, "a 7 b 0 c 0 ");
}

static void the_agent_tells_who_we_are(void **state)
{
    assert_string_equal(elector_member(e), "");
    hears("connected; ");
    assert_string_equal(elector_member(e), "a");
    assert_string_equal(elector_cluster(e), "shop");
}

static void priority_and_value_change_while_we_stand(void **state)
{
    elector_options options;
    elector_options_init(&options, sizeof options);
    options.priority = 9;
    options.value = "here";
    assert_int_equal(elector_change(e, "jobs", &options), ELECTOR_NOT_LEADING);
    become_leader(5);
    assert_int_equal(elector_change(e, "jobs", &options), ELECTOR_OK);
    hears("jobs done change ok; ");
    json_t *request = fake_asked(&agent, "change");
    assert_int_equal(json_integer_value(json_object_get(request, "priority")), 9);
    assert_string_equal(json_string_value(json_object_get(request, "value")), "here");
    json_decref(request);
    assert_true(elector_is_leader(e, "jobs"));
}

static void what_is_no_longer_observed_is_not_told(void **state)
{
    assert_int_equal(elector_observe(e, NULL), ELECTOR_OK);
    hears("connected; done observe ok; ");
    assert_int_equal(elector_unobserve(e, "jobs"), ELECTOR_OK);
    hears("jobs done unobserve ok; ");
    say_leader("jobs", "b", 1);
    say_leader("else", "b", 1);
    hears("else leader; ");
    assert_int_equal(elector_observe(e, "jobs"), ELECTOR_OK);
    hears("jobs done observe ok; ");
    say_leader("jobs", "b", 2);
    hears("jobs leader; ");
    assert_int_equal(elector_unobserve(e, NULL), ELECTOR_OK);
    hears("done unobserve ok; ");
    say_leader("jobs", "b", 3);
    say_leader("else", "b", 3);
    assert_int_equal(elector_transfer(e, "jobs", "b"), ELECTOR_OK);
    hears("jobs done transfer ok; "); /* so the lines before it have been read */
    assert_int_equal(elector_observe(e, "else"), ELECTOR_OK);
    hears("else done observe ok; ");
    say_leader("jobs", "b", 4);
    say_leader("else", "b", 4);
    hears("else leader; ");
}

static void *seen_data;

static void note_data(void)
{
    seen_data = last->data;
}

static void a_group_has_data_of_the_program(void **state)
{
    int mine;
    react = note_data;
    assert_null(elector_data(e, "jobs"));
    assert_int_equal(elector_set_data(e, "jobs", &mine), ELECTOR_OK);
    assert_ptr_equal(elector_data(e, "jobs"), &mine);
    assert_int_equal(elector_observe(e, "jobs"), ELECTOR_OK);
    hears("connected; jobs done observe ok; ");
    assert_ptr_equal(seen_data, &mine);
    say_leader("else", "b", 3);
    hears("else leader; ");
    assert_null(seen_data);
    assert_int_equal(elector_set_data(e, "-", NULL), ELECTOR_INVALID);
}

static void reasons_have_numbers(void **state)
{
    become_leader(5);
    say("stop", 5, "watchdog");
    say("lost", 5, "no-quorum");
    say("elected", 6, "");
    say("lost", 6, "of a later version");
    hears("jobs stop watchdog; jobs lost no-quorum; jobs elected; jobs lost other; ");
    say("elected", 7, "");
    say("lost", 7, "deadline"); /* ours to say, not the agent's */
    hears("jobs elected; jobs lost other; ");
    say("elected", 8, "");
    say("lost", 8, "removed"); /* an engine's */
    hears("jobs elected; jobs lost removed; ");
    assert_string_equal(elector_status_name(ELECTOR_CLOSED), "closed");
    assert_string_equal(elector_status_name((elector_status)99), "unknown");
    assert_string_equal(elector_reason_name((elector_reason)99), "other");
    assert_string_equal(elector_reason_name(ELECTOR_REASON_LOCK_REMOVED), "lock-removed");
    assert_string_equal(elector_reason_name(ELECTOR_REASON_REMOVED), "removed");
}

/* ---- Why it resigns ---- */

static void expect_cause(const char *cause)
{
    json_t *request = fake_asked(&agent, "resign");
    const char *said = json_string_value(json_object_get(request, "cause"));
    assert_string_equal(said ? said : "", cause);
    json_decref(request);
}

static void a_leader_resigns_without_a_cause(void **state)
{
    become_leader(5);
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_OK);
    hears("jobs done resign ok; ");
    expect_cause("");
}

static void a_leader_whose_deadline_has_passed_says_so(void **state)
{
    char line[200];
    become_leader(5);
    snprintf(line, sizeof line, "{\"event\":\"lease\",\"group\":\"jobs\",\"token\":5,\"deadline_ns\":%llu}",
             (unsigned long long)clock_boottime_ns());
    fake_say(&agent, line);
    hears("jobs lost deadline; ");
    assert_int_equal(elector_resign(e, "jobs"), ELECTOR_OK);
    hears("jobs done resign ok; ");
    expect_cause("no-quorum");
}

/* ---- Options of other sizes ---- */

static void options_of_an_earlier_header_keep_the_other_defaults(void **state)
{
    struct {
        elector_options options;
        char beyond[64];
    } room;
    memset(&room, 0x5a, sizeof room);
    elector_options_init(&room.options, offsetof(elector_options, value));
    assert_int_equal(((unsigned char *)&room)[offsetof(elector_options, value)], 0x5a); /* not overrun */
    room.options.priority = 3;
    assert_int_equal(elector_campaign(e, "jobs", &room.options, 0, NULL), ELECTOR_TIMEOUT);
    hears("connected; jobs done campaign ok; ");
    json_t *request = fake_asked(&agent, "campaign");
    assert_int_equal(json_integer_value(json_object_get(request, "priority")), 3);
    assert_null(json_object_get(request, "value"));
    assert_null(json_object_get(request, "stop_within_ms"));
    json_decref(request);
}

static void options_of_a_later_header_must_have_their_defaults(void **state)
{
    struct {
        elector_options options;
        uint64_t later;
    } room;
    elector_options_init(&room.options, sizeof room);
    assert_int_equal(room.later, 0);
    assert_int_equal(elector_campaign(e, "jobs", &room.options, 0, NULL), ELECTOR_TIMEOUT);
    room.later = 1;
    assert_int_equal(elector_campaign(e, "else", &room.options, 0, NULL), ELECTOR_INVALID);
    assert_non_null(strstr(elector_message(e), "does not know"));
    room.options.size = 1;
    assert_int_equal(elector_campaign(e, "else", &room.options, 0, NULL), ELECTOR_INVALID);
    room.options.size = SIZE_MAX;
    assert_int_equal(elector_campaign(e, "else", &room.options, 0, NULL), ELECTOR_INVALID);
}

static void names_of_253_bytes_reach_the_agent(void **state)
{
    char group[ELECTOR_GROUP_MAX + 1], line[700];
    memset(group, 'g', ELECTOR_GROUP_MAX);
    group[ELECTOR_GROUP_MAX] = '\0';
    fake_refuse(&agent, "campaign", "\"ok\":false,\"error\":\"bad-group\",\"message\":\"1 to 63\"");
    assert_int_equal(elector_campaign(e, group, NULL, give_up_ms(), NULL), ELECTOR_INVALID);
    assert_string_equal(elector_message(e), "1 to 63");
    snprintf(line, sizeof line, "{\"event\":\"leader\",\"group\":\"%s\",\"leader\":\"%s\",\"token\":1}", group,
             group);
    heard[0] = '\0';
    fake_say(&agent, line);
    snprintf(line, sizeof line, "%s leader; ", group);
    hears(line);
}

/* ---- Ending a wait ---- */

static void do_nothing(int number)
{
}

static void wake(int number)
{
    elector_wakeup(e);
}

/* SIGALRM again and again, so that one comes while we wait. */
static void interrupt_with(void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static void interrupt_no_more(void)
{
    const struct itimerval never = {0};
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
}

static void a_signal_ends_a_campaign_without_limit(void **state)
{
    const elector_leader *leader;
    hears("connected; ");
    interrupt_with(do_nothing);
    const elector_status campaign = elector_campaign(e, "jobs", NULL, -1, NULL);
    elector_status wait = ELECTOR_OK;
    while (wait == ELECTOR_OK) wait = elector_wait(e, -1); /* the campaign's DONE may still come */
    fake_set_mute(&agent, true);
    const elector_status look = elector_leader_of(e, "jobs", -1, &leader);
    interrupt_no_more();
    assert_int_equal(campaign, ELECTOR_INTERRUPTED);
    assert_int_equal(wait, ELECTOR_INTERRUPTED);
    assert_int_equal(look, ELECTOR_INTERRUPTED);
    fake_set_mute(&agent, false);
    say("elected", 5, ""); /* it is a candidate still */
    assert_int_equal(elector_campaign(e, "jobs", NULL, give_up_ms(), NULL), ELECTOR_OK);
}

static void a_handler_may_wake_us_up(void **state)
{
    hears("connected; ");
    wake(0); /* before the wait */
    assert_int_equal(elector_wait(e, give_up_ms()), ELECTOR_INTERRUPTED);
    wake(0);
    assert_int_equal(elector_dispatch(e), ELECTOR_OK); /* takes it */
    assert_int_equal(elector_wait(e, 10), ELECTOR_TIMEOUT);
    interrupt_with(wake);
    assert_int_equal(elector_wait(e, -1), ELECTOR_INTERRUPTED);
    interrupt_no_more();
    elector_dispatch(e);
    struct pollfd wanted = {.fd = elector_fd(e), .events = POLLIN};
    wake(0);
    assert_int_equal(poll(&wanted, 1, give_up_ms()), 1); /* in a loop of the program's own */
    assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_int_equal(poll(&wanted, 1, 0), 0);
}

/* ---- Closing and reconnecting ---- */

static elector_status inside;

static void close_it(void)
{
    elector_close(e);
    elector_close(e);
    inside = elector_campaign(e, "else", NULL, 0, NULL);
    if (elector_is_leader(e, "jobs")) inside = ELECTOR_OK;
}

static void a_callback_may_close(void **state)
{
    become_leader(5);
    react = close_it;
    say_leader("else", "b", 3);
    elector_status status = ELECTOR_OK;
    for (int i = 0; i < give_up_ms() / 10 && status != ELECTOR_CLOSED; i++) status = elector_wait(e, 10);
    e = NULL;
    assert_int_equal(status, ELECTOR_CLOSED);
    assert_int_equal(inside, ELECTOR_CLOSED);
    assert_true(fake_is_left(&agent));
}

static int count_asked(const char *op)
{
    int count = 0;
    pthread_mutex_lock(&agent.mutex);
    for (size_t i = 0; i < json_array_size(agent.asked); i++)
        count += strcmp(json_string_value(json_object_get(json_array_get(agent.asked, i), "op")), op) == 0;
    pthread_mutex_unlock(&agent.mutex);
    return count;
}

static void it_reconnects_and_stands_again(void **state)
{
    elector_options options;
    const int fd = elector_fd(e);
    elector_options_init(&options, sizeof options);
    options.priority = 4;
    options.value = "x";
    elector_set_reconnect(e, 200);
    assert_int_equal(elector_campaign(e, "jobs", &options, 0, NULL), ELECTOR_TIMEOUT);
    assert_int_equal(elector_campaign(e, "left", NULL, 0, NULL), ELECTOR_TIMEOUT);
    assert_int_equal(elector_observe(e, NULL), ELECTOR_OK);
    hears("connected; jobs done campaign ok; left done campaign ok; done observe ok; ");
    options.priority = 6;
    assert_int_equal(elector_change(e, "jobs", &options), ELECTOR_OK);
    assert_int_equal(elector_resign(e, "left"), ELECTOR_OK);
    hears("jobs done change ok; left done resign ok; ");
    say("elected", 5, "");
    hears("jobs elected; ");
    fake_hang_up(&agent);
    hears("jobs lost disconnected; disconnected; connected; ");
    assert_false(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_fd(e), fd);
    for (int i = 0; i < give_up_ms() / 10 && (count_asked("observe") < 2 || count_asked("campaign") < 3); i++)
        elector_wait(e, 10);
    json_t *request = fake_asked(&agent, "campaign");
    assert_string_equal(json_string_value(json_object_get(request, "group")), "jobs");
    assert_int_equal(json_integer_value(json_object_get(request, "priority")), 6);
    json_decref(request);
    say("elected", 6, "");
    hears("jobs elected; "); /* nothing completes twice */
    assert_int_equal(count_asked("campaign"), 3);
}

static void it_connects_when_an_agent_comes(void **state)
{
    elector_close(e);
    fake_stop(&agent);
    assert_int_equal(elector_open(agent.url, &e), ELECTOR_UNAVAILABLE);
    elector_on_event(e, hear, NULL);
    heard[0] = '\0';
    assert_int_equal(elector_dispatch(e), ELECTOR_UNAVAILABLE);
    elector_set_reconnect(e, 50);
    assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    assert_int_equal(elector_observe(e, "jobs"), ELECTOR_OK);
    assert_int_equal(elector_wait(e, 120), ELECTOR_TIMEOUT);
    assert_true(fake_start_again(&agent));
    hears("connected; jobs done observe ok; jobs done campaign ok; ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(nothing_waits_for_an_agent_that_does_not_answer),
        TEST(every_call_completes_once_in_order),
        TEST(a_campaign_that_is_declined_says_why),
        TEST(an_election_before_the_resignation_is_not_taken_up_after_it),
        TEST(candidates_come_with_the_answer),
        TEST(the_agent_tells_who_we_are),
        TEST(priority_and_value_change_while_we_stand),
        TEST(what_is_no_longer_observed_is_not_told),
        TEST(a_group_has_data_of_the_program),
        TEST(reasons_have_numbers),
        TEST(a_leader_resigns_without_a_cause),
        TEST(a_leader_whose_deadline_has_passed_says_so),
        TEST(options_of_an_earlier_header_keep_the_other_defaults),
        TEST(options_of_a_later_header_must_have_their_defaults),
        TEST(names_of_253_bytes_reach_the_agent),
        TEST(a_signal_ends_a_campaign_without_limit),
        TEST(a_handler_may_wake_us_up),
        TEST(a_callback_may_close),
        TEST(it_reconnects_and_stands_again),
        TEST(it_connects_when_an_agent_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
