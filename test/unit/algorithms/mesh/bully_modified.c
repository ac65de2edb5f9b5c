/* The modified bully, rule by rule: node 3 of six under 6. T is 21. */
#include "lib/node/node.h"

static void sit_under_six(void)
{
    sit("bully-modified", 6, 3);
    starts_under(6);
    did("");
    sees("follows 6");
}

static void polls_all_above_when_the_leader_is_gone(void **state)
{
    sit_under_six();
    suspects(2);
    did("");
    suspects(6);
    did("note notices 6; disarm wait; send 4,5,6 Election 3 e1; note polls 3; arm wait 21");
    sees("elects");
}

static void may_leave_out_the_suspected(void **state)
{
    sit("bully-modified", 6, 3);
    option("exclude-suspects", 1);
    starts_under(6);
    suspects(5);
    trusts(5);
    did("");
    suspects(6);
    did("note notices 6; disarm wait; send 4,5 Election 3 e1; note polls 2; arm wait 21");
}

static void wins_at_once_when_nobody_is_above(void **state)
{
    sit("bully-modified", 6, 6);
    starts();
    campaigns();
    did("disarm wait; note wins; disarm wait; send 1,2,3,4,5 Elected 6 e1");
    sees("leads");
}

static void says_that_it_is_alive_and_waits_for_a_leader(void **state)
{
    sit_under_six();
    hears(1, "Election 1 e4");
    did("note says-alive 1; send 1 Alive 3 e4; arm wait 63");
    sees("follows 6"); /* it only waits */
    hears(2, "Election 2 e5");
    did("note says-alive 2; send 2 Alive 3 e5; arm wait 63");
    times_out("wait");
    did("note no-leader; disarm wait; send 4,5,6 Election 3 e1; note polls 3; arm wait 21");
    hears(1, "Election 1 e6");
    did("note says-alive 1; send 1 Alive 3 e6");
    sees("elects");
}

static void a_leader_waits_for_nobody(void **state)
{
    sit("bully-modified", 6, 3);
    starts_under(3);
    hears(1, "Election 1 e4");
    did("note says-alive 1; send 1 Alive 3 e4");
    sees("leads");
}

static void ignores_a_poll_from_above(void **state)
{
    sit_under_six();
    hears(5, "Election 5 e1");
    did("");
}

static void grants_to_the_highest_that_answered(void **state)
{
    sit_under_six();
    campaigns();
    hears(4, "Alive 4 e1");
    did("");
    hears(5, "Alive 5 e1");
    did("");
    times_out("wait");
    did("note grants 5; send 5 Grant 5 e1; arm wait 21");
    hears(6, "Alive 6 e1");
    did("note stale 6");
}

static void a_grant_that_fails_goes_to_the_next_best(void **state)
{
    sit_under_six();
    campaigns();
    hears(4, "Alive 4 e1");
    hears(5, "Alive 5 e1");
    times_out("wait");
    times_out("wait");
    did("note grant-failed 5; note grants 4; send 4 Grant 4 e1; arm wait 21");
    times_out("wait");
    did("note grant-failed 4; note wins; disarm wait; send 1,2 Elected 3 e1");
    sees("leads");
}

static void wins_when_nobody_answers_in_time(void **state)
{
    sit_under_six();
    campaigns();
    times_out("wait");
    did("note wins; disarm wait; send 1,2 Elected 3 e1");
    sees("leads");
}

static void a_new_run_forgets_who_was_alive(void **state)
{
    sit_under_six();
    campaigns();
    hears(5, "Alive 5 e1");
    hears(4, "Elected 4 e1");
    did("note learns 4; disarm wait");
    campaigns();
    times_out("wait");
    did("note wins; disarm wait; send 1,2 Elected 3 e2");
}

static void an_alive_of_an_earlier_run_is_stale(void **state)
{
    sit_under_six();
    hears(5, "Alive 5");
    did("note stale 5");
    campaigns();
    hears(5, "Alive 5 e2");
    did("note stale 5");
}

static void takes_over_when_told_to(void **state)
{
    sit_under_six();
    hears(1, "Grant 3 e7");
    did("note takes-over 1; disarm wait; send 1,2 Elected 3");
    sees("leads");
}

static void objects_to_a_leader_it_outranks(void **state)
{
    sit_under_six();
    hears(1, "Elected 1 e1");
    did("note objects 1; disarm wait; send 4,5,6 Election 3 e1; note polls 3; arm wait 21");
    hears(1, "Elected 1 e1");
    did("note objects 1");
}

static void objects_also_while_it_waits(void **state)
{
    sit_under_six();
    hears(1, "Election 1 e4");
    hears(1, "Elected 1 e1");
    did("note objects 1; disarm wait; send 4,5,6 Election 3 e1; note polls 3; arm wait 21");
}

static void does_not_follow_one_that_it_suspects(void **state)
{
    sit("bully-modified", 6, 3);
    starts();
    suspects(6);
    hears(6, "Elected 6 e1");
    did("note distrusts 6; disarm wait; send 4,5,6 Election 3 e1; note polls 3; arm wait 21");
    hears(6, "Elected 6 e1");
    did("note distrusts 6");
}

static void whoever_comes_back_stands(void **state)
{
    sit("bully-modified", 6, 3);
    comes_back();
    did("disarm wait; send 4,5,6 Election 3 e1; note polls 3; arm wait 21");
    campaigns();
    did("");
}

static void knows_no_other_request(void **state)
{
    sit_under_six();
    requests(EL_TRANSFER, 2);
    did("note declined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polls_all_above_when_the_leader_is_gone),
        cmocka_unit_test(may_leave_out_the_suspected),
        cmocka_unit_test(wins_at_once_when_nobody_is_above),
        cmocka_unit_test(says_that_it_is_alive_and_waits_for_a_leader),
        cmocka_unit_test(a_leader_waits_for_nobody),
        cmocka_unit_test(ignores_a_poll_from_above),
        cmocka_unit_test(grants_to_the_highest_that_answered),
        cmocka_unit_test(a_grant_that_fails_goes_to_the_next_best),
        cmocka_unit_test(wins_when_nobody_answers_in_time),
        cmocka_unit_test(a_new_run_forgets_who_was_alive),
        cmocka_unit_test(an_alive_of_an_earlier_run_is_stale),
        cmocka_unit_test(takes_over_when_told_to),
        cmocka_unit_test(objects_to_a_leader_it_outranks),
        cmocka_unit_test(objects_also_while_it_waits),
        cmocka_unit_test(does_not_follow_one_that_it_suspects),
        cmocka_unit_test(whoever_comes_back_stands),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
