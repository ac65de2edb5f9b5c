/*
 * Chubby, rule by rule: how node 1 of three starts, votes and stands, where two are a majority. The lease is 100, a
 * heartbeat 25, and who stands waits for up to 30 more. With clocks that are all true, a promise is as long as a
 * lease.
 */
#include "lib/node/chubby.h"

/* ---- Starting ---- */

static void a_new_member_grants_nothing_at_first(void **state)
{
    sit_as(3, 1);
    starts();
    did("note keeps-silent; save e0; arm promise 100");
    saved(0, 0, 100, 0);
    sees("idle");
    hears(2, "Request 2 e1");
    did("note refuses-bound 2 1; send 2 Refuse 1 m1 with what is left of promise");
    hears(2, "Renew 2 e1 m1"); /* nor can it know whether this is the one to follow */
    did("note ignores-old-master 2 1");
    campaigns();
    did("note holds-back");
    times_out("promise");
    hears(2, "Request 2 e1");
    did("note votes 2 1; save e1; arm promise 100; disarm retry; send 2 Vote 1 e1");
}

static void a_restarted_server_honours_the_promise_it_forgot(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 2, 100, 0);
    did("note keeps-silent; save e7; arm promise 100");
    saved(7, 2, 100, 0);
    hears(3, "Request 3 e8");
    did("note refuses-bound 3 8; send 3 Refuse 1 e7 m8 with what is left of promise");
    hears(2, "Request 2 e7"); /* not even whom it voted for: it may have promised another since */
    did("note refuses-bound 2 7; send 2 Refuse 1 e7 m7 with what is left of promise");
    hears(3, "Renew 3 e6 m4"); /* an older master than the promise that it forgot */
    did("note ignores-old-master 3 6");
    hears(2, "Renew 2 e7 m4"); /* this one is not older, so it was elected since, or is the one promised */
    did("note follows 2 7; arm promise 100; disarm retry; send 2 Ack 1 e7 m4");
    sees("follows 2");
    shows(7, "promise");
}

static void a_restart_waits_for_the_longest_promise_it_may_have_given(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 2, 250, 0); /* the lease was longer then */
    did("note keeps-silent; save e7; arm promise 250");
    saved(7, 2, 250, 0);
    sit_as(3, 1);
    starts_again_with(7, 2, 40, 0);
    did("note keeps-silent; save e7; arm promise 100");
}

static void a_vote_outlives_a_restart(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 2, 100, 0);
    times_out("promise");
    hears(3, "Request 3 e7");
    did("note refuses-voted 3 7; send 3 Refuse 1 e7 m7 with what is left of promise");
    hears(2, "Request 2 e7");
    did("note votes 2 7; arm promise 100; disarm retry; send 2 Vote 1 e7");
}

static void who_lost_its_record_follows_and_never_votes(void **state)
{
    sit_as(3, 1);
    seat_start(EL_LOST, EL_NOBODY);
    did("note lost-its-vote; save e0; arm promise 100");
    saved(0, 0, 100, 1);
    hears(2, "Renew 2 e5 m1"); /* it may have promised another, whose term it forgot too */
    did("note ignores-old-master 2 5");
    times_out("promise");
    did("note is-free; disarm lease; disarm round; disarm beat; disarm promise");
    hears(2, "Request 2 e5");
    did("note refuses-voted 2 5; send 2 Refuse 1 m5 with what is left of promise");
    campaigns();
    did("note cannot-lead");
    hears(2, "Renew 2 e5 m1");
    did("note follows 2 5; save e5; arm promise 100; disarm retry; send 2 Ack 1 e5 m1");
    saved(5, 2, 100, 1);
    hears(2, "Release 1 e5"); /* it cannot be an heir either */
    did("note is-released 2; disarm promise");
    sit_as(3, 1);
    starts_again_with(5, 2, 100, 1);
    did("note lost-its-vote; save e5; arm promise 100");
    saved(5, 2, 100, 1);
}

static void all_begin_under_an_incumbent(void **state)
{
    sit_as(3, 1);
    starts_under(2);
    did("save e1; arm promise 100; disarm retry");
    saved(1, 2, 100, 0);
    sees("follows 2");
    shows(1, "promise");
    hears(3, "Request 3 e2");
    did("note refuses-bound 3 2; send 3 Refuse 1 e1 m2 with what is left of promise");
    sit_as(3, 2);
    starts_under(2);
    did("save e1; arm promise 100; disarm retry; arm lease 100; arm round 100; arm beat 25; arm promise 100; "
        "disarm retry; send 1,3 Renew 2 e1 m1");
    sees("leads");
    shows(1, "lease");
}

static void term_1_is_left_to_an_incumbent_that_nobody_saved(void **state)
{
    sit_as(3, 1);
    comes_back();
    times_out("promise");
    times_out("retry");
    did("note stands 2; save e2; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e2");
}

static void an_incumbent_that_may_not_lead_is_none(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_as(3, 1);
    seat.cluster.roles = roles;
    starts_under(2);
    did("note keeps-silent; save e0; arm promise 100");
}

/* ---- Voting ---- */

static void each_server_has_one_vote_in_a_term(void **state)
{
    sit_free();
    hears(2, "Request 2 e3");
    did("note votes 2 3; save e3; arm promise 100; disarm retry; send 2 Vote 1 e3");
    saved(3, 2, 100, 0);
    sees("elects");
    hears(2, "Request 2 e3"); /* it did not hear us: the same vote again, and no second record */
    did("note votes 2 3; arm promise 100; disarm retry; send 2 Vote 1 e3");
    times_out("promise");
    hears(3, "Request 3 e3");
    did("note refuses-voted 3 3; send 3 Refuse 1 e3 m3 with what is left of promise");
    hears(3, "Request 3 e2");
    did("note refuses-voted 3 2; send 3 Refuse 1 e3 m2 with what is left of promise");
    hears(3, "Request 3 e4");
    did("note votes 3 4; save e4; arm promise 100; disarm retry; send 3 Vote 1 e4");
}

static void a_promise_refuses_others_and_does_not_raise_the_term(void **state)
{
    sit_free();
    hears(2, "Request 2 e3");
    hears(3, "Request 3 e9");
    did("note refuses-bound 3 9; send 3 Refuse 1 e3 m9 with what is left of promise");
    hears(2, "Renew 2 e3 m1"); /* as before */
    did("note follows 2 3; arm promise 100; disarm retry; send 2 Ack 1 e3 m1");
    hears(2, "Renew 2 e3 m2");
    did("arm promise 100; disarm retry; send 2 Ack 1 e3 m2");
    hears(3, "Request 3 e10");
    did("note refuses-bound 3 10; send 3 Refuse 1 e3 m10 with what is left of promise");
    sees("follows 2");
    times_out("promise");
    sees("idle");
    times_out("retry"); /* but who stands goes beyond all it heard of */
    did("note stands 11; save e11; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e11");
}

static void the_holder_of_the_promise_may_be_elected_again(void **state)
{
    sit_free();
    hears(2, "Renew 2 e3 m1");
    hears(2, "Request 2 e4"); /* it lost its lease, or its memory */
    did("note votes 2 4; save e4; arm promise 100; disarm retry; send 2 Vote 1 e4");
    sees("elects");
}

static void an_ordinary_member_votes_and_never_stands(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE};
    sit_as(3, 1);
    seat.cluster.roles = roles;
    starts();
    times_out("promise");
    did("note is-free; disarm lease; disarm round; disarm beat; disarm promise");
    hears(2, "Request 2 e1");
    did("note votes 2 1; save e1; arm promise 100; disarm retry; send 2 Vote 1 e1");
    hears(2, "Release 1 e1");
    did("note is-released 2; disarm promise");
    campaigns();
    did("note cannot-lead");
}

/* ---- Standing ---- */

static void a_majority_of_votes_makes_a_master(void **state)
{
    sit_as_master();
    hears(3, "Vote 3 e1"); /* one more changes nothing */
    did("");
    campaigns();
    did("note is-busy");
    sit_as(5, 1);
    starts();
    times_out("promise");
    times_out("retry");
    hears(2, "Vote 2 e1");
    did("");
    hears(2, "Vote 2 e1"); /* the same vote twice is one vote */
    did("");
    sees("elects");
    hears(5, "Vote 5 e1");
    sees("leads");
}

static void alone_it_is_its_own_majority(void **state)
{
    sit_as(1, 1);
    starts();
    times_out("promise");
    campaigns();
    did("note stands 1; save e1; arm round 100; arm beat 25; arm promise 100; disarm retry; note wins 1; "
        "move round to lease; arm round 100; arm beat 25; arm promise 100; disarm retry; move round to lease");
    sees("leads");
}

static void a_vote_of_an_earlier_term_counts_for_nothing(void **state)
{
    sit_standing();
    times_out("round");
    did("note loses 1; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e1; "
        "arm retry 0..30");
    hears(2, "Vote 2 e1"); /* too late for the term it belongs to, and it is released */
    did("");
    sees("idle");
    times_out("retry");
    hears(2, "Vote 2 e1");
    did("note ignores-late 2");
    sees("elects");
    hears(2, "Vote 2 e2");
    sees("leads");
}

static void asks_again_whom_it_did_not_reach(void **state)
{
    sit_standing();
    times_out("beat"); /* in the same term, and the lease still counts from the first time */
    did("send 2,3 Request 1 e1; arm beat 25");
    hears(2, "Vote 2 e1");
    sees("leads");
}

static void gives_the_votes_back_when_it_cannot_win(void **state)
{
    sit_standing();
    hears(2, "Refuse 2 e4 a70 m1");
    did("");
    hears(2, "Refuse 2 e4 a80 m1"); /* the same refusal twice is one */
    did("");
    hears(3, "Refuse 3 a20 m1");
    did("note loses 1; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e1; "
        "arm retry 80..110");
    hears(3, "Refuse 3 a20 m1");
    did("");
    times_out("retry");
    did("note stands 5; save e5; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e5");
    hears(3, "Refuse 3 a20 m1"); /* of the earlier term */
    did("");
    hears(3, "Refuse 3 a0xffffffffffffffff m5"); /* believed up to what we would promise ourselves */
    hears(2, "Refuse 2 m5");
    did("note loses 5; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e5; "
        "arm retry 100..130");
}

static void gives_way_to_a_later_term_before_it_has_won(void **state)
{
    sit_standing();
    hears(2, "Request 2 e1");
    did("note refuses-bound 2 1; send 2 Refuse 1 e1 m1 with what is left of promise");
    hears(2, "Request 2 e2"); /* its own votes are free first, and count no more */
    did("note gives-way 2 1; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e1; "
        "note votes 2 2; save e2; arm promise 100; disarm retry; send 2 Vote 1 e2");
    hears(3, "Vote 3 e1");
    did("note ignores-late 3");
    sees("elects");
    shows(2, "none");
}

static void who_loses_again_and_again_waits_longer(void **state)
{
    static const char *const waits[] = {"0..30", "100..130", "300..330", "300..330"};
    char expected[256];
    sit_free();
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        times_out("retry");
        times_out("round");
        snprintf(
            expected, sizeof expected,
            "note loses %u; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e%u; "
            "arm retry %s",
            i + 1, i + 1, waits[i]);
        did(expected);
    }
    hears(2, "Renew 2 e9 m1"); /* until there is a master: another, */
    times_out("promise");
    times_out("retry");
    times_out("round");
    did("note loses 10; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e10; "
        "arm retry 0..30");
    times_out("retry");
    hears(2, "Vote 2 e11"); /* or itself */
    times_out("lease");
    times_out("retry");
    times_out("round");
    did("note loses 12; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e12; "
        "arm retry 0..30");
}

static void the_vote_for_itself_stays_given_when_it_gives_up(void **state)
{
    sit_standing();
    times_out("round");
    hears(2, "Request 2 e1");
    did("note refuses-voted 2 1; send 2 Refuse 1 e1 m1 with what is left of promise");
    sit_as_master();
    times_out("lease");
    hears(2, "Request 2 e1");
    did("note refuses-voted 2 1; send 2 Refuse 1 e1 m1 with what is left of promise");
}

static void does_not_stand_when_the_terms_are_used_up(void **state)
{
    sit_free();
    hears(2, "Request 2 e9007199254740991");
    did("note votes 2 9007199254740991; save e9007199254740991; arm promise 100; disarm retry; "
        "send 2 Vote 1 e9007199254740991");
    times_out("promise");
    times_out("retry");
    did("");
}

static void a_call_is_heard_when_nothing_binds(void **state)
{
    sit_free();
    campaigns();
    did("note stands 1; save e1; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e1");
    campaigns();
    did("note is-busy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_member_grants_nothing_at_first),
        cmocka_unit_test(a_restarted_server_honours_the_promise_it_forgot),
        cmocka_unit_test(a_restart_waits_for_the_longest_promise_it_may_have_given),
        cmocka_unit_test(a_vote_outlives_a_restart),
        cmocka_unit_test(who_lost_its_record_follows_and_never_votes),
        cmocka_unit_test(all_begin_under_an_incumbent),
        cmocka_unit_test(term_1_is_left_to_an_incumbent_that_nobody_saved),
        cmocka_unit_test(an_incumbent_that_may_not_lead_is_none),
        cmocka_unit_test(each_server_has_one_vote_in_a_term),
        cmocka_unit_test(a_promise_refuses_others_and_does_not_raise_the_term),
        cmocka_unit_test(the_holder_of_the_promise_may_be_elected_again),
        cmocka_unit_test(an_ordinary_member_votes_and_never_stands),
        cmocka_unit_test(a_majority_of_votes_makes_a_master),
        cmocka_unit_test(alone_it_is_its_own_majority),
        cmocka_unit_test(a_vote_of_an_earlier_term_counts_for_nothing),
        cmocka_unit_test(asks_again_whom_it_did_not_reach),
        cmocka_unit_test(gives_the_votes_back_when_it_cannot_win),
        cmocka_unit_test(gives_way_to_a_later_term_before_it_has_won),
        cmocka_unit_test(who_loses_again_and_again_waits_longer),
        cmocka_unit_test(the_vote_for_itself_stays_given_when_it_gives_up),
        cmocka_unit_test(does_not_stand_when_the_terms_are_used_up),
        cmocka_unit_test(a_call_is_heard_when_nothing_binds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
