/* Renaming the nodes of a world, for symmetry: worlds that differ by who is called what are one. */
#ifndef ELECTOR_CHECK_REDUCE_SYMMETRY_H
#define ELECTOR_CHECK_REDUCE_SYMMETRY_H

#include "check/world/model.h"

enum { CHECK_RECORD_MAX = 4096, CHECK_SYMMETRIC_MAX = 5, CHECK_PERMUTATIONS_MAX = 120 };

/* The renamings under which the question stays the same, the identity first. False: no memory. */
bool check_find_permutations(struct check_model *model);
/* Each in place; `to` maps positions, nobody to nobody. */
void check_rename_local(const struct check_model *model, unsigned char *bytes, const el_node *to);
void check_rename_msg(const struct check_model *model, struct el_msg *msg, const el_node *to);
void check_rename_history(const struct check_model *model, struct check_history *history, const el_node *to);

#endif
