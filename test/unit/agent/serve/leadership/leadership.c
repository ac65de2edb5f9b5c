/* Which of its clients leads a group, alone and among three members. */
#include "lib/host/leaderships.h"

/* ---- Alone ---- */

static void elects_the_first_and_moves_its_deadline(void **state)
{
    begin(1);
    lead(1, a);
    expect_heard("a elected; ");
    const uint64_t token = leadership(1, "g")->tenure->token,
                   deadline = leadership(1, "g")->tenure->deadline_ns;
    assert_true(token > 0 && deadline > now);
    wait_for("lease");
    expect_heard("a lease; ");
    assert_int_equal(leadership(1, "g")->tenure->token, token);
    assert_true(leadership(1, "g")->tenure->deadline_ns > deadline);
}

static void orders_candidates_by_priority_then_arrival(void **state)
{
    begin(1);
    members[0].is_cut = true;
    struct leadership *o = leadership(1, "g");
    lead(1, a);
    assert_int_equal(leadership_enter(o, b, 1, ""), LEADERSHIP_DONE);
    assert_int_equal(leadership_enter(o, c, 2, ""), LEADERSHIP_DONE);
    const struct leadership_candidate *first = slab_at(&o->all->slab, o->candidates),
                                      *second = slab_at(&o->all->slab, first->next);
    assert_ptr_equal(first->client, c);
    assert_ptr_equal(second->client, b);
    assert_ptr_equal(o->tenure->holder->client, a); /* who leads is not turned out by a better one */
    assert_int_equal(leadership_enter(o, b, 7, ""), LEADERSHIP_ALREADY);
    uint64_t priority;
    assert_true(host_stands(o->group, 1, &priority));
    assert_int_equal(priority, 2);
}

static const struct leadership_options *options_of_first(const struct leadership *o)
{
    const struct leadership_candidate *first = slab_at(&o->all->slab, o->candidates);
    return slab_at(&o->all->slab, first->options);
}

/* The client that is elected next, and the priority that the peers are told. */
static void expect_first(struct leadership *o, const void *client, uint64_t priority)
{
    uint64_t told;
    const struct leadership_candidate *first = slab_at(&o->all->slab, o->candidates);
    assert_ptr_equal(first->client, client);
    assert_true(host_stands(o->group, 1, &told));
    assert_int_equal(told, priority);
}

static void a_candidate_changes_its_priority_and_value(void **state)
{
    begin(1);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_change(o, a, 1, ""), LEADERSHIP_NO_CANDIDATE);
    lead(1, a);
    assert_int_equal(leadership_enter(o, b, 1, ""), LEADERSHIP_DONE);
    leadership_set_stop_within(o, b, 700);
    expect_first(o, b, 1);
    assert_int_equal(leadership_change(o, a, 2, "a longer value than before"), LEADERSHIP_DONE);
    expect_first(o, a, 2);
    assert_true(leadership_is_held_by(o, a));                                        /* it leads on, */
    assert_string_equal(host_view_of(o->group).value, "a longer value than before"); /* and all see its value */
    assert_int_equal(leadership_change(o, b, 3, "b"), LEADERSHIP_DONE);
    expect_first(o, b, 3);
    assert_int_equal(options_of_first(o)->stop_within_ms, 700); /* what is set otherwise stays */
    assert_string_equal(options_of_first(o)->value, "b");
    assert_string_equal(host_view_of(o->group).value, "a longer value than before"); /* of the leader */
    assert_int_equal(leadership_change(o, b, 0, ""), LEADERSHIP_DONE);
    expect_first(o, a, 2);
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    expect_first(o, b, 0);
}

static struct leadership *leadership_numbered(unsigned i)
{
    char name[16];
    snprintf(name, sizeof name, "g%u", i);
    return leadership(1, name);
}

static bool is_led(unsigned i)
{
    return leadership_is_held_by(leadership_numbered(i), a);
}

/* Whose deadline, as its holder knows it, has moved on with the others'. */
static void tells_all_that_are_left_of_each_lease(void **state)
{
    enum { OFFICES = 9 };
    uint64_t deadlines[OFFICES];
    begin(1);
    for (unsigned i = 0; i < OFFICES; i++)
        assert_int_equal(leadership_enter(leadership_numbered(i), a, 0, ""), LEADERSHIP_DONE);
    for (unsigned i = 0; i < OFFICES; i++)
        while (!is_led(i)) pass(5);
    static const unsigned gone[] = {4, 5, 3, 0, 8, 6};
    for (unsigned k = 0; k < sizeof gone / sizeof *gone; k++) {
        assert_int_equal(leadership_withdraw(leadership_numbered(gone[k]), a, LEADERSHIP_RESIGNS),
                         LEADERSHIP_DONE);
        for (unsigned i = 0; i < OFFICES; i++) deadlines[i] = leadership_numbered(i)->tenure->deadline_ns;
        pass(2000);
        for (unsigned i = 0; i < OFFICES; i++)
            assert_int_equal(is_led(i), leadership_numbered(i)->tenure->deadline_ns > deadlines[i]);
    }
    assert_true(is_led(1) && is_led(2) && is_led(7));
}

/* Whoever needs more says so here. */
static void thousands_take_little_memory(void **state)
{
    enum { OFFICES = 5000, BYTES_MAX = 16 };
    begin(1);
    for (unsigned i = 0; i < OFFICES; i++)
        assert_int_equal(leadership_enter(leadership_numbered(i), a, 0, ""), LEADERSHIP_DONE);
    const struct leaderships *all = &members[0].leaderships;
    assert_int_equal(all->count, OFFICES);
    assert_true(all->slab.block_count * SLAB_BLOCK <= OFFICES * BYTES_MAX + SLAB_BLOCK);
    for (unsigned i = 0; i < OFFICES; i++) {
        struct leadership *o = leadership_numbered(i);
        for (unsigned round = 0; round < 3; round++) {
            assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
            assert_int_equal(leadership_enter(o, a, 1, "a value"), LEADERSHIP_DONE);
            assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
            assert_int_equal(leadership_enter(o, a, 0, ""), LEADERSHIP_DONE);
            leadership_set_preempt_after(o, a, 5000);
            assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
            assert_int_equal(leadership_enter(o, a, 0, ""), LEADERSHIP_DONE);
        }
    }
    assert_true(all->slab.block_count * SLAB_BLOCK <= OFFICES * BYTES_MAX + SLAB_BLOCK);
}

static void who_wishes_for_nothing_may_be_patient_later(void **state)
{
    begin(1);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(o, a, 0, ""), LEADERSHIP_DONE);
    leadership_set_preempt_after(o, a, 0);
    assert_null(options_of_first(o));
    leadership_set_preempt_after(o, a, 5000);
    assert_int_equal(options_of_first(o)->preempt_after_ms, 5000);
    leadership_set_preempt_after(o, a, 0);
    assert_int_equal(options_of_first(o)->preempt_after_ms, 0);
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    assert_int_equal(leadership_enter(o, a, 3, "here"), LEADERSHIP_DONE);
    leadership_set_preempt_after(o, a, 7000);
    assert_int_equal(options_of_first(o)->preempt_after_ms, 7000);
    assert_int_equal(options_of_first(o)->priority, 3);
    assert_string_equal(options_of_first(o)->value, "here");
}

static void gives_the_next_a_higher_token(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    const uint64_t token = o->tenure->token;
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_DONE);
    heard[0] = '\0';
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    wait_for("b elected");
    expect_heard("a lost resigned; b elected; ");
    assert_true(o->tenure->token > token);
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_NO_CANDIDATE);
}

static void takes_who_hangs_up_for_dead(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_DONE);
    heard[0] = '\0';
    const uint64_t deadline = o->tenure->deadline_ns;
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_DIES), LEADERSHIP_DONE);
    wait_for("b elected");
    expect_heard("b elected; "); /* the dead are told nothing */
    assert_true(now < deadline);
}

static void waits_for_the_deadline_of_whom_it_hung_up_on(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_DONE);
    pass(2000); /* renewed many times */
    heard[0] = '\0';
    const uint64_t deadline = o->tenure->deadline_ns;
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_EXPELLED), LEADERSHIP_DONE);
    while (now + 5 * MS < deadline) {
        pass(5);
        assert_string_equal(heard, "");
        assert_true(host_view_of(o->group).role == EL_LEADER); /* nobody else may begin */
    }
    wait_for("b elected");
    expect_heard("b elected; ");
}

static void stands_until_the_time_of_the_expelled_is_over(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_EXPELLED), LEADERSHIP_DONE);
    assert_true(host_stands(o->group, 1, NULL));
    pass(3000);
    assert_false(host_stands(o->group, 1, NULL));
    assert_int_not_equal(host_view_of(o->group).role, EL_LEADER);
}

static void tells_one_term_from_the_next(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    is_deaf = true;
    assert_int_equal(host_resign(o->group), EL_PERFORMED);
    while (host_view_of(o->group).role != EL_LEADER) pass(5);
    is_deaf = false;
    leadership_changed(o);
    expect_heard("a elected; a lost no-quorum; a elected; ");
}

static void stands_for_nobody_when_the_last_is_gone(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_true(host_stands(o->group, 1, NULL));
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    assert_false(host_stands(o->group, 1, NULL));
    pass(5000);
    assert_int_not_equal(host_view_of(o->group).role, EL_LEADER);
    expect_heard("a elected; a lost resigned; ");
    assert_int_equal(leadership_enter(o, a, 0, ""), LEADERSHIP_DONE); /* and comes back */
    wait_for("a elected");
}

static void proclaims_for_the_holder_alone(void **state)
{
    begin(1);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(o, a, 0, "here"), LEADERSHIP_DONE);
    wait_for("elected");
    assert_string_equal(host_view_of(o->group).value, "here");
    assert_int_equal(leadership_enter(o, b, 0, "there"), LEADERSHIP_DONE);
    assert_int_equal(leadership_proclaim(o, b, "mine"), LEADERSHIP_NOT_LEADING);
    assert_int_equal(leadership_proclaim(o, a, "elsewhere"), LEADERSHIP_DONE);
    assert_string_equal(host_view_of(o->group).value, "elsewhere");
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    wait_for("b elected");
    assert_string_equal(host_view_of(o->group).value, "there");
}

static void deposes_after_the_work_has_stopped(void **state)
{
    begin(1);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_depose(o), LEADERSHIP_NOT_LEADING);
    lead(1, a);
    const uint64_t token = o->tenure->token;
    assert_int_equal(leadership_stopped(o, a, token), LEADERSHIP_NOT_ASKED);
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_DONE);
    heard[0] = '\0';
    assert_int_equal(leadership_depose(o), LEADERSHIP_DONE);
    assert_int_equal(leadership_depose(o), LEADERSHIP_UNDER_WAY);
    expect_heard("a stop forced; ");
    pass(300);
    expect_heard(""); /* no lease after stop */
    assert_int_equal(leadership_stopped(o, b, token), LEADERSHIP_NOT_LEADING);
    assert_int_equal(leadership_stopped(o, a, token + 1), LEADERSHIP_NOT_LEADING);
    assert_int_equal(leadership_stopped(o, a, token), LEADERSHIP_DONE);
    wait_for("b elected");
    expect_heard("a lost forced; b elected; "); /* though a was first once */
    assert_int_equal(o->candidate_count, 2);
}

static void takes_the_deadline_for_stopped(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    heard[0] = '\0';
    assert_int_equal(leadership_depose(o), LEADERSHIP_DONE);
    const uint64_t deadline = o->tenure->deadline_ns;
    expect_heard("a stop forced; ");
    while (now + 5 * MS < deadline) {
        pass(5);
        assert_true(o->tenure->is_held);
    }
    wait_for("lost");
    assert_true(strstr(heard, "a lost forced; ") == heard);
}

static void loses_everything_with_the_disk(void **state)
{
    begin(1);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    heard[0] = '\0';
    members[0].disk_error = 5;
    members[0].saves++; /* one that was under way */
    settle();
    expect_heard("a lost disk; ");
    leaderships_fail(&members[0].leaderships);
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_FAILED);
    pass(5000);
    expect_heard("");
}

static void ends_when_the_disk_is_said_to_fail(void **state)
{
    begin(1);
    lead(1, a);
    leaderships_fail(&members[0].leaderships);
    pass(3000);
    expect_heard("a elected; a lost disk; ");
}

/* ---- Three ---- */

static void loses_without_a_majority(void **state)
{
    begin(3);
    lead(1, a);
    heard[0] = '\0';
    const uint64_t deadline = leadership(1, "g")->tenure->deadline_ns;
    members[0].is_cut = true;
    wait_for("lost");
    assert_non_null(strstr(heard, "a lost no-quorum; "));
    assert_true(now >= deadline);
    members[0].is_cut = false;
    heard[0] = '\0';
    wait_for("a elected"); /* it is still a candidate */
}

/* The deadline passes, and only then, though before the lease is over, an answer renews it. */
static void never_gives_one_token_twice(void **state)
{
    begin(3);
    lead(1, a);
    struct leadership *o = leadership(1, "g");
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_DONE);
    pass(1500);
    members[0].is_cut = true;
    const uint64_t token = o->tenure->token, deadline = o->tenure->deadline_ns,
                   end = host_view_of(o->group).lease_end_ns;
    while (now + 60 * MS < deadline) pass(5);
    members[0].is_cut = false;
    heard[0] = '\0';
    for (; now < deadline; now += 5 * MS) (void)host_tick(members[0].host); /* a beat goes out and waits */
    (void)host_tick(members[0].host);
    expect_heard("a lost no-quorum; ");
    assert_true(queued > 0);
    settle();
    assert_true(now < end && host_view_of(o->group).token == token); /* its machine leads on */
    expect_heard("");
    wait_for("elected");
    assert_true(now >= end); /* the margin is kept */
    assert_true(o->tenure->token > token);
}

static void leads_by_rank_where_nobody_can_resign(void **state)
{
    begin(1);
    struct leadership *o = leadership(1, "bully");
    assert_int_equal(leadership_enter(o, a, 0, ""), LEADERSHIP_DONE);
    wait_for("a elected");
    assert_true(o->tenure->deadline_ns == UINT64_MAX);
    assert_int_equal(leadership_depose(o), LEADERSHIP_CANNOT);
    assert_int_equal(leadership_enter(o, b, 0, ""), LEADERSHIP_DONE);
    heard[0] = '\0';
    assert_int_equal(leadership_withdraw(o, a, LEADERSHIP_RESIGNS), LEADERSHIP_DONE);
    expect_heard("a lost resigned; b elected; ");
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_SOME_END);
    assert_int_equal(leadership_stopped(o, b, o->tenure->token), LEADERSHIP_DONE);
    assert_int_equal(leaderships_leave(&members[0].leaderships), LEADERSHIPS_NONE_END);
    expect_heard("b stop leaving; b lost leaving; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(elects_the_first_and_moves_its_deadline, finish),
        cmocka_unit_test_teardown(orders_candidates_by_priority_then_arrival, finish),
        cmocka_unit_test_teardown(a_candidate_changes_its_priority_and_value, finish),
        cmocka_unit_test_teardown(tells_all_that_are_left_of_each_lease, finish),
        cmocka_unit_test_teardown(thousands_take_little_memory, finish),
        cmocka_unit_test_teardown(who_wishes_for_nothing_may_be_patient_later, finish),
        cmocka_unit_test_teardown(gives_the_next_a_higher_token, finish),
        cmocka_unit_test_teardown(takes_who_hangs_up_for_dead, finish),
        cmocka_unit_test_teardown(waits_for_the_deadline_of_whom_it_hung_up_on, finish),
        cmocka_unit_test_teardown(stands_until_the_time_of_the_expelled_is_over, finish),
        cmocka_unit_test_teardown(tells_one_term_from_the_next, finish),
        cmocka_unit_test_teardown(stands_for_nobody_when_the_last_is_gone, finish),
        cmocka_unit_test_teardown(proclaims_for_the_holder_alone, finish),
        cmocka_unit_test_teardown(deposes_after_the_work_has_stopped, finish),
        cmocka_unit_test_teardown(takes_the_deadline_for_stopped, finish),
        cmocka_unit_test_teardown(loses_everything_with_the_disk, finish),
        cmocka_unit_test_teardown(ends_when_the_disk_is_said_to_fail, finish),
        cmocka_unit_test_teardown(loses_without_a_majority, finish),
        cmocka_unit_test_teardown(never_gives_one_token_twice, finish),
        cmocka_unit_test_teardown(leads_by_rank_where_nobody_can_resign, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
