/*
 * Bytes as a record of the membership: never beyond the bytes, and what is accepted is what encoding makes of it. First as
 * they are, then with the magic put right, which nobody guesses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/members/record.h"

static void judge(const uint8_t *bytes, size_t size)
{
    static struct members_record record;
    static uint8_t again[MEMBERS_BYTES_MAX];
    if (!members_decode(&record, bytes, size)) return;
    if (members_encode(&record, again) != size || memcmp(again, bytes, size) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[] = {'e', 'l', 'm', 'e', 'm', 'b', 'r', 2};
    judge(data, size);
    if (size < sizeof magic) return 0;
    uint8_t *mended = malloc(size); /* no longer, so that the sanitizer sees a step beyond */
    if (!mended) abort();
    memcpy(mended, data, size);
    memcpy(mended, magic, sizeof magic);
    judge(mended, size);
    free(mended);
    return 0;
}
