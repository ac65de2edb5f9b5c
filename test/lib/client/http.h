/* The agent of serve.h with an HTTP server, and clients that write and read bytes. */
#ifndef ELECTOR_TEST_LIB_CLIENT_HTTP_H
#define ELECTOR_TEST_LIB_CLIENT_HTTP_H

#include <time.h>

#include "agent/serve/http/internal.h"
#include "base/clock.h"
#include "lib/client/serve.h"
#include "lib/give_up.h"

static struct {
    struct http *http;
    struct metrics metrics;
    bool disk_hangs;
    char answer[1 << 20]; /* the last, whole */
} h;

static inline int begin_with_patience(uint32_t timeout_s)
{
    struct sockaddr_in *address = (struct sockaddr_in *)(void *)&t.config.http;
    memset(&h, 0, sizeof h);
    if (begin(NULL) != 0) return -1;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    t.config.http_groups = 1000;
    h.metrics.version = "0";
    serve_set_metrics(t.serve, &h.metrics);
    const struct http_setup setup = {
        .config = &t.config, .host = t.host, .serve = t.serve, .metrics = &h.metrics, .timeout_s = timeout_s};
    h.http = http_new(&t.loop, &setup);
    return h.http && http_is_served(h.http) ? 0 : -1;
}

/* Long enough for a machine that is busy with something else. */
static inline int begin_http(void **state)
{
    return begin_with_patience(60);
}

static inline int begin_impatient(void **state)
{
    return begin_with_patience(1);
}

static inline int finish_http(void **state)
{
    http_free(h.http);
    return finish(state);
}

/* Seconds of the world, not of the bench: only to give up some day. */
static inline bool is_over(time_t *end)
{
    const time_t now = (time_t)(clock_monotonic_ns() / NS_PER_S);
    if (*end == 0) *end = now + give_up_ms() / 1000;
    return now >= *end;
}

/* Only the loop: what the host has to do is for the server to see to. */
static inline void serve(void)
{
    for (; t.saves > 0 && !h.disk_hangs; t.saves--) host_saved(t.host, 0, 0);
    uv_run(&t.loop, UV_RUN_NOWAIT);
}

static inline int call_from(const char *host, int buffer)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in from = {.sin_family = AF_INET};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && t.client_count < sizeof t.clients / sizeof *t.clients);
    t.clients[t.client_count++] = fd;
    to.sin_port = htons(http_port(h.http));
    from.sin_addr.s_addr = inet_addr(host);
    if (buffer) assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static inline int call(void)
{
    return call_from("127.0.0.1", 0);
}

static inline void drop(int fd)
{
    for (size_t i = 0; i < t.client_count; i++)
        if (t.clients[i] == fd) t.clients[i] = t.clients[--t.client_count];
    close(fd);
}

/* All that comes until the server hangs up, or until a text is in it (NULL: none is looked for). */
static inline const char *read_until(int fd, const char *text)
{
    size_t size = 0;
    time_t end = 0;
    h.answer[0] = '\0';
    while (!is_over(&end)) {
        const ssize_t got = recv(fd, h.answer + size, sizeof h.answer - 1 - size, MSG_DONTWAIT);
        if (got > 0) size += (size_t)got;
        h.answer[size] = '\0';
        if (got == 0 || (got < 0 && errno == ECONNRESET) || (text && strstr(h.answer, text))) return h.answer;
        serve();
        if (got < 0) (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1);
    }
    fail_msg("no end of '%s'", h.answer);
    return NULL;
}

static inline void put(int fd, const char *bytes)
{
    assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
}

static inline const char *ask_raw(const char *request)
{
    const int fd = call();
    put(fd, request);
    const char *answer = read_until(fd, NULL);
    drop(fd);
    return answer;
}

/* The whole answer to a GET. */
static inline const char *get(const char *path)
{
    char request[1024];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    return ask_raw(request);
}

static inline int code_of(const char *answer)
{
    return strncmp(answer, "HTTP/1.", 7) == 0 && strlen(answer) > 12 ? (int)strtol(answer + 9, NULL, 10) : 0;
}

static inline const char *body_of(const char *answer)
{
    const char *body = strstr(answer, "\r\n\r\n");
    return body ? body + 4 : "";
}

static inline void expect_code(const char *path, int code)
{
    const char *answer = get(path);
    if (code_of(answer) != code) fail_msg("%s is answered by %s, not by %d", path, answer, code);
}

static inline bool has_line(const char *text, const char *line)
{
    const size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[length] == '\n') return true;
    return false;
}

static inline void expect_metric(const char *line)
{
    const char *answer = get("/metrics");
    if (!has_line(answer, line)) fail_msg("no '%s' in %s", line, answer);
}

/* A reader of /events, whose answer has begun. */
static inline int read_events(int buffer)
{
    const int fd = call_from("127.0.0.1", buffer);
    put(fd, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return fd;
}

#undef TEST
#define TEST_IMPATIENT(name) cmocka_unit_test_setup_teardown(name, begin_impatient, finish_http)
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_http, finish_http)

#endif
