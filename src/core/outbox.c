/* Filling the outbox. Each algorithm states its bound, so an overflow is a programmer error and traps. */
#include "core/machine.h"

static struct el_action *next_of(struct el_outbox *out, enum el_action_type type, uint32_t timer, uint32_t slot)
{
    el_require(out->count < out->capacity);
    struct el_action *action = &out->actions[out->count++];
    *action = (struct el_action){.type = type, .timer = timer, .slot = slot};
    return action;
}

static struct el_action *next(struct el_outbox *out, enum el_action_type type)
{
    return next_of(out, type, EL_NO_TIMER, 0);
}

void el_send(struct el_outbox *out, const struct el_config *cfg, el_node to, struct el_msg msg)
{
    el_send_with_left(out, cfg, to, msg, EL_NO_TIMER, 0);
}

void el_send_with_left(struct el_outbox *out, const struct el_config *cfg, el_node to, struct el_msg msg,
                       uint32_t timer, uint32_t slot)
{
    el_require(to >= 1 && to <= cfg->cluster->count && to != cfg->self);
    struct el_action *action = next_of(out, EL_SEND, timer, slot);
    action->msg = msg;
    action->msg.from = cfg->self;
    action->msg.to = to;
}

void el_arm(struct el_outbox *out, uint32_t timer, uint32_t slot, el_duration min, el_duration max)
{
    el_require(min <= max);
    struct el_action *action = next_of(out, EL_ARM, timer, slot);
    action->min = min;
    action->max = max;
}

void el_disarm(struct el_outbox *out, uint32_t timer, uint32_t slot)
{
    (void)next_of(out, EL_DISARM, timer, slot);
}

void el_move(struct el_outbox *out, uint32_t timer, uint32_t to, uint32_t slot)
{
    next_of(out, EL_MOVE, timer, slot)->to = to;
}

void el_save(struct el_outbox *out, struct el_durable durable)
{
    next(out, EL_SAVE)->durable = durable;
}

void el_choose(struct el_outbox *out, uint32_t n)
{
    el_require(n > 0);
    next(out, EL_CHOOSE)->n = n;
}

void el_note(struct el_outbox *out, uint32_t note, uint64_t first, uint64_t second)
{
    struct el_action *action = next(out, EL_NOTE);
    action->note = note;
    action->values[0] = first;
    action->values[1] = second;
}

void el_verdict(struct el_outbox *out, el_node peer, bool suspected)
{
    struct el_action *action = next(out, EL_VERDICT);
    action->peer = peer;
    action->suspected = suspected;
}
