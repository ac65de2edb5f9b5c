/*
 * The ring algorithms: every node sends to its successor only. This header has their common parts: sending
 * clockwise past suspected nodes, claims and their order, and the election of the lecture notes as far as
 * ring-basic and chang-roberts agree. Start reading with chang_roberts.c; lap.h serves collect.c and max.c.
 */
#ifndef ELECTOR_ALGORITHMS_RING_RING_H
#define ELECTOR_ALGORITHMS_RING_RING_H

#include "algorithms/registry.h"
#include "core/machine.h"

struct ring {
    uint64_t gone; /* suspected successors, see el_ring_next */
    el_node leader;
    el_node claim; /* the claim we stand behind; nobody: not participating */
};

enum { RING_ELECTION = 1, RING_ELECTED = 2, RING_KINDS = 2 };
extern const char *const ring_kinds[RING_KINDS + 1];

/* The last is for chang-roberts alone: ring-basic never swallows a claim. */
#define RING_NOTE_LIST(NOTE)                                                           \
    NOTE(RING_FORWARDS, "forwards", "forwards the stronger claim of @1")               \
    NOTE(RING_OUTBIDS, "outbids", "outbids @1")                                        \
    NOTE(RING_CAME_HOME, "came-home", "its own claim came home: it has won")           \
    NOTE(RING_LEARNS, "learns", "learns that @1 leads")                                \
    NOTE(RING_IGNORES_GONE, "ignores-gone", "drops a message about @1, which is gone") \
    NOTE(RING_STARTS_OVER, "starts-over", "starts over without @1")                    \
    NOTE(RING_OBJECTS, "objects", "outranks the elected @1, and objects")              \
    NOTE(RING_SKIPS, "skips", "cannot reach @1 and skips it")                          \
    NOTE(RING_ALONE, "alone", "finds nobody else on the ring")                         \
    NOTE(RING_SWALLOWS, "swallows", "swallows the weaker claim of @1")
enum { RING_NOTE_LIST(EL_NOTE_NAME) RING_NOTES };
extern const struct el_note_text ring_notes[RING_NOTES];

enum { RING_BREAKS = 5 };
extern const struct el_weakness ring_breaks[RING_BREAKS];

/*
 * Sends `msg` to the first node clockwise after `after` that is not suspected. If that is ourselves, sends
 * nothing and returns false. A hop that fails comes back as UNSENT and is retried beyond the dead node.
 */
bool ring_send(uint64_t gone, const struct el_config *cfg, el_node after, struct el_msg msg,
               struct el_outbox *out);

/*
 * A claim that its sender stands behind: its own or, in some algorithms, another node's. A candidate's claim
 * is above that of a member that may never lead; otherwise the rank decides.
 */
struct ring_claim {
    uint64_t attribute;
    el_node owner;
    uint32_t spare;
};
struct ring_claim ring_own_claim(const struct el_config *cfg);
struct ring_claim ring_claim_in(const struct el_msg *m);
bool ring_claim_above(const struct el_config *cfg, struct ring_claim a, struct ring_claim b);
struct el_msg ring_message(uint8_t kind, struct ring_claim claim);
/* The leader if the claim of `owner` has won: nobody if not even the best of all may lead. */
el_node ring_winner(const struct el_config *cfg, el_node owner);

/* Starts an election with our own claim, whatever state we are in. */
void ring_stand(struct ring *me, const struct el_config *cfg, struct el_outbox *out);
/* Adopts another node's claim and passes it on. */
void ring_yield(struct ring *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
/* Our claim came home. */
void ring_win(struct ring *me, const struct el_config *cfg, struct el_outbox *out);
void ring_on_elected(struct ring *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out);
/* True, with a note, if the subject of the message is suspected. */
bool ring_drops(struct ring *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);

/* Handlers that ring-basic and chang-roberts share; `state` is a struct ring. */
void ring_on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                   struct el_outbox *out);
void ring_on_unsent(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
void ring_on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out);
void ring_on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out);
void ring_view(const void *state, const struct el_config *cfg, struct el_view *view);

/* What the descriptors of ring-basic and chang-roberts share. */
#define RING_SHARED                                                                                        \
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_HOP_ACKS,                                        \
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST, .ring = true, .roleless = true, \
    EL_KINDS(ring_kinds), EL_BREAKS(ring_breaks), .state_bytes = sizeof(struct ring), .outbox_fixed = 4,   \
    .on_start = ring_on_start, .on_unsent = ring_on_unsent, .on_suspect = ring_on_suspect,                 \
    .on_trust = ring_on_trust, .view = ring_view

#endif
