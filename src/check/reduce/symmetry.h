/* Symmetry: worlds that differ only by a renaming of the nodes count as one. */
#ifndef ELECTOR_CHECK_REDUCE_SYMMETRY_H
#define ELECTOR_CHECK_REDUCE_SYMMETRY_H

#include "check/world/model.h"

enum { CHECK_RECORD_MAX = 4096, CHECK_SYMMETRIC_MAX = 5, CHECK_PERMUTATIONS_MAX = 120 };

/* Finds the renamings that leave the question unchanged, the identity first. False if memory ran out. */
bool check_find_permutations(struct check_model *model);
/* Each in place; `to` maps positions, nobody to nobody. */
void check_rename_local(const struct check_model *model, unsigned char *bytes, const el_node *to);
void check_rename_msg(const struct check_model *model, struct el_msg *msg, const el_node *to);
void check_rename_history(const struct check_model *model, struct check_history *history, const el_node *to);

#endif
