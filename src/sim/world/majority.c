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

static bool has_role(const struct el_cluster *cluster, el_node node, uint8_t role)
{
    return cluster->roles && cluster->roles[node - 1] == role;
}

/* By no record up to the last that was decided. */
static bool never_voted(const struct sim_world *world, el_node node)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    for (uint32_t record = 1; record <= world->records.decided; record++)
        if (cluster->records[record - 1].voters & el_bit(node)) return false;
    return has_role(cluster, node, EL_OBSERVER) || has_role(cluster, node, EL_VOTELESS);
}

static bool is_candidate(const struct sim_world *world, el_node node)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    const uint32_t decided = world->records.decided;
    const bool leads =
        decided ? cluster->records[decided - 1].leaders & el_bit(node) : has_role(cluster, node, EL_VOTELESS);
    return leads && never_voted(world, node);
}

/* A member that never voted has sessions with voters only; where records may follow, only a candidate has. */
static bool hear_each_other(const struct sim_world *world, el_node a, el_node b)
{
    if (a == b || !never_voted(world, a) || !never_voted(world, b)) return true;
    return world->plan->cluster.record_count > 0 && !is_candidate(world, a) && !is_candidate(world, b);
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
        if (!never_voted(world, voter) && sim_reaches_both_ways(world, leader, voter) &&
            sim_reaches_both_ways(world, voter, node))
            return true;
    return false;
}

/* News of the leader comes from the leader itself, or from the store. Of two that have no vote neither hears the other. */
static bool is_reached(const struct sim_world *world, el_node node)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    const el_node source = world->algorithm->store ? cluster->count : rightful_leader(world);
    if (!hear_each_other(world, source, node)) return is_reached_by_a_voter(world, source, node);
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
