/* Invitation, rule by rule: node 2 of four. T is 21; whoever has k below it invites after k (T + Ttrans). */
#include "lib/node/node.h"

static void sit_alone(void)
{
    sit("invitation", 4, 2);
    starts();
    did("");
    sees("leads");
}

/* Leads {1,2}. */
static void sit_with_one(void)
{
    sit_alone();
    hears(1, "Accept 1 {1} e2");
    did("note merges 1 2; arm invite 31");
    times_out("invite");
    did("note invites 3; send 3 Invite 2 {1,2} e2; disarm invite; arm reply 21");
    times_out("reply");
    did("note no-reply 3; note invites 4; send 4 Invite 2 {1,2} e2; disarm invite; arm reply 21");
    times_out("reply");
    did("note no-reply 4");
}

static void sit_under(el_node leader)
{
    sit("invitation", 4, 2);
    starts_under(leader);
    did("");
}

static void everybody_starts_as_the_leader_of_a_group_of_one(void **state)
{
    sit_alone();
    campaigns();
    did("note invites 3; send 3 Invite 2 {2} e1; disarm invite; arm reply 21");
    campaigns();
    did(""); /* one at a time */
    sees("leads");
}

static void an_incumbent_leads_everybody(void **state)
{
    sit_under(2);
    sees("leads");
    campaigns();
    did(""); /* there is nobody to invite */
    sit_under(3);
    sees("follows 3");
    sit("invitation", 64, 64);
    starts_under(64);
    campaigns();
    did("");
}

static void whoever_comes_back_invites_after_those_below(void **state)
{
    sit("invitation", 4, 3);
    comes_back();
    did("arm invite 62");
    sees("leads");
    sit("invitation", 4, 1);
    comes_back();
    did("arm invite 0");
}

static void invites_around_the_ring_and_skips_the_silent(void **state)
{
    sit_alone();
    suspects(4);
    did("");
    campaigns();
    did("note invites 3; send 3 Invite 2 {2} e1; disarm invite; arm reply 21");
    times_out("reply");
    did("note no-reply 3; note invites 1; send 1 Invite 2 {2} e1; disarm invite; arm reply 21");
    times_out("reply");
    did("note no-reply 1");
    campaigns(); /* a new call tries all of them again */
    did("note invites 3; send 3 Invite 2 {2} e1; disarm invite; arm reply 21");
}

static void joins_a_group_as_large_as_its_own(void **state)
{
    sit_alone();
    hears(3, "Invite 3 {3} e5");
    did("note joins 3 1; send 3 Accept 2 {2} e6; disarm invite; disarm reply");
    sees("follows 3");
}

static void tells_its_members_when_it_joins(void **state)
{
    sit_with_one();
    hears(3, "Invite 3 {3,4} e1");
    did("note joins 3 2; send 3 Accept 2 {1,2} e3; send 1 NewLeader 3 e3; disarm invite; disarm reply");
    sees("follows 3");
}

static void counters_a_smaller_group(void **state)
{
    sit_with_one();
    hears(3, "Invite 3 {3} e1");
    did("note counters 3; note invites 3; send 3 Invite 2 {1,2} e2; disarm invite; arm reply 21");
    hears(4, "Invite 4 {4} e1");
    did("note refuses 4");
}

static void of_two_inviters_the_better_stays(void **state)
{
    sit_alone();
    campaigns();
    hears(1, "Invite 1 {1} e1");
    did("note refuses 1");
    hears(3, "Invite 3 {3} e1");
    did("note joins 3 1; send 3 Accept 2 {2} e2; disarm invite; disarm reply");
}

static void a_follower_passes_an_invitation_on(void **state)
{
    sit_under(3);
    hears(4, "Invite 4 {4} e1");
    did("note redirects 4 3; send 4 Redirect 3");
}

static void merges_with_whoever_accepts(void **state)
{
    sit_alone();
    campaigns();
    hears(3, "Accept 3 {3,4} e7");
    did("note merges 3 3; disarm invite; disarm reply; arm invite 31");
    times_out("invite");
    did("note invites 1; send 1 Invite 2 {2,3,4} e7; disarm invite; arm reply 21");
    hears(1, "Accept 1 {1} e2");
    did("note merges 1 4; disarm invite; disarm reply");
    sees("leads");
}

static void an_acceptance_may_come_from_another_than_was_invited(void **state)
{
    sit_alone();
    campaigns();
    suspects(1);
    hears(1, "Accept 1 {1} e2"); /* whom it suspects it does not count */
    did("note merges 1 1; arm invite 31");
    trusts(1);
    did("");
    hears(4, "Accept 1 {1} e2"); /* relayed */
    did("note merges 1 2; arm invite 31");
    hears(4, "Accept 4 {3,4} e2"); /* with the one that was invited */
    did("note merges 4 4; disarm invite; disarm reply");
}

static void relays_an_acceptance_that_comes_too_late(void **state)
{
    sit_under(4);
    hears(1, "Accept 1 {1,3} e5");
    did("note relays 1; send 1,3 NewLeader 4 e6; send 4 Accept 1 {1,3} e6");
    hears(4, "Accept 3 {3} e1");
    did("note relays 3; send 3 NewLeader 4 e2; send 4 Accept 3 {3} e2");
    sees("follows 4");
}

static void follows_a_redirection(void **state)
{
    sit_alone();
    campaigns();
    hears(1, "Redirect 4");
    did(""); /* it was not asked */
    hears(3, "Redirect 4");
    did("disarm invite; disarm reply; note invites 4; send 4 Invite 2 {2} e1; disarm invite; arm reply 21");
}

static void a_redirection_to_itself_is_an_acceptance(void **state)
{
    sit_alone();
    campaigns();
    hears(3, "Redirect 2");
    did("disarm invite; disarm reply; note invites 4; send 4 Invite 2 {2,3} e1; disarm invite; arm reply 21");
    hears(4, "Redirect 3"); /* which is its own member: there is no point in asking */
    did("disarm invite; disarm reply; note invites 1; send 1 Invite 2 {2,3} e1; disarm invite; arm reply 21");
}

static void learns_of_a_new_leader(void **state)
{
    sit_under(3);
    hears(3, "NewLeader 4 e2");
    did("note learns 4; disarm there");
    sees("follows 4");
    hears(3, "NewLeader 1 e2");
    did("note old-news 3");
    hears(3, "NewLeader 2 e9");
    did("note old-news 3");
    sees("follows 4");
}

static void a_leader_is_not_told_whom_to_follow(void **state)
{
    sit_alone();
    hears(3, "NewLeader 4 e9");
    did("note old-news 3");
    sees("leads");
}

static void founds_its_own_group_rather_than_follow_the_dead(void **state)
{
    sit_under(3);
    suspects(4);
    did("");
    hears(3, "NewLeader 4 e2");
    did("note founds; arm invite 31");
    sees("leads");
}

static void founds_its_own_group_when_the_leader_is_gone(void **state)
{
    sit_under(3);
    suspects(3);
    did("note founds; disarm there; arm invite 31");
    sees("leads");
    times_out("invite");
    did("note invites 4; send 4 Invite 2 {2} e2; disarm invite; arm reply 21");
}

static void asks_whether_its_leader_is_there(void **state)
{
    sit_under(3);
    campaigns();
    did("note asks-leader 3; send 3 AreYouThere 2; arm there 21");
    hears(4, "IAm 4");
    did("");
    hears(3, "IAm 3");
    did("disarm there");
    campaigns();
    times_out("there");
    did("note founds; note invites 3; send 3 Invite 2 {2} e2; disarm invite; arm reply 21");
    sees("leads");
}

static void answers_its_members_only(void **state)
{
    sit_with_one();
    hears(1, "AreYouThere 1");
    did("send 1 IAm 2");
    hears(3, "AreYouThere 3");
    did("note disowns 3");
    sit_under(4);
    hears(1, "AreYouThere 1");
    did("note disowns 1");
}

static void a_member_that_is_gone_leaves_the_group(void **state)
{
    sit_with_one();
    suspects(1);
    did("");
    hears(1, "AreYouThere 1");
    did("note disowns 1");
    trusts(1);
    did("arm invite 31");
}

static void an_invited_one_that_is_gone_makes_room_for_the_next(void **state)
{
    sit_alone();
    campaigns();
    suspects(3);
    did("disarm invite; disarm reply; note invites 4; send 4 Invite 2 {2} e1; disarm invite; arm reply 21");
    trusts(3);
    did(""); /* busy */
    sit_under(3);
    suspects(4);
    trusts(4);
    did(""); /* not its business */
}

static void a_late_timer_of_a_former_leader_does_nothing(void **state)
{
    sit_under(3);
    times_out("invite");
    did("");
}

static void drops_a_set_that_names_nobody(void **state)
{
    sit_alone();
    hears(3, "Invite 3 a0x18 e1");
    did("note bad-set");
    hears(3, "IAm 3 a0x8000000000000000");
    did("note bad-set");
    sit("invitation", 64, 2);
    starts();
    hears(3, "Invite 3 a0x8000000000000000 e1");
    did("note joins 3 1; send 3 Accept 2 {2} e2; disarm invite; disarm reply");
}

static void knows_no_other_request(void **state)
{
    sit_alone();
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    sees("leads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_starts_as_the_leader_of_a_group_of_one),
        cmocka_unit_test(an_incumbent_leads_everybody),
        cmocka_unit_test(whoever_comes_back_invites_after_those_below),
        cmocka_unit_test(invites_around_the_ring_and_skips_the_silent),
        cmocka_unit_test(joins_a_group_as_large_as_its_own),
        cmocka_unit_test(tells_its_members_when_it_joins),
        cmocka_unit_test(counters_a_smaller_group),
        cmocka_unit_test(of_two_inviters_the_better_stays),
        cmocka_unit_test(a_follower_passes_an_invitation_on),
        cmocka_unit_test(merges_with_whoever_accepts),
        cmocka_unit_test(an_acceptance_may_come_from_another_than_was_invited),
        cmocka_unit_test(relays_an_acceptance_that_comes_too_late),
        cmocka_unit_test(follows_a_redirection),
        cmocka_unit_test(a_redirection_to_itself_is_an_acceptance),
        cmocka_unit_test(learns_of_a_new_leader),
        cmocka_unit_test(a_leader_is_not_told_whom_to_follow),
        cmocka_unit_test(founds_its_own_group_rather_than_follow_the_dead),
        cmocka_unit_test(founds_its_own_group_when_the_leader_is_gone),
        cmocka_unit_test(asks_whether_its_leader_is_there),
        cmocka_unit_test(answers_its_members_only),
        cmocka_unit_test(a_member_that_is_gone_leaves_the_group),
        cmocka_unit_test(an_invited_one_that_is_gone_makes_room_for_the_next),
        cmocka_unit_test(a_late_timer_of_a_former_leader_does_nothing),
        cmocka_unit_test(drops_a_set_that_names_nobody),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
