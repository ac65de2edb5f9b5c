/* The public calls: create, send, receive, and the periodic work of seal_tick(). */
#include "agent/seal/seal.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "agent/seal/key_memory.h"
#include "core/bytes.h"
#include "core/machine.h"

static size_t size_of(uint32_t count)
{
    return sizeof(struct seal) + count * sizeof(struct seal_peer);
}

static void take_keys(struct seal *s, const uint8_t (*keys)[SEAL_KEY], uint32_t count)
{
    el_require(count >= 1 && count <= SEAL_CLUSTER_KEYS_MAX); /* an empty list must not mean "no key needed" */
    sodium_memzero(s->cluster_keys, sizeof s->cluster_keys);
    sodium_memzero(s->tag_keys, sizeof s->tag_keys);
    memcpy(s->cluster_keys, keys, count * sizeof *keys);
    for (uint32_t i = 0; i < count; i++) seal_tag_key(keys[i], s->tag_keys[i]);
    s->key_count = count;
}

static void take_peers(struct seal *s, const struct seal_config *config)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct seal_peer *p = &s->peers[i];
        p->kept = s->kept + (size_t)i * SEAL_KEPT;
        p->retry_ns = SEAL_RETRY_NS;
        if (s->plain) continue;
        if (i + 1 == s->self)
            seal_public_of(s->secret_key, p->public_key);
        else
            memcpy(p->public_key, config->public_keys[i], SEAL_KEY);
        seal_mac_key(s->cluster_id, p->public_key, p->mac_key);
    }
}

static struct seal *allocate(uint32_t count)
{
    bool is_locked = false;
    struct seal *s = key_memory_new(size_of(count), &is_locked);
    struct seal_kept *kept = calloc((size_t)count * SEAL_KEPT, sizeof *kept);
    if (s && kept) {
        s->is_locked = is_locked;
        s->kept = kept;
        return s;
    }
    free(kept);
    key_memory_free(s);
    return NULL;
}

struct seal *seal_new(const struct seal_config *config, struct seal_hooks hooks)
{
    el_require(config->count >= 1 && config->count <= SEAL_PEERS_MAX);
    el_require(config->self >= 1 && config->self <= config->count);
    if (sodium_init() < 0) return NULL;
    struct seal *s = allocate(config->count);
    if (!s) return NULL;
    s->hooks = hooks;
    s->self = config->self;
    s->count = config->count;
    s->plain = config->plain;
    memcpy(s->cluster_id, config->cluster_id, SEAL_CLUSTER_ID);
    randombytes_buf(s->boot, sizeof s->boot);
    if (!s->plain) {
        memcpy(s->secret_key, config->secret_key, SEAL_KEY);
        take_keys(s, config->cluster_keys, config->cluster_key_count);
    }
    take_peers(s, config);
    memcpy(s->mac_key, s->peers[s->self - 1].mac_key, SEAL_KEY);
    return s;
}

void seal_free(struct seal *s)
{
    if (!s) return;
    sodium_memzero(s->kept, (size_t)s->count * SEAL_KEPT * sizeof *s->kept);
    free(s->kept);
    key_memory_free(s);
}

void seal_send(struct seal *s, uint64_t now_ns, uint32_t peer, const uint8_t *payload, size_t size)
{
    el_require(peer >= 1 && peer <= s->count && peer != s->self && size >= 1 && size <= SEAL_PAYLOAD_MAX);
    if (s->plain) {
        seal_plain_send(s, peer, payload, size);
        return;
    }
    struct seal_peer *p = &s->peers[peer - 1];
    struct seal_channel *channel = seal_channel_best(s, now_ns, peer);
    p->wanted = true;
    p->wanted_ns = now_ns;
    if (channel)
        seal_channel_send(s, now_ns, peer, channel, payload, size);
    else
        seal_keep(s, now_ns, peer, payload, size);
    if (now_ns >= p->next_try_ns && seal_needs_handshake(s, now_ns, peer)) seal_initiate(s, now_ns, peer);
}

void seal_receive(struct seal *s, uint64_t now_ns, uint64_t source, const uint8_t *datagram, size_t size)
{
    if (s->plain) {
        seal_plain_receive(s, datagram, size);
        return;
    }
    switch (size < 4 ? 0 : el_get(datagram, 4)) {
    case SEAL_INITIATION | SEAL_VERSION << 8: seal_on_initiation(s, now_ns, source, datagram, size); break;
    case SEAL_ANSWER | SEAL_VERSION << 8: seal_on_answer(s, now_ns, datagram, size); break;
    case SEAL_DATA | SEAL_VERSION << 8: seal_on_data(s, now_ns, datagram, size); break;
    default: s->stats.malformed++;
    }
}

static uint64_t earlier(uint64_t soonest, uint64_t when, uint64_t now)
{
    return when > now && when < soonest ? when : soonest;
}

/* Times in the past do not count: do_what_is_due() has handled them, or the next seal_send() will. */
static uint64_t next_due(struct seal *s, uint64_t now, uint32_t peer)
{
    const struct seal_peer *p = &s->peers[peer - 1];
    const struct seal_channel *best = seal_channel_best(s, now, peer);
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < SEAL_CHANNELS; i++)
        if (p->channels[i].in_use) due = earlier(due, p->channels[i].born_ns + SEAL_DEAD_NS, now);
    if (p->owe_ns != 0) due = earlier(due, p->owe_ns + SEAL_OWE_NS, now);
    if (p->unheard_ns != 0) due = earlier(due, p->unheard_ns + SEAL_DEAF_NS, now);
    if (p->is_asking || seal_needs_handshake(s, now, peer)) due = earlier(due, p->next_try_ns, now);
    if (best) {
        due = earlier(due, best->born_ns + SEAL_REKEY_NS, now);
        due = earlier(due, best->born_ns + SEAL_REKEY_OTHER_NS, now);
        due = earlier(due, best->born_ns + SEAL_LAST_SEND_NS, now);
    }
    return due;
}

static void do_what_is_due(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_peer *p = &s->peers[peer - 1];
    for (unsigned i = 0; i < SEAL_CHANNELS; i++)
        if (p->channels[i].in_use && now - p->channels[i].born_ns >= SEAL_DEAD_NS)
            seal_channel_end(&p->channels[i]);
    if (p->owe_ns != 0 && now - p->owe_ns >= SEAL_OWE_NS) {
        struct seal_channel *best = seal_channel_best(s, now, peer);
        if (best) seal_channel_send(s, now, peer, best, NULL, 0);
        p->owe_ns = 0;
    }
    if (now < p->next_try_ns) return;
    if (seal_needs_handshake(s, now, peer))
        seal_initiate(s, now, peer);
    else if (p->is_asking)
        seal_stop_asking(p);
}

uint64_t seal_tick(struct seal *s, uint64_t now_ns)
{
    uint64_t soonest = UINT64_MAX;
    if (s->plain) return soonest;
    for (uint32_t peer = 1; peer <= s->count; peer++) {
        if (peer == s->self) continue;
        do_what_is_due(s, now_ns, peer);
        const uint64_t due = next_due(s, now_ns, peer);
        if (due < soonest) soonest = due;
    }
    return soonest;
}

static bool has_key(const struct seal *s, const uint8_t key[SEAL_KEY])
{
    for (uint32_t i = 0; i < s->key_count; i++)
        if (sodium_memcmp(s->cluster_keys[i], key, SEAL_KEY) == 0) return true;
    return false;
}

void seal_set_cluster_keys(struct seal *s, const uint8_t (*keys)[SEAL_KEY], uint32_t count)
{
    if (s->plain) return;
    take_keys(s, keys, count);
    for (uint32_t i = 0; i < s->count; i++) {
        struct seal_peer *p = &s->peers[i];
        if (!p->is_asking || has_key(s, p->asking_key)) continue;
        seal_stop_asking(p); /* its answer would use a retired key */
        p->next_try_ns = 0;
    }
}

static void renew(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_peer *p = &s->peers[peer - 1];
    const bool was_connected = !s->plain && seal_is_connected(s, peer);
    for (unsigned i = 0; i < SEAL_CHANNELS; i++) seal_channel_end(&p->channels[i]);
    seal_stop_asking(p);
    p->counter = p->obituaries.sealed = 0; /* plain: the new boot numbers its packets anew */
    p->unheard_ns = p->owe_ns = 0;
    p->retry_ns = SEAL_RETRY_NS;
    p->next_try_ns = now;
    if (was_connected) seal_initiate(s, now, peer);
}

void seal_renew(struct seal *s, uint64_t now_ns)
{
    randombytes_buf(s->boot, sizeof s->boot);
    s->stamp = 0;
    for (uint32_t peer = 1; peer <= s->count; peer++)
        if (peer != s->self) renew(s, now_ns, peer);
}

bool seal_is_connected(const struct seal *s, uint32_t peer)
{
    el_require(peer >= 1 && peer <= s->count);
    const struct seal_peer *p = &s->peers[peer - 1];
    if (s->plain) return p->has_boot;
    for (unsigned i = 0; i < SEAL_CHANNELS; i++)
        if (p->channels[i].in_use && p->channels[i].confirmed) return true;
    return false;
}

bool seal_is_locked(const struct seal *s)
{
    return s->is_locked;
}

struct seal_stats seal_stats_of(const struct seal *s)
{
    return s->stats;
}
