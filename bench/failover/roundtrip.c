/* See trial.h. What a datagram takes here is the unit in which the rest is told. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "trial.h"

enum { BYTES = 100, PACE_US = 1000 };

static int open_socket(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = {.tv_sec = 1};
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) != 0) {
        perror("roundtrip");
        exit(1);
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static _Noreturn void echo(int fd)
{
    char bytes[BYTES];
    struct sockaddr_in from;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        socklen_t size = sizeof from;
        const ssize_t got = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size);
        if (got > 0) (void)!sendto(fd, bytes, (size_t)got, 0, (struct sockaddr *)&from, size);
    }
}

static void measure_death(void)
{
    struct pollfd wanted = {.events = POLLIN};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        for (;;) pause();
    }
    close(ends[1]);
    pause_us(UINT64_C(10) * PACE_US);
    wanted.fd = ends[0];
    const uint64_t from = clock_boottime_ns();
    kill(pid, SIGKILL);
    if (poll(&wanted, 1, 1000) == 1) print_sample("kernel", "death-notice", clock_boottime_ns() - from);
    waitpid(pid, NULL, 0);
    close(ends[0]);
}

void measure_deaths(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) measure_death();
}

void measure_round_trips(uint32_t count)
{
    struct sockaddr_in ours, theirs;
    char bytes[BYTES] = {0};
    const int far = open_socket(&theirs), near = open_socket(&ours);
    const pid_t pid = fork();
    if (pid == 0) echo(far);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = clock_boottime_ns();
        if (sendto(near, bytes, sizeof bytes, 0, (struct sockaddr *)&theirs, sizeof theirs) < 0) continue;
        if (recv(near, bytes, sizeof bytes, 0) > 0)
            print_sample("loopback", "round-trip", clock_boottime_ns() - from);
        pause_us(PACE_US);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(far);
    close(near);
}
