/*
 * Helpers for writing an algorithm: functions that fill the outbox, sets of members, and the ring order.
 * The core knows no algorithm and no host; everything here is pure and bounded. Start with el_step in step.c.
 */
#ifndef ELECTOR_CORE_MACHINE_H
#define ELECTOR_CORE_MACHINE_H

#include "elector/core.h"

/* Programmer error: stop at once, also in release builds. */
static inline void el_require(bool condition)
{
    if (!condition) __builtin_trap();
}

/* ---- The outbox as verbs ---- */

/* Sends a copy of `msg` from `cfg->self`; `from` and `to` are filled in here. */
void el_send(struct el_outbox *out, const struct el_config *cfg, el_node to, struct el_msg msg);
/* The same, and the host writes the time left on `timer` into msg.aux when the message leaves. */
void el_send_with_left(struct el_outbox *out, const struct el_config *cfg, el_node to, struct el_msg msg,
                       uint32_t timer, uint32_t slot);
void el_arm(struct el_outbox *out, uint32_t timer, uint32_t slot, el_duration min, el_duration max);
void el_disarm(struct el_outbox *out, uint32_t timer, uint32_t slot);
void el_move(struct el_outbox *out, uint32_t timer, uint32_t to, uint32_t slot);
void el_save(struct el_outbox *out, struct el_durable durable);
void el_choose(struct el_outbox *out, uint32_t n);
void el_note(struct el_outbox *out, uint32_t note, uint64_t first, uint64_t second);
void el_verdict(struct el_outbox *out, el_node peer, bool suspected);

/* True if every member named in a message from the network exists. el_step() checks this. */
bool el_is_well_formed(const struct el_algorithm *algorithm, const struct el_config *cfg,
                       const struct el_msg *msg);

/* Everything that can go wrong in an election without terms. */
#define EL_ALL_WRONG \
    (EL_TWO_LEADERS | EL_DISAGREEMENT | EL_NOT_BEST | EL_NO_LEADER | EL_DEAD_LEADER | EL_ENDLESS)

/* An algorithm lists its notes once, as NOTE(name, word, text). These make the enum and the table of it. */
#define EL_NOTE_NAME(name, word, text) name,
#define EL_NOTE_TEXT(name, word, text) {word, text},

/* ---- Configuration ---- */

static inline uint64_t el_number(const struct el_config *cfg, uint32_t option)
{
    return cfg->cluster->options[option].number;
}

/* The rank that a message claims for its subject: the attribute in the message, and the subject's id. */
struct el_rank el_claimed_rank(const struct el_config *cfg, const struct el_msg *msg);

/* The longest time a live peer takes to answer: T = 2 Ttrans + Tprocess. */
static inline el_duration el_round_trip(const struct el_config *cfg)
{
    return 2 * cfg->cluster->transmit_max + cfg->cluster->process_max;
}

/* The votes needed to win: more than half of all members, dead ones included. */
static inline uint32_t el_majority(const struct el_config *cfg)
{
    return cfg->cluster->count / 2 + 1;
}

/* How many candidates and ordinary members outrank this one, leaving `without` aside. */
uint32_t el_place(const struct el_cluster *cluster, el_node node, el_node without);

/* The view of an algorithm without leases: leads, follows, is electing, or none of these. */
static inline void el_view_of(struct el_view *view, const struct el_config *cfg, el_node leader, bool electing,
                              uint64_t term)
{
    view->leader = leader;
    view->role = leader == cfg->self ? EL_LEADER : leader ? EL_FOLLOWER : electing ? EL_ELECTING : EL_IDLE;
    view->term = term;
    view->timer = EL_NO_TIMER;
    view->slot = 0;
}

/* The entry of that name, NULL if there is none. */
const struct el_algorithm *el_find(const struct el_algorithm *const *table, uint32_t count, const char *name);

/* ---- Sets of members, as bits in 64-bit words that lie in the state ---- */

static inline uint32_t el_set_words(uint32_t count)
{
    return count / 64 + 1; /* bit 0 belongs to nobody and stays clear */
}

static inline bool el_set_has(const uint64_t *set, el_node node)
{
    return (set[node / 64] >> (node % 64)) & 1u;
}

static inline void el_set_add(uint64_t *set, el_node node)
{
    set[node / 64] |= UINT64_C(1) << (node % 64);
}

static inline void el_set_remove(uint64_t *set, el_node node)
{
    set[node / 64] &= ~(UINT64_C(1) << (node % 64));
}

static inline void el_set_clear(uint64_t *set, uint32_t count)
{
    for (uint32_t i = 0; i < el_set_words(count); i++) set[i] = 0;
}

static inline void el_set_copy(uint64_t *to, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < el_set_words(count); i++) to[i] = from[i];
}

static inline uint32_t el_set_size(const uint64_t *set, uint32_t count)
{
    uint32_t size = 0;
    for (el_node node = 1; node <= count; node++) size += el_set_has(set, node);
    return size;
}

/* Renames every member of a set; for clusters of fewer than 64. */
static inline void el_set_rename(uint64_t *set, uint32_t count, const el_node *to)
{
    uint64_t renamed = 0;
    for (el_node node = 1; node <= count; node++)
        if (el_set_has(set, node)) renamed |= UINT64_C(1) << to[node];
    set[0] = renamed;
}

/* The best-ranked of a set in one word (el_bit), nobody if it is empty. */
el_node el_best_of(const struct el_cluster *cluster, uint64_t members);

/* ---- The ring ---- */

/*
 * A node of a ring keeps track of its next EL_RING_SIGHT successors, in case some fail: bit k of `gone` says
 * that the (k+1)-th is suspected. It takes nodes further away for alive. So a node of a ring of a million
 * needs eight bytes.
 */
#define EL_RING_SIGHT 64

/* The first position clockwise after `after` that is not suspected; self if there is no other. */
el_node el_ring_next(const struct el_config *cfg, uint64_t gone, el_node after);
/* `gone` with `peer` marked or cleared; unchanged if the peer is more than EL_RING_SIGHT away. */
uint64_t el_ring_mark(const struct el_config *cfg, uint64_t gone, el_node peer, bool suspected);
bool el_ring_gone(const struct el_config *cfg, uint64_t gone, el_node peer);

#endif
