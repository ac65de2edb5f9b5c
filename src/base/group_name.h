/* The rule for group names. Agent, library and command line all call it. */
#ifndef ELECTOR_BASE_GROUP_NAME_H
#define ELECTOR_BASE_GROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* What agents send each other and write to their state files. The library's interface allows more (elector.h), so that
 * an agent can allow more one day. */
enum { GROUP_NAME_MAX = 63 };

/* 1 to 63 letters, digits and . _ - : / that do not begin with '-' or '.'. */
bool group_name_is_valid(const char *text);
/* The same, up to `max` bytes. */
bool group_name_is_valid_up_to(const char *text, size_t max);

#endif
