/*
 * One step: check the event, empty the outbox, run the handler. Nothing here knows any algorithm, and no
 * algorithm repeats these checks.
 */
#include "core/machine.h"

bool el_is_well_formed(const struct el_algorithm *algorithm, const struct el_config *cfg,
                       const struct el_msg *m)
{
    const uint32_t count = cfg->cluster->count;
    return m->kind >= 1 && m->kind <= algorithm->kind_count && m->from >= 1 && m->from <= count &&
           m->from != cfg->self && m->to == cfg->self && m->subject >= 1 && m->subject <= count &&
           m->spare == 0 && m->epoch < EL_EPOCH_MAX;
}

static void on_message(const struct el_algorithm *algorithm, const struct el_config *cfg, void *state,
                       const struct el_event *event, struct el_outbox *out)
{
    if (!el_is_well_formed(algorithm, cfg, &event->msg)) {
        el_note(out, EL_NOTE_MALFORMED, event->msg.kind, event->msg.from);
    } else if (algorithm->on_arrival) {
        algorithm->on_arrival(state, cfg, &event->msg, event->elapsed, out);
    } else if (algorithm->on_message) {
        algorithm->on_message(state, cfg, &event->msg, out);
    }
}

/* Only a fresh member is told of an initial leader, and only if that member may lead. */
static void on_start(const struct el_algorithm *algorithm, const struct el_config *cfg, void *state,
                     const struct el_event *event, struct el_outbox *out)
{
    struct el_start start = event->start;
    el_require(start.incumbent <= cfg->cluster->count);
    if (start.how != EL_FRESH || (start.incumbent && !el_may_lead(cfg->cluster, start.incumbent)))
        start.incumbent = EL_NOBODY;
    if (algorithm->on_start) algorithm->on_start(state, cfg, &start, out);
}

/* Every algorithm accepts a campaign; only some accept RESIGN and TRANSFER. */
static enum el_answer answer(const struct el_algorithm *algorithm, const struct el_config *cfg, void *state,
                             const struct el_event *event, struct el_outbox *out)
{
    if (event->request != EL_CAMPAIGN)
        return algorithm->on_request ? algorithm->on_request(state, cfg, event->request, event->peer, out)
                                     : EL_UNKNOWN_HERE;
    if (algorithm->on_campaign) algorithm->on_campaign(state, cfg, out);
    return algorithm->on_campaign ? EL_PERFORMED : EL_UNKNOWN_HERE;
}

static void on_request(const struct el_algorithm *algorithm, const struct el_config *cfg, void *state,
                       const struct el_event *event, struct el_outbox *out)
{
    const enum el_answer said = answer(algorithm, cfg, state, event, out);
    if (said != EL_PERFORMED) el_note(out, EL_NOTE_DECLINED, event->request, said);
}

uint64_t el_state_size(const struct el_algorithm *algorithm, uint32_t count)
{
    return algorithm->state_bytes + (uint64_t)algorithm->state_sets * el_set_words(count) * sizeof(uint64_t) +
           (uint64_t)algorithm->state_per_member * count;
}

uint64_t el_outbox_bound(const struct el_algorithm *algorithm, uint32_t count)
{
    return algorithm->outbox_fixed + (uint64_t)algorithm->outbox_per_member * count;
}

void el_step(const struct el_algorithm *algorithm, const struct el_config *cfg, void *state,
             const struct el_event *event, struct el_outbox *out)
{
    const uint32_t count = cfg->cluster->count;
    el_require(cfg->self >= 1 && cfg->self <= count);
    out->count = 0;

    switch (event->type) {
    case EL_START: on_start(algorithm, cfg, state, event, out); return;
    case EL_MESSAGE: on_message(algorithm, cfg, state, event, out); return;
    case EL_UNSENT: /* our own message, returned by our host */
        el_require(event->msg.from == cfg->self);
        if (algorithm->on_unsent) algorithm->on_unsent(state, cfg, &event->msg, out);
        return;
    case EL_TIMER:
        el_require(event->timer < algorithm->timer_count && event->slot <= count);
        if (algorithm->on_timer) algorithm->on_timer(state, cfg, event->timer, event->slot, out);
        return;
    case EL_SUSPECT:
    case EL_TRUST:
        el_require(event->peer >= 1 && event->peer <= count && event->peer != cfg->self);
        if (event->type == EL_SUSPECT && algorithm->on_suspect)
            algorithm->on_suspect(state, cfg, event->peer, out);
        if (event->type == EL_TRUST && algorithm->on_trust) algorithm->on_trust(state, cfg, event->peer, out);
        return;
    case EL_CHOSEN:
        if (algorithm->on_chosen) algorithm->on_chosen(state, cfg, event->chosen, out);
        return;
    case EL_FACT:
        el_require(event->fact < algorithm->fact_count);
        if (algorithm->on_fact) algorithm->on_fact(state, cfg, event->fact, event->value, out);
        return;
    case EL_REQUEST:
        el_require(event->peer <= count && (event->request == EL_TRANSFER) == (event->peer != EL_NOBODY));
        on_request(algorithm, cfg, state, event, out);
        return;
    }
    el_require(false);
}
