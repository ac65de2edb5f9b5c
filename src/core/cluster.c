/* Reading the configuration: who is who, and who outranks whom. */
#include "core/machine.h"

uint64_t el_id(const struct el_cluster *cluster, el_node node)
{
    el_require(node >= 1 && node <= cluster->count);
    return cluster->ids ? cluster->ids[node - 1] : node;
}

struct el_rank el_rank_of(const struct el_cluster *cluster, el_node node)
{
    const uint64_t id = el_id(cluster, node);
    return (struct el_rank){cluster->attributes ? cluster->attributes[node - 1] : 0, id};
}

bool el_may_lead(const struct el_cluster *cluster, el_node node)
{
    return !cluster->roles || cluster->roles[node - 1] == EL_CANDIDATE ||
           cluster->roles[node - 1] == EL_VOTELESS;
}

bool el_rank_above(struct el_rank a, struct el_rank b)
{
    return a.attribute != b.attribute ? a.attribute > b.attribute : a.id > b.id;
}

bool el_outranks(const struct el_cluster *cluster, el_node a, el_node b)
{
    if (a == EL_NOBODY || b == EL_NOBODY) return a != EL_NOBODY;
    return el_rank_above(el_rank_of(cluster, a), el_rank_of(cluster, b));
}

struct el_rank el_claimed_rank(const struct el_config *cfg, const struct el_msg *msg)
{
    return (struct el_rank){msg->rank, el_id(cfg->cluster, msg->subject)};
}

uint32_t el_place(const struct el_cluster *cluster, el_node node, el_node without)
{
    uint32_t above = 0;
    for (el_node other = 1; other <= cluster->count; other++)
        if (other != without && el_outranks(cluster, other, node)) above++;
    return above;
}

el_node el_best_of(const struct el_cluster *cluster, uint64_t members)
{
    el_node best = EL_NOBODY;
    for (el_node node = 1; node <= cluster->count; node++)
        if ((members & el_bit(node)) && el_outranks(cluster, node, best)) best = node;
    return best;
}
