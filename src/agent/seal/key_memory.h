/*
 * Memory for what must not leave the process. It is locked, so that it is never swapped out; it is left out of core
 * dumps; a forked process does not have it; inaccessible pages lie before and behind it.
 */
#ifndef ELECTOR_AGENT_SEAL_KEY_MEMORY_H
#define ELECTOR_AGENT_SEAL_KEY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* `size` must be a multiple of the alignment that its user needs. Zeroed; NULL: out of memory. `is_locked` is false if
 * RLIMIT_MEMLOCK does not allow that: the rest holds nevertheless. Call sodium_init() before. */
void *key_memory_new(size_t size, bool *is_locked);
void key_memory_free(void *); /* wipes it; NULL is allowed */

#endif
