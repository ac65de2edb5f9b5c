/* Election by multicast, rule by rule: node 2 of four. T is 21. */
#include "lib/node/node.h"

enum { TIMEOUT, ALL, DISAGREE };

static void sit_in_mode(uint64_t mode, el_node leader)
{
    sit("multicast", 4, 2);
    option("mode", mode);
    starts_under(leader);
    did("");
}

static void asks_everybody_when_the_leader_is_gone(void **state)
{
    sit_in_mode(TIMEOUT, 4);
    suspects(3);
    did("");
    sees("follows 4");
    suspects(4);
    did("note notices 4; disarm all; send 1,3,4 Election 2 e1; note asks 3; arm replies 21");
    sees("elects");
    campaigns();
    did("");
}

static void may_leave_out_the_suspected(void **state)
{
    sit_in_mode(TIMEOUT, 4);
    option("exclude-suspects", 1);
    suspects(3);
    trusts(3);
    suspects(4);
    did("note notices 4; disarm all; send 1,3 Election 2 e1; note asks 2; arm replies 21");
    sit_in_mode(TIMEOUT, 4);
    option("exclude-suspects", 1);
    suspects(1);
    suspects(3);
    suspects(4);
    did("note notices 4; disarm all; note all-agreed; disarm all; send 1,3,4 Coordinator 2 e1");
    sees("leads");
}

static void with_all_agreeing_it_is_elected(void **state)
{
    for (uint64_t mode = TIMEOUT; mode <= ALL; mode++) {
        sit_in_mode(mode, 0);
        campaigns();
        did(mode == ALL ? "disarm all; send 1,3,4 Election 2 e1; note asks 3"
                        : "disarm all; send 1,3,4 Election 2 e1; note asks 3; arm replies 21");
        hears(1, "Agree 1 e1");
        did("");
        hears(1, "Agree 1 e1"); /* counted once */
        did("");
        hears(3, "Agree 3 e1");
        did("");
        hears(4, "Agree 4 e1");
        did("note all-agreed; disarm all; send 1,3,4 Coordinator 2 e1");
        sees("leads");
    }
}

static void silence_until_the_timeout_is_consent(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    campaigns();
    times_out("replies");
    did("note time-is-up; disarm all; send 1,3,4 Coordinator 2 e1");
    sees("leads");
}

static void any_disagreement_ends_a_candidacy(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    campaigns();
    hears(4, "Disagree 4 e1");
    did("note gives-up 4; disarm all; arm coordinator 42");
    sees("elects");
    times_out("coordinator");
    did("note no-coordinator; disarm all; send 1,3,4 Election 2 e2; note asks 3; arm replies 21");
    sit_in_mode(ALL, 0);
    campaigns();
    hears(4, "Disagree 4 e1");
    did("note gives-up 4; disarm all"); /* and waits for ever */
}

static void the_lower_agree(void **state)
{
    sit_in_mode(TIMEOUT, 1);
    hears(3, "Election 3 e5");
    did("note agrees 3; send 3 Agree 2 e5; disarm all; arm coordinator 42");
    sees("elects");
    hears(4, "Election 4 e6");
    did("note agrees 4; send 4 Agree 2 e6; disarm all; arm coordinator 42");
    sit_in_mode(ALL, 1);
    hears(3, "Election 3 e5");
    did("note agrees 3; send 3 Agree 2 e5; disarm all");
}

static void a_late_election_does_not_make_it_forget_a_better_leader(void **state)
{
    sit_in_mode(TIMEOUT, 4);
    hears(3, "Election 3 e5");
    did("note agrees 3; send 3 Agree 2 e5");
    sees("follows 4");
    hears(4, "Election 4 e6");
    did("note agrees 4; send 4 Agree 2 e6; disarm all; arm coordinator 42");
    sees("elects");
}

static void a_suspected_leader_is_not_better(void **state)
{
    sit_in_mode(TIMEOUT, 4);
    suspects(4);
    did("note notices 4; disarm all; send 1,3,4 Election 2 e1; note asks 3; arm replies 21");
    hears(3, "Disagree 3 e1");
    did("note gives-up 3; disarm all; arm coordinator 42");
    hears(3, "Election 3 e5");
    did("note agrees 3; send 3 Agree 2 e5; disarm all; arm coordinator 42");
}

static void agreeing_need_not_be_said(void **state)
{
    sit_in_mode(DISAGREE, 1);
    hears(3, "Election 3 e5");
    did("note agrees 3; disarm all; arm coordinator 42");
}

static void a_candidate_agrees_and_stays_one(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    campaigns();
    hears(3, "Election 3 e5");
    did("note agrees 3; send 3 Agree 2 e5");
    sees("elects");
}

static void the_higher_disagree_and_stand(void **state)
{
    sit_in_mode(DISAGREE, 0);
    hears(1, "Election 1 e5");
    did("note disagrees 1; send 1 Disagree 2 e5; disarm all; "
        "send 1,3,4 Election 2 e1; note asks 3; arm replies 21");
    hears(1, "Election 1 e6");
    did("note disagrees 1; send 1 Disagree 2 e6");
}

static void replies_out_of_turn_are_stale(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    hears(1, "Agree 1");
    did("note stale 1");
    campaigns();
    hears(4, "Disagree 4 e2");
    did("note stale 4");
}

static void learns_who_leads(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    campaigns();
    hears(4, "Coordinator 4 e1");
    did("note learns 4; disarm all");
    sees("follows 4");
}

static void objects_to_a_coordinator_it_outranks(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    hears(1, "Coordinator 1 e1");
    did("note objects 1; disarm all; send 1,3,4 Election 2 e1; note asks 3; arm replies 21");
    hears(1, "Coordinator 1 e1");
    did("note objects 1");
}

static void does_not_follow_one_that_it_suspects(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    suspects(4);
    hears(4, "Coordinator 4 e1");
    did("note distrusts 4; disarm all; send 1,3,4 Election 2 e1; note asks 3; arm replies 21");
    hears(4, "Coordinator 4 e1");
    did("note distrusts 4");
    hears(1, "Coordinator 2 e1");
    did("note learns 2; disarm all");
    sees("leads");
}

static void whoever_is_alone_is_elected(void **state)
{
    sit("multicast", 1, 1);
    comes_back();
    did("disarm all; note all-agreed; disarm all");
    sees("leads");
}

static void knows_no_other_request(void **state)
{
    sit_in_mode(TIMEOUT, 0);
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_everybody_when_the_leader_is_gone),
        cmocka_unit_test(may_leave_out_the_suspected),
        cmocka_unit_test(with_all_agreeing_it_is_elected),
        cmocka_unit_test(silence_until_the_timeout_is_consent),
        cmocka_unit_test(any_disagreement_ends_a_candidacy),
        cmocka_unit_test(the_lower_agree),
        cmocka_unit_test(a_late_election_does_not_make_it_forget_a_better_leader),
        cmocka_unit_test(a_suspected_leader_is_not_better),
        cmocka_unit_test(agreeing_need_not_be_said),
        cmocka_unit_test(a_candidate_agrees_and_stays_one),
        cmocka_unit_test(the_higher_disagree_and_stand),
        cmocka_unit_test(replies_out_of_turn_are_stale),
        cmocka_unit_test(learns_who_leads),
        cmocka_unit_test(objects_to_a_coordinator_it_outranks),
        cmocka_unit_test(does_not_follow_one_that_it_suspects),
        cmocka_unit_test(whoever_is_alone_is_elected),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
