/* The channels of a peer: which one seals, which one is replaced, and their data packets. */
#include <sodium.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

static bool is_index_taken(const struct seal_peer *p, uint32_t index)
{
    if (p->is_asking && p->asking_index == index) return true;
    for (unsigned i = 0; i < SEAL_CHANNELS; i++)
        if (p->channels[i].in_use && p->channels[i].mine == index) return true;
    return false;
}

/* The low 6 bits are the peer's position, so that a packet's channel is found without a search. */
uint32_t seal_new_index(struct seal *s, uint32_t peer)
{
    _Static_assert(SEAL_PEERS_MAX == 64, "six bits");
    for (;;) {
        const uint32_t index = (randombytes_random() & ~UINT32_C(63)) | (peer - 1);
        if (!is_index_taken(&s->peers[peer - 1], index)) return index;
    }
}

void seal_channel_end(struct seal_channel *channel)
{
    sodium_memzero(channel, sizeof *channel);
}

static bool may_seal(const struct seal_channel *channel, uint64_t now)
{
    return channel->in_use && channel->confirmed && now - channel->born_ns < SEAL_LAST_SEND_NS &&
           channel->counter < SEAL_LAST_COUNTER;
}

/* The newer one is better; of two that both sides began at once, the one begun by the lower position. */
static bool is_better(const struct seal_channel *a, const struct seal_channel *b)
{
    const uint64_t apart = a->born_ns > b->born_ns ? a->born_ns - b->born_ns : b->born_ns - a->born_ns;
    if (apart < SEAL_TIE_NS && a->begun_by != b->begun_by) return a->begun_by < b->begun_by;
    return a->born_ns > b->born_ns;
}

struct seal_channel *seal_channel_best(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_peer *p = &s->peers[peer - 1];
    struct seal_channel *best = NULL;
    for (unsigned i = 0; i < SEAL_CHANNELS; i++) {
        struct seal_channel *one = &p->channels[i];
        if (may_seal(one, now) && (!best || is_better(one, best))) best = one;
    }
    return best;
}

/* A free place, else an unconfirmed channel, else the oldest. A handshake never replaces the channel in use. */
static struct seal_channel *find_place(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_peer *p = &s->peers[peer - 1];
    const struct seal_channel *best = seal_channel_best(s, now, peer);
    struct seal_channel *victim = NULL;
    for (unsigned i = 0; i < SEAL_CHANNELS; i++) {
        struct seal_channel *one = &p->channels[i];
        if (!one->in_use) return one;
        if (one == best) continue;
        if (!victim || (victim->confirmed && !one->confirmed) ||
            (victim->confirmed == one->confirmed && one->born_ns < victim->born_ns))
            victim = one;
    }
    return victim;
}

struct seal_channel *seal_channel_new(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_channel *channel = find_place(s, now, peer);
    seal_channel_end(channel);
    channel->in_use = true;
    channel->born_ns = now;
    return channel;
}

void seal_channel_send(struct seal *s, uint64_t now, uint32_t peer, struct seal_channel *channel,
                       const uint8_t *payload, size_t size)
{
    struct seal_peer *p = &s->peers[peer - 1];
    uint8_t datagram[SEAL_DATAGRAM_MAX];
    el_put(datagram, SEAL_DATA | SEAL_VERSION << 8, 4);
    el_put(datagram + 4, channel->theirs, 4);
    el_put(datagram + 8, channel->counter, 8);
    noise_seal(channel->sends, channel->counter, datagram, SEAL_DATA_HEAD, payload, size,
               datagram + SEAL_DATA_HEAD);
    channel->counter++;
    p->owe_ns = 0;
    if (size > 0) {
        s->stats.sent++;
        if (p->unheard_ns == 0) p->unheard_ns = now;
    }
    s->hooks.send(s->hooks.context, peer, datagram, SEAL_DATA_SIZE + size);
}

void seal_keep(struct seal *s, uint64_t now, uint32_t peer, const uint8_t *payload, size_t size)
{
    struct seal_peer *p = &s->peers[peer - 1];
    if (p->kept_count == SEAL_KEPT) {
        p->kept_first = (p->kept_first + 1) % SEAL_KEPT;
        p->kept_count--;
    }
    struct seal_kept *kept = &p->kept[(p->kept_first + p->kept_count++) % SEAL_KEPT];
    kept->since_ns = now;
    kept->size = size;
    if (size > 0) memcpy(kept->payload, payload, size);
}

/* Sends the kept payloads that are not too old. Returns their number. */
static unsigned send_kept(struct seal *s, uint64_t now, uint32_t peer, struct seal_channel *channel)
{
    struct seal_peer *p = &s->peers[peer - 1];
    unsigned sent = 0;
    for (; p->kept_count > 0; p->kept_count--, p->kept_first = (p->kept_first + 1) % SEAL_KEPT) {
        struct seal_kept *kept = &p->kept[p->kept_first];
        if (now - kept->since_ns <= SEAL_KEPT_NS) {
            seal_channel_send(s, now, peer, channel, kept->payload, kept->size);
            sent++;
        }
        sodium_memzero(kept, sizeof *kept);
    }
    return sent;
}

void seal_channel_confirm(struct seal *s, uint64_t now, uint32_t peer, struct seal_channel *channel)
{
    struct seal_peer *p = &s->peers[peer - 1];
    channel->confirmed = true;
    s->stats.handshakes++;
    p->retry_ns = SEAL_RETRY_NS;
    if (!p->is_asking) p->next_try_ns = now; /* else both sides began at once: await the other handshake */
    p->unheard_ns = 0;
    if (seal_boot_use(p, channel->boot))
        for (unsigned i = 0; i < SEAL_CHANNELS; i++)
            if (memcmp(p->channels[i].boot, channel->boot, SEAL_BOOT_ID) != 0)
                seal_channel_end(&p->channels[i]);
    /* The responder may not seal before it hears from the initiator, so the initiator always sends
     * something. */
    if (send_kept(s, now, peer, channel) == 0 && channel->begun_by == s->self)
        seal_channel_send(s, now, peer, channel, NULL, 0);
}

static struct seal_channel *find_channel(struct seal_peer *p, uint32_t index, uint64_t now)
{
    for (unsigned i = 0; i < SEAL_CHANNELS; i++) {
        struct seal_channel *one = &p->channels[i];
        if (one->in_use && one->mine == index && now - one->born_ns < SEAL_DEAD_NS) return one;
    }
    return NULL;
}

void seal_on_data(struct seal *s, uint64_t now, const uint8_t *datagram, size_t size)
{
    uint8_t payload[SEAL_DATAGRAM_MAX];
    if (size < SEAL_DATA_SIZE || size > SEAL_DATA_SIZE + SEAL_PAYLOAD_MAX) {
        s->stats.malformed++;
        return;
    }
    const uint32_t index = (uint32_t)el_get(datagram + 4, 4), peer = (index & 63) + 1;
    const uint64_t counter = el_get(datagram + 8, 8);
    struct seal_channel *channel =
        peer > s->count || peer == s->self ? NULL : find_channel(&s->peers[peer - 1], index, now);
    if (!channel) {
        s->stats.strangers++;
        return;
    }
    if (!noise_open(channel->receives, counter, datagram, SEAL_DATA_HEAD, datagram + SEAL_DATA_HEAD,
                    size - SEAL_DATA_HEAD, payload)) {
        s->stats.forged++;
        return;
    }
    if (counter & SEAL_IN_ADVANCE) { /* the sender is dead: confirm nothing, owe nothing */
        seal_on_obituary(s, peer, &channel->obituaries, counter, payload, size - SEAL_DATA_SIZE);
        return;
    }
    if (!replay_window_accept(&channel->seen, counter)) {
        s->stats.replayed++;
        return;
    }
    struct seal_peer *p = &s->peers[peer - 1];
    p->unheard_ns = 0;
    seal_has_proved(s, peer);
    if (!channel->confirmed) seal_channel_confirm(s, now, peer, channel);
    if (size == SEAL_DATA_SIZE) return; /* empty: a sign of life only */
    if (p->owe_ns == 0) p->owe_ns = now;
    s->stats.received++;
    s->hooks.deliver(s->hooks.context, peer, payload, size - SEAL_DATA_SIZE);
}
