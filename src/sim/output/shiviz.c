/*
 * A log for ShiViz, with vector clocks computed along the trace: each event of a node increments its own entry,
 * and a delivery merges the sender's clock at the time of sending. Losses, partitions and violations are not
 * events of any node and are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/output/export.h"
#include "sim/output/text.h"

enum { NODES_MAX = 256 };

struct clocks {
    uint32_t count;
    uint32_t *now;     /* [count + 1] rows of count + 1 */
    uint32_t **stamps; /* by SENT record: a copy of the sender's row, as long as a delivery is pending */
    struct sim_fate *fates;
};

static void forget(struct clocks *clocks, const struct sim_trace *trace)
{
    for (uint64_t i = 0; clocks->stamps && i <= trace->count; i++) free(clocks->stamps[i]);
    free(clocks->stamps);
    free(clocks->now);
    free(clocks->fates);
}

static bool prepare(struct clocks *clocks, uint32_t count, const struct sim_trace *trace)
{
    const size_t width = (size_t)count + 1;
    clocks->count = count;
    clocks->now = calloc(width * width, sizeof *clocks->now);
    clocks->stamps = calloc(trace->count + 1, sizeof *clocks->stamps);
    clocks->fates = sim_fates(trace);
    return clocks->now && clocks->stamps && clocks->fates;
}

static uint32_t *row_of(const struct clocks *clocks, el_node node)
{
    return clocks->now + (size_t)node * (clocks->count + 1);
}

static bool stamp(struct clocks *clocks, uint64_t sent, const uint32_t *row)
{
    const size_t size = ((size_t)clocks->count + 1) * sizeof *row;
    if (clocks->fates[sent].arrivals == 0) return true;
    clocks->stamps[sent] = malloc(size);
    return clocks->stamps[sent] && memcpy(clocks->stamps[sent], row, size);
}

static void merge(struct clocks *clocks, uint64_t sent, uint32_t *row)
{
    uint32_t *known = clocks->stamps[sent];
    if (!known) return;
    for (el_node node = 1; node <= clocks->count; node++)
        if (known[node] > row[node]) row[node] = known[node];
    if (--clocks->fates[sent].arrivals > 0) return;
    free(known);
    clocks->stamps[sent] = NULL;
}

static bool is_event(const struct sim_record *r)
{
    switch ((enum sim_what)r->what) {
    case SIM_DID_NOTHING:
    case SIM_DROPPED:
    case SIM_COPIED:
    case SIM_PARTED:
    case SIM_HEALED:
    case SIM_LOOPED:
    case SIM_RESTED:
    case SIM_VIOLATED: return false;
    default: return true;
    }
}

static const char *comment_on(const struct sim_record *r, const struct sim_fate *fate)
{
    if (r->what != SIM_SENT || !fate->dropped) return "";
    return fate->reason == SIM_DEAD  ? " (finds it dead)"
           : fate->reason == SIM_CUT ? " (meets a cut link)"
                                     : " (lost)";
}

static void put_event(FILE *out, const struct sim_plan *plan, const struct sim_record *r, const uint32_t *row,
                      const char *comment)
{
    char text[SIM_TEXT], time[SIM_TIME_TEXT];
    const char *separator = "";
    fprintf(out, "%llu {", sim_id(plan, r->node));
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        if (row[node] == 0) continue;
        fprintf(out, "%s\"%llu\":%u", separator, sim_id(plan, node), row[node]);
        separator = ", ";
    }
    sim_record_text(plan, r, text);
    fprintf(out, "}\n%s: %s%s\n", sim_time_text(plan, r->time, time), *text ? text : "starts", comment);
}

static int put_log(FILE *out, const struct sim_plan *plan, const struct sim_trace *trace, struct clocks *clocks)
{
    for (uint64_t i = sim_trace_first(trace); i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (!is_event(r)) continue;
        const char *comment = comment_on(r, &clocks->fates[i]);
        uint32_t *row = row_of(clocks, r->node);
        row[r->node]++;
        if (r->what == SIM_DELIVERED) merge(clocks, r->number, row);
        if (r->what == SIM_SENT && !stamp(clocks, i, row)) return -1;
        put_event(out, plan, r, row, comment);
    }
    return 0;
}

int sim_write_shiviz(FILE *out, const struct sim_world *world)
{
    const struct sim_plan *plan = sim_world_plan(world);
    const struct sim_trace *trace = sim_world_trace(world);
    if (plan->cluster.count > NODES_MAX) {
        fprintf(out, "# %u nodes are more than ShiViz can show; this is written for at most %d\n",
                plan->cluster.count, NODES_MAX);
        return -1;
    }
    struct clocks clocks = {0};
    int status = prepare(&clocks, plan->cluster.count, trace) ? 0 : -1;
    fputs("(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n", out);
    if (status == 0) status = put_log(out, plan, trace, &clocks);
    forget(&clocks, trace);
    return status == 0 ? sim_written(out) : -1;
}
