/*
 * PaxosLease, rule by rule: node 1 of three, so that two are a majority. The lease is 100, a heartbeat 25, and
 * who proposes waits for up to 30 more. Ballots of node n are 4 k + n: those of node 1 are 5, 9, 13 and so on. With
 * clocks that are all true, acceptors remember for as long as a lease.
 */
#include "node.h"

static void sit_as(uint32_t count, el_node self)
{
    sit("paxos-lease", count, self);
    option("lease", 100);
    option("heartbeat", 25);
    option("retry", 30);
}

static void starts_again_with(uint64_t run, uint64_t longest)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = EL_RESTORED, .durable = {.epoch = run, .word = {longest}}};
    seat_step(&event);
}

static void saved_for(uint64_t longest)
{
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SAVE) assert_int_equal(seat.out.actions[i].durable.word[0], longest);
}

/* What it says in public, and until which timer. */
static void shows(uint64_t term, const char *timer)
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    assert_int_equal(view.term, term);
    assert_string_equal(view.timer == EL_NO_TIMER ? "none" : seat_timer(view.timer), timer);
}

static void sit_free(void)
{
    sit_as(3, 1);
    starts();
    times_out("silence");
    did("note speaks; arm retry 0..30");
    sees("idle");
}

static void sit_preparing(void)
{
    sit_free();
    times_out("retry");
    did("note prepares 5; disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e5 m1");
    sees("elects");
    shows(0, "none");
}

static void sit_proposing(void)
{
    sit_preparing();
    hears(2, "Promise 2 e5 m1"); /* the round's timer runs on: it was armed before anybody was asked */
    did("note proposes 5; send 2,3 Propose 1 e5 m1; note accepts 1; arm accepted 100");
}

static void sit_as_owner(void)
{
    sit_proposing();
    hears(2, "Accept 2 e5 m1");
    did("move round to lease; disarm learned; note holds 5; send 2,3 Learn 1 e5 with what is left of lease");
    sees("leads");
    shows(5, "lease");
}

/* ---- Starting ---- */

static void whoever_starts_keeps_silent_for_as_long_as_anything_lasts(void **state)
{
    sit_as(3, 1);
    starts();
    did("save e1; note keeps-silent; arm silence 100");
    saved_for(100);
    hears(2, "Prepare 2 e6 m1");
    did("");
    hears(2, "Propose 2 e6 m1");
    did("");
    campaigns();
    did("note holds-back");
    times_out("silence");
    hears(2, "Prepare 2 e6 m1");
    did("send 2 Promise 1 e6 m1");
}

static void each_start_has_a_number_of_its_own(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 100);
    did("save e8; note keeps-silent; arm silence 100");
    times_out("silence");
    times_out("retry");
    did("note prepares 5; disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e5 m8");
    hears(2, "Promise 2 e5 m7"); /* what an earlier life had asked for */
    did("note ignores-late 2");
    hears(2, "Promise 2 e5 m8");
    did("note proposes 5; send 2,3 Propose 1 e5 m8; note accepts 1; arm accepted 100");
    hears(2, "Accept 2 e5 m7");
    did("note ignores-late 2");
    sees("elects");
}

static void a_restart_waits_for_the_longest_it_may_have_accepted_anything(void **state)
{
    sit_as(3, 1);
    starts_again_with(7, 250); /* the lease was longer then */
    did("save e8; note keeps-silent; arm silence 250");
    saved_for(250);
    sit_as(3, 1);
    starts_again_with(7, 40);
    did("save e8; note keeps-silent; arm silence 100");
    saved_for(100);
}

static void a_lost_count_of_starts_is_drawn_at_random(void **state)
{
    sit_as(3, 1);
    seat_start(EL_LOST, EL_NOBODY);
    did("choose below 4294967295; note keeps-silent; arm silence 100");
    draws(5);
    did("save e1099511627781"); /* beyond 2^40 */
    draws(6);
    did("");
    times_out("silence");
    times_out("retry");
    did("note prepares 5; disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e5 m0x10000000005");
}

static void all_begin_under_an_incumbent(void **state)
{
    sit_as(3, 1);
    starts_under(2);
    did("save e1; arm accepted 100; arm learned 100");
    sees("follows 2");
    shows(1, "learned");
    hears(3, "Prepare 3 e7 m1");
    did("note refuses-owned 3 2; send 3 Refuse 1 e1 m7 with what is left of accepted");
    hears(2, "Prepare 2 e6 m1");
    did("send 2 Promise 1 e6 m1");
    sit_as(3, 2);
    starts_under(2);
    did("save e1; arm accepted 100; arm lease 100; disarm retry; arm round 100; arm beat 25; "
        "send 1,3 Prepare 2 e6 m1");
    sees("leads");
    shows(1, "lease");
}

static void an_incumbent_that_may_not_lead_is_none(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_as(3, 1);
    seat.cluster.roles = roles;
    starts_under(2);
    did("save e1; note keeps-silent; arm silence 100");
    sit_as(3, 1);
    seat_start(EL_RESTORED, 2); /* nor after a restart */
    did("save e1; note keeps-silent; arm silence 100");
}

/* ---- The acceptor ---- */

static void no_ballot_below_a_promise_is_answered(void **state)
{
    sit_free();
    hears(3, "Prepare 3 e11 m4");
    did("send 3 Promise 1 e11 m4");
    hears(2, "Prepare 2 e10 m9");
    did("note refuses-old 2; send 2 Refuse 1 e11 m10 with what is left of accepted");
    hears(2, "Propose 2 e10 m9");
    did("note refuses-old 2; send 2 Refuse 1 e11 m10 with what is left of accepted");
    hears(3, "Prepare 3 e11 m3"); /* an earlier life */
    did("note refuses-old 3; send 3 Refuse 1 e11 m11 with what is left of accepted");
    hears(3, "Prepare 3 e11 m4"); /* it did not hear us */
    did("send 3 Promise 1 e11 m4");
    hears(3, "Prepare 3 e11 m5");
    did("send 3 Promise 1 e11 m5");
    hears(3, "Propose 3 e11 m4");
    did("note refuses-old 3; send 3 Refuse 1 e11 m11 with what is left of accepted");
    hears(3, "Propose 3 e11 m5");
    did("note accepts 3; arm accepted 100; send 3 Accept 1 e11 m5");
    sees("elects");
}

static void who_has_accepted_refuses_others_and_promises_them_nothing(void **state)
{
    sit_free();
    hears(3, "Propose 3 e7 m1");
    did("note accepts 3; arm accepted 100; send 3 Accept 1 e7 m1");
    hears(2, "Prepare 2 e10 m1");
    did("note refuses-owned 2 3; send 2 Refuse 1 e7 m10 with what is left of accepted");
    campaigns();
    did("note holds-back");
    hears(3, "Propose 3 e7 m1"); /* so that the owner is not disturbed */
    did("arm accepted 100; send 3 Accept 1 e7 m1");
    hears(3, "Prepare 3 e11 m1");
    did("send 3 Promise 1 e11 m1");
    hears(2, "Propose 2 e14 m1"); /* a majority promised it, so 3 was accepted by a minority only */
    did("note accepts 2; arm accepted 100; send 2 Accept 1 e14 m1");
}

static void forgets_what_it_accepted_when_its_time_is_over(void **state)
{
    sit_free();
    hears(3, "Propose 3 e7 m1");
    times_out("accepted");
    did("disarm accepted; arm retry 0..30");
    sees("idle");
    hears(2, "Prepare 2 e10 m1");
    did("send 2 Promise 1 e10 m1");
}

static void acceptors_remember_for_longer_than_the_owner_counts(void **state)
{
    sit_as(3, 1);
    seat.cluster.drift = 100000; /* a tenth: 100 * 1.1 / 0.9 */
    starts();
    did("save e1; note keeps-silent; arm silence 123");
    times_out("silence");
    times_out("retry");
    did("note prepares 5; disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e5 m1");
    hears(2, "Promise 2 e5 m1");
    did("note proposes 5; send 2,3 Propose 1 e5 m1; note accepts 1; arm accepted 123");
    hears(2, "Propose 2 e6 m1");
    did("note accepts 2; arm accepted 123; send 2 Accept 1 e6 m1");
}

/* ---- The proposer ---- */

static void a_late_promise_is_no_acceptance(void **state)
{
    sit_proposing();
    hears(3, "Promise 3 e5 m1");
    did("");
    sees("elects");
    hears(3, "Accept 3 e5 m1");
    sees("leads");
    sit_preparing();
    hears(2, "Accept 2 e5 m1"); /* nobody honest could */
    did("");
    sees("elects");
}

static void answers_to_an_earlier_ballot_count_for_nothing(void **state)
{
    sit_as_owner();
    times_out("beat");
    did("disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e9 m1");
    hears(2, "Promise 2 e5 m1");
    did("note ignores-late 2");
    hears(2, "Promise 2 e9 m1");
    did("send 2,3 Propose 1 e9 m1; arm accepted 100");
    hears(2, "Accept 2 e5 m1");
    did("note ignores-late 2");
    hears(3, "Refuse 3 e5 m5");
    did("");
    hears(2, "Accept 2 e9 m1");
    did("move round to lease; send 2,3 Learn 1 e5 with what is left of lease");
    shows(5, "lease"); /* renewed, under the ballot by which it was got */
}

static void the_lease_counts_from_before_anybody_was_asked(void **state)
{
    sit_as_owner(); /* no timer was armed on the way but the acceptor's own */
    hears(3, "Accept 3 e5 m1");
    did("");
    times_out("beat");
    times_out("beat"); /* nobody answered: again, with a higher ballot, and the old lease still bounds it */
    did("disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e13 m1");
    shows(5, "lease");
    times_out("lease");
    did("note lapses; disarm lease; disarm round; disarm beat; disarm accepted; arm retry 0..30");
    hears(2, "Promise 2 e13 m1");
    did("");
    sees("idle");
}

static void alone_it_is_its_own_majority(void **state)
{
    sit_as(1, 1);
    starts();
    times_out("silence");
    campaigns();
    did("note prepares 3; disarm retry; arm round 100; arm beat 25; note proposes 3; note accepts 1; "
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
    hears(3, "Prepare 3 e7 m1");
    did("send 3 Promise 1 e7 m1");
    hears(2, "Promise 2 e5 m1");
    did("note proposes 5; send 2,3 Propose 1 e5 m1");
    hears(2, "Accept 2 e5 m1");
    did("");
    sees("elects");
    hears(3, "Accept 3 e5 m1");
    sees("leads");
    times_out("lease");
    did("note lapses; disarm lease; disarm round; disarm beat; arm retry 0..30");
    sit_preparing(); /* and if the rival was accepted meanwhile, it does not even promise */
    hears(3, "Propose 3 e7 m1");
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
    did("note prepares 25; disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e25 m1");
    sit_free();
    hears(3, "Learn 3 e9007199254740991");
    campaigns(); /* until they are used up */
    did("");
    sees("idle");
}

static void asks_again_whom_it_did_not_reach(void **state)
{
    sit_preparing();
    times_out("beat");
    did("send 2,3 Prepare 1 e5 m1; arm beat 25");
    campaigns();
    did("note is-busy");
    hears(2, "Promise 2 e5 m1");
    times_out("beat");
    did("send 2,3 Propose 1 e5 m1; arm beat 25");
}

static void gives_up_when_it_cannot_win(void **state)
{
    sit_preparing();
    hears(2, "Refuse 2 e7 a70 m5");
    did("");
    hears(2, "Refuse 2 e7 a80 m5"); /* the same refusal twice is one */
    did("");
    hears(3, "Refuse 3 e7 a20 m5");
    did("note fails 5; disarm lease; disarm round; disarm beat; send 2,3 Release 1 e5 m1; arm retry 80..110");
    sees("idle");
    hears(3, "Refuse 3 e7 a20 m5");
    did("");
    times_out("retry");
    did("note prepares 9; disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e9 m1");
    hears(2, "Promise 2 e9 m1");
    hears(2, "Refuse 2 e7 a0xffffffffffffffff m9"); /* believed up to what we would do ourselves */
    hears(3, "Refuse 3 e11 m9");
    did("note fails 9; disarm lease; disarm round; disarm beat; disarm accepted; send 2,3 Release 1 e9 m1; "
        "arm retry 100..130");
    sees("idle");
}

static void gives_up_when_its_time_is_over(void **state)
{
    sit_proposing();
    times_out("round");
    did("note fails 5; disarm lease; disarm round; disarm beat; disarm accepted; send 2,3 Release 1 e5 m1; "
        "arm retry 0..30");
    hears(2, "Accept 2 e5 m1");
    did("");
    sees("idle");
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
    did("disarm retry; arm round 100; arm beat 25; send 2,3 Prepare 1 e13 m1");
}

static void an_owner_accepts_nobody_else(void **state)
{
    sit_as_owner();
    hears(2, "Prepare 2 e10 m1");
    did("note refuses-owned 2 1; send 2 Refuse 1 e5 m10 with what is left of accepted");
    hears(2, "Propose 2 e10 m1");
    did("note refuses-owned 2 1; send 2 Refuse 1 e5 m10 with what is left of accepted");
    hears(2, "Learn 2 e10 a50");
    did("");
    hears(2, "Release 2 e10 m1");
    did("");
    sees("leads");
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
    hears(2, "Propose 2 e6 m1");
    did("note accepts 2; arm accepted 100; send 2 Accept 1 e6 m1");
    hears(2, "Release 1 e6 m1");
    did("note is-released 2; disarm accepted");
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
    did("note resigns; disarm lease; disarm round; disarm beat; disarm accepted; send 2,3 Release 1 e9 m1; "
        "arm retry 100..130");
    sees("idle");
    hears(2, "Promise 2 e9 m1");
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
    did("save e1; arm accepted 100; arm lease 100; disarm retry; arm round 100; arm beat 25; "
        "send 2,3,4,5 Prepare 1 e7 m1");
    hears(2, "Promise 2 e7 m1");
    hears(4, "Promise 4 e7 m1");
    requests(EL_TRANSFER, 1);
    did("note declined");
    requests(EL_TRANSFER, 4);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_NOT_ELIGIBLE);
    requests(EL_TRANSFER, 3);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_OUT_OF_TOUCH);
    hears(2, "Accept 2 e7 m1");
    hears(4, "Accept 4 e7 m1");
    hears(3, "Accept 3 e7 m1"); /* after the majority */
    did("");
    requests(EL_TRANSFER, 3);
    did("note hands-over 3; disarm lease; disarm round; disarm beat; disarm accepted; "
        "send 2,3,4,5 Release 3 e7 m1; arm retry 25..55");
    sees("idle");
    requests(EL_TRANSFER, 3);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_NOT_LEADING);
}

static void the_heir_prepares_at_once_and_others_hold_back(void **state)
{
    sit_free();
    hears(2, "Propose 2 e6 m1");
    hears(2, "Learn 2 e6 a60");
    hears(2, "Release 1 e6 m1");
    did("note is-released 2; disarm accepted; disarm learned; note is-heir 2; note prepares 9; disarm retry; "
        "arm round 100; arm beat 25; send 2,3 Prepare 1 e9 m1");
    sit_free();
    hears(2, "Learn 2 e6 a60");
    hears(2, "Release 3 e6 m1");
    did("note is-released 2; disarm learned; arm retry 25..55");
    sit_free();
    hears(2, "Propose 2 e6 m1");
    hears(2, "Release 2 e10 m1"); /* a renewal of which we never heard is over, too */
    did("note is-released 2; disarm accepted; arm retry 0..30");
    sees("idle");
    sit_preparing();
    hears(2, "Learn 2 e6 a60");
    hears(2, "Release 2 e6 m1"); /* it proposes already */
    did("note is-released 2; disarm learned");
}

static void an_heir_that_knows_another_owner_waits(void **state)
{
    sit_free();
    hears(2, "Propose 2 e6 m1");
    hears(3, "Learn 3 e7 a60");
    hears(2, "Release 1 e6 m1");
    did("note is-released 2; disarm accepted; arm retry 25..55");
    sees("follows 3");
}

static void only_what_that_life_got_accepted_is_released(void **state)
{
    sit_free();
    hears(2, "Propose 2 e10 m2");
    hears(2, "Learn 2 e10 a60");
    hears(2, "Release 2 e6 m2"); /* an earlier ballot */
    did("");
    hears(3, "Release 3 e11 m2"); /* somebody else's */
    did("");
    hears(2, "Release 2 e14 m1"); /* an earlier life, in which the numbers were higher */
    did("note is-released 2; disarm learned; arm retry 0..30");
    hears(3, "Prepare 3 e15 m1");
    did("note refuses-owned 3 2; send 3 Refuse 1 e10 m15 with what is left of accepted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_starts_keeps_silent_for_as_long_as_anything_lasts),
        cmocka_unit_test(each_start_has_a_number_of_its_own),
        cmocka_unit_test(a_restart_waits_for_the_longest_it_may_have_accepted_anything),
        cmocka_unit_test(a_lost_count_of_starts_is_drawn_at_random),
        cmocka_unit_test(all_begin_under_an_incumbent),
        cmocka_unit_test(an_incumbent_that_may_not_lead_is_none),
        cmocka_unit_test(no_ballot_below_a_promise_is_answered),
        cmocka_unit_test(who_has_accepted_refuses_others_and_promises_them_nothing),
        cmocka_unit_test(forgets_what_it_accepted_when_its_time_is_over),
        cmocka_unit_test(acceptors_remember_for_longer_than_the_owner_counts),
        cmocka_unit_test(a_late_promise_is_no_acceptance),
        cmocka_unit_test(answers_to_an_earlier_ballot_count_for_nothing),
        cmocka_unit_test(the_lease_counts_from_before_anybody_was_asked),
        cmocka_unit_test(alone_it_is_its_own_majority),
        cmocka_unit_test(an_acceptor_that_promised_a_rival_does_not_accept_its_own_proposer),
        cmocka_unit_test(goes_beyond_every_ballot_it_has_heard_of),
        cmocka_unit_test(asks_again_whom_it_did_not_reach),
        cmocka_unit_test(gives_up_when_it_cannot_win),
        cmocka_unit_test(gives_up_when_its_time_is_over),
        cmocka_unit_test(a_renewal_that_fails_is_tried_again),
        cmocka_unit_test(an_owner_accepts_nobody_else),
        cmocka_unit_test(an_ordinary_member_accepts_and_never_proposes),
        cmocka_unit_test(the_others_learn_who_holds_the_lease_and_how_long),
        cmocka_unit_test(news_of_an_earlier_owner_is_ignored),
        cmocka_unit_test(lets_go_first_and_releases_then),
        cmocka_unit_test(hands_over_to_whom_it_reaches),
        cmocka_unit_test(the_heir_prepares_at_once_and_others_hold_back),
        cmocka_unit_test(an_heir_that_knows_another_owner_waits),
        cmocka_unit_test(only_what_that_life_got_accepted_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
