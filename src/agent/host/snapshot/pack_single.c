/*
 * A group of another algorithm than quorum as bytes, and back: see pack.c. By contract (elector/core.h) a
 * machine's state is plain bytes, so it is copied, with its timers. Messages that wait are checked, so that
 * neither machines nor links trap on them.
 */
#define _GNU_SOURCE
#include "agent/host/internal.h"
#include "agent/host/snapshot/words.h"

/* Whether this member could have sent the message. */
static bool is_ours(const struct host_single *g, const struct timed_machine *m, const struct el_msg *msg)
{
    const uint32_t count = g->cluster.count;
    return msg->from == g->runner.host->config->self && msg->to >= 1 && msg->to <= count && msg->subject >= 1 &&
           msg->subject <= count && msg->kind >= 1 && msg->kind <= m->algorithm->kind_count &&
           msg->spare == 0 && msg->epoch < EL_EPOCH_MAX;
}

static void pack_machine(const struct pack *p, struct timed_machine *m)
{
    const uint32_t slots = p->members + 1;
    sparse(p, m->state, el_state_size(m->algorithm, p->members));
    for (uint32_t i = 0; i < m->algorithm->timer_count * slots; i++) {
        dues(p, &m->timers[i].deadline, 1);
        word(p, &m->timers[i].armed_at);
    }
    dues(p, &m->next_due, 1);
}

static void pack_link(const struct pack *p, const struct host_single *g, struct reliable_link *link)
{
    word(p, &link->incarnation);
    word32(p, &link->first, UINT32_MAX);
    flag(p, &link->is_full);
    word32(p, &link->count, LINK_WAITING_MAX);
    dues(p, &link->retry_at, 1);
    word(p, &link->pause);
    word(p, &link->their_incarnation);
    word32(p, &link->expected, UINT32_MAX);
    word(p, &link->boot);
    word(p, &link->receiver);
    words(p, link->past_receivers, LINK_PAST);
    words(p, link->their_past, LINK_PAST);
    for (uint32_t i = 0; i < link->count; i++) {
        struct reliable_link_waiting *waiting = &link->waiting[i];
        sparse(p, &waiting->msg, sizeof waiting->msg);
        word(p, &waiting->since);
        if (!is_ours(g, &g->election, &waiting->msg)) wrong(p);
    }
}

static void pack_held(const struct pack *p, struct host_single *g)
{
    word32(p, &g->held_count, HOST_HELD_MAX);
    for (uint32_t i = 0; i < g->held_count; i++) {
        struct host_held *held = &g->held[i];
        sparse(p, &held->msg, sizeof held->msg);
        word32(p, &held->timer, UINT32_MAX);
        word32(p, &held->slot, p->members);
        flag(p, &held->from_detector);
        const struct timed_machine *m = held->from_detector ? &g->detector : &g->election;
        if ((held->from_detector && !g->has_detector) || !is_ours(g, m, &held->msg) ||
            (held->timer != EL_NO_TIMER && held->timer >= m->algorithm->timer_count)) {
            wrong(p);
            return;
        }
    }
}

static void pack_member(const struct pack *p, struct host_single *g, uint32_t i)
{
    word(p, &g->priorities[i]);
    word(p, &g->ranks[i]);
    byte(p, &g->roles[i], EL_OBSERVER);
    word(p, &g->stood_at[i]);
    word(p, &g->stands_since[i]);
    word32(p, &g->preempt_after_ms[i], UINT32_MAX);
    flag(p, &g->suspected[i]);
    flag(p, &g->leads[i]);
    if (g->has_links) pack_link(p, g, &g->links[i]);
}

/* If you add a field, pack it or decide not to, and update the size here. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct host_single) == 29312, "a new field is packed");
_Static_assert(sizeof(void *) != 8 || (sizeof(struct reliable_link) == 5776 &&
                                       sizeof(struct timed_machine) == 96 && sizeof(struct host_held) == 96),
               "so is one of what it has of others");

void host_pack_solo(const struct pack *p, struct host_single *g)
{
    host_pack_base(p, &g->base);
    word(p, &g->shown_deadline);
    pack_machine(p, &g->election);
    if (g->has_detector) pack_machine(p, &g->detector);
    dues(p, &g->links_due, 1);
    word32(p, &g->round, UINT32_MAX);
    word32(p, &g->fruitless, UINT32_MAX);
    word(p, &g->unsettled_since);
    word(p, &g->saved_by);
    for (uint32_t i = 0; i < p->members; i++) pack_member(p, g, i);
    pack_held(p, g);
}
