/*
 * A resource and the guard before it: who is admitted, who is turned away and how often, and what is told of it.
 * And ranks that weigh how steady a process has been.
 */
#include "lib/sim/toy.h"
#include "sim/output/transcript.h"

static void view_with_term(const void *state, const struct el_config *cfg, struct el_view *view)
{
    toy_view(state, cfg, view);
    view->term = ((const struct toy *)state)->electing;
}

static void crown_itself_in_the_next_term(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = cfg->self;
    me->electing++;
}

static int bring_leaders(void **state)
{
    bring_a_new_toy(state);
    toy.claims = 0;
    toy.view = view_with_term;
    errand = crown_itself_in_the_next_term;
    return 0;
}

/* "TIME:NODE+TERM" for a newer leader, "TIME:NODE-TERM" for one turned away. */
static void guarded(const char *file, int line, const char *expected)
{
    char text[512] = "", when[SIM_TIME_TEXT];
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_ADMITTED && r->what != SIM_REFUSED) continue;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s:%u%c%llu", used ? " " : "",
                 sim_time_text(&bench.plan, r->time, when), r->node, r->what == SIM_ADMITTED ? '+' : '-',
                 (unsigned long long)r->number);
    }
    if (strcmp(text, expected) != 0) bench_fail(file, line, "expected %s, got %s", expected, text);
}
#define guard_says(expected) guarded(__FILE__, __LINE__, expected)

static void whoever_leads_works(void **state)
{
    toys("nodes 2; initiator 1@0.5; resource 1; crash 2@5");
    guard_says("1:1+1");                         /* told once */
    assert_int_equal(bench.result->admitted, 6); /* once more after the last change */
    assert_int_equal(bench.result->refused, 0);
    toys("nodes 2; initiator none; resource 1; crash 2@5");
    guard_says("");
    assert_int_equal(bench.result->admitted, 0);
}

static void a_stale_leader_is_turned_away(void **state)
{
    toys("nodes 2; initiator 1@0.5,2@2.1,2@2.2; resource 1; crash 1@6.5");
    guard_says("1:1+1 3:2+2 4:1-1"); /* until 2 is there, nobody knows that 1 is stale */
    assert_int_equal(bench.result->admitted, 3 + 6);
    assert_int_equal(bench.result->refused, 3);
}

static void one_that_leads_again_in_a_newer_term_is_admitted_again(void **state)
{
    toys("nodes 2; initiator 2@0.1,2@0.2,1@1.5,1@2.1,1@2.2; resource 1; crash 2@5.5");
    guard_says("1:2+2 2:1-1 3:1+3 3:2-2");
}

static void who_stands_still_or_is_dead_does_not_work(void **state)
{
    toys("nodes 2; initiator 1@0.5; resource 1; pause 1@1.5..4.5; crash 1@6.5; crash 2@9");
    guard_says("1:1+1");
    assert_int_equal(bench.result->admitted, 1 + 2);
}

static void a_run_with_only_a_resource_does_not_stop_at_0(void **state)
{
    play("bully; nodes 3; leader 3; resource 2");
    assert_int_equal(bench.result->tokenless, 1); /* the bully's first leader has no term */
    assert_true(bench.result->came_to_rest);
    play("bully; nodes 3; initiator 1; resource 2"); /* 3 leads from 1 on */
    assert_true(bench.result->admitted > 0);
    assert_true(bench.result->came_to_rest);
    play("bully; nodes 3; initiator 1; resource 2; until 100");
    assert_int_equal(bench.result->admitted, 50);
    assert_true(bench.result->came_to_rest);
}

static void the_work_makes_no_run_endless(void **state)
{
    toys("nodes 2; initiator 1; resource 0.1");
    assert_true(bench.result->came_to_rest);
    play("raft; nodes 3; resource 10ms");
    kept_its_claims();
    assert_true(bench.result->admitted > 0);
}

static void an_expectation_may_count_refusals(void **state)
{
    toys("nodes 2; initiator 1@0.5,2@2.1,2@2.2; resource 1; crash 1@6.5; expect refused 3");
    assert_true(sim_expectations_hold(&bench.plan, bench.result));
    toys("nodes 2; initiator 1@0.5,2@2.1,2@2.2; resource 1; crash 1@6.5; expect refused 4");
    assert_false(sim_expectations_hold(&bench.plan, bench.result));
}

static void a_leader_cut_off_is_fenced_off(void **state)
{
    play("raft; nodes 5; leader 1; resource 10ms; delay 1..5ms; set check-quorum=off; "
         "partition 1|2,3,4,5@100ms; until 2s");
    assert_true(bench.result->refused > 0);
}

/* ---- Quality ---- */

static void failures_lower_the_rank_and_uptime_raises_it_again(void **state)
{
    play("bully; nodes 3; leader 3; quality 50; crash 3@10; restart 3@20; detect 1; initiator 1@30");
    ended_on(2); /* 3 has failed */
    play("bully; nodes 3; leader 3; quality 50; crash 3@10; restart 3@20; detect 1; initiator 1@71");
    ended_on(3); /* and made up for it */
    play("bully; nodes 3; leader 3; crash 3@10; restart 3@20; detect 1; initiator 1@30");
    ended_on(3); /* where failures do not count */
}

static void failures_add_up(void **state)
{
    play("bully; nodes 3; quality 50; crash 2@5,3@10; restart 2@15,3@20; crash 3@25; restart 3@35; "
         "detect 1; initiator 1@45");
    ended_on(1);
    play("bully; nodes 3; attr 3=2; quality 50; crash 3@10; restart 3@20; detect 1; initiator 1@30");
    ended_on(3); /* one failure takes 1 of its attribute */
    play("bully; nodes 3; attr 3=2; quality 50; crash 3@10; restart 3@20; crash 3@25; restart 3@35; "
         "crash 3@40; restart 3@45; detect 1; initiator 1@55");
    ended_on(2); /* three take 4 */
}

/* ---- What was once wrong ---- */

static void time_spent_dead_is_no_uptime(void **state)
{
    play("bully; nodes 3; leader 3; quality 10; crash 3@25; restart 3@60; detect 1");
    ended_on(2); /* it comes back, and calls, with its failure fresh */
}

static void a_failure_counts_at_once(void **state)
{
    play("bully; nodes 3; leader 3; crash 3@10; detect 1");
    sent("Election", 3); /* two of them to the dead, which ranks above */
    play("bully; nodes 3; leader 3; quality 100; crash 3@10; detect 1");
    sent("Election", 1); /* now it ranks below all */
    ended_on(2);
}

#define leader_check(test) cmocka_unit_test_setup_teardown(test, bring_leaders, put_it_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        leader_check(whoever_leads_works),
        leader_check(a_stale_leader_is_turned_away),
        leader_check(one_that_leads_again_in_a_newer_term_is_admitted_again),
        leader_check(who_stands_still_or_is_dead_does_not_work),
        leader_check(a_run_with_only_a_resource_does_not_stop_at_0),
        leader_check(the_work_makes_no_run_endless),
        leader_check(an_expectation_may_count_refusals),
        leader_check(a_leader_cut_off_is_fenced_off),
        check(failures_lower_the_rank_and_uptime_raises_it_again),
        check(failures_add_up),
        check(time_spent_dead_is_no_uptime),
        check(a_failure_counts_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
