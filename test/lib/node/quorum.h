/*
 * A bench for one member of quorum. Peers speak in their lives (`life`), to ours (`ours`); terms are written
 * counter.proposer. said() compares what was sent, without the header that every message carries:
 *
 *     sit_in_quorum(3, 1);
 *     starts();
 *     asks(2, TERM(2, 2), 7, 0);
 *     said("Grant>2 2.2 echo 7 epoch 0");
 *
 * Times: a lease is 100, a promise 101, a beat 15, asking again 5, the stagger 10; a record reserves 4 terms.
 */
#ifndef ELECTOR_TEST_LIB_NODE_QUORUM_H
#define ELECTOR_TEST_LIB_NODE_QUORUM_H

#include "lib/node/record.h"

#include "algorithms/quorum/quorum.h"

enum { LEASE = 100, PROMISE = 101, BEAT = 15, REASK = 5, STAGGER = 10, BLOCK = 4, MEMBERS_MAX = 9 };
#define TERM(counter, proposer) quorum_term(counter, proposer)
#define WHOLE(counter) quorum_whole(counter)

static struct {
    uint64_t life[MEMBERS_MAX + 1]; /* in which they speak */
    uint64_t ours;                  /* to which of ours; 0: they do not know */
    uint64_t clock;                 /* what they say that they have seen */
} peers;

static inline void sit_in_quorum(uint32_t count, el_node self)
{
    sit("quorum", count, self);
    option("lease", LEASE);
    option("beat", BEAT);
    option("margin", 5);
    option("re-ask", REASK);
    option("stagger", STAGGER);
    option("block", BLOCK);
    for (el_node node = 0; node <= MEMBERS_MAX; node++) peers.life[node] = 1;
    peers.ours = 1;
    peers.clock = 0;
}

/* ---- What peers say ---- */

static inline void hears_from(el_node from, struct el_msg msg)
{
    struct el_event event = {.type = EL_MESSAGE};
    msg.from = from;
    msg.to = seat.cfg.self;
    if (msg.subject == EL_NOBODY) msg.subject = from;
    msg.more = peers.life[from];
    msg.extra[0] = peers.ours;
    msg.extra[1] = peers.clock;
    event.msg = msg;
    seat_step(&event);
}

static inline void beats(el_node from, uint64_t seq, uint8_t flags)
{
    hears_from(from, (struct el_msg){.kind = QUORUM_BEAT, .aux = seq, .flags = flags});
}

static inline void claims(el_node from, uint64_t seq, uint64_t term, el_node heir, uint64_t heir_term)
{
    hears_from(from, (struct el_msg){.kind = QUORUM_BEAT,
                                     .aux = seq,
                                     .flags = QUORUM_LIVE,
                                     .epoch = term,
                                     .subject = heir,
                                     .rank = heir_term});
}

static inline void acks(el_node from, uint64_t echo, uint64_t epoch, uint8_t flags)
{
    hears_from(from, (struct el_msg){.kind = QUORUM_ACK, .aux = echo, .rank = epoch, .flags = flags});
}

static inline void asks(el_node from, uint64_t term, uint64_t seq, uint8_t flags)
{
    hears_from(from, (struct el_msg){.kind = QUORUM_VOTE, .epoch = term, .aux = seq, .flags = flags});
}

static inline void grants(el_node from, uint64_t term, uint64_t echo, uint64_t epoch, uint8_t flags)
{
    hears_from(
        from, (struct el_msg){.kind = QUORUM_GRANT, .epoch = term, .aux = echo, .rank = epoch, .flags = flags});
}

static inline void refuses(el_node from, uint64_t term, uint8_t flags, el_node holder, uint64_t floor)
{
    hears_from(from,
               (struct el_msg){
                   .kind = QUORUM_REFUSE, .epoch = term, .flags = flags, .subject = holder, .rank = floor});
}

static inline void releases(el_node who, uint64_t incarnation, uint64_t term, el_node heir, uint64_t heir_term)
{
    hears_from(who, (struct el_msg){.kind = QUORUM_RELEASE,
                                    .epoch = term,
                                    .subject = who,
                                    .rank = heir_term,
                                    .extra = {0, 0, incarnation, heir}});
}

static inline void obituary(el_node from, el_node who, uint64_t incarnation)
{
    hears_from(from, (struct el_msg){.kind = QUORUM_OBIT, .subject = who, .extra = {0, 0, incarnation}});
}

/* From the guardian of the dead, by way of the host. */
static inline void learns_of_the_end_of(el_node who, uint64_t incarnation)
{
    is_told(QUORUM_FACT_OBITUARY, (uint64_t)who << QUORUM_OBITUARY_SHIFT | incarnation);
}

static inline void checks(el_node from, uint64_t incarnation, uint64_t term)
{
    hears_from(from, (struct el_msg){.kind = QUORUM_CHECK, .epoch = term, .extra = {0, 0, incarnation}});
}

static inline void tells_floor(el_node from, uint64_t nonce, uint64_t clock, uint8_t flags)
{
    const uint64_t before = peers.clock;
    peers.clock = clock;
    hears_from(from, (struct el_msg){.kind = QUORUM_FLOOR, .aux = nonce, .flags = flags});
    peers.clock = before;
}

/* ---- What it did ---- */

static inline void say_term(uint64_t term)
{
    if (term) seat_say(" %llu.%u", (unsigned long long)quorum_counter(term), quorum_proposer(term));
}

static inline void say_details(const struct el_msg *m)
{
    const unsigned long long aux = m->aux, rank = m->rank;
    switch (m->kind) {
    case QUORUM_BEAT:
        if (m->flags & QUORUM_LIVE) seat_say(" live");
        if (m->rank) seat_say(" heir");
        say_term(m->rank);
        return;
    case QUORUM_ACK:
        seat_say(" echo %llu epoch %llu%s", aux, rank, m->flags & QUORUM_PROMISE ? " promise" : "");
        return;
    case QUORUM_VOTE:
        if (m->flags & QUORUM_JOIN) seat_say(" join");
        return;
    case QUORUM_GRANT:
        seat_say(" echo %llu epoch %llu%s", aux, rank, m->flags & QUORUM_JOIN ? " join" : "");
        return;
    case QUORUM_REFUSE:
        if (m->flags & QUORUM_SILENT) seat_say(" silent");
        if (m->flags & QUORUM_TOO_LOW) seat_say(" floor");
        if (m->flags & QUORUM_TOO_LOW) say_term(m->rank);
        if (m->flags & QUORUM_HELD) seat_say(" held by %u", m->subject);
        if (m->flags & QUORUM_FRESH) seat_say(" fresh");
        if (m->flags & QUORUM_ACTIVE) seat_say(" active");
        return;
    case QUORUM_RELEASE:
        if (m->extra[3]) seat_say(" heir");
        say_term(m->rank);
        return;
    case QUORUM_OBIT: seat_say(" %u.%llu", m->subject, (unsigned long long)m->extra[2]); return;
    default: return;
    }
}

static inline void quorum_said(const char *file, int line, const char *expected, bool beats_too)
{
    seat.text[0] = '\0';
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        if (action->type == EL_SAVE) seat_say("%ssave", *seat.text ? "; " : "");
        if (action->type != EL_SEND || (action->msg.kind == QUORUM_BEAT && !beats_too)) continue;
        seat_say("%s%s>%u", *seat.text ? "; " : "", seat.algorithm->kinds[action->msg.kind], action->msg.to);
        say_term(action->msg.epoch);
        say_details(&action->msg);
    }
    if (strcmp(seat.text, expected) != 0)
        seat_fail(file, line, "expected that it said\n    %s\n  but it said\n    %s", expected, seat.text);
}

static inline bool quorum_noted(const char *name)
{
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_NOTE && seat.out.actions[i].note < seat.algorithm->note_count &&
            strcmp(seat.algorithm->notes[seat.out.actions[i].note].name, name) == 0)
            return true;
    return false;
}

/* The last thing that happened to this timer: "arm 15", "move to lease", "disarm", "". */
static inline void quorum_timer_did(const char *file, int line, uint32_t timer, el_node slot,
                                    const char *expected)
{
    char what[64] = "";
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *a = &seat.out.actions[i];
        const bool timed = a->type == EL_ARM || a->type == EL_DISARM || a->type == EL_MOVE;
        if (!timed || a->slot != slot || a->timer != timer) continue;
        if (a->type == EL_DISARM) snprintf(what, sizeof what, "disarm");
        if (a->type == EL_MOVE) snprintf(what, sizeof what, "move to %s", seat_timer(a->to));
        if (a->type != EL_ARM) continue;
        snprintf(what, sizeof what, a->min == a->max ? "arm %llu" : "arm %llu..%llu",
                 (unsigned long long)a->min, (unsigned long long)a->max);
    }
    if (strcmp(what, expected) != 0)
        seat_fail(file, line, "timer %s@%u: expected '%s', got '%s'", seat_timer(timer), slot, expected, what);
}

static inline void quorum_bounded(const char *file, int line, el_node slot)
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    if (view.role != EL_LEADER || view.timer != QUORUM_LEASE || view.slot != slot)
        seat_fail(file, line, "expected to lead by the promise of %u, got role %u, slot %u", slot, view.role,
                  view.slot);
}

/* What was sent but beats, and when something was saved; "" is nothing. */
#define said(expected) quorum_said(__FILE__, __LINE__, expected, false)
#define said_with_beats(expected) quorum_said(__FILE__, __LINE__, expected, true)
#define noted(name) assert_true(quorum_noted(name))
#define not_noted(name) assert_false(quorum_noted(name))
#define timer_did(timer, slot, expected) quorum_timer_did(__FILE__, __LINE__, timer, slot, expected)
#define bounded_by(slot) quorum_bounded(__FILE__, __LINE__, slot)

/* ---- Getting somewhere ---- */

/* All others have answered its first beat. */
static inline void gets_linked(uint64_t echo)
{
    for (el_node peer = 1; peer <= seat.cluster.count; peer++)
        if (peer != seat.cfg.self) acks(peer, echo, 0, QUORUM_PROMISE);
}

static inline void begins(uint32_t count, el_node self)
{
    sit_in_quorum(count, self);
    starts();
}

static inline void stands(uint32_t count, el_node self)
{
    begins(count, self);
    gets_linked(1);
    times_out("stand");
    sees("elects");
}

/* Of three, the first; it leads in term 2.1 by its own vote and that of 2, which answered its question, number 2. */
static inline void leads_in_three(void)
{
    stands(3, 1);
    grants(2, TERM(2, 1), 2, 0, 0);
    sees("leads");
    in_term(TERM(2, 1));
}

#endif
