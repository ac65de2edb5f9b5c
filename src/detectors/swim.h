/*
 * SWIM, in two files: swim.c pings, asks others to ping, and times; swim_opinion.c holds what is thought of each
 * member, tells it to others, and lets the accused answer back.
 */
#ifndef ELECTOR_DETECTORS_SWIM_H
#define ELECTOR_DETECTORS_SWIM_H

#include "detectors/detector.h"

/*
 * The last three are rumours about `subject`: `epoch` is its incarnation, and `rank` is who accuses it (Suspect).
 * The first three also carry one rumour along: its kind in `flags` (0: none), about whom and who accuses in the
 * low and the high half of `more`, the incarnation in `aux`. Their `epoch` is the number of the probe; `rank` of
 * Ping and Ack is the member for whom the ping is made (0: the sender itself).
 */
enum { SWIM_PING = 1, SWIM_ACK, SWIM_PING_REQUEST, SWIM_NACK, SWIM_ALIVE, SWIM_SUSPECT, SWIM_DEAD };

/* How many members that accuse, too, end a suspicion soonest. */
enum { SWIM_CONFIRMATIONS = 2 };

/* SWIM_SUSPICION + c ends a suspicion that c others have confirmed. All but the first two have a slot each. */
enum {
    SWIM_PERIOD,
    SWIM_TIMEOUT,
    SWIM_RELAY,
    SWIM_SUSPICION,
    SWIM_TIMERS = SWIM_SUSPICION + SWIM_CONFIRMATIONS + 1
};
enum { SWIM_OF_PERIOD, SWIM_OF_TIMEOUT, SWIM_INDIRECT, SWIM_SHORTEST, SWIM_LONGEST, SWIM_HASTY };
enum {
    SWIM_ASKS,
    SWIM_RELAYS,
    SWIM_SORRY,
    SWIM_SUSPECTS,
    SWIM_CONFIRMS,
    SWIM_BURIES,
    SWIM_CLEARS,
    SWIM_REFUTES,
    SWIM_DOUBTS,
    SWIM_NONSENSE
};

enum { SWIM_HEALTH_MAX = 8 };
/* No honest member has been accused that often. */
#define SWIM_INCARNATION_MAX (UINT64_C(1) << 52)

struct swim {
    uint64_t probe;  /* its number */
    el_node target;  /* whom we have pinged and not heard from */
    uint32_t place;  /* of the next target in the order */
    uint32_t asked;  /* how many others were asked to ping the target */
    uint32_t health; /* 0: well; each point stretches our own times */
    /* two sets follow, then a struct for each member */
};

struct swim_member {
    uint64_t incarnation;
    uint64_t relay_probe;                     /* the probe with which this member asked us to ping ... */
    el_node relay_target;                     /* ... that one; nobody: we owe it nothing */
    el_node order;                            /* a member, though not this one: see next_target() */
    el_node accusers[SWIM_CONFIRMATIONS + 1]; /* distinct, the first of them first */
    uint8_t opinion;                          /* SWIM_ALIVE, SWIM_SUSPECT, SWIM_DEAD */
    uint8_t accuser_count;
    uint8_t ripe; /* with that many confirmations its suspicion is over */
    uint8_t left; /* how often the opinion is still to be told */
};

/* Whom we have accused by a VERDICT. */
static inline uint64_t *swim_accused(struct swim *me)
{
    return (uint64_t *)(me + 1);
}

/* Who was asked to ping the target and has said nothing yet. */
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

/* Health falls (to 0) or rises (to the most). */
void swim_recover(struct swim *me);
void swim_doubt(struct swim *me, uint32_t points, struct el_outbox *out);

/* Our own probe of it failed, in vain even through others. */
void swim_suspect(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out);
/* It answered us. */
void swim_clear(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out);
/* So many confirmations are now enough. */
void swim_ripen(struct swim *me, const struct el_config *cfg, el_node peer, uint32_t confirmations,
                struct el_outbox *out);

/* What a message says, or carries along, about somebody. */
void swim_hear(struct swim *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
/* Sends a message that carries along what is most urgent to tell that peer. */
void swim_send(struct swim *me, const struct el_config *cfg, el_node to, struct el_msg msg,
               struct el_outbox *out);

#endif
