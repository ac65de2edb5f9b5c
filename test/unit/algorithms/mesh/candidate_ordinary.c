/* Candidates and ordinary processes, rule by rule: node 3 of five. A place in line is 3 Ttrans + 2 Tprocess. */
#include "lib/node/node.h"

static const uint8_t low_candidates[] = {EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY};

static void sit_under_five(void)
{
    sit("candidate-ordinary", 5, 3);
    starts_under(5);
    did("");
    sees("follows 5");
}

static void sit_ordinary(void)
{
    sit("candidate-ordinary", 5, 3);
    seat.cluster.roles = low_candidates;
    starts();
}

static void waits_for_its_delta_when_the_leader_is_gone(void **state)
{
    sit_under_five();
    suspects(1);
    did("");
    suspects(5);
    did("note notices 5; disarm all; note waits 1; arm delta 32"); /* 5 itself has no place in line */
    sees("elects");
    campaigns();
    did("");
}

static void the_best_left_goes_first(void **state)
{
    sit("candidate-ordinary", 5, 4);
    starts_under(5);
    suspects(5);
    did("note notices 5; disarm all; note goes-first; arm delta 0");
}

static void the_delta_may_be_given(void **state)
{
    sit("candidate-ordinary", 5, 1);
    option("delta", 7);
    starts_under(5);
    suspects(5);
    did("note notices 5; disarm all; note waits 3; arm delta 21");
}

static void a_leader_that_calls_keeps_its_place_in_line(void **state)
{
    sit("candidate-ordinary", 5, 3);
    starts_under(3);
    campaigns();
    did("disarm all; note waits 2; arm delta 64");
    times_out("delta");
    did("send 1,2,4,5 Poll 3 e1; note polls 4; arm poll 21");
}

static void polls_the_candidates_and_picks_the_best(void **state)
{
    sit_under_five();
    suspects(5);
    times_out("delta");
    did("send 1,2,4 Poll 3 e1; note polls 3; arm poll 21");
    hears(4, "Alive 4 e1");
    did("");
    hears(1, "Alive 1 e1");
    did("");
    times_out("poll");
    did("note picks 4; disarm all; send 1,2,4 Elected 4 e1");
    sees("follows 4");
}

static void picks_itself_when_nobody_better_answers(void **state)
{
    sit_under_five();
    suspects(5);
    times_out("delta");
    hears(1, "Alive 1 e1");
    times_out("poll");
    did("note picks 3; disarm all; send 1,2,4 Elected 3 e1");
    sees("leads");
}

static void an_ordinary_process_polls_but_never_picks_itself(void **state)
{
    sit_ordinary();
    campaigns();
    times_out("delta");
    did("send 1,2 Poll 3 e1; note polls 2; arm poll 21");
    hears(1, "Alive 1 e1");
    times_out("poll");
    did("note picks 1; disarm all; send 1,2,4,5 Elected 1 e1");
    sees("follows 1");
}

static void without_a_candidate_there_is_no_leader(void **state)
{
    sit_ordinary();
    campaigns();
    times_out("delta");
    times_out("poll");
    did("note no-candidate; disarm all");
    sees("idle");
    suspects(4);
    trusts(4);
    did("");
    suspects(2);
    trusts(2); /* a candidate comes back */
    did("disarm all; note waits 2; arm delta 64");
    trusts(1);
    did("");
}

static void a_follower_does_not_call_when_a_candidate_comes_back(void **state)
{
    sit_under_five();
    suspects(4);
    trusts(4);
    did("");
    sees("follows 5");
}

static void the_only_candidate_need_not_poll(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_ORDINARY, EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit("candidate-ordinary", 5, 3);
    seat.cluster.roles = roles;
    starts_under(5);
    suspects(5);
    times_out("delta");
    did("note picks 3; disarm all; send 1,2,4 Elected 3 e1");
    sees("leads");
}

static void a_best_that_dies_is_not_picked(void **state)
{
    sit_ordinary();
    campaigns();
    times_out("delta");
    hears(2, "Alive 2 e1");
    suspects(2); /* the others must be asked again: their answers were not kept */
    did("send 1,2 Poll 3 e2; note polls 2; arm poll 21");
    hears(1, "Alive 1 e2");
    times_out("poll");
    did("note picks 1; disarm all; send 1,2,4,5 Elected 1 e2");
}

static void an_answer_that_outlives_its_sender_does_not_count(void **state)
{
    sit_under_five();
    suspects(5);
    times_out("delta");
    did("send 1,2,4 Poll 3 e1; note polls 3; arm poll 21");
    suspects(4);
    did("");
    hears(4, "Alive 4 e1");
    did("note stale 4");
    times_out("poll");
    did("note picks 3; disarm all; send 1,2,4 Elected 3 e1");
    sees("leads");
}

static void replies_out_of_turn_are_stale(void **state)
{
    sit_ordinary();
    hears(1, "Alive 1");
    did("note stale 1");
    campaigns();
    times_out("delta");
    hears(1, "Alive 1 e2");
    did("note stale 1");
    hears(4, "Alive 4 e1"); /* it may not lead */
    did("note stale 4");
}

static void says_that_it_is_alive(void **state)
{
    sit_under_five();
    hears(1, "Poll 1 e4");
    did("note says-alive 1; send 1 Alive 3 e4");
    sees("follows 5");
}

static void whoever_finishes_first_ends_the_wait(void **state)
{
    sit_under_five();
    suspects(5);
    hears(4, "Elected 4 e1");
    did("note learns 4; disarm all");
    sees("follows 4");
}

static void a_better_candidate_objects(void **state)
{
    sit("candidate-ordinary", 5, 3);
    starts();
    hears(4, "Elected 1 e1");
    did("note objects 1; disarm all; note waits 2; arm delta 64");
    hears(4, "Elected 1 e1");
    did("note objects 1");
}

static void an_ordinary_process_follows_whomever(void **state)
{
    sit_ordinary();
    hears(4, "Elected 1 e1");
    did("note learns 1; disarm all");
    sees("follows 1");
}

static void does_not_follow_one_that_it_suspects(void **state)
{
    sit("candidate-ordinary", 5, 3);
    starts();
    suspects(5);
    hears(4, "Elected 5 e1");
    did("note distrusts 5; disarm all; note waits 1; arm delta 32");
    hears(4, "Elected 5 e1");
    did("note distrusts 5");
}

static void learns_that_it_leads_itself(void **state)
{
    sit_under_five();
    hears(4, "Elected 3 e1");
    did("note learns 3; disarm all");
    sees("leads");
}

static void whoever_comes_back_calls(void **state)
{
    sit("candidate-ordinary", 5, 3);
    comes_back();
    did("disarm all; note waits 2; arm delta 64");
}

static void knows_no_other_request(void **state)
{
    sit_under_five();
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_its_delta_when_the_leader_is_gone),
        cmocka_unit_test(the_best_left_goes_first),
        cmocka_unit_test(the_delta_may_be_given),
        cmocka_unit_test(a_leader_that_calls_keeps_its_place_in_line),
        cmocka_unit_test(polls_the_candidates_and_picks_the_best),
        cmocka_unit_test(picks_itself_when_nobody_better_answers),
        cmocka_unit_test(an_ordinary_process_polls_but_never_picks_itself),
        cmocka_unit_test(without_a_candidate_there_is_no_leader),
        cmocka_unit_test(a_follower_does_not_call_when_a_candidate_comes_back),
        cmocka_unit_test(the_only_candidate_need_not_poll),
        cmocka_unit_test(a_best_that_dies_is_not_picked),
        cmocka_unit_test(an_answer_that_outlives_its_sender_does_not_count),
        cmocka_unit_test(replies_out_of_turn_are_stale),
        cmocka_unit_test(says_that_it_is_alive),
        cmocka_unit_test(whoever_finishes_first_ends_the_wait),
        cmocka_unit_test(a_better_candidate_objects),
        cmocka_unit_test(an_ordinary_process_follows_whomever),
        cmocka_unit_test(does_not_follow_one_that_it_suspects),
        cmocka_unit_test(learns_that_it_leads_itself),
        cmocka_unit_test(whoever_comes_back_calls),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
