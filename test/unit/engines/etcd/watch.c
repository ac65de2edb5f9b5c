/* The first look and the watch of an engine on etcd: what the stream says, and what is done when etcd has forgotten what was between. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "lib/engines/fake_calls.h"
#include "lib/engines/fake_fetch.h"

static struct etcd etcd;
static uint64_t now;

/* ---- What the other files of the adapter would do ---- */

struct etcd_group *etcd_next(const struct etcd *all, const struct etcd_group *after)
{
    (void)all, (void)after;
    return NULL;
}

void etcd_take_all(struct etcd *all, const json_t *kvs, uint64_t revision)
{
    all->revision = revision;
    fake_say("%zu keys at %" PRIu64, json_array_size(kvs), revision);
}

void etcd_take_event(struct etcd *all, const json_t *event)
{
    all->revision = etcd_number(json_object_get(event, "kv"), "mod_revision");
    fake_say("event %" PRIu64, all->revision);
}

json_t *etcd_range(const char *folder)
{
    return json_pack("{ss}", "key", folder);
}

void etcd_write_url(const struct etcd *all, const char *path, char *url, size_t size)
{
    (void)all;
    snprintf(url, size, "http://s1%s", path);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as declared in internal.h */
void etcd_headers(const struct etcd *all, char room[1100], const char *headers[3])
{
    (void)all, (void)room;
    headers[0] = NULL;
}

void etcd_server_failed(struct etcd *all, uint32_t server, const struct fetch_answer *answer)
{
    (void)all, (void)server;
    fake_say("failed %s", answer->text);
}

void etcd_server_answered(struct etcd *all, uint32_t server)
{
    (void)all, (void)server;
}

/* ---- What happens ---- */

static void pumps(void)
{
    etcd_pump_watch(&etcd, now);
}

/* The look is the last call: a probe may come only later. */
static void looks(const char *revision)
{
    char answer[128];
    pumps();
    assert_string_equal(fake_calls[fake_called - 1].path, "/v3/kv/range");
    snprintf(answer, sizeof answer, "{\"header\":{\"revision\":\"%s\"},\"kvs\":[{}]}", revision);
    fake_done(&etcd, fake_called - 1, answer);
}

static void watches(void)
{
    looks("20");
    pumps();
    assert_string_equal(fake_last()->url, "http://s1/v3/watch");
    (void)fake_said();
}

static int set_up(void **state)
{
    etcd = (struct etcd){.prefix = "shop/"};
    now = clock_boottime_ns() + NS_PER_S;
    etcd.probed = now; /* no probe for now */
    fake_begun = 0;
    return 0;
}

static int tear_down(void **state)
{
    free(etcd.line);
    fake_calls_end();
    fake_end();
    return 0;
}

/* ---- The tests ---- */

static void it_looks_once_and_watches_from_there(void **state)
{
    looks("20");
    assert_string_equal(fake_said(), "1 keys at 20; ready");
    pumps();
    pumps();
    assert_int_equal(fake_begun, 1);
    assert_non_null(strstr(fake_last()->body, "\"start_revision\":\"21\""));
}

static void events_come_in_lines_that_may_be_cut(void **state)
{
    watches();
    fake_send(fake_last(), "{\"result\":{\"created\":true}}\n{\"result\":{\"events\":[{\"kv\":{\"mod_rev");
    assert_string_equal(fake_said(), "");
    fake_send(fake_last(), "ision\":\"21\"}}]}}\n");
    assert_string_equal(fake_said(), "event 21");
}

static void a_watch_that_ends_goes_on_from_the_last_event(void **state)
{
    watches();
    fake_send(fake_last(), "{\"result\":{\"events\":[{\"kv\":{\"mod_revision\":\"25\"}}]}}\n");
    fake_answer(fake_last(), 200, "");
    now += NS_PER_S;
    pumps();
    assert_int_equal(fake_begun, 2);
    assert_non_null(strstr(fake_last()->body, "\"start_revision\":\"26\""));
    assert_string_equal(fake_said(), "event 25");
}

static void after_compaction_all_is_read_again(void **state)
{
    watches();
    fake_send(fake_last(), "{\"result\":{\"canceled\":true,\"compact_revision\":\"90\"}}\n");
    assert_false(fake_last()->is_open);
    now += NS_PER_S;
    looks("100");
    assert_string_equal(fake_said(), "1 keys at 100; ready");
    pumps();
    assert_int_equal(fake_begun, 2);
    assert_non_null(strstr(fake_last()->body, "\"start_revision\":\"101\""));
}

static void a_watch_that_is_refused_is_told_and_tried_again(void **state)
{
    watches();
    fake_send(fake_last(),
              "{\"result\":{\"canceled\":true,\"cancel_reason\":\"rpc error: code = PermissionDenied\"}}\n");
    assert_string_equal(fake_said(), "refused 7 rpc error: code = PermissionDenied");
    now += NS_PER_S;
    pumps();
    assert_int_equal(fake_begun, 2);
    assert_true(etcd.has_looked);
}

static void what_has_no_end_is_read_again_instead(void **state)
{
    char much[4097] = "";
    watches();
    memset(much, 'x', sizeof much - 1);
    for (int i = 0; i < 5000 && fake_last()->is_open; i++) fake_send(fake_last(), much);
    assert_false(fake_last()->is_open);
    assert_false(etcd.has_looked);
}

static void a_read_proves_now_and_then_that_the_server_is_in_touch(void **state)
{
    watches();
    const unsigned before = fake_called;
    now += 2 * NS_PER_S; /* more than a third of the TTL */
    pumps();
    pumps();
    assert_int_equal(fake_called, before + 1);
    assert_non_null(strstr(fake_calls[fake_called - 1].body, "count_only"));
}

static void a_silent_watch_is_renewed(void **state)
{
    watches();
    now += 21 * NS_PER_S;
    pumps();
    assert_int_equal(fake_begun, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(it_looks_once_and_watches_from_there),
        TEST(events_come_in_lines_that_may_be_cut),
        TEST(a_watch_that_ends_goes_on_from_the_last_event),
        TEST(after_compaction_all_is_read_again),
        TEST(a_watch_that_is_refused_is_told_and_tried_again),
        TEST(what_has_no_end_is_read_again_instead),
        TEST(a_read_proves_now_and_then_that_the_server_is_in_touch),
        TEST(a_silent_watch_is_renewed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
