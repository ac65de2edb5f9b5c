/*
 * The longest time without a leader after a leader falls silent. `elector status` and `elector plan` print it.
 * Times in ns; letters as in docs/quorum-protocol.md.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_BOUNDS_H
#define ELECTOR_ALGORITHMS_QUORUM_BOUNDS_H

#include <stdint.h>

struct quorum_failover {
    uint64_t lease, stagger, reask, transmit; /* D, δ, r, o */
    uint32_t drift;                           /* ρ, in millionths */
    uint32_t members;
};

/* P: how long a voter keeps a promise, on its own clock. */
uint64_t quorum_promise_ns(const struct quorum_failover *);
/* The same in real time, on the slowest clock allowed: P / (1 - ρ). */
uint64_t quorum_silence_ns(const struct quorum_failover *);
/* After that: one stagger for each member, one re-ask and two round trips. */
uint64_t quorum_election_ns(const struct quorum_failover *);
uint64_t quorum_worst_ns(const struct quorum_failover *);

/* How much longer than `recent` (3 beats) the agent waits before it counts a peer as silent: half as long again, but not
 * beyond three quarters of the lease. One datagram comes where there were two, so a lost one weighs more. */
uint64_t quorum_leniency_ns(uint64_t lease, uint64_t recent);

#endif
