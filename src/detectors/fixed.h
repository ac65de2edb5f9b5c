/*
 * Logarithms in fixed point, the same bits on every machine: values carry 24 bits behind the point.
 */
#ifndef ELECTOR_DETECTORS_FIXED_H
#define ELECTOR_DETECTORS_FIXED_H

#include <stdint.h>

enum { FIXED_BITS = 24 };

/* log10 of a whole number, 0 for 0. The error is below 2^-22. */
uint64_t fixed_log10(uint64_t number);

/* x * factor / 2^32 without intermediate overflow. */
static inline uint64_t fixed_scale(uint64_t x, uint32_t factor)
{
    return (x >> 32) * factor + ((x & UINT32_MAX) * factor >> 32);
}

#endif
