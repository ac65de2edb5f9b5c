/* See driver.h. */
#include "algorithms/quorum/driver.h"

#include "algorithms/quorum/era.h"
#include "algorithms/quorum/speakers.h"

/* Ends every event: tells the group, if there is one, what happened to the sessions. */
static void settle(const struct quorum *q)
{
    if (!q->group) return;
    const uint32_t changes = *q->changes;
    *q->changes = 0;
    if (changes & QUORUM_HEIRS) (void)quorum_prepare_claim(q);
    if (changes & QUORUM_LAPSED) quorum_check_lease(q);
    if (changes & QUORUM_FREED) quorum_push(q, EL_NOBODY, 0);
    if ((changes | *q->changes) & (QUORUM_REVIEW | QUORUM_LAPSED | QUORUM_FREED)) quorum_review(q);
    if (!q->posts_claims) quorum_tell_first_in_line(q);
}

/* A leader without a vote has no session with an observer. */
static void tell_observers(const struct quorum *q)
{
    if (!quorum_votes(q, q->cfg->self) || !quorum_has_voteless(q)) return;
    for (el_node to = 1; to <= q->cfg->cluster->count; to++)
        if (quorum_is_observer(q, to)) quorum_tell_news(q, to);
}

/* By the record in force. Also a member that has no vote and does not want to lead now. */
static bool takes_part(const struct quorum *q)
{
    const el_node self = q->cfg->self;
    return quorum_votes(q, self) || quorum_may_lead(q, self) || quorum_is_voteless(q, self);
}

/* If claims are posted, QUORUM_HEIRS makes each leader count the beats of its heir, for preempt. */
static void beat(const struct quorum *q)
{
    static const struct quorum_claim no_claim = {0};
    if (q->me->incarnation == 0 || !takes_part(q)) return;
    quorum_session_beat(q, q->posts_claims ? no_claim : quorum_prepare_claim(q));
    if (!q->posts_claims) tell_observers(q);
    if (q->posts_claims && el_number(q->cfg, QUORUM_OPTION_PREEMPT)) *q->changes |= QUORUM_HEIRS;
}

void quorum_start(const struct quorum *q, const struct el_start *start)
{
    quorum_session_start(q, start);
    if (q->group && start->how != EL_FRESH) quorum_listen_first(q);
    if (q->group && start->incumbent && quorum_takes_part(q->cfg, start->incumbent)) {
        quorum_session_acquaint(q);
        quorum_begin_under(q, start->incumbent);
    }
    beat(q);
    *q->changes |= QUORUM_REVIEW; /* a cluster of one member elects itself at once */
    settle(q);
}

void quorum_tell_time(const struct quorum *q, uint64_t ms)
{
    const bool is_mute = q->me->incarnation == 0;
    quorum_session_wall_clock(q, ms);
    if (is_mute) beat(q);
    settle(q);
}

void quorum_tell_record(const struct quorum *q, uint32_t record, uint64_t floor)
{
    if (quorum_install(q, record, floor)) {
        if (q->group) quorum_hear_for_ourselves(q);
        beat(q); /* tells the others, and asks for promises by the new record */
    }
    settle(q);
}

/* ---- Obituaries ---- */

/* A guardian tells it several times. */
static bool is_known(const struct quorum *q, el_node who, uint64_t incarnation)
{
    return incarnation == 0 || incarnation == quorum_peer(q, who)->dead;
}

/* The session first: that ends the promise to the dead also for groups that have not been told yet. */
static void bury(const struct quorum *q, el_node who, uint64_t incarnation)
{
    if (who == q->cfg->self || is_known(q, who, incarnation)) return; /* our own is of no use to us */
    quorum_session_bury(q, who, incarnation);
    if (q->group) quorum_on_obit(q, who, incarnation);
    *q->changes |= QUORUM_REVIEW | QUORUM_BURIED;
}

void quorum_tell_obituary(const struct quorum *q, el_node who, uint64_t incarnation)
{
    if (q->me->incarnation == 0 || is_known(q, who, incarnation)) return;
    if (who == q->cfg->self && incarnation >= q->me->incarnation)
        return; /* we are alive: passing it on would elect a second leader */
    bury(q, who, incarnation);
    for (el_node to = 1; who == q->cfg->self && to <= q->cfg->cluster->count; to++)
        if (quorum_tells(q, to)) quorum_send(q, to, quorum_make_obit(who, incarnation));
    settle(q);
}

/* ---- Messages ---- */

bool quorum_is_of_group(uint8_t kind)
{
    return kind == QUORUM_VOTE || kind == QUORUM_GRANT || kind == QUORUM_REFUSE || kind == QUORUM_RELEASE ||
           kind == QUORUM_CHECK || kind == QUORUM_TOLD;
}

/* Handles the claim in a beat before it acknowledges the beat. */
static void hear(const struct quorum *q, const struct el_msg *m)
{
    if (quorum_is_of_group(m->kind)) {
        quorum_group_hear(q, m);
    } else if (m->kind == QUORUM_OBIT) {
        bury(q, m->subject, quorum_incarnation_about(m));
    } else {
        if (m->kind == QUORUM_BEAT && !q->posts_claims)
            quorum_on_claim(q, m->from, quorum_from_incarnation(m), quorum_claim_in(m));
        quorum_session_hear(q, m);
        if (m->kind == QUORUM_BEAT && !q->posts_claims && quorum_is_voteless(q, m->from))
            quorum_tell_news(q, m->from);
    }
}

bool quorum_deliver(const struct quorum *q, const struct el_msg *m)
{
    quorum_hear_record(q, m);
    const bool is_admitted = quorum_session_admit(q, m);
    if (is_admitted) quorum_hear_era(q, m);
    if (is_admitted) hear(q, m);
    settle(q); /* also if not admitted: it may be the first message of a new incarnation */
    return is_admitted;
}

void quorum_read_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim)
{
    if (claim.heir == from) claim.heir = EL_NOBODY;
    if (claim.heir == EL_NOBODY) claim.heir_term = 0;
    const uint64_t highest = quorum_highest(claim.term, claim.heir_term);
    if (highest >= EL_EPOCH_MAX || !quorum_may_claim(q, from, claim)) {
        el_note(q->out, QUORUM_DROPS_UNENTITLED, from, QUORUM_BEAT);
    } else if (!quorum_believes(q, highest)) {
        el_note(q->out, QUORUM_DROPS_CLOCK, from, highest);
    } else {
        quorum_hear_term(q, claim.term);
        quorum_on_claim(q, from, incarnation, claim);
    }
    settle(q);
}

void quorum_read_news(const struct quorum *q, el_node from, struct quorum_told told)
{
    if (told.term >= EL_EPOCH_MAX || told.leader > q->cfg->cluster->count || !quorum_may_tell(q, from, told)) {
        el_note(q->out, QUORUM_DROPS_UNENTITLED, from, QUORUM_TOLD);
    } else if (!quorum_believes(q, told.term)) {
        el_note(q->out, QUORUM_DROPS_CLOCK, from, told.term);
    } else {
        quorum_hear_term(q, told.term);
        quorum_on_told(q, from, told);
    }
    settle(q);
}

/* ---- Timers and requests ---- */

void quorum_fire(struct quorum *q, uint32_t timer, el_node slot)
{
    q->late = true;
    if (timer == QUORUM_PULSE) {
        beat(q);
    } else if (timer == QUORUM_FORMER || timer == QUORUM_SETTLING) {
        quorum_era_timer(q, timer, slot);
    } else if (timer < QUORUM_PULSE) {
        quorum_session_timer(q, timer, slot);
    } else if (timer == QUORUM_ASKED) {
        q->group->next_fresh = 0; /* it has run out: there is nothing to disarm */
        quorum_forget_next(q);
    } else {
        quorum_candidate_timer(q, timer);
    }
    settle(q);
}

enum el_answer quorum_request(const struct quorum *q, enum el_request_what what, el_node to)
{
    enum el_answer answer = EL_PERFORMED;
    if (what == EL_CAMPAIGN)
        quorum_on_campaign(q);
    else
        answer = quorum_on_request(q, what, to);
    settle(q);
    return answer;
}

void quorum_view(const struct quorum *q, struct el_view *view)
{
    const struct quorum_group *g = q->group;
    const bool leads = g->role == QUORUM_LEADER;
    const el_node leader = leads ? q->cfg->self : quorum_knows_leader(q) ? g->claim.id : EL_NOBODY;
    const uint64_t term = leader && !leads ? g->claim.term : g->standing;
    el_view_of(view, q->cfg, leader, g->role == QUORUM_CANDIDATE, term);
    if (leader == EL_NOBODY) return;
    view->timer = leads ? QUORUM_LEASE : QUORUM_RECENT;
    view->slot = leads ? quorum_bounding_voter(q) : g->told_by ? g->told_by : leader;
    if (view->slot || !g->carried) return;
    view->timer = QUORUM_FORMER; /* led since before the record, and not yet backed by it */
    view->slot = quorum_former_bound(q);
}

/* ---- Many groups ---- */

void quorum_tell(const struct quorum *q, uint32_t changes, const struct quorum_obituary *dead, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) quorum_on_obit(q, dead[i].who, dead[i].incarnation);
    *q->changes |= changes;
    settle(q);
}

/* If a peer is heard again, its claims count again. If it is linked or restarted, the choice of heirs
 * changes. A voter sends no beats to a member at rest, whose own beats say whether it hears us. */
uint32_t quorum_see_changes(const struct quorum_peer *p, struct quorum_backing *known)
{
    const struct quorum_backing was = *known, now = {.incarnation = p->incarnation,
                                                     .promise_incarnation = p->lease ? p->base_incarnation : 0,
                                                     .promise_epoch = p->lease ? p->base_epoch : 0,
                                                     .v_epoch = p->v_epoch,
                                                     .linked = p->linked || p->renews == QUORUM_RESTS,
                                                     .recent = p->recent};
    uint32_t changes = 0;
    *known = now;
    if (now.promise_incarnation != was.promise_incarnation || now.promise_epoch != was.promise_epoch)
        changes |= QUORUM_LAPSED;
    if (now.v_epoch != was.v_epoch || now.recent > was.recent) changes |= QUORUM_REVIEW;
    if (now.linked != was.linked || now.incarnation != was.incarnation) changes |= QUORUM_REVIEW | QUORUM_HEIRS;
    return changes;
}
