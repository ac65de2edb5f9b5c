/* Ballot numbers that no two proposers share: round * (count + 1) + proposer, from round 1 on. */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_BALLOT_H
#define ELECTOR_ALGORITHMS_MAJORITY_BALLOT_H

#include "elector/core.h"

/* Our lowest ballot above `ballot`. The argument is below EL_EPOCH_MAX; the result may not be. */
static inline uint64_t ballot_above(const struct el_config *cfg, uint64_t ballot)
{
    const uint64_t stride = (uint64_t)cfg->cluster->count + 1;
    return (ballot / stride + 1) * stride + cfg->self;
}

static inline bool ballot_is_of(const struct el_config *cfg, uint64_t ballot, el_node proposer)
{
    return ballot % ((uint64_t)cfg->cluster->count + 1) == proposer;
}

#endif
