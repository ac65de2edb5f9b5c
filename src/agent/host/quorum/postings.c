/*
 * Postings: what a member says about its groups, for all others to copy: whether it stands, whether it leads,
 * its heir, and the value it proclaims. Postings have a version, which rises with every change. Each group has
 * one posting, with the version of its last change, and the list is in the order of versions.
 *
 * A posting names the version before it, so a reader that has read up to there knows that nothing is missing.
 * Lost postings are sent again from where the reader stopped: with every beat, or at once if it reports a gap.
 * At most 1024 postings are under way to a reader that has not acknowledged them.
 *
 * A group that is dropped (forget.c) has no posting any more. Every reader in touch has read the last one, which said that we
 * neither stand nor lead. A reader that was out of touch may believe an older one: ANEW in our POSTINGS tells it to drop all
 * that it has read, until it says that it has read nothing. Then it reads from the first posting on. Agents of earlier
 * versions ignore ANEW; they believe the older posting until one of us restarts.
 */
#include <string.h>

#include "agent/host/quorum/sessions.h"

enum { UNDER_WAY_MAX = 1024, LOT = 32 };

/* ---- Posting ---- */

static void take_down(struct session *s, struct session_group *group)
{
    struct session_group *older = session_group_at(s, group->older), *newer = session_group_at(s, group->newer);
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (s->postings[i].next == group) s->postings[i].next = newer;
    if (older)
        older->newer = group->newer;
    else
        s->oldest = newer;
    if (newer)
        newer->older = group->older;
    else
        s->newest = older;
}

static bool has_read(const struct postings_peer *b, const struct session_group *group)
{
    return b->sent >= group->posted && b->unanswered == 0 && (!b->next || b->next->posted > group->posted);
}

void postings_post(struct session_group *group)
{
    struct session *s = session_of(group);
    if (group->posted) take_down(s, group);
    group->posted = ++s->version;
    group->older = session_number_of(s->newest);
    group->newer = 0;
    if (s->newest)
        s->newest->newer = group->number;
    else
        s->oldest = group;
    s->newest = group;
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (!s->postings[i].next) s->postings[i].next = group;
}

void postings_take_down(struct session_group *group)
{
    struct session *s = session_of(group);
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (group->posted && s->postings[i].sent && !has_read(&s->postings[i], group))
            s->postings[i].owes_anew = true;
    if (group->posted) take_down(s, group);
    group->posted = 0;
}

/* A peer that is not in touch may have died. If it has not, it reads anew when it is back. */
bool postings_may_be_dropped(const struct session_group *group)
{
    const struct session *s = session_of(group);
    for (el_node peer = 1; peer <= s->cluster.count && group->posted; peer++)
        if (peer != s->cfg.self && s->peers[peer - 1].recent && !has_read(&s->postings[peer - 1], group))
            return false;
    return true;
}

/* ---- Sending ---- */

/* A member without a vote hears of all leaders from voters, if it has no session with some of them. */
static bool is_told_news(const struct session *s, el_node to)
{
    return s->tells_candidates && !config_votes(s->runner.host->config, to);
}

static struct quorum_told news_for(struct session *s, struct session_group *group, el_node to)
{
    struct quorum q;
    session_look(s, group, &q);
    return quorum_news_for(&q, to);
}

/* The candidates that want to lead and were heard: others have no session with them. */
static uint64_t candidates_here(const struct session *s, const struct session_group *group)
{
    const struct config *config = s->runner.host->config;
    uint64_t here = 0;
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (config_is_candidate(config, i + 1) && s->peers[i].recent) here |= UINT64_C(1) << i;
    return session_expand(group)->candidates & here;
}

static void put_news(struct payload_entry *entry, struct quorum_told news, uint64_t candidates)
{
    entry->msg.extra[0] = candidates;
    if (news.leader) entry->flags |= PAYLOAD_LEADS;
    entry->term = news.term;
    entry->heir_term = entry->heir = 0;
    entry->msg.subject = news.leader;
    entry->msg.extra[2] = news.incarnation;
    entry->msg.extra[3] = news.heir;
    entry->msg.aux = news.place;
}

static void send_posting(struct session *s, el_node to, const struct session_group *group, uint64_t before,
                         bool please)
{
    const struct host_group *base = &group->base;
    const struct quorum_claim claim = session_claim_of(group);
    const struct session_rank *ranks = session_ranks(group), *rank = ranks ? &ranks[s->cfg.self - 1] : NULL;
    const bool is_told = is_told_news(s, to);
    const struct quorum_told news =
        is_told ? news_for(s, (struct session_group *)(uintptr_t)group, to) : (struct quorum_told){0};
    const uint64_t term = is_told ? news.leader ? news.term : 0 : claim.term;
    const char *value = term ? host_value_of(base, term) : "";
    struct payload_entry entry = {
        .type = is_told ? PAYLOAD_TOLD : PAYLOAD_POSTING,
        .group = base->key,
        .settings = s->runner.settings,
        .flags = (uint8_t)((base->stands ? PAYLOAD_STANDS : 0) | (please ? PAYLOAD_PLEASE : 0)),
        .incarnation = s->me.incarnation,
        .version = group->posted,
        .before = before,
        .priority = rank ? rank->priority : 0,
        .preempt_after_ms = rank ? rank->preempt_after_ms : 0,
        .term = claim.term,
        .heir_term = claim.heir_term,
        .heir = claim.heir};
    if (is_told) put_news(&entry, news, candidates_here(s, group));
    entry.length = (uint8_t)strlen(group->name);
    memcpy(entry.text, group->name, entry.length);
    entry.value_length = (uint8_t)strlen(value);
    memcpy(entry.value, value, entry.value_length);
    host_put(s->runner.host, to, &entry);
}

static bool reads(const struct session *s, el_node peer)
{
    return peer != s->cfg.self && config_talks(s->runner.host->config, s->cfg.self, peer);
}

static bool may_send(const struct session *s, el_node to)
{
    const struct postings_peer *b = &s->postings[to - 1];
    if (!b->next || b->unanswered >= UNDER_WAY_MAX) return false;
    if (b->next->posted > s->safe_version && session_is_waiting(s)) return false;
    return b->unanswered % LOT || host_keeps_up(s->runner.host, to);
}

bool postings_is_behind(const struct session *s)
{
    for (el_node to = 1; to <= s->cluster.count; to++)
        if (s->postings[to - 1].next && s->postings[to - 1].unanswered < UNDER_WAY_MAX && reads(s, to))
            return true;
    return false;
}

static void send_postings(struct session *s, el_node to)
{
    struct postings_peer *b = &s->postings[to - 1];
    if (!may_send(s, to)) return;
    b->sent_at = host_now(s->runner.host);
    while (may_send(s, to)) {
        const struct session_group *group = b->next, *older = session_group_at(s, group->older);
        const bool is_last = ++b->unanswered == UNDER_WAY_MAX || !group->newer;
        send_posting(s, to, group, older ? older->posted : 0, is_last);
        b->sent = group->posted;
        b->next = session_group_at(s, group->newer);
    }
}

void postings_flush(struct session *s)
{
    if (s->me.incarnation == 0 || !s->is_on_disk) return; /* our incarnation is not on disk yet */
    for (el_node to = 1; to <= s->cluster.count; to++) {
        if (!reads(s, to)) continue;
        send_postings(s, to);
        if (s->postings[to - 1].owes_answer) postings_state(s, to, false);
        s->postings[to - 1].owes_answer = false;
    }
}

bool postings_has_sent(const struct session_group *group)
{
    const struct session *s = session_of(group);
    for (el_node peer = 1; peer <= s->cluster.count; peer++)
        if (peer != s->cfg.self && s->peers[peer - 1].linked && s->postings[peer - 1].sent < group->posted)
            return false;
    return true;
}

void postings_state(struct session *s, el_node to, bool please)
{
    struct postings_peer *b = &s->postings[to - 1];
    host_put(s->runner.host, to,
             &(struct payload_entry){.type = PAYLOAD_POSTINGS,
                                     .settings = s->runner.settings,
                                     .flags = (uint8_t)((b->has_gap ? PAYLOAD_GAP : 0) |
                                                        (please ? PAYLOAD_PLEASE : 0) |
                                                        (b->owes_anew ? PAYLOAD_ANEW : 0)),
                                     .incarnation = s->me.incarnation,
                                     .answers = b->incarnation,
                                     .version = s->version,
                                     .before = b->read});
    b->has_gap = false;
}

/* ---- Reading ---- */

/* Searches back from the newest, since usually few are missing. */
static void send_again(struct session *s, struct postings_peer *b, uint64_t read)
{
    struct session_group *from = NULL;
    for (struct session_group *group = s->newest; group && group->posted > read;
         group = session_group_at(s, group->older))
        from = group;
    b->next = from;
    b->unanswered = 0;
}

/* The peer has dropped groups while we were out of touch. So what it last said of any group may be void. */
static void read_anew(struct session *s, el_node from, const struct payload_entry *entry)
{
    struct postings_peer *b = &s->postings[from - 1];
    if (entry->incarnation != b->incarnation || entry->incarnation != s->peers[from - 1].incarnation ||
        b->read == 0)
        return;
    b->read = 0;
    b->owes_answer = true;
    for (uint32_t i = 0; i < s->group_count; i++)
        session_group_disregard_peer(session_group_at(s, i + 1), from);
}

void postings_hear_state(struct session *s, el_node from, const struct payload_entry *entry)
{
    struct postings_peer *b = &s->postings[from - 1];
    const uint64_t read = entry->answers == s->me.incarnation ? entry->before : 0,
                   now = host_now(s->runner.host);
    const bool is_late = now - b->sent_at >= el_number(&s->cfg, QUORUM_OPTION_BEAT) / 2;
    if (entry->flags & PAYLOAD_ANEW) read_anew(s, from, entry);
    if (read == 0) b->owes_anew = false; /* it has dropped what it had read, or never read it */
    /* A reader that is behind answers, since it may send no beats. Answers are not answered. */
    if (entry->flags & PAYLOAD_PLEASE && entry->version > (entry->incarnation == b->incarnation ? b->read : 0))
        b->owes_answer = true;
    if (read > s->version) return;
    if (read >= b->sent) b->unanswered = 0;
    /* Every posting after a lost one reports the same gap: send again once, and again only after half a
     * beat. */
    const bool is_told = entry->flags & PAYLOAD_GAP && b->again != read + 1;
    if (read >= b->sent || !(is_late || is_told)) return;
    b->again = read + 1;
    send_again(s, b, read);
}

void postings_hear_posting(struct session *s, el_node from, const struct payload_entry *entry)
{
    struct postings_peer *b = &s->postings[from - 1];
    char reason[200];
    if (entry->incarnation != s->peers[from - 1].incarnation || entry->incarnation <= s->peers[from - 1].dead)
        return;
    if (b->incarnation != entry->incarnation) {
        b->incarnation = entry->incarnation;
        b->read = 0;
    }
    if (entry->flags & PAYLOAD_PLEASE) b->owes_answer = true;
    if (entry->before > b->read) {
        b->owes_answer = b->has_gap = true;
        return;
    }
    if (entry->version <= b->read) return;
    struct host_group *group = host_by_key(s->runner.host, entry->group);
    if (!group && group_name_is_valid(entry->text) &&
        seal_group_key(s->runner.host->config->cluster_id, entry->text) == entry->group)
        group = host_find(s->runner.host, entry->text, reason, sizeof reason);
    b->read = entry->version; /* also if we cannot use it: sending it again would not help */
    if (!group || strcmp(host_name(group), entry->text) != 0) return;
    if (group->runner != &s->runner) {
        host_complain(s->runner.host, group, from, HOST_OTHER_SETTINGS, "other settings for this group");
        return;
    }
    if (entry->type == PAYLOAD_TOLD)
        session_group_read_news((struct session_group *)group, from, entry);
    else
        session_group_read((struct session_group *)group, from, entry);
}

void postings_meet(struct session *s, el_node peer)
{
    struct postings_peer *b = &s->postings[peer - 1];
    b->incarnation = b->read = 0;
    b->next = s->oldest;
    b->sent = b->again = 0;
    b->unanswered = 0;
    b->owes_anew = false;
    for (uint32_t i = 0; i < s->group_count; i++) session_group_forget_peer(session_group_at(s, i + 1), peer);
}

/* ---- News for those that do not vote (M24) ---- */

/* All but places in line, which the others ahead decide: they are told again every second. */
static uint32_t digest_news(const struct session_group *group, const struct quorum *q)
{
    const struct quorum_told news = quorum_news_for(q, q->group->claim.id);
    const struct host_extra *extra = group->base.extra;
    const uint64_t words[] = {news.leader,
                              news.leader ? news.term : 0,
                              news.incarnation,
                              news.leader && quorum_is_voteless(q, news.leader) ? news.heir : 0,
                              !news.leader && quorum_is_free(q),
                              candidates_here(session_of(group), group),
                              extra ? extra->value_number : 0};
    return (uint32_t)el_fingerprint(words, sizeof words).low | 1;
}

void postings_tell_news(struct session_group *group, const struct quorum *q)
{
    struct session *s = session_of(group);
    if (!s->tells_candidates) return;
    const uint32_t news = digest_news(group, q);
    group->is_free = quorum_is_free(q) && !quorum_knows_leader(q);
    if (news == s->news[group->number - 1]) return;
    s->news[group->number - 1] = news;
    postings_post(group);
}

void postings_tell_again(struct session *s)
{
    for (uint32_t i = 0; i < s->group_count && s->tells_candidates; i++) {
        struct session_group *group = session_group_at(s, i + 1);
        if (group->is_free && session_expand(group)->candidates) postings_post(group);
    }
}
