/* elector plan --measure: asks the agent how late its leases were renewed, and suggests the shortest lease that it would have
 * kept. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cluster/measure.h"
#include "cli/cluster/plan_measure.h"
#include "client/engine.h"
#include "client/json_lines.h"

static int complain(const char *text, int code)
{
    fprintf(stderr, "elector plan: %s\n", text);
    return code;
}

/* ---- Asking ---- */

static bool read_list(const json_t *line, const char *name, uint64_t list[MEASURE_STEPS_MAX], size_t wanted)
{
    const json_t *numbers = json_object_get(line, name);
    if (json_array_size(numbers) != wanted) return false;
    for (size_t i = 0; i < wanted; i++) {
        const json_int_t number = json_integer_value(json_array_get(numbers, i));
        if (!json_is_integer(json_array_get(numbers, i)) || number < 0 || number > UINT32_MAX * INT64_C(1000))
            return false;
        list[i] = (uint64_t)number;
    }
    return true;
}

static bool read_answer(const json_t *line, struct measured *m)
{
    const size_t steps = json_array_size(json_object_get(line, "counts"));
    if (steps == 0 || steps > MEASURE_STEPS_MAX) return false;
    m->steps = (uint32_t)steps;
    return json_lines_number(line, "longest_us", 0, &m->longest_us) &&
           json_lines_number(line, "lost", 0, &m->lost) && read_list(line, "counts", m->counts, steps) &&
           read_list(line, "steps_us", m->ends_us, steps - 1);
}

/* The answer, or NULL and the code. */
static json_t *ask(const char *url, struct measured *m, int *code)
{
    struct json_lines *w = malloc(sizeof *w);
    json_t *line = NULL;
    char text[400];
    if (!w) {
        *code = cli_out_of_memory("plan");
        return NULL;
    }
    elector_status status = json_lines_connect(w, url);
    if (status == ELECTOR_OK)
        status = json_lines_ask(w, json_pack("{si ss}", "id", 1, "op", "renewals"),
                                engine_until(LINES_ANSWER_MS), &line);
    if (status != ELECTOR_OK) *code = complain(w->reason, cli_status_code(status));
    json_lines_close(w);
    free(w);
    if (!line) return NULL;
    if (!json_is_true(json_object_get(line, "ok"))) {
        status = json_lines_refusal(line, text, sizeof text);
        *code = complain(text, cli_status_code(status));
    } else if (!read_answer(line, m)) {
        *code = complain("the agent's answer makes no sense; is it of this version?", CLI_CANNOT_TELL);
    } else {
        return line;
    }
    json_decref(line);
    return NULL;
}

/* ---- Telling ---- */

struct measurement {
    struct config *config;
    struct measured found;
    const char *member;
    double hours;
    struct measured_lease leases[MEASURE_LEASES];
    const struct measured_lease *shortest; /* that would have been kept; NULL: none */
};

static void measure(struct measurement *m)
{
    const struct bounds_settings now = bounds_settings_of(m->config, config_group_of(m->config, "*"));
    m->hours = (double)measured_count(&m->found) * (double)now.beat / (3600.0 * (double)NS_PER_S);
    for (uint32_t i = 0; i < MEASURE_LEASES; i++) {
        struct measured_lease *lease = &m->leases[i];
        measure_lease(lease, m->config, &m->found, measure_leases_ms[i], m->hours);
        if (!m->shortest && lease->is_possible && lease->too_late == 0) m->shortest = lease;
    }
}

static void write_suggestion(const struct measurement *m)
{
    char transmit[UNITS_TIME_TEXT];
    if (!m->shortest) {
        puts(
            "\nNone of these leases would have been kept: find out why renewals are so late before you shorten the lease.");
        return;
    }
    printf("\nshortest lease that would have been kept:\n  [cluster]  transmit = %s\n  [group *] ",
           units_write_time(m->shortest->transmit_max, transmit));
    for (uint32_t i = 0; i < m->shortest->section.option_count; i++)
        printf(" %s = %s%s", m->shortest->section.options[i][0], m->shortest->section.options[i][1],
               i + 1 < m->shortest->section.option_count ? "," : "\n");
    puts(
        "Ask the agent of every member that leads, and take the longest. What has not happened in this time may happen later.");
}

static void write_text(const struct measurement *m)
{
    printf("%s renewed leases for %.1f minutes of the last hour, %" PRIu64
           " times. The latest renewal came %.2f ms late.\n",
           m->member, m->hours * 60, measured_count(&m->found), (double)m->found.longest_us / 1e3);
    if (m->found.lost)
        printf("%" PRIu64 " of them did not come in time, and the lease was lost.\n", m->found.lost);
    putchar('\n');
    printf("%-9s %-10s %-16s %-10s %s\n", "LEASE", "BEAT", "MAY BE LATE BY", "TOO LATE",
           "FALSE ALARMS AN HOUR, AT MOST (95 %)");
    for (uint32_t i = 0; i < MEASURE_LEASES; i++) {
        const struct measured_lease *lease = &m->leases[i];
        char beat[UNITS_TIME_TEXT], name[16], late[24];
        snprintf(name, sizeof name, "%" PRIu32 "ms", measure_leases_ms[i]);
        snprintf(late, sizeof late, "%.1f ms", (double)lease->may_be_late_us / 1e3);
        if (lease->is_possible)
            printf("%-9s %-10s %-16s %-10" PRIu64 " %.2f\n", name, units_write_time(lease->settings.beat, beat),
                   late, lease->too_late, lease->false_alarms_most);
        else
            printf("%-9s not possible: messages take too long\n", name);
    }
    write_suggestion(m);
}

static json_t *json_lease(const struct measured_lease *lease, uint32_t lease_ms)
{
    json_t *object =
        json_pack("{sI sb}", "lease_us", (json_int_t)lease_ms * 1000, "possible", lease->is_possible);
    if (!object || !lease->is_possible) return object;
    json_t *options = json_object();
    for (uint32_t i = 0; i < lease->section.option_count; i++)
        json_object_set_new(options, lease->section.options[i][0], json_string(lease->section.options[i][1]));
    json_object_set_new(object, "may_be_late_us", json_integer((json_int_t)lease->may_be_late_us));
    json_object_set_new(object, "too_late", json_integer((json_int_t)lease->too_late));
    json_object_set_new(object, "false_alarms_per_hour_most", json_real(lease->false_alarms_most));
    json_object_set_new(object, "transmit_us", json_integer((json_int_t)(lease->transmit_max / NS_PER_US)));
    json_object_set_new(object, "options", options);
    return object;
}

static void write_json(const struct measurement *m)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < MEASURE_LEASES; i++)
        json_array_append_new(list, json_lease(&m->leases[i], measure_leases_ms[i]));
    json_t *shortest =
        m->shortest ? json_integer((json_int_t)(m->shortest->settings.lease / NS_PER_US)) : json_null();
    json_t *root =
        json_pack("{ss sf sI sI sI so so}", "member", m->member, "minutes", m->hours * 60, "renewals",
                  (json_int_t)measured_count(&m->found), "lost", (json_int_t)m->found.lost, "longest_us",
                  (json_int_t)m->found.longest_us, "shortest_us", shortest, "leases", list);
    cli_put_json(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(root);
}

static int tell(struct measurement *m, bool json)
{
    if (measured_count(&m->found) == 0)
        return complain(
            "this agent has renewed no lease in the last hour; ask one that leads (`elector status` says who does)",
            CLI_CANNOT_TELL);
    measure(m);
    if (json)
        write_json(m);
    else
        write_text(m);
    return cli_finish("plan", stdout, m->shortest ? CLI_YES : CLI_NO);
}

int plan_measure(struct config *config, const char *url, bool json)
{
    char usual[sizeof config->socket + 8];
    struct measurement *m = calloc(1, sizeof *m);
    int code = CLI_CANNOT_TELL;
    if (!m) return cli_out_of_memory("plan");
    snprintf(usual, sizeof usual, "unix:%s", config->socket);
    m->config = config;
    json_t *line = ask(url ? url : usual, &m->found, &code);
    m->member = line ? json_lines_text(line, "member", CONFIG_NAME_MAX) : NULL;
    if (line && !m->member)
        code = complain("the agent's answer makes no sense; is it of this version?", CLI_CANNOT_TELL);
    if (m->member) code = tell(m, json);
    json_decref(line);
    free(m);
    return code;
}
