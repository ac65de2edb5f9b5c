/* Who may read, campaign and control at the agent's socket: each request needs its right, and one's own
 * candidacy none. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

enum { READER = 1000, WORKER = 1001, OPERATOR = 1002, STRANGER = 1003 };

static struct config_allowed only(uid_t uid)
{
    return (struct config_allowed){.is_set = true, .users = {uid}, .user_count = 1};
}

/* The group `secret`, with three lines. */
static void restrict_all(void)
{
    struct config_group *section = &t.config.groups[0];
    section->allowed[CONFIG_READ] = only(READER);
    section->allowed[CONFIG_CAMPAIGN] = only(WORKER);
    section->allowed[CONFIG_CONTROL] = only(OPERATOR);
    t.config.restricts_reading = true;
}

static void expect_refused(int fd, const char *request, const char *key)
{
    char part[100];
    snprintf(part, sizeof part, "\"error\":\"not-permitted\",\"message\":\"the group's `%s` line", key);
    expect_part(fd, request, part);
}

static const char *const readings[] = {
    "{\"op\":\"status\",\"group\":\"secret\"}", "{\"op\":\"history\",\"group\":\"secret\"}",
    "{\"op\":\"why\",\"group\":\"secret\"}", "{\"op\":\"observe\",\"group\":\"secret\"}"};
enum { READINGS = sizeof readings / sizeof *readings };

static void nobody_reads_without_the_right(void **state)
{
    restrict_all();
    const int worker = join_as(WORKER, 1), stranger = join_as(STRANGER, 1), reader = join_as(READER, 1);
    for (int i = 0; i < READINGS; i++)
        expect_refused(stranger, readings[i], "allow-read"); /* nor that it is not */
    (void)lead(worker, "secret");
    for (int i = 0; i < READINGS; i++) expect_refused(stranger, readings[i], "allow-read");
    for (int i = 0; i < READINGS; i++) expect_part(reader, readings[i], "\"ok\":true");
    expect_part(worker, "{\"op\":\"status\",\"group\":\"secret\"}", "\"ok\":true");
}

static void a_status_of_all_leaves_out_what_one_may_not_read(void **state)
{
    restrict_all();
    const int worker = join_as(WORKER, 1), stranger = join_as(STRANGER, 1), reader = join_as(READER, 1);
    (void)lead(worker, "secret");
    (void)lead(worker, "open");
    say(stranger, "{\"op\":\"status\"}");
    const char *line = await(stranger);
    assert_non_null(strstr(line, "\"group\":\"open\""));
    assert_null(strstr(line, "secret"));
    expect_part(reader, "{\"op\":\"status\"}", "\"group\":\"secret\"");
}

static void who_observes_all_is_told_what_it_may_read(void **state)
{
    restrict_all();
    const int worker = join_as(WORKER, 1), stranger = join_as(STRANGER, 1);
    expect(stranger, "{\"op\":\"observe\"}", "{\"ok\":true}");
    (void)lead(worker, "secret");
    (void)lead(worker, "open");
    for (const char *line = await(stranger);; line = await(stranger)) {
        assert_null(strstr(line, "secret"));
        if (strstr(line, "\"group\":\"open\",\"leader\":\"a\"")) break;
    }
}

/* As after a SIGHUP. */
static void a_right_that_is_taken_away_is_gone_at_once(void **state)
{
    const int worker = join_as(WORKER, 1), stranger = join_as(STRANGER, 1);
    expect(stranger, "{\"op\":\"observe\",\"group\":\"secret\"}", "{\"ok\":true}");
    assert_non_null(strstr(hear(stranger), "null"));
    restrict_all();
    (void)lead(worker, "secret");
    pass(500);
    assert_null(try_hear(stranger));
}

static void only_who_may_control_deposes(void **state)
{
    restrict_all();
    const int worker = join_as(WORKER, 1), fellow = join_as(WORKER, 1), operator= join_as(OPERATOR, 1);
    static const char depose[] = "{\"op\":\"resign\",\"group\":\"secret\",\"force\":true}";
    static const char transfer[] = "{\"op\":\"transfer\",\"group\":\"secret\",\"to\":\"a\"}";
    (void)lead(worker, "secret");
    expect_refused(fellow, depose, "allow-control");
    expect_refused(fellow, transfer, "allow-control");
    expect(fellow, "{\"op\":\"campaign\",\"group\":\"secret\"}", "{\"ok\":true}");
    expect_refused(fellow, transfer, "allow-control"); /* nor as a candidate */
    expect_refused(operator, "{\"op\":\"campaign\",\"group\":\"secret\"}", "allow");
    expect_part(operator, transfer, "not-possible"); /* to itself: but it was asked */
    expect(operator, depose, "{\"ok\":true}");
    assert_non_null(strstr(await(worker), "\"event\":\"stop\""));
}

/* Otherwise a leader that lost the right could not stop in good order. */
static void ones_own_candidacy_needs_no_right(void **state)
{
    char line[200];
    const int worker = join_as(WORKER, 1), operator= join_as(OPERATOR, 1);
    const json_int_t token = lead(worker, "secret");
    restrict_all();
    t.config.groups[0].allowed[CONFIG_CAMPAIGN] = only(READER);
    expect_refused(worker, "{\"op\":\"status\",\"group\":\"secret\"}", "allow-read");
    expect_part(worker, "{\"op\":\"proclaim\",\"group\":\"secret\",\"value\":\"v\"}", "\"ok\":true");
    expect_part(worker, "{\"op\":\"transfer\",\"group\":\"secret\",\"to\":\"a\"}", "not-possible");
    expect(operator, "{\"op\":\"resign\",\"group\":\"secret\",\"force\":true}", "{\"ok\":true}");
    assert_non_null(strstr(await(worker), "\"event\":\"stop\""));
    snprintf(line, sizeof line, "{\"op\":\"stopped\",\"group\":\"secret\",\"token\":%lld}", (long long)token);
    expect_part(worker, line, "\"event\":\"lost\"");
    say(worker, "{\"op\":\"resign\",\"group\":\"secret\"}"); /* as the only one it was elected again */
    while (!strstr(await(worker), "\"reason\":\"resigned\"")) {}
    while (!strstr(await(worker), "{\"ok\":true}")) {}
    expect_refused(worker, "{\"op\":\"campaign\",\"group\":\"secret\"}", "allow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_reads_without_the_right),
        TEST(a_status_of_all_leaves_out_what_one_may_not_read),
        TEST(who_observes_all_is_told_what_it_may_read),
        TEST(a_right_that_is_taken_away_is_gone_at_once),
        TEST(only_who_may_control_deposes),
        TEST(ones_own_candidacy_needs_no_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
