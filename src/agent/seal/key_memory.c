/* See key_memory.h. libsodium allocates, guards and locks; what it leaves out is said here. */
#define _GNU_SOURCE
#include "agent/seal/key_memory.h"

#include <sodium.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy in a forked process would be an unlocked one, as soon as one of the two writes to it. */
static void keep_from_forks(void *memory, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), in_page = (uintptr_t)memory & (page - 1);
    (void)madvise((char *)memory - in_page, size + in_page, MADV_DONTFORK);
}

void *key_memory_new(size_t size, bool *is_locked)
{
    void *memory = sodium_malloc(size);
    if (!memory) return NULL;
    *is_locked = sodium_mlock(memory, size) == 0; /* sodium_malloc() has tried it, and tells nobody */
    keep_from_forks(memory, size);
    memset(memory, 0, size);
    return memory;
}

void key_memory_free(void *memory)
{
    sodium_free(memory);
}
