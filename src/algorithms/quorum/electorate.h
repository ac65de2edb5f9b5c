/*
 * Who votes by a record, and what a majority is. Rule M7 of docs/quorum-protocol.md.
 *
 * Records are numbered from 1. Record 1 is the configuration: its roles say who votes, and any number may. A later record
 * (struct el_record) names sets of members, at most 64. A record that changes who votes begins an *era*. The
 * era is *joint* until it is known that nobody counts by the voters of the era before: until then a majority
 * of the old voters and one of the new are needed. Then it is *sole*.
 *
 * The core and this header only: no session, no group.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_ELECTORATE_H
#define ELECTOR_ALGORITHMS_QUORUM_ELECTORATE_H

#include "elector/core.h"

struct quorum_electorate {
    const struct el_cluster *cluster; /* not NULL: record 1, whose voters its roles tell; `now` is unused */
    uint64_t now, from;               /* sets of voters; `from`: those of the era before, while joint */
    uint32_t majority, from_majority; /* of each; from_majority 0: the era is sole */
};

/* How many of some members vote, in each set. */
struct quorum_tally {
    uint32_t now, from;
};

static inline uint32_t quorum_majority_of(uint32_t voters)
{
    return voters / 2 + 1;
}

static inline bool quorum_is_in(uint64_t set, el_node node)
{
    return node <= 64 && (set & el_bit(node));
}

/* By its role in record 1. A member that may lead without a vote is in no set of voters. */
static inline bool quorum_has_vote(const struct el_cluster *cluster, el_node node)
{
    const uint8_t *roles = cluster->roles;
    return !roles || roles[node - 1] == EL_CANDIDATE || roles[node - 1] == EL_ORDINARY;
}

static inline bool quorum_is_in_now(const struct quorum_electorate *e, el_node node)
{
    if (e->cluster) return quorum_has_vote(e->cluster, node);
    return quorum_is_in(e->now, node);
}

/* M13: while joint, members of either set vote. */
static inline bool quorum_elects(const struct quorum_electorate *e, el_node node)
{
    return quorum_is_in_now(e, node) || quorum_is_in(e->from, node);
}

/* Counts one member, once. A member without a vote never counts. */
static inline void quorum_count(const struct quorum_electorate *e, struct quorum_tally *tally, el_node node)
{
    tally->now += quorum_is_in_now(e, node);
    tally->from += quorum_is_in(e->from, node);
}

/* A majority of each set in force, counting `without` members less. */
static inline bool quorum_suffices(const struct quorum_electorate *e, struct quorum_tally tally,
                                   struct quorum_tally without)
{
    return tally.now >= e->majority + without.now &&
           (e->from_majority == 0 || tally.from >= e->from_majority + without.from);
}

static inline bool quorum_is_majority(const struct quorum_electorate *e, struct quorum_tally tally)
{
    return quorum_suffices(e, tally, (struct quorum_tally){0, 0});
}

/* ---- Records, counted from 0: the configuration ---- */

uint32_t quorum_size(uint64_t set);
/* Who votes, or may lead, by this record. For record 0 of at most 64 members. */
uint64_t quorum_voters_by(const struct el_cluster *cluster, uint32_t record);
uint64_t quorum_leaders_by(const struct el_cluster *cluster, uint32_t record);
/* Whether this record has other voters than the one before it, and so begins an era. */
bool quorum_begins_era(const struct el_cluster *cluster, uint32_t record);
/* How many eras have begun up to this record. */
uint32_t quorum_era_number(const struct el_cluster *cluster, uint32_t record);
/* The electorate of a record after the first. `joint`: its era is not known to be sole. */
struct quorum_electorate quorum_electorate_of(const struct el_cluster *cluster, uint32_t record, bool joint);

#endif
