/*
 * Paxos, used to elect: each election is a synod (synod.c) that decides one value, and the value is a
 * process. A later ballot of the same election can only find the earlier choice; a leader that is gone is
 * replaced by the next election, whose number is the term.
 *
 * Reference: L. Lamport, The part-time parliament, ACM TOCS 16(2), 1998; Paxos made simple, 2001. Deviations:
 * elections follow each other. The configuration gives the outcome of the first (the incumbent, or nobody); a
 * call, or suspicion of the leader, begins the next. A member that hears of a newer election leaves the older
 * one for good; a message about an older election is answered with the newest outcome. There are no
 * heartbeats: a node that voted and hears of no decision opens a ballot itself, after random waits that
 * double, TRIES times. Then it rests until a call, a suspicion or a returning peer. A proposer proposes
 * itself; an ordinary member asks the others instead of proposing. A process that was elected in an earlier
 * incarnation does not take office again in that term: it announces that the office is vacant, as a resigning
 * leader does. A member that has lost its record never votes or proposes again, not even after its next
 * restart, but learns outcomes.
 */
#include "algorithms/majority/ballot.h"
#include "algorithms/majority/synod.h"

struct paxos {
    struct synod synod;
    uint64_t decided; /* the newest election whose outcome is known */
    uint64_t past;    /* elections up to this one may have been won in an earlier incarnation */
    el_node leader;   /* the outcome of `decided` */
    uint32_t vacant;  /* 1: that leader does not serve */
    uint32_t tries;   /* own attempts since the last call, suspicion or return */
    uint32_t patient; /* the timer is armed */
    /* two sets follow: suspects, and members that answered in this phase */
};
_Static_assert(sizeof(struct paxos) == sizeof(struct synod) + 32, "no padding");

enum { DECIDED = SYNOD_KINDS + 1, ASK, VACANT, KINDS = VACANT };
enum { IS_BACK = 1 }; /* flag of ASK */
enum { T_PATIENCE, TIMERS };
enum { FIRST_ELECTION = 1, TRIES = 4, DOUBLINGS = 2, TOMBSTONE = 1 };
#define NOTE_LIST(NOTE)                                                                                \
    NOTE(DECIDES, "decides", "has a majority: @1 is decided")                                          \
    NOTE(LEARNS, "learns", "learns that @1 leads")                                                     \
    NOTE(DISTRUSTS, "distrusts", "suspects @1, which was decided on")                                  \
    NOTE(OF_THE_PAST, "of-the-past", "was elected in an earlier life, and does not take office again") \
    NOTE(RESIGNS, "resigns", "resigns")                                                                \
    NOTE(HEARS_VACANT, "hears-vacant", "hears that @1 does not serve")                                 \
    NOTE(UPDATES, "updates", "tells @1 how far the elections have come")                               \
    NOTE(ASKS, "asks", "asks all who leads")                                                           \
    NOTE(NOTICES, "notices", "notices that the leader @1 is gone")                                     \
    NOTE(TAKES_TURN, "takes-turn", "takes its turn with #1 ahead of it")                               \
    NOTE(FORGIVES, "forgives", "sees that the leader @1 lives after all")                              \
    NOTE(IMPATIENT, "impatient", "has heard of no decision for too long")                              \
    NOTE(GIVES_UP, "gives-up", "has tried #1 times in vain and waits for news")                        \
    NOTE(BARRED, "barred", "may not propose")                                                          \
    NOTE(BAD_BALLOT, "bad-ballot", "drops what @1 cannot have meant")                                  \
    NOTE(OUT_OF_NUMBERS, "out-of-numbers", "has run out of numbers")
enum { BEHIND_THE_SYNODS = SYNOD_NOTES - 1, NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {SYNOD_NOTE_LIST(EL_NOTE_TEXT) NOTE_LIST(EL_NOTE_TEXT)};

/* ---- Queries ---- */

static uint64_t *suspects(struct paxos *me)
{
    return (uint64_t *)(me + 1);
}

static uint64_t *answers(struct paxos *me, const struct el_config *cfg)
{
    return suspects(me) + el_set_words(cfg->cluster->count);
}

static bool is_decided(const struct paxos *me)
{
    return me->decided == me->synod.instance;
}

static bool is_barred(const struct paxos *me, const struct el_config *cfg)
{
    return me->synod.forgot || !el_may_lead(cfg->cluster, cfg->self);
}

/* The member it follows: the outcome of the newest election, if that one serves and is not suspected. */
static el_node followed(const struct paxos *me)
{
    const uint64_t *gone = (const uint64_t *)(me + 1);
    return is_decided(me) && !me->vacant && !el_set_has(gone, me->leader) ? me->leader : EL_NOBODY;
}

static struct el_msg outcome(const struct paxos *me)
{
    return (struct el_msg){.kind = DECIDED, .subject = me->leader, .epoch = me->decided};
}

static struct el_msg question(const struct paxos *me, const struct el_config *cfg)
{
    return (struct el_msg){.kind = ASK, .subject = cfg->self, .epoch = me->decided};
}

/* ---- Waiting ---- */

/* A ballot and its announcement take five transmissions. */
static el_duration ballot_time(const struct el_config *cfg)
{
    return 3 * el_round_trip(cfg);
}

static void be_patient(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration least = ballot_time(cfg) << (me->tries < DOUBLINGS ? me->tries : DOUBLINGS);
    me->patient = true;
    el_arm(out, T_PATIENCE, 0, least, 2 * least);
}

static void stop_waiting(struct paxos *me, struct el_outbox *out)
{
    me->patient = false;
    el_disarm(out, T_PATIENCE, 0);
}

static void ask_all(struct paxos *me, const struct el_config *cfg, uint8_t flags, struct el_outbox *out)
{
    struct el_msg m = question(me, cfg);
    m.flags = flags;
    el_note(out, ASKS, 0, 0);
    be_patient(me, cfg, out);
    mesh_send_others(cfg, m, EL_NOBODY, out);
}

/* Many members notice a crash at the same time. The best-ranked goes first, so that their ballots do not
 * collide. */
static void take_turn(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (is_barred(me, cfg)) {
        be_patient(me, cfg, out);
        return;
    }
    uint32_t ahead = 0;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (el_outranks(cfg->cluster, peer, cfg->self) && el_may_lead(cfg->cluster, peer) && peer != me->leader)
            ahead += !el_set_has(suspects(me), peer);
    el_note(out, TAKES_TURN, ahead, 0);
    me->patient = true;
    el_arm(out, T_PATIENCE, 0, ahead * ballot_time(cfg), ahead * ballot_time(cfg));
}

/* The situation has changed: resets the number of tries, since another ballot may succeed now. */
static void try_anew(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    const bool wanted = !is_decided(me) || me->leader != followed(me);
    me->tries = 0;
    if (wanted && !me->patient) be_patient(me, cfg, out);
}

/* ---- Outcomes ---- */

static void vacate(struct paxos *me, const struct el_config *cfg, uint32_t why, struct el_outbox *out)
{
    el_note(out, why, 0, 0);
    me->vacant = true;
    mesh_send_others(cfg, (struct el_msg){.kind = VACANT, .subject = cfg->self, .epoch = me->decided},
                     EL_NOBODY, out);
}

static void learn(struct paxos *me, uint64_t election, el_node leader)
{
    me->decided = election;
    me->leader = leader;
    me->vacant = false;
    if (election > me->synod.instance) synod_enter(&me->synod, election);
}

/* Ends the wait if the newest election is decided. If its leader does not serve, prepares the next election. */
static void settle(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!is_decided(me)) return; /* an older outcome, useful only to members further behind */
    me->synod.phase = SYNOD_RESTING;
    stop_waiting(me, out);
    if (me->leader == cfg->self && me->decided <= me->past) {
        vacate(me, cfg, OF_THE_PAST, out);
        me->tries = 0; /* the ballot was decided, although its leader does not serve */
    } else if (followed(me)) {
        return;
    } else {
        el_note(out, DISTRUSTS, me->leader, 0);
    }
    take_turn(me, cfg, out);
}

/* The message is about an older election: answer with the newest outcome, or the newest election's number. */
static void update(const struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                   struct el_outbox *out)
{
    el_note(out, UPDATES, m->from, 0);
    if (me->leader && m->epoch <= me->decided) {
        el_send(out, cfg, m->from, outcome(me));
    } else {
        synod_refuse(&me->synod, cfg, m, out);
    }
}

static void on_decided(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (m->epoch < me->decided) {
        update(me, cfg, m, out);
    } else if (m->epoch > me->decided || me->leader == EL_NOBODY) {
        el_note(out, LEARNS, m->subject, 0);
        learn(me, m->epoch, m->subject);
        settle(me, cfg, out);
    }
}

/* A returning member is a reason to try again. A mere question is not, or members would keep each other busy
 * for ever. */
static void on_ask(struct paxos *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (me->leader) el_send(out, cfg, m->from, outcome(me));
    if (m->flags & IS_BACK) try_anew(me, cfg, out);
}

static void on_vacant(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (m->epoch != me->decided || m->from != me->leader || me->vacant) return;
    el_note(out, HEARS_VACANT, m->from, 0);
    me->vacant = true;
    me->tries = 0;
    if (is_decided(me)) take_turn(me, cfg, out);
}

/* Acts on the result of a synod step. */
static void go_on(struct paxos *me, const struct el_config *cfg, enum synod_result result,
                  struct el_outbox *out)
{
    if (result == SYNOD_VOTED) be_patient(me, cfg, out);
    if (result != SYNOD_DECIDED) return;
    el_note(out, DECIDES, me->synod.choice, 0);
    learn(me, me->synod.instance, me->synod.choice);
    mesh_send_others(cfg, outcome(me), EL_NOBODY, out);
    settle(me, cfg, out);
}

/* ---- Calling ---- */

/* Opens a ballot in the newest election, or in the next one if that is decided. */
static void call(struct paxos *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t election = me->synod.instance + is_decided(me);
    const uint64_t ballot = ballot_above(cfg, is_decided(me) ? 0 : me->synod.promised);
    if (election >= EL_EPOCH_MAX || ballot >= EL_EPOCH_MAX) {
        el_note(out, OUT_OF_NUMBERS, 0, 0);
        return;
    }
    if (is_decided(me)) synod_enter(&me->synod, election);
    be_patient(me, cfg, out);
    me->tries++;
    go_on(me, cfg, synod_open(&me->synod, answers(me, cfg), cfg, ballot, out), out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)timer, (void)slot;
    struct paxos *me = state;
    me->patient = false;
    if (!is_decided(me)) el_note(out, IMPATIENT, 0, 0);
    if (me->tries == TRIES) {
        el_note(out, GIVES_UP, TRIES, 0);
    } else if (is_barred(me, cfg)) {
        ask_all(me, cfg, 0, out);
        me->tries++;
    } else {
        call(me, cfg, out);
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct paxos *me = state;
    if (is_barred(me, cfg)) {
        el_note(out, BARRED, 0, 0);
        return;
    }
    me->tries = 0;
    if (me->synod.phase == SYNOD_RESTING || !me->patient) call(me, cfg, out);
}

/* Tells the others, and stands again only if none of them takes over. */
static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    (void)to;
    struct paxos *me = state;
    if (what != EL_RESIGN) return EL_UNKNOWN_HERE;
    if (followed(me) != cfg->self) return EL_NOT_LEADING;
    me->tries = 0;
    be_patient(me, cfg, out);
    vacate(me, cfg, RESIGNS, out);
    return EL_PERFORMED;
}

/* ---- Other events ---- */

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct paxos *me = state;
    const struct el_durable *record = &start->durable;
    me->synod.instance = me->decided = me->past = FIRST_ELECTION;
    if (start->how == EL_FRESH) {
        me->past = 0;
        me->leader = start->incumbent;
        return;
    }
    const bool is_of_others = record->word[2] > cfg->cluster->count; /* not a vote of this cluster */
    if (start->how == EL_LOST || is_of_others || (record->epoch == 0 && record->word[0] == TOMBSTONE)) {
        me->synod.forgot = true;
        me->past = EL_EPOCH_MAX;
        el_save(out, (struct el_durable){0, {TOMBSTONE}});
    } else if (record->epoch != 0) {
        me->synod.instance = me->past = record->epoch;
        me->synod.promised = record->word[0];
        me->synod.accepted = record->word[1];
        me->synod.value = (el_node)record->word[2];
    }
    ask_all(me, cfg, IS_BACK, out);
}

static void on_synod(struct paxos *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->epoch > me->synod.instance) synod_enter(&me->synod, m->epoch);
    go_on(me, cfg, synod_hear(&me->synod, answers(me, cfg), cfg, m, out), out);
    if (!is_decided(me) && !me->patient && me->tries < TRIES) be_patient(me, cfg, out);
}

static bool makes_sense(const struct el_config *cfg, const struct el_msg *m)
{
    if (m->kind == DECIDED) return el_may_lead(cfg->cluster, m->subject);
    return m->kind > SYNOD_KINDS || synod_makes_sense(cfg, m);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct paxos *me = state;
    const bool over = m->epoch < me->synod.instance + is_decided(me);
    if (!makes_sense(cfg, m)) {
        el_note(out, BAD_BALLOT, m->from, 0);
    } else if (m->kind == DECIDED) {
        on_decided(me, cfg, m, out);
    } else if (m->kind == ASK) {
        on_ask(me, cfg, m, out);
    } else if (m->kind == VACANT) {
        on_vacant(me, cfg, m, out);
    } else if (!over) {
        on_synod(me, cfg, m, out);
    } else if (m->kind == SYNOD_PREPARE || m->kind == SYNOD_ACCEPT) {
        update(me, cfg, m, out);
    } else {
        el_note(out, SYNOD_STALE, m->from, 0);
    }
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct paxos *me = state;
    const bool leader_gone = followed(me) == peer;
    el_set_add(suspects(me), peer);
    me->tries = 0;
    if (leader_gone) {
        el_note(out, NOTICES, peer, 0);
        take_turn(me, cfg, out);
    } else {
        try_anew(me, cfg, out);
    }
}

/* A returning peer may know less than we do, or more. */
static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct paxos *me = state;
    el_set_remove(suspects(me), peer);
    if (followed(me) == peer) {
        el_note(out, FORGIVES, peer, 0);
        stop_waiting(me, out);
    }
    try_anew(me, cfg, out);
    el_send(out, cfg, peer, me->leader ? outcome(me) : question(me, cfg));
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct paxos *me = state;
    el_view_of(v, cfg, followed(me), me->patient, me->decided);
}

static const char *const kinds[] = {
    NULL, SYNOD_KIND_NAMES, [DECIDED] = "Decided", [ASK] = "Ask", [VACANT] = "Vacant"};
static const char *const timers[] = {"patience"};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER, "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NO_LEADER, "a call is lost with its caller, if nobody has heard it"},
    {EL_LOSSES | EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT,
     "a member that misses an election follows the leader of the last one; after TRIES failed ballots"
     " a member stops, and nothing is repeated at rest"},
    {EL_LOSSES, EL_ENDLESS,
     "if many votes are lost, every member may try in turn, which takes long, possibly for ever"},
    {EL_FALSE_SUSPICIONS, EL_NO_LEADER,
     "a member that suspects the leader follows nobody, and finds no majority when it calls an election"},
    {EL_WIPES, EL_NO_LEADER | EL_DISAGREEMENT,
     "a member that has lost its record never votes again, and too few may be left"},
};

const struct el_algorithm el_paxos = {
    .name = "paxos",
    .summary = "a majority decides who leads, and every later ballot finds the same choice",
    .idea = "Each election is a synod that decides one value, and the value is a process. A proposer "
            "opens a ballot with a number of its own; acceptors promise to ignore lower ones and report "
            "the value they accepted last. With a majority of promises it asks all to accept the value of"
            " the highest ballot reported, or itself if there was none. A value that a majority accepts "
            "is decided for ever: every later ballot reaches one of its acceptors and finds it. The next "
            "election replaces a leader that has failed.",
    .reference = "Lamport: The part-time parliament, ACM Trans. Computer Systems 16(2), 1998",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .claims = EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT,
    .majority = true,
    .state_bytes = sizeof(struct paxos),
    .state_sets = 2,
    .outbox_fixed = 12,
    .outbox_per_member = 2,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
};
