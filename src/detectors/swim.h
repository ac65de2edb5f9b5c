/*
 * SWIM, in two files: swim.c has pings, indirect pings and timers; swim_opinion.c has the opinion on each
 * member, gossip, and refutation.
 */
#ifndef ELECTOR_DETECTORS_SWIM_H
#define ELECTOR_DETECTORS_SWIM_H

#include "detectors/detector.h"

/*
 * Alive, Suspect and Dead are rumours about `subject`: `epoch` is its incarnation, `rank` the accuser
 * (Suspect). Ping, Ack and PingRequest also piggyback one rumour: its kind in `flags` (0: none), its subject
 * and its accuser in the low and high half of `more`, the incarnation in `aux`. Their `epoch` is the number
 * of the probe; `rank` of Ping and Ack is the member on whose behalf the ping is made (0: the sender itself).
 */
enum { SWIM_PING = 1, SWIM_ACK, SWIM_PING_REQUEST, SWIM_NACK, SWIM_ALIVE, SWIM_SUSPECT, SWIM_DEAD };

/* With this many other accusers a suspicion ends after its shortest time. */
enum { SWIM_CONFIRMATIONS = 2 };

/* SWIM_SUSPICION + c ends a suspicion that c others have confirmed. All but the first two have a slot per
 * member. */
enum {
    SWIM_PERIOD,
    SWIM_TIMEOUT,
    SWIM_RELAY,
    SWIM_SUSPICION,
    SWIM_TIMERS = SWIM_SUSPICION + SWIM_CONFIRMATIONS + 1
};
enum { SWIM_OF_PERIOD, SWIM_OF_TIMEOUT, SWIM_INDIRECT, SWIM_SHORTEST, SWIM_LONGEST, SWIM_HASTY };
#define SWIM_NOTE_LIST(NOTE)                                                           \
    NOTE(SWIM_ASKS, "asks", "gets no answer from @1, and asks others to ping it (#2)") \
    NOTE(SWIM_RELAYS, "relays", "pings @1 for @2")                                     \
    NOTE(SWIM_SORRY, "sorry", "gets no answer from @1 either, and tells @2")           \
    NOTE(SWIM_SUSPECTS, "suspects", "suspects @1 until it refutes")                    \
    NOTE(SWIM_CONFIRMS, "confirms", "learns that @2 suspects @1, too")                 \
    NOTE(SWIM_BURIES, "buries", "holds @1 for dead")                                   \
    NOTE(SWIM_CLEARS, "clears", "learns that @1 is alive")                             \
    NOTE(SWIM_REFUTES, "refutes", "is accused, and lives on as incarnation #1")        \
    NOTE(SWIM_DOUBTS, "doubts", "doubts itself (#1 of 8)")                             \
    NOTE(SWIM_NONSENSE, "nonsense", "drops a rumour from @1 that makes no sense")
enum { SWIM_NOTE_LIST(EL_NOTE_NAME) };

enum { SWIM_HEALTH_MAX = 8 };
/* A higher incarnation is a forgery: no member is accused that often. */
#define SWIM_INCARNATION_MAX (UINT64_C(1) << 52)

struct swim {
    uint64_t probe;  /* its number */
    el_node target;  /* the member we have pinged that has not answered */
    uint32_t place;  /* of the next target in the order */
    uint32_t asked;  /* how many others we asked to ping the target */
    uint32_t health; /* Lifeguard's local health; 0 is best, each point lengthens our own timeouts */
    /* two sets follow, then a struct for each member */
};

struct swim_member {
    uint64_t incarnation;
    uint64_t relay_probe;                     /* the probe with which this member asked us to ping ... */
    el_node relay_target;                     /* ... this target; nobody: no request is open */
    el_node order;                            /* one entry of the shuffled order: see next_target() */
    el_node accusers[SWIM_CONFIRMATIONS + 1]; /* distinct, the earliest first */
    uint8_t opinion;                          /* SWIM_ALIVE, SWIM_SUSPECT, SWIM_DEAD */
    uint8_t accuser_count;
    uint8_t ripe; /* with this many confirmations its suspicion is over */
    uint8_t left; /* how often we still have to gossip the opinion */
};

/* Members we have accused by a VERDICT. */
static inline uint64_t *swim_accused(struct swim *me)
{
    return (uint64_t *)(me + 1);
}

/* Members we asked to ping the target that have not answered yet. */
static inline uint64_t *swim_owing(struct swim *me, const struct el_config *cfg)
{
    return swim_accused(me) + el_set_words(cfg->cluster->count);
}

static inline struct swim_member *swim_members(struct swim *me, const struct el_config *cfg)
{
    return (struct swim_member *)(swim_owing(me, cfg) + el_set_words(cfg->cluster->count));
}

static inline struct swim_member *swim_member(struct swim *me, const struct el_config *cfg, el_node node)
{
    return &swim_members(me, cfg)[node - 1];
}

/* Lowers the health score (to 0 at least) or raises it (to the maximum). */
void swim_recover(struct swim *me);
void swim_doubt(struct swim *me, uint32_t points, struct el_outbox *out);

/* Our own probe of this member failed, directly and through others. */
void swim_suspect(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out);
/* This member answered us. */
void swim_clear(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out);
/* From now on this many confirmations are enough to end the suspicion. */
void swim_ripen(struct swim *me, const struct el_config *cfg, el_node peer, uint32_t confirmations,
                struct el_outbox *out);

/* Handles the rumour that a message is, or piggybacks. */
void swim_hear(struct swim *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
/* Sends a message with the most urgent rumour for that peer piggybacked. */
void swim_send(struct swim *me, const struct el_config *cfg, el_node to, struct el_msg msg,
               struct el_outbox *out);

#endif
