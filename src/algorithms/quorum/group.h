/*
 * A group: what a leader is elected for. Rules Q9, Q10 and Q12 to Q24 of docs/quorum-protocol.md. A voter
 * promises the group to one holder and refuses all others. A candidate asks for grants. A leader holds what a
 * majority has promised. An idle group costs nothing: sessions renew its promises.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_GROUP_H
#define ELECTOR_ALGORITHMS_QUORUM_GROUP_H

#include "algorithms/quorum/session.h"

enum { QUORUM_IDLE, QUORUM_CANDIDATE, QUORUM_LEADER };

struct quorum_group {
    /* as a voter */
    uint64_t term;               /* the highest term granted */
    struct quorum_tenant holder; /* the group is promised to it while the promise of its session runs */
    struct quorum_tenant next;   /* the best of those that were refused */
    /* what its leader claims */
    struct quorum_tenant claim;
    uint64_t claim_heir_term;
    /* as a candidate or leader */
    uint64_t standing; /* the term we stand or lead in */
    uint64_t done;     /* we never use a term up to this one again */
    uint64_t heir_term;
    el_node claim_heir;
    el_node heir;
    uint32_t heir_beats; /* for how many beats it has been the heir; counted only with preempt */
    uint8_t role;
    uint8_t next_joins;
    uint8_t next_fresh; /* ASKED runs */
    uint8_t waiting;    /* STAND runs */
    uint8_t asking;     /* REASK runs */
    uint8_t listening;  /* has just started: waits one beat for a leader's claim */
    uint8_t stopping;   /* led, and its work may still run; DEADLINE runs */
    uint8_t spare;
    uint16_t links_wanted; /* not 0: links were missing; it stands again when this many voters are linked */
    uint8_t more_spare[2];
};
_Static_assert(sizeof(struct quorum_group) == 136, "no padding");

/* A voter's answer to our candidacy. */
struct quorum_ballot {
    uint64_t incarnation; /* it supports us under this incarnation and epoch; 0: it does not */
    uint64_t epoch;
    uint8_t granted;
    uint8_t hopeless; /* it has promised the group to a leader */
    uint8_t spare[6];
};
_Static_assert(sizeof(struct quorum_ballot) == 24, "no padding");

/* ---- The voter (voter.c) ---- */

static inline bool quorum_is(const struct quorum_tenant *tenant, el_node id, uint64_t incarnation)
{
    return tenant->id == id && tenant->incarnation == incarnation;
}

static inline struct quorum_tenant quorum_ourselves(const struct quorum *q, uint64_t term)
{
    return (struct quorum_tenant){.id = q->cfg->self, .incarnation = q->me->incarnation, .term = term};
}

void quorum_on_vote(const struct quorum *q, const struct el_msg *m);
/* Q17: done.id, in that incarnation, never uses a term up to done.term again. True: this frees the group. */
bool quorum_apply_release(const struct quorum *q, struct quorum_tenant done);
/* Its request is too old, withdrawn or granted. */
void quorum_forget_next(const struct quorum *q);
/* Q19: if the group is free, grants it unasked. The heir that a release named comes first, then `next`, then
 * the heir of the old holder's claim. */
void quorum_push(const struct quorum *q, el_node heir, uint64_t heir_term);
void quorum_on_release(const struct quorum *q, const struct el_msg *m);
void quorum_on_obit(const struct quorum *q, el_node who, uint64_t incarnation);
void quorum_on_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim);

/* ---- The candidate (candidate.c) ---- */

/* A member claims to lead, in its present incarnation, and was heard within three beats. */
bool quorum_knows_leader(const struct quorum *q);
bool quorum_may_stand(const struct quorum *q);
void quorum_stand(const struct quorum *q, uint64_t term);
/* Asks all voters that have not granted or do not support us. */
void quorum_ask(const struct quorum *q);
/* Arms STAND for a time in this range, unless it runs already. */
void quorum_wait(const struct quorum *q, el_duration min, el_duration max);
/* A member that restarts waits one beat and one round trip before it stands: there may be a leader. */
void quorum_listen_first(const struct quorum *q);
/* Links or claims have changed: waits for our turn to stand, or asks missing voters to join. */
void quorum_review(const struct quorum *q);
void quorum_on_grant(const struct quorum *q, const struct el_msg *m);
void quorum_on_refusal(const struct quorum *q, const struct el_msg *m);
void quorum_on_check(const struct quorum *q, const struct el_msg *m);
void quorum_on_campaign(const struct quorum *q);
void quorum_candidate_timer(const struct quorum *q, uint32_t timer);

/* ---- The leader (leader.c) ---- */

/* Q12: the voter granted or joined, and its incarnation and epoch are still the same. */
bool quorum_supports(const struct quorum *q, el_node voter);
/* Its promise runs, and was made under the incarnation and epoch that support us in this group. */
bool quorum_is_backed(const struct quorum *q, el_node voter);
/* A majority has granted, supports us, and its promises run, unless an overdue timer says otherwise. */
bool quorum_has_majority(const struct quorum *q);
/* Q13: leads if a majority has granted and supports us, and its promises still run. */
void quorum_try_to_win(const struct quorum *q);
/* The voter whose lease bounds the claim: the majority-th newest of those that back us. EL_NOBODY: it
 * lapsed. */
el_node quorum_bounding_voter(const struct quorum *q);
/* Q14: ends the term if no majority backs it any more. */
void quorum_check_lease(const struct quorum *q);
/* Q15: ends the term for good and sends RELEASE to all. A leader's work must have been stopped. */
void quorum_finish(const struct quorum *q, el_node heir, uint64_t heir_term);
/* Ends the term before its lease does. Sends no RELEASE yet: the work may run for one more lease. */
void quorum_break_off(const struct quorum *q);
/* The lease of a term that was broken off has ended, and so has its work: sends RELEASE. */
void quorum_let_go(const struct quorum *q);
/* Our claim to the group; all zero unless we lead. */
struct quorum_claim quorum_claim_of(const struct quorum_group *g);
/* The same, after choosing the heir again. With preempt it notes when the heir should lead instead. */
struct quorum_claim quorum_prepare_claim(const struct quorum *q);
enum el_answer quorum_on_request(const struct quorum *q, enum el_request_what what, el_node to);
/* A cluster that starts with a leader (EL_FRESH): every member begins as if its first incarnation had
 * granted the group to the incumbent. */
void quorum_begin_under(const struct quorum *q, el_node incumbent);

/* ---- Sending and receiving (group.c) ---- */

/* Sends to any member. A message to ourselves is handled at once. */
void quorum_say(const struct quorum *q, el_node to, struct el_msg msg);
void quorum_say_all(const struct quorum *q, struct el_msg msg);
void quorum_group_hear(const struct quorum *q, const struct el_msg *m);

#endif
