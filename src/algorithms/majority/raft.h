/*
 * The state shared by the two halves of raft: raft.c elects (standing, voting, following), raft_leadership.c
 * leads (heartbeats, counting answers, naming an heir). No other file includes this.
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_RAFT_H
#define ELECTOR_ALGORITHMS_MAJORITY_RAFT_H

#include "algorithms/mesh/mesh.h"

enum { NEVER_VOTED = 0 };

struct raft {
    uint64_t term;
    uint64_t log_term, log_index; /* how recent the application's log is */
    el_node vote;                 /* in this term */
    el_node leader;               /* of this term */
    uint8_t role;
    uint8_t loyal;   /* heard a leader within the shortest timeout: refuses to help replace it */
    uint8_t mute;    /* its record is lost: it never votes */
    uint8_t hurried; /* the leader told it to stand: voters ignore their loyalty for this one candidacy */
    el_node heir;    /* the member that the leader is handing over to */
};
_Static_assert(sizeof(struct raft) == 40, "no hidden padding");
/* Three sets follow: members that granted our request, members the leader has heard since its last count, and
 * members it had heard at that count. */

enum { FOLLOWER, PRE_CANDIDATE, CANDIDATE, LEADER };
enum { PRE_VOTE = 1, PRE_GRANT, VOTE, GRANT, REFUSE, BEAT, BEAT_ACK, TIMEOUT_NOW, KINDS = TIMEOUT_NOW };
enum { HURRIED = 1 }; /* flag of VOTE */
enum { T_ELECTION, T_LOYALTY, T_BEAT, T_QUORUM, T_HANDOVER, TIMERS };
enum { ELECTION, HEARTBEAT, PREVOTE, CHECK_QUORUM, OPTIONS };
enum { LOG_TERM, LOG_INDEX, FACTS };
#define NOTE_LIST(NOTE)                                                                           \
    NOTE(ASKS_AROUND, "asks-around", "asks whether it would win term #1")                         \
    NOTE(STANDS, "stands", "stands for term #1 and votes for itself")                             \
    NOTE(VOTES, "votes", "votes for @1 in term #2")                                               \
    NOTE(WOULD_VOTE, "would-vote", "would vote for @1 in term #2")                                \
    NOTE(LOYAL, "loyal", "has heard a leader lately and does not help @1")                        \
    NOTE(LEADS_ALREADY, "leads-already", "leads and does not help @1")                            \
    NOTE(VOTED_ALREADY, "voted-already", "has given its vote of term #2 to another than @1")      \
    NOTE(LOG_TOO_OLD, "log-too-old", "does not vote for @1, whose log is behind its own")         \
    NOTE(OLD_TERM, "old-term", "tells @1 that the term is #2 by now")                             \
    NOTE(WINS, "wins", "has #1 votes and leads term #2")                                          \
    NOTE(LEARNS, "learns", "learns that @1 leads term #2")                                        \
    NOTE(STEPS_DOWN, "steps-down", "meets term #1 and steps down")                                \
    NOTE(LOST_QUORUM, "lost-quorum", "has not heard from a majority for too long and steps down") \
    NOTE(MUTE, "mute", "has lost its record and does not vote")                                   \
    NOTE(HANDS_OVER, "hands-over", "tells @1 to stand at once")                                   \
    NOTE(TOLD_TO_STAND, "told-to-stand", "is told by @1 to stand at once")                        \
    NOTE(HANDOVER_FAILED, "handover-failed", "still leads: @1 did not take over in time")         \
    NOTE(RESIGNS, "resigns", "resigns from term #1")                                              \
    NOTE(CALL_IGNORED, "call-ignored", "is called to stand, and does not: it leads, or may not lead")
enum { NOTE_LIST(EL_NOTE_NAME) };

static inline uint64_t *grants(struct raft *me)
{
    return (uint64_t *)(me + 1);
}

static inline uint64_t *heard(struct raft *me, const struct el_config *cfg)
{
    return grants(me) + el_set_words(cfg->cluster->count);
}

static inline uint64_t *heard_before(struct raft *me, const struct el_config *cfg)
{
    return heard(me, cfg) + el_set_words(cfg->cluster->count);
}

static inline struct el_msg speak(const struct raft *me, const struct el_config *cfg, uint8_t kind)
{
    return (struct el_msg){.kind = kind, .subject = cfg->self, .epoch = me->term};
}

/* ---- raft_leadership.c ---- */

void raft_take_office(struct raft *me, const struct el_config *cfg, struct el_outbox *out);
void raft_leave_office(struct raft *me, struct el_outbox *out);
void raft_beat(const struct raft *me, const struct el_config *cfg, struct el_outbox *out);
/* True if the members heard since the last count are a majority, so that the leader stays. */
bool raft_keeps_quorum(struct raft *me, const struct el_config *cfg, struct el_outbox *out);
/* Tells the best-ranked member heard in this count or the last to stand, if there is one. */
void raft_name_heir(struct raft *me, const struct el_config *cfg, struct el_outbox *out);
/* Tells this member to stand, and keeps leading until it does. */
enum el_answer raft_hand_over(struct raft *me, const struct el_config *cfg, el_node to, struct el_outbox *out);
void raft_hand_over_failed(struct raft *me, struct el_outbox *out);

#endif
