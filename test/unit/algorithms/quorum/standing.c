/* Standing in a quorum group: whose turn it is, what wins, who makes way, and that what is finished stays so. */
#include "lib/node/quorum.h"

/* ---- Its turn ---- */

static void who_reaches_a_majority_and_sees_no_leader_waits_for_its_turn(void **state)
{
    begins(5, 4);
    acks(1, 1, 0, 0);
    timer_did(QUORUM_STAND, 0, "");
    acks(2, 1, 0, 0);
    noted("waits");
    timer_did(QUORUM_STAND, 0, "arm 0..5");
}

static void each_better_one_that_is_there_goes_first(void **state)
{
    begins(5, 1);
    acks(5, 1, 0, 0);
    acks(3, 1, 0, 0);
    timer_did(QUORUM_STAND, 0, "arm 20..25");
}

static void who_knows_a_leader_does_not_stand(void **state)
{
    begins(3, 1);
    claims(2, 1, TERM(2, 2), 2, 0);
    acks(2, 1, 0, 0);
    timer_did(QUORUM_STAND, 0, "");
    times_out("stand");
    said("");
    times_out_for("recent", 2);
    timer_did(QUORUM_STAND, 0, "arm 0..5");
    times_out("stand");
    said("Vote>2 3.1; Vote>3 3.1");
}

static void who_reaches_no_majority_does_not_stand(void **state)
{
    begins(3, 1);
    acks(2, 1, 0, 0);
    times_out_for("linked", 2);
    times_out("stand");
    said("");
}

static void who_is_alone_leads_at_once(void **state)
{
    begins(1, 1);
    timer_did(QUORUM_STAND, 0, "arm 0..5");
    times_out("stand");
    noted("wins");
    bounded_by(1);
}

static void a_witness_never_stands(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE};
    sit_in_quorum(3, 1);
    seat.cluster.roles = roles;
    starts();
    gets_linked(0);
    times_out("stand");
    said("");
    campaigns();
    noted("cannot-lead");
    grants(2, TERM(5, 1), 0, 0, 0);
    said("Release>2 5.1");
}

static void a_call_is_heeded_by_who_may_stand_and_does_not_yet(void **state)
{
    begins(3, 1);
    campaigns();
    noted("holds-back");
    gets_linked(1);
    campaigns();
    said("Vote>2 2.1; Vote>3 2.1");
    campaigns();
    noted("is-busy");
}

/* Its last life ended a moment ago: the best of all would be granted what it had, and perhaps die again. */
static void the_silent_do_not_stand_unless_they_are_given_a_vote(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    timer_did(QUORUM_STAND, 0, "arm 36"); /* a leader may be about to beat */
    peers.ours = 2;
    gets_linked(1);
    times_out("stand");
    timer_did(QUORUM_STAND, 0, "");
    campaigns();
    noted("holds-back");
    times_out("silence");
    timer_did(QUORUM_STAND, 0, "arm 20..25");
    times_out("stand");
    said("Vote>2 6.1; Vote>3 6.1");

    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    peers.ours = 2;
    gets_linked(1);
    grants(2, TERM(6, 1), 1, 0, 0);
    said("Vote>2 6.1; Vote>3 6.1"); /* without its own */
    grants(3, TERM(6, 1), 2, 0, 0);
    noted("wins");
}

/* ---- Votes ---- */

static void a_majority_of_grants_wins(void **state)
{
    stands(5, 1);
    said("Vote>2 2.1; Vote>3 2.1; Vote>4 2.1; Vote>5 2.1");
    timer_did(QUORUM_REASK, 0, "arm 5");
    timer_did(QUORUM_DEADLINE, 0, "arm 165");
    grants(2, TERM(2, 1), 2, 0, 0);
    grants(2, TERM(2, 1), 2, 0, 0); /* twice is once */
    sees("elects");
    grants(3, TERM(2, 1), 2, 0, 0);
    noted("wins");
    noted("names-heir");
    said_with_beats(
        "Beat>2 2.1 live heir 3.5; Beat>3 2.1 live heir 3.5; Beat>4 2.1 live heir 3.5; Beat>5 2.1 live heir 3.5");
}

static void what_was_granted_without_a_vote_does_not_win(void **state)
{
    stands(3, 1);
    grants(2, TERM(2, 1), 2, 0, QUORUM_JOIN);
    sees("elects");
}

static void a_grant_for_another_term_counts_for_nothing(void **state)
{
    stands(3, 1);
    grants(2, TERM(1, 1), 2, 0, 0);
    said("");
    sees("elects");
}

static void a_grant_whose_time_is_over_does_not_win(void **state)
{
    stands(3, 1);
    times_out_for("probe", 2);
    times_out_for("lease", 2);
    grants(2, TERM(2, 1), 2, 0, 0);
    sees("elects");
    times_out("re-ask"); /* number 3, which opens another probe */
    said("Vote>3 2.1");
    times_out("pulse");
    acks(2, 4, 0, QUORUM_PROMISE);
    times_out("re-ask"); /* a promise had come with a beat; but the member may have stood still since */
    said("Vote>2 2.1; Vote>3 2.1");
    not_noted("wins");
    grants(2, TERM(2, 1), 5, 0, 0);
    noted("wins");
}

/* After a pause timers are told in the order in which they were due: a lease that seems to run may be over. */
static void nobody_wins_by_a_timer_but_asks_everybody_once_more(void **state)
{
    begins(3, 3);
    asks(1, TERM(2, 1), 1, 0);
    gets_linked(1);
    times_out("stand");
    said("Vote>1 3.3; Vote>2 3.3; Check>1 2.1");
    grants(2, TERM(3, 3), 2, 0, 0);
    sees("elects");
    times_out_for("promised", 1); /* now it has its own vote, too */
    noted("pushes");
    sees("elects");
    said("Vote>1 3.3; Vote>2 3.3");
    grants(2, TERM(3, 3), 3, 0, 0);
    sees("leads");
    bounded_by(2);
}

static void a_voter_that_let_go_since_is_not_counted(void **state)
{
    stands(5, 1);
    grants(2, TERM(2, 1), 2, 0, 0);
    acks(2, 2, 1, QUORUM_PROMISE);
    grants(3, TERM(2, 1), 2, 0, 0);
    sees("elects");
}

static void a_voter_that_restarted_since_is_not_counted(void **state)
{
    stands(5, 1);
    grants(2, TERM(2, 1), 2, 0, 0);
    peers.life[2] = 2;
    beats(2, 1, 0);
    grants(3, TERM(2, 1), 2, 0, 0);
    sees("elects");
}

static void a_grant_from_before_the_voter_let_go_is_ignored_whole(void **state)
{
    stands(3, 1);
    acks(2, 2, 1, QUORUM_PROMISE);
    grants(2, TERM(2, 1), 2, 0, 0);
    noted("drops-epoch");
    sees("elects");
}

static void who_is_refused_for_a_floor_rises_above_it(void **state)
{
    stands(3, 1);
    refuses(2, TERM(2, 1), QUORUM_TOO_LOW, 2, TERM(8, 3));
    noted("rises");
    said("Vote>2 9.1; Vote>3 9.1; save");                  /* for its own vote */
    refuses(3, TERM(2, 1), QUORUM_TOO_LOW, 3, TERM(9, 3)); /* to what it asked before */
    said("");
}

static void who_finds_a_better_candidate_ahead_makes_way(void **state)
{
    stands(3, 2);
    refuses(1, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH, 3, 0);
    noted("yields");
    said("Release>1 2.2; Release>3 2.2");
    timer_did(QUORUM_STAND, 0, "arm 25..100");
}

static void who_finds_a_lesser_one_ahead_or_one_that_led_and_is_gone_keeps_asking(void **state)
{
    stands(3, 2);
    refuses(3, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH, 1, 0);
    sees("elects");
    refuses(1, TERM(2, 2), QUORUM_HELD | QUORUM_ACTIVE, 3, 0);
    sees("elects");
}

static void who_cannot_win_against_a_leader_gives_up(void **state)
{
    stands(3, 2);
    refuses(1, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    sees("elects"); /* two are left */
    refuses(3, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    noted("has-no-chance");
}

static void who_hears_of_a_leader_gives_up(void **state)
{
    stands(3, 2);
    claims(1, 1, TERM(2, 1), 1, 0);
    times_out("re-ask");
    noted("yields");
    said("Release>1 2.2; Release>3 2.2");
    sees("follows 1");
}

static void who_has_lost_its_links_gives_up(void **state)
{
    stands(3, 2);
    times_out_for("linked", 1);
    times_out("re-ask");
    said("Vote>1 2.2; Vote>3 2.2");
    times_out_for("linked", 3);
    times_out("re-ask");
    noted("gives-up");
    said("Release>1 2.2; Release>3 2.2");
}

static void who_has_tried_for_long_enough_gives_up(void **state)
{
    stands(3, 2);
    times_out("deadline");
    noted("gives-up");
    said("Release>1 2.2; Release>3 2.2");
    asks(1, TERM(3, 1), 1, 0);
    said("Grant>1 3.1 echo 1 epoch 0"); /* its own vote is free too */
}

/* ---- Finished is finished ---- */

static void a_term_that_was_given_back_is_never_used_again(void **state)
{
    stands(3, 2);
    times_out("deadline");
    grants(1, TERM(2, 2), 2, 0, 0); /* it had been on its way */
    noted("returns-vote");
    said("Release>1 2.2");
    grants(3, TERM(2, 2), 2, 0, 0);
    sees("idle");
    times_out("stand");
    said("Vote>1 3.2; Vote>3 3.2");
}

static void a_new_term_is_above_what_was_finished_unasked(void **state)
{
    begins(3, 1);
    gets_linked(1);
    checks(2, 1, TERM(7, 1)); /* of which it knows nothing */
    said("Release>2 7.1");
    times_out("stand");
    said("Vote>2 8.1; Vote>3 8.1; save");
}

/* ---- Unasked votes and questions ---- */

static void who_is_given_a_vote_unasked_stands_in_that_term(void **state)
{
    begins(3, 1);
    gets_linked(1);
    grants(2, TERM(5, 1), 1, 0, 0);
    noted("is-pushed");
    said_with_beats("Vote>2 5.1; Vote>3 5.1; Beat>2 5.1 live heir 6.3; Beat>3 5.1 live heir 6.3");
    in_term(TERM(5, 1));
}

static void a_candidate_takes_up_a_higher_term_that_it_is_given(void **state)
{
    stands(3, 1);
    grants(2, TERM(5, 1), 2, 0, 0); /* the leader to which it lost in 2.1 has named it as heir, and has gone */
    noted("is-pushed");
    sees("leads");
    in_term(TERM(5, 1));
}

/* 3 has released itself, and its words to 4 and 5 take longer than 2's vote and our question. */
static void a_question_that_overtakes_the_release_discourages_nobody(void **state)
{
    begins(5, 1);
    gets_linked(1);
    asks(3, TERM(2, 3), 1, 0);
    claims(3, 2, TERM(2, 3), 1, TERM(5, 1));
    grants(2, TERM(5, 1), 1, 0, 0);
    for (el_node voter = 3; voter <= 5; voter++)
        refuses(voter, TERM(5, 1), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    not_noted("has-no-chance");
    grants(4, TERM(5, 1), 2, 0, 0);
    grants(5, TERM(5, 1), 2, 0, 0);
    sees("leads");
}

static void from_its_next_question_on_a_refusal_is_one(void **state)
{
    begins(5, 1);
    gets_linked(1);
    grants(2, TERM(5, 1), 1, 0, 0);
    times_out("re-ask");
    for (el_node voter = 3; voter <= 5; voter++)
        refuses(voter, TERM(5, 1), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    noted("has-no-chance");
    sees("idle");
}

static void a_candidate_keeps_its_term_if_it_is_given_a_lower_one(void **state)
{
    stands(3, 1);
    refuses(2, TERM(2, 1), QUORUM_TOO_LOW, 2, TERM(8, 3));
    grants(2, TERM(5, 1), 2, 0, 0);
    not_noted("is-pushed");
    sees("elects");
    in_term(TERM(9, 1));
}

static void a_promise_that_is_no_vote_is_returned(void **state)
{
    begins(3, 1);
    grants(2, TERM(5, 1), 0, 0, QUORUM_JOIN);
    said("Release>2 5.1");
}

static void a_check_is_answered_by_who_holds_nothing(void **state)
{
    stands(3, 1);
    checks(2, 1, TERM(2, 1));
    said(""); /* it still wants that */
    refuses(2, TERM(2, 1), QUORUM_TOO_LOW, 2, TERM(8, 3));
    checks(2, 1, TERM(2, 1));
    said("Release>2 2.1"); /* it stands above it now */
    checks(2, 9, TERM(2, 1));
    said(""); /* for another life it cannot speak */
    grants(2, TERM(9, 1), 3, 0, 0);
    sees("leads");
    checks(2, 1, TERM(2, 1));
    said("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_reaches_a_majority_and_sees_no_leader_waits_for_its_turn),
        cmocka_unit_test(each_better_one_that_is_there_goes_first),
        cmocka_unit_test(who_knows_a_leader_does_not_stand),
        cmocka_unit_test(who_reaches_no_majority_does_not_stand),
        cmocka_unit_test(who_is_alone_leads_at_once),
        cmocka_unit_test(a_witness_never_stands),
        cmocka_unit_test(a_call_is_heeded_by_who_may_stand_and_does_not_yet),
        cmocka_unit_test(the_silent_do_not_stand_unless_they_are_given_a_vote),
        cmocka_unit_test(a_majority_of_grants_wins),
        cmocka_unit_test(what_was_granted_without_a_vote_does_not_win),
        cmocka_unit_test(a_grant_for_another_term_counts_for_nothing),
        cmocka_unit_test(a_grant_whose_time_is_over_does_not_win),
        cmocka_unit_test(nobody_wins_by_a_timer_but_asks_everybody_once_more),
        cmocka_unit_test(a_voter_that_let_go_since_is_not_counted),
        cmocka_unit_test(a_voter_that_restarted_since_is_not_counted),
        cmocka_unit_test(a_grant_from_before_the_voter_let_go_is_ignored_whole),
        cmocka_unit_test(who_is_refused_for_a_floor_rises_above_it),
        cmocka_unit_test(who_finds_a_better_candidate_ahead_makes_way),
        cmocka_unit_test(who_finds_a_lesser_one_ahead_or_one_that_led_and_is_gone_keeps_asking),
        cmocka_unit_test(who_cannot_win_against_a_leader_gives_up),
        cmocka_unit_test(who_hears_of_a_leader_gives_up),
        cmocka_unit_test(who_has_lost_its_links_gives_up),
        cmocka_unit_test(who_has_tried_for_long_enough_gives_up),
        cmocka_unit_test(a_term_that_was_given_back_is_never_used_again),
        cmocka_unit_test(a_new_term_is_above_what_was_finished_unasked),
        cmocka_unit_test(who_is_given_a_vote_unasked_stands_in_that_term),
        cmocka_unit_test(a_candidate_takes_up_a_higher_term_that_it_is_given),
        cmocka_unit_test(a_question_that_overtakes_the_release_discourages_nobody),
        cmocka_unit_test(from_its_next_question_on_a_refusal_is_one),
        cmocka_unit_test(a_candidate_keeps_its_term_if_it_is_given_a_lower_one),
        cmocka_unit_test(a_promise_that_is_no_vote_is_returned),
        cmocka_unit_test(a_check_is_answered_by_who_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
