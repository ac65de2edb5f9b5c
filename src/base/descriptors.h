/*
 * Descriptors: how many, and 0, 1 and 2. A program may be started with some of them closed. A socket that it opens then takes such a
 * number, and a message for standard error goes to that socket.
 */
#ifndef ELECTOR_BASE_DESCRIPTORS_H
#define ELECTOR_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Opens /dev/null for each of the three that is closed. First of all in a program. False: it cannot be opened. */
bool descriptors_fill_standard(void);

/* Raises this process's limit of open descriptors to what it may be, but not above 65,536. */
void descriptors_allow_many(void);

/* For a library, which does not own the three: moves a new descriptor to 3 or above. -1 stays -1, with errno. */
int descriptors_above_standard(int fd);

#endif
