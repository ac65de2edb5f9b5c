/*
 * A host as bytes, and back: host_pack() and host_unpack(), for recordings (agent/recorder). One function walks
 * all fields in both directions, so the two cannot differ. A pointer to a group is packed as the group's
 * number, in the order in which groups were made.
 *
 * Bytes may come from anybody. check.c rejects values that would lead outside an array, into an endless loop or
 * to a trap. Values that are merely wrong give a host that behaves strangely but harms nobody.
 *
 * This room may know the inside of the host and the recorder's bytes. Start reading here, at host_pack() below.
 * words.h reads and writes single fields; pack_single.c packs groups of other algorithms than quorum.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/host/internal.h"
#include "agent/host/quorum/sessions.h"
#include "agent/host/snapshot/words.h"
#include "agent/recorder/recorder.h"

/* ---- A group ---- */

static void pack_shown(const struct pack *p, struct host_group *g)
{
    uint32_t role = g->shown_role, value = g->shown_value, cell = g->shown_cell;
    word32(p, &role, EL_LEADER);
    byte(p, &g->shown_leader, p->members);
    word(p, &g->shown_token);
    word32(p, &value, HOST_VALUE_THIS);
    word32(p, &cell, HOST_CELLS_MAX);
    g->shown_role = role & 3;
    g->shown_value = value & 3;
    g->shown_cell = cell & 0x7ff;
}

static void pack_ranks(const struct pack *p, struct host_extra *extra)
{
    bool has = extra->ranks != NULL;
    flag(p, &has);
    if (p->reads && has) extra->ranks = calloc(p->members, sizeof *extra->ranks);
    if (has && !extra->ranks) wrong(p);
    for (uint32_t i = 0; has && extra->ranks && i < p->members; i++) {
        word(p, &extra->ranks[i].priority);
        word(p, &extra->ranks[i].since);
        word32(p, &extra->ranks[i].preempt_after_ms, UINT32_MAX);
    }
}

static void pack_extra(const struct pack *p, struct host_group *g)
{
    bool has = g->extra != NULL;
    flag(p, &has);
    struct host_extra *extra = has ? host_extra_of(g) : NULL;
    if (has && !extra) wrong(p);
    if (!extra) return;
    word(p, &extra->heir_until);
    text(p, &extra->value);
    word(p, &extra->value_token);
    word32(p, &extra->value_number, UINT32_MAX);
    pack_ranks(p, extra);
}

void host_pack_base(const struct pack *p, struct host_group *g)
{
    bool stands = g->stands;
    pack_extra(p, g);
    pack_shown(p, g);
    byte(p, &g->handover_target, p->members);
    flag(p, &stands);
    g->stands = stands;
}

static void pack_work(const struct pack *p, struct session_group *g)
{
    struct session_work *work = session_expand(g);
    struct quorum_group *q = &work->quorum;
    sparse(p, q, sizeof *q);
    if (p->reads && !host_pack_is_group(q, p->members)) wrong(p);
    sparse(p, work->ballots, p->members * sizeof *work->ballots);
    dues(p, work->timers, SESSION_GROUP_TIMERS);
    word(p, &work->candidates);
    if (p->reads) session_compact(g);
}

static void pack_group(const struct pack *p, struct session_group *g)
{
    const uint32_t cells = session_of(g)->cell_count;
    bool waits = g->waits_for_turn, is_due = g->is_due;
    host_pack_base(p, &g->base);
    pack_work(p, g);
    word(p, &g->posted);
    if (p->reads && g->posted > session_of(g)->version) wrong(p);
    byte(p, &g->cell, SESSION_NO_CELL);
    if (g->cell != SESSION_NO_CELL && g->cell >= cells) wrong(p);
    flag(p, &waits);
    flag(p, &is_due);
    if (session_of(g)->tells_candidates) {
        bool is_free = g->is_free;
        flag(p, &is_free);
        word32(p, &session_of(g)->news[g->number - 1], UINT32_MAX);
        g->is_free = is_free;
    }
    g->waits_for_turn = waits;
    g->is_due = is_due;
}

/* ---- Groups in lists ---- */

static struct session_group *pack_pointer(const struct pack *p, struct session *s, struct session_group *g)
{
    uint32_t number = p->reads ? 0 : session_number_of(g);
    word32(p, &number, s->group_count);
    return p->b->failed ? NULL : session_group_at(s, number);
}

static void pack_heap(const struct pack *p, struct session *s)
{
    word32(p, &s->heap_count, s->group_count);
    for (uint32_t i = 0; i < s->heap_count && !p->b->failed; i++) {
        struct session_group *g = pack_pointer(p, s, p->reads ? NULL : s->heap[i].group);
        if (!g || (p->reads && g->place)) wrong(p);
        if (!p->reads || p->b->failed) continue;
        s->heap[i] = (struct session_timed){session_first_due(session_expand(g)->timers), g};
        g->place = i + 1;
    }
    if (p->b->failed && p->reads) s->heap_count = 0;
}

static void pack_unshown(const struct pack *p, struct session *s)
{
    word32(p, &s->unshown_count, s->group_count);
    for (uint32_t i = 0; i < s->unshown_count && !p->b->failed; i++) {
        struct session_group *g = pack_pointer(p, s, p->reads ? NULL : s->unshown[i]);
        if (!g || (p->reads && g->is_unshown)) wrong(p);
        if (!p->reads || p->b->failed) continue;
        s->unshown[i] = g;
        g->is_unshown = true;
    }
    if (p->b->failed && p->reads) s->unshown_count = 0;
}

static void pack_turns(const struct pack *p, struct session *s)
{
    uint32_t count = 0;
    for (const struct session_group *g = s->first_in_turn; g; g = session_group_at(s, g->next_in_turn)) count++;
    word32(p, &count, s->group_count);
    struct session_group *at = s->first_in_turn;
    for (uint32_t i = 0; i < count && !p->b->failed; i++) {
        struct session_group *g = pack_pointer(p, s, p->reads ? NULL : at);
        if (!p->reads) {
            at = session_group_at(s, at->next_in_turn);
            continue;
        }
        if (!g || g == s->last_in_turn || g->next_in_turn || !g->waits_for_turn) {
            wrong(p);
            return;
        }
        if (s->last_in_turn)
            s->last_in_turn->next_in_turn = g->number;
        else
            s->first_in_turn = g;
        s->last_in_turn = g;
    }
}

static int by_posting(const void *a, const void *b)
{
    const struct session_group *x = *(struct session_group *const *)a, *y = *(struct session_group *const *)b;
    return x->posted < y->posted ? -1 : x->posted > y->posted;
}

/* Rebuilds the list of postings from their versions, so its links are not packed. */
static void hang_up(const struct pack *p, struct session *s)
{
    struct session_group **order = calloc((size_t)s->group_count + 1, sizeof(struct session_group *));
    uint32_t count = 0;
    if (!order) {
        wrong(p);
        return;
    }
    for (uint32_t i = 0; i < s->group_count; i++)
        if (session_group_at(s, i + 1)->posted) order[count++] = session_group_at(s, i + 1);
    qsort(order, count, sizeof(struct session_group *), by_posting);
    for (uint32_t i = 0; i < count; i++) {
        order[i]->older = i ? order[i - 1]->number : 0;
        order[i]->newer = i + 1 < count ? order[i + 1]->number : 0;
    }
    s->oldest = count ? order[0] : NULL;
    s->newest = count ? order[count - 1] : NULL;
    free(order);
}

/* ---- A session ---- */

static void pack_peer(const struct pack *p, struct session *s, uint32_t i)
{
    struct quorum_backing *backing = &s->backing[i];
    raw(p, &s->peers[i], sizeof s->peers[i]);
    raw(p, &s->answers[i], sizeof s->answers[i]);
    if (s->answers[i].kind != 0 && s->answers[i].kind != QUORUM_ACK) wrong(p);
    word(p, &backing->incarnation);
    word(p, &backing->promise_incarnation);
    word(p, &backing->promise_epoch);
    word(p, &backing->v_epoch);
    flag(p, &backing->linked);
    flag(p, &backing->recent);
}

static void pack_board(const struct pack *p, struct session *s, uint32_t i)
{
    struct postings_peer *postings = &s->postings[i];
    word(p, &postings->incarnation);
    word(p, &postings->read);
    postings->next = pack_pointer(p, s, postings->next);
    if (p->reads && postings->next && !postings->next->posted) wrong(p);
    word(p, &postings->sent);
    word(p, &postings->sent_at);
    word(p, &postings->again);
    word32(p, &postings->unanswered, UINT32_MAX);
    flag(p, &postings->owes_answer);
    flag(p, &postings->has_gap);
}

static void pack_cells(const struct pack *p, struct session *s)
{
    word32(p, &s->cell_count, SESSION_CELLS_MAX);
    for (uint32_t i = 0; i < s->cell_count; i++) {
        struct session_cell *cell = &s->cells[i];
        word(p, &cell->voters);
        word(p, &cell->deadline);
        word(p, &cell->lease_end);
        word32(p, &cell->groups, SESSION_GROUPS_MAX);
        flag(p, &cell->is_retired);
        flag(p, &cell->is_over);
    }
}

static void pack_held(const struct pack *p, struct session *s)
{
    word32(p, &s->held_count, 1u << 24);
    if (p->reads && s->held_count > (uint64_t)(p->b->end - p->b->at) / sizeof(struct el_msg)) wrong(p);
    if (p->reads && s->held_count && !p->b->failed) s->held = calloc(s->held_count, sizeof *s->held);
    if (p->reads) s->held_room = s->held ? s->held_count : 0;
    if (s->held_count && !s->held) wrong(p);
    for (uint32_t i = 0; i < s->held_count && !p->b->failed; i++) {
        struct session_held *held = &s->held[i];
        uint32_t flags = held->flags;
        word32(p, &held->to, p->members);
        word(p, &held->group);
        word32(p, &flags, UINT8_MAX);
        held->flags = (uint8_t)flags;
        raw(p, &held->msg, sizeof held->msg);
        if (held->to == EL_NOBODY || held->msg.kind > QUORUM_KINDS) wrong(p);
    }
    if (p->b->failed && p->reads) s->held_count = 0;
}

/* After the lists that it counts. */
static void pack_sooner(const struct pack *p, struct session *s)
{
    struct session_sooner *sooner = &s->sooner;
    word(p, &sooner->by);
    word(p, &sooner->version);
    word(p, &sooner->ceiling);
    word32(p, &sooner->held, s->held_count);
    word32(p, &sooner->unshown, s->unshown_count);
}

static void pack_changes(const struct pack *p, struct session *s)
{
    word32(p, &s->changes, UINT32_MAX);
    word32(p, &s->cursor, s->group_count);
    word32(p, &s->left, s->group_count);
    word(p, &s->told_at);
    word32(p, &s->obituary_count, CONFIG_MEMBERS_MAX);
    for (uint32_t i = 0; i < s->obituary_count; i++) {
        word32(p, &s->obituaries[i].who, p->members);
        word(p, &s->obituaries[i].incarnation);
        if (p->reads && (s->obituaries[i].who == EL_NOBODY || s->obituaries[i].who == s->cfg.self)) wrong(p);
    }
}

/* The fields that do not refer to groups. */
static void pack_session(const struct pack *p, struct session *s)
{
    raw(p, &s->me, sizeof s->me);
    for (uint32_t i = 0; i < p->members; i++) pack_peer(p, s, i);
    for (uint32_t timer = 0; timer < QUORUM_ASKED; timer++) words(p, s->timers[timer], p->members + 1);
    word(p, &s->next_due);
    word(p, &s->saved_by);
    word(p, &s->saved_ceiling);
    word(p, &s->safe_version);
    word(p, &s->safe_ceiling);
    flag(p, &s->is_on_disk);
    word(p, &s->urgent);
    word(p, &s->hurried);
    word32(p, &s->standing, SESSION_GROUPS_MAX);
    word32(p, &s->given, SESSION_GROUPS_MAX);
    word(p, &s->version);
    if (p->reads && !host_pack_is_session(s)) wrong(p);
    pack_cells(p, s);
    pack_held(p, s);
}

static void pack_lists(const struct pack *p, struct session *s)
{
    pack_heap(p, s);
    pack_unshown(p, s);
    pack_sooner(p, s);
    pack_turns(p, s);
    pack_changes(p, s);
    if (p->reads) hang_up(p, s);
    for (uint32_t i = 0; i < p->members; i++) pack_board(p, s, i);
}

/* If you add a field, pack it or decide not to, and update the size here. */
_Static_assert(sizeof(void *) != 8 || (sizeof(struct session_group) == 104 && sizeof(struct session) == 32088),
               "a new field is packed");
_Static_assert(sizeof(struct postings_peer) == 56 && sizeof(struct quorum_backing) == 40, "so is a peer's");

/* ---- The host ---- */

static void pack_payload(const struct pack *p, struct payload *payload)
{
    size_t size = payload->size;
    if (!p->reads) {
        recorder_put_bytes(p->b, payload->bytes, payload->size);
        return;
    }
    const uint8_t *from = recorder_get_bytes(p->b, &size);
    if (!from || size < PAYLOAD_HEAD || size > sizeof payload->bytes) {
        wrong(p);
        return;
    }
    memcpy(payload->bytes, from, size);
    payload->size = size;
    if (!payload_resume(payload)) wrong(p);
}

static void pack_host(const struct pack *p, struct host *host)
{
    raw(p, &host->past, sizeof host->past);
    flag(p, &host->has_past);
    flag(p, &host->has_begun);
    word(p, &host->writes_begun);
    word(p, &host->writes_done);
    flag(p, &host->is_dirty);
    flag(p, &host->has_failed);
    word32(p, &host->holds, UINT32_MAX);
    words(p, host->heard, p->members);
    words(p, host->told_at, p->members);
    words(p, host->sent_at, p->members);
    word(p, &host->refresh_at);
    for (uint32_t i = 0; i < HOST_UNKNOWN_MAX; i++) {
        word(p, &host->unknown[i].key);
        word(p, &host->unknown[i].asked_at);
    }
    for (uint32_t i = 0; i < p->members; i++) {
        pack_payload(p, &host->out[i]);
        word32(p, &host->flow[i].unmarked, UINT32_MAX);
        word32(p, &host->flow[i].marked, UINT32_MAX);
        word32(p, &host->flow[i].echoed, UINT32_MAX);
        word(p, &host->flow[i].waits_since);
    }
}

/* Makes the session with these settings. NULL: no section has them, or it exists already. */
static struct session *session_of_settings(struct host *host, uint32_t settings)
{
    for (uint32_t i = 0; i <= host->config->group_count; i++) {
        const struct config_group *section = i ? &host->config->groups[i - 1] : NULL;
        struct el_value values[HOST_OPTIONS_MAX] = {0};
        bool is_new = false;
        if (section && section->algorithm && section->algorithm != &el_quorum) continue;
        config_values(host->config->profile, section, &el_quorum, values);
        if (host_digest_settings(host, &el_quorum, values) != settings) continue;
        struct session *s = session_add(host, section, &is_new);
        return is_new ? s : NULL;
    }
    return NULL;
}

static void pack_sessions(const struct pack *p, struct host *host)
{
    uint32_t count = host->sessions ? host->sessions->number + 1 : 0;
    word32(p, &count, CONFIG_GROUPS_MAX + 1);
    for (uint32_t i = 0; i < count && !p->b->failed; i++) {
        struct session *s = p->reads ? NULL : host->session_list[i];
        uint32_t settings = s ? s->runner.settings : 0;
        word32(p, &settings, UINT32_MAX);
        if (p->reads) s = session_of_settings(host, settings);
        if (s)
            pack_session(p, s);
        else
            wrong(p);
    }
}

enum { GROUPS_MAX = SESSIONS_MAX * SESSION_GROUPS_MAX + RECORD_GROUPS_MAX };

static bool is_of_quorum(const struct host *host, const char *name)
{
    const struct config_group *section = config_group_of(host->config, name);
    return !section || !section->algorithm || section->algorithm == &el_quorum;
}

/* Makes a group without starting it, since its state follows. NULL: invalid name, or it exists already. */
static struct host_group *unpack_group(const struct pack *p, struct host *host)
{
    char name[CONFIG_NAME_MAX + 1], reason[200];
    size_t size = 0;
    const uint8_t *from = recorder_get_bytes(p->b, &size);
    if (!from || size > CONFIG_NAME_MAX || memchr(from, '\0', size)) return NULL;
    memcpy(name, from, size);
    name[size] = '\0';
    const uint64_t key = seal_group_key(host->config->cluster_id, name);
    if (!group_name_is_valid(name) || host_by_key(host, key)) return NULL;
    if (is_of_quorum(host, name) && !host->sessions) return NULL;
    const uint32_t sessions = host->sessions ? host->sessions->number : 0;
    struct host_group *g = host_enlist(host, name, key, reason, sizeof reason);
    return host->sessions && host->sessions->number != sessions ? NULL : g;
}

/* By name, in the order in which they were made: session by session, then groups of other algorithms. */
static void pack_groups(const struct pack *p, struct host *host)
{
    uint32_t count = host->group_count;
    struct host_group *g = NULL;
    word32(p, &count, GROUPS_MAX);
    for (uint32_t i = 0; i < count && !p->b->failed; i++) {
        g = p->reads ? unpack_group(p, host) : host_next(host, g);
        if (!g) {
            wrong(p);
            return;
        }
        if (!p->reads) recorder_put_bytes(p->b, host_name(g), strlen(host_name(g)));
        if (session_group_of(g))
            pack_group(p, (struct session_group *)g);
        else if (p->trusts)
            host_pack_solo(p, host_single_of(g));
        else
            wrong(p);
    }
}

/* Last, and only if a group was ever dropped: so states of earlier versions, which end here, can be read. */
static void pack_forgotten(const struct pack *p, struct host *host)
{
    bool is_needed = false;
    for (const struct session *s = host->sessions; s; s = s->next) is_needed = is_needed || s->forgotten;
    if (p->reads ? p->b->at == p->b->end : !is_needed) return;
    for (struct session *s = host->sessions; s; s = s->next) {
        word(p, &s->forgotten);
        if (p->reads && s->forgotten >= EL_EPOCH_MAX) wrong(p);
        for (uint32_t i = 0; i < p->members; i++) flag(p, &s->postings[i].owes_anew);
    }
}

static bool pack(struct host *host, struct recorder_bytes *b, bool reads, bool trusts)
{
    const struct pack p = {b, reads, trusts, host->config->member_count};
    pack_host(&p, host);
    pack_sessions(&p, host);
    if (!b->failed) pack_groups(&p, host);
    for (struct session *s = host->sessions; s && !b->failed; s = s->next) pack_lists(&p, s);
    if (!b->failed) pack_forgotten(&p, host);
    return !b->failed;
}

bool host_pack(struct host *host, struct recorder_bytes *b)
{
    return pack(host, b, false, true);
}

uint32_t host_weight(const struct host *host)
{
    return host->group_count + 15 * host->solo_count;
}

bool host_unpack(struct host *host, struct recorder_bytes *b, bool trusts)
{
    return !host->group_count && !host->sessions && pack(host, b, true, trusts);
}
