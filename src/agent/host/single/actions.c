/* Carries out what the machines of a host_single ask for: messages, over reliable links if needed, records,
 * notes, verdicts. */
#include <string.h>

#include "agent/host/internal.h"

static uint64_t timed_machine_now(void *context)
{
    return host_now(((struct host_single *)context)->runner.host);
}

static uint64_t timed_machine_random(void *context)
{
    const struct host *host = ((struct host_single *)context)->runner.host;
    return host->hooks.random(host->hooks.context);
}

static void send_now(struct host_single *group, const struct host_held *held)
{
    struct host *host = group->runner.host;
    const struct timed_machine *machine = held->from_detector ? &group->detector : &group->election;
    struct payload_entry entry = {.type = PAYLOAD_MESSAGE,
                                  .group = group->base.key,
                                  .settings = group->runner.settings,
                                  .flags = (uint8_t)((held->from_detector ? PAYLOAD_DETECTOR : 0) |
                                                     (group->base.stands ? PAYLOAD_STANDS : 0)),
                                  .msg = held->msg};
    if (held->timer != EL_NO_TIMER)
        entry.msg.aux = timed_machine_left(machine, held->timer, held->slot, host_now(host));
    if (entry.msg.to == EL_NOBODY || entry.msg.to > group->cluster.count) return;
    if (!group->has_links || held->from_detector) {
        host_put(host, entry.msg.to, &entry);
        return;
    }
    struct reliable_link_hooks hooks;
    reliable_link_send(&group->links[entry.msg.to - 1], host_link_hooks(group, &hooks), host_now(host),
                       &entry.msg);
    group->links_due = 0;
}

bool host_single_is_waiting(const struct host_single *group)
{
    return group->saved_by > group->runner.host->writes_done;
}

static void send_or_hold_for_disk(struct host_single *group, const struct timed_machine *machine,
                                  const struct el_action *action)
{
    const struct host_held held = {.msg = action->msg,
                                   .timer = action->timer,
                                   .slot = action->slot,
                                   .from_detector = machine == &group->detector};
    if (group->runner.host->has_failed) return;
    if (!host_single_is_waiting(group) || held.from_detector) {
        send_now(group, &held);
        return;
    }
    if (group->held_count == HOST_HELD_MAX) { /* a slow disk: drop the oldest, as a network may */
        group->held_count--;
        memmove(group->held, group->held + 1, group->held_count * sizeof *group->held);
    }
    group->held[group->held_count++] = held;
}

static void save(struct host_single *group, const struct el_durable *durable)
{
    struct host *host = group->runner.host;
    if (!record_put(host->record, group->base.key, durable)) host->has_failed = true;
    host->is_dirty = true;
    group->saved_by = host->writes_begun + 1;
}

static void note(struct host_single *group, const struct timed_machine *machine, const struct el_action *action)
{
    if (machine == &group->election && action->note + 1 == machine->algorithm->handover_note)
        group->base.handover_target = (uint8_t)action->values[0];
    host_note(group->runner.host, &group->base, machine->algorithm, action);
}

static void act(void *context, struct timed_machine *machine, const struct el_action *action)
{
    struct host_single *group = context;
    switch (action->type) {
    case EL_SEND: send_or_hold_for_disk(group, machine, action); break;
    case EL_SAVE: save(group, &action->durable); break;
    case EL_NOTE: note(group, machine, action); break;
    case EL_VERDICT:
        group->suspected[action->peer - 1] = action->suspected;
        timed_machine_step(
            &group->election,
            &(struct el_event){.type = action->suspected ? EL_SUSPECT : EL_TRUST, .peer = action->peer});
        break;
    case EL_ARM:
    case EL_DISARM:
    case EL_MOVE:
    case EL_CHOOSE: break; /* timed_machine.c does these */
    }
}

void host_single_release(struct host_single *group)
{
    if (host_single_is_waiting(group)) return;
    for (uint32_t i = 0; i < group->held_count; i++) send_now(group, &group->held[i]);
    group->held_count = 0;
    host_group_show(&group->base);
}

/* ---- Reliable links ---- */

static void reliable_link_sends(void *context, el_node to, struct payload_entry *entry)
{
    struct host_single *group = context;
    entry->group = group->base.key;
    entry->settings = group->runner.settings;
    entry->round = group->round;
    host_put(group->runner.host, to, entry);
}

static void reliable_link_delivers(void *context, const struct el_msg *msg)
{
    struct host_single *group = context;
    timed_machine_step(&group->election, &(struct el_event){.type = EL_MESSAGE, .msg = *msg});
}

static void reliable_link_fails(void *context, const struct el_msg *msg)
{
    struct host_single *group = context;
    if (group->election.algorithm->on_unsent)
        timed_machine_step(&group->election, &(struct el_event){.type = EL_UNSENT, .msg = *msg});
}

const struct reliable_link_hooks *host_link_hooks(struct host_single *group, struct reliable_link_hooks *hooks)
{
    *hooks = (struct reliable_link_hooks){group, reliable_link_sends, reliable_link_delivers,
                                          reliable_link_fails, timed_machine_random};
    return hooks;
}

struct timed_machine_owner host_single_owner(struct host_single *group)
{
    return (struct timed_machine_owner){group, timed_machine_now, timed_machine_random, act};
}
