/*
 * Sessions: what a member knows of each other one, shared by all groups. Beats are answered by acknowledgements, and
 * the answer to a member that hears us is a promise: nothing that we have granted to its incarnation will go to
 * another for a while. Rules Q1, Q3 to Q9, Q11 and Q18 of docs/quorum-protocol.md.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_SESSION_H
#define ELECTOR_ALGORITHMS_QUORUM_SESSION_H

#include "algorithms/quorum/quorum.h"

/* The member itself. Only incarnation, ceiling, the promise and whether the floor is known outlive it. */
struct quorum_member {
    uint64_t
        incarnation; /* this life's number; 0 while it is unknown: then nothing is sent and nothing heard */
    uint64_t seq;    /* of the last thing sent that an answer may echo */
    uint64_t clock;
    uint64_t floor;   /* what earlier lives may have granted */
    uint64_t ceiling; /* what this one may grant without a new record */
    uint64_t nonce;
    uint64_t longest;
    uint32_t majority;
    uint8_t silent;
    uint8_t unlearned; /* our floor is unknown: neither grant nor stand */
    uint8_t spare[2];
};
_Static_assert(sizeof(struct quorum_member) == 64, "no padding");

struct quorum_peer {
    uint64_t incarnation;
    uint64_t dead; /* the last incarnation known to be over */
    uint64_t seen;
    uint64_t beat_seen;
    uint64_t epoch;   /* as its voter: how often we let go of it while it still was recorded */
    uint64_t v_epoch; /* as a holder: the same, of it */
    uint64_t base;    /* the seq that its lease counts from, and what the promise was given under */
    uint64_t base_incarnation;
    uint64_t base_epoch;
    uint64_t probe; /* the seq that a promise will be counted from; 0: none is open */
    uint8_t probe_age;
    uint8_t heard;
    uint8_t recent;
    uint8_t linked;
    uint8_t lease;
    uint8_t promised;
    uint8_t owed;
    uint8_t renews; /* its last beat asked for a promise */
    uint8_t floor_known;
    uint8_t entrusted; /* something was granted to its incarnation: a promise of it covers something */
    uint8_t spare[6];
};
_Static_assert(sizeof(struct quorum_peer) == 96, "no padding");

/* What groups must be told of; most events are none of theirs. */
enum quorum_changes {
    QUORUM_REVIEW = 1, /* links, epochs or our own standing changed: leaders and those without one look again */
    QUORUM_LAPSED = 2, /* a promise made to us is over: leaders look */
    QUORUM_FREED = 4,  /* a promise of ours is over: voters of that holder look */
    QUORUM_BURIED = 8, /* somebody has died: groups must be told who (quorum_tell()) */
    QUORUM_HEIRS = 256 /* where claims are posted: leaders name their heirs afresh */
};

/* ---- Reading ---- */

static inline struct quorum_peer *quorum_peer(const struct quorum *q, el_node node)
{
    return &q->peers[node - 1];
}

static inline bool quorum_may_hold(const struct el_config *cfg, el_node node)
{
    return quorum_is_voter(cfg, node) && el_may_lead(cfg->cluster, node);
}

static inline bool quorum_recent(const struct quorum *q, el_node node)
{
    return node == q->cfg->self || quorum_peer(q, node)->recent;
}

static inline bool quorum_linked(const struct quorum *q, el_node node)
{
    return node == q->cfg->self || quorum_peer(q, node)->linked;
}

/* Whether what we granted to this incarnation is still promised to it (Q8). */
static inline bool quorum_promise_lives(const struct quorum *q, el_node node, uint64_t incarnation)
{
    const struct quorum_peer *p = quorum_peer(q, node);
    return incarnation == p->incarnation ? p->promised : p->owed;
}

static inline bool quorum_may_grant(const struct quorum *q)
{
    return !q->me->silent && !q->me->unlearned && quorum_is_voter(q->cfg, q->cfg->self);
}

uint32_t quorum_linked_voters(const struct quorum *q);
/* How long a voter stands by what a holder uses for a lease. */
el_duration quorum_promise(const struct el_config *cfg);
/* A term in that member's name above all we know of and above `than`; 0 if there is none, which only liars cause. */
uint64_t quorum_new_term(const struct quorum *q, el_node proposer, uint64_t than);
void quorum_see(const struct quorum *q, uint64_t term);

/* ---- Acting ---- */

/* The header filled in; to others only. */
void quorum_send(const struct quorum *q, el_node to, struct el_msg msg);
/* As if to ourselves. */
struct el_msg quorum_to_self(const struct quorum *q, struct el_msg msg);
/* What is sent next may be answered by a promise. */
void quorum_open_probe(const struct quorum *q, el_node to);
/*
 * We are a voter like any other, whose answers take no time. Whatever is sent that others may answer by a promise renews
 * our own in the same step. So our own is never older than another's, and what bounds a claim never ends before its time
 * because ours did.
 */
void quorum_promise_ourselves(const struct quorum *q);
/* As a voter that grants a group: P from now, and what it is promised binds us when this life is over. */
void quorum_entrust(const struct quorum *q, el_node holder);
/* No term up to this one is granted without a record that forbids it to later lives (Q3). */
void quorum_reserve(const struct quorum *q, uint64_t term);
/* A promise of `from`, of that epoch, made when it had seen `echo` (Q11). False: it is stale, ignore it whole. */
bool quorum_credit(const struct quorum *q, el_node from, uint64_t epoch, uint64_t echo, bool grant);

/* ---- Events ---- */

void quorum_session_start(const struct quorum *q, const struct el_start *start);
/* A lost record's owner is told what time it is, in ms: the only use of a wall clock. */
void quorum_session_wall_clock(const struct quorum *q, uint64_t ms);
/* All know each other's first life from the beginning. */
void quorum_session_acquaint(const struct quorum *q);
/* Whether a message is listened to (Q1), and whether it is the first of a new life: as quorum_session_admit() will find. */
bool quorum_admits(const struct quorum *q, const struct el_msg *m);
bool quorum_meets(const struct quorum *q, const struct el_msg *m);
/* Listens to it, or not: false. */
bool quorum_session_admit(const struct quorum *q, const struct el_msg *m);
/* The kinds that are none of the groups'. */
void quorum_session_hear(const struct quorum *q, const struct el_msg *m);
void quorum_session_bury(const struct quorum *q, el_node node, uint64_t incarnation);
void quorum_session_timer(const struct quorum *q, uint32_t timer, el_node slot);
/* Beats to all, which carry this claim, from those who may lead: the others answer. The next follows in time. */
void quorum_session_beat(const struct quorum *q, struct quorum_claim claim);

#endif
