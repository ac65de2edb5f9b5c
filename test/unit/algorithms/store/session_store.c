/*
 * The store of etcd and ZooKeeper, rule by rule: sessions that expire, keys in order, watches, events, copies of requests, and its
 * own crash. See test/lib/node/store.h for the words.
 */
#include "lib/node/store.h"

/* Sessions 1, 2, 3 of nodes 1, 2, 3; their keys are 4, 5, 6. */
static void sit_serving(const char *algorithm)
{
    sit_at_store(algorithm, STORE);
    starts();
    did("save e1");
    const bool is_etcd = strcmp(algorithm, "etcd-election") == 0;
    char text[40];
    for (el_node node = 1; node < STORE; node++) hears(node, is_etcd ? "Grant 1 m1 w1" : "Connect 1 m1 w1");
    for (el_node node = 1; node < STORE; node++) {
        snprintf(text, sizeof text, "%s 1 e%u m2 w1", is_etcd ? "Txn" : "Create", node);
        hears(node, text);
    }
}

static void each_session_has_its_time(void **state)
{
    sit_at_store("etcd-election", STORE);
    starts();
    hears(1, "Grant 1 m1 w1");
    did("arm expiry@1 100; note admits 1; send 1 Granted 4 e1 m1 w1");
    hears(1, "KeepAlive 1 e1 m2 w1");
    did("arm expiry@1 100; send 1 KeptAlive 4 e1 m2 w1");
}

static void keys_stand_in_the_order_of_their_creation(void **state)
{
    sit_serving("etcd-election");
    did("note queues 3 6; send 3 Created 1 e3 a6 m2 w1 x5 y4");
    sees("follows 1");
    hears(2, "Range 2 e2 m3 w1");
    did("send 2 Keys 1 e2 a5 m3 w1 x4 y4");
}

static void a_watch_fires_once_and_all_observe_a_new_leader(void **state)
{
    sit_serving("etcd-election");
    hears(2, "Watch 2 e2 a4 m3 w1");
    did("send 2 Watching 1 e2 a5 m3 w1 x4 y4");
    hears(3, "Watch 3 e3 a5 m3 w1");
    hears(1, "Delete 1 e1 m3 w1");
    did("send 2 Event 2 e2 r1 a4 w1 y5; send 3 Event 2 e3 r1 w1 y5; send 1 Deleted 2 e1 m3 w1 y5");
    sees("follows 2");
    hears(3, "Watch 3 e3 a4 m4 w1"); /* too late */
    did("send 3 Watching 2 e3 r1 a6 m4 w1 x5 y5 f1");
}

static void without_observers_one_deletion_wakes_one(void **state)
{
    sit_serving("etcd-election");
    option("observe", 0);
    hears(2, "Watch 2 e2 a4 m3 w1");
    hears(3, "Watch 3 e3 a5 m3 w1");
    hears(1, "Delete 1 e1 m3 w1");
    did("send 2 Event 2 e2 r1 a4 w1 y5; send 1 Deleted 2 e1 m3 w1 y5");
}

static void a_herd_is_woken_as_one(void **state)
{
    sit_serving("etcd-election");
    option("observe", 0);
    option("herd", 1);
    hears(1, "Delete 1 e1 m3 w1");
    did("send 2 Event 2 e2 r1 a4 w1 y5; send 3 Event 2 e3 r1 a4 w1 y5; send 1 Deleted 2 e1 m3 w1 y5");
}

static void an_expired_session_takes_its_keys_along(void **state)
{
    sit_serving("etcd-election");
    hears(2, "Watch 2 e2 a4 m3 w1");
    times_out_for("expiry", 1);
    did("note expires 1; send 2 Event 2 e2 r1 a4 w1 y5; send 3 Event 2 e3 r1 w1 y5; disarm expiry@1");
    hears(1, "KeepAlive 1 e1 m3 w1");
    did("note knows-not 1; send 1 KeptAlive 2 m3 w1 y5");
}

static void a_copy_of_a_request_is_dropped(void **state)
{
    sit_serving("zookeeper-recipe");
    hears(1, "Create 1 e1 m2 w1");
    did("");
    hears(1, "Connect 1 m1 w1");
    did("arm older-expiry@1 100; note admits 1; send 1 Connected 1 e7 m1 w1 y4"); /* an orphan, which will expire */
    hears(1, "Touch 1 e1 m1 w1"); /* renewals go beside requests, and count by themselves */
    did("arm expiry@1 100; send 1 Touched 1 e1 a4 m1 w1 y4");
    hears(1, "Touch 1 e1 m1 w1");
    did("");
}

/* ---- Servers that report what they heard to the one that ends sessions ---- */

static void sit_reporting(uint64_t lost)
{
    sit_serving("zookeeper-recipe");
    option("report", 20);
    option("lost-reports", lost);
}

static void a_renewal_counts_when_it_is_reported(void **state)
{
    (void)state;
    sit_reporting(0);
    hears(1, "Touch 1 e1 m3 w1");
    did("arm report@1 20");
    hears(1, "Touch 1 e1 m4 w1");
    did(""); /* the same report tells both */
    times_out_for("report", 1);
    did("arm expiry@1 100; send 1 Touched 1 e1 a4 m4 w1 y4");
    times_out_for("report", 1);
    did("");
}

static void an_opened_session_is_not_proved(void **state)
{
    (void)state;
    sit_reporting(0);
    hears(1, "Connect 1 m1 w2");
    did("arm older-expiry@1 100; disarm older-report@1; note admits 1; send 1 Connected 1 e7 m1 w2 y4 z1 f1");
}

static void a_server_that_fails_takes_its_note_along(void **state)
{
    (void)state;
    sit_reporting(1);
    hears(1, "Exists 1 e1 a5 m3 w1");
    hears(1, "Touch 1 e1 m4 w1");
    times_out_for("report", 1);
    did("choose below 2");
    draws(1);
    did("note loses-note 1");
    hears(1, "GetChildren 1 e1 m5 w1"); /* its events have a gap: the connection broke */
    did("send 1 Children 1 e1 r1 a4 m5 w1 y4");
    hears(2, "Delete 2 e2 m3 w1"); /* and its watch is gone */
    did("send 2 Deleted 1 e2 m3 w1 y4");
    hears(1, "Touch 1 e1 m6 w1");
    did("arm report@1 20");
    times_out_for("report", 1);
    did("arm expiry@1 100; send 1 Touched 1 e1 r1 a4 m6 w1 y4");
}

static void a_server_that_lives_reports(void **state)
{
    (void)state;
    sit_reporting(1);
    hears(1, "Touch 1 e1 m4 w1");
    times_out_for("report", 1);
    did("choose below 2");
    draws(0);
    did("arm expiry@1 100; send 1 Touched 1 e1 a4 m4 w1 y4");
}

static void a_session_may_be_old_when_it_is_opened(void **state)
{
    (void)state;
    sit_reporting(1);
    hears(1, "Connect 1 m1 w2");
    did("arm older-expiry@1 100; disarm older-report@1; note admits 1; send 1 Connected 1 e7 m1 w2 y4 z1 f1; choose below 2");
    draws(1);
    did("note is-late 1; arm older-expiry@1 20..100");
}

static void what_was_not_reported_is_lost_in_an_outage(void **state)
{
    (void)state;
    sit_reporting(0);
    hears(1, "Touch 1 e1 m3 w1");
    comes_back();
    times_out_for("report", 1);
    did("");
}

static void a_transaction_creates_one_key_and_a_sequential_create_two(void **state)
{
    sit_serving("etcd-election");
    hears(1, "Txn 1 e1 m3 w1");
    did("note finds-key 1 4; send 1 Created 1 e1 a4 m3 w1 y4");
    sit_serving("zookeeper-recipe");
    hears(1, "Create 1 e1 m3 w1");
    did("note queues 1 7; send 1 Created 1 e1 a7 m3 w1 x6 y4"); /* the answer names the new node */
    hears(1, "GetChildren 1 e1 m4 w1");
    did("send 1 Children 1 e1 a4 m4 w1 y4");
    hears(1, "Create 1 e1 m5 w1");
    did("note finds-key 1 4; send 1 Created 1 e1 a7 m5 w1 x6 y4");
    times_out_for("expiry", 1);
    did("note expires 1; send 2 WatchEvent 2 e2 r1 w1 y5; send 3 WatchEvent 2 e3 r1 w1 y5; disarm expiry@1");
}

static void a_new_incarnation_hears_of_the_old_session(void **state)
{
    sit_serving("zookeeper-recipe");
    hears(1, "Connect 1 m1 w2");
    did("arm older-expiry@1 100; note admits 1; send 1 Connected 1 e7 m1 w2 y4 z1");
    hears(1, "Connect 1 m1 w3");
    did("note is-full 1; send 1 Connected 1 m1 w3 y4");
    hears(1, "Close 1 e7 a1 m2 w2");
    did("note ends 1; send 2 WatchEvent 2 e2 r1 w1 y5; send 3 WatchEvent 2 e3 r1 w1 y5; disarm expiry@1; "
        "send 1 Closed 2 e7 m2 w2 y5");
    hears(1, "Close 1 e7 a7 m3 w2"); /* its own */
    did("note ends 1; disarm older-expiry@1; send 1 Closed 2 m3 w2 y5");
}

static void nobody_closes_the_session_of_another(void **state)
{
    sit_serving("etcd-election");
    hears(2, "Revoke 2 e2 a1 m3 w1");
    did("send 2 Revoked 1 e2 a5 m3 w1 x4 y4");
    sees("follows 1");
}

/* ---- Its own faults ---- */

static void it_returns_with_its_data_and_all_connections_broken(void **state)
{
    sit_serving("etcd-election");
    hears(2, "Watch 2 e2 a4 m3 w1");
    comes_back();
    did("note returns; arm expiry@1 100; arm expiry@2 100; arm expiry@3 100");
    sees("follows 1");
    hears(2, "KeepAlive 2 e2 m4 w1");
    did("arm expiry@2 100; send 2 KeptAlive 1 e2 r1 a5 m4 w1 x4 y4"); /* an event is missing: it will look again */
    times_out_for("expiry", 1);
    did("note expires 1; send 2 Event 2 e2 r2 w1 y5; send 3 Event 2 e3 r2 w1 y5; disarm expiry@1");
}

static void without_its_data_it_waits_and_starts_above(void **state)
{
    sit_at_store("etcd-election", STORE);
    seat_start(EL_LOST, EL_NOBODY);
    did("save e1; note has-lost");
    hears(1, "Grant 1 m1 w1");
    did("");
    is_told(0, 5);
    did("arm silence 100");
    hears(1, "Grant 1 m2 w1");
    did("");
    times_out("silence");
    did("note serves");
    hears(1, "Grant 1 m3 w1");
    did("arm expiry@1 100; note admits 1; send 1 Granted 4 e5121 m3 w1"); /* 5 * 1024 + 1 */
    is_told(0, 9);
    did("");
}

static void it_begins_with_the_incumbents_key(void **state)
{
    sit_at_store("etcd-election", STORE);
    starts_under(2);
    did("save e1; arm expiry@2 100");
    sees("follows 2");
    sit_at_store("etcd-election", 2);
    starts_under(2);
    did("arm lease 100; save e1; arm probe 100; send 4 KeepAlive 2 e1 m1 w1; arm beat 40");
    sees("leads");
    shows(1, "lease");
}

static void the_store_never_stands(void **state)
{
    sit_serving("etcd-election");
    campaigns();
    did("note is-store");
    requests(EL_RESIGN, EL_NOBODY);
    did("note declined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_session_has_its_time),
        cmocka_unit_test(keys_stand_in_the_order_of_their_creation),
        cmocka_unit_test(a_watch_fires_once_and_all_observe_a_new_leader),
        cmocka_unit_test(without_observers_one_deletion_wakes_one),
        cmocka_unit_test(a_herd_is_woken_as_one),
        cmocka_unit_test(an_expired_session_takes_its_keys_along),
        cmocka_unit_test(a_copy_of_a_request_is_dropped),
        cmocka_unit_test(a_renewal_counts_when_it_is_reported),
        cmocka_unit_test(an_opened_session_is_not_proved),
        cmocka_unit_test(a_server_that_fails_takes_its_note_along),
        cmocka_unit_test(a_server_that_lives_reports),
        cmocka_unit_test(a_session_may_be_old_when_it_is_opened),
        cmocka_unit_test(what_was_not_reported_is_lost_in_an_outage),
        cmocka_unit_test(a_transaction_creates_one_key_and_a_sequential_create_two),
        cmocka_unit_test(a_new_incarnation_hears_of_the_old_session),
        cmocka_unit_test(nobody_closes_the_session_of_another),
        cmocka_unit_test(it_returns_with_its_data_and_all_connections_broken),
        cmocka_unit_test(without_its_data_it_waits_and_starts_above),
        cmocka_unit_test(it_begins_with_the_incumbents_key),
        cmocka_unit_test(the_store_never_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
