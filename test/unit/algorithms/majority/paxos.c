/*
 * Paxos, rule by rule: elections that follow each other. How node 3 of five learns outcomes, calls the next election
 * when it suspects the leader, loses patience, comes back, and resigns.
 */
#include "lib/node/paxos.h"

/* ---- Elections follow each other ---- */

static void a_newer_election_is_joined(void **state)
{
    ask_to_accept();
    hears(4, "Prepare 4 e3 a10");
    did("note promises 4 10; save e3; send 4 Promise 3 e3 a10; arm patience 126..252");
    saved(3, 10, 0, 0);
    hears(1, "Accepted 3 e2 a9");
    did("note stale 1");
    hears(1, "Nack 1 e4 a9 m7"); /* a reply can tell of one, too; the timer runs already */
    did("note stale 1");
    hears(4, "Prepare 4 e3 a10");
    did("note updates 4; send 4 Nack 3 e4 a10");
    sit_under_five();
    hears(1, "Nack 1 e4 a9 m7");
    did("note stale 1; arm patience 63..126");
    sees("elects");
}

static void who_speaks_of_an_older_one_is_told_the_outcome(void **state)
{
    sit_under_five();
    hears(1, "Prepare 1 e1 a7");
    did("note updates 1; send 1 Decided 5 e1");
    hears(1, "Accept 1 e1 a7");
    did("note updates 1; send 1 Decided 5 e1");
    hears(1, "Decided 1 e0");
    did("note updates 1; send 1 Decided 5 e1");
    hears(1, "Promise 1 e1 a7");
    did("note stale 1");
    sit("paxos", 5, 3);
    starts();
    hears(1, "Prepare 1 e1 a7"); /* nobody leads: there is a number only */
    did("note updates 1; send 1 Nack 3 e1 a7");
}

static void outcomes_are_learnt_in_order(void **state)
{
    sit_under_five();
    hears(2, "Decided 4 e3");
    did("note learns 4; disarm patience");
    sees("follows 4");
    in_term(3);
    hears(1, "Decided 4 e3");
    did("");
    hears(1, "Decided 2 e2");
    did("note updates 1; send 1 Decided 4 e3");
    hears(1, "Prepare 1 e5 a7");
    hears(2, "Decided 2 e4"); /* not the newest, but newer than what is known */
    did("note learns 2");
    sees("elects");
    hears(2, "Prepare 2 e4 a8");
    did("note updates 2; send 2 Decided 2 e4");
    hears(2, "Decided 3 e5");
    did("note learns 3; disarm patience");
    sees("leads");
}

static void whoever_asks_is_told(void **state)
{
    sit_under_five();
    hears(1, "Ask 1 e1");
    did("send 1 Decided 5 e1");
    sit("paxos", 5, 3);
    starts();
    hears(1, "Ask 1 e1");
    did("");
    sees("idle");
}

/* ---- Suspicions ---- */

static void the_best_of_the_others_goes_first(void **state)
{
    sit_under_five();
    suspects(1);
    did("");
    suspects(5);
    did("note notices 5; note takes-turn 1; arm patience 63");
    sees("elects");
    times_out("patience");
    did("arm patience 63..126; note opens 9 2; save e2; send 1,2,4,5 Prepare 3 e2 a9");
    sit_under_five();
    suspects(4);
    suspects(5);
    did("note notices 5; note takes-turn 0; arm patience 0");
}

static void an_ordinary_member_has_no_turn(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit("paxos", 5, 3);
    seat.cluster.roles = roles;
    starts_under(5);
    suspects(5);
    did("note notices 5; note takes-turn 0; arm patience 0");
    sit("paxos", 5, 4);
    seat.cluster.roles = roles;
    starts_under(5);
    campaigns();
    did("note barred");
    suspects(5);
    did("note notices 5; arm patience 63..126");
    times_out("patience");
    did("note asks; arm patience 63..126; send 1,2,3,5 Ask 4 e1");
    hears(3, "Prepare 3 e2 a9");
    did("note promises 3 9; save e2; send 3 Promise 4 e2 a9; arm patience 126..252");
    times_out("patience");
    did("note impatient; note asks; arm patience 126..252; send 1,2,3,5 Ask 4 e1");
    times_out("patience");
    times_out("patience");
    times_out("patience");
    did("note impatient; note gives-up 4");
    hears(1, "Ask 1 e1"); /* two that only ask would stir each other for ever */
    did("send 1 Decided 5 e1");
}

static void a_suspicion_withdrawn_is_forgiven(void **state)
{
    sit_under_five();
    suspects(5);
    trusts(5);
    did("note forgives 5; disarm patience; send 5 Decided 5 e1");
    sees("follows 5");
    suspects(1);
    trusts(1);
    did("send 1 Decided 5 e1");
    sit("paxos", 5, 3);
    starts();
    suspects(1);
    did("");
    trusts(1);
    did("send 1 Ask 3 e1");
    sees("idle");
}

static void a_suspect_that_is_decided_on_is_replaced(void **state)
{
    sit_under_five();
    suspects(4);
    hears(1, "Decided 4 e2");
    did("note learns 4; disarm patience; note distrusts 4; note takes-turn 1; arm patience 63");
    sees("elects");
    in_term(2);
    times_out("patience");
    did("arm patience 63..126; note opens 9 3; save e3; send 1,2,4,5 Prepare 3 e3 a9");
    hears(1, "Promise 4 e3 a9 m7");
    hears(2, "Promise 2 e3 a9");
    hears(1, "Accepted 4 e3 a9");
    hears(2, "Accepted 4 e3 a9");
    did("note decides 4; send 1,2,4,5 Decided 4 e3; disarm patience; note distrusts 4; note takes-turn 1; "
        "arm patience 63");
}

/* ---- Patience ---- */

static void give_up(void)
{
    call_an_election();
    times_out("patience");
    did("note impatient; arm patience 126..252; note opens 15 2; save e2; send 1,2,4,5 Prepare 3 e2 a15");
    times_out("patience");
    did("note impatient; arm patience 252..504; note opens 21 2; save e2; send 1,2,4,5 Prepare 3 e2 a21");
    times_out("patience");
    did("note impatient; arm patience 252..504; note opens 27 2; save e2; send 1,2,4,5 Prepare 3 e2 a27");
    times_out("patience");
    did("note impatient; note gives-up 4");
    sees("idle");
}

static void tries_four_times_and_rests(void **state)
{
    give_up();
    hears(1, "Promise 1 e2 a9"); /* stirs nobody */
    did("note stale 1");
    sees("idle");
    hears(4, "Prepare 4 e2 a28");
    did("note gives-way 4; note promises 4 28; save e2; send 4 Promise 3 e2 a28; arm patience 252..504");
    times_out("patience");
    did("note impatient; note gives-up 4");
}

static void any_stir_wakes_it(void **state)
{
    give_up();
    suspects(4);
    did("arm patience 63..126");
    give_up();
    suspects(4);
    times_out("patience");
    trusts(4);
    did("send 4 Decided 5 e1");
    give_up();
    suspects(4);
    sees("elects");
    give_up();
    hears(4, "Ask 4 e1");
    did("send 4 Decided 5 e1");
    sees("idle");
    hears(4, "Ask 4 e1 f1");
    did("send 4 Decided 5 e1; arm patience 63..126");
    give_up();
    campaigns(); /* its last ballot is still open, but nobody waits for it */
    did("arm patience 63..126; note opens 33 2; save e2; send 1,2,4,5 Prepare 3 e2 a33");
    sit_under_five(); /* also one that follows nobody because it suspects the leader */
    suspects(5);
    for (int tries = 0; tries < 5; tries++) {
        times_out("patience");
        hears(1, "Nack 1 e2 a9 m10");
    }
    hears(1, "Decided 5 e2");
    did("note learns 5; disarm patience; note distrusts 5; note takes-turn 1; arm patience 63");
    times_out("patience");
    did("note gives-up 4");
    sees("idle");
    suspects(1);
    did("arm patience 63..126");
}

/* ---- Coming back ---- */

static void without_votes_there_is_nothing_to_remember(void **state)
{
    sit("paxos", 5, 3);
    comes_back();
    did("note asks; arm patience 63..126; send 1,2,4,5 Ask 3 e1 f1");
    hears(1, "Decided 5 e1");
    did("note learns 5; disarm patience");
    sees("follows 5");
    sit("paxos", 5, 3);
    comes_back();
    times_out("patience");
    did("arm patience 63..126; note opens 9 2; save e2; send 1,2,4,5 Prepare 3 e2 a9");
}

static void an_office_of_an_earlier_life_is_vacant(void **state)
{
    sit("paxos", 5, 3);
    comes_back_with(2, 9, 9, 3);
    hears(1, "Decided 3 e2");
    did("note learns 3; disarm patience; note of-the-past; send 1,2,4,5 Vacant 3 e2; note takes-turn 2; "
        "arm patience 126");
    sees("elects");
    sit("paxos", 5, 3);
    comes_back();
    hears(1, "Decided 3 e1"); /* it was the incumbent */
    did("note learns 3; disarm patience; note of-the-past; send 1,2,4,5 Vacant 3 e1; note takes-turn 2; "
        "arm patience 126");
    times_out("patience");
    hears(1, "Promise 1 e2 a9");
    hears(2, "Promise 2 e2 a9");
    hears(1, "Accepted 3 e2 a9");
    hears(2, "Accepted 3 e2 a9");
    sees("leads"); /* but what it wins in this life it takes */
    in_term(2);
}

static void a_ballot_that_finds_its_own_past_decides_it_and_goes_on(void **state)
{
    sit("paxos", 5, 3);
    comes_back_with(2, 9, 9, 3);
    times_out("patience");
    hears(1, "Promise 1 e2 a15");
    hears(2, "Promise 2 e2 a15");
    hears(1, "Accepted 3 e2 a15");
    hears(2, "Accepted 3 e2 a15");
    did("note decides 3; send 1,2,4,5 Decided 3 e2; disarm patience; note of-the-past; "
        "send 1,2,4,5 Vacant 3 e2; note takes-turn 2; arm patience 126");
    sees("elects");
}

static void lose_the_record(void)
{
    sit("paxos", 5, 3);
    comes_back_without_its_record();
    did("save e0; note asks; arm patience 63..126; send 1,2,4,5 Ask 3 e1 f1");
    saved(0, 1, 0, 0);
}

static void who_forgot_its_promises_only_learns(void **state)
{
    lose_the_record();
    hears(4, "Prepare 4 e2 a10");
    did("note forgot");
    hears(4, "Accept 4 e2 a10");
    did("note forgot");
    campaigns();
    did("note barred");
    times_out("patience");
    did("note impatient; note asks; arm patience 63..126; send 1,2,4,5 Ask 3 e1");
    hears(4, "Decided 4 e2");
    did("note learns 4; disarm patience");
    sees("follows 4");
    hears(4, "Prepare 4 e9 a10");
    did("note forgot; arm patience 126..252");
    hears(4, "Decided 3 e9"); /* whatever it won was in an earlier life */
    did("note learns 3; disarm patience; note of-the-past; send 1,2,4,5 Vacant 3 e9; arm patience 63..126");
    sees("elects");
}

static void what_is_lost_stays_lost(void **state)
{
    sit("paxos", 5, 3);
    comes_back_with(0, 1, 0, 0);
    did("save e0; note asks; arm patience 63..126; send 1,2,4,5 Ask 3 e1 f1");
    hears(4, "Prepare 4 e2 a10");
    did("note forgot");
}

/* ---- Resigning ---- */

static void resigning_leaves_the_office_to_the_others(void **state)
{
    sit("paxos", 5, 3);
    starts_under(3);
    requests(EL_RESIGN, EL_NOBODY);
    did("arm patience 63..126; note resigns; send 1,2,4,5 Vacant 3 e1");
    sees("elects");
    requests(EL_RESIGN, EL_NOBODY);
    assert_string_equal(strncmp(seat_text(), "note declined", 13) == 0 ? "declined" : seat.text, "declined");
    requests(EL_TRANSFER, 4);
    assert_string_equal(strncmp(seat_text(), "note declined", 13) == 0 ? "declined" : seat.text, "declined");
}

static void a_vacant_office_is_filled(void **state)
{
    sit_under_five();
    hears(4, "Vacant 4 e1"); /* it never was its */
    did("");
    hears(5, "Vacant 5 e0");
    did("");
    hears(5, "Vacant 5 e1");
    did("note hears-vacant 5; note takes-turn 1; arm patience 63");
    sees("elects");
    hears(5, "Vacant 5 e1");
    did("");
    suspects(5);
    trusts(5);
    did("send 5 Decided 5 e1");
    sees("elects");
    sit_under_five();
    hears(4, "Prepare 4 e2 a10");
    hears(5, "Vacant 5 e1"); /* the next election has begun */
    did("note hears-vacant 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_election_is_joined),
        cmocka_unit_test(who_speaks_of_an_older_one_is_told_the_outcome),
        cmocka_unit_test(outcomes_are_learnt_in_order),
        cmocka_unit_test(whoever_asks_is_told),
        cmocka_unit_test(the_best_of_the_others_goes_first),
        cmocka_unit_test(an_ordinary_member_has_no_turn),
        cmocka_unit_test(a_suspicion_withdrawn_is_forgiven),
        cmocka_unit_test(a_suspect_that_is_decided_on_is_replaced),
        cmocka_unit_test(tries_four_times_and_rests),
        cmocka_unit_test(any_stir_wakes_it),
        cmocka_unit_test(without_votes_there_is_nothing_to_remember),
        cmocka_unit_test(an_office_of_an_earlier_life_is_vacant),
        cmocka_unit_test(a_ballot_that_finds_its_own_past_decides_it_and_goes_on),
        cmocka_unit_test(who_forgot_its_promises_only_learns),
        cmocka_unit_test(what_is_lost_stays_lost),
        cmocka_unit_test(resigning_leaves_the_office_to_the_others),
        cmocka_unit_test(a_vacant_office_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
