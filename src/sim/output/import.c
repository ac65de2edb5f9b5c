/* See import.h. */
#include "sim/output/import.h"

#include <stdlib.h>

#include "sim/internal.h"

struct sim_world *sim_import_new(const struct sim_plan *plan)
{
    struct sim_world *world = calloc(1, sizeof *world);
    if (!world) return NULL;
    world->plan = plan;
    world->algorithm = plan->algorithm;
    world->nodes = calloc((size_t)plan->cluster.count + 1, sizeof *world->nodes);
    for (el_node node = 1; world->nodes && node <= plan->cluster.count; node++) world->nodes[node].alive = true;
    if (world->nodes && sim_trace_init(&world->trace, SIM_KEEP_ALL)) return world;
    sim_world_free(world);
    return NULL;
}

/* Finds the leader that all live nodes name, if there is one. */
static void look_for_agreement(struct sim_world *world)
{
    struct sim_result *result = &world->result;
    result->leader = EL_NOBODY;
    result->agreed = true;
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        if (!world->nodes[node].alive) continue;
        const el_node named = world->nodes[node].leader;
        if (named == EL_NOBODY || (result->leader && result->leader != named)) result->agreed = false;
        result->leader = named;
    }
    result->agreed = result->agreed && result->leader != EL_NOBODY;
}

static void count(struct sim_world *world, const struct sim_record *r)
{
    struct sim_result *result = &world->result;
    struct sim_node *node = &world->nodes[r->node];
    switch ((enum sim_what)r->what) {
    case SIM_SENT:
        result->sent[0]++;
        if (r->kind < SIM_KINDS_MAX) result->sent[r->kind]++;
        return;
    case SIM_DELIVERED: result->delivered++; return;
    case SIM_VIEWED:
        node->leader = r->peer;
        node->role = r->role;
        break;
    case SIM_CRASHED:
    case SIM_RESTARTED:
        node->alive = r->what == SIM_RESTARTED;
        node->leader = EL_NOBODY;
        break;
    default: return;
    }
    look_for_agreement(world);
}

uint64_t sim_import_record(struct sim_world *world, const struct sim_record *record)
{
    world->now = world->result.ended = record->time;
    if (record->node) count(world, record);
    return sim_trace_add(&world->trace, record);
}

void sim_import_violation(struct sim_world *world, enum el_violation kind, sim_time time, el_node one,
                          el_node other)
{
    struct sim_result *result = &world->result;
    const uint32_t count = one == other ? 1 : 2;
    result->violation_kinds |= kind;
    if (result->violation_count == SIM_VIOLATIONS_MAX) return;
    const uint32_t place = result->violation_count++;
    struct sim_violation *violation = &result->violations[place];
    *violation = (struct sim_violation){
        .kind = kind, .time = time, .nodes = {one, other}, .node_count = count, .total = count};
    violation->record =
        sim_import_record(world, &(struct sim_record){.time = time, .what = SIM_VIOLATED, .number = place});
}
