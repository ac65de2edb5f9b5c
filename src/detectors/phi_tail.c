/*
 * The tail of the normal distribution, far out. With Q(y) the probability of lying more than y deviations above
 * the mean, phi = -log10 Q(y):
 *   -3 < y < 2   Q = 1/2 - (y - y^3/6 + y^5/40 - ...) / sqrt(2 pi), where cancellation does not hurt yet;
 *    2 <= y      Q = exp(-y^2/2) / sqrt(2 pi) / D, D = y + 1/(y + 2/(y + 3/(...))) (Laplace), computed as
 *                logarithms, so nothing underflows, even at phi = 1,000,000.
 * The logistic approximation in common use gives 9.3 when phi is 8.
 */
#include "detectors/fixed.h"
#include "detectors/phi.h"

#include <stdbool.h>

#define ONE (INT64_C(1) << PHI_DEVIATION_BITS) /* of y */
#define FAR (4096 * ONE - 1)                   /* y is cut here: its square still fits */
#define HALF_LOG10_E UINT32_C(932640298)       /* in 2^-32 */
#define LOG10_SQRT_2PI UINT64_C(6695618)       /* in 2^-24 */
#define ONE_BY_SQRT_2PI UINT64_C(1713444047)   /* in 2^-32 */
enum { TERMS = 24, FRACTIONS = 60 };

/* The sum of (-1)^k y^(2k+1) / (2^k k! (2k+1)), in 2^-32. */
static uint64_t middle(uint64_t y)
{
    uint64_t term = y << (32 - PHI_DEVIATION_BITS), plus = term, minus = 0;
    for (uint64_t k = 1; k < TERMS; k++) {
        term = (term * y >> PHI_DEVIATION_BITS) * y >> PHI_DEVIATION_BITS;
        term /= 2 * k;
        *(k % 2 ? &minus : &plus) += term / (2 * k + 1);
    }
    return plus - minus;
}

static uint64_t near_the_mean(int64_t y)
{
    const uint64_t half = UINT64_C(1) << 31;
    const uint64_t part = middle((uint64_t)(y < 0 ? -y : y)) * ONE_BY_SQRT_2PI >> 32;
    return fixed_log10(UINT64_C(1) << 32) - fixed_log10(y < 0 ? half + part : half - part);
}

static uint64_t in_the_tail(uint64_t y)
{
    uint64_t d = y;
    for (uint64_t k = FRACTIONS; k > 0; k--) d = y + (k << (2 * PHI_DEVIATION_BITS)) / d;
    const uint64_t square = fixed_scale(y * y, HALF_LOG10_E) >> (2 * PHI_DEVIATION_BITS - FIXED_BITS);
    return square + LOG10_SQRT_2PI + fixed_log10(d) - fixed_log10((uint64_t)ONE);
}

/* In 2^-24. */
static uint64_t phi_at(int64_t y)
{
    if (y <= -3 * ONE) return 0; /* less than a thousandth */
    return y < 2 * ONE ? near_the_mean(y) : in_the_tail((uint64_t)y);
}

/* distance / deviation, at most FAR */
static int64_t in_deviations(uint64_t distance, uint64_t deviation)
{
    const uint64_t whole = distance / deviation;
    if (whole >= (uint64_t)(FAR / ONE)) return FAR;
    uint64_t rest = distance % deviation;
    while (deviation >> (63 - PHI_DEVIATION_BITS)) deviation >>= 1, rest >>= 1;
    return (int64_t)((whole << PHI_DEVIATION_BITS) + (rest << PHI_DEVIATION_BITS) / deviation);
}

uint32_t el_phi_thousandths(uint64_t elapsed, uint64_t mean, uint64_t deviation)
{
    if (deviation == 0) deviation = 1;
    const bool early = elapsed < mean;
    const int64_t y = in_deviations(early ? mean - elapsed : elapsed - mean, deviation);
    return (uint32_t)(phi_at(early ? -y : y) * 1000 >> FIXED_BITS);
}

uint64_t el_phi_deviations(uint64_t threshold)
{
    int64_t below = 0, reached = 64 * ONE; /* where phi is 891 */
    while (reached - below > 1) {
        const int64_t y = below + (reached - below) / 2;
        *(phi_at(y) < threshold << FIXED_BITS ? &below : &reached) = y;
    }
    return (uint64_t)reached;
}
