/*
 * Sessions: what a member knows of each other member, shared by all groups. Rules Q1, Q3 to Q9, Q11 and Q18 of
 * docs/quorum-protocol.md. Every beat is acknowledged. If the sender hears us, the acknowledgement is a
 * promise: for the time P we grant to no other what we have granted to its incarnation.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_SESSION_H
#define ELECTOR_ALGORITHMS_QUORUM_SESSION_H

#include "algorithms/quorum/quorum.h"

/* The member itself. On disk: incarnation, ceiling, longest and unlearned. */
struct quorum_member {
    uint64_t incarnation; /* 0: not known yet; then we send nothing and drop all messages */
    uint64_t seq;         /* number of our last Beat or Vote, which answers echo */
    uint64_t clock;       /* the highest term seen */
    uint64_t floor;       /* earlier incarnations may have granted terms up to this one */
    uint64_t ceiling;     /* we may grant terms up to this one without a new record */
    uint64_t nonce;
    uint64_t longest; /* the longest promise that any incarnation of ours may have made */
    uint32_t majority;
    uint8_t silent;
    uint8_t unlearned; /* Q5: our record was lost and the floor is unknown: neither grant nor stand */
    uint16_t climbed;  /* how far messages raised `clock` above QUORUM_COUNTER_MOST since our last beat */
};
_Static_assert(sizeof(struct quorum_member) == 64, "no padding");

struct quorum_peer {
    uint64_t incarnation;
    uint64_t dead; /* the last incarnation with an obituary */
    uint64_t seen;
    uint64_t beat_seen;
    uint64_t epoch;   /* as its voter: Q9, how often we granted away a group that was recorded for it */
    uint64_t v_epoch; /* as a holder: its epoch for us, the newest that it told */
    uint64_t base;    /* the seq that its lease counts from; below: the incarnation and epoch of the promise */
    uint64_t base_incarnation;
    uint64_t base_epoch;
    uint64_t probe; /* the seq that its next lease will count from; 0: no probe is open */
    uint8_t probe_age;
    uint8_t heard;
    uint8_t recent;
    uint8_t linked;
    uint8_t lease;
    uint8_t promised;
    uint8_t owed;
    uint8_t
        renews; /* its last beat asked for a promise: QUORUM_RENEWS; or said that it is at rest, and hears us */
    uint8_t floor_known;
    uint8_t entrusted; /* its incarnation was granted some group, so our promise to it binds us */
    uint8_t settled; /* M10: it said SETTLED in answer to a message that is not older than the running lease */
    uint8_t behind;  /* it is a candidate by our record, and has not said yet that it has that record */
    uint8_t spare[4];
};
_Static_assert(sizeof(struct quorum_peer) == 96, "no padding");

/* What groups must be told. Most events concern no group. */
enum quorum_changes {
    QUORUM_REVIEW = 1, /* links, epochs or our right to stand changed: call quorum_review() */
    QUORUM_LAPSED = 2, /* a promise to us has ended: leaders check their lease */
    QUORUM_FREED = 4,  /* a promise of ours has ended: voters may grant again */
    QUORUM_BURIED = 8, /* an obituary came: pass it to all groups (quorum_tell()) */
    QUORUM_HEIRS = 256 /* if claims are posted: leaders choose their heirs again */
};

enum { QUORUM_RENEWS = 1, QUORUM_RESTS = 2 };

/* ---- Reading ---- */

static inline struct quorum_peer *quorum_peer(const struct quorum *q, el_node node)
{
    return &q->peers[node - 1];
}

/* Who votes by the record in force here. */
struct quorum_electorate quorum_electorate(const struct quorum *q);
/* By which former leases count: the one in force before the last record was installed. */
struct quorum_electorate quorum_former_electorate(const struct quorum *q);
bool quorum_votes(const struct quorum *q, el_node node);
/* Who may lead by that record. A voter grants nothing new to anybody else (M16). */
bool quorum_may_lead(const struct quorum *q, el_node node);
/* Another record than the first is in force, by which it may not lead (M16). */
bool quorum_is_barred(const struct quorum *q, el_node node);
/* By record 1. */
static inline bool quorum_may_hold(const struct el_config *cfg, el_node node)
{
    return quorum_takes_part(cfg, node) && el_may_lead(cfg->cluster, node);
}

static inline bool quorum_recent(const struct quorum *q, el_node node)
{
    return node == q->cfg->self || quorum_peer(q, node)->recent;
}

static inline bool quorum_linked(const struct quorum *q, el_node node)
{
    return node == q->cfg->self || quorum_peer(q, node)->linked;
}

/* M15: it votes, or it voted by an earlier record, so that it may still have to release something. */
bool quorum_had_vote(const struct quorum *q, el_node node);
/* M22: it may lead by the record in force, and no record up to that one has given it a vote. */
bool quorum_is_voteless(const struct quorum *q, el_node node);
bool quorum_has_voteless(const struct quorum *q);
/* It neither votes nor leads by the record in force. */
bool quorum_is_observer(const struct quorum *q, el_node node);

/* M22: a candidate has sessions with voters only. Other members without a vote have none with each other unless records may
 * follow, by which they come to vote. */
bool quorum_has_session(const struct quorum *q, el_node node);

/* Whether we send it beats, releases and obituaries. A voter sends none to members that may lead and have no vote: it
 * answers their beats. But one that does not know yet that it may lead sends none. */
static inline bool quorum_tells(const struct quorum *q, el_node node)
{
    return node != q->cfg->self && quorum_has_session(q, node) &&
           (!quorum_is_voteless(q, node) || quorum_peer(q, node)->behind);
}

/* M23: we have no vote, lead nothing and stand for nothing. */
bool quorum_rests(const struct quorum *q);
/* H: how often a member at rest beats. */
el_duration quorum_rest(const struct el_config *cfg);

/* Whether it hears us and we hear it: by its answers, or by the beats of a member that gets none of ours. */
static inline bool quorum_in_touch(const struct quorum *q, el_node node)
{
    const struct quorum_peer *p = quorum_peer(q, node);
    return quorum_is_voteless(q, node) && node != q->cfg->self ? p->recent && p->renews
                                                               : quorum_linked(q, node);
}

/* Q8: whether our promise to this incarnation still runs. */
static inline bool quorum_promise_lives(const struct quorum *q, el_node node, uint64_t incarnation)
{
    const struct quorum_peer *p = quorum_peer(q, node);
    return incarnation == p->incarnation ? p->promised : p->owed;
}

/* Not silent, and the floor is known. */
static inline bool quorum_is_ready(const struct quorum *q)
{
    return !q->me->silent && !q->me->unlearned;
}

static inline bool quorum_may_grant(const struct quorum *q)
{
    return quorum_is_ready(q) && quorum_votes(q, q->cfg->self);
}

struct quorum_tally quorum_linked_voters(const struct quorum *q);
/* Its own vote alone elects it. */
bool quorum_is_alone(const struct quorum *q);
/* P: how long a voter keeps a promise; longer than a lease by the clock drift. */
el_duration quorum_promise(const struct el_config *cfg);
/* Q2: a term of that proposer above `clock`, `floor` and `than`. 0: terms are used up, which only forgery
 * causes. */
uint64_t quorum_new_term(const struct quorum *q, el_node proposer, uint64_t than);
void quorum_see(const struct quorum *q, uint64_t term);

/* ---- Acting ---- */

/* Writes the member to disk (floor.c). */
void quorum_save(const struct quorum *q);
/* Fills in the header and sends. Not to ourselves. */
void quorum_send(const struct quorum *q, el_node to, struct el_msg msg);
/* The message as it would arrive here if we sent it to ourselves. */
struct el_msg quorum_to_self(const struct quorum *q, struct el_msg msg);
/* Call it before sending what a promise may answer: the next lease counts from here. */
void quorum_open_probe(const struct quorum *q, el_node to);
/*
 * We are a voter like any other, but our answers take no time. When we send what others may answer by a
 * promise, we renew our own in the same step. So our own promise is never the oldest, and never ends a claim
 * early.
 */
void quorum_promise_ourselves(const struct quorum *q);
/* Promises P from now, to a holder that we grant a group. The promise binds us even if the holder restarts. */
void quorum_entrust(const struct quorum *q, el_node holder);
/* Q3: before we grant a term above the ceiling, saves a higher ceiling, which later incarnations take as
 * floor. */
void quorum_reserve(const struct quorum *q, uint64_t term);
/* Q11: counts a promise of `from`, of that epoch, made after it had seen `echo`. False: it is stale, ignore
 * it. */
bool quorum_credit(const struct quorum *q, el_node from, uint64_t epoch, uint64_t echo, bool grant);

/* ---- Events ---- */

void quorum_session_start(const struct quorum *q, const struct el_start *start);
/* Q5: a member that lost its record gets the wall clock, in ms. Nothing else uses it. */
void quorum_session_wall_clock(const struct quorum *q, uint64_t ms);
/* All members know each other's first incarnation from the start. */
void quorum_session_acquaint(const struct quorum *q);
/* What quorum_session_admit() will find. Q1: whether the message is admitted, and whether it is the first of
 * a new incarnation. */
bool quorum_admits(const struct quorum *q, const struct el_msg *m);
bool quorum_meets(const struct quorum *q, const struct el_msg *m);
/* Learns from the header. False: the message must be dropped. */
bool quorum_session_admit(const struct quorum *q, const struct el_msg *m);
/* A message of a kind that concerns no group. */
void quorum_session_hear(const struct quorum *q, const struct el_msg *m);
void quorum_session_bury(const struct quorum *q, el_node node, uint64_t incarnation);
void quorum_session_timer(const struct quorum *q, uint32_t timer, el_node slot);
/* M23: a member that was at rest begins to stand: its next beat comes after one interval. */
void quorum_session_hasten(const struct quorum *q);
/* Sends beats with this claim to all, if we may lead, and arms PULSE for the next. */
void quorum_session_beat(const struct quorum *q, struct quorum_claim claim);

#endif
