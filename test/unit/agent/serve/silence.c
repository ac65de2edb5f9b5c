/* Why leadership ended: a worker that stops because no majority renews its lease has not resigned of its own accord. */
#include "agent/history/history.h"
#include "agent/serve/leadership/past.h"
#include "lib/host/leaderships.h"

static struct history *history;
static uint64_t lapsed_ns;
static unsigned lapses;

static void note_lapse(void *context, const struct leadership *o, uint64_t late_ns)
{
    lapses++;
    lapsed_ns = late_ns;
}

static void lead_with_history(void)
{
    lapses = 0;
    begin(3);
    history = history_new(&members[0].config, now);
    assert_non_null(history);
    members[0].leaderships.history = history;
    members[0].leaderships.lapsed = note_lapse;
    lead(1, a);
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    assert_int_equal(leadership_enter(leadership(3, "g"), c, 0, ""), LEADERSHIP_DONE);
    pass(2000);
    heard[0] = '\0';
}

static int forget(void **state)
{
    (void)finish(state);
    history_free(history);
    return 0;
}

static void a_worker_that_resigns_says_so(void **state)
{
    lead_with_history();
    char text[HISTORY_TEXT];
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    expect_heard("a lost resigned; ");
    history_write_silence(history, history_group("g"), text);
    assert_string_equal(text, "");
    assert_int_equal(lapses, 0);
}

static void a_worker_that_resigns_without_a_majority_does_not(void **state)
{
    lead_with_history();
    char text[HISTORY_TEXT];
    members[1].is_cut = members[2].is_cut = true;
    pass(700);
    assert_true(leadership(1, "g")->tenure->is_held); /* the lease is not over */
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    expect_heard("a lost resigned by no-quorum; ");
    history_write_silence(history, history_group("g"), text);
    assert_non_null(strstr(text, "no majority has renewed the lease for "));
    assert_non_null(strstr(text, "m2 silent for "));
    assert_non_null(strstr(text, "m3 silent for "));
    assert_int_equal(lapses, 1);
    assert_int_equal(lapsed_ns, 1000 * MS); /* no shorter lease would have been kept */
}

/* It stopped its work for want of a renewal, which came before its request. */
static void a_worker_that_was_renewed_too_late_does_not(void **state)
{
    lead_with_history();
    char text[HISTORY_TEXT];
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_RUNS_OUT), LEADERSHIP_DONE);
    expect_heard("a lost resigned by no-quorum; ");
    history_write_silence(history, history_group("g"), text);
    assert_string_equal(text, "the lease was renewed too late for its worker");
}

static void a_worker_that_was_renewed_too_late_and_asked_to_stop_was_asked(void **state)
{
    lead_with_history();
    assert_int_equal(leadership_depose(leadership(1, "g")), LEADERSHIP_DONE);
    heard[0] = '\0';
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_RUNS_OUT), LEADERSHIP_DONE);
    expect_heard("a lost resigned; ");
}

static void one_silent_voter_of_three_is_no_cause(void **state)
{
    lead_with_history();
    members[2].is_cut = true;
    pass(700);
    heard[0] = '\0'; /* its lease was renewed */
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    expect_heard("a lost resigned; ");
}

static void a_worker_that_dies_meanwhile_is_dead(void **state)
{
    lead_with_history();
    char text[HISTORY_TEXT];
    members[1].is_cut = members[2].is_cut = true;
    pass(700);
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_DIES), LEADERSHIP_DONE);
    history_write_silence(history, history_group("g"), text);
    assert_string_equal(text, "");
}

/* As serve.c asks before it ends the tenure, here 2 s after the deadline: the agent was stopped. */
static void a_lease_that_was_lost_is_as_late_as_it_is(void **state)
{
    lead_with_history();
    const uint64_t renewed_at = now;
    now += 3000 * MS;
    assert_true(leadership_record_silence(leadership(1, "g"), false));
    assert_int_equal(lapses, 1);
    assert_in_range(lapsed_ns, now - renewed_at,
                    now - renewed_at + 200 * MS); /* the last one was up to a beat before */
}

static uint64_t still_since;

static uint64_t stand_still(void *context, uint64_t since_ns)
{
    still_since = since_ns;
    return 2900 * MS;
}

/* The agent was stopped: that is the cause, and its worker knew the end of the lease. */
static void an_agent_that_stood_still_says_so(void **state)
{
    lead_with_history();
    char text[HISTORY_TEXT];
    struct leadership *o = leadership(1, "g");
    const uint64_t told_until = leadership_told_until(o), renewed_at = now, token = o->tenure->token;
    members[0].leaderships.stood_still = stand_still;
    assert_true(leadership_over_ns(o, token) == UINT64_MAX);
    now += 3000 * MS;
    assert_true(leadership_record_silence(o, false));
    assert_in_range(still_since, renewed_at - 200 * MS, renewed_at);
    assert_int_equal(leadership_over_ns(o, token), now - told_until);
    assert_true(leadership_over_ns(o, token + 1) == UINT64_MAX);
    history_write_silence(history, history_group("g"), text);
    assert_non_null(strstr(text, " ms: the agent of m1 stood still for 2900 ms"));
    assert_null(strstr(text, "silent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_worker_that_resigns_says_so, forget),
        cmocka_unit_test_teardown(a_worker_that_resigns_without_a_majority_does_not, forget),
        cmocka_unit_test_teardown(a_lease_that_was_lost_is_as_late_as_it_is, forget),
        cmocka_unit_test_teardown(an_agent_that_stood_still_says_so, forget),
        cmocka_unit_test_teardown(a_worker_that_was_renewed_too_late_does_not, forget),
        cmocka_unit_test_teardown(a_worker_that_was_renewed_too_late_and_asked_to_stop_was_asked, forget),
        cmocka_unit_test_teardown(one_silent_voter_of_three_is_no_cause, forget),
        cmocka_unit_test_teardown(a_worker_that_dies_meanwhile_is_dead, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
