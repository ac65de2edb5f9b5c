/* Bytes as a slot of the state file: never beyond the bytes, and what is accepted is what encoding makes of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/record_slot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct record_contents contents;
    static unsigned char again[RECORD_SLOT];
    if (record_slot_decode(data, size, &contents) != RECORD_SLOT_GOOD) return 0;
    record_slot_encode(&contents, again);
    if (memcmp(again, data, record_slot_size(contents.count)) != 0) abort();
    return 0;
}
