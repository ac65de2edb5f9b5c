/* A candidate in a queue of keys that end with their session. See candidate.h. */
#include "algorithms/store/candidate.h"

/* ---- Asking ---- */

static struct el_msg request(struct candidate *me, const struct el_config *cfg, uint8_t kind, uint64_t about)
{
    struct el_msg msg = {
        .kind = kind, .subject = cfg->self, .epoch = me->session, .aux = about, .more = ++me->call};
    msg.extra[0] = me->incarnation;
    return msg;
}

/* One request at a time; renewals go beside it. */
static void ask(struct candidate *me, const struct el_config *cfg, uint8_t kind, uint64_t about,
                struct el_outbox *out)
{
    const el_duration timeout = el_number(cfg, CANDIDATE_OPTION_TIMEOUT);
    const struct el_msg msg = request(me, cfg, kind, about);
    me->pending = me->call;
    me->asked = kind;
    el_send(out, cfg, store_of(cfg), msg);
    el_arm(out, CANDIDATE_CALL, 0, timeout, timeout);
}

/* The time that this renewal may buy starts now, before the store can hear of it. */
static void start_probe(const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration lease = el_number(cfg, CANDIDATE_OPTION_LEASE);
    el_arm(out, CANDIDATE_PROBE, 0, lease, lease);
}

static void renew(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration beat = el_number(cfg, CANDIDATE_OPTION_HEARTBEAT);
    const struct el_msg msg = request(me, cfg, STORE_RENEW, 0);
    me->renewal = me->call;
    start_probe(cfg, out);
    el_send(out, cfg, store_of(cfg), msg);
    el_arm(out, CANDIDATE_BEAT, 0, beat, beat);
}

static void open_session(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, CANDIDATE_OPENS, 0, 0);
    start_probe(cfg, out);
    ask(me, cfg, STORE_OPEN, 0, out);
}

static void stand(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, CANDIDATE_QUEUES, 0, 0);
    ask(me, cfg, STORE_CREATE, 0, out);
}

static void tidy_or_stand(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->leftover && el_number(cfg, CANDIDATE_OPTION_TIDY)) {
        el_note(out, CANDIDATE_TIDIES, 0, 0);
        ask(me, cfg, STORE_CLOSE, me->leftover, out);
    } else {
        me->leftover = 0;
        stand(me, cfg, out);
    }
}

/* ---- The session ends ---- */

static void forget_session(struct candidate *me, struct el_outbox *out)
{
    me->session = me->key = me->before = me->renewal = me->pending = me->leftover = 0;
    me->leading = me->lapsed = 0;
    me->leader = EL_NOBODY;
    el_disarm(out, CANDIDATE_BEAT, 0);
    el_disarm(out, CANDIDATE_LEASE, 0);
}

static void begin_again(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    forget_session(me, out);
    open_session(me, cfg, out);
}

/* The store says so: keys and lease are gone, whatever our own timer says. */
static void expire(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, CANDIDATE_EXPIRED, 0, 0);
    begin_again(me, cfg, out);
}

/* ---- The queue ---- */

static void learn(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                  struct el_outbox *out)
{
    const el_node leader = m->subject == store_of(cfg) ? EL_NOBODY : m->subject;
    if (leader && leader != cfg->self && (leader != me->leader || me->first != m->extra[2]))
        el_note(out, CANDIDATE_OBSERVES, leader, m->extra[2]);
    me->leader = leader;
    me->first = m->extra[2];
}

/* Acts on what the store said of our key. Only a session that is alive by our own timer may lead. */
static void take_place(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (me->leading && (m->aux != me->key || m->extra[1])) {
        el_note(out, CANDIDATE_LOST_KEY, 0, 0);
        me->leading = 0;
    }
    me->key = m->aux;
    me->before = m->extra[1];
    if (me->key == 0) {
        stand(me, cfg, out);
    } else if (me->before) {
        el_note(out, CANDIDATE_WAITS, me->before, 0);
        ask(me, cfg, STORE_WATCH, me->before, out);
    } else if (!me->leading && !me->lapsed) {
        el_note(out, CANDIDATE_LEADS, me->key, 0);
        me->leading = 1;
    }
}

static void look(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    ask(me, cfg, STORE_LIST, 0, out);
}

/* ---- Answers ---- */

static void on_opened(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    const el_duration beat = el_number(cfg, CANDIDATE_OPTION_HEARTBEAT);
    const el_duration timeout = el_number(cfg, CANDIDATE_OPTION_TIMEOUT);
    if (m->epoch == 0) { /* no room: ask again later */
        me->asked = STORE_OPEN;
        el_arm(out, CANDIDATE_CALL, 0, timeout, timeout);
        return;
    }
    me->session = m->epoch;
    me->leftover = m->extra[3];
    me->lapsed = m->flags != 0; /* not proved: the first renewal makes it count */
    el_move(out, CANDIDATE_PROBE, CANDIDATE_LEASE, 0);
    if (m->flags)
        renew(me, cfg, out);
    else
        el_arm(out, CANDIDATE_BEAT, 0, beat, beat);
    tidy_or_stand(me, cfg, out);
}

static void on_closed(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (m->epoch == 0) { /* our own session, as we asked */
        begin_again(me, cfg, out);
        return;
    }
    me->leftover = 0;
    stand(me, cfg, out);
}

static void on_answer(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    me->pending = 0;
    el_disarm(out, CANDIDATE_CALL, 0);
    if (m->kind != STORE_OPENED && m->kind != STORE_CLOSED && m->epoch == 0) {
        expire(me, cfg, out);
        return;
    }
    me->heard = m->rank;
    learn(me, cfg, m, out);
    switch (m->kind) {
    case STORE_OPENED: on_opened(me, cfg, m, out); return;
    case STORE_CLOSED: on_closed(me, cfg, m, out); return;
    case STORE_WATCHED:
        if (m->flags) {
            el_note(out, CANDIDATE_FINDS_GONE, 0, 0);
            look(me, cfg, out);
        }
        return;
    default: take_place(me, cfg, m, out); return; /* CREATED, LISTED, DELETED */
    }
}

static void on_renewed(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    me->renewal = 0;
    if (m->epoch == 0) {
        expire(me, cfg, out);
        return;
    }
    el_move(out, CANDIDATE_PROBE, CANDIDATE_LEASE, 0);
    const bool was_lapsed = me->lapsed, missed = m->rank != me->heard;
    me->lapsed = 0;
    if (me->pending || (!was_lapsed && !missed)) return;
    if (missed) el_note(out, CANDIDATE_MISSED, 0, 0);
    look(me, cfg, out);
}

/* An event that is not the next one shows that the connection broke in between; the next renewal finds out. */
static void on_event(struct candidate *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->epoch != me->session || m->rank != me->heard + 1) {
        el_note(out, CANDIDATE_IGNORES, 0, 0);
        return;
    }
    me->heard = m->rank;
    learn(me, cfg, m, out);
    if (m->aux == 0 || me->pending) return;
    el_note(out, CANDIDATE_HEARS, m->aux, 0);
    look(me, cfg, out);
}

void recipe_message(const struct recipe *recipe, void *state, const struct el_config *cfg,
                    const struct el_msg *m, struct el_outbox *out)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        session_store_message(&recipe->store, state, cfg, m, out);
        return;
    }
    const bool is_ours = m->from == store_of(cfg) && m->extra[0] == me->incarnation;
    if (is_ours && m->kind == STORE_EVENT) {
        on_event(me, cfg, m, out);
    } else if (is_ours && me->renewal && m->kind == STORE_RENEWED && m->more == me->renewal) {
        on_renewed(me, cfg, m, out);
    } else if (is_ours && me->pending && m->kind == me->asked + 1 && m->more == me->pending) {
        on_answer(me, cfg, m, out);
    } else {
        el_note(out, CANDIDATE_IGNORES, 0, 0);
    }
}

/* ---- Timers ---- */

/* The claim is over. Its key may still be first, but a second claim needs a higher token: start again. */
static void lapse(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->lapsed = 1;
    me->leader = EL_NOBODY;
    el_note(out, me->leading ? CANDIDATE_LAPSES : CANDIDATE_IS_ALONE, 0, 0);
    if (!me->leading) return;
    me->leading = 0;
    me->leftover = 0;
    ask(me, cfg, STORE_CLOSE, me->session, out);
}

/* No answer: the request may have taken effect or not. */
static void ask_again(const struct recipe *recipe, struct candidate *me, const struct el_config *cfg,
                      struct el_outbox *out)
{
    const bool opens = me->asked == STORE_OPEN || (me->asked == STORE_CLOSE && !me->leftover);
    el_note(out, CANDIDATE_ASKS_AGAIN, 0, 0);
    me->pending = 0;
    if (opens) {
        begin_again(me, cfg, out);
    } else if (me->asked == STORE_CLOSE) {
        tidy_or_stand(me, cfg, out);
    } else if (me->asked == STORE_DELETE || (me->asked == STORE_CREATE && !recipe->looks_before_retry)) {
        ask(me, cfg, me->asked, 0, out);
    } else {
        look(me, cfg, out);
    }
}

void recipe_timer(const struct recipe *recipe, void *state, const struct el_config *cfg, uint32_t timer,
                  uint32_t slot, struct el_outbox *out)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        if (timer < STORE_TIMERS) session_store_timer(&recipe->store, state, cfg, timer, slot, out);
        return;
    }
    switch (timer) {
    case CANDIDATE_BEAT: renew(me, cfg, out); return;
    case CANDIDATE_LEASE: lapse(me, cfg, out); return;
    case CANDIDATE_CALL: ask_again(recipe, me, cfg, out); return;
    default: return; /* a renewal that is no longer worth anything */
    }
}

/* ---- Start and requests ---- */

static void begin(struct candidate *me, const struct el_config *cfg, uint64_t incarnation,
                  struct el_outbox *out)
{
    me->incarnation = incarnation;
    el_save(out, (struct el_durable){.epoch = incarnation});
    if (me->session)
        renew(me, cfg, out);
    else
        open_session(me, cfg, out);
}

/* The store begins with this session and its key, the first of all. */
static void begin_in_office(struct candidate *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration lease = el_number(cfg, CANDIDATE_OPTION_LEASE);
    me->session = me->key = me->first = 1;
    me->leader = cfg->self;
    me->leading = 1;
    el_arm(out, CANDIDATE_LEASE, 0, lease, lease);
}

void recipe_start(const struct recipe *recipe, void *state, const struct el_config *cfg,
                  const struct el_start *start, struct el_outbox *out)
{
    struct candidate *me = state;
    const bool has_office = start->how == EL_FRESH && start->incumbent && start->incumbent != store_of(cfg);
    const struct el_start told = {start->how, has_office ? start->incumbent : EL_NOBODY, start->durable};
    if (store_is_self(cfg)) {
        session_store_start(&recipe->store, state, cfg, &told, out);
    } else if (start->how != EL_LOST) {
        if (has_office && start->incumbent == cfg->self) begin_in_office(me, cfg, out);
        begin(me, cfg, start->durable.epoch + 1, out);
    }
}

void recipe_chosen(const struct recipe *recipe, void *state, const struct el_config *cfg, uint32_t chosen,
                   struct el_outbox *out)
{
    if (store_is_self(cfg)) session_store_chosen(&recipe->store, state, cfg, chosen, out);
}

void recipe_fact(const struct recipe *recipe, void *state, const struct el_config *cfg, uint64_t value,
                 struct el_outbox *out)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        session_store_fact(&recipe->store, state, cfg, value, out);
    } else if (me->incarnation == 0) {
        begin(me, cfg, value < EL_EPOCH_MAX ? value + 1 : EL_EPOCH_MAX, out);
    }
}

void recipe_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    (void)state; /* every candidate stands from its start on */
    el_note(out, store_is_self(cfg) ? CANDIDATE_IS_STORE : CANDIDATE_IS_QUEUED, 0, 0);
}

/* The claim ends at once; the request is repeated until the store confirms it. */
enum el_answer recipe_request(void *state, const struct el_config *cfg, enum el_request_what what, el_node to,
                              struct el_outbox *out)
{
    struct candidate *me = state;
    (void)to;
    if (what != EL_RESIGN) return EL_UNKNOWN_HERE;
    if (store_is_self(cfg) || !me->leading) return EL_NOT_LEADING;
    el_note(out, CANDIDATE_RESIGNS, 0, 0);
    me->leading = 0;
    ask(me, cfg, STORE_DELETE, 0, out);
    return EL_PERFORMED;
}

void recipe_numbers(const struct recipe *recipe, void *state, const struct el_config *cfg,
                    el_number_visit *visit, void *context)
{
    struct candidate *me = state;
    if (store_is_self(cfg)) {
        session_store_numbers(&recipe->store, state, cfg, visit, context);
        return;
    }
    uint64_t *const revisions[] = {&me->session, &me->key, &me->before, &me->first, &me->leftover};
    uint64_t *const calls[] = {&me->call, &me->pending, &me->renewal};
    for (uint32_t i = 0; i < EL_LENGTH(revisions); i++) visit(context, 0, revisions[i]);
    for (uint32_t i = 0; i < EL_LENGTH(calls); i++)
        visit(context, store_family(cfg->self, me->incarnation), calls[i]);
}

void recipe_view(const struct recipe *recipe, const void *state, const struct el_config *cfg,
                 struct el_view *view)
{
    const struct candidate *me = state;
    if (store_is_self(cfg)) {
        uint64_t key = 0;
        const el_node first = session_store_first(&recipe->store, state, cfg, &key);
        el_view_of(view, cfg, first, false, key);
        return;
    }
    const el_node leader = me->leading ? cfg->self : me->leader == cfg->self ? EL_NOBODY : me->leader;
    el_view_of(view, cfg, leader, true, me->leading ? me->key : leader ? me->first : 0);
    if (leader) view->timer = CANDIDATE_LEASE;
}
