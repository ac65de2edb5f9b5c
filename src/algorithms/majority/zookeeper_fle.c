/*
 * ZooKeeper's fast leader election: a member without a leader is looking, and votes. A vote is (epoch, zxid,
 * id) of the member voted for; the most recent history wins. A member that hears of a better vote adopts it
 * and tells all. When a majority shares its vote and a short wait brings no better one, it expects that
 * member to lead. A member that comes later joins the leader that a majority names, if that leader confirms
 * it. None of this makes a leader unique: the epoch that a majority then accepts does (zab.c), and only with
 * it does a member lead.
 *
 * Reference: ZooKeeper's FastLeaderElection.java; A. Medeiros, ZooKeeper's atomic broadcast protocol: theory
 * and practice, 2012, section 4.1. Deviations: there are no connections, so a repeated vote is taken as
 * unanswered and is answered, and a peer that is trusted again gets our vote; a follower whose leader is
 * looking looks too; a member that hears a ping asks at once; the logical clock never runs backwards, not
 * even on joining; votes are counted by the member they name. Members that may not lead vote, and are never
 * elected. A member whose record is lost observes: it follows, but its votes and acknowledgements do not
 * count.
 */
#include "algorithms/majority/zab.h"

_Static_assert(sizeof(struct zab) == 112, "the state has no hidden padding");
_Static_assert(sizeof(struct zab_heard) == 16, "nor has what is heard of a member");

/* The resend interval grows from 200 ms to 60 s. */
enum { RESEND_TIMES_MAX = 300 };

static struct zab_heard *heard_of(struct zab *me, const struct el_config *cfg, el_node peer)
{
    return (struct zab_heard *)(zab_answered(me, cfg) + el_set_words(cfg->cluster->count)) + (peer - 1);
}

/* ---- Votes ---- */

static struct zab_vote own_vote(const struct zab *me, const struct el_config *cfg)
{
    return (struct zab_vote){me->epoch, me->zxid, cfg->self, 0};
}

static struct zab_vote vote_in(const struct el_msg *m)
{
    return (struct zab_vote){m->rank, m->aux, m->subject, 0};
}

static bool is_better(const struct el_config *cfg, struct zab_vote a, struct zab_vote b)
{
    const bool may_a = el_may_lead(cfg->cluster, a.leader), may_b = el_may_lead(cfg->cluster, b.leader);
    if (may_a != may_b) return may_a;
    if (a.epoch != b.epoch) return a.epoch > b.epoch;
    if (a.zxid != b.zxid) return a.zxid > b.zxid;
    return el_id(cfg->cluster, a.leader) > el_id(cfg->cluster, b.leader);
}

static struct el_msg notification(const struct zab *me)
{
    return (struct el_msg){.kind = ZAB_NOTIFICATION,
                           .subject = me->vote.leader,
                           .flags = (uint8_t)(me->mode | (me->observer ? ZAB_OBSERVER : 0)),
                           .epoch = me->round,
                           .rank = me->vote.epoch,
                           .aux = me->vote.zxid};
}

static void systemd_all(const struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_send_others(cfg, notification(me), EL_NOBODY, out);
}

static void answer(const struct zab *me, const struct el_config *cfg, el_node to, struct el_outbox *out)
{
    el_note(out, ZAB_ANSWERS, to, 0);
    el_send(out, cfg, to, notification(me));
}

static void await_traffic(const struct zab *me, struct el_outbox *out)
{
    el_arm(out, ZAB_T_NOTIFY, 0, me->resend, me->resend);
}

/* ---- Looking ---- */

/* True if a majority, ourselves included, shares our vote. Members that have settled still count. */
static bool vote_has_majority(struct zab *me, const struct el_config *cfg)
{
    uint32_t votes = 1;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        const struct zab_heard *heard = heard_of(me, cfg, peer);
        votes += heard->round == me->round && heard->leader == me->vote.leader;
    }
    return votes >= el_majority(cfg) && el_may_lead(cfg->cluster, me->vote.leader) && !me->observer;
}

/* Starts the wait for a better vote, or cancels it. */
static void count_votes(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_node finalist = vote_has_majority(me, cfg) ? me->vote.leader : EL_NOBODY;
    if (finalist == me->finalist) return;
    me->finalist = finalist;
    if (finalist == EL_NOBODY) {
        el_disarm(out, ZAB_T_FINALIZE, 0);
        return;
    }
    el_note(out, ZAB_FINALIZES, finalist, 0);
    el_arm(out, ZAB_T_FINALIZE, 0, el_number(cfg, ZAB_FINALIZE), el_number(cfg, ZAB_FINALIZE));
}

void zab_look(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->mode = ZAB_LOOKING;
    me->round = me->clock = (me->round > me->clock ? me->round : me->clock) + 1;
    me->vote = own_vote(me, cfg);
    me->finalist = EL_NOBODY;
    me->resend = el_number(cfg, ZAB_RESEND);
    zab_forget_session(me, cfg);
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        *heard_of(me, cfg, peer) = (struct zab_heard){0};
    el_note(out, ZAB_LOOKS, me->round, 0);
    el_disarm(out, ZAB_T_FINALIZE, 0);
    el_disarm(out, ZAB_T_TICK, 0);
    el_disarm(out, ZAB_T_LIMIT, 0);
    systemd_all(me, cfg, out);
    await_traffic(me, out);
    count_votes(me, cfg, out);
}

static void change_vote(struct zab *me, const struct el_config *cfg, struct zab_vote vote,
                        struct el_outbox *out)
{
    me->vote = vote;
    el_note(out, ZAB_CHANGES_VOTE, vote.leader, 0);
    systemd_all(me, cfg, out);
}

/* A newer round begins with our own vote again: the member we voted for may be dead. */
static void enter_round(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    const struct zab_vote mine = own_vote(me, cfg), theirs = vote_in(m);
    me->round = me->clock = m->epoch;
    zab_forget_session(me, cfg);
    el_note(out, ZAB_NEWER_ROUND, m->from, m->epoch);
    change_vote(me, cfg, is_better(cfg, theirs, mine) ? theirs : mine, out);
}

static void hear_looking(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    struct zab_heard *heard = heard_of(me, cfg, m->from);
    if (m->flags & ZAB_OBSERVER || me->observer) return;
    if (m->epoch < me->round) {
        el_note(out, ZAB_OLDER_ROUND, m->from, m->epoch);
        answer(me, cfg, m->from, out);
        return;
    }
    /* It repeats itself, or we have been alone: either way it has not heard our vote. */
    const bool missed_ours =
        (heard->round == m->epoch && heard->leader == m->subject) || me->resend > el_number(cfg, ZAB_RESEND);
    if (m->epoch > me->round) {
        enter_round(me, cfg, m, out);
    } else if (is_better(cfg, vote_in(m), me->vote)) {
        change_vote(me, cfg, vote_in(m), out);
    } else if (missed_ours && is_better(cfg, me->vote, vote_in(m))) {
        answer(me, cfg, m->from, out);
    }
    *heard = (struct zab_heard){m->epoch, m->subject, ZAB_LOOKING};
    count_votes(me, cfg, out);
}

/* True if a majority has settled on that leader in that round, and the leader itself confirms it. */
static bool is_running(struct zab *me, const struct el_config *cfg, el_node leader, uint64_t round)
{
    uint32_t settled = 0;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        const struct zab_heard *heard = heard_of(me, cfg, peer);
        settled += heard->mode != ZAB_LOOKING && heard->leader == leader && heard->round == round;
    }
    const struct zab_heard *itself = heard_of(me, cfg, leader);
    return settled >= el_majority(cfg) && itself->mode == ZAB_LEADING && itself->leader == leader &&
           itself->round == round && el_may_lead(cfg->cluster, leader);
}

static void hear_settled(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (m->flags & ZAB_OBSERVER) return;
    *heard_of(me, cfg, m->from) = (struct zab_heard){m->epoch, m->subject, m->flags};
    if (!is_running(me, cfg, m->subject, m->epoch)) {
        count_votes(me, cfg, out);
        return;
    }
    el_note(out, ZAB_JOINS, m->subject, 0);
    me->round = m->epoch;
    me->vote = vote_in(m);
    zab_discover(me, cfg, out);
}

/* ---- Events ---- */

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    zab_on_start(state, cfg, start, out);
}

static void on_notification(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                            struct el_outbox *out)
{
    const bool looking = (m->flags & ~ZAB_OBSERVER) == ZAB_LOOKING;
    if (me->mode == ZAB_FOLLOWING && looking && m->from == me->vote.leader && m->epoch > me->round) {
        el_note(out, ZAB_LEADER_LOOKS, m->from, 0);
        zab_look(me, cfg, out);
    }
    if (me->mode != ZAB_LOOKING) {
        if (looking) answer(me, cfg, m->from, out);
        return;
    }
    await_traffic(me, out);
    if (looking) {
        hear_looking(me, cfg, m, out);
    } else {
        hear_settled(me, cfg, m, out);
    }
}

static bool is_malformed(const struct el_msg *m)
{
    return zab_too_high(m->epoch) || (m->flags & ~ZAB_OBSERVER) > ZAB_LEADING;
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct zab *me = state;
    if (is_malformed(m)) {
        el_note(out, ZAB_MALFORMED, m->from, 0);
    } else if (m->kind == ZAB_NOTIFICATION) {
        on_notification(me, cfg, m, out);
    } else if (m->kind == ZAB_PING && me->mode == ZAB_LOOKING) {
        el_note(out, ZAB_FINDS_A_LEADER, m->from, 0);
        systemd_all(me, cfg, out);
    } else {
        zab_on_message(me, cfg, m, out);
    }
}

static void ask_again(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration most = RESEND_TIMES_MAX * el_number(cfg, ZAB_RESEND);
    me->resend = 2 * me->resend < most ? 2 * me->resend : most;
    el_note(out, ZAB_ASKS_AGAIN, 0, 0);
    systemd_all(me, cfg, out);
    await_traffic(me, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    switch (timer) {
    case ZAB_T_NOTIFY: ask_again(state, cfg, out); return;
    case ZAB_T_FINALIZE: zab_discover(state, cfg, out); return;
    case ZAB_T_TICK: zab_on_tick(state, cfg, out); return;
    default: zab_on_limit(state, cfg, out); return;
    }
}

/* The link is back, as if a connection were re-established: messages sent in between are lost. */
static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    const struct zab *me = state;
    if (me->mode == ZAB_LOOKING) answer(me, cfg, peer, out);
}

/* The application's history has advanced. A vote that is not sent yet, or is for ourselves, advances with
 * it. */
static void on_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,
                    struct el_outbox *out)
{
    struct zab *me = state;
    *(fact == 0 ? &me->epoch : &me->zxid) = value;
    if (me->mode != ZAB_LOOKING || me->observer) return;
    const struct zab_vote mine = own_vote(me, cfg);
    if (me->vote.leader != cfg->self && !is_better(cfg, mine, me->vote)) return;
    change_vote(me, cfg, mine, out);
    count_votes(me, cfg, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    (void)state, (void)cfg;
    el_note(out, ZAB_GOES_ON, 0, 0);
}

static void view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct zab *me = state;
    el_view_of(view, cfg, me->established ? me->vote.leader : EL_NOBODY, true, me->current);
}

/* ---- Descriptor ---- */

static const struct el_note_text notes[] = {ZAB_NOTE_LIST(EL_NOTE_TEXT)};

static const char *const kinds[] = {NULL,       "Notification", "FollowerInfo", "LeaderInfo",
                                    "AckEpoch", "Ping",         "Pong"};
static const char *const timers[] = {
    [ZAB_T_NOTIFY] = "notify", [ZAB_T_FINALIZE] = "finalize", [ZAB_T_TICK] = "tick", [ZAB_T_LIMIT] = "limit"};
static const char *const facts[] = {"epoch", "zxid"};

static const struct el_option options[] = {
    [ZAB_FINALIZE] = {"finalize", EL_DURATION, 0, NULL, "200ms",
                      "how long a member with a majority waits for a better vote"},
    [ZAB_RESEND] = {"resend", EL_DURATION, 0, NULL, "200ms",
                    "silence before a vote is repeated; doubles each time"},
    [ZAB_TICK] = {"tick", EL_DURATION, 0, NULL, "100ms", "how often the leader pings"},
    [ZAB_INIT_LIMIT] = {"init-limit", EL_DURATION, 0, NULL, "1s",
                        "how long a leader may take to get its majority"},
    [ZAB_SYNC_LIMIT] = {"sync-limit", EL_DURATION, 0, NULL, "500ms",
                        "how long leader and followers may miss each other's pings"},
};

static const struct el_inequality inequalities[] = {
    {{{1, EL_OF_TRANSMIT}}, {{1, ZAB_FINALIZE}}, "a better vote on its way would arrive too late"},
    {{{3, ZAB_TICK}, {1, EL_OF_ROUND_TRIP}},
     {{1, ZAB_SYNC_LIMIT}},
     "a lost ping or a slow clock would look like a crash"},
    {{{1, ZAB_FINALIZE}, {1, ZAB_TICK}, {2, EL_OF_ROUND_TRIP}},
     {{1, ZAB_INIT_LIMIT}},
     "the epoch would be abandoned before a majority can acknowledge it"},
};

static const struct el_weakness breaks[] = {
    {EL_CRASHES, EL_DEMOTED,
     "a leader steps down when too few followers are left, or when restarted ones have forgotten it"},
    {EL_WIPES, EL_NO_LEADER, "a member that has lost its record never votes again, and too few may be left"},
    {EL_PARTITIONS, EL_NO_LEADER,
     "a leader that is cut off steps down; votes are forwarded, so a member that too few can hear may"
     " be elected repeatedly; after a long silence a vote is repeated only once a minute"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "lost pings and acknowledgements look like a crash for as long as they are missing"},
};

const struct el_algorithm el_zookeeper_fle = {
    .name = "zookeeper-fle",
    .summary =
        "the most recent history wins the vote; an epoch that a majority accepts makes the leader unique",
    .idea = "A member without a leader votes for itself and tells all. Members adopt better votes, by "
            "(epoch, zxid, id), and repeat them, until a majority has the same vote. The elected member "
            "collects the epochs that a majority has accepted, proposes the next one, and leads once a "
            "majority has saved and acknowledged it. Two members may be elected, but nobody acknowledges "
            "one epoch to both. Pings keep leader and followers together, and a restarted member joins "
            "the current leader.",
    .reference =
        "Junqueira, Reed, Serafini: Zab: high-performance broadcast for primary-backup systems, DSN 2011; "
        "Medeiros: ZooKeeper's atomic broadcast protocol, 2012",
    EL_KINDS(kinds),
    .routine_kinds = 1u << ZAB_PING | 1u << ZAB_PONG,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_INEQUALITIES(inequalities),
    EL_BREAKS(breaks),
    .claims = EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT | EL_CLAIMS_STABLE,
    .beats = true,
    .majority = true,
    EL_FACTS(facts),
    .state_bytes = sizeof(struct zab),
    .state_sets = 2,
    .state_per_member = sizeof(struct zab_heard),
    .outbox_fixed = 14,
    .outbox_per_member = 2,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_trust = on_trust,
    .on_fact = on_fact,
    .on_campaign = on_campaign,
    .view = view,
};
