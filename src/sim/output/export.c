/* Common parts of the export writers: fates of messages, times, characters. */
#include "sim/output/export.h"

#include <stdlib.h>

#include "base/clock.h"

struct sim_fate *sim_fates(const struct sim_trace *trace)
{
    struct sim_fate *fates = calloc(trace->count + 1, sizeof *fates);
    for (uint64_t i = sim_trace_first(trace); fates && i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        struct sim_fate *fate = &fates[r->number <= trace->count ? r->number : 0];
        if (r->what == SIM_DELIVERED && fate->arrivals < UINT8_MAX) fate->arrivals++;
        if (r->what != SIM_DROPPED) continue;
        fate->dropped = true;
        fate->reason = r->reason;
    }
    return fates;
}

unsigned long long sim_id(const struct sim_plan *plan, el_node node)
{
    return node >= 1 && node <= plan->cluster.count ? el_id(&plan->cluster, node) : 0;
}

void sim_put_time(FILE *out, const struct sim_plan *plan, sim_time time)
{
    const sim_time unit = plan->in_units ? plan->unit : NS_PER_MS;
    unsigned long long millionths = time % unit * 1000000 / unit; /* a unit is at most 1000 s: no overflow */
    int digits = 6;
    fprintf(out, "%llu", (unsigned long long)(time / unit));
    if (millionths == 0) return;
    for (; millionths % 10 == 0; millionths /= 10) digits--;
    fprintf(out, ".%0*llu", digits, millionths);
}

static bool continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t sim_character(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) return at[0] >= 0x20 && at[0] != 0x7F;
    if (at[0] < 0xC2 || at[0] > 0xF4 || !continues(at[1])) return 0;
    if (at[0] < 0xE0) return at[0] == 0xC2 && at[1] < 0xA0 ? 0 : 2; /* U+0080 to U+009F are controls */
    if (!continues(at[2])) return 0;
    if (at[0] < 0xF0) { /* not overlong, not a surrogate, not U+FFFE or U+FFFF */
        if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F)) return 0;
        return at[0] == 0xEF && at[1] == 0xBF && at[2] >= 0xBE ? 0 : 3;
    }
    if ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F)) return 0;
    return continues(at[3]) ? 4 : 0;
}

int sim_written(FILE *out)
{
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}
