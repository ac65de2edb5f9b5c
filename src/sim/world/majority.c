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

/* So it has sessions with voters only. Where records may follow, all members have sessions with each other. */
static bool has_no_vote(const struct el_cluster *cluster, el_node node)
{
    return cluster->roles && cluster->record_count == 0 &&
           (cluster->roles[node - 1] == EL_OBSERVER || cluster->roles[node - 1] == EL_VOTELESS);
}

static bool reaches_majority(const struct sim_world *world, el_node node)
{
    if (world->algorithm->store) return sim_reaches_both_ways(world, node, world->plan->cluster.count);
    return sim_reaches_voters(world, node);
}

bool sim_majority_possible(const struct sim_world *world)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    const bool all_vote = !cluster->roles && !world->algorithm->store && world->records.decided == 0;
    if (all_vote && world->alive_count <= cluster->count / 2) return false;
    for (el_node node = 1; node <= cluster->count; node++)
        if (sim_may_lead(world, node) && reaches_majority(world, node)) return true;
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
    return sim_may_lead(world, node) && reaches_majority(world, node);
}

/* A voter that both reach. */
static bool is_reached_by_a_voter(const struct sim_world *world, el_node leader, el_node node)
{
    for (el_node voter = 1; voter <= world->plan->cluster.count; voter++)
        if (!has_no_vote(&world->plan->cluster, voter) && sim_reaches_both_ways(world, leader, voter) &&
            sim_reaches_both_ways(world, voter, node))
            return true;
    return false;
}

/* News of the leader comes from the leader itself, or from the store. Of two that have no vote neither hears the other. */
static bool is_reached(const struct sim_world *world, el_node node)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    const el_node source = world->algorithm->store ? cluster->count : rightful_leader(world);
    if (source != node && has_no_vote(cluster, source) && has_no_vote(cluster, node))
        return is_reached_by_a_voter(world, source, node);
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
