/*
 * One member's part in one synod: it may propose, and it accepts. The caller (paxos.c) learns the decision and
 * acts on it.
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_SYNOD_H
#define ELECTOR_ALGORITHMS_MAJORITY_SYNOD_H

#include "algorithms/mesh/mesh.h"

struct synod {
    uint64_t instance; /* the number of this synod */
    uint64_t promised; /* as an acceptor: the lowest ballot it would still vote in */
    uint64_t accepted; /* the ballot of its last vote, 0 if none */
    uint64_t ballot;   /* as a proposer: its own */
    uint64_t best;     /* the highest ballot reported in a promise, 0 if none */
    el_node value;     /* accepted in `accepted` */
    el_node choice;    /* accepted in `best`, or our own candidacy */
    uint32_t phase;
    uint32_t forgot; /* its record was lost: it never votes again */
};

enum { SYNOD_RESTING, SYNOD_PREPARING, SYNOD_ACCEPTING };

/* In all of these epoch is the instance and aux the ballot. Promise: more is the ballot of the sender's last
 * vote and subject its value. Accept, Accepted: subject is the value. Nack: more is the ballot it has
 * promised. */
enum { SYNOD_PREPARE = 1, SYNOD_PROMISE, SYNOD_ACCEPT, SYNOD_ACCEPTED, SYNOD_NACK, SYNOD_KINDS = SYNOD_NACK };
#define SYNOD_KIND_NAMES                                                                 \
    [SYNOD_PREPARE] = "Prepare", [SYNOD_PROMISE] = "Promise", [SYNOD_ACCEPT] = "Accept", \
    [SYNOD_ACCEPTED] = "Accepted", [SYNOD_NACK] = "Nack"

#define SYNOD_NOTE_LIST(NOTE)                                                         \
    NOTE(SYNOD_OPENS, "opens", "opens ballot #1 of election #2")                      \
    NOTE(SYNOD_PROMISES, "promises", "promises @1 to ignore what is below ballot #2") \
    NOTE(SYNOD_STANDS, "stands", "finds no earlier choice and stands itself")         \
    NOTE(SYNOD_FINDS, "finds", "finds an earlier choice, @1, and asks for that")      \
    NOTE(SYNOD_ACCEPTS, "accepts", "accepts @1 in ballot #2")                         \
    NOTE(SYNOD_REFUSES, "refuses", "refuses @1: it has promised ballot #2")           \
    NOTE(SYNOD_REFUSED, "refused", "is refused by @1, which has promised ballot #2")  \
    NOTE(SYNOD_GIVES_WAY, "gives-way", "gives way to the higher ballot of @1")        \
    NOTE(SYNOD_STALE, "stale", "ignores a late reply from @1")                        \
    NOTE(SYNOD_FORGOT, "forgot", "does not vote: it has forgotten its promises")
enum { SYNOD_NOTE_LIST(EL_NOTE_NAME) SYNOD_NOTES };

/* The result of a step: nothing; the member voted, so a decision may follow; or `choice` is decided. */
enum synod_result { SYNOD_NOTHING, SYNOD_VOTED, SYNOD_DECIDED };

/* Moves to a new instance and forgets the last, in which it must never vote again. */
void synod_enter(struct synod *me, uint64_t instance);
/* Opens a ballot of its own, above every one promised. `answers` is a set that lasts as long as the synod. */
enum synod_result synod_open(struct synod *me, uint64_t *answers, const struct el_config *cfg, uint64_t ballot,
                             struct el_outbox *out);
/* Handles a message of a synod kind. It must be about this instance and pass synod_makes_sense. */
enum synod_result synod_hear(struct synod *me, uint64_t *answers, const struct el_config *cfg,
                             const struct el_msg *m, struct el_outbox *out);
/* True if the sender owns the ballot and the value is a member that may lead. */
bool synod_makes_sense(const struct el_config *cfg, const struct el_msg *m);
/* Tells the sender that its ballot is too low, and which ballot it must exceed. */
void synod_refuse(const struct synod *me, const struct el_config *cfg, const struct el_msg *m,
                  struct el_outbox *out);

#endif
