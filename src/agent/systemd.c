/* See systemd.h. */
#define _GNU_SOURCE
#include "agent/systemd.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void systemd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return;
    memcpy(address.sun_path, path, strlen(path));
    if (path[0] == '@') address.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    const int flags = strcmp(state, "READY=1") == 0 ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT;
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    (void)sendto(fd, state, strlen(state), flags, (const struct sockaddr *)&address, size);
    close(fd);
}

uint64_t systemd_watchdog_ns(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!text || (pid && strtoul(pid, NULL, 10) != (unsigned long)getpid())) return 0;
    return strtoull(text, NULL, 10) * 1000 / 2;
}
