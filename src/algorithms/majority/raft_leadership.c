/* Raft's leader: sends heartbeats, counts the answers, and names an heir when it hands over or resigns. */
#include "algorithms/majority/raft.h"

void raft_beat(const struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_send_others(cfg, speak(me, cfg, BEAT), EL_NOBODY, out);
    el_arm(out, T_BEAT, 0, el_number(cfg, HEARTBEAT), el_number(cfg, HEARTBEAT));
}

void raft_take_office(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration patience = el_number(cfg, ELECTION);
    me->role = LEADER;
    me->leader = cfg->self;
    me->hurried = 0;
    el_disarm(out, T_ELECTION, 0);
    el_set_clear(heard(me, cfg), cfg->cluster->count);
    el_set_clear(heard_before(me, cfg), cfg->cluster->count);
    if (el_number(cfg, CHECK_QUORUM)) el_arm(out, T_QUORUM, 0, patience, patience);
    raft_beat(me, cfg, out);
}

void raft_leave_office(struct raft *me, struct el_outbox *out)
{
    el_disarm(out, T_BEAT, 0);
    el_disarm(out, T_QUORUM, 0);
    el_disarm(out, T_HANDOVER, 0);
    me->heir = EL_NOBODY;
}

bool raft_keeps_quorum(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration patience = el_number(cfg, ELECTION);
    el_set_add(heard(me, cfg), cfg->self);
    if (el_set_size(heard(me, cfg), cfg->cluster->count) < el_majority(cfg)) {
        el_note(out, LOST_QUORUM, 0, 0);
        return false;
    }
    el_set_copy(heard_before(me, cfg), heard(me, cfg), cfg->cluster->count);
    el_set_clear(heard(me, cfg), cfg->cluster->count);
    el_arm(out, T_QUORUM, 0, patience, patience);
    return true;
}

static bool in_touch(struct raft *me, const struct el_config *cfg, el_node peer)
{
    return !el_number(cfg, CHECK_QUORUM) || el_set_has(heard(me, cfg), peer) ||
           el_set_has(heard_before(me, cfg), peer);
}

/* The best-ranked member heard in this count or the last. */
static el_node natural_heir(struct raft *me, const struct el_config *cfg)
{
    el_node best = EL_NOBODY;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        const bool fit = peer != cfg->self && el_may_lead(cfg->cluster, peer) && in_touch(me, cfg, peer);
        if (fit && el_outranks(cfg->cluster, peer, best)) best = peer;
    }
    return best;
}

static void tell_to_stand(const struct raft *me, const struct el_config *cfg, el_node heir,
                          struct el_outbox *out)
{
    el_note(out, HANDS_OVER, heir, 0);
    el_send(out, cfg, heir, speak(me, cfg, TIMEOUT_NOW));
}

void raft_name_heir(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_node heir = natural_heir(me, cfg);
    if (heir != EL_NOBODY) tell_to_stand(me, cfg, heir, out);
}

enum el_answer raft_hand_over(struct raft *me, const struct el_config *cfg, el_node to, struct el_outbox *out)
{
    if (to == cfg->self || !el_may_lead(cfg->cluster, to)) return EL_NOT_ELIGIBLE;
    if (me->heir != EL_NOBODY) return EL_UNDER_WAY;
    if (!in_touch(me, cfg, to)) return EL_OUT_OF_TOUCH;
    me->heir = to;
    tell_to_stand(me, cfg, to, out);
    el_arm(out, T_HANDOVER, 0, el_number(cfg, ELECTION), el_number(cfg, ELECTION));
    return EL_PERFORMED;
}

void raft_hand_over_failed(struct raft *me, struct el_outbox *out)
{
    el_note(out, HANDOVER_FAILED, me->heir, 0);
    me->heir = EL_NOBODY;
}
