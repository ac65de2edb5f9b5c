/* One call of the driver: fills in its arguments, and carries out what it asks for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/quorum/sessions.h"
#include "core/machine.h"

/* ---- Before the call ---- */

/* For a call on the sessions, everybody may lead whose role allows it. For a group, only those that want to. */
static uint8_t role_of(const struct session *s, const struct session_work *work, el_node member)
{
    const enum config_role role = s->runner.host->config->members[member - 1].role;
    const bool wants = !work || work->candidates >> (member - 1) & 1;
    const uint8_t may = wants ? EL_CANDIDATE : EL_ORDINARY;
    if (role == CONFIG_CANDIDATE) return wants ? EL_VOTELESS : EL_WITHDRAWN;
    return role == CONFIG_OBSERVER ? EL_OBSERVER : role == CONFIG_WITNESS ? EL_ORDINARY : may;
}

/* We granted the group to another member, which has not claimed it yet. */
static bool is_given(const struct session *s, const struct session_group *group)
{
    const struct quorum_group *quorum = &session_expand(group)->quorum;
    const struct quorum_tenant *holder = &quorum->holder;
    return holder->id && holder->id != s->cfg.self &&
           !quorum_is(&quorum->claim, holder->id, holder->incarnation);
}

static void take_roles(struct session *s, const struct session_work *work)
{
    for (el_node member = 1; member <= s->cluster.count; member++)
        s->roles[member - 1] = role_of(s, work, member);
}

void session_look(struct session *s, struct session_group *group, struct quorum *q)
{
    const struct session_rank *ranks = group ? session_ranks(group) : NULL;
    struct session_work *work = group ? session_expand(group) : NULL;
    take_roles(s, work);
    for (el_node member = 1; member <= s->cluster.count; member++)
        s->priorities[member - 1] = ranks ? ranks[member - 1].priority : 0;
    *q = (struct quorum){.cfg = &s->cfg,
                         .out = &s->out,
                         .me = &s->me,
                         .peers = s->peers,
                         .group = work ? &work->quorum : NULL,
                         .ballots = work ? work->ballots : NULL,
                         .posts_claims = true,
                         .is_at_rest = !session_is_urgent(s)};
}

void session_open(struct session *s, struct session_group *group, struct session_step *step)
{
    s->out.count = 0;
    *step = (struct session_step){0};
    session_look(s, group, &step->q);
    step->q.changes = &step->changes;
    if (!group) return;
    step->claim = session_claim_of(group);
    step->stood = group->role == QUORUM_CANDIDATE;
    step->gave = is_given(s, group);
}

/* ---- Actions ---- */

static uint64_t *timer_at(struct session *s, struct session_group *group, uint32_t timer, uint32_t slot)
{
    if (timer < QUORUM_ASKED) return &s->timers[timer][slot];
    el_require(group);
    return &s->work.timers[timer - QUORUM_ASKED];
}

static void arm(struct session *s, struct session_group *group, const struct el_action *action)
{
    const struct host *host = s->runner.host;
    const uint64_t now = host_now(host), width = action->max - action->min;
    const uint64_t jitter = width ? host->hooks.random(host->hooks.context) % (width + 1) : 0;
    const uint64_t lag = action->timer == QUORUM_PULSE    ? session_lag(s, action->min)
                         : action->timer == QUORUM_RECENT ? session_leniency(s, action->min)
                                                          : 0;
    const uint64_t length = action->min + jitter + lag;
    if (action->timer == QUORUM_PROBE) s->hurried |= UINT64_C(1) << (action->slot - 1);
    *timer_at(s, group, action->timer, action->slot) =
        length < UINT64_MAX - 1 - now ? now + length : UINT64_MAX - 1;
}

/* The probe's timer ends one lease after the message was sent, which gives the round trip. If the answer was
 * allowed to wait, it is none. */
static void tell_round_trip(const struct session *s, el_node peer, uint64_t end)
{
    const struct host_hooks *hooks = &s->runner.host->hooks;
    const uint64_t passed = host_now(s->runner.host) + el_number(&s->cfg, QUORUM_OPTION_LEASE);
    if (!(s->hurried >> (peer - 1) & 1)) return;
    if (hooks->answered && peer != s->cfg.self) hooks->answered(hooks->context, peer, passed - end);
}

/* A STAND timer that has fired may still wait for its turn. */
static void disarm(struct session *s, struct session_group *group, const struct el_action *action)
{
    *timer_at(s, group, action->timer, action->slot) = UINT64_MAX;
    if (group && action->timer == QUORUM_STAND) group->is_due = false;
}

static void move(struct session *s, struct session_group *group, const struct el_action *action)
{
    uint64_t *from = timer_at(s, group, action->timer, action->slot);
    if (*from == UINT64_MAX) return;
    if (action->timer == QUORUM_PROBE) tell_round_trip(s, action->slot, *from);
    *timer_at(s, group, action->to, action->slot) = *from;
    *from = UINT64_MAX;
}

bool session_is_waiting(const struct session *s)
{
    return s->saved_by > s->runner.host->writes_done;
}

static void put_message(struct session *s, const struct session_held *held)
{
    const struct payload_entry entry = {.type = held->group ? PAYLOAD_MESSAGE : PAYLOAD_SESSION,
                                        .group = held->group,
                                        .settings = s->runner.settings,
                                        .flags = held->flags,
                                        .msg = held->msg};
    host_put(s->runner.host, held->to, &entry);
}

static void send_beat(struct session *s, struct session_held beat)
{
    const struct session_held answer = {.to = beat.to, .msg = session_take_answer(s, beat.to)};
    if (answer.msg.kind) put_message(s, &answer);
    beat.msg.flags |= session_beat_flags(s, beat.to);
    if (beat.msg.flags & QUORUM_DEFERRABLE) s->hurried &= ~(UINT64_C(1) << (beat.to - 1));
    put_message(s, &beat);
    postings_state(s, beat.to, true);
}

static void send_now(struct session *s, const struct session_held *held)
{
    if (held->msg.kind == QUORUM_BEAT)
        send_beat(s, *held);
    else
        put_message(s, held);
}

/* Beats and their answers depend on no saved value but the incarnation. So a member whose slow disk delays a
 * vote still leads and renews its promises. They may overtake messages that wait, as on any network. */
static bool is_of_no_term(const struct session *s, const struct el_msg *msg)
{
    return s->is_on_disk && (msg->kind == QUORUM_BEAT || msg->kind == QUORUM_ACK);
}

/* While a disk hangs, machines repeat what they say. So the newest messages are dropped, as a network may. */
static uint32_t held_max(const struct session *s)
{
    return SESSION_HELD_LEAST + s->group_count * s->cluster.count;
}

static void warn_of_disk(struct session *s)
{
    const struct host_hooks *hooks = &s->runner.host->hooks;
    char text[160];
    s->has_warned_of_disk = true;
    snprintf(text, sizeof text,
             "%u messages wait for the state file: dropping new ones until it is written, as a network may",
             s->held_count);
    hooks->warn(hooks->context, NULL, text);
}

static void send_or_hold_for_disk(struct session *s, const struct session_group *group,
                                  const struct el_msg *msg)
{
    const struct session_held held = {.to = msg->to,
                                      .group = group ? group->base.key : 0,
                                      .flags = group && group->base.stands ? PAYLOAD_STANDS : 0,
                                      .msg = *msg};
    if (s->runner.host->has_failed || msg->to == EL_NOBODY || msg->to > s->cluster.count) return;
    if (!session_is_waiting(s) || is_of_no_term(s, msg)) {
        send_now(s, &held);
        return;
    }
    if (s->held_count == held_max(s)) {
        if (!s->has_warned_of_disk) warn_of_disk(s);
        return;
    }
    if (s->held_count == s->held_room) {
        const uint32_t room = s->held_room ? 2 * s->held_room : 64;
        struct session_held *more = realloc(s->held, room * sizeof *more);
        if (!more) return; /* no memory: the message is lost, as on a network */
        s->held = more;
        s->held_room = room;
    }
    s->held[s->held_count++] = held;
}

static void release_held(struct session *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) send_now(s, &s->held[i]);
    s->held_count -= count;
    s->has_warned_of_disk = false;
    if (count) memmove(s->held, s->held + count, s->held_count * sizeof *s->held);
    if (s->held_count || s->held_room <= SESSION_HELD_LEAST) return;
    free(s->held);
    s->held = NULL;
    s->held_room = 0;
}

static void release_unshown(struct session *s, uint32_t count)
{
    while (count) {
        struct session_group *group = s->unshown[--count];
        s->unshown[count] = s->unshown[--s->unshown_count];
        group->is_unshown = false;
        host_group_show(&group->base);
    }
}

void session_release(struct session *s)
{
    const bool is_waiting = session_is_waiting(s);
    const struct session_sooner now = is_waiting ? s->sooner
                                                 : (struct session_sooner){.version = s->version,
                                                                           .by = s->saved_by,
                                                                           .ceiling = s->saved_ceiling,
                                                                           .held = s->held_count,
                                                                           .unshown = s->unshown_count};
    if (now.by > s->runner.host->writes_done) return;
    s->sooner.held = s->sooner.unshown = 0;
    s->is_on_disk = now.by > 0;
    s->safe_version = now.version;
    s->safe_ceiling = now.ceiling;
    release_held(s, now.held);
    release_unshown(s, now.unshown);
    postings_flush(s);
}

static void save(struct session *s, const struct el_durable *durable)
{
    struct host *host = s->runner.host;
    struct el_durable *past = &host->past;
    past->epoch = quorum_highest(past->epoch, durable->epoch);
    for (uint32_t i = 0; i < 2; i++) past->word[i] = quorum_highest(past->word[i], durable->word[i]);
    if (!record_put(host->record, s->key, durable) ||
        !record_put(host->record, session_past_key(host->config), past))
        host->has_failed = true;
    host->is_dirty = true;
    if (!session_is_waiting(s)) {
        s->safe_version = s->version;
        s->safe_ceiling = s->saved_ceiling;
    }
    if (s->saved_by != host->writes_begun + 1)
        s->sooner = (struct session_sooner){.by = s->saved_by,
                                            .version = s->version,
                                            .ceiling = s->saved_ceiling,
                                            .held = s->held_count,
                                            .unshown = s->unshown_count};
    s->saved_by = host->writes_begun + 1;
    s->saved_ceiling = durable->word[0];
}

/* A peer said what it may not say (speakers.h). An Obituary is no reason to warn: earlier agents pass on those of
 * other members. */
static void warn_of_lies(struct session *s, struct session_group *group, const struct el_action *action)
{
    const struct host_hooks *hooks = &s->runner.host->hooks;
    const el_node peer = (el_node)action->values[0];
    const uint64_t what = action->values[1];
    char text[160];
    if (action->note == QUORUM_DROPS_UNENTITLED && what == QUORUM_OBIT) return;
    if (action->note == QUORUM_DROPS_CLOCK)
        snprintf(text, sizeof text, "sent the term %llu, which no clock has reached: the message is dropped",
                 (unsigned long long)what);
    else
        snprintf(text, sizeof text, "sent a message (%s) that it may not send: the message is dropped",
                 el_quorum.kinds[what]);
    if (hooks->refused) hooks->refused(hooks->context, peer);
    host_warn_of(s->runner.host, group ? &group->base : NULL, peer, text);
}

static void note(struct session *s, struct session_group *group, const struct el_action *action)
{
    if (action->note == QUORUM_DROPS_CLOCK || action->note == QUORUM_DROPS_UNENTITLED)
        warn_of_lies(s, group, action);
    if (group && action->note + 1 == el_quorum.handover_note)
        group->base.handover_target = (uint8_t)action->values[0];
    host_note(s->runner.host, group ? &group->base : NULL, &el_quorum, action);
}

static void carry_out(struct session *s, struct session_group *group, const struct session_step *step)
{
    for (uint32_t i = 0; i < s->out.count; i++) {
        const struct el_action *action = &s->out.actions[i];
        switch (action->type) {
        case EL_ARM: arm(s, group, action); break;
        case EL_DISARM: disarm(s, group, action); break;
        case EL_MOVE: move(s, group, action); break;
        case EL_SEND:
            if (!step->is_deferrable || !session_keep_answer(s, &action->msg))
                send_or_hold_for_disk(s, group, &action->msg);
            break;
        case EL_SAVE: save(s, &action->durable); break;
        case EL_NOTE: note(s, group, action); break;
        case EL_CHOOSE:
        case EL_VERDICT: break; /* quorum uses neither */
        }
    }
    s->next_due = UINT64_MAX;
    for (uint32_t timer = 0; timer < QUORUM_ASKED; timer++)
        for (uint32_t slot = 0; slot <= s->cluster.count; slot++)
            if (s->timers[timer][slot] < s->next_due) s->next_due = s->timers[timer][slot];
}

/* ---- After the call ---- */

static void add_changes(struct session *s, uint32_t changes)
{
    if (changes == 0) return;
    s->changes |= changes;
    s->left = s->group_count;
}

/* A promise has ended or was replaced: groups that lead must check their lease before anything else. */
static void look_at_leases(struct session *s, bool late)
{
    for (uint32_t i = 0; i < s->group_count; i++) {
        struct session_group *group = session_group_at(s, i + 1);
        struct session_step step;
        if (group->role != QUORUM_LEADER) continue;
        session_open(s, group, &step);
        step.q.late = late;
        quorum_tell(&step.q, QUORUM_LAPSED, NULL, 0);
        session_close(s, group, &step);
    }
}

static void see_what_changed(struct session *s, bool late)
{
    bool leases = false;
    for (uint32_t i = 0; i < s->cluster.count; i++) {
        const uint32_t changes = quorum_see_changes(&s->peers[i], &s->backing[i]);
        if (changes & QUORUM_LAPSED) session_retire_cells(s, i + 1);
        leases = leases || changes & QUORUM_LAPSED;
        add_changes(s, changes & ~(uint32_t)QUORUM_LAPSED);
    }
    if (leases) look_at_leases(s, late);
    session_renew_cells(s);
}

static bool is_same_claim(const struct quorum_claim *a, const struct quorum_claim *b)
{
    return a->term == b->term && a->heir == b->heir && a->heir_term == b->heir_term;
}

void session_close(struct session *s, struct session_group *group, struct session_step *step)
{
    const bool late = step->q.late;
    if (step->changes & QUORUM_BURIED) s->obituaries[s->obituary_count++] = step->obituary;
    if (!group) add_changes(s, step->changes & ~(uint32_t)QUORUM_BURIED);
    carry_out(s, group, step);
    if (group) {
        session_compact(group);
        session_heap_update(group, session_first_due(s->work.timers));
        const struct quorum_claim claim = session_claim_of(group);
        if (!is_same_claim(&claim, &step->claim)) postings_post(group);
        postings_tell_news(group, &step->q);
        s->standing += (group->role == QUORUM_CANDIDATE) - (uint32_t)step->stood;
        s->given += is_given(s, group) - (uint32_t)step->gave;
        session_assign_cell(group, &step->q);
        host_group_show(&group->base);
    }
    see_what_changed(s, late);
}

/* ---- Messages ---- */

/* A member that asks for votes wants to lead, even if its posting has not come yet. */
static void let_it_stand(struct session *s, el_node member)
{
    if (s->roles[member - 1] == EL_WITHDRAWN) s->roles[member - 1] = EL_VOTELESS;
    const bool may = s->runner.host->config->members[member - 1].role == CONFIG_VOTER;
    if (may && s->roles[member - 1] == EL_ORDINARY) s->roles[member - 1] = EL_CANDIDATE;
}

bool session_deliver(struct session *s, struct session_group *group, const struct el_msg *m)
{
    const struct host_hooks *hooks = &s->runner.host->hooks;
    struct session_step step;
    if (!el_is_well_formed(&el_quorum, &s->cfg, m)) return false;
    const struct quorum q = {.cfg = &s->cfg, .me = &s->me, .peers = s->peers};
    take_roles(s, group ? session_expand(group) : NULL);
    if (m->kind == QUORUM_VOTE) let_it_stand(s, m->from);
    if (quorum_meets(&q, m)) postings_meet(s, m->from);
    if (group && hooks->heard && quorum_admits(&q, m)) hooks->heard(hooks->context, &group->base, m);
    session_open(s, group, &step);
    step.is_deferrable = m->kind == QUORUM_BEAT && m->flags & QUORUM_DEFERRABLE;
    step.obituary = (struct quorum_obituary){m->subject, quorum_incarnation_about(m)};
    if (m->kind == QUORUM_VOTE) let_it_stand(s, m->from);
    const bool is_admitted = quorum_deliver(&step.q, m);
    session_close(s, group, &step);
    return is_admitted;
}
