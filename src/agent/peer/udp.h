/* One UDP socket for all peers. */
#ifndef ELECTOR_AGENT_PEER_UDP_H
#define ELECTOR_AGENT_PEER_UDP_H

#include "agent/config/config.h"

/* Binds to the member's own address. -1: `text` says why, and what to do. */
int udp_open(const struct config *, char *text, size_t size);
/* A socket at the same address with any port, for a guardian's datagrams, which need no answer. It does not
 * block the port of a new agent. -1: errno says why. */
int udp_open_aside(const struct config *);
/* A datagram that cannot be sent is lost, like one lost in the network. False: for a reason worth logging. */
bool udp_send(int socket, const struct config_member *to, const uint8_t *datagram, size_t size);

typedef void udp_receiver(void *context, const struct sockaddr_storage *from, const uint8_t *datagram,
                          size_t size);
/* Receives at most 128 datagrams, so that timers get their turn. True: there may be more. */
bool udp_receive(int socket, udp_receiver *, void *context);
/* The same host and port. */
bool udp_is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
/* The source for seal_receive(): which member has this address and port; or a hash of the address. */
uint64_t udp_source(const struct config *, const struct sockaddr_storage *from);

#endif
