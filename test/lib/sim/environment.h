/* Reads from the environment how many runs a random test makes. */
#ifndef ELECTOR_TEST_LIB_SIM_ENVIRONMENT_H
#define ELECTOR_TEST_LIB_SIM_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ELECTOR_SOAK_PERCENT: the share of a long test that `make soak PERCENT=N` asks for. */
static inline uint64_t soak_percent(void)
{
    const uint64_t percent = environment("ELECTOR_SOAK_PERCENT", 100);
    return percent ? percent : 1;
}

static inline uint64_t share_of(uint64_t count)
{
    const uint64_t share = count / 100 * soak_percent() + count % 100 * soak_percent() / 100;
    return share ? share : 1;
}

struct runs {
    uint64_t first, count;
    bool only_one; /* to be told in full */
};

/* ELECTOR_RUN only that one, ELECTOR_FIRST_RUN where to begin, and how many by the variable that is named. */
static inline struct runs runs_of(const char *name, uint64_t otherwise)
{
    const uint64_t only = environment("ELECTOR_RUN", UINT64_MAX);
    if (only != UINT64_MAX) return (struct runs){only, 1, true};
    return (struct runs){environment("ELECTOR_FIRST_RUN", 0), share_of(environment(name, otherwise)), false};
}

#endif
