/*
 * Bytes as a slot of the state file: never beyond the bytes, and what is accepted is what encoding makes of it. First as
 * they are, then filled up with zeros to a whole slot, and with the beginning, the count and the checksum put right,
 * which nobody guesses.
 */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/state/slot.h"

static void judge(const uint8_t *bytes, size_t size)
{
    static struct record_contents contents;
    static unsigned char again[RECORD_SLOT];
    if (record_slot_decode(bytes, size, &contents) != RECORD_SLOT_GOOD) return;
    record_slot_encode(&contents, again);
    if (memcmp(again, bytes, record_slot_size(contents.count)) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    judge(data, size);
    const size_t empty = record_slot_size(0);
    const uint32_t count = size <= empty ? 0 : (uint32_t)((size - empty + RECORD_ENTRY - 1) / RECORD_ENTRY);
    const size_t whole = record_slot_size(count), summed = whole - RECORD_CHECKSUM;
    uint8_t *mended = calloc(1, whole); /* no longer, so that the sanitizer sees a step beyond */
    if (!mended || count > RECORD_GROUPS_MAX) abort();
    memcpy(mended, data, size);
    memcpy(mended, record_magic, RECORD_MAGIC_SIZE);
    for (unsigned i = 0; i < 4; i++) mended[48 + i] = (uint8_t)(count >> 8 * i);
    crypto_generichash(mended + summed, RECORD_CHECKSUM, mended, summed, NULL, 0);
    judge(mended, whole);
    free(mended);
    return 0;
}
