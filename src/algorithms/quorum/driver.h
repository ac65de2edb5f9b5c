/*
 * The driver of quorum: in which order the session machine and a group are called, for each event. The simulator and the
 * checker (algorithm.c) and the agent (agent/host/quorum) call these functions.
 *
 * Two things differ between hosts, and both are parameters of the call (struct quorum):
 *   group         NULL: the event concerns the sessions of a host with many groups. The driver leaves in *changes what all groups
 *                 must be told. The host tells each of them by quorum_tell(), at once or later.
 *   posts_claims  The host posts claims to its peers and reads theirs (quorum_read_claim()). Otherwise beats carry them.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_DRIVER_H
#define ELECTOR_ALGORITHMS_QUORUM_DRIVER_H

#include "algorithms/quorum/group.h"

/* The incarnation of a member is over, and so is all its work. */
struct quorum_obituary {
    el_node who;
    uint64_t incarnation;
};

void quorum_start(const struct quorum *q, const struct el_start *start);
/* To a member that has lost its record: the wall clock, in ms. */
void quorum_tell_time(const struct quorum *q, uint64_t ms);
/* An obituary from outside the cluster: we pass it on to all others. */
void quorum_tell_obituary(const struct quorum *q, el_node who, uint64_t incarnation);

/* Whether a kind of message concerns one group; all others concern sessions. */
bool quorum_is_of_group(uint8_t kind);
/* True: it was admitted. */
bool quorum_deliver(const struct quorum *q, const struct el_msg *m);
/* A claim that `from` has posted. Its session must know this incarnation. */
void quorum_read_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim);

/* Marks the call as late: after a pause other timers may be overdue, too. */
void quorum_fire(struct quorum *q, uint32_t timer, el_node slot);

enum el_answer quorum_request(const struct quorum *q, enum el_request_what what, el_node to);
/* What the group shows. It only reads; `out` and `changes` may be absent. */
void quorum_view(const struct quorum *q, struct el_view *view);

/* ---- For hosts with many groups ---- */

/* Tells a group what happened to the sessions: enum quorum_changes, and who has died. */
void quorum_tell(const struct quorum *q, uint32_t changes, const struct quorum_obituary *dead, uint32_t count);

/* What all groups rely on, of one peer. */
struct quorum_backing {
    uint64_t incarnation;
    uint64_t promise_incarnation, promise_epoch; /* of the promise that runs; 0: none does */
    uint64_t v_epoch;
    bool linked, recent;
    uint8_t spare[6]; /* no padding: a checked state is compared by its bytes */
};

/*
 * After every call, for each peer: what has changed since the last time, for all groups. QUORUM_LAPSED: a promise has ended
 * or is another, and groups that are led here must be told before anything else happens.
 */
uint32_t quorum_see_changes(const struct quorum_peer *p, struct quorum_backing *known);

#endif
