/* See udp.h. */
#define _GNU_SOURCE
#include "agent/peer/udp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 32, BATCHES = 4, ROOM = 1500, BUFFER = 1 << 20 };

static void say_why(const struct config *config, int error, char *text, size_t size)
{
    char address[80];
    const char *hint = "";
    config_write_address(&config->members[config->self - 1].address, address, sizeof address);
    if (error == EADDRINUSE) hint = ": another process has this port; is an agent running already?";
    if (error == EADDRNOTAVAIL) hint = ": this host has no such address; is `self` the right member?";
    if (error == EACCES) hint = ": ports below 1024 need a privilege";
    snprintf(text, size, "cannot listen on %s: %s%s", address, strerror(error), hint);
}

int udp_open(const struct config *config, char *text, size_t size)
{
    const struct sockaddr_storage *address = &config->members[config->self - 1].address;
    const int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int one = 1, room = BUFFER;
    if (fd < 0) {
        say_why(config, errno, text, size);
        return -1;
    }
    if (address->ss_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room); /* as much as the kernel allows */
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (bind(fd, (const struct sockaddr *)address, config_address_size(address)) != 0) {
        say_why(config, errno, text, size);
        close(fd);
        return -1;
    }
    return fd;
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

bool udp_send(int socket, const struct config_member *to, const uint8_t *datagram, size_t size)
{
    const ssize_t sent = sendto(socket, datagram, size, MSG_DONTWAIT | MSG_NOSIGNAL,
                                (const struct sockaddr *)&to->address, config_address_size(&to->address));
    return sent >= 0 || errno == EAGAIN || errno == ECONNREFUSED || errno == ENOBUFS || errno == EINTR;
}

bool udp_receive(int socket, udp_receiver *receive, void *context)
{
    static uint8_t room[BATCH][ROOM]; /* one thread only */
    for (int round = 0; round < BATCHES; round++) {
        struct mmsghdr heads[BATCH];
        struct iovec parts[BATCH];
        memset(heads, 0, sizeof heads);
        for (int i = 0; i < BATCH; i++) {
            parts[i] = (struct iovec){room[i], ROOM};
            heads[i].msg_hdr.msg_iov = &parts[i];
            heads[i].msg_hdr.msg_iovlen = 1;
        }
        const int got = recvmmsg(socket, heads, BATCH, MSG_DONTWAIT, NULL);
        for (int i = 0; i < got; i++)
            if (!(heads[i].msg_hdr.msg_flags & MSG_TRUNC)) receive(context, room[i], heads[i].msg_len);
        if (got < BATCH) return false;
    }
    return true;
}
