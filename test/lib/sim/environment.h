/* Reads from the environment how many runs a random test makes. */
#ifndef ELECTOR_TEST_LIB_SIM_ENVIRONMENT_H
#define ELECTOR_TEST_LIB_SIM_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"

static inline uint64_t environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ELECTOR_SECONDS: how long a test of `make soak` goes on; UINT64_MAX: until it is done. */
static inline uint64_t seconds_of_soak(void)
{
    return environment("ELECTOR_SECONDS", UINT64_MAX);
}

static inline uint64_t end_of(uint64_t seconds)
{
    return seconds == UINT64_MAX ? UINT64_MAX : clock_monotonic_ns() + seconds * 1000000000;
}

struct runs {
    uint64_t first, count;
    bool only_one;   /* to be told in full */
    uint64_t end_ns; /* when the time is over; UINT64_MAX: never */
};

/* ELECTOR_RUN only that one, ELECTOR_FIRST_RUN where to begin, and how many by the variable that is named. */
static inline struct runs runs_of(const char *name, uint64_t otherwise)
{
    const uint64_t only = environment("ELECTOR_RUN", UINT64_MAX);
    if (only != UINT64_MAX) return (struct runs){only, 1, true, UINT64_MAX};
    return (struct runs){environment("ELECTOR_FIRST_RUN", 0), environment(name, otherwise), false,
                         end_of(seconds_of_soak())};
}

/* Whether to make this run, too. If the time is over, `count` becomes what was made. */
static inline bool runs_go_on(struct runs *runs, uint64_t run)
{
    if (run - runs->first < runs->count && runs->end_ns != UINT64_MAX && clock_monotonic_ns() >= runs->end_ns)
        runs->count = run - runs->first;
    return run - runs->first < runs->count;
}

#endif
