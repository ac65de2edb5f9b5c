/*
 * A group of any algorithm but quorum. It has its own machines: the election and, if the algorithm needs them,
 * a failure detector and reliable links. Groups of quorum share sessions instead (agent/host/quorum).
 *
 * This room may know the core's machines, agent/host/internal.h and agent/peer; it names no algorithm. Start
 * reading here, then:
 *   timed_machine.c   one machine with its timers
 *   actions.c         carries out what machines ask for: messages, records, notes, verdicts
 *   rounds.c          holds an election again that elected nobody
 */
#include <stdlib.h>
#include <string.h>

#include "agent/host/internal.h"
#include "base/clock.h"
#include "core/machine.h"

enum { STANDS_FOR_S = 4 };

/* ---- Time ---- */

uint64_t host_single_due(const struct host_single *group)
{
    uint64_t due = group->election.next_due;
    if (group->has_detector && group->detector.next_due < due) due = group->detector.next_due;
    if (group->has_links && group->links_due < due) due = group->links_due;
    return due;
}

static void tick_links(struct host_single *group, uint64_t now)
{
    struct reliable_link_hooks hooks;
    /* A link gives up only if the algorithm handles failed hops. The others rely on links that lose nothing. */
    const bool tells = group->election.algorithm->needs & EL_NEEDS_HOP_ACKS;
    const uint64_t give_up_after_ns = tells ? 8 * group->cluster.transmit_max + NS_PER_S : UINT64_MAX / 2;
    group->links_due = UINT64_MAX;
    for (uint32_t i = 0; i < group->cluster.count; i++) {
        const uint64_t due =
            reliable_link_tick(&group->links[i], host_link_hooks(group, &hooks), now, give_up_after_ns);
        if (due < group->links_due) group->links_due = due;
    }
}

bool host_single_fire(struct host_single *group, uint64_t now)
{
    if (host_single_due(group) > now) return false;
    if (!timed_machine_fire(&group->election, now) &&
        !(group->has_detector && timed_machine_fire(&group->detector, now)))
        tick_links(group, now);
    host_group_show(&group->base);
    return true;
}

/* ---- Receiving ---- */

void host_single_hear(struct host_single *group, bool for_detector, const struct el_msg *msg)
{
    struct timed_machine *machine = for_detector ? &group->detector : &group->election;
    struct el_event event = {.type = EL_MESSAGE, .msg = *msg};
    if (for_detector && !group->has_detector) return;
    if (machine->algorithm->on_arrival) {
        const struct timed_machine_timer *watch =
            &machine->timers[(size_t)machine->algorithm->stopwatch * (group->cluster.count + 1) + msg->from];
        const uint64_t now = host_now(group->runner.host);
        event.elapsed = watch->armed_at && now > watch->armed_at ? now - watch->armed_at : 0;
    }
    timed_machine_step(machine, &event);
    host_group_show(&group->base);
}

static void set_role(struct host_single *group, el_node member)
{
    const enum config_role role = group->runner.host->config->members[member - 1].role;
    const bool is_self = member == group->runner.host->config->self;
    const bool wants = is_self ? group->base.stands : group->stood_at[member - 1] != 0;
    const uint8_t may = wants ? EL_CANDIDATE : EL_ORDINARY;
    group->roles[member - 1] = role == CONFIG_OBSERVER  ? EL_OBSERVER
                               : role == CONFIG_WITNESS ? EL_ORDINARY
                                                        : may;
    /* Many algorithms ignore roles. So a member that wants to lead also ranks above all that do not. */
    const uint64_t priority = group->priorities[member - 1];
    group->ranks[member - 1] = wants ? priority + (priority < UINT64_MAX) : 0;
}

void host_single_peer_speaks(struct host_single *group, el_node peer, uint64_t now)
{
    if (group->stood_at[peer - 1] == 0) group->stands_since[peer - 1] = now;
    group->stood_at[peer - 1] = now;
    set_role(group, peer);
}

void host_single_peer_stands(struct host_single *group, el_node peer, const struct payload_entry *entry,
                             uint64_t now)
{
    group->priorities[peer - 1] = entry->priority;
    group->preempt_after_ms[peer - 1] = entry->preempt_after_ms;
    if (entry->flags & PAYLOAD_STANDS) {
        host_single_peer_speaks(group, peer, now);
    } else {
        group->stood_at[peer - 1] = 0;
        set_role(group, peer);
    }
}

static void expire_peers(struct host_single *group, uint64_t now)
{
    for (el_node peer = 1; peer <= group->cluster.count; peer++) {
        uint64_t *at = &group->stood_at[peer - 1];
        if (*at == 0 || now - *at < STANDS_FOR_S * NS_PER_S) continue;
        *at = 0;
        group->leads[peer - 1] = false;
        set_role(group, peer);
    }
}

/* ---- Making and freeing ---- */

static bool make_links(struct host_single *group)
{
    const uint32_t needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_HOP_ACKS;
    group->has_links = group->election.algorithm->needs & needs;
    group->links_due = UINT64_MAX;
    if (!group->has_links) return true;
    struct reliable_link_hooks hooks;
    group->links = calloc(group->cluster.count, sizeof *group->links);
    for (uint32_t i = 0; group->links && i < group->cluster.count; i++)
        reliable_link_init(&group->links[i], i + 1, host_link_hooks(group, &hooks));
    return group->links != NULL;
}

static bool make_machines(struct host_single *group, const struct el_algorithm *algorithm)
{
    const struct timed_machine_owner owner = host_single_owner(group);
    const struct el_algorithm *heartbeat = el_detector_named("heartbeat");
    const el_node self = group->runner.host->config->self;
    if (!timed_machine_init(&group->election, algorithm, &group->cluster, self, owner)) return false;
    group->has_detector = algorithm->on_suspect && !algorithm->beats;
    if (!group->has_detector) return true;
    config_values(NULL, NULL, heartbeat, group->detector_values);
    group->detectors = group->cluster;
    group->detectors.options = group->detector_values;
    return timed_machine_init(&group->detector, heartbeat, &group->detectors, self, owner);
}

struct host_single *host_single_new(struct host *host, const char *name, uint64_t key,
                                    const struct config_group *section, const struct el_algorithm *algorithm)
{
    const struct config *config = host->config;
    struct host_single *group = calloc(1, sizeof *group);
    if (!group) return NULL;
    snprintf(group->name, sizeof group->name, "%s", name);
    group->runner = (struct host_runner){.kind = &host_kind_single, .host = host, .algorithm = algorithm};
    group->base = (struct host_group){.runner = &group->runner, .key = key, .shown_cell = HOST_CELLS_MAX};
    group->cluster = (struct el_cluster){.count = config->member_count,
                                         .ids = group->ids,
                                         .attributes = group->ranks,
                                         .roles = group->roles,
                                         .transmit_max = config->transmit_max,
                                         .process_max = CONFIG_PROCESS_MAX,
                                         .drift = config->drift,
                                         .options = group->runner.values};
    el_require(algorithm->option_count <= HOST_OPTIONS_MAX);
    config_values(config->profile, section, algorithm, group->runner.values);
    for (el_node member = 1; member <= config->member_count; member++) {
        group->ids[member - 1] = config->members[member - 1].id;
        set_role(group, member);
    }
    if (!make_machines(group, algorithm) || !make_links(group)) {
        host_single_free(group);
        return NULL;
    }
    group->runner.margin = host_option(&group->base, "margin", 0);
    group->runner.settings = host_digest_settings(host, algorithm, group->runner.values);
    return group;
}

void host_single_free(struct host_single *group)
{
    timed_machine_free(&group->election);
    if (group->has_detector) timed_machine_free(&group->detector);
    free(group->links);
    host_free_extra(&group->base);
    free(group);
}

void host_single_start(struct host_single *group)
{
    struct host *host = group->runner.host;
    struct el_event start = {.type = EL_START, .start = {.how = EL_FRESH}};
    const bool forgot = record_forgot(host->record);
    if (record_get(host->record, group->base.key, &start.start.durable))
        start.start.how = EL_RESTORED;
    else if (forgot)
        start.start.how = EL_LOST;
    timed_machine_step(&group->election, &start);
    if (group->has_detector) timed_machine_step(&group->detector, &(struct el_event){.type = EL_START});
    host_group_show(&group->base);
}

/* ---- Requests ---- */

static void stand(struct host_group *base, bool stands, uint64_t priority)
{
    struct host_single *group = (struct host_single *)base;
    const el_node self = group->runner.host->config->self;
    group->base.stands = stands;
    group->priorities[self - 1] = priority;
    set_role(group, self);
    const struct payload_entry entry = host_single_describe(group);
    host_put_all(group->runner.host, &entry);
}

static enum el_answer ask(struct host_group *base, enum el_request_what what, el_node to)
{
    struct host_single *group = (struct host_single *)base;
    struct timed_machine *machine = &group->election;
    timed_machine_step(machine, &(struct el_event){.type = EL_REQUEST, .request = what, .peer = to});
    const struct el_action *first = machine->out.actions;
    const bool declined = machine->out.count && first->type == EL_NOTE && first->note == EL_NOTE_DECLINED;
    const enum el_answer answer = declined ? (enum el_answer)first->values[1] : EL_PERFORMED;
    host_group_show(&group->base);
    return answer;
}

/* ---- Every second ---- */

struct payload_entry host_single_describe(const struct host_single *group)
{
    const el_node self = group->runner.host->config->self;
    struct payload_entry entry = {.type = PAYLOAD_GROUP,
                                  .group = group->base.key,
                                  .settings = group->runner.settings,
                                  .flags = (uint8_t)((group->base.stands ? PAYLOAD_STANDS : 0) |
                                                     (host_single_leads(group) ? PAYLOAD_LEADS : 0)),
                                  .round = group->round,
                                  .preempt_after_ms = group->preempt_after_ms[self - 1],
                                  .priority = group->priorities[self - 1]};
    entry.length = (uint8_t)strlen(group->name);
    memcpy(entry.text, group->name, entry.length);
    return entry;
}

void host_single_send_value(struct host_single *group, el_node to)
{
    const struct host_group *base = &group->base;
    const char *value = host_value_of(base, base->shown_token);
    struct payload_entry entry = {.type = PAYLOAD_VALUE, .group = base->key, .token = base->shown_token};
    if (base->shown_role != EL_LEADER || value[0] == '\0') return;
    entry.length = (uint8_t)strlen(value);
    memcpy(entry.text, value, entry.length);
    if (to)
        host_put(group->runner.host, to, &entry);
    else
        host_put_all(group->runner.host, &entry);
}

void host_single_refresh(struct host_single *group, uint64_t now)
{
    expire_peers(group, now);
    host_single_call_again(group, now);
    if (group->base.handover_target) host_group_show(&group->base); /* a wish to pre-empt may be due by now */
    if (!group->base.stands) return;
    const struct payload_entry entry = host_single_describe(group);
    host_put_all(group->runner.host, &entry);
    host_single_send_value(group, EL_NOBODY);
}

/* ---- struct host_kind ---- */

static const struct host_single *single(const struct host_group *base)
{
    return (const struct host_single *)base;
}

static const char *name(const struct host_group *base)
{
    return single(base)->name;
}

static struct el_view view(const struct host_group *base, uint64_t *bound, bool *waits)
{
    *waits = host_single_is_waiting(single(base));
    return timed_machine_view(&single(base)->election, bound);
}

static bool shows(struct host_group *base, const struct host_view *now, bool waits)
{
    struct host_single *group = (struct host_single *)base;
    const bool is_renewed = now->deadline_ns != group->shown_deadline;
    (void)waits;
    group->shown_deadline = now->deadline_ns;
    return is_renewed;
}

static void begins_or_ends(struct host_group *base)
{
    if (!single(base)->has_links || !base->stands) return;
    const struct payload_entry entry = host_single_describe(single(base));
    host_put_all(host_of(base), &entry);
}

static struct host_standing standing(const struct host_group *base, el_node member)
{
    const struct host_single *group = single(base);
    return (struct host_standing){.since = group->stood_at[member - 1] ? group->stands_since[member - 1] : 0,
                                  .priority = group->priorities[member - 1],
                                  .preempt_after_ms = group->preempt_after_ms[member - 1]};
}

static void be_patient(struct host_group *base, uint32_t ms)
{
    struct host_single *group = (struct host_single *)base;
    group->preempt_after_ms[host_of(base)->config->self - 1] = ms;
}

static void spread_value(struct host_group *base)
{
    host_single_send_value((struct host_single *)base, EL_NOBODY);
}

const struct host_kind host_kind_single = {.name = name,
                                           .view = view,
                                           .shows = shows,
                                           .begins_or_ends = begins_or_ends,
                                           .standing = standing,
                                           .stand = stand,
                                           .be_patient = be_patient,
                                           .ask = ask,
                                           .spread_value = spread_value};
