/* What the host says to its peers, and what it makes of what they say. */
#include <string.h>

#include "agent/host_inner.h"

static const uint64_t SECOND = 1000000000;

/* ---- Saying ---- */

static void send_off(struct host *host, el_node to)
{
    struct wire_payload *out = &host->out[to - 1];
    if (host->has_failed) return;
    host->hooks.send(host->hooks.whose, to, out->bytes, out->size);
    host->sent_at[to - 1] = host_now(host);
    wire_begin(out, host->members);
}

void host_greet(struct host *host, el_node to)
{
    if (to != host->config->self) send_off(host, to);
}

void host_put(struct host *host, el_node to, const struct wire_entry *entry)
{
    if (to == host->config->self) return;
    if (wire_add(&host->out[to - 1], entry)) return;
    send_off(host, to);
    (void)wire_add(&host->out[to - 1], entry);
}

void host_put_all(struct host *host, const struct wire_entry *entry)
{
    for (el_node to = 1; to <= host->config->member_count; to++) host_put(host, to, entry);
}

void host_flush(struct host *host)
{
    for (el_node to = 1; to <= host->config->member_count; to++)
        if (host->out[to - 1].size > WIRE_HEAD) send_off(host, to);
    host_write(host);
}

struct wire_entry host_describe(const struct host_group *group)
{
    struct wire_entry entry = {.type = WIRE_GROUP,
                               .group = group->key,
                               .settings = group->settings,
                               .flags = group->stands ? WIRE_STANDS : 0,
                               .patience = group->patience[group->host->config->self - 1],
                               .number = group->priorities[group->host->config->self - 1]};
    entry.length = (uint8_t)strlen(group->name);
    memcpy(entry.text, group->name, entry.length);
    return entry;
}

void host_send_value(struct host_group *group, el_node to)
{
    struct wire_entry entry = {.type = WIRE_VALUE, .group = group->key, .number = group->value_token};
    entry.length = (uint8_t)strlen(group->value);
    memcpy(entry.text, group->value, entry.length);
    if (to)
        host_put(group->host, to, &entry);
    else
        host_put_all(group->host, &entry);
}

/* ---- Hearing ---- */

/* A group of which nothing is known here: who speaks of it is asked for its name, now and then. */
static void ask_who(struct host *host, el_node from, uint64_t key, uint64_t now)
{
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < HOST_UNKNOWN_MAX; i++) {
        if (host->unknown[i].key == key && now - host->unknown[i].asked_at < SECOND / 10) return;
        if (host->unknown[i].key == key) oldest = i;
        if (host->unknown[oldest].key != key && host->unknown[i].asked_at < host->unknown[oldest].asked_at)
            oldest = i;
    }
    host->unknown[oldest].key = key;
    host->unknown[oldest].asked_at = now;
    host_put(host, from, &(struct wire_entry){.type = WIRE_WHO, .group = key});
}

static void complain(struct host *host, struct host_group *group, el_node from, const char *what)
{
    const uint64_t now = host_now(host);
    char text[160];
    if (host->told_at[from - 1] && now - host->told_at[from - 1] < 10 * SECOND) return;
    host->told_at[from - 1] = now;
    snprintf(text, sizeof text, "%s has %s: nothing it says is counted", host->config->members[from - 1].name,
             what);
    host->hooks.warn(host->hooks.whose, group, text);
}

/* Only the leader's, of this very term; what comes before its claim comes again. */
static void on_value(struct host_group *group, el_node from, const struct wire_entry *entry)
{
    const struct host_view view = host_view_of(group);
    if (view.leader != from || view.token != entry->number) return;
    if (entry->number == group->value_token && strcmp(entry->text, group->value) == 0) return;
    snprintf(group->value, sizeof group->value, "%s", entry->text);
    group->value_token = entry->number;
    group->shown.value = NULL;
    host_group_show(group);
}

static void on_group(struct host *host, el_node from, const struct wire_entry *entry)
{
    char reason[200];
    struct host_group *group = host_by_key(host, entry->group);
    if (!group) {
        if (!config_is_group_name(entry->text) ||
            seal_group_key(host->config->cluster_id, entry->text) != entry->group)
            return;
        group = host_find(host, entry->text, reason, sizeof reason);
    }
    if (!group || strcmp(group->name, entry->text) != 0) return;
    if (entry->settings != group->settings) {
        complain(host, group, from, "other settings for this group");
        return;
    }
    const bool knew = group->stood_at[from - 1] != 0;
    host_group_peer_stands(group, from, entry, host_now(host));
    if (!knew && group->stands) { /* it may have just begun, and not know us */
        const struct wire_entry ours = host_describe(group);
        host_put(host, from, &ours);
    }
    if (group->shown.role == EL_LEADER && group->value_token == group->shown.token && group->value[0])
        host_send_value(group, from);
}

static void on_entry(struct host *host, el_node from, const struct wire_entry *entry)
{
    struct host_group *group = host_by_key(host, entry->group);
    struct link_hooks hooks;
    const bool is_message = entry->type == WIRE_MESSAGE || entry->type == WIRE_LINKED;
    if (entry->type == WIRE_GROUP) {
        on_group(host, from, entry);
        return;
    }
    if (!group) {
        if (is_message) ask_who(host, from, entry->group, host_now(host));
        return;
    }
    if (is_message && entry->settings != group->settings) {
        complain(host, group, from, "other settings for this group");
        return;
    }
    /* Who speaks is known by its key, whatever the message says. */
    if (is_message && (entry->msg.from != from || entry->msg.to != host->config->self)) return;
    switch (entry->type) {
    case WIRE_MESSAGE:
        if (entry->flags & WIRE_STANDS) /* a vote may overtake the word that it is one */
            host_group_peer_speaks(group, from, host_now(host));
        host_group_hear(group, entry->flags & WIRE_DETECTOR, &entry->msg);
        break;
    case WIRE_LINKED:
    case WIRE_LINK_ACK:
        if (!group->has_links) break;
        link_receive(&group->links[from - 1], host_link_hooks(group, &hooks), host_now(host), entry);
        group->links_due = 0;
        host_group_show(group);
        break;
    case WIRE_WHO: {
        const struct wire_entry ours = host_describe(group);
        host_put(host, from, &ours);
        break;
    }
    case WIRE_VALUE: on_value(group, from, entry); break;
    case WIRE_GROUP: break;
    }
}

void host_receive(struct host *host, el_node from, const uint8_t *payload, size_t size)
{
    uint64_t digest;
    size_t at = WIRE_HEAD;
    struct wire_entry entry;
    if (from == EL_NOBODY || from > host->config->member_count || host->has_failed) return;
    (void)host_tick(host); /* what is overdue comes before anything that is heard */
    if (!wire_head(payload, size, &digest)) return;
    if (digest != host->members) {
        complain(host, NULL, from, "another list of members");
        return;
    }
    host->heard[from - 1] = host_now(host);
    while (wire_next(payload, size, &at, &entry) == WIRE_ENTRY) on_entry(host, from, &entry);
    host_flush(host);
}
