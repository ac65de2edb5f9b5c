/* A group as the rest of the agent sees it, whatever its algorithm. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/host/internal.h"
#include "agent/host/quorum/sessions.h"

static const struct host_kind *kind_of(const struct host_group *group)
{
    return group->runner->kind;
}

/* ---- Settings ---- */

uint64_t host_option(const struct host_group *group, const char *name, uint64_t otherwise)
{
    const struct el_algorithm *algorithm = host_algorithm(group);
    const struct el_value *values = group->runner->values;
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (strcmp(algorithm->options[i].name, name) == 0) return values[i].number;
    return otherwise;
}

uint32_t host_digest_settings(const struct host *host, const struct el_algorithm *algorithm,
                              const struct el_value *values)
{
    uint64_t words[HOST_OPTIONS_MAX + 4] = {0};
    for (uint32_t i = 0; i < algorithm->option_count; i++) words[i] = values[i].number;
    words[HOST_OPTIONS_MAX] = host->config->drift;
    words[HOST_OPTIONS_MAX + 1] = host->config->transmit_max;
    words[HOST_OPTIONS_MAX + 2] = el_fingerprint(algorithm->name, strlen(algorithm->name)).low;
    return (uint32_t)el_fingerprint(words, sizeof words).low;
}

/* ---- Showing ---- */

static struct host_view look(const struct host_group *group, bool *waits)
{
    uint64_t bound;
    const struct el_view view = kind_of(group)->view(group, &bound, waits);
    const uint64_t token = view.term ? view.term : 1; /* without terms: 1, as 0 means no leader */
    struct host_view shown = {.role = view.role, .leader = view.leader, .token = token, .value = ""};
    const struct host *host = host_of(group);
    const uint64_t now = host_now(host), margin = group->runner->margin;
    const bool is_new =
        view.role == EL_LEADER && !(group->shown_role == EL_LEADER && group->shown_token == token);
    shown.lease_end_ns = shown.deadline_ns = UINT64_MAX;
    if (view.role == EL_LEADER && bound != UINT64_MAX) {
        shown.lease_end_ns = bound;
        shown.deadline_ns = bound > margin ? bound - margin : 0;
    }
    *waits = is_new && *waits;
    /* The deadline has passed, or the claim is not on disk yet: do not show it. */
    if (view.role == EL_LEADER && (shown.deadline_ns <= now || *waits || host->has_failed)) {
        shown.role = EL_ELECTING;
        shown.leader = EL_NOBODY;
        shown.lease_end_ns = shown.deadline_ns = UINT64_MAX;
    }
    if (shown.leader == EL_NOBODY) shown.token = 0;
    if (shown.leader) shown.value = host_value_of(group, shown.token);
    if (shown.value[0]) shown.value_number = group->extra->value_number;
    return shown;
}

struct host_view host_view_of(const struct host_group *group)
{
    bool waits;
    return look(group, &waits);
}

/* Whether the handover target has stood for its preempt_after_ms. */
static bool is_ripe(const struct host_group *group)
{
    const el_node heir = group->handover_target;
    if (heir == EL_NOBODY || heir > host_of(group)->config->member_count) return false;
    const struct host_standing heirs = kind_of(group)->standing(group, heir);
    return heirs.since && heirs.preempt_after_ms != UINT32_MAX &&
           (host_now(host_of(group)) - heirs.since) / 1000000 >= heirs.preempt_after_ms;
}

void host_group_show(struct host_group *group)
{
    bool waits;
    const struct host_view now = look(group, &waits);
    const uint16_t cell = host_cell(group) == HOST_NO_CELL ? HOST_CELLS_MAX : (uint16_t)host_cell(group);
    const uint8_t value = now.value[0] ? HOST_VALUE_THIS : HOST_VALUE_NONE;
    const bool is_renewed = kind_of(group)->shows(group, &now, waits);
    if (now.role == group->shown_role && now.leader == group->shown_leader && now.token == group->shown_token &&
        !is_renewed && value == group->shown_value && cell == group->shown_cell && !is_ripe(group))
        return;
    const bool begins_or_ends = (now.role == EL_LEADER) != (group->shown_role == EL_LEADER);
    group->shown_role = now.role & 3u;
    group->shown_leader = (uint8_t)now.leader;
    group->shown_token = now.token;
    group->shown_value = value & 3u;
    group->shown_cell = cell & 0x7ffu;
    if (begins_or_ends && kind_of(group)->begins_or_ends) kind_of(group)->begins_or_ends(group);
    if (begins_or_ends && host_of(group)->sends_first) host_flush(host_of(group));
    host_tell_changed(group);
}

uint32_t host_cell(const struct host_group *group)
{
    const struct session_group *of = session_group_of(group);
    if (!of || of->cell == SESSION_NO_CELL) return HOST_NO_CELL;
    return session_cell_number(session_of(of), of->cell);
}

static const struct session *session_of_cell(const struct host *host, uint32_t cell)
{
    const struct session *s = host->sessions;
    while (s && session_cell_number(s, cell % SESSION_CELLS_MAX) != cell) s = s->next;
    return s;
}

uint64_t host_cell_deadline(const struct host *host, uint32_t cell)
{
    const struct session *s = session_of_cell(host, cell);
    return s ? s->cells[cell % SESSION_CELLS_MAX].deadline : 0;
}

/* A deadline is the send time of the beat that was answered, plus a lease, less a margin. */
uint64_t host_cell_late_ns(const struct host *host, uint32_t cell, uint64_t before_ns)
{
    const struct session *s = session_of_cell(host, cell);
    if (!s) return 0;
    const uint64_t answered_ns = before_ns + s->runner.margin - el_number(&s->cfg, QUORUM_OPTION_LEASE);
    const uint64_t due_ns = answered_ns + el_number(&s->cfg, QUORUM_OPTION_BEAT), now = host_now(host);
    return now > due_ns ? now - due_ns : 0;
}

void host_note_text(const struct config *config, const struct host_note *note, char *text, size_t size)
{
    const char *at = el_note_text(note->by, note->number);
    size_t used = 0;
    for (; at && *at && used + 72 < size; at++) {
        const bool is_place = (*at == '@' || *at == '#') && (at[1] == '1' || at[1] == '2');
        if (!is_place) {
            text[used++] = *at;
            continue;
        }
        const uint64_t value = note->values[at[1] - '1'];
        if (*at == '@' && value >= 1 && value <= config->member_count)
            used += (size_t)snprintf(text + used, size - used, "%s", config->members[value - 1].name);
        else
            used += (size_t)snprintf(text + used, size - used, "%llu", (unsigned long long)value);
        at++;
    }
    text[used] = '\0';
}

void host_note(struct host *host, struct host_group *group, const struct el_algorithm *algorithm,
               const struct el_action *action)
{
    const struct host_note note = {algorithm, action->note, {action->values[0], action->values[1]}};
    host->hooks.note(host->hooks.context, group, &note);
}

/* ---- Requests ---- */

/* For one lease after a hand-over we do not campaign: the heir goes first. */
static void call(struct host_group *group)
{
    if (group->extra && host_now(host_of(group)) < group->extra->heir_until) return;
    (void)kind_of(group)->ask(group, EL_CAMPAIGN, EL_NOBODY);
}

static struct host_entry enter(struct host_group *group, enum host_called what, uint64_t a, uint64_t b)
{
    return host_enter(host_of(group), (struct host_call){.what = what, .group = group->key, .numbers = {a, b}});
}

void host_stand(struct host_group *group, bool stands, uint64_t priority)
{
    const struct host_entry entry = enter(group, HOST_STANDS, stands, priority);
    const el_node self = host_of(group)->config->self;
    const el_node leader = group->shown_leader;
    /* Algorithms without a lease take a campaign for news that the leader has failed. */
    const bool is_led = leader != EL_NOBODY && leader != self && host_stands(group, leader, NULL) &&
                        host_worst_failover_ns(group) == 0;
    const bool begins = stands && !group->stands && !is_led;
    group->stands = stands;
    kind_of(group)->stand(group, stands, priority);
    if (begins) call(group);
    host_flush(host_of(group));
    host_leave(host_of(group), entry);
}

void host_campaign(struct host_group *group)
{
    const struct host_entry entry = enter(group, HOST_CAMPAIGNS, 0, 0);
    if (group->stands) call(group);
    host_flush(host_of(group));
    host_leave(host_of(group), entry);
}

bool host_stands(const struct host_group *group, el_node member, uint64_t *priority)
{
    const struct host_standing standing = kind_of(group)->standing(group, member);
    if (priority) *priority = standing.priority;
    return member == host_of(group)->config->self ? group->stands : standing.since != 0;
}

static enum el_answer ask(struct host_group *group, enum el_request_what what, el_node to)
{
    const enum el_answer answer = kind_of(group)->ask(group, what, to);
    host_flush(host_of(group));
    return answer;
}

enum el_answer host_resign(struct host_group *group)
{
    const struct host_entry entry = enter(group, HOST_RESIGNS, 0, 0);
    host_of(group)->sends_first = true;
    const enum el_answer answer = ask(group, EL_RESIGN, EL_NOBODY);
    host_of(group)->sends_first = false;
    host_leave(host_of(group), entry);
    return answer;
}

enum el_answer host_transfer(struct host_group *group, el_node to)
{
    const struct host_entry entry = enter(group, HOST_TRANSFERS, to, 0);
    host_of(group)->sends_first = true;
    const enum el_answer answer = ask(group, EL_TRANSFER, to);
    host_of(group)->sends_first = false;
    struct host_extra *extra = answer == EL_PERFORMED ? host_extra_of(group) : NULL;
    if (extra) extra->heir_until = host_now(host_of(group)) + host_option(group, "lease", 0);
    host_leave(host_of(group), entry);
    return answer;
}

void host_set_value(struct host_group *group, const char *value, uint64_t token)
{
    struct host_extra *extra = value[0] ? host_extra_of(group) : group->extra;
    const bool had = extra && extra->value;
    if (!had && value[0] == '\0') return;
    if (had && extra->value_token == token && strcmp(value, extra->value) == 0) return;
    group->shown_value = HOST_VALUE_OTHER; /* so that the next host_group_show() calls `changed` */
    if (!extra) return;
    free(extra->value);
    extra->value = value[0] ? strdup(value) : NULL;
    extra->value_token = token;
    if (++extra->value_number == 0) extra->value_number = 1;
}

const char *host_value_of(const struct host_group *group, uint64_t token)
{
    const struct host_extra *extra = group->extra;
    return extra && extra->value && extra->value_token == token ? extra->value : "";
}

struct host_extra *host_extra_of(struct host_group *group)
{
    if (!group->extra) group->extra = calloc(1, sizeof *group->extra);
    return group->extra;
}

void host_free_extra(struct host_group *group)
{
    if (!group->extra) return;
    free(group->extra->value);
    free(group->extra->ranks);
    free(group->extra);
}

static void proclaim(struct host_group *group, const char *value)
{
    const struct host_view view = host_view_of(group);
    if (view.role != EL_LEADER) return;
    host_set_value(group, value, view.token);
    kind_of(group)->spread_value(group);
    host_group_show(group);
    host_flush(host_of(group));
}

void host_proclaim(struct host_group *group, const char *value)
{
    const struct host_entry entry = host_enter(
        host_of(group),
        (struct host_call){.what = HOST_PROCLAIMS, .group = group->key, .bytes = value, .size = strlen(value)});
    proclaim(group, value);
    host_leave(host_of(group), entry);
}

el_node host_handover_target(struct host_group *group)
{
    if (group->handover_target == EL_NOBODY) return EL_NOBODY;
    const struct host_entry entry = enter(group, HOST_WISHES, 0, 0);
    const el_node handover_target = is_ripe(group) ? group->handover_target : EL_NOBODY;
    if (handover_target) group->handover_target = EL_NOBODY;
    host_leave(host_of(group), entry);
    return handover_target;
}

void host_be_patient(struct host_group *group, uint32_t ms)
{
    const struct host_entry entry = enter(group, HOST_WAITS, ms, 0);
    kind_of(group)->be_patient(group, ms);
    host_leave(host_of(group), entry);
}

uint64_t host_key(const struct host_group *group)
{
    return group->key;
}

const char *host_name(const struct host_group *group)
{
    return kind_of(group)->name(group);
}

const struct el_algorithm *host_algorithm(const struct host_group *group)
{
    return group->runner->algorithm;
}

uint32_t host_leadership(const struct host_group *group)
{
    return group->leadership;
}

void host_set_leadership(struct host_group *group, uint32_t leadership)
{
    group->leadership = leadership;
}
