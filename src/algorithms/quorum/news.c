/*
 * News for members without a vote (M24). They have sessions with voters only, so voters tell them who leads, their place
 * in line when a group comes free, and, while they lead, whom to name their heir.
 */
#include "algorithms/quorum/group.h"

static struct quorum_ballot *ballot(const struct quorum *q, el_node voter)
{
    return &q->ballots[voter - 1];
}

/* ---- Telling ---- */

uint32_t quorum_count_ahead(const struct quorum *q, el_node of, bool voteless)
{
    uint32_t ahead = 0;
    for (el_node node = 1; node <= q->cfg->cluster->count; node++)
        ahead += node != of && quorum_is_voteless(q, node) == voteless && quorum_may_lead(q, node) &&
                 quorum_recent(q, node) && el_outranks(q->cfg->cluster, node, of);
    return ahead;
}

struct quorum_told quorum_news_for(const struct quorum *q, el_node to)
{
    const struct quorum_group *g = q->group;
    const bool leads = g->role == QUORUM_LEADER, knows = leads || quorum_knows_leader(q);
    struct quorum_told told = {0};
    if (knows) {
        const struct quorum_tenant leader = leads ? quorum_ourselves(q, g->standing) : g->claim;
        told =
            (struct quorum_told){.leader = leader.id, .incarnation = leader.incarnation, .term = leader.term};
        for (el_node node = 1; leader.id == to && node <= q->cfg->cluster->count; node++)
            if (node != to && quorum_may_lead(q, node) && quorum_in_touch(q, node) &&
                el_outranks(q->cfg->cluster, node, told.heir))
                told.heir = node;
    } else if (to && quorum_is_free(q) && quorum_may_lead(q, to)) {
        const uint32_t ahead = quorum_count_ahead(q, to, true);
        if (ahead < QUORUM_FIRST_IN_LINE) told.place = 1 + ahead + quorum_count_ahead(q, to, false);
    }
    return told;
}

void quorum_tell_news(const struct quorum *q, el_node to)
{
    if (quorum_votes(q, q->cfg->self)) quorum_send(q, to, quorum_make_told(quorum_news_for(q, to)));
}

void quorum_tell_first_in_line(const struct quorum *q)
{
    if (!quorum_votes(q, q->cfg->self) || !quorum_has_voteless(q)) return;
    const bool was_free = q->group->was_free;
    q->group->was_free = quorum_is_free(q) && !quorum_knows_leader(q);
    for (el_node to = 1; !was_free && q->group->was_free && to <= q->cfg->cluster->count; to++)
        if (quorum_is_voteless(q, to) && quorum_recent(q, to) && quorum_news_for(q, to).place)
            quorum_tell_news(q, to);
}

/* ---- Being told ---- */

el_node quorum_who_tells(const struct quorum *q)
{
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        if (ballot(q, voter)->tells && quorum_recent(q, voter)) return voter;
    return EL_NOBODY;
}

static void wait_for_place(const struct quorum *q, uint32_t place)
{
    const el_duration stagger = el_number(q->cfg, QUORUM_OPTION_STAGGER);
    if (q->group->role != QUORUM_IDLE || q->group->waiting || !quorum_may_stand(q)) return;
    el_note(q->out, QUORUM_WAITS, place - 1, 0);
    quorum_wait(q, (place - 1) * stagger, (place - 1) * stagger + stagger / 2);
}

void quorum_hear_for_ourselves(const struct quorum *q)
{
    if (!quorum_votes(q, q->cfg->self)) return;
    q->group->told_by = 0;
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) {
        ballot(q, voter)->tells = 0;
        ballot(q, voter)->suggests = 0;
    }
}

static void forget_claim(const struct quorum *q)
{
    struct quorum_group *g = q->group;
    g->claim = (struct quorum_tenant){0};
    g->claim_heir = EL_NOBODY;
    g->claim_heir_term = 0;
    g->told_by = 0;
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) ballot(q, voter)->tells = 0;
    *q->changes |= QUORUM_REVIEW;
}

static void hear_of_leader(const struct quorum *q, el_node from, struct quorum_told told)
{
    struct quorum_group *g = q->group;
    if (g->claim.id && quorum_knows_leader(q) && told.term < g->claim.term) return;
    if (g->role == QUORUM_LEADER) { /* two leaders: some clock is wrong */
        if (told.term < g->standing) return;
        el_note(q->out, QUORUM_IS_DEPOSED, told.leader, told.term);
        quorum_break_off(q);
    }
    if (g->claim.term != told.term) forget_claim(q);
    g->claim = (struct quorum_tenant){.id = told.leader, .incarnation = told.incarnation, .term = told.term};
    g->told_by = (uint16_t)from;
    ballot(q, from)->tells = 1;
    *q->changes |= QUORUM_REVIEW;
}

/* Several voters tell: the highest term counts, for as long as one of them says so. */
void quorum_on_told(const struct quorum *q, el_node from, struct quorum_told told)
{
    struct quorum_group *g = q->group;
    const el_node self = q->cfg->self;
    if (quorum_votes(q, self)) return;
    ballot(q, from)->tells = 0;
    ballot(q, from)->suggests = g->role == QUORUM_LEADER && told.leader == self ? (uint16_t)told.heir : 0;
    if (told.leader && told.leader != self) hear_of_leader(q, from, told);
    if (g->told_by && quorum_who_tells(q) == EL_NOBODY) forget_claim(q);
    if (g->told_by) g->told_by = (uint16_t)quorum_who_tells(q);
    if (told.leader == self && g->role == QUORUM_LEADER && q->posts_claims) (void)quorum_prepare_claim(q);
    if (told.place) wait_for_place(q, told.place);
}
