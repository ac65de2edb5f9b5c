/* See sessions.h. */
#include "agent/host/quorum/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "core/machine.h"

/* ---- Making and freeing ---- */

uint64_t session_past_key(const struct config *config)
{
    return seal_group_key(config->cluster_id, RECORD_ALL_SESSIONS);
}

static struct session *session_new(struct host *host, const struct el_value *values, uint32_t settings)
{
    const struct config *config = host->config;
    const uint64_t actions = el_outbox_bound(&el_quorum, config->member_count);
    char name[32];
    snprintf(name, sizeof name, "sessions %08x", settings); /* no group can have this name */
    const uint64_t key = seal_group_key(config->cluster_id, name);
    const bool has_room =
        record_has_room(host->record, key) && record_has_room(host->record, session_past_key(config));
    struct session *s = has_room ? calloc(1, sizeof *s) : NULL;
    if (!s) return NULL;
    s->out =
        (struct el_outbox){.actions = calloc(actions, sizeof *s->out.actions), .capacity = (uint32_t)actions};
    if (!s->out.actions) {
        session_free(s);
        return NULL;
    }
    s->runner = (struct host_runner){.kind = &host_kind_session,
                                     .host = host,
                                     .algorithm = &el_quorum,
                                     .settings = settings,
                                     .margin = values[QUORUM_OPTION_MARGIN].number};
    s->key = key;
    memcpy(s->runner.values, values, sizeof s->runner.values);
    s->cluster = (struct el_cluster){.count = config->member_count,
                                     .ids = s->ids,
                                     .attributes = s->priorities,
                                     .roles = s->roles,
                                     .transmit_max = config->transmit_max,
                                     .process_max = CONFIG_PROCESS_MAX,
                                     .drift = config->drift,
                                     .options = s->runner.values};
    s->cfg = (struct el_config){&s->cluster, config->self};
    s->next_due = UINT64_MAX;
    for (el_node member = 1; member <= config->member_count && config_votes(config, config->self); member++)
        if (config_is_candidate(config, member)) s->tells_candidates = true;
    for (el_node member = 1; member <= config->member_count; member++)
        s->ids[member - 1] = config->members[member - 1].id;
    for (uint32_t timer = 0; timer < QUORUM_ASKED; timer++)
        for (uint32_t slot = 0; slot <= CONFIG_MEMBERS_MAX; slot++) s->timers[timer][slot] = UINT64_MAX;
    return s;
}

void session_free(struct session *s)
{
    for (uint32_t i = 0; i < s->group_count; i++) host_free_extra(&session_group_at(s, i + 1)->base);
    free(s->out.actions);
    free(s->held);
    free(s->unshown);
    free(s->news);
    free(s->groups);
    free(s->heap);
    slab_free(&s->slab);
    free(s);
}

/*
 * If the settings of a group change, it moves to another session. That session must not break promises of the
 * old one, nor grant its terms again. So a new session starts above the highest values of all sessions, and is
 * silent for the longest promise of all. A first incarnation has promised nothing, and starts above the terms
 * that the cluster was founded with.
 */
static enum el_start_how recall(const struct host *host, uint64_t key, struct el_durable *durable)
{
    const struct el_durable *past = &host->past;
    if (!record_get(host->record, key, durable)) {
        if (record_forgot(host->record)) return EL_LOST;
        if (!host->has_past) {
            durable->word[0] = past->word[0];
            return EL_FRESH;
        }
    }
    durable->epoch = quorum_highest(durable->epoch, past->epoch);
    for (uint32_t i = 0; i < 2; i++) durable->word[i] = quorum_highest(durable->word[i], past->word[i]);
    return EL_RESTORED;
}

static void begin(struct session *s)
{
    const struct host *host = s->runner.host;
    struct el_start start = {.how = EL_FRESH};
    struct session_step step;
    start.how = recall(host, s->key, &start.durable);
    session_open(s, NULL, &step);
    quorum_start(&step.q, &start);
    if (start.how == EL_LOST) quorum_tell_time(&step.q, host->hooks.wall_ms(host->hooks.context));
    session_close(s, NULL, &step);
}

struct session *session_add(struct host *host, const struct config_group *section, bool *is_new)
{
    struct el_value values[HOST_OPTIONS_MAX] = {0};
    for (struct session *s = host->sessions; s; s = s->next)
        if (s->section == section) return s; /* made for this section before */
    config_values(host->config->profile, section, &el_quorum, values);
    const uint32_t settings = host_digest_settings(host, &el_quorum, values);
    for (struct session *s = host->sessions; s; s = s->next)
        if (s->runner.settings == settings) return s;
    const uint32_t number = host->sessions ? host->sessions->number + 1 : 0;
    struct session *s = number < SESSIONS_MAX ? session_new(host, values, settings) : NULL;
    if (!s) return NULL;
    s->number = number;
    s->section = section;
    s->next = host->sessions;
    host->sessions = host->session_list[number] = s;
    *is_new = true;
    return s;
}

struct session *session_for(struct host *host, const struct config_group *section)
{
    bool is_new = false;
    struct session *s = session_add(host, section, &is_new);
    if (s && is_new) begin(s);
    return s;
}

static void fire(struct session *s, uint32_t timer, uint32_t slot)
{
    struct session_step step;
    s->timers[timer][slot] = UINT64_MAX;
    session_open(s, NULL, &step);
    quorum_fire(&step.q, timer, slot);
    session_close(s, NULL, &step);
}

/* ---- Receiving ---- */

/* Before session_open(), since telling groups is a call, too. */
static void make_room_for_an_obituary(struct session *s)
{
    if (s->obituary_count == CONFIG_MEMBERS_MAX) session_tell_changes(s, UINT32_MAX);
}

void session_hear(struct session *s, const struct el_msg *m)
{
    if (quorum_is_of_group(m->kind)) return;
    if (m->kind == QUORUM_OBIT) make_room_for_an_obituary(s);
    if (session_deliver(s, NULL, m) && m->kind == QUORUM_BEAT && session_hear_pace(s, m))
        fire(s, QUORUM_PULSE, 0);
}

void session_bury(struct session *s, el_node who, uint64_t incarnation)
{
    struct session_step step;
    make_room_for_an_obituary(s);
    session_open(s, NULL, &step);
    step.obituary = (struct quorum_obituary){who, incarnation};
    quorum_tell_obituary(&step.q, who, incarnation);
    session_close(s, NULL, &step);
}

/* ---- Time ---- */

void session_look_ahead(struct session *s)
{
    const struct quorum_member *me = &s->me;
    const uint64_t half = el_number(&s->cfg, QUORUM_OPTION_BLOCK) / 2;
    const uint64_t next = quorum_highest(me->clock, me->ceiling) + 1;
    struct session_step step;
    if (me->incarnation == 0 || me->silent || me->unlearned || !quorum_is_voter(&s->cfg, s->cfg.self)) return;
    if (half == 0 || quorum_counter(me->clock) + half < quorum_counter(me->ceiling) || next >= EL_EPOCH_MAX)
        return;
    session_open(s, NULL, &step);
    quorum_reserve(&step.q, next);
    session_close(s, NULL, &step);
}

/* The end of a lease comes before all other timers that are due, since a claim may depend on it. */
static bool fire_lease(struct session *s, uint64_t now)
{
    for (el_node voter = 1; voter <= s->cluster.count; voter++)
        if (s->timers[QUORUM_LEASE][voter] <= now) {
            fire(s, QUORUM_LEASE, voter);
            return true;
        }
    return false;
}

static void fire_earliest(struct session *s)
{
    for (uint32_t timer = 0; timer < QUORUM_ASKED; timer++)
        for (uint32_t slot = 0; slot <= s->cluster.count; slot++)
            if (s->timers[timer][slot] == s->next_due) {
                fire(s, timer, slot);
                return;
            }
}

static bool fire_one(struct session *s, uint64_t now)
{
    const uint64_t groups_due = s->heap_count ? s->heap[0].due : UINT64_MAX;
    if (s->next_due > now && groups_due > now) return false;
    if (fire_lease(s, now)) return true;
    if (s->next_due <= groups_due)
        fire_earliest(s);
    else
        session_group_fire(s->heap[0].group, groups_due);
    return true;
}

bool session_is_giving(const struct session *s)
{
    return s->left && (s->changes & QUORUM_FREED || s->obituary_count);
}

/* If a member is given more groups than it can claim, it keeps asking for all of them and claims none. */
static bool may_give(const struct session *s, uint64_t waited)
{
    return !session_is_giving(s) || s->standing + s->given < SESSION_STANDING_MAX || waited >= SESSION_PATIENCE;
}

/* In small lots: what the groups then send may be more than the peers keep up with. */
static void tell_some(struct session *s, uint64_t now)
{
    const uint64_t told_at = s->told_at;
    for (uint32_t told = 0; s->left && told < SESSION_CHUNK; told += SESSION_LOT) {
        if (!session_may_pour(s) || !may_give(s, now - told_at)) return;
        s->told_at = now;
        session_tell_changes(s, SESSION_LOT);
    }
}

bool session_may_pour(const struct session *s)
{
    for (el_node peer = 1; peer <= s->cluster.count; peer++)
        if (s->peers[peer - 1].recent && !host_keeps_up(s->runner.host, peer)) return false;
    return true;
}

uint64_t session_tick(struct session *s)
{
    uint64_t now = host_now(s->runner.host);
    while (fire_one(s, now)) now = host_now(s->runner.host);
    uint64_t next = session_end_cells(s, now);
    tell_some(s, now);
    postings_flush(s);
    session_take_turns(s);
    if (s->left || s->first_in_turn || postings_is_behind(s)) {
        const bool may_go_on = session_may_pour(s) && may_give(s, now - s->told_at);
        if (!may_go_on && now + SESSION_PACE < next) next = now + SESSION_PACE;
        if (may_go_on && s->left) next = now;
    }
    if (s->next_due < next) next = s->next_due;
    if (s->heap_count && s->heap[0].due < next) next = s->heap[0].due;
    return next;
}

/* ---- Queries ---- */

uint64_t host_silent_until(const struct host *host, bool *is_lost)
{
    uint64_t until = 0;
    *is_lost = false;
    if (!config_votes(host->config, host->config->self)) return 0;
    for (const struct session *s = host->sessions; s; s = s->next) {
        const uint64_t end = s->timers[QUORUM_SILENCE][0];
        if (s->me.unlearned) *is_lost = true;
        if (s->me.silent && end != UINT64_MAX && end > until) until = end;
    }
    return until;
}

bool host_knows_silence(const struct host_group *group)
{
    return host_algorithm(group) == &el_quorum;
}
