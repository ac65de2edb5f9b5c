/*
 * Leading. A leader's claim ends with the majority-th newest promise. The end is computed when somebody asks
 * for it, so a beat that renews 100,000 groups touches none of them. The end never moves back: a running
 * promise stops counting only when it ends (quorum_credit()).
 */
#include "algorithms/quorum/era.h"

static struct quorum_ballot *ballot(const struct quorum *q, el_node voter)
{
    return &q->ballots[voter - 1];
}

bool quorum_supports(const struct quorum *q, el_node voter)
{
    const struct quorum_peer *p = quorum_peer(q, voter);
    const struct quorum_ballot *b = ballot(q, voter);
    return b->incarnation && b->incarnation == p->incarnation && b->epoch == p->v_epoch;
}

bool quorum_is_backed(const struct quorum *q, el_node voter)
{
    const struct quorum_peer *p = quorum_peer(q, voter);
    const struct quorum_ballot *b = ballot(q, voter);
    return p->lease && b->incarnation && b->incarnation == p->base_incarnation && b->epoch == p->base_epoch;
}

/* The same by the lease that ran when a record was installed. */
static bool is_backed_by_former(const struct quorum *q, el_node voter)
{
    const struct quorum_former *f = &q->formers[voter - 1];
    const struct quorum_ballot *b = ballot(q, voter);
    return f->incarnation && b->incarnation == f->incarnation && b->epoch == f->epoch;
}

/* Some leases, and by whose voters they count. */
struct leases {
    struct quorum_electorate voters;
    bool (*backs)(const struct quorum *q, el_node voter);
    bool are_former;
};

static uint64_t base_of(const struct quorum *q, const struct leases *leases, el_node voter)
{
    return leases->are_former ? q->formers[voter - 1].base : quorum_peer(q, voter)->base;
}

/* Our own promise counts as the newest (quorum_promise_ourselves()). So the lease always ends with another voter's
 * promise, which we cannot renew ourselves. After a pause of this process, its end is the first thing that we
 * learn. */
static bool is_newer(const struct quorum *q, const struct leases *leases, el_node other, el_node voter)
{
    const uint64_t theirs = base_of(q, leases, other), base = base_of(q, leases, voter);
    if (other == q->cfg->self || voter == q->cfg->self) return other == q->cfg->self && other != voter;
    return theirs > base || (theirs == base && other < voter);
}

/* The voter without whose lease those that are newer are no majority, and with it they are. */
static el_node bounding(const struct quorum *q, const struct leases *leases)
{
    const uint32_t count = q->cfg->cluster->count;
    for (el_node voter = 1; voter <= count; voter++) {
        if (!leases->backs(q, voter)) continue;
        struct quorum_tally newer = {0, 0};
        for (el_node other = 1; other <= count; other++)
            if (leases->backs(q, other) && is_newer(q, leases, other, voter))
                quorum_count(&leases->voters, &newer, other);
        if (quorum_is_majority(&leases->voters, newer)) continue;
        quorum_count(&leases->voters, &newer, voter);
        if (quorum_is_majority(&leases->voters, newer)) return voter;
    }
    return EL_NOBODY;
}

el_node quorum_bounding_voter(const struct quorum *q)
{
    const struct leases leases = {quorum_electorate(q), quorum_is_backed, false};
    return bounding(q, &leases);
}

el_node quorum_former_bound(const struct quorum *q)
{
    const struct leases leases = {quorum_former_electorate(q), is_backed_by_former, true};
    return q->group->carried ? bounding(q, &leases) : EL_NOBODY;
}

/* ---- Winning ---- */

struct quorum_claim quorum_claim_of(const struct quorum_group *g)
{
    if (g->role != QUORUM_LEADER) return (struct quorum_claim){0};
    return (struct quorum_claim){.term = g->standing, .heir_term = g->heir_term, .heir = g->heir};
}

/* It has been the heir for longer than the silence after a restart. */
static bool has_long_been_heir(const struct quorum *q)
{
    const el_duration beat = el_number(q->cfg, QUORUM_OPTION_BEAT);
    return beat && q->group->heir_beats > 2 + q->me->longest / beat;
}

/* preempt: when a higher-ranked heir has been there for long enough, notes it once. The host then stops the
 * work and asks for the transfer. */
static void note_how_long(const struct quorum *q)
{
    struct quorum_group *g = q->group;
    if (!el_number(q->cfg, QUORUM_OPTION_PREEMPT) || !g->heir || has_long_been_heir(q)) return;
    g->heir_beats++;
    if (has_long_been_heir(q) && el_outranks(q->cfg->cluster, g->heir, q->cfg->self))
        el_note(q->out, QUORUM_WOULD_HAND_OVER, g->heir, 0);
}

/* Whether a majority of voters suggests it, to us who have no vote and so no session with it. */
static bool is_suggested(const struct quorum *q, el_node node)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    struct quorum_tally by = {0, 0};
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        if (quorum_linked(q, voter) && ballot(q, voter)->suggests == node) quorum_count(&voters, &by, voter);
    return node != EL_NOBODY && node <= q->cfg->cluster->count && quorum_is_majority(&voters, by);
}

/* The one that voters suggest, who know all ranks; EL_NOBODY: we have a vote, or they do not agree. */
static el_node suggested(const struct quorum *q)
{
    el_node found = EL_NOBODY;
    for (el_node voter = 1; voter <= q->cfg->cluster->count && !found; voter++)
        if (quorum_votes(q, voter) && is_suggested(q, ballot(q, voter)->suggests))
            found = ballot(q, voter)->suggests;
    return quorum_votes(q, q->cfg->self) ? EL_NOBODY : found;
}

/* The best-ranked linked member. A new heir gets a new term. quorum_on_grant() clears the heir if a voter's
 * floor is above its term. */
static void choose_heir(const struct quorum *q)
{
    struct quorum_group *g = q->group;
    const el_node wanted = suggested(q);
    el_node best = wanted;
    for (el_node node = 1; node <= q->cfg->cluster->count && !wanted; node++)
        if (node != q->cfg->self && quorum_may_lead(q, node) && quorum_has_session(q, node) &&
            quorum_in_touch(q, node) && el_outranks(q->cfg->cluster, node, best))
            best = node;
    if (best == g->heir) {
        note_how_long(q);
        return;
    }
    g->heir = best;
    g->heir_beats = 0;
    g->heir_term = best ? quorum_new_term(q, best, g->standing) : 0;
    if (g->heir_term == 0) g->heir = EL_NOBODY;
    if (g->heir) el_note(q->out, QUORUM_NAMES_HEIR, g->heir, g->heir_term);
}

bool quorum_has_majority(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    struct quorum_tally votes = {0, 0};
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        if (ballot(q, voter)->granted && quorum_supports(q, voter) && quorum_is_backed(q, voter))
            quorum_count(&voters, &votes, voter);
    return quorum_is_majority(&voters, votes);
}

/* We lead ourselves. */
static void forget_what_was_told(const struct quorum *q)
{
    q->group->told_by = 0;
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) ballot(q, voter)->tells = 0;
}

/* A leader counts support, not votes. */
static void forget_votes(const struct quorum *q)
{
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++)
        ballot(q, voter)->granted = ballot(q, voter)->hopeless = 0;
}

/* Win only on an answer, not on a timer: the host fires all overdue timers before it delivers a message. A
 * member that is its own majority made its promise in this step. */
void quorum_try_to_win(const struct quorum *q)
{
    struct quorum_group *g = q->group;
    if (g->role != QUORUM_CANDIDATE || !quorum_has_majority(q)) return;
    if (g->standing <=
        quorum_era_floor(q)) { /* M12: somebody may have led in this term, in an era that is over */
        quorum_rise(q, quorum_era_floor(q));
        return;
    }
    if (q->late && !quorum_is_alone(q)) {
        *q->changes |= QUORUM_REVIEW;
        return;
    }
    g->role = QUORUM_LEADER;
    g->carried = 0;
    g->pushed = 0;
    el_note(q->out, QUORUM_WINS, g->standing, 0);
    el_disarm(q->out, QUORUM_DEADLINE, 0);
    g->asking = 1; /* do not ask again before one beat: answers may be under way */
    el_arm(q->out, QUORUM_REASK, 0, el_number(q->cfg, QUORUM_OPTION_BEAT),
           el_number(q->cfg, QUORUM_OPTION_BEAT));
    g->claim = quorum_ourselves(q, g->standing);
    forget_what_was_told(q);
    g->heir = g->claim_heir = EL_NOBODY;
    g->claim_heir_term = 0;
    forget_votes(q);
    choose_heir(q);
    if (!q->posts_claims) quorum_session_beat(q, quorum_claim_of(g)); /* also tells the others */
    *q->changes |= QUORUM_REVIEW;
}

/* ---- Ending ---- */

static void end_term(const struct quorum *q)
{
    struct quorum_group *g = q->group;
    g->role = QUORUM_IDLE;
    g->done = quorum_highest(g->done, g->standing);
    g->standing = g->heir_term = 0;
    g->heir = EL_NOBODY;
    g->heir_beats = 0;
    g->carried = 0;
    g->pushed = 0;
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) quorum_clear_ballot(ballot(q, voter));
    el_disarm(q->out, QUORUM_DEADLINE, 0);
    if (g->asking) el_disarm(q->out, QUORUM_REASK, 0);
    g->asking = 0;
    *q->changes |= QUORUM_REVIEW;
}

static void release_all(const struct quorum *q, uint64_t term, el_node heir, uint64_t heir_term)
{
    quorum_say_all(q, quorum_make_release(quorum_ourselves(q, term), heir, heir_term));
}

void quorum_finish(const struct quorum *q, el_node heir, uint64_t heir_term)
{
    const uint64_t term = q->group->standing;
    end_term(q);
    release_all(q, term, heir, heir_term);
}

/* Every promise that it counted on ends within one lease from now, and so must the work. */
void quorum_break_off(const struct quorum *q)
{
    const el_duration lease = el_number(q->cfg, QUORUM_OPTION_LEASE);
    end_term(q);
    q->group->claim = (struct quorum_tenant){0};
    q->group->told_by = 0;
    q->group->stopping = 1;
    el_arm(q->out, QUORUM_DEADLINE, 0, lease, lease);
}

void quorum_let_go(const struct quorum *q)
{
    struct quorum_group *g = q->group;
    g->stopping = 0;
    el_note(q->out, QUORUM_LETS_GO, g->done, 0);
    release_all(q, g->done, EL_NOBODY, 0);
    *q->changes |= QUORUM_REVIEW;
}

/* On the timer of the lease the host has stopped the work. If the claim ends otherwise, some clock is wrong. */
void quorum_check_lease(const struct quorum *q)
{
    if (q->group->role != QUORUM_LEADER || quorum_bounding_voter(q) || quorum_former_bound(q)) return;
    el_note(q->out, QUORUM_LAPSES, q->group->standing, 0);
    if (q->late) {
        quorum_finish(q, EL_NOBODY, 0);
    } else {
        quorum_break_off(q);
    }
}

/* A new term for the heir: in the one that we published for it, it may have stood, and lost to us. */
static uint64_t term_for(const struct quorum *q, el_node heir)
{
    return heir ? quorum_new_term(q, heir, q->group->standing) : 0;
}

/* Ends the term in favour of `heir`. We do not stand again for one promise, so that others may stand first. */
static void leave_to(const struct quorum *q, el_node heir, uint64_t term)
{
    const el_duration promise = quorum_promise(q->cfg);
    quorum_wait(q, promise, promise + el_number(q->cfg, QUORUM_OPTION_LEASE) / 4);
    quorum_finish(q, term ? heir : EL_NOBODY, term);
}

static void hand_over(const struct quorum *q, el_node heir)
{
    const uint64_t term = term_for(q, heir);
    el_note(q->out, QUORUM_HANDS_OVER, heir, term);
    leave_to(q, heir, term);
}

/* ---- Requests to a leader ---- */

struct quorum_claim quorum_prepare_claim(const struct quorum *q)
{
    if (q->group->role == QUORUM_LEADER) choose_heir(q);
    return quorum_claim_of(q->group);
}

enum el_answer quorum_on_request(const struct quorum *q, enum el_request_what what, el_node to)
{
    const struct quorum_group *g = q->group;
    if (g->role != QUORUM_LEADER) return EL_NOT_LEADING;
    if (what == EL_RESIGN) {
        el_note(q->out, QUORUM_RESIGNS, g->standing, 0);
        leave_to(q, g->heir, term_for(q, g->heir));
        return EL_PERFORMED;
    }
    if (what != EL_TRANSFER) return EL_UNKNOWN_HERE;
    /* Of a member without a session only voters know whether it wants to lead, and whether it is there. */
    const bool is_known = quorum_has_session(q, to);
    if (to == q->cfg->self ||
        (is_known || quorum_installed(q) ? !quorum_may_lead(q, to) : !quorum_takes_part(q->cfg, to)))
        return EL_NOT_ELIGIBLE;
    if (is_known && !quorum_in_touch(q, to)) return EL_OUT_OF_TOUCH;
    hand_over(q, to);
    return EL_PERFORMED;
}

/* ---- A cluster that starts with a leader ---- */

static uint16_t first_voter(const struct quorum *q)
{
    el_node voter = 1;
    while (voter < q->cfg->cluster->count && !quorum_is_voter(q->cfg, voter)) voter++;
    return (uint16_t)voter;
}

void quorum_begin_under(const struct quorum *q, el_node incumbent)
{
    struct quorum_group *g = q->group;
    const el_duration lease = el_number(q->cfg, QUORUM_OPTION_LEASE);
    const uint64_t term = quorum_term(QUORUM_FIRST, incumbent);
    g->claim = g->holder = (struct quorum_tenant){.id = incumbent, .incarnation = 1, .term = term};
    g->term = term;
    quorum_entrust(q, incumbent);
    if (!quorum_has_session(q, incumbent)) {
        g->told_by = first_voter(q);
        ballot(q, g->told_by)->tells = 1;
    }
    if (incumbent != q->cfg->self) return;
    g->role = QUORUM_LEADER;
    g->standing = term;
    q->me->seq = 1;
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) {
        struct quorum_peer *p = quorum_peer(q, voter);
        if (!quorum_votes(q, voter)) continue;
        *ballot(q, voter) = (struct quorum_ballot){.incarnation = 1};
        p->base = voter != q->cfg->self;
        p->base_incarnation = p->lease = 1;
        el_arm(q->out, QUORUM_LEASE, voter, lease, lease);
    }
}
