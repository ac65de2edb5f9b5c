/*
 * The oracles: which violations a run is charged with, when, and which nodes are blamed;
 * and whom they leave alone. The toy crowns whomever the test likes.
 */
#include "lib/sim/toy.h"

static void crown_itself(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = cfg->self;
}

static void crown_three_for_all(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = 3;
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, CROWN, 3, 0);
}

/* There is one violation of this kind, of these nodes. */
static void blames(uint32_t kind, const char *nodes)
{
    const struct sim_violation *found = NULL;
    char text[64] = "";
    for (uint32_t i = 0; i < bench.result->violation_count; i++) {
        if (bench.result->violations[i].kind != kind) continue;
        assert_null(found); /* reported once */
        found = &bench.result->violations[i];
        const struct sim_record *r = sim_trace_at(sim_world_trace(bench.world), found->record);
        assert_non_null(r);
        assert_int_equal(r->what, SIM_VIOLATED);
        assert_int_equal(r->number, i);
    }
    if (!found) bench_fail(__FILE__, __LINE__, "nobody is blamed");
    for (uint32_t i = 0; i < found->node_count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%u", i ? "," : "", found->nodes[i]);
    }
    assert_string_equal(text, nodes);
}

static void blames_only(uint32_t kind, const char *nodes)
{
    assert_int_equal(bench.result->violation_kinds, kind);
    blames(kind, nodes);
}

static void two_leaders_are_seen_at_once(void **state)
{
    errand = crown_itself;
    toys("nodes 2; initiator 1@1,2@3; until 3.5");
    assert_true(bench.result->violation_kinds & EL_TWO_LEADERS);
    assert_int_equal(bench.result->violations[0].kind, EL_TWO_LEADERS);
    assert_int_equal(bench.result->violations[0].time, 3 * T);
    toy.claims = EL_CLAIMS_GROUPS;
    toys("nodes 2; initiator 1@1,2@3");
    assert_int_equal(bench.result->violation_kinds, 0);
}

static void how_many_led_at_once_is_counted_whatever_is_claimed(void **state)
{
    errand = crown_itself;
    toy.claims = EL_CLAIMS_GROUPS;
    toys("nodes 4; initiator none");
    assert_int_equal(bench.result->leaders_max, 0);
    toys("nodes 4; initiator 1@1,2@3,4@5");
    assert_int_equal(bench.result->leaders_max, 3);
    toys("nodes 4; initiator 1@1,2@3,4@5; crash 1@2");
    assert_int_equal(bench.result->leaders_max, 2);
}

static void a_live_leader_that_stops_is_counted_and_blamed_where_it_promised_to_stay(void **state)
{
    errand = crown_three_for_all;
    toys("nodes 3; leader 1; initiator 2@1");
    assert_int_equal(bench.result->deposed, 1);
    assert_false(bench.result->violation_kinds & EL_DEMOTED);
    toy.claims |= EL_CLAIMS_STABLE;
    toys("nodes 3; leader 1; initiator 2@1");
    assert_true(bench.result->violation_kinds & EL_DEMOTED);
    toys("nodes 3; leader 1; initiator 2@1; crash 1@0");
    assert_int_equal(bench.result->deposed, 0);
}

static void agreement_on_the_best_is_flawless(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3");
    elected(3);
    follows(1, 3);
}

static void whoever_knows_no_leader_is_named(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3; cut 3>2");
    blames(EL_NO_LEADER, "2");
    errand = NULL;
    toys("nodes 9; initiator 3");
    blames_only(EL_NO_LEADER, "1,2,3,4,5,6,7,8"); /* the first so many */
    assert_false(bench.result->agreed);
}

static void nobody_is_blamed_before_anybody_called(void **state)
{
    toys("nodes 3; initiator none");
    assert_int_equal(bench.result->violation_count, 0);
    toys("nodes 3; initiator none; crash 2@0; detect 1"); /* not a leader */
    assert_int_equal(bench.result->violation_count, 0);
}

static void a_dead_leader_is_named_by_those_who_follow_it(void **state)
{
    toys("nodes 3; leader 3; crash 3@0; detect 1");
    blames_only(EL_DEAD_LEADER, "1,2");
    assert_true(bench.result->agreed);
    assert_int_equal(bench.result->leader, 3);
}

static void those_who_disagree_are_named(void **state)
{
    errand = crown_three_for_all;
    toys("nodes 3; initiator 1; cut 1>3"); /* 1 and 2 follow 3, which does not know */
    assert_int_equal(bench.result->violation_kinds, EL_NO_LEADER | EL_DISAGREEMENT);
    toys("nodes 3; leader 2; initiator 1; cut 1>2; cut 1>3");
    blames_only(EL_DISAGREEMENT, "1,2,3");
}

static void in_groups_only_a_headless_one_is_blamed(void **state)
{
    errand = crown_three_for_all;
    toy.claims = EL_CLAIMS_GROUPS;
    toys("nodes 4; leader 2; initiator 1; cut 1>2; cut 1>3; cut 1>4");
    blames_only(EL_DISAGREEMENT, "1"); /* it follows 3, which follows 2 */
}

static void a_better_one_that_was_passed_over_is_named(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 2");
    blames_only(EL_NOT_BEST, "3");
    toys("nodes 3; initiator 2; crash 3@0");
    assert_int_equal(bench.result->violation_kinds, 0);
    toys("nodes 3; initiator 2; attr 2=1");
    elected(2);
    toy.claims = EL_CLAIMS_AGREEMENT;
    toys("nodes 3; initiator 2");
    elected(2);
}

static void first_one_seizes_power(void *state, const struct el_config *cfg, el_node peer,
                                   struct el_outbox *out)
{
    (void)peer;
    if (cfg->self == 1) crown_itself_for_all(state, cfg, out);
}

static void the_best_is_sought_anew_when_it_dies(void **state)
{
    errand = crown_itself_for_all;
    toy.on_suspect = first_one_seizes_power;
    toys("nodes 3; initiator 3; crash 3@5; detect 1"); /* 3 is judged the best at rest, and dies */
    blames_only(EL_NOT_BEST, "2");
}

static void an_endless_run_is_blamed_on_nobody(void **state)
{
    errand = throw_a_ball;
    toys("nodes 2; initiator 1; horizon 5; leader 2");
    blames_only(EL_ENDLESS, "");
}

static void what_is_not_claimed_is_not_judged(void **state)
{
    toy.claims = EL_CLAIMS_ONE_LEADER;
    toys("nodes 3; initiator 1");
    assert_int_equal(bench.result->violation_count, 0);
}

static void the_dead_are_not_judged(void **state)
{
    toys("nodes 2; initiator 1; crash 1@1,2@1");
    assert_false(bench.result->agreed);
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 2@1; crash 3@0,1@3");
    elected(2);
}

/* ---- Terms ---- */

/* Two words of them: how often it was called, and above that its attribute. */
static void view_with_term(const void *state, const struct el_config *cfg, struct el_view *view)
{
    toy_view(state, cfg, view);
    view->term = ((const struct toy *)state)->electing + (el_rank_of(cfg->cluster, cfg->self).attribute << 32);
}

/* Leads when called, in the next term; called once more, it follows the next node. */
static void lead_or_let_go(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    const bool leads = me->leader == cfg->self;
    me->leader = leads ? cfg->self % cfg->cluster->count + 1 : cfg->self;
    me->electing += !leads;
}

static void two_leaders_in_one_term_are_blamed_whenever_they_led(void **state)
{
    errand = lead_or_let_go;
    toy.view = view_with_term;
    toy.claims = EL_CLAIMS_ONE_PER_TERM;
    toys("nodes 3; initiator 1@1,1@2,2@9");
    blames_only(EL_SAME_TERM, "1,2"); /* the first had let go long before */
    assert_int_equal(bench.result->violations[0].time, 9 * T);
    toys("nodes 3; initiator 1@1,2@9; crash 1@5");
    blames_only(EL_SAME_TERM, "1,2");
    toys("nodes 3; initiator 1@1,1@2,2@9,2@10,2@11"); /* another term later changes nothing */
    blames_only(EL_SAME_TERM, "1,2");
}

static void terms_that_differ_are_no_matter(void **state)
{
    errand = lead_or_let_go;
    toy.view = view_with_term;
    toy.claims = EL_CLAIMS_ONE_PER_TERM;
    toys("nodes 3; initiator 1@1,1@2,1@3"); /* 1 and then 2, both by the same */
    assert_int_equal(bench.result->violation_kinds, 0);
    toys("nodes 3; initiator 1@1,2@2; attr 2=1"); /* 1 and 2^32 + 1 */
    assert_int_equal(bench.result->violation_kinds, 0);
    toy.claims = 0;
    toys("nodes 3; initiator 1@1,2@2");
    assert_int_equal(bench.result->violation_kinds, 0);
}

static void a_leader_in_a_term_that_is_not_above_all_earlier_ones_is_blamed(void **state)
{
    errand = lead_or_let_go;
    toy.view = view_with_term;
    toy.claims = EL_CLAIMS_RISING;
    toys("nodes 3; initiator 1@1,1@2,1@3,1@4,2@9"); /* terms 1 and 2 of the first, 1 of the second */
    blames_only(EL_TOKEN_FELL, "2");
    assert_int_equal(bench.result->violations[0].time, 9 * T);
    toys("nodes 3; initiator 1@1,1@2,2@9"); /* the same once more does not rise either */
    blames_only(EL_TOKEN_FELL, "2");
    toys("nodes 3; initiator 1@1,1@2,1@3,1@4,2@9; attr 2=1");
    assert_int_equal(bench.result->violation_kinds, 0);
    toy.claims = 0;
    toys("nodes 3; initiator 1@1,1@2,1@3,1@4,2@9");
    assert_int_equal(bench.result->violation_kinds, 0);
}

/* What a toy follows is what it holds for decided, under number 7. */
static void decides_its_leader(const void *state, struct el_decision *decision)
{
    const struct toy *me = state;
    *decision = (struct el_decision){me->leader ? 7 : 0, me->leader};
}

static void two_decisions_under_one_number_are_blamed_for_ever(void **state)
{
    errand = crown_itself;
    toy.decided = decides_its_leader;
    toy.claims = EL_CLAIMS_ONE_DECISION;
    toys("nodes 3; initiator 1@1,2@3; crash 1@2"); /* whoever held the first one is gone */
    blames_only(EL_TWO_DECISIONS, "2");
    assert_int_equal(bench.result->violations[0].time, 3 * T);
    errand = crown_three_for_all;
    toys("nodes 3; initiator 1@1,2@3");
    assert_int_equal(bench.result->violation_kinds, 0);
    errand = crown_itself;
    toy.claims = 0;
    toys("nodes 3; initiator 1@1,2@3");
    assert_int_equal(bench.result->violation_kinds, 0);
}

/* ---- Leaders that may stay ---- */

/* Leads in the next term, and everybody else follows. */
static void take_over(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->electing++;
    crown_itself_for_all(me, cfg, out);
}

static enum el_answer perform(void *state, const struct el_config *cfg, enum el_request_what what, el_node to,
                              struct el_outbox *out)
{
    return EL_PERFORMED;
}

static void a_fall_is_excused_by_whatever_kept_the_leader_from_being_heard(void **state)
{
    static const char *const excuses[] = {
        "cut 1>2@1..2", "loss 0.5; seed 9",       "pause 3@1..2", "jump 3@1=+1",
        "bound 0.5",    "false-suspect 2:1@1..2", "clock 2=1.1",
    };
    errand = take_over;
    toy.claims = EL_CLAIMS_STABLE;
    toys("nodes 3; leader 1; initiator 2@5");
    blames_only(EL_DEMOTED, "1");
    toys("nodes 3; leader 1; initiator 2@5; clock 2=1.001"); /* inside the bound */
    blames_only(EL_DEMOTED, "1");
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++) {
        char text[200];
        snprintf(text, sizeof text, "nodes 3; leader 1; initiator 2@5; %s", excuses[i]);
        toys(text);
        if (bench.result->violation_kinds || bench.result->deposed != 1) /* counted all the same */
            bench_fail(__FILE__, __LINE__, "deposed %u", bench.result->deposed);
    }
}

static void who_was_asked_to_go_may_go(void **state)
{
    errand = take_over;
    toy.claims = EL_CLAIMS_STABLE;
    toy.on_request = perform;
    toys("nodes 3; leader 1; initiator 2@5; resign leader@4");
    assert_int_equal(bench.result->violation_kinds, 0);
    assert_int_equal(bench.result->deposed, 0);
    toys("nodes 3; leader 1; initiator 2@5; transfer 2@4");
    assert_int_equal(bench.result->violation_kinds, 0);
    toys("nodes 3; leader 1; initiator 2@5,3@9; resign leader@4"); /* and the one after it was not asked */
    blames_only(EL_DEMOTED, "2");
    toys("nodes 3; leader 1; initiator 2@5,1@9,3@13; resign leader@4"); /* nor was 1, the second time */
    assert_int_equal(bench.result->violation_count, 2);
    assert_int_equal(bench.result->violations[1].nodes[0], 1);
}

static void a_leader_that_not_all_had_named_may_fall(void **state)
{
    errand = take_over;
    toy.claims = EL_CLAIMS_STABLE;
    toys("nodes 3; initiator 1@1,2@5"); /* between, all name it */
    assert_int_equal(bench.result->deposed, 1);
    toys("nodes 3; initiator 1@1,2@5; cut 1>3");
    assert_int_equal(bench.result->deposed, 0);
}

static void without_a_majority_a_leader_may_fall(void **state)
{
    errand = take_over;
    toy.claims = EL_CLAIMS_STABLE;
    toy.majority = true;
    toys("nodes 4; leader 1; initiator 2@5; crash 3@1");
    blames_only(EL_DEMOTED, "1");
    toys("nodes 4; leader 1; initiator 2@5; crash 3@1,4@1");
    assert_int_equal(bench.result->violation_kinds, 0);
}

/* ---- What was once wrong ---- */

static void who_declined_to_go_was_not_asked(void **state)
{
    errand = take_over;
    toy.claims = EL_CLAIMS_STABLE;
    toys("nodes 3; leader 1; initiator 2@5; resign leader@4"); /* it knows no such request */
    blames_only(EL_DEMOTED, "1");
    toys("nodes 3; initiator 2@5,3@9; resign 2@4"); /* it does not lead yet */
    blames_only(EL_DEMOTED, "2");
}

static void who_knows_no_leader_does_not_disagree(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3; cut 3>2");
    blames_only(EL_NO_LEADER, "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(who_knows_no_leader_does_not_disagree),
        check(who_declined_to_go_was_not_asked),
        check(two_leaders_in_one_term_are_blamed_whenever_they_led),
        check(a_leader_in_a_term_that_is_not_above_all_earlier_ones_is_blamed),
        check(two_decisions_under_one_number_are_blamed_for_ever),
        check(terms_that_differ_are_no_matter),
        check(a_fall_is_excused_by_whatever_kept_the_leader_from_being_heard),
        check(who_was_asked_to_go_may_go),
        check(a_leader_that_not_all_had_named_may_fall),
        check(without_a_majority_a_leader_may_fall),
        check(two_leaders_are_seen_at_once),
        check(how_many_led_at_once_is_counted_whatever_is_claimed),
        check(a_live_leader_that_stops_is_counted_and_blamed_where_it_promised_to_stay),
        check(agreement_on_the_best_is_flawless),
        check(whoever_knows_no_leader_is_named),
        check(nobody_is_blamed_before_anybody_called),
        check(a_dead_leader_is_named_by_those_who_follow_it),
        check(those_who_disagree_are_named),
        check(in_groups_only_a_headless_one_is_blamed),
        check(a_better_one_that_was_passed_over_is_named),
        check(the_best_is_sought_anew_when_it_dies),
        check(an_endless_run_is_blamed_on_nobody),
        check(what_is_not_claimed_is_not_judged),
        check(the_dead_are_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
