/*
 * What the two halves of raft share: raft.c elects (who stands, who votes, who follows), raft_leadership.c is what a leader
 * does (beat, count who answers, name an heir). Nobody else includes this.
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
    uint8_t hurried; /* stands, this once, because it was told to: others need not be loyal */
    el_node heir;    /* whom the leader is handing over to */
};
_Static_assert(sizeof(struct raft) == 40, "no hidden padding");
/* Three sets follow: who granted what we ask for, whom the leader has heard since it last counted, and whom it
 * had heard then. */

enum { FOLLOWER, PRE_CANDIDATE, CANDIDATE, LEADER };
enum { PRE_VOTE = 1, PRE_GRANT, VOTE, GRANT, REFUSE, BEAT, BEAT_ACK, TIMEOUT_NOW, KINDS = TIMEOUT_NOW };
enum { HURRIED = 1 }; /* flag of VOTE */
enum { T_ELECTION, T_LOYALTY, T_BEAT, T_QUORUM, T_HANDOVER, TIMERS };
enum { ELECTION, HEARTBEAT, PREVOTE, CHECK_QUORUM, OPTIONS };
enum { LOG_TERM, LOG_INDEX, FACTS };
enum {
    ASKS_AROUND,
    STANDS,
    VOTES,
    WOULD_VOTE,
    LOYAL,
    LEADS_ALREADY,
    VOTED_ALREADY,
    LOG_TOO_OLD,
    OLD_TERM,
    WINS,
    LEARNS,
    STEPS_DOWN,
    LOST_QUORUM,
    MUTE,
    HANDS_OVER,
    TOLD_TO_STAND,
    HANDOVER_FAILED,
    RESIGNS,
    CALL_IGNORED,
};

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
/* Whether those it has heard since it last counted are enough to stay. */
bool raft_keeps_quorum(struct raft *me, const struct el_config *cfg, struct el_outbox *out);
/* Tells the best-ranked of those it has heard lately to stand, if there is one. */
void raft_name_heir(struct raft *me, const struct el_config *cfg, struct el_outbox *out);
/* Tells this one to stand, and leads on until it does. */
enum el_answer raft_hand_over(struct raft *me, const struct el_config *cfg, el_node to, struct el_outbox *out);
void raft_hand_over_failed(struct raft *me, struct el_outbox *out);

#endif
