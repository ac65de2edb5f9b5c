/*
 * A group as a machine of its own: what it hears, what its timers and its sessions tell it, and what it shows. A host
 * with many groups calls these for each group that a message names; sessions' news concern the groups that a member
 * leads, follows without a leader, or has promised to the member in question.
 */
#include "algorithms/quorum/group.h"

void quorum_say(const struct quorum *q, el_node to, struct el_msg msg)
{
    if (to != q->cfg->self) {
        quorum_send(q, to, msg);
        return;
    }
    msg = quorum_to_self(q, msg);
    quorum_group_hear(q, &msg);
}

void quorum_say_all(const struct quorum *q, struct el_msg msg)
{
    for (el_node to = 1; to <= q->cfg->cluster->count; to++)
        if (to != q->cfg->self) quorum_send(q, to, msg);
    quorum_say(q, q->cfg->self, msg);
}

void quorum_group_hear(const struct quorum *q, const struct el_msg *m)
{
    switch (m->kind) {
    case QUORUM_VOTE: quorum_on_vote(q, m); return;
    case QUORUM_GRANT: quorum_on_grant(q, m); return;
    case QUORUM_REFUSE: quorum_on_refusal(q, m); return;
    case QUORUM_RELEASE: quorum_on_release(q, m); return;
    default: quorum_on_check(q, m); return;
    }
}

void quorum_group_timer(const struct quorum *q, uint32_t timer)
{
    if (timer == QUORUM_ASKED) {
        q->group->next_fresh = 0; /* it has run out: there is nothing to disarm */
        quorum_forget_next(q);
    } else {
        quorum_candidate_timer(q, timer);
    }
}

void quorum_group_take_changes(const struct quorum *q)
{
    const uint32_t changes = *q->changes;
    *q->changes = 0;
    if (changes & QUORUM_HEIRS) (void)quorum_prepare_claim(q);
    if (changes & QUORUM_LAPSED) quorum_check_lease(q);
    if (changes & QUORUM_FREED) quorum_push(q, EL_NOBODY, 0);
    if ((changes | *q->changes) & (QUORUM_REVIEW | QUORUM_LAPSED | QUORUM_FREED)) quorum_review(q);
}

void quorum_group_view(const struct quorum *q, struct el_view *view)
{
    const struct quorum_group *g = q->group;
    const bool leads = g->role == QUORUM_LEADER;
    const el_node leader = leads ? q->cfg->self : quorum_knows_leader(q) ? g->claim.id : EL_NOBODY;
    const uint64_t term = leader && !leads ? g->claim.term : g->standing;
    el_view_of(view, q->cfg, leader, g->role == QUORUM_CANDIDATE, term);
    if (leader == EL_NOBODY) return;
    view->timer = leads ? QUORUM_LEASE : QUORUM_RECENT;
    view->slot = leads ? quorum_bound_by(q) : leader;
}
