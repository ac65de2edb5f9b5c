/*
 * A group: what a leader is elected for. Rules Q9, Q10 and Q12 to Q24 of docs/quorum-protocol.md. A voter
 * promises the group to one holder and refuses all others. A candidate asks for grants. A leader holds what a
 * majority has promised. An idle group costs nothing: sessions renew its promises.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_GROUP_H
#define ELECTOR_ALGORITHMS_QUORUM_GROUP_H

#include "algorithms/quorum/session.h"

enum { QUORUM_IDLE, QUORUM_CANDIDATE, QUORUM_LEADER };
/* M24: how many of those that have no vote stand when a group comes free. */
enum { QUORUM_FIRST_IN_LINE = 3 };

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
    uint8_t next_fresh;   /* ASKED runs */
    uint8_t waiting;      /* STAND runs */
    uint8_t asking;       /* REASK runs */
    uint8_t listening;    /* has just started: waits one beat for a leader's claim */
    uint8_t stopping;     /* led, and its work may still run; DEADLINE runs */
    uint8_t was_free : 1; /* as a voter: it was free after the last event, and the first in line were told so */
    uint8_t carried : 1;  /* leads since before the last record was installed: former leases count (era.h) */
    uint8_t pushed : 1;   /* stands by a vote unasked, and has not asked again: a refusal may be an old one */
    uint8_t spare : 5;
    uint16_t links_wanted; /* not 0: links were missing; it stands again when this many voters are linked */
    uint16_t told_by;      /* the voter that told us of `claim`; 0: the leader itself */
};
_Static_assert(sizeof(struct quorum_group) == 136, "no padding");

/* A voter's answer to our candidacy. */
struct quorum_ballot {
    uint64_t incarnation; /* it supports us under this incarnation and epoch; 0: it does not */
    uint64_t epoch;
    uint8_t granted;
    uint8_t hopeless;  /* it has promised the group to a leader */
    uint16_t suggests; /* if we lead and have no vote: the heir that it would name */
    uint8_t tells;     /* if we have no vote: by the last that it told, the leader in `claim` leads */
    uint8_t spare[3];
};
_Static_assert(sizeof(struct quorum_ballot) == 24, "no padding");

/* Forgets the voter's answers, and not what it told. */
static inline void quorum_clear_ballot(struct quorum_ballot *ballot)
{
    *ballot = (struct quorum_ballot){.tells = ballot->tells};
}

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
/* We may grant it, we have promised it to nobody, and know of no leader. */
bool quorum_is_free(const struct quorum *q);
/* Q17: done.id, in that incarnation, never uses a term up to done.term again. True: this frees the group. */
bool quorum_apply_release(const struct quorum *q, struct quorum_tenant done);
/* Its request is too old, withdrawn or granted. */
void quorum_forget_next(const struct quorum *q);
/* Q19: if the group is free, grants it unasked. The heir that a release named comes first, then `next`, then
 * the heir of the old holder's claim. */
void quorum_push(const struct quorum *q, el_node heir, uint64_t heir_term);
void quorum_on_release(const struct quorum *q, const struct el_msg *m);
void quorum_on_obit(const struct quorum *q, el_node who, uint64_t incarnation);
/* The group may be dropped: nobody here uses it, no promise lives, and no living member claims it. *spent_to: its highest
 * term. False: not now. Then it may have asked the holder whether it still holds. */
bool quorum_forget(const struct quorum *q, uint64_t *spent_to);

/* A group that is made again: it grants and uses no term up to this one, the highest of all groups that were dropped. */
static inline void quorum_begin_above(struct quorum_group *g, uint64_t term)
{
    g->term = g->done = term;
}

void quorum_on_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim);

/* ---- The candidate (candidate.c) ---- */

/* A member claims to lead, in its present incarnation, and was heard within three beats. */
bool quorum_knows_leader(const struct quorum *q);
bool quorum_may_stand(const struct quorum *q);
/* Asks all voters that have not granted or do not support us. */
void quorum_ask(const struct quorum *q);
/* Arms STAND for a time in this range, unless it runs already. */
void quorum_wait(const struct quorum *q, el_duration min, el_duration max);
/* A member that restarts waits one beat and one round trip before it stands: there may be a leader. */
void quorum_listen_first(const struct quorum *q);
/* Links or claims have changed: waits for our turn to stand, or asks missing voters to join. */
void quorum_review(const struct quorum *q);
void quorum_on_grant(const struct quorum *q, const struct el_msg *m);
/* Our term is not above a floor: asks with a new one. */
void quorum_rise(const struct quorum *q, uint64_t floor);
void quorum_on_refusal(const struct quorum *q, const struct el_msg *m);
void quorum_on_check(const struct quorum *q, const struct el_msg *m);
void quorum_on_campaign(const struct quorum *q);
void quorum_candidate_timer(const struct quorum *q, uint32_t timer);

/* ---- News for members without a vote (news.c) ---- */

/* How many members stand before this one: they may lead, rank higher, and were heard within three beats. Either those
 * that have a vote, or those that have none. */
uint32_t quorum_count_ahead(const struct quorum *q, el_node of, bool voteless);
/* M24: what we, a voter, know of the group, for a member that has no vote; EL_NOBODY: for no one. */
struct quorum_told quorum_news_for(const struct quorum *q, el_node to);
/* The same as a message. */
void quorum_tell_news(const struct quorum *q, el_node to);
/* A record was installed: a member that votes by it hears the leader itself, and what it was told counts no more. */
void quorum_hear_for_ourselves(const struct quorum *q);
/* If the group has come free since the last call, tells the first in line. */
void quorum_tell_first_in_line(const struct quorum *q);
/* A voter that we hear, and that names the leader in `claim`. */
el_node quorum_who_tells(const struct quorum *q);
/* A voter tells us, who have no vote, of the group. */
void quorum_on_told(const struct quorum *q, el_node from, struct quorum_told told);

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
/* The same by the leases that ran when a record was installed, for a leader that led then; nothing renews them. */
el_node quorum_former_bound(const struct quorum *q);
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
