/*
 * The network between the nodes. The fate of a message is decided when it is sent: a message in flight still
 * arrives if its link breaks later. A link keeps order unless the plan says to reorder.
 */
#include "sim/internal.h"

static bool separates(const struct sim_break *b, el_node from, el_node to)
{
    if (!b->side) return b->from == from && b->to == to;
    return b->side[from] && b->side[to] && b->side[from] != b->side[to];
}

bool sim_network_cut(const struct sim_world *world, el_node from, el_node to)
{
    for (size_t i = 0; world->broken_count && i < world->plan->break_count; i++)
        if (world->broken[i] && separates(&world->plan->breaks[i], from, to)) return true;
    return false;
}

sim_time sim_draw_delay(const struct sim_delay *delay, struct sim_random *dice)
{
    if (delay->shape == SIM_DELAY_RANGE)
        return delay->min + sim_random_below(dice, delay->max - delay->min + 1);
    if (delay->shape == SIM_DELAY_EXPONENTIAL) {
        const sim_time drawn = sim_random_exponential(dice, delay->mean);
        return drawn < delay->max ? drawn : delay->max;
    }
    return delay->max;
}

/* How much longer than usual the message takes on its link. */
static sim_time slowness(struct sim_world *world, const struct el_msg *msg)
{
    const struct sim_plan *plan = world->plan;
    sim_time extra = 0;
    for (size_t i = 0; i < plan->slow_count; i++) {
        const struct sim_slow *slow = &plan->slows[i];
        if (slow->from == msg->from && slow->to == msg->to && world->now >= slow->begin &&
            world->now < slow->end)
            extra += slow->extra;
    }
    if (extra && plan->delay.max + extra > plan->cluster.transmit_max) world->result.faults |= EL_LATENESS;
    return extra;
}

/* No message arrives before one sent earlier on the same link, unless it is drawn to overtake. */
static sim_time arrival(struct sim_world *world, struct sim_machine *machine, const struct el_msg *msg)
{
    const struct sim_plan *plan = world->plan;
    struct sim_random *dice = &machine->random[SIM_STREAM_DELAY];
    const sim_time extra = slowness(world, msg);
    if (plan->reorder && sim_random_chance(&machine->random[SIM_STREAM_ORDER], plan->reorder)) {
        world->result.faults |= EL_REORDERS;
        return world->now + extra + sim_random_below(dice, plan->delay.max + 1);
    }
    if (plan->delay.shape == SIM_DELAY_FIXED && !plan->reorder && !plan->slow_count)
        return world->now + plan->delay.max;
    sim_time at = world->now + extra + sim_draw_delay(&plan->delay, dice);
    const sim_time last = sim_map_get(&machine->last_arrival, msg->from, msg->to);
    if (at < last) at = last;
    if (!sim_map_set(&machine->last_arrival, msg->from, msg->to, at)) world->result.out_of_memory = true;
    return at;
}

static void transmit(struct sim_world *world, enum sim_channel channel, const struct el_msg *msg, uint64_t sent,
                     bool copy)
{
    struct sim_machine *machine = &world->machines[channel];
    struct sim_event event = {.time = world->now,
                              .cause = sent,
                              .type = SIM_DELIVERY,
                              .class = SIM_MESSAGES,
                              .copy = copy,
                              .channel = (uint8_t)channel,
                              .node = msg->to,
                              .incarnation = world->nodes[msg->from].incarnation,
                              .msg = *msg};
    machine->in_flight++;
    if (world->plan->script) {
        sim_stage_hold(world, &event);
        return;
    }
    event.time = arrival(world, machine, msg);
    sim_push(world, &event);
}

static void record(struct sim_world *world, enum sim_what what, const struct el_msg *msg, uint64_t sent,
                   enum sim_reason reason)
{
    sim_record(world, (struct sim_record){.what = (uint8_t)what,
                                          .cause = sent,
                                          .number = sent,
                                          .node = msg->to,
                                          .peer = msg->from,
                                          .kind = msg->kind,
                                          .subject = msg->subject,
                                          .reason = (uint8_t)reason});
}

void sim_network_lose(struct sim_world *world, const struct el_msg *msg, uint64_t sent)
{
    world->result.lost++;
    world->result.faults |= EL_LOSSES;
    record(world, SIM_DROPPED, msg, sent, SIM_LOST);
}

void sim_network_cut_off(struct sim_world *world, const struct el_msg *msg, uint64_t sent)
{
    world->result.lost++;
    record(world, SIM_DROPPED, msg, sent, SIM_CUT);
}

void sim_network_find_dead(struct sim_world *world, const struct el_msg *msg, uint64_t sent)
{
    world->result.to_the_dead++;
    record(world, SIM_DROPPED, msg, sent, SIM_DEAD);
}

void sim_network_copy(struct sim_world *world, const struct el_msg *msg, uint64_t sent)
{
    world->result.copies++;
    world->result.faults |= EL_DUPLICATES;
    record(world, SIM_COPIED, msg, sent, 0);
    transmit(world, SIM_ELECTION, msg, sent, true);
}

/* The hop gets no answer: the sender gives up after one round trip. */
static void give_up_hop(struct sim_world *world, const struct el_msg *msg, uint64_t sent)
{
    const struct sim_event event = {.time = world->now + 2 * world->plan->delay.max,
                                    .cause = sent,
                                    .type = SIM_RETURN,
                                    .class = SIM_MESSAGES,
                                    .node = msg->from,
                                    .incarnation = world->nodes[msg->from].incarnation,
                                    .msg = *msg};
    sim_push(world, &event);
    world->machines[SIM_ELECTION].in_flight++;
}

static void send_election(struct sim_world *world, const struct el_msg *msg, uint64_t cause)
{
    const struct sim_plan *plan = world->plan;
    struct sim_machine *machine = &world->machines[SIM_ELECTION];
    world->result.sent[0]++;
    world->result.sent[msg->kind]++;
    const uint64_t sent = sim_record(world, (struct sim_record){.what = SIM_SENT,
                                                                .cause = cause,
                                                                .node = msg->from,
                                                                .peer = msg->to,
                                                                .kind = msg->kind,
                                                                .subject = msg->subject,
                                                                .values = {msg->epoch, msg->aux}});
    if (world->broken_count && sim_network_cut(world, msg->from, msg->to)) {
        sim_network_cut_off(world, msg, sent);
        if (world->algorithm->needs & EL_NEEDS_HOP_ACKS) give_up_hop(world, msg, sent);
        return;
    }
    if (plan->loss && sim_random_chance(&machine->random[SIM_STREAM_LOSS], plan->loss)) {
        sim_network_lose(world, msg, sent);
        return;
    }
    transmit(world, SIM_ELECTION, msg, sent, false);
    if (plan->duplicate && sim_random_chance(&machine->random[SIM_STREAM_COPY], plan->duplicate))
        sim_network_copy(world, msg, sent);
}

/* The same fates, but without records: a detector's traffic would hide the election in the transcript. */
static void send_detector(struct sim_world *world, const struct el_msg *msg)
{
    const struct sim_plan *plan = world->plan;
    struct sim_machine *machine = &world->machines[SIM_DETECTOR];
    world->result.detector_sent++;
    if (world->broken_count && sim_network_cut(world, msg->from, msg->to)) return;
    if (plan->loss && sim_random_chance(&machine->random[SIM_STREAM_LOSS], plan->loss)) {
        world->result.faults |= EL_LOSSES;
        return;
    }
    transmit(world, SIM_DETECTOR, msg, 0, false);
    if (plan->duplicate && sim_random_chance(&machine->random[SIM_STREAM_COPY], plan->duplicate))
        transmit(world, SIM_DETECTOR, msg, 0, true);
}

void sim_network_send(struct sim_world *world, enum sim_channel channel, const struct el_msg *msg,
                      uint64_t cause)
{
    if (channel == SIM_ELECTION) {
        send_election(world, msg, cause);
    } else {
        send_detector(world, msg);
    }
}
