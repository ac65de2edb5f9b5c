/*
 * Commands that speak to an agent, against one that does as it is told: the verbs of `elector`, and the examples that get
 * by without the library. ELECTOR names the program.
 */
#define _GNU_SOURCE /* mkdtemp, pipe2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "client/json_lines.h"
#include "lib/client/fake_agent.h"

static struct fake_agent agent;

static int start(void **state)
{
    return fake_start(&agent) ? 0 : -1;
}

static int stop(void **state)
{
    fake_stop(&agent);
    return 0;
}

/* ---- A command and what it says ---- */

struct command {
    pid_t pid;
    int out; /* both of its outputs */
    char said[8192];
    size_t size;
};

static void run(struct command *c, const char *const *words)
{
    int ends[2];
    char *arguments[10] = {0};
    c->size = 0;
    c->said[0] = '\0';
    for (size_t i = 0; words[i]; i++) arguments[i] = (char *)(uintptr_t)words[i];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    c->pid = fork();
    if (c->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    c->out = ends[0];
}

/* False: it says nothing more. */
static bool listen_to(struct command *c)
{
    struct pollfd wanted = {.fd = c->out, .events = POLLIN};
    if (poll(&wanted, 1, give_up_ms()) <= 0) return false;
    const ssize_t got = read(c->out, c->said + c->size, sizeof c->said - 1 - c->size);
    if (got <= 0) return false;
    c->size += (size_t)got;
    c->said[c->size] = '\0';
    return true;
}

static void says(struct command *c, const char *text)
{
    while (!strstr(c->said, text) && listen_to(c)) {}
    if (!strstr(c->said, text)) fail_msg("it should say '%s', and says '%s'", text, c->said);
}

static int ended(struct command *c)
{
    int status = 0;
    while (listen_to(c)) {}
    close(c->out);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const char *program(void)
{
    const char *path = getenv("ELECTOR");
    return path ? path : "build/release/elector";
}

static int verb(struct command *c, const char *name, const char *first, const char *second, const char *third)
{
    const char *words[] = {program(), name, "--url", agent.url, first, second, third, NULL};
    run(c, words);
    return ended(c);
}

/* ---- Campaigns ---- */

#define ELECTED "{\"event\":\"elected\",\"group\":\"jobs\",\"token\":5,\"deadline_ns\":4000000000000000000}"
#define STOP \
    "{\"event\":\"stop\",\"group\":\"jobs\",\"token\":5,\"deadline_ns\":4000000000000000000,\"reason\":\"to b\"}"
#define LOST "{\"event\":\"lost\",\"group\":\"jobs\",\"token\":5,\"reason\":\"transferred\"}"

static void campaigns_well(struct command *c)
{
    json_decref(fake_asked(&agent, "campaign"));
    fake_say(&agent, ELECTED);
    says(c, "elected jobs token 5\n");
    fake_say(&agent, STOP);
    json_t *request = fake_asked(&agent, "stopped");
    assert_int_equal(json_integer_value(json_object_get(request, "token")), 5);
    json_decref(request);
    fake_say(&agent, LOST);
    says(c, "lost jobs token 5: transferred\n");
}

static void campaign_tells_and_resigns_when_it_is_told_to_go(void **state)
{
    struct command c;
    run(&c, (const char *const[]){program(), "campaign", "jobs", "--url", agent.url, "--value", "v", NULL});
    campaigns_well(&c);
    kill(c.pid, SIGTERM);
    json_decref(fake_asked(&agent, "resign"));
    assert_int_equal(ended(&c), 0);
}

static void campaign_ends_with_its_agent(void **state)
{
    struct command c;
    run(&c, (const char *const[]){program(), "campaign", "jobs", "--url", agent.url, NULL});
    json_decref(fake_asked(&agent, "campaign"));
    fake_say(&agent, ELECTED);
    says(&c, "elected jobs token 5\n");
    fake_hang_up(&agent);
    says(&c, "lost jobs token 5: the agent is gone\n");
    assert_int_equal(ended(&c), 3);
}

static void python_can_do_without_the_library(void **state)
{
    struct command c;
    const char *const script = ELECTOR_SOURCE_DIR "/examples/campaign.py";
    run(&c, (const char *const[]){"python3", script, "jobs", agent.path, NULL});
    campaigns_well(&c);
    says(&c, "a job under token 5\n");
    fake_hang_up(&agent);
    says(&c, "the agent is gone");
    assert_int_equal(ended(&c), 1);
}

static void a_shell_can_do_without_the_library(void **state)
{
    struct command c;
    const char *const script = ELECTOR_SOURCE_DIR "/examples/campaign.sh";
    run(&c, (const char *const[]){"sh", script, "jobs", agent.path, NULL});
    campaigns_well(&c);
    fake_hang_up(&agent);
    says(&c, "the agent is gone");
    assert_int_equal(ended(&c), 1);
}

/* ---- Questions ---- */

static void status_is_a_table(void **state)
{
    struct command c;
    fake_refuse(&agent, "status",
                "\"ok\":true,\"member\":\"a\",\"more\":true,\"worst_failover_ms\":1500,\"members\":["
                "{\"name\":\"b\",\"role\":\"voter\",\"reachable\":true},"
                "{\"name\":\"c\",\"role\":\"witness\",\"reachable\":false},"
                "{\"name\":\"d\",\"role\":\"observer\",\"reachable\":true}],"
                "\"groups\":[{\"group\":\"jobs\",\"leader\":\"a\",\"token\":2049,\"lease_left_ms\":812}]}\n"
                "{\"id\":1,\"ok\":true,\"groups\":[{\"group\":\"mail\",\"leader\":null,\"token\":0}]");
    assert_int_equal(verb(&c, "status", NULL, NULL, NULL), 1);
    assert_non_null(
        strstr(c.said, "jobs                 a            2049             812 ms     2 of 3   1500 ms"));
    assert_non_null(strstr(c.said, "mail                 nobody       -                -          2 of 3"));
    assert_int_equal(verb(&c, "status", "--output", "json", NULL), 1);
    json_t *all = json_loads(c.said, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(all, "groups")), 2);
    json_decref(all);
    fake_refuse(&agent, "status",
                "\"ok\":false,\"error\":\"unknown-group\",\"message\":\"there is no group x here\"");
    assert_int_equal(verb(&c, "status", "x", NULL, NULL), 1);
    assert_string_equal(c.said, "elector status: there is no group x here\n");
    fake_refuse(&agent, "status", "!\x01 nonsense");
    assert_int_equal(verb(&c, "status", "x", NULL, NULL), 3);
    assert_non_null(strstr(c.said, "is it an agent?"));
}

/* A page that leads to itself would never end; one without groups leads on. */
static void status_asks_page_after_page(void **state)
{
    struct command c;
    fake_refuse(&agent, "status", "\"ok\":true,\"more\":true,\"next\":32,\"groups\":[]");
    assert_int_equal(verb(&c, "status", NULL, NULL, NULL), 3);
    assert_non_null(strstr(c.said, "a status that does not end"));
    json_t *asked = fake_asked(&agent, "status");
    assert_int_equal(json_integer_value(json_object_get(asked, "from")), 32);
    json_decref(asked);
}

/* An agent that does not know pages: however many lines it takes, with at most 32 groups each. */
static void status_has_as_many_lines_as_it_takes(void **state)
{
    struct command c;
    static char lines[65536];
    size_t used = (size_t)snprintf(
        lines, sizeof lines,
        "\"ok\":true,\"worst_failover_ms\":5,\"more\":true,\"groups\":[{\"group\":\"g0\"}]}\n");
    for (int i = 1; i < 200; i++)
        used += (size_t)snprintf(
            lines + used, sizeof lines - used,
            "{\"id\":1,\"ok\":true,\"worst_failover_ms\":%d,\"more\":%s,\"groups\":[{\"group\":\"g%d\"}]%s",
            i == 77 ? 777 : 6, i < 199 ? "true" : "false", i, i < 199 ? "}\n" : "");
    fake_refuse(&agent, "status", lines);
    assert_int_equal(verb(&c, "status", "--output", "json", NULL), 1);
    json_t *all = json_loads(c.said, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(all, "groups")), 200);
    assert_int_equal(json_integer_value(json_object_get(all, "worst_failover_ms")), 777);
    json_decref(all);
    /* A line without groups says nothing, and could go on for ever. */
    fake_refuse(&agent, "status",
                "\"ok\":true,\"more\":true,\"groups\":[]}\n{\"id\":1,\"ok\":true,\"more\":true,\"groups\":[]");
    assert_int_equal(verb(&c, "status", NULL, NULL, NULL), 3);
    assert_non_null(strstr(c.said, "is it an agent?"));
}

/* Whom an agent turns away has said nothing that it has read: the answer is to nobody in particular. */
static const char turned_away[] = "{\"ok\":false,\"error\":\"too-many\",\"message\":\"64 are here\"}";

static void a_full_agent_is_no_answer(void **state)
{
    struct command c;
    fake_refuse(&agent, "status", turned_away);
    assert_int_equal(verb(&c, "status", NULL, NULL, NULL), 3);
    assert_non_null(strstr(c.said, "64 are here\n"));
    fake_refuse(&agent, "resign", turned_away);
    assert_int_equal(verb(&c, "resign", "jobs", NULL, NULL), 3);
    assert_non_null(strstr(c.said, "64 are here\n"));
}

static void last_words_are_heard_though_nobody_listens(void **state)
{
    static struct json_lines w;
    int ends[2];
    json_t *answer;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    w = (struct json_lines){.fd = ends[0]};
    assert_true(write(ends[1], turned_away, sizeof turned_away - 1) > 0 && write(ends[1], "\n", 1) == 1);
    close(ends[1]);
    assert_int_equal(json_lines_ask(&w, json_pack("{si}", "id", 1), UINT64_MAX, &answer), ELECTOR_UNAVAILABLE);
    assert_null(answer);
    assert_non_null(strstr(w.reason, "64 are here"));
    json_lines_close(&w);
}

static void observe_prints_every_change(void **state)
{
    struct command c;
    run(&c, (const char *const[]){program(), "observe", "--url", agent.url, "--output", "json", NULL});
    json_decref(fake_asked(&agent, "observe"));
    fake_say(&agent,
             "{\"event\":\"leader\",\"group\":\"jobs\",\"leader\":\"b\",\"token\":6,\"value\":\"b:1\"}");
    says(&c, "{\"group\":\"jobs\",\"leader\":\"b\",\"token\":6,\"value\":\"b:1\"}\n");
    fake_say(&agent, "{\"event\":\"leader\",\"group\":\"jobs\",\"leader\":null,\"token\":0,\"value\":null}");
    says(&c, "\"leader\":null");
    fake_hang_up(&agent);
    assert_int_equal(ended(&c), 3);
    run(&c, (const char *const[]){program(), "observe", "jobs", "--url", agent.url, NULL});
    json_t *request = fake_asked(&agent, "observe");
    for (int i = 0; i < 3000 && !json_object_get(request, "group"); i++) {
        json_decref(request);
        poll(NULL, 0, 10);
        request = fake_asked(&agent, "observe");
    }
    json_decref(request);
    fake_say(
        &agent,
        "{\"event\":\"leader\",\"group\":\"jobs\",\"leader\":\"b\\u001b\",\"token\":6,\"value\":\"b\\u009b1é\"}");
    says(&c, "jobs is led by b? token 6 at b?1é\n"); /* a terminal may take U+009B for an escape too */
    kill(c.pid, SIGTERM);
    assert_int_equal(ended(&c), -SIGTERM);
}

static void resign_and_transfer_ask_the_agent(void **state)
{
    struct command c;
    assert_int_equal(verb(&c, "resign", "jobs", NULL, NULL), 0);
    json_t *request = fake_asked(&agent, "resign");
    assert_true(json_is_true(json_object_get(request, "force")));
    json_decref(request);
    assert_int_equal(verb(&c, "transfer", "jobs", "--to", "b"), 0);
    request = fake_asked(&agent, "transfer");
    assert_string_equal(json_string_value(json_object_get(request, "to")), "b");
    json_decref(request);
    fake_refuse(&agent, "resign",
                "\"ok\":false,\"error\":\"not-leading\",\"message\":\"b leads jobs: ask there\"");
    assert_int_equal(verb(&c, "resign", "jobs", NULL, NULL), 1);
    assert_string_equal(c.said, "elector resign: b leads jobs: ask there\n");
    fake_refuse(&agent, "transfer", "\"ok\":false,\"error\":\"not-permitted\",\"message\":\"you may not\"");
    assert_int_equal(verb(&c, "transfer", "jobs", "--to", "b"), 1);
    assert_string_equal(c.said, "elector transfer: you may not\n");
}

static void a_refusal_is_one_code_with_every_verb(void **state)
{
    static const char may_not[] = "\"ok\":false,\"error\":\"not-permitted\",\"message\":\"you may not\"";
    static const struct {
        const char *op;
        const char *words[5];
    } verbs[] = {{"campaign", {"run", "jobs", "--", "true"}},
                 {"campaign", {"campaign", "jobs"}},
                 {"observe", {"observe", "jobs"}},
                 {"status", {"status", "jobs"}},
                 {"history", {"history", "jobs"}},
                 {"resign", {"resign", "jobs"}},
                 {"transfer", {"transfer", "jobs", "--to", "b"}}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const char *const *w = verbs[i].words;
        const char *words[] = {program(), w[0], "--url", agent.url, w[1], w[2], w[3], NULL};
        struct command c;
        fake_refuse(&agent, verbs[i].op, may_not);
        run(&c, words);
        const int code = ended(&c);
        if (code != 1 || !strstr(c.said, "you may not")) fail_msg("%s: %d, %s", w[0], code, c.said);
    }
    assert_int_equal(chmod(agent.path, 0), 0); /* nor does the socket let others in */
    for (size_t i = 0; geteuid() != 0 && i < sizeof verbs / sizeof *verbs; i++) {
        struct command c;
        const char *const *w = verbs[i].words;
        run(&c, (const char *const[]){program(), w[0], "--url", agent.url, w[1], w[2], w[3], NULL});
        assert_int_equal(ended(&c), 1);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(campaign_tells_and_resigns_when_it_is_told_to_go),
        TEST(campaign_ends_with_its_agent),
        TEST(python_can_do_without_the_library),
        TEST(a_shell_can_do_without_the_library),
        TEST(status_is_a_table),
        TEST(status_asks_page_after_page),
        TEST(status_has_as_many_lines_as_it_takes),
        TEST(a_full_agent_is_no_answer),
        TEST(last_words_are_heard_though_nobody_listens),
        TEST(observe_prints_every_change),
        TEST(resign_and_transfer_ask_the_agent),
        TEST(a_refusal_is_one_code_with_every_verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
