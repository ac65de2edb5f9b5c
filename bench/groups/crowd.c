/* See crowd.h. */
#define _GNU_SOURCE
#include "crowd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { IN_MAX = 1 << 20, OUT_MAX = 1 << 16, LINE_ROOM = 128, AHEAD_MAX = 256 };

static bool connect_one(struct crowd *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (c->connection_count == CROWD_CONNECTIONS_MAX) return false;
    struct crowd_connection *one = &c->connections[c->connection_count];
    *one = (struct crowd_connection){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                                     .in = malloc(IN_MAX),
                                     .out = malloc(OUT_MAX)};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", c->path);
    if (one->fd >= 0 && one->in && one->out &&
        connect(one->fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        /* With the page, which is not looked at here, deadlines move on without a line for each group. */
        one->out_size = (size_t)snprintf(one->out, OUT_MAX,
                                         "{\"op\":\"hello\",\"version\":1,\"page\":true,\"id\":\"hello\"}\n");
        c->connection_count++;
        return true;
    }
    if (one->fd >= 0) close(one->fd);
    free(one->in);
    free(one->out);
    return false;
}

bool crowd_open(struct crowd *c, const char *path, uint32_t count)
{
    *c = (struct crowd){.path = path, .count = count, .again = calloc(count, sizeof *c->again)};
    return c->again && connect_one(c);
}

void crowd_close(struct crowd *c)
{
    for (uint32_t i = 0; i < c->connection_count; i++) {
        if (c->connections[i].fd >= 0) close(c->connections[i].fd);
        free(c->connections[i].in);
        free(c->connections[i].out);
    }
    free(c->again);
    *c = (struct crowd){0};
}

/* ---- Asking ---- */

static void ask(struct crowd *c, struct crowd_connection *one)
{
    if (one->out_first == one->out_size) one->out_first = one->out_size = 0;
    while (c->refusal[0] == '\0' && one->asked < AHEAD_MAX && one->out_size + LINE_ROOM < OUT_MAX) {
        uint32_t group;
        if (c->again_count)
            group = c->again[--c->again_count];
        else if (c->next < c->count)
            group = c->next++;
        else
            return;
        one->out_size += (size_t)snprintf(one->out + one->out_size, LINE_ROOM,
                                          "{\"op\":\"campaign\",\"group\":\"g-%u\",\"id\":%u}\n", group, group);
        one->asked++;
        c->asked++;
    }
}

/* Those whose connection was full begin again on another. */
static struct crowd_connection *open_for_asking(struct crowd *c)
{
    for (uint32_t i = 0; i < c->connection_count; i++)
        if (!c->connections[i].is_full && c->connections[i].fd >= 0) return &c->connections[i];
    if (c->again_count == 0 && c->next == c->count) return NULL;
    if (c->refusal[0] == '\0' && !c->is_gone && !connect_one(c))
        snprintf(c->refusal, sizeof c->refusal, "it takes no more than %u connections", c->connection_count);
    return c->refusal[0] || c->is_gone ? NULL : &c->connections[c->connection_count - 1];
}

/* ---- Hearing ---- */

static void hear_answer(struct crowd *c, struct crowd_connection *one, const char *line)
{
    const char *id = strstr(line, "\"id\":"), *message = strstr(line, "\"message\":\"");
    one->asked--;
    c->asked--;
    if (strstr(line, "\"ok\":true")) {
        c->entered++;
    } else if (strstr(line, "\"too-many\"") && id && one->asked + 1 < AHEAD_MAX + 1 &&
               c->again_count < c->count) {
        one->is_full = true;
        c->again[c->again_count++] = (uint32_t)strtoul(id + 5, NULL, 10);
    } else if (c->refusal[0] == '\0') {
        snprintf(c->refusal, sizeof c->refusal, "%s", message ? message + 11 : line);
        c->refusal[strcspn(c->refusal, "\"")] = '\0';
    }
}

static void hear_line(struct crowd *c, struct crowd_connection *one, const char *line)
{
    if (strstr(line, "\"id\":\"hello\"")) return;
    if (!strstr(line, "\"event\":"))
        hear_answer(c, one, line);
    else if (strstr(line, "\"event\":\"elected\""))
        c->elected++;
}

static void hang_up(struct crowd *c, struct crowd_connection *one)
{
    close(one->fd);
    one->fd = -1;
    c->is_gone = true;
}

static void hear(struct crowd *c, struct crowd_connection *one)
{
    const ssize_t got = recv(one->fd, one->in + one->in_size, IN_MAX - 1 - one->in_size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) hang_up(c, one);
    if (got <= 0) return;
    one->in_size += (size_t)got;
    char *from = one->in, *end = one->in + one->in_size;
    for (char *newline; (newline = memchr(from, '\n', (size_t)(end - from))); from = newline + 1) {
        *newline = '\0';
        hear_line(c, one, from);
    }
    one->in_size = (size_t)(end - from);
    memmove(one->in, from, one->in_size);
}

static void say(struct crowd *c, struct crowd_connection *one)
{
    const size_t left = one->out_size - one->out_first;
    const ssize_t sent = left ? send(one->fd, one->out + one->out_first, left, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (sent > 0) one->out_first += (size_t)sent;
    if (sent < 0 && errno != EAGAIN && errno != EINTR) hang_up(c, one);
}

void crowd_turn(struct crowd *crowds, uint32_t crowd_count, int timeout_ms)
{
    static struct pollfd wanted[3 * CROWD_CONNECTIONS_MAX];
    uint32_t count = 0;
    for (uint32_t k = 0; k < crowd_count; k++) {
        struct crowd_connection *open = open_for_asking(&crowds[k]);
        if (open) ask(&crowds[k], open);
        for (uint32_t i = 0; i < crowds[k].connection_count; i++) {
            const struct crowd_connection *one = &crowds[k].connections[i];
            const bool has_more = one->out_first < one->out_size;
            wanted[count++] =
                (struct pollfd){.fd = one->fd, .events = (short)(POLLIN | (has_more ? POLLOUT : 0))};
        }
    }
    if (poll(wanted, count, timeout_ms) <= 0) return;
    count = 0;
    for (uint32_t k = 0; k < crowd_count; k++) {
        const uint32_t connections = crowds[k].connection_count;
        for (uint32_t i = 0; i < connections; i++, count++) {
            struct crowd_connection *one = &crowds[k].connections[i];
            if (wanted[count].revents & POLLOUT) say(&crowds[k], one);
            if (one->fd >= 0 && wanted[count].revents & (POLLIN | POLLHUP | POLLERR)) hear(&crowds[k], one);
        }
    }
}
