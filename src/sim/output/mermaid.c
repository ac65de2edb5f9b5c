/* A Mermaid sequenceDiagram, for Markdown pages. It has no time axis, so notes say when they happened. */
#include <stdlib.h>

#include "sim/internal.h"
#include "sim/output/export.h"
#include "sim/output/text.h"

/* Characters that would end a text, or begin a comment or an entity, are written as entities. */
static void put_text(FILE *out, const char *text)
{
    while (*text) {
        const size_t length = sim_character(text);
        if (length == 0) {
            fputs(SIM_NO_CHARACTER, out);
        } else if (*text == '#' || *text == ';' || *text == '%' || *text == '<') {
            fprintf(out, "#%d;", *text);
        } else {
            fwrite(text, 1, length, out);
        }
        text += length ? length : 1;
    }
}

static void put_participants(FILE *out, const struct sim_plan *plan)
{
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        fprintf(out, "    participant N%llu as %llu", sim_id(plan, node), sim_id(plan, node));
        if (plan->attributes) fprintf(out, " (%llu)", (unsigned long long)plan->attributes[node - 1]);
        putc('\n', out);
    }
}

static const char *arrow_of(const struct sim_fate *fate)
{
    if (fate->arrivals) return "->>";
    return fate->dropped ? "-x" : "--)"; /* "--)": still in flight when the run ended */
}

static const char *comment_on(const struct sim_fate *fate)
{
    if (fate->arrivals > 1) return " (arrives twice)";
    if (fate->arrivals) return "";
    if (!fate->dropped) return " (under way)";
    return fate->reason == SIM_DEAD ? " (dead)" : fate->reason == SIM_CUT ? " (cut)" : " (lost)";
}

static void put_message(FILE *out, const struct sim_plan *plan, const struct sim_record *r,
                        const struct sim_fate *fate)
{
    char text[SIM_TEXT];
    fprintf(out, "    N%llu%sN%llu: ", sim_id(plan, r->node), arrow_of(fate), sim_id(plan, r->peer));
    put_text(out, sim_message_text(plan, r, text));
    fprintf(out, "%s\n", comment_on(fate));
}

/* Over one participant, or over all of them if the record names no node. */
static void put_note(FILE *out, const struct sim_plan *plan, const struct sim_record *r, const char *text)
{
    const el_node last = plan->cluster.count;
    char time[SIM_TIME_TEXT];
    fprintf(out, "    Note over N%llu", sim_id(plan, r->node ? r->node : 1));
    if (!r->node && last > 1) fprintf(out, ",N%llu", sim_id(plan, last));
    fprintf(out, ": %s%s: ", sim_time_text(plan, r->time, time), plan->in_units ? " T" : "");
    put_text(out, text);
    putc('\n', out);
}

static void put_violation(FILE *out, const struct sim_world *world, const struct sim_record *r)
{
    char text[SIM_TEXT];
    const struct sim_record everywhere = {.time = r->time};
    put_note(out, world->plan, &everywhere,
             sim_violation_text(world->plan, &world->result.violations[r->number], text));
}

static void put_record(FILE *out, const struct sim_world *world, const struct sim_record *r,
                       const struct sim_fate *fate)
{
    char text[SIM_TEXT];
    switch ((enum sim_what)r->what) {
    case SIM_SENT: put_message(out, world->plan, r, fate); return;
    case SIM_VIOLATED: put_violation(out, world, r); return;
    case SIM_VIEWED:
        if (r->peer != r->node) return;
        break;
    case SIM_STARTED:
    case SIM_CAMPAIGNED:
    case SIM_SUSPECTED:
    case SIM_TRUSTED:
    case SIM_CRASHED:
    case SIM_RESTARTED:
    case SIM_PAUSED:
    case SIM_RESUMED:
    case SIM_PARTED:
    case SIM_HEALED:
    case SIM_REQUESTED:
    case SIM_LOOPED: break;
    default: return;
    }
    put_note(out, world->plan, r, sim_record_text(world->plan, r, text));
}

int sim_write_mermaid(FILE *out, const struct sim_world *world)
{
    const struct sim_trace *trace = sim_world_trace(world);
    struct sim_fate *fates = sim_fates(trace);
    if (!fates) return -1;
    fputs("sequenceDiagram\n    title ", out);
    put_text(out, world->plan->algorithm->name);
    putc('\n', out);
    put_participants(out, world->plan);
    for (uint64_t i = sim_trace_first(trace); i <= trace->count; i++)
        put_record(out, world, sim_trace_at(trace, i), &fates[i]);
    free(fates);
    return sim_written(out);
}
