/* elector sim with groups: many elections over the same members, counted for each group and in total. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lab/sim_groups.h"
#include "sim/output/transcript.h"
#include "sim/plan/groups.h"

struct totals {
    uint64_t messages, detector, agreed, broken;
    uint32_t *led; /* [count + 1] groups that each member leads; 0: no agreement */
};

static bool is_broken(const struct sim_group *group)
{
    return !sim_expectations_hold(&group->plan, group->result);
}

static bool sum_up(const struct sim_groups *groups, struct totals *totals)
{
    const struct sim_plan *first = &groups->list[0].plan;
    *totals = (struct totals){.led = calloc((size_t)first->cluster.count + 1, sizeof *totals->led)};
    if (!totals->led) return false;
    for (size_t i = 0; i < groups->count; i++) {
        const struct sim_result *result = groups->list[i].result;
        totals->messages += result->sent[0];
        if (result->detector_sent > totals->detector)
            totals->detector = result->detector_sent; /* the longest run's */
        totals->agreed += result->agreed;
        totals->broken += is_broken(&groups->list[i]);
        totals->led[result->agreed ? result->leader : EL_NOBODY]++;
    }
    return true;
}

/* ---- Text ---- */

static void write_group(const struct sim_group *group, int name_width)
{
    const struct sim_result *result = group->result;
    char turnaround[SIM_TIME_TEXT] = "none", leader[24] = "-";
    if (!sim_is_endless(result)) sim_time_text(&group->plan, result->turnaround, turnaround);
    if (result->agreed)
        snprintf(leader, sizeof leader, "%llu",
                 (unsigned long long)el_id(&group->plan.cluster, result->leader));
    printf("%-*s  %-20s %8s %10llu %12s", name_width, group->name, group->plan.algorithm->name, leader,
           (unsigned long long)result->sent[0], turnaround);
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1)
        if (result->violation_kinds & kind) printf("  %s", el_violation_name((enum el_violation)kind));
    for (size_t i = 0; i < group->plan.expect_count; i++)
        if (!sim_expectation_holds(&group->plan, result, &group->plan.expects[i]))
            printf("  not as expected: %s", group->plan.expects[i].text);
    putchar('\n');
}

static void write_text(const struct sim_groups *groups, const struct totals *totals)
{
    const struct sim_plan *first = &groups->list[0].plan;
    int name_width = 5;
    for (size_t i = 0; i < groups->count; i++)
        if ((int)strlen(groups->list[i].name) > name_width) name_width = (int)strlen(groups->list[i].name);
    printf("%-*s  %-20s %8s %10s %12s\n", name_width, "group", "algorithm", "leader", "messages", "turnaround");
    for (size_t i = 0; i < groups->count; i++) write_group(&groups->list[i], name_width);
    printf("\n%zu group%s over %u members: %llu agree on a leader\n", groups->count,
           groups->count == 1 ? "" : "s", first->cluster.count, (unsigned long long)totals->agreed);
    printf("  messages    %llu in all, %llu a group\n", (unsigned long long)totals->messages,
           (unsigned long long)(totals->messages / groups->count));
    if (first->detector)
        printf("  detector    %s, %llu messages, once for all groups\n", first->detector->name,
               (unsigned long long)totals->detector);
    printf("  leaders    ");
    for (el_node node = 1; node <= first->cluster.count; node++)
        if (totals->led[node])
            printf(" %llu leads %u%s", (unsigned long long)el_id(&first->cluster, node), totals->led[node],
                   node < first->cluster.count ? "," : "");
    printf("\n");
}

/* ---- JSON ---- */

static json_t *json_group(const struct sim_group *group)
{
    const struct sim_result *result = group->result;
    json_t *violations = json_array();
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1)
        if (result->violation_kinds & kind)
            json_array_append_new(violations, json_string(el_violation_name((enum el_violation)kind)));
    json_t *leader =
        result->agreed ? json_integer((json_int_t)el_id(&group->plan.cluster, result->leader)) : json_null();
    json_t *turnaround = sim_is_endless(result) ? json_null() : json_real((double)result->turnaround / 1e6);
    return json_pack("{s:s, s:s, s:o, s:I, s:o, s:o}", "group", group->name, "algorithm",
                     group->plan.algorithm->name, "leader", leader, "messages", (json_int_t)result->sent[0],
                     "turnaround_ms", turnaround, "violations", violations);
}

static void write_json(const struct sim_groups *groups, const struct totals *totals)
{
    json_t *list = json_array();
    for (size_t i = 0; i < groups->count; i++) json_array_append_new(list, json_group(&groups->list[i]));
    json_t *root =
        json_pack("{s:o, s:I, s:I, s:I}", "groups", list, "messages", (json_int_t)totals->messages,
                  "detector_messages", (json_int_t)totals->detector, "agreed", (json_int_t)totals->agreed);
    cli_put_json(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
    putchar('\n');
}

int cli_run_groups(const struct sim_settings *settings, bool json)
{
    struct sim_groups groups;
    struct sim_error error;
    struct totals totals = {0};
    int status = CLI_YES;
    if (sim_groups_build(&groups, settings, &error) != 0) {
        status = cli_usage_error("sim", "%s", error.text);
    } else if (!sim_groups_run(&groups) || !sum_up(&groups, &totals)) {
        status = cli_out_of_memory("sim");
    } else {
        (json ? write_json : write_text)(&groups, &totals);
        status = cli_finish("sim", stdout, totals.broken ? CLI_NO : CLI_YES);
    }
    free(totals.led);
    sim_groups_free(&groups);
    return status;
}
