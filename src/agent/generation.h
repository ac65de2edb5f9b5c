/*
 * Was this machine restored from a snapshot? Then its memory went back in time, and so did the counters by which
 * channels are sealed: the same keys and counters would seal other words, which breaks the cipher. So the agent
 * renews all channels (seal_renew()).
 *
 * A hypervisor gives a restored machine a new generation id, and Linux 6.10 and later tell by a uevent. Where that
 * cannot be heard, a wall clock that jumps is a sign of it: when somebody sets the clock after the restore. A false
 * alarm costs one handshake with each peer, and no lease.
 */
#ifndef ELECTOR_AGENT_GENERATION_H
#define ELECTOR_AGENT_GENERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A socket that becomes readable with each uevent; -1: there is none, or this process may not have one. */
int generation_open(void);
/* Reads what waits there, without blocking. True: the machine has a new generation. */
bool generation_changed(int socket);
/* Whether this uevent says so. */
bool generation_is_new(const char *uevent, size_t size);

/* *offset keeps the distance of the two clocks; 0 at first. True: it has changed by more than 1 s since the last call.
 * Call it at least every few minutes: clocks that are only corrected differ by less than that. */
bool generation_clock_jumped(uint64_t *offset, uint64_t boottime_ns, uint64_t wall_ns);

#endif
