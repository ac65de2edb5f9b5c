/* Zab's epoch, rule by rule: what follows once an election has named a leader, and what makes it the only one. */
#include "lib/node/zookeeper.h"

/* The last of that many, elected in round 1, with nobody's FollowerInfo yet. */
static void sit_elected(uint32_t count)
{
    sit_in(count, count);
    starts();
    for (el_node peer = 1; peer <= count / 2; peer++) {
        char vote[32];
        snprintf(vote, sizeof vote, "Notification %u e1", count);
        hears(peer, vote);
    }
    times_out("finalize");
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-lead 1");
}

/* The second of three, elects the third in round 1. It had accepted an epoch before. */
static void sit_electing(uint64_t accepted, el_node from, uint64_t current)
{
    sit_in(3, 2);
    comes_back_with(accepted, from, current);
    hears(3, "Notification 3 e1 r99");
    times_out("finalize");
}

/* ---- The leader ---- */

static void a_majority_informs_of_its_epochs_and_the_next_is_proposed(void **state)
{
    sit_elected(5);
    hears(1, "FollowerInfo 1 e4 m1");
    did("");
    hears(1, "FollowerInfo 1 e4 m1"); /* once is enough, and twice is once */
    did("");
    hears(2, "FollowerInfo 2 e7 m1");
    did("note proposes 8; save e8; send 1,2 LeaderInfo 5 e8 m1");
    saved(8, 5, 0);
    sees("elects");
    hears(3, "FollowerInfo 3 e9 m1"); /* too late to be considered */
    did("send 3 LeaderInfo 5 e8 m1");
}

static void its_own_epoch_counts_too(void **state)
{
    sit_in(3, 3);
    comes_back_with(9, 1, 0);
    hears(1, "Notification 3 e1");
    times_out("finalize");
    hears(1, "FollowerInfo 1 e4 m1");
    did("note proposes 10; save e10; send 1 LeaderInfo 3 e10 m1");
}

static void leads_once_a_majority_has_acknowledged(void **state)
{
    sit_elected(5);
    hears(1, "FollowerInfo 1 e4 m1");
    hears(2, "FollowerInfo 2 e4 m1");
    hears(1, "AckEpoch 1 e5");
    did("");
    hears(1, "AckEpoch 1 e5"); /* duplicates count once */
    did("");
    sees("elects");
    hears(2, "AckEpoch 2 e5");
    did("save e5; note leads 5; arm limit 500; send 1,2,3,4 Ping 5 e5; arm tick 100");
    saved(5, 5, 5);
    sees("leads");
    assert_int_equal(term(), 5);
    times_out("tick");
    did("send 1,2,3,4 Ping 5 e5; arm tick 100");
}

static void early_followers_are_remembered(void **state)
{
    sit_in(3, 3);
    starts();
    hears(1, "Notification 3 e1");
    hears(1, "FollowerInfo 1 e4 m1");
    did("");
    times_out("finalize");
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-lead 1; note proposes 5; save e5; "
        "send 1 LeaderInfo 3 e5 m1");
}

static void but_not_those_of_an_earlier_round(void **state)
{
    sit_in(3, 3);
    starts();
    hears(1, "FollowerInfo 1 e4 m1");
    did("");
    hears(2, "Notification 3 e2");
    times_out("finalize");
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-lead 2");
    hears(1, "FollowerInfo 1 e4 m1");
    did("note stale 1");
    hears(1, "FollowerInfo 1 e6 m2");
    did("note proposes 7; save e7; send 1 LeaderInfo 3 e7 m2");
}

static void a_late_acknowledgement_of_an_earlier_epoch_does_not_count(void **state)
{
    sit_elected(3);
    hears(1, "AckEpoch 1");
    did("note stale 1");
    hears(1, "FollowerInfo 1 e4 m1");
    hears(1, "AckEpoch 1 e4");
    did("note stale 1");
    times_out("limit");
    hears(1, "AckEpoch 1 e5");
    did("note stale 1");
    hears(1, "Notification 3 e2");
    times_out("finalize");
    hears(1, "FollowerInfo 1 e5 m2");
    did("note proposes 6; save e6; send 1 LeaderInfo 3 e6 m2");
    hears(1, "AckEpoch 1 e5");
    did("note stale 1");
    sees("elects");
    hears(1, "AckEpoch 1 e6");
    sees("leads");
}

static void alone_one_leads_at_once(void **state)
{
    sit_in(1, 1);
    starts();
    did("note looks 1; disarm finalize; disarm tick; disarm limit; arm notify 300; note finalizes 1; "
        "arm finalize 200");
    times_out("finalize");
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-lead 1; note proposes 1; save e1; save e1; "
        "note leads 1; disarm limit; arm tick 100");
    sees("leads");
}

static void a_follower_that_is_ahead_does_not_count(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_in(3, 3);
    seat.cluster.roles = roles;
    starts();
    is_told(EPOCH, 4);
    is_told(ZXID, 7);
    hears(1, "Notification 3 e1 r4 a7");
    times_out("finalize");
    hears(1, "FollowerInfo 1 m1");
    hears(1, "AckEpoch 1 e1 r5");
    did("note ahead 1");
    hears(1, "AckEpoch 1 e1 r4 a8");
    did("note ahead 1");
    sees("elects");
    hears(2, "AckEpoch 2 e1 r5"); /* unless nobody could elect it */
    sees("leads");
    sit_elected(3);
    hears(1, "FollowerInfo 1 m1");
    is_told(EPOCH, 4);
    hears(1, "AckEpoch 1 e1 r3 a9");
    sees("leads");
}

static void who_joins_later_is_told_the_epoch_and_pinged(void **state)
{
    sit_in(3, 3);
    starts_under(3);
    hears(1, "FollowerInfo 1 m1");
    did("send 1 LeaderInfo 3 e1 m1");
    hears(1, "AckEpoch 1 e1");
    did("send 1 Ping 3 e1");
    hears(1, "FollowerInfo 1 m2");
    did("note stale 1");
    hears(1, "FollowerInfo 1 f4 m1");
    did("send 1 LeaderInfo 3 e1 m1");
}

static void an_observer_counts_for_nothing(void **state)
{
    sit_elected(3);
    hears(1, "FollowerInfo 1 e9 f4 m1");
    did("");
    hears(2, "FollowerInfo 2 e4 m1");
    did("note proposes 5; save e5; send 2 LeaderInfo 3 e5 m1");
    sit_in(3, 3);
    seat_start(EL_LOST, EL_NOBODY);
    hears(1, "FollowerInfo 1 e4 m1"); /* nobody should follow one */
    did("note stale 1");
}

static void a_leader_stands_down_without_a_majority_of_answers(void **state)
{
    sit_in(5, 3);
    starts_under(3);
    did("save e1; note leads 1; arm limit 500; send 1,2,4,5 Ping 3 e1; arm tick 100");
    saved(1, 3, 1);
    sees("leads");
    assert_int_equal(term(), 1);
    hears(1, "Pong 1 e1");
    did("");
    hears(1, "Pong 1 e1");
    did("");
    hears(2, "Pong 2");
    did("note stale 2");
    hears(2, "Pong 2 e1");
    did("arm limit 500");
    hears(4, "Pong 4 e1"); /* counting begins anew */
    did("");
    times_out("limit");
    did("note lost-majority; note looks 2; disarm finalize; disarm tick; disarm limit; "
        "send 1,2,4,5 Notification 3 e2 r1; arm notify 300");
    sees("elects");
    hears(1, "Pong 1 e1");
    did("note stale 1");
}

static void an_epoch_that_no_majority_acknowledges_is_given_up(void **state)
{
    sit_elected(3);
    hears(1, "FollowerInfo 1 e4 m1");
    hears(2, "Pong 2 e5"); /* which nobody could have asked for */
    did("note stale 2");
    times_out("limit");
    did("note not-established 3; note looks 2; disarm finalize; disarm tick; disarm limit; "
        "send 1,2 Notification 3 e2; arm notify 300");
    hears(1, "Notification 3 e2");
    times_out("finalize");
    hears(1, "FollowerInfo 1 e4 m2");
    did("note proposes 6; save e6; send 1 LeaderInfo 3 e6 m2"); /* never the same one again */
}

/* ---- The follower ---- */

static void informs_the_leader_until_it_is_taken(void **state)
{
    sit_electing(4, 1, 2);
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-follow 3 1; send 3 FollowerInfo 2 e4 m1; "
        "arm tick 100");
    times_out("tick");
    did("send 3 FollowerInfo 2 e4 m1; arm tick 100");
}

static void saves_an_epoch_before_it_acknowledges_it(void **state)
{
    sit_electing(4, 1, 2);
    hears(3, "LeaderInfo 3 e5 m1");
    did("note accepts 3 5; save e5; send 3 AckEpoch 2 e5 r2");
    saved(5, 3, 2);
    sees("elects");
    hears(3, "LeaderInfo 3 e5 m1"); /* it may have missed that */
    did("send 3 AckEpoch 2 e5 r2");
    times_out("tick");
    did("send 3 FollowerInfo 2 e5 m1; arm tick 100");
}

static void says_how_recent_its_history_is(void **state)
{
    sit_electing(4, 1, 2);
    is_told(ZXID, 8);
    hears(3, "LeaderInfo 3 e5 m1");
    did("note accepts 3 5; save e5; send 3 AckEpoch 2 e5 r2 a8");
}

static void follows_once_the_leader_pings(void **state)
{
    sit_electing(4, 1, 2);
    hears(3, "Ping 3 e5");
    did("note stale 3");
    hears(3, "Ping 3");
    did("note stale 3");
    hears(3, "LeaderInfo 3 e5 m1");
    hears(3, "Ping 3 e4");
    did("note stale 3");
    hears(1, "Ping 1 e5");
    did("note stale 1");
    hears(3, "Ping 3 e5");
    did("save e5; note follows 3 5; disarm tick; arm limit 500; send 3 Pong 2 e5");
    saved(5, 3, 5);
    sees("follows 3");
    assert_int_equal(term(), 5);
    hears(3, "Ping 3 e5");
    did("arm limit 500; send 3 Pong 2 e5");
    hears(3, "LeaderInfo 3 e5 m1");
    did("note stale 3");
    hears(1, "FollowerInfo 1 e5 m1"); /* it leads nobody */
    did("note stale 1");
    hears(1, "Pong 1 e5");
    did("note stale 1");
}

static void looks_again_when_the_leader_falls_silent(void **state)
{
    sit_in(3, 2);
    starts_under(3);
    did("save e1; note follows 3 1; disarm tick; arm limit 500");
    saved(1, 3, 1);
    sees("follows 3");
    assert_int_equal(term(), 1);
    hears(3, "Ping 3 e1");
    did("arm limit 500; send 3 Pong 2 e1");
    times_out("limit");
    did("note lost-leader 3; note looks 2; disarm finalize; disarm tick; disarm limit; "
        "send 1,3 Notification 2 e2 r1; arm notify 300");
    sees("elects");
}

static void an_epoch_accepted_from_another_is_not_acknowledged_again(void **state)
{
    sit_electing(5, 1, 2);
    hears(3, "LeaderInfo 3 e5 m1");
    did("note refuses 3 5");
    hears(3, "Ping 3 e5"); /* but a majority without us may have, and then we follow */
    did("save e5; note follows 3 5; disarm tick; arm limit 500; send 3 Pong 2 e5");
    saved(5, 1, 5);
}

static void a_member_that_comes_back_acknowledges_to_the_same_leader(void **state)
{
    sit_electing(5, 3, 5);
    hears(3, "LeaderInfo 3 e5 m1");
    did("send 3 AckEpoch 2 e5 r5");
}

/* It has accepted 6 from one that never led: it follows in 5, and does not count. */
static void who_accepted_a_newer_epoch_follows_without_support(void **state)
{
    sit_electing(6, 1, 2);
    hears(3, "LeaderInfo 3 e5 m1");
    did("note refuses 3 5");
    hears(3, "Ping 3 e5");
    did("save e6; note follows 3 5; disarm tick; arm limit 500");
    saved(6, 1, 5);
    sees("follows 3");
    hears(3, "Ping 3 e5");
    did("arm limit 500");
}

static void nobody_follows_back_into_an_older_epoch(void **state)
{
    sit_electing(6, 1, 6);
    hears(3, "LeaderInfo 3 e5 m1");
    did("note stale 3");
    hears(3, "Ping 3 e5");
    did("note stale 3");
    times_out("limit");
    assert_non_null(strstr(seat_text(), "note not-established 3; note looks 2"));
}

static void only_the_leader_of_this_election_is_heard(void **state)
{
    sit_electing(4, 1, 2);
    hears(1, "LeaderInfo 1 e5 m1");
    did("note stale 1");
    hears(3, "LeaderInfo 3 e5");
    did("note stale 3");
    hears(3, "LeaderInfo 3 e5 m2");
    did("note stale 3");
    sit_in(3, 2);
    starts();
    hears(3, "LeaderInfo 3 e5 m1"); /* not elected yet */
    did("note stale 3");
    sit_electing(0, 0, 0);
    hears(3, "LeaderInfo 3 m1");
    did("note stale 3");
}

static void an_observer_follows_and_promises_nothing(void **state)
{
    sit_in(3, 1);
    seat_start(EL_LOST, EL_NOBODY);
    hears(2, "Notification 3 e4" FOLLOWING);
    hears(3, "Notification 3 e4" LEADING);
    hears(3, "LeaderInfo 3 e5 m4");
    did("");
    hears(3, "Ping 3 e5");
    did("note follows 3 5; disarm tick; arm limit 500");
    sees("follows 3");
    assert_int_equal(term(), 5);
}

/* ---- Who may lead ---- */

static void an_incumbent_that_may_not_lead_is_none(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY};
    sit_in(3, 1);
    seat.cluster.roles = roles;
    starts_under(3);
    sees("elects");
    sit_in(3, 1); /* nor is one whom only a restarted host remembers */
    seat_start(EL_RESTORED, 3);
    sees("elects");
}

/* ---- Hostile bytes ---- */

static void epochs_stay_far_below_the_largest(void **state)
{
    sit_elected(3);
    hears(1, "FollowerInfo 1 e9007199254740991 m1");
    did("note malformed 1");
    hears(1, "FollowerInfo 1 e4503599627370496 m1");
    did("note proposes 4503599627370497; save e4503599627370497; send 1 LeaderInfo 3 e4503599627370497 m1");
    hears(1, "Pong 1 f3");
    did("note malformed 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_majority_informs_of_its_epochs_and_the_next_is_proposed),
        cmocka_unit_test(its_own_epoch_counts_too),
        cmocka_unit_test(leads_once_a_majority_has_acknowledged),
        cmocka_unit_test(early_followers_are_remembered),
        cmocka_unit_test(but_not_those_of_an_earlier_round),
        cmocka_unit_test(a_late_acknowledgement_of_an_earlier_epoch_does_not_count),
        cmocka_unit_test(alone_one_leads_at_once),
        cmocka_unit_test(a_follower_that_is_ahead_does_not_count),
        cmocka_unit_test(who_joins_later_is_told_the_epoch_and_pinged),
        cmocka_unit_test(an_observer_counts_for_nothing),
        cmocka_unit_test(a_leader_stands_down_without_a_majority_of_answers),
        cmocka_unit_test(an_epoch_that_no_majority_acknowledges_is_given_up),
        cmocka_unit_test(informs_the_leader_until_it_is_taken),
        cmocka_unit_test(saves_an_epoch_before_it_acknowledges_it),
        cmocka_unit_test(says_how_recent_its_history_is),
        cmocka_unit_test(follows_once_the_leader_pings),
        cmocka_unit_test(looks_again_when_the_leader_falls_silent),
        cmocka_unit_test(an_epoch_accepted_from_another_is_not_acknowledged_again),
        cmocka_unit_test(a_member_that_comes_back_acknowledges_to_the_same_leader),
        cmocka_unit_test(who_accepted_a_newer_epoch_follows_without_support),
        cmocka_unit_test(nobody_follows_back_into_an_older_epoch),
        cmocka_unit_test(only_the_leader_of_this_election_is_heard),
        cmocka_unit_test(an_observer_follows_and_promises_nothing),
        cmocka_unit_test(an_incumbent_that_may_not_lead_is_none),
        cmocka_unit_test(epochs_stay_far_below_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
