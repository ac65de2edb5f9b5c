/* How one makes way for another. */
#include "lib/host/leaderships.h"

static void transfers_once_the_work_has_stopped(void **state)
{
    begin(3);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_transfer(o, 1), LEADERSHIP_NOT_ELIGIBLE);
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_NOT_STANDING);
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    pass(1500);
    assert_int_equal(leadership_transfer(leadership(2, "g"), 1), LEADERSHIP_NOT_LEADING);
    heard[0] = '\0';
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_DONE);
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_UNDER_WAY);
    expect_heard("a stop transferred; ");
    const uint64_t token = o->tenure->token;
    pass(200);
    expect_heard("");
    assert_int_equal(leadership_stopped(o, a, token), LEADERSHIP_DONE);
    wait_for("b elected");
    assert_true(strstr(heard, "a lost transferred; b elected; ") == heard);
    assert_true(leadership(2, "g")->tenure->token > token);
    pass(3000);
    assert_true(leadership(2, "g")->tenure->is_held); /* a is a candidate, but does not take it back */
}

static void hands_over_without_being_asked_to_stop(void **state)
{
    begin(3);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    const uint64_t token = o->tenure->token;
    assert_int_equal(leadership_hand_over(o, a, token, 2), LEADERSHIP_NOT_STANDING);
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    assert_int_equal(leadership_enter(o, c, 0, ""), LEADERSHIP_DONE);
    pass(1500);
    heard[0] = '\0';
    assert_int_equal(leadership_hand_over(o, c, token, 2), LEADERSHIP_NOT_LEADING); /* in another's name */
    assert_int_equal(leadership_hand_over(o, a, token - 1, 2), LEADERSHIP_NOT_LEADING);
    assert_true(o->tenure->is_held);
    assert_int_equal(leadership_hand_over(o, a, token, 2), LEADERSHIP_DONE);
    wait_for("b elected");
    assert_true(strstr(heard, "a lost transferred; b elected; ") == heard);
    assert_true(leadership(2, "g")->tenure->token > token);
    assert_true(leadership_stands(o, a));
}

static void keeps_leadership_if_who_is_to_have_it_is_silent(void **state)
{
    begin(3);
    lead(1, a);
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    pass(1500);
    members[1].is_cut = true;
    pass(2100);
    heard[0] = '\0';
    assert_int_equal(leadership_transfer(leadership(1, "g"), 2), LEADERSHIP_OUT_OF_TOUCH);
    assert_true(leadership(1, "g")->tenure->is_held);
}

static void resigns_if_the_transfer_fails_after_stopping(void **state)
{
    begin(3);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    pass(1500);
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_DONE);
    heard[0] = '\0';
    assert_int_equal(leadership_withdraw(leadership(2, "g"), b, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    settle();
    assert_int_equal(leadership_stopped(o, a, o->tenure->token), LEADERSHIP_DONE);
    assert_true(strstr(heard, "a lost not-transferred; ") == heard);
}

static void hands_over_when_it_leaves(void **state)
{
    begin(3);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    assert_int_equal(leadership_enter(leadership(3, "g"), c, 5, ""), LEADERSHIP_DONE);
    pass(1500);
    heard[0] = '\0';
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_SOME_END);
    assert_int_equal(leaderships_leave(&members[0].leaderships),
                     LEADERSHIPS_SOME_END); /* asked again, said once */
    expect_heard("a stop leaving; ");
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_LEAVING);
    assert_int_equal(leadership_stopped(o, a, o->tenure->token), LEADERSHIP_DONE);
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_NONE_END);
    assert_false(host_stands(o->group, 1, NULL));
    wait_for("c elected");
    assert_true(strstr(heard, "a lost leaving; c elected; ") == heard);
}

static void leaves_alone_too(void **state)
{
    begin(1);
    lead(1, a);
    heard[0] = '\0';
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_SOME_END);
    assert_int_equal(leadership_withdraw(leadership(1, "g"), a, LEADERSHIP_DIES), LEADERSHIP_DONE);
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_NONE_END);
    pass(5000);
    expect_heard("a stop leaving; ");
    assert_int_not_equal(host_view_of(leadership(1, "g")->group).role, EL_LEADER);
}

/* a leads, b stands at another member, and a has said that it needs `within_ms` to stop. */
static struct leadership *lead_slowly(uint32_t within_ms)
{
    begin(3);
    members[0].config.stop_timeout = 5000 * MS;
    lead(1, a);
    assert_int_equal(leadership_enter(leadership(2, "g"), b, 0, ""), LEADERSHIP_DONE);
    leadership_set_stop_within(leadership(1, "g"), a, within_ms);
    pass(1500);
    heard[0] = '\0';
    return leadership(1, "g");
}

static void keeps_its_lease_while_it_stops(void **state)
{
    struct leadership *o = lead_slowly(3000);
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_DONE);
    expect_heard("a stop transferred; ");
    const uint64_t token = o->tenure->token, deadline = leadership_told_until(o);
    pass(2900);
    assert_true(now > deadline && leadership_told_until(o) > now);
    assert_true(leadership_is_held_by(o, a));
    expect_heard("a lease; ");
    assert_int_equal(leadership_stopped(o, a, token), LEADERSHIP_DONE);
    wait_for("b elected");
    assert_true(strstr(heard, "a lost transferred; b elected; ") == heard);
}

/* What it was told last holds to the end, though its host's lease is renewed. */
static void stops_at_the_deadline_that_it_knows_when_its_time_to_stop_is_over(void **state)
{
    struct leadership *o = lead_slowly(3000);
    assert_int_equal(leadership_depose(o), LEADERSHIP_DONE);
    const uint64_t begun = now;
    while (leadership_is_held_by(o, a) && now < begun + 3000 * MS) pass(5);
    pass(10);
    const uint64_t deadline = leadership_told_until(o);
    assert_true(leadership_is_held_by(o, a) && deadline > now);
    heard[0] = '\0';
    while (now + 5 * MS < deadline) {
        pass(5);
        assert_string_equal(heard, "");
        assert_int_equal(leadership_told_until(o), deadline);
    }
    wait_for("b elected");
    assert_true(strstr(heard, "a lost forced; b elected; ") == heard);
}

static void the_configuration_bounds_the_time_to_stop(void **state)
{
    struct leadership *o = lead_slowly(UINT32_MAX);
    assert_int_equal(leadership_depose(o), LEADERSHIP_DONE);
    const uint64_t begun = now;
    wait_for("b elected");
    assert_true(now >= begun + 5000 * MS);
}

static void lets_a_member_that_leaves_stop_in_its_time(void **state)
{
    struct leadership *o = lead_slowly(3000);
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_SOME_END);
    pass(2900);
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_SOME_END);
    assert_true(leadership_is_held_by(o, a));
    wait_for("b elected");
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_NONE_END);
}

static void loses_without_a_majority_while_it_stops(void **state)
{
    struct leadership *o = lead_slowly(4000);
    assert_int_equal(leadership_depose(o), LEADERSHIP_DONE);
    members[0].is_cut = true;
    const uint64_t begun = now, deadline = leadership_told_until(o);
    wait_for("a lost no-quorum");
    assert_true(now >= deadline && now < begun + 4000 * MS);
}

/* It may work until the deadline that it knew when we hung up. */
static void freezes_the_deadline_of_one_that_is_expelled_while_it_stops(void **state)
{
    struct leadership *o = lead_slowly(4000);
    assert_int_equal(leadership_depose(o), LEADERSHIP_DONE);
    pass(1000);
    const uint64_t deadline = leadership_told_until(o);
    heard[0] = '\0';
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_EXPELLED), LEADERSHIP_DONE);
    while (now + 5 * MS < deadline) {
        pass(5);
        assert_string_equal(heard, "");
    }
    pass(1000); /* and no longer */
    assert_false(o->tenure->is_held);
}

/* Where b stands, too. */
static struct leadership *lead_by_raft(void)
{
    begin(3);
    struct leadership *o = leadership(1, "raft");
    assert_int_equal(leadership_enter(o, a, 0, ""), LEADERSHIP_DONE);
    for (uint32_t i = 2; i <= 3; i++) (void)leadership(i, "raft");
    wait_for("a elected");
    assert_int_equal(leadership_enter(leadership(2, "raft"), b, 0, ""), LEADERSHIP_DONE);
    pass(1500);
    return o;
}

/* Its machine leads until the other is elected; the work must not begin again meanwhile. */
static void begins_nothing_while_it_hands_over(void **state)
{
    struct leadership *o = lead_by_raft();
    heard[0] = '\0';
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_DONE);
    assert_int_equal(leadership_stopped(o, a, o->tenure->token), LEADERSHIP_DONE);
    expect_heard("a stop transferred; a lost transferred; ");
    wait_for("elected");
    expect_heard("b elected; ");
    assert_false(o->tenure->is_held);
}

/* The other is gone before it can be elected. */
static void leads_again_if_a_hand_over_comes_to_nothing(void **state)
{
    struct leadership *o = lead_by_raft();
    const uint64_t token = o->tenure->token;
    assert_int_equal(leadership_transfer(o, 2), LEADERSHIP_DONE);
    members[1].is_cut = true;
    heard[0] = '\0';
    assert_int_equal(leadership_stopped(o, a, token), LEADERSHIP_DONE);
    wait_for("elected");
    assert_string_equal(heard, "a lost transferred; a elected; ");
    assert_true(o->tenure->token > token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(transfers_once_the_work_has_stopped, finish),
        cmocka_unit_test_teardown(hands_over_without_being_asked_to_stop, finish),
        cmocka_unit_test_teardown(keeps_leadership_if_who_is_to_have_it_is_silent, finish),
        cmocka_unit_test_teardown(resigns_if_the_transfer_fails_after_stopping, finish),
        cmocka_unit_test_teardown(hands_over_when_it_leaves, finish),
        cmocka_unit_test_teardown(leaves_alone_too, finish),
        cmocka_unit_test_teardown(keeps_its_lease_while_it_stops, finish),
        cmocka_unit_test_teardown(stops_at_the_deadline_that_it_knows_when_its_time_to_stop_is_over, finish),
        cmocka_unit_test_teardown(the_configuration_bounds_the_time_to_stop, finish),
        cmocka_unit_test_teardown(lets_a_member_that_leaves_stop_in_its_time, finish),
        cmocka_unit_test_teardown(loses_without_a_majority_while_it_stops, finish),
        cmocka_unit_test_teardown(freezes_the_deadline_of_one_that_is_expelled_while_it_stops, finish),
        cmocka_unit_test_teardown(begins_nothing_while_it_hands_over, finish),
        cmocka_unit_test_teardown(leads_again_if_a_hand_over_comes_to_nothing, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
