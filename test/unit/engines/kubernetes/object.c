/*
 * A group's Lease between the machine and the API server: what the machine is told, what is asked next, which of two answers is newer,
 * and that tokens rise over whatever happens to the object. We are "me"; a duration of ours is 5 s.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engines/kubernetes/internal.h"
#include "lib/engines/fake_engine.h"

static struct kubernetes k;
static struct object *p;
static struct call call; /* the last one */
static json_t *body;

/* ---- Instead of call.c and kubernetes.c ---- */

bool kubernetes_call(struct object *of, const struct call *model, json_t *sent)
{
    static const char *const verbs[] = {"get", "create", "update"};
    call = *model;
    call.of = of;
    call.version = of->version;
    json_decref(body);
    body = sent;
    of->call = &call;
    fake_say("%s", verbs[model->verb]);
    return true;
}

void kubernetes_cancel(struct call *given)
{
    (void)given;
}

void kubernetes_go_on_in(struct kubernetes *given, uint64_t ms)
{
    (void)given, (void)ms;
}

/* ---- The scene ---- */

static int set_up(void **state)
{
    k = (struct kubernetes){.identity = "me", .namespace = "shop", .ttl_s = 5};
    p = calloc(1, sizeof *p);
    if (!p) abort();
    p->k = &k;
    p->group = fake_group("work");
    p->group->stands = true;
    return 0;
}

static int tear_down(void **state)
{
    p->call = NULL;
    object_free(p);
    json_decref(body);
    body = NULL;
    fake_end();
    return 0;
}

static json_t *lease_by(const char *holder, uint64_t version, int duration, const char *uid, uint64_t token)
{
    char number[24], given[24];
    snprintf(number, sizeof number, "%" PRIu64, version);
    snprintf(given, sizeof given, "%" PRIu64, token);
    json_t *lease = json_pack("{s{ss ss ss s{}} s{ss si ss}}", "metadata", "name", "work", "uid", uid,
                              "resourceVersion", number, "annotations", "spec", "holderIdentity", holder,
                              "leaseDurationSeconds", duration, "acquireTime", "2026-01-02T12:00:00.000000Z");
    json_t *annotations = json_object_get(json_object_get(lease, "metadata"), "annotations");
    if (token) json_object_set_new(annotations, "elector/token", json_string(given));
    if (token) json_object_set_new(annotations, "elector/acquired", json_string("2026-01-02T12:00:00.000000Z"));
    return lease;
}

static void event(json_t *lease)
{
    object_take(p, lease, UINT64_MAX);
    json_decref(lease);
}

static void got(json_t *lease)
{
    p->call = NULL;
    object_take(p, lease, call.version);
    json_decref(lease);
}

static void works(void)
{
    object_work(p, clock_boottime_ns(), true);
}

static void asks(uint8_t kind, uint64_t epoch, bool anew, bool gives_back)
{
    p->request = (struct el_msg){.kind = kind,
                                 .epoch = epoch,
                                 .flags = anew,
                                 .subject = gives_back ? ENGINE_STORE : ENGINE_SELF,
                                 .more = 9};
    works();
}

/* The write took place as it was sent, as this version. */
static void saved(uint64_t version)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, version);
    json_t *lease = json_deep_copy(body), *metadata = json_object_get(lease, "metadata");
    json_object_set_new(metadata, "resourceVersion", json_string(number));
    if (!json_object_get(metadata, "uid")) json_object_set_new(metadata, "uid", json_string("new"));
    p->call = NULL;
    object_saved(p, &call, lease);
    json_decref(lease);
}

static const struct el_msg *told(void)
{
    return &p->group->told;
}

static uint64_t sent_token(void)
{
    const json_t *annotations = json_object_get(json_object_get(body, "metadata"), "annotations");
    const char *text = json_string_value(json_object_get(annotations, "elector/token"));
    return text ? strtoull(text, NULL, 10) : 0;
}

static const char *sent_holder(void)
{
    return json_string_value(json_object_get(json_object_get(body, "spec"), "holderIdentity"));
}

/* Known, and free, as version 1 of the machine. */
static void sit_free(void)
{
    event(lease_by("", 41, 1, "u", 0));
    works();
    (void)fake_said();
}

static void sit_leading(void)
{
    sit_free();
    asks(LEASE_PUT, 1, true, false);
    saved(42);
    works();
    (void)fake_said();
}

/* ---- The machine ---- */

static void a_lease_that_is_missing_is_made_and_then_taken(void **state)
{
    asks(LEASE_GET, 0, false, false);
    assert_string_equal(fake_said(), "get");
    p->call = NULL;
    object_take_missing(p, call.version);
    assert_int_equal(told()->kind, LEASE_GOT);
    assert_int_equal(told()->epoch, 1);
    assert_int_equal(told()->subject, ENGINE_STORE);
    (void)fake_said();
    asks(LEASE_PUT, 1, true, false);
    assert_non_null(strstr(fake_said(), "create"));
    assert_null(sent_holder());
    saved(41);
    works();
    assert_int_equal(told()->kind,
                     LEASE_CONFLICT); /* it wrote nothing yet, and there is something to write to */
    assert_int_equal(told()->epoch, 2);
    (void)fake_said();
    asks(LEASE_PUT, 2, true, false);
    assert_string_equal(fake_said(), "update");
    assert_string_equal(sent_holder(), "me");
    assert_int_equal(sent_token(), 42);
    saved(42);
    assert_int_equal(told()->kind, LEASE_SAVED);
    assert_int_equal(told()->more, 9);
    assert_int_equal(told()->subject, ENGINE_SELF);
    assert_int_equal(told()->extra[1], 42);
}

static void a_write_over_an_old_version_is_refused_here(void **state)
{
    sit_free();
    event(lease_by("other", 45, 5, "u", 0));
    asks(LEASE_PUT, 1, true, false);
    assert_int_equal(told()->kind, LEASE_CONFLICT);
    assert_int_equal(told()->epoch, 2);
    assert_int_equal(told()->subject, ENGINE_OTHERS);
    assert_null(strstr(fake_said(), "update"));
}

static void a_renewal_keeps_the_token(void **state)
{
    sit_leading();
    asks(LEASE_PUT, 2, false, false);
    saved(60);
    assert_int_equal(told()->kind, LEASE_SAVED);
    assert_int_equal(told()->extra[1], 42);
    assert_int_equal(sent_token(), 42);
}

static void a_read_is_of_the_server(void **state)
{
    sit_free();
    asks(LEASE_GET, 0, false, false);
    assert_string_equal(fake_said(), "get"); /* though something is known */
    event(lease_by("other", 45, 5, "u", 0));
    got(lease_by("", 41, 1, "u", 0)); /* from before the event */
    assert_int_equal(told()->kind, LEASE_GOT);
    assert_int_equal(told()->subject, ENGINE_OTHERS);
}

static void it_waits_as_long_as_the_holder_counts_on_it(void **state)
{
    event(lease_by("other", 41, 15, "u", 0));
    works();
    assert_non_null(strstr(fake_said(), "lease=15s"));
    event(lease_by("other", 42, 2, "u", 0));
    works();
    assert_non_null(strstr(fake_said(), "lease=5s"));
    event(lease_by("me", 43, 15, "u", 0));
    works();
    assert_non_null(strstr(fake_said(), "lease=5s"));
}

/* ---- Newer and older ---- */

static void an_event_of_an_older_version_is_no_news(void **state)
{
    sit_free();
    event(lease_by("other", 40, 5, "u", 0));
    event(lease_by("other", 41, 5, "u", 0));
    works();
    assert_string_equal(fake_said(), "");
}

static void a_lease_that_went_back_counts_if_it_was_asked_for_last(void **state)
{
    sit_leading();
    p->is_stale = true;
    works();
    got(lease_by("other", 30, 5, "u", 29));
    works();
    assert_int_equal(told()->epoch, 3);
    assert_int_equal(told()->subject, ENGINE_OTHERS);
    event(lease_by("", 31, 1, "u", 29));
    works();
    asks(LEASE_PUT, 4, true, false);
    assert_int_equal(sent_token(), 43); /* above the one that we had */
}

static void tokens_go_on_over_another_object(void **state)
{
    sit_free();
    event(lease_by("other", 50, 5, "u", 900));
    object_take_missing(p, p->version);
    event(lease_by("", 60, 1, "v", 0));
    works();
    (void)fake_said();
    asks(LEASE_PUT, p->version, true, false);
    assert_int_equal(sent_token(), 901);
}

static void a_token_is_above_the_version_that_it_replaces(void **state)
{
    event(lease_by("", 1000, 1, "u", 7));
    works();
    asks(LEASE_PUT, 1, true, false);
    assert_int_equal(sent_token(), 1001);
}

static void there_is_a_highest_token(void **state)
{
    event(lease_by("", 41, 1, "u", LEASE_TOKEN_MAX - 2));
    works();
    asks(LEASE_PUT, 1, true, false);
    assert_int_equal(sent_token(), LEASE_TOKEN_MAX - 1);
    saved(42);
    works();
    (void)fake_said();
    asks(LEASE_PUT, 2, true, false);
    assert_non_null(strstr(fake_said(), "trouble the Lease work: its annotation elector/token is too high"));
}

static void a_lease_without_a_number_is_refused(void **state)
{
    json_t *lease = lease_by("", 41, 1, "u", 0);
    json_object_set_new(json_object_get(lease, "metadata"), "resourceVersion", json_string("x"));
    event(lease);
    assert_non_null(strstr(
        fake_said(), "trouble the Lease work of namespace shop is unusable: its resourceVersion is no number"));
    assert_false(p->is_known);
}

/* ---- Giving back ---- */

static void who_stands_no_more_gives_it_back(void **state)
{
    sit_leading();
    p->group->stands = false;
    p->request.kind = 0;
    p->withdraws = p->may_hold;
    works();
    assert_string_equal(fake_said(), "update");
    assert_string_equal(sent_holder(), "");
    assert_int_equal(sent_token(), 42);
    saved(43);
    works();
    assert_false(p->withdraws);
    assert_null(p->call);
}

static void another_holder_is_left_alone(void **state)
{
    sit_leading();
    event(lease_by("other", 50, 5, "u", 49));
    works();
    (void)fake_said();
    p->withdraws = p->may_hold;
    works();
    assert_string_equal(fake_said(), "");
    assert_false(p->withdraws);
}

static void after_a_write_that_may_have_taken_place_it_looks_first(void **state)
{
    sit_free();
    asks(LEASE_PUT, 1, true, false);
    p->call = NULL; /* no answer */
    p->is_stale = true;
    p->request.kind = 0;
    p->withdraws = p->may_hold;
    (void)fake_said();
    works();
    assert_string_equal(fake_said(), "get");
    assert_true(p->withdraws);
    got(lease_by("me", 42, 5, "u", 42));
    works();
    assert_string_equal(sent_holder(), "");
}

static void a_resignation_is_the_machines_write(void **state)
{
    sit_leading();
    asks(LEASE_PUT, 2, true, true);
    assert_string_equal(sent_holder(), "");
    saved(43);
    assert_int_equal(told()->kind, LEASE_SAVED);
    assert_int_equal(told()->subject, ENGINE_STORE);
}

/* ---- Those who look ---- */

static void shows(const char *text)
{
    works();
    const char *said = fake_said(), *at = strstr(said, "work:");
    if (!at || strncmp(at, text, strlen(text)) != 0) fail_msg("'%s' instead of '%s'", said, text);
}

static void a_holder_has_its_name_and_its_token(void **state)
{
    p->group->stands = false;
    event(lease_by("b_656c6563-0000-4000-8000-000000000000", 41, 15, "u", 40));
    shows("work: b 40");
    event(lease_by("pod-1_0fa3c9a5-0000-4000-8000-000000000000", 42, 15, "u", 0));
    shows("work: pod-1_0fa3c9a5-0000-4000-8000-000000000000 0"); /* of client-go: it has no token */
    event(lease_by("", 43, 1, "u", 40));
    shows("work:");
}

static void one_that_was_renewed_long_ago_leads_no_more(void **state)
{
    char time[LEASE_TIME_SIZE];
    json_t *lease = lease_by("b", 41, 15, "u", 0);
    p->group->stands = false;
    lease_write_time(clock_wall_ns() / NS_PER_US - 60 * UINT64_C(1000000), time);
    json_object_set_new(json_object_get(lease, "spec"), "renewTime", json_string(time));
    event(lease);
    works();
    assert_string_equal(fake_said(), "work:");
}

static void what_was_proclaimed_is_written_in_its_tenure_alone(void **state)
{
    sit_leading();
    p->value = strdup("here");
    p->value_of = 42;
    works();
    assert_string_equal(fake_said(), "update");
    saved(43);
    assert_null(p->value);
    works();
    (void)fake_said();
    p->value = strdup("there");
    p->value_of = 41; /* of an earlier one */
    works();
    assert_string_equal(fake_said(), "");
    assert_null(p->value);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_lease_that_is_missing_is_made_and_then_taken),
        TEST(a_write_over_an_old_version_is_refused_here),
        TEST(a_renewal_keeps_the_token),
        TEST(a_read_is_of_the_server),
        TEST(it_waits_as_long_as_the_holder_counts_on_it),
        TEST(an_event_of_an_older_version_is_no_news),
        TEST(a_lease_that_went_back_counts_if_it_was_asked_for_last),
        TEST(tokens_go_on_over_another_object),
        TEST(a_token_is_above_the_version_that_it_replaces),
        TEST(there_is_a_highest_token),
        TEST(a_lease_without_a_number_is_refused),
        TEST(who_stands_no_more_gives_it_back),
        TEST(another_holder_is_left_alone),
        TEST(after_a_write_that_may_have_taken_place_it_looks_first),
        TEST(a_resignation_is_the_machines_write),
        TEST(a_holder_has_its_name_and_its_token),
        TEST(one_that_was_renewed_long_ago_leads_no_more),
        TEST(what_was_proclaimed_is_written_in_its_tenure_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
