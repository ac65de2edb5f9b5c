/*
 * Elections on a store that somebody runs already: etcd, ZooKeeper, the API server of Kubernetes. The last member
 * of the cluster is that store, with the role EL_STORE; all others are candidates, which talk to the store and
 * never to each other. One member stands for the whole replicated store: it answers in one order, and it keeps what
 * it acknowledged over a crash (its state is its record, see el_algorithm.store). A crash and restart of this member
 * is an outage or a change of the store's own leader.
 *
 * A connection (TCP, HTTP) neither duplicates nor reorders, and the death of one is noticed. The network of a host
 * does both, and loses messages silently. So each request has a number that rises within its incarnation, and the
 * answer repeats both. The store drops a request whose number is not above the last one; a candidate drops an
 * answer that it does not wait for. A lost message is a lost connection: the candidate asks again after a timeout,
 * under the next number, and does not know whether the first request took effect.
 *
 * The incarnation stands for the port and process id by which a real server tells connections apart. A candidate
 * counts it in its record; if the record is lost, it takes the wall clock, which no earlier incarnation had.
 *
 * Files: session_store.c is the store of etcd and ZooKeeper, candidate.c what their candidates have in common;
 * etcd_election.c, zookeeper_recipe.c and kubernetes_lease.c are the recipes.
 */
#ifndef ELECTOR_ALGORITHMS_STORE_STORE_H
#define ELECTOR_ALGORITHMS_STORE_STORE_H

#include "core/machine.h"
#include "elector/parts.h"

static inline el_node store_of(const struct el_config *cfg)
{
    return cfg->cluster->count;
}

static inline bool store_is_self(const struct el_config *cfg)
{
    return cfg->self == store_of(cfg);
}

enum { STORE_WALL_CLOCK, STORE_FACTS };

/* How long the store keeps what a holder uses for `lease`, given how far the clocks may differ. */
static inline el_duration store_kept(const struct el_config *cfg, el_duration lease)
{
    return el_lease_promised(lease, cfg->cluster->drift);
}

/* The family of the numbers of a candidate's requests: they count within its incarnation. See el_algorithm.numbers. */
static inline uint32_t store_family(el_node candidate, uint64_t incarnation)
{
    enum { MEMBER_BITS = 8 };
    return (uint32_t)(incarnation << MEMBER_BITS) | candidate;
}

/*
 * A store that lost its data starts above every revision that it can have given out, as an operator does who
 * restores etcd with --bump-revision. At most 1,024 revisions come in a millisecond.
 */
static inline uint64_t store_revision_after(uint64_t wall_clock_ms)
{
    enum { SHIFT = 10 };
    const uint64_t most = EL_EPOCH_MAX >> (SHIFT + 2);
    return (wall_clock_ms < most ? wall_clock_ms : most) << SHIFT;
}

#endif
