/* Calls to the API server: what an answer does to the object, to those who wait, and to what people are told. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engines/kubernetes/internal.h"
#include "lib/engines/fake_engine.h"
#include "lib/engines/fake_fetch.h"

static struct kubernetes k;
static struct object works[3];
static bool has_another; /* token in the file */

/* ---- What the other files of the adapter would do ---- */

bool credentials_refresh(struct credentials *c, uint64_t now_ns)
{
    const bool is_new = has_another;
    (void)now_ns;
    if (is_new) snprintf(c->token, sizeof c->token, "two");
    c->token_number += is_new;
    has_another = false;
    return is_new;
}

void kubernetes_go_on(struct kubernetes *all)
{
    (void)all;
}

void kubernetes_go_on_in(struct kubernetes *all, uint64_t ms)
{
    (void)all, (void)ms;
}

void kubernetes_listed(struct kubernetes *all, const struct fetch_answer *answer, const json_t *object)
{
    (void)all, (void)object;
    fake_say("listed %d", answer->status);
}

void object_take(struct object *p, const json_t *object, uint64_t sent_version)
{
    (void)p, (void)object, (void)sent_version;
    fake_say("taken");
}

void object_take_missing(struct object *p, uint64_t sent_version)
{
    (void)p, (void)sent_version;
    fake_say("missing");
}

void object_saved(struct object *p, const struct call *call, const json_t *object)
{
    (void)p, (void)call, (void)object;
    fake_say("saved");
}

/* ---- What happens ---- */

static struct fetch *gets(int number)
{
    assert_true(kubernetes_call(&works[number], &(struct call){.verb = VERB_GET}, NULL));
    return fake_last();
}

static struct fetch *updates(int number)
{
    assert_true(kubernetes_call(&works[number], &(struct call){.verb = VERB_UPDATE}, json_object()));
    return fake_last();
}

static int set_up(void **state)
{
    static char server[] = "https://api";
    k = (struct kubernetes){.namespace = "shop", .timeout_ms = 400};
    k.credentials.config.server = server;
    snprintf(k.credentials.token, sizeof k.credentials.token, "one");
    for (int i = 0; i < 3; i++) works[i] = (struct object){.k = &k, .group = fake_group("work")};
    has_another = false;
    fake_begun = 0;
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < 3; i++) kubernetes_cancel(works[i].call);
    kubernetes_cancel(k.list);
    fake_end();
    return 0;
}

/* ---- The tests ---- */

static void answers_go_where_they_belong(void **state)
{
    fake_answer(gets(0), 200, "{}");
    fake_answer(updates(0), 200, "{}");
    fake_answer(gets(0), 404, "{\"details\":{\"kind\":\"leases\"}}");
    assert_string_equal(fake_said(), "taken; saved; missing");
    assert_int_equal(k.flights, 0);
}

static void a_conflict_is_read_again(void **state)
{
    fake_answer(updates(0), 409, "{}");
    assert_true(works[0].is_stale);
    assert_string_equal(fake_said(), "");
}

static void a_write_that_may_have_taken_place_is_read_again(void **state)
{
    fake_fail(updates(0), FETCH_LATE, "");
    assert_true(works[0].is_stale);
    assert_true(k.not_before > clock_boottime_ns());
}

static void a_refusal_of_one_object_lets_the_others_go_on(void **state)
{
    fake_answer(updates(0), 403, "{\"message\":\"no\"}");
    assert_int_equal(k.not_before, 0);
    assert_true(works[0].not_before > 0);
}

static void a_token_that_was_replaced_is_no_trouble(void **state)
{
    struct fetch *call = gets(0);
    assert_string_equal(call->authorization, "Bearer one");
    has_another = true;
    fake_answer(call, 401, "{}");
    assert_string_equal(fake_said(), "");
    assert_string_equal(gets(1)->authorization, "Bearer two");
}

static void of_two_calls_with_a_replaced_token_neither_is_trouble(void **state)
{
    struct fetch *first = gets(0), *second = updates(1);
    assert_true(kubernetes_list(&k));
    struct fetch *third = fake_last();
    has_another = true;
    fake_answer(first, 401, "{}");
    fake_answer(second, 401, "{}");
    fake_answer(third, 401, "{}");
    assert_string_equal(fake_said(), "");
    assert_int_equal(k.not_before, 0);
    assert_null(k.list); /* so that it is asked again */
}

static void a_token_that_is_refused_is_trouble(void **state)
{
    fake_answer(gets(0), 401, "{}");
    assert_non_null(strstr(fake_said(), "does not accept our credentials (401)"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(answers_go_where_they_belong),
        TEST(a_conflict_is_read_again),
        TEST(a_write_that_may_have_taken_place_is_read_again),
        TEST(a_refusal_of_one_object_lets_the_others_go_on),
        TEST(a_token_that_was_replaced_is_no_trouble),
        TEST(of_two_calls_with_a_replaced_token_neither_is_trouble),
        TEST(a_token_that_is_refused_is_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
