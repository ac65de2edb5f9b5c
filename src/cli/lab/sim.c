/* elector sim: runs one election, and prints its transcript and its counts. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/lab/sim_groups.h"
#include "sim/output/beliefs.h"
#include "sim/output/export.h"
#include "sim/output/transcript.h"
#include "sim/plan/groups.h"

struct sim_request {
    struct sim_settings settings;
    bool quiet, json;
    const char *svg, *trace, *mermaid, *shiviz; /* file names; "-" is standard output */
};

enum { HELP_COLUMN = 34, JSON_NODES_MAX = 10000 };

/* The number of columns of a UTF-8 text: continuation bytes take none. */
static int columns(const char *text)
{
    int count = 0;
    for (; *text; text++) count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

static void write_help(void)
{
    size_t count = 0;
    const struct sim_key *keys = sim_keys(&count);
    fputs(
        "Usage: elector sim ALGORITHM [options]\n"
        "       elector sim SCENARIO-FILE [options]\n\n"
        "Runs an election in virtual time. Times are in message delays (T = 1) unless a unit is given: 4, 2.5,\n"
        "150ms. The same plan and seed give the same transcript, byte for byte, on every machine. A scenario file\n"
        "has the same options, one a line without the dashes. Options on the command line override its single values\n"
        "and add to its lists of initiators, crashes and so on.\n\n",
        stdout);
    for (size_t i = 1; i < count; i++) {
        printf("  --%s %s%*s", keys[i].name, keys[i].argument,
               HELP_COLUMN - 5 - columns(keys[i].name) - columns(keys[i].argument), "");
        for (const char *p = keys[i].help; *p; p++) {
            putchar(*p);
            if (*p == '\n') printf("%*s", HELP_COLUMN, "");
        }
        putchar('\n');
    }
    fputs(
        "\n  --quiet                         no transcript\n"
        "  --output text|json              the summary as JSON\n"
        "  --svg FILE                      a space-time diagram (FILE may be - for standard output, here and below)\n"
        "  --trace FILE                    every event, as JSON Lines\n"
        "  --mermaid FILE                  a Mermaid sequence diagram\n"
        "  --shiviz FILE                   a ShiViz log with vector clocks\n\n"
        "Exit codes: 0 no violation, and all expectations hold; 1 otherwise; 2 usage; 3 the run or its output failed.\n\n"
        "Examples:\n"
        "  elector sim chang-roberts --ids 3,32,5,80,6,12 --initiator 3\n"
        "  elector sim bully --nodes 5 --leader 5 --crash 5@0 --initiator 2 --svg bully.svg\n"
        "  elector sim bully --nodes 5 --partition '1,2,3|4,5@10' --detect 2\n",
        stdout);
}

static json_t *json_time(const struct sim_plan *plan, sim_time time)
{
    const sim_time unit = plan->in_units ? plan->unit : NS_PER_MS;
    return time % unit == 0 ? json_integer((json_int_t)(time / unit)) : json_real((double)time / (double)unit);
}

static json_t *json_id(const struct sim_plan *plan, el_node node)
{
    return node ? json_integer((json_int_t)el_id(&plan->cluster, node)) : json_null();
}

static json_t *json_messages(const struct sim_plan *plan, const struct sim_result *result)
{
    json_t *by_kind = json_object();
    for (uint32_t kind = 1; kind <= plan->algorithm->kind_count; kind++)
        json_object_set_new(by_kind, plan->algorithm->kinds[kind],
                            json_integer((json_int_t)result->sent[kind]));
    /* total + failed_hops + copies = delivered + lost + to_the_dead + under_way */
    return json_pack("{s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "total", (json_int_t)result->sent[0],
                     "by_kind", by_kind, "delivered", (json_int_t)result->delivered, "lost",
                     (json_int_t)result->lost, "to_the_dead", (json_int_t)result->to_the_dead, "under_way",
                     (json_int_t)result->under_way, "copies", (json_int_t)result->copies, "failed_hops",
                     (json_int_t)result->failed_hops);
}

static json_t *json_violations(const struct sim_plan *plan, const struct sim_result *result)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < result->violation_count; i++) {
        const struct sim_violation *violation = &result->violations[i];
        json_t *nodes = json_array();
        for (uint32_t k = 0; k < violation->node_count; k++)
            json_array_append_new(nodes, json_id(plan, violation->nodes[k]));
        json_t *entry = json_pack("{s:s, s:o, s:o, s:I}", "kind", el_violation_name(violation->kind), "time",
                                  json_time(plan, violation->time), "nodes", nodes, "node_count",
                                  (json_int_t)violation->total);
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *json_elections(const struct sim_plan *plan, const struct sim_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->phase_count; i++) {
        const struct sim_phase *phase = &result->phases[i];
        json_t *turnaround = phase->is_open ? json_null() : json_time(plan, phase->ended - phase->began);
        json_array_append_new(list, json_pack("{s:o, s:I, s:o, s:o}", "began", json_time(plan, phase->began),
                                              "messages", (json_int_t)phase->messages, "turnaround", turnaround,
                                              "leader", json_id(plan, phase->leader)));
    }
    return list;
}

static json_t *json_expectations(const struct sim_plan *plan, const struct sim_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->expect_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:b}", "expect", plan->expects[i].text, "holds",
                                              sim_expectation_holds(plan, result, &plan->expects[i])));
    return list;
}

static json_t *json_nodes(const struct sim_plan *plan, const struct sim_world *world)
{
    json_t *list = json_array();
    for (el_node node = 1; node <= plan->cluster.count && plan->cluster.count <= JSON_NODES_MAX; node++) {
        const struct el_rank rank = el_rank_of(&plan->cluster, node);
        struct el_view view;
        json_t *entry =
            json_pack("{s:o, s:I}", "id", json_id(plan, node), "attribute", (json_int_t)rank.attribute);
        const bool is_alive = sim_world_view(world, node, &view);
        json_object_set_new(entry, "alive", json_boolean(is_alive));
        if (is_alive) {
            json_object_set_new(entry, "role", json_string(sim_role_name(view.role)));
            json_object_set_new(entry, "names", json_id(plan, view.leader));
            json_object_set_new(entry, "term", json_integer((json_int_t)view.term));
        }
        json_array_append_new(list, entry);
    }
    return list;
}

static int write_json(const struct sim_world *world, const struct sim_result *result)
{
    const struct sim_plan *plan = sim_world_plan(world);
    json_t *turnaround = sim_is_endless(result) ? json_null() : json_time(plan, result->turnaround);
    json_t *root = json_pack(
        "{s:s, s:I, s:o, s:b, s:o, s:o, s:s, s:f, s:o, s:o, s:b, s:o, s:o, s:o, s:I}", "algorithm",
        plan->algorithm->name, "nodes", (json_int_t)plan->cluster.count, "leader",
        json_id(plan, result->agreed ? result->leader : EL_NOBODY), "agreed", result->agreed, "messages",
        json_messages(plan, result), "turnaround", turnaround, "unit", plan->in_units ? "T" : "ms", "unit_ms",
        plan->in_units ? (double)plan->unit / (double)NS_PER_MS : 1.0, "elections",
        json_elections(plan, result), "violations", json_violations(plan, result), "came_to_rest",
        result->came_to_rest, "ended", json_time(plan, result->ended), "expectations",
        json_expectations(plan, result), "members", json_nodes(plan, world), "seed", (json_int_t)plan->seed);
    if (!root) return -1;
    const int status = cli_put_json(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
    putchar('\n');
    return status;
}

typedef int writer(FILE *out, const struct sim_world *world);

static int write_file(const char *path, writer *write, const struct sim_world *world)
{
    if (!path) return CLI_YES;
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!out) {
        fprintf(stderr, "elector sim: %s: cannot write it: %s\n", path, strerror(errno));
        return CLI_CANNOT_TELL;
    }
    int status = write(out, world);
    if (out == stdout) {
        status |= fflush(out);
    } else {
        status |= fclose(out);
    }
    if (status == 0) return CLI_YES;
    fprintf(stderr, "elector sim: %s: cannot write all of it\n", path);
    return CLI_CANNOT_TELL;
}

static int write_files(const struct sim_request *request, const struct sim_world *world)
{
    int status = write_file(request->svg, sim_write_svg, world);
    if (status == CLI_YES) status = write_file(request->trace, sim_write_jsonl, world);
    if (status == CLI_YES) status = write_file(request->mermaid, sim_write_mermaid, world);
    if (status == CLI_YES) status = write_file(request->shiviz, sim_write_shiviz, world);
    return status;
}

static void tell(const struct sim_request *request, const struct sim_world *world,
                 const struct sim_result *result)
{
    const struct sim_style style = cli_style();
    if (!request->quiet) {
        sim_write_transcript(stdout, world, style);
        putchar('\n');
    }
    sim_write_report(stdout, world, result, style);
}

/* The number of exports to standard output; if there is one, nothing else goes there. */
static int count_dashes(const struct sim_request *request)
{
    const char *const files[] = {request->svg, request->trace, request->mermaid, request->shiviz};
    int dashes = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) dashes += files[i] && strcmp(files[i], "-") == 0;
    return dashes;
}

/* Most algorithms keep something of each member, so memory grows with the square of the number. */
static int refuse_size(const struct sim_plan *plan)
{
    const uint32_t count = plan->cluster.count;
    const double bytes = (double)el_state_size(plan->algorithm, count) * count;
    fprintf(
        stderr,
        "elector sim: out of memory: the states of %u nodes of %s take %.1f GB, and the messages between them more; try "
        "fewer nodes\n",
        count, plan->algorithm->name, bytes / 1e9);
    return CLI_CANNOT_TELL;
}

static int run_plan(const struct sim_request *request, const struct sim_plan *plan)
{
    const bool files = request->svg || request->trace || request->mermaid || request->shiviz;
    const bool keep_all = files || (!request->quiet && !request->json);
    struct sim_world *world = sim_world_new(plan, keep_all ? SIM_KEEP_ALL : 4096);
    if (!world) return refuse_size(plan);
    const struct sim_result *result = sim_world_run(world);
    int status = CLI_CANNOT_TELL;
    if (result->out_of_memory) {
        (void)refuse_size(plan);
    } else if (result->error.text[0]) {
        status = cli_usage_error("sim", "%s", result->error.text);
    } else {
        const bool stdout_is_taken = count_dashes(request) > 0;
        if (request->json && !stdout_is_taken) write_json(world, result);
        if (!request->json && !stdout_is_taken) tell(request, world, result);
        status = write_files(request, world);
        if (status == CLI_YES && !sim_expectations_hold(plan, result)) status = CLI_NO;
    }
    sim_world_free(world);
    return status == CLI_CANNOT_TELL ? status : cli_finish("sim", stdout, status);
}

/* Options that are not settings of the plan. 1: taken, 0: not one of these, -1: invalid. */
static int read_own_option(struct sim_request *request, int argc, char **argv, int *at)
{
    const struct {
        const char *name;
        const char **file;
    } files[] = {{"svg", &request->svg},
                 {"trace", &request->trace},
                 {"mermaid", &request->mermaid},
                 {"shiviz", &request->shiviz}};
    const char *value = NULL;
    if (strcmp(argv[*at], "--quiet") == 0) {
        request->quiet = true;
        return 1;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!cli_option(argc, argv, at, files[i].name, &value)) continue;
        if (!value) {
            cli_usage_error("sim", "--%s needs a file name", files[i].name);
            return -1;
        }
        *files[i].file = value;
        return 1;
    }
    if (!cli_option(argc, argv, at, "output", &value)) return 0;
    return cli_output("sim", value, &request->json) ? 1 : -1;
}

static int read_setting(struct sim_request *request, int argc, char **argv, int *at)
{
    size_t count = 0;
    const struct sim_key *keys = sim_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const char *value = NULL;
        if (!cli_option(argc, argv, at, keys[i].name, &value)) continue;
        if (!value) return cli_usage_error("sim", "--%s needs a value: %s", keys[i].name, keys[i].argument);
        return sim_settings_add(&request->settings, keys[i].name, value, 0, 0) ? CLI_YES
                                                                               : cli_out_of_memory("sim");
    }
    return cli_unknown("sim", cli_sim, argv[*at]);
}

/* The first word is an algorithm's name or a scenario's file. */
static int read_subject(struct sim_request *request, const char *word)
{
    struct sim_error error;
    if (el_algorithm_named(word) || el_decider_named(word))
        return sim_settings_add(&request->settings, "algorithm", word, 0, 0) ? CLI_YES
                                                                             : cli_out_of_memory("sim");
    if (el_detector_named(word))
        return cli_usage_error(
            "sim", "%s is a failure detector; use it with an election: elector sim bully --detector %s", word,
            word);
    FILE *file = fopen(word, "r");
    if (!file)
        return cli_usage_error("sim",
                               "'%s' is neither an algorithm nor a file: %s%s `elector algorithms` lists them",
                               word, strerror(errno), cli_meant_algorithm(word));
    fclose(file);
    if (sim_settings_read(&request->settings, word, &error) == 0) return CLI_YES;
    return cli_usage_error("sim", "%s", error.text);
}

/* The file's settings come first, wherever its name is on the command line, so that options override them. */
static int read_request(struct sim_request *request, int argc, char **argv)
{
    const char *subject = NULL;
    struct sim_request options = {0};
    int status = CLI_YES;
    for (int at = 1; at < argc && status == CLI_YES; at++) {
        if (argv[at][0] != '-') {
            if (subject)
                status = cli_usage_error("sim", "one algorithm or scenario at a time, not also '%s'", argv[at]);
            subject = argv[at];
            continue;
        }
        const int own = read_own_option(&options, argc, argv, &at);
        if (own < 0) status = CLI_USAGE;
        if (own == 0) status = read_setting(&options, argc, argv, &at);
    }
    if (status == CLI_YES && !subject)
        status = cli_usage_error("sim", "which algorithm, or which scenario? See `elector sim --help`");
    if (status == CLI_YES) status = read_subject(request, subject);
    for (size_t i = 0; i < options.settings.count && status == CLI_YES; i++) {
        const struct sim_setting *s = &options.settings.list[i];
        if (!sim_settings_add(&request->settings, s->key, s->value, 0, 0)) status = cli_out_of_memory("sim");
    }
    sim_settings_free(&options.settings);
    options.settings = request->settings;
    *request = options;
    return status;
}

static int run_groups(const struct sim_request *request)
{
    if (request->svg || request->trace || request->mermaid || request->shiviz)
        return cli_usage_error("sim", "svg, trace, mermaid and shiviz show one election, not groups of them");
    return cli_run_groups(&request->settings, request->json);
}

int cli_sim(int argc, char **argv)
{
    struct sim_request request = {0};
    struct sim_plan plan;
    struct sim_error error;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0) continue;
        write_help();
        return cli_finish("sim", stdout, CLI_YES);
    }
    int status = read_request(&request, argc, argv);
    if (status == CLI_YES && count_dashes(&request) > 1)
        status = cli_usage_error("sim", "only one of svg, trace, mermaid and shiviz can go to standard output");
    if (status == CLI_YES && sim_groups_wanted(&request.settings)) {
        status = run_groups(&request);
    } else if (status == CLI_YES) {
        if (sim_plan_build(&plan, &request.settings, &error) != 0) {
            status = cli_usage_error("sim", "%s", error.text);
        } else {
            status = run_plan(&request, &plan);
            sim_plan_free(&plan);
        }
    }
    sim_settings_free(&request.settings);
    return status;
}
