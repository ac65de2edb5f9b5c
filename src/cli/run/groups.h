/* --group: names of groups, written short. */
#ifndef ELECTOR_CLI_RUN_GROUPS_H
#define ELECTOR_CLI_RUN_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "elector.h"

enum { RUN_GROUPS_MAX = 256 }; /* of one elector run; as many as the library campaigns for at a time */

struct run_groups {
    char names[RUN_GROUPS_MAX][ELECTOR_GROUP_MAX + 1];
    size_t count;
};

/*
 * Adds what a text stands for: names with commas between them, in which {a,b,c} is one of these and {0..63} a number, each
 * in turn; {00..63} keeps its zeros. Braces do not nest; a name may have several. False: `problem` says what is wrong, and
 * the list is to be thrown away.
 */
bool run_groups_add(struct run_groups *, const char *text, char *problem, size_t size);

#endif
