/*
 * Preloaded into an agent: the kernel's events come from a socket of the story. The socket for them is a Unix socket in its place, bound
 * to the path that CLUSTER_UEVENTS names. Whoever sends to it has no number, like the kernel.
 */
#define _GNU_SOURCE
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int stand_in = -1;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the library's names are reserved */
__attribute__((visibility("default"))) int socket(int domain, int type, int protocol)
{
    const int is_for_events =
        domain == AF_NETLINK && protocol == NETLINK_KOBJECT_UEVENT && getenv("CLUSTER_UEVENTS");
    if (!is_for_events) return (int)syscall(SYS_socket, domain, type, protocol);
    stand_in = (int)syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | (type & (SOCK_NONBLOCK | SOCK_CLOEXEC)), 0);
    return stand_in;
}

__attribute__((visibility("default"))) int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    if (fd < 0 || fd != stand_in) return (int)syscall(SYS_bind, fd, address.__sockaddr__, size);
    stand_in = -1;
    snprintf(path.sun_path, sizeof path.sun_path, "%s", getenv("CLUSTER_UEVENTS"));
    return (int)syscall(SYS_bind, fd, &path, sizeof path);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
