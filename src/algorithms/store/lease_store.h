/*
 * The API server of Kubernetes, as far as elections use it: one Lease object. It has a version that rises with
 * each write, and a holder. A write names the version that it replaces, and fails if another write was first. The
 * server never ends a lease: candidates count its age themselves. Whoever has read the object also watches it.
 *
 * Words of a message:
 *   epoch    PUT: the version to replace; 0: there is no object yet. Others: the version
 *   subject  the holder; the store: nobody holds it
 *   more     the number of the request
 *   extra[0] the candidate's incarnation
 *   extra[1] the version by which the holder got the lease (Kubernetes: acquireTime)
 */
#ifndef ELECTOR_ALGORITHMS_STORE_LEASE_STORE_H
#define ELECTOR_ALGORITHMS_STORE_LEASE_STORE_H

#include "algorithms/store/store.h"

enum { LEASE_GET = 1, LEASE_GOT, LEASE_PUT, LEASE_SAVED, LEASE_CONFLICT, LEASE_EVENT };
enum { LEASE_STORE_SILENCE, LEASE_STORE_TIMERS };

#define LEASE_STORE_NOTE_LIST(NOTE)                                                                      \
    NOTE(LEASE_STORE_WRITES, "writes", "writes @1 as the holder, version #2")                            \
    NOTE(LEASE_STORE_EMPTIES, "empties", "writes that nobody holds the lease, version #2")               \
    NOTE(LEASE_STORE_REFUSES, "refuses", "refuses a write of @1: the object has version #2 by now")      \
    NOTE(LEASE_STORE_RETURNS, "returns", "is back with its object; all watches are broken")              \
    NOTE(LEASE_STORE_HAS_LOST, "has-lost", "has lost its data, and is silent until every lease is over") \
    NOTE(LEASE_STORE_SERVES, "serves", "answers again")
enum { LEASE_STORE_NOTE_LIST(EL_NOTE_NAME) LEASE_STORE_NOTES };

/* One set of members follows the algorithm's struct: those that watch. */
struct lease_store {
    uint64_t version;
    uint64_t acquired;
    el_node holder;
    uint8_t silent, unset, spare[2];
};

/* `wait` is how long it is silent if its data is lost; `watchers` is the set. */
void lease_store_start(struct lease_store *me, uint64_t *watchers, const struct el_config *cfg,
                       const struct el_start *start, struct el_outbox *out);
void lease_store_message(struct lease_store *me, uint64_t *watchers, const struct el_config *cfg,
                         const struct el_msg *m, struct el_outbox *out);
void lease_store_fact(struct lease_store *me, uint64_t wall_clock_ms, el_duration wait, struct el_outbox *out);
void lease_store_silence(struct lease_store *me, struct el_outbox *out);

#endif
