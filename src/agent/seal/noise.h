/*
 * The handshake Noise_IKpsk2_25519_ChaChaPoly_BLAKE2b, after The Noise Protocol Framework, revision 34:
 *
 *     <- s
 *     ...
 *     -> e, es, s, ss
 *     <- e, ee, se, psk
 *
 * The primitives are libsodium's. After a function has returned false, the state can only be wiped.
 */
#ifndef ELECTOR_AGENT_SEAL_NOISE_H
#define ELECTOR_AGENT_SEAL_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NOISE_KEY = 32,
    NOISE_TAG = 16,
    NOISE_HASH = 64,
    NOISE_WHO = NOISE_KEY + NOISE_KEY + NOISE_TAG, /* bytes of the first message before its payload */
    NOISE_FIRST = NOISE_WHO + NOISE_TAG,           /* bytes that each message adds to its payload */
    NOISE_SECOND = NOISE_KEY + NOISE_TAG,
};

struct noise {
    uint8_t chain[NOISE_HASH], hash[NOISE_HASH];
    uint8_t key[NOISE_KEY]; /* for the next payload */
    uint64_t count;         /* its nonce: how often it was used */
    uint8_t ephemeral[NOISE_KEY];
    uint8_t their_ephemeral[NOISE_KEY], their_static[NOISE_KEY];
};

/* Both sides begin with the responder's public key. */
void noise_begin(struct noise *, const uint8_t responder[NOISE_KEY], const uint8_t *prologue, size_t size);

/* The initiator. The ephemeral secret must be fresh; out has NOISE_FIRST more bytes than the payload. */
bool noise_write_first(struct noise *, const uint8_t secret[NOISE_KEY], const uint8_t ephemeral[NOISE_KEY],
                       const uint8_t responder[NOISE_KEY], const uint8_t *payload, size_t size, uint8_t *out);
bool noise_read_second(struct noise *, const uint8_t secret[NOISE_KEY], const uint8_t psk[NOISE_KEY],
                       const uint8_t *message, size_t size, uint8_t *payload);

/* The responder. First read the initiator's public key, to look it up; then, from the same message, the
 * payload. */
bool noise_read_who(struct noise *, const uint8_t secret[NOISE_KEY], const uint8_t *message, size_t size,
                    uint8_t who[NOISE_KEY]);
bool noise_read_first(struct noise *, const uint8_t secret[NOISE_KEY], const uint8_t *message, size_t size,
                      uint8_t *payload);
bool noise_write_second(struct noise *, const uint8_t ephemeral[NOISE_KEY], const uint8_t psk[NOISE_KEY],
                        const uint8_t *payload, size_t size, uint8_t *out);

/* The channel's keys, after the second message. Wipes the state. */
void noise_split(struct noise *, uint8_t from_initiator[NOISE_KEY], uint8_t from_responder[NOISE_KEY]);

/* ChaCha20-Poly1305 with Noise's nonce; `with` is authenticated too. Sealing adds NOISE_TAG bytes, opening
 * removes them. */
void noise_seal(const uint8_t key[NOISE_KEY], uint64_t count, const uint8_t *with, size_t with_size,
                const uint8_t *in, size_t size, uint8_t *out);
bool noise_open(const uint8_t key[NOISE_KEY], uint64_t count, const uint8_t *with, size_t with_size,
                const uint8_t *in, size_t size, uint8_t *out);

#endif
