/* See speakers.h. */
#include "algorithms/quorum/speakers.h"

/* ---- About whom ---- */

static bool is_heir(const struct el_config *cfg, struct quorum_claim named)
{
    if (named.heir == EL_NOBODY) return true;
    return named.heir <= cfg->cluster->count && quorum_is_voter(cfg, named.heir) &&
           quorum_proposer(named.heir_term) == named.heir;
}

bool quorum_may_claim(const struct el_config *cfg, el_node from, struct quorum_claim claim)
{
    if (claim.term == 0) return claim.heir == EL_NOBODY;
    return quorum_may_hold(cfg, from) && quorum_proposer(claim.term) == from && is_heir(cfg, claim);
}

static bool is_about_itself(const struct el_msg *m)
{
    return m->subject == m->from && quorum_incarnation_about(m) <= quorum_from_incarnation(m);
}

/* ---- What ---- */

bool quorum_is_entitled(const struct el_config *cfg, const struct el_msg *m)
{
    const bool is_voter = quorum_is_voter(cfg, m->from), may_lead = quorum_may_hold(cfg, m->from);
    const el_node named_by = quorum_proposer(m->epoch);
    switch (m->kind) {
    case QUORUM_BEAT: return may_lead && quorum_may_claim(cfg, m->from, quorum_claim_in(m));
    case QUORUM_ACK: return is_voter || !(m->flags & QUORUM_PROMISE);
    case QUORUM_VOTE: return may_lead && named_by == m->from;
    case QUORUM_GRANT:
    case QUORUM_CHECK: return is_voter && named_by == cfg->self;
    case QUORUM_REFUSE: return is_voter && quorum_is_voter(cfg, m->subject);
    case QUORUM_RELEASE: return is_voter && is_about_itself(m) && is_heir(cfg, quorum_heir_in(m));
    case QUORUM_OBIT:
        return is_voter && is_about_itself(m) && quorum_incarnation_about(m) < quorum_from_incarnation(m);
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
    return climb_to(q, term) <= left || !quorum_is_voter(q->cfg, q->cfg->self);
}

void quorum_hear_term(const struct quorum *q, uint64_t term)
{
    const uint64_t left = (uint64_t)QUORUM_CLIMB - q->me->climbed, climb = climb_to(q, term);
    q->me->climbed = (uint16_t)(q->me->climbed + (climb < left ? climb : left));
    quorum_see(q, term);
}

void quorum_hear_terms(const struct quorum *q, const struct el_msg *m)
{
    if (!quorum_is_voter(q->cfg, m->from)) return;
    quorum_hear_term(q, m->epoch);
    quorum_hear_term(q, quorum_clock_of(m));
}
