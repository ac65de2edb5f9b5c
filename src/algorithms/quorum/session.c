/*
 * The sessions of quorum: incarnations, beats, promises and leases. There is no clock here: the host runs the
 * timers, and a flag for each says whether it runs. A lease counts from the sending of the message that the
 * promise answers. The oldest message since the last promise is the probe; when it is answered, its timer
 * becomes that of the lease.
 */
#include "algorithms/quorum/session.h"

#include "algorithms/quorum/era.h"
#include "algorithms/quorum/floor.h"
#include "algorithms/quorum/group.h"
#include "algorithms/quorum/speakers.h"
#include "elector/parts.h"

enum { RECENT_BEATS = 3, RECENT_RESTS = 3, PROBE_BEATS = 2, TICK = 1 };
static const el_duration REST_LEAST = 1000000000;

static el_duration lease(const struct quorum *q)
{
    return el_number(q->cfg, QUORUM_OPTION_LEASE);
}

static void arm(const struct quorum *q, uint32_t timer, el_node slot, el_duration length)
{
    el_arm(q->out, timer, slot, length, length);
}

/* `flag` says whether the timer runs. */
static void stop(const struct quorum *q, uint8_t *flag, uint32_t timer, el_node slot)
{
    if (!*flag) return;
    *flag = 0;
    el_disarm(q->out, timer, slot);
}

/* ---- Reading ---- */

static struct quorum_electorate electorate_by(const struct quorum *q, uint32_t record, bool joint)
{
    if (record) return quorum_electorate_of(q->cfg->cluster, record, joint);
    return (struct quorum_electorate){.cluster = q->cfg->cluster, .majority = q->me->majority};
}

struct quorum_electorate quorum_electorate(const struct quorum *q)
{
    return q->era ? electorate_by(q, q->era->installed, q->era->joint) : electorate_by(q, 0, false);
}

struct quorum_electorate quorum_former_electorate(const struct quorum *q)
{
    return q->era ? electorate_by(q, q->era->former, q->era->former_joint) : electorate_by(q, 0, false);
}

bool quorum_votes(const struct quorum *q, el_node node)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    return quorum_elects(&voters, node);
}

bool quorum_had_vote(const struct quorum *q, el_node node)
{
    const struct el_cluster *cluster = q->cfg->cluster;
    if (quorum_has_vote(cluster, node)) return true;
    for (uint32_t record = 1; q->era && record <= q->era->installed; record++)
        if (quorum_is_in(quorum_voters_by(cluster, record), node)) return true;
    return false;
}

bool quorum_is_voteless(const struct quorum *q, el_node node)
{
    if (!q->era || q->era->installed == 0) return quorum_begins_voteless(q->cfg, node);
    return quorum_may_lead(q, node) && !quorum_had_vote(q, node);
}

bool quorum_has_voteless(const struct quorum *q)
{
    const bool is_recorded = q->era && q->era->installed > 0;
    for (el_node node = 1; (is_recorded || q->cfg->cluster->roles) && node <= q->cfg->cluster->count; node++)
        if (quorum_is_voteless(q, node)) return true;
    return false;
}

bool quorum_is_observer(const struct quorum *q, el_node node)
{
    if (!q->era || q->era->installed == 0) return !quorum_takes_part(q->cfg, node);
    return !quorum_votes(q, node) && !quorum_may_lead(q, node);
}

bool quorum_has_session(const struct quorum *q, el_node node)
{
    const el_node self = q->cfg->self;
    if (quorum_had_vote(q, node) || quorum_had_vote(q, self)) return true;
    return q->cfg->cluster->record_count > 0 && !quorum_is_voteless(q, node) && !quorum_is_voteless(q, self);
}

bool quorum_may_lead(const struct quorum *q, el_node node)
{
    if (!q->era || q->era->installed == 0) return quorum_may_hold(q->cfg, node);
    return quorum_is_in(quorum_leaders_by(q->cfg->cluster, q->era->installed), node);
}

bool quorum_is_barred(const struct quorum *q, el_node node)
{
    return q->era && q->era->installed > 0 && node && !quorum_may_lead(q, node);
}

struct quorum_tally quorum_linked_voters(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    struct quorum_tally linked = {0, 0};
    for (el_node node = 1; node <= q->cfg->cluster->count; node++)
        if (quorum_linked(q, node)) quorum_count(&voters, &linked, node);
    return linked;
}

bool quorum_is_alone(const struct quorum *q)
{
    const struct quorum_electorate voters = quorum_electorate(q);
    struct quorum_tally self = {0, 0};
    quorum_count(&voters, &self, q->cfg->self);
    return quorum_is_majority(&voters, self);
}

el_duration quorum_promise(const struct el_config *cfg)
{
    return el_lease_promised(el_number(cfg, QUORUM_OPTION_LEASE), cfg->cluster->drift) + TICK;
}

el_duration quorum_rest(const struct el_config *cfg)
{
    const el_duration lease = el_number(cfg, QUORUM_OPTION_LEASE);
    return lease > REST_LEAST ? lease : REST_LEAST;
}

bool quorum_rests(const struct quorum *q)
{
    if (!quorum_is_voteless(q, q->cfg->self)) return false;
    return q->posts_claims || !q->group ? q->is_at_rest : q->group->role == QUORUM_IDLE && !q->group->stopping;
}

void quorum_see(const struct quorum *q, uint64_t term)
{
    if (term < EL_EPOCH_MAX && term > q->me->clock) q->me->clock = term;
}

uint64_t quorum_new_term(const struct quorum *q, el_node proposer, uint64_t than)
{
    const uint64_t above = quorum_highest(quorum_highest(q->me->clock, q->me->floor), than);
    const uint64_t term = quorum_term(quorum_counter(above) + 1, proposer);
    if (above >= EL_EPOCH_MAX || term >= EL_EPOCH_MAX) return 0; /* no sum wraps around */
    quorum_see(q, term);
    return term;
}

/* ---- Sending ---- */

static struct el_msg addressed(const struct quorum *q, el_node to, struct el_msg msg)
{
    if (msg.subject == EL_NOBODY) msg.subject = q->cfg->self;
    msg = quorum_with_era(q, msg);
    return quorum_addressed(msg, q->me->incarnation, quorum_peer(q, to)->incarnation, q->me->clock);
}

void quorum_send(const struct quorum *q, el_node to, struct el_msg msg)
{
    el_send(q->out, q->cfg, to, addressed(q, to, msg));
}

struct el_msg quorum_to_self(const struct quorum *q, struct el_msg msg)
{
    msg = addressed(q, q->cfg->self, msg);
    msg.from = msg.to = q->cfg->self;
    return msg;
}

void quorum_open_probe(const struct quorum *q, el_node to)
{
    struct quorum_peer *p = quorum_peer(q, to);
    const bool useful = quorum_may_lead(q, q->cfg->self) && quorum_votes(q, to);
    if (!useful || (p->probe && p->probe_age < PROBE_BEATS)) return;
    p->probe = q->me->seq; /* a probe that is two beats old was lost, and its lease would end soon */
    p->probe_age = 0;
    arm(q, QUORUM_PROBE, to, lease(q));
}

/* ---- Promises ---- */

/* Without a lease `base` means nothing. Zero it, so that the checker has fewer states. */
static void forget_base(struct quorum_peer *p)
{
    p->base = p->base_incarnation = p->base_epoch = 0;
}

static void promise(const struct quorum *q, el_node holder)
{
    quorum_peer(q, holder)->promised = 1;
    arm(q, QUORUM_PROMISED, holder, quorum_promise(q->cfg));
}

void quorum_entrust(const struct quorum *q, el_node holder)
{
    quorum_peer(q, holder)->entrusted = 1;
    promise(q, holder);
}

/*
 * A promise holds even if the voter restarts, because the next incarnation grants nothing for at least as long.
 * So a lease by an earlier incarnation runs on. Only a grant of the new incarnation, which comes after its
 * silence, replaces it.
 */
bool quorum_credit(const struct quorum *q, el_node from, uint64_t epoch, uint64_t echo, bool grant)
{
    struct quorum_peer *p = quorum_peer(q, from);
    if (epoch < p->v_epoch) {
        el_note(q->out, QUORUM_DROPS_EPOCH, from, 0);
        return false;
    }
    if (epoch > p->v_epoch) { /* Q9: it granted a group away, after its promise to us had ended */
        p->v_epoch = epoch;
        if (p->base_incarnation == p->incarnation) {
            stop(q, &p->lease, QUORUM_LEASE, from);
            forget_base(p);
        }
        if (q->formers && q->formers[from - 1].incarnation == p->incarnation) quorum_forget_former(q, from);
        *q->changes |= QUORUM_REVIEW | QUORUM_LAPSED;
    }
    const bool anothers = p->lease && (p->base_incarnation != p->incarnation || p->base_epoch != p->v_epoch);
    if (!p->probe || echo < p->probe || (anothers && !grant)) return true;
    el_move(q->out, QUORUM_PROBE, QUORUM_LEASE, from);
    p->base = from == q->cfg->self ? 0 : p->probe; /* our own is the newest: quorum_promise_ourselves() */
    p->base_incarnation = p->incarnation;
    p->base_epoch = p->v_epoch;
    p->probe = 0;
    p->probe_age = 0;
    p->lease = 1;
    p->settled = 0; /* it was said in answer to an older message */
    return true;
}

/* ---- Incarnations ---- */

/*
 * Q1: a member has restarted, and our promise to its earlier incarnations still binds us. A promise to an
 * incarnation that was granted nothing ends here. Otherwise a member that keeps restarting would hold for ever
 * what its first incarnation held.
 */
static void meet(const struct quorum *q, el_node node, uint64_t incarnation)
{
    struct quorum_peer *p = quorum_peer(q, node);
    el_note(q->out, QUORUM_MEETS, node, incarnation);
    if (p->promised && p->entrusted) {
        el_move(q->out, QUORUM_PROMISED, QUORUM_OWED, node);
        p->promised = 0;
        p->owed = 1;
    }
    stop(q, &p->promised, QUORUM_PROMISED, node);
    stop(q, &p->heard, QUORUM_HEARD, node);
    stop(q, &p->linked, QUORUM_LINKED, node);
    p->incarnation = incarnation;
    p->seen = p->beat_seen = p->v_epoch = 0;
    p->renews = p->floor_known = p->entrusted = 0;
}

/* Q1: RELEASE and OBIT are true whichever incarnation sends them. */
static bool is_exempt(const struct el_msg *m)
{
    return m->kind == QUORUM_RELEASE || m->kind == QUORUM_OBIT;
}

/* Q1: drop messages of an older incarnation, or of one with an obituary. */
static bool may_speak(const struct quorum *q, const struct el_msg *m)
{
    const struct quorum_peer *p = quorum_peer(q, m->from);
    return quorum_from_incarnation(m) >= p->incarnation && quorum_from_incarnation(m) > p->dead;
}

/* What one may say at all comes before when and to whom it is said. */
static bool is_believable(const struct quorum *q, const struct el_msg *m)
{
    return q->me->incarnation && quorum_is_sane(m) && quorum_is_entitled(q, m) &&
           quorum_believes(q, quorum_terms_in(m));
}

bool quorum_meets(const struct quorum *q, const struct el_msg *m)
{
    return is_believable(q, m) && !is_exempt(m) && may_speak(q, m) &&
           quorum_from_incarnation(m) > quorum_peer(q, m->from)->incarnation;
}

bool quorum_admits(const struct quorum *q, const struct el_msg *m)
{
    const bool is_for_us = !quorum_to_incarnation(m) || quorum_to_incarnation(m) == q->me->incarnation;
    return is_believable(q, m) && (is_exempt(m) || (may_speak(q, m) && is_for_us));
}

static void note_why_not(const struct quorum *q, const struct el_msg *m)
{
    if (q->me->incarnation == 0 || !quorum_is_sane(m)) return;
    if (!quorum_is_entitled(q, m))
        el_note(q->out, QUORUM_DROPS_UNENTITLED, m->from, m->kind);
    else
        el_note(q->out, QUORUM_DROPS_CLOCK, m->from, quorum_terms_in(m));
}

/* M23: one of us two is at rest, so the next message may take one H. */
static bool is_quiet(const struct quorum *q, const struct el_msg *m)
{
    return quorum_rests(q) || (m->kind == QUORUM_BEAT && m->flags & QUORUM_AT_REST);
}

/* A message to an earlier incarnation of ours is dropped, but we note its sender's incarnation and tell it
 * ours. Otherwise two members could address each other's past incarnations for ever. */
bool quorum_session_admit(const struct quorum *q, const struct el_msg *m)
{
    struct quorum_peer *p = quorum_peer(q, m->from);
    const uint64_t incarnation = quorum_from_incarnation(m);
    const bool is_admitted = quorum_admits(q, m);
    if (!is_believable(q, m)) {
        note_why_not(q, m);
        return false;
    }
    quorum_hear_terms(q, m);
    if (is_exempt(m)) return true;
    if (!may_speak(q, m)) {
        el_note(q->out, QUORUM_DROPS_OLD, m->from, incarnation);
        return false;
    }
    if (quorum_meets(q, m)) {
        meet(q, m->from, incarnation);
        *q->changes |= QUORUM_REVIEW;
    }
    if (!is_admitted) {
        el_note(q->out, QUORUM_DROPS_STRAY, m->from, quorum_to_incarnation(m));
        if (m->kind == QUORUM_BEAT)
            quorum_send(q, m->from, quorum_make_ack(0, 0, false)); /* tells our incarnation */
        return false;
    }
    p->recent = 1;
    arm(q, QUORUM_RECENT, m->from,
        is_quiet(q, m) ? RECENT_RESTS * quorum_rest(q->cfg)
                       : RECENT_BEATS * el_number(q->cfg, QUORUM_OPTION_BEAT));
    if (quorum_to_incarnation(m)) {
        p->heard = 1;
        arm(q, QUORUM_HEARD, m->from, is_quiet(q, m) ? RECENT_RESTS * quorum_rest(q->cfg) : lease(q));
    }
    return true;
}

void quorum_session_bury(const struct quorum *q, el_node node, uint64_t incarnation)
{
    struct quorum_peer *p = quorum_peer(q, node);
    el_note(q->out, QUORUM_BURIES, node, incarnation);
    p->dead = quorum_highest(p->dead, incarnation);
    if (p->incarnation != incarnation) return;
    stop(q, &p->promised, QUORUM_PROMISED, node);
    stop(q, &p->recent, QUORUM_RECENT, node);
    stop(q, &p->heard, QUORUM_HEARD, node);
    stop(q, &p->linked, QUORUM_LINKED, node);
}

/* ---- Beats ---- */

/* Q7: promise only if the sender hears us (LIVE). Otherwise it would hold the group and could not lead. */
static bool promises(const struct quorum *q, const struct el_msg *beat)
{
    struct quorum_peer *p = quorum_peer(q, beat->from);
    const bool newer = quorum_number(beat) > p->beat_seen;
    p->seen = quorum_highest(p->seen, quorum_number(beat));
    p->beat_seen = quorum_highest(p->beat_seen, quorum_number(beat));
    p->renews = !(beat->flags & QUORUM_LIVE) ? 0 : beat->flags & QUORUM_AT_REST ? QUORUM_RESTS : QUORUM_RENEWS;
    if (p->renews != QUORUM_RENEWS || !newer) return false;
    if (!quorum_votes(q, q->cfg->self)) return false;
    if (quorum_is_barred(q, beat->from)) return false; /* M16 */
    promise(q, beat->from);
    return true;
}

static void on_beat(const struct quorum *q, const struct el_msg *m)
{
    const struct quorum_peer *p = quorum_peer(q, m->from);
    const bool is_promised = promises(q, m);
    quorum_send(q, m->from, quorum_make_ack(p->seen, p->epoch, is_promised));
}

static void on_ack(const struct quorum *q, const struct el_msg *m)
{
    struct quorum_peer *p = quorum_peer(q, m->from);
    if (quorum_number(m) > q->me->seq) {
        el_note(q->out, QUORUM_DROPS_ECHO, m->from, quorum_number(m));
        return;
    }
    if (!p->linked) *q->changes |= QUORUM_REVIEW;
    p->linked = 1;
    arm(q, QUORUM_LINKED, m->from, quorum_rests(q) ? RECENT_RESTS * quorum_rest(q->cfg) : lease(q));
    if (!(m->flags & QUORUM_PROMISE)) return;
    if (quorum_is_of_later_era(q, m)) { /* M8 */
        el_note(q->out, QUORUM_DROPS_ERA, m->from, (quorum_phase(m) + 1) / 2);
        return;
    }
    quorum_credit(q, m->from, quorum_epoch(m), quorum_number(m), false);
    if (!p->lease || quorum_number(m) < p->base || !(m->flags & QUORUM_HAS_SETTLED)) return;
    if (!q->era || quorum_is_of_earlier_era(q, m)) return;
    p->settled = 1;
    quorum_look_for_sole(q);
}

void quorum_promise_ourselves(const struct quorum *q)
{
    const struct quorum_peer *p = quorum_peer(q, q->cfg->self);
    if (!quorum_votes(q, q->cfg->self)) return;
    quorum_open_probe(q, q->cfg->self);
    const struct el_msg beat = quorum_to_self(q, quorum_make_beat(q->me->seq, true, (struct quorum_claim){0}));
    if (promises(q, &beat)) quorum_credit(q, q->cfg->self, p->epoch, p->seen, false);
}

void quorum_session_beat(const struct quorum *q, struct quorum_claim claim)
{
    const bool rests = quorum_rests(q);
    arm(q, QUORUM_PULSE, 0, rests ? quorum_rest(q->cfg) : el_number(q->cfg, QUORUM_OPTION_BEAT));
    q->me->climbed = 0;
    quorum_floor_ask(q);
    if (!quorum_may_lead(q, q->cfg->self)) return;
    q->me->seq++;
    for (el_node to = 1; to <= q->cfg->cluster->count; to++) {
        struct quorum_peer *p = quorum_peer(q, to);
        if (p->probe && p->probe_age < PROBE_BEATS) p->probe_age++;
        if (!quorum_tells(q, to)) continue;
        if (!rests) quorum_open_probe(q, to);
        struct el_msg beat = quorum_make_beat(q->me->seq, p->heard, claim);
        if (rests) beat.flags |= QUORUM_AT_REST;
        quorum_send(q, to, beat);
    }
    quorum_promise_ourselves(q);
}

/* A lease, or a probe, of before the rest ends soon, perhaps before the first beat: who wins by it loses at once. */
static void forget_lease(const struct quorum *q, el_node from)
{
    struct quorum_peer *p = quorum_peer(q, from);
    stop(q, &p->lease, QUORUM_LEASE, from);
    forget_base(p);
    if (p->probe) p->probe_age = PROBE_BEATS;
}

void quorum_session_hasten(const struct quorum *q)
{
    if (!quorum_rests(q)) return;
    arm(q, QUORUM_PULSE, 0, el_number(q->cfg, QUORUM_OPTION_BEAT));
    for (el_node voter = 1; voter <= q->cfg->cluster->count; voter++) forget_lease(q, voter);
}

/* ---- Events ---- */

void quorum_session_acquaint(const struct quorum *q)
{
    for (el_node node = 1; node <= q->cfg->cluster->count; node++) {
        struct quorum_peer *p = quorum_peer(q, node);
        if (node == q->cfg->self || !quorum_has_session(q, node)) continue;
        p->incarnation = 1;
        p->heard = p->recent = p->linked = 1;
        arm(q, QUORUM_HEARD, node, lease(q));
        arm(q, QUORUM_LINKED, node, lease(q));
        arm(q, QUORUM_RECENT, node, RECENT_BEATS * el_number(q->cfg, QUORUM_OPTION_BEAT));
    }
}

void quorum_session_hear(const struct quorum *q, const struct el_msg *m)
{
    switch (m->kind) {
    case QUORUM_BEAT: on_beat(q, m); return;
    case QUORUM_ACK: on_ack(q, m); return;
    case QUORUM_FLOOR_ASKED: quorum_floor_tell(q, m); return;
    default: quorum_floor_hear(q, m); return;
    }
}

void quorum_session_timer(const struct quorum *q, uint32_t timer, el_node slot)
{
    if (timer == QUORUM_SILENCE) {
        quorum_floor_speak(q);
        return;
    }
    struct quorum_peer *p = quorum_peer(q, slot);
    switch (timer) {
    case QUORUM_HEARD: p->heard = 0; return;
    case QUORUM_RECENT:
        p->recent = 0;
        *q->changes |= QUORUM_REVIEW;
        return;
    case QUORUM_LINKED: p->linked = 0; return;
    case QUORUM_PROBE:
        p->probe = 0;
        p->probe_age = 0;
        return;
    case QUORUM_LEASE:
        p->lease = 0;
        forget_base(p);
        *q->changes |= QUORUM_LAPSED;
        return;
    case QUORUM_PROMISED:
        p->promised = 0;
        *q->changes |= QUORUM_FREED;
        return;
    default:
        p->owed = 0;
        *q->changes |= QUORUM_FREED;
        return;
    }
}
