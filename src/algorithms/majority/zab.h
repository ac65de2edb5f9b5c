/*
 * What ZooKeeper's two halves share: fast leader election (zookeeper_fle.c) finds whom most would follow, and
 * Zab's first phase (zab.c) makes that one's epoch its own. The two take turns over one state.
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_ZAB_H
#define ELECTOR_ALGORITHMS_MAJORITY_ZAB_H

#include "algorithms/mesh/mesh.h"

/* What a vote says: whom, and how recent that one's history is. */
struct zab_vote {
    uint64_t epoch;
    uint64_t zxid;
    el_node leader;
    uint32_t spare;
};

/* The last notification of a member; all zero until there is one. Follows the sets, one for each. */
struct zab_heard {
    uint64_t round;
    el_node leader;
    uint32_t mode;
};

struct zab {
    uint64_t round;       /* of the election that our vote belongs to */
    uint64_t clock;       /* the highest round we have been in: this one, unless we joined an older one */
    uint64_t epoch, zxid; /* our own history, as the host told it */
    uint64_t current;     /* saved: the epoch of the last established leader we were with */
    uint64_t accepted;    /* saved: the highest epoch we agreed to */
    uint64_t session;     /* the epoch proposed to us, or by us, since the election; 0: none yet */
    uint64_t highest;     /* of the accepted epochs we were informed of */
    el_duration resend;   /* how long without traffic until we notify all again */
    struct zab_vote vote;
    el_node accepted_from; /* saved: whose epoch that was, so that it is never acknowledged to another */
    el_node finalist;      /* the leader of our vote, while a majority holds it and we wait for a better one */
    uint32_t mode;
    uint8_t established; /* the leader of this session has its majority */
    uint8_t observer;    /* our record is lost: whom we follow counts for nothing */
    uint16_t spare;
    /* two sets follow, and then what was heard of each member */
};

enum zab_mode { ZAB_LOOKING, ZAB_FOLLOWING, ZAB_LEADING };

/* Notification: epoch is the round, subject the leader voted for, rank and aux its epoch and zxid, flags the
 * sender's mode. FollowerInfo: epoch is the accepted one, more the round. LeaderInfo: epoch is the proposed one,
 * more the round. AckEpoch: epoch is the proposed one, rank and aux the sender's epoch and zxid. Ping, Pong: epoch
 * is the leader's. ZAB_OBSERVER is added to the flags of whoever has no vote. */
enum { ZAB_NOTIFICATION = 1, ZAB_FOLLOWER_INFO, ZAB_LEADER_INFO, ZAB_ACK_EPOCH, ZAB_PING, ZAB_PONG };
enum { ZAB_OBSERVER = 4 };

enum { ZAB_T_NOTIFY, ZAB_T_FINALIZE, ZAB_T_TICK, ZAB_T_LIMIT };
enum { ZAB_FINALIZE, ZAB_RESEND, ZAB_TICK, ZAB_INIT_LIMIT, ZAB_SYNC_LIMIT };

enum zab_note {
    ZAB_LOOKS,
    ZAB_CHANGES_VOTE,
    ZAB_NEWER_ROUND,
    ZAB_OLDER_ROUND,
    ZAB_ANSWERS,
    ZAB_FINALIZES,
    ZAB_JOINS,
    ZAB_ASKS_AGAIN,
    ZAB_LEADER_LOOKS,
    ZAB_FINDS_A_LEADER,
    ZAB_EXPECTS_TO_LEAD,
    ZAB_EXPECTS_TO_FOLLOW,
    ZAB_PROPOSES,
    ZAB_ACCEPTS,
    ZAB_REFUSES,
    ZAB_AHEAD,
    ZAB_LEADS,
    ZAB_FOLLOWS,
    ZAB_NOT_ESTABLISHED,
    ZAB_LOST_MAJORITY,
    ZAB_LOST_LEADER,
    ZAB_STALE,
    ZAB_GOES_ON,
    ZAB_MALFORMED,
};

/* Rounds and epochs of messages stay far below the largest, so that counting on from there never ends. */
static inline bool zab_too_high(uint64_t number)
{
    return number > EL_EPOCH_MAX / 2;
}

/* Those whose FollowerInfo is known; then those who acknowledged the epoch, later the pings. */
uint64_t *zab_informed(struct zab *me);
uint64_t *zab_answered(struct zab *me, const struct el_config *cfg);

/* ---- zookeeper_fle.c ---- */

/* Leaves whatever it was doing and looks for a leader, in a new round. */
void zab_look(struct zab *me, const struct el_config *cfg, struct el_outbox *out);

/* ---- zab.c ---- */

void zab_on_start(struct zab *me, const struct el_config *cfg, const struct el_start *start,
                  struct el_outbox *out);
/* Nobody has told it anything, and it has told nobody. */
void zab_forget_session(struct zab *me, const struct el_config *cfg);
/* The election is over: discovery begins, on either side. */
void zab_discover(struct zab *me, const struct el_config *cfg, struct el_outbox *out);
/* Everything but notifications. */
void zab_on_message(struct zab *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
void zab_on_tick(struct zab *me, const struct el_config *cfg, struct el_outbox *out);
void zab_on_limit(struct zab *me, const struct el_config *cfg, struct el_outbox *out);

#endif
