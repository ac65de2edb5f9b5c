/* Every algorithm file defines one descriptor. */
#ifndef ELECTOR_ALGORITHMS_REGISTRY_H
#define ELECTOR_ALGORITHMS_REGISTRY_H

#include "elector/core.h"

extern const struct el_algorithm el_ring_basic, el_chang_roberts, el_ring_initiator, el_ring_collect,
    el_ring_max, el_multicast, el_bully, el_bully_modified, el_next_in_line, el_candidate_ordinary,
    el_invitation, el_raft, el_chubby, el_paxos_lease;

#endif
