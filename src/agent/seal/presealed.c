/*
 * Datagrams sealed in advance, for our guardian to send after our death: it has no keys. Their counters have
 * the top bit set, so that no nonce is used twice. The receiver accepts each once, in any order.
 */
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"
#include "core/machine.h"

uint64_t seal_in_use(struct seal *s, uint64_t now_ns, uint32_t peer)
{
    el_require(peer >= 1 && peer <= s->count && peer != s->self);
    if (s->plain) return 1;
    const struct seal_channel *best = seal_channel_best(s, now_ns, peer);
    return best ? UINT64_C(1) + best->mine : 0;
}

static size_t put_plain(const struct seal *s, uint64_t counter, const uint8_t *payload, size_t size,
                        uint8_t *out)
{
    seal_plain_head(s, counter, out);
    memcpy(out + SEAL_PLAIN_HEAD, payload, size);
    return SEAL_PLAIN_HEAD + size;
}

size_t seal_obituary(struct seal *s, uint64_t now_ns, uint32_t peer, const uint8_t *payload, size_t size,
                     uint8_t out[SEAL_DATAGRAM_MAX])
{
    el_require(peer >= 1 && peer <= s->count && peer != s->self && size >= 1 && size <= SEAL_PAYLOAD_MAX);
    struct seal_channel *channel = s->plain ? NULL : seal_channel_best(s, now_ns, peer);
    if (!s->plain && !channel) return 0;
    struct seal_obituaries *obituaries = channel ? &channel->obituaries : &s->peers[peer - 1].obituaries;
    const uint64_t counter = SEAL_IN_ADVANCE | obituaries->sealed++;
    if (s->plain) return put_plain(s, counter, payload, size, out);
    el_put(out, SEAL_DATA | SEAL_VERSION << 8, 4);
    el_put(out + 4, channel->theirs, 4);
    el_put(out + 8, counter, 8);
    noise_seal(channel->sends, counter, out, SEAL_DATA_HEAD, payload, size, out + SEAL_DATA_HEAD);
    return SEAL_DATA_SIZE + size;
}

void seal_on_obituary(struct seal *s, uint32_t peer, struct seal_obituaries *obituaries, uint64_t counter,
                      const uint8_t *payload, size_t size)
{
    if (!replay_window_accept(&obituaries->seen, counter & ~SEAL_IN_ADVANCE)) {
        s->stats.replayed++;
        return;
    }
    if (size == 0 || !s->hooks.deliver_presealed) {
        s->stats.malformed++;
        return;
    }
    s->stats.received++;
    s->hooks.deliver_presealed(s->hooks.context, peer, payload, size);
}
