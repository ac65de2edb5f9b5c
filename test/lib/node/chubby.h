/* Shared by the two tests of chubby: node 1 when it is free, stands and leads, and its saved records. */
#ifndef ELECTOR_TEST_LIB_NODE_CHUBBY_H
#define ELECTOR_TEST_LIB_NODE_CHUBBY_H

#include "lib/node/lease.h"

static inline void sit_as(uint32_t count, el_node self)
{
    sit_to_lease("chubby", count, self);
}

static inline void starts_again_with(uint64_t term, el_node vote, uint64_t longest, uint64_t voteless)
{
    starts_again_from((struct el_durable){.epoch = term, .word = {vote, longest, voteless}});
}

static inline void saved(uint64_t term, el_node vote, uint64_t longest, uint64_t voteless)
{
    saved_record((struct el_durable){.epoch = term, .word = {vote, longest, voteless}});
}

static inline void sit_free(void)
{
    sit_as(3, 1);
    starts();
    times_out("promise");
    did("note is-free; disarm lease; disarm round; disarm beat; disarm promise; arm retry 0..30");
    sees("idle");
}

static inline void sit_standing(void)
{
    sit_free();
    times_out("retry");
    did("note stands 1; save e1; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Request 1 e1");
    saved(1, 1, 100, 0);
    sees("elects");
    shows(1, "none");
}

static inline void sit_as_master(void)
{
    sit_standing();
    hears(2, "Vote 2 e1");
    did("note wins 1; move round to lease; arm round 100; arm beat 25; arm promise 100; disarm retry; "
        "send 2,3 Renew 1 e1 m1");
    sees("leads");
    shows(1, "lease");
}

#endif
