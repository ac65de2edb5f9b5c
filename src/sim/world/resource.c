/*
 * A resource that every node can reach, even if links are cut. Every node that believes it leads works on it
 * and presents its term. The guard admits no term older than the highest it has seen. Two events are
 * recorded: the first work of a newer leader, and the first refusal of a stale one. A leader of an election without
 * terms has no token; its work is refused too, but counted apart, since no other leader need exist.
 */
#include "sim/internal.h"

void sim_resource_next(struct sim_world *world)
{
    if (world->plan->work == 0) return;
    const struct sim_event event = {
        .time = world->now + world->plan->work, .type = SIM_WORK, .class = SIM_REQUESTS};
    sim_push(world, &event);
}

static void tell(struct sim_world *world, enum sim_what what, el_node node, uint64_t token)
{
    sim_record(world, (struct sim_record){.what = (uint8_t)what, .node = node, .number = token});
}

static void work(struct sim_world *world, el_node node)
{
    struct sim_office *office = &world->offices[node];
    if (office->term == 0) { /* nothing to check: its election has no terms */
        world->result.tokenless++;
        if (!office->refused) tell(world, SIM_REFUSED, node, 0);
        office->refused = true;
        return;
    }
    const enum el_guarded said = el_guard_admit(&world->guard, office->term);
    if (said == EL_REFUSED) {
        world->result.refused++;
        if (!office->refused) tell(world, SIM_REFUSED, node, office->term);
        office->refused = true;
        return;
    }
    world->result.admitted++;
    office->refused = false;
    if (said == EL_ADMITTED_NEWER) tell(world, SIM_ADMITTED, node, office->term);
}

void sim_resource_work(struct sim_world *world)
{
    for (el_node node = 1; node <= world->plan->cluster.count && world->leader_count; node++) {
        const struct sim_node *n = &world->nodes[node];
        const bool stands_still = n->paused && world->now < n->resume;
        if (n->alive && n->role == EL_LEADER && !stands_still) work(world, node);
    }
    sim_resource_next(world);
}
