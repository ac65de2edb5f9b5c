/* See timed_machine.h. */
#include "agent/host/single/timed_machine.h"

#include <stdlib.h>
#include <string.h>

static struct timed_machine_timer *timer_at(const struct timed_machine *m, uint32_t timer, uint32_t slot)
{
    return &m->timers[(size_t)timer * (m->cfg.cluster->count + 1) + slot];
}

static size_t timer_count(const struct timed_machine *m)
{
    return (size_t)m->algorithm->timer_count * (m->cfg.cluster->count + 1);
}

bool timed_machine_init(struct timed_machine *m, const struct el_algorithm *algorithm,
                        const struct el_cluster *cluster, el_node self, struct timed_machine_owner owner)
{
    const uint64_t actions = el_outbox_bound(algorithm, cluster->count);
    *m = (struct timed_machine){.algorithm = algorithm,
                                .cfg = {cluster, self},
                                .owner = owner,
                                .next_due = UINT64_MAX,
                                .out = {.capacity = (uint32_t)actions}};
    m->state = calloc(1, el_state_size(algorithm, cluster->count));
    m->timers = calloc(timer_count(m) + 1, sizeof *m->timers);
    m->out.actions = calloc(actions, sizeof *m->out.actions);
    if (!m->state || !m->timers || !m->out.actions) {
        timed_machine_free(m);
        return false;
    }
    timed_machine_reset(m);
    return true;
}

void timed_machine_reset(struct timed_machine *m)
{
    memset(m->state, 0, el_state_size(m->algorithm, m->cfg.cluster->count));
    for (size_t i = 0; i < timer_count(m); i++)
        m->timers[i] = (struct timed_machine_timer){.deadline = UINT64_MAX};
    m->next_due = UINT64_MAX;
}

void timed_machine_free(struct timed_machine *m)
{
    free(m->state);
    free(m->timers);
    free(m->out.actions);
    *m = (struct timed_machine){0};
}

static void find_next_due(struct timed_machine *m)
{
    m->next_due = UINT64_MAX;
    for (size_t i = 0; i < timer_count(m); i++)
        if (m->timers[i].deadline < m->next_due) m->next_due = m->timers[i].deadline;
}

static void arm(struct timed_machine *m, const struct el_action *action)
{
    const uint64_t now = m->owner.now(m->owner.context), width = action->max - action->min;
    const uint64_t jitter = width ? m->owner.random(m->owner.context) % (width + 1) : 0;
    struct timed_machine_timer *timer = timer_at(m, action->timer, action->slot);
    timer->armed_at = now;
    timer->deadline = action->min + jitter < UINT64_MAX - 1 - now ? now + action->min + jitter : UINT64_MAX - 1;
}

static void move(struct timed_machine *m, const struct el_action *action)
{
    struct timed_machine_timer *from = timer_at(m, action->timer, action->slot);
    if (from->deadline == UINT64_MAX) return;
    *timer_at(m, action->to, action->slot) = *from;
    from->deadline = UINT64_MAX;
}

static void carry_out(struct timed_machine *m)
{
    uint32_t choose = 0;
    for (uint32_t i = 0; i < m->out.count; i++) {
        const struct el_action *action = &m->out.actions[i];
        switch (action->type) {
        case EL_ARM: arm(m, action); break;
        case EL_DISARM: timer_at(m, action->timer, action->slot)->deadline = UINT64_MAX; break;
        case EL_MOVE: move(m, action); break;
        case EL_CHOOSE: choose = action->n; break;
        case EL_SEND:
        case EL_SAVE:
        case EL_NOTE:
        case EL_VERDICT: m->owner.act(m->owner.context, m, action); break;
        }
    }
    find_next_due(m);
    if (choose == 0) return;
    const uint32_t chosen = (uint32_t)(m->owner.random(m->owner.context) % choose);
    timed_machine_step(m, &(struct el_event){.type = EL_CHOSEN, .chosen = chosen});
}

void timed_machine_step(struct timed_machine *m, const struct el_event *event)
{
    el_step(m->algorithm, &m->cfg, m->state, event, &m->out);
    carry_out(m);
}

uint64_t timed_machine_left(const struct timed_machine *m, uint32_t timer, uint32_t slot, uint64_t now)
{
    const uint64_t deadline = timer_at(m, timer, slot)->deadline;
    return deadline != UINT64_MAX && deadline > now ? deadline - now : 0;
}

struct el_view timed_machine_view(const struct timed_machine *m, uint64_t *bound)
{
    struct el_view view = {.timer = EL_NO_TIMER};
    if (m->algorithm->view) m->algorithm->view(m->state, &m->cfg, &view);
    *bound = UINT64_MAX;
    if (view.timer != EL_NO_TIMER) {
        const uint64_t deadline = timer_at(m, view.timer, view.slot)->deadline;
        *bound = deadline == UINT64_MAX ? 0 : deadline; /* not armed: the claim has ended */
    }
    return view;
}

/* The timer that bounds our claim, if it is due; else NULL. */
static struct timed_machine_timer *ended_claim(const struct timed_machine *m, uint64_t now)
{
    uint64_t bound;
    const struct el_view view = timed_machine_view(m, &bound);
    if (view.role != EL_LEADER || view.timer == EL_NO_TIMER || bound > now) return NULL;
    struct timed_machine_timer *timer = timer_at(m, view.timer, view.slot);
    return timer->deadline == UINT64_MAX ? NULL : timer;
}

bool timed_machine_fire(struct timed_machine *m, uint64_t now)
{
    if (m->next_due > now) return false;
    struct timed_machine_timer *first = ended_claim(m, now);
    for (size_t i = 0; !first && i < timer_count(m); i++)
        if (m->timers[i].deadline == m->next_due) first = &m->timers[i];
    const uint32_t place = (uint32_t)(first - m->timers), slots = m->cfg.cluster->count + 1;
    first->deadline = UINT64_MAX;
    timed_machine_step(m, &(struct el_event){.type = EL_TIMER, .timer = place / slots, .slot = place % slots});
    return true;
}
