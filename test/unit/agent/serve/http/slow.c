/* HTTP against clients that are slow on purpose: none of them keeps /healthz from being answered. */
#define _GNU_SOURCE
#include <errno.h>

#include "lib/client/http.h"

enum { SLOW = 140 }; /* more than libmicrohttpd itself admits */

/* Connections of this host that each say the same, and then nothing. */
static void fill_up(const char *request)
{
    for (int i = 0; i < SLOW; i++) {
        char from[32];
        snprintf(from, sizeof from, "127.0.0.%d", i % 4 + 1);
        put(call_from(from, 1024), request);
        serve();
    }
    for (int i = 0; i < 20; i++) serve();
}

static void half_requests_do_not_take_all_places(void **state)
{
    fill_up("GET /hea");
    expect_code("/healthz", 200);
    expect_code("/healthz", 200);
}

static void one_address_does_not_lock_itself_out(void **state)
{
    for (int i = 0; i < SLOW; i++) {
        put(call(), "GET /hea");
        serve();
    }
    expect_code("/healthz", 200);
    assert_true(h.metrics.cut_off > 0);
    expect_metric("elector_http_event_readers 0");
}

/* It pushes out its own oldest, not those of others. */
static void one_address_does_not_push_others_out(void **state)
{
    const int other = call_from("127.0.0.9", 0);
    put(other, "GET /healthz HTTP/1.0\r\n");
    for (int i = 0; i < SLOW; i++) {
        put(call(), "GET /hea");
        serve();
    }
    put(other, "\r\n");
    assert_int_equal(code_of(read_until(other, NULL)), 200);
}

static void bodies_that_never_come_do_not_take_all_places(void **state)
{
    fill_up("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n");
    expect_code("/healthz", 200);
}

static void idle_connections_do_not_take_all_places(void **state)
{
    fill_up("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect_code("/healthz", 200);
}

static void answers_that_nobody_reads_do_not_take_all_places(void **state)
{
    char line[400];
    const int fd = join();
    for (int i = 0; i < 600; i++) { /* 400 KiB of status, more than sockets buffer */
        snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"g%d\",\"value\":\"%0250d\"}", i, 0);
        say(fd, line);
        while (try_hear(fd)) {}
    }
    fill_up("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect_code("/healthz", 200);
}

static void readers_of_events_keep_their_places(void **state)
{
    const int fd = join(), reader = read_events(0);
    (void)read_until(reader, ":\n\n");
    fill_up("GET /hea");
    (void)lead(fd, "g");
    assert_non_null(strstr(read_until(reader, "\"leader\":\"a\","), "data: {\"group\":\"g\""));
    assert_int_equal(h.http->reader_count, 1);
}

/* A byte now and then is activity, but no request. */
static void a_request_has_a_deadline(void **state)
{
    const int fd = call();
    time_t end = 0;
    char byte;
    put(fd, "GET /");
    while (!is_over(&end)) {
        (void)!send(fd, "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        const ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN)) break;
        serve();
        (void)poll(NULL, 0, 20);
    }
    assert_false(is_over(&end));
    assert_int_equal(h.metrics.cut_off, 1);
    assert_null(h.http->oldest);
    expect_code("/healthz", 200);
}

/* ---- An address that another process has ---- */

static uint16_t take_a_port(int *fd)
{
    struct sockaddr_in *address = (struct sockaddr_in *)(void *)&t.config.http, bound = {0};
    socklen_t size = sizeof bound;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(*fd, (struct sockaddr *)address, sizeof *address), 0);
    assert_int_equal(listen(*fd, 1), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&bound, &size), 0);
    address->sin_port = bound.sin_port;
    return ntohs(bound.sin_port);
}

static void waits_for_a_port_that_is_taken(void **state)
{
    int other;
    time_t end = 0;
    http_free(h.http);
    uv_run(&t.loop, UV_RUN_NOWAIT);
    const uint16_t port = take_a_port(&other);
    const struct http_setup setup = {
        .config = &t.config, .host = t.host, .serve = t.serve, .metrics = &h.metrics, .retry_ms = 10};
    h.http = http_new(&t.loop, &setup);
    assert_non_null(h.http);
    assert_false(http_is_served(h.http));
    const int fd = join();
    say(fd, "{\"op\":\"status\"}");
    assert_non_null(strstr(hear(fd), "\"http_error\":\"cannot listen for HTTP on 127.0.0.1:"));
    for (int i = 0; i < 20; i++) serve();
    close(other);
    while (!http_is_served(h.http) && !is_over(&end)) serve();
    assert_int_equal(http_port(h.http), port);
    expect_code("/healthz", 200);
    say(fd, "{\"op\":\"status\"}");
    assert_null(strstr(hear(fd), "http_error"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(half_requests_do_not_take_all_places),    TEST(one_address_does_not_lock_itself_out),
        TEST(one_address_does_not_push_others_out),    TEST(bodies_that_never_come_do_not_take_all_places),
        TEST(idle_connections_do_not_take_all_places), TEST(answers_that_nobody_reads_do_not_take_all_places),
        TEST(readers_of_events_keep_their_places),     TEST_IMPATIENT(a_request_has_a_deadline),
        TEST(waits_for_a_port_that_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
