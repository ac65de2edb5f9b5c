/* One UDP socket for all peers. */
#ifndef ELECTOR_AGENT_PEER_UDP_H
#define ELECTOR_AGENT_PEER_UDP_H

#include "agent/config/config.h"

/* Bound to the member's own address. -1 with the reason: what is in the way, and what to do. */
int udp_open(const struct config *, char *text, size_t size);
/* Another at the same address, at any port: for datagrams that are nobody's to answer. Whoever holds it does not keep an
 * agent from starting. -1: errno. */
int udp_open_aside(const struct config *);
/* A datagram that cannot be sent is lost, as datagrams are; false if that is worth a word. */
bool udp_send(int socket, const struct config_member *to, const uint8_t *datagram, size_t size);

typedef void udp_receiver(void *context, const uint8_t *datagram, size_t size);
/* Everything that has arrived, up to a bound, so that timers are looked at in between. True: there may be more. */
bool udp_receive(int socket, udp_receiver *, void *context);

#endif
