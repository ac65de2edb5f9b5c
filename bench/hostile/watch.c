/* See watch.h. */
#define _GNU_SOURCE
#include "hostile/watch.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEALTH_EVERY_MS = 200,
    HEALTH_WITHIN_MS = 1000,
    RESTART_EVERY_MS = 2000,
    SILENT_MS = 400, /* then a has noticed that b is gone */
    BACK_WITHIN_MS = 5000,
    MEMORY_MIB_MAX = 128 /* that the agent may take in an attack */
};

static struct {
    struct cluster *cluster;
    const struct victim *victim;
    bool restarts, asks;
    uint64_t next_ns;
    uint64_t memory_kib, most_kib;
    uint32_t done, failed;
    double longest_ms;
} w;

/* ---- HTTP ---- */

const char *ask_http(const struct sockaddr_in *http, const char *path, uint32_t timeout_ms)
{
    static char answer[1 << 21];
    char request[100];
    size_t size = 0;
    const int length = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
    const uint64_t until = clock_boottime_ns() + timeout_ms * NS_PER_MS;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_whole = false;
    if (connect(fd, (const struct sockaddr *)http, sizeof *http) == 0 &&
        send(fd, request, (size_t)length, MSG_NOSIGNAL) == length)
        while (!is_whole && size < sizeof answer - 1 && clock_boottime_ns() < until) {
            if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 50) <= 0) continue;
            const ssize_t got = recv(fd, answer + size, sizeof answer - 1 - size, 0);
            is_whole = got == 0;
            if (got < 0) break;
            size += (size_t)got;
        }
    close(fd);
    answer[is_whole ? size : 0] = '\0';
    return answer;
}

double read_metric(const char *answer, const char *name)
{
    const char *found = strstr(answer, name);
    return found ? strtod(found + strlen(name), NULL) : -1;
}

static void note(double ms, bool is_good)
{
    w.done++;
    w.failed += !is_good;
    if (ms > w.longest_ms) w.longest_ms = ms;
}

static double since_ms(uint64_t began)
{
    return (double)(clock_boottime_ns() - began) / 1e6;
}

static void ask_for_health(void)
{
    const uint64_t began = clock_boottime_ns();
    const char *answer = ask_http(&w.victim->http, "/healthz", HEALTH_WITHIN_MS);
    note(since_ms(began), strstr(answer, " 200 ") != NULL);
    w.next_ns = clock_boottime_ns() + HEALTH_EVERY_MS * NS_PER_MS;
}

/* ---- A member that restarts ---- */

static bool hears_b(void)
{
    const double silence = read_metric(ask_http(&w.victim->http, "/metrics", 1000),
                                       "\nelector_network_peer_silence_seconds{from=\"b\"} ");
    return silence >= 0 && silence < SILENT_MS / 2e3;
}

static void restart_b(void)
{
    cluster_kill(w.cluster, 1);
    pause_us(UINT64_C(1000) * SILENT_MS);
    cluster_start(w.cluster, 1);
    const uint64_t began = clock_boottime_ns();
    while (!hears_b() && since_ms(began) < BACK_WITHIN_MS) pause_us(5000);
    note(since_ms(began), since_ms(began) < BACK_WITHIN_MS);
    w.next_ns = clock_boottime_ns() + RESTART_EVERY_MS * NS_PER_MS;
}

/* ---- Memory ---- */

static uint64_t memory_of(pid_t pid)
{
    char path[64], line[200];
    uint64_t kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0) kib = strtoull(line + 6, NULL, 10);
    if (file) fclose(file);
    return kib;
}

/* ---- */

bool watch_restarts(const char *attack)
{
    return strcmp(attack, "cluster-key") == 0 || strcmp(attack, "replays") == 0;
}

void watch_begin(struct cluster *cluster, const struct victim *victim, const char *attack)
{
    w.cluster = cluster;
    w.victim = victim;
    w.restarts = watch_restarts(attack);
    w.asks = strcmp(attack, "slow-http") == 0;
    w.memory_kib = w.most_kib = memory_of(cluster->agents[0]);
    w.next_ns = clock_boottime_ns() + NS_PER_S / 2;
}

void watch_on(void)
{
    const uint64_t kib = memory_of(w.cluster->agents[0]);
    if (kib > w.most_kib) w.most_kib = kib;
    if (clock_boottime_ns() < w.next_ns) return;
    if (w.asks) ask_for_health();
    if (w.restarts) restart_b();
}

void watch_end(FILE *out)
{
    const uint64_t mib = (w.most_kib - w.memory_kib) / 1024;
    const bool is_good = mib <= MEMORY_MIB_MAX && w.failed == 0 && (w.done > 0 || (!w.asks && !w.restarts));
    fprintf(out, "%s %" PRIu64, is_good ? "good" : "bad", mib);
    if (w.asks) fprintf(out, " /healthz: %u of %u unanswered, %.0f ms at most", w.failed, w.done, w.longest_ms);
    if (w.restarts)
        fprintf(out, " b restarted %u times, %u in vain, heard after %.0f ms at most", w.done, w.failed,
                w.longest_ms);
    fputc('\n', out);
}
