/* Carrying out the plan's commands: calls, crashes and restarts, pauses, broken links, accusations. */
#include <string.h>

#include "sim/internal.h"

static void campaign(struct sim_world *world, el_node node)
{
    if (!world->nodes[node].alive) return;
    const el_node leader = world->nodes[node].leader;
    if (world->leader_count > 0 || (leader && world->nodes[leader].alive))
        world->result.faults |= EL_NEEDLESS_CALLS;
    sim_election_begins(world);
    /* In a majority election only a candidate's call starts an election. */
    if (!world->algorithm->majority || el_may_lead(&world->cluster, node)) world->called = true;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_CAMPAIGNED, .node = node});
    const struct el_event event = {.type = EL_REQUEST, .request = EL_CAMPAIGN};
    sim_react(world, node, SIM_ELECTION, &event, told);
}

static void request(struct sim_world *world, const struct sim_command *command, el_node node,
                    enum el_request_what what)
{
    if (node == EL_NOBODY) node = sim_world_leading(world);
    if (node == EL_NOBODY || !world->nodes[node].alive || node == command->peer) return;
    sim_election_begins(world);
    world->offices[node].asked = true; /* reset if it declines */
    const uint64_t told = sim_record(
        world,
        (struct sim_record){.what = SIM_REQUESTED, .node = node, .peer = command->peer, .kind = (uint8_t)what});
    const struct el_event event = {.type = EL_REQUEST, .peer = command->peer, .request = what};
    sim_react(world, node, SIM_ELECTION, &event, told);
}

static void tell_fact(struct sim_world *world, const struct sim_command *command)
{
    if (!world->nodes[command->node].alive) return;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_TOLD,
                                                                .node = command->node,
                                                                .kind = (uint8_t)command->fact,
                                                                .number = command->value});
    const struct el_event event = {.type = EL_FACT, .fact = command->fact, .value = command->value};
    sim_react(world, command->node, SIM_ELECTION, &event, told);
}

static void jump(struct sim_world *world, const struct sim_command *command)
{
    if (!world->nodes[command->node].alive) return;
    world->result.faults |= EL_DRIFTS;
    sim_record(world, (struct sim_record){
                          .what = SIM_JUMPED, .node = command->node, .number = (uint64_t)command->leap});
    sim_timer_jump(world, command->node, command->leap);
}

/* An algorithm with its own timers reacts to a fault without a call. */
static void begin_election_by_fault(struct sim_world *world)
{
    if (world->algorithm->beats) sim_election_begins(world);
}

static void crash(struct sim_world *world, el_node node)
{
    if (node == EL_NOBODY) node = sim_world_leading(world);
    struct sim_node *n = &world->nodes[node];
    if (node == EL_NOBODY || !n->alive) return;
    world->result.faults |= EL_CRASHES;
    begin_election_by_fault(world);
    sim_disk_crash(world, node);
    sim_quality_failed(world, node);
    sim_oracle_died(world, node);
    n->alive = false;
    n->paused = false;
    sim_quality_review(world);
    sim_timer_forget_all(world, node);
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_CRASHED, .node = node});
    if (world->view_listener)
        world->view_listener(world->view_context, told, node, &(struct el_view){.leader = EL_NOBODY});
    const bool someone_tells = world->machines[SIM_DETECTOR].algorithm || world->plan->script;
    bool missed = world->plan->detect == SIM_NEVER && !someone_tells;
    for (el_node peer = 1; peer <= world->plan->cluster.count && world->plan->miss_count && !missed; peer++)
        missed = peer != node && sim_detector_misses(world, peer, node);
    if (missed) world->result.faults |= EL_UNNOTICED;
    sim_detector_look_at(world, node, told);
}

static void restart(struct sim_world *world, const struct sim_command *command)
{
    const el_node node = command->node;
    struct sim_node *n = &world->nodes[node];
    if (n->alive) return;
    world->result.faults |= EL_RESTARTS | (command->wiped ? EL_WIPES : 0);
    struct sim_disk *disk = &world->disks[node];
    if (command->wiped) *disk = (struct sim_disk){.lost = true};
    const bool keeps_state = world->algorithm->store && node == world->cluster.count && !disk->lost;
    for (int channel = 0; channel < SIM_CHANNELS; channel++) {
        const struct sim_machine *machine = &world->machines[channel];
        if (channel == SIM_ELECTION && keeps_state) continue;
        if (machine->algorithm) memset(sim_state(machine, node), 0, machine->state_size);
    }
    world->offices[node].asked = world->offices[node].settled = false;
    n->alive = true;
    n->incarnation++;
    n->born = world->now;
    sim_oracle_born(world, node);
    sim_detector_forget(world, node);
    sim_election_begins(world);
    world->called = true;
    const uint64_t told =
        sim_record(world, (struct sim_record){.what = SIM_RESTARTED, .node = node, .number = disk->lost});
    sim_start(world, node, disk->lost ? EL_LOST : EL_RESTORED, told);
    sim_detector_look_at(world, node, told);
    sim_detector_look_from(world, node, told);
}

static void set_break(struct sim_world *world, uint32_t number, bool broken)
{
    world->broken[number] = broken;
    if (broken) {
        world->broken_count++;
        world->result.faults |= EL_PARTITIONS;
    } else {
        world->broken_count--;
    }
    const uint64_t told =
        sim_record(world, (struct sim_record){.what = broken ? SIM_PARTED : SIM_HEALED, .number = number});
    begin_election_by_fault(world);
    const struct sim_break *b = &world->plan->breaks[number];
    for (el_node node = 1; node <= world->plan->cluster.count; node++)
        if (b->side ? b->side[node] != 0 : b->from == node) sim_detector_look_at(world, node, told);
}

static void accuse(struct sim_world *world, const struct sim_command *command, bool accused)
{
    if (!world->nodes[command->node].alive) return;
    if (accused && world->nodes[command->peer].alive) world->result.faults |= EL_FALSE_SUSPICIONS;
    const int verdict = sim_detector_accuse(world, command->node, command->peer, accused);
    if (verdict != 0) sim_suspect(world, command->node, command->peer, verdict > 0, 0);
}

/* Pauses may overlap; the latest end counts. */
static void pause(struct sim_world *world, const struct sim_command *command)
{
    struct sim_node *n = &world->nodes[command->node];
    if (!n->alive) return;
    world->result.faults |= EL_PAUSES;
    if (!n->paused) sim_record(world, (struct sim_record){.what = SIM_PAUSED, .node = command->node});
    if (!n->paused || n->resume < command->until) n->resume = command->until;
    n->paused = true;
    begin_election_by_fault(world);
}

static void resume(struct sim_world *world, const struct sim_command *command)
{
    struct sim_node *n = &world->nodes[command->node];
    if (!n->paused || world->now < n->resume) return;
    n->paused = false;
    sim_record(world, (struct sim_record){.what = SIM_RESUMED, .node = command->node});
}

bool sim_is_call(const struct sim_command *command)
{
    return command->type == SIM_DO_CAMPAIGN || command->type == SIM_DO_SUSPECT;
}

void sim_apply_command(struct sim_world *world, const struct sim_command *command, el_node node)
{
    sim_change(world);
    sim_quality_review(world);
    switch (command->type) {
    case SIM_DO_CAMPAIGN: campaign(world, command->node); return;
    case SIM_DO_CRASH: crash(world, command->node); return;
    case SIM_DO_RESTART: restart(world, command); return;
    case SIM_DO_PAUSE: pause(world, command); return;
    case SIM_DO_RESUME: resume(world, command); return;
    case SIM_DO_PART: set_break(world, command->break_number, true); return;
    case SIM_DO_HEAL: set_break(world, command->break_number, false); return;
    case SIM_DO_SUSPECT: accuse(world, command, true); return;
    case SIM_DO_TRUST: accuse(world, command, false); return;
    case SIM_DO_RESIGN: request(world, command, node, EL_RESIGN); return;
    case SIM_DO_TRANSFER: request(world, command, node, EL_TRANSFER); return;
    case SIM_DO_FACT: tell_fact(world, command); return;
    case SIM_DO_JUMP: jump(world, command); return;
    case SIM_DO_CHANGE: sim_records_want(world); return;
    }
}

void sim_carry_out_command(struct sim_world *world, const struct sim_command *command, el_node node)
{
    world->commands_left--;
    if (sim_is_call(command)) world->calls_left--;
    sim_apply_command(world, command, node);
}
