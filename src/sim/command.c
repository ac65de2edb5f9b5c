/* Carrying out what the plan says: calls, deaths and returns, pauses, broken links, accusations. */
#include <string.h>

#include "inner.h"

static void campaign(struct sim_world *world, el_node node)
{
    if (!world->nodes[node].alive) return;
    const el_node leader = world->nodes[node].leader;
    if (world->leader_count > 0 || (leader && world->nodes[leader].alive))
        world->result.faults |= EL_NEEDLESS_CALLS;
    sim_stir(world);
    world->called = true;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_CAMPAIGNED, .node = node});
    const struct el_event event = {.type = EL_REQUEST, .request = EL_CAMPAIGN};
    sim_react(world, node, &event, told);
}

static void crash(struct sim_world *world, el_node node)
{
    struct sim_node *n = &world->nodes[node];
    world->result.faults |= EL_CRASHES;
    sim_oracle_died(world, node);
    n->alive = false;
    n->paused = false;
    sim_timer_forget_all(world, node);
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_CRASHED, .node = node});
    bool missed = world->plan->detect == SIM_NEVER;
    for (el_node peer = 1; peer <= world->plan->cluster.count && world->plan->miss_count && !missed; peer++)
        missed = peer != node && sim_detector_misses(world, peer, node);
    if (missed) world->result.faults |= EL_UNNOTICED;
    sim_detector_look_at(world, node, told);
}

static void restart(struct sim_world *world, el_node node)
{
    struct sim_node *n = &world->nodes[node];
    world->result.faults |= EL_RESTARTS;
    memset(sim_state(world, node), 0, world->state_size);
    n->alive = true;
    n->incarnation++;
    n->born = world->now;
    sim_oracle_born(world, node);
    sim_detector_forget(world, node);
    sim_stir(world);
    world->called = true;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_RESTARTED, .node = node});
    sim_start(world, node, EL_RESTORED, told);
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
    const struct sim_break *b = &world->plan->breaks[number];
    for (el_node node = 1; node <= world->plan->cluster.count; node++)
        if (b->side ? b->side[node] != 0 : b->from == node) sim_detector_look_at(world, node, told);
}

static void accuse(struct sim_world *world, const struct sim_command *command, bool accused)
{
    if (accused) world->result.faults |= EL_FALSE_SUSPICIONS;
    if (!world->nodes[command->node].alive) return;
    const int verdict = sim_detector_accuse(world, command->node, command->peer, accused);
    if (verdict != 0) sim_suspect(world, command->node, command->peer, verdict > 0, 0);
}

/* Pauses may overlap; the last one to end counts. */
static void pause(struct sim_world *world, const struct sim_command *command)
{
    struct sim_node *n = &world->nodes[command->node];
    if (!n->alive) return;
    world->result.faults |= EL_PAUSES;
    if (!n->paused) sim_record(world, (struct sim_record){.what = SIM_PAUSED, .node = command->node});
    if (!n->paused || n->resume < command->until) n->resume = command->until;
    n->paused = true;
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

void sim_carry_out_command(struct sim_world *world, const struct sim_command *command)
{
    world->commands_left--;
    if (sim_is_call(command)) world->calls_left--;
    switch (command->type) {
    case SIM_DO_CAMPAIGN: campaign(world, command->node); return;
    case SIM_DO_CRASH: crash(world, command->node); return;
    case SIM_DO_RESTART: restart(world, command->node); return;
    case SIM_DO_PAUSE: pause(world, command); return;
    case SIM_DO_RESUME: resume(world, command); return;
    case SIM_DO_PART: set_break(world, command->break_number, true); return;
    case SIM_DO_HEAL: set_break(world, command->break_number, false); return;
    case SIM_DO_SUSPECT: accuse(world, command, true); return;
    case SIM_DO_TRUST: accuse(world, command, false); return;
    }
}
