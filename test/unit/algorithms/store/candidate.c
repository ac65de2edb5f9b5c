/*
 * A candidate in a queue, rule by rule: its session, its key, whom it watches, when it leads and until when, and what it makes
 * of answers that are late, lost or not its own. See test/lib/node/store.h for the words.
 */
#include "lib/node/store.h"

static void sit_leading(void)
{
    sit_standing("etcd-election", "Granted 4 e7 m1 w1");
    hears(STORE, "Created 1 e7 a8 m2 w1 y8");
    sees("leads");
    shows(8, "lease");
}

static void sit_waiting(void)
{
    sit_standing("etcd-election", "Granted 2 e7 m1 w1 y5");
    hears(STORE, "Created 2 e7 a8 m2 w1 x6 y5");
    did("disarm call; note waits 6; send 4 Watch 1 e7 a6 m3 w1; arm call 30");
    hears(STORE, "Watching 2 e7 a8 m3 w1 x6 y5");
    did("disarm call");
    sees("follows 2");
}

/* ---- Session and key ---- */

static void it_counts_the_lease_from_the_sending(void **state)
{
    sit_at_store("etcd-election", 1);
    starts();
    did("save e1; note opens; arm probe 100; send 4 Grant 1 m1 w1; arm call 30");
    hears(STORE, "Granted 4 e7 m1 w1");
    did("disarm call; move probe to lease; arm beat 40; note stands; send 4 Txn 1 e7 m2 w1; arm call 30");
    sees("elects");
}

static void the_first_key_leads_with_its_revision(void **state)
{
    sit_standing("etcd-election", "Granted 4 e7 m1 w1");
    hears(STORE, "Created 1 e7 a8 m2 w1 y8");
    did("disarm call; note leads 8");
    sees("leads");
    shows(8, "lease");
}

/* As an engine says of a session that it had for long: nobody knows when the store last heard of it. */
static void a_session_that_is_not_proved_leads_with_its_first_renewal(void **state)
{
    sit_standing("etcd-election", "Granted 4 e7 m1 w1 f1");
    did("disarm call; move probe to lease; arm probe 100; send 4 KeepAlive 1 e7 m2 w1; arm beat 40; note stands; send 4 Txn 1 e7 m3 "
        "w1; arm call 30");
    hears(STORE, "Created 1 e7 a8 m3 w1 y8");
    did("disarm call");
    sees("elects");
    hears(STORE, "KeptAlive 1 e7 a8 m2 w1 y8");
    did("move probe to lease; send 4 Range 1 e7 m4 w1; arm call 30");
    sees("elects");
    hears(STORE, "Keys 1 e7 a8 m4 w1 y8");
    did("disarm call; note leads 8");
    shows(8, "lease");
}

static void another_watches_the_key_before_its_own_and_names_the_first(void **state)
{
    sit_waiting();
    shows(5, "lease");
}

static void a_key_that_is_gone_already_is_no_reason_to_lead(void **state)
{
    sit_standing("etcd-election", "Granted 2 e7 m1 w1 y5");
    hears(STORE, "Created 2 e7 a8 m2 w1 x6 y5");
    hears(STORE, "Watching 2 e7 a8 m3 w1 x5 y5 f1");
    did("disarm call; note finds-gone; send 4 Range 1 e7 m4 w1; arm call 30");
    sees("follows 2");
}

static void an_event_makes_it_look_and_only_the_answer_makes_it_lead(void **state)
{
    sit_waiting();
    hears(STORE, "Event 2 e7 a6 r1 w1 y5");
    did("note hears 6; send 4 Range 1 e7 m4 w1; arm call 30");
    sees("follows 2");
    hears(STORE, "Keys 2 e7 a8 r1 m4 w1 x5 y5"); /* its neighbour was not the first */
    did("disarm call; note waits 5; send 4 Watch 1 e7 a5 m5 w1; arm call 30");
    hears(STORE, "Watching 2 e7 a8 r1 m5 w1 x5 y5");
    hears(STORE, "Event 1 e7 a5 r2 w1 y8");
    hears(STORE, "Keys 1 e7 a8 r2 m6 w1 y8");
    did("disarm call; note leads 8");
    shows(8, "lease");
}

static void observing_changes_whom_it_follows_and_nothing_else(void **state)
{
    sit_waiting();
    hears(STORE, "Event 3 e7 r1 w1 y6");
    did("note observes 3 6");
    sees("follows 3");
    shows(6, "lease");
}

/* ---- Renewal and deadline ---- */

static void a_renewal_buys_time_from_its_sending(void **state)
{
    sit_leading();
    times_out("beat");
    did("arm probe 100; send 4 KeepAlive 1 e7 m3 w1; arm beat 40");
    hears(STORE, "KeptAlive 1 e7 a8 m3 w1 y8");
    did("move probe to lease");
}

static void only_the_last_renewal_counts(void **state)
{
    sit_leading();
    times_out("beat");
    times_out("beat");
    did("arm probe 100; send 4 KeepAlive 1 e7 m4 w1; arm beat 40");
    hears(STORE, "KeptAlive 1 e7 a8 m3 w1 y8"); /* the time of the second would be too long for it */
    did("note ignores");
    hears(STORE, "KeptAlive 1 e7 a8 m4 w1 y8");
    did("move probe to lease");
    hears(STORE, "KeptAlive 1 e7 a8 m4 w1 y8");
    did("note ignores");
}

static void at_its_deadline_it_gives_up_session_and_key(void **state)
{
    sit_leading();
    times_out("lease");
    did("note lapses; send 4 Revoke 1 e7 a7 m3 w1; arm call 30");
    sees("elects");
    hears(STORE, "Revoked 2 m3 w1 y9");
    did("disarm call; note observes 2 9; disarm beat; disarm lease; note opens; arm probe 100; send 4 Grant 1 m4 w1; arm call 30");
}

static void after_its_deadline_no_answer_brings_the_claim_back(void **state)
{
    sit_leading();
    times_out("beat");
    times_out("lease");
    hears(STORE, "KeptAlive 1 e7 a8 m3 w1 y8");
    did("move probe to lease");
    sees("elects");
}

static void an_unanswered_renewal_is_not_a_lost_office(void **state)
{
    sit_leading();
    times_out("beat");
    times_out("beat");
    sees("leads");
    shows(8, "lease");
}

static void a_session_that_ended_ends_the_claim_at_once(void **state)
{
    sit_leading();
    times_out("beat");
    hears(STORE, "KeptAlive 2 m3 w1 y9");
    did("note expired; disarm beat; disarm lease; note opens; arm probe 100; send 4 Grant 1 m4 w1; arm call 30");
    sees("elects");
}

static void one_that_waits_hears_of_the_end_of_its_session(void **state)
{
    sit_waiting();
    times_out("beat");
    hears(STORE, "KeptAlive 2 m4 w1 y5");
    did("note expired; disarm beat; disarm lease; note opens; arm probe 100; send 4 Grant 1 m5 w1; arm call 30");
}

static void one_that_waits_keeps_its_place_while_it_is_cut_off(void **state)
{
    sit_waiting();
    times_out("lease");
    did("note is-alone");
    sees("elects");
    times_out("beat");
    hears(STORE, "KeptAlive 2 e7 a8 m4 w1 x6 y5");
    did("move probe to lease; send 4 Range 1 e7 m5 w1; arm call 30");
    hears(STORE, "Keys 2 e7 a8 m5 w1 x6 y5");
    sees("follows 2");
}

static void it_does_not_lead_while_its_session_may_have_ended(void **state)
{
    sit_waiting();
    hears(STORE, "Event 1 e7 a6 r1 w1 y8");
    times_out("lease");
    hears(STORE, "Keys 1 e7 a8 r1 m4 w1 y8");
    did("disarm call");
    sees("elects");
}

/* ---- Connections ---- */

static void a_missing_event_shows_that_the_connection_broke(void **state)
{
    sit_waiting();
    times_out("beat");
    hears(STORE, "KeptAlive 1 e7 a8 r1 m4 w1 y8");
    did("move probe to lease; note missed; send 4 Range 1 e7 m5 w1; arm call 30");
    hears(STORE, "Event 1 e7 a6 r3 w1 y8"); /* nor is an event believed that is not the next */
    did("note ignores");
}

static void etcd_may_repeat_its_transaction(void **state)
{
    sit_standing("etcd-election", "Granted 4 e7 m1 w1");
    times_out("call");
    did("note asks-again; send 4 Txn 1 e7 m3 w1; arm call 30");
    hears(STORE, "Created 1 e7 a8 m2 w1 y8"); /* the first answer, late */
    did("note ignores");
    hears(STORE, "Created 1 e7 a8 m3 w1 y8");
    sees("leads");
}

static void zookeeper_looks_for_its_node_before_it_makes_another(void **state)
{
    sit_standing("zookeeper-recipe", "Connected 4 e7 m1 w1");
    times_out("call");
    did("note asks-again; send 4 GetChildren 1 e7 m3 w1; arm call 30");
    hears(STORE, "Children 1 e7 a8 m3 w1 y8");
    sees("leads");
    sit_standing("zookeeper-recipe", "Connected 4 e7 m1 w1");
    times_out("call");
    hears(STORE, "Children 4 e7 m3 w1");
    did("disarm call; note stands; send 4 Create 1 e7 m4 w1; arm call 30");
}

static void a_store_without_room_is_asked_again(void **state)
{
    sit_opening("etcd-election");
    hears(STORE, "Granted 4 m1 w1");
    did("disarm call; arm call 30");
    times_out("call");
    did("note asks-again; disarm beat; disarm lease; note opens; arm probe 100; send 4 Grant 1 m2 w1; arm call 30");
}

/* ---- Incarnations ---- */

static void it_closes_what_its_earlier_incarnation_left(void **state)
{
    sit_opening("zookeeper-recipe");
    hears(STORE, "Connected 1 e9 m1 w1 y5 z4");
    did("disarm call; move probe to lease; arm beat 40; note tidies; send 4 Close 1 e9 a4 m2 w1; arm call 30");
    hears(STORE, "Closed 2 e9 m2 w1 y6");
    did("disarm call; note observes 2 6; note stands; send 4 Create 1 e9 m3 w1; arm call 30");
}

static void it_counts_its_incarnations(void **state)
{
    sit_at_store("etcd-election", 1);
    starts_again_from((struct el_durable){.epoch = 4});
    did("save e5; note opens; arm probe 100; send 4 Grant 1 m1 w5; arm call 30");
    hears(STORE, "Granted 4 e7 m1 w4"); /* for the one before it */
    did("note ignores");
}

static void without_a_record_the_wall_clock_tells_incarnations_apart(void **state)
{
    sit_at_store("etcd-election", 1);
    seat_start(EL_LOST, EL_NOBODY);
    did("");
    is_told(0, 1000);
    did("save e1001; note opens; arm probe 100; send 4 Grant 1 m1 w1001; arm call 30");
    is_told(0, 2000);
    did("");
}

/* ---- Requests ---- */

static void resigning_ends_the_claim_before_the_store_hears_of_it(void **state)
{
    sit_leading();
    requests(EL_RESIGN, EL_NOBODY);
    did("note resigns; send 4 Delete 1 e7 m3 w1; arm call 30");
    sees("elects");
    times_out("call");
    did("note asks-again; send 4 Delete 1 e7 m4 w1; arm call 30");
    hears(STORE, "Deleted 2 e7 m4 w1 y9");
    did("disarm call; note observes 2 9; note stands; send 4 Txn 1 e7 m5 w1; arm call 30");
}

static void others_have_nothing_to_resign_and_nobody_hands_over(void **state)
{
    sit_waiting();
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
    requests(EL_TRANSFER, 2);
    did("note declined");
    campaigns();
    did("note is-queued");
}

static void only_the_store_is_believed(void **state)
{
    sit_waiting();
    hears(2, "Event 1 e7 a6 r1 w1 y8");
    did("note ignores");
    hears(STORE, "Event 1 e6 a6 r1 w1 y8"); /* another session */
    did("note ignores");
}

static void a_leader_whose_key_is_gone_leads_no_more(void **state)
{
    sit_leading();
    times_out("beat");
    hears(STORE, "KeptAlive 1 e7 a8 r1 m3 w1 y8");
    hears(STORE, "Keys 2 e7 r1 m4 w1 y9");
    did("disarm call; note observes 2 9; note lost-key; note stands; send 4 Txn 1 e7 m5 w1; arm call 30");
    sees("follows 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_counts_the_lease_from_the_sending),
        cmocka_unit_test(the_first_key_leads_with_its_revision),
        cmocka_unit_test(a_session_that_is_not_proved_leads_with_its_first_renewal),
        cmocka_unit_test(another_watches_the_key_before_its_own_and_names_the_first),
        cmocka_unit_test(a_key_that_is_gone_already_is_no_reason_to_lead),
        cmocka_unit_test(an_event_makes_it_look_and_only_the_answer_makes_it_lead),
        cmocka_unit_test(observing_changes_whom_it_follows_and_nothing_else),
        cmocka_unit_test(a_renewal_buys_time_from_its_sending),
        cmocka_unit_test(only_the_last_renewal_counts),
        cmocka_unit_test(at_its_deadline_it_gives_up_session_and_key),
        cmocka_unit_test(after_its_deadline_no_answer_brings_the_claim_back),
        cmocka_unit_test(an_unanswered_renewal_is_not_a_lost_office),
        cmocka_unit_test(a_session_that_ended_ends_the_claim_at_once),
        cmocka_unit_test(one_that_waits_hears_of_the_end_of_its_session),
        cmocka_unit_test(one_that_waits_keeps_its_place_while_it_is_cut_off),
        cmocka_unit_test(it_does_not_lead_while_its_session_may_have_ended),
        cmocka_unit_test(a_missing_event_shows_that_the_connection_broke),
        cmocka_unit_test(etcd_may_repeat_its_transaction),
        cmocka_unit_test(zookeeper_looks_for_its_node_before_it_makes_another),
        cmocka_unit_test(a_store_without_room_is_asked_again),
        cmocka_unit_test(it_closes_what_its_earlier_incarnation_left),
        cmocka_unit_test(it_counts_its_incarnations),
        cmocka_unit_test(without_a_record_the_wall_clock_tells_incarnations_apart),
        cmocka_unit_test(resigning_ends_the_claim_before_the_store_hears_of_it),
        cmocka_unit_test(others_have_nothing_to_resign_and_nobody_hands_over),
        cmocka_unit_test(only_the_store_is_believed),
        cmocka_unit_test(a_leader_whose_key_is_gone_leads_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
