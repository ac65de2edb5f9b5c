/* Derives keys and macs, each with its own label. */
#include <sodium.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

bool seal_keygen(uint8_t secret_key[SEAL_KEY], uint8_t public_key[SEAL_KEY])
{
    if (sodium_init() < 0) return false;
    randombytes_buf(secret_key, SEAL_KEY);
    seal_public_of(secret_key, public_key);
    return true;
}

void seal_public_of(const uint8_t secret_key[SEAL_KEY], uint8_t public_key[SEAL_KEY])
{
    crypto_scalarmult_curve25519_base(public_key, secret_key);
}

uint64_t seal_group_key(const uint8_t cluster_id[SEAL_CLUSTER_ID], const char *name)
{
    uint8_t out[crypto_generichash_blake2b_BYTES_MIN];
    crypto_generichash_blake2b(out, sizeof out, (const uint8_t *)name, strlen(name), cluster_id,
                               SEAL_CLUSTER_ID);
    const uint64_t key = el_get(out, 8);
    return key == 0 ? 1 : key;
}

void seal_mac_key(const uint8_t cluster_id[SEAL_CLUSTER_ID], const uint8_t public_key[SEAL_KEY],
                  uint8_t out[SEAL_KEY])
{
    static const uint8_t label[] = "elector mac 1";
    crypto_generichash_blake2b_state state;
    crypto_generichash_blake2b_init(&state, NULL, 0, SEAL_KEY);
    crypto_generichash_blake2b_update(&state, label, sizeof label);
    crypto_generichash_blake2b_update(&state, cluster_id, SEAL_CLUSTER_ID);
    crypto_generichash_blake2b_update(&state, public_key, SEAL_KEY);
    crypto_generichash_blake2b_final(&state, out, SEAL_KEY);
}

void seal_tag_key(const uint8_t cluster_key[SEAL_KEY], uint8_t out[SEAL_KEY])
{
    static const uint8_t label[] = "elector tag 1";
    crypto_generichash_blake2b(out, SEAL_KEY, label, sizeof label, cluster_key, SEAL_KEY);
}

void seal_mac(const uint8_t key[SEAL_KEY], const uint8_t *bytes, size_t size, uint8_t out[SEAL_MAC])
{
    crypto_generichash_blake2b(out, SEAL_MAC, bytes, size, key, SEAL_KEY);
}

bool seal_mac_fits(const uint8_t key[SEAL_KEY], const uint8_t *bytes, size_t size, const uint8_t mac[SEAL_MAC])
{
    uint8_t right[SEAL_MAC];
    seal_mac(key, bytes, size, right);
    return sodium_memcmp(right, mac, SEAL_MAC) == 0;
}
