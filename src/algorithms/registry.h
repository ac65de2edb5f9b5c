/*
 * The algorithms: ring/, mesh/ and majority/ hold one file for each paper, store/ one for each recipe of a store,
 * quorum/ holds Elector's own, members/ the decision who its members are.
 * They may include core/ and this header; majority/ also mesh/. They know no clock, no heap and no libc. Every algorithm file
 * defines one descriptor (struct el_algorithm). To see how one is written, start with ring/chang_roberts.c.
 *
 * A new algorithm needs its file in one of these folders, its name below, its line in registry.c, and a test in
 * test/unit/algorithms: docs/add-an-algorithm.md. The build, all verbs and all tests find it by the registry.
 */
#ifndef ELECTOR_ALGORITHMS_REGISTRY_H
#define ELECTOR_ALGORITHMS_REGISTRY_H

#include "elector/core.h"

extern const struct el_algorithm el_ring_basic, el_chang_roberts, el_ring_initiator, el_ring_collect,
    el_ring_max, el_lelann, el_hirschberg_sinclair, el_peterson, el_itai_rodeh, el_multicast, el_bully,
    el_bully_modified, el_next_in_line, el_candidate_ordinary, el_invitation, el_stable, el_paxos,
    el_multi_paxos, el_paxos_lease, el_raft, el_zookeeper_fle, el_chubby, el_etcd_election, el_zookeeper_recipe,
    el_kubernetes_lease, el_quorum;
/* It decides, and is no election: in no list of them. */
extern const struct el_algorithm el_members;

#endif
