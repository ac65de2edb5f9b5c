/*
 * PaxosLease, rule by rule: how node 1 of three keeps a lease and renews it, learns who else holds it, and lets go.
 * The lease is 100, a heartbeat 25, and ballots of node n are 4 k + n: those of node 1 are 5, 9, 13 and so on.
 */
#include "lib/node/paxos_lease.h"

/* ---- Owning ---- */

static void the_lease_counts_from_before_anybody_was_asked(void **state)
{
    sit_as_owner(); /* no timer was armed on the way but the acceptor's own */
    hears(3, "Accept 3 e5");
    did("");
    times_out("beat");
    times_out("beat"); /* nobody answered: again, with a higher ballot, and the old lease still bounds it */
    did("disarm retry; arm round 100; arm beat 25; send 2,3 Renew 1 e13; arm accepted 100");
    shows(5, "lease");
    times_out("lease");
    did("note lapses; disarm lease; disarm round; disarm beat; disarm accepted; arm retry 0..30");
    hears(2, "Renewed 2 e13");
    did("");
    sees("idle");
}

static void answers_to_an_earlier_ballot_count_for_nothing(void **state)
{
    sit_as_owner();
    times_out("beat");
    did("disarm retry; arm round 100; arm beat 25; send 2,3 Renew 1 e9; arm accepted 100");
    hears(2, "Promise 2 e5");
    did("note ignores-late 2");
    hears(2, "Accept 2 e5");
    did("note ignores-late 2");
    hears(3, "Refuse 3 e5 m5");
    did("");
    hears(2, "Renewed 2 e9");
    did("move round to lease; send 2,3 Learn 1 e5 with what is left of lease");
    shows(5, "lease"); /* renewed, under the ballot by which it was got */
    times_out("beat");
    hears(2, "Renewed 2 e9");
    did("note ignores-late 2");
}

static void a_renewal_that_fails_is_tried_again(void **state)
{
    sit_as_owner();
    times_out("beat");
    hears(2, "Refuse 2 e11 m9");
    hears(3, "Refuse 3 e11 m9");
    did("note fails 9; disarm round");
    sees("leads");
    times_out("beat");
    did("disarm retry; arm round 100; arm beat 25; send 2,3 Renew 1 e13; arm accepted 100");
}

static void an_acceptor_renews_whom_it_accepted_or_whom_nobody_has_displaced(void **state)
{
    sit_free();
    hears(3, "Renew 3 e7"); /* it missed the proposal, or has forgotten it */
    did("note accepts 3; arm accepted 100; send 3 Renewed 1 e7");
    hears(3, "Renew 3 e11");
    did("arm accepted 100; send 3 Renewed 1 e11");
    hears(3, "Renew 3 e7");
    did("note refuses-owned 3 3; send 3 Refuse 1 e11 m7 with what is left of accepted");
    hears(2, "Renew 2 e14"); /* long under way: 2 holds no lease any more, for 3 has been accepted since */
    did("note refuses-owned 2 3; send 2 Refuse 1 e11 m14 with what is left of accepted");
}

static void an_owner_accepts_nobody_else(void **state)
{
    sit_as_owner();
    hears(2, "Prepare 2 e10");
    did("note refuses-owned 2 1; send 2 Refuse 1 e5 m10 with what is left of accepted");
    hears(2, "Propose 2 e10");
    did("note refuses-owned 2 1; send 2 Refuse 1 e5 m10 with what is left of accepted");
    hears(2, "Learn 2 e10 a50");
    did("");
    hears(2, "Release 2 e10");
    did("");
    sees("leads");
}

static void an_owner_that_is_released_from_another_leads_on(void **state)
{
    sit_proposing();
    hears(3, "Propose 3 e7"); /* a lie: no majority can have promised this one, and accepted the other */
    did("note accepts 3; arm accepted 100; send 3 Accept 1 e7");
    hears(2, "Accept 2 e5");
    sees("leads");
    hears(3, "Release 3 e7");
    did("note is-released 3; disarm accepted");
    sees("leads");
}

/* ---- Learning ---- */

static void the_others_learn_who_holds_the_lease_and_how_long(void **state)
{
    sit_free();
    hears(2, "Learn 2 e6 a60");
    did("note follows 2 6; arm learned 60");
    sees("follows 2");
    shows(6, "learned");
    hears(2, "Learn 2 e6 a0xffffffffffffffff"); /* no lease is longer */
    did("arm learned 100");
    hears(2, "Learn 2 e6");
    did("");
    times_out("retry"); /* it waits until what it knows is over */
    did("");
    campaigns();
    did("note holds-back");
    times_out("learned");
    did("arm retry 0..30");
    sees("idle");
}

static void news_of_an_earlier_owner_is_ignored(void **state)
{
    sit_free();
    hears(2, "Learn 2 e10 a60");
    hears(3, "Learn 3 e7 a60");
    did("note ignores-old-owner 3");
    sees("follows 2");
    hears(2, "Learn 2 e6 a60"); /* but it may speak of itself: its numbers began anew */
    did("arm learned 60");
    hears(3, "Learn 3 e7 a60");
    did("note follows 3 7; arm learned 60");
    times_out("learned");
    hears(2, "Learn 2 e6 a60");
    did("note follows 2 6; arm learned 60");
}

/* ---- Letting go ---- */

static void lets_go_first_and_releases_then(void **state)
{
    sit_as_owner();
    times_out("beat");
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns; disarm lease; disarm round; disarm beat; disarm accepted; send 2,3 Release 1 e9; "
        "arm retry 100..130");
    sees("idle");
    hears(2, "Renewed 2 e9");
    did("");
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    sees("idle");
}

static void hands_over_to_whom_it_reaches(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_as(5, 1);
    seat.cluster.roles = roles;
    starts_under(1);
    hears(2, "Renewed 2 e7");
    hears(4, "Renewed 4 e7");
    did("move round to lease; send 2,3,4,5 Learn 1 e1 with what is left of lease");
    declines_to_hand_over(1, EL_NOT_ELIGIBLE);
    declines_to_hand_over(4, EL_NOT_ELIGIBLE);
    declines_to_hand_over(3, EL_OUT_OF_TOUCH);
    hears(3, "Renewed 3 e7"); /* after the majority */
    did("");
    times_out("beat"); /* that was the round before */
    requests(EL_TRANSFER, 3);
    did("note hands-over 3; disarm lease; disarm round; disarm beat; disarm accepted; "
        "send 2,3,4,5 Release 3 e13; arm retry 25..55");
    sees("idle");
    declines_to_hand_over(3, EL_NOT_LEADING);
}

static void the_heir_prepares_at_once_and_others_hold_back(void **state)
{
    sit_free();
    hears(2, "Propose 2 e6");
    hears(2, "Learn 2 e6 a60");
    hears(2, "Release 1 e6");
    did("note is-released 2; disarm accepted; disarm learned; note is-heir 2; disarm retry; "
        "arm round 100; arm beat 25; note prepares 9; send 2,3 Prepare 1 e9");
    sit_free();
    hears(2, "Learn 2 e6 a60");
    hears(2, "Release 3 e6");
    did("note is-released 2; disarm learned; arm retry 25..55");
    sit_free();
    hears(2, "Propose 2 e6");
    hears(2, "Release 2 e10"); /* a renewal of which we never heard is over, too */
    did("note is-released 2; disarm accepted; arm retry 0..30");
    sees("idle");
    sit_preparing();
    hears(2, "Learn 2 e6 a60");
    hears(2, "Release 2 e6"); /* it proposes already */
    did("note is-released 2; disarm learned");
}

static void an_heir_that_knows_another_owner_waits(void **state)
{
    sit_free();
    hears(2, "Propose 2 e6");
    hears(3, "Learn 3 e7 a60");
    hears(2, "Release 1 e6");
    did("note is-released 2; disarm accepted; arm retry 25..55");
    sees("follows 3");
}

static void only_what_was_got_by_ballots_up_to_this_one_is_released(void **state)
{
    sit_free();
    hears(2, "Propose 2 e10");
    hears(2, "Learn 2 e10 a60");
    hears(2, "Release 2 e6"); /* an earlier ballot */
    did("");
    hears(3, "Release 3 e11"); /* somebody else's */
    did("");
    sees("follows 2");
    hears(3, "Prepare 3 e15");
    did("note refuses-owned 3 2; send 3 Refuse 1 e10 m15 with what is left of accepted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lease_counts_from_before_anybody_was_asked),
        cmocka_unit_test(answers_to_an_earlier_ballot_count_for_nothing),
        cmocka_unit_test(a_renewal_that_fails_is_tried_again),
        cmocka_unit_test(an_acceptor_renews_whom_it_accepted_or_whom_nobody_has_displaced),
        cmocka_unit_test(an_owner_accepts_nobody_else),
        cmocka_unit_test(an_owner_that_is_released_from_another_leads_on),
        cmocka_unit_test(the_others_learn_who_holds_the_lease_and_how_long),
        cmocka_unit_test(news_of_an_earlier_owner_is_ignored),
        cmocka_unit_test(lets_go_first_and_releases_then),
        cmocka_unit_test(hands_over_to_whom_it_reaches),
        cmocka_unit_test(the_heir_prepares_at_once_and_others_hold_back),
        cmocka_unit_test(an_heir_that_knows_another_owner_waits),
        cmocka_unit_test(only_what_was_got_by_ballots_up_to_this_one_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
