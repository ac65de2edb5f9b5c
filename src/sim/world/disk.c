/*
 * A disk with a write delay. A SAVE is a barrier: later messages leave when the record is on disk, and a
 * claim to lead waits too; timers do not. A process that crashes during a write finds the old record or the
 * new one.
 */
#include "sim/internal.h"

void sim_disk_save(struct sim_world *world, el_node node, struct el_durable durable, uint64_t cause)
{
    struct sim_disk *disk = &world->disks[node];
    const struct sim_delay *speed = &world->plan->disk;
    if (speed->max == 0) {
        disk->durable = durable;
        disk->lost = false;
        sim_record(world, (struct sim_record){.what = SIM_SAVED, .cause = cause, .node = node});
        return;
    }
    if (disk->done < world->now) disk->done = world->now;
    disk->done += sim_draw_delay(speed, &world->machines[SIM_ELECTION].random[SIM_STREAM_DISK]);
    disk->writing = durable;
    disk->pending++;
    const struct sim_event event = {.time = disk->done,
                                    .cause = cause,
                                    .type = SIM_STORED,
                                    .class = SIM_MESSAGES,
                                    .node = node,
                                    .incarnation = world->nodes[node].incarnation,
                                    .durable = durable};
    sim_push(world, &event);
    world->machines[SIM_ELECTION].in_flight++;
}

static bool still_lives(const struct sim_world *world, const struct sim_event *event)
{
    const struct sim_node *n = &world->nodes[event->node];
    return n->alive && n->incarnation == event->incarnation;
}

void sim_disk_stored(struct sim_world *world, const struct sim_event *event)
{
    if (!still_lives(world, event)) return;
    struct sim_disk *disk = &world->disks[event->node];
    disk->durable = event->durable;
    disk->lost = false;
    disk->pending--;
    const uint64_t told =
        sim_record(world, (struct sim_record){.what = SIM_SAVED, .cause = event->cause, .node = event->node});
    if (disk->pending == 0) sim_look_at_view(world, event->node, told);
}

void sim_disk_send(struct sim_world *world, el_node node, enum sim_channel channel, struct el_action *action,
                   uint64_t cause)
{
    struct sim_disk *disk = &world->disks[node];
    const bool waits = channel == SIM_ELECTION && (disk->pending || disk->departing); /* keeps the order */
    if (!waits) {
        if (action->timer != EL_NO_TIMER)
            action->msg.aux =
                sim_timer_left(world, (struct sim_key_of_timer){node, channel, action->timer, action->slot});
        sim_network_send(world, channel, &action->msg, cause);
        return;
    }
    const struct sim_event event = {
        .time = disk->done > world->now ? disk->done : world->now, /* done during a pause, not handled yet */
        .cause = cause,
        .type = SIM_DEPARTURE,
        .class = SIM_MESSAGES,
        .channel = (uint8_t)channel,
        .node = node,
        .incarnation = world->nodes[node].incarnation,
        .left_timer = action->timer == EL_NO_TIMER ? SIM_NO_LEFT : (uint8_t)action->timer,
        .left_slot = action->slot,
        .msg = action->msg};
    sim_push(world, &event);
    disk->departing++;
    world->machines[channel].in_flight++;
}

void sim_disk_depart(struct sim_world *world, const struct sim_event *event)
{
    if (!still_lives(world, event)) return;
    world->disks[event->node].departing--;
    struct el_msg msg = event->msg;
    if (event->left_timer != SIM_NO_LEFT)
        msg.aux = sim_timer_left(world, (struct sim_key_of_timer){event->node, (enum sim_channel)event->channel,
                                                                  event->left_timer, event->left_slot});
    sim_network_send(world, (enum sim_channel)event->channel, &msg, event->cause);
}

void sim_disk_crash(struct sim_world *world, el_node node)
{
    struct sim_disk *disk = &world->disks[node];
    if (world->plan->disk.max == 0) return;
    struct sim_random *dice = &world->machines[SIM_ELECTION].random[SIM_STREAM_DISK];
    if (disk->pending == 1 && sim_random_below(dice, 2)) {
        disk->durable = disk->writing;
        disk->lost = false;
    }
    disk->pending = disk->departing = 0;
    disk->done = 0;
}
