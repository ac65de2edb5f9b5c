/* See reliable_link.h. */
#include "agent/peer/reliable_link.h"

#include <string.h>

static const uint64_t PAUSE_FIRST = 20000000, PAUSE_MOST = 500000000; /* 20 ms, 500 ms */

static void begin_anew(struct reliable_link *link, const struct reliable_link_hooks *hooks)
{
    link->incarnation = hooks->random(hooks->context) | 1;
    link->first = 1;
    link->pause = PAUSE_FIRST;
}

void reliable_link_init(struct reliable_link *link, el_node peer, const struct reliable_link_hooks *hooks)
{
    *link =
        (struct reliable_link){.peer = peer, .retry_at = UINT64_MAX, .boot = hooks->random(hooks->context) | 1};
    begin_anew(link, hooks);
}

void reliable_link_begin_anew(struct reliable_link *link, const struct reliable_link_hooks *hooks)
{
    link->count = 0;
    link->is_full = false;
    link->retry_at = UINT64_MAX;
    begin_anew(link, hooks);
}

static void send_one(const struct reliable_link *link, const struct reliable_link_hooks *hooks, uint32_t place)
{
    struct payload_entry entry = {.type = PAYLOAD_LINKED,
                                  .incarnation = link->incarnation,
                                  .sequence = link->first + place,
                                  .msg = link->waiting[place].msg};
    hooks->send(hooks->context, link->peer, &entry);
}

void reliable_link_send(struct reliable_link *link, const struct reliable_link_hooks *hooks, uint64_t now,
                        const struct el_msg *msg)
{
    if (link->count == LINK_WAITING_MAX) {
        link->is_full = true;
        return;
    }
    link->waiting[link->count++] = (struct reliable_link_waiting){*msg, now};
    if (link->retry_at == UINT64_MAX) link->retry_at = now + link->pause;
    send_one(link, hooks, link->count - 1);
}

static void drop_first(struct reliable_link *link, uint32_t count)
{
    link->count -= count;
    link->first += count;
    memmove(link->waiting, link->waiting + count, link->count * sizeof *link->waiting);
    if (link->count == 0) link->retry_at = UINT64_MAX;
}

/* Whether it is one of the last LINK_PAST incarnations that another has replaced. */
static bool was_retired(const uint64_t past[LINK_PAST], uint64_t incarnation)
{
    for (uint32_t i = 0; i < LINK_PAST; i++)
        if (past[i] == incarnation) return incarnation != 0;
    return false;
}

static void retire(uint64_t past[LINK_PAST], uint64_t incarnation)
{
    memmove(past + 1, past, (LINK_PAST - 1) * sizeof *past);
    past[0] = incarnation;
}

static void acknowledge(const struct reliable_link *link, const struct reliable_link_hooks *hooks)
{
    struct payload_entry entry = {.type = PAYLOAD_LINK_ACK,
                                  .incarnation = link->boot,
                                  .answers = link->their_incarnation,
                                  .sequence = link->expected - 1};
    hooks->send(hooks->context, link->peer, &entry);
}

static void on_message(struct reliable_link *link, const struct reliable_link_hooks *hooks,
                       const struct payload_entry *entry)
{
    if (entry->incarnation != link->their_incarnation) {
        if (was_retired(link->their_past, entry->incarnation)) return; /* a delayed duplicate */
        retire(link->their_past, link->their_incarnation);
        link->their_incarnation = entry->incarnation;
        link->expected = 1;
    }
    const bool is_next = entry->sequence == link->expected;
    if (is_next) link->expected++;
    acknowledge(link, hooks); /* before delivery, which may send an answer */
    if (is_next) hooks->deliver(hooks->context, &entry->msg);
}

/* Numbers the waiting messages from 1, in a new incarnation, and sends them. */
static void renumber(struct reliable_link *link, const struct reliable_link_hooks *hooks, uint64_t now)
{
    begin_anew(link, hooks);
    for (uint32_t i = 0; i < link->count; i++) send_one(link, hooks, i);
    link->retry_at = link->count ? now + link->pause : UINT64_MAX;
}

static void on_ack(struct reliable_link *link, const struct reliable_link_hooks *hooks, uint64_t now,
                   const struct payload_entry *entry)
{
    if (entry->answers != link->incarnation) return;
    if (entry->incarnation != link->receiver) {
        if (was_retired(link->past_receivers, entry->incarnation)) return;
        const bool is_another = link->receiver != 0;
        retire(link->past_receivers, link->receiver);
        link->receiver = entry->incarnation;
        if (is_another && link->first > 1) { /* the peer has restarted and expects number 1 */
            renumber(link, hooks, now);
            return;
        }
    }
    const uint32_t done = entry->sequence + 1 - link->first;
    if (done == 0 || done > link->count) return;
    link->pause = PAUSE_FIRST;
    drop_first(link, done);
    if (link->count) link->retry_at = now + link->pause;
}

void reliable_link_receive(struct reliable_link *link, const struct reliable_link_hooks *hooks, uint64_t now,
                           const struct payload_entry *entry)
{
    if (entry->type == PAYLOAD_LINKED)
        on_message(link, hooks, entry);
    else
        on_ack(link, hooks, now, entry);
}

/* Some may have arrived. A new incarnation makes sure that the peer neither waits for one nor gets one
 * twice. */
static void fail_all(struct reliable_link *link, const struct reliable_link_hooks *hooks)
{
    struct el_msg failed[LINK_WAITING_MAX];
    const uint32_t count = link->count;
    for (uint32_t i = 0; i < count; i++) failed[i] = link->waiting[i].msg;
    drop_first(link, count);
    link->is_full = false;
    begin_anew(link, hooks);
    for (uint32_t i = 0; i < count; i++) hooks->failed(hooks->context, &failed[i]); /* which may send */
}

uint64_t reliable_link_tick(struct reliable_link *link, const struct reliable_link_hooks *hooks, uint64_t now,
                            uint64_t patience)
{
    if (link->count && (link->is_full || now - link->waiting[0].since >= patience)) {
        fail_all(link, hooks);
        return UINT64_MAX;
    }
    if (link->retry_at <= now) {
        for (uint32_t i = 0; i < link->count; i++) send_one(link, hooks, i);
        link->pause = link->pause * 2 < PAUSE_MOST ? link->pause * 2 : PAUSE_MOST;
        link->retry_at = link->count ? now + link->pause : UINT64_MAX;
    }
    if (link->count == 0) return UINT64_MAX;
    const uint64_t end = link->waiting[0].since + patience;
    return end < link->retry_at ? end : link->retry_at;
}
