/* Logarithms by squaring: each squaring of a number in [1, 2) yields one more binary digit of its logarithm. */
#include "detectors/fixed.h"

#define LOG10_2 UINT32_C(1292913986) /* in 2^-32 */

static uint64_t log2_of(uint64_t number)
{
    uint64_t log = 63, mantissa = number;
    while (mantissa >> 63 == 0) {
        mantissa <<= 1;
        log--;
    }
    mantissa >>= 32; /* [1, 2) with 31 bits behind the point */
    for (int digit = 0; digit < FIXED_BITS; digit++) {
        mantissa = mantissa * mantissa >> 31;
        const uint64_t bit = mantissa >> 32;
        mantissa >>= bit;
        log = log << 1 | bit;
    }
    return log;
}

uint64_t fixed_log10(uint64_t number)
{
    return number ? fixed_scale(log2_of(number), LOG10_2) : 0;
}
