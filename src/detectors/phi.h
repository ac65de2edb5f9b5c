/*
 * Phi, the level of suspicion: -log10 of the probability that a beat comes even later than this, if beats come
 * at normally distributed intervals. Integers only, so that every machine finds the same.
 */
#ifndef ELECTOR_DETECTORS_PHI_H
#define ELECTOR_DETECTORS_PHI_H

#include <stdint.h>

/*
 * Phi in thousandths, rounded down, for three times in one unit. Never falls as `elapsed` grows; right to a
 * thousandth up to phi 300 and to a millionth of itself beyond, as far as 4096 deviations (3,643,130), where it
 * stays. A deviation of 0 counts as 1.
 */
uint32_t el_phi_thousandths(uint64_t elapsed, uint64_t mean, uint64_t deviation);

/* The inverse: how many deviations after the mean phi reaches the threshold (1..PHI_THRESHOLD_MAX). */
enum { PHI_DEVIATION_BITS = 20, PHI_THRESHOLD_MAX = 300 };
uint64_t el_phi_deviations(uint64_t threshold);

#endif
