/* The algorithms of this build, in teaching order. A new algorithm needs one file, a line here and a line in registry.h. */
#include "algorithms/registry.h"

#include "core/machine.h"

static const struct el_algorithm *const table[] = {
    &el_ring_basic,
    &el_chang_roberts,
    &el_ring_initiator,
    &el_ring_collect,
    &el_ring_max,
    &el_lelann,
    &el_hirschberg_sinclair,
    &el_peterson,
    &el_itai_rodeh,
    &el_multicast,
    &el_bully,
    &el_bully_modified,
    &el_next_in_line,
    &el_candidate_ordinary,
    &el_invitation,
    &el_stable,
    &el_paxos,
    &el_multi_paxos,
    &el_paxos_lease,
    &el_raft,
    &el_zookeeper_fle,
    &el_chubby,
    &el_etcd_election,
    &el_zookeeper_recipe,
    &el_kubernetes_lease,
    &el_quorum,
};

const struct el_algorithm *const *el_algorithms(uint32_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

static const struct el_algorithm *const deciders[] = {&el_members};

const struct el_algorithm *const *el_deciders(uint32_t *count)
{
    *count = sizeof deciders / sizeof *deciders;
    return deciders;
}

const struct el_algorithm *el_decider_named(const char *name)
{
    return el_find(deciders, sizeof deciders / sizeof *deciders, name);
}

const struct el_algorithm *el_algorithm_named(const char *name)
{
    return el_find(table, sizeof table / sizeof *table, name);
}
