/* See speakers.h. */
#include "algorithms/quorum/speakers.h"

#include "algorithms/quorum/era.h"

/* ---- About whom ---- */

/* Where records may follow, an heir may be a member by a record that we do not have. A push asks whether it may lead. */
static bool is_heir(const struct quorum *q, struct quorum_claim named)
{
    const struct el_cluster *cluster = q->cfg->cluster;
    if (named.heir == EL_NOBODY) return true;
    if (named.heir > cluster->count || quorum_proposer(named.heir_term) != named.heir) return false;
    return cluster->record_count > 0 || quorum_was_member(q, named.heir);
}

bool quorum_may_claim(const struct quorum *q, el_node from, struct quorum_claim claim)
{
    if (claim.term == 0) return claim.heir == EL_NOBODY;
    return quorum_could_lead(q, from) && quorum_proposer(claim.term) == from && is_heir(q, claim);
}

static bool is_about_itself(const struct el_msg *m)
{
    return m->subject == m->from && quorum_incarnation_about(m) <= quorum_from_incarnation(m);
}

/* Voters by record 1. Where records may follow, all that take part: who has a vote is the record's matter (M15). */
static bool speaks_as_voter(const struct quorum *q, el_node node)
{
    return q->cfg->cluster->record_count > 0 ? quorum_was_member(q, node) : quorum_is_voter(q->cfg, node);
}

/* Where records may follow, it may be a member by a record that we do not have, as an heir may. */
static bool may_be_told_of(const struct quorum *q, el_node node)
{
    return q->cfg->cluster->record_count > 0 || quorum_takes_part(q->cfg, node);
}

/* A voter tells of another leader, or suggests an heir. */
bool quorum_may_tell(const struct quorum *q, el_node from, struct quorum_told told)
{
    const uint32_t count = q->cfg->cluster->count;
    if (!quorum_had_vote(q, from)) return false;
    if (told.heir > count || (told.heir && !may_be_told_of(q, told.heir))) return false;
    return told.leader == EL_NOBODY || (told.leader <= count && may_be_told_of(q, told.leader) &&
                                        quorum_proposer(told.term) == told.leader);
}

/* ---- What ---- */

/* M15: who was a member, by any record up to ours, may still say what a member may. What counts is decided by the record
 * in force. */
bool quorum_is_entitled(const struct quorum *q, const struct el_msg *m)
{
    const bool is_voter = speaks_as_voter(q, m->from), may_lead = quorum_could_lead(q, m->from);
    const bool takes_part = quorum_was_member(q, m->from);
    const el_node named_by = quorum_proposer(m->epoch);
    if (!quorum_has_session(q, m->from)) return false; /* M22 */
    switch (m->kind) {
    case QUORUM_BEAT: return may_lead && quorum_may_claim(q, m->from, quorum_claim_in(m));
    case QUORUM_ACK: return is_voter || !(m->flags & QUORUM_PROMISE);
    case QUORUM_VOTE: return may_lead && named_by == m->from;
    case QUORUM_GRANT:
    case QUORUM_CHECK: return is_voter && named_by == q->cfg->self;
    case QUORUM_REFUSE: return is_voter && quorum_was_member(q, m->subject);
    case QUORUM_RELEASE: return takes_part && is_about_itself(m) && is_heir(q, quorum_heir_in(m));
    case QUORUM_OBIT:
        return takes_part && is_about_itself(m) && quorum_incarnation_about(m) < quorum_from_incarnation(m);
    case QUORUM_TOLD: return quorum_may_tell(q, m->from, quorum_told_in(m));
    default: return is_voter; /* AskFloor, TellFloor */
    }
}

/* ---- Terms ---- */

uint64_t quorum_terms_in(const struct el_msg *m)
{
    uint64_t more = 0;
    if (m->kind == QUORUM_BEAT) more = quorum_claim_in(m).heir_term;
    if (m->kind == QUORUM_RELEASE) more = quorum_heir_in(m).heir_term;
    if (m->kind == QUORUM_REFUSE) more = quorum_floor(m);
    return quorum_highest(quorum_highest(m->epoch, quorum_clock_of(m)), more);
}

/* How far the counter of this term is above all that we know, and above QUORUM_COUNTER_MOST. */
static uint64_t climb_to(const struct quorum *q, uint64_t term)
{
    const uint64_t known = quorum_highest(QUORUM_COUNTER_MOST, quorum_counter(q->me->clock));
    return quorum_counter(term) > known ? quorum_counter(term) - known : 0;
}

bool quorum_believes(const struct quorum *q, uint64_t term)
{
    const uint64_t left = (uint64_t)QUORUM_CLIMB - q->me->climbed;
    return climb_to(q, term) <= left || !quorum_was_member(q, q->cfg->self);
}

void quorum_hear_term(const struct quorum *q, uint64_t term)
{
    const uint64_t left = (uint64_t)QUORUM_CLIMB - q->me->climbed, climb = climb_to(q, term);
    q->me->climbed = (uint16_t)(q->me->climbed + (climb < left ? climb : left));
    quorum_see(q, term);
}

void quorum_hear_terms(const struct quorum *q, const struct el_msg *m)
{
    if (!quorum_was_member(q, m->from)) return;
    quorum_hear_term(q, m->epoch);
    if (speaks_as_voter(q, m->from)) quorum_hear_term(q, quorum_clock_of(m));
}
