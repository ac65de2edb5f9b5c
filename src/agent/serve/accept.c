/* The socket that clients connect to, its file, and who of them is let in. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/serve/internal.h"
#include "base/closer.h"

/* Accepts in one turn of the loop. Descriptors of the agent for everything but its clients. */
enum { BACKLOG = 4096, ACCEPTS_MAX = 16, DESCRIPTORS_OTHER = 256, DESCRIPTORS_LEAST = 1024 };

/* ---- New clients ---- */

/* The connection that a client gets, and its user counted. */
static bool begin(struct serve *serve, struct connection *c)
{
    c->user = users_meet(&serve->users, c->who.uid);
    if (!c->user) return false;
    if (!connection_begin(c, serve->loop)) {
        users_part(&serve->users, c->user);
        return false;
    }
    c->user->taken[USER_CONNECTIONS]++;
    return true;
}

struct connection *serve_adopt(struct serve *serve, int fd, struct serve_who who)
{
    uint32_t place = serve->first_free;
    while (place < SERVE_CONNECTIONS_MAX && serve->connections[place]) place++;
    struct connection *c = place < SERVE_CONNECTIONS_MAX ? calloc(1, sizeof *c) : NULL;
    if (c) {
        c->serve = serve;
        c->fd = fd;
        c->place = place;
        c->who = who;
        c->passed = c->line = -1;
    }
    if (!c || !begin(serve, c)) {
        free(who.gids);
        free(c);
        close(fd);
        return NULL;
    }
    serve->connections[place] = c;
    serve->first_free = place + 1;
    serve->connection_count++;
    serve->handles++;
    return c;
}

/* Asks the kernel for the client's user and groups. Groups that it does not report do not count. */
static bool ask_who(int fd, struct serve_who *who)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    socklen_t bytes = 0;
#ifdef SO_PEERGROUPS
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || errno != ERANGE) bytes = 0;
#endif
    *who = (struct serve_who){
        .uid = peer.uid, .gids = malloc(bytes + sizeof(gid_t)), .gid_count = 1, .pid = peer.pid};
    if (!who->gids) return false;
    who->gids[0] = peer.gid;
#ifdef SO_PEERGROUPS
    if (bytes && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, who->gids + 1, &bytes) == 0)
        who->gid_count += (uint32_t)(bytes / sizeof(gid_t));
#endif
    return true;
}

/* Without SO_PEERPIDFD it is opened by pid, which may have been reused if the client is
 * gone: then the guardian waits for the end of an unrelated process, which costs time but is safe. */
int serve_process_of(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
#ifdef SO_PEERPIDFD
    int process = -1;
    socklen_t bytes = sizeof process;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &bytes) == 0) return process;
    if (errno != ENOPROTOOPT) return -1;
#endif
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return -1;
    return (int)syscall(SYS_pidfd_open, peer.pid, 0);
}

/* It may have sent descriptors already. */
static void refuse_client(const struct serve *serve, int fd, atomic_uint *closing, const char *why)
{
    char line[512];
    if (serve->on_step) serve->on_step(serve->on_step_context, SERVE_CLIENT_REFUSED, why, NULL);
    const int size =
        snprintf(line, sizeof line, "{\"ok\":false,\"error\":\"too-many\",\"message\":\"%s\"}\n", why);
    (void)!send(fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    closer_close_socket(fd, closing);
}

bool serve_admits(const struct serve *serve, const struct user *user, char *text, size_t size)
{
    const uint32_t most = serve->connection_most, reserved = CONFIG_CLIENTS_RESERVED;
    const struct user *greediest = users_greediest(&serve->users, USER_CONNECTIONS);
    if (!user_may_take(user, serve->config, USER_CONNECTIONS, 1, text, size)) return false;
    if (atomic_load(&user->closing) >= SERVE_CLOSING_MAX) {
        snprintf(text, size, "%u descriptors that user %u passed are still being closed: try again later",
                 atomic_load(&user->closing), (unsigned)user->uid);
        return false;
    }
    if (serve->connection_count < (user_is_trusted(user) ? most : most - reserved)) return true;
    snprintf(text, size,
             "%u clients are connected, of at most %u, with %u places for root and the agent's user only; "
             "user %u has most, %u",
             serve->connection_count, most, reserved, (unsigned)(greediest ? greediest->uid : 0),
             (unsigned)(greediest ? greediest->taken[USER_CONNECTIONS] : 0));
    return false;
}

static void accept_client(struct serve *serve, int fd)
{
    struct serve_who who;
    char why[300];
    if (!ask_who(fd, &who)) {
        close(fd);
        return;
    }
    struct user *user = users_meet(&serve->users, who.uid);
    if (!user || !serve_admits(serve, user, why, sizeof why)) {
        if (user) refuse_client(serve, fd, &user->closing, why);
        if (!user) close(fd);
        free(who.gids);
    } else {
        (void)serve_adopt(serve, fd, who);
    }
    if (user) users_part(&serve->users, user);
}

bool serve_accept(struct serve *serve, int fd)
{
    struct serve_who who;
    serve->connection_most = 1;
    if (ask_who(fd, &who)) return serve_adopt(serve, fd, who) != NULL;
    close(fd);
    return false;
}

/* If descriptors run out, a client in the backlog would keep the loop spinning. So a spare descriptor is kept,
 * to accept the client and refuse it. */
static void accept_and_refuse(struct serve *serve)
{
    static atomic_uint closing;
    char why[120];
    if (serve->spare_fd < 0) return;
    close(serve->spare_fd);
    const int fd = accept4(serve->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    snprintf(why, sizeof why, "this agent has no descriptor left, with %u clients: raise its LimitNOFILE",
             serve->connection_count);
    if (fd >= 0) refuse_client(serve, fd, &closing, why);
    serve->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void serve_on_connect(uv_poll_t *poll, int status, int events)
{
    struct serve *serve = poll->data;
    if (status < 0 || !(events & UV_READABLE)) return;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        const int fd = accept4(serve->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) accept_and_refuse(serve);
        if (fd < 0) return;
        accept_client(serve, fd);
    }
}

/* ---- The socket's file ---- */

/* Removes a stale socket. Two agents that start at once do not race here: the lock of the state file excludes
 * one. */
static bool clear_path(const struct sockaddr_un *address, char *text, size_t size)
{
    const char *path = address->sun_path;
    struct stat file;
    if (lstat(path, &file) != 0) return true; /* bind() reports what is wrong, if anything */
    if (!S_ISSOCK(file.st_mode)) {
        snprintf(text, size, "%s exists and is not a socket: remove it, or configure another path", path);
        return false;
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool refuses =
        fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) close(fd);
    if (!refuses) {
        snprintf(text, size, "%s is in use: stop the agent that listens there, or configure another path",
                 path);
        return false;
    }
    if (unlink(path) == 0 || errno == ENOENT) return true;
    snprintf(text, size, "cannot remove the old socket %s: %s", path, strerror(errno));
    return false;
}

/* With mode 0600, until open_up() sets the configured group and mode. */
static bool bind_closed(int fd, const struct sockaddr_un *address)
{
    const mode_t mask = umask(0177);
    const bool is_bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    const int error = errno;
    (void)umask(mask);
    errno = error;
    return is_bound;
}

/* NULL, or a hint what to do about errno. */
static const char *open_up(int fd, const struct config *config)
{
    if (config->has_socket_group && lchown(config->socket, (uid_t)-1, config->socket_group) != 0)
        return "be in the group that `socket-group` names, or name another";
    if (chmod(config->socket, config->socket_mode) != 0 || listen(fd, BACKLOG) != 0)
        return "configure another path";
    return NULL;
}

/* A client takes a socket, a pidfd and perhaps the line to its keeper. */
static uint32_t count_places(void)
{
    struct rlimit limit = {.rlim_cur = DESCRIPTORS_LEAST};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    const uint64_t places = limit.rlim_cur > DESCRIPTORS_OTHER ? (limit.rlim_cur - DESCRIPTORS_OTHER) / 3 : 0,
                   least = CONFIG_CLIENTS_RESERVED + 1;
    if (places < least) return (uint32_t)least;
    return places < SERVE_CONNECTIONS_MAX ? (uint32_t)places : SERVE_CONNECTIONS_MAX;
}

bool serve_listen(struct serve *serve, char *text, size_t size)
{
    const struct config *config = serve->config;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat file;
    if (config->socket[0] == '\0' || strlen(config->socket) >= sizeof address.sun_path) {
        snprintf(text, size, "the socket's path must have 1 to %zu bytes", sizeof address.sun_path - 1);
        return false;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", config->socket);
    if (!clear_path(&address, text, size)) return false;
    serve->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (serve->fd < 0 || !bind_closed(serve->fd, &address) || lstat(config->socket, &file) != 0) {
        snprintf(text, size, "cannot listen at %s: %s; does its folder exist, and may this user write to it?",
                 config->socket, strerror(errno));
        return false;
    }
    const char *hint = open_up(serve->fd, config);
    if (hint) {
        snprintf(text, size, "cannot open %s to others: %s; %s", config->socket, strerror(errno), hint);
        (void)unlink(config->socket);
        return false;
    }
    serve->connection_most = count_places();
    serve->device = file.st_dev;
    serve->inode = file.st_ino;
    return true;
}
