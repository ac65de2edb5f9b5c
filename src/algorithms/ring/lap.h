/*
 * The common part of ring-collect and ring-max. A first lap gathers, a second lap announces the result. The
 * first lap takes a number above that of every lap its members have heard of, so that the newest result wins
 * even after a restart. The node that closes the first lap starts the second, which stops where it began.
 */
#ifndef ELECTOR_ALGORITHMS_RING_LAP_H
#define ELECTOR_ALGORITHMS_RING_LAP_H

#include "algorithms/ring/ring.h"

struct lap {
    uint64_t gone;
    uint64_t number; /* the newest result: its number, then the id of the node that closed that lap */
    el_node closer;
    el_node leader;
    uint32_t electing;
    uint32_t collects; /* 1: the first lap carries a set of members; constant after the start */
};

/* Elect: subject, rank and aux are gathered; epoch is the number, more the initiator.
 * Elected: subject leads; epoch is the number, more the closer. */
enum { LAP_ELECT = 1, LAP_ELECTED = 2, LAP_KINDS = 2 };
extern const char *const lap_kinds[LAP_KINDS + 1];

#define LAP_NOTE_LIST(NOTE)                                                      \
    NOTE(LAP_ADDS, "adds", "adds itself")                                        \
    NOTE(LAP_CLOSES, "closes", "closes the lap: @1 is the best that was met")    \
    NOTE(LAP_LEARNS, "learns", "learns that @1 leads")                           \
    NOTE(LAP_STOPS, "stops", "takes the announcement off the ring")              \
    NOTE(LAP_OUTDATED, "outdated", "drops the older result @1")                  \
    NOTE(LAP_LEADER_GONE, "leader-gone", "is told that @1 leads, which is gone") \
    NOTE(LAP_OBJECTS, "objects", "outranks the elected @1, and objects")         \
    NOTE(LAP_SKIPS, "skips", "cannot reach @1 and skips it")                     \
    NOTE(LAP_ALONE, "alone", "finds nobody else on the ring")                    \
    NOTE(LAP_STARTS_OVER, "starts-over", "starts over without @1")               \
    NOTE(LAP_MALFORMED, "malformed", "drops a message that names a member who does not exist")
enum { LAP_NOTE_LIST(EL_NOTE_NAME) LAP_NOTES };
extern const struct el_note_text lap_notes[LAP_NOTES];

enum { LAP_BREAKS = 4 };
extern const struct el_weakness lap_breaks[LAP_BREAKS];

/* Takes part in a first lap: raises its number and sends it on. */
void lap_join(struct lap *me, const struct el_config *cfg, struct el_msg msg, struct el_outbox *out);
/* Closes a first lap that found `leader` (nobody: no member may lead), and starts the second. */
void lap_close(struct lap *me, const struct el_config *cfg, uint64_t number, el_node leader,
               struct el_outbox *out);
void lap_on_elected(struct lap *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
/* False, with a note, if the message names an initiator or closer that does not exist. */
bool lap_well_formed(const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);

/* Handlers that both use; `state` is a struct lap. */
void lap_on_unsent(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out);
void lap_on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                  struct el_outbox *out);
void lap_on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out);
void lap_on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out);
void lap_on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out);
void lap_view(const void *state, const struct el_config *cfg, struct el_view *view);

/* What the descriptors of ring-collect and ring-max share. */
#define LAP_SHARED                                                                                         \
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_HOP_ACKS,                                        \
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST, .ring = true, .roleless = true, \
    EL_KINDS(lap_kinds), EL_NOTES(lap_notes), EL_BREAKS(lap_breaks), .state_bytes = sizeof(struct lap),    \
    .outbox_fixed = 5, .on_unsent = lap_on_unsent, .on_suspect = lap_on_suspect, .on_trust = lap_on_trust, \
    .on_campaign = lap_on_campaign, .view = lap_view

#endif
