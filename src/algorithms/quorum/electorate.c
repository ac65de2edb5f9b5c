/* See electorate.h. */
#include "algorithms/quorum/electorate.h"

uint32_t quorum_size(uint64_t set)
{
    uint32_t size = 0;
    for (; set; set &= set - 1) size++;
    return size;
}

static uint64_t set_of(const struct el_cluster *cluster, bool may_lead)
{
    uint64_t set = 0;
    for (el_node node = 1; node <= cluster->count && node <= 64; node++)
        if (may_lead ? el_may_lead(cluster, node) : quorum_has_vote(cluster, node)) set |= el_bit(node);
    return set;
}

uint64_t quorum_voters_by(const struct el_cluster *cluster, uint32_t record)
{
    return record ? cluster->records[record - 1].voters : set_of(cluster, false);
}

uint64_t quorum_leaders_by(const struct el_cluster *cluster, uint32_t record)
{
    return record ? cluster->records[record - 1].leaders : set_of(cluster, true);
}

bool quorum_begins_era(const struct el_cluster *cluster, uint32_t record)
{
    return record && quorum_voters_by(cluster, record) != quorum_voters_by(cluster, record - 1);
}

uint32_t quorum_era_number(const struct el_cluster *cluster, uint32_t record)
{
    uint32_t eras = 0;
    for (uint32_t each = 1; each <= record; each++) eras += quorum_begins_era(cluster, each);
    return eras;
}

struct quorum_electorate quorum_electorate_of(const struct el_cluster *cluster, uint32_t record, bool joint)
{
    struct quorum_electorate e = {.now = quorum_voters_by(cluster, record)};
    e.majority = quorum_majority_of(quorum_size(e.now));
    if (!joint) return e;
    e.from = quorum_voters_by(cluster, record - 1);
    e.from_majority = quorum_majority_of(quorum_size(e.from));
    return e;
}
