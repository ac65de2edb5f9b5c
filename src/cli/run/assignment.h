/*
 * --spread: assigns many groups evenly to members, by rendezvous hashing (Thaler, Ravishankar 1998) with bounded
 * loads (after Mirrokni, Thorup, Zadimoghaddam 2018). Each member has a weight for each group, a hash of both names.
 * Groups are assigned one by one, ordered by a hash of their names. Each goes to the candidate of the highest weight
 * that is not full. Of g groups, each of n members gets g / n, and the first g % n to reach that get one more. All
 * members know the candidates of each group and compute the same assignment without messages. When a member leaves,
 * the others get its groups, and a few of theirs move.
 *
 * Only groups with the same candidates are assigned together. So every candidate of a group knows all groups that are
 * assigned with it, even if hosts name different groups.
 *
 * A candidate's priority carries its weight: the high bits are the configured priority, the low bits the weight. So
 * an election mostly picks the right member at once; otherwise its leader hands the group over.
 *
 * Pure: no clock, no I/O. spread.c applies it.
 */
#ifndef ELECTOR_CLI_RUN_ASSIGNMENT_H
#define ELECTOR_CLI_RUN_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elector.h"

enum { SPREAD_BITS = 20, SPREAD_MEMBERS_MAX = 64 };

/* The highest priority that leaves room for a weight. */
#define SPREAD_PRIORITY_MAX ((UINT64_C(1) << (53 - SPREAD_BITS)) - 1)

/* Below 2^SPREAD_BITS. */
uint64_t spread_weight(const char *member, const char *group);

/* `priority` is at most SPREAD_PRIORITY_MAX. */
uint64_t spread_priority(uint64_t priority, const char *member, const char *group);

/* ---- Assignment ---- */

struct spread_group {
    const char *name; /* borrowed */
    uint64_t hash;
    uint64_t standing; /* bit i: member i is a candidate; 0: not known yet */
    uint64_t priority[SPREAD_MEMBERS_MAX];
    size_t owner; /* set by spread_assign(); SPREAD_MEMBERS_MAX: nobody */
};

struct spread {
    char members[SPREAD_MEMBERS_MAX][ELECTOR_NAME_MAX + 1]; /* in the order in which they were added */
    struct spread_group *groups;
    size_t *order; /* in which they are assigned */
    size_t member_count, group_count;
};

/* False: out of memory; free it in either case. */
bool spread_init(struct spread *, size_t group_count);
void spread_set_name(struct spread *, size_t group,
                     const char *name); /* once for each, first of all; borrowed */
void spread_free(struct spread *);

/* Clear a group, then add its candidates. A group without candidates is not assigned. */
void spread_clear_candidates(struct spread *, size_t group);
void spread_add_candidate(struct spread *, size_t group, const char *member, uint64_t priority);

void spread_assign(struct spread *);
/* As of the last spread_assign(); NULL: unknown. Borrowed until the next spread_add_candidate(). */
const char *spread_owner(const struct spread *, size_t group);

/* ---- When to hand over ---- */

/* The member that should lead instead of us, since when without a break, and how often we moved the group. Zeroed: none. */
struct spread_watch {
    char better[ELECTOR_NAME_MAX + 1];
    uint64_t since_ns, moved_ns;
    unsigned moves;
};

/*
 * `owner` should lead instead of us; NULL: nobody should. True, hand over to it: every call in the last 3 seconds
 * named the same owner. Each hand-over of ours within an hour doubles that time, up to 128 times, so that members
 * which see different candidates do not move a group back and forth.
 */
bool spread_should_move(struct spread_watch *, const char *owner, uint64_t now_ns);
void spread_note_move(struct spread_watch *, uint64_t now_ns);

#endif
