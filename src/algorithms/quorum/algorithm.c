/*
 * Quorum: leases by majority, votes refused while a promise lives. A voter that has promised a group to somebody
 * refuses everybody else until the promise ends, is released, or the holder is known to be dead; then it gives its vote
 * to the best asker, or to the heir that the leader had published, without being asked.
 *
 * No paper; docs/quorum-protocol.md has the rules. Built from what others found out: votes of a majority with a lease
 * (Chubby), terms (Raft), restarts waited out instead of written down (PaxosLease), one heartbeat for all groups and
 * support that is withdrawn by a number (CockroachDB's store liveness).
 *
 * This file composes the session machine with one group, for the simulator and the checker.
 */
#include "algorithms/quorum/group.h"

struct state {
    struct quorum_member member;
    struct quorum_group group;
};
_Static_assert(sizeof(struct state) == 224, "no padding");

struct call {
    struct quorum q;
    uint32_t changes;
};

/* The peers and the ballots follow the struct, an array each. */
static const struct quorum *call(struct call *c, void *state, const struct el_config *cfg,
                                 struct el_outbox *out)
{
    struct state *s = state;
    struct quorum_peer *peers = (struct quorum_peer *)(s + 1);
    c->changes = 0;
    c->q = (struct quorum){.cfg = cfg,
                           .out = out,
                           .me = &s->member,
                           .peers = peers,
                           .group = &s->group,
                           .ballots = (struct quorum_ballot *)(peers + cfg->cluster->count),
                           .changes = &c->changes};
    return &c->q;
}

/* ---- Events ---- */

static void beat(const struct quorum *q)
{
    if (q->me->incarnation && quorum_is_voter(q->cfg, q->cfg->self))
        quorum_session_beat(q, quorum_prepare_claim(q));
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    quorum_session_start(q, start);
    if (start->how != EL_FRESH) quorum_listen_first(q);
    if (start->incumbent && quorum_is_voter(cfg, start->incumbent)) {
        quorum_session_acquaint(q);
        quorum_begin_under(q, start->incumbent);
    }
    beat(q);
    c.changes |= QUORUM_REVIEW; /* who is alone has nobody to wait for */
    quorum_group_take_changes(q);
}

static void on_obit(const struct quorum *q, el_node who, uint64_t incarnation)
{
    if (who == q->cfg->self || incarnation == 0) return; /* we ought to know */
    quorum_session_bury(q, who, incarnation);
    quorum_on_obit(q, who, incarnation);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    if (!quorum_session_admit(q, m)) {
        quorum_group_take_changes(q); /* somebody may have been met */
        return;
    }
    switch (m->kind) {
    case QUORUM_BEAT:
        quorum_on_claim(q, m);
        quorum_session_hear(q, m);
        break;
    case QUORUM_ACK:
    case QUORUM_FLOOR_ASKED:
    case QUORUM_FLOOR: quorum_session_hear(q, m); break;
    case QUORUM_OBIT: on_obit(q, m->subject, quorum_incarnation_about(m)); break;
    default: quorum_group_hear(q, m); break;
    }
    quorum_group_take_changes(q);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    c.q.late = true;
    if (timer == QUORUM_PULSE) {
        beat(q);
    } else if (timer < QUORUM_PULSE) {
        quorum_session_timer(q, timer, slot);
    } else {
        quorum_group_timer(q, timer);
    }
    quorum_group_take_changes(q);
}

/* An obituary is told to one member, which tells all others. */
static void on_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,
                    struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    if (fact == QUORUM_FACT_WALL_CLOCK) {
        const bool mute = q->me->incarnation == 0;
        quorum_session_wall_clock(q, value);
        if (mute) beat(q);
    } else {
        const uint64_t who = value >> QUORUM_OBITUARY_SHIFT;
        const uint64_t incarnation = value & ((UINT64_C(1) << QUORUM_OBITUARY_SHIFT) - 1);
        if (who == 0 || who > cfg->cluster->count || q->me->incarnation == 0) return;
        if (who == cfg->self && incarnation >= q->me->incarnation)
            return; /* we live: passed on, it would make a second leader */
        on_obit(q, (el_node)who, incarnation);
        for (el_node to = 1; to <= cfg->cluster->count; to++)
            if (to != cfg->self && to != who)
                quorum_send(q, to,
                            (struct el_msg){
                                .kind = QUORUM_OBIT, .subject = (el_node)who, .extra = {0, 0, incarnation}});
    }
    quorum_group_take_changes(q);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    quorum_on_campaign(q);
    quorum_group_take_changes(q);
}

static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    const enum el_answer answer = quorum_on_request(q, what, to);
    quorum_group_take_changes(q);
    return answer;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    struct call c;
    struct el_outbox none = {0};
    quorum_group_view(call(&c, (void *)(uintptr_t)state, cfg, &none), v); /* which only reads */
}

/* ---- What it says of itself ---- */

static const char *const kinds[] = {NULL,      "Beat",     "Ack",   "Vote",     "Grant",    "Refuse",
                                    "Release", "Obituary", "Check", "AskFloor", "TellFloor"};
static const char *const timers[] = {"heard",   "recent", "linked", "probe", "lease",  "promised", "owed",
                                     "silence", "pulse",  "asked",  "stand", "re-ask", "deadline"};
#define NOTE_TEXT(name, word, text) {word, text},
static const struct el_note_text notes[] = {QUORUM_NOTE_LIST(NOTE_TEXT)};
static const char *const facts[] = {"wall-clock", "obituary"};

static const struct el_option options[] = {
    [QUORUM_OPTION_LEASE] = {"lease", EL_DURATION, 0, NULL, "1s",
                             "how long a leader leads by one promise, from when it asked for it"},
    [QUORUM_OPTION_BEAT] = {"beat", EL_DURATION, 0, NULL, "150ms", "how often promises are renewed"},
    [QUORUM_OPTION_MARGIN] = {"margin", EL_DURATION, 0, NULL, "50ms",
                              "its host stops a leader's work so long before the lease ends"},
    [QUORUM_OPTION_REASK] = {"re-ask", EL_DURATION, 0, NULL, "200ms", "how often a candidate asks again"},
    [QUORUM_OPTION_STAGGER] = {"stagger", EL_DURATION, 0, NULL, "25ms",
                               "how much longer each waits to stand, for each better one that is there"},
    [QUORUM_OPTION_BLOCK] = {"block", EL_NUMBER, 0, NULL, "64", "how many terms one record reserves"},
    [QUORUM_OPTION_PREEMPT] = {"preempt", EL_FLAG, 0, NULL, "off",
                               "a leader asks its host to hand over to a better-ranked member that is back"},
    [QUORUM_OPTION_OBSERVERS] = {"observers", EL_OBSERVERS, 0, NULL, NULL, "who is told, and never counted"},
};

static const struct el_inequality inequalities[] = {
    {{{2, QUORUM_OPTION_BEAT}, {1, EL_OF_ROUND_TRIP}, {1, QUORUM_OPTION_MARGIN}},
     {{1, QUORUM_OPTION_LEASE}},
     "one lost beat ends every lease"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, QUORUM_OPTION_BEAT}},
     "beats go out faster than they are answered, and no promise is ever counted"},
    {{{3, QUORUM_OPTION_BEAT}},
     {{1, QUORUM_OPTION_LEASE}},
     "who has not been heard for a lease still passes for being there"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, QUORUM_OPTION_REASK}},
     "a candidate asks again before it can have been answered"},
    {{{2, QUORUM_OPTION_REASK}},
     {{1, QUORUM_OPTION_LEASE}},
     "who asked is forgotten before it asks again, and is given no vote when the group comes free"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, QUORUM_OPTION_STAGGER}},
     "the next in line stands before it can hear of the one ahead"},
};

static const struct el_weakness breaks[] = {
    {EL_DRIFTS, EL_TWO_LEADERS | EL_TOKEN_FELL,
     "a voter whose clock runs too fast is free while the leader still counts on its promise"},
    {EL_DRIFTS, EL_ENDLESS, "whose clock runs three times as fast as the leader's misses it between two beats"},
    {EL_RESTARTS, EL_DEMOTED, "a leader whose majority was down for as long as a lease has let go"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "a lease that is not renewed in time ends, and whoever missed the beats knows of no leader"},
    {EL_WIPES, EL_NO_LEADER,
     "who lost its record grants nothing until enough others who know theirs have answered, or all others have"},
    {EL_UNGUARDED, EL_DEMOTED, "with pre-emption a leader hands over to a better-ranked member"},
};

const struct el_algorithm el_quorum = {
    .name = "quorum",
    .summary = "a majority promises the group to one, and refuses all others until the promise ends",
    .idea =
        "Members beat. The answer to a beat is a promise: what was granted to you goes to nobody else for a while. "
        "Who sees no leader asks all for their vote in a new term; a voter grants it unless it has promised the "
        "group to another, and refuses without raising its term, so that who cannot win disturbs nobody. Granted "
        "by a majority, a member leads for as long as a majority's promises run, counted from when it asked. It "
        "publishes an heir; when it resigns, or is known to be dead, voters give the heir their votes unasked. A "
        "voter that restarts keeps silent until all that it may have promised is over.",
    .reference = "this project: docs/quorum-protocol.md",
    .kinds = kinds,
    .kind_count = QUORUM_KINDS,
    .routine_kinds = 1u << QUORUM_BEAT | 1u << QUORUM_ACK,
    .timers = timers,
    .timer_count = QUORUM_TIMERS,
    .notes = notes,
    .note_count = QUORUM_NOTES,
    .options = options,
    .option_count = QUORUM_OPTIONS,
    .breaks = breaks,
    .break_count = sizeof breaks / sizeof *breaks,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT | EL_CLAIMS_STABLE |
              EL_CLAIMS_RISING,
    .count_max = QUORUM_MEMBERS_MAX,
    .beats = true,
    .majority = true,
    .facts = facts,
    .fact_count = QUORUM_FACTS,
    .inequalities = inequalities,
    .inequality_count = sizeof inequalities / sizeof *inequalities,
    .state_bytes = sizeof(struct state),
    .state_per_member = sizeof(struct quorum_peer) + sizeof(struct quorum_ballot),
    .outbox_fixed = 64,
    .outbox_per_member = 8,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_fact = on_fact,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
    .term_shift = QUORUM_PROPOSER_BITS,
    .handover_note = QUORUM_WOULD_HAND_OVER + 1,
};
