/* The main loop: take the earliest event, let the node react, carry out its actions, check the oracles. */
#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"

/* With more messages in flight than this, duplicates cause more duplicates and the run will not end. */
enum { IN_FLIGHT_MAX = 1 << 23 };

static void close_phase(struct sim_world *world)
{
    struct sim_result *result = &world->result;
    if (!world->phase_open) return;
    world->phase_open = false;
    const bool has_messages = !world->algorithm->beats && result->sent[0] != world->phase_messages;
    if (!world->phase_has_views && !has_messages) return; /* something happened, but no election */
    void *phases = realloc(result->phases, (result->phase_count + 1) * sizeof *result->phases);
    if (!phases) {
        result->out_of_memory = true;
        return;
    }
    result->phases = phases;
    result->phases[result->phase_count++] = (struct sim_phase){
        .began = world->phase_began,
        .ended = world->last_progress > world->phase_began ? world->last_progress : world->phase_began,
        .messages =
            (world->algorithm->beats ? world->progress_messages : result->sent[0]) - world->phase_messages,
        .leader = result->agreed ? result->leader : EL_NOBODY,
        .is_open = sim_is_endless(result)};
}

/* The election has nothing to do, even if its detector never stops changing its verdicts. */
static bool is_idle(const struct sim_world *world)
{
    const struct sim_machine *election = &world->machines[SIM_ELECTION];
    return !election->algorithm->beats && !election->in_flight && !election->armed && !world->judging;
}

/* True if no event is pending; or, if heartbeats never end, if nothing has changed for `settle`. */
static bool at_rest(const struct sim_world *world)
{
    if (world->judging || (!world->algorithm->beats && !is_idle(world))) return false;
    return !world->restless || world->now - world->changed >= world->plan->settle;
}

/* The resource alone goes on: a leader works on it until the end that was asked for, or once after the last change. */
static bool still_works(const struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    return plan->work && (plan->until != SIM_NEVER || world->now < world->changed + plan->work);
}

static void come_to_rest(struct sim_world *world)
{
    if (!world->phase_open) return;
    sim_record(world, (struct sim_record){.what = SIM_RESTED});
    sim_oracle_find_agreement(world);
    const bool over = world->restless ? world->commands_left == 0 : world->calls_left == 0;
    if (over) sim_oracle_judge_rest(world);
    close_phase(world);
}

static void run(struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    const sim_time end = plan->until != SIM_NEVER ? plan->until : plan->horizon;
    struct sim_event event;
    while (!world->result.out_of_memory) {
        if (at_rest(world)) {
            come_to_rest(world);
            if (world->commands_left == 0 && !still_works(world)) {
                world->result.came_to_rest = true;
                return;
            }
        }
        if (!sim_queue_pop(&world->queue, &event)) return;
        const bool flooded = plan->duplicate && world->machines[SIM_ELECTION].in_flight > IN_FLIGHT_MAX;
        const bool too_much = flooded || world->result.events == plan->event_max;
        if (event.time > end || too_much) {
            sim_push(world, &event); /* still under way */
            if (event.time > end) world->now = end;
            const bool cut_short = plan->until != SIM_NEVER && !too_much; /* as requested */
            if (plan->work && at_rest(world) && world->commands_left == 0) world->result.came_to_rest = true;
            if (!cut_short && !at_rest(world) && !is_idle(world)) sim_oracle_endless(world);
            return;
        }
        world->now = event.time;
        world->result.events++;
        if (!sim_put_off(world, &event)) sim_handle(world, &event);
    }
}

static uint32_t fault_of_rate(const struct sim_plan *plan, uint32_t rate)
{
    enum { TRUE_RATE = 1000000 };
    const uint32_t off = rate > TRUE_RATE ? rate - TRUE_RATE : TRUE_RATE - rate;
    return off == 0 ? 0 : EL_CLOCKS | (off > plan->cluster.drift ? EL_DRIFTS : 0);
}

static bool is_unguarded(const struct sim_plan *plan)
{
    const struct el_algorithm *algorithm = plan->algorithm;
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        if (option->kind == EL_FLAG && (strcmp(option->preset, "on") == 0) != (plan->options[i].number != 0))
            return true;
    }
    return false;
}

/* Sets the fault EL_UNNOTICED if a detector machine, or a script that has ended, left a crash unreported. */
static void find_unnoticed(struct sim_world *world)
{
    const uint32_t count = world->plan->cluster.count;
    const bool ended = world->result.came_to_rest || world->result.violation_kinds & EL_ENDLESS;
    if (!world->machines[SIM_DETECTOR].algorithm && !(world->plan->script && ended)) return;
    for (el_node peer = 1; peer <= count; peer++)
        for (el_node node = 1; node <= count && !world->nodes[peer].alive; node++)
            if (world->nodes[node].alive && sim_map_get(&world->suspicions, node, peer) == 0)
                world->result.faults |= EL_UNNOTICED;
}

static void schedule_commands(struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    for (size_t i = 0; i < plan->command_count; i++) {
        const struct sim_command *command = &plan->commands[i];
        const bool request = command->type == SIM_DO_CAMPAIGN || command->type == SIM_DO_SUSPECT ||
                             command->type == SIM_DO_TRUST || command->type == SIM_DO_RESIGN ||
                             command->type == SIM_DO_TRANSFER || command->type == SIM_DO_FACT;
        const struct sim_event event = {.time = command->at,
                                        .type = SIM_COMMAND,
                                        .class = request ? SIM_REQUESTS : SIM_FAULTS,
                                        .node = command->node,
                                        .command = (uint32_t)i};
        sim_push(world, &event);
        world->commands_left++;
        if (sim_is_call(command)) world->calls_left++;
    }
}

/* What is left in the queue is of no more use: the run is over. */
static void count_under_way(struct sim_world *world)
{
    struct sim_event event;
    world->result.under_way = world->stage.flight_count;
    while (sim_queue_pop(&world->queue, &event))
        world->result.under_way += event.type == SIM_DELIVERY && event.channel == SIM_ELECTION;
}

const struct sim_result *sim_world_run(struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        world->nodes[node].alive = true;
        sim_oracle_born(world, node);
    }
    if (plan->incumbent) sim_record(world, (struct sim_record){.what = SIM_STARTED, .node = plan->incumbent});
    world->setting_out = true;
    for (el_node node = 1; node <= plan->cluster.count; node++) sim_start(world, node, EL_FRESH, 0);
    world->setting_out = false;
    if (world->algorithm->beats) {
        world->called = true;
        if (!plan->incumbent) sim_election_begins(world);
    }
    for (el_node node = 1; plan->rates && node <= plan->cluster.count; node++)
        world->result.faults |= fault_of_rate(plan, plan->rates[node]);
    if (is_unguarded(plan)) world->result.faults |= EL_UNGUARDED;
    if (plan->script) {
        sim_stage_play(world);
    } else {
        if (plan->cluster.transmit_max < plan->delay.max) world->result.faults |= EL_LATENESS;
        schedule_commands(world);
        sim_resource_next(world);
        run(world);
    }
    find_unnoticed(world);
    if (plan->script && !world->result.came_to_rest) {
        sim_oracle_find_agreement(world);
    } else {
        sim_oracle_judge_rest(world);
    }
    close_phase(world);
    world->result.term = world->offices[sim_world_leading(world)].term;
    const bool has_turnaround = world->election_begun && !sim_is_endless(&world->result);
    world->result.turnaround = has_turnaround ? world->last_progress - world->began : 0;
    world->result.is_led = world->result.agreed && world->nodes[world->result.leader].alive &&
                           world->nodes[world->result.leader].leader == world->result.leader;
    count_under_way(world);
    world->result.ended = world->now;
    return &world->result;
}
