/*
 * A host as bytes, and back: host_pack(). One function goes through all fields for both directions, so that they cannot differ.
 * Pointers become the places of groups in the order in which these were made. What could lead beyond an array is checked; what is
 * merely untrue makes a host that does strange things, and harms nobody.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/flight.h"
#include "agent/host_inner.h"
#include "agent/pack.h"
#include "agent/session.h"

enum { PACKED_GROUPS_MAX = 4096 }; /* it takes time, and the loop waits */

/* ---- A group ---- */

static void pack_shown(const struct pack *p, struct host_group *g)
{
    struct host_view *shown = &g->shown;
    uint32_t role = (uint32_t)shown->role;
    uint32_t value = !shown->value ? 0 : shown->value == g->value ? 1 : 2;
    word32(p, &role, EL_LEADER);
    shown->role = (enum el_role)role;
    word32(p, &shown->leader, p->members);
    word(p, &shown->token);
    word(p, &shown->deadline_ns);
    word(p, &shown->lease_end_ns);
    word32(p, &value, 2);
    if (p->reads) shown->value = value == 1 ? g->value : value == 2 ? "" : NULL;
    word32(p, &g->shown_cell, UINT32_MAX);
}

static void pack_base(const struct pack *p, struct host_group *g)
{
    word(p, &g->heir_until);
    text(p, &g->value);
    word(p, &g->value_token);
    pack_shown(p, g);
    word32(p, &g->wish, p->members);
    flag(p, &g->stands);
}

static void pack_quorum(const struct pack *p, struct session_group *g)
{
    struct quorum_group *q = &g->quorum;
    raw(p, q, sizeof *q);
    if (q->holder.id > p->members || q->next.id > p->members || q->proof.id > p->members ||
        q->claim.id > p->members || q->claim_heir > p->members || q->heir > p->members ||
        q->role > QUORUM_LEADER)
        wrong(p);
    raw(p, g->ballots, p->members * sizeof *g->ballots);
}

static void pack_ranks(const struct pack *p, struct session_group *g)
{
    bool has = g->ranks != NULL;
    flag(p, &has);
    if (p->reads && has) g->ranks = calloc(p->members, sizeof *g->ranks);
    if (has && !g->ranks) wrong(p);
    for (uint32_t i = 0; has && g->ranks && i < p->members; i++) {
        word(p, &g->ranks[i].priority);
        word(p, &g->ranks[i].since);
        word32(p, &g->ranks[i].patience, UINT32_MAX);
    }
}

static void pack_group(const struct pack *p, struct session_group *g)
{
    const uint32_t cells = session_of(g)->cell_count;
    pack_base(p, &g->base);
    pack_quorum(p, g);
    words(p, g->timers, SESSION_GROUP_TIMERS);
    word(p, &g->candidates);
    pack_ranks(p, g);
    word(p, &g->posted);
    word32(p, &g->cell, UINT32_MAX);
    if (g->cell != SESSION_NO_CELL && g->cell >= cells) wrong(p);
    flag(p, &g->waits_for_turn);
    flag(p, &g->is_due);
}

/* ---- Groups in lists ---- */

/* `posted` is unique to a group, and its place among all is not kept: so this one finds it. */
static uint32_t place_of(const struct session *s, const struct session_group *g)
{
    for (uint32_t i = 0; g && i < s->group_count; i++)
        if (s->groups[i] == g) return i + 1;
    return 0;
}

static struct session_group *pack_pointer(const struct pack *p, struct session *s, struct session_group *g)
{
    uint32_t place = p->reads ? 0 : place_of(s, g);
    word32(p, &place, s->group_count);
    return place && !p->b->failed ? s->groups[place - 1] : NULL;
}

static void pack_heap(const struct pack *p, struct session *s)
{
    word32(p, &s->heap_count, s->group_count);
    for (uint32_t i = 0; i < s->heap_count && !p->b->failed; i++) {
        struct session_group *g = pack_pointer(p, s, p->reads ? NULL : s->heap[i]);
        if (!g || (p->reads && g->place)) wrong(p);
        if (!p->reads || p->b->failed) continue;
        s->heap[i] = g;
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
    for (struct session_group *g = s->first_in_turn; g; g = g->next_in_turn) count++;
    word32(p, &count, s->group_count);
    struct session_group *at = s->first_in_turn;
    for (uint32_t i = 0; i < count && !p->b->failed; i++) {
        struct session_group *g = pack_pointer(p, s, p->reads ? NULL : at);
        if (!p->reads) {
            at = at->next_in_turn;
            continue;
        }
        if (!g || g == s->last_in_turn || g->next_in_turn) {
            wrong(p);
            return;
        }
        if (s->last_in_turn)
            s->last_in_turn->next_in_turn = g;
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

/* The board is in the order of what was posted, so its links need not be packed. */
static void hang_up(const struct pack *p, struct session *s)
{
    struct session_group **order = calloc((size_t)s->group_count + 1, sizeof(struct session_group *));
    uint32_t count = 0;
    if (!order) {
        wrong(p);
        return;
    }
    for (uint32_t i = 0; i < s->group_count; i++)
        if (s->groups[i]->posted) order[count++] = s->groups[i];
    qsort(order, count, sizeof(struct session_group *), by_posting);
    for (uint32_t i = 0; i < count; i++) {
        order[i]->older = i ? order[i - 1] : NULL;
        order[i]->newer = i + 1 < count ? order[i + 1] : NULL;
    }
    s->oldest = count ? order[0] : NULL;
    s->newest = count ? order[count - 1] : NULL;
    free(order);
}

/* ---- A session ---- */

static void pack_peer(const struct pack *p, struct session *s, uint32_t i)
{
    struct session_backing *backing = &s->backing[i];
    raw(p, &s->peers[i], sizeof s->peers[i]);
    word(p, &backing->life);
    word(p, &backing->inc);
    word(p, &backing->epoch);
    word(p, &backing->v_epoch);
    flag(p, &backing->linked);
    flag(p, &backing->recent);
}

static void pack_board(const struct pack *p, struct session *s, uint32_t i)
{
    struct board_peer *board = &s->boards[i];
    word(p, &board->life);
    word(p, &board->read);
    board->next = pack_pointer(p, s, board->next);
    if (p->reads && board->next && !board->next->posted) wrong(p);
    word(p, &board->sent);
    word(p, &board->sent_at);
    word(p, &board->again);
    word32(p, &board->unanswered, UINT32_MAX);
    flag(p, &board->owes_answer);
    flag(p, &board->has_gap);
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

/* When what it counts is there. */
static void pack_sooner(const struct pack *p, struct session *s)
{
    struct session_sooner *sooner = &s->sooner;
    word(p, &sooner->by);
    word(p, &sooner->version);
    word(p, &sooner->ceiling);
    word32(p, &sooner->held, s->held_count);
    word32(p, &sooner->unshown, s->unshown_count);
}

static void pack_news(const struct pack *p, struct session *s)
{
    word32(p, &s->news, UINT32_MAX);
    word32(p, &s->cursor, s->group_count);
    word32(p, &s->left, s->group_count);
    word(p, &s->told_at);
    word32(p, &s->obituary_count, CONFIG_MEMBERS_MAX);
    for (uint32_t i = 0; i < s->obituary_count; i++) {
        word32(p, &s->obituaries[i].who, p->members);
        word(p, &s->obituaries[i].inc);
        if (s->obituaries[i].who == EL_NOBODY) wrong(p);
    }
}

/* What is there before the groups are. */
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
    word32(p, &s->standing, SESSION_GROUPS_MAX);
    word32(p, &s->given, SESSION_GROUPS_MAX);
    word(p, &s->version);
    pack_cells(p, s);
    pack_held(p, s);
}

static void pack_lists(const struct pack *p, struct session *s)
{
    pack_heap(p, s);
    pack_unshown(p, s);
    pack_sooner(p, s);
    pack_turns(p, s);
    pack_news(p, s);
    if (p->reads) hang_up(p, s);
    for (uint32_t i = 0; i < p->members; i++) pack_board(p, s, i);
}

/* Whoever adds a field must say here what becomes of it. */
_Static_assert(sizeof(void *) != 8 || (sizeof(struct session_group) == 392 && sizeof(struct session) == 22152),
               "a new field is packed");
_Static_assert(sizeof(struct board_peer) == 56 && sizeof(struct session_backing) == 40, "so is a peer's");

/* ---- The host ---- */

static void pack_payload(const struct pack *p, struct wire_payload *payload)
{
    size_t size = payload->size;
    if (!p->reads) {
        flight_put_bytes(p->b, payload->bytes, payload->size);
        return;
    }
    const uint8_t *from = flight_get_bytes(p->b, &size);
    if (!from || size < WIRE_HEAD || size > sizeof payload->bytes) {
        wrong(p);
        return;
    }
    memcpy(payload->bytes, from, size);
    payload->size = size;
    if (!wire_resume(payload)) wrong(p);
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

/* The sessions in the order in which they were begun. */
static struct session *session_numbered(const struct host *host, uint32_t number)
{
    struct session *s = host->sessions;
    while (s && s->number != number) s = s->next;
    return s;
}

/* A session of these settings, of whichever section has them; NULL: none has. */
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
        struct session *s = p->reads ? NULL : session_numbered(host, i);
        uint32_t settings = s ? s->settings : 0;
        word32(p, &settings, UINT32_MAX);
        if (p->reads) s = session_of_settings(host, settings);
        if (s)
            pack_session(p, s);
        else
            wrong(p);
    }
}

/* By name, in the order in which they were made, which is that of their session's list, too. */
static void unpack_groups(const struct pack *p, struct host *host, uint32_t count)
{
    char name[CONFIG_NAME_MAX + 1], reason[200];
    for (uint32_t i = 0; i < count && !p->b->failed; i++) {
        size_t size = 0;
        const uint8_t *from = flight_get_bytes(p->b, &size);
        if (!from || size > CONFIG_NAME_MAX || memchr(from, '\0', size)) {
            wrong(p);
            return;
        }
        memcpy(name, from, size);
        name[size] = '\0';
        const uint64_t key = seal_group_key(host->config->cluster_id, name);
        const struct config_group *section = config_group_of(host->config, name);
        const bool is_quorum = !section || !section->algorithm || section->algorithm == &el_quorum;
        const uint32_t sessions = host->sessions ? host->sessions->number : 0;
        struct host_group *g = config_is_group_name(name) && is_quorum && !host_by_key(host, key)
                                   ? host_add(host, name, key, reason, sizeof reason)
                                   : NULL;
        if (!g || host->sessions->number != sessions)
            wrong(p);
        else
            pack_group(p, (struct session_group *)g);
    }
}

static bool pack_groups(const struct pack *p, struct host *host)
{
    uint32_t count = host->group_count, at = host->group_count;
    word32(p, &count, SESSION_GROUPS_MAX);
    if (p->reads) {
        unpack_groups(p, host, count);
        return true;
    }
    struct host_group **order = calloc((size_t)count + 1, sizeof(struct host_group *));
    if (!order) return false;
    for (struct host_group *g = host->groups; g; g = g->next) order[--at] = g;
    for (uint32_t i = 0; i < count && order[i] && !p->b->failed; i++) {
        flight_put_bytes(p->b, order[i]->name, strlen(order[i]->name));
        pack_group(p, (struct session_group *)order[i]);
    }
    free(order);
    return true;
}

/* What was shown as no value is no value now: whether it is the same is asked by its address. */
static void mend_values(const struct host *host)
{
    for (struct host_group *g = host->groups; g; g = g->next) {
        if (!g->shown.value || g->shown.value == g->value) continue;
        const struct host_view view = host_view_of(g);
        g->shown.value = view.value[0] ? NULL : view.value;
    }
}

static bool pack(struct host *host, struct flight_bytes *b, bool reads)
{
    const struct pack p = {b, reads, host->config->member_count};
    pack_host(&p, host);
    pack_sessions(&p, host);
    if (b->failed || !pack_groups(&p, host)) return false;
    for (struct session *s = host->sessions; s && !b->failed; s = s->next) pack_lists(&p, s);
    return !b->failed;
}

bool host_pack(struct host *host, struct flight_bytes *b)
{
    return !host->solos && host->group_count <= PACKED_GROUPS_MAX && pack(host, b, false);
}

bool host_unpack(struct host *host, struct flight_bytes *b)
{
    if (host->groups || host->sessions || !pack(host, b, true)) return false;
    mend_values(host);
    return true;
}
