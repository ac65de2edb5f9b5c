/*
 * What the algorithms on a full mesh share: sending to everybody above or below, and how news of a leader
 * is taken. Each keeps a set of suspects right behind its own struct.
 */
#ifndef ELECTOR_ALGORITHMS_MESH_MESH_H
#define ELECTOR_ALGORITHMS_MESH_MESH_H

#include "algorithms/registry.h"
#include "core/machine.h"

/* What the states of this family begin with. */
struct mesh {
    uint64_t run;
    el_node leader;
    uint32_t mode; /* 0: no election under way here */
};

void mesh_view(const void *state, const struct el_config *cfg, struct el_view *view);

/* Ends whatever election is under way here: this one leads, and no timer of the first `timers` runs. */
void mesh_rest(struct mesh *me, el_node leader, uint32_t timers, struct el_outbox *out);

/* How a node takes the news that somebody leads: it follows it, suspects it, or outranks it (and may lead).
 * Notes of those names stand in this order in each algorithm. */
enum mesh_news { MESH_LEARNS, MESH_DISTRUSTS, MESH_OBJECTS };
enum mesh_news mesh_judge(const struct el_config *cfg, const uint64_t *suspects, el_node leader);

/* Sends a copy to every member that outranks us, or that we outrank, except those in `without` (NULL: none
 * are left out), and returns how many that were. */
uint32_t mesh_send_above(const struct el_config *cfg, struct el_msg msg, const uint64_t *without,
                         struct el_outbox *out);
uint32_t mesh_send_below(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out);
/* Sends a copy to everybody else but `except`. */
uint32_t mesh_send_others(const struct el_config *cfg, struct el_msg msg, el_node except,
                          struct el_outbox *out);

#endif
