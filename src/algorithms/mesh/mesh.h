/*
 * The algorithms on a full mesh: every member may send to every other. This header has their common parts:
 * sending to all members above or below, and judging the announcement of a leader. Each algorithm keeps a set
 * of suspects directly behind its own struct. Start reading with bully.c.
 */
#ifndef ELECTOR_ALGORITHMS_MESH_MESH_H
#define ELECTOR_ALGORITHMS_MESH_MESH_H

#include "algorithms/registry.h"
#include "core/machine.h"

/* The first fields of every state in this family. */
struct mesh {
    uint64_t run;
    el_node leader;
    uint32_t mode; /* 0: no election under way here */
};

void mesh_view(const void *state, const struct el_config *cfg, struct el_view *view);

/* Ends the election that is under way here: `leader` leads, and none of the first `timers` timers runs. */
void mesh_rest(struct mesh *me, el_node leader, uint32_t timers, struct el_outbox *out);

/* A node's reaction to an announced leader: it follows the leader, suspects it, or outranks it and may lead.
 * Each algorithm's notes of those names have the same order. */
enum mesh_news { MESH_LEARNS, MESH_DISTRUSTS, MESH_OBJECTS };
enum mesh_news mesh_judge(const struct el_config *cfg, const uint64_t *suspects, el_node leader);

/* Sends a copy to every member that outranks us, except those in `without` (NULL: no exceptions). Returns the
 * number of copies. */
uint32_t mesh_send_above(const struct el_config *cfg, struct el_msg msg, const uint64_t *without,
                         struct el_outbox *out);
/* Sends a copy to every member that we outrank. */
void mesh_send_below(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out);
/* Sends a copy to every other member but `except`. */
void mesh_send_others(const struct el_config *cfg, struct el_msg msg, el_node except, struct el_outbox *out);

#endif
