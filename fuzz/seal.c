/*
 * Any bytes into a node with a live session. The first byte says how they get there: as they are, as a packet of the
 * session, as an initiation with the macs made right, or as the answer to one. Whatever they are, nobody is heard by
 * them and nothing traps.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/seal/internal.h"
#include "core/bytes.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint8_t secrets[2][SEAL_KEY], publics[2][SEAL_KEY];
static struct seal *nodes[2], *plain;
static uint32_t numbers[2] = {0, 1};
static bool connecting;
static uint64_t now = 1000 * NS_PER_S, connected_ns;

/* While the two connect, what one sends is handed to the other. Afterwards it is lost. */
static void on_send(void *context, uint32_t peer, const uint8_t *datagram, size_t size)
{
    (void)context;
    if (size > SEAL_DATAGRAM_MAX) abort();
    if (connecting) seal_receive(nodes[peer - 1], now, 3 - peer, datagram, size);
}

static void on_deliver(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    (void)context, (void)peer, (void)payload, (void)size;
    if (!connecting) abort(); /* made up from nothing */
}

static void on_plain_deliver(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    (void)context, (void)payload;
    if (peer != 2 || size > SEAL_PAYLOAD_MAX) abort();
}

static struct seal *start(uint32_t self, bool is_plain)
{
    struct seal_config c = {
        .self = self, .count = 2, .public_keys = publics, .cluster_key_count = 1, .plain = is_plain};
    memcpy(c.secret_key, secrets[self - 1], SEAL_KEY);
    return seal_new(&c, (struct seal_hooks){.context = &numbers[self - 1],
                                            .send = on_send,
                                            .deliver = is_plain ? on_plain_deliver : on_deliver});
}

/* Node 1 has a session with node 2, and asks for another one. */
static void connect_both(void)
{
    for (unsigned i = 0; i < 2; i++) {
        seal_free(nodes[i]);
        nodes[i] = start(i + 1, false);
        if (!nodes[i]) abort();
    }
    connecting = true;
    connected_ns = now;
    seal_send(nodes[0], now, 2, (const uint8_t *)"x", 1);
    connecting = false;
    if (!seal_is_connected(nodes[0], 2)) abort();
    seal_initiate(nodes[0], now, 2);
}

/* A search for leaks does not look into key memory, and would not find what a seal points to. */
static void stop(void)
{
    seal_free(nodes[0]);
    seal_free(nodes[1]);
    seal_free(plain);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) /* NOLINT(readability-non-const-parameter): libFuzzer's */
{
    (void)argc, (void)argv;
    for (unsigned i = 0; i < 2; i++)
        if (!seal_keygen(secrets[i], publics[i])) abort();
    connect_both();
    plain = start(1, true);
    return plain && atexit(stop) == 0 ? 0 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t datagram[SEAL_DATAGRAM_MAX + 100];
    struct seal *s = nodes[0];
    struct seal_peer *p = &s->peers[1];
    if (size < 1 || size - 1 > sizeof datagram) return 0;
    const unsigned how = bytes[0] % 5;
    size--;
    memcpy(datagram, bytes + 1, size);
    now += 50 * NS_PER_MS;
    if (now - p->channels[0].born_ns > 100 * NS_PER_S) connect_both(), s = nodes[0], p = &s->peers[1];
    if (how == 1 && size >= SEAL_DATA_HEAD) {
        el_put(datagram, SEAL_DATA | SEAL_VERSION << 8, 4);
        el_put(datagram + 4, p->channels[0].mine, 4);
    } else if (how == 2 && size == SEAL_INITIATION_SIZE) {
        el_put(datagram, SEAL_INITIATION | SEAL_VERSION << 8, 4);
        seal_mac(s->tag_keys[0], datagram, SEAL_INITIATION_TAG, datagram + SEAL_INITIATION_TAG);
        seal_mac(s->mac_key, datagram, SEAL_INITIATION_MAC, datagram + SEAL_INITIATION_MAC);
    } else if (how == 3 && size == SEAL_ANSWER_SIZE) {
        el_put(datagram, SEAL_ANSWER | SEAL_VERSION << 8, 4);
        el_put(datagram + 8, p->asking_index, 4);
        seal_mac(s->tag_keys[0], datagram, SEAL_ANSWER_TAG, datagram + SEAL_ANSWER_TAG);
    }
    /* From any address: the member's own is left to the member. */
    seal_receive(how == 4 ? plain : s, now, SEAL_ELSEWHERE + 1 + bytes[0], datagram, size);
    if (how != 4 && s->sources_ns[1] > connected_ns + SEAL_SOURCE_EVERY_NS) abort();
    if (how != 4 && p->allowed_ns > connected_ns + SEAL_ONE_EVERY_NS)
        abort(); /* nobody uses up what is the member's */
    return 0;
}
