/*
 * Paxos, rule by rule: one election, as a single-decree synod decides it. How node 3 of five proposes, what it
 * promises and accepts, also after a restart, and which ballots it takes from nobody.
 */
#include "lib/node/paxos.h"

/* ---- The proposer ---- */

static void two_majorities_elect_the_caller(void **state)
{
    ask_to_accept();
    hears(4, "Accepted 3 e2 a9");
    did("");
    hears(5, "Accepted 3 e2 a9");
    did("note decides 3; send 1,2,4,5 Decided 3 e2; disarm patience");
    sees("leads");
    in_term(2);
    hears(1, "Accepted 3 e2 a9");
    did("note stale 1");
    campaigns();
    did("arm patience 63..126; note opens 9 3; save e3; send 1,2,4,5 Prepare 3 e3 a9");
    sees("elects");
}

static void alone_it_decides_at_once(void **state)
{
    sit("paxos", 1, 1);
    starts();
    campaigns();
    did("arm patience 63..126; note opens 3 2; save e2; note stands; save e2; note decides 1; disarm patience");
    saved(2, 3, 3, 1);
    sees("leads");
}

static void a_voter_counts_once(void **state)
{
    call_an_election();
    for (int copy = 0; copy < 4; copy++) {
        hears(1, "Promise 1 e2 a9");
        did("");
    }
    hears(5, "Promise 5 e2 a9");
    did("note stands; save e2; send 1,2,4,5 Accept 3 e2 a9");
    for (int copy = 0; copy < 4; copy++) {
        hears(1, "Accepted 3 e2 a9");
        did("");
    }
    sees("elects");
}

static void a_late_promise_is_no_acceptance(void **state)
{
    ask_to_accept();
    hears(4, "Promise 4 e2 a9");
    did("note stale 4");
    hears(5, "Promise 5 e2 a9");
    did("note stale 5");
    hears(4, "Accepted 3 e2 a9");
    did("");
    sees("elects");
}

static void an_acceptance_is_no_promise(void **state)
{
    call_an_election();
    hears(1, "Accepted 3 e2 a9");
    did("note stale 1");
    hears(2, "Accepted 3 e2 a9");
    did("note stale 2");
}

static void replies_to_an_older_ballot_do_not_count(void **state)
{
    ask_to_accept();
    times_out("patience");
    did("note impatient; arm patience 126..252; note opens 15 2; save e2; send 1,2,4,5 Prepare 3 e2 a15");
    saved(2, 15, 9, 3);
    hears(1, "Promise 1 e2 a9");
    did("note stale 1");
    hears(1, "Promise 1 e2 a15");
    did("");
    hears(2, "Promise 2 e2 a15");
    did("note finds 3; save e2; send 1,2,4,5 Accept 3 e2 a15");
    hears(4, "Accepted 3 e2 a9");
    did("note stale 4");
    hears(5, "Accepted 3 e2 a9");
    did("note stale 5");
    hears(1, "Nack 1 e2 a9 m10");
    did("note stale 1");
    sees("elects");
}

static void replies_of_an_older_election_do_not_count(void **state)
{
    call_an_election();
    hears(1, "Promise 1 e1 a9");
    did("note stale 1");
    hears(1, "Accepted 3 e1 a9");
    did("note stale 1");
    hears(1, "Nack 1 e1 a9 m10");
    did("note stale 1");
    hears(2, "Promise 2 e2 a9");
    did("");
}

static void the_highest_ballot_is_adopted_not_the_latest_told(void **state)
{
    call_an_election();
    hears(1, "Promise 2 e2 a9 m8");
    did("");
    hears(4, "Promise 1 e2 a9 m7");
    did("note finds 2; save e2; send 1,2,4,5 Accept 2 e2 a9");
    saved(2, 9, 9, 2);
    call_an_election();
    hears(4, "Promise 1 e2 a9 m7");
    hears(1, "Promise 2 e2 a9 m8");
    did("note finds 2; save e2; send 1,2,4,5 Accept 2 e2 a9");
    hears(4, "Accepted 2 e2 a9");
    hears(5, "Accepted 2 e2 a9");
    did("note decides 2; send 1,2,4,5 Decided 2 e2; disarm patience");
    sees("follows 2");
}

static void its_own_last_vote_is_a_promise_too(void **state)
{
    sit_under_five();
    hears(2, "Accept 2 e2 a8");
    times_out("patience");
    did("note impatient; arm patience 63..126; note opens 15 2; save e2; send 1,2,4,5 Prepare 3 e2 a15");
    saved(2, 15, 8, 2);
    hears(1, "Promise 1 e2 a15 m7");
    hears(4, "Promise 4 e2 a15");
    did("note finds 2; save e2; send 1,2,4,5 Accept 2 e2 a15");
}

static void a_refused_ballot_is_followed_by_a_higher_one(void **state)
{
    call_an_election();
    hears(1, "Nack 1 e2 a9 m9");
    did("note stale 1");
    hears(1, "Nack 1 e2 a9 m17");
    did("note refused 1 17");
    hears(2, "Nack 2 e2 a9 m17");
    did("note stale 2");
    hears(4, "Promise 4 e2 a9");
    did("note stale 4");
    sees("elects");
    times_out("patience");
    did("note impatient; arm patience 126..252; note opens 21 2; save e2; send 1,2,4,5 Prepare 3 e2 a21");
}

static void a_second_call_does_not_disturb_the_ballot(void **state)
{
    call_an_election();
    campaigns();
    did("");
}

/* ---- The acceptor ---- */

static void a_promise_is_saved_before_it_is_given(void **state)
{
    sit_under_five();
    hears(4, "Prepare 4 e2 a10");
    did("note promises 4 10; save e2; send 4 Promise 3 e2 a10; arm patience 63..126");
    saved(2, 10, 0, 0);
    sees("elects");
    hears(4, "Prepare 4 e2 a10");
    did("note promises 4 10; save e2; send 4 Promise 3 e2 a10; arm patience 63..126");
}

static void a_vote_is_saved_before_it_is_given(void **state)
{
    sit_under_five();
    hears(4, "Accept 1 e2 a10");
    did("note accepts 1 10; save e2; send 4 Accepted 1 e2 a10; arm patience 63..126");
    saved(2, 10, 10, 1);
}

static void a_promise_tells_the_last_vote(void **state)
{
    sit_under_five();
    hears(2, "Accept 2 e2 a8");
    hears(4, "Prepare 4 e2 a10");
    did("note promises 4 10; save e2; send 4 Promise 2 e2 a10 m8; arm patience 63..126");
    saved(2, 10, 8, 2);
}

static void lower_ballots_are_refused(void **state)
{
    sit_under_five();
    hears(4, "Prepare 4 e2 a10");
    hears(2, "Prepare 2 e2 a8");
    did("note refuses 2 10; send 2 Nack 3 e2 a8 m10");
    hears(2, "Accept 2 e2 a8");
    did("note refuses 2 10; send 2 Nack 3 e2 a8 m10");
}

static void a_higher_ballot_ends_its_own(void **state)
{
    call_an_election();
    hears(2, "Prepare 2 e2 a8");
    did("note refuses 2 9; send 2 Nack 3 e2 a8 m9");
    hears(4, "Prepare 4 e2 a10");
    did("note gives-way 4; note promises 4 10; save e2; send 4 Promise 3 e2 a10; arm patience 126..252");
    hears(1, "Promise 1 e2 a9");
    did("note stale 1");
    ask_to_accept();
    hears(4, "Accept 4 e2 a10");
    did("note gives-way 4; note accepts 4 10; save e2; send 4 Accepted 4 e2 a10; arm patience 126..252");
    hears(1, "Accepted 3 e2 a9");
    did("note stale 1");
}

static void remembers_its_votes(void **state)
{
    sit("paxos", 5, 3);
    comes_back_with(2, 9, 8, 2);
    did("note asks; arm patience 63..126; send 1,2,4,5 Ask 3 e1 f1");
    sees("elects");
    hears(2, "Prepare 2 e2 a8");
    did("note refuses 2 9; send 2 Nack 3 e2 a8 m9");
    times_out("patience");
    did("note impatient; arm patience 63..126; note opens 15 2; save e2; send 1,2,4,5 Prepare 3 e2 a15");
    hears(1, "Promise 1 e2 a15");
    hears(2, "Promise 2 e2 a15 m7");
    did("note finds 2; save e2; send 1,2,4,5 Accept 2 e2 a15");
}

/* ---- What nobody honest says ---- */

static void ballots_belong_to_their_proposers(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE};
    static const char *const wrong[] = {
        "Prepare 4 e2 a9",
        "Prepare 4 e2 a0x20000000000002", /* the first of its own beyond the limit */
        "Accept 4 e2 a11",
        "Accept 1 e2 a10",
        "Promise 4 e2 a9 m10",
        "Promise 1 e2 a9 m8",
        "Nack 4 e2 a9 m0x20000000000000",
        "Decided 1 e2",
    };
    assert_int_equal((UINT64_C(1) << 53) % 6, 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sit("paxos", 5, 3);
        seat.cluster.roles = roles;
        starts_under(5);
        hears(4, wrong[i]);
        did("note bad-ballot 4");
        sees("follows 5");
    }
    hears(1, "Promise 1 e2 a9"); /* an ordinary acceptor without a vote */
    did("note stale 1; arm patience 63..126");
}

static void numbers_can_run_out(void **state)
{
    sit_under_five();
    hears(4, "Decided 4 e9007199254740991");
    campaigns();
    did("note out-of-numbers");
    sit_under_five();
    hears(4, "Prepare 4 e2 a9007199254740988");
    assert_int_equal(UINT64_C(9007199254740988) % 6, 4);
    times_out("patience");
    did("note impatient; note out-of-numbers");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_majorities_elect_the_caller),
        cmocka_unit_test(alone_it_decides_at_once),
        cmocka_unit_test(a_voter_counts_once),
        cmocka_unit_test(a_late_promise_is_no_acceptance),
        cmocka_unit_test(an_acceptance_is_no_promise),
        cmocka_unit_test(replies_to_an_older_ballot_do_not_count),
        cmocka_unit_test(replies_of_an_older_election_do_not_count),
        cmocka_unit_test(the_highest_ballot_is_adopted_not_the_latest_told),
        cmocka_unit_test(its_own_last_vote_is_a_promise_too),
        cmocka_unit_test(a_refused_ballot_is_followed_by_a_higher_one),
        cmocka_unit_test(a_second_call_does_not_disturb_the_ballot),
        cmocka_unit_test(a_promise_is_saved_before_it_is_given),
        cmocka_unit_test(a_vote_is_saved_before_it_is_given),
        cmocka_unit_test(a_promise_tells_the_last_vote),
        cmocka_unit_test(lower_ballots_are_refused),
        cmocka_unit_test(a_higher_ballot_ends_its_own),
        cmocka_unit_test(remembers_its_votes),
        cmocka_unit_test(ballots_belong_to_their_proposers),
        cmocka_unit_test(numbers_can_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
