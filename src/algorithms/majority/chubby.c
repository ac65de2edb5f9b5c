/*
 * Chubby's election: each replica votes once in a term, and a majority makes a master. A vote is also a promise
 * to help no other replica until the promise expires; so is each answer to the master's renewals. The master's
 * lease is shorter than the promises of a majority, and the master stops by itself when no majority renews it.
 *
 * Reference: M. Burrows, The Chubby lock service for loosely-coupled distributed systems, OSDI 2006, section
 * 2.1; the paper names the rules and leaves out the messages. Our decisions:
 * - Promises live in memory. A replica that starts acts as if it had just promised to an unknown replica.
 * - Votes are saved. A replica that lost its record never votes again; after one promise it may still promise
 *   and follow. (If the host takes such a replica for a new one, a term may be won twice.)
 * - A promise yields to the master of a term that is not older: its election proves that the promise no longer
 *   matters. So a voter follows the winner without waiting for its promise to a loser to expire.
 * - A promise binds votes without raising the term: a member that cannot hear its master disturbs nobody.
 */
#include "algorithms/majority/tenure.h"

enum { REQUEST = 1, VOTE, REFUSE, RENEW, ACK, RELEASE, KINDS = RELEASE };
enum { PROMISE, ROUND, LEASE, BEAT, RETRY, TIMERS };
enum { FOLLOWING, STANDING, MASTER };
enum { LOSSES_MAX = 2 };
#define NOTE_LIST(NOTE)                                                                                     \
    NOTE(KEEPS_SILENT, "keeps-silent", "may have forgotten a promise, and grants nothing until it is over") \
    NOTE(LOST_ITS_VOTE, "lost-its-vote", "has lost the record of its votes, and never votes again")         \
    NOTE(STANDS, "stands", "stands for election in term #1")                                                \
    NOTE(VOTES, "votes", "votes for @1 in term #2")                                                         \
    NOTE(REFUSES_BOUND, "refuses-bound", "is bound by a promise, and refuses @1 its vote in term #2")       \
    NOTE(REFUSES_VOTED, "refuses-voted", "has no vote to give in term #2, and refuses @1")                  \
    NOTE(GIVES_WAY, "gives-way", "gives way to @1 in a later term, and gives its votes of term #2 back")    \
    NOTE(LOSES, "loses", "gets no majority in term #1, and gives the votes back")                           \
    NOTE(WINS, "wins", "has a majority and is master in term #1")                                           \
    NOTE(FOLLOWS, "follows", "follows @1, the master of term #2")                                           \
    NOTE(IGNORES_OLD_MASTER, "ignores-old-master", "does not take @1 for its master, in term #2")           \
    NOTE(IGNORES_LATE, "ignores-late", "ignores an answer of @1 to an earlier round")                       \
    NOTE(LAPSES, "lapses", "was renewed by no majority, and is master no more in term #1")                  \
    NOTE(IS_DEPOSED, "is-deposed", "hears of @1, the master of term #2, and leads no more")                 \
    NOTE(IS_FREE, "is-free", "is bound by no promise any more")                                             \
    NOTE(IS_RELEASED, "is-released", "is released from its promise to @1")                                  \
    NOTE(IS_HEIR, "is-heir", "was chosen by @1 to follow it")                                               \
    NOTE(RESIGNS, "resigns", "resigns as master of term #1")                                                \
    NOTE(HANDS_OVER, "hands-over", "leads no more, and names @1 its heir")                                  \
    NOTE(IS_BUSY, "is-busy", "is called, but stands or leads already")                                      \
    NOTE(CANNOT_LEAD, "cannot-lead", "is called, but may not lead")                                         \
    NOTE(HOLDS_BACK, "holds-back", "is called, but a promise binds it")
enum { NOTE_LIST(EL_NOTE_NAME) NOTES };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

struct chubby {
    uint64_t term;    /* the term of our vote; saved */
    uint64_t seen;    /* the highest term heard of; a candidate takes a higher one */
    uint64_t bound;   /* the term of our promise */
    uint64_t reign;   /* the highest term known to have been won */
    uint64_t round;   /* the number of the renewal under way */
    uint64_t left;    /* the longest time left on the promises for which we were refused */
    uint64_t longest; /* the longest promise we may have given, in this or an earlier incarnation; saved */
    el_node vote;     /* in `term`; saved */
    el_node holder;   /* of our promise, while `promised`; nobody: unknown after a restart */
    el_node master;
    uint32_t losses; /* lost candidacies since the last master, up to LOSSES_MAX */
    uint8_t mode;
    uint8_t promised; /* timer PROMISE is armed */
    uint8_t open;     /* the current round has no majority yet */
    uint8_t voteless; /* our record was lost, so we never vote; saved */
    uint8_t spare[4];
};
_Static_assert(sizeof(struct chubby) == 80, "no padding");

static uint64_t *sets(struct chubby *me)
{
    return (uint64_t *)(me + 1);
}

/* ---- Promises ---- */

static void promise(struct chubby *me, const struct el_config *cfg, el_node holder, uint64_t term,
                    struct el_outbox *out)
{
    me->promised = 1;
    me->holder = holder;
    me->bound = term;
    el_arm(out, PROMISE, 0, tenure_promise(cfg), tenure_promise(cfg));
    el_disarm(out, RETRY, 0);
}

static void forget_promise(struct chubby *me, struct el_outbox *out)
{
    me->promised = 0;
    me->holder = me->master = EL_NOBODY;
    el_disarm(out, PROMISE, 0);
}

/* The vote is on disk before any message mentions it. */
static void save(const struct chubby *me, struct el_outbox *out)
{
    el_save(out, (struct el_durable){me->term, {me->vote, me->longest, me->voteless}});
}

static void adopt(struct chubby *me, uint64_t term, el_node vote, struct el_outbox *out)
{
    me->term = term;
    me->vote = vote;
    save(me, out);
}

static void see(struct chubby *me, uint64_t term)
{
    if (term > me->seen) me->seen = term;
}

/* ---- Standing and leading ---- */

static bool may_stand(const struct chubby *me, const struct el_config *cfg)
{
    return el_may_lead(cfg->cluster, cfg->self) && !me->voteless;
}

static void wait(const struct chubby *me, const struct el_config *cfg, el_duration least, struct el_outbox *out)
{
    if (!me->voteless) tenure_wait(cfg, RETRY, least, out);
}

/* Starts a round of requests. The lease that it may win counts from here. */
static void open_round(struct chubby *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->open = 1;
    tenure_open_round(sets(me), cfg);
    tenure_arm(cfg, ROUND, TENURE_LEASE, out);
    tenure_arm(cfg, BEAT, TENURE_HEARTBEAT, out);
    promise(me, cfg, cfg->self, me->term, out);
}

/* A majority has promised for longer than the time left of the round: the round becomes the lease. */
static void close_round(struct chubby *me, struct el_outbox *out)
{
    me->open = 0;
    el_move(out, ROUND, LEASE, 0);
}

static void renew(struct chubby *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->round++;
    open_round(me, cfg, out);
    mesh_send_others(cfg,
                     (struct el_msg){.kind = RENEW, .subject = cfg->self, .epoch = me->term, .more = me->round},
                     EL_NOBODY, out);
    if (tenure_answer(sets(me), cfg, cfg->self)) close_round(me, out);
}

static void win(struct chubby *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, WINS, me->term, 0);
    close_round(me, out);
    me->mode = MASTER;
    me->master = cfg->self;
    me->reign = me->term;
    me->losses = 0;
    renew(me, cfg, out); /* also tells the others */
}

static void ask_for_votes(const struct chubby *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_send_others(cfg, (struct el_msg){.kind = REQUEST, .subject = cfg->self, .epoch = me->term}, EL_NOBODY,
                     out);
}

static void stand(struct chubby *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->seen + 1 >= EL_EPOCH_MAX) return; /* only a forged term gets us here */
    me->mode = STANDING;
    me->left = 0;
    me->seen++;
    el_note(out, STANDS, me->seen, 0);
    adopt(me, me->seen, cfg->self, out);
    open_round(me, cfg, out);
    ask_for_votes(me, cfg, out);
    if (tenure_answer(sets(me), cfg, cfg->self)) win(me, cfg, out);
}

/* No votes or answers count from here on, so our promise to ourselves can end. Our vote in this term stays
 * given: a second vote in one term could make a second master. */
static void retire(struct chubby *me, struct el_outbox *out)
{
    me->mode = FOLLOWING;
    me->open = 0;
    el_disarm(out, LEASE, 0);
    el_disarm(out, ROUND, 0);
    el_disarm(out, BEAT, 0);
    forget_promise(me, out);
}

/* After we have retired, members that promised us this term are free, but leave the heir time to stand. */
static void give_back(struct chubby *me, const struct el_config *cfg, el_node heir, struct el_outbox *out)
{
    retire(me, out);
    mesh_send_others(cfg, (struct el_msg){.kind = RELEASE, .subject = heir, .epoch = me->term}, EL_NOBODY, out);
}

/* A candidate that keeps losing may be unable to win, and holds votes that another needs. So it waits longer
 * after each loss: not at all, one promise, three promises. */
static void lose(struct chubby *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration pause = tenure_promise(cfg) * ((1u << me->losses) - 1);
    el_note(out, LOSES, me->term, 0);
    give_back(me, cfg, cfg->self, out);
    wait(me, cfg, pause > me->left ? pause : me->left, out);
    if (me->losses < LOSSES_MAX) me->losses++;
}

/* ---- Events ---- */

static void begin_under(struct chubby *me, const struct el_config *cfg, el_node incumbent,
                        struct el_outbox *out)
{
    me->seen = me->reign = 1;
    adopt(me, 1, incumbent, out);
    promise(me, cfg, incumbent, 1, out);
    me->master = incumbent;
    if (incumbent != cfg->self) return;
    me->mode = MASTER;
    tenure_arm(cfg, LEASE, TENURE_LEASE, out);
    renew(me, cfg, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct chubby *me = state;
    me->longest = tenure_promise(cfg);
    if (start->how == EL_FRESH && start->incumbent && el_may_lead(cfg->cluster, start->incumbent)) {
        begin_under(me, cfg, start->incumbent, out);
        return;
    }
    /* With a record we could still answer renewals of the saved term or a later one, since no forgotten promise
     * is newer than the record. Without a record we answer none. */
    me->bound = EL_EPOCH_MAX;
    if (start->how == EL_RESTORED) {
        me->term = me->bound = start->durable.epoch;
        me->seen = me->term ? me->term : 1; /* an incumbent may have led term 1 before we saved */
        me->vote = (el_node)start->durable.word[0];
        if (start->durable.word[1] > me->longest) me->longest = start->durable.word[1];
        me->voteless = start->durable.word[2] != 0;
    }
    if (start->how == EL_LOST) me->voteless = 1;
    el_note(out, me->voteless ? LOST_ITS_VOTE : KEEPS_SILENT, 0, 0);
    save(me, out);
    me->promised = 1;
    el_arm(out, PROMISE, 0, me->longest, me->longest);
}

static void refuse(const struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                   struct el_outbox *out)
{
    el_note(out, me->promised ? REFUSES_BOUND : REFUSES_VOTED, m->from, m->epoch);
    el_send_with_left(
        out, cfg, m->from,
        (struct el_msg){.kind = REFUSE, .subject = cfg->self, .epoch = me->term, .more = m->epoch}, PROMISE, 0);
}

static bool grants(const struct chubby *me, const struct el_msg *m)
{
    if (me->voteless || (me->promised && me->holder != m->from)) return false;
    return m->epoch > me->term || (m->epoch == me->term && me->vote == m->from);
}

static void on_request_for_vote(struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                                struct el_outbox *out)
{
    see(me, m->epoch);
    if (me->mode == STANDING && m->epoch > me->term) { /* else candidates that cannot win block the others */
        el_note(out, GIVES_WAY, m->from, me->term);
        give_back(me, cfg, cfg->self, out);
    }
    if (!grants(me, m)) {
        refuse(me, cfg, m, out);
        return;
    }
    el_note(out, VOTES, m->from, m->epoch);
    if (m->epoch > me->term) adopt(me, m->epoch, m->from, out);
    me->master = EL_NOBODY; /* a candidate is not the master */
    promise(me, cfg, m->from, m->epoch, out);
    el_send(out, cfg, m->from, (struct el_msg){.kind = VOTE, .subject = cfg->self, .epoch = m->epoch});
}

static void on_vote(struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                    struct el_outbox *out)
{
    if (m->epoch != me->term) {
        el_note(out, IGNORES_LATE, m->from, 0);
    } else if (me->mode == STANDING && tenure_answer(sets(me), cfg, m->from)) {
        win(me, cfg, out);
    }
}

static void on_refuse(struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    see(me, m->epoch);
    if (me->mode != STANDING || m->more != me->term) return;
    const el_duration left = m->aux < me->longest ? m->aux : me->longest; /* trust at most our longest */
    if (left > me->left) me->left = left;
    if (tenure_refuse(sets(me), cfg, m->from)) lose(me, cfg, out);
}

/* True if the sender can be the master, and no promise of ours forbids us to follow it. */
static bool reigns(const struct chubby *me, const struct el_msg *m)
{
    if (m->epoch < me->reign || (me->promised && m->epoch < me->bound)) return false;
    return m->epoch > me->reign || me->master == EL_NOBODY || me->master == m->from;
}

static void on_renew(struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    see(me, m->epoch);
    if (!reigns(me, m)) {
        el_note(out, IGNORES_OLD_MASTER, m->from, m->epoch);
        return;
    }
    if (me->mode == MASTER) el_note(out, IS_DEPOSED, m->from, m->epoch); /* only if a clock breaks its bound */
    if (me->mode != FOLLOWING) retire(me, out);
    if (me->master != m->from) el_note(out, FOLLOWS, m->from, m->epoch);
    if (m->epoch > me->term) adopt(me, m->epoch, m->from, out);
    me->reign = m->epoch;
    me->master = m->from;
    me->losses = 0;
    promise(me, cfg, m->from, m->epoch, out);
    el_send(out, cfg, m->from,
            (struct el_msg){.kind = ACK, .subject = cfg->self, .epoch = m->epoch, .more = m->more});
}

static void on_ack(struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                   struct el_outbox *out)
{
    if (me->mode != MASTER || m->epoch != me->term || m->more != me->round) {
        el_note(out, IGNORES_LATE, m->from, 0);
        return;
    }
    if (tenure_answer(sets(me), cfg, m->from) && me->open) close_round(me, out);
}

static void on_release(struct chubby *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (!me->promised || me->holder != m->from || me->bound != m->epoch) return; /* not our promise */
    el_note(out, IS_RELEASED, m->from, 0);
    /* After a candidate retired, or before an heir stands, others are about to ask for votes. Standing now
     * would take the votes they need. */
    const bool resigned = me->master == m->from && m->subject == m->from;
    forget_promise(me, out);
    if (m->subject == cfg->self && may_stand(me, cfg)) {
        el_note(out, IS_HEIR, m->from, 0);
        stand(me, cfg, out);
    } else {
        wait(me, cfg, resigned ? 0 : el_number(cfg, TENURE_HEARTBEAT), out);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case REQUEST: on_request_for_vote(state, cfg, m, out); return;
    case VOTE: on_vote(state, cfg, m, out); return;
    case REFUSE: on_refuse(state, cfg, m, out); return;
    case RENEW: on_renew(state, cfg, m, out); return;
    case ACK: on_ack(state, cfg, m, out); return;
    default: on_release(state, cfg, m, out); return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    struct chubby *me = state;
    switch (timer) {
    case PROMISE: /* a promise to ourselves ends no earlier than the claim that rests on it */
    case LEASE:
        el_note(out, timer == LEASE ? LAPSES : IS_FREE, me->term, 0);
        retire(me, out);
        wait(me, cfg, 0, out);
        return;
    case ROUND:
        me->open = 0; /* a master's lease ends no later */
        if (me->mode == STANDING) lose(me, cfg, out);
        return;
    case BEAT:
        if (me->mode == MASTER) {
            renew(me, cfg, out);
        } else { /* repeat the request for members it did not reach; the round counts from the first one */
            ask_for_votes(me, cfg, out);
            tenure_arm(cfg, BEAT, TENURE_HEARTBEAT, out);
        }
        return;
    default: stand(me, cfg, out); return;
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct chubby *me = state;
    if (me->mode == FOLLOWING && may_stand(me, cfg) && !me->promised) {
        stand(me, cfg, out);
    } else {
        el_note(out, me->mode != FOLLOWING ? IS_BUSY : may_stand(me, cfg) ? HOLDS_BACK : CANNOT_LEAD, 0, 0);
    }
}

static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct chubby *me = state;
    if (me->mode != MASTER) return EL_NOT_LEADING;
    if (what == EL_RESIGN) {
        el_note(out, RESIGNS, me->term, 0);
        give_back(me, cfg, cfg->self, out);
        wait(me, cfg, tenure_promise(cfg), out); /* let the others stand first */
        return EL_PERFORMED;
    }
    const enum el_answer objection = tenure_heir(sets(me), cfg, to);
    if (objection != EL_PERFORMED) return objection;
    el_note(out, HANDS_OVER, to, 0);
    give_back(me, cfg, to, out);
    wait(me, cfg, el_number(cfg, TENURE_HEARTBEAT), out);
    return EL_PERFORMED;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct chubby *me = state;
    el_view_of(v, cfg, me->master, me->holder != EL_NOBODY, me->master ? me->reign : me->term);
    if (me->master) v->timer = me->mode == MASTER ? LEASE : PROMISE;
}

/* ---- Descriptor ---- */

static const char *const kinds[] = {NULL, "Request", "Vote", "Refuse", "Renew", "Ack", "Release"};
static const char *const timers[] = {"promise", "round", "lease", "beat", "retry"};

static const struct el_option options[] = {TENURE_OPTION_ROWS};

static const struct el_inequality inequalities[] = {TENURE_INEQUALITY_ROWS};

static const struct el_weakness breaks[] = {
    {EL_DRIFTS, EL_TWO_LEADERS,
     "a voter whose clock runs too fast is free while the master still relies on its promise"},
    {EL_RESTARTS, EL_DEMOTED, "a master whose majority was down for one lease has stopped leading"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "a lease that is not renewed in time expires, and a member that missed the renewals knows no "
     "master, or the old one"},
    {EL_PARTITIONS, EL_NO_LEADER,
     "with one-way links, a candidate that cannot win may hold the votes that another needs"},
    {EL_WIPES, EL_NO_LEADER,
     "a member that lost its record never votes again: if half of all have, nobody can win"},
};

const struct el_algorithm el_chubby = {
    .name = "chubby",
    .summary = "a majority votes, and promises to elect nobody else until the promise expires",
    .idea = "A candidate asks all members for their vote in a new term. Each has one vote in a term "
            "and saves it before it answers. A vote is also a promise to help nobody else until it "
            "expires. A candidate with a majority of votes leads for one lease, counted from its "
            "request, and keeps renewing it. If a majority no longer answers, it stops by itself, "
            "before the promises expire. A restarted member waits for the longest promise that it may"
            " have forgotten.",
    .reference = "Burrows: The Chubby lock service for loosely-coupled distributed systems, OSDI 2006",
    EL_KINDS(kinds),
    .routine_kinds = 1u << RENEW | 1u << ACK,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_AGREEMENT | EL_CLAIMS_STABLE,
    .beats = true,
    .majority = true,
    EL_INEQUALITIES(inequalities),
    .state_bytes = sizeof(struct chubby),
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
