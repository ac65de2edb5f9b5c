/* See socket.h. Listening, and what the host's news mean to each connection. */
#define _GNU_SOURCE
#include "agent/serve/socket.h"

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

/* ---- Offices ---- */

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

struct office *control_office(struct control *control, struct host_group *group)
{
    const uint32_t before = control->offices.count;
    struct office *o = before < CONTROL_GROUPS_MAX ? office_of(&control->offices, group)
                                                   : office_known(&control->offices, group);
    if (!o || o->number < before) return o;
    feed_change(&control->feed, o->number);
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++) {
        struct connection *c = control->connections[i];
        if (!c || (!awaits(c, host_name(group)) && !c->observes_all)) continue;
        control_add(&c->observed, o->number);
    }
    return o;
}

struct office *control_find_office(struct control *control, const char *group)
{
    struct host_group *known = host_known(control->host, group);
    return known ? office_known(&control->offices, known) : NULL;
}

/* Who reads the page need not be told. */
static bool is_published_to(const struct connection *c, const struct office *o)
{
    return c->has_page && o->tenure->is_published;
}

static bool has_page(void *whose, const void *client)
{
    (void)whose;
    return ((const struct connection *)client)->has_page;
}

static void on_office_event(void *whose, void *client, struct office *o, const struct office_event *event)
{
    struct connection *c = client;
    struct control *control = whose;
    if (event->type == OFFICE_STOP) control_do_chores_soon(control); /* to see the deadline pass */
    if (event->type == OFFICE_LEASE && is_published_to(c, o) && !event->was_late) return;
    if (event->type == OFFICE_LEASE) {
        control_add(&c->lease_waits, o->number);
        connection_wake(c);
        return;
    }
    control_remove(&c->lease_waits, o->number);
    connection_say_event(c, o, event);
    if (event->type == OFFICE_ELECTED && !c->has_news) connection_push(c);
    connection_wake(c);
}

void control_renewed(struct control *control, uint32_t cell)
{
    offices_renewed(&control->offices, cell);
}

void control_set_chronicle(struct control *control, struct chronicle *chronicle)
{
    control->offices.chronicle = chronicle;
}

/* Before the office acts upon it, so that what follows is written below. */
static bool note_leader(struct control *control, struct office *o)
{
    const struct host_view view = host_view_of(o->group);
    const el_node before = o->seen_leader;
    if (view.leader == before && view.token == o->seen_token) return false;
    const uint64_t heard =
        before && before != control->config->self ? host_heard(control->host, before) : UINT64_MAX;
    control_count(control, o, &view);
    o->seen_leader = (uint8_t)view.leader;
    o->seen_token = view.token;
    chronicle_lead(control->offices.chronicle, host_stopwatch(control->host),
                   chronicle_group(host_name(o->group)), before, view.leader, view.token, heard);
    return true;
}

/* One that nobody knows counts, too. */
uint32_t control_work(const struct connection *c)
{
    return c->work ? c->work : OBITUARY_BLIND;
}

static void on_tenure(void *whose, void *client, struct office *o)
{
    struct control *control = whose;
    const struct connection *c = client;
    obituary_let_go(control->obituary, o->tenure->work, o->group);
    o->tenure->work = c ? control_work(c) : OBITUARY_NONE;
    obituary_hold(control->obituary, o->tenure->work, o->group, o->tenure->token);
}

void control_changed(struct control *control, struct host_group *group)
{
    struct office *o = control_office(control, group);
    if (!o) return;
    const bool is_another = note_leader(control, o);
    office_changed(o);
    if (o->tenure->is_held && o->tenure->ending != OFFICE_STAYS) control_do_chores_soon(control);
    const struct host_view view = host_view_of(group);
    /* That only the deadline has moved is nothing to observers. */
    if (!is_another && view.leader == o->seen_leader && view.token == o->seen_token &&
        view.value_number == o->seen_value)
        return;
    control_count(control, o, &view);
    o->seen_leader = (uint8_t)view.leader;
    o->seen_token = view.token;
    o->seen_value = view.value_number;
    feed_change(&control->feed, o->number);
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++) {
        struct connection *c = control->connections[i];
        if (!c || !control_has(&c->observed, o->number)) continue;
        control_add(&c->leader_waits, o->number);
        connection_wake(c);
    }
}

/* ---- What must not be done from within a call of the host ---- */

static void on_chores(uv_timer_t *timer)
{
    struct control *control = timer->data;
    (void)host_tick(control->host);
    uv_timer_stop(timer);
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++) {
        struct connection *c = control->connections[i];
        if (c && (c->is_doomed || c->has_news)) connection_go_on(c); /* the doomed hear why */
        if (c && c->is_doomed) connection_close(c, OFFICE_EXPELLED);
    }
    if (offices_tick(&control->offices) && !uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, on_chores, CHORES_MS, 0);
}

void control_do_chores_soon(struct control *control)
{
    if (!control->is_freed) uv_timer_start(&control->chores, on_chores, 0, 0);
}

/* ---- Who comes ---- */

struct connection *control_adopt(struct control *control, int fd, struct control_who who)
{
    uint32_t place = 0;
    while (place < CONTROL_CONNECTIONS_MAX && control->connections[place]) place++;
    struct connection *c = place < CONTROL_CONNECTIONS_MAX ? calloc(1, sizeof *c) : NULL;
    if (c) { /* one by one: most of it is sets, which stay untouched */
        c->control = control;
        c->fd = fd;
        c->place = place;
        c->who = who;
        c->passed = -1;
    }
    if (!c || !connection_begin(c, control->loop)) {
        free(who.gids);
        free(c);
        close(fd);
        return NULL;
    }
    control->connections[place] = c;
    control->connection_count++;
    control->handles++;
    return c;
}

/* The kernel says so. Groups that it does not tell of are groups that it is not in. */
static bool ask_who(int fd, struct control_who *who)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    socklen_t bytes = 0;
#ifdef SO_PEERGROUPS
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || errno != ERANGE) bytes = 0;
#endif
    *who = (struct control_who){.uid = peer.uid, .gids = malloc(bytes + sizeof(gid_t)), .gid_count = 1};
    if (!who->gids) return false;
    who->gids[0] = peer.gid;
#ifdef SO_PEERGROUPS
    if (bytes && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, who->gids + 1, &bytes) == 0)
        who->gid_count += (uint32_t)(bytes / sizeof(gid_t));
#endif
    return true;
}

/* A pidfd of whoever connected. Asked by its number it could be another by now, where that one is gone already: then a
 * stranger's end is waited for, as well as the connection's. */
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

static void turn_away(int fd, const char *why)
{
    char line[256];
    const int size =
        snprintf(line, sizeof line, "{\"ok\":false,\"error\":\"too-many\",\"message\":\"%s\"}\n", why);
    (void)!send(fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static const char all_there_can_be[] = "64 clients are connected, which is all there can be";

/* So that one cannot keep all others out. */
static bool has_enough(const struct control *control, uid_t uid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++)
        count += control->connections[i] && control->connections[i]->who.uid == uid;
    return count >= control->config->socket_per_user;
}

static void let_in(struct control *control, int fd)
{
    struct control_who who;
    char why[160];
    if (!ask_who(fd, &who)) {
        close(fd);
        return;
    }
    if (has_enough(control, who.uid)) {
        snprintf(
            why, sizeof why,
            "user %u has %u connections here, which is what `socket-per-user` in the agent's configuration allows",
            (unsigned)who.uid, control->config->socket_per_user);
        free(who.gids);
        turn_away(fd, why);
        return;
    }
    struct connection *c = control_adopt(control, fd, who);
    if (c) c->work = obituary_add(control->obituary, GUARDIAN_WATCH, process_of(fd));
}

/* Without a descriptor left, who comes would be announced for ever: one is kept, to let it in and out again. */
static void let_in_and_out(struct control *control)
{
    if (control->spare_fd < 0) return;
    close(control->spare_fd);
    const int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) turn_away(fd, all_there_can_be);
    control->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_knock(uv_poll_t *poll, int status, int events)
{
    struct control *control = poll->data;
    if (status < 0 || !(events & UV_READABLE)) return;
    const int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) let_in_and_out(control);
    if (fd < 0) return;
    if (control->connection_count == CONTROL_CONNECTIONS_MAX)
        turn_away(fd, all_there_can_be);
    else
        let_in(control, fd);
}

/* ---- The socket's file ---- */

/* Two agents that start at one instant could take it from each other; the lock on the record keeps one of them out. */
static bool clear_path(const struct sockaddr_un *address, char *text, size_t size)
{
    const char *path = address->sun_path;
    struct stat file;
    if (lstat(path, &file) != 0) return true; /* bind will say what is wrong, if anything is */
    if (!S_ISSOCK(file.st_mode)) {
        snprintf(text, size, "%s is there and no socket: remove it, or configure another path", path);
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

/* Nobody but us until it has the group and the mode that it is to have. */
static bool bind_closed(int fd, const struct sockaddr_un *address)
{
    const mode_t mask = umask(0177);
    const bool is_bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    const int error = errno;
    (void)umask(mask);
    errno = error;
    return is_bound;
}

/* NULL, or what hinders. */
static const char *open_up(int fd, const struct config *config)
{
    if (config->has_socket_group && lchown(config->socket, (uid_t)-1, config->socket_group) != 0)
        return "be in the group that `socket-group` names, or name another";
    if (chmod(config->socket, config->socket_mode) != 0 || listen(fd, BACKLOG) != 0)
        return "configure another path";
    return NULL;
}

static bool listen_at(struct control *control, char *text, size_t size)
{
    const struct config *config = control->config;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat file;
    if (config->socket[0] == '\0' || strlen(config->socket) >= sizeof address.sun_path) {
        snprintf(text, size, "the socket's path must have 1 to %zu bytes", sizeof address.sun_path - 1);
        return false;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", config->socket);
    if (!clear_path(&address, text, size)) return false;
    control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (control->fd < 0 || !bind_closed(control->fd, &address) || lstat(config->socket, &file) != 0) {
        snprintf(text, size, "cannot listen at %s: %s; is its folder there and ours to write?", config->socket,
                 strerror(errno));
        return false;
    }
    const char *hint = open_up(control->fd, config);
    if (hint) {
        snprintf(text, size, "cannot open %s to others: %s; %s", config->socket, strerror(errno), hint);
        (void)unlink(config->socket);
        return false;
    }
    control->device = file.st_dev;
    control->inode = file.st_ino;
    return true;
}

/* ---- Life ---- */

void control_release(struct control *control)
{
    control->handles--;
    if (control->is_freed && control->handles == 0) free(control);
}

static void on_closed(uv_handle_t *handle)
{
    control_release(handle->data);
}

struct control *control_new(uv_loop_t *loop, const struct config *config, struct host *host, char *text,
                            size_t size)
{
    struct control *control = calloc(1, sizeof *control);
    if (!control) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    control->loop = loop;
    control->config = config;
    control->host = host;
    control->fd = -1;
    control->offices.host = host;
    control->offices.config = config;
    control->offices.whose = control;
    control->offices.tell = on_office_event;
    control->offices.reads_page = has_page;
    control->offices.page = control->page = page_new();
    control->offices.tenure = on_tenure;
    if (!listen_at(control, text, size)) {
        if (control->fd >= 0) close(control->fd);
        page_free(control->page);
        free(control);
        return NULL;
    }
    control->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    control->listener.data = control->chores.data = control;
    (void)uv_timer_init(loop, &control->chores); /* cannot fail */
    control->has_listener = uv_poll_init(loop, &control->listener, control->fd) == 0;
    control->handles = 1 + control->has_listener;
    if (!control->has_listener || uv_poll_start(&control->listener, UV_READABLE, on_knock) != 0) {
        snprintf(text, size, "cannot wait for clients at %s", config->socket);
        control_free(control);
        return NULL;
    }
    for (struct host_group *group = host_next(host, NULL); group; group = host_next(host, group))
        (void)control_office(control, group);
    return control;
}

void control_watch_by(struct control *control, struct obituary *obituary)
{
    control->obituary = obituary;
}

bool control_leave(struct control *control)
{
    const bool is_done = offices_leave(&control->offices);
    if (!uv_is_active((const uv_handle_t *)&control->chores)) control_do_chores_soon(control);
    return is_done;
}

void control_failed(struct control *control, const char *why)
{
    snprintf(control->failed, sizeof control->failed, "%s", why);
    offices_fail(&control->offices);
}

void control_free(struct control *control)
{
    struct stat file;
    if (!control) return;
    control->is_freed = true;
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++) {
        struct connection *c = control->connections[i];
        if (c) c->entered = (struct control_set){0};
        if (c) connection_close(c, OFFICE_EXPELLED);
    }
    offices_free(&control->offices);
    feed_free(&control->feed);
    page_free(control->page);
    control->page = NULL;
    if (lstat(control->config->socket, &file) == 0 && file.st_dev == control->device &&
        file.st_ino == control->inode)
        (void)unlink(control->config->socket);
    if (control->has_listener) uv_close((uv_handle_t *)&control->listener, on_closed);
    uv_close((uv_handle_t *)&control->chores, on_closed);
    close(control->fd);
    if (control->spare_fd >= 0) close(control->spare_fd);
}
