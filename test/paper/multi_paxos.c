/*
 * Multi-Paxos. N members; T is one delay, a hundred and fifty of which are the shortest timeout.
 *
 * Lamport, Paxos made simple, 2001, section 3; van Renesse, Altinbuken, Paxos made moderately complex, 2015.
 */
#include "lib/sim/bench.h"

static void a_takeover_is_one_round_of_prepare_and_promise(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        play("multi-paxos; nodes %u; leader %u; crash %u@500; initiator 1@510", n, n, n);
        sent("Prepare", n - 1);
        sent("Promise", n - 2);
        sent("Nack", 0);
        noted("commits");
        elected(1);
    }
}

static void proposers_that_bid_again_at_once_duel_for_ever(void **state)
{
    play("multi-paxos; nodes 3; initiator 1,2; set back-off=none; horizon 2000");
    noted("duel");
    violated(EL_ENDLESS);
}

static void back_off_ends_the_duel(void **state)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        play("multi-paxos; nodes 5; initiator 1,2,3,4,5; seed %u", seed);
        noted("outbid");
        kept_its_claims();
        assert_true(bench.result->agreed);
    }
}

/* The old leader believes in itself until a request of its own meets a higher promise. */
static void two_leaders_coexist_and_one_learns_by_a_nack(void **state)
{
    play("multi-paxos; nodes 5; leader 5; set check-quorum=off; partition 1,2,3|4,5@100..1000; until 999");
    follows(5, 5);
    assert_in_range(bench_leader_of(__FILE__, __LINE__, 1), 1, 3);
    play("multi-paxos; nodes 5; leader 5; set check-quorum=off; partition 1,2,3|4,5@100..1000");
    noted("refuses");
    noted("deposed");
    assert_true(bench.result->agreed);
    assert_in_range(bench_id(bench.result->leader), 1, 3);
}

static void with_check_quorum_a_cut_off_leader_steps_down(void **state)
{
    play("multi-paxos; nodes 5; leader 5; partition 1,2,3|4,5@100..1000; until 999");
    noted("no-quorum");
    follows(5, 0);
    assert_in_range(bench_leader_of(__FILE__, __LINE__, 1), 1, 3);
}

static void who_is_handed_the_lead_takes_it(void **state)
{
    play("multi-paxos; nodes 5; leader 5; transfer 2@500");
    noted("told-to-lead");
    sent("Prepare", 4);
    elected(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_takeover_is_one_round_of_prepare_and_promise),
        cmocka_unit_test(proposers_that_bid_again_at_once_duel_for_ever),
        cmocka_unit_test(back_off_ends_the_duel),
        cmocka_unit_test(two_leaders_coexist_and_one_learns_by_a_nack),
        cmocka_unit_test(with_check_quorum_a_cut_off_leader_steps_down),
        cmocka_unit_test(who_is_handed_the_lead_takes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
