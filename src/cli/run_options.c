/* The command line of elector run. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"

static const char help[] =
    "Usage: elector run [options] GROUP -- COMMAND [ARGUMENT...]\n\n"
    "Campaigns for GROUP and runs COMMAND while it leads: on many hosts, at one at a time. Without a shell.\n\n"
    "  --url URL               unix:PATH, an agent's socket; file:PATH, a folder of locks on this host.\n"
    "                          Else $ELECTOR_URL, else the agent's usual socket, else a folder on this host\n"
    "  --priority N            of equal members the higher is preferred\n"
    "  --preempt-after SECONDS where the group's configuration has preempt = on: stand for so long before a leader of\n"
    "                          lower priority makes way (0)\n"
    "  --no-preempt            wait for as long as another leads\n"
    "  --rank WHAT             a priority that is measured: ip, cpu (processors x MHz), disk:PATH (free MiB),\n"
    "                          files:PATH (how many), uptime (seconds), cmd:COMMAND (its first line; no shell)\n"
    "  --value TEXT            proclaimed when elected, for all to see\n"
    "  -n, --no-wait           do not wait: give up if another leads, or after 2 seconds\n"
    "  -w, --wait SECONDS      give up after so long\n"
    "  -E, --exit-code CODE    the exit code if not elected (1 unless given), and of --once (75 unless given)\n"
    "  --once                  when leadership is lost, exit; otherwise campaign again\n"
    "  --restart WHEN          never, on-failure or always: start the command again while still leading,\n"
    "                          after 0.1 s, twice as long each time up to 30 s, anew after 60 s of running\n"
    "  --stop-timeout SECONDS  between SIGTERM and SIGKILL, 5 unless given; less if the lease ends before\n"
    "  --quiet                 only what went wrong\n"
    "  --verbose               every step\n\n"
    "The command finds ELECTOR_GROUP, ELECTOR_TOKEN, ELECTOR_ID (this member), ELECTOR_SOCKET (the URL) and\n"
    "ELECTOR_DEADLINE_NS (on CLOCK_BOOTTIME, when it was started; 0: no lease) in its environment. The signals INT,\n"
    "TERM, HUP, QUIT, USR1, USR2, WINCH, TSTP and CONT are passed on to its process group.\n\n"
    "When leadership is to be handed over or its deadline nears, all that the command has started gets SIGTERM, then\n"
    "SIGKILL; only when nothing is left is leadership given up. This holds also if the agent hangs, and if elector\n"
    "run is stopped or killed: a second process (elector-keeper) kills the command then. What it cannot stop: what other\n"
    "services do on the command's behalf; commands that change their user; and where both processes are killed in one\n"
    "instant, all but the command itself. Give the token to what the command writes to, which refuses lower ones.\n\n"
    "Exit: the command's status, 128 and the number of the signal that ended it; 126 it cannot be executed,\n"
    "127 it is not found; 1 not elected; 75 leadership lost with --once; 2 usage; 3 no election is possible.\n\n"
    "Examples:\n"
    "  elector run billing -- ./worker --queue invoices\n"
    "  elector run --once -w 60 --rank disk:/var backup -- rsync -a /srv/ vault:/srv/\n";

void run_write_help(void)
{
    fputs(help, stdout);
}

/* 2.5: up to a week. */
static bool read_seconds(const char *text, uint64_t *ns)
{
    char *end = NULL;
    if (!text || strspn(text, "0123456789.") != strlen(text) || !text[strcspn(text, "0123456789")])
        return false;
    const double seconds = strtod(text, &end);
    if (*end || !(seconds >= 0 && seconds <= 604800)) return false;
    *ns = (uint64_t)(seconds * 1e9);
    return true;
}

static int seconds_option(const char *name, const char *value, uint64_t *ns)
{
    if (read_seconds(value, ns)) return CLI_YES;
    return cli_usage_error("run", "%s takes seconds, 0 to 604800, such as 2.5%s%s", name, value ? "; not " : "",
                           value ? value : "");
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
    if (value && rank_number(value, &request->priority)) return CLI_YES;
    return cli_usage_error("run", "--priority takes a whole number from 0 to 2^53 - 1");
}

static int read_rank(struct run_request *request, const char *value)
{
    request->ranked = value && rank_parse(value, &request->rank);
    if (request->ranked) return CLI_YES;
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
    } switches[] = {{"-n", &request->no_wait},       {"--no-wait", &request->no_wait},
                    {"--once", &request->once},      {"--quiet", &request->quiet},
                    {"-q", &request->quiet},         {"-v", &request->verbose},
                    {"--verbose", &request->verbose}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (strcmp(word, switches[i].name) != 0) continue;
        *switches[i].set = true;
        return true;
    }
    return false;
}

/* "-w 5" as "--wait 5". */
static bool option(int argc, char **argv, int *at, const char *name, const char *letter, const char **value)
{
    if (letter && strcmp(argv[*at], letter) == 0) {
        *value = *at + 1 < argc ? argv[++*at] : NULL;
        return true;
    }
    return cli_option(argc, argv, at, name, value);
}

static int read_option(struct run_request *request, int argc, char **argv, int *at)
{
    const char *value = NULL;
    if (read_switch(request, argv[*at])) return CLI_YES;
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
        request->waits = true;
        return seconds_option("--wait", value, &request->wait_ns);
    }
    return cli_usage_error("run", "unknown option %s; `elector run --help` lists them", argv[*at]);
}

static int check_request(const struct run_request *request)
{
    if (!request->group) return cli_usage_error("run", "which group? elector run GROUP -- COMMAND");
    if (!request->command || !request->command[0])
        return cli_usage_error("run", "which command? elector run %s -- COMMAND", request->group);
    if (request->ranked && request->priority)
        return cli_usage_error("run", "--rank measures the priority; leave out one of --rank and --priority");
    if (request->no_wait && request->waits)
        return cli_usage_error("run", "--no-wait and --wait exclude each other");
    if (request->quiet && request->verbose)
        return cli_usage_error("run", "--quiet and --verbose exclude each other");
    return CLI_YES;
}

int run_read_request(struct run_request *request, int argc, char **argv)
{
    *request = (struct run_request){.exit_code = -1, .stop_timeout_ns = UINT64_C(5000000000)};
    int status = CLI_YES;
    for (int at = 1; at < argc && status == CLI_YES; at++) {
        if (strcmp(argv[at], "--") == 0) {
            request->command = argv + at + 1;
            break;
        }
        if (argv[at][0] == '-') {
            status = read_option(request, argc, argv, &at);
        } else if (request->group) {
            status = cli_usage_error("run", "'%s': the command comes after --: elector run %s -- %s", argv[at],
                                     request->group, argv[at]);
        } else {
            request->group = argv[at];
        }
    }
    return status == CLI_YES ? check_request(request) : status;
}
