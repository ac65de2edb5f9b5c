/* elector plan: prints the guarantees of a configuration, computed by bounds.h, as text or JSON. Needs no
 * agent. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/config.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cluster/bounds.h"
#include "cli/cluster/plan_measure.h"

enum { CONFIG_BYTES_MAX = 1 << 20, SPAN = 32 };

/* One group section, or the defaults if there is none. */
struct plan {
    const struct config *config;
    const struct config_group *section; /* NULL: the defaults */
    const char *name;
    const struct el_algorithm *algorithm;
    struct bounds_settings settings;
    struct bounds promises;
    bool has_promises; /* quorum's */
};

static void write_help(void)
{
    fputs(
        "Usage: elector plan [--config FILE] [--measure [--url URL]] [--output text|json]\n\n"
        "Prints a configuration's guarantees for each of its group sections: how many members may fail, the longest time\n"
        "without a leader after each kind of failure, how much clocks may differ, when work is stopped, and the traffic\n"
        "at rest. Each bound names its formula. Warns about poor settings, and says what to change. Needs no agent and no\n"
        "keys, and resolves no names.\n\n"
        "  --config FILE          the configuration (/etc/elector/elector.conf)\n"
        "  --measure              instead, asks the agent how late its leases were renewed in the last hour. Suggests the\n"
        "                         shortest lease that would have been kept, with the odds of a false alarm\n"
        "  --url URL              unix:PATH, the agent's socket (the one of the configuration)\n"
        "  --output text|json     json: one object, times in microseconds\n\n"
        "Exit codes: 0 printed; 1 the configuration is invalid, or no lease would have been kept; 2 usage; 3 it cannot be\n"
        "read, or there is no agent, or it has not led.\n",
        stdout);
}

/* ---- Sections ---- */

static struct plan plan_of(const struct config *config, const struct config_group *section, const char *name)
{
    struct plan plan = {.config = config, .section = section, .name = name};
    plan.algorithm = section && section->algorithm ? section->algorithm : el_algorithm_named("quorum");
    plan.has_promises = bounds_are_of(section);
    if (!plan.has_promises) return plan;
    plan.settings = bounds_settings_of(config, section);
    plan.promises = bounds_of(&plan.settings);
    return plan;
}

/* ---- Text ---- */

static const char *ms(uint64_t ns, char text[SPAN])
{
    const uint64_t tenths = (ns + 99999) / 100000; /* a bound is rounded up */
    if (tenths < 1000)
        snprintf(text, SPAN, "%" PRIu64 ".%" PRIu64 " ms", tenths / 10, tenths % 10);
    else
        snprintf(text, SPAN, "%" PRIu64 " ms", (tenths + 9) / 10);
    return text;
}

static const char *percent(uint32_t millionths, char text[SPAN])
{
    snprintf(text, SPAN, "%u.%02u %%", millionths / 10000, millionths % 10000 / 100);
    return text;
}

static void write_settings(const struct plan *plan)
{
    const struct bounds_settings *s = &plan->settings;
    char a[UNITS_TIME_TEXT], b[UNITS_TIME_TEXT], c[UNITS_TIME_TEXT], d[UNITS_TIME_TEXT], e[UNITS_TIME_TEXT];
    char f[UNITS_TIME_TEXT], drift[SPAN], promise[SPAN];
    printf("  lease D %s, beat h %s, margin g %s, re-ask r %s, stagger δ %s\n", units_write_time(s->lease, a),
           units_write_time(s->beat, b), units_write_time(s->margin, c), units_write_time(s->reask, d),
           units_write_time(s->stagger, e));
    printf("  message o %s, with 1 ms to handle it m; promise P %s; clocks within ρ %s\n",
           units_write_time(s->transmit, f), ms(plan->promises.promise, promise), percent(s->drift, drift));
}

static void write_bounds(const struct plan *plan)
{
    const struct bounds *p = &plan->promises;
    char span[SPAN];
    printf("\n  %-38s %-43s %s\n", "WHAT HAPPENS", "NOBODY LEADS FOR AT MOST", "COUNTED");
    for (enum bounds_event event = 0; event < BOUNDS_EVENTS; event++) {
        const char *remark = bounds_events[event].remark;
        fputs("  ", stdout);
        cli_cell(bounds_events[event].text, 39);
        cli_cell(p->bounds[event] ? ms(p->bounds[event], span) : "not at all", 11);
        cli_cell(bounds_events[event].formula, remark ? 33 : 0);
        printf("%s\n", remark ? remark : "");
    }
}

static const char *a_second(uint64_t in_1000_s, char text[SPAN])
{
    snprintf(text, SPAN, "%" PRIu64 ".%" PRIu64, in_1000_s / 1000, in_1000_s % 1000 / 100);
    return text;
}

static void write_packets(const struct plan *plan)
{
    const struct bounds *p = &plan->promises;
    char text[SPAN];
    fputs("  at rest    ", stdout);
    if (plan->settings.voters)
        printf("%s packets/s from an agent that %s, ", a_second(p->packets_sent, text),
               plan->settings.candidates ? "votes and may lead" : "may lead");
    if (plan->settings.candidates)
        printf("%s from one of a candidate, ", a_second(p->packets_of_candidate, text));
    printf("%s from all, however many groups\n", a_second(p->packets_all, text));
}

/* First the one that safety rests on. The configuration was refused if one did not hold. */
static bool inequality_of(const struct plan *plan, uint32_t number, struct config_inequality *one)
{
    uint32_t first = 0;
    for (; bounds_inequality(&plan->settings, &plan->promises, first, one); first++)
        if (first == number) return true;
    return config_inequality(plan->config, plan->section, number - first, one);
}

static void write_proofs(const struct plan *plan)
{
    struct config_inequality one;
    for (uint32_t i = 0; inequality_of(plan, i, &one); i++)
        printf("  %-10s %s: %s\n", i == 0 ? "holds" : "", one.names, one.values);
}

static void write_realtime(const struct plan *plan)
{
    char stall[SPAN];
    if (!config_is_realtime(plan->config)) return;
    printf(
        "  realtime   agent, guardian, `elector run` and its keepers ask for SCHED_FIFO and locked memory. Without them\n"
        "             a busy host may wake them later than the %s above; `elector doctor` says what is refused\n",
        ms(plan->promises.run_stall, stall));
}

/* First the assumptions, then the remaining bounds. */
static void write_rest(const struct plan *plan)
{
    const struct bounds *p = &plan->promises;
    char a[SPAN], b[SPAN], c[SPAN];
    printf(
        "\n  detection  a silent leader is suspected after %s (up to 4.5 h + m); votes for another need the end of P\n",
        ms(p->detection, a));
    printf(
        "  restart    a voter that restarts is silent for P: its vote counts after %s; until then one failure less is tolerated\n",
        ms(p->support_back, a));
    printf("  work       ends %s after the last renewal (D - g); `elector run`: SIGTERM at %s, SIGKILL at %s\n",
           ms(p->deadline, a), ms(p->term_at, b), ms(p->kill_at, c));
    printf("  delays     work continues through %u exchanges lost in a row, or a stall of the agent of %s;\n",
           p->run_losses, ms(p->run_stall, a));
    printf("             leadership continues through %u, or %s\n", p->losses, ms(p->stall, a));
    printf(
        "  clocks     drift up to %s: never two leaders; up to %s: never two at work; beyond, the token fences\n",
        percent(plan->settings.drift, a), percent(p->work_drift, b));
    write_packets(plan);
    write_proofs(plan);
    write_realtime(plan);
    for (enum bounds_warning w = 0; w < BOUNDS_WARNINGS; w++)
        if (p->warnings[w]) printf("  warning    %s\n", bounds_warnings[w].text);
}

/* Finds two members on one host, whose votes would be lost together; false if addresses show none. */
static bool find_neighbours(const struct config *config, const char **a, const char **b)
{
    char left[128], right[128];
    for (uint32_t i = 0; i < config->member_count; i++)
        for (uint32_t k = i + 1; k < config->member_count; k++) {
            const struct config_member *x = &config->members[i], *y = &config->members[k];
            if (!config_votes(config, i + 1) || !config_votes(config, k + 1)) continue;
            config_write_address(&x->address, left, sizeof left);
            config_write_address(&y->address, right, sizeof right);
            const char *port = strrchr(left, ':');
            const size_t host = port ? (size_t)(port - left) + 1 : 0;
            const bool is_one = host > 1 && strncmp(left, right, host) == 0;
            if (!is_one && !(config_is_loopback(&x->address) && config_is_loopback(&y->address))) continue;
            *a = x->name;
            *b = y->name;
            return true;
        }
    return false;
}

static void write_members(const struct config *config)
{
    const uint32_t voters = bounds_role_count(config, CONFIG_VOTER),
                   witnesses = bounds_role_count(config, CONFIG_WITNESS),
                   observers = bounds_role_count(config, CONFIG_OBSERVER),
                   candidates = bounds_role_count(config, CONFIG_CANDIDATE);
    const struct bounds_votes count = bounds_count(voters, witnesses, candidates);
    const char *a, *b;
    printf("cluster %s: %u votes, %u elect, so %u may fail", config->cluster, count.votes, count.majority,
           count.failures);
    if (witnesses || candidates)
        printf("; %u may lead, of which %u may fail", voters + candidates, count.candidate_failures);
    if (observers) printf("; %u more are told", observers);
    puts("");
    if (find_neighbours(config, &a, &b))
        printf("warning: %s and %s are on one host by their addresses: they fail together\n", a, b);
}

static void write_text(const struct plan *plan)
{
    printf("\ngroup %s: %s\n", plan->name, plan->algorithm->name);
    if (!plan->has_promises) {
        printf("  promises no times; `elector algorithms %s` says what it does promise, and what breaks it\n",
               plan->algorithm->name);
        return;
    }
    write_settings(plan);
    write_bounds(plan);
    write_rest(plan);
}

/* ---- JSON ---- */

static json_t *micros(uint64_t ns)
{
    return json_integer((json_int_t)((ns + 999) / 1000));
}

static json_t *json_bounds(const struct bounds *p)
{
    json_t *list = json_array();
    for (enum bounds_event event = 0; event < BOUNDS_EVENTS; event++)
        json_array_append_new(list, json_pack("{ss ss so ss ss*}", "event", bounds_events[event].name, "text",
                                              bounds_events[event].text, "leaderless_us",
                                              micros(p->bounds[event]), "formula", bounds_events[event].formula,
                                              "remark", bounds_events[event].remark));
    return list;
}

static json_t *json_warnings(const struct bounds *p)
{
    json_t *list = json_array();
    for (enum bounds_warning w = 0; w < BOUNDS_WARNINGS; w++)
        if (p->warnings[w])
            json_array_append_new(
                list, json_pack("{ss ss}", "name", bounds_warnings[w].name, "text", bounds_warnings[w].text));
    return list;
}

static json_t *json_proofs(const struct plan *plan)
{
    json_t *list = json_array();
    struct config_inequality one;
    for (uint32_t i = 0; inequality_of(plan, i, &one); i++)
        json_array_append_new(list, json_pack("{ss ss}", "names", one.names, "values", one.values));
    return list;
}

static json_t *json_settings(const struct bounds_settings *s)
{
    return json_pack("{so so so so so so sI sI}", "lease_us", micros(s->lease), "beat_us", micros(s->beat),
                     "margin_us", micros(s->margin), "re_ask_us", micros(s->reask), "stagger_us",
                     micros(s->stagger), "transmit_us", micros(s->transmit), "drift_ppm", (json_int_t)s->drift,
                     "block", (json_int_t)s->block);
}

static json_t *json_plan(const struct plan *plan)
{
    const struct bounds *p = &plan->promises;
    if (!plan->has_promises)
        return json_pack("{ss ss sn}", "group", plan->name, "algorithm", plan->algorithm->name, "bounds");
    json_t *object = json_pack("{ss ss so so so so}", "group", plan->name, "algorithm", plan->algorithm->name,
                               "settings", json_settings(&plan->settings), "bounds", json_bounds(p), "holds",
                               json_proofs(plan), "warnings", json_warnings(p));
    json_t *rest = json_pack(
        "{so so so so so so sI sI so so sI sI sf sf}", "promise_us", micros(p->promise), "detection_us",
        micros(p->detection), "vote_back_us", micros(p->support_back), "work_over_us", micros(p->deadline),
        "sigterm_us", micros(p->term_at), "sigkill_us", micros(p->kill_at), "losses", (json_int_t)p->losses,
        "losses_unnoticed", (json_int_t)p->run_losses, "stall_us", micros(p->stall), "stall_unnoticed_us",
        micros(p->run_stall), "drift_tolerated_ppm", (json_int_t)plan->settings.drift, "work_drift_ppm",
        (json_int_t)p->work_drift, "packets_per_s", (double)p->packets_sent / 1000, "packets_per_s_all",
        (double)p->packets_all / 1000);
    if (object && rest) json_object_update(object, rest);
    json_decref(rest);
    if (object && p->packets_of_candidate)
        json_object_set_new(object, "packets_per_s_candidate",
                            json_real((double)p->packets_of_candidate / 1000));
    return object;
}

/* ---- All of them ---- */

static int write_all(const struct config *config, bool json)
{
    json_t *list = json_array();
    bool has_rest = false;
    if (!json) write_members(config);
    for (uint32_t i = 0; i <= config->group_count; i++) {
        const struct config_group *section = i < config->group_count ? &config->groups[i] : NULL;
        if (section && strcmp(section->name, "*") == 0) has_rest = true;
        if (!section && has_rest) continue;
        const struct plan plan = plan_of(config, section, section ? section->name : "*");
        if (json)
            json_array_append_new(list, json_plan(&plan));
        else
            write_text(&plan);
    }
    if (json) {
        const uint32_t voters = bounds_role_count(config, CONFIG_VOTER),
                       witnesses = bounds_role_count(config, CONFIG_WITNESS),
                       candidates = bounds_role_count(config, CONFIG_CANDIDATE);
        const struct bounds_votes count = bounds_count(voters, witnesses, candidates);
        const char *a = NULL, *b = NULL;
        (void)find_neighbours(config, &a, &b);
        json_t *root = json_pack(
            "{ss sb sI sI sI sI sI sI s[s*s*] sO}", "cluster", config->cluster, "realtime",
            config_is_realtime(config), "votes", (json_int_t)count.votes, "majority",
            (json_int_t)count.majority, "failures", (json_int_t)count.failures, "candidate_failures",
            (json_int_t)count.candidate_failures, "witnesses", (json_int_t)witnesses, "observers",
            (json_int_t)bounds_role_count(config, CONFIG_OBSERVER), "on_one_host", a, b, "groups", list);
        if (root && candidates) json_object_set_new(root, "candidates", json_integer(candidates));
        cli_put_json(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        json_decref(root);
    }
    json_decref(list);
    return cli_finish("plan", stdout, CLI_YES);
}

/* What was asked for. */
struct asked {
    const char *path, *url; /* url: NULL: of the configuration */
    bool json, measures;
};

static int read_and_write(const struct asked *asked)
{
    const char *path = asked->path;
    char *bytes = malloc(CONFIG_BYTES_MAX), text[512];
    struct config *config = calloc(1, sizeof *config);
    FILE *file = bytes && config ? fopen(path, "re") : NULL;
    int code = CLI_CANNOT_TELL;
    if (!bytes || !config) {
        code = cli_out_of_memory("plan");
    } else if (!file) {
        fprintf(stderr,
                "elector plan: cannot read %s: %s; name it with --config, or let `elector init` write one\n",
                path, strerror(errno));
    } else {
        const size_t count = fread(bytes, 1, CONFIG_BYTES_MAX, file);
        if (ferror(file)) {
            fprintf(stderr, "elector plan: cannot read %s: %s\n", path, strerror(errno));
        } else if (!config_parse(config, path, bytes, count, true, text, sizeof text)) {
            fprintf(stderr, "elector plan: %s\n", text);
            code = CLI_NO;
        } else {
            code = asked->measures ? plan_measure(config, asked->url, asked->json)
                                   : write_all(config, asked->json);
        }
    }
    if (file) fclose(file);
    if (config) config_wipe(config);
    free(config);
    free(bytes);
    return code;
}

int cli_plan(int argc, char **argv)
{
    struct asked asked = {.path = "/etc/elector/elector.conf"};
    const char *value;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            write_help();
            return cli_finish("plan", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &i, "config", &value)) {
            if (!value || !*value) return cli_usage_error("plan", "--config needs the name of a file");
            asked.path = value;
        } else if (cli_option(argc, argv, &i, "output", &value)) {
            if (!cli_output("plan", value, &asked.json)) return CLI_USAGE;
        } else if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value || !*value) return cli_usage_error("plan", "--url needs unix:PATH");
            asked.url = value;
        } else if (strcmp(argv[i], "--measure") == 0) {
            asked.measures = true;
        } else {
            return cli_unknown("plan", cli_plan, argv[i]);
        }
    }
    if (asked.url && !asked.measures)
        return cli_usage_error("plan", "--url goes with --measure: nothing else asks an agent");
    return read_and_write(&asked);
}
