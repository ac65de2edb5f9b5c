/*
 * What is said at the end of a run: where each message went, how long it took, which elections there were, and
 * nothing of the kind where it would not be true.
 */
#include "lib/sim/bench.h"
#include "sim/output/transcript.h"

/* ---- Where each message went ---- */

static void adds_up(void)
{
    const struct sim_result *r = bench.result;
    assert_int_equal(r->sent[0] + r->failed_hops + r->copies,
                     r->delivered + r->lost + r->to_the_dead + r->under_way);
}

static void every_message_has_one_fate(void **state)
{
    static const char *const stories[] = {
        "bully; nodes 5; leader 5; crash 5@0; initiator 2",
        "bully; nodes 5; initiator all; loss 30%; dup 30%; reorder 30%; seed 7",
        "chang-roberts; nodes 6; initiator 3; crash 6@0",
        "chang-roberts; nodes 6; initiator all; cut 2>3; horizon 40",
        "ring-basic; nodes 6; initiator all; until 2.5",
        "raft; nodes 5; crash leader@600; dup 10%; loss 10%; disk 1..5; until 1234.5",
        "bully; nodes 3; script steps; step campaign 1; step lose 1>3 Election; step copy 1>2 Election",
    };
    uint64_t seen[5] = {0};
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        play("%s", stories[i]);
        adds_up();
        const struct sim_result *r = bench.result;
        const uint64_t fates[] = {r->lost, r->to_the_dead, r->under_way, r->copies, r->failed_hops};
        for (size_t k = 0; k < 5; k++) seen[k] += fates[k];
    }
    for (size_t k = 0; k < 5; k++) assert_true(seen[k] > 0); /* each fate occurs in some story */
}

/* ---- Endless runs ---- */

static void an_endless_run_has_no_turnaround(void **state)
{
    play("chang-roberts; ids 3,32,5,80,6,12; initiator 3; crash 80@3.5; expect turnaround 0");
    assert_true(sim_is_endless(bench.result));
    assert_int_equal(bench.result->turnaround, 0);
    assert_false(sim_expectations_hold(&bench.plan, bench.result));
}

static void an_election_that_is_cut_has_no_turnaround_either(void **state)
{
    play("chang-roberts; ids 3,32,5,80,6,12; initiator 3,3@40; crash 80@43.5");
    assert_int_equal(bench.result->phase_count, 2);
    assert_false(bench.result->phases[0].is_open);
    assert_true(bench.result->phases[1].is_open);
}

/* ---- Elections ---- */

static void a_death_that_changes_nothing_is_no_election(void **state)
{
    play("bully; nodes 4; leader 4; detect 0.5; crash 1@32");
    assert_int_equal(bench.result->phase_count, 0);
    play("raft; nodes 5; leader 5; crash 3@500,4@2500");
    assert_int_equal(bench.result->phase_count, 0);
    play("bully; nodes 1; initiator 1"); /* no message, but somebody leads */
    assert_int_equal(bench.result->phase_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_has_one_fate),
        cmocka_unit_test(an_endless_run_has_no_turnaround),
        cmocka_unit_test(an_election_that_is_cut_has_no_turnaround_either),
        cmocka_unit_test(a_death_that_changes_nothing_is_no_election),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
