/*
 * Handshakes. The initiator retries, with fresh keys, as long as there is something to send. The responder
 * keeps nothing but the channel that would result, and uses it once the first packet sealed with it arrives.
 */
#include <sodium.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

static void begin(const struct seal *s, struct noise *n, const uint8_t responder[SEAL_KEY])
{
    uint8_t prologue[1 + SEAL_CLUSTER_ID] = {SEAL_VERSION};
    memcpy(prologue + 1, s->cluster_id, SEAL_CLUSTER_ID);
    noise_begin(n, responder, prologue, sizeof prologue);
}

bool seal_needs_handshake(struct seal *s, uint64_t now, uint32_t peer)
{
    const struct seal_peer *p = &s->peers[peer - 1];
    if (!p->wanted || now - p->wanted_ns >= SEAL_WANT_NS) return false;
    const struct seal_channel *best = seal_channel_best(s, now, peer);
    if (!best || (p->unheard_ns != 0 && now - p->unheard_ns >= SEAL_DEAF_NS)) return true;
    return now - best->born_ns >= (best->begun_by == s->self ? SEAL_REKEY_NS : SEAL_REKEY_OTHER_NS);
}

void seal_stop_asking(struct seal_peer *p)
{
    p->is_asking = false;
    sodium_memzero(&p->asking, sizeof p->asking);
    sodium_memzero(p->asking_key, sizeof p->asking_key);
}

void seal_initiate(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_peer *p = &s->peers[peer - 1];
    uint8_t datagram[SEAL_INITIATION_SIZE], payload[SEAL_INITIATION_PAYLOAD], ephemeral[NOISE_KEY];

    seal_stop_asking(p);
    p->next_try_ns = now + p->retry_ns;
    p->retry_ns = p->retry_ns * 2 < SEAL_RETRY_MAX_NS ? p->retry_ns * 2 : SEAL_RETRY_MAX_NS;

    p->asking_index = seal_new_index(s, peer);
    p->asking_since_ns = now;
    memcpy(p->asking_key, s->cluster_keys[0], SEAL_KEY);
    memcpy(payload, s->boot, SEAL_BOOT_ID);
    el_put(payload + SEAL_BOOT_ID, ++s->stamp, 8);

    el_put(datagram, SEAL_INITIATION | SEAL_VERSION << 8, 4);
    el_put(datagram + 4, p->asking_index, 4);
    begin(s, &p->asking, p->public_key);
    randombytes_buf(ephemeral, sizeof ephemeral);
    p->is_asking = noise_write_first(&p->asking, s->secret_key, ephemeral, p->public_key, payload,
                                     sizeof payload, datagram + SEAL_INITIATION_HEAD);
    sodium_memzero(ephemeral, sizeof ephemeral);
    if (!p->is_asking) { /* the peer's public key is invalid */
        seal_stop_asking(p);
        return;
    }
    seal_mac(s->tag_keys[0], datagram, SEAL_INITIATION_TAG, datagram + SEAL_INITIATION_TAG);
    seal_mac(p->mac_key, datagram, SEAL_INITIATION_MAC, datagram + SEAL_INITIATION_MAC);
    s->hooks.send(s->hooks.context, peer, datagram, sizeof datagram);
}

/* The cluster key that made the tag; key_count: none. */
static uint32_t find_key(const struct seal *s, const uint8_t *datagram)
{
    uint32_t i = 0;
    while (i < s->key_count &&
           !seal_mac_fits(s->tag_keys[i], datagram, SEAL_INITIATION_TAG, datagram + SEAL_INITIATION_TAG))
        i++;
    return i;
}

/* The position of the peer with this public key; 0: none. */
static uint32_t find_peer(const struct seal *s, const uint8_t public_key[SEAL_KEY])
{
    for (uint32_t peer = 1; peer <= s->count; peer++)
        if (peer != s->self && memcmp(s->peers[peer - 1].public_key, public_key, SEAL_KEY) == 0) return peer;
    return 0;
}

/* Whether this very initiation was processed before. Only a holder of the cluster key can make another tag. */
static bool was_processed(struct seal *s, const uint8_t *datagram)
{
    const uint64_t tag = el_get(datagram + SEAL_INITIATION_TAG, 8);
    for (uint32_t i = 0; i < SEAL_TAGS; i++)
        if (s->tags[i] == tag) return true;
    return false;
}

static void note_tag(struct seal *s, const uint8_t *datagram)
{
    s->tags[s->tag_next] = el_get(datagram + SEAL_INITIATION_TAG, 8);
    s->tag_next = (s->tag_next + 1) % SEAL_TAGS;
}

/* Anybody may claim an address: this only bounds the work for those that prove nothing. */
static bool allows_source(struct seal *s, uint64_t now, uint64_t source)
{
    const uint64_t place =
        source - 1 < SEAL_ELSEWHERE ? source - 1 : SEAL_ELSEWHERE + source % (SEAL_SOURCES - SEAL_ELSEWHERE);
    return seal_allow(&s->sources_ns[place], now, SEAL_SOURCE_EVERY_NS, SEAL_SOURCE_BURST);
}

/* Reads an initiation whose mac and tag are good. Returns its sender; 0: dropped, and counted in the stats. A
 * member's limit is charged last: anybody with the cluster key can name a member, and replay what it said. */
static uint32_t read_initiation(struct seal *s, uint64_t now, uint64_t source, struct noise *n,
                                const uint8_t *datagram, uint8_t payload[SEAL_INITIATION_PAYLOAD])
{
    const uint8_t *message = datagram + SEAL_INITIATION_HEAD;
    uint8_t own[SEAL_KEY], who[SEAL_KEY];
    if (was_processed(s, datagram)) { /* before the rate limit: replays must not use it up */
        s->stats.replayed++;
        return 0;
    }
    if (!allows_source(s, now, source)) {
        s->stats.rate_limited++;
        return 0;
    }
    note_tag(s, datagram);
    memcpy(own, s->peers[s->self - 1].public_key, SEAL_KEY);
    begin(s, n, own);
    if (!noise_read_who(n, s->secret_key, message, SEAL_INITIATION_NOISE, who)) {
        s->stats.forged++;
        return 0;
    }
    const uint32_t peer = find_peer(s, who);
    if (peer == 0) {
        s->stats.strangers++;
        return 0;
    }
    if (!noise_read_first(n, s->secret_key, message, SEAL_INITIATION_NOISE, payload)) {
        s->stats.forged++;
        return 0;
    }
    if (!seal_boot_accept(&s->peers[peer - 1], payload, el_get(payload + SEAL_BOOT_ID, 8))) {
        s->stats.replayed++;
        return 0;
    }
    if (!seal_allow(&s->peers[peer - 1].allowed_ns, now, SEAL_ONE_EVERY_NS, SEAL_ONE_BURST)) {
        s->stats.rate_limited++;
        return 0;
    }
    return peer;
}

/* Answers, and creates the channel that the peer's first packet will confirm. False: no channel. */
static bool answer(struct seal *s, uint64_t now, uint32_t peer, struct noise *n, uint32_t key, uint32_t theirs,
                   const uint8_t boot[SEAL_BOOT_ID])
{
    uint8_t datagram[SEAL_ANSWER_SIZE], ephemeral[NOISE_KEY];
    const uint32_t mine = seal_new_index(s, peer);
    el_put(datagram, SEAL_ANSWER | SEAL_VERSION << 8, 4);
    el_put(datagram + 4, mine, 4);
    el_put(datagram + 8, theirs, 4);
    randombytes_buf(ephemeral, sizeof ephemeral);
    const bool good = noise_write_second(n, ephemeral, s->cluster_keys[key], s->boot, SEAL_BOOT_ID,
                                         datagram + SEAL_ANSWER_HEAD);
    sodium_memzero(ephemeral, sizeof ephemeral);
    if (!good) return false;
    seal_mac(s->tag_keys[key], datagram, SEAL_ANSWER_TAG, datagram + SEAL_ANSWER_TAG);

    struct seal_channel *channel = seal_channel_new(s, now, peer);
    channel->begun_by = peer;
    channel->mine = mine;
    channel->theirs = theirs;
    memcpy(channel->boot, boot, SEAL_BOOT_ID);
    noise_split(n, channel->receives, channel->sends);
    s->hooks.send(s->hooks.context, peer, datagram, sizeof datagram);
    return true;
}

void seal_on_initiation(struct seal *s, uint64_t now, uint64_t source, const uint8_t *datagram, size_t size)
{
    struct noise n;
    uint8_t payload[SEAL_INITIATION_PAYLOAD];
    if (size != SEAL_INITIATION_SIZE) {
        s->stats.malformed++;
        return;
    }
    const bool fits = seal_mac_fits(s->mac_key, datagram, SEAL_INITIATION_MAC, datagram + SEAL_INITIATION_MAC);
    const uint32_t key = fits ? find_key(s, datagram) : s->key_count;
    if (key == s->key_count) {
        s->stats.strangers++;
        return;
    }
    const uint32_t peer = read_initiation(s, now, source, &n, datagram, payload);
    if (peer != 0) seal_has_proved(s, peer);
    if (peer != 0 && !answer(s, now, peer, &n, key, (uint32_t)el_get(datagram + 4, 4), payload))
        s->stats.forged++;
    sodium_memzero(&n, sizeof n);
}

void seal_on_answer(struct seal *s, uint64_t now, const uint8_t *datagram, size_t size)
{
    uint8_t boot[SEAL_BOOT_ID], tag_key[SEAL_KEY];
    if (size != SEAL_ANSWER_SIZE) {
        s->stats.malformed++;
        return;
    }
    const uint32_t index = (uint32_t)el_get(datagram + 8, 4), peer = (index & 63) + 1;
    struct seal_peer *p = peer > s->count || peer == s->self ? NULL : &s->peers[peer - 1];
    if (!p || !p->is_asking || p->asking_index != index) {
        s->stats.strangers++;
        return;
    }
    seal_tag_key(p->asking_key, tag_key);
    struct noise n = p->asking; /* a copy: a forged answer must not spoil the handshake */
    const bool good = seal_mac_fits(tag_key, datagram, SEAL_ANSWER_TAG, datagram + SEAL_ANSWER_TAG) &&
                      noise_read_second(&n, s->secret_key, p->asking_key, datagram + SEAL_ANSWER_HEAD,
                                        SEAL_ANSWER_NOISE, boot);
    sodium_memzero(tag_key, sizeof tag_key);
    if (!good) {
        s->stats.forged++;
        sodium_memzero(&n, sizeof n);
        return;
    }
    seal_has_proved(s, peer);
    struct seal_channel *channel = seal_channel_new(s, now, peer);
    channel->born_ns = p->asking_since_ns; /* not later than on the responder's side */
    channel->begun_by = s->self;
    channel->mine = index;
    channel->theirs = (uint32_t)el_get(datagram + 4, 4);
    memcpy(channel->boot, boot, SEAL_BOOT_ID);
    noise_split(&n, channel->sends, channel->receives);
    seal_stop_asking(p);
    seal_channel_confirm(s, now, peer, channel);
}
