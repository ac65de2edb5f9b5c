/* elector check: explores every world that a bounded cluster can reach. */
#define _POSIX_C_SOURCE 200809L
#include "cli/lab/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "sim/plan/parse.h"

enum { TICK_MAX_S = 1000000 };

static const char help[] =
    "Usage: elector check ALGORITHM [options]\n\n"
    "Explores every state (\"world\") that a small cluster can reach, with the state machines that the agent runs:\n"
    "every order of deliveries, every timer, every fault within the budget, a crash after any part of a step.\n"
    "Reports that the algorithm holds, and within which bounds; or shows a shortest counterexample.\n\n"
    "Members (as for `elector sim`): --nodes N, --ids A,B,…, --attr ID=VALUE,…, --ordinary ID,…,\n"
    "  --leader ID, --initiator ID,…|all|none, --set KEY=VALUE, --drift RHO, --delay D\n"
    "  --record ID,…[/ID,…]   who votes by the next record of the members (quorum, with --rounds on), and who may\n"
    "                       lead. It is decided, and installed by each member, at any moment; one for each record\n\n"
    "Faults: at most K of each in a run (default 0; `any` is unlimited):\n"
    "  --crash K            crashes, also in the middle of a step\n"
    "  --restart K          restarts of a dead process with its record\n"
    "  --wipe K             restarts of a dead process whose record is lost\n"
    "  --lose K             messages that never arrive\n"
    "  --duplicate K        messages that arrive and stay in flight\n"
    "  --suspect K          suspicions of a live process\n"
    "  --pause K            pauses of a process while time passes\n"
    "  --resign K, --transfer K   requests to the leader\n"
    "  --detect on|off      a detector reports a crash, at any later moment (default on, unless the algorithm\n"
    "                       sends its own heartbeats)\n\n"
    "Bounds (the answer names those that were reached):\n"
    "  --terms K            no further than term K\n"
    "  --depth K            at most K moves\n"
    "  --flight K           at most K messages in flight; beyond that any one of them is lost\n"
    "  --time free|ticks    timers fire at any moment, or when they are due\n"
    "  --tick D             length of a tick (default one message delay; if links need not be timely, the longest\n"
    "                       that measures every timer)\n"
    "  --horizon K          at most K ticks\n"
    "  --late K             a message arrives within K ticks or never\n"
    "  --within K           with --property led: so many ticks may pass without a leader, once all faults are over\n"
    "  --rounds on|off      with ticks: a message arrives one tick after it was sent, and the events of an instant\n"
    "                       have one order. Exceptions: --delay-some K messages take one tick longer, --reorder K\n"
    "                       are handled before others of their instant, --cut K links break one way, --part K times\n"
    "                       a node is cut off from all; and the other faults\n"
    "  --rates on|off       with ticks: each clock slow, true or fast within the drift bound, in every combination;\n"
    "                       or in one, a word for each member: slow,true,fast\n\n"
    "Search:\n"
    "  --property NAME      check only this property (may be repeated; default: all that the algorithm claims)\n"
    "  --symmetry on|off    worlds that differ only by names count as one, if nodes are symmetric (default on)\n"
    "  --reduce on|off      leave out orders that make no difference (default on)\n"
    "  --threads N          number of threads (default: one for each processor)\n"
    "  --budget TIME        10s, 600s, off: the search stops after this time (default 10s), and says how far it came.\n"
    "                       If no bound is given, four tenths of it go to bounds that close: terms with any loss and\n"
    "                       duplication, or ticks in rounds, more and more of them\n"
    "  --memory SIZE        8G, 500M: the search stops when it is used up (default 1G)\n"
    "  --scenario FILE      write the counterexample to FILE; `elector sim FILE` replays it\n"
    "  --quiet              no progress\n"
    "  --output text|json   text, or JSON\n\n"
    "Properties:";

static void write_help(void)
{
    fputs(help, stdout);
    for (int i = 0; i < CHECK_PROPERTIES; i++)
        printf("\n  %-14s %s", check_property_name((enum check_property)i),
               check_property_text((enum check_property)i));
    puts(
        "\n\nExit codes: 0 all properties hold within the bounds, or as far as the budget went; 1 counterexample; 2 usage;\n"
        "3 cannot tell: interrupted, too little budget for rests and elects, or nothing happens within the bounds.");
}

/* ---- Reading the question ---- */

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    return text && units_number(text, most, number);
}

static bool read_size(const char *text, uint64_t *bytes)
{
    if (!text || !units_read_number(&text, bytes)) return false;
    const char *const suffixes = "KMG";
    const char *suffix = *text ? strchr(suffixes, *text) : NULL;
    if (suffix) {
        const int shift = 10 * (int)(suffix - suffixes + 1);
        if (*bytes > UINT64_MAX >> shift) return false;
        *bytes <<= shift;
        text++;
    }
    return *text == '\0' && *bytes >= (UINT64_C(16) << 20);
}

/* 1: taken, 0: not this option, -1: invalid, with a message. */
static int read_count(int argc, char **argv, int *at, const char *name, uint64_t most, uint64_t *number)
{
    const char *value = NULL;
    if (!cli_option(argc, argv, at, name, &value)) return 0;
    if (read_number(value, most, number)) return 1;
    cli_usage_error("check", "--%s is a number up to %llu", name, (unsigned long long)most);
    return -1;
}

static int read_switch(int argc, char **argv, int *at, const char *name, bool *on)
{
    const char *value = NULL;
    if (!cli_option(argc, argv, at, name, &value)) return 0;
    *on = value && strcmp(value, "on") == 0;
    if (*on || (value && strcmp(value, "off") == 0)) return 1;
    cli_usage_error("check", "--%s is on or off", name);
    return -1;
}

/* A word for each member; their number is checked when all options are read. */
static bool read_rate_words(struct check_request *request, const char *words)
{
    static const char *const names[] = {"slow", "true", "fast"};
    request->rate_count = 0;
    for (const char *at = words; at; at = *at == ',' ? at + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        uint8_t rate = 0;
        while (rate < 3 && (strlen(names[rate]) != length || strncmp(at, names[rate], length) != 0)) rate++;
        if (rate == 3 || request->rate_count == CHECK_NODES_MAX) return false;
        request->rate[request->rate_count++] = rate;
        at += length;
    }
    return request->rate_count > 0;
}

static int read_rates(struct check_request *request, int argc, char **argv, int *at)
{
    const char *value = NULL;
    if (!cli_option(argc, argv, at, "rates", &value)) return 0;
    const bool all = value && strcmp(value, "on") == 0, none = value && strcmp(value, "off") == 0;
    request->config.rates = !none;
    request->config.rate = all || none ? NULL : request->rate;
    if (all || none || read_rate_words(request, value)) return 1;
    cli_usage_error("check", "--rates is on, off, or slow, true or fast for each member: slow,true,fast");
    return -1;
}

static int read_property(struct check_request *request, const char *value)
{
    for (int i = 0; i < CHECK_PROPERTIES; i++)
        if (value && strcmp(value, check_property_name((enum check_property)i)) == 0) {
            request->config.properties |= 1u << i;
            return 1;
        }
    cli_usage_error("check", "there is no property '%s'; `elector check --help` lists them",
                    value ? value : "");
    return -1;
}

static int read_budgets(struct check_config *config, int argc, char **argv, int *at)
{
    for (int i = 0; i < CHECK_BUDGETS; i++) {
        const char *value = NULL;
        uint64_t number = CHECK_ANY;
        if (!cli_option(argc, argv, at, check_budget_name((enum check_budget)i), &value)) continue;
        if (!(value && strcmp(value, "any") == 0) && !read_number(value, 200, &number)) {
            cli_usage_error("check", "--%s is a number up to 200, or any",
                            check_budget_name((enum check_budget)i));
            return -1;
        }
        config->budget[i] = (uint8_t)number;
        return 1;
    }
    return 0;
}

static int read_bounds(struct check_config *config, int argc, char **argv, int *at)
{
    const struct {
        const char *name;
        uint64_t most;
        uint32_t *number;
    } bounds[] = {{"depth", 1000000, &config->depth},
                  {"flight", CHECK_FLIGHT_MAX, &config->flight},
                  {"horizon", 60000, &config->horizon},
                  {"late", 1000, &config->late},
                  {"within", 200, &config->within}};
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const int taken = read_count(argc, argv, at, bounds[i].name, bounds[i].most, &number);
        if (taken > 0) *bounds[i].number = (uint32_t)number;
        if (taken != 0) return taken;
    }
    int taken = read_count(argc, argv, at, "terms", EL_EPOCH_MAX - 1, &config->terms);
    if (taken != 0) return taken;
    taken = read_count(argc, argv, at, "threads", 64, &number);
    if (taken > 0 && number == 0) {
        cli_usage_error("check", "--threads is at least 1");
        return -1;
    }
    if (taken > 0) config->threads = (unsigned)number;
    return taken;
}

static int read_way(struct check_request *request, int argc, char **argv, int *at)
{
    struct check_config *config = &request->config;
    const char *value = NULL;
    int taken = read_switch(argc, argv, at, "symmetry", &config->symmetry);
    if (taken == 0) taken = read_switch(argc, argv, at, "reduce", &config->reduce);
    if (taken == 0) taken = read_rates(request, argc, argv, at);
    if (taken == 0) taken = read_switch(argc, argv, at, "rounds", &config->rounds);
    if (taken == 0 && (taken = read_switch(argc, argv, at, "detect", &config->detect)) > 0)
        request->detect_given = true;
    if (taken != 0) return taken;
    if (cli_option(argc, argv, at, "property", &value)) return read_property(request, value);
    if (cli_option(argc, argv, at, "output", &value))
        return cli_output("check", value, &request->json) ? 1 : -1;
    if (cli_option(argc, argv, at, "memory", &value)) {
        if (read_size(value, &config->memory)) return 1;
        cli_usage_error("check", "--memory is a size of at least 16M, such as 500M or 8G");
        return -1;
    }
    if (cli_option(argc, argv, at, "budget", &value)) {
        el_duration budget = 0;
        const bool is_off = value && strcmp(value, "off") == 0;
        if (is_off || (value && units_time(value, &budget))) {
            config->seconds = (double)budget / (double)NS_PER_S;
            return 1;
        }
        cli_usage_error("check", "--budget is a time such as 10s or 600s, or off");
        return -1;
    }
    if (cli_option(argc, argv, at, "time", &value)) {
        request->time_given = true;
        config->time = value && strcmp(value, "ticks") == 0 ? CHECK_TICKS : CHECK_FREE;
        if (value && (config->time == CHECK_TICKS || strcmp(value, "free") == 0)) return 1;
        cli_usage_error("check", "--time is free or ticks");
        return -1;
    }
    if (cli_option(argc, argv, at, "scenario", &value)) {
        request->scenario = value;
        if (value) return 1;
        cli_usage_error("check", "--scenario needs a file name");
        return -1;
    }
    if (strcmp(argv[*at], "--quiet") == 0) {
        request->quiet = true;
        return 1;
    }
    return 0;
}

static int read_setting(struct check_request *request, int argc, char **argv, int *at)
{
    static const char *const taken[] = {"nodes", "ids",   "attr",  "ordinary", "leader", "initiator",
                                        "set",   "drift", "delay", "bound",    "record"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (!cli_option(argc, argv, at, taken[i], &value)) continue;
        if (!value) return cli_usage_error("check", "--%s needs a value", taken[i]);
        return sim_settings_add(&request->settings, taken[i], value, 0, 0) ? CLI_YES
                                                                           : cli_out_of_memory("check");
    }
    if (cli_option(argc, argv, at, "tick", &value)) {
        el_duration tick = 0; /* a message delay is a millisecond here */
        if (!value || !parse_time(&value, NS_PER_MS, &tick, NULL) || *value != '\0' || tick == 0 ||
            tick > TICK_MAX_S * NS_PER_S)
            return cli_usage_error("check", "--tick is a time in message delays, or such as 10ms");
        request->config.tick = tick;
        request->tick_given = true;
        return CLI_YES;
    }
    return cli_unknown("check", cli_check, argv[*at]);
}

static int read_request(struct check_request *request, int argc, char **argv)
{
    const char *name = NULL;
    for (int at = 1; at < argc; at++) {
        if (argv[at][0] != '-') {
            if (name) return cli_usage_error("check", "one algorithm at a time, not also '%s'", argv[at]);
            name = argv[at];
            continue;
        }
        int taken = read_budgets(&request->config, argc, argv, &at);
        if (taken == 0) taken = read_bounds(&request->config, argc, argv, &at);
        if (taken == 0) taken = read_way(request, argc, argv, &at);
        if (taken < 0) return CLI_USAGE;
        if (taken == 0 && read_setting(request, argc, argv, &at) != CLI_YES) return CLI_USAGE;
    }
    if (!name) return cli_usage_error("check", "which algorithm? See `elector check --help`");
    if (!el_algorithm_named(name) && !el_decider_named(name))
        return cli_usage_error("check", "there is no algorithm '%s'%s `elector algorithms` lists them", name,
                               cli_meant_algorithm(name));
    return sim_settings_add(&request->settings, "algorithm", name, 0, 0) ? CLI_YES : cli_out_of_memory("check");
}

/* Leases, and timeouts that must come after the answers, need a clock: such algorithms are checked with
 * ticks. */
static bool needs_ticks(const struct el_algorithm *algorithm)
{
    for (uint32_t i = 0; i < algorithm->break_count; i++)
        if (algorithm->breaks[i].faults & EL_DRIFTS) return true;
    return algorithm->needs & EL_NEEDS_TIMELY;
}

/* One message delay. But if links need not be timely, nothing happens between two timers except what may happen at any
 * time: then the longest tick that measures every timer. */
static el_duration tick_of(const struct sim_plan *plan)
{
    const struct el_algorithm *algorithm = plan->algorithm;
    el_duration tick = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a plan that was built has one */
    for (uint32_t i = 0; !(algorithm->needs & EL_NEEDS_TIMELY) && i < algorithm->option_count; i++) {
        if (algorithm->options[i].kind != EL_DURATION) continue;
        el_duration a = plan->options[i].number, b = tick;
        while (b) {
            const el_duration rest = a % b;
            a = b;
            b = rest;
        }
        tick = a;
    }
    return tick > plan->cluster.transmit_max ? tick : plan->cluster.transmit_max;
}

static int complete(struct check_request *request)
{
    struct check_config *config = &request->config;
    struct sim_error error;
    if (sim_plan_build(&request->plan, &request->settings, &error) != 0)
        return cli_usage_error("check", "%s", error.text);
    const struct sim_plan *plan = &request->plan;
    config->algorithm = plan->algorithm;
    config->cluster = &plan->cluster;
    config->incumbent = plan->incumbent;
    for (size_t i = 0; i < plan->command_count; i++)
        if (plan->commands[i].type == SIM_DO_CAMPAIGN && plan->commands[i].node <= CHECK_NODES_MAX)
            config->initiators |= el_bit(plan->commands[i].node);
    if (config->rate && request->rate_count != plan->cluster.count)
        return cli_usage_error("check", "--rates names %u clocks, and there are %u members",
                               request->rate_count, plan->cluster.count);
    if (!request->tick_given) config->tick = tick_of(plan);
    if (!request
             ->detect_given) /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a plan that was built has one */
        config->detect = !config->algorithm->beats;
    if (!request->time_given) config->time = needs_ticks(config->algorithm) ? CHECK_TICKS : CHECK_FREE;
    if (!config->properties) config->properties = check_claimed(config->algorithm);
    if (!config->properties)
        return cli_usage_error("check", "%s claims nothing: name a --property", config->algorithm->name);
    return CLI_YES;
}

/* ---- Answering ---- */

static volatile sig_atomic_t interrupt;

static void on_signal(int number)
{
    interrupt = number;
}

/* Ctrl-C ends the search, not the program: what is known by then is printed. A second one ends the program. */
static void heed_signals(void)
{
    const struct sigaction once = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &once, NULL);
    (void)sigaction(SIGTERM, &once, NULL);
}

static void show_progress(void *context, const struct check_result *so_far)
{
    const struct check_request *request = context;
    const double per_second = so_far->seconds > 0 ? (double)so_far->states / so_far->seconds : 0;
    const double done = so_far->level ? 1 - (double)so_far->level_left / (double)so_far->level : 0;
    fprintf(stderr, "\r%llu worlds, %.2f M/s, %.0f MB; %.0f s", (unsigned long long)so_far->states,
            per_second / 1e6, (double)so_far->memory / 1e6, so_far->seconds);
    if (request->config.seconds > 0) fprintf(stderr, " of %g s", request->config.seconds);
    fprintf(stderr, "; worlds after %u moves: %.0f %%", so_far->depth, 100 * done);
    if (so_far->states > so_far->frontier && so_far->level_left > 0) /* at the rate of those expanded so far */
        fprintf(stderr, ", about %.1f s to go",
                (double)so_far->level_left * so_far->seconds / (double)(so_far->states - so_far->frontier));
    fputs(" \033[K", stderr);
    fflush(stderr);
}

static int write_counterexample(const struct check_request *request, const struct check_result *result)
{
    if (!request->scenario || result->verdict != CHECK_BROKEN) return CLI_YES;
    FILE *out = fopen(request->scenario, "w");
    if (out) check_write_scenario(out, request, result);
    if (out && fclose(out) == 0) return CLI_YES;
    fprintf(stderr, "elector check: %s: cannot write it: %s\n", request->scenario, strerror(errno));
    return CLI_CANNOT_TELL;
}

static int answer(struct check_request *request)
{
    struct check_result result;
    if (!request->quiet && isatty(STDERR_FILENO)) request->config.progress = show_progress;
    request->config.context = request;
    heed_signals();
    check_deepen(request, &result);
    if (request->config.progress) fputs("\r\033[K", stderr);
    if (result.verdict == CHECK_REFUSED) return cli_usage_error("check", "%s", result.text);
    if (request->json)
        check_write_json(stdout, request, &result);
    else
        check_write_text(stdout, request, &result);
    int status = write_counterexample(request, &result);
    if (status == CLI_YES)
        status = result.verdict == CHECK_BROKEN                          ? CLI_NO
                 : check_is_answered(request, &result) && interrupt == 0 ? CLI_YES
                                                                         : CLI_CANNOT_TELL;
    check_result_free(&result);
    return cli_finish("check", stdout, status);
}

int cli_check(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct check_request request = {.config = {.symmetry = true,
                                               .reduce = true,
                                               .memory = UINT64_C(1) << 30,
                                               .seconds = 10,
                                               .interrupt = &interrupt,
                                               .threads = processors > 0 ? (unsigned)processors : 1}};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0) continue;
        write_help();
        return cli_finish("check", stdout, CLI_YES);
    }
    int status = read_request(&request, argc, argv);
    if (status == CLI_YES) {
        status = complete(&request);
        if (status == CLI_YES) status = answer(&request);
        if (request.config.cluster) sim_plan_free(&request.plan);
    }
    sim_settings_free(&request.settings);
    return status;
}
