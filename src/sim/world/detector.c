/*
 * The simulator's own failure detector. It reports a peer that has died or cannot be heard after the plan's
 * delay, and withdraws that after the same delay once the peer is back. A plan can make it miss a crash, and
 * commands can make it accuse live peers. Like any detector, it cannot tell a dead peer from one behind a
 * broken link.
 */
#include "sim/internal.h"

bool sim_detector_misses(const struct sim_world *world, el_node node, el_node peer)
{
    for (size_t i = 0; i < world->plan->miss_count; i++) {
        const struct sim_miss *miss = &world->plan->misses[i];
        if ((miss->node == EL_NOBODY || miss->node == node) && (miss->peer == EL_NOBODY || miss->peer == peer))
            return true;
    }
    return false;
}

/* node 0: every node checks the peer. */
static void look(struct sim_world *world, el_node node, el_node peer, uint64_t cause)
{
    const struct sim_event event = {.time = world->now + world->plan->detect,
                                    .cause = cause,
                                    .type = SIM_JUDGEMENT,
                                    .class = SIM_REQUESTS,
                                    .node = node,
                                    .incarnation = world->nodes[node].incarnation,
                                    .peer = peer};
    sim_push(world, &event);
    world->judging++;
}

void sim_detector_look_at(struct sim_world *world, el_node peer, uint64_t cause)
{
    if (world->plan->detect != SIM_NEVER) look(world, EL_NOBODY, peer, cause);
}

void sim_detector_look_from(struct sim_world *world, el_node node, uint64_t cause)
{
    if (world->plan->detect == SIM_NEVER) return;
    for (el_node peer = 1; peer <= world->plan->cluster.count; peer++)
        if (peer != node && (!world->nodes[peer].alive || sim_network_cut(world, peer, node)))
            look(world, node, peer, cause);
}

enum { BY_DETECTOR = 1, BY_COMMAND = 2 };

/* The reasons for a suspicion before and after; one reason is enough. */
static int change(struct sim_world *world, el_node node, el_node peer, uint64_t before, uint64_t after)
{
    if (!sim_map_set(&world->suspicions, node, peer, after)) world->result.out_of_memory = true;
    return (after != 0) - (before != 0);
}

int sim_detector_judge(struct sim_world *world, el_node node, el_node peer)
{
    const bool silent = !world->nodes[peer].alive || sim_network_cut(world, peer, node);
    const uint64_t before = sim_map_get(&world->suspicions, node, peer);
    return change(world, node, peer, before, silent ? before | BY_DETECTOR : before & ~(uint64_t)BY_DETECTOR);
}

int sim_detector_accuse(struct sim_world *world, el_node node, el_node peer, bool accused)
{
    const uint64_t before = sim_map_get(&world->suspicions, node, peer);
    if (!accused && before < BY_COMMAND) return 0; /* it forgot the accusation in a restart */
    return change(world, node, peer, before, accused ? before + BY_COMMAND : before - BY_COMMAND);
}

void sim_detector_verdict(struct sim_world *world, el_node node, el_node peer, bool suspected)
{
    const uint64_t before = sim_map_get(&world->suspicions, node, peer);
    const uint64_t after = suspected ? before | BY_DETECTOR : before & ~(uint64_t)BY_DETECTOR;
    const bool heard = world->nodes[peer].alive && !sim_network_cut(world, peer, node);
    if (suspected && heard) world->result.faults |= EL_FALSE_SUSPICIONS;
    const int verdict = change(world, node, peer, before, after);
    if (verdict != 0) sim_suspect(world, node, peer, verdict > 0, 0);
}

void sim_detector_forget(struct sim_world *world, el_node node)
{
    if (world->suspicions.used == 0) return;
    for (el_node peer = 1; peer <= world->plan->cluster.count; peer++)
        sim_map_set(&world->suspicions, node, peer, 0);
}
