/*
 * ZooKeeper: the most recent history is elected, whoever comes back joins, and a majority is needed.
 *
 * Junqueira, Reed, Serafini, Zab, DSN 2011; Medeiros, ZooKeeper's atomic broadcast protocol, 2012.
 */
#include "lib/sim/bench.h"

enum { FINALIZE = 200 };

/* One delay for the votes, one for the changed ones, a wait; then FollowerInfo, LeaderInfo, AckEpoch, and a ping. Up
 * to three members need the changed votes only at the leader, whose followers do not wait for it. */
static void of_equal_histories_the_highest_id_leads_after_two_and_four_delays(void **state)
{
    for (unsigned n = 2; n <= SOME; n++) {
        play("zookeeper-fle; nodes %u", n);
        took(FINALIZE + (n <= 3 ? 5 : 6));
        elected(n);
    }
}

static void a_higher_zxid_beats_the_id_and_a_higher_epoch_beats_both(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        play("zookeeper-fle; nodes %u; fact 2:zxid=1@0", n);
        elected(2);
        play("zookeeper-fle; nodes %u; fact 2:zxid=9@0; fact 1:epoch=1@0", n);
        elected(1);
    }
}

static void whoever_comes_back_joins_the_leader_there_is(void **state)
{
    for (unsigned n = 3; n <= SOME; n++)
        for (unsigned back = 1; back <= n; back++) {
            if (back == 2) continue;
            play("zookeeper-fle; nodes %u; leader 2; crash %u@100; restart %u@1000", n, back, back);
            elected(2);
        }
}

static void when_the_leader_dies_the_rest_elect_another(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        play("zookeeper-fle; nodes %u; leader %u; crash %u@100", n, n, n);
        elected(n - 1);
    }
}

/* 3 reaches everybody. But it passes on that 4 is better, whom too few reach, and 4 is elected for ever. */
static void votes_travel_further_than_followers(void **state)
{
    play("zookeeper-fle; nodes 4; cut 1>4; cut 2>4");
    violated(EL_NO_LEADER);
    play("zookeeper-fle; nodes 4; cut 1>4; cut 2>4; cut 3>4; cut 4>1; cut 4>2; cut 4>3");
    kept_its_claims();
    follows(1, 3);
    follows(2, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equal_histories_the_highest_id_leads_after_two_and_four_delays),
        cmocka_unit_test(a_higher_zxid_beats_the_id_and_a_higher_epoch_beats_both),
        cmocka_unit_test(whoever_comes_back_joins_the_leader_there_is),
        cmocka_unit_test(when_the_leader_dies_the_rest_elect_another),
        cmocka_unit_test(votes_travel_further_than_followers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
