/*
 * agent/host/host.h for groups that are elected on a store. What an agent's host does with its peers, this one leaves to
 * the adapter; so there is nothing to batch, nothing to save, and nobody to transfer to.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/group_hash.h"
#include "engines/internal.h"

enum { HEARD_WITHIN_S = 10 };

/* ---- Groups ---- */

static uint64_t key_of(const char *name)
{
    return el_fingerprint(name, strlen(name)).low;
}

static uint32_t place_of(const struct host *host, const char *name, uint64_t key)
{
    uint32_t at = (uint32_t)key & (host->index_size - 1);
    while (host->index[at] && strcmp(host->groups[host->index[at] - 1]->name, name) != 0)
        at = (at + 1) & (host->index_size - 1);
    return at;
}

static bool make_room(struct host *host)
{
    if (host->count < host->room) return true;
    const uint32_t room = host->room ? 2 * host->room : 64, size = 4 * room;
    struct host_group **groups = realloc(host->groups, room * sizeof(struct host_group *));
    if (groups) host->groups = groups;
    uint32_t *index = groups ? calloc(size, sizeof *index) : NULL;
    if (!index) return false;
    free(host->index);
    host->index = index;
    host->index_size = size;
    host->room = room;
    for (uint32_t i = 0; i < host->count; i++)
        host->index[place_of(host, host->groups[i]->name, host->groups[i]->key)] = i + 1;
    return true;
}

struct host_group *host_known(const struct host *host, const char *name)
{
    const uint32_t number = host->count ? host->index[place_of(host, name, key_of(name))] : 0;
    return number ? host->groups[number - 1] : NULL;
}

static struct host_group *add(struct host *host, const char *name, char *text, size_t size)
{
    const uint64_t key = key_of(name);
    if (!group_name_is_valid(name)) {
        snprintf(text, size, "a group's name is 1 to %d letters, digits, and . _ - : /", CONFIG_NAME_MAX);
        return NULL;
    }
    if (host->count == ENGINE_GROUPS_MAX) {
        snprintf(text, size, "there are %d groups already, which is all there can be", ENGINE_GROUPS_MAX);
        return NULL;
    }
    struct host_group *group = make_room(host) ? engine_group_make(host, name, key) : NULL;
    if (!group) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    group->number = host->count;
    host->groups[host->count++] = group;
    host->index[place_of(host, name, key)] = host->count;
    return group;
}

struct host_group *host_find(struct host *host, const char *name, char *text, size_t size)
{
    struct host_group *group = host_known(host, name);
    if (group) return group;
    group = add(host, name, text, size);
    if (group) host->engine->kind->observe(host->engine->opened, group);
    return group;
}

struct host_group *engine_meet(struct engine *engine, const char *name)
{
    char text[200];
    struct host_group *group = host_known(engine->host, name);
    return group ? group : add(engine->host, name, text, sizeof text);
}

struct host_group *engine_known(const struct engine *engine, const char *name)
{
    return host_known(engine->host, name);
}

struct host_group *host_next(struct host *host, struct host_group *after)
{
    const uint64_t next = after ? after->number + 1 : 0;
    return next < host->count ? host->groups[next] : NULL;
}

struct host_group *engine_next_group(const struct engine *engine, const struct host_group *after)
{
    const uint64_t next = after ? after->number + 1 : 0;
    return next < engine->host->count ? engine->host->groups[next] : NULL;
}

struct host_group *host_by_key(const struct host *host, uint64_t key)
{
    for (uint32_t i = 0; i < host->count; i++)
        if (host->groups[i]->key == key) return host->groups[i];
    return NULL;
}

/* ---- The host ---- */

struct host *host_new(const struct config *config, struct record *record, struct host_hooks hooks)
{
    struct host *host = calloc(1, sizeof *host);
    (void)record; /* the store keeps all that must outlive this process */
    if (!host) return NULL;
    host->config = config;
    host->hooks = hooks;
    for (uint64_t i = 0; i < ENGINE_STORE; i++) host->ids[i] = i + 1;
    host->cluster = (struct el_cluster){.count = ENGINE_STORE,
                                        .ids = host->ids,
                                        .transmit_max = config->transmit_max,
                                        .process_max = CONFIG_PROCESS_MAX,
                                        .drift = config->drift,
                                        .options = host->values};
    return host;
}

void host_free(struct host *host)
{
    if (!host) return;
    for (uint32_t i = 0; i < host->count; i++) engine_group_free(host->groups[i]);
    free(host->groups);
    free(host->index);
    free(host);
}

uint64_t host_tick(struct host *host)
{
    const uint64_t now = host_now(host);
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < host->count; i++) {
        if (engine_group_due(host->groups[i]) <= now) engine_group_fire(host->groups[i], now);
        const uint64_t due = engine_group_due(host->groups[i]);
        if (due < next) next = due;
    }
    return next;
}

uint64_t host_clock(const struct host *host)
{
    return host_now(host);
}

uint64_t host_stopwatch(const struct host *host)
{
    return host_now(host);
}

uint64_t host_worst_failover_ns(const struct host_group *group)
{
    return group->host->worst_failover_ns;
}

/* ---- The store, as the member that it is to the rest of the agent ---- */

uint64_t host_heard(const struct host *host, el_node peer)
{
    const uint64_t now = host_now(host);
    if (peer == ENGINE_SELF) return 0;
    return host->heard_ns ? (now > host->heard_ns ? now - host->heard_ns : 0) : UINT64_MAX;
}

bool host_hears(const struct host *host, el_node peer)
{
    return host_heard(host, peer) < HEARD_WITHIN_S * NS_PER_S;
}

bool host_stands(const struct host_group *group, el_node member, uint64_t *priority)
{
    if (priority) *priority = member == ENGINE_SELF ? group->priority : 0;
    if (member == ENGINE_SELF) return group->stands;
    for (uint32_t i = 0; i < group->queued; i++)
        if (!group->queue[i].is_ours) return true;
    return false;
}

/* ---- A group, read ---- */

uint64_t host_key(const struct host_group *group)
{
    return group->key;
}

const char *host_name(const struct host_group *group)
{
    return group->name;
}

const struct el_algorithm *host_algorithm(const struct host_group *group)
{
    return group->host->engine->kind->algorithm;
}

uint32_t host_leadership(const struct host_group *group)
{
    return group->leadership;
}

void host_set_leadership(struct host_group *group, uint32_t leadership)
{
    group->leadership = leadership;
}

/* ---- What an engine does not have ---- */

uint32_t host_cell(const struct host_group *group)
{
    (void)group;
    return HOST_NO_CELL;
}

uint64_t host_cell_deadline(const struct host *host, uint32_t cell)
{
    (void)host, (void)cell;
    return 0;
}

uint64_t host_cell_late_ns(const struct host *host, uint32_t cell, uint64_t before_ns)
{
    (void)host, (void)cell, (void)before_ns;
    return 0;
}

void host_batch_begin(struct host *host)
{
    (void)host;
}

void host_batch_end(struct host *host)
{
    (void)host;
}

void host_be_patient(struct host_group *group, uint32_t ms)
{
    (void)group, (void)ms;
}

el_node host_handover_target(struct host_group *group)
{
    (void)group;
    return EL_NOBODY;
}

/* A candidate that resigned stands again by itself, behind the others. */
void host_campaign(struct host_group *group)
{
    (void)group;
}

bool host_has_failed(const struct host *host)
{
    (void)host;
    return false;
}

/* Its place gets the last group. Those that stood behind it in the table for want of their own places are put in again. */
static void take_out(struct host *host, const struct host_group *group)
{
    const uint32_t mask = host->index_size - 1, last = host->count - 1, number = (uint32_t)group->number;
    uint32_t at = place_of(host, group->name, group->key);
    host->index[at] = 0;
    while (host->index[at = (at + 1) & mask]) {
        const struct host_group *other = host->groups[host->index[at] - 1];
        const uint32_t its = host->index[at];
        host->index[at] = 0;
        host->index[place_of(host, other->name, other->key)] = its;
    }
    if (number != last) {
        struct host_group *moved = host->groups[last];
        host->index[place_of(host, moved->name, moved->key)] = number + 1;
        host->groups[number] = moved;
        moved->number = number;
    }
    host->count--;
}

bool host_forget(struct host_group *group)
{
    struct host *host = group->host;
    const struct engine *engine = host->engine;
    if (group->stands || !engine->kind->forget(engine->opened, group)) return false;
    take_out(host, group);
    engine_group_free(group);
    return true;
}

uint64_t host_members(const struct host *host)
{
    (void)host;
    return 0;
}

enum host_difference host_differs(const struct host *host, el_node peer)
{
    (void)host, (void)peer;
    return HOST_SAME;
}

bool host_knows_silence(const struct host_group *group)
{
    (void)group;
    return false;
}

uint64_t host_silent_until(const struct host *host, bool *is_lost)
{
    (void)host;
    *is_lost = false;
    return 0;
}

bool host_hears_in(const struct host_group *group, el_node peer)
{
    return host_hears(group->host, peer);
}

uint64_t host_unrenewed_ns(const struct host_group *group, uint64_t *late_ns)
{
    const struct host *host = group->host;
    const uint64_t lease = engine_time(host->engine, "lease"),
                   beats = 3 * engine_time(host->engine, "heartbeat"), end = host_view_of(group).lease_end_ns,
                   now = host_now(host);
    *late_ns = beats < lease / 2 ? beats : lease / 2;
    if (end == UINT64_MAX) return 0;
    return end > now + lease ? 0 : now + lease - end;
}

/* Only the store ends a claim early: no candidate takes the office from another. */
const char *host_early_end(const struct host_group *group, const char **sentence)
{
    *sentence = group->host->engine->kind->removed;
    return "removed";
}

uint64_t host_lease_ns(const struct host_group *group)
{
    return engine_time(group->host->engine, "lease");
}

uint64_t host_lease_less_margin_ns(const struct host_group *group)
{
    const uint64_t lease = host_lease_ns(group), margin = group->host->margin;
    return lease > margin ? lease - margin : 0;
}

bool host_obituary(const struct host *host, struct payload *payload)
{
    (void)host, (void)payload;
    return false;
}

bool host_death_releases(const struct host *host, const struct host_tenure *tenures, uint32_t count,
                         struct payload *payload)
{
    (void)host, (void)tenures, (void)count, (void)payload;
    return false;
}

uint64_t host_longest_lease_ns(const struct host *host)
{
    return host->kept_ns;
}

void host_note_text(const struct config *config, const struct host_note *note, char *text, size_t size)
{
    static const char *const who[] = {"nobody", "this one", "another", "the store"};
    const char *at = el_note_text(note->by, note->number);
    size_t used = 0;
    (void)config;
    for (; at && *at && used + 24 < size; at++) {
        const bool is_place = (*at == '@' || *at == '#') && (at[1] == '1' || at[1] == '2');
        if (!is_place) {
            text[used++] = *at;
            continue;
        }
        const uint64_t value = note->values[at[1] - '1'];
        if (*at == '@' && value <= ENGINE_STORE)
            used += (size_t)snprintf(text + used, size - used, "%s", who[value]);
        else
            used += (size_t)snprintf(text + used, size - used, "%llu", (unsigned long long)value);
        at++;
    }
    text[used] = '\0';
}
