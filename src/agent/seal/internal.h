/*
 * Shared by the files of the seal room: packet layouts, limits, and the state of each peer.
 *
 *   initiation  type version 0 0 | index of the initiator (4) | Noise's first message (120) | tag (16)
 *               | mac (16)
 *
 *   answer      type version 0 0 | index of the responder (4) | of the initiator (4) | Noise's second (64)
 *               | tag (16)
 *
 *   data        type version 0 0 | index of the receiver (4) | counter (8) | sealed payload (16 more than plain)
 *               (the counter's top bit is set in packets sealed in advance: presealed.c)
 *
 *   plain       magic (4) | version sender 0 0 | boot id (16) | counter (8) | mark of the cluster (8) | payload
 *
 * The mac is keyed by the cluster's id and the responder's public key, the tag by a cluster key. Each covers
 * all bytes before it. They are checked first, so that a sender outside the cluster cannot cause a curve
 * operation.
 */
#ifndef ELECTOR_AGENT_SEAL_INTERNAL_H
#define ELECTOR_AGENT_SEAL_INTERNAL_H

#include "agent/seal/noise.h"
#include "agent/seal/replay_window.h"
#include "agent/seal/seal.h"
#include "base/clock.h"

#define SEAL_REKEY_NS (120 * NS_PER_S) /* age at which the channel's initiator begins another handshake, */
#define SEAL_REKEY_OTHER_NS (150 * NS_PER_S)  /* at which the responder does, */
#define SEAL_LAST_SEND_NS (170 * NS_PER_S)    /* after which nothing is sealed with it, */
#define SEAL_DEAD_NS (180 * NS_PER_S)         /* and at which it is wiped */
#define SEAL_LAST_COUNTER (UINT64_C(1) << 60) /* a channel seals at most this many packets */
#define SEAL_IN_ADVANCE (UINT64_C(1) << 63)   /* counters of packets sealed in advance start here */
#define SEAL_TIE_NS (5 * NS_PER_S) /* channels closer together than this were begun by both sides at once */

#define SEAL_RETRY_NS (250 * NS_PER_MS)
#define SEAL_RETRY_MAX_NS (5 * NS_PER_S)
#define SEAL_WANT_NS (5 * NS_PER_S) /* handshakes are tried for this long after a payload */
#define SEAL_KEPT_NS (2 * NS_PER_S) /* a payload waits this long for a channel */

#define SEAL_OWE_NS (1 * NS_PER_S)  /* a side that only receives sends an empty packet after this time */
#define SEAL_DEAF_NS (3 * NS_PER_S) /* a side that hears nothing for this long begins a handshake */

/*
 * Two limits on initiations. The first bounds the work for senders that have proved no more than that they know the
 * cluster key: 10 a second from the address of each member, and from each of 16 groups of other addresses. To examine
 * one takes two curve operations, about 70 us. So n members and all others together cost at most (n + 16) * 10 * 70 us
 * a second: 1.5 % of one processor with 5 members.
 * The second limit is charged only if the initiation has proved to be a member's own, and new: 5 a second.
 */
#define SEAL_SOURCE_EVERY_NS (100 * NS_PER_MS)
#define SEAL_ONE_EVERY_NS (200 * NS_PER_MS)

enum {
    SEAL_VERSION = 1,
    SEAL_SOURCE_BURST = 10,
    SEAL_SOURCES = SEAL_PEERS_MAX + 16,
    SEAL_ONE_BURST = 5,
    SEAL_TAGS = 256, /* remembered, of the last initiations that passed mac and tag */
    SEAL_BOOT_ID = 16,
    SEAL_CHANNELS = 4, /* of a peer: the one in use, its predecessor, one begun by each side */
    SEAL_KEPT = 16,
    SEAL_BOOTS = 8,
    SEAL_MAC = 16,

    SEAL_INITIATION = 1,
    SEAL_ANSWER = 2,
    SEAL_DATA = 3,

    SEAL_INITIATION_HEAD = 8,
    SEAL_INITIATION_PAYLOAD = SEAL_BOOT_ID + 8, /* and the initiation's number in this boot */
    SEAL_INITIATION_NOISE = NOISE_FIRST + SEAL_INITIATION_PAYLOAD,
    SEAL_INITIATION_TAG = SEAL_INITIATION_HEAD + SEAL_INITIATION_NOISE,
    SEAL_INITIATION_MAC = SEAL_INITIATION_TAG + SEAL_MAC,
    SEAL_INITIATION_SIZE = SEAL_INITIATION_MAC + SEAL_MAC,

    SEAL_ANSWER_HEAD = 12,
    SEAL_ANSWER_NOISE = NOISE_SECOND + SEAL_BOOT_ID,
    SEAL_ANSWER_TAG = SEAL_ANSWER_HEAD + SEAL_ANSWER_NOISE,
    SEAL_ANSWER_SIZE = SEAL_ANSWER_TAG + SEAL_MAC,

    SEAL_DATA_HEAD = 16,
    SEAL_DATA_SIZE = SEAL_DATA_HEAD + NOISE_TAG, /* and the payload */

    SEAL_PLAIN_HEAD = 40,
};

_Static_assert(SEAL_ANSWER_SIZE <= SEAL_INITIATION_SIZE, "no answer is larger than the request");
_Static_assert(SEAL_PAYLOAD_MAX + SEAL_DATA_SIZE <= SEAL_DATAGRAM_MAX, "a payload fits");
_Static_assert(SEAL_PAYLOAD_MAX + SEAL_PLAIN_HEAD <= SEAL_DATAGRAM_MAX, "a payload fits");
_Static_assert(SEAL_LAST_COUNTER < SEAL_IN_ADVANCE, "no nonce is used twice");
_Static_assert(SEAL_ELSEWHERE == SEAL_PEERS_MAX, "sources that are no member's come after all members");

/* Counters of packets sealed in advance, without the top bit. */
struct seal_obituaries {
    uint64_t sealed;           /* by us */
    struct replay_window seen; /* of the peer's */
};

struct seal_channel {
    bool in_use;    /* false: this place is free */
    bool confirmed; /* the peer has the keys too: we may seal with them */
    uint32_t begun_by;
    uint32_t mine, theirs; /* indexes, by which each side finds the channel */
    uint64_t born_ns;
    uint64_t counter; /* of the next packet */
    uint8_t boot[SEAL_BOOT_ID];
    uint8_t sends[NOISE_KEY], receives[NOISE_KEY];
    struct replay_window seen;
    struct seal_obituaries obituaries;
};

/* A start of the peer's process. A retired one was followed by another, and is not accepted again. */
struct seal_boot {
    bool known, retired;
    uint8_t id[SEAL_BOOT_ID];
    uint64_t stamp; /* of the last initiation */
};

struct seal_kept {
    uint64_t since_ns;
    size_t size;
    uint8_t payload[SEAL_PAYLOAD_MAX];
};

struct seal_peer {
    uint8_t public_key[SEAL_KEY];
    uint8_t mac_key[SEAL_KEY]; /* for initiations to this peer */
    struct seal_channel channels[SEAL_CHANNELS];

    bool is_asking; /* our initiation has no answer yet */
    uint32_t asking_index;
    uint64_t asking_since_ns;
    uint8_t asking_key[SEAL_KEY]; /* the cluster key that it used */
    struct noise asking;
    uint64_t next_try_ns, retry_ns;

    bool wanted; /* there was a payload to send, the last one at: */
    uint64_t wanted_ns;
    uint64_t unheard_ns; /* when we sent the first payload since we last heard the peer; 0: none */
    uint64_t owe_ns;     /* when we received the first payload since we last sent anything; 0: none */

    struct seal_kept *kept; /* SEAL_KEPT of them */
    uint32_t kept_first, kept_count;

    struct seal_boot boots[SEAL_BOOTS];
    uint32_t boot_next; /* the entry to replace next */
    bool has_boot;      /* the peer's present boot is known: */
    uint8_t boot[SEAL_BOOT_ID];
    uint64_t allowed_ns;       /* rate limit of initiations, see seal_allow() */
    struct replay_window seen; /* this and the next two: plain only */
    uint64_t counter;
    struct seal_obituaries obituaries;
};

struct seal {
    struct seal_hooks hooks;
    struct seal_stats stats;
    uint32_t self, count;
    bool plain;
    uint8_t secret_key[SEAL_KEY];
    uint8_t cluster_keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY], tag_keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY];
    uint32_t key_count;
    uint8_t cluster_id[SEAL_CLUSTER_ID];
    uint8_t mac_key[SEAL_KEY]; /* for initiations to us */
    uint8_t boot[SEAL_BOOT_ID];
    uint64_t stamp;                    /* initiations made */
    uint64_t sources_ns[SEAL_SOURCES]; /* rate limits by source, see seal_allow() */
    uint64_t tags[SEAL_TAGS];          /* their first bytes */
    uint32_t tag_next;
    bool is_locked;           /* this memory, see key_memory.h */
    struct seal_kept *kept;   /* of all peers: they are many and hold no keys, so they are elsewhere */
    struct seal_peer peers[]; /* by position - 1 */
};

static inline void seal_has_proved(const struct seal *s, uint32_t peer)
{
    if (s->hooks.proved) s->hooks.proved(s->hooks.context, peer);
}

/* keys.c: derives keys. */
void seal_mac_key(const uint8_t cluster_id[SEAL_CLUSTER_ID], const uint8_t public_key[SEAL_KEY],
                  uint8_t out[SEAL_KEY]);
void seal_tag_key(const uint8_t cluster_key[SEAL_KEY], uint8_t out[SEAL_KEY]);
void seal_mac(const uint8_t key[SEAL_KEY], const uint8_t *bytes, size_t size, uint8_t out[SEAL_MAC]);
bool seal_mac_fits(const uint8_t key[SEAL_KEY], const uint8_t *bytes, size_t size, const uint8_t mac[SEAL_MAC]);

/* channel.c: the channels of a peer, and their data packets. */
uint32_t seal_new_index(struct seal *, uint32_t peer);
/* A new channel, not confirmed, in place of the least needed one. The caller fills in the keys. */
struct seal_channel *seal_channel_new(struct seal *, uint64_t now, uint32_t peer);
void seal_channel_end(struct seal_channel *);
/* The channel to seal with, or NULL. */
struct seal_channel *seal_channel_best(struct seal *, uint64_t now, uint32_t peer);
/* The peer has proved that it has the keys: ends the channels of its earlier boots, and sends the kept
 * payloads. */
void seal_channel_confirm(struct seal *, uint64_t now, uint32_t peer, struct seal_channel *);
void seal_channel_send(struct seal *, uint64_t now, uint32_t peer, struct seal_channel *,
                       const uint8_t *payload, size_t size);
void seal_keep(struct seal *, uint64_t now, uint32_t peer, const uint8_t *payload, size_t size);
void seal_on_data(struct seal *, uint64_t now, const uint8_t *datagram, size_t size);

/* handshake.c */
bool seal_needs_handshake(struct seal *, uint64_t now, uint32_t peer);
void seal_initiate(struct seal *, uint64_t now, uint32_t peer);
void seal_stop_asking(struct seal_peer *);
void seal_on_initiation(struct seal *, uint64_t now, uint64_t source, const uint8_t *datagram, size_t size);
void seal_on_answer(struct seal *, uint64_t now, const uint8_t *datagram, size_t size);

/* boots.c: the starts of a peer's process, so that packets of an earlier one are refused. */
/* Remembers an initiation. False: it is not newer than the last one of this boot, or the boot is retired. */
bool seal_boot_accept(struct seal_peer *, const uint8_t boot[SEAL_BOOT_ID], uint64_t stamp);
bool seal_boot_is_retired(const struct seal_peer *, const uint8_t boot[SEAL_BOOT_ID]);
/* The peer now runs with this boot; the one before is retired. True: it changed. */
bool seal_boot_use(struct seal_peer *, const uint8_t boot[SEAL_BOOT_ID]);
/* Rate limit: one per interval, with a burst after idle time. The word starts as 0. */
bool seal_allow(uint64_t *word, uint64_t now, uint64_t every_ns, uint64_t burst);

/* presealed.c: packets sealed in advance. Takes one that is authentic: delivers it, or drops it as a replay. */
void seal_on_obituary(struct seal *, uint32_t peer, struct seal_obituaries *, uint64_t counter,
                      const uint8_t *payload, size_t size);

/* plain.c */
void seal_plain_head(const struct seal *, uint64_t counter, uint8_t head[SEAL_PLAIN_HEAD]);
void seal_plain_send(struct seal *, uint32_t peer, const uint8_t *payload, size_t size);
void seal_plain_receive(struct seal *, const uint8_t *datagram, size_t size);

#endif
