/*
 * Bytes as a client of the agent's socket sends them, in pieces whose sizes the first bytes say; between them time
 * passes. A second client leads and observes, so that there is something to disturb.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/history/history.h"
#include "agent/serve/internal.h"
#include "lib/host/agent_fakes.h"
#include "lib/host/quiet_hooks.h"

#include "lib/scratch.h"

static const uint64_t MS = 1000000;
static uint64_t now;
static unsigned saves;
static struct serve *serve;

static uint64_t read_clock(void *context)
{
    (void)context;
    return now;
}

static void save(void *context, struct record_image *image)
{
    (void)context;
    saves++;
    free(image);
}

static void changed(void *context, struct host_group *group)
{
    (void)context;
    if (serve) serve_changed(serve, group);
}

static void renewed(void *context, uint32_t cell)
{
    (void)context;
    if (serve) serve_renewed(serve, cell);
}

static int join(uid_t uid, struct connection **connection)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) abort();
    gid_t *gids = calloc(1, sizeof *gids);
    *connection = serve_adopt(serve, ends[0], (struct serve_who){.uid = uid, .gids = gids, .gid_count = 1});
    if (!*connection) abort();
    return ends[1]; /* cppcheck-suppress memleak ; serve_adopt owns the groups */
}

/* Every line that it says is JSON, with its newline last. */
static void check(int fd)
{
    static char bytes[SERVE_OUT_MAX * 8];
    const ssize_t size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    for (const char *at = bytes; size > 0 && at < bytes + size;) {
        const char *end = memchr(at, '\n', (size_t)(bytes + size - at));
        if (!end) return; /* the rest is still to come */
        json_t *line = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(line)) abort();
        json_decref(line);
        at = end + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config config;
    static struct record record;
    struct host_hooks hooks = quiet_hooks(NULL, read_clock);
    hooks.save = save;
    hooks.changed = changed;
    hooks.renewed = renewed;
    static const char first[] = "{\"op\":\"observe\"}\n{\"op\":\"campaign\",\"group\":\"g\",\"value\":\"v\"}\n";
    struct connection *friend, *stranger;
    uv_loop_t loop;
    char text[300];
    config = (struct config){.cluster = "c",
                             .self = 1,
                             .member_count = 1,
                             .socket_mode = 0600,
                             .socket_per_user = 48,
                             .candidacies_per_user = 64,
                             .observed_per_user = 64,
                             .value_bytes_per_user = 4096,
                             .drift = 200};
    config.members[0] = (struct config_member){.name = "a", .id = 1};
    config.transmit_max = 5 * MS;
    snprintf(config.socket, sizeof config.socket, "%s/elector-fuzz-%ld.sock", scratch_root(), (long)getpid());
    now = 1000 * MS;
    saves = 0;
    uv_loop_init(&loop);
    struct host *host = host_new(&config, &record, hooks);
    serve = serve_new(&loop, &config, host, text, sizeof text);
    static struct history *history; /* goes on from one to the next, as its rings do in an agent */
    if (!history) history = history_new(&config, now);
    if (!serve || !history) abort();
    serve_set_history(serve, history);
    const int one = join(1, &friend), two = join(2, &stranger);
    connection_hear(friend, first, sizeof first - 1);
    while (size > 0) {
        size_t piece = (size_t)data[0] * 16 + 1;
        data++, size--;
        if (piece > size) piece = size;
        if (serve->connections[1] == stranger) connection_hear(stranger, (const char *)data, piece);
        data += piece, size -= piece;
        now += 50 * MS;
        for (; saves > 0; saves--) host_saved(host, 0, 0);
        (void)host_tick(host);
        uv_run(&loop, UV_RUN_NOWAIT);
        check(two);
    }
    check(one);
    serve_free(serve);
    serve = NULL;
    uv_run(&loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&loop) != 0) abort();
    host_free(host);
    close(one);
    close(two);
    return 0;
}
