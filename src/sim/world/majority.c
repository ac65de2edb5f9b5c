/*
 * The expected result of a majority election with broken links. If some candidate reaches a majority of all
 * members both ways, there must be such a leader, and every node it reaches must follow it. If no candidate
 * does, having no leader is no violation. Where members elect on a store, reaching it takes the place of reaching a
 * majority, and the members that reach it must follow.
 */
#include "sim/internal.h"

bool sim_reaches_both_ways(const struct sim_world *world, el_node a, el_node b)
{
    return world->nodes[a].alive && world->nodes[b].alive &&
           (a == b || (!sim_network_cut(world, a, b) && !sim_network_cut(world, b, a)));
}

static bool is_observer(const struct el_cluster *cluster, el_node node)
{
    return cluster->roles && cluster->roles[node - 1] == EL_OBSERVER;
}

static bool reaches_majority(const struct sim_world *world, el_node node)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    uint32_t reached = 0, counted = 0;
    if (world->algorithm->store) return sim_reaches_both_ways(world, node, cluster->count);
    for (el_node peer = 1; peer <= cluster->count; peer++) {
        if (is_observer(cluster, peer)) continue;
        counted++;
        reached += sim_reaches_both_ways(world, node, peer);
    }
    return reached > counted / 2;
}

bool sim_majority_possible(const struct sim_world *world)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    if (!cluster->roles && !world->algorithm->store && world->alive_count <= cluster->count / 2) return false;
    for (el_node node = 1; node <= cluster->count; node++)
        if (el_may_lead(cluster, node) && reaches_majority(world, node)) return true;
    return false;
}

/* The leader that reaches a majority; of several, the one with the highest term. */
static el_node rightful_leader(const struct sim_world *world)
{
    el_node found = EL_NOBODY;
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        const bool leads = world->nodes[node].alive && world->nodes[node].role == EL_LEADER;
        if (!leads || !reaches_majority(world, node)) continue;
        if (!found || world->offices[node].term > world->offices[found].term) found = node;
    }
    return found;
}

static bool could_lead(struct sim_world *world, el_node node)
{
    return el_may_lead(&world->plan->cluster, node) && reaches_majority(world, node);
}

/* News of the leader comes from the leader itself, or from the store. */
static bool is_reached(const struct sim_world *world, el_node node)
{
    const el_node source = world->algorithm->store ? world->plan->cluster.count : rightful_leader(world);
    return sim_reaches_both_ways(world, source, node);
}

static bool is_reached_and_names_nobody(struct sim_world *world, el_node node)
{
    return world->nodes[node].leader == EL_NOBODY && is_reached(world, node);
}

static bool is_reached_and_names_another(struct sim_world *world, el_node node)
{
    const el_node leader = rightful_leader(world), named = world->nodes[node].leader;
    return named != EL_NOBODY && named != leader && is_reached(world, node);
}

void sim_majority_judge(struct sim_world *world)
{
    if (!sim_majority_possible(world)) return;
    if (rightful_leader(world) == EL_NOBODY) {
        sim_oracle_report_those(world, EL_NO_LEADER, could_lead);
        return;
    }
    sim_oracle_report_those(world, EL_NO_LEADER, is_reached_and_names_nobody);
    sim_oracle_report_those(world, EL_DISAGREEMENT, is_reached_and_names_another);
}
