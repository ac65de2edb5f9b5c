/* Seeded random numbers without floating point, the same on every machine. */
#include "sim/world/random.h"

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014 (the finaliser's constants). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

void sim_random_seed(struct sim_random *random, uint64_t seed, uint64_t stream)
{
    random->state = mix(seed) ^ mix(~stream);
}

uint64_t sim_random_next(struct sim_random *random)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    return mix(random->state);
}

uint64_t sim_random_below(struct sim_random *random, uint64_t n)
{
    const uint64_t fair = UINT64_MAX - UINT64_MAX % n; /* a multiple of n; values above would bias the result */
    uint64_t drawn = sim_random_next(random);
    while (drawn >= fair) drawn = sim_random_next(random);
    return drawn % n;
}

bool sim_random_chance(struct sim_random *random, sim_chance chance)
{
    return chance > 0 && (sim_random_next(random) >> 32) < chance;
}

/*
 * -log2 of a uniform fraction, in 2^-32ths. The whole part is the number of leading zeros; the 32 bits
 * behind the point come one by one from squaring the mantissa.
 */
static uint64_t minus_log2(uint64_t fraction)
{
    const int zeros = __builtin_clzll(fraction);
    uint64_t mantissa = fraction << zeros >> 32; /* [2^31, 2^32): one bit, then 31 behind the point */
    uint64_t log2 = 0;
    for (int bit = 31; bit >= 0; bit--) {
        mantissa = mantissa * mantissa >> 31;
        if (mantissa >> 32) {
            log2 |= UINT64_C(1) << bit;
            mantissa >>= 1;
        }
    }
    return ((uint64_t)(zeros + 1) << 32) - log2;
}

uint64_t sim_random_exponential(struct sim_random *random, uint64_t mean)
{
    const uint64_t ln2 = UINT64_C(2977044472); /* ln 2 in 2^-32ths */
    const uint64_t bits = minus_log2(sim_random_next(random) | 1);
    const uint64_t factor = (bits >> 8) * (ln2 >> 8) >> 16; /* -ln u in 2^-32ths */
    return (mean >> 16) * (factor >> 16) + ((mean & 0xFFFF) * (factor >> 16) >> 16);
}
