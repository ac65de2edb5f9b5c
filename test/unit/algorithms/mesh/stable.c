/* The stable leader, rule by rule: delta is 50, so waits are 100. Round r is that of member 1 + (r - 1) mod n. */
#include "lib/node/node.h"

static void sit_in(uint32_t count, el_node self)
{
    sit("stable", count, self);
    option("delta", 50);
}

static void declines(enum el_request_what what, el_node to, enum el_answer answer)
{
    requests(what, to);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], answer);
}

/* ---- The owner ---- */

static void the_owner_of_the_first_round_leads_after_delta(void **state)
{
    sit_in(3, 1);
    starts();
    did("note begins 1 1; disarm wait; send 2,3 OK 1 e1; arm beat 50");
    sees("elects");
    times_out("beat");
    did("note leads 1; send 2,3 OK 1 e1; arm beat 50");
    sees("leads");
    assert_int_equal(term(), 1);
    times_out("beat");
    did("send 2,3 OK 1 e1; arm beat 50");
}

static void alone_one_leads(void **state)
{
    sit_in(1, 1);
    starts();
    times_out("beat");
    did("note leads 1; arm beat 50");
    sees("leads");
    declines(EL_RESIGN, EL_NOBODY, EL_NOT_ELIGIBLE);
    sees("leads");
}

static void an_owner_that_hears_of_a_newer_round_follows(void **state)
{
    sit_in(3, 1);
    starts();
    times_out("beat");
    hears(2, "Start 3 e3");
    did("note begins 3 3; send 3 Start 3 e3; disarm beat; arm wait 100");
    sees("elects");
    assert_int_equal(term(), 3);
}

/* ---- The others ---- */

static void two_oks_make_a_leader(void **state)
{
    sit_in(3, 2);
    starts();
    did("note begins 1 1; send 1 Start 1 e1; disarm beat; arm wait 100");
    hears(1, "OK 1 e1");
    did("arm wait 100");
    sees("elects");
    hears(1, "OK 1 e1");
    did("note follows 1 1; arm wait 100");
    sees("follows 1");
    hears(1, "OK 1 e1");
    did("arm wait 100");
}

static void the_owner_of_the_next_round_takes_over_from_a_silent_one(void **state)
{
    sit_in(3, 2);
    starts();
    hears(1, "OK 1 e1");
    hears(1, "OK 1 e1");
    times_out("wait");
    did("note gives-up 1 1; note begins 2 2; disarm wait; send 1,3 OK 2 e2; arm beat 50");
    sees("elects");
    times_out("beat");
    sees("leads");
    assert_int_equal(term(), 2);
}

static void others_tell_the_next_owner_and_wait_for_it(void **state)
{
    sit_in(3, 3);
    starts();
    times_out("wait");
    did("note gives-up 1 1; note begins 2 2; send 2 Start 2 e2; disarm beat; arm wait 100");
    sees("elects");
    times_out("wait");
    did("note gives-up 2 2; note begins 3 3; disarm wait; send 1,2 OK 3 e3; arm beat 50");
}

static uint64_t waits(const char *timer)
{
    const uint64_t armed = seat.out.actions[seat.out.count - 1].min;
    assert_int_equal(seat.out.actions[seat.out.count - 1].type, EL_ARM);
    times_out(timer);
    return armed;
}

static void with_j_owners_dead_the_next_leads_after_2_j_plus_1_delta(void **state)
{
    for (el_node j = 0; j < 9; j++) {
        uint64_t time = 0;
        sit_in(9, j + 1);
        starts();
        for (el_node dead = 0; dead < j; dead++) time += waits("wait");
        sees("elects");
        time += waits("beat");
        sees("leads");
        assert_int_equal(time, (2 * j + 1) * 50);
    }
}

static void rounds_go_round(void **state)
{
    sit_in(2, 2);
    starts();
    hears(1, "OK 1 e5");
    did("note begins 1 5; send 1 Start 1 e5; disarm beat; arm wait 100");
    sees("elects");
    hears(1, "OK 1 e5"); /* the one that brought the round has counted */
    did("note follows 1 5; arm wait 100");
    assert_int_equal(term(), 5);
}

static void whoever_is_behind_is_told_of_the_round(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "Start 3 e6");
    hears(1, "OK 1 e1");
    did("note tells 1 6; send 1 Start 3 e6");
    hears(1, "Start 1 e4");
    did("note tells 1 6; send 1 Start 3 e6");
    hears(1, "Start 1 e0");
    did("note tells 1 6; send 1 Start 3 e6");
    hears(1, "Start 3 e6"); /* it knows */
    did("");
    assert_int_equal(term(), 6);
}

/* Whatever its rank. */
static void whoever_comes_back_displaces_nobody(void **state)
{
    sit_in(3, 2);
    starts();
    times_out("wait");
    times_out("beat");
    sees("leads");
    hears(3, "Start 1 e1");
    did("note tells 3 2; send 3 Start 2 e2");
    hears(1, "OK 1 e1");
    did("note tells 1 2; send 1 Start 2 e2");
    sees("leads");
    sit_in(3, 1); /* and from its side: it does not lead between its first OK and the answer */
    comes_back();
    did("note begins 1 1; disarm wait; send 2,3 OK 1 e1; arm beat 50");
    hears(2, "Start 2 e2");
    did("note begins 2 2; send 2 Start 2 e2; disarm beat; arm wait 100");
    sees("elects");
}

static void a_lost_record_is_no_loss(void **state)
{
    sit_in(3, 2);
    seat_start(EL_LOST, 3); /* only who starts for the first time begins under somebody */
    did("note begins 1 1; send 1 Start 1 e1; disarm beat; arm wait 100");
}

/* ---- Beginning under somebody ---- */

static void all_begin_in_the_round_of_the_incumbent(void **state)
{
    for (el_node leader = 1; leader <= 3; leader++)
        for (el_node self = 1; self <= 3; self++) {
            char expected[32];
            sit_in(3, self);
            starts_under(leader);
            snprintf(expected, sizeof expected, "follows %u", leader);
            sees(self == leader ? "leads" : expected);
            assert_int_equal(term(), leader);
        }
    sit_in(3, 2);
    starts_under(2);
    did("note begins 2 2; disarm wait; send 1,3 OK 2 e2; arm beat 50");
    sit_in(3, 1);
    starts_under(3);
    did("note begins 3 3; disarm beat; arm wait 100"); /* it knows */
}

/* ---- Who may lead ---- */

static void rounds_of_those_who_may_not_lead_are_passed_over(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    sit_in(4, 1);
    seat.cluster.roles = roles;
    starts_under(3); /* which cannot be */
    did("note begins 2 2; send 2 Start 2 e2; disarm beat; arm wait 100");
    times_out("wait");
    did("note gives-up 2 2; note begins 4 4; send 4 Start 4 e4; disarm beat; arm wait 100");
    times_out("wait");
    did("note gives-up 4 4; note begins 2 6; send 2 Start 2 e6; disarm beat; arm wait 100");
    hears(3, "OK 3 e7"); /* and nobody honest claims one */
    did("note malformed 3");
    hears(4, "Start 3 e7");
    did("note malformed 4");
}

static void where_nobody_may_lead_nobody_does(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_ORDINARY};
    sit_in(2, 1);
    seat.cluster.roles = roles;
    starts();
    did("note begins 1 1; disarm beat; arm wait 100");
    times_out("wait");
    did("note gives-up 1 1; note begins 2 2; send 2 Start 2 e2; disarm beat; arm wait 100");
    times_out("wait");
    sees("elects");
    declines(EL_RESIGN, EL_NOBODY, EL_NOT_LEADING);
}

/* ---- Waiting longer ---- */

static void a_wait_that_was_too_short_grows_once(void **state)
{
    sit_in(3, 3);
    option("adapt", 1);
    starts();
    times_out("wait");
    hears(2, "OK 1 e1"); /* it cannot know */
    did("note tells 2 2; send 2 Start 2 e2");
    hears(1, "OK 1 e1");
    did("note waits-longer 1; note tells 1 2; send 1 Start 2 e2");
    hears(1, "OK 1 e1");
    did("note tells 1 2; send 1 Start 2 e2");
    hears(2, "OK 2 e2");
    did("arm wait 150");
}

static void only_an_ok_of_the_round_given_up_proves_it(void **state)
{
    sit_in(3, 3);
    option("adapt", 1);
    starts();
    hears(1, "OK 1"); /* a round that never was */
    did("note tells 1 1; send 1 Start 1 e1");
    times_out("wait");
    hears(1, "Start 1 e1");
    did("note tells 1 2; send 1 Start 2 e2");
    hears(2, "OK 2 e5");
    hears(2, "OK 2 e2");
    did("note tells 2 5; send 2 Start 2 e5");
    hears(2, "OK 2 e5");
    did("note follows 2 5; arm wait 100");
}

static void waits_stay_where_delta_is_known(void **state)
{
    sit_in(3, 3);
    starts();
    times_out("wait");
    hears(1, "OK 1 e1");
    did("note tells 1 2; send 1 Start 2 e2");
    hears(2, "OK 2 e2");
    did("arm wait 100");
}

/* ---- Requests ---- */

static void a_call_changes_nothing(void **state)
{
    sit_in(3, 2);
    starts_under(1);
    campaigns();
    did("note goes-on");
    sees("follows 1");
}

static void who_resigns_begins_the_next_round_and_tells_all(void **state)
{
    sit_in(3, 3);
    starts_under(3);
    requests(EL_RESIGN, EL_NOBODY);
    did("note hands-over 1 4; note begins 1 4; send 1 Start 1 e4; disarm beat; arm wait 100; send 2 Start 1 e4");
    sees("elects");
    declines(EL_RESIGN, EL_NOBODY, EL_NOT_LEADING);
}

static void who_hands_over_begins_the_next_round_of_the_heir(void **state)
{
    sit_in(4, 3);
    starts_under(3);
    requests(EL_TRANSFER, 2);
    did("note hands-over 2 6; note begins 2 6; send 2 Start 2 e6; disarm beat; arm wait 100; "
        "send 1,4 Start 2 e6");
    sit_in(4, 3);
    starts_under(3);
    requests(EL_TRANSFER, 4);
    did("note hands-over 4 4; note begins 4 4; send 4 Start 4 e4; disarm beat; arm wait 100; "
        "send 1,2 Start 4 e4");
}

static void what_cannot_be_handed_over_is_declined(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE};
    sit_in(3, 2);
    seat.cluster.roles = roles;
    starts_under(2);
    declines(EL_TRANSFER, 1, EL_NOT_ELIGIBLE);
    declines(EL_TRANSFER, 2, EL_NOT_ELIGIBLE);
    requests(EL_TRANSFER, 3);
    did("note hands-over 3 3; note begins 3 3; send 3 Start 3 e3; disarm beat; arm wait 100; send 1 Start 3 e3");
    sit_in(3, 2); /* its round, but not led yet */
    starts();
    times_out("wait");
    declines(EL_RESIGN, EL_NOBODY, EL_NOT_LEADING);
}

/* ---- Hostile bytes ---- */

static void nobody_speaks_for_another_owner(void **state)
{
    sit_in(3, 2);
    starts();
    hears(3, "OK 1 e1");
    did("note malformed 3");
    hears(3, "OK 2 e5");
    did("note malformed 3");
    assert_int_equal(term(), 1);
}

static void rounds_stay_far_below_the_largest(void **state)
{
    sit_in(3, 2);
    starts();
    hears(1, "Start 1 e9007199254740991");
    did("note malformed 1");
    hears(1, "Start 1 e4503599627370497");
    did("note malformed 1");
    hears(1, "Start 1 e4503599627370496");
    assert_int_equal(term(), UINT64_C(4503599627370496));
    times_out("wait");
    times_out("wait");
    assert_int_equal(term(), UINT64_C(4503599627370498));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_owner_of_the_first_round_leads_after_delta),
        cmocka_unit_test(alone_one_leads),
        cmocka_unit_test(an_owner_that_hears_of_a_newer_round_follows),
        cmocka_unit_test(two_oks_make_a_leader),
        cmocka_unit_test(the_owner_of_the_next_round_takes_over_from_a_silent_one),
        cmocka_unit_test(others_tell_the_next_owner_and_wait_for_it),
        cmocka_unit_test(with_j_owners_dead_the_next_leads_after_2_j_plus_1_delta),
        cmocka_unit_test(rounds_go_round),
        cmocka_unit_test(whoever_is_behind_is_told_of_the_round),
        cmocka_unit_test(whoever_comes_back_displaces_nobody),
        cmocka_unit_test(a_lost_record_is_no_loss),
        cmocka_unit_test(all_begin_in_the_round_of_the_incumbent),
        cmocka_unit_test(rounds_of_those_who_may_not_lead_are_passed_over),
        cmocka_unit_test(where_nobody_may_lead_nobody_does),
        cmocka_unit_test(a_wait_that_was_too_short_grows_once),
        cmocka_unit_test(only_an_ok_of_the_round_given_up_proves_it),
        cmocka_unit_test(waits_stay_where_delta_is_known),
        cmocka_unit_test(a_call_changes_nothing),
        cmocka_unit_test(who_resigns_begins_the_next_round_and_tells_all),
        cmocka_unit_test(who_hands_over_begins_the_next_round_of_the_heir),
        cmocka_unit_test(what_cannot_be_handed_over_is_declined),
        cmocka_unit_test(nobody_speaks_for_another_owner),
        cmocka_unit_test(rounds_stay_far_below_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
