/*
 * PaxosLease: Paxos for a value that expires and therefore need not be saved. A proposer prepares a ballot
 * with a majority of acceptors, proposes itself as the owner of the lease, and holds it once a majority
 * accepts. Acceptors forget an accepted owner when its time is over. An acceptor that restarts has forgotten
 * everything, so it keeps silent until all that it may have accepted has expired.
 *
 * Reference: M. Trencseni, A. Gazso, H. Reinhardt, PaxosLease: diskless Paxos for leases, 2012 (arXiv
 * 1209.4187). Deviations:
 * - The lease counts from Prepare, not from Propose. Otherwise a proposer may use a promise long after its
 *   acceptor has restarted, kept silent and helped another: two owners. So a round is over before any
 *   acceptor that restarted during it speaks again.
 * - An acceptor that has accepted an owner refuses other ballots and says for how long, instead of promising
 *   and reporting the owner. The proposer could only wait anyway, and the owner's renewals stay undisturbed.
 * - Ballots are unique for ever: a number names its proposer, and each incarnation takes numbers from blocks
 *   that no earlier one had. Only the last block taken is saved. A member that lost that record accepts but
 *   never proposes again: it might use a ballot twice.
 * - The owner renews with a new ballot, but without preparing it. It tells everybody how long it still leads;
 *   the term is the ballot by which it got the lease. No two nodes or incarnations share a term, but after a
 *   restart of all members a later owner's term may be lower, so terms are not fencing tokens.
 */
#include "algorithms/majority/tenure.h"

enum { PREPARE = 1, PROMISE, PROPOSE, ACCEPT, REFUSE, RENEW, RENEWED, LEARN, RELEASE, KINDS = RELEASE };
enum { SILENCE, ACCEPTED, LEARNED, ROUND, LEASE, BEAT, RETRY, TIMERS };
enum { IDLE, PREPARING, PROPOSING };
#define NOTE_LIST(NOTE)                                                                                    \
    NOTE(KEEPS_SILENT, "keeps-silent", "may have forgotten what it promised, and says nothing")            \
    NOTE(LOST_ITS_BALLOTS, "lost-its-ballots", "has lost the record of its ballots, and proposes no more") \
    NOTE(SPEAKS, "speaks", "has been silent for long enough")                                              \
    NOTE(PREPARES, "prepares", "prepares ballot #1")                                                       \
    NOTE(PROPOSES, "proposes", "has a majority of promises and proposes itself in ballot #1")              \
    NOTE(ACCEPTS, "accepts", "accepts @1 as owner of the lease")                                           \
    NOTE(REFUSES_OWNED, "refuses-owned", "has accepted @2, and refuses @1")                                \
    NOTE(REFUSES_OLD, "refuses-old", "has promised a higher ballot, and refuses @1")                       \
    NOTE(IGNORES_LATE, "ignores-late", "ignores an answer of @1 to an earlier ballot")                     \
    NOTE(FAILS, "fails", "gets no majority in ballot #1")                                                  \
    NOTE(HOLDS, "holds", "is accepted by a majority and holds the lease, by ballot #1")                    \
    NOTE(LAPSES, "lapses", "was renewed by no majority, and holds the lease no more")                      \
    NOTE(FOLLOWS, "follows", "learns that @1 holds the lease, by ballot #2")                               \
    NOTE(IGNORES_OLD_OWNER, "ignores-old-owner", "knows of a later owner than @1")                         \
    NOTE(IS_RELEASED, "is-released", "forgets @1, who gave the lease back")                                \
    NOTE(IS_HEIR, "is-heir", "was chosen by @1 to follow it")                                              \
    NOTE(RESIGNS, "resigns", "gives the lease back")                                                       \
    NOTE(HANDS_OVER, "hands-over", "gives the lease back, and names @1 its heir")                          \
    NOTE(IS_BUSY, "is-busy", "is called, but proposes or holds the lease already")                         \
    NOTE(CANNOT_LEAD, "cannot-lead", "is called, but may not lead")                                        \
    NOTE(HOLDS_BACK, "holds-back", "is called, but the lease is another's, or it keeps silent")
enum { NOTE_LIST(EL_NOTE_NAME) NOTES };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

enum { BLOCK = 1 << 16 }; /* rounds, so that a block lasts for hours of renewals */

struct paxos {
    uint64_t promised; /* as an acceptor: it answers no ballot below this */
    uint64_t accepted;
    uint64_t ballot;  /* as a proposer: our last; a ballot is round * (count + 1) + proposer */
    uint64_t seen;    /* the highest ballot heard of */
    uint64_t block;   /* the block of rounds in use; saved */
    uint64_t held;    /* the ballot by which we got the lease; 0: we do not hold it */
    uint64_t learned; /* the ballot by which the known owner got the lease */
    uint64_t left;    /* the longest time left on the acceptances of members that refused us */
    uint64_t longest; /* the longest time for which we may have accepted an owner; saved */
    el_node owner;    /* the owner we accepted */
    el_node leader;   /* the owner we learned of */
    uint8_t phase;
    uint8_t silent;
    uint8_t mute; /* never proposes again; saved */
    uint8_t spare[5];
};
_Static_assert(sizeof(struct paxos) == 88, "no padding");

static uint64_t *sets(struct paxos *me)
{
    return (uint64_t *)(me + 1);
}

static struct el_msg about(const struct paxos *me, const struct el_config *cfg, uint8_t kind)
{
    return (struct el_msg){.kind = kind, .subject = cfg->self, .epoch = me->ballot};
}

/* ---- The acceptor ---- */

static bool promises(struct paxos *me, uint64_t ballot, el_node proposer)
{
    if (ballot < me->promised || (me->owner && me->owner != proposer)) return false;
    me->promised = ballot;
    return true;
}

/* Accepts even in place of another owner: a proposer with a majority of promises proves that no majority has
 * accepted another owner. */
static bool accepts(struct paxos *me, const struct el_config *cfg, uint64_t ballot, el_node proposer,
                    struct el_outbox *out)
{
    if (ballot < me->promised || (me->held && proposer != cfg->self)) return false;
    if (me->owner != proposer) el_note(out, ACCEPTS, proposer, 0);
    me->promised = me->accepted = ballot;
    me->owner = proposer;
    el_arm(out, ACCEPTED, 0, tenure_promise(cfg), tenure_promise(cfg));
    return true;
}

static void forget_accepted(struct paxos *me, struct el_outbox *out)
{
    me->owner = EL_NOBODY;
    me->accepted = 0;
    el_disarm(out, ACCEPTED, 0);
}

static void on_question(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (me->silent) return;
    const bool displaces = m->kind == RENEW && me->owner && me->owner != m->from; /* a very late renewal */
    const bool agrees = m->kind == PREPARE ? promises(me, m->epoch, m->from)
                                           : !displaces && accepts(me, cfg, m->epoch, m->from, out);
    struct el_msg answer = {.kind = (uint8_t)(m->kind + 1), .subject = cfg->self, .epoch = m->epoch};
    if (agrees) {
        el_send(out, cfg, m->from, answer);
    } else {
        el_note(out, me->owner ? REFUSES_OWNED : REFUSES_OLD, m->from, me->owner);
        answer.kind = REFUSE;
        answer.epoch = me->promised;
        answer.more = m->epoch;
        el_send_with_left(out, cfg, m->from, answer, ACCEPTED, 0);
    }
}

/* ---- The proposer ---- */

static bool may_propose(const struct paxos *me, const struct el_config *cfg)
{
    return el_may_lead(cfg->cluster, cfg->self) && !me->mute;
}

static void wait(const struct paxos *me, const struct el_config *cfg, el_duration least, struct el_outbox *out)
{
    if (!me->mute) tenure_wait(cfg, RETRY, least, out);
}

static bool is_free(const struct paxos *me)
{
    return !me->silent && !me->held && me->phase == IDLE && !me->owner && !me->leader;
}

static void hold(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->phase = IDLE;
    el_move(out, ROUND, LEASE, 0);
    if (!me->held) {
        me->held = me->ballot;
        me->leader = EL_NOBODY;
        el_disarm(out, LEARNED, 0);
        el_note(out, HOLDS, me->held, 0);
    }
    const struct el_msg news = {.kind = LEARN, .subject = cfg->self, .epoch = me->held};
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self) el_send_with_left(out, cfg, peer, news, LEASE, 0);
}

/* Asks all members to accept us as the owner, ourselves first. */
static void ask_for_lease(struct paxos *me, const struct el_config *cfg, uint8_t kind, struct el_outbox *out)
{
    if (kind == PROPOSE) el_note(out, PROPOSES, me->ballot, 0);
    me->phase = PROPOSING;
    tenure_open_round(sets(me), cfg);
    mesh_send_others(cfg, about(me, cfg, kind), EL_NOBODY, out);
    if (accepts(me, cfg, me->ballot, cfg->self, out) && tenure_answer(sets(me), cfg, cfg->self))
        hold(me, cfg, out);
}

static void save(const struct paxos *me, struct el_outbox *out)
{
    el_save(out, (struct el_durable){me->block, {me->longest, me->mute}});
}

/* Takes a ballot above all seen, if there is one (only forged messages leave none), and starts a round whose
 * timer may become the lease. */
static bool open_ballot(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t proposers = (uint64_t)cfg->cluster->count + 1, first = me->block * BLOCK;
    const uint64_t next = me->seen / proposers + 1, round = next > first ? next : first;
    if (round >= EL_EPOCH_MAX / proposers) return false;
    if (round / BLOCK > me->block) {
        me->block = round / BLOCK;
        save(me, out);
    }
    me->seen = me->ballot = round * proposers + cfg->self;
    me->left = 0;
    el_disarm(out, RETRY, 0);
    tenure_arm(cfg, ROUND, TENURE_LEASE, out);
    tenure_arm(cfg, BEAT, TENURE_HEARTBEAT, out);
    return true;
}

static void prepare(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!open_ballot(me, cfg, out)) return;
    el_note(out, PREPARES, me->ballot, 0);
    me->phase = PREPARING;
    tenure_open_round(sets(me), cfg);
    mesh_send_others(cfg, about(me, cfg, PREPARE), EL_NOBODY, out);
    me->promised = me->ballot; /* it is the highest, and we have accepted no owner: see is_free */
    if (tenure_answer(sets(me), cfg, cfg->self)) ask_for_lease(me, cfg, PROPOSE, out);
}

/* While we hold the lease, nobody else can have a majority of promises. So we skip Prepare. */
static void renew(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (open_ballot(me, cfg, out)) ask_for_lease(me, cfg, RENEW, out);
}

/* No answer counts from here on, so our acceptance of ourselves can end. */
static void let_go(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->phase = IDLE;
    me->held = 0;
    el_disarm(out, LEASE, 0);
    el_disarm(out, ROUND, 0);
    el_disarm(out, BEAT, 0);
    if (me->owner == cfg->self) forget_accepted(me, out);
}

/* Members that accepted us up to this ballot are free, but leave the heir time to stand. */
static void give_back(struct paxos *me, const struct el_config *cfg, el_node heir, el_duration least,
                      struct el_outbox *out)
{
    struct el_msg msg = about(me, cfg, RELEASE);
    msg.subject = heir;
    let_go(me, cfg, out);
    mesh_send_others(cfg, msg, EL_NOBODY, out);
    wait(me, cfg, least, out);
}

/* A renewal that failed is retried at the next beat, with a higher ballot. */
static void fail(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, FAILS, me->ballot, 0);
    if (!me->held) {
        give_back(me, cfg, cfg->self, me->left, out);
        return;
    }
    me->phase = IDLE;
    el_disarm(out, ROUND, 0);
}

/* ---- Events ---- */

static void begin_under(struct paxos *me, const struct el_config *cfg, el_node incumbent, struct el_outbox *out)
{
    me->promised = me->accepted = 1; /* round 0, in which nobody proposes */
    me->owner = incumbent;
    el_arm(out, ACCEPTED, 0, tenure_promise(cfg), tenure_promise(cfg));
    if (incumbent == cfg->self) {
        me->held = 1;
        tenure_arm(cfg, LEASE, TENURE_LEASE, out);
        renew(me, cfg, out);
    } else {
        me->leader = incumbent;
        me->learned = 1;
        tenure_arm(cfg, LEARNED, TENURE_LEASE, out);
    }
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct paxos *me = state;
    me->longest = tenure_promise(cfg);
    if (start->how == EL_RESTORED) {
        me->block = start->durable.epoch + 1;
        if (start->durable.word[0] > me->longest) me->longest = start->durable.word[0];
        me->mute = start->durable.word[1] != 0;
    }
    if (start->how == EL_LOST) me->mute = 1;
    save(me, out);
    if (start->how == EL_FRESH && start->incumbent && el_may_lead(cfg->cluster, start->incumbent)) {
        begin_under(me, cfg, start->incumbent, out);
        return;
    }
    el_note(out, me->mute ? LOST_ITS_BALLOTS : KEEPS_SILENT, 0, 0);
    me->silent = 1; /* also on an apparent first start: the record may have been lost with the disk */
    el_arm(out, SILENCE, 0, me->longest, me->longest);
}

/* Each answer echoes its ballot and counts in its own phase only: a late promise is not an acceptance. Once the
 * lease is held, an answer still shows that the sender is reachable. */
static void on_answer(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (m->epoch != me->ballot) {
        el_note(out, IGNORES_LATE, m->from, 0);
        return;
    }
    if (me->phase == (m->kind == PROMISE ? PROPOSING : PREPARING)) return;
    if (!tenure_answer(sets(me), cfg, m->from)) return;
    if (me->phase == PREPARING) {
        ask_for_lease(me, cfg, PROPOSE, out);
    } else if (me->phase == PROPOSING) {
        hold(me, cfg, out);
    }
}

static void on_refuse(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (me->phase == IDLE || m->more != me->ballot) return;
    const el_duration left = m->aux < me->longest ? m->aux : me->longest; /* trust at most our longest */
    if (left > me->left) me->left = left;
    if (tenure_refuse(sets(me), cfg, m->from)) fail(me, cfg, out);
}

static void on_learn(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    const el_duration lease = el_number(cfg, TENURE_LEASE), left = m->aux < lease ? m->aux : lease;
    if (me->held || left == 0) return;
    if (me->leader && me->leader != m->from && m->epoch < me->learned) {
        el_note(out, IGNORES_OLD_OWNER, m->from, 0);
        return;
    }
    if (me->leader != m->from) el_note(out, FOLLOWS, m->from, m->epoch);
    me->leader = m->from;
    me->learned = m->epoch;
    el_arm(out, LEARNED, 0, left, left);
}

/* Ends our acceptance of the sender's ballots up to this one, and nothing else. */
static void on_release(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    const bool accepted = me->owner == m->from && me->accepted <= m->epoch;
    const bool learned = me->leader == m->from && me->learned <= m->epoch;
    if (!accepted && !learned) return;
    el_note(out, IS_RELEASED, m->from, 0);
    if (accepted) forget_accepted(me, out);
    if (learned) {
        me->leader = EL_NOBODY;
        el_disarm(out, LEARNED, 0);
    }
    if (m->subject == cfg->self && is_free(me) && may_propose(me, cfg)) {
        el_note(out, IS_HEIR, m->from, 0);
        prepare(me, cfg, out);
    } else if (!me->held && me->phase == IDLE) {
        wait(me, cfg, m->subject == m->from ? 0 : el_number(cfg, TENURE_HEARTBEAT), out);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct paxos *me = state;
    if (m->epoch > me->seen) me->seen = m->epoch;
    switch (m->kind) {
    case PREPARE:
    case PROPOSE:
    case RENEW: on_question(me, cfg, m, out); return;
    case PROMISE:
    case ACCEPT:
    case RENEWED: on_answer(me, cfg, m, out); return;
    case REFUSE: on_refuse(me, cfg, m, out); return;
    case LEARN: on_learn(me, cfg, m, out); return;
    default: on_release(me, cfg, m, out); return;
    }
}

static void on_beat(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->held) {
        renew(me, cfg, out);
        return;
    }
    /* Repeat the request for members it did not reach; the round counts from the first one. */
    mesh_send_others(cfg, about(me, cfg, me->phase == PREPARING ? PREPARE : PROPOSE), EL_NOBODY, out);
    tenure_arm(cfg, BEAT, TENURE_HEARTBEAT, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    struct paxos *me = state;
    switch (timer) {
    case ROUND: fail(me, cfg, out); return;
    case BEAT: on_beat(me, cfg, out); return;
    case RETRY:
        if (is_free(me)) prepare(me, cfg, out);
        return;
    case LEASE:
        el_note(out, LAPSES, 0, 0);
        let_go(me, cfg, out);
        break;
    case SILENCE:
        el_note(out, SPEAKS, 0, 0);
        me->silent = 0;
        break;
    case ACCEPTED: forget_accepted(me, out); break;
    default: me->leader = EL_NOBODY; break;
    }
    if (is_free(me)) wait(me, cfg, 0, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct paxos *me = state;
    const bool able = may_propose(me, cfg), busy = me->held || me->phase != IDLE;
    if (able && is_free(me)) {
        prepare(me, cfg, out);
    } else {
        el_note(out, busy ? IS_BUSY : able ? HOLDS_BACK : CANNOT_LEAD, 0, 0);
    }
}

static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct paxos *me = state;
    if (!me->held) return EL_NOT_LEADING;
    if (what == EL_RESIGN) {
        el_note(out, RESIGNS, 0, 0);
        give_back(me, cfg, cfg->self, tenure_promise(cfg), out); /* let the others stand first */
        return EL_PERFORMED;
    }
    const enum el_answer objection = tenure_heir(sets(me), cfg, to);
    if (objection != EL_PERFORMED) return objection;
    el_note(out, HANDS_OVER, to, 0);
    give_back(me, cfg, to, el_number(cfg, TENURE_HEARTBEAT), out);
    return EL_PERFORMED;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct paxos *me = state;
    const el_node leader = me->held ? cfg->self : me->leader;
    el_view_of(v, cfg, leader, me->phase != IDLE || me->owner, me->held ? me->held : leader ? me->learned : 0);
    if (leader) v->timer = me->held ? LEASE : LEARNED;
}

/* ---- Descriptor ---- */

static const char *const kinds[] = {NULL,     "Prepare", "Promise", "Propose", "Accept",
                                    "Refuse", "Renew",   "Renewed", "Learn",   "Release"};
static const char *const timers[] = {"silence", "accepted", "learned", "round", "lease", "beat", "retry"};

static const struct el_option options[] = {TENURE_OPTION_ROWS};

static const struct el_inequality inequalities[] = {TENURE_INEQUALITY_ROWS};

static const struct el_weakness breaks[] = {
    {EL_DRIFTS, EL_TWO_LEADERS,
     "an acceptor whose clock runs too fast forgets the owner while the owner still relies on it"},
    {EL_RESTARTS, EL_DEMOTED,
     "an owner whose majority was down, or silent after a restart, has lost its lease"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "a lease that is not renewed in time expires, and a member that missed messages knows no owner, "
     "or the old one"},
    {EL_WIPES, EL_NO_LEADER, "a member that lost its record never proposes again: if all have, nobody leads"},
};

const struct el_algorithm el_paxos_lease = {
    .name = "paxos-lease",
    .summary = "a majority accepts an owner for one lease and then forgets it; leases are never saved",
    .idea = "A proposer first asks all acceptors to promise its ballot, a number above all that it has "
            "heard of. If a majority promises and none of them has accepted another owner, it proposes "
            "itself. If a majority accepts, it holds the lease until a timer expires that it armed before"
            " its first request. Acceptors remember it for longer, so that the lease is over before they "
            "accept another owner. Only blocks of ballot numbers are saved. A restarted member waits "
            "until all that it may have forgotten has expired.",
    .reference = "Trencseni, Gazso, Reinhardt: PaxosLease: diskless Paxos for leases, 2012",
    EL_KINDS(kinds),
    .routine_kinds = 1u << RENEW | 1u << RENEWED | 1u << LEARN,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT | EL_CLAIMS_STABLE,
    .beats = true,
    .majority = true,
    EL_INEQUALITIES(inequalities),
    .state_bytes = sizeof(struct paxos),
    .state_sets = TENURE_SETS,
    .outbox_fixed = 20,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
};
