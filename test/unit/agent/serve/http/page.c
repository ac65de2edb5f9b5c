/* What the live page is served and asks for: the page and its policy, the overview, groups by search and page, and the past. */
#define _GNU_SOURCE
#include "lib/client/http.h"

static json_t *get_json(const char *path)
{
    const char *answer = get(path);
    if (code_of(answer) != 200) fail_msg("%s is answered by %s", path, answer);
    json_t *object = json_loads(body_of(answer), 0, NULL);
    assert_non_null(object);
    return object;
}

static void lead_many(int fd, const char *prefix, int count)
{
    char name[32];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%05d", prefix, i);
        (void)lead(fd, name);
        while (try_hear(fd)) {}
    }
}

/* The number of groups in an answer; *next: where it goes on, -1: nowhere. */
static size_t groups_at(const char *path, json_int_t *next)
{
    json_t *answer = get_json(path);
    const size_t count = json_array_size(json_object_get(answer, "groups"));
    const json_t *more = json_object_get(answer, "next");
    *next = json_is_integer(more) ? json_integer_value(more) : -1;
    json_decref(answer);
    return count;
}

static void serves_the_page_with_its_policy(void **state)
{
    const char *answer = get("/");
    assert_int_equal(code_of(answer), 200);
    assert_non_null(strstr(answer, "Content-Type: text/html; charset=utf-8\r\n"));
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
    assert_non_null(strstr(answer, "frame-ancestors 'none'\r\n"));
    assert_memory_equal(body_of(answer), "<!doctype html>", 15);
    assert_non_null(strstr(answer, "</html>"));
    expect_code("/index.html", 404);
}

static void gives_an_overview(void **state)
{
    const int fd = join();
    (void)lead(fd, "g");
    json_t *all = get_json("/overview");
    const json_t *groups = json_object_get(all, "groups"), *failovers = json_object_get(all, "failovers");
    assert_string_equal(json_string_value(json_object_get(all, "member")), "a");
    assert_string_equal(json_string_value(json_object_get(all, "version")), "0");
    assert_string_equal(json_string_value(json_object_get(all, "socket")), t.config.socket);
    assert_int_equal(json_integer_value(json_object_get(groups, "count")), 1);
    assert_int_equal(json_integer_value(json_object_get(groups, "led")), 1);
    assert_int_equal(json_integer_value(json_object_get(groups, "led_here")), 1);
    assert_int_equal(json_array_size(json_object_get(failovers, "bounds_us")), METRICS_BOUNDS);
    assert_int_equal(json_array_size(json_object_get(failovers, "counts")), METRICS_BOUNDS + 1);
    assert_null(json_object_get(all, "unhealthy"));
    json_decref(all);
    http_set_unhealthy(h.http, "leaving");
    all = get_json("/overview");
    assert_string_equal(json_string_value(json_object_get(all, "unhealthy")), "leaving");
    json_decref(all);
}

static json_int_t waiting_now(char group[64])
{
    json_t *all = get_json("/overview");
    const json_t *groups = json_object_get(all, "groups"), *name = json_object_get(groups, "waiting_group");
    const json_int_t waiting = json_integer_value(json_object_get(groups, "waiting"));
    snprintf(group, 64, "%s", name ? json_string_value(name) : "none");
    json_decref(all);
    return waiting;
}

static void expect_waiting(json_int_t count, const char *group)
{
    char name[64];
    const json_int_t waiting = waiting_now(name);
    if (waiting != count || strcmp(name, group) != 0)
        fail_msg("%lld wait (%s), not %lld (%s)", (long long)waiting, name, (long long)count, group);
}

/* While the disk hangs, nobody is elected, if no term is on it already: a second client would let the host write one. */
static void ask_while_the_disk_hangs(int fd, const char *op, const char *group)
{
    char line[100];
    h.disk_hangs = true;
    snprintf(line, sizeof line, "{\"op\":\"%s\",\"group\":\"%s\"}\n", op, group);
    put(fd, line);
    for (int i = 0; i < 10; i++) serve();
}

/* Groups with a candidate here and no leader: `elector doctor` calls them wrong. */
static void counts_groups_that_wait_for_a_leader(void **state)
{
    const int fd = join();
    ask_while_the_disk_hangs(fd, "campaign", "one");
    expect_waiting(1, "one");
    ask_while_the_disk_hangs(fd, "campaign", "two");
    expect_waiting(2, "none");
    ask_while_the_disk_hangs(fd, "resign", "one");
    expect_waiting(1, "two");
    h.disk_hangs = false;
    while (try_hear_now(fd)) {}
    assert_non_null(strstr(await(fd), "elected"));
    expect_waiting(0, "none");
}

/* HTTP does not know who asks. */
static void keeps_the_name_of_a_waiting_group(void **state)
{
    t.config.groups[0].allowed[CONFIG_READ] = (struct config_allowed){.is_set = true};
    t.config.restricts_reading = true;
    ask_while_the_disk_hangs(join(), "campaign", "secret");
    expect_waiting(1, "none");
}

static uint64_t stall_ns;

static uint64_t stall_of(const struct config *config)
{
    return stall_ns;
}

/* Beside `late_us`: `elector doctor` warns above a half of it. */
static void tells_how_late_it_may_run(void **state)
{
    json_t *all = get_json("/overview");
    assert_null(json_object_get(all, "stall_us"));
    json_decref(all);
    h.http->with.stall_ns = stall_of;
    stall_ns = 447 * NS_PER_MS;
    all = get_json("/overview");
    assert_int_equal(json_integer_value(json_object_get(all, "stall_us")), 447000);
    assert_true(json_is_integer(json_object_get(all, "late_us")));
    json_decref(all);
    stall_ns = UINT64_MAX; /* no lease, no bound */
    all = get_json("/overview");
    assert_null(json_object_get(all, "stall_us"));
    json_decref(all);
}

/* Who reads from another host has no use for paths. */
static void keeps_paths_from_other_hosts(void **state)
{
    json_t *all = get_json("/overview");
    assert_null(json_object_get(all, "config")); /* there is no file */
    json_decref(all);
    h.http->config_path = strdup("/etc/elector/elector.conf");
    all = get_json("/overview");
    assert_string_equal(json_string_value(json_object_get(all, "config")), "/etc/elector/elector.conf");
    json_decref(all);
    h.http->is_local = false;
    all = get_json("/overview");
    assert_null(json_object_get(all, "socket"));
    assert_null(json_object_get(all, "config"));
    json_decref(all);
}

static void tells_groups_page_by_page(void **state)
{
    json_int_t next = 0;
    lead_many(join(), "g", 70);
    assert_int_equal(groups_at("/groups", &next), HTTP_GROUPS_MAX);
    assert_int_equal(next, HTTP_GROUPS_MAX);
    assert_int_equal(groups_at("/groups?from=64", &next), 6);
    assert_int_equal(next, -1);
    assert_int_equal(groups_at("/groups?from=60&most=3", &next), 3);
    assert_int_equal(next, 63);
    assert_int_equal(groups_at("/groups?from=4000000", &next), 0);
    assert_int_equal(next, -1);
}

static void searches_names_and_leaders(void **state)
{
    json_int_t next = 0;
    const int fd = join(), other = join();
    lead_many(fd, "shop/", 12);
    (void)lead(other, "free");
    hang_up(other);
    assert_int_equal(groups_at("/groups?search=SHOP%2F0001", &next), 2);
    assert_int_equal(next, -1);
    assert_int_equal(groups_at("/groups?search=%25", &next), 0);
    assert_int_equal(groups_at("/groups?leader=", &next), 1);
    assert_int_equal(groups_at("/groups?leader=a", &next), 12);
    assert_int_equal(groups_at("/groups?leader=a&search=free", &next), 0);
}

static void leaves_out_forgotten_groups(void **state)
{
    json_int_t next = 0;
    const int fd = join(), other = join();
    (void)lead(fd, "kept");
    (void)lead(other, "gone");
    hang_up(other);
    assert_int_equal(groups_at("/groups", &next), 2);
    assert_true(serve_forget(t.serve, serve_find_leadership(t.serve, "gone")));
    assert_int_equal(groups_at("/groups", &next), 1);
}

/* However many groups there are, and however few match. */
static void looks_at_so_many_groups_at_once(void **state)
{
    json_int_t next = 0;
    lead_many(join(), "g", HTTP_GROUPS_LOOKED + 2);
    assert_int_equal(groups_at("/groups?search=g04097", &next), 0);
    assert_int_equal(next, HTTP_GROUPS_LOOKED);
    assert_int_equal(groups_at("/groups?search=g04097&from=4096", &next), 1);
    assert_int_equal(next, -1);
}

static void names_the_mistake_in_a_query(void **state)
{
    static const char *const wrong[] = {
        "/groups?from=x",        "/groups?from=-1",  "/groups?from=99999999999", "/groups?most=0",
        "/groups?most=65",       "/groups?most=",    "/groups?search=%zz",       "/groups?search=%00",
        "/groups?leader=nobody", "/groups?leader=%2"};
    char path[600] = "/groups?search=";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_code(wrong[i], 400);
        assert_non_null(strstr(body_of(h.answer), "\"message\":\"`"));
    }
    memset(path + strlen(path), 'x', 300);
    expect_code(path, 400);
}

static void tells_the_past_as_the_socket_does(void **state)
{
    const int fd = join();
    (void)lead(fd, "shop/g");
    expect_code("/history/shop/g", 200);
    assert_non_null(strstr(body_of(h.answer), "{\"ok\":true,\"group\":\"shop/g\",\"member\":\"a\""));
    assert_non_null(strstr(body_of(h.answer), "\"tenures\":["));
    expect_code("/why/shop%2Fg", 200);
    assert_non_null(strstr(body_of(h.answer), "\"steps\":["));
    expect_code("/why/other", 404);
    expect_code("/history/", 404);
}

static void keeps_what_only_some_may_read(void **state)
{
    json_int_t next = 0;
    const int fd = join();
    t.config.groups[0].allowed[CONFIG_READ] = (struct config_allowed){.is_set = true};
    t.config.restricts_reading = true;
    (void)lead(fd, "secret");
    (void)lead(fd, "open");
    assert_int_equal(groups_at("/groups", &next), 1);
    assert_null(strstr(h.answer, "secret"));
    expect_code("/why/secret", 403);
    expect_code("/history/secret", 403);
    assert_null(strstr(body_of(h.answer), "token"));
}

static void tells_a_reader_only_what_is_new(void **state)
{
    const int fd = join(), reader = call();
    (void)lead(fd, "old");
    put(reader, "GET /events?from=now HTTP/1.1\r\nHost: localhost\r\n\r\n");
    (void)read_until(reader, ":\n\n");
    assert_null(strstr(h.answer, "old"));
    (void)lead(fd, "new");
    (void)read_until(reader, "data: {\"group\":\"new\",\"leader\":\"a\",");
    assert_null(strstr(h.answer, "old"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(serves_the_page_with_its_policy),
        TEST(gives_an_overview),
        TEST(counts_groups_that_wait_for_a_leader),
        TEST(keeps_the_name_of_a_waiting_group),
        TEST(tells_how_late_it_may_run),
        TEST(keeps_paths_from_other_hosts),
        TEST(tells_groups_page_by_page),
        TEST(searches_names_and_leaders),
        TEST(leaves_out_forgotten_groups),
        TEST(looks_at_so_many_groups_at_once),
        TEST(names_the_mistake_in_a_query),
        TEST(tells_the_past_as_the_socket_does),
        TEST(keeps_what_only_some_may_read),
        TEST(tells_a_reader_only_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
