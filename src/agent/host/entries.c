/* Sends entries to peers, and handles theirs. */
#include <string.h>

#include "agent/host/internal.h"
#include "agent/host/quorum/sessions.h"
#include "base/clock.h"

/*
 * Flow control. A full socket buffer drops datagrams, and they are sent again only after a timeout. So every
 * 16th datagram begins with a mark, which the peer echoes. While 4 marks have no echo, messages that can wait
 * are not sent. A socket buffer of the default size takes 180 datagrams of all peers together.
 */
enum { MARK_EVERY = 16, MARKS_MAX = 4 };
static const uint64_t MARK_PAUSE = 10000000; /* after 10 ms without a datagram, count from 0 to the next mark */
static const uint64_t MARK_LOST = 50000000;  /* after 50 ms without an echo, go on: mark or echo was lost */

/* ---- Sending ---- */

static void send_off(struct host *host, el_node to)
{
    struct payload *out = &host->out[to - 1];
    if (host->has_failed) return;
    host->hooks.send(host->hooks.context, to, out->bytes, out->size);
    if (host_now(host) - host->sent_at[to - 1] >= MARK_PAUSE) host->flow[to - 1].unmarked = 0;
    host->sent_at[to - 1] = host_now(host);
    host->flow[to - 1].unmarked++;
    payload_begin(out, host->members);
}

static void mark(struct host *host, el_node to)
{
    struct host_flow *flow = &host->flow[to - 1];
    if (flow->unmarked < MARK_EVERY || host->out[to - 1].size > PAYLOAD_HEAD) return;
    if (flow->marked == flow->echoed) flow->waits_since = host_now(host);
    flow->unmarked = 0;
    (void)payload_add(&host->out[to - 1],
                      &(struct payload_entry){.type = PAYLOAD_MARK, .sequence = ++flow->marked});
}

static void hear_echo(struct host_flow *flow, uint32_t number, uint64_t now)
{
    if (number - flow->echoed > flow->marked - flow->echoed) return; /* old, or to an earlier incarnation */
    flow->echoed = number;
    flow->waits_since = now;
}

bool host_keeps_up(struct host *host, el_node peer)
{
    struct host_flow *flow = &host->flow[peer - 1];
    if (flow->marked - flow->echoed < MARKS_MAX) return true;
    if (host_now(host) - flow->waits_since < MARK_LOST) return false;
    flow->echoed = flow->marked;
    return true;
}

void host_greet(struct host *host, el_node to)
{
    if (to != host->config->self && config_talks(host->config, host->config->self, to)) send_off(host, to);
}

void host_put(struct host *host, el_node to, const struct payload_entry *entry)
{
    if (to == host->config->self || !config_talks(host->config, host->config->self, to)) return;
    mark(host, to);
    if (payload_add(&host->out[to - 1], entry)) return;
    send_off(host, to);
    mark(host, to);
    (void)payload_add(&host->out[to - 1], entry);
}

void host_put_all(struct host *host, const struct payload_entry *entry)
{
    for (el_node to = 1; to <= host->config->member_count; to++) host_put(host, to, entry);
}

void host_batch_begin(struct host *host)
{
    const struct host_entry entry = host_enter(host, (struct host_call){.what = HOST_HOLDS});
    host->holds++;
    host_leave(host, entry);
}

void host_batch_end(struct host *host)
{
    const struct host_entry entry = host_enter(host, (struct host_call){.what = HOST_RELEASES});
    if (--host->holds == 0) host_flush(host);
    host_leave(host, entry);
}

/* The heir should hear first. It gets a release and a vote, so its payload is the largest. Ties: the higher
 * id. */
static el_node who_hears_first(const struct host *host)
{
    el_node first = EL_NOBODY;
    size_t most = PAYLOAD_HEAD;
    for (el_node to = host->config->member_count; to > 0; to--) {
        if (host->out[to - 1].size <= most) continue;
        first = to;
        most = host->out[to - 1].size;
    }
    return first;
}

void host_flush(struct host *host)
{
    if (host->holds) return;
    for (struct session *s = host->sessions; s; s = s->next) postings_flush(s);
    for (el_node to; (to = who_hears_first(host)) != EL_NOBODY && !host->has_failed;) send_off(host, to);
    host_write(host);
}

/* ---- Receiving ---- */

/* We do not know this group: asks the sender for its name, at most every 100 ms. */
static void ask_who(struct host *host, el_node from, uint64_t key, uint64_t now)
{
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < HOST_UNKNOWN_MAX; i++) {
        if (host->unknown[i].key == key && now - host->unknown[i].asked_at < NS_PER_S / 10) return;
        if (host->unknown[i].key == key) oldest = i;
        if (host->unknown[oldest].key != key && host->unknown[i].asked_at < host->unknown[oldest].asked_at)
            oldest = i;
    }
    host->unknown[oldest].key = key;
    host->unknown[oldest].asked_at = now;
    host_put(host, from, &(struct payload_entry){.type = PAYLOAD_WHO, .group = key});
}

void host_warn_of(struct host *host, struct host_group *group, el_node from, const char *what)
{
    const uint64_t now = host_now(host);
    char text[240];
    if (host->told_at[from - 1] && now - host->told_at[from - 1] < 10 * NS_PER_S) return;
    host->told_at[from - 1] = now;
    snprintf(text, sizeof text, "%s %s", host->config->members[from - 1].name, what);
    host->hooks.warn(host->hooks.context, group, text);
}

void host_complain(struct host *host, struct host_group *group, el_node from, enum host_difference difference,
                   const char *what)
{
    char text[120];
    host->differed_at[from - 1] = host_now(host);
    host->difference[from - 1] = difference;
    snprintf(text, sizeof text, "has %s: nothing it says is counted", what);
    host_warn_of(host, group, from, text);
}

/* Only from the leader, for its present term. A value that arrives before the claim is sent again later. */
static void on_value(struct host_group *group, el_node from, const struct payload_entry *entry)
{
    const struct host_view view = host_view_of(group);
    if (view.leader != from || view.token != entry->token) return;
    host_set_value(group, entry->text, entry->token);
    host_group_show(group);
}

static void on_group(struct host *host, el_node from, const struct payload_entry *entry)
{
    char reason[200];
    struct host_group *group = host_by_key(host, entry->group);
    if (!group) {
        if (!group_name_is_valid(entry->text) ||
            seal_group_key(host->config->cluster_id, entry->text) != entry->group)
            return;
        group = host_find(host, entry->text, reason, sizeof reason);
    }
    struct host_single *single = group ? host_single_of(group) : NULL;
    if (!group || strcmp(host_name(group), entry->text) != 0) return;
    if (!single || entry->settings != single->runner.settings) {
        host_complain(host, group, from, HOST_OTHER_SETTINGS, "other settings for this group");
        return;
    }
    const uint32_t round = single->round;
    const bool is_news = host_single_is_of_round(single, from, entry->round);
    const bool knew = single->stood_at[from - 1] != 0;
    host_single_peer_stands(single, from, entry, host_now(host));
    single->leads[from - 1] = is_news && entry->flags & PAYLOAD_LEADS;
    if (single->round != round) host_campaign(group); /* a new round */
    if (!knew && group->stands) {                     /* the peer may have just started and not know us */
        const struct payload_entry ours = host_single_describe(single);
        host_put(host, from, &ours);
    }
    host_single_send_value(single, from);
}

/* An entry for a group of another algorithm than quorum. */
static void on_single(struct host *host, struct host_single *single, el_node from,
                      const struct payload_entry *entry)
{
    struct reliable_link_hooks hooks;
    switch (entry->type) {
    case PAYLOAD_MESSAGE:
        if (entry->flags & PAYLOAD_STANDS) /* a vote may overtake PAYLOAD_GROUP */
            host_single_peer_speaks(single, from, host_now(host));
        host_single_hear(single, entry->flags & PAYLOAD_DETECTOR, &entry->msg);
        break;
    case PAYLOAD_LINKED:
    case PAYLOAD_LINK_ACK:
        if (!single->has_links) break;
        if (entry->type == PAYLOAD_LINKED && !host_single_is_of_round(single, from, entry->round)) break;
        reliable_link_receive(&single->links[from - 1], host_link_hooks(single, &hooks), host_now(host), entry);
        single->links_due = 0;
        host_group_show(&single->base);
        break;
    case PAYLOAD_WHO: {
        const struct payload_entry ours = host_single_describe(single);
        host_put(host, from, &ours);
        break;
    }
    case PAYLOAD_VALUE: on_value(&single->base, from, entry); break;
    default: break;
    }
}

static struct session *session_with(struct host *host, uint32_t settings)
{
    struct session *s = host->sessions;
    while (s && s->runner.settings != settings) s = s->next;
    return s;
}

/* An entry for sessions and postings. If no group here has the sender's settings, we share no session. */
static void on_session(struct host *host, el_node from, const struct payload_entry *entry)
{
    struct session *s = session_with(host, entry->settings);
    if (!s) {
        host_complain(host, NULL, from, HOST_OTHER_SETTINGS, "settings that this member has not");
        return;
    }
    switch (entry->type) {
    case PAYLOAD_SESSION: session_hear(s, &entry->msg); break;
    case PAYLOAD_POSTINGS: postings_hear_state(s, from, entry); break;
    default: postings_hear_posting(s, from, entry); break;
    }
}

static void on_entry(struct host *host, el_node from, const struct payload_entry *entry)
{
    const bool is_linked = entry->type == PAYLOAD_MESSAGE || entry->type == PAYLOAD_LINKED;
    const bool has_message = is_linked || entry->type == PAYLOAD_SESSION;
    /* The datagram's key proves who sent it; a message that names another sender is forged. */
    if (has_message && (entry->msg.from != from || entry->msg.to != host->config->self)) return;
    if (entry->type == PAYLOAD_GROUP) {
        on_group(host, from, entry);
        return;
    }
    if (entry->type == PAYLOAD_MARK) {
        host_put(host, from, &(struct payload_entry){.type = PAYLOAD_ECHO, .sequence = entry->sequence});
        return;
    }
    if (entry->type == PAYLOAD_ECHO) {
        hear_echo(&host->flow[from - 1], entry->sequence, host_now(host));
        return;
    }
    if (entry->type == PAYLOAD_OBITUARY) {
        host_bury(host, from, entry);
        return;
    }
    if (entry->type == PAYLOAD_RELEASED) {
        host_hear_released(host, from, entry);
        return;
    }
    if (entry->type == PAYLOAD_SESSION || entry->type == PAYLOAD_POSTINGS || entry->type == PAYLOAD_POSTING ||
        entry->type == PAYLOAD_TOLD) {
        on_session(host, from, entry);
        return;
    }
    struct host_group *group = host_by_key(host, entry->group);
    if (!group) { /* a group of quorum will arrive by a posting */
        if (is_linked && !session_with(host, entry->settings))
            ask_who(host, from, entry->group, host_now(host));
        return;
    }
    struct host_single *single = host_single_of(group);
    if (is_linked && entry->settings != group->runner->settings) {
        host_complain(host, group, from, HOST_OTHER_SETTINGS, "other settings for this group");
    } else if (single) {
        on_single(host, single, from, entry);
    } else if (entry->type == PAYLOAD_MESSAGE) {
        session_group_hear((struct session_group *)group, &entry->msg);
    }
}

static void receive(struct host *host, el_node from, const uint8_t *payload, size_t size)
{
    uint64_t digest;
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    if (from == EL_NOBODY || from > host->config->member_count || host->has_failed) return;
    if (!config_talks(host->config, host->config->self, from)) return;
    (void)host_tick(host); /* fires overdue timers before any message is handled */
    if (!payload_head(payload, size, &digest)) return;
    if (digest != host->members) {
        host_complain(host, NULL, from, HOST_OTHER_MEMBERS, "another list of members");
        return;
    }
    host->heard[from - 1] = host_now(host);
    while (payload_next(payload, size, &at, &entry) == PAYLOAD_ENTRY) on_entry(host, from, &entry);
    host_flush(host);
}

void host_receive(struct host *host, el_node from, const uint8_t *payload, size_t size)
{
    const struct host_entry entry = host_enter(
        host, (struct host_call){.what = HOST_RECEIVES, .numbers = {from}, .bytes = payload, .size = size});
    receive(host, from, payload, size);
    host_leave(host, entry);
}
