/*
 * Two writes prove that a session lives (renewal.h): exhausted. A client with one session, a server that notes what it hears and
 * reports it to the leader at least every half tick, and the leader, which keeps the time of the last report. Every order of asking,
 * writing, hearing, answering, reporting, failing, noticing and reconnecting is tried, up to a number of instants. Whenever renewal.c
 * says that a number is proved, the leader must have heard of the session after everybody who waits for that number had asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engines/zookeeper/renewal.h"

enum { HALF_TICK = 2, GAP = HALF_TICK + 1, INSTANTS = 7, FAILURES = 1, ASKED = 2, NUMBERS = 32 };
enum { TABLE_BITS = 22, STACK_MAX = 1 << 16 };

enum flight { NOTHING, REQUEST, ANSWER };

struct world {
    struct renewal renewal;
    uint8_t now, failures, asked, flight;
    bool lives, noted, is_connected, has_asked;
    uint8_t reported_at;       /* by this server, the last time */
    uint8_t leader_heard_at;   /* of the session */
    uint8_t asked_at[NUMBERS]; /* the last one who waits for this number, + 1; 0: nobody */
};

static struct walk {
    uint64_t *seen; /* fingerprints; 0 is free */
    struct world *stack;
    uint32_t depth;
    uint64_t worlds, proofs;
} walk;

static uint64_t fingerprint(const struct world *w)
{
    const unsigned char *bytes = (const unsigned char *)w;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < sizeof *w; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

static void visit(const struct world *w)
{
    const uint64_t hash = fingerprint(w), mask = (UINT64_C(1) << TABLE_BITS) - 1;
    uint64_t at = hash & mask;
    while (walk.seen[at] && walk.seen[at] != hash) at = (at + 1) & mask;
    if (walk.seen[at]) return;
    walk.seen[at] = hash;
    walk.worlds++;
    assert_true(walk.worlds < mask / 2 && walk.depth < STACK_MAX);
    walk.stack[walk.depth++] = *w;
}

static void is_proved(struct world *w, uint64_t number)
{
    assert_true(number < NUMBERS);
    for (uint64_t i = 0; i <= number; i++) {
        if (w->asked_at[i] == 0) continue;
        if (w->leader_heard_at < w->asked_at[i] - 1)
            fail_msg("number %d is proved at %d, was asked for at %d, and the leader heard last at %d", (int)i,
                     w->now, w->asked_at[i] - 1, w->leader_heard_at);
        walk.proofs++;
        w->asked_at[i] = 0;
    }
}

static void try_the_client(const struct world *w)
{
    struct world next = *w;
    if (!w->has_asked && w->asked < ASKED) {
        const uint64_t number = renewal_ask(&next.renewal);
        assert_true(number < NUMBERS);
        next.asked_at[number] = (uint8_t)(w->now + 1);
        next.has_asked = true;
        next.asked++;
        visit(&next);
    }
    next = *w;
    if (w->is_connected && renewal_due(&w->renewal) <= w->now) {
        renewal_sent(&next.renewal, w->now);
        next.flight = w->lives ? REQUEST : NOTHING;
        visit(&next);
    }
    next = *w;
    if (w->is_connected && w->flight == ANSWER) {
        next.flight = NOTHING;
        is_proved(&next, renewal_answered(&next.renewal, w->now));
        visit(&next);
    }
    next = *w;
    if (w->is_connected && !w->lives) {
        next.is_connected = false;
        next.flight = NOTHING;
        renewal_broken(&next.renewal);
        visit(&next);
    }
    next = *w;
    if (!w->is_connected) { /* to another server, which asks the leader whether the session lives */
        next.is_connected = next.lives = true;
        next.noted = false;
        next.reported_at = next.leader_heard_at = w->now;
        is_proved(&next, renewal_connected(&next.renewal));
        visit(&next);
    }
}

static void try_the_server(const struct world *w)
{
    struct world next = *w;
    if (!w->lives) return;
    if (w->flight == REQUEST) {
        next.flight = ANSWER;
        next.noted = true;
        visit(&next);
    }
    next = *w;
    next.reported_at = w->now;
    if (w->noted) next.leader_heard_at = w->now;
    next.noted = false;
    visit(&next);
    next = *w;
    if (w->failures == FAILURES) return;
    next.failures++;
    next.lives = next.noted = false;
    if (w->flight == REQUEST) next.flight = NOTHING;
    visit(&next);
}

static void let_time_pass(const struct world *w)
{
    struct world next = *w;
    if (w->now == INSTANTS || (w->lives && w->now - w->reported_at >= HALF_TICK)) return;
    next.now++;
    next.has_asked = false;
    visit(&next);
}

static void what_is_proved_was_heard_by_the_leader(void **state)
{
    struct world first;
    (void)state;
    walk.seen = calloc((size_t)1 << TABLE_BITS, sizeof *walk.seen);
    walk.stack = calloc(STACK_MAX, sizeof *walk.stack);
    assert_true(walk.seen && walk.stack);
    memset(&first, 0, sizeof first);
    renewal_init(&first.renewal, GAP);
    (void)renewal_connected(&first.renewal);
    first.lives = first.is_connected = true;
    visit(&first);
    while (walk.depth > 0) {
        const struct world world = walk.stack[--walk.depth];
        try_the_client(&world);
        try_the_server(&world);
        let_time_pass(&world);
    }
    printf("%llu worlds, %llu proofs\n", (unsigned long long)walk.worlds, (unsigned long long)walk.proofs);
    assert_true(walk.proofs > 100);
    free(walk.seen);
    free(walk.stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_proved_was_heard_by_the_leader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
