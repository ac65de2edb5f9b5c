/* The main loop: take the earliest event, let the node react, carry out its actions, check the oracles. */
#include "sim/world/world.h"

#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"

void sim_push(struct sim_world *world, const struct sim_event *event)
{
    if (!sim_queue_push(&world->queue, event)) world->result.out_of_memory = true;
}

/* ---- Events ---- */

void sim_take_back_hop(struct sim_world *world, const struct sim_event *event)
{
    world->result.failed_hops++;
    world->result.sent[0]--;
    world->result.sent[event->msg.kind]--;
    const struct sim_node *sender = &world->nodes[event->msg.from];
    if (!sender->alive || sender->incarnation != event->incarnation) return;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_RETURNED,
                                                                .cause = event->cause,
                                                                .number = event->cause,
                                                                .node = event->msg.from,
                                                                .peer = event->msg.to,
                                                                .kind = event->msg.kind,
                                                                .subject = event->msg.subject});
    struct el_event back = {.type = EL_UNSENT};
    back.msg = event->msg;
    sim_react(world, event->msg.from, SIM_ELECTION, &back, told);
}

static void find_dead(struct sim_world *world, const struct sim_event *event)
{
    sim_network_find_dead(world, &event->msg, event->cause);
    if (!(world->algorithm->needs & EL_NEEDS_HOP_ACKS) || event->copy) return;
    struct sim_event back = *event; /* refused: returns to the sender one delay later */
    back.type = SIM_RETURN;
    back.node = event->msg.from;
    struct sim_machine *machine = &world->machines[SIM_ELECTION];
    back.time = world->now + sim_draw_delay(&world->plan->delay, &machine->random[SIM_STREAM_DELAY]);
    sim_push(world, &back);
    machine->in_flight++;
}

/* The time since the stopwatch for this sender was armed, if the machine uses one. */
static el_duration elapsed(struct sim_world *world, const struct sim_event *event)
{
    const enum sim_channel channel = (enum sim_channel)event->channel;
    const struct el_algorithm *algorithm = world->machines[channel].algorithm;
    if (!algorithm->on_arrival) return 0;
    return sim_timer_elapsed(
        world, (struct sim_key_of_timer){event->node, channel, algorithm->stopwatch, event->msg.from});
}

/* Delivers a message to the election or the detector of a node. */
static void hear(struct sim_world *world, const struct sim_event *event, uint64_t told)
{
    struct el_event arrival;
    arrival.type = EL_MESSAGE;
    arrival.peer = EL_NOBODY;
    arrival.msg = event->msg;
    arrival.elapsed = elapsed(world, event);
    sim_react(world, event->node, (enum sim_channel)event->channel, &arrival, told);
}

void sim_deliver(struct sim_world *world, const struct sim_event *event)
{
    if (event->channel == SIM_DETECTOR) {
        if (world->nodes[event->node].alive) hear(world, event, 0);
        return;
    }
    if (!world->nodes[event->node].alive) {
        find_dead(world, event);
        return;
    }
    world->result.delivered++;
    if (!world->algorithm->beats) {
        sim_election_progresses(world);
        sim_change(world);
    }
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_DELIVERED,
                                                                .cause = event->cause,
                                                                .number = event->cause,
                                                                .node = event->msg.to,
                                                                .peer = event->msg.from,
                                                                .kind = event->msg.kind,
                                                                .subject = event->msg.subject});
    hear(world, event, told);
}

void sim_time_out(struct sim_world *world, const struct sim_event *event)
{
    if (!sim_timer_fires(world, event)) return;
    uint64_t told = 0;
    if (event->channel == SIM_ELECTION) {
        if (!world->algorithm->beats) sim_change(world);
        told = sim_record(world, (struct sim_record){.what = SIM_TIMED_OUT,
                                                     .cause = event->cause,
                                                     .node = event->node,
                                                     .kind = (uint8_t)event->timer,
                                                     .number = event->slot});
    }
    const struct el_event timeout = {.type = EL_TIMER, .timer = event->timer, .slot = event->slot};
    sim_react(world, event->node, (enum sim_channel)event->channel, &timeout, told);
}

static void judge_one(struct sim_world *world, el_node node, el_node peer, uint64_t cause)
{
    if (node == peer || !world->nodes[node].alive || sim_detector_misses(world, node, peer)) return;
    const int verdict = sim_detector_judge(world, node, peer);
    if (verdict != 0) sim_suspect(world, node, peer, verdict > 0, cause);
}

/* One node checks the peer, or all do; a paused node checks when it resumes. */
static void judge(struct sim_world *world, const struct sim_event *event)
{
    if (event->node) {
        if (world->nodes[event->node].incarnation != event->incarnation) return;
        judge_one(world, event->node, event->peer, event->cause);
        return;
    }
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        const struct sim_node *n = &world->nodes[node];
        if (n->born + world->plan->detect > world->now) continue; /* a restarted node makes its own checks */
        if (n->paused && world->now < n->resume) {
            struct sim_event later = *event;
            later.node = node;
            later.incarnation = n->incarnation;
            later.time = n->resume;
            sim_push(world, &later);
            world->judging++;
        } else {
            judge_one(world, node, event->peer, event->cause);
        }
    }
}

/* A paused process reacts to nothing; when it resumes, overdue timers come first. */
static bool put_off(struct sim_world *world, const struct sim_event *event)
{
    if (event->type == SIM_WORK || (event->type == SIM_COMMAND && event->class == SIM_FAULTS)) return false;
    el_node node = event->node;
    if (event->type == SIM_COMMAND && node == EL_NOBODY) node = sim_world_leading(world);
    const struct sim_node *n = &world->nodes[node];
    if (!n->paused || world->now >= n->resume) return false;
    struct sim_event later = *event;
    later.node = node;
    later.time = n->resume;
    if (later.class != SIM_TIMERS) later.class = SIM_HELD_BACK;
    if (later.type == SIM_TIMEOUT && later.due < later.time) later.class = SIM_OVERDUE;
    sim_push(world, &later);
    return true;
}

/* A claim expires at the very instant of its timer. So that timer comes before all other events of that
 * instant, and after a pause before those that have been overdue for longer, such as a beat that would renew
 * the claim. */
static void end_claim(struct sim_world *world, el_node node)
{
    const struct sim_office *office = &world->offices[node];
    while (world->nodes[node].alive && world->nodes[node].role == EL_LEADER && office->timer != EL_NO_TIMER) {
        const struct sim_timer *bound =
            sim_timer_armed(world, (struct sim_key_of_timer){node, SIM_ELECTION, office->timer, office->slot});
        if (!bound || bound->deadline > world->now) return;
        const struct sim_event timeout = sim_timer_timeout(world, node, bound);
        sim_time_out(world, &timeout);
    }
}

static void handle(struct sim_world *world, const struct sim_event *event)
{
    const bool is_fault = event->type == SIM_COMMAND && event->class == SIM_FAULTS;
    if (event->node && !is_fault) end_claim(world, event->node);
    switch ((enum sim_event_type)event->type) {
    case SIM_COMMAND: sim_carry_out_command(world, &world->plan->commands[event->command], event->node); return;
    case SIM_DELIVERY:
        world->machines[event->channel].in_flight--;
        sim_deliver(world, event);
        return;
    case SIM_RETURN:
        world->machines[SIM_ELECTION].in_flight--;
        sim_take_back_hop(world, event);
        return;
    case SIM_TIMEOUT: sim_time_out(world, event); return;
    case SIM_JUDGEMENT:
        world->judging--;
        judge(world, event);
        return;
    case SIM_WORK: sim_resource_work(world); return;
    case SIM_STORED:
        world->machines[SIM_ELECTION].in_flight--;
        sim_disk_stored(world, event);
        return;
    case SIM_DEPARTURE:
        world->machines[event->channel].in_flight--;
        sim_disk_depart(world, event);
        return;
    }
}

/* ---- The run ---- */

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
        if (!put_off(world, &event)) handle(world, &event);
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
