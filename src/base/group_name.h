/* The names that groups may have. Agent, library and command line all check them here. */
#ifndef ELECTOR_BASE_GROUP_NAME_H
#define ELECTOR_BASE_GROUP_NAME_H

#include <stdbool.h>

enum { GROUP_NAME_MAX = 63 };

/* 1 to 63 letters, digits and . _ - : / and neither '-' nor '.' first. */
bool group_name_is_valid(const char *text);

#endif
