/*
 * Packets without keys, for loopback only, where a process that can send to us can do worse. Nothing is
 * authenticated, but duplicates and packets of an earlier boot are dropped by the same rules.
 */
#include <sodium.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

static const uint8_t magic[4] = {'E', 'L', 'P', '1'};

/* The beginning of the header, up to the boot id. */
static void put_start(uint32_t sender, uint8_t start[8])
{
    memcpy(start, magic, sizeof magic);
    el_put(start + 4, SEAL_VERSION | sender << 8, 4);
}

void seal_plain_head(const struct seal *s, uint64_t counter, uint8_t head[SEAL_PLAIN_HEAD])
{
    put_start(s->self, head);
    memcpy(head + 8, s->boot, SEAL_BOOT_ID);
    el_put(head + 24, counter, 8);
    el_put(head + 32, seal_group_key(s->cluster_id, ""), 8);
}

void seal_plain_send(struct seal *s, uint32_t peer, const uint8_t *payload, size_t size)
{
    uint8_t datagram[SEAL_DATAGRAM_MAX];
    seal_plain_head(s, s->peers[peer - 1].counter++, datagram);
    if (size > 0) memcpy(datagram + SEAL_PLAIN_HEAD, payload, size);
    s->stats.sent++;
    s->hooks.send(s->hooks.context, peer, datagram, SEAL_PLAIN_HEAD + size);
}

void seal_plain_receive(struct seal *s, const uint8_t *datagram, size_t size)
{
    uint8_t start[8];
    if (size < SEAL_PLAIN_HEAD || size > SEAL_PLAIN_HEAD + SEAL_PAYLOAD_MAX) {
        s->stats.malformed++;
        return;
    }
    const uint32_t peer = datagram[5];
    put_start(peer, start);
    if (memcmp(start, datagram, sizeof start) != 0) {
        s->stats.malformed++;
        return;
    }
    if (peer == 0 || peer > s->count || peer == s->self ||
        el_get(datagram + 32, 8) != seal_group_key(s->cluster_id, "")) {
        s->stats.strangers++;
        return;
    }
    struct seal_peer *p = &s->peers[peer - 1];
    const uint64_t counter = el_get(datagram + 24, 8);
    if (counter & SEAL_IN_ADVANCE) { /* only of the boot that we know */
        if (p->has_boot && memcmp(p->boot, datagram + 8, SEAL_BOOT_ID) == 0)
            seal_on_obituary(s, peer, &p->obituaries, counter, datagram + SEAL_PLAIN_HEAD,
                             size - SEAL_PLAIN_HEAD);
        else
            s->stats.strangers++;
        return;
    }
    if (seal_boot_is_retired(p, datagram + 8)) {
        s->stats.replayed++;
        return;
    }
    if (seal_boot_use(p, datagram + 8)) {
        s->stats.handshakes++;
        memset(&p->seen, 0, sizeof p->seen);
        memset(&p->obituaries.seen, 0, sizeof p->obituaries.seen);
    }
    if (!replay_window_accept(&p->seen, counter)) {
        s->stats.replayed++;
        return;
    }
    s->stats.received++;
    s->hooks.deliver(s->hooks.context, peer, datagram + SEAL_PLAIN_HEAD, size - SEAL_PLAIN_HEAD);
}
