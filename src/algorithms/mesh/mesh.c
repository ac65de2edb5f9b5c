/* The common part of the algorithms on a full mesh. Messages to many go out in order of position. */
#include "algorithms/mesh/mesh.h"

void mesh_view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct mesh *me = state;
    el_view_of(view, cfg, me->leader, me->mode != 0, me->run);
}

void mesh_rest(struct mesh *me, el_node leader, uint32_t timers, struct el_outbox *out)
{
    me->mode = 0;
    me->leader = leader;
    for (uint32_t timer = 0; timer < timers; timer++) el_disarm(out, timer, 0);
}

enum mesh_news mesh_judge(const struct el_config *cfg, const uint64_t *suspects, el_node leader)
{
    if (leader != cfg->self && el_set_has(suspects, leader)) return MESH_DISTRUSTS;
    const bool better = el_may_lead(cfg->cluster, cfg->self) && el_outranks(cfg->cluster, cfg->self, leader);
    return better ? MESH_OBJECTS : MESH_LEARNS;
}

uint32_t mesh_send_above(const struct el_config *cfg, struct el_msg msg, const uint64_t *without,
                         struct el_outbox *out)
{
    uint32_t sent = 0;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (!el_outranks(cfg->cluster, peer, cfg->self)) continue;
        if (without && el_set_has(without, peer)) continue;
        el_send(out, cfg, peer, msg);
        sent++;
    }
    return sent;
}

void mesh_send_below(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out)
{
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (el_outranks(cfg->cluster, cfg->self, peer)) el_send(out, cfg, peer, msg);
}

void mesh_send_others(const struct el_config *cfg, struct el_msg msg, el_node except, struct el_outbox *out)
{
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self && peer != except) el_send(out, cfg, peer, msg);
}
