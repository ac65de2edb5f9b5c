/* Raft, rule by rule: how node 3 of five leads, loses its office, and hands it over. */
#include "lib/node/raft.h"

static void sit_as_leader(void)
{
    sit_in_raft(5, 3);
    wins_term_1();
}

/* ---- Leading ---- */

static void beats_as_long_as_it_leads(void **state)
{
    sit_as_leader();
    times_out("beat");
    did("send 1,2,4,5 Beat 3 e1; arm beat 30");
    times_out("loyalty"); /* to whom it followed before */
    did("");
    sees("leads");
}

static void helps_nobody_against_itself(void **state)
{
    sit_as_leader();
    hears(2, "PreVote 2 e2");
    did("note leads-already 2; send 2 Refuse 3 e1");
    hears(2, "Vote 2 e2");
    did("note leads-already 2");
    hears(2, "Vote 2 e1");
    did("note leads-already 2");
    sees("leads");
}

static void gives_way_to_one_that_it_told_to_stand(void **state)
{
    sit_as_leader();
    hears(2, "Vote 2 e2 f1");
    did("note steps-down 2; disarm beat; disarm quorum; disarm handover; arm election 100..200; "
        "note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
    saved_vote(2, 2);
    sees("idle");
}

static void in_plain_raft_any_later_candidate_deposes_it(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "Grant 1 e1");
    hears(2, "Grant 2 e1");
    did("note wins 3 1; disarm election; send 1,2,4,5 Beat 3 e1; arm beat 30"); /* and counts nobody */
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
    sees("leads");
    hears(2, "Vote 2 e2");
    did("note steps-down 2; disarm beat; disarm quorum; disarm handover; arm election 100..200; "
        "note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
}

static void a_later_term_deposes_it(void **state)
{
    sit_as_leader();
    hears(2, "Refuse 2 e1");
    did("");
    hears(2, "BeatAck 2 e4");
    did("note steps-down 4; disarm beat; disarm quorum; disarm handover; arm election 100..200; save e4");
    saved_vote(4, EL_NOBODY);
    sees("idle");
    sit_as_leader();
    hears(2, "Beat 2 e4");
    did("note steps-down 4; disarm beat; disarm quorum; disarm handover; arm election 100..200; save e4; "
        "note learns 2 4; arm election 100..200; arm loyalty 100; send 2 BeatAck 3 e4");
    sees("follows 2");
}

static void does_not_follow_a_second_leader_of_its_own_term(void **state)
{
    sit_as_leader();
    hears(2, "Beat 2 e1");
    did("");
    sees("leads");
}

/* ---- Check-quorum ---- */

static void leads_on_while_it_hears_from_a_majority(void **state)
{
    sit_as_leader();
    hears(1, "BeatAck 1 e1");
    hears(1, "BeatAck 1 e1");
    hears(5, "BeatAck 5 e1");
    did("");
    times_out("quorum");
    did("arm quorum 100");
    sees("leads");
}

static void steps_down_when_it_hears_from_too_few(void **state)
{
    sit_as_leader();
    hears(1, "BeatAck 1 e1");
    hears(1, "BeatAck 1 e1");
    hears(5, "BeatAck 5 e0"); /* of another term */
    hears(4, "Refuse 4 e1");
    hears(2, "PreVote 2 e2");
    times_out("quorum");
    did("note lost-quorum; disarm beat; disarm quorum; disarm handover; arm election 100..200");
    sees("idle");
}

static void what_it_heard_before_it_counted_is_forgotten(void **state)
{
    sit_as_leader();
    hears(1, "BeatAck 1 e1");
    hears(2, "BeatAck 2 e1");
    times_out("quorum");
    hears(1, "BeatAck 1 e1");
    times_out("quorum");
    did("note lost-quorum; disarm beat; disarm quorum; disarm handover; arm election 100..200");
}

static void what_it_heard_in_an_earlier_office_does_not_count(void **state)
{
    sit_as_leader();
    for (el_node peer = 1; peer <= 2; peer++) hears(peer, peer == 1 ? "BeatAck 1 e1" : "BeatAck 2 e1");
    hears(4, "Refuse 4 e2");
    option("prevote", 0);
    times_out("election");
    hears(4, "Grant 4 e3");
    hears(5, "Grant 5 e3");
    sees("leads");
    requests(EL_TRANSFER, 1);
    did("note declined");
    times_out("quorum");
    did("note lost-quorum; disarm beat; disarm quorum; disarm handover; arm election 100..200");
}

static void its_vote_stays_given_when_it_steps_down_within_a_term(void **state)
{
    sit_as_leader();
    times_out("quorum");
    sees("idle");
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
    sit_as_leader();
    requests(EL_RESIGN, EL_NOBODY);
    hears(2, "Vote 2 e1");
    did("note voted-already 2 1; send 2 Refuse 3 e1");
    hears(2, "PreVote 2 e2"); /* but it may help with the next */
    did("note would-vote 2 2; send 2 PreGrant 3 e2");
}

static void a_late_vote_does_not_bring_it_back(void **state)
{
    sit_as_leader();
    times_out("quorum");
    hears(1, "Grant 1 e1"); /* as many as it would take */
    hears(4, "Grant 4 e1");
    hears(5, "Grant 5 e1");
    hears(5, "BeatAck 5 e1");
    did("");
    sees("idle");
}

static void in_plain_raft_it_leads_on_without_a_majority(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "Grant 1 e1");
    hears(2, "Grant 2 e1");
    for (unsigned beats = 0; beats < 20; beats++) {
        times_out("beat");
        did("send 1,2,4,5 Beat 3 e1; arm beat 30");
    }
    sees("leads");
}

static void counts_a_large_cluster(void **state)
{
    sit_in_raft(130, 3);
    option("prevote", 0);
    starts();
    times_out("election");
    char grant[32], ack[32];
    for (el_node peer = 66; peer <= 130; peer++) {
        sees("elects");
        snprintf(grant, sizeof grant, "Grant %u e1", peer);
        hears(peer, grant);
    }
    sees("leads");
    for (el_node peer = 66; peer <= 130; peer++) {
        snprintf(ack, sizeof ack, "BeatAck %u e1", peer);
        hears(peer, ack);
    }
    times_out("quorum");
    did("arm quorum 100");
    requests(EL_TRANSFER, 130);
    did("note hands-over 130; send 130 TimeoutNow 3 e1; arm handover 100");
}

/* ---- Handing over ---- */

static void tells_its_heir_to_stand_at_once(void **state)
{
    sit_as_leader();
    hears(4, "BeatAck 4 e1");
    requests(EL_TRANSFER, 4);
    did("note hands-over 4; send 4 TimeoutNow 3 e1; arm handover 100");
    sees("leads"); /* until the heir has been voted for */
    times_out("handover");
    did("note handover-failed 4");
    sees("leads");
    requests(EL_TRANSFER, 4);
    did("note hands-over 4; send 4 TimeoutNow 3 e1; arm handover 100");
}

static void what_it_cannot_do_it_declines(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE};
    const struct {
        enum el_request_what what;
        el_node to;
        enum el_answer answer;
    } asked[] = {
        {EL_TRANSFER, 3, EL_NOT_ELIGIBLE}, {EL_TRANSFER, 2, EL_NOT_ELIGIBLE},
        {EL_TRANSFER, 1, EL_OUT_OF_TOUCH}, {EL_TRANSFER, 4, EL_PERFORMED},
        {EL_TRANSFER, 5, EL_UNDER_WAY},    {EL_TRANSFER, 4, EL_UNDER_WAY},
        {EL_RESIGN, 0, EL_PERFORMED},      {EL_RESIGN, 0, EL_NOT_LEADING},
        {EL_TRANSFER, 4, EL_NOT_LEADING},  {EL_TRANSFER + 1, 0, EL_UNKNOWN_HERE},
    };
    sit_in_raft(5, 3);
    seat.cluster.roles = roles;
    wins_term_1();
    hears(2, "BeatAck 2 e1");
    hears(4, "BeatAck 4 e1");
    hears(5, "BeatAck 5 e1");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        requests(asked[i].what, asked[i].to);
        const struct el_action *first = &seat.out.actions[0];
        const bool declined = first->type == EL_NOTE && first->note == EL_NOTE_DECLINED;
        if (declined) did("note declined"); /* and nothing else was done */
        assert_int_equal(declined ? first->values[1] : EL_PERFORMED, asked[i].answer);
    }
}

static void being_in_touch_wears_off(void **state)
{
    sit_as_leader();
    hears(4, "BeatAck 4 e1");
    for (unsigned count = 0; count < 2; count++) {
        hears(1, "BeatAck 1 e1");
        hears(2, "BeatAck 2 e1");
        times_out("quorum");
        did("arm quorum 100");
        requests(EL_TRANSFER, 4);
        did(count ? "note declined" : "note hands-over 4; send 4 TimeoutNow 3 e1; arm handover 100");
        times_out("handover");
    }
}

static void in_plain_raft_whoever_is_named_may_be_the_heir(void **state)
{
    sit_in_plain_raft(5, 3);
    starts();
    times_out("election");
    hears(1, "Grant 1 e1");
    hears(2, "Grant 2 e1");
    requests(EL_TRANSFER, 4); /* of whom it has not heard, nor would it listen */
    did("note hands-over 4; send 4 TimeoutNow 3 e1; arm handover 100");
    sees("leads");
}

/* 5 would be the best, and may not lead. */
static void sit_as_leader_above_1_4_2_5(void)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY};
    static const uint64_t attributes[] = {1, 7, 9, 6, 9};
    sit_in_raft(5, 3);
    seat.cluster.roles = roles;
    seat.cluster.attributes = attributes;
    wins_term_1();
    hears(1, "BeatAck 1 e1");
    hears(5, "BeatAck 5 e1");
    hears(4, "BeatAck 4 e1");
}

static void resigns_in_favour_of_the_best_it_has_heard_of(void **state)
{
    sit_as_leader_above_1_4_2_5();
    hears(2, "BeatAck 2 e1");
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns 1; note hands-over 2; send 2 TimeoutNow 3 e1; disarm beat; disarm quorum; "
        "disarm handover; arm election 100..200");
    sees("idle");
    hears(2, "Vote 2 e2 f1");
    did("note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
    sit_as_leader_above_1_4_2_5();
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns 1; note hands-over 4; send 4 TimeoutNow 3 e1; disarm beat; disarm quorum; "
        "disarm handover; arm election 100..200");
}

static void resigns_although_nobody_can_take_over(void **state)
{
    sit_as_leader();
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns 1; disarm beat; disarm quorum; disarm handover; arm election 100..200");
    sees("idle");
}

static void resigning_ends_a_hand_over(void **state)
{
    sit_as_leader();
    hears(4, "BeatAck 4 e1");
    requests(EL_TRANSFER, 4);
    requests(EL_RESIGN, EL_NOBODY);
    option("prevote", 0);
    times_out("election");
    hears(1, "Grant 1 e2");
    hears(2, "Grant 2 e2");
    hears(5, "BeatAck 5 e2");
    requests(EL_TRANSFER, 5);
    did("note hands-over 5; send 5 TimeoutNow 3 e2; arm handover 100");
}

/* ---- Taking over ---- */

static void an_heir_stands_without_asking_around(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    hears(1, "TimeoutNow 1 e1");
    did("note told-to-stand 1; note stands 2; save e2; send 1,2,4,5 Vote 3 e2 f1; arm election 100..200");
    saved_vote(2, 3);
    sees("elects");
    hears(1, "Grant 1 e2");
    hears(2, "Grant 2 e2");
    sees("leads");
}

static void only_its_leader_can_tell_it_to_stand(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    hears(2, "TimeoutNow 2 e1");
    did("");
    hears(1, "TimeoutNow 1 e0");
    did("");
    hears(1, "TimeoutNow 1 e2");
    did("");
    sees("follows 1");
}

static void the_others_are_not_loyal_to_a_leader_that_hands_over(void **state)
{
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    hears(2, "Vote 2 e2 f1");
    did("note votes 2 2; save e2; arm election 100..200; send 2 Grant 3 e2");
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    hears(2, "PreVote 2 e2 f1"); /* no pre-vote is hurried */
    did("note loyal 2; send 2 Refuse 3 e1");
}

static void an_heir_is_hurried_once(void **state)
{
    sit_in_raft(5, 3);
    option("prevote", 0);
    follows_1_in_term_1();
    hears(1, "TimeoutNow 1 e1");
    times_out("election");
    did("note stands 3; save e3; send 1,2,4,5 Vote 3 e3; arm election 100..200");
    sit_in_raft(5, 3);
    follows_1_in_term_1();
    hears(1, "TimeoutNow 1 e1");
    campaigns();
    hears(1, "PreGrant 1 e3");
    hears(2, "PreGrant 2 e3");
    did("note stands 3; save e3; send 1,2,4,5 Vote 3 e3; arm election 100..200");
    sit_in_raft(5, 3);
    option("prevote", 0);
    follows_1_in_term_1();
    hears(1, "TimeoutNow 1 e1");
    hears(2, "Beat 2 e2");
    times_out("election");
    did("note stands 3; save e3; send 1,2,4,5 Vote 3 e3; arm election 100..200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beats_as_long_as_it_leads),
        cmocka_unit_test(helps_nobody_against_itself),
        cmocka_unit_test(gives_way_to_one_that_it_told_to_stand),
        cmocka_unit_test(in_plain_raft_any_later_candidate_deposes_it),
        cmocka_unit_test(a_later_term_deposes_it),
        cmocka_unit_test(does_not_follow_a_second_leader_of_its_own_term),
        cmocka_unit_test(leads_on_while_it_hears_from_a_majority),
        cmocka_unit_test(steps_down_when_it_hears_from_too_few),
        cmocka_unit_test(what_it_heard_before_it_counted_is_forgotten),
        cmocka_unit_test(what_it_heard_in_an_earlier_office_does_not_count),
        cmocka_unit_test(its_vote_stays_given_when_it_steps_down_within_a_term),
        cmocka_unit_test(a_late_vote_does_not_bring_it_back),
        cmocka_unit_test(in_plain_raft_it_leads_on_without_a_majority),
        cmocka_unit_test(counts_a_large_cluster),
        cmocka_unit_test(tells_its_heir_to_stand_at_once),
        cmocka_unit_test(what_it_cannot_do_it_declines),
        cmocka_unit_test(being_in_touch_wears_off),
        cmocka_unit_test(in_plain_raft_whoever_is_named_may_be_the_heir),
        cmocka_unit_test(resigns_in_favour_of_the_best_it_has_heard_of),
        cmocka_unit_test(resigns_although_nobody_can_take_over),
        cmocka_unit_test(resigning_ends_a_hand_over),
        cmocka_unit_test(an_heir_stands_without_asking_around),
        cmocka_unit_test(only_its_leader_can_tell_it_to_stand),
        cmocka_unit_test(the_others_are_not_loyal_to_a_leader_that_hands_over),
        cmocka_unit_test(an_heir_is_hurried_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
