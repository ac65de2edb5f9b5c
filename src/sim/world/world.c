/* Makes a world and frees it, and answers questions about it. */
#include "sim/world/world.h"

#include <stdlib.h>

#include "sim/internal.h"

static bool make_machine(struct sim_machine *machine, const struct el_algorithm *algorithm,
                         const struct el_cluster *cluster, uint64_t seed, uint64_t first_stream)
{
    if (!algorithm) return true;
    const uint64_t bound = el_outbox_bound(algorithm, cluster->count);
    machine->algorithm = algorithm;
    machine->cluster = cluster;
    machine->state_size = el_state_size(algorithm, cluster->count);
    machine->states = calloc(cluster->count, machine->state_size + !machine->state_size);
    machine->outbox.actions = calloc(bound, sizeof *machine->outbox.actions);
    machine->outbox.capacity = (uint32_t)bound;
    for (uint64_t stream = 0; stream < SIM_STREAMS; stream++)
        sim_random_seed(&machine->random[stream], seed, first_stream + stream);
    return machine->states && machine->outbox.actions;
}

struct sim_world *sim_world_new(const struct sim_plan *plan, uint64_t keep)
{
    enum { DETECTOR_STREAMS = 64 };
    struct sim_world *world = calloc(1, sizeof *world);
    if (!world) return NULL;
    const uint32_t count = plan->cluster.count;
    world->plan = plan;
    world->algorithm = plan->algorithm;
    world->restless = plan->algorithm->beats || plan->detector;
    world->records.is_sole = true;
    world->nodes = calloc((size_t)count + 1, sizeof *world->nodes);
    world->offices = calloc((size_t)count + 1, sizeof *world->offices);
    world->disks = calloc((size_t)count + 1, sizeof *world->disks);
    world->broken = calloc(plan->break_count + 1, sizeof *world->broken);
    const bool machines =
        world->nodes && sim_quality_begin(world) &&
        make_machine(&world->machines[SIM_ELECTION], plan->algorithm, &world->cluster, plan->seed, 0) &&
        make_machine(&world->machines[SIM_DETECTOR], plan->detector, &plan->detector_cluster,
                     plan->detector_seed, DETECTOR_STREAMS);
    if (!machines || !world->nodes || !world->offices || !world->disks || !world->broken ||
        !sim_trace_init(&world->trace, keep)) {
        sim_world_free(world);
        return NULL;
    }
    for (el_node node = 1; node <= count; node++)
        world->nodes[node].rate = plan->rates ? plan->rates[node] : 1000000;
    return world;
}

void sim_world_free(struct sim_world *world)
{
    if (!world) return;
    sim_queue_free(&world->queue);
    sim_trace_free(&world->trace);
    sim_map_free(&world->suspicions);
    sim_map_free(&world->terms);
    sim_map_free(&world->timers_by_number);
    free(world->stage.flight);
    for (int channel = 0; channel < SIM_CHANNELS; channel++) {
        sim_map_free(&world->machines[channel].last_arrival);
        free(world->machines[channel].states);
        free(world->machines[channel].outbox.actions);
    }
    free(world->nodes);
    free(world->offices);
    free(world->disks);
    free(world->attributes);
    free(world->qualities);
    free(world->broken);
    free(world->timers);
    free(world->result.phases);
    free(world);
}

void sim_world_listen(struct sim_world *world, sim_listener *listener, void *context)
{
    world->listener = listener;
    world->listener_context = context;
}

void sim_world_listen_to_claims(struct sim_world *world, sim_claim_listener *listener, void *context)
{
    world->claim_listener = listener;
    world->claim_context = context;
}

void sim_world_listen_to_views(struct sim_world *world, sim_view_listener *listener, void *context)
{
    world->view_listener = listener;
    world->view_context = context;
}

const struct sim_result *sim_world_result(const struct sim_world *world)
{
    return &world->result;
}

const struct sim_trace *sim_world_trace(const struct sim_world *world)
{
    return &world->trace;
}

const struct sim_plan *sim_world_plan(const struct sim_world *world)
{
    return world->plan;
}

el_node sim_world_leader_of(const struct sim_world *world, el_node node)
{
    return world->nodes[node].leader;
}

bool sim_world_view(const struct sim_world *world, el_node node, struct el_view *view)
{
    const struct sim_machine *machine = &world->machines[SIM_ELECTION];
    const struct el_config cfg = {machine->cluster, node};
    if (!world->nodes[node].alive) return false;
    machine->algorithm->view(sim_state(machine, node), &cfg, view);
    view->leader = world->nodes[node].leader; /* a new claim that waits for the disk is none yet */
    view->role = world->nodes[node].role;
    return true;
}

el_node sim_world_leading(const struct sim_world *world)
{
    if (world->leader_count == 0) return EL_NOBODY;
    el_node leading = EL_NOBODY; /* of several, the one with the highest term */
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        const bool leads = world->nodes[node].alive && world->nodes[node].role == EL_LEADER;
        if (leads && (!leading || world->offices[node].term > world->offices[leading].term)) leading = node;
    }
    return leading;
}

sim_time sim_world_tenure(const struct sim_world *world, el_node leading)
{
    return world->now - world->offices[leading].since;
}

bool sim_world_alive(const struct sim_world *world, el_node node)
{
    return world->nodes[node].alive;
}

uint64_t sim_world_bytes_per_node(const struct sim_world *world)
{
    return world->machines[SIM_ELECTION].state_size + sizeof *world->nodes;
}
