/*
 * Chubby, rule by rule: node 1 of three, so that two are a majority. The lease is 100, a heartbeat 25, and who
 * stands waits for up to 30 more. With clocks that are all true, a promise is as long as a lease.
 */
#include "node.h"

static void sit_as(uint32_t count, el_node self)
{
    sit("chubby", count, self);
    option("lease", 100);
    option("heartbeat", 25);
    option("retry", 30);
}

static void starts_again_with(uint64_t term, el_node vote, uint64_t longest, uint64_t voteless)
{
    struct el_event event = {.type = EL_START};
    event.start =
        (struct el_start){.how = EL_RESTORED, .durable = {.epoch = term, .word = {vote, longest, voteless}}};
    seat_step(&event);
}

/* The last step saved exactly this, once, and before it sent anything. */
static void saved(uint64_t term, el_node vote, uint64_t longest, uint64_t voteless)
{
    uint32_t saves = 0, sends = 0;
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        sends += action->type == EL_SEND;
        if (action->type != EL_SAVE) continue;
        saves++;
        assert_int_equal(sends, 0);
        assert_int_equal(action->durable.epoch, term);
        assert_int_equal(action->durable.word[0], vote);
        assert_int_equal(action->durable.word[1], longest);
        assert_int_equal(action->durable.word[2], voteless);
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
    times_out("promise");
    did("note is-free; disarm lease; disarm round; disarm beat; disarm promise; arm retry 0..30");
    sees("idle");
}

static void sit_standing(void)
{
    sit_free();
    times_out("retry");
    did("note stands 1; save e1; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e1");
    saved(1, 1, 100, 0);
    sees("elects");
    shows(1, "none");
}

static void sit_as_master(void)
{
    sit_standing();
    hears(2, "Vote 2 e1");
    did("note wins 1; move round to lease; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Renew 1 e1 m1");
    sees("leads");
    shows(1, "lease");
}

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

static void promises_outlast_leases_by_the_drift(void **state)
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

/* ---- Leading ---- */

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

/* ---- Following ---- */

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
    requests(EL_TRANSFER, 1);
    did("note declined");
    requests(EL_TRANSFER, 4);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_NOT_ELIGIBLE);
    requests(EL_TRANSFER, 3);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_OUT_OF_TOUCH);
    times_out("beat");
    hears(3, "Ack 3 e1 m2");
    requests(EL_TRANSFER, 2); /* it answered the round before */
    did("note hands-over 2; disarm lease; disarm round; disarm beat; disarm promise; "
        "send 2,3,4,5 Release 2 e1; arm retry 25..55");
    sees("idle");
    requests(EL_TRANSFER, 2);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], EL_NOT_LEADING);
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
        cmocka_unit_test(promises_outlast_leases_by_the_drift),
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
