/* See attacks.h. */
#define _GNU_SOURCE
#include "hostile/attacks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#include "common/cluster.h"

/* ---- Sockets ---- */

int attack_join(const struct victim *v)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", v->socket);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

void attack_hit(const struct victim *v)
{
    atomic_fetch_add(v->hits, 1);
}

/* A client that sends lines ahead of their answers, and throws these away. False: it has ended. */
struct talker {
    int fd;
    size_t at; /* of the lines */
};

static bool talk(const struct victim *v, struct talker *t, const char *lines, size_t size)
{
    static char answers[65536];
    const ssize_t sent = send(t->fd, lines + t->at, size - t->at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) t->at = (t->at + (size_t)sent) % size;
    const ssize_t got = recv(t->fd, answers, sizeof answers, MSG_DONTWAIT);
    if (got > 0) attack_hit(v);
    return got > 0 || (got < 0 && errno == EAGAIN && (sent > 0 || errno == EAGAIN));
}

/* Requests for a thousand groups, one after the other. */
static size_t write_lines(char *to, size_t room, const char *op, const char *prefix, const char *value)
{
    size_t used = 0;
    for (unsigned i = 0; used + 600 < room; i++)
        used +=
            (size_t)snprintf(to + used, room - used, "{\"op\":\"%s\",\"group\":\"%s-%u\",\"value\":\"%s\"}\n",
                             op, prefix, i % 1000, value);
    return used;
}

/* Many connections that all pipeline these lines; those that end come again. */
static void pipeline(const struct victim *v, uint32_t count, const char *lines, size_t size)
{
    struct talker *talkers = calloc(count, sizeof *talkers);
    if (!talkers) exit(1);
    for (uint32_t i = 0; i < count; i++) talkers[i].fd = -1;
    for (;;)
        for (uint32_t i = 0; i < count; i++) {
            if (talkers[i].fd < 0) talkers[i] = (struct talker){.fd = attack_join(v)};
            if (talkers[i].fd < 0 || talk(v, &talkers[i], lines, size)) continue;
            close(talkers[i].fd);
            talkers[i].fd = -1;
        }
}

/* ---- Readers of the socket ---- */

static void ask_why(const struct victim *v)
{
    static char lines[1 << 16];
    pipeline(v, 48, lines, write_lines(lines, sizeof lines, "why", "g", ""));
}

static void ask_status(const struct victim *v)
{
    static const char lines[] = "{\"op\":\"status\"}\n{\"op\":\"history\",\"group\":\"g-7\",\"last\":64}\n";
    pipeline(v, 48, lines, sizeof lines - 1);
}

static void crowd_in(const struct victim *v)
{
    static const char lines[] =
        "{\"op\":\"hello\"}\n{\"op\":\"observe\"}\n{\"op\":\"observe\",\"group\":\"g-1\"}\n";
    pipeline(v, 2000, lines, sizeof lines - 1);
}

/* ---- Candidates ---- */

static void campaign(const struct victim *v)
{
    static char lines[1 << 20], value[256];
    memset(value, 'v', sizeof value - 1);
    pipeline(v, 200, lines, write_lines(lines, sizeof lines, "campaign", "g", value));
}

/* Enters many groups, and ends: all candidacies at once. */
static void come_and_go(const struct victim *v)
{
    static char lines[1 << 20];
    const size_t size = write_lines(lines, sizeof lines, "campaign", "h", "");
    for (;;) {
        struct talker t = {.fd = attack_join(v)};
        if (t.fd < 0) continue;
        for (size_t last = 0; talk(v, &t, lines, size) && t.at >= last; last = t.at)
            (void)poll(&(struct pollfd){.fd = t.fd, .events = POLLIN | POLLOUT}, 1, 100);
        close(t.fd);
    }
}

/* ---- Descriptors ---- */

/* A TCP socket whose last owner waits for a minute when it closes it. */
static int make_lingering(int *listener, int *far_end)
{
    static const char bytes[65536];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const struct linger lingers = {.l_onoff = 1, .l_linger = 60};
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(*listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(*listener, 1) != 0)
        return -1;
    (void)getsockname(*listener, (struct sockaddr *)&address, &size);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    *far_end = accept4(*listener, NULL, NULL, SOCK_CLOEXEC);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers, sizeof lingers);
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    return fd;
}

static void pass_on(const struct victim *v, int fd, int passed)
{
    static char line[] = "{\"op\":\"wo";
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec part = {line, sizeof line - 1};
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *m = CMSG_FIRSTHDR(&head);
    m->cmsg_level = SOL_SOCKET;
    m->cmsg_type = SCM_RIGHTS;
    m->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(m), &passed, sizeof passed);
    if (sendmsg(fd, &head, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) attack_hit(v);
}

/* Each with its own connection, which then ends, sometimes before it was read. */
static void pass_lingering(const struct victim *v)
{
    for (unsigned i = 0;; i++) {
        int listener = -1, far_end = -1;
        const int fd = attack_join(v), lingering = make_lingering(&listener, &far_end);
        if (fd >= 0 && lingering >= 0) pass_on(v, fd, lingering);
        if (lingering >= 0) close(lingering);                       /* now the agent has the last one, */
        (void)!send(fd, "rk\"}\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT); /* and is told to look at it */
        if (i % 2 && fd >= 0) (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 10);
        if (fd >= 0) close(fd);
        close(listener);             /* the far end stays open, and reads nothing, */
        if (far_end > 900) close(3); /* as long as there are descriptors */
        pause_us(1000);
    }
}

/* ---- HTTP and UDP ---- */

static int dial(const struct victim *v)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)connect(fd, (const struct sockaddr *)&v->http, sizeof v->http);
    return fd;
}

/* A byte of a request now and then, on more connections than there are places. */
static void trickle(const struct victim *v)
{
    static const char request[] = "GET /status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    int fds[80];
    for (int i = 0; i < 80; i++) fds[i] = dial(v);
    for (size_t at = 0;; at++, pause_us(1000))
        for (int i = 0; i < 80; i++) {
            const char *byte = at < sizeof request - 1 ? &request[at] : "x";
            const bool is_sent = send(fds[i], byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
            if (is_sent) attack_hit(v);
            if (is_sent || errno == EAGAIN || errno == ENOTCONN) continue;
            close(fds[i]);
            fds[i] = dial(v);
        }
}

static void scrape(const struct victim *v)
{
    static const char requests[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                   "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct talker talkers[40];
    for (int i = 0; i < 40; i++) talkers[i] = (struct talker){.fd = dial(v)};
    for (;;)
        for (int i = 0; i < 40; i++) {
            if (talk(v, &talkers[i], requests, sizeof requests - 1) || errno == ENOTCONN) continue;
            close(talkers[i].fd);
            talkers[i] = (struct talker){.fd = dial(v)};
        }
}

/* Datagrams that look like the first of a handshake until they are checked. */
static void shake_hands(const struct victim *v)
{
    uint8_t datagram[300];
    uint64_t seed = (uint64_t)getpid();
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (size_t size = 40;; size = size < sizeof datagram ? size + 1 : 40) {
        for (size_t i = 0; i < sizeof datagram; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            datagram[i] = (uint8_t)(seed >> 56);
        }
        memset(datagram, 0, 4);
        datagram[0] = (uint8_t)(1 + size % 4);
        if (sendto(fd, datagram, size, 0, (const struct sockaddr *)&v->peer, sizeof v->peer) > 0) attack_hit(v);
    }
}

/* ---- The disk ---- */

static void freeze(const struct victim *v)
{
    const int fd = open(v->disk, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ioctl(fd, FIFREEZE, 0) == 0) attack_hit(v);
    for (;;) pause(); /* hostile.c thaws it after it has killed this process */
}

const struct attack attacks[] = {
    {"why", "48 connections pipeline why", ask_why, 1, 0},
    {"status", "48 connections pipeline status and history", ask_status, 1, 0},
    {"crowd", "2,000 connections observe all they may", crowd_in, 1, 0},
    {"candidacies", "200 connections campaign, with values of 255 bytes", campaign, 1, 0},
    {"come-and-go", "one client enters a thousand groups, and ends", come_and_go, 1, 0},
    {"descriptors", "sockets that linger for 60 s are passed", pass_lingering, 1, 0},
    {"slow-http", "80 HTTP connections send a byte a millisecond", trickle, 1, 0},
    {"http", "40 HTTP connections ask for metrics and status", scrape, 1, 0},
    {"expelled", "three users lead 16,384 groups each, and are disconnected", be_expelled, 3, 0},
    {"hangs", "three users lead 16,384 groups each, and show no more life", hang, 3, 0},
    {"handshakes", "datagrams that begin handshakes", shake_hands, 1, 0},
    {"cluster-key", "with the cluster key, handshakes in the name of b, which restarts", shake_hands_as_b, 1,
     0},
    {"replays", "handshakes of b are sent again, while b restarts", replay_hands_of_b, 1, 0},
    {"frozen-disk", "the agent's file system is frozen", freeze, 1, 1},
};
const uint32_t attack_count = sizeof attacks / sizeof *attacks;
