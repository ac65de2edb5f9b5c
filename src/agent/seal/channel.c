/* The sessions of a peer: which to seal with, which to give up, and the packets under them. */
#include <sodium.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

static bool is_index_taken(const struct seal_peer *p, uint32_t index)
{
    if (p->is_asking && p->asking_index == index) return true;
    for (unsigned i = 0; i < SEAL_SESSIONS; i++)
        if (p->sessions[i].stands && p->sessions[i].mine == index) return true;
    return false;
}

/* The low bits say whose it is, so that a packet finds its session without a search. */
uint32_t seal_new_index(struct seal *s, uint32_t peer)
{
    _Static_assert(SEAL_PEERS_MAX == 64, "six bits");
    for (;;) {
        const uint32_t index = (randombytes_random() & ~UINT32_C(63)) | (peer - 1);
        if (!is_index_taken(&s->peers[peer - 1], index)) return index;
    }
}

void seal_channel_end(struct seal_channel *session)
{
    sodium_memzero(session, sizeof *session);
}

static bool may_seal(const struct seal_channel *session, uint64_t now)
{
    return session->stands && session->confirmed && now - session->born_ns < SEAL_LAST_SEND_NS &&
           session->counter < SEAL_LAST_COUNTER;
}

/* The later one; of two begun by both sides at once, the one begun by the lower position. */
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
    for (unsigned i = 0; i < SEAL_SESSIONS; i++) {
        struct seal_channel *one = &p->sessions[i];
        if (may_seal(one, now) && (!best || is_better(one, best))) best = one;
    }
    return best;
}

/* First the free, then the unconfirmed, then the oldest: what is in use is the last that a handshake can push out. */
static struct seal_channel *find_place(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_peer *p = &s->peers[peer - 1];
    const struct seal_channel *best = seal_channel_best(s, now, peer);
    struct seal_channel *victim = NULL;
    for (unsigned i = 0; i < SEAL_SESSIONS; i++) {
        struct seal_channel *one = &p->sessions[i];
        if (!one->stands) return one;
        if (one == best) continue;
        if (!victim || (victim->confirmed && !one->confirmed) ||
            (victim->confirmed == one->confirmed && one->born_ns < victim->born_ns))
            victim = one;
    }
    return victim;
}

struct seal_channel *seal_channel_new(struct seal *s, uint64_t now, uint32_t peer)
{
    struct seal_channel *session = find_place(s, now, peer);
    seal_channel_end(session);
    session->stands = true;
    session->born_ns = now;
    return session;
}

void seal_channel_send(struct seal *s, uint64_t now, uint32_t peer, struct seal_channel *session,
                       const uint8_t *payload, size_t size)
{
    struct seal_peer *p = &s->peers[peer - 1];
    uint8_t datagram[SEAL_DATAGRAM_MAX];
    el_put(datagram, SEAL_DATA | SEAL_VERSION << 8, 4);
    el_put(datagram + 4, session->theirs, 4);
    el_put(datagram + 8, session->counter, 8);
    noise_seal(session->sends, session->counter, datagram, SEAL_DATA_HEAD, payload, size,
               datagram + SEAL_DATA_HEAD);
    session->counter++;
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

/* Returns how many were young enough. */
static unsigned send_kept(struct seal *s, uint64_t now, uint32_t peer, struct seal_channel *session)
{
    struct seal_peer *p = &s->peers[peer - 1];
    unsigned sent = 0;
    for (; p->kept_count > 0; p->kept_count--, p->kept_first = (p->kept_first + 1) % SEAL_KEPT) {
        struct seal_kept *kept = &p->kept[p->kept_first];
        if (now - kept->since_ns <= SEAL_KEPT_NS) {
            seal_channel_send(s, now, peer, session, kept->payload, kept->size);
            sent++;
        }
        sodium_memzero(kept, sizeof *kept);
    }
    return sent;
}

void seal_channel_confirm(struct seal *s, uint64_t now, uint32_t peer, struct seal_channel *session)
{
    struct seal_peer *p = &s->peers[peer - 1];
    session->confirmed = true;
    s->stats.handshakes++;
    p->retry_ns = SEAL_RETRY_NS;
    if (!p->is_asking) p->next_try_ns = now; /* else the other one of a tie, which is waited for */
    p->unheard_ns = 0;
    if (seal_boot_use(p, session->boot))
        for (unsigned i = 0; i < SEAL_SESSIONS; i++)
            if (memcmp(p->sessions[i].boot, session->boot, SEAL_BOOT_ID) != 0)
                seal_channel_end(&p->sessions[i]);
    /* The other side may not seal before it heard from who began: send something in any case. */
    if (send_kept(s, now, peer, session) == 0 && session->begun_by == s->self)
        seal_channel_send(s, now, peer, session, NULL, 0);
}

static struct seal_channel *find_session(struct seal_peer *p, uint32_t index, uint64_t now)
{
    for (unsigned i = 0; i < SEAL_SESSIONS; i++) {
        struct seal_channel *one = &p->sessions[i];
        if (one->stands && one->mine == index && now - one->born_ns < SEAL_DEAD_NS) return one;
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
    struct seal_channel *session =
        peer > s->count || peer == s->self ? NULL : find_session(&s->peers[peer - 1], index, now);
    if (!session) {
        s->stats.strangers++;
        return;
    }
    if (!noise_open(session->receives, counter, datagram, SEAL_DATA_HEAD, datagram + SEAL_DATA_HEAD,
                    size - SEAL_DATA_HEAD, payload)) {
        s->stats.forged++;
        return;
    }
    if (counter & SEAL_IN_ADVANCE) { /* nobody lives there any more: nothing is confirmed or owed */
        seal_on_obituary(s, peer, &session->obituaries, counter, payload, size - SEAL_DATA_SIZE);
        return;
    }
    if (!replay_window_accept(&session->seen, counter)) {
        s->stats.replayed++;
        return;
    }
    struct seal_peer *p = &s->peers[peer - 1];
    p->unheard_ns = 0;
    if (!session->confirmed) seal_channel_confirm(s, now, peer, session);
    if (size == SEAL_DATA_SIZE) return; /* only to say that it is there */
    if (p->owe_ns == 0) p->owe_ns = now;
    s->stats.received++;
    s->hooks.deliver(s->hooks.context, peer, payload, size - SEAL_DATA_SIZE);
}
