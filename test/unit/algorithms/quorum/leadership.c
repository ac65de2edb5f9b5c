/* Leading a quorum group: what bounds the claim, who is asked to join, heirs, and how it ends. */
#include "lib/node/quorum.h"

/* ---- Leading ---- */

static void the_claim_is_bounded_by_the_majoritys_newest_promises(void **state)
{
    leads_in_three();
    bounded_by(2); /* both by question 2; the later position of two */
    grants(3, TERM(2, 1), 2, 0, 0);
    times_out("pulse");
    acks(3, 4, 0, QUORUM_PROMISE);
    bounded_by(3); /* both by beat 4 */
    times_out_for("lease", 2);
    sees("leads");
    times_out_for("lease", 3);
    noted("lapses");
    said("Release>2 2.1; Release>3 2.1");
    sees("idle");
}

static void a_voter_that_acknowledges_but_never_granted_bounds_nothing(void **state)
{
    leads_in_three();
    times_out("pulse");
    acks(3, 4, 0, QUORUM_PROMISE);
    bounded_by(2);
}

static void who_does_not_support_its_leader_is_asked_to_join(void **state)
{
    leads_in_three();
    times_out("re-ask");
    noted("asks-to-join");
    said("Vote>3 2.1 join");
    timer_did(QUORUM_REASK, 0, "arm 15");
    grants(3, TERM(2, 1), 4, 0, QUORUM_JOIN);
    times_out("re-ask");
    said("");
    timer_did(QUORUM_REASK, 0, ""); /* a group at rest costs nothing */
    acks(3, 4, 1, QUORUM_PROMISE);
    said("Vote>3 2.1 join");
    times_out_for("linked", 3);
    times_out("re-ask");
    said(""); /* it could not hear us */
    acks(3, 5, 1, 0);
    said("Vote>3 2.1 join");
}

static void a_joined_voter_bounds_the_claim_like_any_other(void **state)
{
    leads_in_three();
    times_out("pulse");
    times_out("re-ask");
    grants(3, TERM(2, 1), 5, 0, QUORUM_JOIN);
    bounded_by(3);
    times_out_for("lease", 2);
    sees("leads");
}

static void an_heir_below_somebodys_floor_gets_a_new_term(void **state)
{
    leads_in_three();
    times_out("re-ask");
    peers.clock = TERM(50, 3);
    grants(3, TERM(2, 1), 4, 0, QUORUM_JOIN);
    times_out("pulse");
    said_with_beats("Beat>2 2.1 live heir 51.3; Beat>3 2.1 live heir 51.3");
}

static void the_best_member_within_reach_is_heir(void **state)
{
    leads_in_three();
    times_out_for("linked", 3);
    times_out("pulse");
    said_with_beats("Beat>2 2.1 live heir 4.2; Beat>3 2.1 live heir 4.2");
    times_out_for("linked", 2);
    times_out("pulse");
    said_with_beats("Beat>2 2.1 live; Beat>3 2.1 live");
}

/* Its promises were not worth what they said. Its host learns of it now, and has a lease to stop the work: until then
 * nobody is let go of, whatever is asked or given. */
static void who_is_deposed_makes_way_and_lets_go_when_its_work_must_be_over(void **state)
{
    leads_in_three();
    claims(3, 1, TERM(5, 3), 3, 0);
    noted("is-deposed");
    said("Ack>3 echo 1 epoch 0 promise");
    timer_did(QUORUM_DEADLINE, 0, "arm 100");
    sees("follows 3");
    checks(2, 1, TERM(2, 1));
    said("");
    asks(3, TERM(5, 3), 2, QUORUM_JOIN);
    said("Refuse>3 5.3 held by 1 fresh"); /* it asks itself, and does not answer */
    grants(2, TERM(4, 1), 2, 0, 0);
    said("");
    times_out_for("recent", 3);
    timer_did(QUORUM_STAND, 0, "");
    campaigns();
    noted("holds-back");
    times_out("deadline");
    noted("lets-go");
    said("Release>2 2.1; Release>3 2.1; Grant>3 5.3 echo 2 epoch 0");
    checks(2, 1, TERM(2, 1));
    said("Release>2 2.1");
}

/* The same, told by a number: a voter let go of us although its promise ran here. */
static void who_is_let_go_of_too_early_lets_go_when_its_work_must_be_over(void **state)
{
    leads_in_three();
    acks(2, 2, 1, QUORUM_PROMISE);
    noted("lapses");
    said("");
    timer_did(QUORUM_DEADLINE, 0, "arm 100");
    sees("idle");
    times_out("deadline");
    said("Release>2 2.1; Release>3 2.1");
    timer_did(QUORUM_STAND, 0, "arm 20..25");
}

/* ---- Handing over ---- */

static void who_resigns_leaves_the_group_to_its_heir(void **state)
{
    leads_in_three();
    requests(EL_RESIGN, EL_NOBODY);
    noted("resigns");
    said("Release>2 2.1 heir 4.3; Release>3 2.1 heir 4.3; Grant>3 4.3 echo 0 epoch 0");
    timer_did(QUORUM_STAND, 0, "arm 101..126");
    sees("idle");
}

static void a_transfer_gives_the_group_to_the_one_named_in_a_new_term(void **state)
{
    leads_in_three();
    requests(EL_TRANSFER, 2);
    noted("hands-over");
    said("Release>2 2.1 heir 4.2; Release>3 2.1 heir 4.2; Grant>2 4.2 echo 0 epoch 0");
    times_out_for("promised", 2); /* it failed */
    times_out("stand");
    said("Vote>2 5.1; Vote>3 5.1");
}

static void only_a_leader_hands_over_and_only_to_who_can_take_it(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY};
    stands(3, 1);
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    leads_in_three();
    requests(EL_TRANSFER, 1);
    did("note declined");
    times_out_for("linked", 2);
    requests(EL_TRANSFER, 2);
    did("note declined");
    seat.cluster.roles = roles;
    requests(EL_TRANSFER, 3);
    did("note declined");
}

/* Three of three: the leader's own vote and the heir's make a majority when its release arrives. */
static void the_heir_of_three_wins_when_it_hears_of_the_release(void **state)
{
    begins(3, 1);
    gets_linked(1);
    asks(3, TERM(2, 3), 1, 0);
    claims(3, 2, TERM(2, 3), 1, TERM(3, 1));
    releases(3, 1, TERM(2, 3), 1, TERM(3, 1));
    noted("is-pushed");
    sees("elects");
    grants(3, TERM(3, 1), 1, 0, 0);
    sees("leads");
}

/* Its work must be stopped first, and only its host can do that. */
static void where_pre_emption_is_on_a_better_one_that_is_back_is_named_once_and_handed_the_group_on_request(
    void **state)
{
    sit_in_quorum(3, 1);
    option("preempt", 1);
    starts();
    gets_linked(1);
    times_out("stand");
    grants(2, TERM(2, 1), 2, 0, 0);
    for (int beat = 0; beat < 8; beat++) {
        times_out("pulse");
        not_noted("would-hand-over"); /* it may still be silent */
    }
    times_out("pulse");
    noted("would-hand-over");
    said("");
    times_out("pulse");
    not_noted("would-hand-over");
    sees("leads");
    requests(EL_TRANSFER, 3);
    said("Release>2 2.1 heir 4.3; Release>3 2.1 heir 4.3; Grant>3 4.3 echo 0 epoch 0");
}

static void a_lesser_one_is_not_named(void **state)
{
    sit_in_quorum(3, 3);
    option("preempt", 1);
    starts();
    gets_linked(1);
    times_out("stand");
    grants(2, TERM(2, 3), 2, 0, 0);
    for (int beat = 0; beat < 12; beat++) {
        times_out("pulse");
        not_noted("would-hand-over");
    }
    sees("leads");
}

/* ---- From the beginning ---- */

static void an_incumbent_leads_by_what_all_were_told(void **state)
{
    sit_in_quorum(3, 1);
    starts_under(1);
    sees("leads");
    in_term(TERM(1, 1));
    bounded_by(2);
    sit_in_quorum(3, 2);
    starts_under(1);
    sees("follows 1");
    asks(3, TERM(2, 3), 1, 0);
    said("Refuse>3 2.3 held by 1 active; Check>1 1.1");
}

/* Its guardian tells every member; of another nobody is believed (speakers.h). */
static void an_obituary_is_not_passed_on(void **state)
{
    begins(4, 1);
    is_told(QUORUM_FACT_OBITUARY, UINT64_C(3) << 48 | 7);
    noted("buries");
    said("");
    is_told(QUORUM_FACT_OBITUARY, UINT64_C(5) << 48 | 7);
    did("");
    is_told(QUORUM_FACT_OBITUARY, 7);
    did("");
}

/* Its guardian may well tell a member that its earlier life is over; of this one nobody can say so. */
static void a_member_tells_the_end_of_its_earlier_life_only(void **state)
{
    leads_in_three();
    is_told(QUORUM_FACT_OBITUARY, UINT64_C(1) << 48 | 1);
    did("");
    is_told(QUORUM_FACT_OBITUARY, UINT64_C(1) << 48 | 2);
    did("");
    sees("leads");
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    is_told(QUORUM_FACT_OBITUARY, UINT64_C(1) << 48 | 1);
    said("Obituary>2 1.1; Obituary>3 1.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_claim_is_bounded_by_the_majoritys_newest_promises),
        cmocka_unit_test(a_voter_that_acknowledges_but_never_granted_bounds_nothing),
        cmocka_unit_test(who_does_not_support_its_leader_is_asked_to_join),
        cmocka_unit_test(a_joined_voter_bounds_the_claim_like_any_other),
        cmocka_unit_test(an_heir_below_somebodys_floor_gets_a_new_term),
        cmocka_unit_test(the_best_member_within_reach_is_heir),
        cmocka_unit_test(who_is_deposed_makes_way_and_lets_go_when_its_work_must_be_over),
        cmocka_unit_test(who_is_let_go_of_too_early_lets_go_when_its_work_must_be_over),
        cmocka_unit_test(who_resigns_leaves_the_group_to_its_heir),
        cmocka_unit_test(a_transfer_gives_the_group_to_the_one_named_in_a_new_term),
        cmocka_unit_test(only_a_leader_hands_over_and_only_to_who_can_take_it),
        cmocka_unit_test(the_heir_of_three_wins_when_it_hears_of_the_release),
        cmocka_unit_test(
            where_pre_emption_is_on_a_better_one_that_is_back_is_named_once_and_handed_the_group_on_request),
        cmocka_unit_test(a_lesser_one_is_not_named),
        cmocka_unit_test(an_incumbent_leads_by_what_all_were_told),
        cmocka_unit_test(an_obituary_is_not_passed_on),
        cmocka_unit_test(a_member_tells_the_end_of_its_earlier_life_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
