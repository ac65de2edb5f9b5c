/* The rule for group names. Agent, library and command line all call it. */
#ifndef ELECTOR_BASE_GROUP_NAME_H
#define ELECTOR_BASE_GROUP_NAME_H

#include <stdbool.h>

enum { GROUP_NAME_MAX = 63 };

/* 1 to 63 letters, digits and . _ - : / that do not begin with '-' or '.'. */
bool group_name_is_valid(const char *text);

#endif
