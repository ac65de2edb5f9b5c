/* elector detect: measures failure detectors on one network, simulated or recorded. */
#include "cli/lab/detect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sim/plan/parse.h"

enum { RUNS_DEFAULT = 50, HOURS_DEFAULT = 5 };
static const sim_time hour = UINT64_C(3600000000000);

/* The default network: fast, with some jitter, and it loses 1 % of the messages. */
static const struct {
    const char *key, *value;
} network[] = {{"nodes", "5"}, {"delay", "exp:10..90ms"}, {"loss", "1%"}, {"seed", "1"}};

/* The options of `elector sim` that describe the network. */
static const char *const words[] = {"nodes", "delay", "loss",  "dup", "reorder",
                                    "bound", "pause", "clock", "seed"};

static void write_help(void)
{
    fputs(
        "Usage: elector detect [DETECTOR …] [options]\n"
        "       elector detect [DETECTOR …] --arrivals FILE [--sweep] [--output text|json] [--svg FILE]\n\n"
        "Measures the quality of failure detectors (Chen, Toueg, Aguilera 2002): how soon they report a crash, how\n"
        "often and for how long they suspect a live peer, and how many messages that takes. A DETECTOR is written as\n"
        "for `elector sim --detector`: phi, phi:8, heartbeat:interval=500ms,threshold=4. The default is all of them.\n\n"
        "  --nodes N                       how many members watch each other, 2 to 64 (5)\n"
        "  --delay D|A..B|exp:M..X         message delay, as in `elector sim` (exp:10..90ms)\n"
        "  --loss P                        each message is lost with probability P (1%)\n"
        "  --dup P, --reorder P, --bound D, --clock ID=RATE,…    the same as in `elector sim`\n"
        "  --pause ID@T..T,…               a member makes no progress from T to T, in the run without crashes\n"
        "  --hours H                       length of the run without crashes, in which mistakes are counted (5)\n"
        "  --runs R                        number of crashes, each in a run of its own (50)\n"
        "  --seed S                        the seed of every random choice (1)\n"
        "  --arrivals FILE                 use recorded arrivals of one peer's heartbeats instead of a network: one\n"
        "                                  time a line, in milliseconds with decimals, increasing; # begins a comment\n"
        "                                  (FILE may be -). The last arrival counts as the crash. Only heartbeat and\n"
        "                                  phi judge by arrivals alone.\n"
        "  --sweep                         each detector at several settings: threshold of heartbeat and phi,\n"
        "                                  shortest of swim, lag of path\n"
        "  --output text|json              the figures as JSON\n"
        "  --svg FILE                      a chart of detection time against mistakes (FILE may be -)\n\n"
        "Hours are virtual: five members for five hours take a few seconds. Only path on a full mesh gets expensive:\n"
        "each member sends 15, 64, 325, 1956 messages a second for N = 4, 5, 6, 7 (neighbours=N), while heartbeat\n"
        "sends N - 1 and swim about 2.\n\n"
        "Examples:\n"
        "  elector detect\n"
        "  elector detect heartbeat:threshold=2 phi:8 phi:8,pause=1s --loss 5% --hours 1 --runs 20\n"
        "  elector detect heartbeat phi --nodes 2 --sweep --hours 2 --runs 20 --svg trade-off.svg\n",
        stdout);
}

/* ---- Measuring ---- */

/* The settings of the network, borrowed, and this detector. NULL if memory ran out; the caller frees the
 * list. */
static struct sim_setting *with_detector(const struct detect_request *request, struct detect_row *row)
{
    static char key[] = "detector";
    const size_t count = request->settings.count;
    struct sim_setting *list = malloc((count + 1) * sizeof *list);
    if (!list) return NULL;
    memcpy(list, request->settings.list, count * sizeof *list);
    list[count] = (struct sim_setting){.key = key, .value = row->text};
    return list;
}

static int measure_plan(const struct detect_request *request, struct detect_row *row,
                        const struct sim_plan *plan)
{
    detect_find_value(row, plan);
    const enum sim_measured measured =
        request->arrivals ? sim_qos_replay(&row->qos, plan, &request->recorded)
                          : sim_qos_simulate(&row->qos, plan, request->watch, (uint32_t)request->runs);
    if (measured == SIM_MEASURED) return CLI_YES;
    if (measured == SIM_NO_MEMORY) return cli_out_of_memory("detect");
    fprintf(
        stderr,
        "elector detect: %s: the run would have too many events; use fewer nodes or hours, or a longer interval\n",
        row->text);
    return CLI_CANNOT_TELL;
}

/* Builds the plan and, if `measure`, runs it. An error is left in row->reason. */
static int try_row(const struct detect_request *request, struct detect_row *row, bool measure)
{
    struct sim_error error;
    struct sim_plan plan;
    struct sim_setting *list = with_detector(request, row);
    if (!list) return cli_out_of_memory("detect");
    const struct sim_settings settings = {.list = list, .count = request->settings.count + 1};
    int status = CLI_YES;
    row->reason[0] = '\0';
    if (sim_plan_build_for(&plan, &sim_watcher, &settings, &error) != 0) {
        snprintf(row->reason, sizeof row->reason, "%s", error.text);
    } else {
        if (request->arrivals && !sim_qos_can_replay(plan.detector))
            snprintf(
                row->reason, sizeof row->reason,
                "--detector %.100s: %s needs a conversation; only heartbeat and phi judge by arrivals alone",
                row->text, plan.detector->name);
        if (measure && !row->reason[0]) status = measure_plan(request, row, &plan);
        sim_plan_free(&plan);
    }
    free(list);
    return status;
}

/* A detector must be valid as typed, including an option that a sweep replaces. */
static int check_typed(const struct detect_request *request, const char *text)
{
    struct detect_row row = {0};
    if (snprintf(row.text, sizeof row.text, "%s", text) >= (int)sizeof row.text)
        return cli_usage_error("detect", "%.40s…: that is too long for a detector", text);
    const int status = try_row(request, &row, false);
    return status == CLI_YES && row.reason[0] ? cli_usage_error("detect", "%s", row.reason) : status;
}

/* All detectors are validated before any is measured. Detectors that the user did not name may be left out. */
static int measure_all(struct detect_request *request, bool by_name)
{
    int status = CLI_YES;
    for (size_t i = 0; i < request->row_count && status == CLI_YES; i++) {
        struct detect_row *row = &request->rows[i];
        status = try_row(request, row, false);
        if (status == CLI_YES && row->reason[0] && by_name)
            status = cli_usage_error("detect", "%s", row->reason);
    }
    for (size_t i = 0; i < request->row_count && status == CLI_YES; i++)
        if (!request->rows[i].reason[0]) status = try_row(request, &request->rows[i], true);
    return status;
}

/* The network must be valid without any detector. */
static int check_network(struct detect_request *request)
{
    struct sim_error error;
    struct sim_plan plan;
    if (sim_plan_build_for(&plan, &sim_watcher, &request->settings, &error) != 0)
        return cli_usage_error("detect", "%s", error.text);
    request->nodes = plan.cluster.count;
    request->seed = plan.seed;
    sim_plan_free(&plan);
    if (request->nodes >= 2 && request->nodes <= SIM_QOS_NODES_MAX) return CLI_YES;
    return cli_usage_error("detect", "--nodes takes a number from 2 to %d", SIM_QOS_NODES_MAX);
}

/* ---- Output ---- */

static int write_svg(const struct detect_request *request)
{
    const bool standard = strcmp(request->svg, "-") == 0;
    FILE *out = standard ? stdout : fopen(request->svg, "w");
    if (!out) {
        fprintf(stderr, "elector detect: %s: cannot write it: %s\n", request->svg, strerror(errno));
        return CLI_CANNOT_TELL;
    }
    int status = detect_write_svg(out, request);
    if (!standard) status |= fclose(out);
    if (status == 0) return CLI_YES;
    fprintf(stderr, "elector detect: %s: cannot write all of it\n", request->svg);
    return CLI_CANNOT_TELL;
}

static int tell(const struct detect_request *request)
{
    const bool stdout_is_taken = request->svg && strcmp(request->svg, "-") == 0;
    if (!stdout_is_taken && request->json && detect_write_json(request) != 0)
        return cli_out_of_memory("detect");
    if (!stdout_is_taken && !request->json) detect_write_text(request);
    const int status = request->svg ? write_svg(request) : CLI_YES;
    return status == CLI_YES ? cli_finish("detect", stdout, status) : status;
}

/* ---- The command line ---- */

/* The command line, before it is interpreted. */
struct typed {
    const char **detectors;
    size_t detector_count;
    const char *of_network; /* the first option that describes a simulated network */
};

static int read_hours(struct detect_request *request, const char *value)
{
    uint64_t millionths = 0;
    if (value && parse_millionths(&value, &millionths) && *value == '\0' && millionths >= 1000 &&
        millionths <= UINT64_C(1000000) * SIM_QOS_HOURS_MAX) {
        request->watch = millionths * (hour / 1000000);
        return CLI_YES;
    }
    return cli_usage_error("detect", "--hours takes a number from 0.001 to %d", SIM_QOS_HOURS_MAX);
}

static int read_runs(struct detect_request *request, const char *value)
{
    if (value && units_read_number(&value, &request->runs) && *value == '\0' && request->runs >= 1 &&
        request->runs <= SIM_QOS_RUNS_MAX)
        return CLI_YES;
    return cli_usage_error("detect", "--runs takes a number from 1 to %d", SIM_QOS_RUNS_MAX);
}

static int read_word(struct detect_request *request, struct typed *typed, int argc, char **argv, int *at)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *value = NULL;
        if (!cli_option(argc, argv, at, words[i], &value)) continue;
        if (!value) return cli_usage_error("detect", "--%s needs a value", words[i]);
        if (!typed->of_network) typed->of_network = words[i];
        return sim_settings_add(&request->settings, words[i], value, 0, 0) ? CLI_YES
                                                                           : cli_out_of_memory("detect");
    }
    return cli_unknown("detect", cli_detect, argv[*at]);
}

static int read_one(struct detect_request *request, struct typed *typed, int argc, char **argv, int *at)
{
    const char *value = NULL;
    if (argv[*at][0] != '-') {
        typed->detectors[typed->detector_count++] = argv[*at];
    } else if (cli_option(argc, argv, at, "detector", &value)) {
        if (!value) return cli_usage_error("detect", "--detector needs a value");
        typed->detectors[typed->detector_count++] = value;
    } else if (strcmp(argv[*at], "--sweep") == 0) {
        request->sweep = true;
    } else if (cli_option(argc, argv, at, "arrivals", &request->arrivals)) {
        if (!request->arrivals) return cli_usage_error("detect", "--arrivals needs a file name");
    } else if (cli_option(argc, argv, at, "svg", &request->svg)) {
        if (!request->svg) return cli_usage_error("detect", "--svg needs a file name");
    } else if (cli_option(argc, argv, at, "output", &value)) {
        return cli_output("detect", value, &request->json) ? CLI_YES : CLI_USAGE;
    } else if (cli_option(argc, argv, at, "hours", &value)) {
        typed->of_network = "hours";
        return read_hours(request, value);
    } else if (cli_option(argc, argv, at, "runs", &value)) {
        typed->of_network = "runs";
        return read_runs(request, value);
    } else {
        return read_word(request, typed, argc, argv, at);
    }
    return CLI_YES;
}

/* A recording counts as a network of two members. */
static int take_recording(struct detect_request *request, const struct typed *typed)
{
    struct sim_error error;
    if (typed->of_network)
        return cli_usage_error("detect", "--%s is about a simulated network; --arrivals takes its place",
                               typed->of_network);
    if (sim_arrivals_read(&request->recorded, request->arrivals, &error) != 0)
        return cli_usage_error("detect", "%s", error.text);
    sim_settings_free(&request->settings);
    return sim_settings_add(&request->settings, "nodes", "2", 0, 0) ? CLI_YES : cli_out_of_memory("detect");
}

static int read_request(struct detect_request *request, struct typed *typed, int argc, char **argv)
{
    int status = CLI_YES;
    for (size_t i = 0; i < sizeof network / sizeof *network && status == CLI_YES; i++)
        if (!sim_settings_add(&request->settings, network[i].key, network[i].value, 0, 0))
            status = cli_out_of_memory("detect");
    for (int at = 1; at < argc && status == CLI_YES; at++) status = read_one(request, typed, argc, argv, &at);
    if (status == CLI_YES && request->arrivals) status = take_recording(request, typed);
    if (status == CLI_YES) status = check_network(request);
    for (size_t i = 0; i < typed->detector_count && status == CLI_YES; i++) {
        status = check_typed(request, typed->detectors[i]);
        if (status == CLI_YES) status = detect_add(request, typed->detectors[i]);
    }
    if (status == CLI_YES && typed->detector_count == 0) status = detect_add_usual(request);
    return status;
}

int cli_detect(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0) continue;
        write_help();
        return cli_finish("detect", stdout, CLI_YES);
    }
    struct typed typed = {.detectors = calloc((size_t)argc, sizeof *typed.detectors)};
    struct detect_request request = {.watch = HOURS_DEFAULT * hour,
                                     .runs = RUNS_DEFAULT,
                                     .curves = calloc((size_t)argc + DETECT_USUAL_MAX, sizeof *request.curves),
                                     .rows = calloc(DETECT_ROWS_MAX, sizeof *request.rows)};
    int status = typed.detectors && request.curves && request.rows ? CLI_YES : cli_out_of_memory("detect");
    if (status == CLI_YES) status = read_request(&request, &typed, argc, argv);
    if (status == CLI_YES) status = measure_all(&request, typed.detector_count > 0);
    if (status == CLI_YES) status = tell(&request);
    free(typed.detectors);
    free(request.curves);
    free(request.rows);
    sim_settings_free(&request.settings);
    sim_arrivals_free(&request.recorded);
    return status;
}
