/* Raft, rule by rule: how node 3 of five comes to be elected, and whom it follows. */
#include "lib/node/raft.h"

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
    did("note steps-down 6; save e6");
    saved_vote(6, EL_NOBODY);
    sees("idle");
    hears(4, "Grant 4 e8"); /* nobody honest sends this, and it is a term like any other */
    did("save e8");
    hears(4, "BeatAck 4 e9");
    did("save e9");
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
    did("note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
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

/* ---- Following ---- */

static void follows_whoever_beats_in_its_term_or_a_later_one(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    hears(2, "Beat 2 e1"); /* it lost */
    did("note learns 2 1; arm election 100..200; send 2 BeatAck 3 e1");
    sees("follows 2");
    hears(2, "Beat 2 e1");
    did("arm election 100..200; send 2 BeatAck 3 e1");
    hears(4, "Beat 4 e3");
    did("save e3; note learns 4 3; arm election 100..200; "
        "send 4 BeatAck 3 e3");
    saved_vote(3, EL_NOBODY);
    hears(2, "Beat 2 e1");
    did("send 2 Refuse 3 e3");
    sees("follows 4");
}

static void all_may_begin_under_a_leader(void **state)
{
    sit_in_raft(5, 3);
    starts_under(1);
    did("save e1; arm election 100..200; arm loyalty 100");
    saved_vote(1, 1);
    sees("follows 1");
    times_out("loyalty");
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
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
        cmocka_unit_test(follows_whoever_beats_in_its_term_or_a_later_one),
        cmocka_unit_test(all_may_begin_under_a_leader),
        cmocka_unit_test(never_speaks_of_a_term_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
