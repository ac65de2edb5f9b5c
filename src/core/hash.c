/*
 * Fingerprints of plain bytes: two 64-bit lanes, each multiplied and rotated once per word, then mixed into
 * each other. They tell states and traces apart; they do not resist an adversary.
 */
#include "elector/core.h"

static uint64_t stir(uint64_t lane, uint64_t word, uint64_t odd)
{
    lane = (lane ^ word) * odd;
    return lane << 29 | lane >> 35;
}

static uint64_t finish(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    x = (x ^ x >> 29) * UINT64_C(0xA0761D6478BD642F);
    return x ^ x >> 32;
}

static uint64_t part_of_word(const uint8_t *at, size_t take)
{
    uint64_t word = 0;
    for (size_t i = 0; i < take; i++) word |= (uint64_t)at[i] << (8 * i);
    return word;
}

/* One load on little-endian machines; the same value as above. */
static uint64_t whole_word(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

struct el_hash el_fingerprint(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t a = UINT64_C(0x9E3779B97F4A7C15) ^ size, b = UINT64_C(0xC2B2AE3D27D4EB4F) + size;
    while (size > 0) {
        const size_t take = size < 8 ? size : 8;
        const uint64_t word = take == 8 ? whole_word(at) : part_of_word(at, take);
        a = stir(a, word, UINT64_C(0xFF51AFD7ED558CCD));
        b = stir(b, word + a, UINT64_C(0xC4CEB9FE1A85EC53));
        at += take;
        size -= take;
    }
    return (struct el_hash){finish(a + b), finish(b ^ a >> 7)};
}
