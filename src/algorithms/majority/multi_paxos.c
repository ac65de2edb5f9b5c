/*
 * Multi-Paxos: one Prepare covers all later slots. A proposer with a majority of promises for its ballot
 * leads, and from then on only sends Accept, one slot of the log after the other; every heartbeat repeats the
 * slot that is not chosen yet. Two leaders may coexist: a new ballot can win its majority of promises while
 * the old leader does not know. But only one of them can win the second majority, of acceptances; the other
 * learns by a Nack.
 *
 * Proposers that outbid each other immediately can do so for ever: each invalidates the other's promises
 * before they are used (see back-off=none). With back-off, an outbid proposer waits for a random time that
 * doubles.
 *
 * Reference: L. Lamport, Paxos made simple, 2001, section 3; R. van Renesse, D. Altinbuken, Paxos made
 * moderately complex, ACM Computing Surveys 47(3), 2015. Deviations: the log is abstract, so neither promises
 * nor acceptances carry a value; only the promise is saved, and a slot is a number. A leader steps down if no
 * slot was chosen for twice the timeout (check-quorum), so that a leader that is cut off does not stay. The
 * incumbent has ballot 1, below all that can be opened. A member that has lost its record follows, but never
 * promises or accepts again, not even after its next restart.
 *
 * Words: epoch is the ballot (Nack: the one promised), aux the slot (Nack: the ballot refused).
 */
#include "algorithms/majority/ballot.h"
#include "algorithms/mesh/mesh.h"

struct multi_paxos {
    uint64_t promised; /* the term; a leader's own ballot */
    uint64_t slot;     /* as a leader: the slot to be chosen next */
    el_node leader;
    uint32_t role;
    uint32_t tries;  /* ballots opened without success */
    uint32_t tenure; /* 1: some slot was chosen since it leads */
    uint32_t chosen; /* 1: `slot` is chosen, and the next beat proceeds to the next one */
    uint32_t forgot; /* its record was lost once */
    /* two sets follow: members that answered in this phase or slot, and in the slot before */
};
_Static_assert(sizeof(struct multi_paxos) == 40, "no padding");

enum { FOLLOWING, PREPARING, LEADING };
enum { PREPARE = 1, PROMISE, ACCEPT, ACCEPTED, NACK, RESIGN, TAKE_OVER, KINDS = TAKE_OVER };
enum { T_PATIENCE, T_HEARTBEAT, TIMERS };
enum { TIMEOUT, HEARTBEAT, BACK_OFF, CHECK_QUORUM, OPTIONS };
enum { RANDOM, NONE }; /* choices of BACK_OFF */
enum { INCUMBENT_BALLOT = 1, DOUBLINGS = 2, TOMBSTONE = 1 };
#define NOTE_LIST(NOTE)                                                                      \
    NOTE(PREPARES, "prepares", "opens ballot #1")                                            \
    NOTE(PROMISES, "promises", "promises @1 to ignore what is below ballot #2")              \
    NOTE(LEADS, "leads", "has promises of a majority and leads with ballot #1")              \
    NOTE(COMMITS, "commits", "has the second majority: slot #1 is chosen")                   \
    NOTE(LEARNS, "learns", "learns that @1 leads with ballot #2")                            \
    NOTE(REFUSES, "refuses", "refuses @1: it has promised ballot #2")                        \
    NOTE(DEPOSED, "deposed", "learns from @1 that ballot #2 has taken over, and steps down") \
    NOTE(OUTBID, "outbid", "is outbid by ballot #2, says @1, and backs off")                 \
    NOTE(DUEL, "duel", "is outbid by ballot #2, says @1, and bids again at once")            \
    NOTE(HEARS_NOTHING, "hears-nothing", "has heard of no leader for too long")              \
    NOTE(NO_QUORUM, "no-quorum", "has found no majority for too long, and steps down")       \
    NOTE(STALE, "stale", "ignores a late reply from @1")                                     \
    NOTE(RESIGNS, "resigns", "resigns from ballot #1")                                       \
    NOTE(HEARS_RESIGN, "hears-resign", "hears that @1 resigns")                              \
    NOTE(HANDS_OVER, "hands-over", "tells @1 to take over")                                  \
    NOTE(TOLD_TO_LEAD, "told-to-lead", "is told by @1 to take over")                         \
    NOTE(CALL_IGNORED, "call-ignored", "opens no ballot: it leads, or may not lead")         \
    NOTE(FORGOT, "forgot", "does not vote: it has forgotten its promises")                   \
    NOTE(BAD_BALLOT, "bad-ballot", "drops a ballot that is not @1's")                        \
    NOTE(OUT_OF_NUMBERS, "out-of-numbers", "has run out of numbers")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static uint64_t *answers(struct multi_paxos *me)
{
    return (uint64_t *)(me + 1);
}

static uint64_t *answered_before(struct multi_paxos *me, const struct el_config *cfg)
{
    return answers(me) + el_set_words(cfg->cluster->count);
}

static bool is_barred(const struct multi_paxos *me, const struct el_config *cfg)
{
    return me->forgot || !el_may_lead(cfg->cluster, cfg->self);
}

static struct el_msg speak(const struct multi_paxos *me, const struct el_config *cfg, uint8_t kind)
{
    return (struct el_msg){.kind = kind, .subject = cfg->self, .epoch = me->promised};
}

/* Saved before any message that depends on it. A member that lost its record saves that too, so that its next
 * start does not take the new record for a complete one. */
static void promise(struct multi_paxos *me, uint64_t ballot, struct el_outbox *out)
{
    me->promised = ballot;
    if (!me->forgot) el_save(out, (struct el_durable){ballot, {0}});
}

/* ---- Waiting ---- */

static void wait_times(const struct el_config *cfg, el_duration times, struct el_outbox *out)
{
    const el_duration least = times * el_number(cfg, TIMEOUT);
    el_arm(out, T_PATIENCE, 0, least, 2 * least);
}

static void hurry(const struct el_config *cfg, struct el_outbox *out)
{
    el_arm(out, T_PATIENCE, 0, 0, el_number(cfg, TIMEOUT));
}

static void back_off(const struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint32_t doublings = me->tries < DOUBLINGS ? me->tries : DOUBLINGS;
    wait_times(cfg, UINT64_C(1) << doublings, out);
}

static void watch_quorum(const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration patience = 2 * el_number(cfg, TIMEOUT);
    if (el_number(cfg, CHECK_QUORUM))
        el_arm(out, T_PATIENCE, 0, patience, patience);
    else
        el_disarm(out, T_PATIENCE, 0);
}

static void step_back(struct multi_paxos *me, struct el_outbox *out)
{
    if (me->role == LEADING) el_disarm(out, T_HEARTBEAT, 0);
    me->role = FOLLOWING;
    me->leader = EL_NOBODY;
}

/* ---- The leader ---- */

static bool has_majority(struct multi_paxos *me, const struct el_config *cfg)
{
    return el_set_size(answers(me), cfg->cluster->count) >= el_majority(cfg);
}

static void count_self(struct multi_paxos *me, const struct el_config *cfg)
{
    el_set_clear(answers(me), cfg->cluster->count);
    el_set_add(answers(me), cfg->self);
}

/* The second majority: no other ballot can have it at the same time. */
static void choose_slot(struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!me->tenure) el_note(out, COMMITS, me->slot, 0);
    me->tenure = me->chosen = true;
    me->tries = 0;
    watch_quorum(cfg, out);
}

static void ask_to_accept(struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    struct el_msg m = speak(me, cfg, ACCEPT);
    m.aux = me->slot;
    el_arm(out, T_HEARTBEAT, 0, el_number(cfg, HEARTBEAT), el_number(cfg, HEARTBEAT));
    mesh_send_others(cfg, m, EL_NOBODY, out);
    if (has_majority(me, cfg)) choose_slot(me, cfg, out); /* in a cluster of one */
}

static void lead(struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, LEADS, me->promised, 0);
    me->role = LEADING;
    me->leader = cfg->self;
    me->slot = 1;
    me->tenure = me->chosen = false;
    count_self(me, cfg);
    el_set_clear(answered_before(me, cfg), cfg->cluster->count);
    watch_quorum(cfg, out);
    ask_to_accept(me, cfg, out);
}

static void on_heartbeat(struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->chosen) {
        el_set_copy(answered_before(me, cfg), answers(me), cfg->cluster->count);
        count_self(me, cfg);
        me->slot++;
        me->chosen = false;
    }
    ask_to_accept(me, cfg, out);
}

/* ---- The proposer ---- */

static void prepare(struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t ballot = ballot_above(cfg, me->promised);
    if (ballot >= EL_EPOCH_MAX) {
        el_note(out, OUT_OF_NUMBERS, 0, 0);
        return;
    }
    el_note(out, PREPARES, ballot, 0);
    me->role = PREPARING;
    me->leader = EL_NOBODY;
    count_self(me, cfg);
    promise(me, ballot, out); /* to itself; saving it also keeps its ballots unique for ever */
    back_off(me, cfg, out);
    me->tries++;
    mesh_send_others(cfg, speak(me, cfg, PREPARE), EL_NOBODY, out);
    if (has_majority(me, cfg)) lead(me, cfg, out);
}

/* A higher ballot exists, so its own ballot or leadership is over. True if it bids again at once. */
static bool give_way(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    const bool bids = me->role != FOLLOWING, again = bids && el_number(cfg, BACK_OFF) != RANDOM;
    if (bids) el_note(out, again ? DUEL : me->role == LEADING ? DEPOSED : OUTBID, m->from, m->epoch);
    step_back(me, out);
    promise(me, m->epoch, out);
    back_off(me, cfg, out);
    return again;
}

static void on_nack(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                    struct el_outbox *out)
{
    if (me->role == FOLLOWING || m->aux != me->promised || m->epoch <= me->promised) {
        el_note(out, STALE, m->from, 0);
        return;
    }
    if (give_way(me, cfg, m, out)) prepare(me, cfg, out);
}

static void on_promise(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (me->role != PREPARING || m->epoch != me->promised) {
        el_note(out, STALE, m->from, 0);
        return;
    }
    el_set_add(answers(me), m->from);
    if (has_majority(me, cfg)) lead(me, cfg, out);
}

/* Every beat brings acceptances, and those beyond the majority always come late, so they get no note. */
static void on_accepted(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (me->role != LEADING || m->epoch != me->promised || m->aux != me->slot) return;
    el_set_add(answers(me), m->from);
    if (!me->chosen && has_majority(me, cfg)) choose_slot(me, cfg, out);
}

/* ---- The acceptor ---- */

static bool refuses(const struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                    struct el_outbox *out)
{
    if (m->epoch >= me->promised) return false;
    el_note(out, REFUSES, m->from, me->promised);
    struct el_msg nack = speak(me, cfg, NACK);
    nack.aux = m->epoch;
    el_send(out, cfg, m->from, nack);
    return true;
}

static void on_prepare(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (me->forgot) {
        el_note(out, FORGOT, 0, 0);
        return;
    }
    if (refuses(me, cfg, m, out)) return;
    const bool again = m->epoch > me->promised && give_way(me, cfg, m, out);
    el_note(out, PROMISES, m->from, m->epoch);
    el_send(out, cfg, m->from, speak(me, cfg, PROMISE));
    if (again) prepare(me, cfg, out);
}

static void on_accept(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (refuses(me, cfg, m, out)) return;
    if (me->leader != m->from) {
        if (me->role == LEADING) el_note(out, DEPOSED, m->from, m->epoch);
        el_note(out, LEARNS, m->from, m->epoch);
    }
    if (m->epoch > me->promised) promise(me, m->epoch, out);
    step_back(me, out);
    me->leader = m->from;
    me->tries = 0;
    wait_times(cfg, 1, out);
    struct el_msg accepted = speak(me, cfg, ACCEPTED);
    accepted.aux = m->aux;
    if (!me->forgot) el_send(out, cfg, m->from, accepted);
}

/* ---- Handing over ---- */

static void on_resign(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (me->leader != m->from || m->epoch != me->promised) return;
    el_note(out, HEARS_RESIGN, m->from, 0);
    me->leader = EL_NOBODY;
    hurry(cfg, out);
}

static void on_take_over(struct multi_paxos *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (me->leader != m->from || m->epoch != me->promised || is_barred(me, cfg)) return;
    el_note(out, TOLD_TO_LEAD, m->from, 0);
    prepare(me, cfg, out);
}

/* RESIGN and TRANSFER: it stops leading at once and leaves the others time to take over. */
static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct multi_paxos *me = state;
    if (what != EL_RESIGN && what != EL_TRANSFER) return EL_UNKNOWN_HERE;
    if (me->role != LEADING) return EL_NOT_LEADING;
    if (what == EL_RESIGN) {
        el_note(out, RESIGNS, me->promised, 0);
        mesh_send_others(cfg, speak(me, cfg, RESIGN), EL_NOBODY, out);
    } else {
        if (to == cfg->self || !el_may_lead(cfg->cluster, to)) return EL_NOT_ELIGIBLE;
        if (!el_set_has(answers(me), to) && !el_set_has(answered_before(me, cfg), to)) return EL_OUT_OF_TOUCH;
        el_note(out, HANDS_OVER, to, 0);
        el_send(out, cfg, to, speak(me, cfg, TAKE_OVER));
    }
    step_back(me, out);
    wait_times(cfg, 2, out);
    return EL_PERFORMED;
}

/* ---- Events ---- */

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct multi_paxos *me = state;
    if (start->how == EL_FRESH && start->incumbent != EL_NOBODY) {
        me->promised = INCUMBENT_BALLOT;
        me->leader = start->incumbent;
        if (me->leader == cfg->self) {
            lead(me, cfg, out);
            return;
        }
    } else if (start->how == EL_LOST || start->durable.word[0] == TOMBSTONE) {
        me->forgot = true;
        el_save(out, (struct el_durable){0, {TOMBSTONE}});
    } else {
        me->promised = start->durable.epoch;
    }
    wait_times(cfg, 1, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct multi_paxos *me = state;
    const bool opens = m->kind == PREPARE || (m->kind == ACCEPT && m->epoch != INCUMBENT_BALLOT);
    if (opens && !ballot_is_of(cfg, m->epoch, m->from)) {
        el_note(out, BAD_BALLOT, m->from, 0);
        return;
    }
    switch (m->kind) {
    case PREPARE: on_prepare(me, cfg, m, out); return;
    case PROMISE: on_promise(me, cfg, m, out); return;
    case ACCEPT: on_accept(me, cfg, m, out); return;
    case ACCEPTED: on_accepted(me, cfg, m, out); return;
    case NACK: on_nack(me, cfg, m, out); return;
    case RESIGN: on_resign(me, cfg, m, out); return;
    default: on_take_over(me, cfg, m, out); return;
    }
}

static void on_patience(struct multi_paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->role == LEADING) {
        el_note(out, NO_QUORUM, 0, 0);
        step_back(me, out);
        wait_times(cfg, 1, out);
        return;
    }
    el_note(out, HEARS_NOTHING, 0, 0);
    me->leader = EL_NOBODY;
    if (!is_barred(me, cfg)) prepare(me, cfg, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    timer == T_HEARTBEAT ? on_heartbeat(state, cfg, out) : on_patience(state, cfg, out);
}

/* The detector reports a crash earlier than the timeout. */
static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct multi_paxos *me = state;
    if (me->leader == peer) hurry(cfg, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct multi_paxos *me = state;
    if (me->role == LEADING || is_barred(me, cfg)) {
        el_note(out, CALL_IGNORED, 0, 0);
        return;
    }
    me->tries = 0;
    prepare(me, cfg, out);
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct multi_paxos *me = state;
    el_view_of(v, cfg, me->leader, me->role == PREPARING, me->promised);
}

static const char *const kinds[] = {NULL,       "Prepare", "Promise", "Accept",
                                    "Accepted", "Nack",    "Resign",  "TakeOver"};
static const char *const timers[] = {"patience", "heartbeat"};
static const struct el_option options[] = {
    [TIMEOUT] = {"timeout", EL_DURATION, 0, NULL, "150ms",
                 "a member without a leader opens a ballot after a random time from this to twice this"},
    [HEARTBEAT] = {"heartbeat", EL_DURATION, 0, NULL, "50ms", "how often a leader sends Accept"},
    [BACK_OFF] = {"back-off", EL_CHOICE, 0, "random|none", "random",
                  "random: an outbid proposer waits for a random time that doubles; none: it bids again at "
                  "once"},
    [CHECK_QUORUM] = {"check-quorum", EL_FLAG, 0, NULL, "on", "a leader that reaches no majority steps down"},
};
static const struct el_inequality inequalities[] = {
    {{{2, EL_OF_ROUND_TRIP}}, {{1, TIMEOUT}}, "a ballot would be abandoned before its promises can be used"},
    {{{1, HEARTBEAT}, {1, EL_OF_TRANSMIT}}, {{1, TIMEOUT}}, "followers would open ballots between two beats"},
};

static const struct el_weakness breaks[] = {
    {EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "with one-way links, or a chain of links, a member that hears no leader repeatedly outbids those"
     " that could lead"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "if many heartbeats in a row are lost, the leader looks dead, and ballots fail as well"},
    {EL_DRIFTS, EL_NO_LEADER | EL_ENDLESS,
     "a member with a fast clock opens a ballot before a slow leader's next heartbeat"},
    {EL_WIPES, EL_NO_LEADER, "a member that has lost its record never votes again, and too few may be left"},
};

const struct el_algorithm el_multi_paxos = {
    .name = "multi-paxos",
    .summary = "a majority of promises makes a leader, a majority of acceptances confirms it",
    .idea = "A member that hears no leader opens a ballot with a number of its own, higher than all it "
            "knows. Members promise to ignore lower ones, and promises of a majority make a leader. It "
            "then sends Accept for one slot after the other; a slot that a majority accepts is chosen. An"
            " older leader may still believe that it leads, but members that promised a higher ballot "
            "refuse its requests, and so it learns. Two proposers that keep outbidding each other make no"
            " progress, unless an outbid proposer waits for a random time.",
    .reference = "Lamport: Paxos made simple, ACM SIGACT News 32(4), 2001; van Renesse, Altinbuken: Paxos made "
                 "moderately complex, ACM Computing Surveys 47(3), 2015",
    EL_KINDS(kinds),
    .routine_kinds = 1u << ACCEPT | 1u << ACCEPTED,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .claims = EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT,
    .beats = true,
    .majority = true,
    EL_INEQUALITIES(inequalities),
    .state_bytes = sizeof(struct multi_paxos),
    .state_sets = 2,
    .outbox_fixed = 16,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
};
