/* See host.h. */
#include "agent/host.h"

#include <stdlib.h>
#include <string.h>

#include "agent/host_inner.h"

static const uint64_t SECOND = 1000000000;

/* Who the members are, which all must agree on before they listen to each other. */
static uint64_t digest_members(const struct config *config)
{
    struct el_hash sum = el_fingerprint(config->cluster_id, sizeof config->cluster_id);
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *member = &config->members[i];
        const uint64_t words[] = {sum.low, sum.high, member->id, (uint64_t)member->role,
                                  el_fingerprint(member->name, strlen(member->name)).low};
        sum = el_fingerprint(words, sizeof words);
    }
    return sum.low;
}

struct host *host_new(const struct config *config, struct record *record, struct host_hooks hooks)
{
    struct host *host = calloc(1, sizeof *host);
    if (!host) return NULL;
    host->config = config;
    host->record = record;
    host->hooks = hooks;
    host->members = digest_members(config);
    host->refresh_at = hooks.now(hooks.whose) + SECOND;
    for (uint32_t i = 0; i < config->member_count; i++) wire_begin(&host->out[i], host->members);
    return host;
}

void host_free(struct host *host)
{
    while (host && host->groups) {
        struct host_group *group = host->groups;
        host->groups = group->next;
        host_group_free(group);
    }
    free(host);
}

struct host_group *host_find(struct host *host, const char *name, char *text, size_t size)
{
    if (!config_is_group_name(name)) {
        snprintf(text, size, "a group's name is 1 to %d letters, digits, and . _ - : /", CONFIG_NAME_MAX);
        return NULL;
    }
    const uint64_t key = seal_group_key(host->config->cluster_id, name);
    struct host_group *group = host_by_key(host, key);
    if (group && strcmp(group->name, name) != 0) {
        snprintf(text, size, "%s cannot be told from %s by its hash: choose another name", name, group->name);
        return NULL;
    }
    if (group) return group;
    if (host->group_count == RECORD_GROUPS_MAX || !record_has_room(host->record, key)) {
        snprintf(text, size, "there are %d groups on record already, which is all there can be",
                 RECORD_GROUPS_MAX);
        return NULL;
    }
    group = host_group_new(host, name, key, text, size);
    if (!group) return NULL;
    group->next = host->groups;
    host->groups = group;
    host->group_count++;
    host_group_start(group);
    host_flush(host);
    return group;
}

struct host_group *host_next(struct host *host, struct host_group *after)
{
    return after ? after->next : host->groups;
}

/* ---- Disk ---- */

void host_write(struct host *host)
{
    if (!host->is_dirty || host->writes_begun > host->writes_done || host->has_failed) return;
    struct record_image *image = record_image_of(host->record);
    host->is_dirty = false;
    host->writes_begun++;
    if (image)
        host->hooks.save(host->hooks.whose, image);
    else
        host->has_failed = true;
}

void host_saved(struct host *host, uint64_t version, int error)
{
    (void)version; /* one at a time */
    host->writes_done++;
    if (error) host->has_failed = true;
    for (struct host_group *group = host->groups; group; group = group->next)
        if (host->has_failed)
            host_group_show(group); /* it does not lead any more */
        else
            host_group_release(group);
    host_flush(host);
}

/* ---- Time ---- */

/* Now and then: who wants to lead what, and what leaders proclaim, in case it was lost on the way. */
static void refresh(struct host *host, uint64_t now)
{
    host->refresh_at = now + SECOND;
    for (struct host_group *group = host->groups; group; group = group->next) {
        host_group_expire_peers(group, now);
        host_group_call_again(group, now);
        if (group->wish) host_group_show(group); /* it may be ripe by now */
        if (!group->stands) continue;
        const struct wire_entry entry = host_describe(group);
        host_put_all(host, &entry);
        if (group->shown.role == EL_LEADER && group->value_token == group->shown.token && group->value[0])
            host_send_value(group, EL_NOBODY);
    }
    for (el_node to = 1; to <= host->config->member_count; to++)
        if (now - host->sent_at[to - 1] >= SECOND / 2) host_greet(host, to);
}

/* A claim also ends for its clients a margin before the lease does. */
static uint64_t shown_until(const struct host_group *group)
{
    return group->shown.role == EL_LEADER ? group->shown.deadline_ns : UINT64_MAX;
}

uint64_t host_tick(struct host *host)
{
    uint64_t now = host_now(host);
    for (struct host_group *group = host->groups; group; group = group->next) {
        while (host_group_fire(group, now)) now = host_now(host);
        if (shown_until(group) <= now) host_group_show(group);
    }
    if (host->refresh_at <= now) refresh(host, now);
    uint64_t next = host->refresh_at;
    for (struct host_group *group = host->groups; group; group = group->next) {
        const uint64_t due = host_group_due(group), until = shown_until(group);
        if (due < next) next = due;
        if (until < next) next = until;
    }
    host_flush(host);
    return next;
}

/* ---- What is asked about it ---- */

bool host_has_failed(const struct host *host)
{
    return host->has_failed;
}

uint64_t host_clock(const struct host *host)
{
    return host_now(host);
}

uint64_t host_heard(const struct host *host, el_node peer)
{
    const uint64_t at = host->heard[peer - 1], now = host_now(host);
    return at == 0 ? UINT64_MAX : now > at ? now - at : 0;
}

/* The promise that others wait out, then each place in line, and two exchanges. */
uint64_t host_worst_failover_ns(const struct host_group *group)
{
    const uint64_t lease = host_option(group, "lease", 0);
    const uint64_t stagger = host_option(group, "stagger", 0);
    const uint64_t again = host_option(group, "re-ask", 0);
    const uint64_t million = 1000000, drift = group->cluster.drift;
    if (lease == 0) return 0;
    const uint64_t promise = lease / (million - drift) * (million + drift);
    return promise + stagger * group->cluster.count + again + 4 * group->cluster.transmit_max;
}
