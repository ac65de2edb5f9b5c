/*
 * Explaining a violation. Every record knows its cause. So the shortest explanation of a node's last change
 * of view is its chain of causes, together with the faults that happened meanwhile.
 */
#include <stdlib.h>

#include "sim/internal.h"
#include "sim/output/text.h"
#include "sim/output/transcript.h"

enum { HEAD_SHOWN = 5, TAIL_SHOWN = 7, CHAINS_MAX = 2, ENDLESS_SHOWN = 8 };

/* Indices of records; as many as memory allows. */
struct chain {
    uint64_t *records;
    size_t count, capacity;
};

static bool is_fault(const struct sim_record *r)
{
    return (r->what >= SIM_CRASHED && r->what <= SIM_HEALED) || r->what == SIM_SUSPECTED;
}

static bool is_worth_telling(const struct sim_record *r)
{
    return r->what == SIM_SENT || r->what == SIM_CAMPAIGNED || r->what == SIM_TIMED_OUT ||
           r->what == SIM_RETURNED || (r->what == SIM_VIEWED && r->peer != EL_NOBODY) || is_fault(r);
}

static void add(struct chain *chain, uint64_t index)
{
    if (chain->count == chain->capacity) {
        const size_t capacity = chain->capacity ? 2 * chain->capacity : 64;
        void *wider = realloc(chain->records, capacity * sizeof *chain->records);
        if (!wider) return; /* a shorter explanation is better than none */
        chain->records = wider;
        chain->capacity = capacity;
    }
    chain->records[chain->count++] = index;
}

/* Follows the causes of record `index` back to a record without a cause. */
static void follow_back(const struct sim_trace *trace, uint64_t index, struct chain *chain)
{
    for (const struct sim_record *r; (r = sim_trace_at(trace, index)) != NULL; index = r->cause)
        if (is_worth_telling(r)) add(chain, index);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts by time and removes duplicates, since chains meet in their common causes. */
static void sort(struct chain *chain)
{
    size_t kept = 0;
    if (chain->count) qsort(chain->records, chain->count, sizeof *chain->records, compare);
    for (size_t i = 0; i < chain->count; i++)
        if (i == 0 || chain->records[i] != chain->records[kept - 1]) chain->records[kept++] = chain->records[i];
    chain->count = kept;
}

/* Adds the faults between the first and the last record of the chain. */
static void add_faults(const struct sim_trace *trace, struct chain *chain, uint64_t last)
{
    sort(chain);
    const uint64_t first = chain->count ? chain->records[0] : sim_trace_first(trace);
    for (uint64_t i = first; i < last; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r && is_fault(r) && r->what != SIM_SUSPECTED) add(chain, i);
    }
    sort(chain);
}

static void write_record(FILE *out, const struct sim_plan *plan, const struct sim_record *r)
{
    char when[SIM_TIME_TEXT], text[SIM_TEXT];
    fprintf(out, "    %8s  %s\n", sim_time_text(plan, r->time, when), sim_record_text(plan, r, text));
}

static void write_chain(FILE *out, const struct sim_plan *plan, const struct sim_trace *trace,
                        const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        if (i == HEAD_SHOWN && chain->count > HEAD_SHOWN + TAIL_SHOWN + 1) {
            const size_t skipped = chain->count - HEAD_SHOWN - TAIL_SHOWN;
            fprintf(out, "    %8s  … and %zu more …\n", "", skipped);
            i += skipped;
        }
        write_record(out, plan, sim_trace_at(trace, chain->records[i]));
    }
}

/* Shows one round of the loop if there is a known one, otherwise the last few moves. */
static void explain_endless(FILE *out, const struct sim_plan *plan, const struct sim_trace *trace,
                            const struct sim_violation *violation)
{
    struct chain chain = {0};
    const uint64_t last = violation->record - 1;
    const size_t most = violation->since ? SIZE_MAX : ENDLESS_SHOWN;
    for (uint64_t i = last; i > violation->since && chain.count < most && sim_trace_at(trace, i); i--)
        if (is_worth_telling(sim_trace_at(trace, i))) add(&chain, i);
    sort(&chain);
    fprintf(out, "    %8s  …\n", "");
    write_chain(out, plan, trace, &chain);
    fprintf(out, "    %8s  … and so on\n", "");
    free(chain.records);
}

/* The record that last changed the node's view before the violation, or else its last reaction. */
static uint64_t last_word_of(const struct sim_trace *trace, el_node node, uint64_t before)
{
    uint64_t reaction = 0;
    for (uint64_t index = before; index-- > sim_trace_first(trace);) {
        const struct sim_record *r = sim_trace_at(trace, index);
        if (r->node != node) continue;
        if (r->what == SIM_VIEWED && r->peer != EL_NOBODY) return index;
        if (reaction == 0 && (r->what == SIM_DELIVERED || is_worth_telling(r))) reaction = index;
    }
    return reaction;
}

static void explain(FILE *out, const struct sim_world *world, const struct sim_violation *violation)
{
    const struct sim_plan *plan = world->plan;
    const struct sim_trace *trace = &world->trace;
    struct chain chain = {0};
    if (violation->kind == EL_ENDLESS) {
        explain_endless(out, plan, trace, violation);
        return;
    }
    for (uint32_t i = 0; i < violation->node_count && i < CHAINS_MAX; i++)
        follow_back(trace, last_word_of(trace, violation->nodes[i], violation->record), &chain);
    add_faults(trace, &chain, violation->record);
    write_chain(out, plan, trace, &chain);
    free(chain.records);
}

void sim_write_violations(FILE *out, const struct sim_world *world, const struct sim_result *result,
                          struct sim_style style)
{
    char text[SIM_TEXT], told[SIM_TEXT];
    for (uint32_t i = 0; i < result->violation_count; i++) {
        const struct sim_violation *violation = &result->violations[i];
        fprintf(out, "%sviolation%s   %s: %s\n", style.colour ? "\033[31m" : "", style.colour ? "\033[0m" : "",
                sim_violation_text(world->plan, violation, text), sim_violation_told(violation, told));
        explain(out, world, violation);
    }
}
