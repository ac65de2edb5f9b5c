/*
 * See attacks.h. Initiations of handshakes that look like those of member b. One kind is changed and sealed again with the cluster
 * key, as a thief of that key could; the other is a recording of a boot of b that is over. They come from an address that is no
 * member's. Neither may keep b from getting in when it restarts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/config/config.h"
#include "agent/seal/internal.h"
#include "common/cluster.h"
#include "core/bytes.h"
#include "hostile/attacks.h"

enum { RECORDED = 8 };

static struct {
    uint8_t datagrams[RECORDED][SEAL_INITIATION_SIZE];
    uint32_t count;
    uint8_t tag_key[SEAL_KEY], mac_key[SEAL_KEY];
} known;

static void record(void *context, uint32_t peer, const uint8_t *datagram, size_t size)
{
    (void)context;
    if (peer == 1 && size == SEAL_INITIATION_SIZE && known.count < RECORDED)
        memcpy(known.datagrams[known.count++], datagram, size);
}

static void deliver_nothing(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    (void)context;
    (void)peer;
    (void)payload;
    (void)size;
}

/* An address of its own. */
static int open_socket(const struct victim *v)
{
    struct sockaddr_in own = v->peer;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    own.sin_addr.s_addr = htonl(ntohl(own.sin_addr.s_addr) + 8);
    own.sin_port = 0;
    if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) != 0) exit(1);
    return fd;
}

static void send_one(const struct victim *v, int fd, const uint8_t *datagram)
{
    if (sendto(fd, datagram, SEAL_INITIATION_SIZE, 0, (const struct sockaddr *)&v->peer, sizeof v->peer) > 0)
        attack_hit(v);
}

/* b has said this once: the agent has examined each, in a boot of b that another will follow. */
bool learn_handshakes(const struct victim *v)
{
    static struct config config;
    static uint8_t keys[CONFIG_MEMBERS_MAX][SEAL_KEY];
    char path[300], text[300];
    uint64_t now = NS_PER_S;
    snprintf(path, sizeof path, "%s/b/elector.conf", v->folder);
    if (!config_read(&config, path, text, sizeof text)) {
        fprintf(stderr, "bench-hostile: %s\n", text);
        return false;
    }
    struct seal_config seal = {.self = config.self,
                               .count = config.member_count,
                               .public_keys = (const uint8_t(*)[SEAL_KEY])keys,
                               .cluster_key_count = config.cluster_key_count};
    for (uint32_t i = 0; i < config.member_count; i++) memcpy(keys[i], config.members[i].public_key, SEAL_KEY);
    memcpy(seal.secret_key, config.secret_key, SEAL_KEY);
    memcpy(seal.cluster_keys, config.cluster_keys, sizeof seal.cluster_keys);
    memcpy(seal.cluster_id, config.cluster_id, sizeof seal.cluster_id);
    seal_tag_key(seal.cluster_keys[0], known.tag_key);
    seal_mac_key(seal.cluster_id, keys[0], known.mac_key);
    struct seal *b = seal_new(&seal, (struct seal_hooks){.send = record, .deliver = deliver_nothing});
    if (!b) return false;
    for (int i = 0; i < 1000 && known.count < RECORDED; i++, now += NS_PER_S / 4) {
        seal_send(b, now, 1, (const uint8_t *)"x", 1);
        (void)seal_tick(b, now);
    }
    seal_free(b);
    const int fd = open_socket(v);
    for (uint32_t i = 0; i < known.count; i++, pause_us(200000)) send_one(v, fd, known.datagrams[i]);
    close(fd);
    atomic_store(v->hits, 0);
    return known.count > 0;
}

/* In the name of b, with tag and mac as they should be. Only b could have made what is inside. */
void shake_hands_as_b(const struct victim *v)
{
    uint8_t datagram[SEAL_INITIATION_SIZE];
    const int fd = open_socket(v);
    memcpy(datagram, known.datagrams[0], sizeof datagram);
    for (uint64_t i = 1;; i++) {
        el_put(datagram + SEAL_INITIATION_TAG - 8, i, 8);
        seal_mac(known.tag_key, datagram, SEAL_INITIATION_TAG, datagram + SEAL_INITIATION_TAG);
        seal_mac(known.mac_key, datagram, SEAL_INITIATION_MAC, datagram + SEAL_INITIATION_MAC);
        send_one(v, fd, datagram);
    }
}

void replay_hands_of_b(const struct victim *v)
{
    const int fd = open_socket(v);
    for (uint32_t i = 0;; i++) send_one(v, fd, known.datagrams[i % known.count]);
}
