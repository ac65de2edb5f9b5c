/* elector detect: the table, the JSON and the drawing. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/lab/detect.h"
#include "sim/measure/tradeoff.h"

static const sim_time hour = UINT64_C(3600000000000);

enum { FIGURE = 32 };

/* ---- Figures ---- */

/* "812 ms", "2.51 s", "14.2 min", "5.21 h", "11.7 days" */
static const char *span(sim_time time, char text[FIGURE])
{
    static const struct {
        sim_time below, unit;
        const char *name;
    } units[] = {{NS_PER_S, NS_PER_MS, "ms"},
                 {120 * NS_PER_S, NS_PER_S, "s"},
                 {7200 * NS_PER_S, 60 * NS_PER_S, "min"},
                 {172800 * NS_PER_S, 3600 * NS_PER_S, "h"},
                 {SIM_NEVER, 86400 * NS_PER_S, "days"}};
    size_t i = 0;
    while (time >= units[i].below) i++;
    const double figure = (double)time / (double)units[i].unit;
    snprintf(text, FIGURE, "%.*f %s", figure < 9.995 ? 2 : figure < 99.95 ? 1 : 0, figure, units[i].name);
    return text;
}

static const char *rate(double figure, char text[FIGURE])
{
    snprintf(text, FIGURE, figure < 999.5 ? "%.3g" : "%.0f", figure);
    return text;
}

/* Rounded down, so that 100 % means no mistake at all. */
static const char *percentage(const struct sim_qos *qos, char text[FIGURE])
{
    if (qos->mistakes == 0) {
        snprintf(text, FIGURE, "100 %%");
    } else {
        const unsigned millionths = (unsigned)(sim_qos_accuracy(qos) * 1e6);
        snprintf(text, FIGURE, "%u.%04u %%", millionths / 10000, millionths % 10000);
    }
    return text;
}

/* ---- Text ---- */

/* The setting to show at place i: the first place of each key shows its last value; keys that add up show
 * all. */
static const struct sim_setting *counts(const struct sim_settings *settings, size_t i)
{
    const struct sim_setting *found = &settings->list[i];
    if (strcmp(found->key, "pause") == 0 || strcmp(found->key, "clock") == 0) return found;
    for (size_t k = 0; k < settings->count; k++) {
        if (strcmp(settings->list[k].key, found->key) != 0) continue;
        if (k < i) return NULL;
        found = &settings->list[k];
    }
    return found;
}

/* "nodes 5, delay exp:10..90ms, loss 1%, seed 1", or the recording */
static void describe(const struct detect_request *request, char *text, size_t size)
{
    char time[FIGURE];
    size_t used = 0;
    if (request->arrivals) {
        const struct sim_arrivals *recorded = &request->recorded;
        snprintf(text, size, "%zu arrivals in %s: %s", recorded->count,
                 span(recorded->times[recorded->count - 1], time), request->arrivals);
        return;
    }
    for (size_t i = 0; i < request->settings.count && used < size; i++) {
        const struct sim_setting *s = counts(&request->settings, i);
        if (s)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", s->key, s->value);
    }
}

static void write_detection(const struct sim_qos *qos)
{
    char mean[FIGURE], max[FIGURE];
    printf("%9s%9s", qos->noticed ? span(sim_qos_detection(qos), mean) : "never",
           qos->unnoticed ? "never" : span(qos->detection_max, max));
}

static void write_row(const struct detect_row *row, int width)
{
    const struct sim_qos *qos = &row->qos;
    char figures[4][FIGURE];
    printf("%-*s", width, row->text);
    write_detection(qos);
    if (qos->mistakes) {
        printf("%12s%10s%9s", rate(sim_qos_mistakes_per_hour(qos), figures[0]),
               span(sim_qos_recurrence(qos), figures[1]), span(sim_qos_duration(qos), figures[2]));
    } else {
        printf("%12s%10s%9s", "none", "-", "-");
    }
    printf("%11s", percentage(qos, figures[3]));
    if (qos->node_time) printf("%7s", rate(sim_qos_messages_per_second(qos), figures[0]));
    putchar('\n');
}

static const struct sim_qos *first_measured(const struct detect_request *request)
{
    for (size_t i = 0; i < request->row_count; i++)
        if (!request->rows[i].reason[0]) return &request->rows[i].qos;
    return NULL;
}

static void write_legend(const struct detect_request *request)
{
    char text[FIGURE];
    const struct sim_qos *any = first_measured(request);
    if (!any) return;
    printf("\nmean, max     from the crash to a suspicion that stays (T_D)");
    if (request->arrivals) {
        printf("; the last arrival is taken for the crash\n");
    } else {
        printf(", over %llu crashes and all survivors\n", (unsigned long long)request->runs);
    }
    printf("mistakes/h    in an hour of watching one live peer; %s were watched\n", span(any->watched, text));
    puts("every, for    the time from mistake to mistake (T_MR), and how long one lasts (T_M)\n"
         "trusted       the share of its time for which a live peer is trusted (P_A = 1 - T_M / T_MR)");
    if (!request->arrivals) puts("msg/s         messages that each member sends, each second");
}

static void write_remarks(const struct detect_request *request)
{
    char text[FIGURE];
    for (size_t i = 0; i < request->row_count; i++) {
        const struct detect_row *row = &request->rows[i];
        const struct sim_qos *qos = &row->qos;
        if (row->reason[0]) printf("\n%s is left out: %s\n", row->text, row->reason);
        const uint64_t crashes = qos->noticed + qos->unnoticed;
        if (qos->unnoticed)
            printf("\n%s: %llu of %llu were not noticed within %s\n", row->text,
                   (unsigned long long)qos->unnoticed, (unsigned long long)crashes, span(qos->patience, text));
    }
}

void detect_write_text(const struct detect_request *request)
{
    char text[400] = "";
    int width = 20;
    for (size_t i = 0; i < request->row_count; i++)
        if ((int)strlen(request->rows[i].text) > width) width = (int)strlen(request->rows[i].text);
    describe(request, text, sizeof text);
    printf("%s\n\n", text);
    printf("%-*s%18s%31s\n", width, "", "a crash is noticed", "a live peer is suspected");
    printf("%-*s%9s%9s%12s%10s%9s%11s%s\n", width, "", "mean", "max", "mistakes/h", "every", "for", "trusted",
           request->arrivals ? "" : "  msg/s");
    for (size_t i = 0; i < request->row_count; i++)
        if (!request->rows[i].reason[0]) write_row(&request->rows[i], width);
    write_legend(request);
    write_remarks(request);
}

/* ---- JSON ---- */

static json_t *json_ms(sim_time time, bool known)
{
    return known ? json_real((double)time / 1e6) : json_null();
}

static json_t *json_row(const struct detect_row *row)
{
    const struct sim_qos *qos = &row->qos;
    if (row->reason[0]) return json_pack("{s:s, s:s}", "detector", row->text, "left_out", row->reason);
    json_t *detection =
        json_pack("{s:o, s:o, s:I, s:I}", "mean_ms", json_ms(sim_qos_detection(qos), qos->noticed), "max_ms",
                  json_ms(qos->detection_max, !qos->unnoticed && qos->noticed), "noticed",
                  (json_int_t)qos->noticed, "unnoticed", (json_int_t)qos->unnoticed);
    json_t *mistakes =
        json_pack("{s:I, s:f, s:f, s:o, s:o}", "count", (json_int_t)qos->mistakes, "watched_hours",
                  (double)qos->watched / (double)hour, "per_hour", sim_qos_mistakes_per_hour(qos),
                  "recurrence_ms", json_ms(sim_qos_recurrence(qos), qos->mistakes), "duration_ms",
                  json_ms(sim_qos_duration(qos), qos->mistakes));
    return json_pack("{s:s, s:o, s:o, s:f, s:o}", "detector", row->text, "detection", detection, "mistakes",
                     mistakes, "accuracy", sim_qos_accuracy(qos), "messages_per_second",
                     qos->node_time ? json_real(sim_qos_messages_per_second(qos)) : json_null());
}

int detect_write_json(const struct detect_request *request)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < request->row_count; i++) json_array_append_new(rows, json_row(&request->rows[i]));
    json_t *root = request->arrivals
                       ? json_pack("{s:s, s:I, s:o}", "arrivals", request->arrivals, "arrival_count",
                                   (json_int_t)request->recorded.count, "detectors", rows)
                       : json_pack("{s:I, s:f, s:I, s:I, s:o}", "nodes", (json_int_t)request->nodes, "hours",
                                   (double)request->watch / (double)hour, "runs", (json_int_t)request->runs,
                                   "seed", (json_int_t)request->seed, "detectors", rows);
    if (!root) return -1;
    cli_put_json(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
    putchar('\n');
    return 0;
}

/* ---- The drawing ---- */

struct title {
    char text[240];
};

/* "phi:pause=1s, by threshold" */
static void name_curve(struct title *title, const struct detect_curve *curve)
{
    snprintf(title->text, sizeof title->text, "%s%s%s", curve->name, curve->option ? ", by " : "",
             curve->option ? curve->option : "");
}

int detect_write_svg(FILE *out, const struct detect_request *request)
{
    char caption[400] = "";
    struct sim_point points[SIM_POINTS_MAX];
    struct title *titles = calloc(request->curve_count, sizeof *titles);
    const char **names = calloc(request->curve_count, sizeof *names);
    uint32_t count = 0;
    int status = -1;
    for (size_t i = 0; i < request->row_count && count < SIM_POINTS_MAX; i++) {
        const struct detect_row *row = &request->rows[i];
        if (!row->reason[0]) points[count++] = (struct sim_point){&row->qos, row->value, row->text, row->curve};
    }
    describe(request, caption, sizeof caption);
    if (titles && names) {
        for (size_t i = 0; i < request->curve_count; i++) {
            name_curve(&titles[i], &request->curves[i]);
            names[i] = titles[i].text;
        }
        status = sim_write_tradeoff(
            out, &(struct sim_tradeoff){caption, names, (uint32_t)request->curve_count, points, count});
    }
    free(titles);
    free(names);
    return status;
}
