/* Keeping records: all of them, or the last N. */
#include "sim/output/trace.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

bool sim_trace_init(struct sim_trace *trace, uint64_t keep)
{
    *trace = (struct sim_trace){.all = keep == SIM_KEEP_ALL};
    if (keep == 0) return true;
    trace->capacity = trace->all ? FIRST_CAPACITY : keep;
    trace->records = calloc(trace->capacity, sizeof *trace->records);
    return trace->records != NULL;
}

void sim_trace_free(struct sim_trace *trace)
{
    free(trace->records);
    *trace = (struct sim_trace){0};
}

static bool grow(struct sim_trace *trace)
{
    void *records = realloc(trace->records, 2 * trace->capacity * sizeof *trace->records);
    if (!records) return false;
    trace->records = records;
    trace->capacity *= 2;
    return true;
}

uint64_t sim_trace_add(struct sim_trace *trace, const struct sim_record *record)
{
    if (trace->capacity == 0) return 0;
    /* Out of memory: from now on keep only the last `capacity` records. */
    if (trace->all && trace->count == trace->capacity && !grow(trace)) trace->all = false;
    trace->records[trace->count++ % trace->capacity] = *record;
    return trace->count;
}

uint64_t sim_trace_first(const struct sim_trace *trace)
{
    return trace->count > trace->capacity ? trace->count - trace->capacity + 1 : 1;
}

const struct sim_record *sim_trace_at(const struct sim_trace *trace, uint64_t index)
{
    if (index < sim_trace_first(trace) || index > trace->count) return NULL;
    return &trace->records[(index - 1) % trace->capacity];
}
