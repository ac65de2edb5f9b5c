/*
 * Kubernetes' Lease, rule by rule: node 4 of four is the store. A lease is 100, the holder's deadline 60, it renews every 20, and a
 * request is given up after 30. w is the incarnation, x the version by which the holder got the lease.
 */
#include "lib/node/lease.h"

enum { STORE = 4 };

static void sit_as(el_node self)
{
    sit("kubernetes-lease", STORE, self);
    option("lease", 100);
    option("deadline", 60);
    option("retry", 20);
    option("timeout", 30);
    option("watch", 1);
    option("guard", 1);
}

static void sit_leading(void)
{
    sit_as(1);
    starts();
    hears(STORE, "Lease 4 m1 w1");
    hears(STORE, "Updated 1 e1 m2 w1 x1");
    sees("leads");
    shows(1, "lease");
}

/* Node 2 holds it, since version 3. */
static void sit_following(void)
{
    sit_as(1);
    starts();
    hears(STORE, "Lease 2 e5 m1 w1 x3");
    sees("follows 2");
    shows(3, "expiry");
}

/* ---- The candidate ---- */

static void a_free_lease_is_taken_by_a_write(void **state)
{
    sit_as(1);
    starts();
    did("save e1; note reads; send 4 Get 1 m1 w1 f1; arm call 30");
    hears(STORE, "Lease 4 m1 w1");
    did("disarm call; arm poll 40..44; note takes; arm probe 60; send 4 Update 1 m2 w1 f1; arm call 30");
    sees("elects");
    hears(STORE, "Updated 1 e1 m2 w1 x1");
    did("disarm call; move probe to lease; arm beat 20; disarm poll; disarm expiry; note leads 1");
}

static void the_age_counts_from_when_it_saw_a_change(void **state)
{
    sit_as(1);
    starts();
    hears(STORE, "Lease 2 e5 m1 w1 x3");
    did("disarm call; arm poll 40..44; note observes 2 3; arm expiry 100");
    hears(STORE, "Modified 2 e6 x3");
    did("arm poll 40..44; arm expiry 100");
    hears(STORE, "Modified 2 e6 x3"); /* no change: the same write again, or one that was overtaken */
    did("arm poll 40..44");
    hears(STORE, "Modified 2 e5 x3");
    did("arm poll 40..44");
}

static void after_a_whole_lease_without_a_change_it_takes_it(void **state)
{
    sit_following();
    times_out("expiry");
    did("note sees-it-expire 2; note takes; arm probe 60; send 4 Update 1 e5 m2 w1 f1; arm call 30");
    sees("elects");
    hears(STORE, "Conflict 3 e6 m2 w1 x6");
    did("disarm call; arm poll 40..44; note observes 3 6; arm expiry 100; note loses");
    sees("follows 3");
}

static void an_empty_holder_is_taken_at_once(void **state)
{
    sit_following();
    hears(STORE, "Modified 4 e6 x6");
    did("arm poll 40..44; arm expiry 100; note takes; arm probe 60; send 4 Update 1 e6 m2 w1 f1; arm call 30");
}

static void without_news_it_polls(void **state)
{
    sit_following();
    times_out("poll");
    did("send 4 Get 1 m2 w1 f1; arm call 30");
    times_out("call");
    did("note asks-again; send 4 Get 1 m3 w1 f1; arm call 30");
    option("watch", 0);
    hears(STORE, "Lease 2 e6 m3 w1 x3");
    did("disarm call; arm poll 20..24; arm expiry 100");
}

static void its_own_name_in_the_object_is_no_claim(void **state)
{
    sit_as(1);
    starts();
    hears(STORE, "Lease 1 e5 m1 w1 x3"); /* an earlier incarnation's, or a write whose answer was lost */
    did("disarm call; arm poll 40..44; arm expiry 100; note takes; arm probe 60; send 4 Update 1 e5 m2 w1 f1; arm call 30");
    sees("elects");
    hears(STORE, "Updated 1 e6 m2 w1 x6");
    shows(6, "lease"); /* a token that nobody had */
}

/* ---- The holder ---- */

static void a_renewal_keeps_the_token(void **state)
{
    sit_leading();
    times_out("beat");
    did("arm probe 60; send 4 Update 1 e1 m3 w1; arm call 30");
    hears(STORE, "Updated 1 e2 m3 w1 x1");
    did("disarm call; move probe to lease; arm beat 20; disarm poll; disarm expiry");
    shows(1, "lease");
}

static void a_renewal_whose_answer_was_lost_is_written_again(void **state)
{
    sit_leading();
    times_out("beat");
    times_out("call");
    did("note asks-again; arm probe 60; send 4 Update 1 e1 m4 w1; arm call 30");
    hears(STORE, "Updated 1 e2 m3 w1 x1"); /* the first answer, late: its time began earlier */
    did("note ignores");
    hears(STORE, "Conflict 1 e2 m4 w1 x1");
    did("disarm call; arm poll 40..44; arm expiry 100; arm probe 60; send 4 Update 1 e2 m5 w1; arm call 30");
    sees("leads");
}

static void at_its_deadline_it_waits_for_no_answer(void **state)
{
    sit_leading();
    times_out("beat");
    times_out("lease");
    did("note lapses; disarm call; disarm lease; disarm beat; send 4 Get 1 m4 w1 f1; arm call 30");
    sees("elects");
    hears(STORE, "Updated 1 e2 m3 w1 x1");
    did("note ignores");
    sees("elects");
}

static void another_holder_deposes_it(void **state)
{
    sit_leading();
    hears(STORE, "Modified 2 e2 x2");
    did("arm poll 40..44; note observes 2 2; note is-deposed 2; disarm call; disarm lease; disarm beat; arm expiry 100");
    sees("follows 2");
}

static void without_the_guard_nothing_bounds_its_claim(void **state)
{
    sit_as(1);
    option("guard", 0);
    starts();
    hears(STORE, "Lease 4 m1 w1");
    hears(STORE, "Updated 1 e1 m2 w1 x1");
    did("disarm call; arm lease 80; arm beat 20; disarm poll; disarm expiry; note leads 1"); /* from the answer */
    shows(1, "none");
}

static void resigning_empties_the_holder_and_leaves_it_to_others(void **state)
{
    sit_leading();
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns; disarm call; disarm lease; disarm beat; arm probe 60; send 4 Update 4 e1 m3 w1 f1; arm call 30");
    sees("elects");
    times_out("call");
    did("note asks-again; arm probe 60; send 4 Update 4 e1 m4 w1 f1; arm call 30");
    hears(STORE, "Updated 4 e2 m4 w1 x2");
    did("disarm call; note has-resigned; arm expiry 100; send 4 Get 1 m5 w1 f1; arm call 30");
    hears(STORE, "Lease 4 e2 m5 w1 x2");
    did("disarm call; arm poll 40..44"); /* not back to itself */
    times_out("expiry");
    did("note takes; arm probe 60; send 4 Update 1 e2 m6 w1 f1; arm call 30");
}

static void requests_to_others_are_declined(void **state)
{
    sit_following();
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    requests(EL_TRANSFER, 3);
    did("note declined");
    campaigns();
    did("note is-candidate");
    hears(2, "Modified 1 e9 x9");
    did("note ignores");
}

static void it_counts_its_incarnations(void **state)
{
    sit_as(1);
    starts_again_from((struct el_durable){.epoch = 4});
    did("save e5; note reads; send 4 Get 1 m1 w5 f1; arm call 30");
    hears(STORE, "Lease 2 e5 m1 w4 x3");
    did("note ignores");
    sit_as(1);
    seat_start(EL_LOST, EL_NOBODY);
    did("");
    is_told(0, 1000);
    did("save e1001; note reads; send 4 Get 1 m1 w1001 f1; arm call 30");
}

/* ---- The store ---- */

static void sit_serving(void)
{
    sit_as(STORE);
    starts();
    did("save e1");
    hears(1, "Get 1 m1 w1 f1");
    hears(2, "Get 2 m1 w1 f1");
    hears(3, "Get 3 m1 w1"); /* does not watch */
    did("send 3 Lease 4 m1 w1");
}

static void of_two_writes_the_first_wins(void **state)
{
    sit_serving();
    hears(1, "Update 1 m2 w1 f1");
    did("note writes 1 1; send 1 Updated 1 e1 m2 w1 x1; send 2 Modified 1 e1 x1");
    hears(2, "Update 2 m2 w1 f1");
    did("note refuses 2 1; send 2 Conflict 1 e1 m2 w1 x1");
    sees("follows 1");
}

static void it_takes_only_writes_about_their_writer(void **state)
{
    sit_serving();
    hears(1, "Update 2 m2 w1 f1");
    did("");
    hears(1, "Updated 1 e4 m2 w1 x4");
    did("");
}

static void it_returns_with_its_object_and_without_watches(void **state)
{
    sit_serving();
    hears(1, "Update 1 m2 w1 f1");
    comes_back();
    did("note returns");
    hears(1, "Update 1 e1 m3 w1");
    did("send 1 Updated 1 e2 m3 w1 x1");
    hears(1, "Update 4 e2 m4 w1 f1");
    did("note empties 3; send 1 Updated 4 e3 m4 w1 x3");
}

static void without_its_data_it_waits_and_starts_above(void **state)
{
    sit_as(STORE);
    seat_start(EL_LOST, EL_NOBODY);
    did("save e1; note has-lost");
    is_told(0, 5);
    did("arm silence 100");
    hears(1, "Get 1 m1 w1 f1");
    did("");
    times_out("silence");
    did("note serves");
    hears(1, "Get 1 m2 w1 f1");
    did("send 1 Lease 4 e5120 m2 w1");
}

static void all_begin_under_an_incumbent(void **state)
{
    sit_as(STORE);
    starts_under(2);
    sees("follows 2");
    sit_as(2);
    starts_under(2);
    did("arm lease 60; save e1; arm probe 60; send 4 Update 2 e1 m1 w1; arm call 30");
    shows(1, "lease");
    sit_as(STORE);
    starts_under(STORE);
    sees("idle");
    campaigns();
    did("note is-store");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_lease_is_taken_by_a_write),
        cmocka_unit_test(the_age_counts_from_when_it_saw_a_change),
        cmocka_unit_test(after_a_whole_lease_without_a_change_it_takes_it),
        cmocka_unit_test(an_empty_holder_is_taken_at_once),
        cmocka_unit_test(without_news_it_polls),
        cmocka_unit_test(its_own_name_in_the_object_is_no_claim),
        cmocka_unit_test(a_renewal_keeps_the_token),
        cmocka_unit_test(a_renewal_whose_answer_was_lost_is_written_again),
        cmocka_unit_test(at_its_deadline_it_waits_for_no_answer),
        cmocka_unit_test(another_holder_deposes_it),
        cmocka_unit_test(without_the_guard_nothing_bounds_its_claim),
        cmocka_unit_test(resigning_empties_the_holder_and_leaves_it_to_others),
        cmocka_unit_test(requests_to_others_are_declined),
        cmocka_unit_test(it_counts_its_incarnations),
        cmocka_unit_test(of_two_writes_the_first_wins),
        cmocka_unit_test(it_takes_only_writes_about_their_writer),
        cmocka_unit_test(it_returns_with_its_object_and_without_watches),
        cmocka_unit_test(without_its_data_it_waits_and_starts_above),
        cmocka_unit_test(all_begin_under_an_incumbent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
