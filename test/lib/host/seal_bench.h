/*
 * A few seals and the wire between them. A datagram stays in `wire` until the test delivers, loses or changes
 * it. Deliveries are kept as text: "1>2 hello; ".
 */
#ifndef ELECTOR_TEST_LIB_HOST_SEAL_BENCH_H
#define ELECTOR_TEST_LIB_HOST_SEAL_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

enum { NODES = 4, PAYLOAD_MAX = 8192 };

struct packet {
    uint32_t from, to;
    unsigned proofs; /* when it was sent */
    size_t size;
    uint8_t bytes[SEAL_DATAGRAM_MAX];
};

static struct packet wire[PAYLOAD_MAX];
static size_t wired;
static char heard[4096]; /* what fits of it */
static unsigned deliveries;
static unsigned proofs; /* that a peer sent what is being received */
static uint64_t now;
static struct seal *nodes[NODES + 1];
static uint32_t positions[NODES + 1] = {0, 1, 2, 3, 4}; /* whose are the hooks' */
static uint8_t secrets[NODES][SEAL_KEY], publics[NODES][SEAL_KEY];

static inline void put_on_wire(void *context, uint32_t peer, const uint8_t *datagram, size_t size)
{
    assert_true(wired < PAYLOAD_MAX && size <= SEAL_DATAGRAM_MAX);
    struct packet *p = &wire[wired++];
    *p = (struct packet){.from = *(const uint32_t *)context, .to = peer, .proofs = proofs, .size = size};
    memcpy(p->bytes, datagram, size);
}

static inline void write_down(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    const size_t length = strlen(heard);
    snprintf(heard + length, sizeof heard - length, "%u>%u %.*s; ", peer, *(const uint32_t *)context, (int)size,
             (const char *)payload);
    deliveries++;
}

static inline void count_proof(void *context, uint32_t peer)
{
    assert_true(peer >= 1 && peer <= NODES && peer != *(const uint32_t *)context);
    proofs++;
}

static inline void write_obituary(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    const size_t length = strlen(heard);
    snprintf(heard + length, sizeof heard - length, "%u is dead, %u hears: ", peer, *(const uint32_t *)context);
    write_down(context, peer, payload, size);
}

static inline struct seal_config config_of(uint32_t self)
{
    struct seal_config c = {.self = self,
                            .count = NODES,
                            .public_keys = (const uint8_t(*)[SEAL_KEY])publics,
                            .cluster_key_count = 1};
    memcpy(c.secret_key, secrets[self - 1], SEAL_KEY);
    memset(c.cluster_keys[0], 'k', SEAL_KEY);
    memset(c.cluster_id, 'i', SEAL_CLUSTER_ID);
    return c;
}

static inline void start_with(uint32_t node, const struct seal_config *config)
{
    const struct seal_hooks hooks = {.context = &positions[node],
                                     .send = put_on_wire,
                                     .proved = count_proof,
                                     .deliver = write_down,
                                     .deliver_presealed = write_obituary};
    seal_free(nodes[node]);
    nodes[node] = seal_new(config, hooks);
    assert_non_null(nodes[node]);
}

static inline void start(uint32_t node)
{
    const struct seal_config c = config_of(node);
    start_with(node, &c);
}

/* Two fresh nodes, 1 and 2, at an empty wire. */
static inline void begin(void)
{
    for (unsigned i = 0; i < NODES && publics[i][0] == 0 && publics[i][1] == 0; i++)
        assert_true(seal_keygen(secrets[i], publics[i]));
    for (uint32_t i = 1; i <= NODES; i++) {
        seal_free(nodes[i]);
        nodes[i] = NULL;
    }
    now = 1000 * NS_PER_S;
    wired = deliveries = proofs = 0;
    heard[0] = 0;
    start(1);
    start(2);
}

static inline void finish(void)
{
    for (uint32_t i = 1; i <= NODES; i++) {
        seal_free(nodes[i]);
        nodes[i] = NULL;
    }
}

static inline void say(uint32_t from, uint32_t to, const char *text)
{
    seal_send(nodes[from], now, to, (const uint8_t *)text, strlen(text));
}

/* No answer is larger than its question, whatever the test is about. */
static inline void hand_over(const struct packet *p)
{
    const size_t before = wired;
    if (!nodes[p->to]) return;
    seal_receive(nodes[p->to], now, p->from, p->bytes, p->size);
    if (p->bytes[0] != SEAL_INITIATION) return;
    assert_true(wired - before <= 1);
    if (wired > before) assert_true(wire[before].size <= p->size);
}

static inline struct packet take(size_t which)
{
    assert_true(which < wired);
    const struct packet p = wire[which];
    memmove(&wire[which], &wire[which + 1], (wired - which - 1) * sizeof *wire);
    wired--;
    return p;
}

static inline void carry_one(void)
{
    const struct packet p = take(0);
    hand_over(&p);
}

static inline void carry(void)
{
    for (unsigned i = 0; wired > 0; i++) {
        assert_true(i < 10000);
        carry_one();
    }
}

/* Everybody's clock, in steps that are never longer than a node asked for; the wire carries at once. */
static inline void tick_all(void)
{
    for (uint32_t i = 1; i <= NODES; i++)
        if (nodes[i]) assert_true(seal_tick(nodes[i], now) > now);
}

static inline void pass(uint64_t ms)
{
    const uint64_t end = now + ms * NS_PER_MS;
    while (now < end) {
        uint64_t next = end;
        for (uint32_t i = 1; i <= NODES; i++) {
            const uint64_t due = nodes[i] ? seal_tick(nodes[i], now) : UINT64_MAX;
            assert_true(due > now);
            if (due < next) next = due;
        }
        carry();
        now = next;
    }
    tick_all();
    carry();
}

static inline void was_heard(const char *text)
{
    assert_string_equal(heard, text);
    heard[0] = 0;
}

/* 1 and 2 with a session that 1 began, and an empty wire. */
static inline void connect_both(void)
{
    begin();
    say(1, 2, "hello");
    carry();
    say(2, 1, "back");
    carry();
    was_heard("1>2 hello; 2>1 back; ");
    assert_true(seal_is_connected(nodes[1], 2) && seal_is_connected(nodes[2], 1));
}

static inline struct seal_stats stats(uint32_t node)
{
    return seal_stats_of(nodes[node]);
}

static inline uint64_t dropped(uint32_t node)
{
    const struct seal_stats s = stats(node);
    return s.strangers + s.forged + s.replayed + s.malformed + s.rate_limited;
}

#endif
