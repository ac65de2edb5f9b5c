/*
 * Multi-Paxos, rule by rule: node 3 of five, so a majority is three. Ballots count in sixes: 7 to 11 are the first
 * round, 13 to 17 the second; 9 and 15 are ours. The timeout is 100, a heartbeat 30.
 */
#include "lib/node/record.h"

static void sit_down_as(uint32_t count, el_node self)
{
    sit("multi-paxos", count, self);
    option("timeout", 100);
    option("heartbeat", 30);
    option("check-quorum", 1);
}

static void follow_five(void)
{
    sit_down_as(5, 3);
    starts_under(5);
    did("arm patience 100..200");
    sees("follows 5");
    in_term(1);
}

static void open_a_ballot(void)
{
    follow_five();
    times_out("patience");
    did("note hears-nothing; note prepares 9; save e9; arm patience 100..200; send 1,2,4,5 Prepare 3 e9");
    saved(9, 0, 0, 0);
    sees("elects");
    in_term(9);
}

static void become_leader(void)
{
    open_a_ballot();
    hears(1, "Promise 1 e9");
    did("");
    hears(2, "Promise 2 e9");
    did("note leads 9; arm patience 200; arm heartbeat 30; send 1,2,4,5 Accept 3 e9 a1");
    sees("leads");
    in_term(9);
}

static void declined(void)
{
    assert_int_equal(strncmp(seat_text(), "note declined", 13), 0);
    sees(seat.cfg.self == 3 ? "leads" : "idle");
}

/* ---- The leader ---- */

static void without_an_incumbent_it_waits_for_its_timeout(void **state)
{
    sit_down_as(5, 3);
    starts();
    did("arm patience 100..200");
    sees("idle");
    times_out("patience");
    did("note hears-nothing; note prepares 9; save e9; arm patience 100..200; send 1,2,4,5 Prepare 3 e9");
}

static void the_incumbent_leads_below_every_ballot(void **state)
{
    sit_down_as(5, 3);
    starts_under(3);
    did("note leads 1; arm patience 200; arm heartbeat 30; send 1,2,4,5 Accept 3 e1 a1");
    sees("leads");
    in_term(1);
    follow_five();
    hears(5, "Accept 5 e1 a1");
    did("arm patience 100..200; send 5 Accepted 3 e1 a1");
}

static void the_second_majority_is_noted_once_a_tenure(void **state)
{
    become_leader();
    hears(1, "Accepted 1 e9 a1");
    did("");
    hears(2, "Accepted 2 e9 a1");
    did("note commits 1; arm patience 200");
    hears(4, "Accepted 4 e9 a1");
    did("");
    times_out("heartbeat");
    did("arm heartbeat 30; send 1,2,4,5 Accept 3 e9 a2");
    hears(1, "Accepted 1 e9 a2");
    hears(4, "Accepted 4 e9 a2");
    did("arm patience 200");
}

static void a_slot_is_repeated_until_it_is_chosen(void **state)
{
    become_leader();
    hears(1, "Accepted 1 e9 a1");
    times_out("heartbeat");
    did("arm heartbeat 30; send 1,2,4,5 Accept 3 e9 a1");
    hears(1, "Accepted 1 e9 a1"); /* each voter counts once */
    did("");
    hears(5, "Accepted 5 e9 a1");
    did("note commits 1; arm patience 200");
    times_out("heartbeat");
    did("arm heartbeat 30; send 1,2,4,5 Accept 3 e9 a2");
    hears(1, "Accepted 1 e9 a1"); /* of the slot before */
    hears(2, "Accepted 2 e9 a1");
    hears(4, "Accepted 4 e9 a1");
    did("");
}

static void a_late_promise_is_no_acceptance(void **state)
{
    become_leader();
    hears(4, "Promise 4 e9");
    did("note stale 4");
    hears(5, "Promise 5 e9");
    did("note stale 5");
    hears(1, "Accepted 1 e9 a1");
    did("");
}

static void a_voter_promises_once(void **state)
{
    open_a_ballot();
    for (int copy = 0; copy < 4; copy++) {
        hears(1, "Promise 1 e9");
        did("");
    }
    hears(2, "Accepted 2 e9 a1");
    did("");
    sees("elects");
}

static void replies_to_an_older_ballot_do_not_count(void **state)
{
    open_a_ballot();
    times_out("patience");
    did("note hears-nothing; note prepares 15; save e15; arm patience 200..400; send 1,2,4,5 Prepare 3 e15");
    hears(1, "Promise 1 e9");
    did("note stale 1");
    hears(2, "Nack 2 e10 a9");
    did("note stale 2");
    hears(1, "Promise 1 e15");
    hears(2, "Promise 2 e15");
    did("note leads 15; arm patience 200; arm heartbeat 30; send 1,2,4,5 Accept 3 e15 a1");
    hears(1, "Accepted 1 e9 a1");
    hears(2, "Accepted 2 e9 a1");
    did("");
}

static void alone_it_leads_at_once(void **state)
{
    sit_down_as(1, 1);
    starts();
    times_out("patience");
    did("note hears-nothing; note prepares 3; save e3; arm patience 100..200; note leads 3; arm patience 200; "
        "arm heartbeat 30; note commits 1; arm patience 200");
    times_out("heartbeat");
    did("arm heartbeat 30; arm patience 200");
    sees("leads");
}

static void a_leader_without_a_majority_steps_down(void **state)
{
    become_leader();
    times_out("patience");
    did("note no-quorum; disarm heartbeat; arm patience 100..200");
    sees("idle");
    times_out("patience");
    did("note hears-nothing; note prepares 15; save e15; arm patience 200..400; send 1,2,4,5 Prepare 3 e15");
}

static void unless_nobody_checks(void **state)
{
    sit_down_as(5, 3);
    option("check-quorum", 0);
    starts_under(3);
    did("note leads 1; disarm patience; arm heartbeat 30; send 1,2,4,5 Accept 3 e1 a1");
    hears(1, "Accepted 1 e1 a1");
    hears(2, "Accepted 2 e1 a1");
    did("note commits 1; disarm patience");
}

/* ---- Being outbid ---- */

static void a_leader_learns_by_a_nack(void **state)
{
    become_leader();
    hears(1, "Nack 1 e9 a9"); /* nothing higher */
    did("note stale 1");
    hears(1, "Nack 1 e17 a9");
    did("note deposed 1 17; disarm heartbeat; save e17; arm patience 200..400");
    saved(17, 0, 0, 0);
    sees("idle");
    hears(2, "Nack 2 e17 a9");
    did("note stale 2");
    times_out("patience");
    did("note hears-nothing; note prepares 21; save e21; arm patience 200..400; send 1,2,4,5 Prepare 3 e21");
}

static void a_proposer_that_is_outbid_backs_off(void **state)
{
    open_a_ballot();
    hears(1, "Nack 1 e10 a9");
    did("note outbid 1 10; save e10; arm patience 200..400");
    times_out("patience");
    hears(1, "Nack 1 e16 a15");
    did("note outbid 1 16; save e16; arm patience 400..800");
    times_out("patience");
    hears(1, "Nack 1 e22 a21");
    did("note outbid 1 22; save e22; arm patience 400..800"); /* four times the timeout is enough */
    hears(4, "Accept 4 e22 a1");
    did("note learns 4 22; arm patience 100..200; send 4 Accepted 3 e22 a1");
    times_out("patience");
    did("note hears-nothing; note prepares 27; save e27; arm patience 100..200; send 1,2,4,5 Prepare 3 e27");
}

static void without_back_off_it_bids_again_at_once(void **state)
{
    sit_down_as(5, 3);
    option("back-off", 1);
    starts();
    hears(4, "Prepare 4 e10"); /* a follower has no bid to defend */
    did("save e10; arm patience 100..200; note promises 4 10; send 4 Promise 3 e10");
    campaigns();
    did("note prepares 15; save e15; arm patience 100..200; send 1,2,4,5 Prepare 3 e15");
    hears(4, "Nack 4 e16 a15");
    did("note duel 4 16; save e16; arm patience 200..400; note prepares 21; save e21; arm patience 200..400; "
        "send 1,2,4,5 Prepare 3 e21");
    hears(4, "Prepare 4 e22");
    did("note duel 4 22; save e22; arm patience 400..800; note promises 4 22; send 4 Promise 3 e22; "
        "note prepares 27; save e27; arm patience 400..800; send 1,2,4,5 Prepare 3 e27");
    hears(1, "Promise 1 e27");
    hears(2, "Promise 2 e27");
    sees("leads");
    hears(4, "Prepare 4 e28");
    did("note duel 4 28; disarm heartbeat; save e28; arm patience 400..800; note promises 4 28; "
        "send 4 Promise 3 e28; note prepares 33; save e33; arm patience 400..800; send 1,2,4,5 Prepare 3 e33");
    hears(4, "Accept 4 e34 a1"); /* the other has made it */
    did("note learns 4 34; save e34; arm patience 100..200; send 4 Accepted 3 e34 a1");
}

/* ---- The acceptor ---- */

static void a_promise_is_saved_before_it_is_given(void **state)
{
    follow_five();
    hears(4, "Prepare 4 e10");
    did("save e10; arm patience 100..200; note promises 4 10; send 4 Promise 3 e10");
    saved(10, 0, 0, 0);
    sees("idle");
    in_term(10);
    hears(4, "Prepare 4 e10"); /* a copy: it is saved already */
    did("note promises 4 10; send 4 Promise 3 e10");
    hears(2, "Prepare 2 e8");
    did("note refuses 2 10; send 2 Nack 3 e10 a8");
    hears(5, "Accept 5 e1 a3");
    did("note refuses 5 10; send 5 Nack 3 e10 a1");
    hears(4, "Accept 4 e10 a1");
    did("note learns 4 10; arm patience 100..200; send 4 Accepted 3 e10 a1");
    sees("follows 4");
}

static void to_accept_is_to_promise(void **state)
{
    follow_five();
    hears(4, "Accept 4 e10 a7");
    did("note learns 4 10; save e10; arm patience 100..200; send 4 Accepted 3 e10 a7");
    saved(10, 0, 0, 0);
    hears(4, "Accept 4 e10 a8");
    did("arm patience 100..200; send 4 Accepted 3 e10 a8");
}

static void a_higher_ballot_ends_its_own(void **state)
{
    open_a_ballot();
    hears(4, "Prepare 4 e10");
    did("note outbid 4 10; save e10; arm patience 200..400; note promises 4 10; send 4 Promise 3 e10");
    hears(1, "Promise 1 e9");
    did("note stale 1");
    become_leader();
    hears(4, "Prepare 4 e10");
    did("note deposed 4 10; disarm heartbeat; save e10; arm patience 200..400; note promises 4 10; "
        "send 4 Promise 3 e10");
    become_leader();
    hears(4, "Accept 4 e10 a1");
    did("note deposed 4 10; note learns 4 10; save e10; disarm heartbeat; arm patience 100..200; "
        "send 4 Accepted 3 e10 a1");
    sees("follows 4");
}

/* ---- Calls, suspicions, requests ---- */

static void a_call_opens_a_ballot_unless_it_leads(void **state)
{
    follow_five();
    campaigns();
    did("note prepares 9; save e9; arm patience 100..200; send 1,2,4,5 Prepare 3 e9");
    become_leader();
    campaigns();
    did("note call-ignored");
}

static void a_suspicion_is_acted_on_sooner(void **state)
{
    follow_five();
    suspects(4);
    did("");
    suspects(5);
    did("arm patience 0..100");
    sees("follows 5");
}

static void an_ordinary_member_opens_no_ballot(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE};
    sit_down_as(5, 2);
    seat.cluster.roles = roles;
    starts_under(5);
    campaigns();
    did("note call-ignored");
    hears(5, "TakeOver 5 e1");
    did("");
    times_out("patience");
    did("note hears-nothing");
    sees("idle");
    hears(4, "Prepare 4 e10");
    did("save e10; arm patience 100..200; note promises 4 10; send 4 Promise 2 e10");
}

static void resigning_hurries_the_others(void **state)
{
    become_leader();
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns 9; send 1,2,4,5 Resign 3 e9; disarm heartbeat; arm patience 200..400");
    sees("idle");
    follow_five();
    hears(4, "Resign 4 e1");
    did("");
    hears(5, "Resign 5 e2");
    did("");
    hears(5, "Resign 5 e1");
    did("note hears-resign 5; arm patience 0..100");
    sees("idle");
}

static void leadership_is_handed_to_one_in_touch(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE};
    become_leader();
    seat.cluster.roles = roles;
    requests(EL_TRANSFER, 3);
    declined();
    requests(EL_TRANSFER, 2);
    declined();
    requests(EL_TRANSFER, 4);
    declined();
    hears(4, "Accepted 4 e9 a1");
    hears(1, "Accepted 1 e9 a1");
    times_out("heartbeat");
    hears(5, "Accepted 5 e9 a1"); /* too late to be in touch */
    requests(EL_TRANSFER, 5);
    declined();
    requests(EL_TRANSFER, 4); /* heard of in the slot before */
    did("note hands-over 4; send 4 TakeOver 3 e9; disarm heartbeat; arm patience 200..400");
    sees("idle");
    become_leader();
    hears(1, "Accepted 1 e9 a1");
    requests(EL_TRANSFER, 1); /* and in this one */
    did("note hands-over 1; send 1 TakeOver 3 e9; disarm heartbeat; arm patience 200..400");
}

static void whoever_is_told_takes_over(void **state)
{
    follow_five();
    hears(4, "TakeOver 4 e1");
    did("");
    hears(5, "TakeOver 5 e9");
    did("");
    hears(5, "TakeOver 5 e1");
    did("note told-to-lead 5; note prepares 9; save e9; arm patience 100..200; send 1,2,4,5 Prepare 3 e9");
}

static void only_a_leader_can_be_asked(void **state)
{
    sit_down_as(5, 2);
    starts();
    requests(EL_RESIGN, EL_NOBODY);
    declined();
    requests(EL_TRANSFER, 4);
    declined();
    become_leader();
    requests((enum el_request_what)7, EL_NOBODY);
    declined();
}

/* ---- Coming back ---- */

static void remembers_its_promise(void **state)
{
    sit_down_as(5, 3);
    comes_back_with(16, 0, 0, 0);
    did("arm patience 100..200");
    sees("idle");
    hears(1, "Prepare 1 e13");
    did("note refuses 1 16; send 1 Nack 3 e16 a13");
    times_out("patience");
    did("note hears-nothing; note prepares 21; save e21; arm patience 100..200; send 1,2,4,5 Prepare 3 e21");
    sit_down_as(5, 3);
    comes_back(); /* having promised nothing */
    did("arm patience 100..200");
    hears(5, "Accept 5 e1 a4");
    did("note learns 5 1; save e1; arm patience 100..200; send 5 Accepted 3 e1 a4");
}

static void who_forgot_its_promises_only_follows(void **state)
{
    sit_down_as(5, 3);
    comes_back_without_its_record();
    did("save e0; arm patience 100..200");
    saved(0, 1, 0, 0);
    hears(4, "Prepare 4 e10");
    did("note forgot");
    hears(4, "Accept 4 e10 a1");
    did("note learns 4 10; arm patience 100..200");
    sees("follows 4");
    hears(5, "Accept 5 e1 a1");
    did("note refuses 5 10; send 5 Nack 3 e10 a1");
    campaigns();
    did("note call-ignored");
    times_out("patience");
    did("note hears-nothing");
    sees("idle");
    sit_down_as(5, 3);
    comes_back_with(0, 1, 0, 0);
    did("save e0; arm patience 100..200");
    hears(4, "Prepare 4 e10");
    did("note forgot");
}

/* ---- What nobody honest says ---- */

static void ballots_belong_to_their_proposers(void **state)
{
    follow_five();
    hears(4, "Prepare 4 e9");
    did("note bad-ballot 4");
    hears(4, "Accept 4 e11");
    did("note bad-ballot 4");
    hears(4, "Prepare 4 e1");
    did("note bad-ballot 4");
    sees("follows 5");
}

static void numbers_can_run_out(void **state)
{
    follow_five();
    hears(4, "Prepare 4 e9007199254740988");
    times_out("patience");
    did("note hears-nothing; note out-of-numbers");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_incumbent_it_waits_for_its_timeout),
        cmocka_unit_test(the_incumbent_leads_below_every_ballot),
        cmocka_unit_test(the_second_majority_is_noted_once_a_tenure),
        cmocka_unit_test(a_slot_is_repeated_until_it_is_chosen),
        cmocka_unit_test(a_late_promise_is_no_acceptance),
        cmocka_unit_test(a_voter_promises_once),
        cmocka_unit_test(replies_to_an_older_ballot_do_not_count),
        cmocka_unit_test(alone_it_leads_at_once),
        cmocka_unit_test(a_leader_without_a_majority_steps_down),
        cmocka_unit_test(unless_nobody_checks),
        cmocka_unit_test(a_leader_learns_by_a_nack),
        cmocka_unit_test(a_proposer_that_is_outbid_backs_off),
        cmocka_unit_test(without_back_off_it_bids_again_at_once),
        cmocka_unit_test(a_promise_is_saved_before_it_is_given),
        cmocka_unit_test(to_accept_is_to_promise),
        cmocka_unit_test(a_higher_ballot_ends_its_own),
        cmocka_unit_test(a_call_opens_a_ballot_unless_it_leads),
        cmocka_unit_test(a_suspicion_is_acted_on_sooner),
        cmocka_unit_test(an_ordinary_member_opens_no_ballot),
        cmocka_unit_test(resigning_hurries_the_others),
        cmocka_unit_test(leadership_is_handed_to_one_in_touch),
        cmocka_unit_test(whoever_is_told_takes_over),
        cmocka_unit_test(only_a_leader_can_be_asked),
        cmocka_unit_test(remembers_its_promise),
        cmocka_unit_test(who_forgot_its_promises_only_follows),
        cmocka_unit_test(ballots_belong_to_their_proposers),
        cmocka_unit_test(numbers_can_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
