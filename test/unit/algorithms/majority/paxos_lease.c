/*
 * PaxosLease, rule by rule: how node 1 of three starts, accepts and proposes until somebody holds the lease, where
 * two are a majority. The lease is 100, a heartbeat 25, and who proposes waits for up to 30 more. Ballots of node n
 * are 4 k + n: those of node 1 are 5, 9, 13 and so on. With clocks that are all true, acceptors remember for as long
 * as a lease.
 */
#include "lib/node/paxos_lease.h"

/* ---- Starting ---- */

static void whoever_starts_keeps_silent_for_as_long_as_anything_lasts(void **state)
{
    sit_as(3, 1);
    starts();
    did("save e0; note keeps-silent; arm silence 100");
    saved(0, 100, 0);
    hears(2, "Prepare 2 e6");
    did("");
    hears(2, "Propose 2 e6");
    did("");
    campaigns();
    did("note holds-back");
    times_out("silence");
    hears(2, "Prepare 2 e6");
    did("send 2 Promise 1 e6");
}

static void each_life_takes_ballots_that_none_before_had(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 100, 0);
    did("save e8; note keeps-silent; arm silence 100");
    saved(8, 100, 0);
    times_out("silence");
    times_out("retry"); /* round 8 * 65536 */
    did("disarm retry; arm round 100; arm beat 25; note prepares 2097153; send 2,3 Prepare 1 e2097153");
    times_out("round");
    times_out("retry");
    did("disarm retry; arm round 100; arm beat 25; note prepares 2097157; send 2,3 Prepare 1 e2097157");
    times_out("round");
    hears(3, "Refuse 3 e2359299 m5"); /* round 9 * 65536 + 1: 3 has started more often */
    times_out("retry");
    did("save e9; disarm retry; arm round 100; arm beat 25; note prepares 2359301; send 2,3 Prepare 1 e2359301");
    saved(9, 100, 0);
    times_out("beat"); /* saved once for the block */
    did("send 2,3 Prepare 1 e2359301; arm beat 25");
}

static void the_last_round_of_a_block_is_followed_by_the_next_block(void **state)
{
    sit_free();
    hears(3, "Refuse 3 e262135 m5"); /* round 65533 */
    times_out("retry");
    did("disarm retry; arm round 100; arm beat 25; note prepares 262137; send 2,3 Prepare 1 e262137");
    times_out("round");
    times_out("retry");
    did("disarm retry; arm round 100; arm beat 25; note prepares 262141; send 2,3 Prepare 1 e262141");
    times_out("round");
    times_out("retry");
    did("save e1; disarm retry; arm round 100; arm beat 25; note prepares 262145; send 2,3 Prepare 1 e262145");
}

static void a_restart_waits_for_the_longest_it_may_have_accepted_anything(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 250, 0); /* the lease was longer then */
    did("save e8; note keeps-silent; arm silence 250");
    saved(8, 250, 0);
    sit_as(3, 1);
    starts_again_with(7, 40, 0);
    did("save e8; note keeps-silent; arm silence 100");
    saved(8, 100, 0);
}

static void who_lost_its_record_accepts_and_never_proposes(void **state)
{
    sit_as(3, 1);
    seat_start(EL_LOST, EL_NOBODY);
    did("save e0; note lost-its-ballots; arm silence 100");
    saved(0, 100, 1);
    hears(2, "Propose 2 e6");
    did("");
    times_out("silence");
    did("note speaks");
    campaigns();
    did("note cannot-lead");
    hears(2, "Propose 2 e6");
    did("note accepts 2; arm accepted 100; send 2 Accept 1 e6");
    hears(2, "Release 1 e6"); /* it cannot be an heir either */
    did("note is-released 2; disarm accepted");
    sit_as(3, 1);
    starts_again_with(0, 100, 1);
    did("save e1; note lost-its-ballots; arm silence 100");
    saved(1, 100, 1);
}

static void all_begin_under_an_incumbent(void **state)
{
    sit_as(3, 1);
    starts_under(2);
    did("save e0; arm accepted 100; arm learned 100");
    sees("follows 2");
    shows(1, "learned");
    hears(3, "Prepare 3 e7");
    did("note refuses-owned 3 2; send 3 Refuse 1 e1 m7 with what is left of accepted");
    hears(2, "Renew 2 e6");
    did("arm accepted 100; send 2 Renewed 1 e6");
    sit_as(3, 2);
    starts_under(2);
    did("save e0; arm accepted 100; arm lease 100; disarm retry; arm round 100; arm beat 25; "
        "send 1,3 Renew 2 e6; arm accepted 100");
    sees("leads");
    shows(1, "lease");
}

static void an_incumbent_that_may_not_lead_is_none(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_as(3, 1);
    seat.cluster.roles = roles;
    starts_under(2);
    did("save e0; note keeps-silent; arm silence 100");
    sit_as(3, 1);
    seat_start(EL_RESTORED, 2); /* nor after a restart */
    did("save e1; note keeps-silent; arm silence 100");
}

/* ---- The acceptor ---- */

static void no_ballot_below_a_promise_is_answered(void **state)
{
    sit_free();
    hears(3, "Prepare 3 e11");
    did("send 3 Promise 1 e11");
    hears(2, "Prepare 2 e10");
    did("note refuses-old 2; send 2 Refuse 1 e11 m10 with what is left of accepted");
    hears(2, "Propose 2 e10");
    did("note refuses-old 2; send 2 Refuse 1 e11 m10 with what is left of accepted");
    hears(3, "Prepare 3 e11"); /* it did not hear us */
    did("send 3 Promise 1 e11");
    hears(3, "Propose 3 e11");
    did("note accepts 3; arm accepted 100; send 3 Accept 1 e11");
    sees("elects");
}

static void who_has_accepted_refuses_others_and_promises_them_nothing(void **state)
{
    sit_free();
    hears(3, "Propose 3 e7");
    did("note accepts 3; arm accepted 100; send 3 Accept 1 e7");
    hears(2, "Prepare 2 e10");
    did("note refuses-owned 2 3; send 2 Refuse 1 e7 m10 with what is left of accepted");
    campaigns();
    did("note holds-back");
    hears(3, "Propose 3 e7"); /* so that the owner is not disturbed */
    did("arm accepted 100; send 3 Accept 1 e7");
    hears(3, "Prepare 3 e11");
    did("send 3 Promise 1 e11");
    hears(2, "Propose 2 e14"); /* a majority promised it, so 3 was accepted by a minority only */
    did("note accepts 2; arm accepted 100; send 2 Accept 1 e14");
}

static void forgets_what_it_accepted_when_its_time_is_over(void **state)
{
    sit_free();
    hears(3, "Propose 3 e7");
    times_out("accepted");
    did("disarm accepted; arm retry 0..30");
    sees("idle");
    hears(2, "Prepare 2 e10");
    did("send 2 Promise 1 e10");
}

static void acceptors_remember_for_longer_than_the_owner_counts(void **state)
{
    sit_as(3, 1);
    seat.cluster.drift = 100000; /* a tenth: 100 * 1.1 / 0.9 */
    starts();
    did("save e0; note keeps-silent; arm silence 123");
    times_out("silence");
    times_out("retry");
    did("disarm retry; arm round 100; arm beat 25; note prepares 5; send 2,3 Prepare 1 e5");
    hears(2, "Promise 2 e5");
    did("note proposes 5; send 2,3 Propose 1 e5; note accepts 1; arm accepted 123");
    hears(2, "Propose 2 e6");
    did("note accepts 2; arm accepted 123; send 2 Accept 1 e6");
}

static void an_ordinary_member_accepts_and_never_proposes(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE};
    sit_as(3, 1);
    seat.cluster.roles = roles;
    starts();
    times_out("silence");
    did("note speaks");
    campaigns();
    did("note cannot-lead");
    hears(2, "Propose 2 e6");
    did("note accepts 2; arm accepted 100; send 2 Accept 1 e6");
    hears(2, "Release 1 e6");
    did("note is-released 2; disarm accepted");
}

/* ---- The proposer ---- */

static void a_late_promise_is_no_acceptance(void **state)
{
    sit_proposing();
    hears(3, "Promise 3 e5");
    did("");
    sees("elects");
    hears(3, "Accept 3 e5");
    sees("leads");
    sit_preparing();
    hears(2, "Accept 2 e5"); /* nobody honest could */
    did("");
    sees("elects");
}

static void alone_it_is_its_own_majority(void **state)
{
    sit_as(1, 1);
    starts();
    times_out("silence");
    campaigns();
    did("disarm retry; arm round 100; arm beat 25; note prepares 3; note proposes 3; note accepts 1; "
        "arm accepted 100; move round to lease; disarm learned; note holds 3");
    sees("leads");
    times_out("accepted"); /* at the very instant at which the lease ends */
    did("disarm accepted");
    campaigns();
    did("note is-busy");
}

static void an_acceptor_that_promised_a_rival_does_not_accept_its_own_proposer(void **state)
{
    sit_preparing();
    hears(3, "Prepare 3 e7");
    did("send 3 Promise 1 e7");
    hears(2, "Promise 2 e5");
    did("note proposes 5; send 2,3 Propose 1 e5");
    hears(2, "Accept 2 e5");
    did("");
    sees("elects");
    hears(3, "Accept 3 e5");
    sees("leads");
    times_out("lease");
    did("note lapses; disarm lease; disarm round; disarm beat; arm retry 0..30");
    sit_preparing(); /* and if the rival was accepted meanwhile, it does not even promise */
    hears(3, "Propose 3 e7");
    times_out("round");
    times_out("retry");
    did("");
    sees("elects");
}

static void goes_beyond_every_ballot_it_has_heard_of(void **state)
{
    sit_free();
    hears(3, "Refuse 3 e23 m5");
    did("");
    campaigns();
    did("disarm retry; arm round 100; arm beat 25; note prepares 25; send 2,3 Prepare 1 e25");
    sit_free();
    hears(3, "Learn 3 e9007199254740991");
    campaigns(); /* until they are used up */
    did("");
    sees("idle");
    sit_as_owner();
    hears(3, "Refuse 3 e9007199254740991");
    times_out("beat");
    did("");
    sees("leads"); /* until the lease ends */
}

static void asks_again_whom_it_did_not_reach(void **state)
{
    sit_preparing();
    times_out("beat");
    did("send 2,3 Prepare 1 e5; arm beat 25");
    campaigns();
    did("note is-busy");
    hears(2, "Promise 2 e5");
    times_out("beat");
    did("send 2,3 Propose 1 e5; arm beat 25");
}

static void gives_up_when_it_cannot_win(void **state)
{
    sit_preparing();
    hears(2, "Refuse 2 e7 a70 m5");
    did("");
    hears(2, "Refuse 2 e7 a80 m5"); /* the same refusal twice is one */
    did("");
    hears(3, "Refuse 3 e7 a20 m5");
    did("note fails 5; disarm lease; disarm round; disarm beat; send 2,3 Release 1 e5; arm retry 80..110");
    sees("idle");
    hears(3, "Refuse 3 e7 a20 m5");
    did("");
    times_out("retry");
    did("disarm retry; arm round 100; arm beat 25; note prepares 9; send 2,3 Prepare 1 e9");
    hears(2, "Promise 2 e9");
    hears(2, "Refuse 2 e7 a0xffffffffffffffff m9"); /* believed up to what we would do ourselves */
    hears(3, "Refuse 3 e11 m9");
    did("note fails 9; disarm lease; disarm round; disarm beat; disarm accepted; send 2,3 Release 1 e9; "
        "arm retry 100..130");
    sees("idle");
}

static void gives_up_when_its_time_is_over(void **state)
{
    sit_proposing();
    times_out("round");
    did("note fails 5; disarm lease; disarm round; disarm beat; disarm accepted; send 2,3 Release 1 e5; "
        "arm retry 0..30");
    hears(2, "Accept 2 e5");
    did("");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_starts_keeps_silent_for_as_long_as_anything_lasts),
        cmocka_unit_test(each_life_takes_ballots_that_none_before_had),
        cmocka_unit_test(the_last_round_of_a_block_is_followed_by_the_next_block),
        cmocka_unit_test(a_restart_waits_for_the_longest_it_may_have_accepted_anything),
        cmocka_unit_test(who_lost_its_record_accepts_and_never_proposes),
        cmocka_unit_test(all_begin_under_an_incumbent),
        cmocka_unit_test(an_incumbent_that_may_not_lead_is_none),
        cmocka_unit_test(no_ballot_below_a_promise_is_answered),
        cmocka_unit_test(who_has_accepted_refuses_others_and_promises_them_nothing),
        cmocka_unit_test(forgets_what_it_accepted_when_its_time_is_over),
        cmocka_unit_test(acceptors_remember_for_longer_than_the_owner_counts),
        cmocka_unit_test(an_ordinary_member_accepts_and_never_proposes),
        cmocka_unit_test(a_late_promise_is_no_acceptance),
        cmocka_unit_test(alone_it_is_its_own_majority),
        cmocka_unit_test(an_acceptor_that_promised_a_rival_does_not_accept_its_own_proposer),
        cmocka_unit_test(goes_beyond_every_ballot_it_has_heard_of),
        cmocka_unit_test(asks_again_whom_it_did_not_reach),
        cmocka_unit_test(gives_up_when_it_cannot_win),
        cmocka_unit_test(gives_up_when_its_time_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
