/* See exchange.h. Spreads statements: numbered, acknowledged, and sent again until they are. */
#include "agent/exchange/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/exchange/internal.h"
#include "base/clock.h"

static const uint64_t HEARD_WITHIN = 2 * NS_PER_S; /* nothing is sent to a peer that is silent for longer */
/* Links that flap must not push other statements out: the pause between statements of whom we hear doubles. */
static const uint64_t HEARS_PAUSE = NS_PER_S, HEARS_PAUSE_MAX = 64 * NS_PER_S, HEARS_CALM = 600 * NS_PER_S;
static const uint64_t SILENCE_MAX =
    3600 * NS_PER_S;         /* that a peer can claim at once; its sum with a time fits */
enum { HEARS_MEMBERS = 64 }; /* bits of a statement */
enum { EAGER_TRIES = 5, PATIENT_TRIES = 15 };
static const uint64_t EAGER = NS_PER_S / 5, PATIENT = 2 * NS_PER_S, SELDOM = 30 * NS_PER_S;

struct exchange *exchange_new(const struct config *config, uint64_t members, uint64_t incarnation,
                              struct exchange_hooks hooks)
{
    struct exchange *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->config = config;
    e->members = members;
    e->incarnation = incarnation;
    e->hooks = hooks;
    e->pending = calloc((size_t)CONFIG_MEMBERS_MAX * EXCHANGE_PENDING_MAX, sizeof *e->pending);
    if (e->pending && exchange_list_settings(e)) return e;
    exchange_free(e);
    return NULL;
}

void exchange_free(struct exchange *e)
{
    if (!e) return;
    for (uint32_t i = 0; i < CONFIG_MEMBERS_MAX; i++) exchange_forget_settings(&e->peers[i]);
    free(e->settings);
    free(e->pending);
    free(e);
}

void exchange_renew(struct exchange *e, uint64_t incarnation)
{
    struct exchange_line *was = e->settings;
    const uint32_t count = e->setting_count;
    e->settings = NULL;
    if (!exchange_list_settings(e)) {
        e->settings = was; /* peers keep what they know */
        return;
    }
    const bool is_same = count == e->setting_count && memcmp(was, e->settings, count * sizeof *was) == 0;
    free(was);
    if (is_same) return;
    e->incarnation = incarnation;
    for (el_node peer = 1; peer <= e->config->member_count; peer++) {
        e->peers[peer - 1].acknowledged = 0;
        e->peers[peer - 1].tries = 0;
        exchange_compare(e, peer);
    }
}

/* ---- Telling ---- */

static uint64_t last_of(const struct exchange *e)
{
    return e->setting_count + e->latest_count;
}

/* The statement with this number; NULL: it is not kept any more. */
static const struct exchange_line *line_at(const struct exchange *e, uint64_t number)
{
    if (number <= e->setting_count) return &e->settings[number - 1];
    const uint64_t index = number - e->setting_count - 1;
    if (index + EXCHANGE_LATEST < e->latest_count) return NULL;
    return &e->latest[index & (EXCHANGE_LATEST - 1)];
}

/* The first number after `read` whose statement is kept. */
static uint64_t next_kept(const struct exchange *e, uint64_t read)
{
    const uint64_t oldest =
        e->latest_count > EXCHANGE_LATEST ? e->latest_count - EXCHANGE_LATEST + e->setting_count + 1 : 0;
    return read + 1 > e->setting_count && read + 1 < oldest ? oldest : read + 1;
}

static void tell_age(struct payload_entry *entry, uint64_t age)
{
    const size_t used = entry->value_length;
    if (used < sizeof entry->value - 40)
        entry->value_length += (uint8_t)snprintf(entry->value + used, sizeof entry->value - used,
                                                 "; for %" PRIu64 " us", age / NS_PER_US);
}

static void send_statements(struct exchange *e, uint64_t now, el_node to)
{
    struct exchange_peer *p = &e->peers[to - 1];
    struct payload out;
    uint64_t before = p->acknowledged;
    payload_begin(&out, e->members);
    for (uint64_t number = next_kept(e, before); number <= last_of(e); number = next_kept(e, before)) {
        const struct exchange_line *line = line_at(e, number);
        struct payload_entry entry = {.type = PAYLOAD_STATEMENT,
                                      .flags = line->kind,
                                      .incarnation = e->incarnation,
                                      .version = number,
                                      .before = before,
                                      .term = line->term,
                                      .span = line->span,
                                      .length = (uint8_t)strlen(line->name),
                                      .value_length = (uint8_t)strlen(line->value)};
        if (line->kind == EXCHANGE_SILENT) { /* as it is now, also if it is sent again */
            entry.term = e->is_lost;
            entry.span = e->silent_until > now ? e->silent_until - now : 0;
        }
        memcpy(entry.text, line->name, entry.length);
        memcpy(entry.value, line->value, entry.value_length);
        if (line->at && now >= line->at) tell_age(&entry, now - line->at);
        if (!payload_add(&out, &entry)) break;
        before = number;
    }
    p->sent_at = now;
    p->tries++;
    e->hooks.send(e->hooks.context, to, out.bytes, out.size);
}

static uint64_t pause_after(uint32_t tries)
{
    return tries < EAGER_TRIES ? EAGER : tries < PATIENT_TRIES ? PATIENT : SELDOM;
}

void exchange_state(struct exchange *e, const struct payload_entry *entry, uint64_t at)
{
    for (uint32_t i = 0; i < e->config->member_count; i++)
        if (e->peers[i].acknowledged == last_of(e)) e->peers[i].has_rested = true;
    struct exchange_line *line = &e->latest[e->latest_count++ & (EXCHANGE_LATEST - 1)];
    *line = (struct exchange_line){.term = entry->term, .span = entry->span, .at = at, .kind = entry->flags};
    memcpy(line->name, entry->text, sizeof line->name - 1);
    memcpy(line->value, entry->value, sizeof line->value - 1);
    for (uint32_t i = 0; i < e->config->member_count; i++)
        if (e->peers[i].acknowledged) e->peers[i].tries = 0; /* it knows statements: tell it soon */
}

static void send_answer(struct exchange *e, el_node to)
{
    const struct exchange_peer *p = &e->peers[to - 1];
    const struct payload_entry entry = {
        .type = PAYLOAD_STATED, .version = p->read, .incarnation = e->incarnation, .answers = p->incarnation};
    struct payload out;
    payload_begin(&out, e->members);
    (void)payload_add(&out, &entry);
    e->hooks.send(e->hooks.context, to, out.bytes, out.size);
}

/* States whom we hear if that has changed, or if the last such statement will soon be kept no more. Returns when to look
 * again. */
static uint64_t state_hears(struct exchange *e, uint64_t now)
{
    uint64_t hears = 0, next = UINT64_MAX;
    for (el_node peer = 1; peer <= e->config->member_count && peer <= HEARS_MEMBERS; peer++) {
        const uint64_t silence = exchange_heard(e, now, peer);
        if (silence >= HEARD_WITHIN) continue;
        hears |= UINT64_C(1) << (peer - 1);
        if (now + HEARD_WITHIN - silence < next) next = now + HEARD_WITHIN - silence;
    }
    if (hears == e->hears && e->latest_count - e->hears_count < EXCHANGE_LATEST / 2) return next;
    if (e->hears_at && now < e->hears_at + e->hears_pause) return e->hears_at + e->hears_pause;
    const struct payload_entry entry = {.flags = EXCHANGE_HEARS, .term = hears};
    const bool is_calm = !e->hears_at || now - e->hears_at >= HEARS_CALM;
    e->hears_pause = is_calm                                ? HEARS_PAUSE
                     : 2 * e->hears_pause < HEARS_PAUSE_MAX ? 2 * e->hears_pause
                                                            : HEARS_PAUSE_MAX;
    exchange_state(e, &entry, 0);
    e->hears = hears;
    e->hears_at = now;
    e->hears_count = e->latest_count;
    return next;
}

void exchange_keep_silent(struct exchange *e, uint64_t until, bool is_lost)
{
    const struct payload_entry entry = {.flags = EXCHANGE_SILENT};
    if (is_lost == e->is_lost && until <= e->silent_until) return;
    e->is_lost = is_lost;
    e->silent_until = until;
    exchange_state(e, &entry, 0);
}

uint64_t exchange_tick(struct exchange *e, uint64_t now)
{
    uint64_t next = exchange_tick_requests(e, now);
    const uint64_t look = state_hears(e, now);
    if (look < next) next = look;
    for (el_node to = 1; to <= e->config->member_count; to++) {
        struct exchange_peer *p = &e->peers[to - 1];
        if (to == e->config->self || p->acknowledged >= last_of(e)) continue;
        if (!config_talks(e->config, e->config->self, to)) continue;
        if (exchange_heard(e, now, to) >= HEARD_WITHIN) continue;
        if (p->has_rested) p->tell_at = now + EXCHANGE_AFTER_MS * NS_PER_MS;
        p->has_rested = false;
        if (now < p->tell_at) {
            if (p->tell_at < next) next = p->tell_at;
            continue;
        }
        if (p->tries == 0 || now >= p->sent_at + pause_after(p->tries)) send_statements(e, now, to);
        const uint64_t due = p->sent_at + pause_after(p->tries);
        if (due < next) next = due;
    }
    return next;
}

/* ---- Hearing ---- */

uint64_t exchange_heard(const struct exchange *e, uint64_t now, el_node peer)
{
    const uint64_t at = e->peers[peer - 1].heard_at;
    return at == 0 ? UINT64_MAX : now > at ? now - at : 0;
}

bool exchange_hears(const struct exchange *e, el_node peer, uint64_t *members)
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    *members = p->hears;
    return p->has_said_hears;
}

uint64_t exchange_silence(const struct exchange *e, uint64_t now, el_node peer, bool *is_lost)
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    *is_lost = p->is_lost;
    return p->silent_until > now ? p->silent_until - now : 0;
}

void exchange_hear(struct exchange *e, uint64_t now, el_node from, uint8_t version)
{
    struct exchange_peer *p = &e->peers[from - 1];
    if (exchange_heard(e, now, from) >= HEARD_WITHIN)
        p->tries = 0; /* it is back: tell it at once what it missed */
    p->heard_at = now;
    if (version == 0) return;
    const uint8_t unread = payload_reads(version) ? 0 : version;
    if (unread && unread != p->unread) p->is_misunderstood = false; /* another one: say so */
    p->unread = unread;
    exchange_compare_versions(e, from);
}

/* The peer has restarted, or is new: it knows nothing of ours. */
static void meet(struct exchange *e, el_node from, uint64_t incarnation)
{
    struct exchange_peer *p = &e->peers[from - 1];
    if (p->incarnation == incarnation) return;
    exchange_forget_settings(p);
    p->incarnation = incarnation;
    p->read = p->acknowledged = 0;
    p->tries = 0;
    p->is_complete = p->has_said_hears = p->is_lost = false;
    p->silent_until = 0;
    p->least_read = p->most_read = 0;
}

static void on_statement(struct exchange *e, uint64_t now, el_node from, const struct payload_entry *entry)
{
    struct exchange_peer *p = &e->peers[from - 1];
    meet(e, from, entry->incarnation);
    p->owes_answer = true;
    if (entry->version <= p->read || entry->before > p->read) return; /* known, or one before it is missing */
    p->read = entry->version;
    struct exchange_line line = {.kind = entry->flags, .term = entry->term, .span = entry->span};
    memcpy(line.name, entry->text, sizeof line.name - 1);
    memcpy(line.value, entry->value, sizeof line.value - 1);
    if (line.kind == EXCHANGE_BEGAN || line.kind == EXCHANGE_ENDED || line.kind == EXCHANGE_GAP)
        e->hooks.stated(e->hooks.context, from, entry);
    else if (line.kind == EXCHANGE_HEARS) {
        p->has_said_hears = p->members == e->members; /* positions may mean other members there */
        p->hears = entry->term;
    } else if (line.kind == EXCHANGE_SILENT) {
        p->is_lost = entry->term == 1;
        p->silent_until = entry->span ? now + (entry->span < SILENCE_MAX ? entry->span : SILENCE_MAX) : 0;
    } else
        exchange_read_setting(e, from, &line);
}

static void on_stated(struct exchange *e, el_node from, const struct payload_entry *entry)
{
    struct exchange_peer *p = &e->peers[from - 1];
    meet(e, from, entry->incarnation);
    if (entry->answers != e->incarnation || entry->version > last_of(e) || entry->version <= p->acknowledged)
        return;
    p->acknowledged = entry->version;
    p->tries = 0;
}

void exchange_receive(struct exchange *e, uint64_t now, el_node from, const uint8_t *payload, size_t size)
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    uint64_t members;
    if (from == EL_NOBODY || from > e->config->member_count || from == e->config->self) return;
    if (!payload_head(payload, size, &members)) return;
    struct exchange_peer *p = &e->peers[from - 1];
    p->members = members;
    while (payload_next(payload, size, &at, &entry) == PAYLOAD_ENTRY) {
        if (entry.type == PAYLOAD_STATEMENT) on_statement(e, now, from, &entry);
        if (entry.type == PAYLOAD_STATED) on_stated(e, from, &entry);
        if (members != e->members) continue; /* positions may mean other members there */
        if (entry.type == PAYLOAD_REQUEST) exchange_on_request(e, now, from, &entry);
        if (entry.type == PAYLOAD_ANSWER) exchange_on_answer(e, from, &entry);
    }
    if (p->owes_answer) send_answer(e, from);
    p->owes_answer = false;
}
