/*
 * Makes beats take fewer datagrams. A member that leads or asks for votes needs promises at once: it is *urgent*.
 * We send the answer to any other beat with our own next beat, in one datagram. That is safe, as on a slow network: a promise runs here from when the beat arrived, a lease there from when it was
 * sent.
 *
 * If some member is urgent, the others beat when it does, so that answer and beat leave together. The first
 * urgent member, in the order of members, sets the pace. When its beat arrives, a member whose own beat is due
 * within half an interval sends it now. An urgent member never follows one that comes after itself, so no two
 * drive each other. A member that follows waits 1/16 longer than an interval for the next beat, so that the two
 * do not race.
 */
#include "agent/host/quorum/sessions.h"
#include "algorithms/quorum/bounds.h"

bool session_is_urgent(const struct session *s)
{
    if (s->standing) return true;
    for (uint32_t i = 0; i < s->cell_count; i++)
        if (s->cells[i].groups) return true;
    return false;
}

uint8_t session_beat_flags(const struct session *s, el_node to)
{
    const struct quorum_peer *p = &s->peers[to - 1];
    if (session_is_urgent(s)) return QUORUM_URGENT;
    if (quorum_begins_voteless(&s->cfg, s->cfg.self)) return 0; /* a voter sends us no beats to answer with */
    return p->linked && p->heard && p->lease ? QUORUM_DEFERRABLE : 0;
}

static el_node who_paces(const struct session *s)
{
    for (el_node member = 1; member <= s->cluster.count; member++)
        if (quorum_begins_voteless(&s->cfg, member))
            continue;
        else if (member == s->cfg.self ? session_is_urgent(s)
                                       : s->peers[member - 1].recent && s->urgent >> (member - 1) & 1)
            return member;
    return EL_NOBODY;
}

static uint64_t lease_of(const struct session *s)
{
    return el_number(&s->cfg, QUORUM_OPTION_LEASE);
}

/* 0 if a lease is shorter than four beats: then one lost beat nearly ends it. */
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
    if (quorum_begins_voteless(&s->cfg, msg->to)) return false;
    if (!s->is_on_disk || !quorum_may_hold(&s->cfg, s->cfg.self)) return false; /* we send no beats */
    s->answers[msg->to - 1] = *msg;
    return true;
}

struct el_msg session_take_answer(struct session *s, el_node to)
{
    const struct el_msg answer = s->answers[to - 1];
    s->answers[to - 1] = (struct el_msg){0};
    return answer;
}
