/* elector sim with groups: many elections over the same members, counted for each group and in total. */
#include <jansson.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/lab/sim_groups.h"
#include "sim/output/groups_table.h"
#include "sim/plan/groups.h"

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

static void write_json(const struct sim_groups *groups, const struct sim_group_totals *totals)
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
    struct sim_group_totals totals = {0};
    int status = CLI_YES;
    if (sim_groups_build(&groups, settings, &error) != 0) {
        status = cli_usage_error("sim", "%s", error.text);
    } else if (!sim_groups_run(&groups) || !sim_groups_sum_up(&groups, &totals)) {
        status = cli_out_of_memory("sim");
    } else {
        if (json) {
            write_json(&groups, &totals);
        } else {
            sim_write_groups(stdout, &groups, &totals);
        }
        status = cli_finish("sim", stdout, totals.broken ? CLI_NO : CLI_YES);
    }
    free(totals.led);
    sim_groups_free(&groups);
    return status;
}
