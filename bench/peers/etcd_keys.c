/*
 * Many elections at etcd, for the groups bench: a key for each under one lease, made if it is not there, 128 to a
 * transaction, over etcd's JSON gateway.
 *
 *     peer-etcd-keys PORT COUNT LEASE SECONDS
 *
 * Prints the milliseconds until all keys are ours. LEASE is a number that exists. A transaction that fails is tried again every
 * 20 ms, and those before it are not: they hold our own keys. Exits with 1 when it has failed for SECONDS.
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

enum { BATCH = 128, ROOM = 1 << 18, ANSWER_S = 10, AGAIN_US = 20000 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* "g-0000012" in base64: nine bytes are twelve characters. */
static void write_key(char text[13], uint32_t number)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char name[16];
    snprintf(name, sizeof name, "g-%07u", number % 10000000);
    for (size_t i = 0; i < 3; i++) {
        const uint32_t three = (uint32_t)(uint8_t)name[3 * i] << 16 | (uint32_t)(uint8_t)name[3 * i + 1] << 8 |
                               (uint32_t)(uint8_t)name[3 * i + 2];
        for (size_t k = 0; k < 4; k++) text[4 * i + k] = letters[three >> (18 - 6 * k) & 63];
    }
    text[12] = '\0';
}

static size_t write_body(char *body, uint32_t from, uint32_t count, const char *lease)
{
    char key[13];
    size_t used = (size_t)snprintf(body, ROOM, "{\"compare\":[");
    for (uint32_t i = 0; i < count; i++) {
        write_key(key, from + i);
        used += (size_t)snprintf(
            body + used, ROOM - used,
            "%s{\"key\":\"%s\",\"target\":\"CREATE\",\"result\":\"EQUAL\",\"createRevision\":\"0\"}",
            i ? "," : "", key);
    }
    used += (size_t)snprintf(body + used, ROOM - used, "],\"success\":[");
    for (uint32_t i = 0; i < count; i++) {
        write_key(key, from + i);
        used += (size_t)snprintf(body + used, ROOM - used,
                                 "%s{\"requestPut\":{\"key\":\"%s\",\"value\":\"eA==\",\"lease\":\"%s\"}}",
                                 i ? "," : "", key, lease);
    }
    return used + (size_t)snprintf(body + used, ROOM - used, "]}");
}

static bool send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Of a body: by its length, or by the empty chunk that ends it. */
static bool is_whole(const char *answer, size_t size, const char *body)
{
    static const char end[] = "\r\n0\r\n\r\n";
    const char *length = strcasestr(answer, "\ncontent-length:");
    if (length && length < body) return size >= (size_t)(body - answer) + strtoul(length + 16, NULL, 10);
    return size >= sizeof end && memcmp(answer + size - (sizeof end - 1), end, sizeof end - 1) == 0;
}

/* Reads one answer of a connection that is kept open. NULL: the keys are ours; otherwise why they are not. */
static const char *read_answer(int fd)
{
    static char answer[ROOM];
    size_t size = 0;
    for (;;) {
        const ssize_t got = recv(fd, answer + size, sizeof answer - 1 - size, 0);
        if (got <= 0) return "etcd has hung up, or does not answer";
        size += (size_t)got;
        answer[size] = '\0';
        const char *body = strstr(answer, "\r\n\r\n");
        if (!body || !is_whole(answer, size, body + 4)) continue;
        if (!strstr(answer, " 200 ")) return "etcd refuses";
        return strstr(body, "\"succeeded\":true") ? NULL : "a key is another's";
    }
}

static int reach(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = ANSWER_S};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

/* One transaction. NULL: the keys are ours; otherwise why they are not, and the connection is closed. */
static const char *take(int *fd, uint16_t port, const char *body, size_t size)
{
    static char head[256];
    const char *problem = "no etcd there";
    if (*fd < 0) *fd = reach(port);
    if (*fd < 0) return problem;
    snprintf(head, sizeof head,
             "POST /v3/kv/txn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n",
             size);
    problem = send_all(*fd, head, strlen(head)) && send_all(*fd, body, size) ? read_answer(*fd)
                                                                             : "etcd does not take more";
    if (problem) {
        close(*fd);
        *fd = -1;
    }
    return problem;
}

int main(int argc, char **argv)
{
    static char body[ROOM];
    if (argc != 5) {
        fprintf(stderr, "usage: peer-etcd-keys PORT COUNT LEASE SECONDS\n");
        return 2;
    }
    const uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
    const uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint64_t from = now_ns(), end = from + strtoull(argv[4], NULL, 10) * UINT64_C(1000000000);
    int fd = -1;
    for (uint32_t i = 0; i < count; i += BATCH) {
        const size_t size = write_body(body, i, count - i < BATCH ? count - i : BATCH, argv[3]);
        for (const char *problem; (problem = take(&fd, port, body, size));) {
            if (now_ns() > end) {
                fprintf(stderr, "peer-etcd-keys: at key %u: %s\n", i, problem);
                return 1;
            }
            usleep(AGAIN_US);
        }
    }
    printf("%.1f\n", (double)(now_ns() - from) / 1e6);
    close(fd);
    return 0;
}
