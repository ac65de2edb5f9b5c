/*
 * Members that change (struct el_record). How members decide the next record is not simulated: a command CHANGE asks
 * for it, and it is decided as soon as a majority of the voters of the last one live, have installed it, and know its
 * era to be sole. One of them installs it at once. A member that hears of a record by any message says so by a note;
 * its host asks for the record and gets it one round trip later, or not, as messages are lost.
 */
#include "sim/internal.h"

static struct el_membership known_to(struct sim_world *world, el_node node)
{
    const struct sim_machine *machine = &world->machines[SIM_ELECTION];
    const struct el_config cfg = {machine->cluster, node};
    struct el_membership known = {0};
    if (machine->algorithm->membership) machine->algorithm->membership(sim_state(machine, node), &cfg, &known);
    return known;
}

static bool votes_by(const struct el_cluster *cluster, uint32_t record, el_node node)
{
    if (record) return cluster->records[record - 1].voters & el_bit(node);
    return !cluster->roles || cluster->roles[node - 1] == EL_CANDIDATE ||
           cluster->roles[node - 1] == EL_ORDINARY;
}

bool sim_may_lead(const struct sim_world *world, el_node node)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    if (world->records.decided) return cluster->records[world->records.decided - 1].leaders & el_bit(node);
    return el_may_lead(cluster, node);
}

static bool reaches_majority_by(const struct sim_world *world, el_node node, uint32_t record)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    uint32_t reached = 0, counted = 0;
    for (el_node peer = 1; peer <= cluster->count; peer++) {
        if (!votes_by(cluster, record, peer)) continue;
        counted++;
        reached += sim_reaches_both_ways(world, node, peer);
    }
    return reached > counted / 2;
}

/* Of the voters of before, too, until somebody knows that the era is sole. */
bool sim_reaches_voters(const struct sim_world *world, el_node node)
{
    const uint32_t decided = world->records.decided;
    if (!reaches_majority_by(world, node, decided)) return false;
    return decided == 0 || world->records.is_sole || reaches_majority_by(world, node, decided - 1);
}

static void tell(struct sim_world *world, el_node node, uint32_t record, uint64_t cause)
{
    const struct el_event event = {.type = EL_FACT,
                                   .fact = world->algorithm->record_fact,
                                   .value = world->records.floors[record] << EL_RECORD_SHIFT | (record + 1)};
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_TOLD,
                                                                .cause = cause,
                                                                .node = node,
                                                                .kind = (uint8_t)event.fact,
                                                                .number = event.value});
    sim_react(world, node, SIM_ELECTION, &event, told);
}

/* The member that proposes: a leader, if it can; otherwise the first that can. Nobody: no majority can decide. */
static el_node proposer(struct sim_world *world)
{
    const struct el_cluster *cluster = &world->plan->cluster;
    const uint32_t decided = world->records.decided;
    uint32_t all = 0, able = 0;
    el_node found = EL_NOBODY;
    for (el_node node = 1; node <= cluster->count; node++) {
        if (!votes_by(cluster, decided, node)) continue;
        all++;
        const struct el_membership known = known_to(world, node);
        if (!world->nodes[node].alive || world->nodes[node].paused || known.record != decided || !known.is_sole)
            continue;
        able++;
        if (!found || world->nodes[node].role == EL_LEADER) found = node;
    }
    return able > all / 2 ? found : EL_NOBODY;
}

/* A leader that loses the right to lead has been asked to stop, so to speak. */
static void ask_to_stop(struct sim_world *world, uint64_t leaders)
{
    for (el_node node = 1; node <= world->plan->cluster.count; node++)
        if (!(leaders & el_bit(node))) world->offices[node].asked = true;
}

void sim_records_review(struct sim_world *world)
{
    struct sim_records *records = &world->records;
    if (records->wanted == 0 && records->is_sole) return;
    for (el_node node = 1; node <= world->plan->cluster.count && !records->is_sole; node++) {
        const struct el_membership known = known_to(world, node);
        records->is_sole = known.record == records->decided && known.is_sole && world->nodes[node].alive;
    }
    const el_node first = records->wanted ? proposer(world) : EL_NOBODY;
    if (first == EL_NOBODY) return;
    records->wanted--;
    records->floors[records->decided + 1] = known_to(world, first).floor;
    records->decided++;
    records->is_sole = false;
    sim_change(world);
    ask_to_stop(world, world->plan->cluster.records[records->decided - 1].leaders);
    tell(world, first, records->decided, 0);
}

void sim_records_want(struct sim_world *world)
{
    world->records.wanted++;
    sim_records_review(world);
}

/* The host asks the peer for the record. */
void sim_records_ask(struct sim_world *world, el_node node, uint64_t number, uint64_t cause)
{
    struct sim_machine *machine = &world->machines[SIM_ELECTION];
    const struct sim_plan *plan = world->plan;
    if (plan->script || number < 2 || number > world->records.decided + 1) return;
    if (world->records.asked & el_bit(node)) return;
    if (plan->loss && sim_random_chance(&machine->random[SIM_STREAM_LOSS], plan->loss)) return;
    const sim_time there = sim_draw_delay(&plan->delay, &machine->random[SIM_STREAM_DELAY]),
                   back = sim_draw_delay(&plan->delay, &machine->random[SIM_STREAM_DELAY]);
    world->records.asked |= el_bit(node);
    const struct sim_event event = {.time = world->now + there + back,
                                    .cause = cause,
                                    .type = SIM_RECORD_CAME,
                                    .class = SIM_REQUESTS,
                                    .node = node,
                                    .incarnation = world->nodes[node].incarnation,
                                    .command = (uint32_t)number - 1};
    sim_push(world, &event);
}

void sim_records_came(struct sim_world *world, const struct sim_event *event)
{
    const struct sim_node *n = &world->nodes[event->node];
    world->records.asked &= ~el_bit(event->node);
    if (n->alive && n->incarnation == event->incarnation)
        tell(world, event->node, event->command, event->cause);
}
