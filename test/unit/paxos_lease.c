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

static void starts_again_with(uint64_t block, uint64_t longest, uint64_t mute)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = EL_RESTORED, .durable = {.epoch = block, .word = {longest, mute}}};
    seat_step(&event);
}

/* The last step saved this, once, and before it sent anything. */
static void saved(uint64_t block, uint64_t longest, uint64_t mute)
{
    uint32_t saves = 0, sends = 0;
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        sends += action->type == EL_SEND;
        if (action->type != EL_SAVE) continue;
        saves++;
        assert_int_equal(sends, 0);
        assert_int_equal(action->durable.epoch, block);
        assert_int_equal(action->durable.word[0], longest);
        assert_int_equal(action->durable.word[1], mute);
    }
    assert_int_equal(saves, 1);
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
    did("disarm retry; arm round 100; arm beat 25; note prepares 5; send 2,3 Prepare 1 e5");
    sees("elects");
    shows(0, "none");
}

static void sit_proposing(void)
{
    sit_preparing();
    hears(2, "Promise 2 e5"); /* the round's timer runs on: it was armed before anybody was asked */
    did("note proposes 5; send 2,3 Propose 1 e5; note accepts 1; arm accepted 100");
}

static void sit_as_owner(void)
{
    sit_proposing();
    hears(2, "Accept 2 e5");
    did("move round to lease; disarm learned; note holds 5; send 2,3 Learn 1 e5 with what is left of lease");
    sees("leads");
    shows(5, "lease");
}

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
    requests(EL_TRANSFER, 1);
    did("note declined");
    requests(EL_TRANSFER, 4);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_NOT_ELIGIBLE);
    requests(EL_TRANSFER, 3);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_OUT_OF_TOUCH);
    hears(3, "Renewed 3 e7"); /* after the majority */
    did("");
    times_out("beat"); /* that was the round before */
    requests(EL_TRANSFER, 3);
    did("note hands-over 3; disarm lease; disarm round; disarm beat; disarm accepted; "
        "send 2,3,4,5 Release 3 e13; arm retry 25..55");
    sees("idle");
    requests(EL_TRANSFER, 3);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_NOT_LEADING);
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
        cmocka_unit_test(a_late_promise_is_no_acceptance),
        cmocka_unit_test(answers_to_an_earlier_ballot_count_for_nothing),
        cmocka_unit_test(the_lease_counts_from_before_anybody_was_asked),
        cmocka_unit_test(an_acceptor_renews_whom_it_accepted_or_whom_nobody_has_displaced),
        cmocka_unit_test(alone_it_is_its_own_majority),
        cmocka_unit_test(an_acceptor_that_promised_a_rival_does_not_accept_its_own_proposer),
        cmocka_unit_test(goes_beyond_every_ballot_it_has_heard_of),
        cmocka_unit_test(asks_again_whom_it_did_not_reach),
        cmocka_unit_test(gives_up_when_it_cannot_win),
        cmocka_unit_test(gives_up_when_its_time_is_over),
        cmocka_unit_test(a_renewal_that_fails_is_tried_again),
        cmocka_unit_test(an_owner_accepts_nobody_else),
        cmocka_unit_test(an_owner_that_is_released_from_another_leads_on),
        cmocka_unit_test(an_ordinary_member_accepts_and_never_proposes),
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
