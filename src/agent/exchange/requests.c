/*
 * Requests of clients, passed on to the agent of the group's leader. A request that gets no answer is sent again every
 * 200 ms. The receiver remembers what it answered, so a request that arrives twice is carried out once. It also names the
 * tenure that it is about, so it cannot concern a later one.
 */
#include <string.h>

#include "agent/exchange/internal.h"
#include "base/clock.h"

static const uint64_t AGAIN_AFTER = NS_PER_S / 5;

static void send_entry(struct exchange *e, el_node to, const struct payload_entry *entry)
{
    struct payload out;
    payload_begin(&out, e->members);
    (void)payload_add(&out, entry);
    e->hooks.send(e->hooks.context, to, out.bytes, out.size);
}

/* ---- Asking ---- */

static struct exchange_pending *places_of(const struct exchange *e, el_node to)
{
    return &e->pending[(size_t)(to - 1) * EXCHANGE_PENDING_MAX];
}

bool exchange_ask(struct exchange *e, uint64_t now, el_node to, const struct payload_entry *entry,
                  uint32_t *request)
{
    struct exchange_pending *place = places_of(e, to);
    uint32_t i = 0;
    while (i < EXCHANGE_PENDING_MAX && place[i].request) i++;
    if (i == EXCHANGE_PENDING_MAX) return false;
    if (++e->requests == 0) e->requests = 1;
    place[i] = (struct exchange_pending){
        .request = e->requests, .to = to, .asked_at = now, .sent_at = now, .entry = *entry};
    place[i].entry.type = PAYLOAD_REQUEST;
    place[i].entry.sequence = e->requests;
    place[i].entry.incarnation = e->incarnation;
    *request = e->requests;
    e->pending_count++;
    send_entry(e, to, &place[i].entry);
    return true;
}

static void free_place(struct exchange *e, struct exchange_pending *place)
{
    place->request = 0;
    e->pending_count--;
}

void exchange_forget(struct exchange *e, uint32_t request)
{
    for (uint32_t i = 0; i < e->config->member_count * EXCHANGE_PENDING_MAX; i++)
        if (e->pending[i].request == request && request) free_place(e, &e->pending[i]);
}

void exchange_on_answer(struct exchange *e, el_node from, const struct payload_entry *entry)
{
    struct exchange_pending *place = places_of(e, from);
    const bool is_known = entry->flags != EXCHANGE_NO_ANSWER && entry->flags < EXCHANGE_OUTCOMES;
    if (entry->answers != e->incarnation || entry->sequence == 0) return;
    for (uint32_t i = 0; i < EXCHANGE_PENDING_MAX; i++) {
        if (place[i].request != entry->sequence) continue;
        free_place(e, &place[i]);
        e->hooks.answered(e->hooks.context, entry->sequence,
                          is_known ? (enum exchange_outcome)entry->flags : EXCHANGE_CANNOT);
        return;
    }
}

uint64_t exchange_tick_requests(struct exchange *e, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    if (e->pending_count == 0) return next;
    for (uint32_t i = 0; i < e->config->member_count * EXCHANGE_PENDING_MAX; i++) {
        struct exchange_pending *p = &e->pending[i];
        if (p->request == 0) continue;
        const uint64_t until = p->asked_at + EXCHANGE_ANSWER_WITHIN_S * NS_PER_S;
        if (now >= until) {
            const uint32_t request = p->request;
            free_place(e, p);
            e->hooks.answered(e->hooks.context, request, EXCHANGE_NO_ANSWER);
            continue;
        }
        if (now >= p->sent_at + AGAIN_AFTER) {
            p->sent_at = now;
            send_entry(e, p->to, &p->entry);
        }
        if (p->sent_at + AGAIN_AFTER < next) next = p->sent_at + AGAIN_AFTER;
        if (until < next) next = until;
    }
    return next;
}

/* ---- Being asked ---- */

static bool has_budget(struct exchange_peer *p, uint64_t now)
{
    if (now - p->budget_at >= NS_PER_S) {
        p->budget_at = now;
        p->budget = EXCHANGE_REQUESTS_A_S;
    }
    if (p->budget == 0) return false;
    p->budget--;
    return true;
}

/* A member without a vote deposes nobody. One with a vote could do so anyway, by what it votes and claims. */
static enum exchange_outcome judge(struct exchange *e, uint64_t now, el_node from,
                                   const struct payload_entry *entry)
{
    if (!config_votes(e->config, from)) return EXCHANGE_NOT_ENTITLED;
    if (!has_budget(&e->peers[from - 1], now)) return EXCHANGE_TOO_MANY;
    return e->hooks.asked(e->hooks.context, from, entry);
}

void exchange_on_request(struct exchange *e, uint64_t now, el_node from, const struct payload_entry *entry)
{
    struct exchange_peer *p = &e->peers[from - 1];
    struct payload_entry answer = {
        .type = PAYLOAD_ANSWER, .sequence = entry->sequence, .answers = entry->incarnation};
    if (entry->sequence == 0) return;
    for (uint32_t i = 0; i < EXCHANGE_ANSWERS_KEPT && answer.flags == 0; i++)
        if (p->given[i].request == entry->sequence && p->given[i].incarnation == entry->incarnation)
            answer.flags = p->given[i].outcome;
    if (answer.flags == 0) {
        answer.flags = (uint8_t)judge(e, now, from, entry);
        p->given[p->given_count++ % EXCHANGE_ANSWERS_KEPT] = (struct exchange_given){
            .incarnation = entry->incarnation, .request = entry->sequence, .outcome = answer.flags};
    }
    send_entry(e, from, &answer);
}
