/*
 * Quorum: leases by majority, votes refused while a promise runs. A voter that has promised a group to a member
 * refuses all others. That lasts until the promise ends, is released, or the holder is known to be dead. Then
 * the voter pushes its vote, unasked, to the best asker or to the heir that the leader had published.
 *
 * No paper; docs/quorum-protocol.md has the rules. Taken from others: votes of a majority with a lease
 * (Chubby), terms (Raft), waiting after a restart instead of writing each vote (PaxosLease), one heartbeat for
 * all groups and support that ends by a higher epoch (CockroachDB's store liveness).
 *
 * The simulator and the checker run this file. It combines the driver (driver.h), the sessions and one group; beats
 * carry the claims.
 */
#include "algorithms/quorum/driver.h"
#include "algorithms/quorum/era.h"

struct state {
    struct quorum_member member;
    struct quorum_group group;
    struct quorum_era era;
};
_Static_assert(sizeof(struct state) == 224, "no padding");

struct call {
    struct quorum q;
    uint32_t changes;
};

/* Three arrays follow the struct: peers, ballots, formers. */
static struct quorum *call(struct call *c, void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct state *s = state;
    struct quorum_peer *peers = (struct quorum_peer *)(s + 1);
    struct quorum_ballot *ballots = (struct quorum_ballot *)(peers + cfg->cluster->count);
    c->changes = 0;
    c->q = (struct quorum){.cfg = cfg,
                           .out = out,
                           .me = &s->member,
                           .peers = peers,
                           .group = &s->group,
                           .ballots = ballots,
                           .era = &s->era,
                           .formers = (struct quorum_former *)(ballots + cfg->cluster->count),
                           .changes = &c->changes};
    return &c->q;
}

/* ---- Events ---- */

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct call c;
    quorum_start(call(&c, state, cfg, out), start);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct call c;
    (void)quorum_deliver(call(&c, state, cfg, out), m);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct call c;
    quorum_fire(call(&c, state, cfg, out), timer, slot);
}

static void on_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,
                    struct el_outbox *out)
{
    struct call c;
    const struct quorum *q = call(&c, state, cfg, out);
    const uint64_t who = value >> QUORUM_OBITUARY_SHIFT;
    if (fact == QUORUM_FACT_WALL_CLOCK) {
        quorum_tell_time(q, value);
    } else if (fact == QUORUM_FACT_RECORD) {
        const uint64_t number = value & ((UINT64_C(1) << EL_RECORD_SHIFT) - 1);
        if (number > 1) quorum_tell_record(q, (uint32_t)number - 1, value >> EL_RECORD_SHIFT);
    } else if (who > 0 && who <= cfg->cluster->count) {
        quorum_tell_obituary(q, (el_node)who, value & ((UINT64_C(1) << QUORUM_OBITUARY_SHIFT) - 1));
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct call c;
    (void)quorum_request(call(&c, state, cfg, out), EL_CAMPAIGN, EL_NOBODY);
}

static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct call c;
    return quorum_request(call(&c, state, cfg, out), what, to);
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    struct call c;
    struct el_outbox none = {0};
    quorum_view(call(&c, (void *)(uintptr_t)state, cfg, &none), v); /* quorum_view() changes nothing */
}

static void membership(const void *state, const struct el_config *cfg, struct el_membership *known)
{
    struct call c;
    const struct quorum *q = call(&c, (void *)(uintptr_t)state, cfg, NULL);
    *known = (struct el_membership){q->era->installed, !q->era->joint, q->era->floor};
}

/* ---- Description ---- */

static const char *const kinds[] = {NULL,      "Beat",     "Ack",   "Vote",     "Grant",     "Refuse",
                                    "Release", "Obituary", "Check", "AskFloor", "TellFloor", "Told"};
static const char *const timers[] = {"heard",    "recent", "linked",   "probe",  "lease",
                                     "promised", "owed",   "silence",  "pulse",  "asked",
                                     "stand",    "re-ask", "deadline", "former", "settling"};
#define NOTE_TEXT(name, word, text) {word, text},
static const struct el_note_text notes[] = {QUORUM_NOTE_LIST(NOTE_TEXT)};
static const char *const facts[] = {"wall-clock", "obituary", "record"};

static const struct el_option options[] = {
    [QUORUM_OPTION_LEASE] = {"lease", EL_DURATION, 0, NULL, "1s",
                             "how long a leader leads by one promise, from when it asked for it"},
    [QUORUM_OPTION_BEAT] = {"beat", EL_DURATION, 0, NULL, "150ms", "how often promises are renewed"},
    [QUORUM_OPTION_MARGIN] = {"margin", EL_DURATION, 0, NULL, "50ms",
                              "how long before the end of the lease the host stops a leader's work"},
    [QUORUM_OPTION_REASK] = {"re-ask", EL_DURATION, 0, NULL, "200ms", "how often a candidate asks again"},
    [QUORUM_OPTION_STAGGER] = {"stagger", EL_DURATION, 0, NULL, "25ms",
                               "delay before standing, for each better-ranked member that is present"},
    [QUORUM_OPTION_BLOCK] = {"block", EL_NUMBER, 0, NULL, "64", "how many terms one record reserves"},
    [QUORUM_OPTION_PREEMPT] = {"preempt", EL_FLAG, 0, NULL, "off",
                               "a leader asks its host to hand over to a better-ranked member that is back"},
    [QUORUM_OPTION_OBSERVERS] = {"observers", EL_OBSERVERS, 0, NULL, NULL,
                                 "members that learn who leads, and do not vote"},
    [QUORUM_OPTION_CANDIDATES] = {"candidates", EL_VOTELESS_LIST, 0, NULL, NULL,
                                  "members that may lead without a vote, and have sessions with voters only"},
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
     "a member that was silent for a whole lease still counts as present"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, QUORUM_OPTION_REASK}},
     "a candidate asks again before it can have been answered"},
    {{{2, QUORUM_OPTION_REASK}},
     {{1, QUORUM_OPTION_LEASE}},
     "a voter forgets a candidate before it asks again, and so does not push its vote to it"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, QUORUM_OPTION_STAGGER}},
     "the next in line stands before it can hear of the one ahead"},
};

static const struct el_weakness breaks[] = {
    {EL_DRIFTS, EL_TWO_LEADERS | EL_TOKEN_FELL,
     "a voter whose clock runs too fast is free while the leader still counts on its promise"},
    {EL_DRIFTS, EL_ENDLESS,
     "a member whose clock runs three times as fast takes the leader for dead between two beats"},
    {EL_RESTARTS, EL_DEMOTED, "a leader lets go if its majority was down for a whole lease"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "a lease that is not renewed in time ends, and members that missed the beats know no leader"},
    {EL_WIPES, EL_NO_LEADER,
     "a member that lost its record grants nothing until enough members that have theirs, or all others, have answered"},
    {EL_UNGUARDED, EL_DEMOTED, "with pre-emption a leader hands over to a better-ranked member"},
};

const struct el_algorithm el_quorum = {
    .name = "quorum",
    .summary = "a majority promises the group to one, and refuses all others until the promise ends",
    .idea =
        "Members send beats. The answer to a beat is a promise: until it ends, the voter grants the group to nobody "
        "else. A member that sees no leader asks all voters for their votes in a new term. A voter grants its vote "
        "unless it has promised the group to another member. It refuses without raising its term, so a member that "
        "cannot win disturbs nobody. A member with a majority of the votes leads while a majority's promises run, "
        "counted from when it asked for them. It publishes an heir. When it resigns, or is known to be dead, voters "
        "give the heir their votes unasked. A voter that restarts grants nothing until all that it may have promised "
        "is over.",
    .reference = "this project: docs/quorum-protocol.md",
    .kinds = kinds,
    .kind_count = QUORUM_KINDS,
    .routine_kinds = 1u << QUORUM_BEAT | 1u << QUORUM_ACK | 1u << QUORUM_TOLD,
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
    .state_per_member =
        sizeof(struct quorum_peer) + sizeof(struct quorum_ballot) + sizeof(struct quorum_former),
    .outbox_fixed = 64,
    .outbox_per_member = 8,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_fact = on_fact,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
    .membership = membership,
    .record_fact = QUORUM_FACT_RECORD,
    .record_note = QUORUM_LAGS,
    .term_shift = QUORUM_PROPOSER_BITS,
    .handover_note = QUORUM_WOULD_HAND_OVER + 1,
};
