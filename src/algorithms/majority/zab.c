/*
 * Zab's first phase, discovery. The election may have named two leaders, but a member acknowledges an epoch
 * to one only. The expected leader collects the accepted epochs of a majority, proposes the highest plus one,
 * and leads when a majority has acknowledged that. Each member saves the epoch it accepted, and its proposer,
 * before it answers. Then leader and followers ping each other; a member that misses the pings for too long
 * looks again.
 *
 * Reference: F. Junqueira, B. Reed, M. Serafini, Zab: high-performance broadcast for primary-backup systems,
 * DSN 2011, phase 1; ZooKeeper's Leader.java and Learner.java. Deviations: instead of connections, messages
 * are repeated each tick and matched by the election's round and the epoch; pings go to all members. A member
 * may have accepted a newer epoch than the running leader's, in which nobody led: it follows that leader
 * without supporting it, while ZooKeeper would refuse it for ever. The application synchronizes histories
 * (phase 2); the first ping stands for NEWLEADER and UPTODATE.
 */
#include "algorithms/majority/zab.h"

uint64_t *zab_informed(struct zab *me)
{
    return (uint64_t *)(me + 1);
}

uint64_t *zab_answered(struct zab *me, const struct el_config *cfg)
{
    return zab_informed(me) + el_set_words(cfg->cluster->count);
}

static bool is_majority(const uint64_t *set, const struct el_config *cfg)
{
    return el_set_size(set, cfg->cluster->count) >= el_majority(cfg);
}

static void only_self(uint64_t *set, const struct el_config *cfg)
{
    el_set_clear(set, cfg->cluster->count);
    el_set_add(set, cfg->self);
}

static void arm(struct el_outbox *out, const struct el_config *cfg, uint32_t timer, uint32_t option)
{
    el_arm(out, timer, 0, el_number(cfg, option), el_number(cfg, option));
}

static void save(const struct zab *me, struct el_outbox *out)
{
    el_save(out, (struct el_durable){me->accepted, {me->accepted_from, me->current, 0}});
}

static void accept(struct zab *me, uint64_t epoch, el_node from, struct el_outbox *out)
{
    me->accepted = epoch;
    me->accepted_from = from;
    save(me, out);
}

/* ---- The leader ---- */

static void ping(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_send_others(cfg, (struct el_msg){.kind = ZAB_PING, .subject = cfg->self, .epoch = me->session},
                     EL_NOBODY, out);
    arm(out, cfg, ZAB_T_TICK, ZAB_TICK);
}

/* From now on a majority must answer within each timeout. */
static void await_answers(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    only_self(zab_answered(me, cfg), cfg);
    if (el_majority(cfg) > 1) {
        arm(out, cfg, ZAB_T_LIMIT, ZAB_SYNC_LIMIT);
    } else {
        el_disarm(out, ZAB_T_LIMIT, 0);
    }
}

/* This epoch's history is now ours. The claim, too, waits for this save. */
static void establish(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->established = true;
    me->epoch = me->current = me->session;
    save(me, out);
    el_note(out, ZAB_LEADS, me->session, 0);
    await_answers(me, cfg, out);
    ping(me, cfg, out);
}

static void send_leader_info(const struct zab *me, const struct el_config *cfg, el_node to,
                             struct el_outbox *out)
{
    el_send(out, cfg, to,
            (struct el_msg){
                .kind = ZAB_LEADER_INFO, .subject = cfg->self, .epoch = me->session, .more = me->round});
}

static void propose_if_informed(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t *informed = zab_informed(me);
    if (!is_majority(informed, cfg)) return;
    me->session = me->highest + 1;
    el_note(out, ZAB_PROPOSES, me->session, 0);
    accept(me, me->session, cfg->self, out);
    only_self(zab_answered(me, cfg), cfg);
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self && el_set_has(informed, peer)) send_leader_info(me, cfg, peer, out);
    if (is_majority(zab_answered(me, cfg), cfg)) establish(me, cfg, out);
}

static void on_follower_info(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                             struct el_outbox *out)
{
    if (me->mode == ZAB_FOLLOWING || m->more != me->round || me->observer) {
        el_note(out, ZAB_STALE, m->from, 0);
    } else if (me->session != 0) {
        send_leader_info(me, cfg, m->from, out);
    } else if (!(m->flags & ZAB_OBSERVER)) { /* it may come before our own election is over */
        el_set_add(zab_informed(me), m->from);
        if (m->epoch > me->highest) me->highest = m->epoch;
        if (me->mode == ZAB_LEADING) propose_if_informed(me, cfg, out);
    }
}

/* True if the sender's history is more recent than ours and it may lead: it would be the better leader. */
static bool is_ahead(const struct zab *me, const struct el_config *cfg, const struct el_msg *m)
{
    if (!el_may_lead(cfg->cluster, m->from)) return false;
    return m->rank > me->epoch || (m->rank == me->epoch && m->aux > me->zxid);
}

static void on_ack_epoch(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (me->mode != ZAB_LEADING || m->epoch != me->session || me->session == 0) {
        el_note(out, ZAB_STALE, m->from, 0);
    } else if (me->established) {
        el_send(out, cfg, m->from,
                (struct el_msg){.kind = ZAB_PING, .subject = cfg->self, .epoch = me->session});
    } else if (is_ahead(me, cfg, m)) {
        el_note(out, ZAB_AHEAD, m->from, 0);
    } else {
        el_set_add(zab_answered(me, cfg), m->from);
        if (is_majority(zab_answered(me, cfg), cfg)) establish(me, cfg, out);
    }
}

static void on_pong(struct zab *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (!me->established || me->mode != ZAB_LEADING || m->epoch != me->session) {
        el_note(out, ZAB_STALE, m->from, 0);
        return;
    }
    el_set_add(zab_answered(me, cfg), m->from);
    if (is_majority(zab_answered(me, cfg), cfg)) await_answers(me, cfg, out);
}

/* ---- The follower ---- */

static void send_follower_info(const struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_send(out, cfg, me->vote.leader,
            (struct el_msg){.kind = ZAB_FOLLOWER_INFO,
                            .subject = cfg->self,
                            .flags = me->observer ? ZAB_OBSERVER : 0,
                            .epoch = me->accepted,
                            .more = me->round});
    arm(out, cfg, ZAB_T_TICK, ZAB_TICK);
}

static bool is_leader_of_ours(const struct zab *me, const struct el_msg *m)
{
    return me->mode == ZAB_FOLLOWING && m->from == me->vote.leader;
}

static void on_leader_info(struct zab *me, const struct el_config *cfg, const struct el_msg *m,
                           struct el_outbox *out)
{
    const bool in_time = m->more == me->round && m->epoch > 0 && !me->established;
    /* A leader that has been replaced may not have noticed yet. */
    if (!is_leader_of_ours(me, m) || !in_time || m->epoch < me->current) {
        el_note(out, ZAB_STALE, m->from, 0);
        return;
    }
    me->session = m->epoch;
    if (me->observer) return;
    if (m->epoch > me->accepted) {
        el_note(out, ZAB_ACCEPTS, m->from, m->epoch);
        accept(me, m->epoch, m->from, out);
    } else if (m->epoch < me->accepted || m->from != me->accepted_from) {
        /* We acknowledged this epoch to another member. We may follow this one, but do not count for its
         * majority. */
        el_note(out, ZAB_REFUSES, m->from, m->epoch);
        return;
    }
    el_send(out, cfg, m->from,
            (struct el_msg){.kind = ZAB_ACK_EPOCH,
                            .subject = cfg->self,
                            .epoch = me->session,
                            .rank = me->epoch,
                            .aux = me->zxid});
}

static void follow(struct zab *me, struct el_outbox *out)
{
    me->established = true;
    me->epoch = me->current = me->session;
    if (!me->observer) save(me, out);
    el_note(out, ZAB_FOLLOWS, me->vote.leader, me->session);
    el_disarm(out, ZAB_T_TICK, 0);
}

static void on_ping(struct zab *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (!is_leader_of_ours(me, m) || m->epoch != me->session || me->session == 0) {
        el_note(out, ZAB_STALE, m->from, 0);
        return;
    }
    if (!me->established) follow(me, out);
    arm(out, cfg, ZAB_T_LIMIT, ZAB_SYNC_LIMIT);
    /* A leader needs a majority that has accepted nothing newer, or it could still lead after its successor. */
    if (!me->observer && me->accepted == me->session)
        el_send(out, cfg, m->from,
                (struct el_msg){.kind = ZAB_PONG, .subject = cfg->self, .epoch = me->session});
}

/* ---- Both ---- */

void zab_forget_session(struct zab *me, const struct el_config *cfg)
{
    me->session = 0;
    me->established = false;
    me->highest = me->accepted;
    only_self(zab_informed(me), cfg);
}

void zab_discover(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    const bool lead = me->vote.leader == cfg->self;
    me->mode = lead ? ZAB_LEADING : ZAB_FOLLOWING;
    me->finalist = EL_NOBODY;
    el_disarm(out, ZAB_T_NOTIFY, 0);
    el_disarm(out, ZAB_T_FINALIZE, 0);
    arm(out, cfg, ZAB_T_LIMIT, ZAB_INIT_LIMIT);
    el_note(out, lead ? ZAB_EXPECTS_TO_LEAD : ZAB_EXPECTS_TO_FOLLOW, me->vote.leader, me->round);
    if (lead) {
        propose_if_informed(me, cfg, out);
    } else {
        send_follower_info(me, cfg, out);
    }
}

/* A member that restarts reads its promises from the record; without a readable record it never promises
 * again. */
static void recall(struct zab *me, const struct el_start *start)
{
    me->observer = start->how == EL_LOST;
    if (start->how != EL_RESTORED) return;
    me->accepted = start->durable.epoch;
    me->accepted_from = (el_node)start->durable.word[0];
    if (me->accepted == 0) me->accepted = 1; /* an incumbent may have led it before we saved */
    me->epoch = me->current = start->durable.word[1];
}

/* Starts as if all members had just agreed on this leader, in the first epoch. */
static void begin_under(struct zab *me, const struct el_config *cfg, el_node leader, struct el_outbox *out)
{
    me->round = me->clock = me->session = 1;
    me->vote = (struct zab_vote){.leader = leader};
    me->mode = leader == cfg->self ? ZAB_LEADING : ZAB_FOLLOWING;
    me->accepted = 1;
    me->accepted_from = leader;
    if (leader == cfg->self) {
        establish(me, cfg, out);
    } else {
        follow(me, out);
        arm(out, cfg, ZAB_T_LIMIT, ZAB_SYNC_LIMIT);
    }
}

void zab_on_start(struct zab *me, const struct el_config *cfg, const struct el_start *start,
                  struct el_outbox *out)
{
    recall(me, start);
    if (start->how == EL_FRESH && start->incumbent && el_may_lead(cfg->cluster, start->incumbent)) {
        begin_under(me, cfg, start->incumbent, out);
    } else {
        zab_look(me, cfg, out);
    }
}

void zab_on_message(struct zab *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case ZAB_FOLLOWER_INFO: on_follower_info(me, cfg, m, out); return;
    case ZAB_LEADER_INFO: on_leader_info(me, cfg, m, out); return;
    case ZAB_ACK_EPOCH: on_ack_epoch(me, cfg, m, out); return;
    case ZAB_PING: on_ping(me, cfg, m, out); return;
    default: on_pong(me, cfg, m, out); return;
    }
}

void zab_on_tick(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->mode == ZAB_LEADING) {
        ping(me, cfg, out);
    } else {
        send_follower_info(me, cfg, out);
    }
}

void zab_on_limit(struct zab *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint32_t lost = me->mode == ZAB_LEADING ? ZAB_LOST_MAJORITY : ZAB_LOST_LEADER;
    el_note(out, me->established ? lost : ZAB_NOT_ESTABLISHED, me->vote.leader, me->session);
    zab_look(me, cfg, out);
}
