/*
 * Kubernetes' leader election: one Lease object, written by compare-and-swap. Its holder writes it again and again;
 * a candidate that has seen no write for a whole lease writes itself as the holder. A candidate counts the age from
 * when it saw the object change, on its own clock, never from the times in the object: those are another's clock.
 *
 * Reference: k8s.io/client-go/tools/leaderelection, and the coordination.k8s.io/v1 API. Deviations:
 * - The holder's claim ends by a timer that counts from the sending of its last successful write (option guard).
 *   client-go's holder leads until it notices: a paused one leads beside its successor.
 * - The token is the version of the acquiring write. client-go promises no fencing; leaseTransitions starts again if
 *   the object is deleted, and resourceVersion is opaque by the API's own word: it rises within one object's uid.
 * - Candidates watch the object and poll only if they hear nothing (option watch); client-go polls.
 * - A holder whose claim expired, or that restarted, must write again and gets a higher token.
 */
#include "algorithms/store/lease_store.h"

enum { PROBE = LEASE_STORE_TIMERS, LEASE, BEAT, CALL, EXPIRY, POLL };
enum { OPTION_LEASE, OPTION_DEADLINE, OPTION_RETRY, OPTION_TIMEOUT, OPTION_WATCH, OPTION_GUARD };

#define NOTE_LIST(NOTE)                                                                          \
    NOTE(READS, "reads", "reads the lease")                                                      \
    NOTE(TAKES, "takes", "finds the lease free, and writes itself as the holder")                \
    NOTE(SEES_IT_EXPIRE, "sees-it-expire", "has seen no write of @1 for a whole lease")          \
    NOTE(LEADS, "leads", "has written itself as the holder, and leads with token #1")            \
    NOTE(OBSERVES, "observes", "learns that @1 holds the lease, with token #2")                  \
    NOTE(LOSES, "loses", "was not the first to write, and waits")                                \
    NOTE(IS_DEPOSED, "is-deposed", "finds @1 as the holder, and leads no more")                  \
    NOTE(LAPSES, "lapses", "could not renew before its deadline, and leads no more")             \
    NOTE(ASKS_AGAIN, "asks-again", "gets no answer in time, and asks again on a new connection") \
    NOTE(IGNORES, "ignores", "ignores an answer that it does not wait for")                      \
    NOTE(RESIGNS, "resigns", "writes that nobody holds the lease")                               \
    NOTE(HAS_RESIGNED, "has-resigned", "has given the lease back")                               \
    NOTE(IS_CANDIDATE, "is-candidate", "is called, but stands already")                          \
    NOTE(IS_STORE, "is-store", "is called, but is the store")
enum { LAST_OF_STORE = LEASE_STORE_NOTES - 1, NOTE_LIST(EL_NOTE_NAME) NOTES };
static const struct el_note_text notes[] = {LEASE_STORE_NOTE_LIST(EL_NOTE_TEXT) NOTE_LIST(EL_NOTE_TEXT)};

struct candidate {
    uint64_t incarnation; /* 0: not known yet */
    uint64_t call;        /* the number of the last request */
    uint64_t pending;     /* the request that waits for an answer; 0: none */
    uint64_t version;     /* of the object, as last seen */
    uint64_t acquired;    /* the version by which its holder got it */
    el_node holder;       /* nobody: free, or expired */
    uint8_t asked;        /* the kind of the pending request */
    uint8_t leading;
    uint8_t resigning; /* until the empty holder is written */
    uint8_t resting;   /* has resigned: leaves a free lease to others for a while */
};
_Static_assert(sizeof(struct candidate) >= sizeof(struct lease_store), "either lies in the state");

static uint64_t *watchers(void *state)
{
    return (uint64_t *)(void *)((struct candidate *)state + 1);
}

/* How long an object must be unchanged until its holder cannot lead by it any more. */
static el_duration age_of_expiry(const struct el_config *cfg)
{
    return store_kept(cfg, el_number(cfg, OPTION_LEASE));
}

/* ---- Asking ---- */

static void ask(struct candidate *me, const struct el_config *cfg, struct el_msg msg, struct el_outbox *out)
{
    const el_duration timeout = el_number(cfg, OPTION_TIMEOUT);
    msg.more = ++me->call;
    msg.extra[0] = me->incarnation;
    me->pending = me->call;
    me->asked = msg.kind;
    el_send(out, cfg, store_of(cfg), msg);
    el_arm(out, CALL, 0, timeout, timeout);
}

static void fetch(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    const struct el_msg msg = {
        .kind = LEASE_GET, .subject = cfg->self, .flags = el_number(cfg, OPTION_WATCH) != 0};
    if (me->version == 0) el_note(out, READS, 0, 0);
    ask(me, cfg, msg, out);
}

/* The time that this write may buy starts now, before the store can hear of it. */
static void put(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration deadline = el_number(cfg, OPTION_DEADLINE);
    const struct el_msg msg = {.kind = LEASE_PUT,
                               .subject = me->resigning ? store_of(cfg) : cfg->self,
                               .epoch = me->version,
                               .flags = !me->leading};
    el_arm(out, PROBE, 0, deadline, deadline);
    ask(me, cfg, msg, out);
}

static void listen(const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration retry = el_number(cfg, OPTION_RETRY);
    const el_duration poll = el_number(cfg, OPTION_WATCH) ? 2 * retry : retry;
    el_arm(out, POLL, 0, poll, poll + retry / 5); /* client-go's jitter */
}

/* ---- What the object says ---- */

/* A write of ours may still be answered: it must not bring the old claim back, so nobody waits for it. */
static void step_down(struct candidate *me, struct el_outbox *out)
{
    me->leading = 0;
    me->pending = 0;
    el_disarm(out, CALL, 0);
    el_disarm(out, LEASE, 0);
    el_disarm(out, BEAT, 0);
}

/* A change that we see starts the count of the object's age anew. */
static void learn(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                  struct el_outbox *out)
{
    const el_node holder = m->subject == store_of(cfg) ? EL_NOBODY : m->subject;
    listen(cfg, out);
    if (m->epoch <= me->version) return;
    if (holder && holder != cfg->self && (holder != me->holder || m->extra[1] != me->acquired))
        el_note(out, OBSERVES, holder, m->extra[1]);
    if (me->leading && holder != cfg->self) {
        el_note(out, IS_DEPOSED, holder, 0);
        step_down(me, out);
    }
    me->resting = 0;
    me->version = m->epoch;
    me->acquired = m->extra[1];
    me->holder = holder;
    el_arm(out, EXPIRY, 0, age_of_expiry(cfg), age_of_expiry(cfg));
}

/* Takes a lease that is free, or ours without our leading: left by an earlier write whose answer was lost. */
static void consider(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->pending || me->leading || me->resting) return;
    if (me->resigning && me->holder != cfg->self) me->resigning = 0;
    if (me->holder && me->holder != cfg->self) return;
    if (!me->resigning) el_note(out, TAKES, 0, 0);
    put(me, cfg, out);
}

/* ---- Answers ---- */

static void hold(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration retry = el_number(cfg, OPTION_RETRY), deadline = el_number(cfg, OPTION_DEADLINE);
    if (el_number(cfg, OPTION_GUARD))
        el_move(out, PROBE, LEASE, 0);
    else /* as client-go: from the answer, and from the beginning of the next attempt */
        el_arm(out, LEASE, 0, retry + deadline, retry + deadline);
    el_arm(out, BEAT, 0, retry, retry);
    el_disarm(out, POLL, 0);
    el_disarm(out, EXPIRY, 0);
    if (me->leading) return;
    el_note(out, LEADS, me->acquired, 0);
    me->leading = 1;
}

static void on_saved(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    me->version = m->epoch;
    me->acquired = m->extra[1];
    me->holder = m->subject == cfg->self ? cfg->self : EL_NOBODY;
    if (!me->resigning) {
        hold(me, cfg, out);
        return;
    }
    el_note(out, HAS_RESIGNED, 0, 0);
    me->resigning = 0;
    me->resting = 1;
    el_arm(out, EXPIRY, 0, age_of_expiry(cfg), age_of_expiry(cfg));
    fetch(me, cfg, out); /* and watch who is next */
}

static void on_conflict(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    learn(me, cfg, m, out);
    if (me->leading) {
        put(me, cfg, out); /* our own write, whose answer was lost, was first */
        return;
    }
    if (me->holder && me->holder != cfg->self) el_note(out, LOSES, 0, 0);
    consider(me, cfg, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        lease_store_message(state, watchers(state), cfg, m, out);
        return;
    }
    if (m->from != store_of(cfg) || me->incarnation == 0) {
        el_note(out, IGNORES, 0, 0);
        return;
    }
    if (m->kind == LEASE_EVENT) {
        learn(me, cfg, m, out);
        consider(me, cfg, out);
        return;
    }
    const bool fits =
        me->asked == LEASE_GET ? m->kind == LEASE_GOT : m->kind == LEASE_SAVED || m->kind == LEASE_CONFLICT;
    if (!me->pending || !fits || m->more != me->pending || m->extra[0] != me->incarnation) {
        el_note(out, IGNORES, 0, 0);
        return;
    }
    me->pending = 0;
    el_disarm(out, CALL, 0);
    if (m->kind == LEASE_SAVED) {
        on_saved(me, cfg, m, out);
    } else if (m->kind == LEASE_CONFLICT) {
        on_conflict(me, cfg, m, out);
    } else {
        learn(me, cfg, m, out);
        consider(me, cfg, out);
    }
}

/* ---- Timers ---- */

static void on_expiry(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->leading) return;
    if (me->holder && me->holder != cfg->self) el_note(out, SEES_IT_EXPIRE, me->holder, 0);
    me->resting = 0;
    me->holder = EL_NOBODY;
    consider(me, cfg, out);
}

/* The holder writes again at once; if its last write took place, the version tells. Others read first. */
static void ask_again(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, ASKS_AGAIN, 0, 0);
    me->pending = 0;
    if (me->leading || me->resigning)
        put(me, cfg, out);
    else
        fetch(me, cfg, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        if (timer == LEASE_STORE_SILENCE) lease_store_silence(state, out);
        return;
    }
    switch (timer) {
    case BEAT:
        if (!me->pending) put(me, cfg, out);
        return;
    case CALL: ask_again(me, cfg, out); return;
    case EXPIRY: on_expiry(me, cfg, out); return;
    case POLL:
        if (!me->pending) fetch(me, cfg, out);
        return;
    case LEASE:
        el_note(out, LAPSES, 0, 0);
        step_down(me, out);
        fetch(me, cfg, out);
        return;
    default: return; /* a write that is no longer worth anything */
    }
}

/* ---- Start and requests ---- */

static void begin(struct candidate *me, const struct el_config *cfg, uint64_t incarnation,
                  struct el_outbox *out)
{
    me->incarnation = incarnation;
    el_save(out, (struct el_durable){.epoch = incarnation});
    if (me->leading)
        put(me, cfg, out);
    else
        fetch(me, cfg, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        lease_store_start(state, watchers(state), cfg, start, out);
    } else if (start->how != EL_LOST) {
        if (start->how == EL_FRESH && start->incumbent == cfg->self) {
            const el_duration deadline = el_number(cfg, OPTION_DEADLINE);
            me->leading = 1;
            me->version = me->acquired = 1;
            me->holder = cfg->self;
            el_arm(out, LEASE, 0, deadline, deadline);
        }
        begin(me, cfg, start->durable.epoch + 1, out);
    }
}

static void on_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,
                    struct el_outbox *out)
{
    (void)fact; /* the wall clock is the only one */
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        lease_store_fact(state, value, age_of_expiry(cfg), out);
    } else if (me->incarnation == 0) {
        begin(me, cfg, value < EL_EPOCH_MAX ? value + 1 : EL_EPOCH_MAX, out);
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    (void)state; /* every candidate stands from its start on */
    el_note(out, store_is_self(cfg) ? IS_STORE : IS_CANDIDATE, 0, 0);
}

/* The claim ends at once; the write is repeated until the store confirms it. */
static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    (void)to;
    struct candidate *me = state;
    if (what != EL_RESIGN) return EL_UNKNOWN_HERE;
    if (store_is_self(cfg) || !me->leading) return EL_NOT_LEADING;
    el_note(out, RESIGNS, 0, 0);
    step_down(me, out);
    me->resigning = 1;
    put(me, cfg, out);
    return EL_PERFORMED;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct candidate *me = state;
    const struct lease_store *store = state;
    if (store_is_self(cfg)) {
        el_view_of(v, cfg, store->holder, false, store->acquired);
        return;
    }
    const el_node leader = me->leading ? cfg->self : me->holder == cfg->self ? EL_NOBODY : me->holder;
    el_view_of(v, cfg, leader, true, leader ? me->acquired : 0);
    if (leader && el_number(cfg, OPTION_GUARD)) v->timer = me->leading ? LEASE : EXPIRY;
}

/* ---- For the checker ---- */

static void numbers(void *state, const struct el_config *cfg, el_number_visit *visit, void *context)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        struct lease_store *store = state;
        visit(context, 0, &store->version);
        visit(context, 0, &store->acquired);
        return;
    }
    visit(context, 0, &me->version);
    visit(context, 0, &me->acquired);
    visit(context, store_family(cfg->self, me->incarnation), &me->call);
    visit(context, store_family(cfg->self, me->incarnation), &me->pending);
}

static void numbers_sent(struct el_msg *m, const struct el_config *cfg, el_number_visit *visit, void *context)
{
    visit(context, 0, &m->epoch);
    visit(context, 0, &m->extra[1]);
    visit(context, store_family(m->from == store_of(cfg) ? m->to : m->from, m->extra[0]), &m->more);
}

/* ---- Descriptor ---- */

static const char *const kinds[] = {NULL, "Get", "Lease", "Update", "Updated", "Conflict", "Modified"};
static const char *const timers[] = {"silence", "probe", "lease", "beat", "call", "expiry", "poll"};
static const char *const facts[] = {"wall-clock"};

static const struct el_option options[] = {
    {"lease", EL_DURATION, 0, NULL, "1500ms",
     "how long an unchanged Lease keeps others away (client-go: 15 s)"},
    {"deadline", EL_DURATION, 0, NULL, "1s",
     "how long the holder leads after its last renewal (client-go: 10 s)"},
    {"retry", EL_DURATION, 0, NULL, "200ms", "how often the holder renews and others poll (client-go: 2 s)"},
    {"timeout", EL_DURATION, 0, NULL, "100ms", "how long a candidate waits for an answer before it asks again"},
    {"watch", EL_FLAG, 0, NULL, "on", "candidates are told of each write; off: they poll, as client-go does"},
    {"guard", EL_FLAG, 0, NULL, "on",
     "the holder's claim ends by its own timer; off: when it notices, as in client-go"},
};

static const struct el_inequality inequalities[] = {
    {{{1, OPTION_DEADLINE}}, {{1, OPTION_LEASE}}, "the holder would lead while others may take the lease"},
    {{{1, OPTION_RETRY}, {1, EL_OF_ROUND_TRIP}},
     {{1, OPTION_DEADLINE}},
     "the deadline would pass before the lease can be renewed, and every holder would lose it"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, OPTION_RETRY}},
     "the next renewal would begin before the last one is answered"},
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, OPTION_TIMEOUT}},
     "every request would be given up before its answer can arrive"},
};

static const struct el_weakness breaks[] = {
    {EL_DRIFTS, EL_TWO_LEADERS,
     "a candidate whose clock runs too fast takes a lease that its holder still counts on"},
    {EL_RESTARTS, EL_DEMOTED, "while the store is down nobody can renew, and the holder's deadline passes"},
    {EL_LOSSES | EL_LATENESS | EL_REORDERS, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "a connection that keeps failing delays renewals and events: the lease expires, or the view is old"},
    {EL_UNGUARDED, EL_TWO_LEADERS | EL_TOKEN_FELL,
     "without guard a holder leads until it notices; one that was paused leads beside its successor"},
};

const struct el_algorithm el_kubernetes_lease = {
    .name = "kubernetes-lease",
    .summary = "one Lease object, written by compare-and-swap; whoever sees it unchanged for too long takes it",
    .idea =
        "The last member is the store. It has one object with a version and a holder. A write succeeds only if "
        "it names the present version. The holder writes the object every few seconds. A candidate counts on "
        "its own clock how long the object has not changed, and after a whole lease it writes itself as the "
        "holder; of several that try, the first write wins. The version of that write is the token. The holder "
        "stops at a deadline that is shorter than the lease, counted from the sending of its last write.",
    .reference = "Kubernetes: client-go/tools/leaderelection; coordination.k8s.io/v1 Lease",
    EL_KINDS(kinds),
    .routine_kinds =
        1u << LEASE_GET | 1u << LEASE_GOT | 1u << LEASE_PUT | 1u << LEASE_SAVED | 1u << LEASE_EVENT,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    EL_FACTS(facts),
    EL_INEQUALITIES(inequalities),
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_RISING | EL_CLAIMS_AGREEMENT |
              EL_CLAIMS_STABLE,
    .roleless = true,
    .beats = true,
    .majority = true,
    .store = true,
    .state_bytes = sizeof(struct candidate),
    .state_sets = 1,
    .outbox_fixed = 16,
    .outbox_per_member = 2,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_fact = on_fact,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
    .numbers = numbers,
    .numbers_sent = numbers_sent,
};
