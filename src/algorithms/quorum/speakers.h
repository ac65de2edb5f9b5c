/*
 * Rules about the senders of messages. The key of a datagram proves its sender; these rules say what that sender may
 * say, and about whom. quorum_session_admit() applies them before any machine sees a message, and drops the whole
 * message if it breaks one. quorum_read_claim() applies them to claims that are posted. So a member speaks for
 * itself only, and a member without a vote changes nothing but its own session.
 *
 *   message           who may say it      about whom
 *   Beat              may lead            the claim: itself, in a term of its name; the heir: no observer, in a term
 *                                         of the heir's name
 *   Ack               all; with PROMISE:  its own promise
 *                     voters
 *   Vote              may lead            itself, in a term of its name
 *   Grant             voters              its own vote, in a term of the receiver's name
 *   Refuse            voters              its own floor; a holder that is no observer
 *   Release           no observer         itself, in this incarnation or an earlier one; the heir as in a Beat
 *   Obituary          no observer         an earlier incarnation of itself
 *   Check             voters              a term of the receiver's name
 *   AskFloor          voters              -
 *   TellFloor         voters              its own floor
 *   Told              voters              a leader that is no observer, in a term of its name
 *   clock (header)    voters              the terms that it has seen
 *
 * One of sender and receiver is a voter: others have no session (M22).
 *
 * A voter is trusted with its own vote, its own office and, within limits, its clock. These limits:
 *
 *   A message, whatever else it says, is dropped if one of its terms has a counter above QUORUM_COUNTER_MOST and
 *   more than QUORUM_CLIMB above the highest that we know. And all messages together raise our clock above
 *   QUORUM_COUNTER_MOST by no more than QUORUM_CLIMB from one beat of ours to the next.
 *
 * Honest counters stay below QUORUM_COUNTER_MOST: they begin at 1, or at a wall clock that was not above it,
 * and rise by one for an attempt to be elected. A forged term may take the clock up to QUORUM_COUNTER_MOST at
 * once. That leaves a quarter of all counters, 2^41. To use those up takes 2^25 beats of constant forging, or
 * 58 days with beats of 150 ms; and meanwhile members still elect and believe each other.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_SPEAKERS_H
#define ELECTOR_ALGORITHMS_QUORUM_SPEAKERS_H

#include "algorithms/quorum/session.h"

enum { QUORUM_CLIMB = UINT16_MAX };

/* Whether the sender may say this, about this member, to us. */
bool quorum_is_entitled(const struct quorum *q, const struct el_msg *m);
/* Whether `from` may make this claim, in a beat or a posting. A claim without a term withdraws its own. */
bool quorum_may_claim(const struct quorum *q, el_node from, struct quorum_claim claim);
/* Whether `from` may tell this of another member. */
bool quorum_may_tell(const struct quorum *q, el_node from, struct quorum_told told);

/* The highest of all terms that the message would make us see. */
uint64_t quorum_terms_in(const struct el_msg *m);
/* Whether somebody may have reached this term. An observer believes every term: it passes none on. */
bool quorum_believes(const struct quorum *q, uint64_t term);
/* Sees a term of another member. */
void quorum_hear_term(const struct quorum *q, uint64_t term);
/* Sees the terms in a message, if its sender is no observer, and those in its header, if it is a voter. */
void quorum_hear_terms(const struct quorum *q, const struct el_msg *m);

#endif
