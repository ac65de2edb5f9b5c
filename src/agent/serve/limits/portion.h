/*
 * A portion of work on many groups, within one turn of the agent's loop: 256 of them, or as many as take half a millisecond, and
 * at least one. One client may have 16,384 groups, and each costs microseconds; the rest waits for the next turn.
 */
#ifndef ELECTOR_AGENT_SERVE_LIMITS_PORTION_H
#define ELECTOR_AGENT_SERVE_LIMITS_PORTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { PORTION_GROUPS = 256, PORTION_US = 500 };

struct portion {
    uint32_t left; /* the caller counts it down */
    uint64_t until_ns;
};

static inline struct portion portion_begin(void)
{
    return (struct portion){.left = PORTION_GROUPS,
                            .until_ns = clock_boottime_ns() + UINT64_C(1000) * PORTION_US};
}

static inline bool portion_is_over(const struct portion *portion)
{
    return portion->left == 0 || (portion->left < PORTION_GROUPS && clock_boottime_ns() >= portion->until_ns);
}

#endif
