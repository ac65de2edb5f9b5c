/* Raft, rule by rule: how node 3 of five votes, and how it comes to be elected. */
#include "raft.h"

/* ---- Standing ---- */

static void waits_for_a_random_time_before_it_does_anything(void **state)
{
    sit_in_raft(5, 3);
    starts();
    did("arm election 100..200");
    sees("idle");
}

static void asks_around_before_it_raises_the_term(void **state)
{
    sit_in_raft(5, 3);
    starts();
    times_out("election");
    did("note asks-around 1; send 1,2,4,5 PreVote 3 e1; arm election 100..200");
    sees("elects");
    hears(1, "PreGrant 1 e1");
    did("");
    hears(5, "PreGrant 5 e1");
    did("note stands 1; save e1; send 1,2,4,5 Vote 3 e1; arm election 100..200");
    saved_vote(1, 3);
    hears(5, "Grant 5 e1");
    did("");
    sees("elects");
    hears(4, "Grant 4 e1");
    did("note wins 3 1; disarm election; arm quorum 100; send 1,2,4,5 Beat 3 e1; arm beat 30");
    sees("leads");
}

static void without_pre_vote_it_stands_at_once(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    did("note stands 1; save e1; send 1,2,4,5 Vote 3 e1; arm election 100..200");
    saved_vote(1, 3);
    times_out("election");
    did("note stands 2; save e2; send 1,2,4,5 Vote 3 e2; arm election 100..200");
    saved_vote(2, 3);
}

static void says_how_recent_its_log_is(void **state)
{
    sit_in_raft(5, 3);
    starts();
    is_told(LOG_TERM, 7);
    did("");
    is_told(LOG_INDEX, 9);
    times_out("election");
    did("note asks-around 1; send 1,2,4,5 PreVote 3 e1 r7 a9; arm election 100..200");
    hears(1, "PreGrant 1 e1");
    hears(2, "PreGrant 2 e1");
    did("note stands 1; save e1; send 1,2,4,5 Vote 3 e1 r7 a9; arm election 100..200");
}

static void a_duplicate_counts_once(void **state)
{
    sit_in_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "PreGrant 1 e1");
    hears(1, "PreGrant 1 e1");
    did("");
    hears(2, "PreGrant 2 e1");
    hears(1, "Grant 1 e1");
    hears(1, "Grant 1 e1");
    did("");
    sees("elects");
}

static void a_grant_of_the_pre_vote_is_no_vote(void **state)
{
    sit_in_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "Grant 1 e0");
    hears(2, "Grant 2 e0");
    did(""); /* it has asked for none yet */
    hears(1, "PreGrant 1 e1");
    hears(2, "PreGrant 2 e1");
    hears(4, "PreGrant 4 e1");
    hears(5, "PreGrant 5 e1");
    hears(5, "PreGrant 5 e2");
    did("");
    sees("elects");
    hears(4, "Grant 4 e1");
    did(""); /* what was granted before it stood does not help */
    sees("elects");
}

static void a_late_answer_of_another_term_does_not_count(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    times_out("election");
    hears(1, "Grant 1 e1");
    hears(2, "Grant 2 e1");
    did("");
    sees("elects");
    option("prevote", 1);
    times_out("election");
    did("note asks-around 3; send 1,2,4,5 PreVote 3 e3; arm election 100..200");
    hears(1, "Grant 1 e2");
    hears(2, "Grant 2 e2");
    did("");
    hears(1, "PreGrant 1 e2");
    hears(2, "PreGrant 2 e4");
    did("");
    sees("elects");
}

static void an_answer_that_comes_after_it_gave_up_does_not_count(void **state)
{
    sit_in_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "Beat 1 e1");
    hears(2, "PreGrant 2 e2");
    hears(4, "PreGrant 4 e2");
    did("");
    hears(2, "Grant 2 e1");
    hears(4, "Grant 4 e1");
    did("");
    sees("follows 1");
}

static void a_higher_term_in_an_answer_ends_its_attempt(void **state)
{
    sit_in_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "Refuse 1 e0");
    did("");
    hears(2, "Refuse 2 e6");
    did("note steps-down 6; arm election 100..200; save e6");
    saved_vote(6, EL_NOBODY);
    sees("idle");
    hears(4, "Grant 4 e8"); /* nobody honest sends this, and it is a term like any other */
    did("arm election 100..200; save e8");
    hears(4, "BeatAck 4 e9");
    did("arm election 100..200; save e9");
}

static void elects_itself_where_it_is_alone(void **state)
{
    sit_in_raft(1, 1);
    starts();
    times_out("election");
    did("note asks-around 1; arm election 100..200; note stands 1; save e1; arm election 100..200; "
        "note wins 1 1; disarm election; arm quorum 100; arm beat 30");
    saved_vote(1, 1);
    sees("leads");
    times_out("quorum");
    did("arm quorum 100");
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns 1; disarm beat; disarm quorum; disarm handover; arm election 100..200");
    sees("idle");
}

static void in_a_cluster_of_four_two_are_no_majority(void **state)
{
    sit_in_plain_raft(4, 3);
    starts();
    times_out("election");
    hears(1, "Grant 1 e1");
    did("");
    hears(2, "Grant 2 e1");
    sees("leads");
}

static void an_ordinary_member_votes_and_never_stands(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE};
    sit_in_raft(5, 3);
    seat.cluster.roles = roles;
    follows_1_in_term_1();
    times_out("loyalty");
    times_out("election");
    did("arm election 100..200");
    sees("idle");
    campaigns();
    did("note call-ignored");
    hears(1, "Beat 1 e1");
    hears(1, "TimeoutNow 1 e1");
    did("");
    times_out("loyalty");
    hears(2, "Vote 2 e2");
    did("arm election 100..200; note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
}

static void may_be_called_to_stand(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    campaigns();
    did("note asks-around 2; send 1,2,4,5 PreVote 3 e2; arm election 100..200");
    sees("elects");
    sit_in_raft(5, 3);
    wins_term_1();
    campaigns();
    did("note call-ignored");
    sees("leads");
}

/* ---- Voting ---- */

static void saves_its_vote_before_it_tells(void **state)
{
    sit_in_raft(5, 3);
    starts();
    hears(2, "Vote 2 e4");
    did("arm election 100..200; note votes 2 4; save e4; arm election 100..200; send 2 Grant 3 e4");
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
    did("arm election 100..200; note votes 1 5; save e5; arm election 100..200; send 1 Grant 3 e5");
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
    did("note steps-down 2; arm election 100..200; note votes 2 2; save e2; arm election 100..200; "
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

static void starts_afresh_where_nothing_was_ever_saved(void **state)
{
    sit_in_raft(5, 3);
    comes_back();
    did("arm election 100..200");
    hears(2, "Vote 2 e1");
    did("arm election 100..200; note votes 2 1; save e1; arm election 100..200; send 2 Grant 3 e1");
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
    did("arm election 100..200; save e9; note learns 1 9; arm election 100..200; arm loyalty 100; "
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
    did("arm election 100..200; note log-too-old 1; save e4; send 1 Refuse 3 e4");
    saved_vote(4, EL_NOBODY);
    hears(1, "Vote 1 e4 r3 a9");
    did("note log-too-old 1; send 1 Refuse 3 e4");
    hears(2, "Vote 2 e4 r3 a10");
    did("note votes 2 4; save e4; arm election 100..200; send 2 Grant 3 e4");
    hears(4, "Vote 4 e5 r3 a11");
    did("arm election 100..200; note votes 4 5; save e5; arm election 100..200; send 4 Grant 3 e5");
    hears(5, "Vote 5 e6 r4");
    did("arm election 100..200; note votes 5 6; save e6; arm election 100..200; send 5 Grant 3 e6");
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
    did("arm election 100..200; save e1; note learns 1 1; arm election 100..200; arm loyalty 100; "
        "send 1 BeatAck 3 e1");
    hears(2, "PreVote 2 e2");
    did("note loyal 2; send 2 Refuse 1 e1");
    hears(2, "Vote 2 e2");
    did("note loyal 2"); /* and does not adopt the term */
    sees("follows 1");
    times_out("loyalty");
    did("");
    hears(2, "PreVote 2 e2");
    did("note would-vote 2 2; send 2 PreGrant 3 e2");
    hears(2, "Vote 2 e2");
    did("arm election 100..200; note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
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
    did("send 5 Refuse 1 e1");
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
    did("arm election 100..200; note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
}

static void a_suspected_leader_has_no_claim_to_loyalty(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    suspects(2);
    did("");
    hears(2, "PreVote 2 e2");
    did("note loyal 2; send 2 Refuse 1 e1");
    suspects(1);
    did("disarm loyalty; arm election 0..100");
    hears(2, "PreVote 2 e2");
    did("note would-vote 2 2; send 2 PreGrant 3 e2");
    trusts(1);
    did("");
}

/* ---- Following ---- */

static void follows_whoever_beats_in_its_term_or_a_later_one(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    hears(2, "Beat 2 e1"); /* it lost */
    did("note learns 2 1; arm election 100..200; arm loyalty 100; send 2 BeatAck 3 e1");
    sees("follows 2");
    hears(2, "Beat 2 e1");
    did("arm election 100..200; arm loyalty 100; send 2 BeatAck 3 e1");
    hears(4, "Beat 4 e3");
    did("arm election 100..200; save e3; note learns 4 3; arm election 100..200; arm loyalty 100; "
        "send 4 BeatAck 3 e3");
    saved_vote(3, EL_NOBODY);
    hears(2, "Beat 2 e1");
    did("send 2 Refuse 4 e3");
    sees("follows 4");
}

static void all_may_begin_under_a_leader(void **state)
{
    sit_in_raft(5, 3);
    starts_under(1);
    did("save e1; arm election 100..200");
    saved_vote(1, 1);
    sees("follows 1");
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 1 e1");
    sit_in_raft(5, 3);
    starts_under(3);
    did("save e1; disarm election; arm quorum 100; send 1,2,4,5 Beat 3 e1; arm beat 30");
    saved_vote(1, 3);
    sees("leads");
}

/* ---- The end of all terms ---- */

static void never_speaks_of_a_term_that_cannot_be(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    hears(1, "Refuse 1 e9007199254740990"); /* 2^53 - 2 */
    times_out("election");
    did("note stands 9007199254740991; save e9007199254740991; send 1,2,4,5 Vote 3 e9007199254740991; "
        "arm election 100..200");
    times_out("election");
    did("arm election 100..200");
    option("prevote", 1);
    campaigns();
    did("arm election 100..200");
    hears(1, "Beat 1 e9007199254740991");
    hears(1, "TimeoutNow 1 e9007199254740991");
    did("");
    sees("follows 1");
    hears(1, "Vote 1 e9007199254740992");
    did("note malformed 3 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_a_random_time_before_it_does_anything),
        cmocka_unit_test(asks_around_before_it_raises_the_term),
        cmocka_unit_test(without_pre_vote_it_stands_at_once),
        cmocka_unit_test(says_how_recent_its_log_is),
        cmocka_unit_test(a_duplicate_counts_once),
        cmocka_unit_test(a_grant_of_the_pre_vote_is_no_vote),
        cmocka_unit_test(a_late_answer_of_another_term_does_not_count),
        cmocka_unit_test(an_answer_that_comes_after_it_gave_up_does_not_count),
        cmocka_unit_test(a_higher_term_in_an_answer_ends_its_attempt),
        cmocka_unit_test(elects_itself_where_it_is_alone),
        cmocka_unit_test(in_a_cluster_of_four_two_are_no_majority),
        cmocka_unit_test(an_ordinary_member_votes_and_never_stands),
        cmocka_unit_test(may_be_called_to_stand),
        cmocka_unit_test(saves_its_vote_before_it_tells),
        cmocka_unit_test(votes_once_a_term),
        cmocka_unit_test(a_candidate_keeps_its_vote_for_itself),
        cmocka_unit_test(a_vote_outlives_a_crash),
        cmocka_unit_test(a_term_outlives_a_crash),
        cmocka_unit_test(a_candidate_that_comes_back_does_not_stand_twice_in_a_term),
        cmocka_unit_test(starts_afresh_where_nothing_was_ever_saved),
        cmocka_unit_test(who_has_lost_its_record_never_votes),
        cmocka_unit_test(nor_does_it_after_another_crash),
        cmocka_unit_test(votes_for_nobody_whose_log_is_behind),
        cmocka_unit_test(a_pre_vote_changes_nothing),
        cmocka_unit_test(a_pre_vote_asks_for_a_recent_log_too),
        cmocka_unit_test(helps_nobody_against_a_leader_that_it_has_just_heard),
        cmocka_unit_test(loyalty_comes_from_a_leaders_beats_alone),
        cmocka_unit_test(in_plain_raft_loyalty_does_not_keep_a_vote_back),
        cmocka_unit_test(a_suspected_leader_has_no_claim_to_loyalty),
        cmocka_unit_test(follows_whoever_beats_in_its_term_or_a_later_one),
        cmocka_unit_test(all_may_begin_under_a_leader),
        cmocka_unit_test(never_speaks_of_a_term_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
