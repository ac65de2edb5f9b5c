/* HTTP against who lies, floods, or stops reading. */
#define _GNU_SOURCE
#include <errno.h>

#include "lib/client/http.h"

static void takes_only_names_of_groups(void **state)
{
    static const struct {
        const char *path, *name; /* NULL: none */
    } cases[] = {
        {"/leader/a", "a"},      {"/leader/a/b:c", "a/b:c"}, {"/leader/%61%2fb", "a/b"}, {"/leader/", NULL},
        {"/leader/a%", NULL},    {"/leader/a%6", NULL},      {"/leader/a%zz", NULL},     {"/leader/a%00", NULL},
        {"/leader/a%0ab", NULL}, {"/leader/a b", NULL},      {"/leader/../etc", NULL},   {"/leader/-a", NULL},
        {"/other/a", NULL},      {"/leader/a%2561", NULL}, /* once, not twice */
    };
    char name[CONFIG_NAME_MAX + 1], path[200] = "/leader/";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is_name = http_group_of(cases[i].path, "/leader/", name);
        if (is_name != (cases[i].name != NULL) || (is_name && strcmp(name, cases[i].name) != 0))
            fail_msg("%s", cases[i].path);
    }
    memset(path + 8, 'a', CONFIG_NAME_MAX);
    assert_true(http_group_of(path, "/leader/", name));
    path[8 + CONFIG_NAME_MAX] = 'a';
    assert_false(http_group_of(path, "/leader/", name));
}

static void takes_only_hosts_that_nobody_else_can_be(void **state)
{
    static const char *const good[] = {"localhost",  "LocalHost:7480", "127.0.0.1",  "127.0.0.1:7480",
                                       "10.1.2.3:1", "[::1]",          "[::1]:7480", "[fe80::1]:80"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "evil.example:7480",
                                      "127.0.0.1.evil.example",
                                      "localhost.evil.example",
                                      "::1",
                                      "[::1",
                                      "[::1]x",
                                      "[::1].evil.example",
                                      "127.0.0.1:80:80",
                                      "127.0.0.1:x",
                                      "[127.0.0.1]",
                                      "0x7f.1",
                                      "127.1",
                                      "localhost@evil.example",
                                      ":7480",
                                      "[]",
                                      "127.0.0.1, evil.example"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!http_is_plain_host(good[i])) fail_msg("%s is good", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (http_is_plain_host(bad[i])) fail_msg("%s is bad", bad[i]);
}

static void answers_nobody_who_means_another_host(void **state)
{
    assert_int_equal(
        code_of(ask_raw("GET /status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")), 403);
    assert_null(strstr(h.answer, "shop"));
    (void)ask_raw("GET /status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_true(code_of(h.answer) == 403 || code_of(h.answer) == 400);
    (void)ask_raw("GET /status HTTP/1.1\r\nhOST: evil.example\r\nConnection: close\r\n\r\n");
    assert_int_equal(code_of(h.answer), 403);
    (void)ask_raw("GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_int_equal(code_of(h.answer), 404);
    (void)ask_raw("GET /healthz HTTP/1.0\r\n\r\n"); /* a simple check of a load balancer's */
    assert_int_equal(code_of(h.answer), 200);
    (void)ask_raw("GET /healthz HTTP/1.1\r\nHost: [::1]:7480\r\nConnection: close\r\n\r\n");
    assert_int_equal(code_of(h.answer), 200);
}

static void changes_nothing(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"};
    char request[200];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        snprintf(
            request, sizeof request,
            "%s /leader/g HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
            methods[i]);
        assert_int_equal(code_of(ask_raw(request)), 405);
        assert_non_null(strstr(h.answer, "Allow: GET, HEAD\r\n"));
    }
    (void)ask_raw(
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
    assert_int_equal(code_of(h.answer), 200);
}

static void survives_nonsense(void **state)
{
    static char bytes[3 * HTTP_REQUEST_MAX];
    static const char *const lines[] = {
        "\r\n\r\n", "GET\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const int fd = call();
        put(fd, lines[i]);
        for (int k = 0; k < 10; k++) serve();
        drop(fd);
    }
    memset(bytes, 'a', sizeof bytes - 1);
    const int fd = call();
    put(fd, "GET /");
    send_bytes(fd, bytes, sizeof bytes - 1);
    (void)read_until(fd, NULL);
    if (code_of(h.answer) != 414 && code_of(h.answer) != 431 && h.answer[0])
        fail_msg("a long path is answered by %.100s", h.answer);
    expect_code("/leader/%", 404);
    expect_code("/healthz?x=y", 200);
    expect_code("/healthz/", 404);
    expect_code("//healthz", 404);
    expect_code("/healthz", 200);
}

/* One address cannot take all of it. */
static void has_room_for_others(void **state)
{
    for (int i = 0; i < HTTP_CONNECTIONS_MAX; i++) (void)call_from("127.0.0.9", 0);
    for (int i = 0; i < 20; i++) serve();
    expect_code("/healthz", 200);
    expect_code("/healthz", 200);
}

static bool is_asleep(void)
{
    for (int i = 0; i < 10; i++) serve();
    return h.http->reader_count == 1 && !uv_is_active((uv_handle_t *)&h.http->timer);
}

/* Who has nothing to hear is not one of them. */
static void hangs_up_on_who_says_nothing(void **state)
{
    time_t end = 0;
    (void)read_until(read_events(0), ":\n\n");
    while (!is_asleep() && !is_over(&end)) {}
    const int silent = call();
    put(silent, "GET /hea");
    (void)read_until(silent, NULL);
    assert_int_equal(h.http->reader_count, 1);
}

/* Who does not read is left behind, holds up nobody, costs no memory, and is hung up on. */
static void cuts_off_a_reader_that_does_not_read(void **state)
{
    char line[400], value[256];
    const int fd = join(), slow = read_events(1024), fast = read_events(0);
    (void)lead(fd, "g");
    memset(value, 'x', sizeof value - 1);
    value[255] = '\0';
    (void)read_until(fast, "\"group\":\"g\"");
    for (int i = 0; i < 3000; i++) {
        snprintf(line, sizeof line, "{\"op\":\"proclaim\",\"group\":\"g\",\"value\":\"%04d%.200s\"}", i, value);
        say(fd, line);
        while (try_hear(fd)) {}
        snprintf(line, sizeof line, "\"value\":\"%04d", i);
        (void)read_until(fast, line);
        if (h.metrics.cut_off) break;
    }
    expect_code("/healthz", 200);
    time_t end = 0;
    while (h.metrics.cut_off == 0 && !is_over(&end)) serve();
    assert_int_equal(h.metrics.cut_off, 1);
    assert_int_equal(h.http->reader_count, 1);
    (void)read_until(slow, NULL);
    expect_metric("elector_http_cut_off_total 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(takes_only_names_of_groups),
        TEST(takes_only_hosts_that_nobody_else_can_be),
        TEST(answers_nobody_who_means_another_host),
        TEST(changes_nothing),
        TEST(survives_nonsense),
        TEST(has_room_for_others),
        TEST_IMPATIENT(hangs_up_on_who_says_nothing),
        TEST_IMPATIENT(cuts_off_a_reader_that_does_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
