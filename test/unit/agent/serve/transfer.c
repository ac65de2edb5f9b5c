/* How one makes way for another. */
#include "lib/host/leaderships.h"

static void transfers_once_the_work_has_stopped(void **state)
{
    begin(3);
    lead(1, a);
    struct office *o = office(1, "g");
    assert_int_equal(office_transfer(o, 1), OFFICE_NOT_ELIGIBLE);
    assert_int_equal(office_transfer(o, 2), OFFICE_NOT_STANDING);
    assert_int_equal(office_enter(office(2, "g"), b, 0, ""), OFFICE_DONE);
    pass(1500);
    assert_int_equal(office_transfer(office(2, "g"), 1), OFFICE_NOT_LEADING);
    heard[0] = '\0';
    assert_int_equal(office_transfer(o, 2), OFFICE_DONE);
    assert_int_equal(office_transfer(o, 2), OFFICE_UNDER_WAY);
    expect_heard("a stop transferred; ");
    const uint64_t token = o->tenure->token;
    pass(200);
    expect_heard("");
    assert_int_equal(office_stopped(o, a, token), OFFICE_DONE);
    wait_for("b elected");
    assert_true(strstr(heard, "a lost transferred; b elected; ") == heard);
    assert_true(office(2, "g")->tenure->token > token);
    pass(3000);
    assert_true(office(2, "g")->tenure->is_held); /* a is a candidate, but does not take it back */
}

static void hands_over_without_being_asked_to_stop(void **state)
{
    begin(3);
    lead(1, a);
    struct office *o = office(1, "g");
    const uint64_t token = o->tenure->token;
    assert_int_equal(office_hand_over(o, a, token, 2), OFFICE_NOT_STANDING);
    assert_int_equal(office_enter(office(2, "g"), b, 0, ""), OFFICE_DONE);
    assert_int_equal(office_enter(o, c, 0, ""), OFFICE_DONE);
    pass(1500);
    heard[0] = '\0';
    assert_int_equal(office_hand_over(o, c, token, 2), OFFICE_NOT_LEADING); /* in another's name */
    assert_int_equal(office_hand_over(o, a, token - 1, 2), OFFICE_NOT_LEADING);
    assert_true(o->tenure->is_held);
    assert_int_equal(office_hand_over(o, a, token, 2), OFFICE_DONE);
    wait_for("b elected");
    assert_true(strstr(heard, "a lost transferred; b elected; ") == heard);
    assert_true(office(2, "g")->tenure->token > token);
    assert_true(office_stands(o, a));
}

static void keeps_office_if_who_is_to_have_it_is_silent(void **state)
{
    begin(3);
    lead(1, a);
    assert_int_equal(office_enter(office(2, "g"), b, 0, ""), OFFICE_DONE);
    pass(1500);
    members[1].is_cut = true;
    pass(2100);
    heard[0] = '\0';
    assert_int_equal(office_transfer(office(1, "g"), 2), OFFICE_OUT_OF_TOUCH);
    assert_true(office(1, "g")->tenure->is_held);
}

static void resigns_if_the_transfer_fails_after_stopping(void **state)
{
    begin(3);
    lead(1, a);
    struct office *o = office(1, "g");
    assert_int_equal(office_enter(office(2, "g"), b, 0, ""), OFFICE_DONE);
    pass(1500);
    assert_int_equal(office_transfer(o, 2), OFFICE_DONE);
    heard[0] = '\0';
    assert_int_equal(office_withdraw(office(2, "g"), b, OFFICE_RESIGNS), OFFICE_DONE);
    settle();
    assert_int_equal(office_stopped(o, a, o->tenure->token), OFFICE_DONE);
    assert_true(strstr(heard, "a lost not-transferred; ") == heard);
}

static void hands_over_when_it_leaves(void **state)
{
    begin(3);
    lead(1, a);
    struct office *o = office(1, "g");
    assert_int_equal(office_enter(office(2, "g"), b, 0, ""), OFFICE_DONE);
    assert_int_equal(office_enter(office(3, "g"), c, 5, ""), OFFICE_DONE);
    pass(1500);
    heard[0] = '\0';
    assert_false(offices_leave(&members[0].offices));
    assert_false(offices_leave(&members[0].offices)); /* asked again, said once */
    expect_heard("a stop leaving; ");
    assert_int_equal(office_enter(o, b, 0, ""), OFFICE_LEAVING);
    assert_int_equal(office_stopped(o, a, o->tenure->token), OFFICE_DONE);
    assert_true(offices_leave(&members[0].offices));
    assert_false(host_stands(o->group, 1, NULL));
    wait_for("c elected");
    assert_true(strstr(heard, "a lost leaving; c elected; ") == heard);
}

static void leaves_alone_too(void **state)
{
    begin(1);
    lead(1, a);
    heard[0] = '\0';
    assert_false(offices_leave(&members[0].offices));
    assert_int_equal(office_withdraw(office(1, "g"), a, OFFICE_DIES), OFFICE_DONE);
    assert_true(offices_leave(&members[0].offices));
    pass(5000);
    expect_heard("a stop leaving; ");
    assert_int_not_equal(host_view_of(office(1, "g")->group).role, EL_LEADER);
}

/* Where b stands, too. */
static struct office *lead_by_raft(void)
{
    begin(3);
    struct office *o = office(1, "raft");
    assert_int_equal(office_enter(o, a, 0, ""), OFFICE_DONE);
    for (uint32_t i = 2; i <= 3; i++) (void)office(i, "raft");
    wait_for("a elected");
    assert_int_equal(office_enter(office(2, "raft"), b, 0, ""), OFFICE_DONE);
    pass(1500);
    return o;
}

/* Its machine leads until the other is elected; the work must not begin again meanwhile. */
static void begins_nothing_while_it_hands_over(void **state)
{
    struct office *o = lead_by_raft();
    heard[0] = '\0';
    assert_int_equal(office_transfer(o, 2), OFFICE_DONE);
    assert_int_equal(office_stopped(o, a, o->tenure->token), OFFICE_DONE);
    expect_heard("a stop transferred; a lost transferred; ");
    wait_for("elected");
    expect_heard("b elected; ");
    assert_false(o->tenure->is_held);
}

/* The other is gone before it can be elected. */
static void leads_again_if_a_hand_over_comes_to_nothing(void **state)
{
    struct office *o = lead_by_raft();
    const uint64_t token = o->tenure->token;
    assert_int_equal(office_transfer(o, 2), OFFICE_DONE);
    members[1].is_cut = true;
    heard[0] = '\0';
    assert_int_equal(office_stopped(o, a, token), OFFICE_DONE);
    wait_for("elected");
    assert_string_equal(heard, "a lost transferred; a elected; ");
    assert_true(o->tenure->token > token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(transfers_once_the_work_has_stopped, finish),
        cmocka_unit_test_teardown(hands_over_without_being_asked_to_stop, finish),
        cmocka_unit_test_teardown(keeps_office_if_who_is_to_have_it_is_silent, finish),
        cmocka_unit_test_teardown(resigns_if_the_transfer_fails_after_stopping, finish),
        cmocka_unit_test_teardown(hands_over_when_it_leaves, finish),
        cmocka_unit_test_teardown(leaves_alone_too, finish),
        cmocka_unit_test_teardown(begins_nothing_while_it_hands_over, finish),
        cmocka_unit_test_teardown(leads_again_if_a_hand_over_comes_to_nothing, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
