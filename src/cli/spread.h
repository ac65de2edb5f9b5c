/*
 * Sharing many groups out evenly: rendezvous hashing (Thaler, Ravishankar 1998). Each member has a weight for each group,
 * by a hash of both names, and the heaviest that stands should lead. Nobody keeps a table: a member that comes takes
 * over the groups that it is the heaviest for, one that goes leaves its own to the next, and no other group moves.
 *
 * A candidate says its weight with its priority: the higher bits are the priority that was asked for, the lower ones the
 * weight. So an election prefers the right one by itself, and whoever leads sees who should.
 */
#ifndef ELECTOR_CLI_SPREAD_H
#define ELECTOR_CLI_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "elector.h"

enum { SPREAD_BITS = 20 };

/* The highest priority that leaves room for a weight. */
#define SPREAD_PRIORITY_MAX ((UINT64_C(1) << (53 - SPREAD_BITS)) - 1)

/* Below 2^SPREAD_BITS. */
uint64_t spread_weight(const char *member, const char *group);

/* `priority` is at most SPREAD_PRIORITY_MAX. */
uint64_t spread_priority(uint64_t priority, const char *member, const char *group);

/* Who should lead instead of us, and since when that is so without a break. Zeroed: nobody. */
struct spread_watch {
    char better[ELECTOR_NAME_MAX + 1];
    uint64_t since_ns;
};

/*
 * `best` is the heaviest other that stands, and its priority; NULL: nobody does. True if we should hand over to it: it was the
 * same one, and above us, whenever we looked since `settle_ns` ago. Who comes and goes does not get it.
 */
bool spread_is_due(struct spread_watch *, const char *best, uint64_t its_priority, uint64_t our_priority,
                   uint64_t now_ns, uint64_t settle_ns);

#endif
