/*
 * The simulator's random numbers: a 64-bit counter through a mixing function, so that a seed gives the same
 * numbers on every machine. Each purpose has its own stream: enabling loss does not change the delays.
 */
#ifndef ELECTOR_SIM_WORLD_RANDOM_H
#define ELECTOR_SIM_WORLD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;
};

/* A probability as parts of 2^32. */
typedef uint64_t sim_chance;
#define SIM_CERTAIN (UINT64_C(1) << 32)

void sim_random_seed(struct sim_random *random, uint64_t seed, uint64_t stream);
uint64_t sim_random_next(struct sim_random *random);
/* Uniform below n; n > 0. */
uint64_t sim_random_below(struct sim_random *random, uint64_t n);
bool sim_random_chance(struct sim_random *random, sim_chance chance);
/* Exponential with this mean, by integer arithmetic only. */
uint64_t sim_random_exponential(struct sim_random *random, uint64_t mean);

#endif
