/* See noise.h. The specification's section 5 has the states, section 12 the primitives. */
#include "agent/seal/noise.h"

#include <sodium.h>
#include <string.h>

#include "core/bytes.h"

enum { BLOCK = 128 };

static const char name[] = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2b";

static void nonce_of(uint64_t count, uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES])
{
    memset(nonce, 0, 4);
    el_put(nonce + 4, count, 8);
}

void noise_seal(const uint8_t key[NOISE_KEY], uint64_t count, const uint8_t *with, size_t with_size,
                const uint8_t *in, size_t size, uint8_t *out)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    nonce_of(count, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(out, NULL, in, size, with, with_size, NULL, nonce, key);
}

bool noise_open(const uint8_t key[NOISE_KEY], uint64_t count, const uint8_t *with, size_t with_size,
                const uint8_t *in, size_t size, uint8_t *out)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    if (size < NOISE_TAG) return false;
    nonce_of(count, nonce);
    return crypto_aead_chacha20poly1305_ietf_decrypt(out, NULL, NULL, in, size, with, with_size, nonce, key) ==
           0;
}

/* HMAC (RFC 2104) of two pieces; the second may be empty. */
static void hmac(const uint8_t key[NOISE_HASH], const uint8_t *one, size_t one_size, const uint8_t *two,
                 size_t two_size, uint8_t out[NOISE_HASH])
{
    crypto_generichash_blake2b_state state;
    uint8_t pad[BLOCK], inner[NOISE_HASH];
    for (size_t i = 0; i < BLOCK; i++) pad[i] = (uint8_t)((i < NOISE_HASH ? key[i] : 0) ^ 0x36);
    crypto_generichash_blake2b_init(&state, NULL, 0, NOISE_HASH);
    crypto_generichash_blake2b_update(&state, pad, BLOCK);
    crypto_generichash_blake2b_update(&state, one, one_size);
    crypto_generichash_blake2b_update(&state, two, two_size);
    crypto_generichash_blake2b_final(&state, inner, NOISE_HASH);
    for (size_t i = 0; i < BLOCK; i++) pad[i] ^= 0x36 ^ 0x5c;
    crypto_generichash_blake2b_init(&state, NULL, 0, NOISE_HASH);
    crypto_generichash_blake2b_update(&state, pad, BLOCK);
    crypto_generichash_blake2b_update(&state, inner, NOISE_HASH);
    crypto_generichash_blake2b_final(&state, out, NOISE_HASH);
    sodium_memzero(&state, sizeof state);
    sodium_memzero(pad, sizeof pad);
    sodium_memzero(inner, sizeof inner);
}

static void derive(const uint8_t chain[NOISE_HASH], const uint8_t *input, size_t size, unsigned outputs,
                   uint8_t out[][NOISE_HASH])
{
    uint8_t temporary[NOISE_HASH];
    hmac(chain, input, size, NULL, 0, temporary);
    for (unsigned i = 0; i < outputs; i++) {
        const uint8_t number = (uint8_t)(i + 1);
        hmac(temporary, i == 0 ? NULL : out[i - 1], i == 0 ? 0 : NOISE_HASH, &number, 1, out[i]);
    }
    sodium_memzero(temporary, sizeof temporary);
}

static void mix_hash(struct noise *n, const uint8_t *bytes, size_t size)
{
    crypto_generichash_blake2b_state state;
    crypto_generichash_blake2b_init(&state, NULL, 0, NOISE_HASH);
    crypto_generichash_blake2b_update(&state, n->hash, NOISE_HASH);
    crypto_generichash_blake2b_update(&state, bytes, size);
    crypto_generichash_blake2b_final(&state, n->hash, NOISE_HASH);
}

static void take_key(struct noise *n, const uint8_t from[NOISE_HASH])
{
    memcpy(n->key, from, NOISE_KEY);
    n->count = 0;
}

static void mix_key(struct noise *n, const uint8_t bytes[NOISE_KEY])
{
    uint8_t out[2][NOISE_HASH];
    derive(n->chain, bytes, NOISE_KEY, 2, out);
    memcpy(n->chain, out[0], NOISE_HASH);
    take_key(n, out[1]);
    sodium_memzero(out, sizeof out);
}

static void mix_psk(struct noise *n, const uint8_t psk[NOISE_KEY])
{
    uint8_t out[3][NOISE_HASH];
    derive(n->chain, psk, NOISE_KEY, 3, out);
    memcpy(n->chain, out[0], NOISE_HASH);
    mix_hash(n, out[1], NOISE_HASH);
    take_key(n, out[2]);
    sodium_memzero(out, sizeof out);
}

/* With a pre-shared key, an ephemeral key is also mixed into the keys: section 9.2. */
static void mix_ephemeral(struct noise *n, const uint8_t public_key[NOISE_KEY])
{
    mix_hash(n, public_key, NOISE_KEY);
    mix_key(n, public_key);
}

/* False for points of small order, whose result is not secret. */
static bool mix_agreed(struct noise *n, const uint8_t secret[NOISE_KEY], const uint8_t public_key[NOISE_KEY])
{
    uint8_t agreed[NOISE_KEY];
    const bool good = crypto_scalarmult_curve25519(agreed, secret, public_key) == 0;
    if (good) mix_key(n, agreed);
    sodium_memzero(agreed, sizeof agreed);
    return good;
}

static void put_sealed(struct noise *n, const uint8_t *in, size_t size, uint8_t *out)
{
    noise_seal(n->key, n->count++, n->hash, NOISE_HASH, in, size, out);
    mix_hash(n, out, size + NOISE_TAG);
}

static bool take_sealed(struct noise *n, const uint8_t *in, size_t size, uint8_t *out)
{
    if (!noise_open(n->key, n->count++, n->hash, NOISE_HASH, in, size, out)) return false;
    mix_hash(n, in, size);
    return true;
}

void noise_begin(struct noise *n, const uint8_t responder[NOISE_KEY], const uint8_t *prologue, size_t size)
{
    _Static_assert(sizeof name - 1 <= NOISE_HASH, "a longer name would have to be hashed");
    memset(n, 0, sizeof *n);
    memcpy(n->hash, name, sizeof name - 1);
    memcpy(n->chain, n->hash, NOISE_HASH);
    mix_hash(n, prologue, size);
    mix_hash(n, responder, NOISE_KEY);
}

bool noise_write_first(struct noise *n, const uint8_t secret[NOISE_KEY], const uint8_t ephemeral[NOISE_KEY],
                       const uint8_t responder[NOISE_KEY], const uint8_t *payload, size_t size, uint8_t *out)
{
    uint8_t public_key[NOISE_KEY];
    memcpy(n->ephemeral, ephemeral, NOISE_KEY);
    crypto_scalarmult_curve25519_base(out, ephemeral);
    mix_ephemeral(n, out);
    if (!mix_agreed(n, ephemeral, responder)) return false;
    crypto_scalarmult_curve25519_base(public_key, secret);
    put_sealed(n, public_key, NOISE_KEY, out + NOISE_KEY);
    if (!mix_agreed(n, secret, responder)) return false;
    put_sealed(n, payload, size, out + NOISE_WHO);
    return true;
}

bool noise_read_who(struct noise *n, const uint8_t secret[NOISE_KEY], const uint8_t *message, size_t size,
                    uint8_t who[NOISE_KEY])
{
    if (size < NOISE_FIRST) return false;
    memcpy(n->their_ephemeral, message, NOISE_KEY);
    mix_ephemeral(n, message);
    if (!mix_agreed(n, secret, message)) return false;
    if (!take_sealed(n, message + NOISE_KEY, NOISE_KEY + NOISE_TAG, n->their_static)) return false;
    memcpy(who, n->their_static, NOISE_KEY);
    return true;
}

bool noise_read_first(struct noise *n, const uint8_t secret[NOISE_KEY], const uint8_t *message, size_t size,
                      uint8_t *payload)
{
    if (size < NOISE_FIRST || !mix_agreed(n, secret, n->their_static)) return false;
    return take_sealed(n, message + NOISE_WHO, size - NOISE_WHO, payload);
}

bool noise_write_second(struct noise *n, const uint8_t ephemeral[NOISE_KEY], const uint8_t psk[NOISE_KEY],
                        const uint8_t *payload, size_t size, uint8_t *out)
{
    crypto_scalarmult_curve25519_base(out, ephemeral);
    mix_ephemeral(n, out);
    if (!mix_agreed(n, ephemeral, n->their_ephemeral)) return false;
    if (!mix_agreed(n, ephemeral, n->their_static)) return false;
    mix_psk(n, psk);
    put_sealed(n, payload, size, out + NOISE_KEY);
    return true;
}

bool noise_read_second(struct noise *n, const uint8_t secret[NOISE_KEY], const uint8_t psk[NOISE_KEY],
                       const uint8_t *message, size_t size, uint8_t *payload)
{
    if (size < NOISE_SECOND) return false;
    mix_ephemeral(n, message);
    if (!mix_agreed(n, n->ephemeral, message) || !mix_agreed(n, secret, message)) return false;
    mix_psk(n, psk);
    return take_sealed(n, message + NOISE_KEY, size - NOISE_KEY, payload);
}

void noise_split(struct noise *n, uint8_t from_initiator[NOISE_KEY], uint8_t from_responder[NOISE_KEY])
{
    uint8_t out[2][NOISE_HASH];
    derive(n->chain, NULL, 0, 2, out);
    memcpy(from_initiator, out[0], NOISE_KEY);
    memcpy(from_responder, out[1], NOISE_KEY);
    sodium_memzero(out, sizeof out);
    sodium_memzero(n, sizeof *n);
}
