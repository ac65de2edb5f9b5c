/* One group of a session: messages, timers, requests, and changes of the sessions. */
#include <stdlib.h>
#include <string.h>

#include "agent/host/quorum/sessions.h"
#include "core/machine.h"

/* ---- Making and freeing ---- */

static bool make_room(struct session *s)
{
    if (s->group_count < s->group_room) return true;
    /* 16 or the maximum: unused pages take no memory, and copying is avoided. */
    const uint32_t room = s->group_room ? SESSION_GROUPS_MAX : 16;
    uint32_t *groups = realloc(s->groups, room * sizeof *groups);
    if (groups) s->groups = groups;
    struct session_timed *heap = realloc(s->heap, room * sizeof *heap);
    if (heap) s->heap = heap;
    struct session_group **unshown = realloc(s->unshown, room * sizeof(struct session_group *));
    if (unshown) s->unshown = unshown;
    uint32_t *news = s->tells_candidates ? realloc(s->news, room * sizeof *news) : NULL;
    if (news) s->news = news;
    if (!groups || !heap || !unshown || (s->tells_candidates && !news)) return false;
    s->group_room = s->heap_room = s->unshown_room = room;
    return true;
}

struct session_group *session_group_new(struct session *s, const char *name, uint64_t key)
{
    const size_t length = strlen(name);
    if (s->group_count == SESSION_GROUPS_MAX || !make_room(s)) return NULL;
    const uint32_t piece = slab_take(&s->slab, slab_units(offsetof(struct session_group, name) + length + 1));
    if (!piece) return NULL;
    struct session_group *group = slab_at(&s->slab, piece); /* zeros: the compact form before the first call */
    memcpy(group->name, name, length);
    group->base = (struct host_group){.runner = &s->runner, .key = key, .shown_cell = HOST_CELLS_MAX};
    group->cell = SESSION_NO_CELL;
    if (s->news) s->news[s->group_count] = 0;
    s->groups[s->group_count++] = piece;
    group->number = s->group_count;
    if (s->forgotten) {
        quorum_begin_above(&session_expand(group)->quorum, s->forgotten);
        session_compact(group);
    }
    return group;
}

struct quorum_claim session_claim_of(const struct session_group *group)
{
    if (group->role != QUORUM_LEADER) return (struct quorum_claim){0};
    return quorum_claim_of(&session_expand(group)->quorum);
}

/* ---- Events ---- */

void session_group_hear(struct session_group *group, const struct el_msg *m)
{
    if (quorum_is_of_group(m->kind)) (void)session_deliver(session_of(group), group, m);
}

static void run_out(struct session_group *group, uint32_t timer)
{
    struct session *s = session_of(group);
    struct session_step step;
    session_open(s, group, &step);
    quorum_fire(&step.q, timer, 0);
    session_close(s, group, &step);
}

static enum el_answer request(struct session_group *group, enum el_request_what what, el_node to)
{
    struct session *s = session_of(group);
    struct session_step step;
    session_open(s, group, &step);
    const enum el_answer answer = quorum_request(&step.q, what, to);
    session_close(s, group, &step);
    return answer;
}

/* ---- Turns ---- */

/* Our own vote is still promised to another member. */
static bool is_promised_away(const struct session_group *group)
{
    struct session *s = session_of(group);
    const struct quorum_tenant *holder = &session_expand(group)->quorum.holder;
    const struct quorum q = {.me = &s->me, .peers = s->peers};
    return holder->id && holder->id != s->cfg.self && quorum_promise_lives(&q, holder->id, holder->incarnation);
}

/* Asking for votes that cannot be granted yet, or faster than peers can read, slows down all groups. */
static bool may_take_turn(const struct session_group *group)
{
    const struct session *s = session_of(group);
    const uint32_t most = is_promised_away(group) ? SESSION_HOPELESS_MAX : SESSION_STANDING_MAX;
    return s->standing < most && !session_is_giving(s) && postings_has_sent(group) && session_may_pour(s);
}

static void wait_for_turn(struct session_group *group, bool is_due)
{
    struct session *s = session_of(group);
    group->is_due = group->is_due || is_due;
    if (group->waits_for_turn) return;
    group->waits_for_turn = true;
    group->next_in_turn = 0;
    if (s->last_in_turn)
        s->last_in_turn->next_in_turn = group->number;
    else
        s->first_in_turn = group;
    s->last_in_turn = group;
}

/* While the group waited, we granted it to a live member, which is about to claim it. */
static bool is_spoken_for(const struct session_group *group)
{
    const struct quorum_tenant *holder = &session_expand(group)->quorum.holder;
    if (!is_promised_away(group)) return false;
    const struct quorum_peer *p = &session_of(group)->peers[holder->id - 1];
    return p->recent && p->incarnation == holder->incarnation; /* an earlier incarnation claims nothing */
}

/* Waits D/4 to D, as after yielding (Q22). Then it asks: only a request shows whether the other still wants
 * it. */
static void put_off(struct session_group *group)
{
    const struct session *s = session_of(group);
    const uint64_t lease = el_number(&s->cfg, QUORUM_OPTION_LEASE);
    const uint64_t drawn = s->runner.host->hooks.random(s->runner.host->hooks.context);
    struct session_work *work = session_expand(group);
    work->timers[QUORUM_STAND - QUORUM_ASKED] =
        host_now(s->runner.host) + lease / 4 + drawn % (lease - lease / 4);
    session_compact(group);
    session_heap_update(group, session_first_due(work->timers));
}

void session_take_turns(struct session *s)
{
    for (struct session_group *group; (group = s->first_in_turn);) {
        const bool is_due = group->is_due, is_put_off = is_due && is_spoken_for(group);
        if (!is_put_off && !may_take_turn(group)) return;
        s->first_in_turn = session_group_at(s, group->next_in_turn);
        if (!s->first_in_turn) s->last_in_turn = NULL;
        group->waits_for_turn = group->is_due = false;
        if (is_put_off)
            put_off(group);
        else if (is_due)
            run_out(group, QUORUM_STAND);
        else if (group->base.stands)
            (void)request(group, EL_CAMPAIGN, EL_NOBODY);
    }
}

void session_group_fire(struct session_group *group, uint64_t due)
{
    uint64_t *timers = session_expand(group)->timers;
    uint32_t timer = 0;
    while (timers[timer] != due) timer++;
    timers[timer] = UINT64_MAX;
    session_compact(group);
    session_heap_update(group, session_first_due(timers));
    if (QUORUM_ASKED + timer == QUORUM_STAND && !may_take_turn(group))
        wait_for_turn(group, true);
    else
        run_out(group, QUORUM_ASKED + timer);
}

/* ---- Candidates ---- */

/* Members that stood before there were ranks count as standing since time 1. */
static struct session_rank *make_ranks(struct session_group *group)
{
    const uint32_t count = session_of(group)->cluster.count;
    struct host_extra *extra = host_extra_of(&group->base);
    struct session_rank *ranks = extra ? calloc(count, sizeof *ranks) : NULL;
    for (uint32_t i = 0; i < count && ranks; i++) ranks[i].since = 1;
    if (ranks) extra->ranks = ranks;
    return ranks;
}

static void rank(struct session_group *group, el_node member, uint64_t priority, uint32_t preempt_after_ms)
{
    const struct session *s = session_of(group);
    struct session_rank *ranks = session_ranks(group);
    if (!ranks && priority == 0 && preempt_after_ms == 0) return;
    if (!ranks) ranks = make_ranks(group);
    if (!ranks) return; /* no memory: it has no priority */
    struct session_rank *r = &ranks[member - 1];
    if (!session_wants(group, member)) r->since = host_now(s->runner.host);
    r->priority = priority;
    r->preempt_after_ms = preempt_after_ms;
}

static void set_candidate(struct session_group *group, el_node member, bool stands)
{
    const uint64_t bit = UINT64_C(1) << (member - 1);
    struct session_work *work = session_expand(group);
    work->candidates = stands ? work->candidates | bit : work->candidates & ~bit;
    session_compact(group);
}

/* A voter tells which members want to lead that have no session with us. */
static void set_candidates(struct session_group *group, uint64_t told)
{
    const struct session *s = session_of(group);
    struct session_work *work = session_expand(group);
    uint64_t others = 0;
    for (el_node member = 1; member <= s->cluster.count; member++)
        if (!config_talks(s->runner.host->config, s->cfg.self, member)) others |= UINT64_C(1) << (member - 1);
    work->candidates = (work->candidates & ~others) | (told & others);
    session_compact(group);
}

/* The candidates have changed: a leader may choose another heir, a candidate may stand. */
static void look_again(struct session_group *group)
{
    struct session *s = session_of(group);
    struct session_step step;
    session_open(s, group, &step);
    quorum_tell(&step.q, QUORUM_HEIRS | QUORUM_REVIEW, NULL, 0);
    session_close(s, group, &step);
}

static void be_patient(struct host_group *base, uint32_t ms)
{
    struct session_group *group = (struct session_group *)base;
    const el_node self = session_of(group)->cfg.self;
    const struct session_rank *ranks = session_ranks(group);
    rank(group, self, ranks ? ranks[self - 1].priority : 0, ms);
}

static void stand(struct host_group *base, bool stands, uint64_t priority)
{
    struct session_group *group = (struct session_group *)base;
    const struct session *s = session_of(group);
    const struct session_rank *ranks = session_ranks(group);
    rank(group, s->cfg.self, priority, ranks ? ranks[s->cfg.self - 1].preempt_after_ms : 0);
    set_candidate(group, s->cfg.self, stands);
    postings_post(group);
    postings_flush(session_of(group)); /* the posting goes out before the request for votes */
    look_again(group);
}

static void read_claim(struct session_group *group, el_node peer, const struct payload_entry *entry)
{
    struct session *s = session_of(group);
    struct session_step step;
    session_open(s, group, &step);
    quorum_read_claim(
        &step.q, peer, entry->incarnation,
        (struct quorum_claim){.term = entry->term, .heir = entry->heir, .heir_term = entry->heir_term});
    session_close(s, group, &step);
}

static void read_value(struct session_group *group, el_node peer, const struct payload_entry *entry)
{
    const struct quorum_tenant *claim = &session_expand(group)->quorum.claim;
    if (entry->term && claim->id == peer && claim->term == entry->term)
        host_set_value(&group->base, entry->value, entry->term);
}

void session_group_read(struct session_group *group, el_node peer, const struct payload_entry *entry)
{
    struct session *s = session_of(group);
    const bool stood = session_wants(group, peer), stands = entry->flags & PAYLOAD_STANDS;
    const struct session_rank *ranks = session_ranks(group);
    const uint64_t priority = ranks ? ranks[peer - 1].priority : 0;
    rank(group, peer, entry->priority, entry->preempt_after_ms);
    set_candidate(group, peer, stands || entry->term); /* a member that leads wants to */
    read_claim(group, peer, entry);
    read_value(group, peer, entry);
    if (s->tells_candidates) {
        struct quorum q;
        session_look(s, group, &q);
        postings_tell_news(group, &q); /* the value may be another */
    }
    if (stood != stands || priority != entry->priority) look_again(group);
    host_group_show(&group->base);
}

void session_group_read_news(struct session_group *group, el_node peer, const struct payload_entry *entry)
{
    struct session *s = session_of(group);
    struct session_step step;
    const bool is_led = entry->flags & PAYLOAD_LEADS;
    const struct quorum_told told = {
        .term = entry->term,
        .incarnation = is_led ? entry->msg.extra[2] : 0,
        .leader = is_led ? entry->msg.subject : EL_NOBODY,
        .heir = entry->msg.extra[3] <= s->cluster.count ? (el_node)entry->msg.extra[3] : EL_NOBODY,
        .place = is_led ? 0 : (uint32_t)(entry->msg.aux & UINT16_MAX)};
    rank(group, peer, entry->priority, entry->preempt_after_ms);
    set_candidate(group, peer, entry->flags & PAYLOAD_STANDS || (is_led && told.leader == peer));
    set_candidates(group, entry->msg.extra[0]);
    session_open(s, group, &step);
    quorum_read_news(&step.q, peer, told);
    session_close(s, group, &step);
    if (told.leader) read_value(group, told.leader, entry);
    host_group_show(&group->base);
}

void session_group_forget_peer(struct session_group *group, el_node peer)
{
    set_candidate(group, peer, false);
}

/* We do not vote, and a voter told us of a leader. */
static void disregard_news(struct session_group *group, el_node peer)
{
    struct session_step step;
    if (!session_expand(group)->ballots[peer - 1].tells) return;
    session_open(session_of(group), group, &step);
    quorum_read_news(&step.q, peer, (struct quorum_told){0});
    session_close(session_of(group), group, &step);
}

void session_group_disregard_peer(struct session_group *group, el_node peer)
{
    disregard_news(group, peer);
    const struct session *s = session_of(group);
    const struct payload_entry nothing = {.incarnation = s->peers[peer - 1].incarnation};
    if (!session_wants(group, peer) && session_expand(group)->quorum.claim.id != peer) return;
    set_candidate(group, peer, false);
    read_claim(group, peer, &nothing);
    host_group_show(&group->base);
}

void session_show_wishes(struct session *s)
{
    if (!el_number(&s->cfg, QUORUM_OPTION_PREEMPT)) return;
    for (uint32_t i = 0; i < s->group_count; i++)
        if (session_group_at(s, i + 1)->base.handover_target)
            host_group_show(&session_group_at(s, i + 1)->base);
}

/* ---- Changes of the sessions ---- */

static void tell_one(struct session_group *group, uint32_t changes)
{
    struct session *s = session_of(group);
    struct session_step step;
    session_open(s, group, &step);
    quorum_tell(&step.q, changes, s->obituaries, s->obituary_count);
    session_close(s, group, &step);
}

/* Goes on after the group told last. A new change starts another full round (add_changes()). */
void session_tell_changes(struct session *s, uint32_t most)
{
    for (; s->left && most; most--) {
        const uint32_t changes = s->changes;
        if (s->cursor >= s->group_count) s->cursor = 0;
        s->left--;
        tell_one(session_group_at(s, ++s->cursor), changes);
    }
    if (s->left) return;
    s->changes = 0;
    s->obituary_count = 0;
}

/* ---- struct host_kind ---- */

static const struct session_group *shared(const struct host_group *base)
{
    return (const struct session_group *)base;
}

static const char *name(const struct host_group *base)
{
    return shared(base)->name;
}

static struct el_view view(const struct host_group *base, uint64_t *bound, bool *waits)
{
    struct session *s = session_of(shared(base));
    struct session_work *work = session_expand(shared(base));
    const uint8_t cell = shared(base)->cell;
    struct el_view view;
    const struct quorum q = {
        .cfg = &s->cfg, .me = &s->me, .peers = s->peers, .group = &work->quorum, .ballots = work->ballots};
    quorum_view(&q, &view);
    *bound = UINT64_MAX;
    if (view.role == EL_LEADER) *bound = cell == SESSION_NO_CELL ? 0 : s->cells[cell].lease_end;
    *waits = session_is_waiting(s) && work->quorum.standing > s->safe_ceiling;
    return view;
}

/* A claim that waits for the disk is shown by release_unshown(). */
static bool shows(struct host_group *base, const struct host_view *now, bool waits)
{
    struct session_group *group = (struct session_group *)base;
    struct session *s = session_of(group);
    (void)now;
    if (!waits || group->is_unshown || s->unshown_count == s->unshown_room) return false;
    group->is_unshown = true;
    s->unshown[s->unshown_count++] = group;
    return false;
}

static struct host_standing standing(const struct host_group *base, el_node member)
{
    const struct session_rank *ranks = session_ranks(shared(base)), *r = ranks ? &ranks[member - 1] : NULL;
    return (struct host_standing){.since = !session_wants(shared(base), member) ? 0
                                           : r                                  ? r->since
                                                                                : 1,
                                  .priority = r ? r->priority : 0,
                                  .preempt_after_ms = r ? r->preempt_after_ms : 0};
}

/* A campaign may have to wait for its turn. */
static enum el_answer ask(struct host_group *base, enum el_request_what what, el_node to)
{
    struct session_group *group = (struct session_group *)base;
    if (what != EL_CAMPAIGN || may_take_turn(group)) return request(group, what, to);
    wait_for_turn(group, false);
    return EL_PERFORMED;
}

static void spread_value(struct host_group *base)
{
    postings_post((struct session_group *)base);
}

const struct host_kind host_kind_session = {.name = name,
                                            .view = view,
                                            .shows = shows,
                                            .standing = standing,
                                            .stand = stand,
                                            .be_patient = be_patient,
                                            .ask = ask,
                                            .spread_value = spread_value};
