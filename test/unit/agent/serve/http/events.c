/* /events?most=N: a reader that wants few changes is not flooded, and learns that it has missed some. */
#define _GNU_SOURCE
#include "lib/client/http.h"

enum { GROUPS = 20 };

static uint32_t count(const char *text, const char *word)
{
    uint32_t times = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) times++;
    return times;
}

static int read_most(const char *query)
{
    char request[100];
    const int fd = call();
    snprintf(request, sizeof request, "GET /events%s HTTP/1.1\r\nHost: localhost\r\n\r\n", query);
    put(fd, request);
    (void)read_until(fd, ":\n\n");
    return fd;
}

/* All of them get a leader at one instant. */
static void lead_all(const char *prefix)
{
    const uint64_t now = t.now;
    const int fd = join();
    char line[100];
    for (int i = 0; i < GROUPS; i++) {
        snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"%s%02d\"}", prefix, i);
        say(fd, line);
        go_round();
        while (try_hear_now(fd)) {}
    }
    assert_true(t.now == now);
}

static void tells_at_most_so_many_changes_a_second(void **state)
{
    const int reader = read_most("?from=now&most=3");
    lead_all("g");
    const char *told = read_until(reader, "\nevent: many\ndata: {\"most\":3}\n\n");
    assert_int_equal(count(told, "data: {\"group\":\"g"), 3);
    pass(1000);
    lead_all("h");
    told = read_until(reader, "event: many\n");
    assert_int_equal(count(told, "data: {\"group\":\"h"), 3);
    assert_int_equal(count(told, "\"group\":\"g"), 0); /* what was left out is not told late */
}

static void tells_a_change_long_after_a_flood(void **state)
{
    const int reader = read_most("?from=now&most=3");
    lead_all("g");
    (void)read_until(reader, "event: many\n");
    pass(5000);
    (void)lead(join(), "late");
    assert_int_equal(count(read_until(reader, "\"group\":\"late\""), "event: many"), 0);
}

static void tells_all_if_that_is_not_too_many(void **state)
{
    const int few = read_most("?from=now&most=20"), all = read_most("?from=now");
    lead_all("g");
    const char *told = read_until(few, "\"group\":\"g19\"");
    assert_int_equal(count(told, "data: {\"group\":\"g"), GROUPS);
    assert_int_equal(count(told, "event: many"), 0);
    told = read_until(all, "\"group\":\"g19\"");
    assert_int_equal(count(told, "data: {\"group\":\"g"), GROUPS);
}

/* Both sides notice a dead connection also while nothing may be told. */
static void comments_while_it_tells_nothing(void **state)
{
    const int reader = read_most("?from=now&most=1");
    lead_all("g");
    (void)read_until(reader, "event: many\ndata: {\"most\":1}\n\n");
    http_comment(h.http);
    assert_int_equal(count(read_until(reader, ":\n\n"), "data: "), 0);
}

static void names_the_mistake(void **state)
{
    static const char *const wrong[] = {"/events?most=0", "/events?most=", "/events?most=x",
                                        "/events?most=10001", "/events?most=-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_code(wrong[i], 400);
        assert_non_null(strstr(body_of(h.answer), "`most` is a number from 1 to 10000"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tells_at_most_so_many_changes_a_second),
        TEST(tells_a_change_long_after_a_flood),
        TEST(tells_all_if_that_is_not_too_many),
        TEST(comments_while_it_tells_nothing),
        TEST(names_the_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
