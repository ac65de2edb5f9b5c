/* What is told over HTTP: every path, who leads and since when not, events and numbers. */
#define _GNU_SOURCE
#include <errno.h>

#include "lib/client/http.h"

static void says_that_it_is_well(void **state)
{
    const char *answer = get("/healthz");
    assert_int_equal(code_of(answer), 200);
    assert_string_equal(body_of(answer), "{\"ok\":true}\n");
    http_set_unhealthy(h.http, "leaving");
    answer = get("/healthz");
    assert_int_equal(code_of(answer), 503);
    assert_non_null(strstr(body_of(answer), "leaving"));
}

static void is_not_well_when_the_disk_fails(void **state)
{
    host_saved(t.host, 0, EIO);
    expect_code("/healthz", 503);
}

static void serves_many_requests_on_a_connection(void **state)
{
    const int fd = call();
    for (int i = 0; i < 3; i++) {
        put(fd, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        assert_int_equal(code_of(read_until(fd, "}\n")), 200);
    }
    put(fd, "HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    assert_string_equal(body_of(read_until(fd, NULL)), "");
    assert_non_null(strstr(h.answer, "Content-Length: 12\r\n"));
}

/* ---- Leaders ---- */

static void says_200_where_it_leads(void **state)
{
    char body[200];
    const int fd = join();
    const json_int_t token = lead(fd, "shop/billing");
    const char *answer = get("/leader/shop/billing");
    assert_int_equal(code_of(answer), 200);
    snprintf(body, sizeof body, "{\"group\":\"shop/billing\",\"leader\":\"a\",\"token\":%lld,\"value\":\"\"}\n",
             (long long)token);
    assert_string_equal(body_of(answer), body);
    expect_code("/leader/shop%2Fbilling", 200);
    expect_code("/leader/other", 404);
    expect_code("/leader/", 404);
    expect_code("/leader", 404);
}

static void says_503_where_it_does_not(void **state)
{
    const int fd = join();
    (void)lead(fd, "g");
    hang_up(fd);
    const char *answer = get("/leader/g");
    assert_int_equal(code_of(answer), 503);
    assert_string_equal(body_of(answer), "{\"group\":\"g\",\"leader\":null,\"token\":0,\"value\":\"\"}\n");
}

/* The agent was stopped for longer than its lease, and the first thing that it sees is a load balancer's
 * question. */
static void says_nothing_of_a_lease_that_is_over(void **state)
{
    const int fd = join(), asks = call();
    const json_int_t token = lead(fd, "g");
    put(asks, "GET /leader/g HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    t.now += 5000 * MS;
    const char *answer = read_until(asks, NULL); /* who is alone may lead again at once, in another term */
    assert_true(code_of(answer) == 503 || number_in(body_of(answer), "token") > token);
}

/* Its lease is renewed, but who works under it was told to stop by then, and the agent has not got round to it
 * yet. */
static void says_503_after_the_deadline_that_the_worker_knows(void **state)
{
    const int fd = join(), other = join();
    (void)lead(fd, "g");
    expect(other, "{\"op\":\"resign\",\"group\":\"g\",\"force\":true}", "{\"ok\":true}");
    expect_code("/leader/g", 200);
    const struct leadership *o = serve_find_leadership(t.serve, "g");
    for (int i = 0; i < 1000 && t.now <= leadership_told_until(o); i++, t.now += 5 * MS) {
        for (; t.saves > 0; t.saves--) host_saved(t.host, 0, 0);
        (void)host_tick(t.host);
    }
    (void)uv_timer_stop(&t.serve->chores);
    assert_true(o->tenure->is_held && host_view_of(o->group).role == EL_LEADER);
    expect_code("/leader/g", 503);
}

/* It was hung up on: it may work on until its deadline, but nobody should be sent there. */
static void says_503_where_nobody_holds_the_leadership(void **state)
{
    const int fd = join();
    (void)lead(fd, "g");
    say(fd, "no JSON");
    assert_true(has_ended(fd));
    const struct leadership *o = serve_find_leadership(t.serve, "g");
    assert_true(o->tenure->is_held && !o->tenure->holder && host_view_of(o->group).role == EL_LEADER);
    expect_code("/leader/g", 503);
}

/* ---- Status ---- */

/* What a chunked body is without its chunks. */
static void join_chunks(const char *body, char *whole)
{
    unsigned long size;
    char *end;
    while ((size = strtoul(body, &end, 16)) > 0) {
        memcpy(whole, end + 2, size);
        whole += size;
        body = end + 2 + size + 2;
    }
    *whole = '\0';
}

/* Leases go on between two answers. */
static void hide_lease(char *text)
{
    static const char name[] = "\"lease_left_ms\":";
    for (char *at = strstr(text, name); at; at = strstr(at, name))
        for (at += sizeof name - 1; *at >= '0' && *at <= '9'; at++) *at = '0';
}

static void tells_the_status_of_the_socket(void **state)
{
    static char whole[sizeof h.answer], line[sizeof h.answer];
    const int fd = join();
    (void)lead(fd, "g");
    (void)lead(fd, "h");
    join_chunks(body_of(get("/status")), whole);
    while (try_hear(fd)) {}
    say(fd, "{\"op\":\"status\"}");
    snprintf(line, sizeof line, "%s", await(fd));
    hide_lease(line);
    hide_lease(whole);
    const size_t length = strlen(line) - strlen(",\"more\":false}");
    assert_memory_equal(whole, line, length);
    assert_string_equal(whole + length, "}\n");
}

static void tells_a_long_status_piece_by_piece(void **state)
{
    static char whole[sizeof h.answer];
    char name[32];
    const int fd = join();
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "g%d", i);
        (void)lead(fd, name);
        while (try_hear(fd)) {}
    }
    join_chunks(body_of(get("/status")), whole);
    assert_true(strlen(whole) / 4 > HTTP_PIECE);
    json_t *all = json_loads(whole, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(all, "groups")), 300);
    assert_true(json_is_integer(json_object_get(all, "worst_failover_ms")));
    json_decref(all);
}

static void tells_the_status_of_nothing(void **state)
{
    static char whole[sizeof h.answer];
    join_chunks(body_of(get("/status")), whole);
    assert_non_null(strstr(whole, "],\"late_us\":0,\"groups\":[],\"worst_failover_ms\":0}\n"));
}

/* ---- Events ---- */

static void tells_readers_of_changes(void **state)
{
    const int fd = join(), reader = read_events(0);
    (void)read_until(reader, ":\n\n");
    assert_non_null(strstr(h.answer, "Content-Type: text/event-stream\r\n"));
    (void)lead(fd, "g");
    (void)read_until(reader, "data: {\"group\":\"g\",\"leader\":\"a\",");
    say(fd, "{\"op\":\"proclaim\",\"group\":\"g\",\"value\":\"x:1\"}");
    (void)read_until(reader, "\"value\":\"x:1\"}\n\n");
    hang_up(fd);
    (void)read_until(reader, "data: {\"group\":\"g\",\"leader\":null,\"token\":0,\"value\":\"\"}\n\n");
    const int late = read_events(0);
    (void)read_until(late, "data: {\"group\":\"g\",\"leader\":null,\"token\":0,\"value\":\"\"}\n\n");
    expect_metric("elector_http_event_readers 2");
}

static void comments_so_that_ends_are_noticed(void **state)
{
    const int reader = read_events(0);
    (void)read_until(reader, ":\n\n");
    http_comment(h.http);
    (void)read_until(reader, ":\n\n");
    drop(reader);
    time_t end = 0;
    while (h.http->reader_count > 0 && !is_over(&end)) { /* the kernel takes one; the next finds it closed */
        http_comment(h.http);
        serve();
    }
    assert_int_equal(h.http->reader_count, 0);
}

static void has_nothing_to_do_for_a_reader_that_knows_all(void **state)
{
    const int reader = read_events(0);
    (void)read_until(reader, ":\n\n");
    for (int i = 0; i < 10; i++) serve();
    assert_false(uv_is_active((uv_handle_t *)&h.http->timer));
}

static void has_room_for_so_many_readers(void **state)
{
    for (int i = 0; i < HTTP_READERS_MAX; i++) (void)read_until(read_events(0), ":\n\n");
    expect_code("/events", 503);
    expect_code("/healthz", 200);
}

/* ---- Numbers ---- */

static void counts_who_leads(void **state)
{
    expect_metric("elector_server_is_leader 0");
    expect_metric("elector_server_has_leader 1");
    const int fd = join();
    (void)lead(fd, "g");
    (void)lead(fd, "h");
    expect_metric("elector_server_is_leader 1");
    expect_metric("elector_groups_led_here 2");
    expect_metric("elector_server_leader_changes_seen_total 2");
    expect_metric("elector_client_connections 1");
    expect_metric("elector_group_is_leader{group=\"g\"} 1");
    expect_metric("elector_group_candidates{group=\"g\"} 1");
    hang_up(fd);
    expect_metric("elector_groups_led_here 0");
    expect_metric("elector_groups_led 0");
    expect_metric("elector_groups_waiting 0");
    expect_metric("elector_server_has_leader 1");
    expect_metric("elector_group_has_leader{group=\"g\"} 0");
    expect_metric("elector_http_requests_total{code=\"200\"} 13");
}

static void counts_who_waits_for_a_leader(void **state)
{
    const int fd = join();
    h.disk_hangs = true;
    put(fd, "{\"op\":\"campaign\",\"group\":\"g\"}\n");
    for (int i = 0; i < 10; i++) serve();
    expect_metric("elector_groups_waiting 1");
    expect_metric("elector_server_has_leader 0");
}

/* Who was lost while nobody else wanted to lead is not followed by anybody: the next one is the first. */
static void counts_failovers_where_somebody_waited(void **state)
{
    const int first = join(), second = join(), third = join();
    (void)lead(first, "g");
    expect(second, "{\"op\":\"campaign\",\"group\":\"g\"}", "{\"ok\":true}");
    hang_up(first);
    assert_non_null(strstr(await(second), "elected"));
    expect_metric("elector_failover_seconds_count 1");
    hang_up(second);
    pass(5000);
    (void)lead(third, "g");
    expect_metric("elector_failover_seconds_count 1");
    expect_metric("elector_server_leader_changes_seen_total 3");
}

static void lists_only_so_many_groups(void **state)
{
    const int fd = join();
    t.config.http_groups = 2;
    (void)lead(fd, "g");
    (void)lead(fd, "h");
    expect_metric("elector_groups_not_listed 0");
    (void)lead(fd, "i");
    expect_metric("elector_groups_not_listed 3");
    expect_metric("elector_groups 3");
    assert_null(strstr(h.answer, "elector_group_"));
}

/* ---- What only some may read ---- */

static void tells_nobody_what_only_some_may_read(void **state)
{
    static const char *const paths[] = {"/status", "/metrics"};
    const int fd = join(), reader = read_events(0);
    t.config.groups[0].allowed[CONFIG_READ] = (struct config_allowed){.is_set = true};
    t.config.restricts_reading = true;
    expect_code("/leader/secret", 403); /* nor that it is not there */
    (void)lead(fd, "secret");
    (void)lead(fd, "open");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *answer = get(paths[i]);
        assert_non_null(strstr(answer, "open"));
        assert_null(strstr(answer, "secret"));
    }
    expect_metric("elector_groups_not_listed 1");
    expect_metric("elector_groups 2");
    expect_code("/leader/secret", 403);
    assert_null(strstr(body_of(h.answer), "token"));
    expect_code("/leader/open", 200);
    (void)read_until(reader, "\"group\":\"open\",\"leader\":\"a\"");
    assert_null(strstr(h.answer, "secret"));
    (void)read_until(read_events(0), "\"group\":\"open\",\"leader\":\"a\"");
    assert_null(strstr(h.answer, "secret"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(says_that_it_is_well),
        TEST(is_not_well_when_the_disk_fails),
        TEST(serves_many_requests_on_a_connection),
        TEST(says_200_where_it_leads),
        TEST(says_503_where_it_does_not),
        TEST(says_nothing_of_a_lease_that_is_over),
        TEST(says_503_after_the_deadline_that_the_worker_knows),
        TEST(says_503_where_nobody_holds_the_leadership),
        TEST(tells_the_status_of_the_socket),
        TEST(tells_a_long_status_piece_by_piece),
        TEST(tells_the_status_of_nothing),
        TEST(tells_readers_of_changes),
        TEST(comments_so_that_ends_are_noticed),
        TEST(has_nothing_to_do_for_a_reader_that_knows_all),
        TEST(has_room_for_so_many_readers),
        TEST(counts_who_leads),
        TEST(counts_who_waits_for_a_leader),
        TEST(counts_failovers_where_somebody_waited),
        TEST(lists_only_so_many_groups),
        TEST(tells_nobody_what_only_some_may_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
