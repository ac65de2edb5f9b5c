/*
 * The candidates of a group, as etcd's ranges and events show them: who is first, what those who look are told, and what the machine
 * hears of the end of keys. Keys are PREFIX/GROUP/LEASE; ours is lease 7.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engines/etcd/internal.h"
#include "lib/engines/fake_engine.h"

static struct etcd etcd;

static json_t *kv_of(const char *key, const char *value, uint64_t lease, uint64_t created, uint64_t changed)
{
    char numbers[3][24];
    const uint64_t given[] = {lease, created, changed};
    for (int i = 0; i < 3; i++) snprintf(numbers[i], sizeof numbers[i], "%" PRIu64, given[i]);
    json_t *kv = json_pack("{so ss ss ss}", "key", etcd_bytes(key, strlen(key)), "lease", numbers[0],
                           "create_revision", numbers[1], "mod_revision", numbers[2]);
    if (*value)
        json_object_set_new(kv, "value", etcd_bytes(value, strlen(value))); /* etcd leaves out what is empty */
    return kv;
}

static json_t *candidate(const char *id, const char *value, uint64_t created)
{
    char key[64];
    snprintf(key, sizeof key, "shop/work/%s", id);
    return kv_of(key, value, strtoull(id, NULL, 16), created, created);
}

static void looks(uint64_t revision, json_t *kvs)
{
    etcd.has_looked = true;
    etcd_take_all(&etcd, kvs, revision);
    json_decref(kvs);
    etcd_pump_queues(&etcd);
}

static void put(json_t *kv)
{
    json_t *event = json_pack("{so}", "kv", kv); /* PUT is the default, so it is left out */
    etcd_take_event(&etcd, event);
    json_decref(event);
    etcd_pump_queues(&etcd);
}

static void deleted(const char *id, uint64_t revision)
{
    char key[64], number[24];
    snprintf(key, sizeof key, "shop/work/%s", id);
    snprintf(number, sizeof number, "%" PRIu64, revision);
    json_t *event = json_pack("{ss s{so ss}}", "type", "DELETE", "kv", "key", etcd_bytes(key, strlen(key)),
                              "mod_revision", number);
    etcd_take_event(&etcd, event);
    json_decref(event);
    etcd_pump_queues(&etcd);
}

static struct etcd_group *work(void)
{
    return etcd_group_of(fake_group("work"));
}

static void ranges(uint64_t revision, json_t *kvs)
{
    json_t *range = json_pack("{so}", "kvs", kvs);
    etcd_take_range(work(), range, revision);
    json_decref(range);
}

static int set_up(void **state)
{
    etcd = (struct etcd){.prefix = "shop/", .lease = 7, .lease_state = LEASE_ALIVE, .session = 1};
    return 0;
}

static int tear_down(void **state)
{
    for (struct host_group *group = fake_groups; group; group = group->next)
        if (group->data) etcd_free_group(group->data);
    free(etcd.names);
    fake_end();
    return 0;
}

/* ---- Those who look ---- */

static void who_was_created_first_leads(void **state)
{
    looks(20, json_pack("[ooo]", candidate("9", "c", 12), candidate("7", "b", 10), candidate("8", "a", 5)));
    assert_string_equal(fake_said(), "work: a 5 a b* 10 b c 12 c");
}

static void a_name_that_was_written_is_the_name(void **state)
{
    looks(20, json_pack("[ooo]", candidate("8", "here", 5), kv_of("shop/elector/names/8", "host8", 8, 6, 6),
                        candidate("9", "there", 7)));
    assert_string_equal(fake_said(), "work: host8 5 here there 7 there");
    put(kv_of("shop/elector/names/9", "host9", 9, 21, 21));
    assert_string_equal(fake_said(), "work: host8 5 here host9 7 there");
}

static void a_key_without_value_is_called_by_its_lease(void **state)
{
    looks(20, json_pack("[o]", candidate("8", "", 5)));
    assert_string_equal(fake_said(), "work: 8 5");
}

static void a_terminal_obeys_nothing_that_others_wrote(void **state)
{
    looks(20, json_pack("[o]", candidate("8", "\x1b[2J", 5)));
    assert_string_equal(fake_said(), "work: ?[2J 5 ?[2J");
}

static void tokens_are_raised_by_a_key(void **state)
{
    looks(20, json_pack("[oo]", candidate("8", "a", 5), kv_of("shop/elector/tokens-above", "1000", 0, 2, 2)));
    assert_string_equal(fake_said(), "work: a 1005 a");
}

static void no_token_is_above_what_a_client_can_read(void **state)
{
    looks(20, json_pack("[oo]", candidate("8", "a", 5),
                        kv_of("shop/elector/tokens-above", "9007199254740991", 0, 2, 2)));
    assert_string_equal(fake_said(), "work: a 5 a");
}

static void keys_that_are_no_candidates_are_left_alone(void **state)
{
    looks(20, json_pack("[oooo]", kv_of("shop/work", "x", 0, 3, 3), kv_of("shop/work/", "x", 0, 4, 4),
                        kv_of("shoplift/work/8", "x", 0, 5, 5), kv_of("shop/a b/8", "x", 0, 6, 6)));
    assert_string_equal(fake_said(), "");
}

/* ---- Events ---- */

static void events_change_the_queue(void **state)
{
    looks(20, json_pack("[o]", candidate("8", "a", 5)));
    (void)fake_said();
    put(candidate("9", "b", 21));
    assert_string_equal(fake_said(), "work: a 5 a b 21 b");
    deleted("8", 22);
    assert_string_equal(fake_said(), "work: b 21 b");
    deleted("8", 23); /* nobody's */
    assert_string_equal(fake_said(), "work: b 21 b");
    assert_int_equal(etcd.revision, 23);
}

static void an_event_from_before_the_range_counts_for_nothing(void **state)
{
    looks(20, json_pack("[o]", candidate("8", "a", 5)));
    (void)fake_said();
    ranges(30, json_pack("[o]", candidate("9", "b", 25)));
    etcd_pump_queues(&etcd);
    assert_string_equal(fake_said(), "work: b 25 b");
    put(candidate("8", "a", 5)); /* the watch is behind */
    deleted("9", 28);
    assert_string_equal(fake_said(), "");
}

static void a_range_from_before_an_event_counts_for_nothing(void **state)
{
    looks(20, json_pack("[o]", candidate("8", "a", 5)));
    put(candidate("9", "b", 25));
    (void)fake_said();
    ranges(24, json_pack("[o]", candidate("8", "a", 5)));
    etcd_pump_queues(&etcd);
    assert_string_equal(fake_said(), "");
}

static void groups_of_one_transaction_are_all_met(void **state)
{
    looks(20, json_array());
    put(kv_of("shop/one/8", "a", 8, 21, 21));
    put(kv_of("shop/two/8", "a", 8, 21, 21)); /* of the same revision */
    assert_string_equal(fake_said(), "one: a 21 a; two: a 21 a");
}

/* ---- The machine ---- */

static void stand(void)
{
    looks(20, json_pack("[oo]", candidate("8", "a", 5), candidate("7", "b", 10)));
    fake_group("work")->stands = true;
    work()->session = 1;
    (void)fake_said();
}

static const struct el_msg *told(void)
{
    return &fake_group("work")->told;
}

static void an_answer_says_our_key_and_the_one_before(void **state)
{
    stand();
    work()->request = (struct el_msg){.kind = STORE_LIST, .more = 3, .extra = {4}};
    etcd_answer(work(), true, 0);
    assert_int_equal(told()->kind, STORE_LISTED);
    assert_int_equal(told()->more, 3);
    assert_int_equal(told()->extra[0], 4);
    assert_int_equal(told()->epoch, 1);
    assert_int_equal(told()->subject, ENGINE_OTHERS);
    assert_int_equal(told()->aux, 10);
    assert_int_equal(told()->extra[1], 5);
    assert_int_equal(told()->extra[2], 5);
}

static void without_a_session_no_key_is_ours(void **state)
{
    stand();
    work()->request = (struct el_msg){.kind = STORE_LIST, .more = 3};
    etcd_answer(work(), false, 0);
    assert_int_equal(told()->epoch, 0);
    assert_int_equal(told()->aux, 0);
}

static void a_watch_is_answered_at_once_if_its_key_is_gone(void **state)
{
    stand();
    work()->request = (struct el_msg){.kind = STORE_WATCH, .aux = 4};
    etcd_pump_queues(&etcd);
    assert_int_equal(told()->kind, STORE_WATCHED);
    assert_int_equal(told()->flags, 1);
    assert_int_equal(work()->watched, 0);
}

static void the_end_of_the_key_before_is_told_once(void **state)
{
    stand();
    work()->request = (struct el_msg){.kind = STORE_WATCH, .aux = 5};
    etcd_pump_queues(&etcd);
    assert_int_equal(told()->flags, 0);
    (void)fake_said();
    deleted("8", 21);
    assert_int_equal(told()->kind, STORE_EVENT);
    assert_int_equal(told()->aux, 5);
    assert_int_equal(told()->subject, ENGINE_SELF);
    assert_int_equal(told()->rank, 1);
    (void)fake_said();
    put(candidate("9", "c", 22));
    assert_string_equal(fake_said(), "work: b* 10 b c 22 c");
}

static void the_end_of_our_own_key_is_told(void **state)
{
    stand();
    work()->request = (struct el_msg){.kind = STORE_LIST};
    etcd_answer(work(), true, 0);
    deleted("7", 21);
    assert_int_equal(told()->kind, STORE_EVENT);
    assert_int_equal(told()->aux, 10);
    assert_int_equal(told()->subject, ENGINE_OTHERS);
}

static void a_create_that_was_given_up_is_taken_back(void **state)
{
    looks(20, json_array());
    put(candidate("7", "b", 21)); /* nobody here stands */
    assert_true(work()->withdraws);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(who_was_created_first_leads),
        TEST(a_name_that_was_written_is_the_name),
        TEST(a_key_without_value_is_called_by_its_lease),
        TEST(a_terminal_obeys_nothing_that_others_wrote),
        TEST(tokens_are_raised_by_a_key),
        TEST(no_token_is_above_what_a_client_can_read),
        TEST(keys_that_are_no_candidates_are_left_alone),
        TEST(events_change_the_queue),
        TEST(an_event_from_before_the_range_counts_for_nothing),
        TEST(a_range_from_before_an_event_counts_for_nothing),
        TEST(groups_of_one_transaction_are_all_met),
        TEST(an_answer_says_our_key_and_the_one_before),
        TEST(without_a_session_no_key_is_ours),
        TEST(a_watch_is_answered_at_once_if_its_key_is_gone),
        TEST(the_end_of_the_key_before_is_told_once),
        TEST(the_end_of_our_own_key_is_told),
        TEST(a_create_that_was_given_up_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
