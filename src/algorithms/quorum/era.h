/*
 * Members that change while groups are led: rules M7 to M16 of docs/quorum-protocol.md. The next record of the members
 * is decided elsewhere; here each member *installs* it, at any moment, and counts by it from then on.
 *
 * No operator reaches this yet: the agent has no era (struct quorum, `era` is NULL), so record 1, the configuration, is
 * in force there for ever. The simulator and the checker install records by the fact `record`.
 *
 *   joint     a majority of the old voters and one of the new are needed, for a vote as for a lease (M7)
 *   SETTLED   a voter says that what it promised by an earlier record is over (M10)
 *   sole      a majority of the old voters has said so: only the record's voters count (M11), and nobody wins in a
 *             term up to a floor (M12)
 *   former    a leader that installs a record has no promise of the new voters yet. It leads on, by the leases
 *             that ran at that moment and by the voters of before, which nothing renews
 *
 * Messages bear the sender's record and era, and its floor once the era is sole. While record 1 is in force these words
 * are 0, as they were before there were records.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_ERA_H
#define ELECTOR_ALGORITHMS_QUORUM_ERA_H

#include "algorithms/quorum/group.h"

struct quorum_era {
    uint64_t floor;     /* nobody wins in a term up to this one (M12) */
    uint32_t installed; /* how many records after the first; 0: record 1 is in force */
    uint32_t former;    /* by this one, counted alike, the formers count */
    uint8_t joint;      /* the era is not known to be sole */
    uint8_t former_joint;
    uint8_t settling; /* SETTLING runs: a promise by an earlier record may still run */
    uint8_t spare[5];
};
_Static_assert(sizeof(struct quorum_era) == 24, "no padding");

/* A lease that ran when a record was installed: FORMER runs. Promised by this incarnation and epoch. */
struct quorum_former {
    uint64_t incarnation; /* 0: none */
    uint64_t epoch;
    uint64_t base; /* the seq that it counts from */
};
_Static_assert(sizeof(struct quorum_former) == 24, "no padding");

/* ---- What messages say ---- */

/* Fills in record, era and floor, if the kind has room for them. */
struct el_msg quorum_with_era(const struct quorum *q, struct el_msg m);
/* Learns from a message that was admitted: that the era is sole. */
void quorum_hear_era(const struct quorum *q, const struct el_msg *m);
/* Notes that the sender has a record that we do not have. For any message, entitled or not: the host asks for it. And that it
 * is not behind. */
void quorum_hear_record(const struct quorum *q, const struct el_msg *m);
/* M8: the answer is of a later era than ours, and counts neither as a vote nor as a lease. */
bool quorum_is_of_later_era(const struct quorum *q, const struct el_msg *m);
bool quorum_is_of_earlier_era(const struct quorum *q, const struct el_msg *m);
/* The record of the sender is later than ours. */
bool quorum_is_of_later_record(const struct quorum *q, const struct el_msg *m);

/* ---- Installing ---- */

/* At the start: the record and the era on disk. */
void quorum_era_restore(const struct quorum *q, uint64_t word);
uint64_t quorum_era_word(const struct quorum *q);
/* M6: a record that was decided, with its floor, is installed unless we have it or a later one. True: it was. */
bool quorum_install(const struct quorum *q, uint32_t record, uint64_t floor);

/* ---- Ending a joint era ---- */

/* M10. */
bool quorum_is_settled(const struct quorum *q);
/* An Ack with SETTLED came, or we are settled ourselves: M11. */
void quorum_look_for_sole(const struct quorum *q);
/* FORMER or SETTLING has run out. */
void quorum_era_timer(const struct quorum *q, uint32_t timer, el_node slot);
void quorum_forget_former(const struct quorum *q, el_node node);

/* ---- Reading ---- */

static inline uint64_t quorum_era_floor(const struct quorum *q)
{
    return q->era ? q->era->floor : 0;
}

static inline uint32_t quorum_installed(const struct quorum *q)
{
    return q->era ? q->era->installed : 0;
}

/* M15: it votes or may lead by some record up to the one in force, so that it may still have to release something. */
bool quorum_was_member(const struct quorum *q, el_node node);
/* It may lead by some record up to the one in force: it may still lead until its promises end. */
bool quorum_could_lead(const struct quorum *q, el_node node);

#endif
