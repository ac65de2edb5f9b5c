/* Where tests put their files: below TMPDIR, which contain/contain.c gives to each test and removes after it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *scratch_root(void)
{
    const char *root = getenv("TMPDIR");
    return root && root[0] ? root : "/tmp";
}

/* In memory, where there is such a place: no disk has to sync for a test in virtual time. */
static inline const char *scratch_memory(void)
{
    const char *memory = getenv("ELECTOR_SHM");
    if (memory) return memory;
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : scratch_root();
}

#ifdef _POSIX_C_SOURCE /* without it there is no mkdtemp() */
/* Makes a folder of our own. */
static inline bool scratch_folder(char *path, size_t size, const char *name)
{
    const int length = snprintf(path, size, "%s/elector-%s-XXXXXX", scratch_root(), name);
    return length > 0 && (size_t)length < size && mkdtemp(path);
}
#endif
