/* See generation.h. */
#define _GNU_SOURCE
#include "agent/generation.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { KERNEL_EVENTS = 1, AT_A_TIME = 16 };

int generation_open(void)
{
    const struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_EVENTS};
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&all, sizeof all) == 0) return fd;
    close(fd);
    return -1;
}

bool generation_is_new(const char *uevent, size_t size)
{
    static const char sign[] = "NEW_VMGENID=1";
    for (size_t at = 0; at < size;) {
        const size_t length = strnlen(uevent + at, size - at);
        if (length == sizeof sign - 1 && memcmp(uevent + at, sign, length) == 0) return true;
        at += length + 1;
    }
    return false;
}

/* Only the kernel has port 0; other processes may send here, too. */
bool generation_changed(int fd)
{
    bool is_new = false;
    for (int i = 0; i < AT_A_TIME; i++) {
        char uevent[2048];
        struct sockaddr_nl from = {0};
        socklen_t size = sizeof from;
        const ssize_t got = recvfrom(fd, uevent, sizeof uevent, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
        if (got < 0) break;
        is_new = is_new || (from.nl_pid == 0 && generation_is_new(uevent, (size_t)got));
    }
    return is_new;
}

bool generation_clock_jumped(uint64_t *offset, uint64_t boottime_ns, uint64_t wall_ns)
{
    const uint64_t now = wall_ns - boottime_ns, was = *offset; /* may wrap around, and so may the difference */
    const uint64_t apart = now - was < was - now ? now - was : was - now;
    *offset = now;
    return was != 0 && apart > NS_PER_S;
}
