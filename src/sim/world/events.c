/* What happens when an event of the queue is due: a message arrives, a timer fires, a detector judges, a command is carried out. */
#include "sim/internal.h"

void sim_push(struct sim_world *world, const struct sim_event *event)
{
    if (!sim_queue_push(&world->queue, event)) world->result.out_of_memory = true;
}

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
bool sim_put_off(struct sim_world *world, const struct sim_event *event)
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

void sim_handle(struct sim_world *world, const struct sim_event *event)
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
    case SIM_RECORD_CAME: sim_records_came(world, event); return;
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
