/*
 * Chubby, rule by rule: how node 1 of three keeps a lease, follows who has one, and lets go. The lease is 100, a
 * heartbeat 25, and who is free again waits for up to 30 more.
 */
#include "lib/node/chubby.h"

/* ---- The lease ---- */

static void bounds_outlast_leases_by_the_drift(void **state)
{
    sit_as(3, 1);
    seat.cluster.drift = 100000; /* a tenth: 100 * 1.1 / 0.9 */
    starts();
    did("note keeps-silent; save e0; arm promise 123");
    times_out("promise");
    times_out("retry");
    did("note stands 1; save e1; arm round 100; arm beat 25; arm promise 123; disarm retry; "
        "send 2,3 Request 1 e1");
    times_out("round");
    hears(2, "Request 2 e3");
    did("note votes 2 3; save e3; arm promise 123; disarm retry; send 2 Vote 1 e3");
    hears(2, "Renew 2 e3 m1");
    did("note follows 2 3; arm promise 123; disarm retry; send 2 Ack 1 e3 m1");
}

static void the_lease_counts_from_when_the_round_was_sent(void **state)
{
    sit_as_master();
    hears(3, "Ack 3 e1 m1"); /* what is left of the round is the lease: no timer is armed on arrival */
    did("move round to lease");
    hears(2, "Ack 2 e1 m1");
    did("");
    times_out("beat");
    did("arm round 100; arm beat 25; arm promise 100; disarm retry; send 2,3 Renew 1 e1 m2");
    shows(1, "lease"); /* not yet longer */
    hears(2, "Ack 2 e1 m2");
    did("move round to lease");
    shows(1, "lease");
}

static void an_answer_to_an_older_round_never_extends(void **state)
{
    sit_as_master();
    times_out("beat");
    hears(2, "Ack 2 e1 m1");
    did("note ignores-late 2");
    hears(2, "Ack 2 m2"); /* of another term */
    did("note ignores-late 2");
    hears(2, "Ack 2 e1 m2");
    did("move round to lease");
    times_out("beat");
    times_out("round"); /* where a heartbeat is longer than a lease */
    did("");
    hears(2, "Ack 2 e1 m3");
    did("");
    times_out("lease");
    hears(2, "Ack 2 e1 m3");
    did("note ignores-late 2");
    sees("idle");
}

static void stops_by_itself_when_the_lease_ends(void **state)
{
    sit_as_master();
    times_out("lease");
    did("note lapses 1; disarm lease; disarm round; disarm beat; disarm promise; arm retry 0..30");
    sees("idle");
    times_out("retry");
    did("note stands 2; save e2; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e2");
}

static void stops_when_its_own_promise_ends_at_the_same_instant(void **state)
{
    sit_as_master();
    times_out("promise");
    did("note is-free; disarm lease; disarm round; disarm beat; disarm promise; arm retry 0..30");
    sees("idle");
}

/* ---- Leading and following ---- */

static void a_master_elects_nobody_else(void **state)
{
    sit_as_master();
    hears(2, "Request 2 e5");
    did("note refuses-bound 2 5; send 2 Refuse 1 e1 m5 with what is left of promise");
    hears(2, "Renew 2 e1 m1"); /* two masters of one term: a lie */
    did("note ignores-old-master 2 1");
    hears(2, "Refuse 2 e9 m1"); /* it stands no more */
    did("");
    sees("leads");
    hears(2, "Renew 2 e6 m1"); /* cannot be, if all clocks keep the bound */
    did("note is-deposed 2 6; disarm lease; disarm round; disarm beat; disarm promise; note follows 2 6; "
        "save e6; arm promise 100; disarm retry; send 2 Ack 1 e6 m1");
    sees("follows 2");
}

static void the_master_of_a_term_not_older_overrules_a_promise(void **state)
{
    sit_free();
    hears(2, "Request 2 e3");
    hears(3, "Renew 3 e2 m1"); /* older: the promise to 2 stands */
    did("note ignores-old-master 3 2");
    hears(3, "Renew 3 e3 m1"); /* 3 won the term in which we voted for 2 */
    did("note follows 3 3; arm promise 100; disarm retry; send 3 Ack 1 e3 m1");
    hears(2, "Renew 2 e4 m1");
    did("note follows 2 4; save e4; arm promise 100; disarm retry; send 2 Ack 1 e4 m1");
    hears(3, "Renew 3 e3 m2");
    did("note ignores-old-master 3 3");
    times_out("promise");
    hears(3, "Renew 3 e3 m3"); /* also when nothing binds any more */
    did("note ignores-old-master 3 3");
    hears(2, "Renew 2 e4 m9");
    did("note follows 2 4; arm promise 100; disarm retry; send 2 Ack 1 e4 m9");
}

static void a_candidate_gives_way_to_the_winner(void **state)
{
    sit_standing();
    hears(3, "Renew 3 e1 m1");
    did("disarm lease; disarm round; disarm beat; disarm promise; note follows 3 1; arm promise 100; "
        "disarm retry; send 3 Ack 1 e1 m1");
    sees("follows 3");
}

static void who_stood_in_vain_follows_the_older_master_again(void **state)
{
    sit_standing();
    times_out("round");
    times_out("retry");
    hears(2, "Renew 2 e1 m7"); /* a majority hears it, and we could not */
    did("note ignores-old-master 2 1");
    times_out("round");
    hears(2, "Renew 2 e1 m8");
    did("note follows 2 1; arm promise 100; disarm retry; send 2 Ack 1 e1 m8");
    sees("follows 2");
    shows(1, "promise");
}

/* ---- Letting go ---- */

static void resigns_first_and_releases_then(void **state)
{
    sit_as_master();
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns 1; disarm lease; disarm round; disarm beat; disarm promise; send 2,3 Release 1 e1; "
        "arm retry 100..130");
    sees("idle");
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    hears(2, "Ack 2 e1 m1");
    did("note ignores-late 2");
    sees("idle");
}

static void hands_over_to_whom_it_reaches(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_as(5, 1);
    seat.cluster.roles = roles;
    starts_under(1);
    hears(2, "Ack 2 e1 m1");
    hears(4, "Ack 4 e1 m1");
    declines_to_hand_over(1, EL_NOT_ELIGIBLE);
    declines_to_hand_over(4, EL_NOT_ELIGIBLE);
    declines_to_hand_over(3, EL_OUT_OF_TOUCH);
    times_out("beat");
    hears(3, "Ack 3 e1 m2");
    requests(EL_TRANSFER, 2); /* it answered the round before */
    did("note hands-over 2; disarm lease; disarm round; disarm beat; disarm promise; "
        "send 2,3,4,5 Release 2 e1; arm retry 25..55");
    sees("idle");
    declines_to_hand_over(2, EL_NOT_LEADING);
}

static void the_heir_stands_at_once_and_others_hold_back(void **state)
{
    sit_free();
    hears(2, "Renew 2 e3 m1");
    hears(2, "Release 1 e3");
    did("note is-released 2; disarm promise; note is-heir 2; note stands 4; save e4; arm round 100; "
        "arm beat 25; arm promise 100; disarm retry; send 2,3 Request 1 e4");
    sit_free();
    hears(2, "Renew 2 e3 m1");
    hears(2, "Release 3 e3");
    did("note is-released 2; disarm promise; arm retry 25..55");
    sees("idle");
    sit_free();
    hears(2, "Renew 2 e3 m1");
    hears(2, "Release 2 e3");
    did("note is-released 2; disarm promise; arm retry 0..30");
}

static void who_is_released_by_a_loser_lets_the_others_ask_first(void **state)
{
    sit_free();
    hears(2, "Request 2 e3");
    hears(2, "Release 2 e3");
    did("note is-released 2; disarm promise; arm retry 25..55");
    sees("idle");
}

static void only_the_promise_that_was_given_is_released(void **state)
{
    sit_free();
    hears(2, "Release 2 e3");
    did("");
    hears(2, "Renew 2 e3 m1");
    hears(3, "Release 3 e3");
    did("");
    hears(2, "Release 2 e2");
    did("");
    hears(2, "Release 2 e4");
    did("");
    sees("follows 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_outlast_leases_by_the_drift),
        cmocka_unit_test(the_lease_counts_from_when_the_round_was_sent),
        cmocka_unit_test(an_answer_to_an_older_round_never_extends),
        cmocka_unit_test(stops_by_itself_when_the_lease_ends),
        cmocka_unit_test(stops_when_its_own_promise_ends_at_the_same_instant),
        cmocka_unit_test(a_master_elects_nobody_else),
        cmocka_unit_test(the_master_of_a_term_not_older_overrules_a_promise),
        cmocka_unit_test(a_candidate_gives_way_to_the_winner),
        cmocka_unit_test(who_stood_in_vain_follows_the_older_master_again),
        cmocka_unit_test(resigns_first_and_releases_then),
        cmocka_unit_test(hands_over_to_whom_it_reaches),
        cmocka_unit_test(the_heir_stands_at_once_and_others_hold_back),
        cmocka_unit_test(who_is_released_by_a_loser_lets_the_others_ask_first),
        cmocka_unit_test(only_the_promise_that_was_given_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
