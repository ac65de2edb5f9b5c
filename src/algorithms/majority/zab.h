/*
 * The state shared by ZooKeeper's two halves: fast leader election (zookeeper_fle.c) finds the member that a
 * majority would follow, and Zab's first phase (zab.c) gives that member an epoch of its own. The two
 * alternate on one state.
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_ZAB_H
#define ELECTOR_ALGORITHMS_MAJORITY_ZAB_H

#include "algorithms/mesh/mesh.h"

/* A vote: the member voted for, and how recent its history is. */
struct zab_vote {
    uint64_t epoch;
    uint64_t zxid;
    el_node leader;
    uint32_t spare;
};

/* The last notification from a member; all zero until there is one. One for each member follows the sets. */
struct zab_heard {
    uint64_t round;
    el_node leader;
    uint32_t mode;
};

struct zab {
    uint64_t round;       /* of the election that our vote belongs to */
    uint64_t clock;       /* the highest round we have been in: `round`, unless we joined an older one */
    uint64_t epoch, zxid; /* our own history, as the host reported it */
    uint64_t current;     /* saved: the epoch of the last established leader we followed, or were */
    uint64_t accepted;    /* saved: the highest epoch we accepted */
    uint64_t session;     /* the epoch proposed to us, or by us, since the election; 0: none yet */
    uint64_t highest;     /* the highest accepted epoch reported to us */
    el_duration resend;   /* after this time without traffic we notify all again */
    struct zab_vote vote;
    el_node accepted_from; /* saved: who proposed that epoch; we never acknowledge it to another member */
    el_node finalist;      /* the member we vote for, while a majority does too and we wait for a better vote */
    uint32_t mode;
    uint8_t established; /* the leader of this session has its majority */
    uint8_t observer;    /* our record is lost: our votes and acknowledgements do not count */
    uint16_t spare;
    /* two sets follow, and then a struct zab_heard for each member */
};

enum zab_mode { ZAB_LOOKING, ZAB_FOLLOWING, ZAB_LEADING };

/* Notification: epoch is the round, subject the leader voted for, rank and aux its epoch and zxid, flags the
 * sender's mode. FollowerInfo: epoch is the accepted one, more the round. LeaderInfo: epoch is the proposed
 * one, more the round. AckEpoch: epoch is the proposed one, rank and aux the sender's epoch and zxid. Ping,
 * Pong: epoch is the leader's. A sender without a vote adds ZAB_OBSERVER to the flags. */
enum { ZAB_NOTIFICATION = 1, ZAB_FOLLOWER_INFO, ZAB_LEADER_INFO, ZAB_ACK_EPOCH, ZAB_PING, ZAB_PONG };
enum { ZAB_OBSERVER = 4 };

enum { ZAB_T_NOTIFY, ZAB_T_FINALIZE, ZAB_T_TICK, ZAB_T_LIMIT };
enum { ZAB_FINALIZE, ZAB_RESEND, ZAB_TICK, ZAB_INIT_LIMIT, ZAB_SYNC_LIMIT };

#define ZAB_NOTE_LIST(NOTE)                                                                                \
    NOTE(ZAB_LOOKS, "looks", "looks for a leader, in round #1")                                            \
    NOTE(ZAB_CHANGES_VOTE, "changes-vote", "now votes for @1")                                             \
    NOTE(ZAB_NEWER_ROUND, "newer-round", "hears from @1 that round #2 has begun")                          \
    NOTE(ZAB_OLDER_ROUND, "older-round", "finds @1 in the older round #2")                                 \
    NOTE(ZAB_ANSWERS, "answers", "tells @1 its vote")                                                      \
    NOTE(ZAB_FINALIZES, "finalizes", "sees a majority for @1 and waits for a better vote")                 \
    NOTE(ZAB_JOINS, "joins", "finds a majority settled on @1 and joins it")                                \
    NOTE(ZAB_ASKS_AGAIN, "asks-again", "has heard nothing for a while and asks again")                     \
    NOTE(ZAB_LEADER_LOOKS, "leader-looks", "hears that @1, its leader, is looking for one itself")         \
    NOTE(ZAB_FINDS_A_LEADER, "finds-a-leader", "hears @1 lead and asks all about it")                      \
    NOTE(ZAB_EXPECTS_TO_LEAD, "expects-to-lead", "is elected in round #2 and awaits its followers")        \
    NOTE(ZAB_EXPECTS_TO_FOLLOW, "expects-to-follow",                                                       \
         "elects @1 in round #2 and tells it the epoch it has accepted")                                   \
    NOTE(ZAB_PROPOSES, "proposes", "proposes epoch #1")                                                    \
    NOTE(ZAB_ACCEPTS, "accepts", "accepts epoch #2 from @1")                                               \
    NOTE(ZAB_REFUSES, "refuses", "has given its word to another, and does not acknowledge epoch #2 to @1") \
    NOTE(ZAB_AHEAD, "ahead", "does not count @1, whose history is ahead")                                  \
    NOTE(ZAB_LEADS, "leads", "has a majority for epoch #1 and leads")                                      \
    NOTE(ZAB_FOLLOWS, "follows", "follows @1 in epoch #2")                                                 \
    NOTE(ZAB_NOT_ESTABLISHED, "not-established", "has waited too long for @1 to be established")           \
    NOTE(ZAB_LOST_MAJORITY, "lost-majority", "no longer hears a majority and stands down")                 \
    NOTE(ZAB_LOST_LEADER, "lost-leader", "no longer hears @1")                                             \
    NOTE(ZAB_STALE, "stale", "ignores what @1 says, which belongs to another election")                    \
    NOTE(ZAB_GOES_ON, "goes-on", "is called, but looks by itself whenever it has no leader")               \
    NOTE(ZAB_MALFORMED, "malformed", "drops a malformed message from @1")
enum zab_note { ZAB_NOTE_LIST(EL_NOTE_NAME) };

/* Rounds and epochs in messages must stay far below the maximum, so that counting on cannot overflow. */
static inline bool zab_too_high(uint64_t number)
{
    return number > EL_EPOCH_MAX / 2;
}

/* Members whose FollowerInfo is known; and members that acknowledged the epoch, later the pings. */
uint64_t *zab_informed(struct zab *me);
uint64_t *zab_answered(struct zab *me, const struct el_config *cfg);

/* ---- zookeeper_fle.c ---- */

/* Drops its current state and looks for a leader in a new round. */
void zab_look(struct zab *me, const struct el_config *cfg, struct el_outbox *out);

/* ---- zab.c ---- */

void zab_on_start(struct zab *me, const struct el_config *cfg, const struct el_start *start,
                  struct el_outbox *out);
/* Clears all that was exchanged with other members since the election. */
void zab_forget_session(struct zab *me, const struct el_config *cfg);
/* The election is over: starts discovery, as the expected leader or as its follower. */
void zab_discover(struct zab *me, const struct el_config *cfg, struct el_outbox *out);
/* Handles every message except notifications. */
void zab_on_message(struct zab *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
void zab_on_tick(struct zab *me, const struct el_config *cfg, struct el_outbox *out);
void zab_on_limit(struct zab *me, const struct el_config *cfg, struct el_outbox *out);

#endif
