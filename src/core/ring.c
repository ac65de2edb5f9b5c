/* The ring order, and repairing it when a successor is gone. */
#include "machine.h"

el_node el_ring_step(const struct el_config *cfg, el_node node, uint32_t steps)
{
    return (el_node)((node - 1 + (uint64_t)steps) % cfg->cluster->count) + 1;
}

el_node el_ring_successor(const struct el_config *cfg, uint64_t gone)
{
    const uint32_t others = cfg->cluster->count - 1;
    for (uint32_t k = 0; k < EL_RING_SIGHT; k++) {
        if (k == others) return cfg->self;
        if (!((gone >> k) & 1u)) return el_ring_step(cfg, cfg->self, k + 1);
    }
    return others == EL_RING_SIGHT ? cfg->self : EL_NOBODY;
}

/* How far ahead of us the peer sits, from 0; EL_RING_SIGHT or more is out of sight. */
static uint32_t ahead(const struct el_config *cfg, el_node peer)
{
    const uint32_t count = cfg->cluster->count;
    return (peer + count - cfg->self - 1) % count;
}

uint64_t el_ring_mark(const struct el_config *cfg, uint64_t gone, el_node peer, bool suspected)
{
    const uint32_t k = ahead(cfg, peer);
    if (k >= EL_RING_SIGHT) return gone;
    return suspected ? gone | UINT64_C(1) << k : gone & ~(UINT64_C(1) << k);
}

bool el_ring_gone(const struct el_config *cfg, uint64_t gone, el_node peer)
{
    const uint32_t k = ahead(cfg, peer);
    return peer != cfg->self && k < EL_RING_SIGHT && ((gone >> k) & 1u);
}
