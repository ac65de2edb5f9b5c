/* Calls to etcd: the next server if one fails, the token of a user, and what people are told. Servers are s1 and s2. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engines/etcd/internal.h"
#include "lib/engines/fake_engine.h"
#include "lib/engines/fake_fetch.h"

static struct etcd etcd;

/* ---- What the other files of the adapter would do ---- */

void etcd_go_on(struct etcd *all)
{
    (void)all;
}

void etcd_go_on_in(struct etcd *all, uint64_t ms)
{
    (void)all, (void)ms;
}

void etcd_stop_watch(struct etcd *all)
{
    (void)all;
}

/* ---- What happens ---- */

static void on_done(struct etcd *all, void *context, enum etcd_outcome outcome, const json_t *answer, int code,
                    const char *message)
{
    static const char *const names[] = {
        [ETCD_DONE] = "done", [ETCD_FAILED] = "failed", [ETCD_REFUSED] = "refused"};
    (void)all, (void)answer;
    fake_say("%s %s", (const char *)context, names[outcome]);
    if (outcome == ETCD_REFUSED) (void)etcd_refused(&etcd, etcd.at, code, message); /* as all callers do */
}

static struct fetch *calls(const char *name)
{
    assert_true(etcd_call(&etcd, "/v3/kv/range", json_object(), (void *)(uintptr_t)name, on_done));
    return fake_last();
}

static const char invalid[] = "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}";

static void gets_token(const char *token)
{
    char answer[64];
    assert_false(etcd_may_call(&etcd));
    assert_string_equal(fake_last()->url + strlen("http://s1:2379"), "/v3/auth/authenticate");
    snprintf(answer, sizeof answer, "{\"token\":\"%s\"}", token);
    fake_answer(fake_last(), 200, answer);
    assert_true(etcd_may_call(&etcd));
}

static int set_up(void **state)
{
    static char one[] = "s1", two[] = "s2", scheme[] = "etcd";
    etcd = (struct etcd){.prefix = "shop/", .timeout_ms = 200};
    etcd.url.hosts[0] = one;
    etcd.url.hosts[1] = two;
    etcd.url.ports[0] = etcd.url.ports[1] = 2379;
    etcd.url.host_count = 2;
    etcd.url.scheme = scheme;
    fake_begun = 0;
    return 0;
}

static int tear_down(void **state)
{
    etcd_cancel_calls(&etcd);
    fake_end();
    return 0;
}

/* ---- The tests ---- */

static void the_next_server_is_asked_if_one_fails(void **state)
{
    fake_fail(calls("a"), FETCH_UNREACHABLE, "Connection refused");
    assert_string_equal(fake_said(), "a failed");
    assert_non_null(strstr(calls("b")->url, "http://s2:2379/"));
}

static void two_calls_that_one_server_fails_leave_it_once(void **state)
{
    struct fetch *first = calls("a"), *second = calls("b");
    fake_fail(first, FETCH_LATE, "");
    fake_fail(second, FETCH_LATE, "");
    assert_int_equal(etcd.at, 1);
    assert_string_equal(fake_said(), "a failed; b failed");
}

static void people_are_told_when_all_servers_have_failed(void **state)
{
    fake_fail(calls("a"), FETCH_UNREACHABLE, "Connection refused");
    fake_fail(calls("b"), FETCH_UNREACHABLE, "Connection refused");
    assert_string_equal(fake_said(),
                        "a failed; trouble cannot use etcd at s2:2379: Connection refused; is it running, and "
                        "is this its client port?; b failed");
}

static void a_server_without_a_leader_is_left(void **state)
{
    fake_answer(calls("a"), 503, "{\"error\":\"etcdserver: no leader\",\"code\":14}");
    assert_string_equal(fake_said(), "a failed");
    assert_int_equal(etcd.at, 1);
}

static void a_refusal_leaves_no_server(void **state)
{
    fake_answer(calls("a"), 404, "{\"error\":\"etcdserver: requested lease not found\",\"code\":5}");
    assert_int_equal(etcd.at, 0);
    assert_string_equal(fake_said(),
                        "a refused; trouble etcd at s1:2379: etcdserver: requested lease not found");
}

static void an_expired_token_is_replaced(void **state)
{
    snprintf(etcd.user, sizeof etcd.user, "shop");
    gets_token("one");
    etcd.token_at -= 2 * NS_PER_S;
    struct fetch *call = calls("a");
    assert_string_equal(call->authorization, "one");
    fake_answer(call, 401, invalid);
    assert_string_equal(fake_said(), "a refused");
    gets_token("two");
    assert_string_equal(calls("b")->authorization, "two");
}

static void of_two_calls_with_an_expired_token_one_is_enough(void **state)
{
    snprintf(etcd.user, sizeof etcd.user, "shop");
    gets_token("one");
    etcd.token_at -= 2 * NS_PER_S;
    struct fetch *first = calls("a"), *second = calls("b"), *third = calls("c");
    fake_answer(first, 401, invalid);
    fake_answer(second, 401, invalid); /* before there is another token */
    gets_token("two");
    fake_answer(third, 401, invalid);                                  /* and after */
    assert_string_equal(fake_said(), "a refused; b failed; c failed"); /* and nobody is told of trouble */
    assert_true(etcd_may_call(&etcd));
    assert_string_equal(calls("d")->authorization, "two");
}

static void a_new_token_that_is_refused_at_once_is_trouble(void **state)
{
    snprintf(etcd.user, sizeof etcd.user, "shop");
    gets_token("one");
    fake_answer(calls("a"), 401, invalid);
    assert_string_equal(fake_said(), "a refused; trouble etcd at s1:2379: etcdserver: invalid auth token");
    assert_false(etcd_may_call(&etcd));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_next_server_is_asked_if_one_fails),
        TEST(two_calls_that_one_server_fails_leave_it_once),
        TEST(people_are_told_when_all_servers_have_failed),
        TEST(a_server_without_a_leader_is_left),
        TEST(a_refusal_leaves_no_server),
        TEST(an_expired_token_is_replaced),
        TEST(of_two_calls_with_an_expired_token_one_is_enough),
        TEST(a_new_token_that_is_refused_at_once_is_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
