/* The word that somebody may have meant: the closest of those that are offered. */
#ifndef ELECTOR_BASE_CLOSEST_H
#define ELECTOR_BASE_CLOSEST_H

#include <stddef.h>

enum { CLOSEST_MAX = 63 };

struct closest {
    const char *word;           /* borrowed: what was written */
    char best[CLOSEST_MAX + 1]; /* "": none is close enough */
    unsigned distance;
};

struct closest closest_to(const char *word);
/* Keeps the candidate if fewer changes than for the best so far make it of the word: one letter more, less, other or
 * swapped with the next. More than a third of the letters must be right. `length` bytes count. */
void closest_offer(struct closest *, const char *candidate, size_t length);

#endif
