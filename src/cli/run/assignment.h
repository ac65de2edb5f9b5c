/*
 * Sharing many groups out evenly: rendezvous hashing (Thaler, Ravishankar 1998) with bounded loads (after Mirrokni, Thorup,
 * Zadimoghaddam 2018). Each member has a weight for each group, by a hash of both names. Groups are dealt one by one, in an
 * order by a hash of their names, each to the heaviest member that stands for it and is not full: of g groups on n members each
 * has g / n, and the first g % n to come so far one more. Nobody keeps a table that the others need: who stands for what is known
 * to all, and so all come to the same shares. When a member goes, its groups go to the others, and a few of theirs move.
 *
 * Only groups that the same members stand for are dealt together. So whoever stands for a group knows all that are dealt with
 * it, also where hosts name different groups.
 *
 * A candidate says its weight with its priority: the higher bits are the priority that was asked for, the lower ones the
 * weight. So an election mostly prefers the right one by itself; whoever leads what another should hands it over.
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

/* ---- Who should lead what ---- */

struct spread_group {
    const char *name; /* borrowed */
    uint64_t hash;
    uint64_t standing; /* bit i: member i does; 0: not known yet */
    uint64_t priority[SPREAD_MEMBERS_MAX];
    size_t owner; /* as spread_assign() found; SPREAD_MEMBERS_MAX: nobody */
};

struct spread {
    char members[SPREAD_MEMBERS_MAX][ELECTOR_NAME_MAX + 1]; /* in the order in which they were heard of */
    struct spread_group *groups;
    size_t *order; /* in which they are dealt */
    size_t member_count, group_count;
};

/* False: out of memory; free it in either case. */
bool spread_init(struct spread *, size_t group_count);
void spread_set_name(struct spread *, size_t group,
                     const char *name); /* each once, before all else; borrowed */
void spread_free(struct spread *);

/* Who stands for a group is to be noted anew; nobody noted: it is not dealt. */
void spread_clear_candidates(struct spread *, size_t group);
void spread_add_candidate(struct spread *, size_t group, const char *member, uint64_t priority);

void spread_assign(struct spread *);
/* As of the last spread_assign(); NULL: nobody can tell. Borrowed until the next spread_add_candidate(). */
const char *spread_owner(const struct spread *, size_t group);

/* ---- When to hand over ---- */

/* Who should lead instead of us, and since when that is so without a break; how often we moved it. Zeroed: nobody, never. */
struct spread_watch {
    char better[ELECTOR_NAME_MAX + 1];
    uint64_t since_ns, moved_ns;
    unsigned moves;
};

/*
 * `owner` is who should lead instead of us; NULL: nobody. True if we should hand over to it: it was the same one whenever we
 * looked since three seconds ago. Who comes and goes does not get it. Each hand-over of ours within an hour doubles that time, up
 * to 128 times: members that hear different ones do not throw a group to and fro.
 */
bool spread_should_move(struct spread_watch *, const char *owner, uint64_t now_ns);
void spread_note_move(struct spread_watch *, uint64_t now_ns);

#endif
