/*
 * Shared by the tests of the rings: the ring algorithms, those that forward claims and those with two laps, the
 * ring of the lectures, and sets of initiators.
 */
#ifndef ELECTOR_TEST_LIB_SIM_RINGS_H
#define ELECTOR_TEST_LIB_SIM_RINGS_H

#include "lib/sim/bench.h"

static const char *const of_claims[] = {"ring-basic", "chang-roberts", "ring-initiator"};
static const char *const of_laps[] = {"ring-collect", "ring-max"};
static const char *const rings[] = {"ring-basic", "chang-roberts", "ring-initiator", "ring-collect",
                                    "ring-max"};

#define each_ring_of(table) \
    for (const char *const *ring = (table); ring < (table) + sizeof(table) / sizeof *(table); ring++)

#define LECTURE_RING "ids 3,32,5,80,6,12"

static inline unsigned members_of(unsigned set, unsigned *numbers)
{
    unsigned count = 0;
    for (unsigned k = 0; set >> k; k++)
        if (set >> k & 1) numbers[count++] = k + 1;
    return count;
}

#endif
