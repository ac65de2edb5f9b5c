/*
 * Sealed traffic with every peer: Noise handshakes (IKpsk2, X25519, ChaCha20-Poly1305, BLAKE2b) and the packets after
 * them. No socket and no clock in here: the caller hands in bytes and the time, and is called back with bytes.
 *
 * Who does not authenticate gets no answer. No answer is larger than what asked for it.
 */
#ifndef ELECTOR_AGENT_SEAL_SEAL_H
#define ELECTOR_AGENT_SEAL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEAL_KEY = 32,
    SEAL_CLUSTER_ID = 16,
    SEAL_CLUSTER_KEYS_MAX = 4,
    SEAL_PEERS_MAX = 64,
    SEAL_DATAGRAM_MAX = 1200,
    SEAL_PAYLOAD_MAX = 1152, /* what fits into a datagram beside the seal */
};

struct seal_config {
    uint32_t self, count;                   /* positions 1..count */
    const uint8_t (*public_keys)[SEAL_KEY]; /* by position - 1 */
    uint8_t secret_key[SEAL_KEY];
    uint8_t cluster_keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY]; /* the first seals; all open: add, use, retire */
    uint32_t cluster_key_count;
    uint8_t cluster_id[SEAL_CLUSTER_ID];
    bool plain; /* no keys at all: for loopback, where the caller has made sure of it */
};

struct seal_hooks {
    void *context;
    void (*send)(void *context, uint32_t peer, const uint8_t *datagram, size_t size);
    void (*deliver)(void *context, uint32_t peer, const uint8_t *payload,
                    size_t size); /* authentic, in no order, once */
    /* The same of what seal_obituary() sealed, and of nothing else. NULL: nobody listens to it. */
    void (*bury)(void *context, uint32_t peer, const uint8_t *payload, size_t size);
};

struct seal_stats {
    uint64_t sent, received;                                       /* packets with payload */
    uint64_t handshakes;                                           /* completed */
    uint64_t strangers, forged, replayed, malformed, rate_limited; /* dropped */
};

struct seal;
struct seal *seal_new(const struct seal_config *,
                      struct seal_hooks); /* copies; NULL: no memory, or libsodium fails */
void seal_free(struct seal *);            /* wipes every key */

/* Without a session yet it begins a handshake, and keeps the last few payloads for when it is done. */
void seal_send(struct seal *, uint64_t now_ns, uint32_t peer, const uint8_t *payload, size_t size);
void seal_receive(struct seal *, uint64_t now_ns, const uint8_t *datagram, size_t size);
/* Handshakes again and new keys in time. Returns when it wants to be called next, at the latest. */
uint64_t seal_tick(struct seal *, uint64_t now_ns);

/*
 * Seals what is to be sent only after our death, by somebody who has no keys: under the session in use, with counters
 * that ordinary packets never have. Each can be opened once, in any order, if it is among the last 2,048. Writes a datagram and
 * returns its size; 0: there is no session with that peer.
 */
size_t seal_obituary(struct seal *, uint64_t now_ns, uint32_t peer, const uint8_t *payload, size_t size,
                     uint8_t out[SEAL_DATAGRAM_MAX]);
/* Which session that would be; 0: none. Once it is another, what was sealed before is soon worth nothing. */
uint64_t seal_in_use(struct seal *, uint64_t now_ns, uint32_t peer);

/* Another ring of cluster keys, without a gap: sessions that stand go on until they are renewed. */
void seal_set_cluster_keys(struct seal *, const uint8_t (*keys)[SEAL_KEY], uint32_t count);
bool seal_is_connected(const struct seal *, uint32_t peer);
struct seal_stats seal_stats_of(const struct seal *);

/* A new pair; false if there is no randomness to be had. */
bool seal_keygen(uint8_t secret_key[SEAL_KEY], uint8_t public_key[SEAL_KEY]);
void seal_public_of(const uint8_t secret_key[SEAL_KEY], uint8_t public_key[SEAL_KEY]);
/* Group names travel as this: a keyed hash, the same for all members. Never 0. */
uint64_t seal_group_key(const uint8_t cluster_id[SEAL_CLUSTER_ID], const char *name);

#endif
