/* Raft, rule by rule: how node 3 of five votes, and what it says when it is asked how it would. */
#include "lib/node/raft.h"

/* ---- Voting ---- */

static void saves_its_vote_before_it_tells(void **state)
{
    sit_in_raft(5, 3);
    starts();
    hears(2, "Vote 2 e4");
    did("note votes 2 4; save e4; arm election 100..200; send 2 Grant 3 e4");
    saved_vote(4, 2);
}

static void votes_once_a_term(void **state)
{
    sit_in_raft(5, 3);
    starts();
    hears(2, "Vote 2 e4");
    hears(1, "Vote 1 e4");
    did("note voted-already 1 4; send 1 Refuse 3 e4");
    hears(2, "Vote 2 e4"); /* again, because the grant was lost */
    did("note votes 2 4; save e4; arm election 100..200; send 2 Grant 3 e4");
    hears(1, "Vote 1 e3");
    did("note old-term 1 4; send 1 Refuse 3 e4");
    hears(1, "Vote 1 e5");
    did("note votes 1 5; save e5; arm election 100..200; send 1 Grant 3 e5");
}

static void a_candidate_keeps_its_vote_for_itself(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
    sees("elects");
    hears(2, "Vote 2 e2");
    did("note steps-down 2; note votes 2 2; save e2; arm election 100..200; "
        "send 2 Grant 3 e2");
}

static void a_vote_outlives_a_crash(void **state)
{
    sit_in_raft(5, 3);
    starts();
    hears(2, "Vote 2 e4");
    comes_back_with(saved());
    did("arm election 100..200");
    hears(1, "Vote 1 e4");
    did("note voted-already 1 4; send 1 Refuse 3 e4");
    hears(2, "Vote 2 e4");
    did("note votes 2 4; save e4; arm election 100..200; send 2 Grant 3 e4");
}

static void a_term_outlives_a_crash(void **state)
{
    sit_in_raft(5, 3);
    starts();
    hears(1, "Beat 1 e7");
    comes_back_with(saved());
    hears(2, "Vote 2 e6");
    did("note old-term 2 7; send 2 Refuse 3 e7");
    times_out("election");
    did("note asks-around 8; send 1,2,4,5 PreVote 3 e8; arm election 100..200");
}

static void a_candidate_that_comes_back_does_not_stand_twice_in_a_term(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    comes_back_with(saved());
    hears(1, "Grant 1 e1");
    hears(2, "Grant 2 e1");
    did("");
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
    times_out("election");
    did("note stands 2; save e2; send 1,2,4,5 Vote 3 e2; arm election 100..200");
}

/* It may have begun under a leader, in term 1, and died before that was saved: nobody else may have that term. */
static void gives_no_vote_of_the_first_term_where_nothing_was_saved(void **state)
{
    sit_in_raft(5, 3);
    comes_back();
    did("arm election 100..200");
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
    hears(2, "Vote 2 e2");
    did("note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
}

static void who_has_lost_its_record_never_votes(void **state)
{
    sit_in_raft(5, 3);
    seat_start(EL_LOST, EL_NOBODY);
    did("save e0; arm election 100..200");
    hears(2, "Vote 2 e9");
    did("note mute");
    hears(2, "Vote 2 e9 f1");
    did("note mute");
    hears(2, "PreVote 2 e9");
    did("note mute; send 2 Refuse 3");
    times_out("election");
    did("arm election 100..200");
    campaigns();
    did("note call-ignored");
    hears(1, "Beat 1 e9");
    did("save e9; note learns 1 9; arm election 100..200; arm loyalty 100; "
        "send 1 BeatAck 3 e9");
    hears(1, "TimeoutNow 1 e9");
    did("");
    sees("follows 1");
}

/* It voted for 1 in term 5, then lost that; term 4 is all that it has learnt since. */
static void nor_does_it_after_another_crash(void **state)
{
    sit_in_raft(5, 3);
    seat_start(EL_LOST, EL_NOBODY);
    comes_back_with(saved());
    hears(2, "Vote 2 e5");
    did("note mute");
    hears(1, "Beat 1 e4");
    comes_back_with(saved());
    hears(2, "Vote 2 e5");
    did("note mute");
}

static void votes_for_nobody_whose_log_is_behind(void **state)
{
    sit_in_raft(5, 3);
    starts();
    is_told(LOG_TERM, 3);
    is_told(LOG_INDEX, 10);
    hears(1, "Vote 1 e4 r2 a99");
    did("note log-too-old 1; save e4; send 1 Refuse 3 e4");
    saved_vote(4, EL_NOBODY);
    hears(1, "Vote 1 e4 r3 a9");
    did("note log-too-old 1; send 1 Refuse 3 e4");
    hears(2, "Vote 2 e4 r3 a10");
    did("note votes 2 4; save e4; arm election 100..200; send 2 Grant 3 e4");
    hears(4, "Vote 4 e5 r3 a11");
    did("note votes 4 5; save e5; arm election 100..200; send 4 Grant 3 e5");
    hears(5, "Vote 5 e6 r4");
    did("note votes 5 6; save e6; arm election 100..200; send 5 Grant 3 e6");
}

/* ---- Pre-votes ---- */

static void a_pre_vote_changes_nothing(void **state)
{
    sit_in_raft(5, 3);
    starts();
    hears(2, "Vote 2 e4");
    unsigned char before[256];
    assert_in_range(seat.state_size, 1, sizeof before);
    memcpy(before, seat.state, seat.state_size);
    hears(1, "PreVote 1 e9");
    did("note would-vote 1 9; send 1 PreGrant 3 e9"); /* in the term asked for; no timer is touched */
    assert_memory_equal(before, seat.state, seat.state_size);
    hears(5, "PreVote 5 e9"); /* it would vote for anybody */
    did("note would-vote 5 9; send 5 PreGrant 3 e9");
    hears(1, "PreVote 1 e4");
    did("note old-term 1 4; send 1 Refuse 3 e4");
    assert_memory_equal(before, seat.state, seat.state_size);
}

static void a_pre_vote_asks_for_a_recent_log_too(void **state)
{
    sit_in_raft(5, 3);
    starts();
    is_told(LOG_TERM, 3);
    is_told(LOG_INDEX, 10);
    hears(1, "PreVote 1 e1 r3 a9");
    did("note log-too-old 1; send 1 Refuse 3");
    hears(1, "PreVote 1 e1 r3 a10");
    did("note would-vote 1 1; send 1 PreGrant 3 e1");
}

static void helps_nobody_against_a_leader_that_it_has_just_heard(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    did("save e1; note learns 1 1; arm election 100..200; arm loyalty 100; "
        "send 1 BeatAck 3 e1");
    hears(2, "PreVote 2 e2");
    did("note loyal 2; send 2 Refuse 3 e1");
    hears(2, "Vote 2 e2");
    did("note loyal 2"); /* and does not adopt the term */
    sees("follows 1");
    times_out("loyalty");
    did("");
    hears(2, "PreVote 2 e2");
    did("note would-vote 2 2; send 2 PreGrant 3 e2");
    hears(2, "Vote 2 e2");
    did("note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
}

static void loyalty_comes_from_a_leaders_beats_alone(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    times_out("loyalty");
    hears(2, "PreVote 2 e2");
    hears(2, "Refuse 2 e1");
    hears(2, "Grant 2 e1");
    hears(2, "BeatAck 2 e1");
    hears(5, "Beat 5 e0"); /* deposed long ago */
    did("send 5 Refuse 3 e1");
    hears(4, "PreVote 4 e2");
    did("note would-vote 4 2; send 4 PreGrant 3 e2");
    hears(4, "Vote 4 e2");
    hears(5, "PreVote 5 e3");
    did("note would-vote 5 3; send 5 PreGrant 3 e3"); /* nor from having voted */
}

static void in_plain_raft_loyalty_does_not_keep_a_vote_back(void **state)
{
    sit_in_plain_raft(5, 3);
    follows_1_in_term_1();
    hears(2, "Vote 2 e2");
    did("note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
}

static void a_suspected_leader_has_no_claim_to_loyalty(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    suspects(2);
    did("");
    hears(2, "PreVote 2 e2");
    did("note loyal 2; send 2 Refuse 3 e1");
    suspects(1);
    did("disarm loyalty; arm election 0..100");
    hears(2, "PreVote 2 e2");
    did("note would-vote 2 2; send 2 PreGrant 3 e2");
    trusts(1);
    did("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_its_vote_before_it_tells),
        cmocka_unit_test(votes_once_a_term),
        cmocka_unit_test(a_candidate_keeps_its_vote_for_itself),
        cmocka_unit_test(a_vote_outlives_a_crash),
        cmocka_unit_test(a_term_outlives_a_crash),
        cmocka_unit_test(a_candidate_that_comes_back_does_not_stand_twice_in_a_term),
        cmocka_unit_test(gives_no_vote_of_the_first_term_where_nothing_was_saved),
        cmocka_unit_test(who_has_lost_its_record_never_votes),
        cmocka_unit_test(nor_does_it_after_another_crash),
        cmocka_unit_test(votes_for_nobody_whose_log_is_behind),
        cmocka_unit_test(a_pre_vote_changes_nothing),
        cmocka_unit_test(a_pre_vote_asks_for_a_recent_log_too),
        cmocka_unit_test(helps_nobody_against_a_leader_that_it_has_just_heard),
        cmocka_unit_test(loyalty_comes_from_a_leaders_beats_alone),
        cmocka_unit_test(in_plain_raft_loyalty_does_not_keep_a_vote_back),
        cmocka_unit_test(a_suspected_leader_has_no_claim_to_loyalty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
