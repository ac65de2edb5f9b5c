/* The bully, rule by rule: node 3 of five. T is 21, T' is 42. */
#include "lib/node/node.h"

static void sit_under_five(void)
{
    sit("bully", 5, 3);
    starts_under(5);
    did("");
    sees("follows 5");
}

static void polls_all_above_when_the_leader_is_gone(void **state)
{
    sit_under_five();
    suspects(4);
    did("");
    suspects(5);
    did("note notices 5; disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
    sees("elects");
}

static void may_leave_out_the_suspected(void **state)
{
    sit("bully", 5, 3);
    option("exclude-suspects", 1);
    starts_under(5);
    suspects(5);
    did("note notices 5; disarm all; send 4 Election 3 e1; note polls 1; arm answers 21");
    trusts(5);
    did("");
    times_out("coordinator");
    did("note no-coordinator; disarm all; send 4,5 Election 3 e2; note polls 2; arm answers 21");
}

static void wins_at_once_when_nobody_above_is_left(void **state)
{
    sit("bully", 5, 3);
    option("exclude-suspects", 1);
    starts_under(5);
    suspects(4);
    suspects(5);
    did("note notices 5; disarm all; note wins; disarm all; arm settled 42; send 1,2 Coordinator 3 e1");
    sees("leads");
    sit("bully", 5, 5);
    starts();
    campaigns();
    did("disarm all; note wins; disarm all; arm settled 42; send 1,2,3,4 Coordinator 5 e1");
    sees("leads");
    sit("bully", 1, 1);
    starts();
    campaigns();
    did("disarm all; note wins; disarm all; arm settled 42");
    sees("leads");
}

static void answers_those_below_and_holds_its_own_election(void **state)
{
    sit_under_five();
    hears(1, "Election 1 e7");
    did("note answers 1; send 1 Answer 3 e7; disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
    sees("elects");
    hears(2, "Election 2 e9");
    did("note answers 2; send 2 Answer 3 e9");
}

static void ignores_a_poll_from_above(void **state)
{
    sit_under_five();
    hears(4, "Election 4 e1");
    did("");
    sees("follows 5");
}

static void may_send_one_message_after_the_other(void **state)
{
    sit("bully", 5, 3);
    option("serial", 1);
    starts();
    hears(1, "Election 1 e7");
    did("note answers 1; send 1 Answer 3 e7; arm line free 10");
    sees("elects");
    hears(2, "Election 2 e8");
    did("note answers 2; send 2 Answer 3 e8");
    times_out("line free");
    did("disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
}

static void gives_way_to_the_first_that_answers(void **state)
{
    sit_under_five();
    campaigns();
    hears(5, "Answer 5 e1");
    did("note gives-way 5; disarm answers; arm coordinator 42");
    hears(4, "Answer 4 e1");
    did("");
    sees("elects");
}

static void an_answer_of_an_earlier_run_is_stale(void **state)
{
    sit_under_five();
    campaigns();
    hears(5, "Answer 5 e2");
    did("note stale 5");
    hears(5, "Answer 5");
    did("note stale 5");
}

static void wins_when_nobody_answers_in_time(void **state)
{
    sit_under_five();
    campaigns();
    times_out("answers");
    did("note no-answer; note wins; disarm all; arm settled 42; send 1,2 Coordinator 3 e1");
    sees("leads");
}

static void starts_again_when_no_coordinator_shows_up(void **state)
{
    sit_under_five();
    campaigns();
    hears(5, "Answer 5 e1");
    times_out("coordinator");
    did("note no-coordinator; disarm all; send 4,5 Election 3 e2; note polls 2; arm answers 21");
}

static void learns_who_leads(void **state)
{
    sit("bully", 5, 3);
    starts();
    campaigns();
    hears(4, "Coordinator 4 e1");
    did("note learns 4; disarm all; arm settled 42");
    sees("follows 4");
}

static void objects_to_a_coordinator_it_outranks(void **state)
{
    sit_under_five();
    hears(1, "Coordinator 1 e1");
    did("note objects 1; disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
    hears(1, "Coordinator 1 e1");
    did("note objects 1");
}

static void does_not_follow_one_that_it_suspects(void **state)
{
    sit("bully", 5, 3);
    starts();
    suspects(5);
    did("");
    hears(5, "Coordinator 5 e1");
    did("note distrusts 5; disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
    hears(5, "Coordinator 5 e1");
    did("note distrusts 5");
    trusts(5);
    hears(5, "Coordinator 5 e1");
    did("note learns 5; disarm all; arm settled 42");
}

static void a_poll_that_was_under_way_does_not_begin_the_election_again(void **state)
{
    sit("bully", 5, 3);
    starts();
    hears(5, "Coordinator 5 e1");
    hears(1, "Election 1 e1");
    did("note answers 1; send 1 Answer 3 e1");
    sees("follows 5");
    times_out("settled");
    did("");
    hears(1, "Election 1 e2");
    did("note answers 1; send 1 Answer 3 e2; disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
}

static void a_settled_result_is_no_reason_not_to_call_again(void **state)
{
    sit("bully", 5, 3);
    starts();
    hears(5, "Coordinator 5 e1");
    campaigns();
    did("disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
    hears(5, "Coordinator 5 e1");
    suspects(5);
    did("note notices 5; disarm all; send 4,5 Election 3 e2; note polls 2; arm answers 21");
    hears(4, "Coordinator 4 e1");
    hears(1, "Coordinator 1 e1");
    did("note objects 1; disarm all; send 4,5 Election 3 e3; note polls 2; arm answers 21");
}

static void the_attribute_comes_before_the_id(void **state)
{
    static const uint64_t attributes[] = {5, 0, 3, 9, 0};
    sit("bully", 5, 3);
    seat.cluster.attributes = attributes;
    starts();
    campaigns();
    did("disarm all; send 1,4 Election 3 e1; note polls 2; arm answers 21");
    times_out("answers");
    did("note no-answer; note wins; disarm all; arm settled 42; send 2,5 Coordinator 3 e1");
}

static void calls_no_second_election_beside_its_own(void **state)
{
    sit_under_five();
    campaigns();
    campaigns();
    did("");
}

static void whoever_comes_back_bullies(void **state)
{
    sit("bully", 5, 3);
    comes_back();
    did("disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
    sit("bully", 5, 5);
    seat_start(EL_LOST, EL_NOBODY);
    did("disarm all; note wins; disarm all; arm settled 42; send 1,2,3,4 Coordinator 5 e1");
}

static void knows_no_other_request(void **state)
{
    sit_under_five();
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    sees("follows 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polls_all_above_when_the_leader_is_gone),
        cmocka_unit_test(may_leave_out_the_suspected),
        cmocka_unit_test(wins_at_once_when_nobody_above_is_left),
        cmocka_unit_test(answers_those_below_and_holds_its_own_election),
        cmocka_unit_test(ignores_a_poll_from_above),
        cmocka_unit_test(may_send_one_message_after_the_other),
        cmocka_unit_test(gives_way_to_the_first_that_answers),
        cmocka_unit_test(an_answer_of_an_earlier_run_is_stale),
        cmocka_unit_test(wins_when_nobody_answers_in_time),
        cmocka_unit_test(starts_again_when_no_coordinator_shows_up),
        cmocka_unit_test(learns_who_leads),
        cmocka_unit_test(objects_to_a_coordinator_it_outranks),
        cmocka_unit_test(does_not_follow_one_that_it_suspects),
        cmocka_unit_test(a_poll_that_was_under_way_does_not_begin_the_election_again),
        cmocka_unit_test(a_settled_result_is_no_reason_not_to_call_again),
        cmocka_unit_test(the_attribute_comes_before_the_id),
        cmocka_unit_test(calls_no_second_election_beside_its_own),
        cmocka_unit_test(whoever_comes_back_bullies),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
