/*
 * How few datagrams beats take. Whoever leads, or asks for votes, needs promises at once: it is *urgent*. The answer to any other
 * beat waits for our own next beat to its sender, and goes with it. That is no more than a slow network does: a promise runs here
 * from when the beat was heard, and a lease there from when it was sent.
 *
 * So that answer and beat leave together where somebody presses, members beat in its time. The first of those who press, in the
 * order of members, paces: whoever hears its beat and would beat soon does so now. Nobody who presses follows one that comes
 * after itself, so no two can drive each other, and nobody beats twice within half an interval. Who follows waits a little longer than an
 * interval for the next beat to follow, or the two would race.
 */
#include "agent/host/quorum/session.h"
#include "algorithms/quorum/bounds.h"

static bool is_urgent(const struct session *s)
{
    if (s->standing) return true;
    for (uint32_t i = 0; i < s->cell_count; i++)
        if (s->cells[i].groups) return true;
    return false;
}

uint8_t session_beat_flags(const struct session *s, el_node to)
{
    const struct quorum_peer *p = &s->peers[to - 1];
    if (is_urgent(s)) return QUORUM_URGENT;
    return p->linked && p->heard && p->lease ? QUORUM_DEFERRABLE : 0;
}

static el_node who_paces(const struct session *s)
{
    for (el_node member = 1; member <= s->cluster.count; member++)
        if (member == s->cfg.self ? is_urgent(s) : s->peers[member - 1].recent && s->urgent >> (member - 1) & 1)
            return member;
    return EL_NOBODY;
}

static uint64_t lease_of(const struct session *s)
{
    return el_number(&s->cfg, QUORUM_OPTION_LEASE);
}

/* Where a lease is so short that a lost beat nearly ends it, nobody waits. */
uint64_t session_lag(const struct session *s, uint64_t interval)
{
    const el_node pace = who_paces(s);
    const bool is_tight = 4 * interval > lease_of(s);
    return pace == EL_NOBODY || pace == s->cfg.self || is_tight ? 0 : interval / 16;
}

uint64_t session_leniency(const struct session *s, uint64_t recent)
{
    return quorum_leniency_ns(lease_of(s), recent);
}

bool session_hear_pace(struct session *s, const struct el_msg *beat)
{
    const uint64_t bit = UINT64_C(1) << (beat->from - 1), due = s->timers[QUORUM_PULSE][0];
    s->urgent = beat->flags & QUORUM_URGENT ? s->urgent | bit : s->urgent & ~bit;
    return who_paces(s) == beat->from &&
           due - host_now(s->runner.host) <= el_number(&s->cfg, QUORUM_OPTION_BEAT) / 2;
}

/* ---- Answers that wait ---- */

bool session_keep_answer(struct session *s, const struct el_msg *msg)
{
    if (msg->kind != QUORUM_ACK || !(msg->flags & QUORUM_PROMISE)) return false;
    if (!s->is_on_disk || !quorum_may_hold(&s->cfg, s->cfg.self)) return false; /* who does not beat answers */
    s->answers[msg->to - 1] = *msg;
    return true;
}

struct el_msg session_take_answer(struct session *s, el_node to)
{
    const struct el_msg answer = s->answers[to - 1];
    s->answers[to - 1] = (struct el_msg){0};
    return answer;
}
