/*
 * The driver of quorum: for each event, which functions of sessions and group are called, and in which order.
 * The simulator and the checker (algorithm.c) and the agent (agent/host/quorum) all call these functions.
 *
 * Two things differ between hosts, and both are fields of struct quorum:
 *   group         NULL: the event concerns the sessions of a host with many groups. The driver leaves in
 *                 *changes what all groups must be told. The host tells each by quorum_tell(), now or later.
 *   posts_claims  true: the host posts claims to its peers, and reads theirs by quorum_read_claim(). False:
 *                 beats carry them.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_DRIVER_H
#define ELECTOR_ALGORITHMS_QUORUM_DRIVER_H

#include "algorithms/quorum/group.h"

/* This incarnation of a member has ended, and so has all its work. */
struct quorum_obituary {
    el_node who;
    uint64_t incarnation;
};

void quorum_start(const struct quorum *q, const struct el_start *start);
/* The wall clock, in ms, for a member that has lost its record (Q5). */
void quorum_tell_time(const struct quorum *q, uint64_t ms);
/* A record of the members that was decided (era.h), by its number less one, and its floor. It is installed unless we have
 * it or a later one. */
void quorum_tell_record(const struct quorum *q, uint32_t record, uint64_t floor);
/*
 * An obituary from outside the protocol. In the agent it came from the dead member itself, which had sealed it
 * in advance. That of an earlier incarnation of our own we tell to all others. Others' we keep to ourselves:
 * nobody believes what one member says of another (speakers.h).
 */
void quorum_tell_obituary(const struct quorum *q, el_node who, uint64_t incarnation);

/* Whether this kind of message concerns one group. All other kinds concern sessions. */
bool quorum_is_of_group(uint8_t kind);
/* True: the message was admitted. */
bool quorum_deliver(const struct quorum *q, const struct el_msg *m);
/* A claim that `from` has posted. Our session must know this incarnation. Ignores it if `from` may not make it. */
void quorum_read_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim);
/* What the voter `from` tells us, who have no vote, of this group. Ignores it if no voter may say it. */
void quorum_read_news(const struct quorum *q, el_node from, struct quorum_told told);

/* Sets q->late: after a pause other timers may be overdue, too. */
void quorum_fire(struct quorum *q, uint32_t timer, el_node slot);

enum el_answer quorum_request(const struct quorum *q, enum el_request_what what, el_node to);
/* The view of the group. Changes nothing; `out` and `changes` may be NULL. */
void quorum_view(const struct quorum *q, struct el_view *view);

/* ---- For hosts with many groups ---- */

/* Tells a group what happened to the sessions: enum quorum_changes, and `count` obituaries. */
void quorum_tell(const struct quorum *q, uint32_t changes, const struct quorum_obituary *dead, uint32_t count);

/* The state of one peer on which all groups rely. */
struct quorum_backing {
    uint64_t incarnation;
    uint64_t promise_incarnation, promise_epoch; /* of the promise that runs; 0: none does */
    uint64_t v_epoch;
    bool linked, recent;
    uint8_t spare[6]; /* no padding: a checked state is compared by its bytes */
};

/*
 * Call it after every event, for each peer: returns what has changed for all groups since the last call.
 * QUORUM_LAPSED: a promise has ended, or another has replaced it. Tell the groups that are led here before
 * anything else happens.
 */
uint32_t quorum_see_changes(const struct quorum_peer *p, struct quorum_backing *known);

#endif
