/* The store of etcd and ZooKeeper: sessions that expire, keys in order, watches, events. See session_store.h. */
#include "algorithms/store/session_store.h"

enum { SESSIONS = 2, KEYS = 2, FIRST = 1 };

/* What every call needs. */
struct desk {
    const struct store_rules *rules;
    struct session_store *me;
    struct store_session *sessions; /* [count][SESSIONS] */
    const struct el_config *cfg;
    struct el_outbox *out;
};

static struct desk desk_of(const struct store_rules *rules, void *state, const struct el_config *cfg,
                           struct el_outbox *out)
{
    return (struct desk){
        rules, state, (struct store_session *)(void *)((unsigned char *)state + rules->state_bytes), cfg, out};
}

static struct store_session *session_at(const struct desk *d, el_node owner, uint32_t which)
{
    return &d->sessions[(size_t)(owner - 1) * SESSIONS + which];
}

static void keep(const struct desk *d, el_node owner, uint32_t which)
{
    const el_duration kept = store_kept(d->cfg, el_number(d->cfg, d->rules->lease));
    el_arm(d->out, which ? STORE_OLDER_EXPIRY : STORE_EXPIRY, owner, kept, kept);
}

/* How long a server waits before it reports what it heard; 0: renewals count at once. */
static el_duration report_of(const struct desk *d)
{
    return d->rules->reports ? el_number(d->cfg, d->rules->report) : 0;
}

static void disarm_report(const struct desk *d, el_node owner, uint32_t which)
{
    if (report_of(d)) el_disarm(d->out, which ? STORE_OLDER_REPORT : STORE_REPORT, owner);
}

/* Fate decides, as often as it may. */
static bool may_lose(const struct desk *d, el_node owner, uint32_t which, bool opens)
{
    if (!report_of(d) || d->me->lost >= el_number(d->cfg, d->rules->lost)) return false;
    d->me->choosing = (uint8_t)owner;
    d->me->which = (uint8_t)which;
    d->me->opens = opens;
    el_choose(d->out, 2);
    return true;
}

/* The first key at or after `from`: its owner, nobody if there is none. */
static el_node next_key(const struct desk *d, uint64_t from, uint64_t *key)
{
    el_node owner = EL_NOBODY;
    *key = 0;
    for (el_node node = 1; node < store_of(d->cfg); node++)
        for (uint32_t i = 0; i < SESSIONS * KEYS; i++) {
            const uint64_t each = session_at(d, node, i / KEYS)->keys[i % KEYS];
            if (each < from || each == 0 || (*key && each >= *key)) continue;
            *key = each;
            owner = node;
        }
    return owner;
}

static bool has_key(const struct desk *d, uint64_t key)
{
    uint64_t found = 0;
    return key && next_key(d, key, &found) && found == key;
}

/* The last key before this one; 0: none. */
static uint64_t key_before(const struct desk *d, uint64_t key)
{
    uint64_t before = 0, found = 0;
    for (uint64_t from = 1; key && next_key(d, from, &found) && found < key; from = found + 1) before = found;
    return before;
}

static uint64_t first_of(const struct store_session *session)
{
    const uint64_t a = session->keys[0], b = session->keys[1];
    return a && b ? (a < b ? a : b) : a | b;
}

/* The key that a create made: the answer to it names that one. */
static uint64_t last_of(const struct store_session *session)
{
    return session->keys[0] > session->keys[1] ? session->keys[0] : session->keys[1];
}

/* ---- Words to a session ---- */

static struct el_msg about(const struct desk *d, const struct store_session *session, uint8_t kind)
{
    uint64_t first = 0;
    const el_node leader = next_key(d, FIRST, &first);
    struct el_msg msg = {.kind = kind, .subject = leader ? leader : d->cfg->self};
    msg.extra[2] = first;
    if (!session) return msg;
    msg.epoch = session->id;
    msg.rank = session->told;
    msg.extra[0] = session->incarnation;
    return msg;
}

static void tell(const struct desk *d, el_node owner, struct store_session *session, uint64_t gone)
{
    session->told++;
    struct el_msg msg = about(d, session, STORE_EVENT);
    msg.aux = gone;
    el_send(d->out, d->cfg, owner, msg);
}

static void answer(const struct desk *d, const struct el_msg *m, const struct store_session *session,
                   uint8_t flags)
{
    struct el_msg msg = about(d, session, (uint8_t)(m->kind + 1));
    msg.more = m->more;
    msg.flags = flags;
    msg.extra[0] = m->extra[0];
    if (session) msg.aux = m->kind == STORE_CREATE ? last_of(session) : first_of(session);
    msg.extra[1] = key_before(d, msg.aux);
    el_send(d->out, d->cfg, m->from, msg);
}

/* ---- Keys and sessions end ---- */

/* Those that watch the key hear of it. Where all observe, so do the others, if another key is first now. */
static void spread(const struct desk *d, uint64_t gone, bool was_first)
{
    for (el_node node = 1; node < store_of(d->cfg); node++)
        for (uint32_t i = 0; i < SESSIONS; i++) {
            struct store_session *session = session_at(d, node, i);
            if (!session->id) continue;
            const bool watches =
                session->watched == gone || (first_of(session) && el_number(d->cfg, d->rules->herd));
            if (watches) {
                session->watched = 0;
                tell(d, node, session, gone);
            } else if (was_first && first_of(session) && el_number(d->cfg, d->rules->observe)) {
                tell(d, node, session, 0);
            }
        }
}

static void remove_keys(const struct desk *d, struct store_session *session)
{
    while (first_of(session)) {
        const uint64_t gone = first_of(session);
        const bool was_first = key_before(d, gone) == 0;
        session->keys[session->keys[0] == gone ? 0 : 1] = 0;
        d->me->revision++;
        spread(d, gone, was_first);
    }
}

static void end(const struct desk *d, el_node owner, uint32_t which)
{
    struct store_session *session = session_at(d, owner, which);
    session->id = 0; /* so that it is told nothing of its own keys */
    session->watched = 0;
    remove_keys(d, session);
    *session = (struct store_session){0};
    el_disarm(d->out, which ? STORE_OLDER_EXPIRY : STORE_EXPIRY, owner);
    disarm_report(d, owner, which);
}

/* ---- Requests ---- */

/* The place of a new session: a free one, or that of an orphan, which its candidate never heard of. */
static uint32_t place_for(const struct desk *d, const struct el_msg *m)
{
    for (uint32_t i = 0; i < SESSIONS; i++) {
        const struct store_session *session = session_at(d, m->from, i);
        if (session->id && session->incarnation == m->extra[0] && !first_of(session)) return i;
    }
    for (uint32_t i = 0; i < SESSIONS; i++)
        if (!session_at(d, m->from, i)->id) return i;
    return SESSIONS;
}

static uint64_t leftover(const struct desk *d, const struct el_msg *m)
{
    for (uint32_t i = 0; i < SESSIONS; i++) {
        const struct store_session *session = session_at(d, m->from, i);
        if (session->id && session->incarnation != m->extra[0]) return session->id;
    }
    return 0;
}

static void on_open(const struct desk *d, const struct el_msg *m)
{
    const uint32_t which = place_for(d, m);
    if (which == SESSIONS) {
        el_note(d->out, STORE_IS_FULL, m->from, 0);
        answer(d, m, NULL, 0);
        return;
    }
    struct store_session *session = session_at(d, m->from, which);
    if (m->more <= session->call) return; /* a copy, or overtaken by a later one */
    *session = (struct store_session){.id = ++d->me->revision, .incarnation = m->extra[0], .call = m->more};
    keep(d, m->from, which);
    disarm_report(d, m->from, which);
    el_note(d->out, STORE_ADMITS, m->from, 0);
    struct el_msg opened = about(d, session, STORE_OPENED);
    opened.flags = report_of(d) > 0;
    opened.more = m->more;
    opened.extra[3] = leftover(d, m);
    el_send(d->out, d->cfg, m->from, opened);
    (void)may_lose(d, m->from, which, true);
}

static void create(const struct desk *d, el_node owner, struct store_session *session)
{
    const uint32_t place = session->keys[0] ? 1 : 0;
    if (session->keys[place] || (place && d->rules->creates_once)) {
        el_note(d->out, STORE_FINDS_KEY, owner, first_of(session));
        return;
    }
    session->keys[place] = ++d->me->revision;
    el_note(d->out, STORE_QUEUES, owner, session->keys[place]);
}

static void close_session(const struct desk *d, const struct el_msg *m)
{
    for (uint32_t i = 0; i < SESSIONS; i++)
        if (session_at(d, m->from, i)->id == m->aux && m->aux) {
            el_note(d->out, STORE_ENDS, m->from, 0);
            end(d, m->from, i);
        }
}

/* ---- Renewals ---- */

static void report(const struct desk *d, el_node owner, uint32_t which)
{
    struct store_session *session = session_at(d, owner, which);
    struct el_msg msg = about(d, session, STORE_RENEWED);
    msg.more = session->noted;
    msg.aux = first_of(session);
    msg.extra[1] = key_before(d, msg.aux);
    session->noted = 0;
    keep(d, owner, which);
    el_send(d->out, d->cfg, owner, msg);
}

/* The server that had heard the session fails: nobody is told, and the connection to it breaks. */
static void lose_note(const struct desk *d, el_node owner, uint32_t which)
{
    struct store_session *session = session_at(d, owner, which);
    el_note(d->out, STORE_LOSES_NOTE, owner, 0);
    session->noted = session->watched = 0;
    session->told++;
}

/* The leader heard of the session some time ago: anything between now and one lease. */
static void be_late(const struct desk *d, el_node owner, uint32_t which)
{
    const el_duration kept = store_kept(d->cfg, el_number(d->cfg, d->rules->lease));
    const el_duration least = report_of(d) < kept ? report_of(d) : kept;
    el_note(d->out, STORE_IS_LATE, owner, 0);
    el_arm(d->out, which ? STORE_OLDER_EXPIRY : STORE_EXPIRY, owner, least, kept);
}

static void renew(const struct desk *d, const struct el_msg *m, uint32_t which)
{
    struct store_session *session = session_at(d, m->from, which);
    const el_duration later = report_of(d);
    if (m->more <= session->renewed) return; /* a copy, or overtaken by a later one */
    session->renewed = m->more;
    if (later == 0) {
        keep(d, m->from, which);
        answer(d, m, session, 0);
        return;
    }
    if (session->noted == 0) el_arm(d->out, which ? STORE_OLDER_REPORT : STORE_REPORT, m->from, later, later);
    session->noted = m->more;
}

static void carry_out(const struct desk *d, const struct el_msg *m, uint32_t which)
{
    struct store_session *session = session_at(d, m->from, which);
    bool is_gone = false;
    if (m->more <= session->call) return; /* a copy, or overtaken by a later one */
    session->call = m->more;
    switch (m->kind) {
    case STORE_CREATE: create(d, m->from, session); break;
    case STORE_WATCH:
        is_gone = !has_key(d, m->aux);
        session->watched = is_gone ? 0 : m->aux;
        break;
    case STORE_DELETE: remove_keys(d, session); break;
    case STORE_CLOSE: close_session(d, m); break;
    default: break;
    }
    answer(d, m, session->id ? session : NULL, is_gone);
}

void session_store_message(const struct store_rules *rules, void *state, const struct el_config *cfg,
                           const struct el_msg *m, struct el_outbox *out)
{
    const struct desk d = desk_of(rules, state, cfg, out);
    const bool is_request = m->kind % 2 == 1 && m->kind != STORE_EVENT;
    if (!is_request || d.me->silent || d.me->revision >= EL_EPOCH_MAX / 2) return;
    if (m->kind == STORE_OPEN) {
        on_open(&d, m);
        return;
    }
    for (uint32_t i = 0; i < SESSIONS; i++) {
        struct store_session *session = session_at(&d, m->from, i);
        if (!session->id || session->id != m->epoch || session->incarnation != m->extra[0]) continue;
        if (m->kind == STORE_RENEW)
            renew(&d, m, i);
        else
            carry_out(&d, m, i);
        return;
    }
    el_note(out, STORE_KNOWS_NOT, m->from, 0);
    answer(&d, m, NULL, 0);
}

/* ---- Time, and the store's own faults ---- */

static void be_silent(const struct desk *d)
{
    const el_duration kept = store_kept(d->cfg, el_number(d->cfg, d->rules->lease));
    el_arm(d->out, STORE_SILENCE, 0, kept, kept);
}

/* Nobody knows how long the outage was, so each session gets its full time. All connections are broken: watches end
 * with them, and every candidate finds a gap in its events. */
static void restore(const struct desk *d)
{
    el_note(d->out, STORE_RETURNS, 0, 0);
    if (d->me->silent && !d->me->unset) be_silent(d);
    for (el_node node = 1; node < store_of(d->cfg); node++)
        for (uint32_t i = 0; i < SESSIONS; i++) {
            struct store_session *session = session_at(d, node, i);
            if (!session->id) continue;
            session->watched = session->noted = 0;
            session->told++;
            keep(d, node, i);
        }
}

void session_store_start(const struct store_rules *rules, void *state, const struct el_config *cfg,
                         const struct el_start *start, struct el_outbox *out)
{
    const struct desk d = desk_of(rules, state, cfg, out);
    if (start->how == EL_RESTORED) {
        restore(&d);
        return;
    }
    el_save(out, (struct el_durable){.epoch = 1});
    if (start->how == EL_LOST) {
        el_note(out, STORE_HAS_LOST, 0, 0);
        d.me->silent = d.me->unset = 1;
    } else if (start->incumbent) {
        d.me->revision = FIRST;
        *session_at(&d, start->incumbent, 0) =
            (struct store_session){.id = FIRST, .incarnation = 1, .keys = {FIRST}};
        keep(&d, start->incumbent, 0);
    }
}

void session_store_fact(const struct store_rules *rules, void *state, const struct el_config *cfg,
                        uint64_t wall_clock_ms, struct el_outbox *out)
{
    const struct desk d = desk_of(rules, state, cfg, out);
    if (!d.me->unset) return;
    d.me->unset = 0;
    d.me->revision = store_revision_after(wall_clock_ms);
    be_silent(&d);
}

void session_store_timer(const struct store_rules *rules, void *state, const struct el_config *cfg,
                         uint32_t timer, uint32_t slot, struct el_outbox *out)
{
    const struct desk d = desk_of(rules, state, cfg, out);
    if (timer == STORE_SILENCE) {
        d.me->silent = 0;
        el_note(out, STORE_SERVES, 0, 0);
        return;
    }
    if (slot == 0 || slot >= store_of(cfg)) return;
    if (timer == STORE_REPORT || timer == STORE_OLDER_REPORT) {
        const uint32_t which = timer == STORE_OLDER_REPORT;
        if (session_at(&d, slot, which)->noted && !may_lose(&d, slot, which, false)) report(&d, slot, which);
        return;
    }
    el_note(out, STORE_EXPIRES, slot, 0);
    end(&d, slot, timer == STORE_OLDER_EXPIRY);
}

void session_store_chosen(const struct store_rules *rules, void *state, const struct el_config *cfg,
                          uint32_t chosen, struct el_outbox *out)
{
    const struct desk d = desk_of(rules, state, cfg, out);
    const el_node owner = d.me->choosing;
    const uint32_t which = d.me->which;
    const bool opens = d.me->opens;
    if (owner == EL_NOBODY) return;
    d.me->choosing = d.me->which = d.me->opens = 0;
    if (chosen) d.me->lost++;
    if (opens && chosen)
        be_late(&d, owner, which);
    else if (chosen)
        lose_note(&d, owner, which);
    else if (!opens)
        report(&d, owner, which);
}

/* ---- For the checker ---- */

void session_store_numbers(const struct store_rules *rules, void *state, const struct el_config *cfg,
                           el_number_visit *visit, void *context)
{
    const struct desk d = desk_of(rules, state, cfg, NULL);
    visit(context, 0, &d.me->revision);
    for (el_node node = 1; node < store_of(cfg); node++)
        for (uint32_t i = 0; i < SESSIONS; i++) {
            struct store_session *session = session_at(&d, node, i);
            uint64_t *const revisions[] = {&session->id, &session->watched, &session->keys[0],
                                           &session->keys[1]};
            uint64_t *const calls[] = {&session->call, &session->renewed, &session->noted};
            for (uint32_t j = 0; j < EL_LENGTH(revisions); j++) visit(context, 0, revisions[j]);
            for (uint32_t j = 0; j < EL_LENGTH(calls); j++)
                visit(context, store_family(node, session->incarnation), calls[j]);
        }
}

void session_store_numbers_sent(struct el_msg *m, const struct el_config *cfg, el_number_visit *visit,
                                void *context)
{
    visit(context, 0, &m->epoch);
    visit(context, 0, &m->aux);
    for (uint32_t i = 1; i < EL_LENGTH(m->extra); i++) visit(context, 0, &m->extra[i]);
    visit(context, store_family(m->from == store_of(cfg) ? m->to : m->from, m->extra[0]), &m->more);
}

el_node session_store_first(const struct store_rules *rules, const void *state, const struct el_config *cfg,
                            uint64_t *key)
{
    const struct desk d = {
        rules, NULL, (struct store_session *)(uintptr_t)((const unsigned char *)state + rules->state_bytes),
        cfg, NULL};
    return next_key(&d, FIRST, key);
}
