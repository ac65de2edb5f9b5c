/* Integers as little-endian bytes, the same on every machine. */
#ifndef ELECTOR_CORE_BYTES_H
#define ELECTOR_CORE_BYTES_H

#include <stdint.h>

static inline void el_put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t el_get(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
