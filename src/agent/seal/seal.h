/*
 * The seal room authenticates and encrypts the datagrams between members: Noise handshakes (IKpsk2, X25519,
 * ChaCha20-Poly1305, BLAKE2b), then data packets. It knows keys and bytes, no socket and no clock: the caller
 * passes in datagrams and the time, and gets datagrams and payloads through hooks. docs/sealed-traffic.md
 * explains the protocol. Start with seal.c, then internal.h (packet layouts and limits), handshake.c and
 * channel.c.
 *
 * A *channel* is a pair of keys agreed with a peer by one handshake. seal_receive() takes every datagram.
 * seal_on_data() in channel.c authenticates data packets, handshake.c the handshakes. A datagram that
 * fails authentication is counted (struct seal_stats) and dropped without an answer. Without keys (`plain`, all
 * members on loopback) nothing is authenticated: plain.c. presealed.c opens obituaries. No answer is larger than
 * the request.
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
    SEAL_PAYLOAD_MAX = 1152, /* most payload bytes of a datagram */
};

struct seal_config {
    uint32_t self, count;                   /* positions 1..count */
    const uint8_t (*public_keys)[SEAL_KEY]; /* by position - 1 */
    uint8_t secret_key[SEAL_KEY];
    uint8_t cluster_keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY]; /* the first one seals, all of them open */
    uint32_t cluster_key_count;
    uint8_t cluster_id[SEAL_CLUSTER_ID];
    bool plain; /* no keys: the caller has checked that all members are on loopback */
};

struct seal_hooks {
    void *context;
    void (*send)(void *context, uint32_t peer, const uint8_t *datagram, size_t size);
    void (*deliver)(void *context, uint32_t peer, const uint8_t *payload,
                    size_t size); /* authentic, at most once, in any order */
    /* The datagram that is being received is authentic, new and by this peer, which was alive. Before anything is sent or
     * delivered on account of it. Not called without keys. May be NULL. */
    void (*proved)(void *context, uint32_t peer);
    /* As `deliver`, for datagrams that seal_obituary() made, and for no others. NULL: these are dropped. */
    void (*deliver_presealed)(void *context, uint32_t peer, const uint8_t *payload, size_t size);
};

struct seal_stats {
    uint64_t sent, received;                                       /* packets with payload */
    uint64_t handshakes;                                           /* completed */
    uint64_t strangers, forged, replayed, malformed, rate_limited; /* dropped */
};

struct seal;
struct seal *seal_new(const struct seal_config *,
                      struct seal_hooks); /* copies the keys; NULL: out of memory, or libsodium fails */
void seal_free(struct seal *);            /* wipes every key */
/* Whether all keys are in memory that is never swapped out. False: RLIMIT_MEMLOCK is too small for that. */
bool seal_is_locked(const struct seal *);

/* Without a channel it begins a handshake, and keeps the last 16 payloads for up to 2 s until the channel is
 * there. */
void seal_send(struct seal *, uint64_t now_ns, uint32_t peer, const uint8_t *payload, size_t size);
/*
 * `source` says where the datagram came from: the position of the member with that address, or else SEAL_ELSEWHERE
 * plus a hash above 0 of the address. It proves nothing. It only keeps a flood of handshakes from one address from using up
 * what others may ask for.
 */
#define SEAL_ELSEWHERE UINT64_C(64)
void seal_receive(struct seal *, uint64_t now_ns, uint64_t source, const uint8_t *datagram, size_t size);
/* Retries handshakes and renews keys. Returns when to call it again at the latest. */
uint64_t seal_tick(struct seal *, uint64_t now_ns);

/*
 * Seals a datagram that our guardian, which has no keys, sends after our death. It uses the present channel,
 * with counters that ordinary packets never use. The peer opens each at most once, in any order, if it is among
 * the last 2,048. Returns the size of the datagram; 0: there is no channel with that peer.
 */
size_t seal_obituary(struct seal *, uint64_t now_ns, uint32_t peer, const uint8_t *payload, size_t size,
                     uint8_t out[SEAL_DATAGRAM_MAX]);
/* A number for the channel that seal_obituary() would use; 0: none. When it changes, seal the datagrams again:
 * the old channel ends soon. */
uint64_t seal_in_use(struct seal *, uint64_t now_ns, uint32_t peer);

/* Replaces the cluster keys without interruption: present channels last until they are renewed. */
void seal_set_cluster_keys(struct seal *, const uint8_t (*keys)[SEAL_KEY], uint32_t count);
/*
 * This process was restored from a snapshot of its memory, and may seal other words by counters that it has used
 * already. Ends all channels and takes a new boot id, since peers may have seen later initiations of the old one. Begins
 * a handshake with each peer that had a channel; payloads wait for it.
 */
void seal_renew(struct seal *, uint64_t now_ns);
bool seal_is_connected(const struct seal *, uint32_t peer);
struct seal_stats seal_stats_of(const struct seal *);

/* Makes a key pair. False: libsodium found no randomness. */
bool seal_keygen(uint8_t secret_key[SEAL_KEY], uint8_t public_key[SEAL_KEY]);
void seal_public_of(const uint8_t secret_key[SEAL_KEY], uint8_t public_key[SEAL_KEY]);
/* The key that stands for a group's name in payloads: a keyed hash, the same for all members. Never 0. */
uint64_t seal_group_key(const uint8_t cluster_id[SEAL_CLUSTER_ID], const char *name);

#endif
