/*
 * Raft's election: time is divided into terms. A member votes once in each, for a candidate whose log is at
 * least as recent as its own, and saves that vote before it answers. A majority of votes makes a leader,
 * which sends heartbeats. A member that hears no heartbeat for a random time stands as a candidate.
 *
 * Pre-vote: before it raises the term, a member asks whether it would win; a member that has heard a leader
 * within the shortest timeout says no. Check-quorum: a leader that has not heard from a majority for that
 * long steps down. Hand-over: the leader tells its heir to stand at once, without pre-vote; voters then
 * ignore that they have heard a leader.
 *
 * Reference: D. Ongaro and J. Ousterhout, In Search of an Understandable Consensus Algorithm, 2014; D.
 * Ongaro, Consensus: Bridging Theory and Practice, 2014 (pre-vote, check-quorum, hand-over: chapters 3, 4, 6,
 * 9). Deviations: the log belongs to the application; only its last term and index are known here. A member
 * whose record is lost follows but never votes again, since it may have voted in any term; it saves this
 * first. Without check-quorum nobody counts answers, so a leader that resigns names the best-ranked member as
 * its heir, dead or alive.
 */
#include "algorithms/majority/raft.h"

static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

/* ---- Sending and saving ---- */

static void answer(const struct raft *me, const struct el_config *cfg, el_node to, uint8_t kind, uint64_t term,
                   struct el_outbox *out)
{
    struct el_msg m = speak(me, cfg, kind);
    m.epoch = term;
    el_send(out, cfg, to, m);
}

static void save(const struct raft *me, struct el_outbox *out)
{
    el_save(out, (struct el_durable){.epoch = me->term, .word = {me->vote, me->mute}});
}

/* ---- Changing roles ---- */

static void await_leader(const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration shortest = el_number(cfg, ELECTION);
    el_arm(out, T_ELECTION, 0, shortest, 2 * shortest);
}

/* Its own timeout keeps running: only a leader's heartbeat or a vote given restarts it. Otherwise a
 * candidate that cannot win, asking repeatedly, would keep all others from standing. */
static void follow(struct raft *me, const struct el_config *cfg, el_node leader, struct el_outbox *out)
{
    if (me->role == LEADER) {
        raft_leave_office(me, out);
        await_leader(cfg, out);
    }
    me->role = FOLLOWER;
    me->hurried = 0;
    me->leader = leader;
    el_set_clear(grants(me), cfg->cluster->count); /* clear what no longer counts: fewer states to check */
    el_set_clear(heard(me, cfg), cfg->cluster->count);
    el_set_clear(heard_before(me, cfg), cfg->cluster->count);
}

/* A leader was heard: for the shortest timeout this member helps nobody to replace it. */
static void obey(struct raft *me, const struct el_config *cfg, el_node leader, struct el_outbox *out)
{
    follow(me, cfg, leader, out);
    await_leader(cfg, out);
    if (!el_number(cfg, PREVOTE) && !el_number(cfg, CHECK_QUORUM)) return; /* no request could depend on it */
    me->loyal = 1;
    el_arm(out, T_LOYALTY, 0, el_number(cfg, ELECTION), el_number(cfg, ELECTION));
}

/* Adopts a term without voting in it. The caller saves it, once, before it sends anything in that term. */
static void adopt(struct raft *me, const struct el_config *cfg, uint64_t term, struct el_outbox *out)
{
    if (me->role != FOLLOWER) el_note(out, STEPS_DOWN, term, 0);
    me->term = term;
    me->vote = NEVER_VOTED;
    follow(me, cfg, EL_NOBODY, out);
}

static bool has_majority(struct raft *me, const struct el_config *cfg)
{
    return el_set_size(grants(me), cfg->cluster->count) >= el_majority(cfg);
}

static void count_votes(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!has_majority(me, cfg)) return;
    el_note(out, WINS, el_set_size(grants(me), cfg->cluster->count), me->term);
    raft_take_office(me, cfg, out);
}

static void ask_for(struct raft *me, const struct el_config *cfg, uint8_t kind, uint64_t term,
                    struct el_outbox *out)
{
    el_set_clear(grants(me), cfg->cluster->count);
    el_set_add(grants(me), cfg->self);
    struct el_msg m = speak(me, cfg, kind);
    m.epoch = term;
    m.rank = me->log_term;
    m.aux = me->log_index;
    m.flags = me->hurried ? HURRIED : 0;
    mesh_send_others(cfg, m, EL_NOBODY, out);
    await_leader(cfg, out);
}

/* False if the highest term is reached, so that nobody can stand. Only a forged message gets there. */
static bool terms_are_left(const struct raft *me)
{
    return me->term + 1 < EL_EPOCH_MAX;
}

static void stand(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->role = CANDIDATE;
    me->leader = EL_NOBODY;
    me->term++;
    me->vote = cfg->self;
    el_note(out, STANDS, me->term, 0);
    save(me, out);
    ask_for(me, cfg, VOTE, me->term, out);
    count_votes(me, cfg, out);
}

static void ask_around(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->role = PRE_CANDIDATE;
    me->leader = EL_NOBODY;
    el_note(out, ASKS_AROUND, me->term + 1, 0);
    ask_for(me, cfg, PRE_VOTE, me->term + 1, out);
    if (has_majority(me, cfg)) stand(me, cfg, out);
}

static void seek_office(struct raft *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->hurried = 0;
    if (!el_may_lead(cfg->cluster, cfg->self) || me->mute || !terms_are_left(me)) {
        me->leader = EL_NOBODY;
        await_leader(cfg, out);
    } else if (el_number(cfg, PREVOTE)) {
        ask_around(me, cfg, out);
    } else {
        stand(me, cfg, out);
    }
}

/* ---- Messages ---- */

static bool log_is_recent(const struct raft *me, const struct el_msg *m)
{
    return m->rank != me->log_term ? m->rank > me->log_term : m->aux >= me->log_index;
}

/* True, with a note, if it refuses: it has lost its record, leads, or has heard a leader. */
static bool refuses(struct raft *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    const bool loyalty_counts = m->kind == PRE_VOTE || (el_number(cfg, CHECK_QUORUM) && !(m->flags & HURRIED));
    if (me->mute) {
        el_note(out, MUTE, 0, 0);
    } else if (loyalty_counts && me->role == LEADER) {
        el_note(out, LEADS_ALREADY, m->from, 0);
    } else if (loyalty_counts && me->loyal) {
        el_note(out, LOYAL, m->from, 0);
    } else {
        return false;
    }
    return true;
}

static void on_pre_vote(struct raft *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (m->epoch <= me->term) {
        el_note(out, OLD_TERM, m->from, me->term);
    } else if (refuses(me, cfg, m, out)) {
        /* refuses() has noted why */
    } else if (!log_is_recent(me, m)) {
        el_note(out, LOG_TOO_OLD, m->from, 0);
    } else {
        el_note(out, WOULD_VOTE, m->from, m->epoch);
        answer(me, cfg, m->from, PRE_GRANT, m->epoch, out); /* for the requested term, not ours */
        return;
    }
    answer(me, cfg, m->from, REFUSE, me->term, out);
}

static void on_vote(struct raft *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (m->epoch < me->term) {
        el_note(out, OLD_TERM, m->from, me->term);
        answer(me, cfg, m->from, REFUSE, me->term, out);
        return;
    }
    if (refuses(me, cfg, m, out)) return; /* does not adopt the candidate's term */
    const bool newer = m->epoch > me->term;
    if (newer) adopt(me, cfg, m->epoch, out);
    if (me->vote != NEVER_VOTED && me->vote != m->from) {
        el_note(out, VOTED_ALREADY, m->from, me->term);
    } else if (!log_is_recent(me, m)) {
        el_note(out, LOG_TOO_OLD, m->from, 0);
    } else {
        el_note(out, VOTES, m->from, me->term);
        me->vote = m->from;
        save(me, out);
        await_leader(cfg, out);
        answer(me, cfg, m->from, GRANT, me->term, out);
        return;
    }
    if (newer) save(me, out);
    answer(me, cfg, m->from, REFUSE, me->term, out);
}

static void on_pre_grant(struct raft *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (me->role != PRE_CANDIDATE || m->epoch != me->term + 1) return;
    el_set_add(grants(me), m->from);
    if (has_majority(me, cfg)) stand(me, cfg, out);
}

static void on_grant(struct raft *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (me->role != CANDIDATE || m->epoch != me->term) return;
    el_set_add(grants(me), m->from);
    count_votes(me, cfg, out);
}

static void on_beat(struct raft *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (m->epoch < me->term) {
        answer(me, cfg, m->from, REFUSE, me->term, out);
        return;
    }
    if (m->epoch == me->term && me->role == LEADER) return; /* two leaders of one term: a forged message */
    if (m->epoch > me->term) {
        adopt(me, cfg, m->epoch, out);
        save(me, out);
    }
    if (me->leader != m->from) el_note(out, LEARNS, m->from, me->term);
    obey(me, cfg, m->from, out);
    answer(me, cfg, m->from, BEAT_ACK, me->term, out);
}

static void on_timeout_now(struct raft *me, const struct el_config *cfg, const struct el_msg *m,
                           struct el_outbox *out)
{
    const bool fit = el_may_lead(cfg->cluster, cfg->self) && !me->mute && terms_are_left(me);
    if (m->epoch != me->term || me->leader != m->from || !fit) return;
    el_note(out, TOLD_TO_STAND, m->from, 0);
    me->hurried = 1;
    stand(me, cfg, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct raft *me = state;
    const bool answers = m->kind == GRANT || m->kind == REFUSE || m->kind == BEAT_ACK;
    if (answers && m->epoch > me->term) {
        adopt(me, cfg, m->epoch, out);
        save(me, out);
    }
    switch (m->kind) {
    case PRE_VOTE: on_pre_vote(me, cfg, m, out); return;
    case VOTE: on_vote(me, cfg, m, out); return;
    case PRE_GRANT: on_pre_grant(me, cfg, m, out); return;
    case GRANT: on_grant(me, cfg, m, out); return;
    case BEAT: on_beat(me, cfg, m, out); return;
    case BEAT_ACK:
        if (me->role == LEADER && m->epoch == me->term && el_number(cfg, CHECK_QUORUM))
            el_set_add(heard(me, cfg), m->from);
        return;
    case TIMEOUT_NOW: on_timeout_now(me, cfg, m, out); return;
    default: return; /* a refusal only carries its term, which is handled already */
    }
}

/* ---- Timers ---- */

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct raft *me = state;
    (void)slot;
    switch (timer) {
    case T_ELECTION: seek_office(me, cfg, out); return;
    case T_LOYALTY: me->loyal = 0; return;
    case T_BEAT: raft_beat(me, cfg, out); return;
    case T_QUORUM:
        if (!raft_keeps_quorum(me, cfg, out)) follow(me, cfg, EL_NOBODY, out); /* its vote stays valid */
        return;
    default: /* T_HANDOVER */ raft_hand_over_failed(me, out); return;
    }
}

/* ---- Other events ---- */

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct raft *me = state;
    me->mute = start->how == EL_LOST || start->durable.word[1];
    me->term = start->durable.epoch;
    me->vote = (el_node)start->durable.word[0];
    if (start->how == EL_RESTORED && me->term == 0) {
        /* It crashed before it saved anything. An incumbent may have led term 1, so it must not vote in it. */
        me->term = 1;
        me->vote = cfg->self;
    }
    if (start->how == EL_LOST)
        save(me, out); /* else its next start would look like that of a member that never voted */
    if (start->incumbent == EL_NOBODY) {
        await_leader(cfg, out);
        return;
    }
    me->term = 1;
    me->vote = start->incumbent;
    save(me, out);
    if (start->incumbent == cfg->self) {
        raft_take_office(me, cfg, out);
    } else {
        obey(me, cfg, start->incumbent, out);
    }
}

/* The detector reports the leader's crash earlier than the timeout: loyalty to it ends. */
static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct raft *me = state;
    if (me->leader != peer) return;
    me->loyal = 0;
    el_disarm(out, T_LOYALTY, 0);
    el_arm(out, T_ELECTION, 0, 0, el_number(cfg, ELECTION));
}

static void on_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,
                    struct el_outbox *out)
{
    struct raft *me = state;
    (void)cfg, (void)out;
    *(fact == LOG_TERM ? &me->log_term : &me->log_index) = value;
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct raft *me = state;
    if (me->role == LEADER || me->mute || !el_may_lead(cfg->cluster, cfg->self)) {
        el_note(out, CALL_IGNORED, 0, 0);
        return;
    }
    seek_office(me, cfg, out);
}

static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct raft *me = state;
    if (what != EL_RESIGN && what != EL_TRANSFER) return EL_UNKNOWN_HERE;
    if (me->role != LEADER) return EL_NOT_LEADING;
    if (what == EL_TRANSFER) return raft_hand_over(me, cfg, to, out);
    el_note(out, RESIGNS, me->term, 0);
    raft_name_heir(me, cfg, out); /* without an heir the others wait for their timeouts */
    follow(me, cfg, EL_NOBODY, out);
    return EL_PERFORMED;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct raft *me = state;
    el_view_of(view, cfg, me->leader, me->role != FOLLOWER, me->term);
}

/* Votes, heartbeats and their answers belong to a term. Terms only rise, and nobody stands or leads in one
 * twice. */
static bool moot(const void *state, const struct el_config *cfg, const struct el_msg *m)
{
    const struct raft *me = state;
    const bool over = m->epoch < me->term, now = m->epoch == me->term;
    switch (m->kind) {
    case PRE_GRANT:
    case REFUSE: return over || now;
    case GRANT: return over || (now && me->role != CANDIDATE);
    case BEAT_ACK: return over || (now && (me->role != LEADER || !el_number(cfg, CHECK_QUORUM)));
    case TIMEOUT_NOW: return over;
    default: return false; /* a request in an old term gets an answer */
    }
}

static void rename_nodes(void *state, struct el_durable *durable, uint32_t count, const el_node *to)
{
    struct raft *me = state;
    me->vote = to[me->vote];
    me->leader = to[me->leader];
    me->heir = to[me->heir];
    durable->word[0] = to[durable->word[0]];
    for (int i = 0; i < 3; i++) el_set_rename(grants(me) + (size_t)i * el_set_words(count), count, to);
}

static const char *const kinds[] = {NULL,     "PreVote", "PreGrant", "Vote",      "Grant",
                                    "Refuse", "Beat",    "BeatAck",  "TimeoutNow"};
static const char *const timers[] = {"election", "loyalty", "beat", "quorum", "handover"};
static const char *const facts[] = {"log-term", "log-index"};
static const struct el_option options[] = {
    {"election", EL_DURATION, 0, NULL, "150ms", "the shortest election timeout; the longest is twice that"},
    {"heartbeat", EL_DURATION, 0, NULL, "50ms", "how often a leader sends a heartbeat"},
    {"prevote", EL_FLAG, 0, NULL, "on", "ask whether the candidate would win before raising the term"},
    {"check-quorum", EL_FLAG, 0, NULL, "on", "a leader that hears no majority steps down"},
};
static const struct el_inequality inequalities[] = {
    {{{1, EL_OF_ROUND_TRIP}}, {{1, ELECTION}}, "votes would arrive after the candidate has given up"},
    {{{1, HEARTBEAT}, {1, EL_OF_TRANSMIT}}, {{1, ELECTION}}, "followers would stand between two heartbeats"},
    {{{1, HEARTBEAT}, {1, EL_OF_ROUND_TRIP}},
     {{1, ELECTION}},
     "a leader would miss its majority between two answers"},
};

static const struct el_weakness breaks[] = {
    {EL_PARTITIONS, EL_NO_LEADER,
     "with one-way links, members that could elect a leader may be interrupted again and again"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS, "lost heartbeats look like a dead leader"},
    {EL_CRASHES, EL_DEMOTED, "a leader without its majority for too long steps down"},
    {EL_UNGUARDED, EL_DEMOTED,
     "without pre-vote, a member that stands needlessly deposes the leader by its higher term"},
    {EL_WIPES, EL_NO_LEADER, "a member that has lost its record never votes again, and too few may be left"},
};

const struct el_algorithm el_raft = {
    .name = "raft",
    .summary = "one saved vote a term, random timeouts, a leader that sends heartbeats",
    .idea = "Time is divided into terms. A member that hears no leader for a random time raises the term "
            "and asks for votes. Each member votes once a term, for a candidate whose log is no older "
            "than its own, and saves the vote before it answers. A majority of votes makes the leader of "
            "that term. Two majorities share a voter, so a term has at most one leader. A leader sends "
            "heartbeats; a higher term deposes it.",
    .reference =
        "Ongaro, Ousterhout: In Search of an Understandable Consensus Algorithm, 2014; Ongaro: Consensus: "
        "Bridging Theory and Practice, 2014",
    EL_KINDS(kinds),
    .routine_kinds = 1u << BEAT | 1u << BEAT_ACK,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .claims = EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT | EL_CLAIMS_STABLE,
    .beats = true,
    .majority = true,
    EL_FACTS(facts),
    EL_INEQUALITIES(inequalities),
    .state_bytes = sizeof(struct raft),
    .state_sets = 3,
    .outbox_fixed = 16,
    .outbox_per_member = 3,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_fact = on_fact,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
    .rename = rename_nodes,
    .moot = moot,
};
