/* Shared by the two tests of paxos-lease: node 1 at each step towards a lease, and its saved records. */
#ifndef ELECTOR_TEST_LIB_NODE_PAXOS_LEASE_H
#define ELECTOR_TEST_LIB_NODE_PAXOS_LEASE_H

#include "lib/node/lease.h"

static inline void sit_as(uint32_t count, el_node self)
{
    sit_to_lease("paxos-lease", count, self);
}

static inline void starts_again_with(uint64_t block, uint64_t longest, uint64_t mute)
{
    starts_again_from((struct el_durable){.epoch = block, .word = {longest, mute}});
}

static inline void saved(uint64_t block, uint64_t longest, uint64_t mute)
{
    saved_record((struct el_durable){.epoch = block, .word = {longest, mute}});
}

static inline void sit_free(void)
{
    sit_as(3, 1);
    starts();
    times_out("silence");
    did("note speaks; arm retry 0..30");
    sees("idle");
}

static inline void sit_preparing(void)
{
    sit_free();
    times_out("retry");
    did("disarm retry; arm round 100; arm beat 25; note prepares 5; send 2,3 Prepare 1 e5");
    sees("elects");
    shows(0, "none");
}

static inline void sit_proposing(void)
{
    sit_preparing();
    hears(2, "Promise 2 e5"); /* the round's timer runs on: it was armed before anybody was asked */
    did("note proposes 5; send 2,3 Propose 1 e5; note accepts 1; arm accepted 100");
}

static inline void sit_as_owner(void)
{
    sit_proposing();
    hears(2, "Accept 2 e5");
    did("move round to lease; disarm learned; note holds 5; send 2,3 Learn 1 e5 with what is left of lease");
    sees("leads");
    shows(5, "lease");
}

#endif
