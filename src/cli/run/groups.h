/* --group: expands lists such as shard-{0..63}. */
#ifndef ELECTOR_CLI_RUN_GROUPS_H
#define ELECTOR_CLI_RUN_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "elector.h"

enum {
    RUN_GROUPS_MAX = 256, /* the library campaigns for no more at a time */
    RUN_GROUP_MAX =
        250 /* bytes of a name: a file's name has 255, and ".lock" takes five. Agents and stores take 63 */
};

struct run_groups {
    char names[RUN_GROUPS_MAX][RUN_GROUP_MAX + 1];
    size_t count;
};

/*
 * Adds the names of a list that is separated by commas. {a,b,c} stands for each of these words, {0..63} for each of
 * these numbers; {00..63} keeps leading zeros. A name may have several braces; they do not nest. False: `problem`
 * says what is wrong, and the list is incomplete.
 */
bool run_groups_add(struct run_groups *, const char *text, char *problem, size_t size);

#endif
