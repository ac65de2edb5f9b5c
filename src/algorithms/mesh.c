/* Sending to many on a full mesh, in order of position. */
#include "mesh.h"

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

uint32_t mesh_send_below(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out)
{
    uint32_t sent = 0;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (!el_outranks(cfg->cluster, cfg->self, peer)) continue;
        el_send(out, cfg, peer, msg);
        sent++;
    }
    return sent;
}

uint32_t mesh_send_others(const struct el_config *cfg, struct el_msg msg, el_node except, struct el_outbox *out)
{
    uint32_t sent = 0;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (peer == cfg->self || peer == except) continue;
        el_send(out, cfg, peer, msg);
        sent++;
    }
    return sent;
}
