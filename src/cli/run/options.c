/* The command line of elector run. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/run/run.h"

/* "2.5"; up to a week. */
static bool read_seconds(const char *text, uint64_t *ns)
{
    return text && units_read_decimal(&text, NS_PER_S, ns, NULL) && *text == '\0' && *ns <= 604800 * NS_PER_S;
}

static int seconds_option(const char *name, const char *value, uint64_t *ns)
{
    if (read_seconds(value, ns)) return CLI_YES;
    return cli_usage_error("run", "%s takes seconds from 0 to 604800, such as 2.5%s%s", name,
                           value ? "; not " : "", value ? value : "");
}

static int read_exit_code(struct run_request *request, const char *value)
{
    uint64_t code = 0;
    if (!value || !rank_number(value, &code) || code > 255)
        return cli_usage_error("run", "--exit-code takes a number from 0 to 255");
    request->exit_code = (int)code;
    return CLI_YES;
}

static int read_priority(struct run_request *request, const char *value)
{
    request->has_priority = true;
    if (value && rank_number(value, &request->priority)) return CLI_YES;
    return cli_usage_error("run", "--priority takes a whole number from 0 to 2^53 - 1");
}

static int read_rank(struct run_request *request, const char *value)
{
    request->has_rank = value && rank_parse(value, &request->rank);
    if (request->has_rank) return CLI_YES;
    return cli_usage_error("run", "--rank is ip, cpu, disk:PATH, files:PATH, uptime or cmd:COMMAND%s%s",
                           value ? ", not " : "", value ? value : "");
}

static int read_restart(struct run_request *request, const char *value)
{
    static const char *const names[] = {"never", "on-failure", "always"};
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) != 0) continue;
        request->restart = (enum run_restart)i;
        return CLI_YES;
    }
    return cli_usage_error("run", "--restart is never, on-failure or always%s%s", value ? ", not " : "",
                           value ? value : "");
}

static int read_groups(struct run_request *request, const char *value)
{
    char problem[300] = "";
    if (!value) return cli_usage_error("run", "--group needs names, such as 'shard-{0..63}'");
    if (!request->groups) request->groups = calloc(1, sizeof *request->groups);
    if (!request->groups) return cli_out_of_memory("run");
    if (run_groups_add(request->groups, value, problem, sizeof problem)) return CLI_YES;
    return cli_usage_error("run", "%s", problem);
}

static int read_command(const char *name, const char *value, struct helper_words **words)
{
    struct helper_words *read = value ? helper_split_words(value) : NULL;
    if (!read)
        return cli_usage_error("run", "--%s takes a command of 1 to %d words, split at blanks, without a shell",
                               name, HELPER_WORDS_MAX);
    free(*words); /* a later option replaces an earlier one */
    *words = read;
    return CLI_YES;
}

static int read_failures(struct run_request *request, const char *value)
{
    if (value && rank_number(value, &request->health_failures) && request->health_failures >= 1 &&
        request->health_failures <= 1000)
        return CLI_YES;
    return cli_usage_error("run", "--health-failures takes a whole number from 1 to 1000");
}

static int read_text(const char *name, const char *value, const char **text)
{
    *text = value;
    return value ? CLI_YES : cli_usage_error("run", "--%s needs a value", name);
}

static bool read_switch(struct run_request *request, const char *word)
{
    if (strcmp(word, "--no-preempt") == 0) {
        request->preempt_after_ns = UINT64_MAX;
        return true;
    }
    const struct {
        const char *name;
        bool *set;
    } switches[] = {{"-n", &request->no_wait},      {"--no-wait", &request->no_wait},
                    {"--once", &request->once},     {"--quiet", &request->quiet},
                    {"-q", &request->quiet},        {"-v", &request->verbose},
                    {"--spread", &request->spread}, {"--verbose", &request->verbose}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (strcmp(word, switches[i].name) != 0) continue;
        *switches[i].set = true;
        return true;
    }
    return false;
}

/* Also in its short form: "-w 5" for "--wait 5". */
static bool option(int argc, char **argv, int *at, const char *name, const char *letter, const char **value)
{
    if (letter && strcmp(argv[*at], letter) == 0) {
        *value = *at + 1 < argc ? argv[++*at] : NULL;
        return true;
    }
    return cli_option(argc, argv, at, name, value);
}

/* Hooks, health check, penalty and watchdog. False: another option. */
static bool read_hook_or_check(struct run_request *request, int argc, char **argv, int *at, int *status)
{
    const struct {
        const char *name;
        struct helper_words **words;
    } commands[] = {{"on-elected", &request->hooks[RUN_HOOK_ELECTED]},
                    {"on-lost", &request->hooks[RUN_HOOK_LOST]},
                    {"on-leader", &request->hooks[RUN_HOOK_LEADER]},
                    {"health-cmd", &request->health}};
    const struct {
        const char *name, *dashed;
        uint64_t *ns;
    } times[] = {{"hook-timeout", "--hook-timeout", &request->hook_timeout_ns},
                 {"health-interval", "--health-interval", &request->health_interval_ns},
                 {"health-timeout", "--health-timeout", &request->health_timeout_ns},
                 {"penalty", "--penalty", &request->penalty_ns},
                 {"watchdog", "--watchdog", &request->watchdog_ns}};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!cli_option(argc, argv, at, commands[i].name, &value)) continue;
        *status = read_command(commands[i].name, value, commands[i].words);
        return true;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (!cli_option(argc, argv, at, times[i].name, &value)) continue;
        *status = seconds_option(times[i].dashed, value, times[i].ns);
        return true;
    }
    if (!cli_option(argc, argv, at, "health-failures", &value)) return false;
    *status = read_failures(request, value);
    return true;
}

static int read_option(struct run_request *request, int argc, char **argv, int *at)
{
    const char *value = NULL;
    int status = CLI_YES;
    if (read_switch(request, argv[*at]) || read_hook_or_check(request, argc, argv, at, &status)) return status;
    if (option(argc, argv, at, "group", NULL, &value)) return read_groups(request, value);
    if (option(argc, argv, at, "url", NULL, &value)) return read_text("url", value, &request->url);
    if (option(argc, argv, at, "value", NULL, &value)) return read_text("value", value, &request->value);
    if (option(argc, argv, at, "priority", NULL, &value)) return read_priority(request, value);
    if (option(argc, argv, at, "preempt-after", NULL, &value))
        return seconds_option("--preempt-after", value, &request->preempt_after_ns);
    if (option(argc, argv, at, "rank", NULL, &value)) return read_rank(request, value);
    if (option(argc, argv, at, "exit-code", "-E", &value)) return read_exit_code(request, value);
    if (option(argc, argv, at, "restart", NULL, &value)) return read_restart(request, value);
    if (option(argc, argv, at, "stop-timeout", NULL, &value))
        return seconds_option("--stop-timeout", value, &request->stop_timeout_ns);
    if (option(argc, argv, at, "wait", "-w", &value)) {
        request->has_wait = true;
        return seconds_option("--wait", value, &request->wait_ns);
    }
    return cli_unknown("run", cli_run, argv[*at]);
}

static bool has_hooks(const struct run_request *request)
{
    return request->hooks[RUN_HOOK_ELECTED] || request->hooks[RUN_HOOK_LOST] || request->hooks[RUN_HOOK_LEADER];
}

static int check_spread(const struct run_request *request)
{
    if (!request->spread) return CLI_YES;
    if (request->has_rank)
        return cli_usage_error("run", "--spread and --rank exclude each other: both set the priority");
    if (request->preempt_after_ns > 0 && request->preempt_after_ns != UINT64_MAX)
        return cli_usage_error(
            "run", "--spread and --preempt-after exclude each other: --spread decides when to hand over");
    if (request->priority > SPREAD_PRIORITY_MAX)
        return cli_usage_error("run", "with --spread the priority is at most 2^33 - 1");
    return CLI_YES;
}

static int check_many(const struct run_request *request)
{
    if (request->groups->count > 1 && (request->no_wait || request->has_wait))
        return cli_usage_error("run", "--no-wait and --wait need a single group, not %zu",
                               request->groups->count);
    return CLI_YES;
}

static int check_health(const struct run_request *request)
{
    if (request->health && (!request->health_interval_ns || !request->health_timeout_ns))
        return cli_usage_error("run", "--health-interval and --health-timeout must be above 0");
    if (!request->hook_timeout_ns) return cli_usage_error("run", "--hook-timeout must be above 0");
    return CLI_YES;
}

static int check_request(const struct run_request *request)
{
    if (!request->groups) return cli_usage_error("run", "no group given; usage: elector run GROUP -- COMMAND");
    if (request->command && !request->command[0])
        return cli_usage_error("run", "no command given; usage: elector run %s -- COMMAND",
                               request->groups->names[0]);
    if (!request->command && !has_hooks(request))
        return cli_usage_error(
            "run", "no command given; usage: elector run %s -- COMMAND, or a hook such as --on-elected",
            request->groups->names[0]);
    if (request->has_rank && request->has_priority)
        return cli_usage_error("run", "--rank and --priority exclude each other: --rank measures the priority");
    if (request->no_wait && request->has_wait)
        return cli_usage_error("run", "--no-wait and --wait exclude each other");
    if (request->quiet && request->verbose)
        return cli_usage_error("run", "--quiet and --verbose exclude each other");
    int status = check_many(request);
    if (status == CLI_YES) status = check_spread(request);
    return status == CLI_YES ? check_health(request) : status;
}

static struct run_request default_request(void)
{
    return (struct run_request){.exit_code = -1,
                                .priority = CLI_PRIORITY,
                                .restart = RUN_RESTART_DEFAULT,
                                .stop_timeout_ns = 5 * NS_PER_S,
                                .hook_timeout_ns = 30 * NS_PER_S,
                                .health_interval_ns = 2 * NS_PER_S,
                                .health_timeout_ns = 2 * NS_PER_S,
                                .health_failures = 3,
                                .penalty_ns = 30 * NS_PER_S};
}

void run_free_request(struct run_request *request)
{
    for (size_t i = 0; i < RUN_HOOK_KINDS; i++) free(request->hooks[i]);
    free(request->health);
    free(request->groups);
}

int run_read_request(struct run_request *request, int argc, char **argv)
{
    *request = default_request();
    const char *group = NULL;
    int status = CLI_YES;
    for (int at = 1; at < argc && status == CLI_YES; at++) {
        if (strcmp(argv[at], "--") == 0) {
            request->command = argv + at + 1;
            break;
        }
        if (argv[at][0] == '-') {
            status = read_option(request, argc, argv, &at);
        } else if (group) {
            status = cli_usage_error("run", "unexpected '%s'; the command comes after --: elector run %s -- %s",
                                     argv[at], group, argv[at]);
        } else {
            group = argv[at];
            status = read_groups(request, group);
        }
    }
    if (status == CLI_YES) status = check_request(request);
    if (status == CLI_YES && request->restart == RUN_RESTART_DEFAULT)
        request->restart = request->groups->count > 1 ? RUN_ON_FAILURE : RUN_NEVER;
    return status;
}
