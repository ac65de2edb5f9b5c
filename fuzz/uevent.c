/*
 * Bytes as a uevent of the kernel. Only a whole word says that the machine was restored from a snapshot: as a second, slower reader
 * finds it.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/generation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sign[] = "NEW_VMGENID=1";

/* A word begins at the start or after a zero, and ends at a zero or at the end. */
static bool has_word(const char *bytes, size_t size)
{
    const size_t length = sizeof sign - 1;
    for (size_t at = 0; at + length <= size; at++) {
        const bool begins = at == 0 || bytes[at - 1] == '\0',
                   ends = at + length == size || bytes[at + length] == '\0';
        if (begins && ends && memcmp(bytes + at, sign, length) == 0) return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *uevent = malloc(size ? size : 1); /* no longer, so that the sanitizer sees a step beyond */
    if (!uevent) abort();
    if (size > 0) memcpy(uevent, data, size);
    if (generation_is_new(uevent, size) != has_word(uevent, size)) abort();
    free(uevent);
    return 0;
}
