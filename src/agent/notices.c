/*
 * Lines at info and warn that tell an operator what happens in an outage: peers and majority lost and back, leaders
 * changed, leases lost and why, clients refused. Each kind may write LOG_BUDGET_LINES in a second; the others are counted.
 * The log never blocks (base/log/outlet.h).
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/internal.h"
#include "base/clock.h"
#include "base/log/log.h"

static const uint64_t LOST_AFTER = 2 * NS_PER_S; /* as `elector status` has it */
static const uint64_t MISSING_AFTER = 10 * NS_PER_S;

static bool may_tell(struct agent *agent, enum agent_notice kind)
{
    return log_budget_admits(&agent->notices.budgets[kind], clock_boottime_ns());
}

static void tell_left_out(struct agent *agent, uint64_t now)
{
    static const char *const words[NOTICES] = {[NOTICE_PEER] = "peers lost or back",
                                               [NOTICE_MAJORITY] = "majority lost or back",
                                               [NOTICE_DIFFERS] = "peers that differ",
                                               [NOTICE_LEADER] = "leaders changed",
                                               [NOTICE_LEASE] = "leases lost",
                                               [NOTICE_CLIENT] = "clients refused",
                                               [NOTICE_FORWARDED] = "requests of clients of other agents"};
    for (uint32_t i = 0; i < NOTICES; i++) {
        const uint32_t left_out = log_budget_take(&agent->notices.budgets[i], now);
        if (left_out)
            log_event(LOG_INFO_LEVEL, NULL, "%s: %u more, without a line for each", words[i], left_out);
    }
}

static const char *name_of(const struct agent *agent, el_node member)
{
    return member && member <= agent->config->member_count ? agent->config->members[member - 1].name : "nobody";
}

/* ---- Peers ---- */

static void watch_peer(struct agent *agent, el_node peer, uint64_t now)
{
    struct agent_notices *n = &agent->notices;
    const uint64_t silence = exchange_heard(agent->exchange, now, peer);
    const bool is_missing =
        !n->is_known[peer - 1] && silence == UINT64_MAX && now - n->began_at >= MISSING_AFTER;
    if (is_missing || (n->is_known[peer - 1] && !n->lost_at[peer - 1] && silence >= LOST_AFTER)) {
        n->is_known[peer - 1] = true;
        n->lost_at[peer - 1] = is_missing ? n->began_at : now - silence;
        if (!may_tell(agent, NOTICE_PEER)) return;
        log_event(LOG_WARN_LEVEL, NULL,
                  "lost %s: %s for %" PRIu64 " ms; does its agent run, and does UDP get through?",
                  name_of(agent, peer), is_missing ? "not heard since this agent started," : "not heard",
                  (now - n->lost_at[peer - 1]) / NS_PER_MS);
    } else if (silence < LOST_AFTER && (!n->is_known[peer - 1] || n->lost_at[peer - 1])) {
        const uint64_t lost_at = n->lost_at[peer - 1];
        n->is_known[peer - 1] = true;
        n->lost_at[peer - 1] = 0;
        if (!may_tell(agent, NOTICE_PEER)) return;
        if (lost_at)
            log_event(LOG_INFO_LEVEL, NULL, "%s is back: heard again after %" PRIu64 " ms",
                      name_of(agent, peer), (now - silence - lost_at) / NS_PER_MS);
        else
            log_event(LOG_INFO_LEVEL, NULL, "%s is heard", name_of(agent, peer));
    }
}

/* ---- The majority ---- */

/* Voters that this agent hears and that have the same list of members; ourselves included. */
static uint32_t count_heard(const struct agent *agent, uint32_t *votes)
{
    const struct config *config = agent->config;
    uint32_t heard = 0;
    *votes = 0;
    for (el_node member = 1; member <= config->member_count; member++) {
        if (!config_votes(config, member)) continue;
        ++*votes;
        heard += member == config->self || host_heard(agent->host, member) < LOST_AFTER;
    }
    return heard;
}

static void watch_majority(struct agent *agent, uint64_t now)
{
    struct agent_notices *n = &agent->notices;
    uint32_t votes;
    const uint32_t heard = count_heard(agent, &votes);
    if (heard * 2 > votes) {
        const uint64_t lost_at = n->majority_lost_at;
        const bool is_news = lost_at || !n->had_majority;
        n->had_majority = true;
        n->majority_lost_at = 0;
        if (!is_news || votes == 1 || !may_tell(agent, NOTICE_MAJORITY)) return;
        if (lost_at)
            log_event(LOG_INFO_LEVEL, NULL,
                      "the majority is back after %" PRIu64 " ms: %u of %u votes are here or heard",
                      (now - lost_at) / NS_PER_MS, heard, votes);
        else
            log_event(LOG_INFO_LEVEL, NULL, "a majority is here: %u of %u votes are here or heard", heard,
                      votes);
    } else if (!n->majority_lost_at && (n->had_majority || now - n->began_at >= MISSING_AFTER)) {
        n->majority_lost_at = now;
        if (!may_tell(agent, NOTICE_MAJORITY)) return;
        log_event(
            LOG_WARN_LEVEL, NULL,
            "lost the majority: %u of %u votes are here or heard; nobody is elected or renews a lease here "
            "until there are %u",
            heard, votes, votes / 2 + 1);
    }
}

void agent_watch_peers(struct agent *agent, uint64_t now)
{
    for (el_node peer = 1; peer <= agent->config->member_count; peer++)
        if (peer != agent->config->self && config_talks(agent->config, agent->config->self, peer))
            watch_peer(agent, peer, now);
    watch_majority(agent, now);
    tell_left_out(agent, now);
}

void agent_notice_difference(struct agent *agent, el_node peer, bool differs)
{
    struct exchange_difference first;
    if (!may_tell(agent, NOTICE_DIFFERS)) return;
    if (!differs)
        log_event(LOG_INFO_LEVEL, NULL, "%s has the same settings and members as this one now",
                  name_of(agent, peer));
    else if (exchange_differences(agent->exchange, peer, &first, 1))
        log_event(
            LOG_WARN_LEVEL, NULL,
            "%s does not count where it differs: %s is %s here and %s there; `elector doctor` lists all, make the "
            "configurations the same",
            name_of(agent, peer), first.what, first.ours, first.theirs);
}

void agent_notice_address(struct agent *agent, el_node peer)
{
    char address[80];
    if (!may_tell(agent, NOTICE_PEER)) return;
    config_write_place(agent->config, peer, address, sizeof address);
    log_event(LOG_INFO_LEVEL, NULL, "%s is at %s", name_of(agent, peer), address);
}

void agent_notice_version(struct agent *agent, el_node peer, bool is_understood)
{
    char theirs[EXCHANGE_VERSIONS_TEXT];
    if (!may_tell(agent, NOTICE_DIFFERS)) return;
    if (is_understood)
        log_event(LOG_INFO_LEVEL, NULL, "%s and this one speak a version of messages in common now",
                  name_of(agent, peer));
    else if (!exchange_understands(agent->exchange, peer, theirs))
        log_event(
            LOG_WARN_LEVEL, NULL,
            "%s does not count: it speaks version %s of the messages between agents, and this one version %d; "
            "install the same version of elector on both",
            name_of(agent, peer), theirs, (int)PAYLOAD_VERSION);
}

/* ---- Leaders ---- */

static void tell_change(struct agent *agent, const char *group, const struct history_entry *e)
{
    char ended[HISTORY_TEXT] = "", gap[48] = "";
    if (!may_tell(agent, NOTICE_LEADER)) return;
    if (e->whom) snprintf(ended, sizeof ended, "; %s: %s", name_of(agent, e->whom), history_end_word(e->ended));
    if (e->who && e->nobody_ns < NS_PER_MS)
        snprintf(gap, sizeof gap, "; nobody led for less than 1 ms");
    else if (e->who && e->nobody_ns != UINT64_MAX)
        snprintf(gap, sizeof gap, "; nobody led for %" PRIu64 " ms", e->nobody_ns / NS_PER_MS);
    if (e->note == HISTORY_RETURN)
        log_event(LOG_INFO_LEVEL, group, "%s, which was silent, is seen to lead again, in the same term",
                  name_of(agent, e->who));
    else if (e->who)
        log_event(LOG_INFO_LEVEL, group, "leader changed: %s leads with token %" PRIu64 ", %s%s%s",
                  name_of(agent, e->who), e->token, history_beginning_word(e->began), ended, gap);
    else
        log_event(LOG_INFO_LEVEL, group, "leader changed: nobody leads%s", ended);
}

static void tell_loss(struct agent *agent, const char *group, const struct history_entry *e)
{
    const char *reason = e->reason ? e->reason : "lost";
    const bool is_failure =
        strcmp(reason, "no-quorum") == 0 || strcmp(reason, "disk") == 0 || strcmp(reason, "watchdog") == 0;
    char text[HISTORY_TEXT] = "";
    if (!may_tell(agent, NOTICE_LEASE)) return;
    if (strcmp(reason, "no-quorum") == 0) history_write_silence(agent->history, history_group(group), text);
    log_event(is_failure ? LOG_WARN_LEVEL : LOG_INFO_LEVEL, group, "leadership lost here: %s%s%s", reason,
              text[0] ? "; " : "", text);
}

void agent_notice_step(void *context, enum serve_step what, const char *group, const struct history_entry *e)
{
    struct agent *agent = context;
    switch (what) {
    case SERVE_LEADER_CHANGED: tell_change(agent, group, e); break;
    case SERVE_LEASE_LOST: tell_loss(agent, group, e); break;
    case SERVE_CLIENT_REFUSED:
        if (may_tell(agent, NOTICE_CLIENT)) log_event(LOG_WARN_LEVEL, NULL, "refused a client: %s", group);
        break;
    }
}

void agent_notice_request(struct agent *agent, el_node from, const struct payload_entry *entry,
                          enum exchange_outcome outcome)
{
    const bool is_transfer = entry->flags == EXCHANGE_TRANSFER;
    if (!may_tell(agent, NOTICE_FORWARDED)) return;
    log_event(LOG_INFO_LEVEL, entry->text, "client uid %" PRIu64 " at %s: %s%s %s", entry->user,
              name_of(agent, from), is_transfer ? "transfer to " : "forced resign",
              is_transfer ? name_of(agent, entry->heir) : "",
              outcome == EXCHANGE_GRANTED ? "granted" : "refused");
}
