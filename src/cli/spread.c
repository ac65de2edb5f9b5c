/* See spread.h. */
#define _GNU_SOURCE
#include "spread.h"

#include <stdio.h>
#include <string.h>

#include "elector/core.h"

uint64_t spread_weight(const char *member, const char *group)
{
    char both[ELECTOR_NAME_MAX + ELECTOR_GROUP_MAX + 2] =
        ""; /* a zero between them: "ab", "c" is not "a", "bc" */
    const size_t first = strnlen(member, ELECTOR_NAME_MAX), second = strnlen(group, ELECTOR_GROUP_MAX);
    memcpy(both, member, first);
    memcpy(both + first + 1, group, second);
    return el_fingerprint(both, first + 1 + second).high >> (64 - SPREAD_BITS);
}

uint64_t spread_priority(uint64_t priority, const char *member, const char *group)
{
    return priority << SPREAD_BITS | spread_weight(member, group);
}

bool spread_is_due(struct spread_watch *watch, const char *best, uint64_t its_priority, uint64_t our_priority,
                   uint64_t now_ns, uint64_t settle_ns)
{
    if (!best || its_priority <= our_priority) {
        *watch = (struct spread_watch){0};
        return false;
    }
    if (strcmp(watch->better, best) != 0) {
        snprintf(watch->better, sizeof watch->better, "%s", best);
        watch->since_ns = now_ns;
    }
    return now_ns - watch->since_ns >= settle_ns;
}
