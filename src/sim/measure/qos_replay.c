/*
 * Replays a recording to a detector: a host for one machine that watches one peer. Arrivals come at their
 * recorded times, timers in between and, at the same instant, after them; messages it sends are dropped.
 * After the recording ends, the replay continues until the detector suspects the peer.
 */
#include <stdlib.h>

#include "detectors/registry.h"
#include "sim/measure/qos.h"

enum { WATCHER = 1, PEER = 2, SLOTS = 3 };
enum { HEARTBEAT = 1 }; /* the only message kind of detectors that can be replayed */

struct alarm {
    sim_time due; /* SIM_NEVER: not armed */
    sim_time armed;
};

struct player {
    const struct sim_plan *plan;
    struct sim_tally *tally;
    void *state;
    struct el_outbox outbox;
    struct alarm *alarms; /* [timer_count * SLOTS] */
    sim_time now;
    uint64_t steps;
};

bool sim_qos_can_replay(const struct el_algorithm *detector)
{
    return detector == &el_heartbeat || detector == &el_phi;
}

static struct alarm *alarm_of(const struct player *player, uint32_t timer, uint32_t slot)
{
    return &player->alarms[(size_t)timer * SLOTS + slot];
}

static void step(struct player *player, const struct el_event *event)
{
    const struct el_config cfg = {&player->plan->detector_cluster, WATCHER};
    player->steps++;
    el_step(player->plan->detector, &cfg, player->state, event, &player->outbox);
    for (uint32_t i = 0; i < player->outbox.count; i++) {
        const struct el_action *action = &player->outbox.actions[i];
        if (action->type == EL_ARM) {
            *alarm_of(player, action->timer, action->slot) =
                (struct alarm){player->now + action->max, player->now};
        } else if (action->type == EL_DISARM) {
            alarm_of(player, action->timer, action->slot)->due = SIM_NEVER;
        } else if (action->type == EL_VERDICT) {
            sim_tally_verdict(player->tally, player->now, WATCHER, action->peer, action->suspected);
        }
    }
}

/* Fires the next alarm if it is due before that time. */
static bool ring(struct player *player, sim_time before)
{
    const uint32_t count = player->plan->detector->timer_count * SLOTS;
    uint32_t next = 0;
    for (uint32_t i = 1; i < count; i++)
        if (player->alarms[i].due < player->alarms[next].due) next = i;
    if (player->alarms[next].due >= before) return false;
    player->now = player->alarms[next].due;
    player->alarms[next].due = SIM_NEVER;
    step(player, &(struct el_event){.type = EL_TIMER, .timer = next / SLOTS, .slot = next % SLOTS});
    return true;
}

static void arrive(struct player *player, sim_time at)
{
    const struct alarm *stopwatch = alarm_of(player, player->plan->detector->stopwatch, PEER);
    struct el_event event = {.type = EL_MESSAGE};
    player->now = at;
    event.msg = (struct el_msg){.kind = HEARTBEAT, .from = PEER, .to = WATCHER, .subject = PEER};
    event.elapsed = at - stopwatch->armed;
    step(player, &event);
}

static enum sim_measured play(struct player *player, const struct sim_arrivals *arrivals)
{
    const struct el_event start = {.type = EL_START, .start = {.how = EL_FRESH}};
    step(player, &start);
    for (size_t i = 0; i < arrivals->count; i++) {
        while (player->steps < player->plan->event_max && ring(player, arrivals->times[i])) continue;
        arrive(player, arrivals->times[i]);
    }
    while (player->steps < player->plan->event_max && !sim_tally_all_noticed(player->tally, PEER) &&
           ring(player, SIM_NEVER))
        continue;
    return player->steps < player->plan->event_max ? SIM_MEASURED : SIM_TOO_MUCH;
}

enum sim_measured sim_qos_replay(struct sim_qos *qos, const struct sim_plan *plan,
                                 const struct sim_arrivals *arrivals)
{
    const struct el_algorithm *detector = plan->detector;
    const uint32_t count = plan->cluster.count, alarms = detector->timer_count * SLOTS;
    const uint64_t bound = el_outbox_bound(detector, count);
    const sim_time last = arrivals->times[arrivals->count - 1];
    struct sim_tally tally;
    *qos = (struct sim_qos){.watched = last};
    struct player player = {.plan = plan,
                            .tally = &tally,
                            .state = calloc(1, el_state_size(detector, count)),
                            .outbox = {calloc(bound, sizeof(struct el_action)), (uint32_t)bound, 0},
                            .alarms = calloc(alarms, sizeof(struct alarm))};
    enum sim_measured status = SIM_NO_MEMORY;
    const bool opened = sim_tally_open(&tally, qos, count, 0, last);
    if (opened && player.state && player.outbox.actions && player.alarms) {
        for (uint32_t i = 0; i < alarms; i++) player.alarms[i].due = SIM_NEVER;
        status = play(&player, arrivals);
        sim_tally_close(&tally);
        if (status == SIM_MEASURED) sim_tally_crash(&tally, PEER, WATCHER, last);
    }
    sim_tally_free(&tally);
    free(player.state);
    free(player.outbox.actions);
    free(player.alarms);
    return status;
}
