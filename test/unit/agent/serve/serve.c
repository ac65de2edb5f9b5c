/* The agent's socket: every request, every event, who may, and how it ends. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

/* ---- The table of requests ---- */

static void says_who_is_there(void **state)
{
    const int fd = join();
    expect(fd, "{\"id\":1,\"op\":\"hello\",\"version\":1}",
           "{\"id\":1,\"ok\":true,\"version\":1,\"member\":\"a\",\"cluster\":\"shop\",\"members\":[\"a\"]}");
    expect(fd, "{\"op\":\"hello\",\"who\":{\"cares\":[]}}",
           "{\"ok\":true,\"version\":1,\"member\":\"a\",\"cluster\":\"shop\",\"members\":[\"a\"]}");
    expect_part(fd, "{\"op\":\"hello\",\"version\":2}", "bad-request");
    expect_part(fd, "{\"op\":\"hello\",\"version\":\"1\"}", "bad-request");
}

static void elects_moves_stops_and_ends_in_this_order(void **state)
{
    const int fd = join(), other = join();
    char line[200];
    say(fd, "{\"id\":\"x\",\"op\":\"campaign\",\"group\":\"billing\",\"priority\":3,\"value\":\"a:9000\"}");
    assert_string_equal(hear(fd), "{\"id\":\"x\",\"ok\":true}");
    const char *elected = await(fd);
    assert_non_null(strstr(elected, "{\"event\":\"elected\",\"group\":\"billing\",\"token\":"));
    const json_int_t token = number_in(elected, "token");
    json_int_t deadline = number_in(elected, "deadline_ns");
    assert_true(token > 0 && (uint64_t)deadline > t.now);
    for (int i = 0; i < 3; i++) {
        pass(300);
        const char *lease = hear(fd);
        assert_non_null(strstr(lease, "{\"event\":\"lease\",\"group\":\"billing\",\"token\":"));
        assert_int_equal(number_in(lease, "token"), token);
        assert_true(number_in(lease, "deadline_ns") > deadline);
        deadline = number_in(lease, "deadline_ns");
    }
    while (try_hear(fd)) {}
    expect(other, "{\"op\":\"resign\",\"group\":\"billing\",\"force\":true}", "{\"ok\":true}");
    const char *stop = hear(fd);
    assert_non_null(strstr(stop, "{\"event\":\"stop\",\"group\":\"billing\",\"token\":"));
    assert_non_null(strstr(stop, "\"reason\":\"forced\""));
    assert_true(number_in(stop, "deadline_ns") >= deadline);
    pass(300);
    assert_null(try_hear(fd)); /* no lease after stop */
    expect_part(other, "{\"op\":\"resign\",\"group\":\"billing\",\"force\":true}", "under-way");
    snprintf(line, sizeof line, "{\"id\":9,\"op\":\"stopped\",\"group\":\"billing\",\"token\":%lld}",
             (long long)token);
    say(fd, line);
    snprintf(line, sizeof line,
             "{\"event\":\"lost\",\"group\":\"billing\",\"token\":%lld,\"reason\":\"forced\"}",
             (long long)token);
    assert_string_equal(hear(fd), line);
}

static void is_lost_at_the_deadline_if_it_does_not_stop(void **state)
{
    const int fd = join(), other = join();
    (void)lead(fd, "g");
    expect(other, "{\"op\":\"resign\",\"group\":\"g\",\"force\":true}", "{\"ok\":true}");
    const char *stop = await(fd);
    const uint64_t deadline = (uint64_t)number_in(stop, "deadline_ns");
    assert_non_null(strstr(stop, "\"event\":\"stop\""));
    for (int i = 0; i < 100000 && t.now < deadline; i++) {
        pass(5);
        usleep(100);
    }
    for (int i = 0; i < 1000; i++) { /* chores are done by the loop's own clock */
        usleep(1000);
        const char *line = try_hear(fd);
        if (!line) continue;
        assert_non_null(strstr(line, "\"event\":\"lost\""));
        return;
    }
    fail_msg("it was never lost");
}

static void refuses_each_with_its_word(void **state)
{
    static const struct {
        const char *request, *error;
    } rows[] = {
        {"{}", "bad-request"},
        {"[]", "bad-request"},
        {"{\"op\":1}", "bad-request"},
        {"{\"op\":\"dance\"}", "unknown-op"},
        {"{\"op\":\"hello\\u0020\"}", "unknown-op"},
        {"{\"id\":[],\"op\":\"hello\"}", "bad-request"},
        {"{\"id\":true,\"op\":\"hello\"}", "bad-request"},
        {"{\"op\":\"campaign\"}", "bad-request"},
        {"{\"op\":\"campaign\",\"group\":7}", "bad-request"},
        {"{\"op\":\"campaign\",\"group\":\"\"}", "bad-group"},
        {"{\"op\":\"campaign\",\"group\":\"-g\"}", "bad-group"},
        {"{\"op\":\"campaign\",\"group\":\"g g\"}", "bad-group"},
        {"{\"op\":\"campaign\",\"group\":\"g\",\"priority\":-1}", "bad-request"},
        {"{\"op\":\"campaign\",\"group\":\"g\",\"priority\":1.5}", "bad-request"},
        {"{\"op\":\"campaign\",\"group\":\"g\",\"priority\":9007199254740992}", "bad-request"},
        {"{\"op\":\"campaign\",\"group\":\"g\",\"value\":7}", "bad-request"},
        {"{\"op\":\"resign\",\"group\":\"nowhere\"}", "unknown-group"},
        {"{\"op\":\"resign\",\"group\":\"led\"}", "not-campaigning"},
        {"{\"op\":\"resign\",\"group\":\"led\",\"force\":1}", "bad-request"},
        {"{\"op\":\"resign\",\"group\":\"led\",\"cause\":1}", "bad-request"},
        {"{\"op\":\"resign\",\"group\":\"idle\",\"force\":true}", "not-leading"},
        {"{\"op\":\"transfer\",\"group\":\"led\"}", "bad-request"},
        {"{\"op\":\"transfer\",\"group\":\"led\",\"to\":\"z\"}", "unknown-member"},
        {"{\"op\":\"transfer\",\"group\":\"led\",\"to\":\"a\"}", "not-possible"},
        {"{\"op\":\"transfer\",\"group\":\"idle\",\"to\":\"a\"}", "not-leading"},
        {"{\"op\":\"transfer\",\"group\":\"nowhere\",\"to\":\"a\"}", "unknown-group"},
        {"{\"op\":\"transfer\",\"group\":\"led\",\"to\":\"a\",\"stopped\":-1}", "bad-request"},
        {"{\"op\":\"transfer\",\"group\":\"led\",\"to\":\"a\",\"stopped\":1}", "not-leading"},
        {"{\"op\":\"stopped\",\"group\":\"led\"}", "bad-request"},
        {"{\"op\":\"stopped\",\"group\":\"led\",\"token\":1}", "not-leading"},
        {"{\"op\":\"proclaim\",\"group\":\"led\"}", "bad-request"},
        {"{\"op\":\"change\",\"group\":\"led\",\"priority\":-1}", "bad-request"},
        {"{\"op\":\"change\",\"group\":\"led\",\"priority\":1}", "not-campaigning"},
        {"{\"op\":\"proclaim\",\"group\":\"led\",\"value\":\"v\"}", "not-leading"},
        {"{\"op\":\"observe\",\"group\":[]}", "bad-request"},
        {"{\"op\":\"observe\",\"group\":\".x\"}", "bad-group"},
        {"{\"op\":\"status\",\"group\":\"nowhere\"}", "unknown-group"},
        {"{\"op\":\"status\",\"group\":null}", "bad-request"},
    };
    const int fd = join(), leader = join();
    (void)lead(leader, "led");
    (void)lead(leader, "idle");
    expect_part(leader, "{\"op\":\"resign\",\"group\":\"idle\"}", "resigned");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char word[64];
        snprintf(word, sizeof word, "{\"ok\":false,\"error\":\"%s\",\"message\":\"", rows[i].error);
        expect_part(fd, rows[i].request, word);
    }
    expect_part(fd, "{\"op\":\"transfer\",\"group\":\"idle\",\"to\":\"a\"}", "idle: nobody leads it");
    expect_part(fd, "{\"op\":\"resign\",\"group\":\"idle\",\"force\":true}", "idle: nobody leads it");
    char request[600], value[HOST_VALUE_MAX + 2];
    memset(value, 'v', sizeof value);
    for (int longer = 1; longer >= 0; longer--) {
        snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"g\",\"value\":\"%.*s\"}",
                 HOST_VALUE_MAX + longer, value);
        if (longer) expect_part(fd, request, "bad-value");
    }
    expect(fd, request, "{\"ok\":true}");
    expect_part(fd, "{\"op\":\"campaign\",\"group\":\"g\"}", "elected");
    expect_part(fd, "{}", "already-campaigning");
}

static void takes_a_zero_in_a_name_for_no_name(void **state)
{
    const int fd = join();
    say(fd, "{\"op\":\"campaign\",\"group\":\"g\\u0000h\"}");
    assert_non_null(strstr(hear(fd), "bad-request"));
}

static void names_a_leader_to_observers(void **state)
{
    const int fd = join(), all = join(), one = join();
    expect(all, "{\"op\":\"observe\"}", "{\"ok\":true}");
    expect(one, "{\"op\":\"observe\",\"group\":\"g\"}", "{\"ok\":true}");
    assert_string_equal(hear(one),
                        "{\"event\":\"leader\",\"group\":\"g\",\"leader\":null,\"token\":0,\"value\":\"\"}");
    assert_int_equal(t.serve->leaderships.count, 0); /* who looks makes no groups */
    const json_int_t token = lead(fd, "g");
    (void)lead(fd, "h");
    char line[200];
    snprintf(line, sizeof line,
             "{\"event\":\"leader\",\"group\":\"g\",\"leader\":\"a\",\"token\":%lld,\"value\":\"\"}",
             (long long)token);
    const char *got = await(one);
    while (strstr(got, "null")) got = await(one);
    assert_string_equal(got, line);
    expect_part(fd, "{\"op\":\"proclaim\",\"group\":\"g\",\"value\":\"b:\\u00e4\"}", "true");
    assert_non_null(strstr(await(one), "\"value\":\"b:ä\""));
    expect_part(fd, "{\"op\":\"proclaim\",\"group\":\"g\",\"value\":\"\"}", "true");
    assert_non_null(strstr(await(one), "\"value\":\"\""));
    expect_part(fd, "{\"op\":\"proclaim\",\"group\":\"g\",\"value\":\"c\"}", "true");
    assert_non_null(strstr(await(one), "\"value\":\"c\""));
    expect_part(fd, "{\"op\":\"proclaim\",\"group\":\"g\",\"value\":\"d\"}", "true");
    assert_non_null(strstr(await(one), "\"value\":\"d\""));
    bool saw_h = false;
    for (int i = 0; i < 50 && !saw_h; i++) saw_h = strstr(await(all), "\"group\":\"h\",\"leader\":\"a\"");
    assert_true(saw_h);
    pass(3000); /* many leases */
    assert_null(try_hear(one));
    hang_up(fd);
    assert_non_null(strstr(await(one), "\"leader\":null"));
    const int late = join();
    expect(late, "{\"op\":\"observe\",\"group\":\"g\"}", "{\"ok\":true}");
    assert_non_null(strstr(hear(late), "\"leader\":null"));
}

static void observes_no_more_than_so_many_that_are_not(void **state)
{
    const int fd = join();
    char line[100];
    for (int i = 0; i < SERVE_AWAITED_MAX; i++) {
        snprintf(line, sizeof line, "{\"op\":\"observe\",\"group\":\"g%d\"}", i);
        expect(fd, line, "{\"ok\":true}");
        assert_non_null(strstr(hear(fd), "null"));
    }
    expect(fd, line, "{\"ok\":true}"); /* the same again */
    expect_part(fd, "{\"op\":\"observe\",\"group\":\"h\"}", "too-many");
}

static void tells_its_status(void **state)
{
    const int fd = join();
    const json_int_t token = lead(fd, "billing");
    char want[600];
    say(fd, "{\"id\":7,\"op\":\"status\",\"group\":\"billing\"}");
    const char *line = await(fd);
    static const char first[] =
        "{\"ok\":true,\"member\":\"a\",\"cluster\":\"shop\",\"members\":[{\"name\":\"a\",\"id\":1,\"role\":\"voter\","
        "\"address\":\"127.0.0.1:7400\",\"reachable\":true,\"heard_ms\":0,\"version\":\"";
    if (strncmp(line, first, strlen(first)) != 0) fail_msg("%s", line);
    snprintf(want, sizeof want,
             "\"}],\"groups\":[{\"group\":\"billing\",\"algorithm\":\"quorum\",\"leader\":\"a\",\"token\":%lld,"
             "\"role\":\"leader\",\"lease_left_ms\":",
             (long long)token);
    if (!strstr(line, want)) fail_msg("%s", line);
    assert_non_null(strstr(
        line,
        "\"candidates\":1,\"standing\":[{\"member\":\"a\",\"priority\":0}],\"value\":\"\",\"promises\":\"never two leaders at one instant; "));
    assert_non_null(strstr(line, "\"worst_failover_ms\":"));
    assert_int_equal(number_in(line, "id"), 7);
}

static void tells_its_members(void **state)
{
    const int fd = join();
    say(fd, "{\"id\":8,\"op\":\"members\"}");
    const char *line = hear(fd);
    char first[80];
    snprintf(first, sizeof first, "{\"ok\":true,\"member\":\"a\",\"cluster\":\"shop\",\"list\":\"%016llx\",",
             (unsigned long long)host_members(t.host));
    if (strncmp(line, first, strlen(first)) != 0) fail_msg("%s", line);
    assert_non_null(strstr(
        line,
        "\"votes\":1,\"votes_counted\":1,\"majority\":1,\"speaks\":\"2\",\"members\":[{\"name\":\"a\",\"id\":1,"));
    assert_non_null(strstr(line, "}],\"restart\":[],\"id\":8}"));
}

static void await_restart(uint32_t times)
{
    char long_value[400];
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    const struct config_difference d = {"[member c]", "address", "1.2.3.4:5", long_value};
    for (uint32_t i = 0; i < times; i++) serve_await_restart(t.serve, &d);
}

/* What the file has otherwise is told until the file is read again, and neither its number nor its length is the file's. */
static void tells_what_waits_for_a_restart(void **state)
{
    const int fd = join();
    await_restart(1);
    expect_part(fd, "{\"op\":\"members\"}",
                "\"restart\":[{\"what\":\"[member c] address\",\"ours\":\"1.2.3.4:5\",\"theirs\":\"xxx");
    await_restart(1000);
    expect_part(fd, "{\"op\":\"members\"}", "\"what\":\"[member c] address\"");
    assert_int_equal(t.serve->restart_count, SERVE_RESTART_MAX);
    serve_await_no_restart(t.serve);
    expect_part(fd, "{\"op\":\"members\"}", "\"restart\":[]");
}

static bool lists(int fd, const char *group)
{
    char name[80];
    snprintf(name, sizeof name, "\"group\":\"%s\"", group);
    say(fd, "{\"op\":\"status\",\"from\":0}");
    return strstr(hear(fd), name) != NULL;
}

static void resign(int fd)
{
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    pass(10);
    while (try_hear(fd)) {}
}

static void forgets_a_group_that_nobody_uses(void **state)
{
    t.config.forget_after = 10000 * MS;
    const int fd = join(), other = join(), watch = join();
    const json_int_t token = lead(fd, "g");
    (void)lead(other, "h");
    pass(12000);
    assert_true(lists(watch, "g")); /* it is led */
    resign(fd);
    pass(8000);
    assert_true(lists(watch, "g"));
    pass(4000);
    assert_false(lists(watch, "g"));
    assert_true(lists(watch, "h"));
    expect_part(watch, "{\"op\":\"status\",\"group\":\"g\"}", "unknown-group");
    assert_true(lead(fd, "g") > token); /* it comes back, and its tokens rise */
    assert_true(lists(watch, "g"));
}

static void forgets_at_once_what_it_is_told_to(void **state)
{
    const int fd = join(), watch = join();
    const json_int_t token = lead(fd, "g");
    expect_part(watch, "{\"op\":\"forget\",\"group\":\"g\"}", "in-use");
    expect_part(watch, "{\"op\":\"forget\",\"group\":\"nowhere\"}", "unknown-group");
    resign(fd);
    pass(100000);
    assert_true(lists(watch, "g")); /* `forget-after` is off here */
    expect_part(watch, "{\"op\":\"forget\",\"group\":\"g\"}", "true");
    assert_false(lists(watch, "g"));
    assert_true(lead(fd, "g") > token);
    assert_true(lists(watch, "g"));
    resign(fd);
    assert_true(lists(watch, "g")); /* forgotten once, not for ever */
    expect_part(watch, "{\"op\":\"observe\",\"group\":\"g\"}",
                "true"); /* so it is hidden, and keeps its place */
    while (try_hear(watch)) {}
    pass(100000);
    while (try_hear(watch)) {}
    say(watch, "{\"op\":\"forget\",\"group\":\"g\"}");
    while (try_hear(watch)) {}
    assert_false(lists(fd, "g"));
    (void)lead(fd, "g");
    resign(fd);
    assert_true(lists(fd, "g"));
}

static void never_forgets_a_group_that_its_file_names(void **state)
{
    t.config.forget_after = 1000 * MS;
    t.config.group_count = 1;
    snprintf(t.config.groups[0].name, sizeof t.config.groups[0].name, "g");
    const int fd = join(), watch = join();
    (void)lead(fd, "g");
    resign(fd);
    pass(5000);
    assert_true(lists(watch, "g"));
    expect_part(watch, "{\"op\":\"forget\",\"group\":\"g\"}", "in-use");
}

static void splits_a_long_status(void **state)
{
    const int fd = join(), other = join();
    char request[400];
    for (int i = 0; i < 100; i++) {
        snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"g%d\",\"value\":\"%0200d\"}", i, 0);
        say(fd, request);
        while (try_hear(fd)) {}
    }
    send_bytes(other, "{\"op\":\"status\",\"id\":1}\n{\"op\":\"hello\",\"id\":2}\n", 45);
    size_t groups = 0, lines = 0;
    for (bool more = true; more; lines++) {
        json_t *line = json_loads(hear(other), 0, NULL);
        const size_t count = json_array_size(json_object_get(line, "groups"));
        assert_true(count > 0 && count <= 32);
        assert_int_equal(json_integer_value(json_object_get(line, "id")), 1);
        groups += count;
        more = json_is_true(json_object_get(line, "more"));
        json_decref(line);
    }
    assert_int_equal(groups, 100);
    assert_true(lines >= 4);
    assert_non_null(strstr(hear(other), "{\"id\":2,")); /* what came after waited */
    send_bytes(other, "{\"op\":\"status\"}\n", 16);
    shutdown(other, SHUT_WR); /* and who says no more still hears it all */
    for (size_t i = 0; i < lines; i++) (void)hear(other);
    assert_true(has_ended(other));
}

/* Each group once; a page says where the next one begins, and other requests may come between two pages. */
static void gives_its_status_by_pages(void **state)
{
    const int fd = join(), other = join();
    char request[400];
    for (int i = 0; i < 100; i++) {
        snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"g%d\"}", i);
        say(fd, request);
        while (try_hear(fd)) {}
    }
    uint64_t seen[2] = {0};
    size_t groups = 0;
    json_int_t from = 0;
    for (bool more = true; more;) {
        snprintf(request, sizeof request, "{\"id\":5,\"op\":\"status\",\"from\":%lld}", (long long)from);
        say(other, request);
        json_t *line = json_loads(hear(other), 0, NULL), *group;
        assert_null(try_hear(other)); /* one line is the answer */
        expect_part(other, "{\"op\":\"hello\"}", "true");
        size_t i;
        json_array_foreach(json_object_get(line, "groups"), i, group)
        {
            const long number = strtol(json_string_value(json_object_get(group, "group")) + 1, NULL, 10);
            assert_false(seen[number / 64] >> number % 64 & 1);
            seen[number / 64] |= UINT64_C(1) << number % 64;
        }
        groups += i;
        assert_true(i <= 32);
        assert_int_equal(json_integer_value(json_object_get(line, "id")), 5);
        more = json_is_true(json_object_get(line, "more"));
        assert_int_equal(more, json_object_get(line, "next") != NULL);
        if (more) assert_true(json_integer_value(json_object_get(line, "next")) > from);
        from = json_integer_value(json_object_get(line, "next"));
        json_decref(line);
    }
    assert_int_equal(groups, 100);
    expect_part(other, "{\"op\":\"status\",\"from\":100000000}",
                "\"groups\":[],\"worst_failover_ms\":0,\"more\":false}");
    expect_part(other, "{\"op\":\"status\",\"from\":-1}", "bad-request");
    expect_part(other, "{\"op\":\"status\",\"from\":\"0\"}", "bad-request");
}

static void hears_the_last_word_of_who_ends(void **state)
{
    const int fd = join();
    send_bytes(fd, "{\"op\":\"campaign\",\"group\":\"g\"}\n{\"op\":\"hello\"}\nhalf a li", 54);
    shutdown(fd, SHUT_WR);
    (void)hear(fd);
    while (!has_ended(fd)) pass(5);
    assert_int_equal(t.serve->connection_count, 0);
    assert_int_equal(leadership_at(&t.serve->leaderships, 0)->candidate_count, 0);
}

static void elects_the_next_when_one_dies(void **state)
{
    const int fd = join(), next = join();
    const json_int_t token = lead(fd, "g");
    expect(next, "{\"op\":\"campaign\",\"group\":\"g\"}", "{\"ok\":true}");
    hang_up(fd);
    const char *line = await(next);
    assert_non_null(strstr(line, "\"event\":\"elected\""));
    assert_true(number_in(line, "token") > token);
}

/* ---- Who may ---- */

static void asks_who_may(void **state)
{
    const int stranger = join_as(1000, 2000), user = join_as(1001, 2000), fellow = join_as(1000, 2002);
    static const char *const requests[] = {
        "{\"op\":\"campaign\",\"group\":\"secret\"}",
        "{\"op\":\"resign\",\"group\":\"secret\"}",
        "{\"op\":\"resign\",\"group\":\"secret\",\"force\":true}",
        "{\"op\":\"transfer\",\"group\":\"secret\",\"to\":\"a\"}",
        "{\"op\":\"proclaim\",\"group\":\"secret\",\"value\":\"\"}",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        expect_part(stranger, requests[i], "\"error\":\"not-permitted\"");
    assert_int_equal(t.serve->leaderships.count, 0);
    expect_part(stranger, "{\"op\":\"hello\"}", "true");
    expect_part(stranger, "{\"op\":\"status\"}", "true");
    expect_part(stranger, "{\"op\":\"campaign\",\"group\":\"open\"}", "true");
    expect(user, "{\"op\":\"campaign\",\"group\":\"secret\"}", "{\"ok\":true}");
    expect(fellow, "{\"op\":\"campaign\",\"group\":\"secret\"}", "{\"ok\":true}");
    const int self = join(); /* really connected: root, or the agent's user */
    expect(self, "{\"op\":\"campaign\",\"group\":\"secret\"}", "{\"ok\":true}");
}

static void knows_its_client_by_the_kernel(void **state)
{
    (void)join();
    for (int i = 0; i < 5; i++) go_round();
    const struct connection *c = t.serve->connections[0];
    assert_non_null(c);
    assert_int_equal(c->who.uid, geteuid());
    assert_true(c->who.gid_count >= 1);
    assert_int_equal(c->who.gids[0], getegid());
}

static void never_leads_as_a_witness(void **state)
{
    t.config.members[0].role = CONFIG_WITNESS;
    expect_part(join(), "{\"op\":\"campaign\",\"group\":\"g\"}", "not-possible");
}

/* ---- Ends ---- */

static void hands_over_before_it_leaves(void **state)
{
    const int fd = join(), other = join();
    char line[200];
    const json_int_t token = lead(fd, "g");
    assert_false(serve_leave(t.serve));
    const char *stop = await(fd);
    assert_non_null(strstr(stop, "\"event\":\"stop\""));
    assert_non_null(strstr(stop, "\"reason\":\"leaving\""));
    expect_part(other, "{\"op\":\"campaign\",\"group\":\"h\"}", "\"error\":\"leaving\"");
    uv_timer_start(&t.serve->chores, t.serve->chores.timer_cb, 60000, 0);
    assert_false(serve_leave(t.serve)); /* asked again before each wait, which it does not cut short */
    uv_update_time(&t.loop);
    assert_true(uv_timer_get_due_in(&t.serve->chores) > 0);
    serve_do_chores_soon(t.serve);
    snprintf(line, sizeof line, "{\"op\":\"stopped\",\"group\":\"g\",\"token\":%lld}", (long long)token);
    say(fd, line);
    assert_non_null(strstr(hear(fd), "\"reason\":\"leaving\""));
    assert_string_equal(hear(fd), "{\"ok\":true}");
    assert_true(serve_leave(t.serve));
}

static void says_lost_when_the_disk_fails(void **state)
{
    const int fd = join();
    (void)lead(fd, "g");
    serve_failed(t.serve, "cannot write the record: no space");
    const char *lost = await(fd);
    assert_non_null(strstr(lost, "\"event\":\"lost\""));
    assert_non_null(strstr(lost, "\"reason\":\"disk\""));
    expect_part(fd, "{\"op\":\"campaign\",\"group\":\"h\"}", "no space");
}

/* A lease that is renewed a beat after the last time is not late; what the network and the loop add is. */
static void renewals_are_counted_by_how_late_they_are(void **state)
{
    static struct metrics metrics;
    const int fd = join();
    memset(&metrics, 0, sizeof metrics);
    expect_part(fd, "{\"op\":\"renewals\"}", "\"error\":\"not-possible\"");
    serve_set_metrics(t.serve, &metrics);
    expect_part(fd, "{\"op\":\"renewals\"}", "\"longest_us\":0,");
    lead(fd, "g");
    uint64_t *shown = &t.serve->leaderships.cells[host_cell(serve_find_leadership(t.serve, "g")->group)];
    *shown = t.now + 800 * MS; /* answered 150 ms ago, with the times of lan: the next is due now */
    serve_renewed(t.serve, 0);
    *shown = t.now + 740 * MS;
    serve_renewed(t.serve, 0);
    uint64_t counts[METRICS_STEPS], sum = 0;
    assert_int_equal(metrics_renewals_of_hour(&metrics.renewals, t.now, counts), 60 * MS);
    for (uint32_t i = 0; i < METRICS_STEPS; i++) sum += counts[i];
    assert_int_equal(sum, 2);
    assert_int_equal(counts[0], 1);
    serve_set_metrics(t.serve, NULL);
}

/* All groups of a cell lose their leases at once, and that is one renewal that did not come. */
static void a_lapse_counts_once_for_all_groups_of_a_cell(void **state)
{
    static struct metrics metrics;
    struct leaderships *all = &t.serve->leaderships;
    const int fd = join();
    uint64_t counts[METRICS_STEPS], sum = 0;
    memset(&metrics, 0, sizeof metrics);
    serve_set_metrics(t.serve, &metrics);
    lead(fd, "g");
    lead(fd, "h");
    const struct leadership *g = serve_find_leadership(t.serve, "g"), *h = serve_find_leadership(t.serve, "h");
    assert_int_equal(g->tenure->cell, h->tenure->cell);
    (void)metrics_renewals_of_hour(&metrics.renewals, t.now, counts);
    for (uint32_t i = 0; i < METRICS_STEPS; i++) sum -= counts[i];
    all->lapsed(all->context, g, 1000 * MS);
    all->lapsed(all->context, h, 1000 * MS);
    assert_int_equal(metrics_renewals_of_hour(&metrics.renewals, t.now, counts), 1000 * MS);
    for (uint32_t i = 0; i < METRICS_STEPS; i++) sum += counts[i];
    assert_int_equal(sum, 1);
    all->cells[g->tenure->cell] += 1000 * MS; /* the next lease */
    all->lapsed(all->context, g, 2000 * MS);
    assert_int_equal(metrics_renewals_of_hour(&metrics.renewals, t.now, counts), 2000 * MS);
    serve_set_metrics(t.serve, NULL);
}

/* A cell is given up when voters begin to count anew, which may be just before the lapse. */
static void a_lapse_counts_also_if_the_cell_is_gone(void **state)
{
    static struct metrics metrics;
    struct leaderships *all = &t.serve->leaderships;
    memset(&metrics, 0, sizeof metrics);
    serve_set_metrics(t.serve, &metrics);
    lead(join(), "g");
    const struct leadership *g = serve_find_leadership(t.serve, "g");
    g->tenure->deadline_ns = t.now;
    g->tenure->cell = HOST_NO_CELL;
    all->lapsed(all->context, g, 1000 * MS);
    all->lapsed(all->context, g, 1000 * MS);
    assert_int_equal(metrics_lost_in_hour(&metrics.renewals, t.now), 1);
    serve_set_metrics(t.serve, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(says_who_is_there),
        TEST(elects_moves_stops_and_ends_in_this_order),
        TEST(is_lost_at_the_deadline_if_it_does_not_stop),
        TEST(refuses_each_with_its_word),
        TEST(takes_a_zero_in_a_name_for_no_name),
        TEST(names_a_leader_to_observers),
        TEST(observes_no_more_than_so_many_that_are_not),
        TEST(tells_its_status),
        TEST(tells_its_members),
        TEST(tells_what_waits_for_a_restart),
        TEST(forgets_a_group_that_nobody_uses),
        TEST(forgets_at_once_what_it_is_told_to),
        TEST(never_forgets_a_group_that_its_file_names),
        TEST(splits_a_long_status),
        TEST(gives_its_status_by_pages),
        TEST(hears_the_last_word_of_who_ends),
        TEST(elects_the_next_when_one_dies),
        TEST(asks_who_may),
        TEST(knows_its_client_by_the_kernel),
        TEST(never_leads_as_a_witness),
        TEST(hands_over_before_it_leaves),
        TEST(says_lost_when_the_disk_fails),
        TEST(renewals_are_counted_by_how_late_they_are),
        TEST(a_lapse_counts_once_for_all_groups_of_a_cell),
        TEST(a_lapse_counts_also_if_the_cell_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
