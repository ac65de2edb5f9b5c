/*
 * Deciding who the members are. Records of the membership are numbered 1, 2, 3…; record v+1 is decided by a majority of
 * the voters of record v, by one synod for each number, with ballots on disk and no clock. docs/members.md has the rules
 * M1 to M6 in full.
 *
 * The machine knows a record by its number and one word: the set of its voters, and a digest that the host made of
 * the record's bytes and of the record before it (record.h). The bytes themselves travel and lie on disk beside it.
 *
 * Start reading with struct decision, then proposer.c and voter.c (M2 to M4), install.c (M6), lost_disk.c (M5).
 * algorithm.c makes a machine of them for simulator and checker.
 */
#ifndef ELECTOR_ALGORITHMS_MEMBERS_DECISION_H
#define ELECTOR_ALGORITHMS_MEMBERS_DECISION_H

#include "core/machine.h"

/* A record in one word: bit k of the lowest 16 is position k + 1's vote, the other 48 are the digest. */
enum { DECISION_HOSTS_MAX = 16 };

/* A ballot: a counter, and the proposer's position in the lowest four bits. */
enum { DECISION_BALLOT_BITS = 24, DECISION_PROPOSER_BITS = 4 };

/* `speaks_from` while the member learns what it missed. */
#define DECISION_LEARNING UINT64_MAX

enum { DECISION_RESTING, DECISION_PREPARING, DECISION_ACCEPTING };

struct decision {
    uint64_t version;  /* of the record that is installed */
    uint64_t record;   /* its word */
    uint64_t promised; /* as a voter on record version + 1: it answers no lower ballot; 0: none */
    uint64_t accepted; /* the ballot of its last vote, 0: none */
    uint64_t value;    /* the record that it voted for */
    /* M5: mute until this version is installed; 0: it takes part; DECISION_LEARNING: it does not know yet. */
    uint64_t speaks_from;
    uint64_t
        life; /* since the disk was last lost, 0 if it never was: answers to earlier questions do not count */

    /* As a proposer; forgotten by a restart. */
    uint64_t wish;    /* the voters that were asked for; 0: nothing is asked for */
    uint64_t owed;    /* the version that some mute voter waits for */
    uint64_t ballot;  /* its own, while a phase is open */
    uint64_t best;    /* the highest ballot in which a promise tells of a vote, 0: none */
    uint64_t choice;  /* that vote, or its own proposal */
    uint64_t answers; /* who answered in this phase, or answered the learner; bits as el_bit */
    uint32_t phase;
    uint32_t tries;   /* ballots opened in this version, if they are limited */
    uint32_t steward; /* it was asked to propose since it started: it also ends muteness (M20) */
    uint32_t silent;  /* M5: since its disk was lost, the longest ballot has not passed */
};
_Static_assert(sizeof(struct decision) == 120, "no padding");

/*
 * In all of these, epoch is the number of a record and aux a ballot.
 *   Prepare   may I propose record `epoch` in this ballot?
 *   Promise   yes; more: the ballot of my last vote, 0 if none; extra[0]: what I voted for
 *   Accept    vote for `more`
 *   Accepted  I did
 *   Want      my record is number `epoch`, tell me of a later one; more: what I wait for if I am MUTE; rank: my life
 *   Record    number `epoch` is `more`; rank: the life that asked; extra: promised, accepted, value
 */
enum {
    DECISION_PREPARE = 1,
    DECISION_PROMISE,
    DECISION_ACCEPT,
    DECISION_ACCEPTED,
    DECISION_WANT,
    DECISION_RECORD
};
/* Flags of Want: the sender learns, or is mute. Of Record: it answers a question of such; the sender is itself mute. */
enum { DECISION_ASKS = 1, DECISION_ANSWERS = 2, DECISION_IS_MUTE = 4 };

enum { DECISION_TRY, DECISION_ASK, DECISION_SILENCE };

enum { DECISION_VOTERS, DECISION_ODD, DECISION_EVEN, DECISION_BALLOT, DECISION_SILENT, DECISION_ATTEMPTS };

#define DECISION_NOTE_LIST(NOTE)                                                                        \
    NOTE(DECISION_OPENS, "opens", "opens ballot #1 on record #2")                                       \
    NOTE(DECISION_PROMISES, "promises", "promises @1 to ignore ballots below #2")                       \
    NOTE(DECISION_REFUSES, "refuses", "does not answer @1: it has promised ballot #2")                  \
    NOTE(DECISION_OWN, "own", "finds no earlier vote and proposes its own change")                      \
    NOTE(DECISION_FINDS, "finds", "finds a vote in ballot #1 and proposes the same")                    \
    NOTE(DECISION_VOTES, "votes", "votes in ballot #2 of @1")                                           \
    NOTE(DECISION_DECIDES, "decides", "has a majority: record #1 is decided")                           \
    NOTE(DECISION_INSTALLS, "installs", "installs record #1, with #2 voters")                           \
    NOTE(DECISION_DONE, "done", "has done what it was asked for, in record #1")                         \
    NOTE(DECISION_UNKNOWN, "unknown", "cannot tell whether its change is in force: it missed a record") \
    NOTE(DECISION_GIVES_UP, "gives-up", "has opened #1 ballots without an end, and stops")              \
    NOTE(DECISION_ENDS, "ends", "ends ballot #1: answers that come later do not count")                 \
    NOTE(DECISION_BARRED, "barred", "may not propose: it is no voter, or mute")                         \
    NOTE(DECISION_NO_VOTER, "no-voter", "declines: somebody must vote")                                 \
    NOTE(DECISION_KEEPS_OUT, "keeps-out", "does not answer @1: it is no voter, or mute")                \
    NOTE(DECISION_STALE, "stale", "ignores a late answer from @1")                                      \
    NOTE(DECISION_TELLS, "tells", "tells @1 of record #2")                                              \
    NOTE(DECISION_BEHIND, "behind", "hears from @1 that record #2 may exist, and asks")                 \
    NOTE(DECISION_LOST, "lost", "has lost its disk: it keeps silent, then asks what it missed")         \
    NOTE(DECISION_LEARNED, "learned", "has learned enough at record #1, and is mute until #2")          \
    NOTE(DECISION_COPIES, "copies", "of two voters, copies what @1 promised and takes part again")      \
    NOTE(DECISION_SPEAKS, "speaks", "takes part again, from record #1 on")                              \
    NOTE(DECISION_OWES, "owes", "hears that @1 is mute until record #2")                                \
    NOTE(DECISION_NONSENSE, "nonsense", "drops what @1 cannot have meant")                              \
    NOTE(DECISION_OUT_OF_NUMBERS, "out-of-numbers", "has run out of ballots")
enum { DECISION_NOTE_LIST(EL_NOTE_NAME) };

/* ---- Words ---- */

static inline uint64_t decision_voters(uint64_t record)
{
    return record & UINT64_C(0xFFFF); /* as el_bit */
}

static inline uint32_t decision_size(uint64_t set)
{
    return el_set_size(&(uint64_t){set << 1}, DECISION_HOSTS_MAX); /* a set's bit 0 belongs to nobody */
}

static inline bool decision_is_voter(uint64_t record, el_node node)
{
    return decision_voters(record) & el_bit(node);
}

uint32_t decision_majority(uint64_t record);

/* M2, M5: only a voter of the installed record that is not mute proposes, promises or votes. */
bool decision_takes_part(const struct decision *me, const struct el_config *cfg);

/* The record that `author` makes of `before` by giving the vote to these. */
uint64_t decision_result(uint64_t before, uint64_t voters, el_node author);

/* Its ballot is over. */
static inline void decision_rest(struct decision *me)
{
    me->phase = DECISION_RESTING;
    me->ballot = me->best = me->choice = me->answers = 0;
}

/* ---- The parts ---- */

/* Writes what must survive (algorithm.c). */
void decision_save(const struct decision *me, struct el_outbox *out);

/* proposer.c */
void decision_propose(struct decision *me, const struct el_config *cfg, struct el_outbox *out);
/* Opens the next ballot as soon as there is something to propose. */
void decision_go_on(struct decision *me, const struct el_config *cfg, struct el_outbox *out);
void decision_on_try(struct decision *me, const struct el_config *cfg, struct el_outbox *out);
void decision_on_promise(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out);
void decision_on_accepted(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                          struct el_outbox *out);

/* voter.c */
void decision_on_prepare(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out);
void decision_on_accept(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out);

/* install.c */
void decision_install(struct decision *me, const struct el_config *cfg, uint64_t version, uint64_t record,
                      struct el_outbox *out);
void decision_tell(const struct decision *me, const struct el_config *cfg, el_node to, struct el_outbox *out);
void decision_tell_all(const struct decision *me, const struct el_config *cfg, struct el_outbox *out);
void decision_want(const struct decision *me, const struct el_config *cfg, el_node from, struct el_outbox *out);
void decision_on_want(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out);
void decision_on_record(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out);

/* lost_disk.c */
void decision_keep_silent(struct decision *me, const struct el_config *cfg, struct el_outbox *out);
void decision_on_silence(struct decision *me, const struct el_config *cfg, struct el_outbox *out);
void decision_ask(struct decision *me, const struct el_config *cfg, struct el_outbox *out);
void decision_on_answer(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out);

#endif
