/* See serve.h. Listens, and passes the host's changes on to leaderships and connections. */
#define _GNU_SOURCE
#include "agent/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/history/history.h"
#include "agent/serve/internal.h"

enum { CHORES_MS = 10, BACKLOG = 64 };

/* ---- Changes ---- */

static bool awaits(struct connection *c, const char *name)
{
    for (uint32_t i = 0; i < c->awaited_count; i++) {
        if (strcmp(c->awaited[i], name) != 0) continue;
        c->awaited_count--;
        memmove(c->awaited[i], c->awaited[c->awaited_count], sizeof c->awaited[i]);
        return true;
    }
    return false;
}

struct leadership *serve_leadership(struct serve *serve, struct host_group *group)
{
    const uint32_t before = serve->leaderships.count;
    struct leadership *o = before < SERVE_GROUPS_MAX ? leadership_of(&serve->leaderships, group)
                                                     : leadership_known(&serve->leaderships, group);
    if (!o || o->number < before) return o;
    change_list_change(&serve->change_list, o->number);
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++) {
        struct connection *c = serve->connections[i];
        if (!c || (!awaits(c, host_name(group)) && !c->observes_all)) continue;
        serve_add(&c->observed, o->number);
    }
    return o;
}

struct leadership *serve_find_leadership(struct serve *serve, const char *group)
{
    struct host_group *known = host_known(serve->host, group);
    return known ? leadership_known(&serve->leaderships, known) : NULL;
}

/* A client that reads the page needs no lease events. */
static bool is_published_to(const struct connection *c, const struct leadership *o)
{
    return c->has_page && o->tenure->is_published;
}

static bool has_page(void *context, const void *client)
{
    (void)context;
    return ((const struct connection *)client)->has_page;
}

static void on_leadership_event(void *context, void *client, struct leadership *o,
                                const struct leadership_event *event)
{
    struct connection *c = client;
    struct serve *serve = context;
    if (event->type == LEADERSHIP_STOP) serve_do_chores_soon(serve); /* which end the tenure at its deadline */
    if (event->type == LEADERSHIP_LEASE && is_published_to(c, o) && !event->was_late) return;
    if (event->type == LEADERSHIP_LEASE) {
        serve_add(&c->lease_waits, o->number);
        connection_wake(c);
        return;
    }
    serve_remove(&c->lease_waits, o->number);
    connection_say_event(c, o, event);
    serve_count_tenures(c, event);
    if (event->type == LEADERSHIP_ELECTED && !c->has_changes) connection_push(c);
    connection_wake(c);
}

void serve_renewed(struct serve *serve, uint32_t cell)
{
    leaderships_renewed(&serve->leaderships, cell);
}

void serve_set_history(struct serve *serve, struct history *history)
{
    serve->leaderships.history = history;
}

/* Adds a change of leaders to the history before the leadership acts on it, so that they stand in this
 * order. */
static bool note_leader(struct serve *serve, struct leadership *o)
{
    const struct host_view view = host_view_of(o->group);
    const el_node before = o->seen_leader;
    if (view.leader == before && view.token == o->seen_token) return false;
    const uint64_t heard =
        before && before != serve->config->self ? host_heard(serve->host, before) : UINT64_MAX;
    serve_count_change(serve, o, &view);
    o->seen_leader = (uint8_t)view.leader;
    o->seen_token = view.token;
    history_lead(serve->leaderships.history, host_stopwatch(serve->host), history_group(host_name(o->group)),
                 before, view.leader, view.token, heard);
    return true;
}

/* A process that the guardian cannot watch counts too. */
uint32_t serve_work(const struct connection *c)
{
    return c->work ? c->work : CLIENT_BLIND;
}

static void on_tenure(void *context, void *client, struct leadership *o)
{
    struct serve *serve = context;
    const struct connection *c = client;
    guardian_client_let_go(serve->guardian, o->tenure->work, o->group);
    o->tenure->work = c ? serve_work(c) : CLIENT_NONE;
    guardian_client_hold(serve->guardian, o->tenure->work, o->group, o->tenure->token);
}

void serve_changed(struct serve *serve, struct host_group *group)
{
    struct leadership *o = serve_leadership(serve, group);
    if (!o) return;
    const bool is_another = note_leader(serve, o);
    leadership_changed(o);
    if (o->tenure->is_held && o->tenure->ending != LEADERSHIP_STAYS) serve_do_chores_soon(serve);
    const struct host_view view = host_view_of(group);
    /* Observers are not told if only the deadline has moved. */
    if (!is_another && view.leader == o->seen_leader && view.token == o->seen_token &&
        view.value_number == o->seen_value)
        return;
    serve_count_change(serve, o, &view);
    o->seen_leader = (uint8_t)view.leader;
    o->seen_token = view.token;
    o->seen_value = view.value_number;
    change_list_change(&serve->change_list, o->number);
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++) {
        struct connection *c = serve->connections[i];
        if (!c || !serve_has(&c->observed, o->number)) continue;
        serve_add(&c->leader_waits, o->number);
        connection_wake(c);
    }
}

/* ---- Chores: what must not be done from within a call of the host ---- */

static void on_chores(uv_timer_t *timer)
{
    struct serve *serve = timer->data;
    (void)host_tick(serve->host);
    uv_timer_stop(timer);
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++) {
        struct connection *c = serve->connections[i];
        if (c && (c->is_doomed || c->has_changes))
            connection_go_on(c); /* a client that will be closed gets the reason first */
        if (c && c->is_doomed) connection_close(c, LEADERSHIP_EXPELLED);
    }
    if (leaderships_tick(&serve->leaderships) && !uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, on_chores, CHORES_MS, 0);
}

void serve_do_chores_soon(struct serve *serve)
{
    if (!serve->is_freed) uv_timer_start(&serve->chores, on_chores, 0, 0);
}

/* ---- New clients ---- */

struct connection *serve_adopt(struct serve *serve, int fd, struct serve_who who)
{
    uint32_t place = 0;
    while (place < SERVE_CONNECTIONS_MAX && serve->connections[place]) place++;
    struct connection *c = place < SERVE_CONNECTIONS_MAX ? calloc(1, sizeof *c) : NULL;
    if (c) { /* field by field: most of it is zeroed sets, whose pages stay untouched */
        c->serve = serve;
        c->fd = fd;
        c->place = place;
        c->who = who;
        c->passed = -1;
    }
    if (!c || !connection_begin(c, serve->loop)) {
        free(who.gids);
        free(c);
        close(fd);
        return NULL;
    }
    serve->connections[place] = c;
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

/* A pidfd of the client. Without SO_PEERPIDFD it is opened by pid, which may have been reused if the client is
 * gone: then the guardian waits for the end of an unrelated process, which costs time but is safe. */
static int process_of(int fd)
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

static void refuse_client(int fd, const char *why)
{
    char line[256];
    const int size =
        snprintf(line, sizeof line, "{\"ok\":false,\"error\":\"too-many\",\"message\":\"%s\"}\n", why);
    (void)!send(fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static const char too_many_clients[] = "64 clients are connected, the maximum";

/* Limits each user, so that one cannot lock out the others. */
static bool has_enough(const struct serve *serve, uid_t uid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        count += serve->connections[i] && serve->connections[i]->who.uid == uid;
    return count >= serve->config->socket_per_user;
}

static void accept_client(struct serve *serve, int fd)
{
    struct serve_who who;
    char why[160];
    if (!ask_who(fd, &who)) {
        close(fd);
        return;
    }
    if (has_enough(serve, who.uid)) {
        snprintf(why, sizeof why,
                 "user %u has %u connections, the maximum (`socket-per-user` in the agent's configuration)",
                 (unsigned)who.uid, serve->config->socket_per_user);
        free(who.gids);
        refuse_client(fd, why);
        return;
    }
    struct connection *c = serve_adopt(serve, fd, who);
    if (c) c->work = guardian_client_add(serve->guardian, GUARDIAN_WATCH, process_of(fd), fd);
}

/* If descriptors run out, a client in the backlog would keep the loop spinning. So a spare descriptor is kept,
 * to accept the client and refuse it. */
static void accept_and_refuse(struct serve *serve)
{
    if (serve->spare_fd < 0) return;
    close(serve->spare_fd);
    const int fd = accept4(serve->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) refuse_client(fd, too_many_clients);
    serve->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_connect(uv_poll_t *poll, int status, int events)
{
    struct serve *serve = poll->data;
    if (status < 0 || !(events & UV_READABLE)) return;
    const int fd = accept4(serve->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) accept_and_refuse(serve);
    if (fd < 0) return;
    if (serve->connection_count == SERVE_CONNECTIONS_MAX)
        refuse_client(fd, too_many_clients);
    else
        accept_client(serve, fd);
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

static bool listen_at(struct serve *serve, char *text, size_t size)
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
    serve->device = file.st_dev;
    serve->inode = file.st_ino;
    return true;
}

/* ---- Creating and freeing ---- */

void serve_release(struct serve *serve)
{
    serve->handles--;
    if (serve->is_freed && serve->handles == 0) free(serve);
}

static void on_closed(uv_handle_t *handle)
{
    serve_release(handle->data);
}

struct serve *serve_new(uv_loop_t *loop, const struct config *config, struct host *host, char *text,
                        size_t size)
{
    struct serve *serve = calloc(1, sizeof *serve);
    if (!serve) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    serve->loop = loop;
    serve->config = config;
    serve->host = host;
    serve->fd = -1;
    serve->leaderships.host = host;
    serve->leaderships.config = config;
    serve->leaderships.context = serve;
    serve->leaderships.tell = on_leadership_event;
    serve->leaderships.reads_page = has_page;
    serve->leaderships.hangs = serve_hangs;
    serve->leaderships.page = serve->page = deadline_page_new();
    serve->leaderships.tenure = on_tenure;
    if (!listen_at(serve, text, size)) {
        if (serve->fd >= 0) close(serve->fd);
        deadline_page_free(serve->page);
        free(serve);
        return NULL;
    }
    serve->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    serve->listener.data = serve->chores.data = serve->watchdog.data = serve;
    serve->audit_timer.data = serve;
    (void)uv_timer_init(loop, &serve->chores); /* these cannot fail */
    (void)uv_timer_init(loop, &serve->audit_timer);
    (void)uv_timer_init(loop, &serve->watchdog);
    serve->has_listener = uv_poll_init(loop, &serve->listener, serve->fd) == 0;
    serve->handles = 3 + serve->has_listener;
    if (!serve->has_listener || uv_poll_start(&serve->listener, UV_READABLE, on_connect) != 0) {
        snprintf(text, size, "cannot wait for clients at %s", config->socket);
        serve_free(serve);
        return NULL;
    }
    for (struct host_group *group = host_next(host, NULL); group; group = host_next(host, group))
        (void)serve_leadership(serve, group);
    return serve;
}

void serve_set_guardian(struct serve *serve, struct guardian_client *guardian)
{
    serve->guardian = guardian;
}

bool serve_leave(struct serve *serve)
{
    const bool is_done = leaderships_leave(&serve->leaderships);
    if (!uv_is_active((const uv_handle_t *)&serve->chores)) serve_do_chores_soon(serve);
    return is_done;
}

void serve_failed(struct serve *serve, const char *why)
{
    snprintf(serve->failed, sizeof serve->failed, "%s", why);
    leaderships_fail(&serve->leaderships);
}

void serve_free(struct serve *serve)
{
    struct stat file;
    if (!serve) return;
    serve->is_freed = true;
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++) {
        struct connection *c = serve->connections[i];
        if (c) c->entered = (struct serve_set){0};
        if (c) connection_close(c, LEADERSHIP_EXPELLED);
    }
    leaderships_free(&serve->leaderships);
    change_list_free(&serve->change_list);
    deadline_page_free(serve->page);
    serve->page = NULL;
    if (lstat(serve->config->socket, &file) == 0 && file.st_dev == serve->device && file.st_ino == serve->inode)
        (void)unlink(serve->config->socket);
    if (serve->has_listener) uv_close((uv_handle_t *)&serve->listener, on_closed);
    serve_end_audit(serve);
    uv_close((uv_handle_t *)&serve->chores, on_closed);
    uv_close((uv_handle_t *)&serve->audit_timer, on_closed);
    uv_close((uv_handle_t *)&serve->watchdog, on_closed);
    close(serve->fd);
    if (serve->spare_fd >= 0) close(serve->spare_fd);
}
