/* One group: its machine, and a detector or links below it where the algorithm needs them. */
#include <stdlib.h>
#include <string.h>

#include "agent/host_inner.h"
#include "core/machine.h"

static const uint64_t SECOND = 1000000000;
enum { STANDS_FOR_S = 4, CALLS_AGAIN_S = 2 };

/* ---- Time ---- */

uint64_t host_group_due(const struct host_group *group)
{
    uint64_t due = group->election.next_due;
    if (group->has_detector && group->detector.next_due < due) due = group->detector.next_due;
    if (group->has_links && group->links_due < due) due = group->links_due;
    return due;
}

static void tick_links(struct host_group *group, uint64_t now)
{
    struct link_hooks hooks;
    /* Only who wants to be told gives up: the others were promised that nothing is lost. */
    const bool tells = group->election.algorithm->needs & EL_NEEDS_HOP_ACKS;
    const uint64_t patience = tells ? 8 * group->cluster.transmit_max + SECOND : UINT64_MAX / 2;
    group->links_due = UINT64_MAX;
    for (uint32_t i = 0; i < group->cluster.count; i++) {
        const uint64_t due = link_tick(&group->links[i], host_link_hooks(group, &hooks), now, patience);
        if (due < group->links_due) group->links_due = due;
    }
}

bool host_group_fire(struct host_group *group, uint64_t now)
{
    if (host_group_due(group) > now) return false;
    if (!machine_fire(&group->election, now) && !(group->has_detector && machine_fire(&group->detector, now)))
        tick_links(group, now);
    host_group_show(group);
    return true;
}

/* ---- Hearing ---- */

void host_group_hear(struct host_group *group, bool for_detector, const struct el_msg *msg)
{
    struct machine *machine = for_detector ? &group->detector : &group->election;
    struct el_event event = {.type = EL_MESSAGE, .msg = *msg};
    if (for_detector && !group->has_detector) return;
    if (machine->algorithm->on_arrival) {
        const struct machine_timer *watch =
            &machine->timers[(size_t)machine->algorithm->stopwatch * (group->cluster.count + 1) + msg->from];
        const uint64_t now = host_now(group->host);
        event.elapsed = watch->armed_at && now > watch->armed_at ? now - watch->armed_at : 0;
    }
    machine_step(machine, &event);
    host_group_show(group);
}

static void set_role(struct host_group *group, el_node member)
{
    const enum config_role role = group->host->config->members[member - 1].role;
    const bool is_self = member == group->host->config->self;
    const bool wants = is_self ? group->stands : group->stood_at[member - 1] != 0;
    const uint8_t may = wants ? EL_CANDIDATE : EL_ORDINARY;
    group->roles[member - 1] = role == CONFIG_OBSERVER  ? EL_OBSERVER
                               : role == CONFIG_WITNESS ? EL_ORDINARY
                                                        : may;
}

void host_group_peer_speaks(struct host_group *group, el_node peer, uint64_t now)
{
    if (group->stood_at[peer - 1] == 0) group->stands_since[peer - 1] = now;
    group->stood_at[peer - 1] = now;
    set_role(group, peer);
}

void host_group_peer_stands(struct host_group *group, el_node peer, const struct wire_entry *entry,
                            uint64_t now)
{
    group->priorities[peer - 1] = entry->number;
    group->patience[peer - 1] = entry->patience;
    if (entry->flags & WIRE_STANDS) {
        host_group_peer_speaks(group, peer, now);
    } else {
        group->stood_at[peer - 1] = 0;
        set_role(group, peer);
    }
}

void host_group_expire_peers(struct host_group *group, uint64_t now)
{
    for (el_node peer = 1; peer <= group->cluster.count; peer++) {
        uint64_t *at = &group->stood_at[peer - 1];
        if (*at == 0 || now - *at < STANDS_FOR_S * SECOND) continue;
        *at = 0;
        set_role(group, peer);
    }
}

/* ---- Showing ---- */

struct host_view host_view_of(const struct host_group *group)
{
    uint64_t bound;
    const struct el_view view = machine_view(&group->election, &bound);
    const uint64_t token = view.term ? view.term : 1; /* some count no terms; to clients 0 is nobody's */
    struct host_view shown = {.role = view.role, .leader = view.leader, .token = token, .value = ""};
    const uint64_t now = host_now(group->host);
    const bool is_new =
        view.role == EL_LEADER && !(group->shown.role == EL_LEADER && group->shown.token == token);
    shown.lease_end_ns = shown.deadline_ns = UINT64_MAX;
    if (view.role == EL_LEADER && bound != UINT64_MAX) {
        shown.lease_end_ns = bound;
        shown.deadline_ns = bound > group->margin ? bound - group->margin : 0;
    }
    /* Too late, or not yet on disk: nobody is told that it leads. */
    if (view.role == EL_LEADER &&
        (shown.deadline_ns <= now || (is_new && host_group_is_waiting(group)) || group->host->has_failed)) {
        shown.role = EL_ELECTING;
        shown.leader = EL_NOBODY;
        shown.lease_end_ns = shown.deadline_ns = UINT64_MAX;
    }
    if (shown.leader == EL_NOBODY) shown.token = 0;
    if (shown.leader && group->value_token == shown.token) shown.value = group->value;
    return shown;
}

/* Whether whom the machine would hand over to has stood for as long as it wanted to. */
static bool is_ripe(const struct host_group *group)
{
    const el_node heir = group->wish;
    if (heir == EL_NOBODY || heir > group->cluster.count || group->stood_at[heir - 1] == 0) return false;
    const uint64_t stood = host_now(group->host) - group->stands_since[heir - 1];
    return group->patience[heir - 1] != UINT32_MAX && stood / 1000000 >= group->patience[heir - 1];
}

void host_group_show(struct host_group *group)
{
    const struct host_view now = host_view_of(group);
    const struct host_view *was = &group->shown;
    if (now.role == was->role && now.leader == was->leader && now.token == was->token &&
        now.deadline_ns == was->deadline_ns && now.value == was->value && !is_ripe(group))
        return;
    group->shown = now;
    group->host->hooks.changed(group->host->hooks.whose, group);
}

/* ---- Life ---- */

uint64_t host_option(const struct host_group *group, const char *name, uint64_t otherwise)
{
    const struct el_algorithm *algorithm = group->election.algorithm;
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (strcmp(algorithm->options[i].name, name) == 0) return group->values[i].number;
    return otherwise;
}

struct host_group *host_by_key(struct host *host, uint64_t key)
{
    struct host_group *group = host->groups;
    while (group && group->key != key) group = group->next;
    return group;
}

/* Members that count by other times, or another algorithm, must not count each other's votes. */
static uint32_t digest_settings(const struct host_group *group)
{
    const struct el_algorithm *algorithm = group->election.algorithm;
    uint64_t words[HOST_OPTIONS_MAX + 4] = {0};
    for (uint32_t i = 0; i < algorithm->option_count; i++) words[i] = group->values[i].number;
    words[HOST_OPTIONS_MAX] = group->cluster.drift;
    words[HOST_OPTIONS_MAX + 1] = group->cluster.transmit_max;
    words[HOST_OPTIONS_MAX + 2] = el_fingerprint(algorithm->name, strlen(algorithm->name)).low;
    return (uint32_t)el_fingerprint(words, sizeof words).low;
}

static bool make_links(struct host_group *group)
{
    const uint32_t needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_HOP_ACKS;
    group->has_links = group->election.algorithm->needs & needs;
    group->links_due = UINT64_MAX;
    if (!group->has_links) return true;
    struct link_hooks hooks;
    group->links = calloc(group->cluster.count, sizeof *group->links);
    for (uint32_t i = 0; group->links && i < group->cluster.count; i++)
        link_init(&group->links[i], i + 1, host_link_hooks(group, &hooks));
    return group->links != NULL;
}

static bool make_machines(struct host_group *group, const struct el_algorithm *algorithm)
{
    const struct machine_owner owner = host_group_owner(group);
    const struct el_algorithm *heartbeat = el_detector_named("heartbeat");
    const el_node self = group->host->config->self;
    if (!machine_init(&group->election, algorithm, &group->cluster, self, owner)) return false;
    group->has_detector = algorithm->on_suspect && !algorithm->beats;
    if (!group->has_detector) return true;
    config_values(NULL, heartbeat, group->detector_values);
    group->detectors = group->cluster;
    group->detectors.options = group->detector_values;
    return machine_init(&group->detector, heartbeat, &group->detectors, self, owner);
}

struct host_group *host_group_new(struct host *host, const char *name, uint64_t key, char *text, size_t size)
{
    const struct config *config = host->config;
    const struct config_group *section = config_group_of(config, name);
    const struct el_algorithm *algorithm =
        section && section->algorithm ? section->algorithm : el_algorithm_named("quorum");
    struct host_group *group = calloc(1, sizeof *group);
    if (!group) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    snprintf(group->name, sizeof group->name, "%s", name);
    group->host = host;
    group->key = key;
    group->cluster = (struct el_cluster){.count = config->member_count,
                                         .ids = group->ids,
                                         .attributes = group->priorities,
                                         .roles = group->roles,
                                         .transmit_max = config->transmit_max,
                                         .process_max = CONFIG_PROCESS_MAX,
                                         .drift = config->drift,
                                         .options = group->values};
    el_require(algorithm->option_count <= HOST_OPTIONS_MAX);
    config_values(section, algorithm, group->values);
    for (el_node member = 1; member <= config->member_count; member++) {
        group->ids[member - 1] = config->members[member - 1].id;
        set_role(group, member);
    }
    if (!make_machines(group, algorithm) || !make_links(group)) {
        host_group_free(group);
        snprintf(text, size, "out of memory");
        return NULL;
    }
    group->margin = host_option(group, "margin", 0);
    group->settings = digest_settings(group);
    return group;
}

void host_group_free(struct host_group *group)
{
    machine_free(&group->election);
    if (group->has_detector) machine_free(&group->detector);
    free(group->links);
    free(group);
}

void host_group_start(struct host_group *group)
{
    struct host *host = group->host;
    struct el_event start = {.type = EL_START, .start = {.how = EL_FRESH}};
    const bool forgot = record_forgot(host->record);
    if (record_get(host->record, group->key, &start.start.durable))
        start.start.how = EL_RESTORED;
    else if (forgot)
        start.start.how = EL_LOST;
    machine_step(&group->election, &start);
    const struct el_algorithm *algorithm = group->election.algorithm;
    for (uint32_t i = 0; start.start.how == EL_LOST && i < algorithm->fact_count; i++)
        if (strcmp(algorithm->facts[i], "wall-clock") == 0)
            machine_step(&group->election, &(struct el_event){.type = EL_FACT,
                                                              .fact = i,
                                                              .value = host->hooks.wall_ms(host->hooks.whose)});
    if (group->has_detector) machine_step(&group->detector, &(struct el_event){.type = EL_START});
    host_group_show(group);
}

/* ---- What is asked of it ---- */

/* Not for a lease after a hand-over: the machine waits for the heir, and a call would overrule that. */
static void call(struct host_group *group)
{
    if (host_now(group->host) < group->heir_until) return;
    machine_step(&group->election, &(struct el_event){.type = EL_REQUEST, .request = EL_CAMPAIGN});
    host_group_show(group);
}

void host_stand(struct host_group *group, bool stands, uint64_t priority)
{
    const el_node self = group->host->config->self;
    /* Elections without a lease take a call for the news that whoever leads is gone. */
    const bool is_led =
        group->shown.leader != EL_NOBODY && group->shown.leader != self && host_worst_failover_ns(group) == 0;
    const bool begins = stands && !group->stands && !is_led;
    group->stands = stands;
    group->priorities[self - 1] = priority;
    set_role(group, self);
    const struct wire_entry entry = host_describe(group);
    host_put_all(group->host, &entry);
    if (begins) call(group);
    host_flush(group->host);
}

void host_group_call_again(struct host_group *group, uint64_t now)
{
    const bool needs_calls = !group->election.algorithm->beats && group->stands;
    if (!needs_calls || group->shown.leader) {
        group->leaderless_since = 0;
    } else if (group->leaderless_since == 0) {
        group->leaderless_since = now;
    } else if (now - group->leaderless_since >= CALLS_AGAIN_S * SECOND) {
        group->leaderless_since = now;
        call(group);
    }
}

void host_campaign(struct host_group *group)
{
    if (group->stands) call(group);
    host_flush(group->host);
}

bool host_stands(const struct host_group *group, el_node member, uint64_t *priority)
{
    const bool is_self = member == group->host->config->self;
    if (priority) *priority = group->priorities[member - 1];
    return is_self ? group->stands : group->stood_at[member - 1] != 0;
}

static enum el_answer ask(struct host_group *group, enum el_request_what what, el_node to)
{
    struct machine *machine = &group->election;
    machine_step(machine, &(struct el_event){.type = EL_REQUEST, .request = what, .peer = to});
    const struct el_action *first = machine->out.actions;
    const bool declined = machine->out.count && first->type == EL_NOTE && first->note == EL_NOTE_DECLINED;
    const enum el_answer answer = declined ? (enum el_answer)first->values[1] : EL_PERFORMED;
    host_group_show(group);
    host_flush(group->host);
    return answer;
}

enum el_answer host_resign(struct host_group *group)
{
    return ask(group, EL_RESIGN, EL_NOBODY);
}

enum el_answer host_transfer(struct host_group *group, el_node to)
{
    const enum el_answer answer = ask(group, EL_TRANSFER, to);
    if (answer == EL_PERFORMED) group->heir_until = host_now(group->host) + host_option(group, "lease", 0);
    return answer;
}

void host_proclaim(struct host_group *group, const char *value)
{
    const struct host_view view = host_view_of(group);
    if (view.role != EL_LEADER) return;
    snprintf(group->value, sizeof group->value, "%s", value);
    group->value_token = view.token;
    group->shown.value = NULL; /* whatever it was, it is another now */
    host_send_value(group, EL_NOBODY);
    host_group_show(group);
    host_flush(group->host);
}

el_node host_wish(struct host_group *group)
{
    const el_node wish = is_ripe(group) ? group->wish : EL_NOBODY;
    if (wish) group->wish = EL_NOBODY;
    return wish;
}

void host_be_patient(struct host_group *group, uint32_t ms)
{
    group->patience[group->host->config->self - 1] = ms;
}

const char *host_name(const struct host_group *group)
{
    return group->name;
}

const struct el_algorithm *host_algorithm(const struct host_group *group)
{
    return group->election.algorithm;
}

void *host_office(const struct host_group *group)
{
    return group->office;
}

void host_set_office(struct host_group *group, void *office)
{
    group->office = office;
}
