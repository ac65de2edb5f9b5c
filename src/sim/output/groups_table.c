/* See groups_table.h. */
#include "sim/output/groups_table.h"

#include <stdlib.h>
#include <string.h>

#include "sim/output/transcript.h"

static bool is_broken(const struct sim_group *group)
{
    return !sim_expectations_hold(&group->plan, group->result);
}

bool sim_groups_sum_up(const struct sim_groups *groups, struct sim_group_totals *totals)
{
    const struct sim_plan *first = &groups->list[0].plan;
    *totals = (struct sim_group_totals){.led = calloc((size_t)first->cluster.count + 1, sizeof *totals->led)};
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

static void write_group(FILE *out, const struct sim_group *group, int name_width)
{
    const struct sim_result *result = group->result;
    char turnaround[SIM_TIME_TEXT] = "none", leader[24] = "-";
    if (!sim_is_endless(result)) sim_time_text(&group->plan, result->turnaround, turnaround);
    if (result->agreed)
        snprintf(leader, sizeof leader, "%llu",
                 (unsigned long long)el_id(&group->plan.cluster, result->leader));
    fprintf(out, "%-*s  %-20s %8s %10llu %12s", name_width, group->name, group->plan.algorithm->name, leader,
            (unsigned long long)result->sent[0], turnaround);
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1)
        if (result->violation_kinds & kind) fprintf(out, "  %s", el_violation_name((enum el_violation)kind));
    for (size_t i = 0; i < group->plan.expect_count; i++)
        if (!sim_expectation_holds(&group->plan, result, &group->plan.expects[i]))
            fprintf(out, "  not as expected: %s", group->plan.expects[i].text);
    fputc('\n', out);
}

void sim_write_groups(FILE *out, const struct sim_groups *groups, const struct sim_group_totals *totals)
{
    const struct sim_plan *first = &groups->list[0].plan;
    int name_width = 5;
    for (size_t i = 0; i < groups->count; i++)
        if ((int)strlen(groups->list[i].name) > name_width) name_width = (int)strlen(groups->list[i].name);
    fprintf(out, "%-*s  %-20s %8s %10s %12s\n", name_width, "group", "algorithm", "leader", "messages",
            "turnaround");
    for (size_t i = 0; i < groups->count; i++) write_group(out, &groups->list[i], name_width);
    fprintf(out, "\n%zu group%s over %u members: %llu agree on a leader\n", groups->count,
            groups->count == 1 ? "" : "s", first->cluster.count, (unsigned long long)totals->agreed);
    fprintf(out, "  messages    %llu in all, %llu a group\n", (unsigned long long)totals->messages,
            (unsigned long long)(totals->messages / (groups->count ? groups->count : 1)));
    if (first->detector)
        fprintf(out, "  detector    %s, %llu messages, once for all groups\n", first->detector->name,
                (unsigned long long)totals->detector);
    fprintf(out, "  leaders    ");
    for (el_node node = 1; node <= first->cluster.count; node++)
        if (totals->led[node])
            fprintf(out, " %llu leads %u%s", (unsigned long long)el_id(&first->cluster, node),
                    totals->led[node], node < first->cluster.count ? "," : "");
    fprintf(out, "\n");
}
