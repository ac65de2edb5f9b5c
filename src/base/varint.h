/* Numbers in as few bytes as they need: seven bits a byte, the lowest first; the eighth bit says that more follow. */
#ifndef ELECTOR_BASE_VARINT_H
#define ELECTOR_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 }; /* bytes of a number of 64 bits */

/* Returns the number of bytes written. */
static inline unsigned varint_put(uint8_t to[VARINT_MAX], uint64_t value)
{
    unsigned count = 0;
    for (; value >= 0x80; value >>= 7) to[count++] = (uint8_t)(value | 0x80);
    to[count++] = (uint8_t)value;
    return count;
}

/* Reads at most `most` bytes and returns how many. 0: the number is cut off, too large, or longer than varint_put() writes it. */
static inline unsigned varint_get(const uint8_t *from, size_t most, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < VARINT_MAX && i < most; i++) {
        *value |= (uint64_t)(from[i] & 0x7f) << 7 * i;
        if (from[i] & 0x80) continue;
        return (from[i] == 0 && i) || (i == VARINT_MAX - 1 && from[i] > 1) ? 0 : i + 1;
    }
    return 0;
}

#endif
