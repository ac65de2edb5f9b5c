/*
 * Why a violation came about. Every record knows its cause, so the shortest tail that explains the last
 * change of a node's view is its chain of causes, together with the faults that fell into its time.
 */
#include <string.h>

#include "inner.h"
#include "text.h"
#include "transcript.h"

enum { CHAIN_MAX = 512, HEAD_SHOWN = 5, TAIL_SHOWN = 7, CHAINS_MAX = 2, ENDLESS_SHOWN = 8 };

struct chain {
    uint64_t records[CHAIN_MAX]; /* latest first, at first */
    uint32_t count;
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
    for (uint32_t i = 0; i < chain->count; i++)
        if (chain->records[i] == index) return;
    if (chain->count < CHAIN_MAX) chain->records[chain->count++] = index;
}

/* Follows the causes of record `index` back to what had none. */
static void follow_back(const struct sim_trace *trace, uint64_t index, struct chain *chain)
{
    for (const struct sim_record *r; (r = sim_trace_at(trace, index)) != NULL; index = r->cause)
        if (is_worth_telling(r)) add(chain, index);
}

static void sort(struct chain *chain)
{
    for (uint32_t i = 1; i < chain->count; i++)
        for (uint32_t k = i; k > 0 && chain->records[k - 1] > chain->records[k]; k--) {
            const uint64_t moved = chain->records[k];
            chain->records[k] = chain->records[k - 1];
            chain->records[k - 1] = moved;
        }
}

/* Faults between the beginning of the chain and its end belong to the story. */
static void add_faults(const struct sim_trace *trace, struct chain *chain, uint64_t last)
{
    sort(chain);
    const uint64_t first = chain->count ? chain->records[0] : last;
    for (uint64_t i = first; i < last && chain->count < CHAIN_MAX; i++) {
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
    for (uint32_t i = 0; i < chain->count; i++) {
        if (i == HEAD_SHOWN && chain->count > HEAD_SHOWN + TAIL_SHOWN + 1) {
            const uint32_t skipped = chain->count - HEAD_SHOWN - TAIL_SHOWN;
            fprintf(out, "    %8s  … and %u more …\n", "", skipped);
            i += skipped;
        }
        write_record(out, plan, sim_trace_at(trace, chain->records[i]));
    }
}

static void explain_endless(FILE *out, const struct sim_plan *plan, const struct sim_trace *trace,
                            uint64_t last)
{
    struct chain chain = {0};
    for (uint64_t i = last; i > 0 && chain.count < ENDLESS_SHOWN && sim_trace_at(trace, i); i--)
        if (is_worth_telling(sim_trace_at(trace, i))) add(&chain, i);
    sort(&chain);
    fprintf(out, "    %8s  …\n", "");
    write_chain(out, plan, trace, &chain);
    fprintf(out, "    %8s  … and so on\n", "");
}

/* A node without a leader has no change of view to explain: its last step will do. */
static uint64_t last_word_of(const struct sim_world *world, el_node node)
{
    const struct sim_node *n = &world->nodes[node];
    return n->viewed ? n->viewed : n->step;
}

static void explain(FILE *out, const struct sim_world *world, const struct sim_violation *violation)
{
    const struct sim_plan *plan = world->plan;
    const struct sim_trace *trace = &world->trace;
    struct chain chain = {0};
    if (violation->kind == EL_ENDLESS) {
        explain_endless(out, plan, trace, violation->record - 1);
        return;
    }
    /* Of two leaders the record of the second crowning comes right before; the first is one line. */
    for (uint32_t i = 0; i < violation->node_count && i < CHAINS_MAX; i++) {
        uint64_t index = last_word_of(world, violation->nodes[i]);
        while (index >= violation->record) { /* its view has changed again since */
            const struct sim_record *r = sim_trace_at(trace, --index);
            if (!r) break;
            if (r->what == SIM_VIEWED && r->node == violation->nodes[i] && index < violation->record) break;
        }
        follow_back(trace, index, &chain);
    }
    add_faults(trace, &chain, violation->record);
    write_chain(out, plan, trace, &chain);
}

void sim_write_violations(FILE *out, const struct sim_world *world, const struct sim_result *result,
                          struct sim_style style)
{
    char text[SIM_TEXT];
    for (uint32_t i = 0; i < result->violation_count; i++) {
        const struct sim_violation *violation = &result->violations[i];
        fprintf(out, "%sviolation%s   %s: %s\n", style.colour ? "\033[31m" : "", style.colour ? "\033[0m" : "",
                sim_violation_text(world->plan, violation, text), sim_violation_meaning(violation->kind));
        explain(out, world, violation);
    }
}
