/*
 * Ranks that take failures into account: each failure lowers a process's attribute, uptime raises it again. All
 * nodes see the same ranks, as with configuration; they are updated whenever the plan changes something.
 */
#include <stdlib.h>

#include "sim/internal.h"

static uint64_t priority(const struct sim_world *world, el_node node)
{
    const uint64_t *given = world->plan->cluster.attributes;
    return EL_PENALTY_MAX + (given ? given[node - 1] : 0);
}

bool sim_quality_begin(struct sim_world *world)
{
    const uint32_t count = world->plan->cluster.count;
    world->cluster = world->plan->cluster;
    if (world->plan->mercy == 0) return true;
    world->attributes = calloc(count, sizeof *world->attributes);
    world->qualities = calloc((size_t)count + 1, sizeof *world->qualities);
    if (!world->attributes || !world->qualities) return false;
    world->cluster.attributes = world->attributes;
    sim_quality_review(world);
    return true;
}

void sim_quality_failed(struct sim_world *world, el_node node)
{
    if (world->plan->mercy == 0) return;
    el_quality_failed(&world->qualities[node], world->now - world->nodes[node].born, world->plan->mercy);
}

void sim_quality_review(struct sim_world *world)
{
    if (world->plan->mercy == 0) return;
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        const struct sim_node *n = &world->nodes[node];
        const sim_time uptime = n->alive ? world->now - n->born : 0;
        world->attributes[node - 1] =
            el_quality_attribute(&world->qualities[node], priority(world, node), uptime, world->plan->mercy);
    }
    world->best_known = false;
}
