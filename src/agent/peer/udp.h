/* One UDP socket for each address of this member, and all peers. */
#ifndef ELECTOR_AGENT_PEER_UDP_H
#define ELECTOR_AGENT_PEER_UDP_H

#include "agent/config/config.h"

struct udp {
    int sockets[CONFIG_ADDRESSES_MAX]; /* in the order of the member's addresses */
    sa_family_t families[CONFIG_ADDRESSES_MAX];
    uint32_t count;
};

/* Binds to the member's own addresses. False: `text` says why, and what to do; nothing is open. */
bool udp_open(struct udp *, const struct config *, char *text, size_t size);
void udp_close(struct udp *);
/* A socket at the first address with any port, for a guardian's datagrams, which need no answer. It does not
 * block the port of a new agent. -1: errno says why. */
int udp_open_aside(const struct config *);
/*
 * Sends it to each address of the member, so that one network may fail; the seal drops the copies. The socket of our own
 * address with the same index sends, if both are IPv4 or both IPv6; else the first that is of that kind. Adds to *copies
 * how many left. A datagram that cannot be sent is lost, like one lost in the network. False: all were, for a reason
 * worth logging.
 */
bool udp_send(const struct udp *, const struct config_member *to, const uint8_t *datagram, size_t size,
              uint32_t *copies);

typedef void udp_receiver(void *context, const struct sockaddr_storage *from, const uint8_t *datagram,
                          size_t size);
/* Receives at most 128 datagrams, so that timers get their turn. True: there may be more. */
bool udp_receive(int socket, udp_receiver *, void *context);
/* The same host and port. */
bool udp_is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
/* The source for seal_receive(): which member has this address and port; or a hash of the address. */
uint64_t udp_source(const struct config *, const struct sockaddr_storage *from);

#endif
