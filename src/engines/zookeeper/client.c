/* See client.h. */
#define _GNU_SOURCE
#include "engines/zookeeper/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_UP_AGAIN_MS = 1000, AWAY_MS = 1500, ADDRESSES = 2048, ADDRESS = 64 };

/* A name that is being looked up. It outlives a client that is closed meanwhile. */
struct lookup {
    uv_getaddrinfo_t request;
    struct client *client; /* NULL: nobody waits any more */
    uint16_t port;
};

/*
 * The C client closes its socket whenever it likes, which a loop must not see happen to a descriptor that it polls. So
 * the loop polls a duplicate, until the C client has another socket.
 */
struct door {
    uv_poll_t poll;
    struct client *client;
    int fd;
};

struct client {
    struct client_settings settings;
    struct client_hooks hooks;
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_prepare_t prepare;
    uint32_t handles; /* of the loop, which close before this may be freed */
    struct door *door;
    ino_t socket; /* that the door leads to */
    zhandle_t *zk;
    struct lookup *lookups[CLIENT_SERVERS_MAX];
    uint32_t lookups_left;
    char addresses[ADDRESSES]; /* numeric, with commas between */
    char trouble[CLIENT_TEXT]; /* of the last lookups */
    bool is_connected, has_connected, was_told, has_expired, is_refused, is_closing;
    bool is_inside; /* a callback of the C client may be running */
    uint32_t granted_ms;
    uint64_t away_since; /* ms, of the loop; 0: connected, or not begun */
    int error;           /* errno of the last attempt; 0: none */
};

/* ---- Addresses ---- */

static void begin_session(struct client *);

static void look_up(struct client *c);

static void on_look_up_again(uv_timer_t *timer)
{
    look_up(timer->data);
}

static void add_address(struct client *c, const struct addrinfo *info, uint16_t port)
{
    char text[ADDRESS];
    const size_t used = strlen(c->addresses);
    const bool is_v6 = info->ai_family == AF_INET6;
    const int rc =
        is_v6 ? uv_ip6_name((const struct sockaddr_in6 *)(const void *)info->ai_addr, text, sizeof text)
              : uv_ip4_name((const struct sockaddr_in *)(const void *)info->ai_addr, text, sizeof text);
    if (rc != 0) return;
    const int size = snprintf(c->addresses + used, sizeof c->addresses - used, "%s%s%s%s:%u", used ? "," : "",
                              is_v6 ? "[" : "", text, is_v6 ? "]" : "", port);
    if (size < 0 || (size_t)size >= sizeof c->addresses - used) c->addresses[used] = '\0';
}

static void looked_up(struct client *c)
{
    if (--c->lookups_left) return;
    if (c->addresses[0]) {
        begin_session(c);
        return;
    }
    c->hooks.trouble(c->hooks.context, c->trouble);
    uv_timer_start(&c->timer, on_look_up_again, LOOK_UP_AGAIN_MS, 0);
}

static void on_address(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct lookup *lookup = request->data;
    struct client *c = lookup->client;
    if (c) {
        const uint32_t which = (uint32_t)(request - &lookup->request);
        (void)which;
        for (uint32_t i = 0; i < c->settings.server_count; i++)
            if (c->lookups[i] == lookup) {
                c->lookups[i] = NULL;
                if (status != 0)
                    snprintf(c->trouble, sizeof c->trouble, "no address for %s: %s",
                             c->settings.servers[i].host, uv_strerror(status));
            }
        for (const struct addrinfo *each = status == 0 ? found : NULL; each; each = each->ai_next)
            add_address(c, each, lookup->port);
        looked_up(c);
    }
    uv_freeaddrinfo(found);
    free(lookup);
}

static void look_up(struct client *c)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    c->addresses[0] = '\0';
    c->lookups_left = 1; /* this function, so that it does not end before it has begun */
    for (uint32_t i = 0; i < c->settings.server_count; i++) {
        struct lookup *lookup = calloc(1, sizeof *lookup);
        if (!lookup) continue;
        lookup->client = c;
        lookup->port = c->settings.servers[i].port;
        lookup->request.data = lookup;
        const int rc =
            uv_getaddrinfo(c->loop, &lookup->request, on_address, c->settings.servers[i].host, NULL, &hints);
        if (rc == 0) {
            c->lookups[i] = lookup;
            c->lookups_left++;
            continue;
        }
        snprintf(c->trouble, sizeof c->trouble, "no address for %s: %s", c->settings.servers[i].host,
                 uv_strerror(rc));
        free(lookup);
    }
    looked_up(c);
}

/* ---- The socket ---- */

static void on_door_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_door(struct client *c)
{
    struct door *door = c->door;
    if (!door) return;
    c->door = NULL;
    uv_poll_stop(&door->poll);
    close(door->fd);
    uv_close((uv_handle_t *)&door->poll, on_door_closed);
}

static bool open_door(struct client *c, int fd)
{
    struct door *door = calloc(1, sizeof *door);
    const int own = door ? dup(fd) : -1;
    if (own < 0 || uv_poll_init(c->loop, &door->poll, own) != 0) {
        if (own >= 0) close(own);
        free(door);
        return false;
    }
    door->poll.data = door;
    door->client = c;
    door->fd = own;
    c->door = door;
    return true;
}

static void process(struct client *c, int events);

static void on_ready(uv_poll_t *poll, int status, int events)
{
    const struct door *door = poll->data;
    int mask = 0;
    if (status < 0 || events & UV_READABLE) mask |= ZOOKEEPER_READ; /* a read finds the error */
    if (events & UV_WRITABLE) mask |= ZOOKEEPER_WRITE;
    process(door->client, mask);
}

/* Polls the socket that the C client has now, for what it wants. */
static void watch_socket(struct client *c, int fd, int interest)
{
    struct stat is;
    int events = 0;
    if (interest & ZOOKEEPER_READ) events |= UV_READABLE;
    if (interest & ZOOKEEPER_WRITE) events |= UV_WRITABLE;
    if (fd < 0 || fstat(fd, &is) != 0) {
        close_door(c);
        return;
    }
    if (c->door && c->socket != is.st_ino) close_door(c);
    if (!c->door && !open_door(c, fd)) return;
    c->socket = is.st_ino;
    uv_poll_start(&c->door->poll, events, on_ready);
}

/* ---- The session ---- */

static void settle(struct client *c);

static void on_time(uv_timer_t *timer)
{
    process(timer->data, 0);
}

/* Tells the C client what the time is, and learns which socket and which time to wait for. */
static void attend(struct client *c)
{
    struct timeval left = {0};
    int fd = -1, interest = 0;
    if (!c->zk || is_unrecoverable(c->zk)) return;
    c->is_inside = true;
    errno = 0;
    if (zookeeper_interest(c->zk, &fd, &interest, &left) != ZOK && errno) c->error = errno;
    c->is_inside = false;
    watch_socket(c, fd, interest);
    const uint64_t ms = (uint64_t)left.tv_sec * 1000 + (uint64_t)(left.tv_usec + 999) / 1000;
    uv_timer_start(&c->timer, on_time, ms ? ms : 1, 0);
}

static void process(struct client *c, int events)
{
    if (c->zk && !is_unrecoverable(c->zk)) {
        c->is_inside = true;
        errno = 0;
        if (zookeeper_process(c->zk, events) != ZOK && errno && errno != EAGAIN) c->error = errno;
        c->is_inside = false;
    }
    settle(c);
}

static void on_session(zhandle_t *zk, int type, int state, const char *path, void *context)
{
    struct client *c = context;
    (void)path;
    if (type != ZOO_SESSION_EVENT) return;
    c->is_connected = state == ZOO_CONNECTED_STATE;
    if (c->is_connected) c->granted_ms = (uint32_t)zoo_recv_timeout(zk);
    if (state == ZOO_EXPIRED_SESSION_STATE) c->has_expired = true;
    if (state == ZOO_AUTH_FAILED_STATE) c->is_refused = true;
}

static void on_authenticated(int rc, const void *context)
{
    (void)rc, (void)context; /* the session's state tells */
}

static void end_handle(struct client *c)
{
    close_door(c);
    uv_timer_stop(&c->timer);
    if (c->zk) (void)zookeeper_close(c->zk);
    c->zk = NULL;
    c->is_connected = c->has_connected = false;
}

/* Tells of changes, outside of the C client's callbacks, so that hooks may ask it whatever they like. */
static void settle(struct client *c)
{
    if (c->is_inside || c->is_closing) return;
    if (c->was_told && !c->is_connected) {
        c->was_told = false;
        c->hooks.disconnected(c->hooks.context);
    }
    if (c->has_expired || c->is_refused) {
        const bool had_session = c->has_connected && c->has_expired;
        if (c->is_refused) c->hooks.trouble(c->hooks.context, "the servers refuse our credentials");
        c->has_expired = c->is_refused = false;
        end_handle(c);
        if (had_session) c->hooks.expired(c->hooks.context);
        uv_timer_start(&c->timer, on_look_up_again, had_session ? 0 : LOOK_UP_AGAIN_MS, 0);
        return;
    }
    if (!c->was_told && c->is_connected) {
        const bool is_new = !c->has_connected;
        c->was_told = c->has_connected = true;
        c->hooks.connected(c->hooks.context, is_new);
    }
}

/* One server that does not answer is not worth a word; none for this long is. A short session ends before that: it is named while
 * the work still runs that will be stopped. */
static uint64_t patience_ms(const struct client *c)
{
    const uint64_t third = c->granted_ms / 3;
    return third && third < AWAY_MS ? third : AWAY_MS;
}

static void complain(struct client *c)
{
    char text[CLIENT_TEXT];
    const uint64_t now = uv_now(c->loop);
    if (c->is_connected || !c->zk) {
        c->away_since = 0;
    } else if (c->away_since == 0) {
        c->away_since = now;
        c->error = 0;
    } else if (now - c->away_since >= patience_ms(c)) {
        c->away_since = now;
        snprintf(
            text, sizeof text,
            "no server answers%s%s: is ZooKeeper running, with a majority of its servers, and is this its client port?",
            c->error ? ": " : "", c->error ? strerror(c->error) : "");
        c->hooks.trouble(c->hooks.context, text);
    }
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct client *c = prepare->data;
    attend(c);
    settle(c);
    complain(c);
}

static void ignore_log(const char *line)
{
    (void)line; /* our own words are in hooks.trouble() */
}

static void begin_session(struct client *c)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    c->zk = zookeeper_init2(c->addresses, on_session, (int)c->settings.session_ms, NULL, c, 0, ignore_log);
    if (!c->zk) {
        c->hooks.trouble(c->hooks.context,
                         "the ZooKeeper client cannot begin: out of memory, or a wrong address");
        uv_timer_start(&c->timer, on_look_up_again, LOOK_UP_AGAIN_MS, 0);
        return;
    }
    (void)zoo_set_servers_resolution_delay(c->zk, -1); /* addresses need none */
    if (c->settings.digest[0])
        (void)zoo_add_auth(c->zk, "digest", c->settings.digest, (int)strlen(c->settings.digest),
                           on_authenticated, c);
    attend(c);
}

/* ---- For others ---- */

struct client *client_new(uv_loop_t *loop, const struct client_settings *settings,
                          const struct client_hooks *hooks)
{
    struct client *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->settings = *settings;
    c->hooks = *hooks;
    c->loop = loop;
    uv_timer_init(loop, &c->timer);
    uv_prepare_init(loop, &c->prepare);
    c->timer.data = c->prepare.data = c;
    c->handles = 2;
    uv_prepare_start(&c->prepare, on_prepare);
    uv_timer_start(&c->timer, on_look_up_again, 0, 0); /* so that no hook runs before this returns */
    return c;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct client *c = handle->data;
    if (--c->handles == 0) free(c);
}

void client_close(struct client *c)
{
    c->is_closing = true;
    for (uint32_t i = 0; i < CLIENT_SERVERS_MAX; i++)
        if (c->lookups[i]) {
            c->lookups[i]->client = NULL;
            uv_cancel((uv_req_t *)&c->lookups[i]->request);
        }
    end_handle(c);
    uv_close((uv_handle_t *)&c->timer, on_handle_closed);
    uv_close((uv_handle_t *)&c->prepare, on_handle_closed);
}

zhandle_t *client_handle(const struct client *c)
{
    return c->zk;
}

bool client_is_connected(const struct client *c)
{
    return c->zk && c->was_told && c->is_connected && !c->is_closing;
}

uint32_t client_granted_ms(const struct client *c)
{
    return c->granted_ms;
}

int64_t client_session(const struct client *c)
{
    return c->zk ? zoo_client_id(c->zk)->client_id : 0;
}

void client_pump(struct client *c)
{
    if (!c->is_inside) attend(c);
}

void client_move_on(struct client *c)
{
    if (c->door) (void)shutdown(c->door->fd, SHUT_RDWR);
}
