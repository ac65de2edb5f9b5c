/* HTTP has a share of each turn of the loop: who asks for more waits for the next, and gets all of it. */
#define _GNU_SOURCE
#include "lib/client/http.h"

enum { GROUPS = 500, CLIENTS = 30 };

static uint32_t count(const char *text, const char *word)
{
    uint32_t times = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) times++;
    return times;
}

static void long_answers_are_written_over_many_turns(void **state)
{
    const int leader = join();
    int fds[CLIENTS];
    for (int i = 0; i < GROUPS; i++) {
        char line[100];
        snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"g%d\"}", i);
        say(leader, line);
        while (try_hear_now(leader)) {}
    }
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = call();
        put(fds[i], i % 2 ? "GET /status HTTP/1.0\r\nHost: localhost\r\n\r\n"
                          : "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n");
    }
    uint32_t interrupted = 0;
    for (int i = 0; i < 20; i++) {
        uv_run(&t.loop, UV_RUN_NOWAIT);
        interrupted += h.http->waiting != NULL;
    }
    assert_true(interrupted > 0); /* 15 long answers do not fit into 1 ms */
    for (int i = 0; i < CLIENTS; i++) {
        const char *answer = read_until(fds[i], NULL);
        assert_int_equal(code_of(answer), 200);
        assert_int_equal(count(answer, i % 2 ? "{\"group\":\"g" : "elector_group_token{group=\"g"), GROUPS);
    }
    assert_null(h.http->waiting);
}

static void who_hangs_up_while_it_waits_is_forgotten(void **state)
{
    const int leader = join();
    int fds[CLIENTS];
    for (int i = 0; i < GROUPS; i++) {
        char line[100];
        snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"g%d\"}", i);
        say(leader, line);
        while (try_hear_now(leader)) {}
    }
    for (int i = 0; i < CLIENTS; i++) put(fds[i] = call(), "GET /status HTTP/1.0\r\nHost: localhost\r\n\r\n");
    for (int i = 0; i < 20 && !h.http->waiting; i++) uv_run(&t.loop, UV_RUN_NOWAIT);
    for (int i = 0; i < CLIENTS; i++) (void)shutdown(fds[i], SHUT_RDWR);
    expect_code("/healthz", 200);
    for (int i = 0; i < 1000 && h.http->waiting; i++) uv_run(&t.loop, UV_RUN_NOWAIT);
    assert_null(h.http->waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(long_answers_are_written_over_many_turns, begin_http, finish_http),
        cmocka_unit_test_setup_teardown(who_hangs_up_while_it_waits_is_forgotten, begin_http, finish_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
