/* Worlds that differ only in numbers of which nothing but the order matters count as one. See renumber.c. */
#ifndef ELECTOR_CHECK_REDUCE_RENUMBER_H
#define ELECTOR_CHECK_REDUCE_RENUMBER_H

#include "check/world/model.h"

bool check_may_renumber(const struct check_model *model);
/* The fingerprint of the nodes, the history and the messages, renumbered. */
struct el_hash check_renumbered(const struct check_model *model, const struct check_world *world);

#endif
