/* See udp.h. */
#define _GNU_SOURCE
#include "agent/peer/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/seal/seal.h"

/* A longer datagram is cut at ROOM bytes, which is more than any valid one: seal_receive() counts and drops it. */
enum { BATCH = 32, BATCHES = 4, ROOM = 1500, BUFFER = 1 << 20 };
_Static_assert((int)ROOM > (int)SEAL_DATAGRAM_MAX, "a datagram that was cut is too long to be valid");

static void say_why(const struct sockaddr_storage *own, int error, char *text, size_t size)
{
    char address[80];
    const char *hint = "";
    config_write_address(own, address, sizeof address);
    if (error == EADDRINUSE) hint = ": another process has this port; is an agent running already?";
    if (error == EADDRNOTAVAIL) hint = ": this host has no such address; is `self` the right member?";
    if (error == EACCES) hint = ": ports below 1024 need a privilege";
    snprintf(text, size, "cannot listen on %s: %s%s", address, strerror(error), hint);
}

static int open_one(const struct sockaddr_storage *address, char *text, size_t size)
{
    const int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int one = 1, room = BUFFER;
    if (fd < 0) {
        say_why(address, errno, text, size);
        return -1;
    }
    if (address->ss_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room); /* as much as the kernel allows */
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (bind(fd, (const struct sockaddr *)address, config_address_size(address)) != 0) {
        say_why(address, errno, text, size);
        close(fd);
        return -1;
    }
    return fd;
}

bool udp_open(struct udp *u, const struct config *config, char *text, size_t size)
{
    const struct config_member *self = &config->members[config->self - 1];
    u->count = 0;
    for (uint32_t i = 0; i < config_address_count(self); i++) {
        const int fd = open_one(config_address_at(self, i), text, size);
        if (fd < 0) {
            udp_close(u);
            return false;
        }
        u->sockets[i] = fd;
        u->families[i] = config_address_at(self, i)->ss_family;
        u->count++;
    }
    return true;
}

void udp_close(struct udp *u)
{
    while (u->count) close(u->sockets[--u->count]);
}

int udp_open_aside(const struct config *config)
{
    struct sockaddr_storage address = config->members[config->self - 1].address;
    const int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (address.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address)->sin6_port = 0;
    else
        ((struct sockaddr_in *)&address)->sin_port = 0;
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, config_address_size(&address)) == 0) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* -1: no own address is of this kind. */
static int socket_for(const struct udp *u, uint32_t index, sa_family_t family)
{
    if (index < u->count && u->families[index] == family) return u->sockets[index];
    for (uint32_t i = 0; i < u->count; i++)
        if (u->families[i] == family) return u->sockets[i];
    errno = EAFNOSUPPORT;
    return -1;
}

static bool send_one(int socket, const struct sockaddr_storage *to, const uint8_t *datagram, size_t size)
{
    if (socket < 0) return false;
    const ssize_t sent = sendto(socket, datagram, size, MSG_DONTWAIT | MSG_NOSIGNAL,
                                (const struct sockaddr *)to, config_address_size(to));
    return sent >= 0 || errno == EAGAIN || errno == ECONNREFUSED || errno == ENOBUFS || errno == EINTR;
}

bool udp_send(const struct udp *u, const struct config_member *to, const uint8_t *datagram, size_t size,
              uint32_t *copies)
{
    uint32_t tried = 0, sent = 0;
    for (uint32_t i = 0; i < config_address_count(to); i++) {
        const struct sockaddr_storage *address = config_address_at(to, i);
        if (i == 0 && to->is_unresolved) continue; /* until its name is found, or it is heard */
        tried++;
        sent +=
            send_one(socket_for(u, to->is_dynamic ? to->via : i, address->ss_family), address, datagram, size);
    }
    *copies += sent;
    return sent > 0 || tried == 0;
}

static uint64_t hash(uint64_t so_far, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) so_far = so_far * 131 + ((const uint8_t *)bytes)[i];
    return so_far;
}

bool udp_is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
    if (a->ss_family != b->ss_family) return false;
    if (a->ss_family == AF_INET6)
        return a6->sin6_port == b6->sin6_port && memcmp(&a6->sin6_addr, &b6->sin6_addr, 16) == 0;
    return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
}

uint64_t udp_source(const struct config *config, const struct sockaddr_storage *from)
{
    const struct sockaddr_in *four = (const void *)from;
    const struct sockaddr_in6 *six = (const void *)from;
    for (uint32_t i = 0; i < config->member_count; i++)
        for (uint32_t k = 0; k < config_address_count(&config->members[i]); k++)
            if (udp_is_same(config_address_at(&config->members[i], k), from)) return i + 1;
    const uint64_t other = from->ss_family == AF_INET6 ? hash(6, &six->sin6_addr, sizeof six->sin6_addr)
                                                       : hash(4, &four->sin_addr, sizeof four->sin_addr);
    return SEAL_ELSEWHERE + 1 + other % UINT32_MAX;
}

bool udp_receive(int socket, udp_receiver *receive, void *context)
{
    static uint8_t room[BATCH][ROOM]; /* one thread only */
    for (int round = 0; round < BATCHES; round++) {
        struct mmsghdr heads[BATCH];
        struct iovec parts[BATCH];
        struct sockaddr_storage from[BATCH];
        memset(heads, 0, sizeof heads);
        for (int i = 0; i < BATCH; i++) {
            parts[i] = (struct iovec){room[i], ROOM};
            heads[i].msg_hdr.msg_name = &from[i];
            heads[i].msg_hdr.msg_namelen = sizeof from[i];
            heads[i].msg_hdr.msg_iov = &parts[i];
            heads[i].msg_hdr.msg_iovlen = 1;
        }
        const int got = recvmmsg(socket, heads, BATCH, MSG_DONTWAIT, NULL);
        for (int i = 0; i < got; i++) receive(context, &from[i], room[i], heads[i].msg_len);
        if (got < BATCH) return false;
    }
    return true;
}
