/*
 * What the algorithms on a full mesh share: sending to everybody above or below, and a set of suspects
 * that lies right behind the algorithm's own struct in the state.
 */
#ifndef ELECTOR_ALGORITHMS_MESH_H
#define ELECTOR_ALGORITHMS_MESH_H

#include "core/machine.h"
#include "registry.h"

/* Sends a copy to every member that outranks us, or that we outrank, except those in `without` (NULL: none
 * are left out), and returns how many that were. */
uint32_t mesh_send_above(const struct el_config *cfg, struct el_msg msg, const uint64_t *without,
                         struct el_outbox *out);
uint32_t mesh_send_below(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out);
/* Sends a copy to everybody else but `except`. */
uint32_t mesh_send_others(const struct el_config *cfg, struct el_msg msg, el_node except,
                          struct el_outbox *out);

#endif
