/* Leases as JSON: what is read of them, what a write changes, and that what others wrote stays. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engines/kubernetes/lease.h"

static struct lease lease;
static const char *wrong;
static const uint64_t noon_us = UINT64_C(1767355200123456); /* 2026-01-02T12:00:00.123456Z */

static bool reads(const char *text)
{
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    const bool is_good = lease_read(object, &lease, &wrong);
    json_decref(object);
    assert_int_equal(is_good, wrong == NULL);
    return is_good;
}

#define META "\"metadata\":{\"name\":\"work\",\"uid\":\"u-1\",\"resourceVersion\":\"41\"}"
#define META_WITH(more) "\"metadata\":{\"name\":\"work\",\"uid\":\"u-1\",\"resourceVersion\":\"41\"," more "}"

static void reads_what_client_go_writes(void **state)
{
    assert_true(
        reads("{" META ",\"spec\":{\"holderIdentity\":\"host_1\",\"leaseDurationSeconds\":15,"
              "\"acquireTime\":\"2026-01-02T12:00:00.000001Z\",\"renewTime\":\"2026-01-02T12:00:00.123456Z\","
              "\"leaseTransitions\":3}}"));
    assert_string_equal(lease.name, "work");
    assert_string_equal(lease.uid, "u-1");
    assert_int_equal(lease.version, 41);
    assert_string_equal(lease.holder, "host_1");
    assert_int_equal(lease.duration_s, 15);
    assert_int_equal(lease.transitions, 3);
    assert_int_equal(lease.renewed_us, noon_us);
    assert_true(lease.was_held);
    assert_int_equal(lease.token, 0);
    assert_false(lease.has_token);
}

static void a_lease_may_be_without_all_that_is_optional(void **state)
{
    assert_true(reads("{" META "}"));
    assert_true(reads("{" META
                      ",\"spec\":{\"holderIdentity\":null,\"renewTime\":null,\"leaseDurationSeconds\":null}}"));
    assert_string_equal(lease.holder, "");
    assert_int_equal(lease.duration_s, 0);
    assert_false(lease.was_held);
}

#define TENURE(acquired, given)                                                                              \
    "{" META_WITH(                                                                                           \
        "\"annotations\":{\"elector/token\":\"40\",\"elector/value\":\"here\",\"elector/acquired\":\"" given \
        "\"}") ",\"spec\":{\"holderIdentity\":\"a\",\"acquireTime\":\"" acquired "\"}}"

static void a_token_belongs_to_one_tenure(void **state)
{
    assert_true(reads(TENURE("2026-01-02T12:00:00.000001Z", "2026-01-02T12:00:00.000001Z")));
    assert_int_equal(lease.token, 40);
    assert_true(lease.has_token);
    assert_string_equal(lease.value, "here");
    assert_true(
        reads(TENURE("2026-01-02T12:00:00.000002Z", "2026-01-02T12:00:00.000001Z"))); /* client-go took it */
    assert_int_equal(lease.token, 40);
    assert_false(lease.has_token);
    assert_string_equal(lease.value, "");
}

static void says_what_is_wrong(void **state)
{
    static const char *const bad[] = {
        "[]",
        "{}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\"}}",
        "{\"metadata\":{\"name\":7,\"uid\":\"u\",\"resourceVersion\":\"41\"}}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":41}}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":\"\"}}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":\"0\"}}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":\"41x\"}}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":\"9007199254740991\"}}",
        "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":\"18446744073709551657\"}}",
        "{" META_WITH("\"annotations\":{\"elector/token\":\"forty\"}") "}",
        "{" META_WITH("\"annotations\":{\"elector/token\":40}") "}",
        "{" META_WITH("\"annotations\":{\"elector/token\":\"9007199254740991\"}") "}",
        "{" META ",\"spec\":[]}",
        "{" META ",\"spec\":{\"holderIdentity\":7}}",
        "{" META ",\"spec\":{\"leaseDurationSeconds\":-1}}",
        "{" META ",\"spec\":{\"leaseDurationSeconds\":\"15\"}}",
        "{" META ",\"spec\":{\"leaseDurationSeconds\":2147483648}}",
        "{" META ",\"spec\":{\"leaseTransitions\":1.5}}",
        "{" META ",\"spec\":{\"renewTime\":\"yesterday\"}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(reads(bad[i]));
    assert_false(reads(bad[7]));
    assert_string_equal(wrong, "its resourceVersion is no number from which a token can be made");
}

static void what_people_read_has_no_control_characters(void **state)
{
    assert_true(reads("{" META ",\"spec\":{\"holderIdentity\":\"a\\u001b[2Jb\"}}"));
    assert_string_equal(lease.holder, "a?[2Jb");
}

static void a_long_text_is_cut_between_characters(void **state)
{
    char text[800], name[260];
    for (size_t i = 0; i < 258; i += 3) memcpy(name + i, "\xe2\x82\xac", 3); /* a euro sign */
    name[258] = '\0';
    snprintf(text, sizeof text, "{" META ",\"spec\":{\"holderIdentity\":\"x%s\"}}", name);
    assert_true(reads(text));
    assert_int_equal(strlen(lease.holder), 253);
}

/* ---- Times ---- */

static void times_have_six_digits(void **state)
{
    char text[LEASE_TIME_SIZE];
    uint64_t us;
    lease_write_time(noon_us, text);
    assert_string_equal(text, "2026-01-02T12:00:00.123456Z");
    assert_true(lease_read_time(text, &us));
    assert_int_equal(us, noon_us);
    lease_write_time(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
    assert_true(lease_read_time("2026-01-02T13:30:00.123456+01:30", &us));
    assert_int_equal(us, noon_us);
    assert_true(lease_read_time("2024-02-29T00:00:00.000000Z", &us));
}

static void other_times_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "2026-01-02T12:00:00Z",
                                      "2026-01-02T12:00:00.123Z",
                                      "2026-01-02T12:00:00.1234567Z",
                                      "2026-01-02T12:00:00.123456",
                                      "2026-01-02T12:00:00.123456Zz",
                                      "2026-01-02 12:00:00.123456Z",
                                      "2026-13-02T12:00:00.123456Z",
                                      "2026-02-29T12:00:00.123456Z",
                                      "2026-01-02T24:00:00.123456Z",
                                      "2026-01-02T12:00:00.123456+1:00",
                                      "1969-12-31T23:59:59.999999Z",
                                      "1970-01-01T00:00:00.000000+01:00"};
    uint64_t us;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(lease_read_time(bad[i], &us));
}

/* ---- Names ---- */

static void a_name_is_a_dns_subdomain(void **state)
{
    static const char *const good[] = {"a", "0", "work", "a-b.c-d", "a--b"}, *const bad[] = {
                                                                                 "",        "A",    "a_b",
                                                                                 "a/b",     "-a",   "a-",
                                                                                 ".a",      "a.",   "a..b",
                                                                                 "a.-b",    "a-.b", "a:b",
                                                                                 "\xc3\xa4"};
    char name[256];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(lease_is_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(lease_is_name(bad[i]));
    memset(name, 'a', 254);
    name[254] = '\0';
    assert_false(lease_is_name(name));
    name[253] = '\0';
    assert_true(lease_is_name(name));
}

/* ---- Writes ---- */

static json_t *written;

static int tear_down(void **state)
{
    json_decref(written);
    written = NULL;
    return 0;
}

static void writes(const char *text, struct lease_change change)
{
    json_t *object = json_loads(text, 0, NULL), *before = json_deep_copy(object);
    change.now_us = noon_us;
    json_decref(written);
    written = lease_changed(object, &change);
    assert_non_null(written);
    assert_true(json_equal(object, before)); /* the object itself stays */
    json_decref(object);
    json_decref(before);
    assert_true(lease_read(written, &lease, &wrong));
}

static const char *says(const char *folder, const char *name)
{
    const json_t *inner = strcmp(folder, "spec") == 0
                              ? json_object_get(written, "spec")
                              : json_object_get(json_object_get(written, "metadata"), folder);
    return json_string_value(json_object_get(inner, name));
}

static const struct lease_change take = {.holder = "b", .duration_s = 5, .token = 42},
                                 renew = {.holder = "a", .duration_s = 5},
                                 give_back = {.holder = "", .duration_s = 1};
#define HELD                                                                                                                                                                                                   \
    "{" META_WITH(                                                                                                                                                                                             \
        "\"labels\":{\"app\":\"x\"},\"annotations\":{\"other/key\":\"1\",\"elector/token\":\"40\","                                                                                                            \
        "\"elector/acquired\":\"2026-01-02T11:00:00.000000Z\",\"elector/value\":\"here\"}") ",\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-01-02T11:00:00.000000Z\"," \
                                                                                            "\"renewTime\":\"2026-01-02T11:30:00.000000Z\",\"leaseTransitions\":3,\"strategy\":\"OldestEmulationVersion\"}}"

static void a_new_tenure_has_a_token_and_counts_a_transition(void **state)
{
    writes(HELD, take);
    assert_string_equal(lease.holder, "b");
    assert_int_equal(lease.token, 42);
    assert_true(lease.has_token);
    assert_int_equal(lease.transitions, 4);
    assert_int_equal(lease.duration_s, 5);
    assert_int_equal(lease.renewed_us, noon_us);
    assert_string_equal(says("spec", "acquireTime"), "2026-01-02T12:00:00.123456Z");
    assert_null(says("annotations", "elector/value")); /* the value was another's */
}

static void a_renewal_changes_the_time_alone(void **state)
{
    writes(HELD, renew);
    assert_string_equal(lease.holder, "a");
    assert_int_equal(lease.token, 40);
    assert_true(lease.has_token);
    assert_int_equal(lease.transitions, 3);
    assert_string_equal(says("spec", "acquireTime"), "2026-01-02T11:00:00.000000Z");
    assert_string_equal(says("spec", "renewTime"), "2026-01-02T12:00:00.123456Z");
    assert_string_equal(lease.value, "here");
}

static void a_write_mends_a_token_that_fell(void **state)
{
    struct lease_change change = renew;
    change.least = 44;
    writes(HELD, change);
    assert_int_equal(lease.token, 44);
    assert_true(lease.has_token);
    change.least = 39; /* somebody has raised it by hand */
    writes(HELD, change);
    assert_int_equal(lease.token, 40);
    change = give_back;
    change.least = 44;
    writes(HELD, change);
    assert_int_equal(lease.token, 44);
}

static void what_others_wrote_stays(void **state)
{
    writes(HELD, take);
    assert_string_equal(says("spec", "strategy"), "OldestEmulationVersion");
    assert_string_equal(says("labels", "app"), "x");
    assert_string_equal(says("annotations", "other/key"), "1");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(written, "metadata"), "resourceVersion")), "41");
}

static void giving_back_is_as_client_go_does_it(void **state)
{
    writes(HELD, give_back);
    assert_string_equal(lease.holder, "");
    assert_int_equal(lease.duration_s, 1);
    assert_int_equal(lease.transitions, 3);
    assert_int_equal(lease.token, 40); /* for the next one to be above */
    assert_false(lease.has_token);
    assert_string_equal(says("spec", "acquireTime"), "2026-01-02T12:00:00.123456Z");
    assert_null(says("annotations", "elector/value"));
    char *text = json_dumps(written, 0);
    writes(text, take);
    assert_int_equal(lease.transitions, 4); /* also after nobody */
    free(text);
}

static void the_first_holder_is_no_transition(void **state)
{
    json_t *new = lease_new("work");
    json_object_update_new(json_object_get(new, "metadata"),
                           json_pack("{ss ss}", "uid", "u-1", "resourceVersion", "41"));
    char *text = json_dumps(new, 0);
    writes(text, take);
    assert_int_equal(lease.transitions, 0);
    free(text);
    json_decref(new);
}

static void a_value_comes_and_goes(void **state)
{
    struct lease_change change = renew;
    change.value = "there";
    writes(HELD, change);
    assert_string_equal(lease.value, "there");
    assert_int_equal(lease.token, 40);
    change.value = "";
    writes(HELD, change);
    assert_null(says("annotations", "elector/value"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_client_go_writes),
        cmocka_unit_test(a_lease_may_be_without_all_that_is_optional),
        cmocka_unit_test(a_token_belongs_to_one_tenure),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(what_people_read_has_no_control_characters),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
        cmocka_unit_test(times_have_six_digits),
        cmocka_unit_test(other_times_are_refused),
        cmocka_unit_test(a_name_is_a_dns_subdomain),
        cmocka_unit_test_teardown(a_new_tenure_has_a_token_and_counts_a_transition, tear_down),
        cmocka_unit_test_teardown(a_renewal_changes_the_time_alone, tear_down),
        cmocka_unit_test_teardown(a_write_mends_a_token_that_fell, tear_down),
        cmocka_unit_test_teardown(what_others_wrote_stays, tear_down),
        cmocka_unit_test_teardown(giving_back_is_as_client_go_does_it, tear_down),
        cmocka_unit_test_teardown(the_first_holder_is_no_transition, tear_down),
        cmocka_unit_test_teardown(a_value_comes_and_goes, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
