/*
 * What a process is asked or told from outside: to resign, to hand over, a fact. Who is asked when it is "whoever
 * leads then", what waits while it stands still, and that ordinary members never lead.
 */
#include "lib/sim/toy.h"

/* The toy notes what it is asked as "got 1 (resign) or 2 (transfer), to", and declines unless it leads. */
static enum el_answer note_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                   el_node to, struct el_outbox *out)
{
    const struct toy *me = state;
    if (me->leader != cfg->self) return EL_NOT_LEADING;
    note(out, GOT, what, to);
    return EL_PERFORMED;
}

static void a_process_is_asked_by_name(void **state)
{
    toy.on_request = note_request;
    toys("nodes 3; leader 2; initiator none; resign 2@1,3@2");
    story("1:2 got 1; 2:3 declined 1 2"); /* not leading */
}

static void whoever_leads_then_is_asked(void **state)
{
    toy.on_request = note_request;
    errand = crown_itself_for_all;
    toys("nodes 3; leader 2; initiator 3@3; resign leader@1,leader@5; transfer 1@2,2@6");
    story("1:2 got 1; 2:2 got 2 1; 5:3 got 1; 6:3 got 2 2");
}

static void where_nobody_leads_nobody_is_asked(void **state)
{
    toy.on_request = note_request;
    toys("nodes 3; initiator none; resign leader@1; transfer 2@2");
    story("");
    toys("nodes 3; leader 2; initiator none; crash 2@0; resign leader@1,2@1; transfer 3@2");
    story("");
    toys("nodes 3; leader 2; initiator none; transfer 2@2"); /* to itself */
    story("");
}

static void of_several_leaders_the_one_of_the_latest_term_is_asked(void **state)
{
    play("raft; nodes 5; leader 1; delay 1..5ms; partition 1|2,3,4,5@100ms; resign leader@2s; until 3s");
    noted("resigns"); /* by the leader of the majority; check-quorum is no part of this */
    assert_false(bench.result->violation_kinds & EL_SAME_TERM);
}

static void an_algorithm_that_knows_no_request_declines_it(void **state)
{
    toys("nodes 3; leader 2; initiator none; resign 2@1; transfer 3@2");
    story("1:2 declined 1 1; 2:2 declined 2 1");
}

static void crash_leader_hits_whoever_leads_then(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; leader 2; initiator 3@3; crash leader@5");
    assert_false(sim_world_alive(bench.world, 3));
    assert_true(sim_world_alive(bench.world, 2));
    toys("nodes 3; initiator none; crash leader@5");
    assert_false(happened(EL_CRASHES));
}

/* ---- Facts ---- */

static void note_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,
                      struct el_outbox *out)
{
    note(out, GOT, value, fact);
}

static void a_fact_reaches_the_process_it_is_meant_for(void **state)
{
    guise = "raft"; /* which can be told log-term and log-index */
    toy.on_fact = note_fact;
    toy.fact_count = 2;
    toys("nodes 3; fact 2:log-index=7@1,3:log-term=4; fact 2:log-index=9@5");
    story("0:3 got 4; 1:2 got 7 1; 5:2 got 9 1");
    toys("nodes 3; fact 2:log-index=7@1; crash 2@0");
    story("");
    toys("nodes 3; fact 2:log-index=7@1; pause 2@0..4");
    story("4:2 got 7 1");
}

/* ---- What was once wrong ---- */

static void view_with_term(const void *state, const struct el_config *cfg, struct el_view *view)
{
    toy_view(state, cfg, view);
    view->term = ((const struct toy *)state)->electing;
}

static void crown_itself_in_the_next_term(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->electing++;
    crown_itself_for_all(me, cfg, out);
}

static void a_leader_that_stands_still_is_asked_when_it_goes_on(void **state)
{
    toy.on_request = note_request;
    toys("nodes 3; leader 2; initiator none; resign leader@1; transfer 3@2; pause 2@0..4");
    story("4:2 got 1; 4:2 got 2 3");
    errand = crown_itself_in_the_next_term;
    toy.view = view_with_term;
    toys("nodes 3; leader 2; initiator 3@2; resign leader@1; pause 2@0..4");
    story("4:2 got 1"); /* it was asked, and not whoever leads by then */
}

/* ---- Ordinary members ---- */

static void an_ordinary_member_is_never_elected(void **state)
{
    static const char *const algorithms[] = {"candidate-ordinary", "lelann", "raft", "chubby", "paxos-lease"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        for (unsigned seed = 1; seed <= 20; seed++) {
            play("%s; nodes 4; ordinary 4,2; seed %u", algorithms[i], seed);
            kept_its_claims();
            assert_true(bench.result->agreed);
            assert_true(bench.result->leader == 1 || bench.result->leader == 3);
        }
    }
}

static void the_best_is_sought_among_candidates(void **state)
{
    errand = crown_itself_for_all;
    guise = "candidate-ordinary"; /* which knows of ordinary members */
    toys("nodes 4; initiator 2; ordinary 3,4");
    elected(2);
    toys("nodes 4; initiator 2; ordinary 4");
    violated(EL_NOT_BEST);
}

static void where_nobody_may_lead_nobody_is_missed(void **state)
{
    guise = "candidate-ordinary";
    toys("nodes 3; initiator 1; ordinary 1,2,3");
    assert_int_equal(bench.result->violation_kinds, 0);
    toys("nodes 3; initiator 1; ordinary 1,2");
    assert_int_equal(bench.result->violation_kinds, EL_NO_LEADER);
    toys("nodes 3; initiator 1; ordinary 1,2; crash 3@0");
    assert_int_equal(bench.result->violation_kinds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(a_process_is_asked_by_name),
        check(whoever_leads_then_is_asked),
        check(where_nobody_leads_nobody_is_asked),
        check(of_several_leaders_the_one_of_the_latest_term_is_asked),
        check(an_algorithm_that_knows_no_request_declines_it),
        check(crash_leader_hits_whoever_leads_then),
        check(a_fact_reaches_the_process_it_is_meant_for),
        check(a_leader_that_stands_still_is_asked_when_it_goes_on),
        check(an_ordinary_member_is_never_elected),
        check(the_best_is_sought_among_candidates),
        check(where_nobody_may_lead_nobody_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
