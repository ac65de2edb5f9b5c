/*
 * Next in line, rule by rule: node 3 of six under 6. A list stands in m, sixteen bits a place, the first in
 * line lowest: 0x20004 is 4, then 2. Its version stands in a.
 */
#include "lib/node/node.h"

#define RESTS "disarm answers; disarm coordinator; disarm line free; disarm settled"
#define STOPS "disarm alternative; " RESTS
#define SETTLES RESTS "; arm settled 42"
#define FOLLOWS "disarm alternative; " SETTLES

static void sit_under_six(void)
{
    sit("next-in-line", 6, 3);
    starts_under(6);
    did("");
    sees("follows 6");
}

static void asks_the_first_alternative_when_the_leader_is_gone(void **state)
{
    sit_under_six();
    suspects(2);
    did("");
    suspects(6);
    did("note notices 6; note asks 5; send 5 Ask 6; arm alternative 21");
    sees("elects");
    campaigns();
    did("");
}

static void asks_the_next_when_the_first_is_silent(void **state)
{
    sit_under_six();
    suspects(6);
    times_out("alternative");
    did("note no-reply; note asks 4; send 4 Ask 6; arm alternative 21");
}

static void steps_up_when_it_is_next_in_line_itself(void **state)
{
    sit_under_six();
    suspects(6);
    times_out("alternative");
    times_out("alternative");
    did("note no-reply; note steps-up 6; " FOLLOWS "; send 1,2,4,5 Elected 3 a1 m0x1000200040005");
    sees("leads");
}

static void a_reply_prolongs_the_wait(void **state)
{
    sit_under_six();
    hears(5, "Alive 5");
    did("");
    suspects(6);
    hears(5, "Alive 5");
    did("arm alternative 21");
}

static void the_list_may_be_given(void **state)
{
    static const el_node alternatives[] = {6, 4, 2};
    sit("next-in-line", 6, 3);
    option_list("alternatives", alternatives, 3);
    starts_under(6);
    suspects(6);
    did("note notices 6; note asks 4; send 4 Ask 6; arm alternative 21"); /* 6 itself is passed over */
    times_out("alternative");
    did("note no-reply; note asks 2; send 2 Ask 6; arm alternative 21");
    times_out("alternative");
    did("note no-reply; note list-exhausted; " STOPS
        "; send 4,5,6 Election 3 e1; note polls 3; arm answers 21");
    sees("elects");
}

static void a_list_names_at_most_four(void **state)
{
    static const el_node alternatives[] = {5, 4, 2, 1, 3};
    sit("next-in-line", 6, 3);
    option_list("alternatives", alternatives, 5);
    starts_under(6);
    suspects(6);
    times_out("alternative");
    times_out("alternative");
    times_out("alternative");
    did("note no-reply; note asks 1; send 1 Ask 6; arm alternative 21");
    times_out("alternative");
    did("note no-reply; note list-exhausted; " STOPS
        "; send 4,5,6 Election 3 e1; note polls 3; arm answers 21");
}

static void may_leave_out_the_suspected(void **state)
{
    static const el_node alternatives[] = {5, 4};
    sit("next-in-line", 6, 3);
    option("exclude-suspects", 1);
    option_list("alternatives", alternatives, 2);
    starts_under(6);
    suspects(5);
    suspects(6);
    did("note notices 6; note asks 4; send 4 Ask 6; arm alternative 21");
    trusts(5);
    did("");
    times_out("alternative");
    did("note no-reply; note list-exhausted; " STOPS "; send 4,5 Election 3 e1; note polls 2; arm answers 21");
}

static void its_own_first_list_leaves_out_the_suspected(void **state)
{
    sit_under_six();
    suspects(5);
    suspects(6);
    did("note notices 6; note asks 4; send 4 Ask 6; arm alternative 21");
}

static void an_alternative_that_is_asked_leads(void **state)
{
    sit("next-in-line", 6, 5);
    starts_under(6);
    hears(3, "Ask 6");
    did("note says-alive 3; send 3 Alive 5; note steps-up 6; " FOLLOWS
        "; send 1,2,3,4 Elected 5 a1 m0x1000200030004");
    sees("leads");
}

static void an_alternative_tells_who_leads_already(void **state)
{
    sit("next-in-line", 6, 5);
    starts();
    hears(4, "Elected 4 a3 m2");
    did("note learns 4; " FOLLOWS);
    hears(3, "Ask 6");
    did("note says-alive 3; send 3 Alive 5; note knows-better 3 4; send 3 Elected 4 a3 m2");
    sees("follows 4");
    hears(4, "Ask 6"); /* asked by the leader itself: it knows best */
    did("note says-alive 4; send 4 Alive 5; note steps-up 6; " FOLLOWS
        "; send 1,2,3,4 Elected 5 a4 m0x1000200030004");
}

static void one_that_is_asked_to_replace_itself_replaces_nobody(void **state)
{
    sit("next-in-line", 6, 5);
    starts();
    hears(3, "Ask 5");
    did("note says-alive 3; send 3 Alive 5; note steps-up 0; " FOLLOWS
        "; send 1,2,3,4,6 Elected 5 a1 m0x2000300040006");
}

static void the_newest_list_wins(void **state)
{
    sit_under_six();
    hears(5, "Elected 5 a2 m0x10004");
    did("note learns 5; " FOLLOWS);
    sees("follows 5");
    hears(4, "Elected 4 a1 m1");
    did("note old-list 4");
    hears(4, "Elected 4 a2 m1");
    did("note old-list 4"); /* of two with one version the better-ranked leader's */
    hears(6, "Elected 6 a2 m1");
    did("note learns 6; " FOLLOWS);
    hears(4, "Elected 4 a3 m0x10005");
    did("note learns 4; " FOLLOWS);
    hears(2, "Elected 3 a9 m1");
    did("");
    sees("follows 4");
    suspects(4);
    did("note notices 4; note asks 5; send 5 Ask 4; arm alternative 21");
    hears(2, "Elected 2 a3 m1"); /* the same version, and no leader here to compare with */
    did("note learns 2; " FOLLOWS);
}

static void does_not_follow_one_that_it_suspects(void **state)
{
    sit_under_six();
    suspects(5);
    hears(5, "Elected 5 a1 m0x20004");
    did("note learns 5; " FOLLOWS "; note distrusts 5; note asks 4; send 4 Ask 5; arm alternative 21");
    sees("elects");
}

static void a_call_without_a_leader_bullies(void **state)
{
    sit("next-in-line", 6, 3);
    starts();
    campaigns();
    did("note list-exhausted; " STOPS "; send 4,5,6 Election 3 e1; note polls 3; arm answers 21");
    campaigns();
    did("");
    times_out("answers");
    did("note no-answer; note wins; " SETTLES "; send 1,2 Coordinator 3 e1 a1 m0x2000400050006");
    sees("leads");
}

static void a_bully_publishes_its_list_with_its_announcement(void **state)
{
    sit("next-in-line", 6, 6);
    starts();
    hears(2, "Election 2 e4");
    did("note answers 2; send 2 Answer 6 e4; " RESTS "; note wins; " SETTLES
        "; send 1,2,3,4,5 Coordinator 6 e1 a1 m0x2000300040005");
    sees("leads");
    times_out("settled");
    did("");
    hears(2, "Election 2 e5");
    did("note answers 2; send 2 Answer 6 e5; " RESTS "; note wins; " SETTLES
        "; send 1,2,3,4,5 Coordinator 6 e2 a2 m0x2000300040005");
}

static void takes_the_list_of_a_coordinator(void **state)
{
    sit("next-in-line", 6, 3);
    starts();
    campaigns();
    hears(5, "Coordinator 5 e1 a7 m0x20004");
    did("note learns 5; " SETTLES);
    hears(4, "Elected 4 a6 m1");
    did("note old-list 4");
    suspects(5);
    did("note notices 5; note asks 4; send 4 Ask 5; arm alternative 21");
}

static void a_bully_interrupts_the_asking(void **state)
{
    sit_under_six();
    suspects(6);
    hears(1, "Election 1 e2");
    did("disarm alternative; note answers 1; send 1 Answer 3 e2; " RESTS
        "; send 4,5,6 Election 3 e1; note polls 3; arm answers 21");
    hears(5, "Answer 5 e1");
    did("note gives-way 5; disarm answers; arm coordinator 42");
    times_out("coordinator");
    did("note no-coordinator; " RESTS "; send 4,5,6 Election 3 e2; note polls 3; arm answers 21");
}

static void objects_to_a_coordinator_it_outranks(void **state)
{
    sit_under_six();
    hears(1, "Coordinator 1 e1 a4");
    did("note objects 1; " RESTS "; send 4,5,6 Election 3 e1; note polls 3; arm answers 21");
}

static void drops_a_list_that_names_nobody(void **state)
{
    sit_under_six();
    hears(5, "Elected 5 a2 m7");
    did("note bad-list");
    hears(5, "Elected 5 a2 m0x7000000000000");
    did("note bad-list");
    hears(5, "Elected 5 a0x20000000000000 m1");
    did("note bad-list");
    hears(5, "Election 5 m0xFFFF");
    did("note bad-list");
    sees("follows 6");
}

static void whoever_comes_back_bullies(void **state)
{
    sit("next-in-line", 6, 6);
    comes_back();
    did("note list-exhausted; " STOPS "; note wins; " SETTLES
        "; send 1,2,3,4,5 Coordinator 6 e1 a1 m0x2000300040005");
    sees("leads");
}

static void the_only_one_leads_without_a_list(void **state)
{
    sit("next-in-line", 1, 1);
    starts();
    campaigns();
    did("note list-exhausted; " STOPS "; note wins; " SETTLES);
    sees("leads");
}

static void knows_no_other_request(void **state)
{
    sit_under_six();
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_the_first_alternative_when_the_leader_is_gone),
        cmocka_unit_test(asks_the_next_when_the_first_is_silent),
        cmocka_unit_test(steps_up_when_it_is_next_in_line_itself),
        cmocka_unit_test(a_reply_prolongs_the_wait),
        cmocka_unit_test(the_list_may_be_given),
        cmocka_unit_test(a_list_names_at_most_four),
        cmocka_unit_test(may_leave_out_the_suspected),
        cmocka_unit_test(its_own_first_list_leaves_out_the_suspected),
        cmocka_unit_test(an_alternative_that_is_asked_leads),
        cmocka_unit_test(an_alternative_tells_who_leads_already),
        cmocka_unit_test(one_that_is_asked_to_replace_itself_replaces_nobody),
        cmocka_unit_test(the_newest_list_wins),
        cmocka_unit_test(does_not_follow_one_that_it_suspects),
        cmocka_unit_test(a_call_without_a_leader_bullies),
        cmocka_unit_test(a_bully_publishes_its_list_with_its_announcement),
        cmocka_unit_test(takes_the_list_of_a_coordinator),
        cmocka_unit_test(a_bully_interrupts_the_asking),
        cmocka_unit_test(objects_to_a_coordinator_it_outranks),
        cmocka_unit_test(drops_a_list_that_names_nobody),
        cmocka_unit_test(whoever_comes_back_bullies),
        cmocka_unit_test(the_only_one_leads_without_a_list),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
