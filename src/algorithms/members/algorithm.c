/*
 * The decision as a machine for simulator and checker. Hosts are positions, at most 16; a request to campaign is a
 * request to change who votes, to the list in `odd` or `even`, by the position of the host that is asked.
 */
#include "algorithms/members/decision.h"
#include "algorithms/registry.h"

/* ---- What survives a crash ---- */

/* The third word: promised, accepted, and how far it is from taking part again: 0, 1, 2 records, or 3, unknown. */
enum {
    ACCEPTED_AT = DECISION_BALLOT_BITS,
    MUTE_AT = 2 * DECISION_BALLOT_BITS,
    LIFE_AT = MUTE_AT + 2,
    UNKNOWN = 3
};
static const uint64_t ballot_mask = (UINT64_C(1) << DECISION_BALLOT_BITS) - 1;
static const uint64_t life_mask = (UINT64_C(1) << (64 - LIFE_AT)) - 1;

void decision_save(const struct decision *me, struct el_outbox *out)
{
    const uint64_t mute = me->speaks_from == DECISION_LEARNING ? UNKNOWN
                          : me->speaks_from                    ? me->speaks_from - me->version
                                                               : 0;
    const uint64_t word = me->promised | me->accepted << ACCEPTED_AT | mute << MUTE_AT | me->life << LIFE_AT;
    el_save(out, (struct el_durable){me->version, {me->record, me->value, word}});
}

static void restore(struct decision *me, const struct el_durable *durable)
{
    const uint64_t word = durable->word[2], mute = word >> MUTE_AT & UNKNOWN;
    me->version = durable->epoch;
    me->record = durable->word[0];
    me->value = durable->word[1];
    me->promised = word & ballot_mask;
    me->accepted = word >> ACCEPTED_AT & ballot_mask;
    me->life = word >> LIFE_AT;
    me->speaks_from = mute == UNKNOWN ? DECISION_LEARNING : mute ? me->version + mute : 0;
}

/* ---- Events ---- */

static uint64_t named(const struct el_config *cfg, uint32_t option)
{
    const struct el_value *value = &cfg->cluster->options[option];
    uint64_t set = 0;
    for (uint32_t i = 0; i < value->member_count; i++) set |= el_bit(value->members[i]);
    return set;
}

static uint64_t everybody(const struct el_config *cfg)
{
    return (UINT64_C(1) << cfg->cluster->count) - 1;
}

/* Is there a later record? */
static void ask_all(const struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self) decision_want(me, cfg, peer, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct decision *me = state;
    const uint64_t first = named(cfg, DECISION_VOTERS);
    me->version = 1;
    me->record = decision_result(0, first ? first : everybody(cfg), EL_NOBODY);
    if (start->how == EL_RESTORED && start->durable.epoch) restore(me, &start->durable);
    if (start->how == EL_LOST) {
        el_note(out, DECISION_LOST, 0, 0);
        me->speaks_from = DECISION_LEARNING;
        me->life = start->durable.epoch & life_mask;
        decision_save(me, out);
    }
    if (me->speaks_from)
        decision_keep_silent(me, cfg, out);
    else if (start->how == EL_RESTORED)
        ask_all(me, cfg, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct decision *me = state;
    const uint64_t list = named(cfg, cfg->self % 2 ? DECISION_ODD : DECISION_EVEN);
    if (!decision_takes_part(me, cfg)) {
        el_note(out, DECISION_BARRED, 0, 0);
        return;
    }
    me->steward = true;
    me->wish = list ? list : decision_voters(me->record);
    me->tries = 0;
    decision_propose(me, cfg, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct decision *me = state;
    (void)slot;
    switch (timer) {
    case DECISION_TRY: decision_on_try(me, cfg, out); return;
    case DECISION_ASK:
        if (me->speaks_from) decision_ask(me, cfg, out);
        return;
    default: decision_on_silence(me, cfg, out);
    }
}

static bool is_ballot_of(uint64_t ballot, el_node node)
{
    return ballot >> DECISION_PROPOSER_BITS && ballot <= ballot_mask &&
           (ballot & (DECISION_HOSTS_MAX - 1)) == node - 1;
}

static bool is_record(const struct el_config *cfg, uint64_t record)
{
    const uint64_t voters = decision_voters(record);
    return voters && !(voters & ~everybody(cfg));
}

/* Hostile bytes: only what a correct member may say. A ballot is its proposer's; a record has a voter. */
static bool makes_sense(const struct el_config *cfg, const struct el_msg *m)
{
    if (m->epoch == 0 || m->subject != m->from) return false;
    switch (m->kind) {
    case DECISION_PREPARE: return is_ballot_of(m->aux, m->from);
    case DECISION_ACCEPT: return is_ballot_of(m->aux, m->from) && is_record(cfg, m->more);
    case DECISION_PROMISE: return m->more <= m->aux && (m->more == 0 || is_record(cfg, m->extra[0]));
    case DECISION_WANT: return !(m->flags & DECISION_IS_MUTE) || m->more <= m->epoch + 2;
    case DECISION_RECORD:
        return is_record(cfg, m->more) && m->extra[0] <= ballot_mask && m->extra[1] <= m->extra[0] &&
               (m->extra[1] == 0 || is_record(cfg, m->extra[2]));
    default: return true;
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct decision *me = state;
    if (!makes_sense(cfg, m)) {
        el_note(out, DECISION_NONSENSE, m->from, 0);
        return;
    }
    switch (m->kind) {
    case DECISION_PREPARE: decision_on_prepare(me, cfg, m, out); return;
    case DECISION_PROMISE: decision_on_promise(me, cfg, m, out); return;
    case DECISION_ACCEPT: decision_on_accept(me, cfg, m, out); return;
    case DECISION_ACCEPTED: decision_on_accepted(me, cfg, m, out); return;
    case DECISION_WANT: decision_on_want(me, cfg, m, out); return;
    default: decision_on_record(me, cfg, m, out);
    }
}

/* Nobody leads. The term is the counter of the highest ballot, which is what the checker bounds by --terms. */
static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct decision *me = state;
    el_view_of(v, cfg, EL_NOBODY, me->phase != DECISION_RESTING, me->promised >> DECISION_PROPOSER_BITS);
}

static void decided(const void *state, struct el_decision *decision)
{
    const struct decision *me = state;
    *decision = (struct el_decision){me->version, me->record};
}

/*
 * For the checker: numbers of records only rise, and ballots rise for each; so what is about an earlier one is never
 * answered again, unless the disk is lost.
 */
static bool moot(const void *state, const struct el_config *cfg, const struct el_msg *m)
{
    const struct decision *me = state;
    const bool is_over = m->epoch <= me->version;
    const bool is_ours = m->aux == me->ballot && !(me->answers & el_bit(m->from));
    (void)cfg;
    switch (m->kind) {
    case DECISION_PREPARE: return m->epoch == me->version + 1 && m->aux <= me->promised;
    case DECISION_ACCEPT:
        return is_over || (m->epoch == me->version + 1 && (m->aux < me->promised || m->aux == me->accepted));
    case DECISION_PROMISE:
        return is_over || m->aux < me->promised || !is_ours || me->phase != DECISION_PREPARING;
    case DECISION_ACCEPTED:
        return is_over || m->aux < me->promised || !is_ours || me->phase == DECISION_RESTING;
    case DECISION_RECORD: return is_over && me->speaks_from == 0;
    default: return false;
    }
}

/* ---- The descriptor ---- */

static const char *const kinds[] = {NULL,
                                    [DECISION_PREPARE] = "Prepare",
                                    [DECISION_PROMISE] = "Promise",
                                    [DECISION_ACCEPT] = "Accept",
                                    [DECISION_ACCEPTED] = "Accepted",
                                    [DECISION_WANT] = "Want",
                                    [DECISION_RECORD] = "Record"};
static const char *const timers[] = {
    [DECISION_TRY] = "try", [DECISION_ASK] = "ask", [DECISION_SILENCE] = "silence"};
static const struct el_note_text notes[] = {DECISION_NOTE_LIST(EL_NOTE_TEXT)};

static const struct el_option options[] = {
    [DECISION_VOTERS] = {"voters", EL_MEMBERS, .help = "who votes in record 1; without a list, everybody"},
    [DECISION_ODD] = {"odd", EL_MEMBERS,
                      .help = "whom a host at an odd position asks to vote; without a list, nothing"
                              " changes"},
    [DECISION_EVEN] = {"even", EL_MEMBERS, .help = "the same for an even position"},
    [DECISION_BALLOT] = {"ballot", EL_DURATION, .preset = "8T", .help = "how long a ballot lasts at most"},
    [DECISION_SILENT] = {"silence", EL_DURATION, .preset = "10T",
                         .help = "how long a voter that lost its disk keeps silent"},
    [DECISION_ATTEMPTS] = {"attempts", EL_NUMBER, .preset = "0",
                           .help = "after this many ballots a proposer gives up; 0: never"},
};

static const struct el_inequality inequalities[] = {
    {{{1, EL_OF_ROUND_TRIP}}, {{1, DECISION_BALLOT}}, "a ballot ends before its answers come"},
    {{{1, DECISION_BALLOT}},
     {{1, DECISION_SILENT}},
     "of two voters, one that lost its disk speaks while a ballot of its earlier life is open"},
};

static const struct el_weakness breaks[] = {
    {EL_DRIFTS, EL_TWO_DECISIONS,
     "of two voters, one that lost its disk takes part again while a ballot of its earlier life is still open"},
    {EL_UNGUARDED, EL_TWO_DECISIONS, "the same, with a silence that is no longer than a ballot"},
};

const struct el_algorithm el_members = {
    .name = "members",
    .summary = "decides who the members are: one record after another, by a majority of the last one's voters",
    .idea =
        "Records of the membership are numbered. The next one is decided by the voters of the last, in a synod of its "
        "own with ballots on disk and no clock, and any majority of them finds what an earlier one decided. A voter "
        "whose disk was lost keeps out until two more records were decided, for it may have voted on those.",
    .reference = "Lamport: Paxos made simple, 2001; Elector, docs/members.md",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    EL_INEQUALITIES(inequalities),
    .claims = EL_CLAIMS_ONE_DECISION,
    .count_max = DECISION_HOSTS_MAX,
    .majority = true,
    .state_bytes = sizeof(struct decision),
    .outbox_fixed = 24,
    .outbox_per_member = 3,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_campaign = on_campaign,
    .view = view,
    .decided = decided,
    .moot = moot,
};
