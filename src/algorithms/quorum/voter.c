/*
 * The voter's part of a group. It grants, refuses, remembers the best of those it refused, and is released.
 * When the group comes free, it pushes its vote to the member that should lead next. Refusing never raises a
 * term, so a member that cannot win disturbs nobody.
 */
#include "algorithms/quorum/group.h"
#include "algorithms/quorum/speakers.h"

static uint64_t spent(const struct quorum *q)
{
    return quorum_highest(q->group->term, q->me->floor);
}

static void forget(struct quorum_tenant *tenant)
{
    *tenant = (struct quorum_tenant){0};
}

static void forget_claim(struct quorum_group *g)
{
    forget(&g->claim);
    g->claim_heir = EL_NOBODY;
    g->claim_heir_term = 0;
    g->told_by = 0;
}

void quorum_forget_next(const struct quorum *q)
{
    forget(&q->group->next);
    q->group->next_joins = 0;
    if (q->group->next_fresh) el_disarm(q->out, QUORUM_ASKED, 0);
    q->group->next_fresh = 0;
}

static bool is_held(const struct quorum *q)
{
    const struct quorum_tenant *holder = &q->group->holder;
    return holder->id && quorum_promise_lives(q, holder->id, holder->incarnation);
}

bool quorum_is_free(const struct quorum *q)
{
    return quorum_may_grant(q) && !is_held(q) && q->group->role == QUORUM_IDLE;
}

/* ---- Granting ---- */

/* Q9: we grant the group away from its recorded holder. The higher epoch tells the holder. */
static void let_go(const struct quorum *q)
{
    const struct quorum_tenant *holder = &q->group->holder;
    struct quorum_peer *p = quorum_peer(q, holder->id);
    if (holder->incarnation != p->incarnation) return;
    p->epoch++;
    el_note(q->out, QUORUM_GRANTED_AWAY, holder->id, p->epoch);
}

/* Q10: a leader with a term below our floor gets a promise but no vote. */
static void grant(const struct quorum *q, el_node to, uint64_t term, bool join)
{
    struct quorum_group *g = q->group;
    const struct quorum_peer *p = quorum_peer(q, to);
    const bool same = quorum_is(&g->holder, to, p->incarnation), no_vote = join && term <= spent(q);
    if (g->holder.id && !same) let_go(q);
    const uint64_t held = same ? quorum_highest(g->holder.term, term) : term;
    g->holder = (struct quorum_tenant){.id = to, .incarnation = p->incarnation, .term = held};
    el_note(q->out, no_vote ? QUORUM_JOINS : QUORUM_GRANTS, to, term);
    if (!no_vote) {
        g->term = quorum_highest(g->term, term);
        quorum_reserve(q, g->term);
    }
    if (g->next.id == to) quorum_forget_next(q);
    quorum_entrust(q, to);
    quorum_say(q, to, quorum_make_grant(term, p->seen, p->epoch, no_vote));
}

/* ---- Refusing ---- */

/* Q10: a leader's request (JOIN) beats any rank; a request older than half a lease yields to any other. */
static void remember(const struct quorum *q, const struct el_msg *m)
{
    struct quorum_group *g = q->group;
    const bool join = m->flags & QUORUM_JOIN;
    const bool better = join != (bool)g->next_joins ? join : el_outranks(q->cfg->cluster, m->from, g->next.id);
    if (g->next_fresh && g->next.id != m->from && !better) return;
    const el_duration half = el_number(q->cfg, QUORUM_OPTION_LEASE) / 2;
    g->next =
        (struct quorum_tenant){.id = m->from, .incarnation = quorum_from_incarnation(m), .term = m->epoch};
    g->next_joins = join;
    g->next_fresh = 1;
    el_arm(q->out, QUORUM_ASKED, 0, half, half);
}

static void refuse_silent(const struct quorum *q, const struct el_msg *m)
{
    el_note(q->out, QUORUM_REFUSES_SILENT, m->from, 0);
    remember(q, m);
    quorum_say(q, m->from, quorum_make_refuse(m->epoch, QUORUM_SILENT, 0, EL_NOBODY));
}

static void refuse_low(const struct quorum *q, const struct el_msg *m)
{
    el_note(q->out, QUORUM_REFUSES_LOW, m->from, spent(q));
    quorum_see(q, spent(q));
    quorum_say(q, m->from, quorum_make_refuse(m->epoch, QUORUM_TOO_LOW, spent(q), EL_NOBODY));
}

/* Q20: asks the holder whether it still uses the group, since its release may have been lost. */
static void refuse_held(const struct quorum *q, const struct el_msg *m)
{
    const struct quorum_tenant holder = q->group->holder;
    const struct quorum_peer *p = quorum_peer(q, holder.id);
    const bool active = quorum_is(&q->group->claim, holder.id, holder.incarnation);
    const bool fresh = holder.id == q->cfg->self ||
                       (holder.incarnation == p->incarnation && p->recent && p->renews == QUORUM_RENEWS);
    const unsigned flags = QUORUM_HELD | (fresh ? QUORUM_FRESH : 0u) | (active ? QUORUM_ACTIVE : 0u);
    el_note(q->out, QUORUM_REFUSES_HELD, m->from, holder.id);
    remember(q, m);
    quorum_say(q, m->from, quorum_make_refuse(m->epoch, flags, 0, holder.id));
    quorum_say(q, holder.id, quorum_make_check(holder.incarnation, holder.term));
}

void quorum_on_vote(const struct quorum *q, const struct el_msg *m)
{
    struct quorum_group *g = q->group;
    struct quorum_peer *p = quorum_peer(q, m->from);
    const bool join = m->flags & QUORUM_JOIN;
    if (!quorum_votes(q, q->cfg->self) || quorum_is_barred(q, m->from)) return; /* M16 */
    p->seen = quorum_highest(p->seen, quorum_number(m));
    const bool high = m->epoch > spent(q) || join;
    if (!quorum_may_grant(q)) {
        refuse_silent(q, m);
    } else if (quorum_is(&g->holder, m->from, p->incarnation)) {
        if (high || m->epoch == g->holder.term) {
            grant(q, m->from, m->epoch, join);
        } else {
            refuse_low(q, m);
        }
    } else if (is_held(q)) {
        refuse_held(q, m);
    } else if (high) {
        grant(q, m->from, m->epoch, join);
    } else {
        remember(q, m);
        refuse_low(q, m);
    }
}

/* ---- Release and push ---- */

/* Q17: exactly that incarnation, and no later term: it may have been granted the group again since. */
static bool is_over(const struct quorum_tenant *tenant, const struct quorum_tenant *done)
{
    return tenant->id && quorum_is(tenant, done->id, done->incarnation) && tenant->term <= done->term;
}

bool quorum_apply_release(const struct quorum *q, struct quorum_tenant done)
{
    struct quorum_group *g = q->group;
    const bool frees = done.incarnation && is_over(&g->holder, &done);
    if (done.incarnation && is_over(&g->next, &done)) quorum_forget_next(q);
    if (done.incarnation && is_over(&g->claim, &done)) forget_claim(g);
    if (!frees) return false;
    forget(&g->holder);
    return true;
}

static bool push_to_heir(const struct quorum *q, el_node heir, uint64_t term)
{
    if (!heir || !quorum_may_lead(q, heir) || !quorum_recent(q, heir)) return false;
    if (term <= spent(q) || quorum_proposer(term) != heir) return false;
    el_note(q->out, QUORUM_PUSHES, heir, term);
    grant(q, heir, term, false);
    return true;
}

/* Q19: only if that incarnation is alive and its term is above all granted ones. */
static bool push_to_next(const struct quorum *q)
{
    const struct quorum_group *g = q->group;
    const struct quorum_tenant next = g->next;
    if (!g->next_fresh || quorum_is_barred(q, next.id)) return false;
    if (next.incarnation != quorum_peer(q, next.id)->incarnation ||
        next.incarnation <= quorum_peer(q, next.id)->dead)
        return false;
    if (next.term <= spent(q) && !g->next_joins) return false;
    el_note(q->out, QUORUM_PUSHES, next.id, next.term);
    grant(q, next.id, next.term, g->next_joins);
    return true;
}

void quorum_push(const struct quorum *q, el_node heir, uint64_t heir_term)
{
    if (!quorum_may_grant(q) || is_held(q)) return;
    if (push_to_heir(q, heir, heir_term) || push_to_next(q)) return;
    const struct quorum_group *g = q->group;
    const bool of_holder = g->holder.id && quorum_is(&g->claim, g->holder.id, g->holder.incarnation) &&
                           g->claim.term == g->holder.term;
    if (of_holder) push_to_heir(q, g->claim_heir, g->claim_heir_term);
}

/* If the release names no heir, the heir in the holder's claim counts. */
void quorum_on_release(const struct quorum *q, const struct el_msg *m)
{
    const struct quorum_group *g = q->group;
    const struct quorum_tenant done = {
        .id = m->subject, .incarnation = quorum_incarnation_about(m), .term = m->epoch};
    struct quorum_claim named = quorum_heir_in(m);
    if (!named.heir && quorum_is(&g->claim, done.id, done.incarnation) && g->claim.term == done.term)
        named = (struct quorum_claim){.heir = g->claim_heir, .heir_term = g->claim_heir_term};
    quorum_hear_term(q, named.heir_term);
    if (quorum_apply_release(q, done)) {
        el_note(q->out, QUORUM_IS_RELEASED, done.id, done.term);
        quorum_push(q, named.heir, named.heir_term);
    }
    *q->changes |= QUORUM_REVIEW;
}

void quorum_on_obit(const struct quorum *q, el_node who, uint64_t incarnation)
{
    const struct quorum_group *g = q->group;
    const bool claimed = quorum_is(&g->claim, who, incarnation) && g->claim.term == g->holder.term;
    const el_node heir = claimed ? g->claim_heir : EL_NOBODY;
    const uint64_t heir_term = g->claim_heir_term;
    const struct quorum_tenant dead = {.id = who, .incarnation = incarnation, .term = QUORUM_EVER};
    if (quorum_apply_release(q, dead)) quorum_push(q, heir, heir_term);
    *q->changes |= QUORUM_REVIEW;
}

/*
 * The host wants to drop the state of a group. To drop a promise that lives, or a claim that may still hold, would elect a
 * second leader, or hide the first. A lapsed promise is granted away to nobody (Q9): a later beat cannot revive it. The
 * highest term of the group stays with the host: if it makes the group again, quorum_begin_above() keeps tokens rising
 * and finished terms finished.
 */
bool quorum_forget(const struct quorum *q, uint64_t *spent_to)
{
    struct quorum_group *g = q->group;
    const struct quorum_tenant holder = g->holder;
    const bool is_claimed = g->claim.id && g->claim.incarnation == quorum_peer(q, g->claim.id)->incarnation;
    if (g->role != QUORUM_IDLE || g->stopping || g->waiting || g->asking || g->next_fresh || is_claimed)
        return false;
    if (is_held(q)) { /* Q20: its release may have been lost */
        if (holder.id != q->cfg->self)
            quorum_say(q, holder.id, quorum_make_check(holder.incarnation, holder.term));
        return false;
    }
    if (holder.id) let_go(q);
    forget(&g->holder);
    *spent_to = quorum_highest(quorum_highest(g->term, g->done), quorum_highest(g->standing, holder.term));
    return true;
}

/* The highest claim counts. The claim of an earlier incarnation stays until another member claims. */
void quorum_on_claim(const struct quorum *q, el_node from, uint64_t incarnation, struct quorum_claim claim)
{
    struct quorum_group *g = q->group;
    const bool known = g->claim.id && quorum_recent(q, g->claim.id);
    if (claim.term == 0) {
        if (!quorum_is(&g->claim, from, incarnation)) return;
        forget_claim(g);
        *q->changes |= QUORUM_REVIEW;
        return;
    }
    if (known && claim.term < g->claim.term) return;
    quorum_hear_term(q, claim.heir_term);
    if (g->role == QUORUM_LEADER) { /* two leaders: some clock is wrong */
        el_note(q->out, QUORUM_IS_DEPOSED, from, claim.term);
        quorum_break_off(q);
    }
    g->claim = (struct quorum_tenant){.id = from, .incarnation = incarnation, .term = claim.term};
    g->claim_heir = claim.heir;
    g->claim_heir_term = claim.heir ? claim.heir_term : 0;
    g->told_by = 0;
}
