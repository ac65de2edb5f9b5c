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
                                               [NOTICE_ACCOUNT] = "changes of leaders in full",
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

struct votes {
    uint32_t all, counted;
    bool
        is_known; /* what each peer that is heard is configured with; of an earlier version, after LOST_AFTER */
    bool has_others; /* some peer is heard, and does not count */
};

/* Those that are heard and differ in nothing; ourselves included. */
static struct votes count_votes(const struct agent *agent, uint64_t now)
{
    const struct config *config = agent->config;
    struct votes votes = {.is_known = true};
    for (el_node member = 1; member <= config->member_count; member++) {
        if (!config_votes(config, member)) continue;
        const bool is_self = member == config->self, differs = !is_self && serve_differs(agent->serve, member);
        const bool is_heard = !is_self && host_heard(agent->host, member) < LOST_AFTER;
        votes.all++;
        votes.counted += is_self || (is_heard && !differs);
        votes.has_others = votes.has_others || differs;
        if (is_heard && !exchange_knows(agent->exchange, member) && now - agent->notices.began_at < LOST_AFTER)
            votes.is_known = false;
    }
    return votes;
}

static void tell_majority(const struct votes *votes, uint64_t lost_for)
{
    if (lost_for)
        log_event(LOG_INFO_LEVEL, NULL, "the majority is back after %" PRIu64 " ms: %u of %u votes count",
                  lost_for / NS_PER_MS, votes->counted, votes->all);
    else
        log_event(LOG_INFO_LEVEL, NULL, "a majority is here: %u of %u votes count", votes->counted, votes->all);
}

static void tell_no_majority(const struct votes *votes, bool had_one)
{
    log_event(LOG_WARN_LEVEL, NULL,
              "%s majority: %u of %u votes count%s; nobody is elected or renews a lease %s until there are %u",
              had_one ? "lost the" : "no", votes->counted, votes->all,
              votes->has_others ? ", others are heard but differ" : "",
              votes->has_others ? "where they differ" : "here", votes->all / 2 + 1);
}

static void watch_majority(struct agent *agent, uint64_t now)
{
    struct agent_notices *n = &agent->notices;
    const struct votes votes = count_votes(agent, now);
    if (!votes.is_known) return;
    if (votes.counted * 2 > votes.all) {
        const uint64_t lost_at = n->majority_lost_at;
        const bool is_news = lost_at || !n->had_majority;
        n->had_majority = true;
        n->majority_lost_at = 0;
        if (is_news && votes.all > 1 && may_tell(agent, NOTICE_MAJORITY))
            tell_majority(&votes, lost_at ? now - lost_at : 0);
    } else if (!n->majority_lost_at && (n->had_majority || now - n->began_at >= MISSING_AFTER)) {
        n->majority_lost_at = now;
        if (may_tell(agent, NOTICE_MAJORITY)) tell_no_majority(&votes, n->had_majority);
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

/* What is certain at once. How it came about the leaders' own agents know best: tell_account(). */
static void tell_change(struct agent *agent, const char *group, const struct history_entry *e)
{
    const bool is_own = e->whom == agent->config->self;
    if (!e->who && !e->whom) return; /* nobody led, in another term */
    if (!may_tell(agent, NOTICE_LEADER)) return;
    if (e->note == HISTORY_RETURN)
        log_event(LOG_INFO_LEVEL, group, "%s, which was silent, is seen to lead again, in the same term",
                  name_of(agent, e->who));
    else if (e->who)
        log_event(LOG_INFO_LEVEL, group, "leader changed: %s leads with token %" PRIu64, name_of(agent, e->who),
                  e->token);
    else
        log_event(LOG_INFO_LEVEL, group, "leader changed: nobody leads%s%s%s%s", is_own ? "; " : "",
                  is_own ? name_of(agent, e->whom) : "", is_own ? ": " : "",
                  is_own ? history_end_word(e->ended) : "");
}

/* The same line at all agents, like `elector history`. */
static void tell_account(struct agent *agent, const char *group, const struct history_entry *e)
{
    char ended[HISTORY_TEXT] = "", gap[48] = "";
    if (!may_tell(agent, NOTICE_ACCOUNT)) return;
    if (e->whom) snprintf(ended, sizeof ended, "; %s: %s", name_of(agent, e->whom), history_end_word(e->ended));
    if (e->nobody_ns < NS_PER_MS)
        snprintf(gap, sizeof gap, "; nobody led for less than 1 ms");
    else if (e->nobody_ns != UINT64_MAX)
        snprintf(gap, sizeof gap, "; nobody led for %" PRIu64 " ms", e->nobody_ns / NS_PER_MS);
    log_event(LOG_INFO_LEVEL, group, "leader change in full: %s with token %" PRIu64 ", %s%s%s",
              name_of(agent, e->who), e->token, history_beginning_word(e->began), ended, gap);
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
    case SERVE_LEADER_SETTLED: tell_account(agent, group, e); break;
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
