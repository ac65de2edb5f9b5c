/*
 * Bytes as a client of HTTP sends them, in pieces whose sizes the first byte of each says. They go to the parts that
 * read untrusted text, and through libmicrohttpd to the routes: as they are, and as the path and the Host header of a
 * request that is whole, which nobody guesses. What is answered begins as an answer does, and nobody who names another
 * host hears of a group.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/serve/http/internal.h"
#include "lib/host/agent_fakes.h"
#include "lib/host/quiet_hooks.h"

#include "lib/scratch.h"

enum { ROUNDS = 4 };

static const uint64_t MS = 1000000;
static struct {
    struct config config;
    struct record record;
    struct metrics metrics;
    uv_loop_t loop;
    struct host *host;
    struct serve *serve;
    struct http *http;
} at;

static uint64_t read_clock(void *context)
{
    (void)context;
    return 1000 * MS;
}

/* Once for all inputs: they come one after the other, as to an agent. */
static void start(void)
{
    static const char first[] = "{\"op\":\"campaign\",\"group\":\"secret\",\"value\":\"v\"}\n";
    struct sockaddr_in *address = (struct sockaddr_in *)(void *)&at.config.http;
    char text[300];
    int ends[2];
    at.config = (struct config){.cluster = "c",
                                .self = 1,
                                .member_count = 1,
                                .socket_mode = 0600,
                                .socket_per_user = 48,
                                .candidacies_per_user = 64,
                                .observed_per_user = 64,
                                .value_bytes_per_user = 4096,
                                .drift = 200,
                                .http_groups = 1000};
    at.config.members[0] = (struct config_member){.name = "a", .id = 1};
    at.config.transmit_max = 5 * MS;
    snprintf(at.config.socket, sizeof at.config.socket, "%s/fuzz-%ld.sock", scratch_root(), (long)getpid());
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uv_loop_init(&at.loop);
    at.metrics.version = "0";
    at.host = host_new(&at.config, &at.record, quiet_hooks(NULL, read_clock));
    at.serve = serve_new(&at.loop, &at.config, at.host, text, sizeof text);
    if (!at.serve || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) abort();
    serve_set_metrics(at.serve, &at.metrics);
    gid_t *gids = calloc(1, sizeof *gids);
    struct connection *client =
        serve_adopt(at.serve, ends[0], (struct serve_who){.uid = 1, .gids = gids, .gid_count = 1});
    if (!client) abort();
    connection_hear(client, first, sizeof first - 1);
    at.http = http_new(
        &at.loop,
        &(struct http_setup){
            .config = &at.config, .host = at.host, .serve = at.serve, .metrics = &at.metrics, .timeout_s = 60});
    if (!at.http || !http_is_served(at.http)) abort();
} /* cppcheck-suppress memleak ; serve_adopt owns the groups */

static void stop(void)
{
    http_free(at.http);
    serve_free(at.serve);
    uv_run(&at.loop, UV_RUN_DEFAULT);
    host_free(at.host);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) /* NOLINT(readability-non-const-parameter): libFuzzer's */
{
    (void)argc, (void)argv;
    start();
    return atexit(stop);
}

static void read_texts(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), name[CONFIG_NAME_MAX + 1]; /* no longer: the sanitizer sees a step beyond */
    if (!text) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    if (http_group_of(text, "/leader/", name) && (!name[0] || strlen(name) > CONFIG_NAME_MAX)) abort();
    if (http_is_plain_host(text) && strpbrk(text, "@/ \t\r\n")) abort();
    free(text);
}

static void judge(int fd)
{
    static char answer[1 << 16];
    const ssize_t got = recv(fd, answer, sizeof answer - 1, MSG_DONTWAIT);
    answer[got > 0 ? got : 0] = '\0';
    if (got > 0 && strncmp(answer, "HTTP/1.", 7) != 0) abort();
    /* A request may follow in the same bytes, one that names no host and may hear of groups: its answer is another. */
    char *next = answer[0] ? strstr(answer + 1, "HTTP/1.") : NULL;
    if (next) *next = '\0';
    if (strncmp(answer, "HTTP/1.1 403", 12) == 0 && strstr(answer, "secret")) abort();
}

static int call(void)
{
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) abort();
    if (MHD_add_connection(at.http->daemon, ends[0], (const struct sockaddr *)&from, sizeof from) != MHD_YES)
        abort();
    return ends[1];
}

static void go_round(void)
{
    for (int i = 0; i < ROUNDS; i++) uv_run(&at.loop, UV_RUN_NOWAIT);
}

static void say_raw(const uint8_t *data, size_t size)
{
    const int fd = call();
    while (size > 0) {
        size_t piece = (size_t)data[0] * 16 + 1;
        data++, size--;
        if (piece > size) piece = size;
        (void)!send(fd, data, piece, MSG_NOSIGNAL);
        data += piece, size -= piece;
        go_round();
    }
    judge(fd);
    close(fd);
    go_round();
}

/* The first newline ends the path. */
static void say_whole(const uint8_t *data, size_t size)
{
    static char request[8192];
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    const int path = newline ? (int)(newline - data) : (int)size, host = newline ? (int)size - path - 1 : 0;
    const int length =
        snprintf(request, sizeof request, "GET /%.*s HTTP/1.1\r\nHost: %.*s\r\nConnection: close\r\n\r\n", path,
                 (const char *)data, host, newline ? (const char *)newline + 1 : "");
    if (length < 0 || (size_t)length >= sizeof request) return;
    const int fd = call();
    (void)!send(fd, request, (size_t)length, MSG_NOSIGNAL);
    go_round();
    judge(fd);
    close(fd);
    go_round();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_texts(data, size);
    say_raw(data, size);
    say_whole(data, size);
    return 0;
}
