/* What the agent's socket tells of a group's past. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

#include "agent/history/history.h"

static struct history *history;

static int begin_with_past(void **state)
{
    if (begin(state) != 0) return -1;
    history = history_new(&t.config, t.now);
    serve_set_history(t.serve, history);
    return history ? 0 : -1;
}

static int finish_with_past(void **state)
{
    const int code = finish(state);
    history_free(history);
    return code;
}

static void ask(int fd, const char *request, const char *part)
{
    say(fd, request);
    const char *line = await(fd);
    if (!strstr(line, part)) fail_msg("%s was answered by %s, not %s", request, line, part);
}

static void nothing_is_known_of_a_group_that_is_not(void **state)
{
    const int fd = join();
    ask(fd, "{\"id\":7,\"op\":\"why\",\"group\":\"g\"}", "\"id\":7,\"ok\":false,\"error\":\"unknown-group\"");
    ask(fd, "{\"op\":\"history\",\"group\":\"g\"}", "unknown-group");
    ask(fd, "{\"op\":\"history\"}", "bad-request");
    ask(fd, "{\"op\":\"why\",\"group\":\"-\"}", "bad-group");
    assert_null(serve_find_leadership(t.serve, "g")); /* asking makes none */
}

static void how_many_is_checked(void **state)
{
    const int fd = join();
    (void)lead(fd, "g");
    ask(fd, "{\"op\":\"history\",\"group\":\"g\",\"last\":0}", "bad-request");
    ask(fd, "{\"op\":\"history\",\"group\":\"g\",\"last\":65}", "bad-request");
    ask(fd, "{\"op\":\"history\",\"group\":\"g\",\"last\":\"3\"}", "bad-request");
    ask(fd, "{\"op\":\"history\",\"group\":\"g\",\"last\":64}", "\"leader\":\"a\"");
}

/* By whoever may connect: it changes nothing. */
static void the_past_of_a_restricted_group_is_told(void **state)
{
    const int fd = join();
    (void)lead(fd, "secret");
    const int stranger = join_as(4711, 4711);
    ask(stranger, "{\"op\":\"history\",\"group\":\"secret\"}", "\"leader\":\"a\"");
    ask(stranger, "{\"op\":\"why\",\"group\":\"secret\"}", "the worker at a is told that it leads");
}

static void a_worker_that_goes_is_the_cause(void **state)
{
    const int worker = join(), fd = join();
    const json_int_t token = lead(worker, "g");
    pass(100);
    hang_up(worker);
    say(fd, "{\"id\":\"x\",\"op\":\"why\",\"group\":\"g\"}");
    json_t *answer = json_loads(await(fd), 0, NULL);
    const json_t *before = json_object_get(answer, "before"), *steps = json_object_get(answer, "steps");
    const json_t *first = json_array_get(steps, 0);
    assert_string_equal(json_string_value(json_object_get(answer, "id")), "x");
    assert_int_equal(json_integer_value(json_object_get(before, "token")), token);
    assert_string_equal(json_string_value(json_object_get(before, "ended")), "worker gone");
    assert_true(json_integer_value(json_object_get(before, "led_us")) >= 100000);
    assert_true(json_is_null(json_object_get(answer, "after")));
    assert_int_equal(json_integer_value(json_object_get(first, "us")), 0);
    assert_string_equal(json_string_value(json_object_get(first, "by")), "office");
    assert_string_equal(json_string_value(json_object_get(first, "text")),
                        "the worker at a is gone: its connection ended");
    json_decref(answer);
}

static const char *end_of_last(int fd, char ended[32])
{
    say(fd, "{\"op\":\"history\",\"group\":\"g\"}");
    json_t *answer = json_loads(await(fd), 0, NULL);
    const json_t *list = json_object_get(answer, "tenures");
    const json_t *last = json_array_get(list, json_array_size(list) - 1);
    const char *word = json_string_value(json_object_get(last, "ended"));
    snprintf(ended, 32, "%s", word ? word : "");
    json_decref(answer);
    return ended;
}

static void who_resigns_for_want_of_a_renewal_is_told_so(void **state)
{
    const int fd = join();
    char ended[32];
    lead(fd, "g");
    expect_part(fd, "{\"op\":\"resign\",\"group\":\"g\",\"cause\":\"no-quorum\"}", "\"cause\":\"no-quorum\"");
    assert_string_equal(await(fd), "{\"ok\":true}");
    assert_string_equal(end_of_last(fd, ended), "no-quorum");
    pass(5);
    lead(fd, "g");
    expect_part(fd, "{\"op\":\"resign\",\"group\":\"g\",\"cause\":\"of a later version\"}", "\"lost\"");
    assert_string_equal(await(fd), "{\"ok\":true}");
    assert_string_not_equal(end_of_last(fd, ended), "no-quorum");
}

static void tenures_are_told_with_rising_tokens(void **state)
{
    const int fd = join();
    json_int_t tokens[70];
    for (int i = 0; i < 70; i++) {
        tokens[i] = lead(fd, "g");
        expect_part(fd, "{\"op\":\"resign\",\"group\":\"g\"}", "\"lost\"");
        assert_string_equal(await(fd), "{\"ok\":true}");
        pass(5);
    }
    say(fd, "{\"op\":\"history\",\"group\":\"g\",\"last\":64}");
    const char *line = await(fd);
    assert_true(strlen(line) < 32768);
    json_t *answer = json_loads(line, 0, NULL);
    const json_t *list = json_object_get(answer, "tenures");
    assert_int_equal(json_array_size(list), 64);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(list, i), "token")), tokens[i + 6]);
    json_decref(answer);
    say(fd, "{\"op\":\"history\",\"group\":\"g\"}");
    answer = json_loads(await(fd), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(answer, "tenures")), 16);
    json_decref(answer);
}

static void without_a_chronicle_there_is_no_past(void **state)
{
    serve_set_history(t.serve, NULL);
    const int fd = join();
    (void)lead(fd, "g");
    ask(fd, "{\"op\":\"history\",\"group\":\"g\"}", "\"tenures\":[]");
    ask(fd, "{\"op\":\"why\",\"group\":\"g\"}", "\"before\":null,\"after\":null,\"steps\":[]");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_with_past, finish_with_past)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_known_of_a_group_that_is_not),      TEST(how_many_is_checked),
        TEST(the_past_of_a_restricted_group_is_told),       TEST(a_worker_that_goes_is_the_cause),
        TEST(who_resigns_for_want_of_a_renewal_is_told_so), TEST(tenures_are_told_with_rising_tokens),
        TEST(without_a_chronicle_there_is_no_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
