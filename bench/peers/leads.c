/*
 * Asks servers of etcd or ZooKeeper in turn until one says that it leads itself, for the failover bench.
 *
 *     peer-leads etcd|zookeeper PORT...
 *
 * Prints the time at which it had asked, in microseconds since 1970. Each question is a connection of its own to
 * 127.0.0.1; servers that are not there, or do not know, are asked again.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { PACE_NS = 300000, PATIENCE_US = 200000 };

/* The digits after `label`, or an empty text. */
static void find_number(const char *answer, const char *label, char *number, size_t size)
{
    const char *at = strstr(answer, label);
    number[0] = '\0';
    if (at) snprintf(number, size, "%.*s", (int)strspn(at + strlen(label), "0123456789"), at + strlen(label));
}

static bool etcd_leads(const char *answer)
{
    char self[32], leader[32];
    find_number(answer, "\"member_id\":\"", self, sizeof self);
    find_number(answer, "\"leader\":\"", leader, sizeof leader);
    return self[0] != '\0' && strcmp(self, leader) == 0;
}

static bool zookeeper_leads(const char *answer)
{
    return strstr(answer, "\nMode: leader\n") != NULL;
}

static const struct peer {
    const char *name, *question;
    bool (*leads)(const char *answer);
} peers[] = {
    {"etcd", "POST /v3/maintenance/status HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", etcd_leads},
    {"zookeeper", "srvr", zookeeper_leads},
};

static bool leads(const struct peer *peer, int fd, uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    char answer[4096];
    size_t size = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) return false;
    if (send(fd, peer->question, strlen(peer->question), MSG_NOSIGNAL) < 0) return false;
    for (ssize_t got; size < sizeof answer - 1; size += (size_t)got)
        if ((got = recv(fd, answer + size, sizeof answer - 1 - size, 0)) <= 0) break;
    answer[size] = '\0';
    return peer->leads(answer);
}

int main(int argc, char **argv)
{
    const struct peer *peer = argc > 2 && strcmp(argv[1], "etcd") == 0 ? &peers[0] : &peers[1];
    if (argc < 3 || strcmp(argv[1], peer->name) != 0) {
        fprintf(stderr, "usage: peer-leads etcd|zookeeper PORT...\n");
        return 2;
    }
    for (int i = 2;; i = i + 1 < argc ? i + 1 : 2) {
        struct timespec now;
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        clock_gettime(CLOCK_REALTIME, &now);
        const bool yes = fd >= 0 && leads(peer, fd, (uint16_t)strtoul(argv[i], NULL, 10));
        if (fd >= 0) close(fd);
        if (yes) return printf("%lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000) < 0;
        nanosleep(&(struct timespec){.tv_nsec = PACE_NS}, NULL);
    }
}
