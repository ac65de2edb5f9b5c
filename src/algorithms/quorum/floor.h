/*
 * What a member must know before it grants anything: which terms its earlier lives may have granted, and that all
 * they promised is over. Rules Q3, Q4 and Q5.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_FLOOR_H
#define ELECTOR_ALGORITHMS_QUORUM_FLOOR_H

#include "algorithms/quorum/session.h"

/* The silence is over: we speak, or ask for a floor. */
void quorum_floor_speak(const struct quorum *q);
/* Asks those who have not answered, if we need to. */
void quorum_floor_ask(const struct quorum *q);
void quorum_floor_tell(const struct quorum *q, const struct el_msg *question);
void quorum_floor_hear(const struct quorum *q, const struct el_msg *answer);

#endif
