/* JSON Lines: one flat object a record, its keys always in the same order. For jq, pandas and the like. */
#include "sim/internal.h"
#include "sim/output/export.h"
#include "sim/output/text.h"

static const char *const words[] = {
    [SIM_DID_NOTHING] = "nothing", [SIM_STARTED] = "started",     [SIM_CAMPAIGNED] = "campaigned",
    [SIM_SENT] = "sent",           [SIM_DELIVERED] = "delivered", [SIM_DROPPED] = "dropped",
    [SIM_COPIED] = "copied",       [SIM_RETURNED] = "returned",   [SIM_TIMED_OUT] = "timed-out",
    [SIM_SUSPECTED] = "suspected", [SIM_TRUSTED] = "trusted",     [SIM_NOTED] = "noted",
    [SIM_VIEWED] = "viewed",       [SIM_CRASHED] = "crashed",     [SIM_RESTARTED] = "restarted",
    [SIM_PAUSED] = "paused",       [SIM_RESUMED] = "resumed",     [SIM_PARTED] = "parted",
    [SIM_HEALED] = "healed",       [SIM_SAVED] = "saved",         [SIM_RESTED] = "rested",
    [SIM_VIOLATED] = "violated",   [SIM_REQUESTED] = "requested", [SIM_TOLD] = "told",
    [SIM_ADMITTED] = "admitted",   [SIM_REFUSED] = "refused",     [SIM_JUMPED] = "jumped",
    [SIM_LOOPED] = "looped",
};

static const char *const roles[] = {
    [EL_IDLE] = "idle", [EL_ELECTING] = "electing", [EL_FOLLOWER] = "follower", [EL_LEADER] = "leader"};

static const char *const reasons[] = {[SIM_LOST] = "lost", [SIM_CUT] = "cut", [SIM_DEAD] = "dead"};

/* ---- Values ---- */

static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    while (*text) {
        const size_t length = sim_character(text);
        if (length == 0) {
            fputs(SIM_NO_CHARACTER, out);
        } else {
            if (*text == '"' || *text == '\\') putc('\\', out);
            fwrite(text, 1, length, out);
        }
        text += length ? length : 1;
    }
    putc('"', out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    put_string(out, text);
}

static void put_number(FILE *out, const char *key, uint64_t number)
{
    fprintf(out, ",\"%s\":%llu", key, (unsigned long long)number);
}

static void put_node(FILE *out, const struct sim_plan *plan, const char *key, el_node node)
{
    if (node) {
        put_number(out, key, sim_id(plan, node));
    } else {
        fprintf(out, ",\"%s\":null", key);
    }
}

/* ---- Records ---- */

static bool carries_set(const struct sim_plan *plan, const struct sim_record *r)
{
    return r->what == SIM_SENT && (plan->algorithm->set_kinds >> r->kind & 1u);
}

static void put_set(FILE *out, const struct sim_plan *plan, uint64_t set)
{
    const char *separator = "";
    fputs(",\"members\":[", out);
    for (el_node node = 1; node <= plan->cluster.count && node <= 64; node++) {
        if (!(set & el_bit(node))) continue;
        fprintf(out, "%s%llu", separator, sim_id(plan, node));
        separator = ",";
    }
    putc(']', out);
}

static void put_message(FILE *out, const struct sim_plan *plan, const struct sim_record *r, uint64_t message)
{
    put_text(out, "kind", plan->algorithm->kinds[r->kind]);
    put_node(out, plan, "subject", r->subject);
    if (carries_set(plan, r)) put_set(out, plan, r->values[1]);
    put_number(out, "message", message);
}

static void put_note(FILE *out, const struct sim_plan *plan, const struct sim_record *r)
{
    char text[SIM_TEXT];
    const struct el_algorithm *algorithm = plan->algorithm;
    put_text(out, "note", r->note < algorithm->note_count ? algorithm->notes[r->note].name : "core");
    put_text(out, "text", sim_note_text(plan, r, text));
}

static void put_view(FILE *out, const struct sim_plan *plan, const struct sim_record *r)
{
    put_node(out, plan, "leader", r->peer);
    put_text(out, "role", roles[r->role]);
    put_number(out, "term", r->number);
}

static void put_violation(FILE *out, const struct sim_world *world, const struct sim_record *r)
{
    const struct sim_violation *violation = &world->result.violations[r->number];
    put_text(out, "violation", el_violation_name(violation->kind));
    fputs(",\"nodes\":[", out);
    for (uint32_t i = 0; i < violation->node_count; i++)
        fprintf(out, "%s%llu", i ? "," : "", sim_id(world->plan, violation->nodes[i]));
    putc(']', out);
    char text[SIM_TEXT];
    put_text(out, "text", sim_violation_told(violation, text));
}

/* The keys that only this type of record has. */
static void put_details(FILE *out, const struct sim_world *world, const struct sim_record *r, uint64_t index)
{
    const struct sim_plan *plan = world->plan;
    switch ((enum sim_what)r->what) {
    case SIM_SENT:
        put_node(out, plan, "to", r->peer);
        put_message(out, plan, r, index);
        return;
    case SIM_RETURNED:
        put_node(out, plan, "to", r->peer);
        put_message(out, plan, r, r->number);
        return;
    case SIM_DELIVERED:
    case SIM_COPIED:
    case SIM_DROPPED:
        put_node(out, plan, "from", r->peer);
        put_message(out, plan, r, r->number);
        if (r->what == SIM_DROPPED) put_text(out, "reason", reasons[r->reason]);
        return;
    case SIM_TIMED_OUT: put_text(out, "timer", plan->algorithm->timers[r->kind]); return;
    case SIM_SUSPECTED:
    case SIM_TRUSTED: put_node(out, plan, "peer", r->peer); return;
    case SIM_NOTED: put_note(out, plan, r); return;
    case SIM_VIEWED: put_view(out, plan, r); return;
    case SIM_PARTED:
    case SIM_HEALED: put_text(out, "text", plan->breaks[r->number].text); return;
    case SIM_VIOLATED: put_violation(out, world, r); return;
    case SIM_REQUESTED:
        put_text(out, "request", r->kind == EL_RESIGN ? "resign" : "transfer");
        if (r->kind == EL_TRANSFER) put_node(out, plan, "to", r->peer);
        return;
    case SIM_TOLD:
        put_text(out, "fact", plan->algorithm->facts[r->kind]);
        put_number(out, "value", r->number);
        return;
    case SIM_ADMITTED:
    case SIM_REFUSED: put_number(out, "term", r->number); return;
    case SIM_LOOPED: put_number(out, "step", r->number); return;
    default: return;
    }
}

static void put_record(FILE *out, const struct sim_world *world, const struct sim_record *r, uint64_t index)
{
    fprintf(out, "{\"record\":%llu,\"time\":", (unsigned long long)index);
    sim_put_time(out, world->plan, r->time);
    put_text(out, "what", words[r->what]);
    if (r->node && r->what != SIM_VIOLATED) put_node(out, world->plan, "node", r->node);
    put_details(out, world, r, index);
    if (r->cause) put_number(out, "cause", r->cause);
    fputs("}\n", out);
}

/* Of a recording, in the order of the nodes. */
static void put_names(FILE *out, const struct sim_plan *plan)
{
    fputs(",\"recorded\":true,\"names\":[", out);
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        if (node > 1) putc(',', out);
        put_string(out, plan->names[node - 1]);
    }
    putc(']', out);
}

static void put_run(FILE *out, const struct sim_plan *plan)
{
    fputs("{\"what\":\"run\"", out);
    put_text(out, "algorithm", plan->algorithm->name);
    fputs(",\"nodes\":[", out);
    for (el_node node = 1; node <= plan->cluster.count; node++)
        fprintf(out, "%s%llu", node > 1 ? "," : "", sim_id(plan, node));
    putc(']', out);
    if (plan->names) put_names(out, plan);
    put_number(out, "seed", plan->seed);
    put_text(out, "unit", plan->in_units ? "T" : "ms");
    fputs("}\n", out);
}

int sim_write_jsonl(FILE *out, const struct sim_world *world)
{
    const struct sim_trace *trace = sim_world_trace(world);
    put_run(out, world->plan);
    for (uint64_t i = sim_trace_first(trace); i <= trace->count; i++)
        put_record(out, world, sim_trace_at(trace, i), i);
    return sim_written(out);
}
