/*
 * A group: what a leader is elected for. As a voter a member promises it to one holder and refuses all others; as a
 * candidate it asks for grants; as a leader it holds what a majority has promised. Rules Q9, Q10, Q12 to Q24 of
 * docs/quorum-protocol.md. A group at rest costs nothing: sessions keep its promises alive.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_GROUP_H
#define ELECTOR_ALGORITHMS_QUORUM_GROUP_H

#include "algorithms/quorum/session.h"

enum { QUORUM_IDLE, QUORUM_CANDIDATE, QUORUM_LEADER };

struct quorum_group {
    /* as a voter */
    uint64_t term;               /* the highest granted */
    struct quorum_tenant holder; /* whom it is promised to, as long as its session's promise lives */
    struct quorum_tenant next;   /* the best of those who were refused */
    struct quorum_tenant proof;  /* the release that freed it last */
    /* what was heard of its leader */
    struct quorum_tenant claim;
    uint64_t claim_heir_term;
    /* as a candidate or leader */
    uint64_t standing; /* the term we stand or lead in */
    uint64_t done;     /* we use no term up to this one, ever again */
    uint64_t heir_term;
    el_node claim_heir;
    el_node heir;
    uint32_t heir_beats; /* how long it has been, where that matters */
    uint8_t role;
    uint8_t next_joins;
    uint8_t next_fresh; /* ASKED runs */
    uint8_t waiting;    /* STAND runs */
    uint8_t asking;     /* REASK runs */
    uint8_t listening;  /* has just come, and first lets a leader be heard */
    uint8_t stopping;   /* led, and its work may go on; DEADLINE runs */
    uint8_t spare;
    uint16_t links_wanted; /* it gave up for want of links: with so many voters linked it waits no longer */
    uint8_t more_spare[2];
};
_Static_assert(sizeof(struct quorum_group) == 160, "no padding");

/* What a voter has said to us. */
struct quorum_ballot {
    uint64_t incarnation; /* it supports us, under these; 0: it does not */
    uint64_t epoch;
    uint8_t granted;
    uint8_t hopeless; /* it stands by somebody who leads */
    uint8_t spare[6];
};
_Static_assert(sizeof(struct quorum_ballot) == 24, "no padding");

/* ---- The voter (voter.c) ---- */

/* Whether the holder is this incarnation. */
static inline bool quorum_is(const struct quorum_tenant *tenant, el_node id, uint64_t incarnation)
{
    return tenant->id == id && tenant->incarnation == incarnation;
}

static inline struct quorum_tenant quorum_ourselves(const struct quorum *q, uint64_t term)
{
    return (struct quorum_tenant){.id = q->cfg->self, .incarnation = q->me->incarnation, .term = term};
}

void quorum_on_vote(const struct quorum *q, const struct el_msg *m);
/* `done` uses no term up to its own any more, ever. True if that frees us. */
bool quorum_apply_release(const struct quorum *q, struct quorum_tenant done);
/* What was asked is too old, or over, or granted. */
void quorum_forget_next(const struct quorum *q);
/* The group may have come free: an heir that a release named goes first, then who asked, then a claim's heir. */
void quorum_push(const struct quorum *q, el_node heir, uint64_t heir_term);
void quorum_on_release(const struct quorum *q, const struct el_msg *m);
void quorum_on_obit(const struct quorum *q, el_node who, uint64_t incarnation);
void quorum_on_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim);

/* ---- The candidate (candidate.c) ---- */

/* Somebody claims to lead in a life that still is, and was heard lately. */
bool quorum_knows_leader(const struct quorum *q);
bool quorum_may_stand(const struct quorum *q);
void quorum_stand(const struct quorum *q, uint64_t term);
/* Asks those who have not granted, or do not support us; all of them once more. */
void quorum_ask(const struct quorum *q);
/* Begins to wait for our turn, for a time in this range, unless we wait already. */
void quorum_wait(const struct quorum *q, el_duration min, el_duration max);
/* Who comes back waits for a beat before it thinks of standing: a leader may be there. */
void quorum_listen_first(const struct quorum *q);
/* Links or claims changed: begins to wait for our turn, or asks somebody to join. */
void quorum_review(const struct quorum *q);
void quorum_on_grant(const struct quorum *q, const struct el_msg *m);
void quorum_on_refusal(const struct quorum *q, const struct el_msg *m);
void quorum_on_check(const struct quorum *q, const struct el_msg *m);
void quorum_on_campaign(const struct quorum *q);
void quorum_candidate_timer(const struct quorum *q, uint32_t timer);

/* ---- The leader (leader.c) ---- */

/* Whether the voter granted or joined, and has not let go of us since (Q12). */
bool quorum_supports(const struct quorum *q, el_node voter);
/* Its promise runs, and was made while it stood by us in this group. */
bool quorum_is_backed(const struct quorum *q, el_node voter);
/* Granted by a majority that supports us, and whose promises run, as far as we have been told. */
bool quorum_has_majority(const struct quorum *q);
/* Leads if a majority has granted, supports us, and what it promised still runs (Q13). */
void quorum_try_to_win(const struct quorum *q);
/* The voter whose lease bounds the claim: the majority-th newest of those who support us; nobody if it lapsed. */
el_node quorum_bound_by(const struct quorum *q);
/* Ends the term if a majority no longer stands by it (Q14). */
void quorum_check_lease(const struct quorum *q);
/* Ends the term for good, and tells all (Q15). Of who led, the work is over. */
void quorum_finish(const struct quorum *q, el_node heir, uint64_t heir_term);
/* Ends the term before its time: nobody is told until the work must be over. */
void quorum_break_off(const struct quorum *q);
/* The work must be over now. */
void quorum_let_go(const struct quorum *q);
/* What a member says of the group: nothing, unless it leads. */
struct quorum_claim quorum_claim_of(const struct quorum_group *g);
/* What the next beat says of the group. Keeps the heir up to date, and says if it should lead instead (preempt). */
struct quorum_claim quorum_prepare_claim(const struct quorum *q);
enum el_answer quorum_on_request(const struct quorum *q, enum el_request_what what, el_node to);
/* As all were told before they began (EL_FRESH): their first lives have granted it, and promised. */
void quorum_begin_under(const struct quorum *q, el_node incumbent);

/* ---- All (group.c) ---- */

/* To anybody, ourselves included: then it is heard at once. */
void quorum_say(const struct quorum *q, el_node to, struct el_msg msg);
void quorum_say_all(const struct quorum *q, struct el_msg msg);
void quorum_group_hear(const struct quorum *q, const struct el_msg *m);

#endif
