/*
 * What a member must know before it grants anything: which terms its earlier incarnations may have granted, and
 * that all their promises have ended. Rules Q3, Q4 and Q5.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_FLOOR_H
#define ELECTOR_ALGORITHMS_QUORUM_FLOOR_H

#include "algorithms/quorum/session.h"

/* The silence has ended: we may grant, or must first ask for the floor (Q5). */
void quorum_floor_speak(const struct quorum *q);
/* If our floor is unknown, asks all voters that have not answered yet. */
void quorum_floor_ask(const struct quorum *q);
/* Asks with a new nonce: earlier answers may be too old. */
void quorum_floor_ask_afresh(const struct quorum *q);
void quorum_floor_tell(const struct quorum *q, const struct el_msg *question);
void quorum_floor_hear(const struct quorum *q, const struct el_msg *answer);

#endif
