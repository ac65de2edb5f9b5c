/*
 * An agent's socket as a client sees it: a real Unix socket in a folder of its own, a cluster of one member,
 * and a clock that the test moves. Lines are as in docs/socket-protocol.md.
 */
#ifndef ELECTOR_TEST_LIB_CLIENT_SERVE_H
#define ELECTOR_TEST_LIB_CLIENT_SERVE_H

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/serve/internal.h"
#include "lib/host/agent_fakes.h"
#include "lib/host/quiet_hooks.h"

#include "lib/scratch.h"

static const uint64_t MS = 1000000;

/* ---- An agent ---- */

static struct {
    char folder[64];
    struct config config;
    struct record record;
    uv_loop_t loop;
    struct host *host;
    struct serve *serve;
    unsigned saves;
    uint64_t now;
    int clients[200];
    size_t client_count;
    char line[SERVE_OUT_MAX];
    bool is_real; /* the clock */
    unsigned posted;
    void (*on_post)(void); /* may be NULL */
} t;

static inline uint64_t read_clock(void *context)
{
    return t.now;
}

static inline void post(void *context, el_node to, const uint8_t *payload, size_t size)
{
    t.posted++;
    if (t.on_post) t.on_post();
}

static inline void save(void *context, struct record_image *image)
{
    t.saves++;
    free(image);
}

static inline void changed(void *context, struct host_group *group)
{
    if (t.serve) serve_changed(t.serve, group);
}

static inline void renewed(void *context, uint32_t cell)
{
    if (t.serve) serve_renewed(t.serve, cell);
}

static inline void go_round(void)
{
    for (; t.saves > 0; t.saves--) host_saved(t.host, 0, 0);
    (void)host_tick(t.host);
    uv_run(&t.loop, UV_RUN_NOWAIT);
}

static inline void pass(uint64_t ms)
{
    for (uint64_t end = t.now + ms * MS; t.now < end; t.now += 5 * MS) go_round();
}

/* The others observe: they are told, and nobody waits for them. */
static inline int begin_with(uint32_t members)
{
    memset(&t, 0, sizeof t);
    t.now = 1000 * MS;
    if (!scratch_folder(t.folder, sizeof t.folder, "control")) return -1;
    struct config *config = &t.config;
    snprintf(config->cluster, sizeof config->cluster, "shop");
    snprintf(config->socket, sizeof config->socket, "%s/agent.sock", t.folder);
    config->socket_mode = 0660;
    config->socket_per_user = 48;
    config->candidacies_per_user = config->observed_per_user = 100000;
    config->value_bytes_per_user = 1 << 20;
    config->self = 1;
    config->member_count = members;
    config->transmit_max = 5 * MS;
    config->drift = 200;
    for (uint32_t i = 0; i < members; i++) {
        struct sockaddr_in *address = (struct sockaddr_in *)(void *)&config->members[i].address;
        config->members[i].id = i + 1;
        config->members[i].role = i == 0 ? CONFIG_VOTER : CONFIG_OBSERVER;
        snprintf(config->members[i].name, sizeof config->members[i].name, "%c", 'a' + (int)i);
        address->sin_family = AF_INET;
        address->sin_port = htons((uint16_t)(7400 + i));
        address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    config->groups[config->group_count++] = (struct config_group){
        .name = "secret",
        .allowed[CONFIG_CAMPAIGN] = {
            .is_set = true, .users = {1001}, .user_count = 1, .groups = {2002}, .group_count = 1}};
    struct host_hooks hooks = quiet_hooks(NULL, read_clock);
    hooks.send = post;
    hooks.save = save;
    hooks.changed = changed;
    hooks.renewed = renewed;
    t.host = host_new(config, &t.record, hooks);
    char text[300];
    uv_loop_init(&t.loop);
    t.serve = serve_new(&t.loop, config, t.host, text, sizeof text);
    if (!t.serve) fprintf(stderr, "%s\n", text);
    return t.serve ? 0 : -1;
}

static inline int begin(void **state)
{
    return begin_with(1);
}

static inline int finish(void **state)
{
    serve_free(t.serve);
    t.serve = NULL;
    uv_run(&t.loop, UV_RUN_DEFAULT);
    const int left = uv_loop_close(&t.loop);
    host_free(t.host);
    for (size_t i = 0; i < t.client_count; i++)
        if (t.clients[i] >= 0) close(t.clients[i]);
    const bool is_gone = access(t.config.socket, F_OK) != 0;
    if (!is_gone) unlink(t.config.socket);
    rmdir(t.folder);
    return left == 0 && is_gone ? 0 : -1;
}

/* ---- A client ---- */

static inline int join(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", t.config.socket);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    t.clients[t.client_count++] = fd;
    go_round();
    return fd;
}

/* Somebody who is neither root nor the agent's user. */
static inline int join_as(uid_t uid, gid_t gid)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    gid_t *gids = malloc(sizeof *gids);
    assert_non_null(gids);
    gids[0] = gid;
    assert_non_null(serve_adopt(t.serve, ends[0],
                                (struct serve_who){.uid = uid, .gids = gids, .gid_count = 1, .pid = getpid()}));
    t.clients[t.client_count++] = ends[1];
    return ends[1];
}

static inline void hang_up(int fd)
{
    for (size_t i = 0; i < t.client_count; i++)
        if (t.clients[i] == fd) t.clients[i] = -1;
    close(fd);
    go_round();
    go_round();
}

static inline void send_bytes(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) bytes += sent;
        if (sent > 0) size -= (size_t)sent;
        if (sent < 0 && poll(&(struct pollfd){.fd = fd, .events = POLLHUP}, 1, 0) > 0) return;
        go_round();
    }
}

static inline void say(int fd, const char *line)
{
    send_bytes(fd, line, strlen(line));
    send_bytes(fd, "\n", 1);
}

/* The next line that has arrived, without running the loop; NULL: there is none. */
static inline const char *try_hear_now(int fd)
{
    const ssize_t there = recv(fd, t.line, sizeof t.line, MSG_DONTWAIT | MSG_PEEK);
    const char *end = there > 0 ? memchr(t.line, '\n', (size_t)there) : NULL;
    if (!end) return NULL;
    const ssize_t size = recv(fd, t.line, (size_t)(end - t.line) + 1, MSG_DONTWAIT);
    t.line[size - 1] = '\0';
    return t.line;
}

/* The next line, or NULL: there is none, or it has ended. */
static const char *try_hear(int fd)
{
    size_t size = 0;
    for (int tries = 0; tries < 20; tries++) {
        const ssize_t got = recv(fd, t.line + size, 1, MSG_DONTWAIT);
        if (got == 0) return NULL;
        if (got < 0) {
            go_round();
            continue;
        }
        tries = 0;
        if (t.line[size] == '\n') {
            t.line[size] = '\0';
            return t.line;
        }
        if (++size == sizeof t.line) return NULL;
    }
    return NULL;
}

static const char *hear(int fd)
{
    const char *line = try_hear(fd);
    if (!line) fail_msg("nothing was said");
    return line;
}

/* Time passes until there is a line that is no lease. */
static const char *await(int fd)
{
    for (int i = 0; i < 4000; i++) {
        const char *line = try_hear(fd);
        if (line && !strstr(line, "\"event\":\"lease\"")) return line;
        if (!line) pass(5);
    }
    fail_msg("nothing was said for long");
    return NULL;
}

static inline bool has_ended(int fd)
{
    char byte;
    for (int i = 0; i < 20; i++) {
        const ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
        if (got == 0) return true;
        if (got > 0) i = 0;
        go_round();
    }
    return false;
}

static inline void expect(int fd, const char *request, const char *reply)
{
    say(fd, request);
    assert_string_equal(hear(fd), reply);
}

/* Skips leases before the answer. */
static inline void expect_part(int fd, const char *request, const char *part)
{
    say(fd, request);
    const char *line = await(fd);
    if (!strstr(line, part)) fail_msg("%s was answered by %s, not %s", request, line, part);
}

static inline json_int_t number_in(const char *line, const char *name)
{
    json_t *object = json_loads(line, 0, NULL);
    const json_int_t number = json_integer_value(json_object_get(object, name));
    json_decref(object);
    return number;
}

static inline json_int_t lead(int fd, const char *group)
{
    char line[200];
    snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"%s\"}", group);
    expect(fd, line, "{\"ok\":true}");
    const char *event = await(fd);
    assert_non_null(strstr(event, "\"event\":\"elected\""));
    return number_in(event, "token");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

#endif
