/*
 * How long nobody leads, at the worst, after a leader fell silent: what `elector status` says and `elector plan` works out.
 * Times in ns; as in docs/quorum-protocol.md.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_BOUNDS_H
#define ELECTOR_ALGORITHMS_QUORUM_BOUNDS_H

#include <stdint.h>

struct quorum_failover {
    uint64_t lease, stagger, reask, transmit; /* D, δ, r, o */
    uint32_t drift;                           /* ρ, in millionths */
    uint32_t members;
};

/* P: what a voter waits out on its own clock. */
uint64_t quorum_promise_ns(const struct quorum_failover *);
/* The promise in true time, on the slowest clock that is allowed: P / (1 - ρ). */
uint64_t quorum_silence_ns(const struct quorum_failover *);
/* After that each place in line, and two exchanges. */
uint64_t quorum_election_ns(const struct quorum_failover *);
uint64_t quorum_worst_ns(const struct quorum_failover *);

/* How much longer than `recent` (3 beats) the agent waits before it counts a peer as silent: half as long again, but not
 * beyond three quarters of the lease. One datagram comes where there were two, so a lost one weighs more. */
uint64_t quorum_leniency_ns(uint64_t lease, uint64_t recent);

#endif
