/*
 * Where only a majority elects: what is expected while links are broken or too many are dead, who is blamed,
 * and who cannot be. The toy crowns whomever the test likes, and its electing is its term.
 */
#include "lib/sim/toy.h"

static void view_with_term(const void *state, const struct el_config *cfg, struct el_view *view)
{
    toy_view(state, cfg, view);
    view->term = ((const struct toy *)state)->electing;
}

static void crown_itself(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = cfg->self;
    me->electing++;
}

static int bring_a_majority(void **state)
{
    bring_a_new_toy(state);
    toy.majority = true;
    toy.claims = EL_CLAIMS_AGREEMENT;
    toy.view = view_with_term;
    errand = crown_itself_for_all;
    return 0;
}

/* All that is wrong is this, with these nodes. */
static void blamed(const char *file, int line, uint32_t kind, const char *nodes)
{
    char text[64] = "";
    if (bench.result->violation_kinds != kind)
        bench_fail(file, line, "expected %x, got %x", kind, bench.result->violation_kinds);
    for (uint32_t i = 0; i < bench.result->violation_count; i++) {
        const struct sim_violation *v = &bench.result->violations[i];
        for (uint32_t k = 0; k < v->node_count; k++) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%u", used ? "," : "", v->nodes[k]);
        }
    }
    if (strcmp(text, nodes) != 0) bench_fail(file, line, "expected %s, got %s", nodes, text);
}
#define blames(kind, nodes) blamed(__FILE__, __LINE__, kind, nodes)

static void with_half_dead_nobody_must_lead(void **state)
{
    errand = NULL;
    toys("nodes 4; initiator 1; crash 3@0,4@0");
    blames(0, "");
    toys("nodes 5; initiator 1; crash 4@0,5@0");
    blames(EL_NO_LEADER, "1,2,3");
}

static void the_minority_is_not_blamed(void **state)
{
    toys("nodes 5; initiator 1; partition 1,2,3|4,5");
    blames(0, "");
    toys("nodes 4; initiator 1; partition 1,2|3,4"); /* neither side has one */
    blames(0, "");
    errand = NULL;
    toys("nodes 5; initiator 1; partition 1,2,3|4,5");
    blames(EL_NO_LEADER, "1,2,3"); /* those who could lead */
    guise = "candidate-ordinary";  /* which knows of ordinary members */
    toys("nodes 5; initiator 1; partition 1,2,3|4,5; ordinary 1,3");
    blames(EL_NO_LEADER, "2");
    toys("nodes 5; initiator 1; partition 1,2,3|4,5; ordinary 1,2,3");
    blames(0, "");
    toys("nodes 5; initiator 1; partition 1,2,3|4,5; crash 1@0");
    blames(0, "");
}

static void who_is_reached_must_know_the_leader(void **state)
{
    toys("nodes 5; initiator 1; cut 1>2@0..5; cut 3>4"); /* 2 was not told, and can be by now */
    blames(EL_NO_LEADER, "2");
    toys("nodes 5; initiator 1; cut 1>2"); /* and here cannot */
    blames(0, "");
    toys("nodes 5; initiator 1; cut 2>1@1..9; cut 1>2@0..1; cut 2>1@9");
    blames(0, "");
}

static void who_is_reached_must_not_name_another(void **state)
{
    errand = crown_itself;
    toys("nodes 3; leader 3; initiator 1,1; cut 2>3"); /* 3 leads in term 0, 1 in term 2 */
    blames(EL_DISAGREEMENT, "2,3");
    toys("nodes 3; leader 3; initiator 1,1; partition 1,2|3");
    blames(EL_DISAGREEMENT, "2");
}

static void of_two_leaders_the_later_is_right(void **state)
{
    errand = crown_itself;
    toys("nodes 3; initiator 1,2,2; leader 3; cut 1>3"); /* terms 1, 2 and 0 */
    blames(EL_DISAGREEMENT, "1,3");
}

static void when_all_is_whole_again_all_must_agree(void **state)
{
    toys("nodes 5; initiator 1; partition 1,2,3|4,5@0..9");
    blames(EL_NO_LEADER, "4,5");
}

/* A bridge reaches everybody, and the two others do not reach each other. */
static void one_link_broken_among_three_leaves_who_reaches_all(void **state)
{
    errand = NULL;
    toys("nodes 3; initiator 1; partition 1|2");
    blames(EL_NO_LEADER, "1,2,3");                   /* each reaches two of three */
    toys("nodes 5; initiator 1; partition 1,2|3,4"); /* 5 reaches all */
    blames(EL_NO_LEADER, "1,2,3,4,5");
    toys("nodes 5; initiator 1; partition 1|2|3|4");
    blames(EL_NO_LEADER, "5");
}

#define majority_check(test) cmocka_unit_test_setup_teardown(test, bring_a_majority, put_it_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        majority_check(with_half_dead_nobody_must_lead),
        majority_check(the_minority_is_not_blamed),
        majority_check(who_is_reached_must_know_the_leader),
        majority_check(who_is_reached_must_not_name_another),
        majority_check(of_two_leaders_the_later_is_right),
        majority_check(when_all_is_whole_again_all_must_agree),
        majority_check(one_link_broken_among_three_leaves_who_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
