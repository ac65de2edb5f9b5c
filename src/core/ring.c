/* The ring order, and skipping successors that are suspected. */
#include "core/machine.h"

/* The number of nodes between us and the peer: 0 for our successor, count - 1 for ourselves. */
static uint32_t ahead(const struct el_config *cfg, el_node peer)
{
    return peer > cfg->self ? peer - cfg->self - 1 : peer + cfg->cluster->count - cfg->self - 1;
}

static bool marked(uint64_t gone, uint32_t k)
{
    return k < EL_RING_SIGHT && ((gone >> k) & 1u);
}

el_node el_ring_next(const struct el_config *cfg, uint64_t gone, el_node after)
{
    const uint32_t count = cfg->cluster->count;
    uint32_t k = after == cfg->self ? 0 : ahead(cfg, after) + 1;
    while (k < count - 1 && marked(gone, k)) k++;
    const uint32_t next = cfg->self + k + 1;
    return next <= count ? next : next - count; /* no division: every hop of every ring comes here */
}

uint64_t el_ring_mark(const struct el_config *cfg, uint64_t gone, el_node peer, bool suspected)
{
    const uint32_t k = ahead(cfg, peer);
    if (k >= EL_RING_SIGHT) return gone;
    return suspected ? gone | UINT64_C(1) << k : gone & ~(UINT64_C(1) << k);
}

bool el_ring_gone(const struct el_config *cfg, uint64_t gone, el_node peer)
{
    return gone != 0 && peer != cfg->self && marked(gone, ahead(cfg, peer));
}
