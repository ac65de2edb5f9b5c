/* Requests of clients of other agents, at the agent of the leader: about one tenure, and nothing else. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

static enum exchange_outcome ask(enum exchange_request what, const char *group, uint64_t token, el_node to)
{
    struct payload_entry entry = {.flags = (uint8_t)what, .term = token, .heir = to, .user = 1000};
    entry.length = (uint8_t)snprintf(entry.text, sizeof entry.text, "%s", group);
    return serve_take_forwarded(t.serve, &entry);
}

static void the_leader_is_told_to_stop(void **state)
{
    const int fd = join();
    const uint64_t token = (uint64_t)lead(fd, "work");
    assert_int_equal(ask(EXCHANGE_RESIGN, "work", token, 0), EXCHANGE_GRANTED);
    assert_int_equal(ask(EXCHANGE_RESIGN, "work", token, 0), EXCHANGE_UNDER_WAY);
    const char *line = await(fd);
    while (strstr(line, "\"lease\"")) line = await(fd);
    assert_non_null(strstr(line, "\"event\":\"stop\""));
    assert_non_null(strstr(line, "\"reason\":\"forced\""));
}

static void another_tenure_is_not_meant(void **state)
{
    const int fd = join();
    const uint64_t token = (uint64_t)lead(fd, "work");
    assert_int_equal(ask(EXCHANGE_RESIGN, "work", token - 1, 0), EXCHANGE_NOT_LEADING);
    assert_int_equal(ask(EXCHANGE_RESIGN, "work", token + 1, 0), EXCHANGE_NOT_LEADING);
    assert_int_equal(ask(EXCHANGE_RESIGN, "work", 0, 0), EXCHANGE_NOT_LEADING);
    assert_int_equal(ask(EXCHANGE_RESIGN, "other", token, 0), EXCHANGE_NOT_LEADING);
    assert_int_equal(ask(EXCHANGE_RESIGN, "no name", token, 0), EXCHANGE_NOT_LEADING);
    assert_int_equal(ask(EXCHANGE_RESIGN, "", token, 0), EXCHANGE_NOT_LEADING);
}

static void what_is_not_known_is_not_done(void **state)
{
    const int fd = join();
    const uint64_t token = (uint64_t)lead(fd, "work");
    assert_int_equal(ask((enum exchange_request)99, "work", token, 1), EXCHANGE_CANNOT);
    assert_int_equal(ask(EXCHANGE_TRANSFER, "work", token, 0), EXCHANGE_CANNOT);
    assert_int_equal(ask(EXCHANGE_TRANSFER, "work", token, 99), EXCHANGE_CANNOT);
    assert_int_equal(ask(EXCHANGE_TRANSFER, "work", token, t.config.self), EXCHANGE_NOT_ELIGIBLE);
    expect_part(fd, "{\"op\":\"status\",\"group\":\"work\"}", "\"role\":\"leader\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_leader_is_told_to_stop, begin, finish),
        cmocka_unit_test_setup_teardown(another_tenure_is_not_meant, begin, finish),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_not_done, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
