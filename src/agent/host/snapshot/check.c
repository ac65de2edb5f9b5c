/*
 * Checks an unpacked state, which may come from anybody (pack.c). Rejects numbers that would lead outside an
 * array, into an endless loop or to a trap, before a machine uses them.
 */
#define _GNU_SOURCE
#include "agent/host/quorum/sessions.h"
#include "agent/host/snapshot/words.h"

static bool is_term(uint64_t number)
{
    return number < EL_EPOCH_MAX;
}

static bool is_tenant(const struct quorum_tenant *tenant, uint32_t members)
{
    return tenant->id <= members && is_term(tenant->term);
}

bool host_pack_is_group(const struct quorum_group *g, uint32_t members)
{
    return is_term(g->term) && is_tenant(&g->holder, members) && is_tenant(&g->next, members) &&
           is_tenant(&g->claim, members) && g->claim_heir <= members && is_term(g->claim_heir_term) &&
           g->heir <= members && is_term(g->heir_term) && is_term(g->standing) && is_term(g->done) &&
           g->role <= QUORUM_LEADER && (g->role == QUORUM_IDLE || g->standing) &&
           (!g->next_fresh || g->next.id) && g->told_by <= members;
}

static uint32_t majority_of(const struct config *config)
{
    uint32_t voters = 0;
    for (uint32_t i = 0; i < config->member_count; i++) voters += config_votes(config, i + 1);
    return voters / 2 + 1;
}

static bool is_member(const struct session *s)
{
    const struct quorum_member *me = &s->me;
    return is_term(me->incarnation) && is_term(me->clock) && is_term(me->floor) && is_term(me->ceiling) &&
           me->incarnation == s->peers[s->cfg.self - 1].incarnation &&
           me->majority == majority_of(s->runner.host->config);
}

/* SILENCE and PULSE have slot 0 only, the others a slot per member. next_due is the earliest of all. */
static bool are_timers(const struct session *s)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t timer = 0; timer < QUORUM_ASKED; timer++)
        for (uint32_t slot = 0; slot <= s->cluster.count; slot++) {
            const uint64_t due = s->timers[timer][slot];
            const bool is_nobodys = timer == QUORUM_SILENCE || timer == QUORUM_PULSE;
            if (due != UINT64_MAX && is_nobodys != (slot == 0)) return false;
            if (due < first) first = due;
        }
    return s->next_due == first;
}

bool host_pack_is_session(const struct session *s)
{
    for (uint32_t i = 0; i < s->cluster.count; i++)
        if (!is_term(s->peers[i].incarnation)) return false;
    return is_member(s) && are_timers(s) && s->version < UINT64_MAX / 2;
}
