/* How many runs a test of chance makes, as its environment says. */
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

struct runs {
    uint64_t first, count;
    bool only_one; /* to be told in full */
};

/* ELECTOR_RUN only that one, ELECTOR_FIRST_RUN where to begin, and how many by the variable that is named. */
static inline struct runs runs_of(const char *name, uint64_t otherwise)
{
    const uint64_t only = environment("ELECTOR_RUN", UINT64_MAX);
    if (only != UINT64_MAX) return (struct runs){only, 1, true};
    return (struct runs){environment("ELECTOR_FIRST_RUN", 0), environment(name, otherwise), false};
}

#endif
