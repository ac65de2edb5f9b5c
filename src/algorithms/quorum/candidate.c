/*
 * Standing. A member that knows no leader and is linked to a majority waits for its turn, best rank first. Then
 * it asks for votes until it has a majority, must yield, or reaches its deadline. An idle group arms no timer:
 * standing begins when a claim ends, a link comes up, or the silence ends.
 */
#include "algorithms/quorum/era.h"
#include "algorithms/quorum/speakers.h"

static el_duration span(const struct quorum *q, uint32_t option)
{
    return el_number(q->cfg, option);
}

static struct quorum_ballot *ballot(const struct quorum *q, el_node voter)
{
    return &q->ballots[voter - 1];
}

/* ---- When to stand ---- */

bool quorum_knows_leader(const struct quorum *q)
{
    const struct quorum_tenant *claim = &q->group->claim;
    if (quorum_is_barred(q, claim->id)) return false; /* it beats no more, to withdraw its claim */
    if (q->group->told_by) return claim->id && quorum_who_tells(q) != EL_NOBODY;
    return claim->id && quorum_recent(q, claim->id) &&
           claim->incarnation == quorum_peer(q, claim->id)->incarnation;
}

static bool is_linked_to_majority(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    return quorum_is_majority(&voters, quorum_linked_voters(q));
}

/* Not during our silence: we have no vote of our own then, and a member that has just restarted may fail
 * again. */
bool quorum_may_stand(const struct quorum *q)
{
    if (!quorum_may_lead(q, q->cfg->self) || !quorum_is_ready(q) || q->me->incarnation == 0) return false;
    if (q->group->stopping) return false;
    return !quorum_knows_leader(q) && is_linked_to_majority(q);
}

static uint32_t place(const struct quorum *q)
{
    const uint32_t voteless = quorum_count_ahead(q, q->cfg->self, true);
    return quorum_count_ahead(q, q->cfg->self, false) +
           (voteless < QUORUM_FIRST_IN_LINE ? voteless : QUORUM_FIRST_IN_LINE);
}

void quorum_wait(const struct quorum *q, el_duration min, el_duration max)
{
    if (q->group->waiting || !quorum_may_lead(q, q->cfg->self)) return;
    q->group->waiting = 1;
    el_arm(q->out, QUORUM_STAND, 0, min, max);
}

static void stop_waiting(const struct quorum *q)
{
    if (q->group->waiting) el_disarm(q->out, QUORUM_STAND, 0);
    q->group->waiting = 0;
    q->group->links_wanted = 0;
}

void quorum_listen_first(const struct quorum *q)
{
    const el_duration beat = span(q, QUORUM_OPTION_BEAT);
    q->group->listening = 1;
    quorum_wait(q, beat + el_round_trip(q->cfg), beat + el_round_trip(q->cfg));
}

static void wait_for_turn(const struct quorum *q)
{
    const uint32_t ahead = place(q);
    const el_duration stagger = span(q, QUORUM_OPTION_STAGGER);
    el_note(q->out, QUORUM_WAITS, ahead, 0);
    quorum_wait(q, ahead * stagger, ahead * stagger + stagger / 2);
}

/* ---- Asking ---- */

static bool is_missing(const struct quorum *q, el_node voter)
{
    const bool counts = quorum_supports(q, voter);
    return q->group->role == QUORUM_LEADER ? !counts && quorum_linked(q, voter)
                                           : !counts || !ballot(q, voter)->granted;
}

static bool lacks_somebody(const struct quorum *q)
{
    bool lacks = false;
    if (quorum_is_barred(q, q->cfg->self)) return false; /* M16: nobody would answer */
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        lacks = lacks || (quorum_votes(q, voter) && is_missing(q, voter));
    return lacks;
}

static void ask_one(const struct quorum *q, el_node voter)
{
    const struct quorum_group *g = q->group;
    const bool leads = g->role == QUORUM_LEADER;
    if (leads) el_note(q->out, QUORUM_ASKS_TO_JOIN, voter, 0);
    if (voter != q->cfg->self) quorum_open_probe(q, voter); /* quorum_ask() renews our own promise */
    quorum_say(q, voter, quorum_make_vote(g->standing, q->me->seq, leads));
}

/* Our own vote comes last: it may make us win, and by then all others must have been asked. */
void quorum_ask(const struct quorum *q)
{
    const el_node self = q->cfg->self;
    const bool leads = q->group->role == QUORUM_LEADER;
    q->me->seq++;
    q->group->asking = 1;
    const el_duration again = span(q, leads ? QUORUM_OPTION_BEAT : QUORUM_OPTION_REASK);
    el_arm(q->out, QUORUM_REASK, 0, again, again);
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        if (voter != self && quorum_votes(q, voter) && is_missing(q, voter)) ask_one(q, voter);
    quorum_promise_ourselves(q);
    if (quorum_votes(q, self) && is_missing(q, self)) ask_one(q, self);
}

static void open_term(const struct quorum *q, uint64_t term)
{
    q->group->standing = term;
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) quorum_clear_ballot(ballot(q, voter));
}

static void stand(const struct quorum *q, uint64_t term, bool pushed)
{
    struct quorum_group *g = q->group;
    const el_duration most = quorum_promise(q->cfg) / 4 * 5 + 4 * span(q, QUORUM_OPTION_STAGGER);
    stop_waiting(q);
    quorum_session_hasten(q);
    g->role = QUORUM_CANDIDATE;
    g->pushed = pushed;
    open_term(q, term);
    el_arm(q->out, QUORUM_DEADLINE, 0, most, most);
    quorum_ask(q);
}

static void stand_anew(const struct quorum *q)
{
    const uint64_t term = quorum_new_term(q, q->cfg->self, q->group->done);
    if (term == 0) return;
    el_note(q->out, QUORUM_STANDS, term, 0);
    stand(q, term, false);
}

/* We seem to have a majority, but some timer may be overdue: only new answers prove it. */
static void ask_everybody_anew(const struct quorum *q)
{
    open_term(q, q->group->standing);
    quorum_ask(q);
}

static uint32_t links(const struct quorum *q)
{
    const struct quorum_tally linked = quorum_linked_voters(q);
    return linked.now + linked.from;
}

static bool has_the_links_it_lacked(const struct quorum *q)
{
    return q->group->links_wanted && links(q) >= q->group->links_wanted;
}

void quorum_review(const struct quorum *q)
{
    const struct quorum_group *g = q->group;
    if (has_the_links_it_lacked(q) && quorum_may_stand(q)) stop_waiting(q);
    const bool awaits_news = quorum_is_voteless(q, q->cfg->self); /* M24 */
    if (g->role == QUORUM_IDLE && !g->waiting && !awaits_news && quorum_may_stand(q)) wait_for_turn(q);
    if (g->role == QUORUM_LEADER && !g->asking && lacks_somebody(q)) quorum_ask(q);
    if (g->role == QUORUM_CANDIDATE && quorum_has_majority(q)) ask_everybody_anew(q);
}

/* ---- Answers ---- */

/* Q23: voters that were set free chose us, in a term above our own. A candidate may still stand in the term in
 * which it lost to the leader that has just gone. */
static bool is_pushed(const struct quorum *q, const struct el_msg *m)
{
    const struct quorum_group *g = q->group;
    if (!quorum_may_lead(q, q->cfg->self) || q->me->unlearned || g->stopping) return false;
    if (m->flags & QUORUM_JOIN || m->epoch <= g->done) return false;
    return g->role == QUORUM_IDLE || (g->role == QUORUM_CANDIDATE && m->epoch > g->standing);
}

/* The grant is for the term we stand in, for a pushed term, or for a term that we no longer use. */
void quorum_on_grant(const struct quorum *q, const struct el_msg *m)
{
    struct quorum_group *g = q->group;
    const uint64_t term = m->epoch;
    if (quorum_number(m) > q->me->seq) {
        el_note(q->out, QUORUM_DROPS_ECHO, m->from, quorum_number(m));
        return;
    }
    if (quorum_is_of_later_era(q, m)) { /* M8 */
        el_note(q->out, QUORUM_DROPS_ERA, m->from, (quorum_phase(m) + 1) / 2);
        return;
    }
    if (!quorum_credit(q, m->from, quorum_epoch(m), quorum_number(m), true)) return;
    if (is_pushed(q, m)) {
        el_note(q->out, QUORUM_IS_PUSHED, m->from, term);
        stand(q, term, true);
    }
    if (g->role != QUORUM_IDLE && term == g->standing) {
        struct quorum_ballot *b = ballot(q, m->from);
        b->incarnation = quorum_from_incarnation(m);
        b->epoch = quorum_epoch(m);
        b->hopeless = 0;
        b->granted = b->granted || (g->role == QUORUM_CANDIDATE && !(m->flags & QUORUM_JOIN));
        if (m->flags & QUORUM_JOIN && quorum_clock_of(m) > g->heir_term) {
            g->heir = EL_NOBODY; /* choose again, with a higher term: now, or with the next beat */
            if (q->posts_claims) (void)quorum_prepare_claim(q);
        }
        quorum_try_to_win(q);
    } else if (g->role == QUORUM_IDLE && !g->stopping) { /* Q23: release it, and all lower terms with it */
        el_note(q->out, QUORUM_RETURNS_VOTE, m->from, term);
        g->done = quorum_highest(g->done, term);
        quorum_say(q, m->from, quorum_make_release(quorum_ourselves(q, term), EL_NOBODY, 0));
    }
}

static void make_way(const struct quorum *q)
{
    const el_duration lease = span(q, QUORUM_OPTION_LEASE);
    quorum_finish(q, EL_NOBODY, 0);
    quorum_wait(q, lease / 4, lease);
}

static struct quorum_tally hopeless_voters(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    struct quorum_tally hopeless = {0, 0};
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        if (ballot(q, voter)->hopeless) quorum_count(&voters, &hopeless, voter);
    return hopeless;
}

/* So many voters are linked that a majority of them may still grant. */
static bool may_still_win(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    return quorum_suffices(&voters, quorum_linked_voters(q), hopeless_voters(q));
}

/* How many voters must be linked: in a joint era one more than are, of either set. */
static uint32_t links_needed(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    if (voters.from_majority == 0) return voters.majority + hopeless_voters(q).now;
    return links(q) + 1;
}

/* If only links were missing, stand again as soon as they are up: a lease may last for minutes. */
static void give_up(const struct quorum *q)
{
    const uint32_t needed = links_needed(q);
    const bool lacks_links = !may_still_win(q);
    make_way(q);
    if (lacks_links && q->group->waiting) q->group->links_wanted = (uint16_t)needed;
}

/* Q23: our question may have overtaken the release. The voter remembers us, and pushes its vote once it is released. */
static void on_held(const struct quorum *q, const struct el_msg *m)
{
    const uint8_t both = QUORUM_FRESH | QUORUM_ACTIVE;
    if (q->group->pushed && m->flags & QUORUM_ACTIVE) return;
    ballot(q, m->from)->hopeless = (m->flags & both) == both;
    if (!(m->flags & QUORUM_ACTIVE) && el_outranks(q->cfg->cluster, m->subject, q->cfg->self)) {
        el_note(q->out, QUORUM_YIELDS, m->subject, 0);
        make_way(q);
    } else if (!may_still_win(q)) {
        el_note(q->out, QUORUM_HAS_NO_CHANCE, m->subject, 0);
        give_up(q);
    }
}

/* Q22: a floor was too high for our term: ask with a new one. Former granters grant again at once. */
void quorum_rise(const struct quorum *q, uint64_t floor)
{
    quorum_hear_term(q, floor);
    const uint64_t term = quorum_new_term(q, q->cfg->self, q->group->done);
    if (term == 0) return;
    el_note(q->out, QUORUM_RISES, term, 0);
    open_term(q, term);
    quorum_ask(q);
}

void quorum_on_refusal(const struct quorum *q, const struct el_msg *m)
{
    if (q->group->role != QUORUM_CANDIDATE || m->epoch != q->group->standing) return;
    if (m->flags & QUORUM_TOO_LOW && quorum_floor(m) >= m->epoch) {
        quorum_rise(q, quorum_floor(m));
    } else if (m->flags & QUORUM_HELD) {
        on_held(q, m);
    }
}

/* Q20: a voter refuses others because of our term. If we do not use the term any more, release it. */
void quorum_on_check(const struct quorum *q, const struct el_msg *m)
{
    struct quorum_group *g = q->group;
    const uint64_t term = m->epoch;
    if (quorum_incarnation_about(m) != q->me->incarnation) return;
    const bool above = g->role == QUORUM_CANDIDATE && g->standing > term;
    if ((g->role != QUORUM_IDLE && !above) || g->stopping) return;
    if (g->role == QUORUM_IDLE) g->done = quorum_highest(g->done, term);
    el_note(q->out, QUORUM_ANSWERS_CHECK, m->from, term);
    quorum_say(q, m->from, quorum_make_release(quorum_ourselves(q, term), EL_NOBODY, 0));
}

/* ---- Timers and campaigns ---- */

void quorum_on_campaign(const struct quorum *q)
{
    const struct quorum_group *g = q->group;
    if (g->role != QUORUM_IDLE) {
        el_note(q->out, QUORUM_IS_BUSY, 0, 0);
    } else if (!quorum_may_lead(q, q->cfg->self)) {
        el_note(q->out, QUORUM_CANNOT_LEAD, 0, 0);
    } else if (!quorum_may_stand(q)) {
        el_note(q->out, QUORUM_HOLDS_BACK, 0, 0);
    } else {
        stand_anew(q);
    }
}

/* Since the last request another member may have claimed the group, or links may have failed. */
static void ask_again(const struct quorum *q)
{
    if (quorum_has_majority(q)) open_term(q, q->group->standing);
    if (quorum_knows_leader(q)) {
        el_note(q->out, QUORUM_YIELDS, q->group->claim.id, 0);
        make_way(q);
    } else if (!is_linked_to_majority(q)) {
        el_note(q->out, QUORUM_GIVES_UP, q->group->standing, 0);
        give_up(q);
    } else {
        quorum_ask(q);
    }
}

void quorum_candidate_timer(const struct quorum *q, uint32_t timer)
{
    struct quorum_group *g = q->group;
    switch (timer) {
    case QUORUM_STAND:
        g->waiting = 0;
        g->links_wanted = 0;
        if (!g->listening && quorum_may_stand(q)) stand_anew(q);
        if (g->listening) *q->changes |= QUORUM_REVIEW;
        g->listening = 0;
        return;
    case QUORUM_REASK:
        g->asking = 0;
        g->pushed = 0;
        if (g->role == QUORUM_CANDIDATE) ask_again(q);
        if (g->role == QUORUM_LEADER && !g->asking && lacks_somebody(q)) quorum_ask(q);
        return;
    default:
        if (g->stopping) {
            quorum_let_go(q);
            return;
        }
        el_note(q->out, QUORUM_GIVES_UP, g->standing, 0);
        give_up(q);
        return;
    }
}
