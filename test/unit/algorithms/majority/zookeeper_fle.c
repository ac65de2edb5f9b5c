/*
 * ZooKeeper's fast leader election, rule by rule, up to the point where one expects to lead or to follow.
 * A notification is "Notification LEADER eROUND rEPOCH aZXID fMODE".
 */
#include "lib/node/zookeeper.h"

/* ---- Looking ---- */

static void looks_at_once_and_votes_for_itself(void **state)
{
    sit_in(5, 3);
    starts();
    did("note looks 1; disarm finalize; disarm tick; disarm limit; send 1,2,4,5 Notification 3 e1; arm notify 300");
    sees("elects");
    assert_int_equal(term(), 0);
}

static void of_equal_histories_the_highest_id_wins(void **state)
{
    static const uint64_t ids[] = {30, 20, 10};
    sit_in(3, 2);
    starts();
    hears(3, "Notification 3 e1");
    did("arm notify 300; note changes-vote 3; send 1,3 Notification 3 e1; note finalizes 3; arm finalize 200");
    hears(1, "Notification 1 e1");
    did("arm notify 300");
    sit_in(3, 2);
    seat.cluster.ids = ids;
    starts();
    hears(3, "Notification 3 e1");
    did("arm notify 300");
    hears(1, "Notification 1 e1");
    did("arm notify 300; note changes-vote 1; send 1,3 Notification 1 e1; note finalizes 1; arm finalize 200");
}

static void a_higher_zxid_beats_the_id(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "Notification 3 e1");
    hears(1, "Notification 1 e1 a1");
    did("arm notify 300; note changes-vote 1; send 1,3 Notification 1 e1 a1; note finalizes 1; arm finalize 200");
    hears(3, "Notification 3 e1");
    did("arm notify 300; note answers 3; send 3 Notification 1 e1 a1");
}

static void a_higher_epoch_beats_both(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "Notification 3 e1 r4 a9");
    hears(1, "Notification 1 e1 r5");
    did("arm notify 300; note changes-vote 1; send 1,3 Notification 1 e1 r5; note finalizes 1; arm finalize 200");
}

static void who_may_not_lead_votes_and_is_never_elected(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY};
    sit_in(3, 2);
    seat.cluster.roles = roles;
    starts();
    hears(3, "Notification 3 e1 r9 a9");
    did("arm notify 300");
    hears(3, "Notification 2 e1");
    did("arm notify 300; note finalizes 2; arm finalize 200");
    sit_in(3, 3);
    seat.cluster.roles = roles;
    starts();
    hears(1, "Notification 3 e1");
    hears(2, "Notification 3 e1");
    did("arm notify 300");
    hears(1, "Notification 1 e1");
    did("arm notify 300; note changes-vote 1; send 1,2 Notification 1 e1; note finalizes 1; arm finalize 200");
    sit_in(1, 1);
    static const uint8_t nobody[] = {EL_ORDINARY};
    seat.cluster.roles = nobody;
    starts();
    did("note looks 1; disarm finalize; disarm tick; disarm limit; arm notify 300");
}

/* ---- Rounds ---- */

static void a_late_notification_of_an_older_round_changes_no_vote(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "Notification 3 e4");
    hears(1, "Notification 1 e3 r9");
    did("arm notify 300; note older-round 1 3; note answers 1; send 1 Notification 3 e4");
    hears(1, "Notification 3 e4");
    did("arm notify 300");
}

/* We voted for 3 in round 1; in round 2 nobody has said so yet. */
static void a_newer_round_begins_from_the_own_vote(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "Notification 3 e1 a7");
    hears(1, "Notification 1 e2");
    did("arm notify 300; note newer-round 1 2; note changes-vote 2; send 1,3 Notification 2 e2; disarm finalize");
    hears(1, "Notification 3 e3");
    did("arm notify 300; note newer-round 1 3; note changes-vote 3; send 1,3 Notification 3 e3; note finalizes 3; "
        "arm finalize 200");
}

static void votes_of_another_round_do_not_count(void **state)
{
    sit_in(5, 2);
    starts();
    hears(1, "Notification 5 e1");
    hears(3, "Notification 5 e2");
    did("arm notify 300; note newer-round 3 2; note changes-vote 5; send 1,3,4,5 Notification 5 e2");
    hears(4, "Notification 5 e2");
    did("arm notify 300; note finalizes 5; arm finalize 200");
}

/* ---- The wait for a better vote ---- */

static void a_better_vote_in_time_starts_the_wait_anew(void **state)
{
    sit_in(5, 1);
    starts();
    hears(2, "Notification 4 e1");
    hears(3, "Notification 4 e1");
    did("arm notify 300; note finalizes 4; arm finalize 200");
    hears(3, "Notification 4 e1");
    did("arm notify 300");
    hears(5, "Notification 5 e1");
    did("arm notify 300; note changes-vote 5; send 2,3,4,5 Notification 5 e1; disarm finalize");
    hears(2, "Notification 5 e1");
    did("arm notify 300; note finalizes 5; arm finalize 200");
}

static void after_the_wait_one_expects_to_follow_or_to_lead(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "Notification 3 e1");
    times_out("finalize");
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-follow 3 1; send 3 FollowerInfo 2 m1; "
        "arm tick 100");
    sees("elects");
    sit_in(3, 2);
    starts();
    hears(1, "Notification 2 e1");
    times_out("finalize");
    did("disarm notify; disarm finalize; arm limit 1000; note expects-to-lead 1");
    sees("elects");
}

static void a_vote_said_twice_counts_once(void **state)
{
    sit_in(5, 5);
    starts();
    hears(1, "Notification 5 e1");
    hears(1, "Notification 5 e1");
    did("arm notify 300");
    hears(2, "Notification 5 e1");
    did("arm notify 300; note finalizes 5; arm finalize 200");
}

/* ---- Silence ---- */

static void asks_again_at_doubling_intervals(void **state)
{
    sit_in(2, 1);
    starts();
    unsigned long long wait = 300;
    for (int i = 0; i < 12; i++) {
        char expected[128];
        wait = 2 * wait < 90000 ? 2 * wait : 90000;
        times_out("notify");
        snprintf(expected, sizeof expected, "note asks-again; send 2 Notification 1 e1; arm notify %llu", wait);
        did(expected);
    }
    assert_int_equal(wait, 90000);
}

static void what_is_said_again_was_not_answered_and_is(void **state)
{
    sit_in(5, 4);
    starts();
    hears(1, "Notification 1 e1");
    did("arm notify 300"); /* ours is under way */
    hears(1, "Notification 1 e1");
    did("arm notify 300; note answers 1; send 1 Notification 4 e1");
    hears(2, "Notification 4 e1");
    hears(2, "Notification 4 e1"); /* nothing to be said to that */
    did("arm notify 300");
}

static void whoever_was_alone_for_a_while_answers_the_first_that_it_hears(void **state)
{
    sit_in(5, 4);
    starts();
    times_out("notify");
    hears(1, "Notification 1 e1");
    did("arm notify 600; note answers 1; send 1 Notification 4 e1");
}

static void a_peer_that_is_trusted_again_is_told_the_vote(void **state)
{
    sit_in(3, 1);
    starts();
    suspects(3);
    did("");
    trusts(3);
    did("note answers 3; send 3 Notification 1 e1");
    sit_in(3, 1);
    starts_under(2);
    trusts(3);
    did("");
}

static void a_ping_makes_one_who_looks_ask_at_once(void **state)
{
    sit_in(3, 1);
    starts();
    hears(3, "Ping 3 e7");
    did("note finds-a-leader 3; send 2,3 Notification 1 e1");
}

/* ---- Joining a running ensemble ---- */

static void joins_what_a_majority_is_settled_on(void **state)
{
    sit_in(5, 5);
    starts();
    hears(1, "Notification 3 e7 r2 a4" FOLLOWING);
    did("arm notify 300");
    hears(2, "Notification 3 e7 r2 a4" FOLLOWING);
    did("arm notify 300");
    hears(3, "Notification 3 e7 r2 a4" LEADING);
    did("arm notify 300; note joins 3; disarm notify; disarm finalize; arm limit 1000; "
        "note expects-to-follow 3 7; send 3 FollowerInfo 5 m7; arm tick 100");
    hears(1, "Notification 1 e1"); /* and says what it has joined */
    did("note answers 1; send 1 Notification 3 e7 r2 a4 f1");
}

static void the_leader_itself_must_say_that_it_leads(void **state)
{
    sit_in(5, 5);
    starts();
    hears(1, "Notification 3 e7" FOLLOWING);
    hears(2, "Notification 3 e7" FOLLOWING);
    hears(4, "Notification 3 e7" FOLLOWING);
    did("arm notify 300");
    hears(3, "Notification 4 e7" FOLLOWING);
    did("arm notify 300");
    hears(3, "Notification 4 e7" LEADING); /* nonsense */
    did("arm notify 300");
    hears(1, "Notification 3 e7" FOLLOWING);
    did("arm notify 300");
    hears(3, "Notification 3 e6" LEADING); /* not in that election */
    hears(1, "Notification 3 e7" FOLLOWING);
    did("arm notify 300");
    hears(3, "Notification 3 e7" LEADING);
    sees("elects");
    assert_non_null(strstr(seat_text(), "note joins 3"));
}

static void a_leader_without_a_majority_is_not_joined(void **state)
{
    sit_in(5, 5);
    starts();
    hears(3, "Notification 3 e7" LEADING);
    hears(1, "Notification 3 e7" FOLLOWING);
    hears(2, "Notification 3 e6" FOLLOWING); /* of another election */
    did("arm notify 300");
    hears(4, "Notification 3 e1" LOOKING);
    did("arm notify 300");
}

static void nobody_joins_itself_or_one_that_may_not_lead(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY};
    sit_in(3, 1);
    seat.cluster.roles = roles;
    comes_back();
    hears(2, "Notification 1 e7" FOLLOWING); /* they have not noticed that we were gone */
    hears(3, "Notification 1 e7" FOLLOWING);
    did("arm notify 300");
    hears(3, "Notification 3 e7" LEADING);
    hears(2, "Notification 3 e7" FOLLOWING);
    did("arm notify 300");
}

static void settled_votes_of_this_round_count(void **state)
{
    sit_in(5, 5);
    starts();
    hears(1, "Notification 5 e1" FOLLOWING);
    hears(2, "Notification 5 e1" FOLLOWING);
    did("arm notify 300; note finalizes 5; arm finalize 200");
}

static void the_clock_does_not_run_backwards_on_joining(void **state)
{
    sit_in(3, 1);
    starts();
    hears(2, "Notification 2 e9");
    hears(2, "Notification 3 e4" FOLLOWING);
    hears(3, "Notification 3 e4" LEADING);
    times_out("limit");
    did("note not-established 3; note looks 10; disarm finalize; disarm tick; disarm limit; "
        "send 2,3 Notification 1 e10; arm notify 300");
    hears(2, "Notification 3 e20" FOLLOWING);
    hears(3, "Notification 3 e20" LEADING);
    times_out("limit");
    assert_non_null(strstr(seat_text(), "note looks 21"));
}

/* ---- Settled ---- */

static void the_settled_answer_those_who_look(void **state)
{
    sit_in(3, 2);
    starts_under(2);
    hears(1, "Notification 1 e5");
    did("note answers 1; send 1 Notification 2 e1 f2");
    hears(1, "Notification 2 e5" FOLLOWING);
    did("");
    sees("leads");
    sit_in(3, 1);
    starts_under(2);
    hears(3, "Notification 3 e5");
    did("note answers 3; send 3 Notification 2 e1 f1");
    hears(3, "Notification 2 e1" FOLLOWING);
    did("");
    sees("follows 2");
}

static void follows_its_leader_into_a_new_election(void **state)
{
    sit_in(3, 1);
    starts_under(2);
    hears(2, "Notification 2 e1"); /* from before it led */
    did("note answers 2; send 2 Notification 2 e1 f1");
    hears(2, "Notification 2 e2");
    did("note leader-looks 2; note looks 2; disarm finalize; disarm tick; disarm limit; "
        "send 2,3 Notification 1 e2 r1; arm notify 300; arm notify 300");
    sees("elects");
    assert_int_equal(term(), 1);
}

static void a_call_changes_nothing(void **state)
{
    sit_in(3, 1);
    starts_under(2);
    campaigns();
    did("note goes-on");
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    requests(EL_TRANSFER, 3);
    did("note declined");
    sees("follows 2");
}

/* ---- Facts ---- */

static void a_vote_for_itself_moves_with_its_history(void **state)
{
    sit_in(3, 1);
    starts();
    is_told(ZXID, 7);
    did("note changes-vote 1; send 2,3 Notification 1 e1 a7");
    hears(3, "Notification 3 e1 r1");
    is_told(ZXID, 9);
    did("");
    is_told(EPOCH, 2);
    did("note changes-vote 1; send 2,3 Notification 1 e1 r2 a9; disarm finalize");
}

static void a_settled_member_only_remembers(void **state)
{
    sit_in(3, 1);
    starts_under(2);
    is_told(ZXID, 7);
    did("");
    times_out("limit");
    assert_non_null(strstr(seat_text(), "send 2,3 Notification 1 e2 r1 a7"));
}

static void the_epoch_of_a_restored_member_is_the_last_it_followed_in(void **state)
{
    sit_in(3, 1);
    comes_back_with(9, 2, 8);
    did("note looks 1; disarm finalize; disarm tick; disarm limit; send 2,3 Notification 1 e1 r8; arm notify 300");
    assert_int_equal(term(), 8);
}

/* ---- Without a record ---- */

static void who_lost_its_record_observes(void **state)
{
    sit_in(3, 3);
    seat_start(EL_LOST, 1);
    did("note looks 1; disarm finalize; disarm tick; disarm limit; send 1,2 Notification 3 e1 f4; arm notify 300");
    is_told(ZXID, 9);
    did("");
    hears(1, "Notification 3 e1");
    hears(2, "Notification 3 e1");
    hears(1, "Notification 3 e1" FOLLOWING);
    hears(2, "Notification 3 e1" FOLLOWING);
    did("arm notify 300"); /* it would not lead if all wanted it to */
    hears(1, "Notification 2 e1" FOLLOWING);
    hears(2, "Notification 2 e1" LEADING);
    did("arm notify 300; note joins 2; disarm notify; disarm finalize; arm limit 1000; "
        "note expects-to-follow 2 1; send 2 FollowerInfo 3 m1 f4; arm tick 100");
}

static void an_observer_is_answered_and_not_counted(void **state)
{
    sit_in(3, 2);
    starts();
    hears(1, "Notification 2 e1 f4");
    did("arm notify 300");
    hears(1, "Notification 2 e1 f5");
    did("arm notify 300");
    hears(1, "Notification 1 e9 f4");
    did("arm notify 300");
    sit_in(3, 2);
    starts_under(2);
    hears(1, "Notification 1 e9 f4");
    did("note answers 1; send 1 Notification 2 e1 f2");
}

/* ---- Hostile bytes ---- */

static void what_cannot_be_is_dropped(void **state)
{
    sit_in(3, 1);
    starts();
    hears(2, "Notification 2 e1 f3");
    did("note malformed 2");
    hears(2, "Notification 2 e1 f8");
    did("note malformed 2");
    hears(2, "Notification 2 e4503599627370497");
    did("note malformed 2");
    hears(2, "Notification 2 e4503599627370496");
    did("arm notify 300; note newer-round 2 4503599627370496; note changes-vote 2; "
        "send 2,3 Notification 2 e4503599627370496; note finalizes 2; arm finalize 200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_at_once_and_votes_for_itself),
        cmocka_unit_test(of_equal_histories_the_highest_id_wins),
        cmocka_unit_test(a_higher_zxid_beats_the_id),
        cmocka_unit_test(a_higher_epoch_beats_both),
        cmocka_unit_test(who_may_not_lead_votes_and_is_never_elected),
        cmocka_unit_test(a_late_notification_of_an_older_round_changes_no_vote),
        cmocka_unit_test(a_newer_round_begins_from_the_own_vote),
        cmocka_unit_test(votes_of_another_round_do_not_count),
        cmocka_unit_test(a_better_vote_in_time_starts_the_wait_anew),
        cmocka_unit_test(after_the_wait_one_expects_to_follow_or_to_lead),
        cmocka_unit_test(a_vote_said_twice_counts_once),
        cmocka_unit_test(asks_again_at_doubling_intervals),
        cmocka_unit_test(what_is_said_again_was_not_answered_and_is),
        cmocka_unit_test(whoever_was_alone_for_a_while_answers_the_first_that_it_hears),
        cmocka_unit_test(a_peer_that_is_trusted_again_is_told_the_vote),
        cmocka_unit_test(a_ping_makes_one_who_looks_ask_at_once),
        cmocka_unit_test(joins_what_a_majority_is_settled_on),
        cmocka_unit_test(the_leader_itself_must_say_that_it_leads),
        cmocka_unit_test(a_leader_without_a_majority_is_not_joined),
        cmocka_unit_test(nobody_joins_itself_or_one_that_may_not_lead),
        cmocka_unit_test(settled_votes_of_this_round_count),
        cmocka_unit_test(the_clock_does_not_run_backwards_on_joining),
        cmocka_unit_test(the_settled_answer_those_who_look),
        cmocka_unit_test(follows_its_leader_into_a_new_election),
        cmocka_unit_test(a_call_changes_nothing),
        cmocka_unit_test(a_vote_for_itself_moves_with_its_history),
        cmocka_unit_test(a_settled_member_only_remembers),
        cmocka_unit_test(the_epoch_of_a_restored_member_is_the_last_it_followed_in),
        cmocka_unit_test(who_lost_its_record_observes),
        cmocka_unit_test(an_observer_is_answered_and_not_counted),
        cmocka_unit_test(what_cannot_be_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
