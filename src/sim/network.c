/*
 * The network between the nodes. Whether a link is cut, or a message lost, is decided when it is sent: what
 * is under way when a link breaks still arrives. A link keeps order, unless told to reorder.
 */
#include "inner.h"

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

sim_time sim_network_delay(struct sim_world *world)
{
    const struct sim_delay *delay = &world->plan->delay;
    struct sim_random *dice = &world->random[SIM_STREAM_DELAY];
    if (delay->shape == SIM_DELAY_RANGE)
        return delay->min + sim_random_below(dice, delay->max - delay->min + 1);
    if (delay->shape == SIM_DELAY_EXPONENTIAL) {
        const sim_time drawn = sim_random_exponential(dice, delay->mean);
        return drawn < delay->max ? drawn : delay->max;
    }
    return delay->max;
}

/* No message arrives before one that was sent earlier on the same link, except when it overtakes. */
static sim_time arrival(struct sim_world *world, const struct el_msg *msg)
{
    const struct sim_plan *plan = world->plan;
    if (plan->reorder && sim_random_chance(&world->random[SIM_STREAM_ORDER], plan->reorder)) {
        world->result.faults |= EL_REORDERS;
        return world->now + sim_random_below(&world->random[SIM_STREAM_DELAY], plan->delay.max + 1);
    }
    if (plan->delay.shape == SIM_DELAY_FIXED && !plan->reorder) return world->now + plan->delay.max;
    sim_time at = world->now + sim_network_delay(world);
    const sim_time last = sim_map_get(&world->last_arrival, msg->from, msg->to);
    if (at < last) at = last;
    if (!sim_map_set(&world->last_arrival, msg->from, msg->to, at)) world->result.out_of_memory = true;
    return at;
}

static void transmit(struct sim_world *world, const struct el_msg *msg, uint64_t sent, bool copy)
{
    const struct sim_event event = {.time = arrival(world, msg),
                                    .cause = sent,
                                    .type = SIM_DELIVERY,
                                    .class = SIM_MESSAGES,
                                    .copy = copy,
                                    .node = msg->to,
                                    .incarnation = world->nodes[msg->from].incarnation,
                                    .msg = *msg};
    sim_push(world, &event);
    world->in_flight++;
}

static void drop(struct sim_world *world, const struct el_msg *msg, uint64_t sent, enum sim_reason reason)
{
    sim_record(world, (struct sim_record){.what = SIM_DROPPED,
                                          .cause = sent,
                                          .number = sent,
                                          .node = msg->to,
                                          .peer = msg->from,
                                          .kind = msg->kind,
                                          .subject = msg->subject,
                                          .reason = (uint8_t)reason});
}

void sim_network_send(struct sim_world *world, const struct el_msg *msg, uint64_t cause)
{
    const struct sim_plan *plan = world->plan;
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
        world->result.lost++;
        drop(world, msg, sent, SIM_CUT);
        if (!(world->algorithm->needs & EL_NEEDS_HOP_ACKS)) return;
        /* Nobody answers the attempt: the sender gives up after a round trip. */
        const struct sim_event event = {.time = world->now + 2 * plan->delay.max,
                                        .cause = sent,
                                        .type = SIM_RETURN,
                                        .class = SIM_MESSAGES,
                                        .node = msg->from,
                                        .incarnation = world->nodes[msg->from].incarnation,
                                        .msg = *msg};
        sim_push(world, &event);
        world->in_flight++;
        return;
    }
    if (plan->loss && sim_random_chance(&world->random[SIM_STREAM_LOSS], plan->loss)) {
        world->result.lost++;
        world->result.faults |= EL_LOSSES;
        drop(world, msg, sent, SIM_LOST);
        return;
    }
    transmit(world, msg, sent, false);
    if (plan->duplicate && sim_random_chance(&world->random[SIM_STREAM_COPY], plan->duplicate)) {
        world->result.copies++;
        world->result.faults |= EL_DUPLICATES;
        sim_record(world, (struct sim_record){.what = SIM_COPIED,
                                              .cause = sent,
                                              .number = sent,
                                              .node = msg->to,
                                              .peer = msg->from,
                                              .kind = msg->kind,
                                              .subject = msg->subject});
        transmit(world, msg, sent, true);
    }
}
