/*
 * One synod, as one member sees it: it may propose, and it accepts. What is decided, and what becomes of that,
 * is for whoever holds the synod (paxos.c).
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_SYNOD_H
#define ELECTOR_ALGORITHMS_MAJORITY_SYNOD_H

#include "algorithms/mesh/mesh.h"

struct synod {
    uint64_t instance; /* which one this is */
    uint64_t promised; /* as an acceptor: the lowest ballot it would still vote in */
    uint64_t accepted; /* the ballot of its last vote, 0 if none */
    uint64_t ballot;   /* as a proposer: its own */
    uint64_t best;     /* the highest ballot that a promise told of, 0 if none */
    el_node value;     /* accepted in `accepted` */
    el_node choice;    /* accepted in `best`, or our own candidacy */
    uint32_t phase;
    uint32_t forgot; /* its record was lost: it votes no more */
};

enum { SYNOD_RESTING, SYNOD_PREPARING, SYNOD_ACCEPTING };

/* In all of these epoch is the instance and aux the ballot. Promise: more is the ballot of the sender's last
 * vote and subject its value. Accept, Accepted: subject is the value. Nack: more is what was promised instead. */
enum { SYNOD_PREPARE = 1, SYNOD_PROMISE, SYNOD_ACCEPT, SYNOD_ACCEPTED, SYNOD_NACK, SYNOD_KINDS = SYNOD_NACK };
#define SYNOD_KIND_NAMES                                                                 \
    [SYNOD_PREPARE] = "Prepare", [SYNOD_PROMISE] = "Promise", [SYNOD_ACCEPT] = "Accept", \
    [SYNOD_ACCEPTED] = "Accepted", [SYNOD_NACK] = "Nack"

enum {
    SYNOD_OPENS,
    SYNOD_PROMISES,
    SYNOD_STANDS,
    SYNOD_FINDS,
    SYNOD_ACCEPTS,
    SYNOD_REFUSES,
    SYNOD_REFUSED,
    SYNOD_GIVES_WAY,
    SYNOD_STALE,
    SYNOD_FORGOT,
    SYNOD_NOTES
};
#define SYNOD_NOTE_TEXTS                                                              \
    [SYNOD_OPENS] = {"opens", "opens ballot #1 of election #2"},                      \
    [SYNOD_PROMISES] = {"promises", "promises @1 to ignore what is below ballot #2"}, \
    [SYNOD_STANDS] = {"stands", "finds no earlier choice and stands itself"},         \
    [SYNOD_FINDS] = {"finds", "finds an earlier choice, @1, and asks for that"},      \
    [SYNOD_ACCEPTS] = {"accepts", "accepts @1 in ballot #2"},                         \
    [SYNOD_REFUSES] = {"refuses", "refuses @1: it has promised ballot #2"},           \
    [SYNOD_REFUSED] = {"refused", "is refused by @1, which has promised ballot #2"},  \
    [SYNOD_GIVES_WAY] = {"gives-way", "gives way to the higher ballot of @1"},        \
    [SYNOD_STALE] = {"stale", "ignores a late reply from @1"},                        \
    [SYNOD_FORGOT] = {"forgot", "does not vote: it has forgotten its promises"}

/* What came of a step: a vote was given, so that a decision may be near; or `choice` is decided. */
enum synod_result { SYNOD_NOTHING, SYNOD_VOTED, SYNOD_DECIDED };

/* Leaves what it knew of the last instance behind: it must not vote there again. */
void synod_enter(struct synod *me, uint64_t instance);
/* Opens a ballot of its own, above every one promised. `answers` is a set that lasts as long as the synod. */
enum synod_result synod_open(struct synod *me, uint64_t *answers, const struct el_config *cfg, uint64_t ballot,
                             struct el_outbox *out);
/* A message of one of its kinds, about this instance, that makes sense. */
enum synod_result synod_hear(struct synod *me, uint64_t *answers, const struct el_config *cfg,
                             const struct el_msg *m, struct el_outbox *out);
/* Whether the sender owns the ballot, and the value may lead. */
bool synod_makes_sense(const struct el_config *cfg, const struct el_msg *m);
/* Tells the sender that its ballot has no chance, and what to beat. */
void synod_refuse(const struct synod *me, const struct el_config *cfg, const struct el_msg *m,
                  struct el_outbox *out);

#endif
