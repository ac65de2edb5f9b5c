/*
 * Phi, the level of suspicion: -log10 of the probability that a live member's beat comes even later than
 * this, if intervals are normally distributed. Integers only, so that every machine computes the same.
 */
#ifndef ELECTOR_DETECTORS_PHI_H
#define ELECTOR_DETECTORS_PHI_H

#include <stdint.h>

/*
 * Phi in thousandths, rounded down; all three durations have the same unit. Never falls as `elapsed` grows.
 * The error is at most 0.001 up to phi 300 and one millionth of phi beyond. Phi stays at 3,643,130 from 4096
 * deviations on. A deviation of 0 counts as 1.
 */
uint32_t el_phi_thousandths(uint64_t elapsed, uint64_t mean, uint64_t deviation);

/* The inverse: the number of deviations above the mean at which phi reaches the threshold
 * (1..PHI_THRESHOLD_MAX). */
enum { PHI_DEVIATION_BITS = 20, PHI_THRESHOLD_MAX = 300 };
uint64_t el_phi_deviations(uint64_t threshold);

#endif
