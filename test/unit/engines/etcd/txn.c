/* Transactions of an engine on etcd: which operations go, and whose answers count. Our lease is 7, the group is `work`. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/engines/fake_calls.h"

static struct etcd etcd;

/* ---- What the other files of the adapter would do ---- */

void etcd_lease_is_lost(struct etcd *all)
{
    all->lease_state = LEASE_NONE;
    fake_say("lost");
}

/* ---- What happens ---- */

static struct etcd_group *group_called(const char *name)
{
    struct host_group *group = fake_group(name);
    group->stands = true;
    return engine_group_data(group) ? engine_group_data(group) : etcd_make_group(&etcd, group);
}

static void asks(struct etcd_group *g, uint8_t kind, uint64_t number)
{
    g->session = etcd.session;
    g->request = (struct el_msg){.kind = kind, .more = number};
    etcd_pump_txns(&etcd);
}

static const char *sent(void)
{
    return fake_calls[fake_called - 1].body;
}

/* Our key is alone in the group, created at 9. The name was written in the first response. */
static const char created[] =
    "{\"header\":{\"revision\":\"9\"},\"responses\":[{},{\"response_txn\":{\"responses\":[{},{\"response_range\":"
    "{\"kvs\":[{\"key\":\"c2hvcC93b3JrLzc=\",\"create_revision\":\"9\",\"mod_revision\":\"9\",\"lease\":\"7\"}]}}]}}]}";

static int set_up(void **state)
{
    etcd = (struct etcd){
        .prefix = "shop/", .lease = 7, .lease_state = LEASE_ALIVE, .session = 1, .has_looked = true};
    return 0;
}

static int tear_down(void **state)
{
    fake_calls_fail(&etcd);
    for (struct host_group *group = fake_groups; group; group = group->next)
        if (group->data) etcd_free_group(group->data);
    free(etcd.names);
    fake_calls_end();
    fake_end();
    return 0;
}

/* ---- The tests ---- */

static void a_create_is_answered_by_what_the_store_then_has(void **state)
{
    struct etcd_group *work = group_called("work");
    asks(work, STORE_CREATE, 3);
    assert_int_equal(fake_called, 1);
    fake_done(&etcd, 0, created);
    assert_string_equal(fake_said(), "work: tell 4");
    assert_int_equal(work->group->told.aux, 9);
    assert_int_equal(work->group->told.more, 3);
    assert_true(etcd.has_named);
}

static void an_answer_about_the_last_session_counts_for_nothing(void **state)
{
    struct etcd_group *work = group_called("work");
    asks(work, STORE_CREATE, 3);
    etcd.session = 2; /* the lease was lost, and there is another */
    fake_done(&etcd, 0, created);
    assert_false(etcd.has_named);
    assert_string_equal(fake_said(), "");
}

static void a_request_of_the_last_session_is_answered_and_not_sent(void **state)
{
    struct etcd_group *work = group_called("work");
    etcd.session = 2;
    work->session = 1;
    work->request = (struct el_msg){.kind = STORE_CREATE, .more = 3};
    etcd_pump_txns(&etcd);
    assert_int_equal(fake_called, 0);
    assert_string_equal(fake_said(), "work: tell 4");
    assert_int_equal(work->group->told.epoch, 0);
}

static void an_answer_to_an_earlier_request_is_not_that_to_the_present(void **state)
{
    struct etcd_group *work = group_called("work");
    asks(work, STORE_CREATE, 3);
    work->request = (struct el_msg){.kind = STORE_DELETE, .more = 4};
    fake_done(&etcd, 0, created);
    assert_string_equal(fake_said(), "");
    assert_int_equal(work->request.kind, STORE_DELETE);
}

static void operations_of_a_group_go_one_after_the_other(void **state)
{
    struct etcd_group *work = group_called("work");
    asks(work, STORE_CREATE, 3);
    asks(work, STORE_DELETE, 4);
    assert_int_equal(fake_called, 1);
    fake_done(&etcd, 0, created);
    etcd_pump_txns(&etcd);
    assert_int_equal(fake_called, 2);
    assert_non_null(strstr(sent(), "request_delete_range"));
}

static void many_groups_go_in_one_transaction(void **state)
{
    char name[8];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "g%d", i);
        struct etcd_group *g = group_called(name);
        g->session = 1;
        g->request = (struct el_msg){.kind = STORE_CREATE};
    }
    etcd_pump_txns(&etcd);
    assert_int_equal(fake_called, 1);
}

static void a_key_without_its_lease_says_that_the_lease_is_lost(void **state)
{
    asks(group_called("work"), STORE_CREATE, 3);
    fake_refused(&etcd, 0, ETCD_NOT_FOUND, "requested lease not found");
    assert_string_equal(fake_said(), "lost");
}

static void that_an_earlier_lease_is_missing_says_nothing_of_the_present(void **state)
{
    asks(group_called("work"), STORE_CREATE, 3);
    etcd.session = 2;
    fake_refused(&etcd, 0, ETCD_NOT_FOUND, "requested lease not found");
    assert_string_equal(fake_said(), "");
    assert_int_equal(etcd.lease_state, LEASE_ALIVE);
}

static void a_value_goes_only_to_the_tenure_that_it_belongs_to(void **state)
{
    struct etcd_group *work = group_called("work");
    work->value = strdup("web:80");
    work->value_of = 9;
    etcd_pump_txns(&etcd);
    assert_non_null(strstr(sent(), "\"create_revision\":\"9\""));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_create_is_answered_by_what_the_store_then_has),
        TEST(an_answer_about_the_last_session_counts_for_nothing),
        TEST(a_request_of_the_last_session_is_answered_and_not_sent),
        TEST(an_answer_to_an_earlier_request_is_not_that_to_the_present),
        TEST(operations_of_a_group_go_one_after_the_other),
        TEST(many_groups_go_in_one_transaction),
        TEST(a_key_without_its_lease_says_that_the_lease_is_lost),
        TEST(that_an_earlier_lease_is_missing_says_nothing_of_the_present),
        TEST(a_value_goes_only_to_the_tenure_that_it_belongs_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
