/*
 * A fake agent: a thread behind a Unix socket in a folder of its own. It answers every request with ok unless
 * told otherwise, keeps the requests, and sends any line that a test wants.
 */
#ifndef ELECTOR_TEST_LIB_CLIENT_FAKE_AGENT_H
#define ELECTOR_TEST_LIB_CLIENT_FAKE_AGENT_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/pass.h"
#include "lib/give_up.h"
#include "lib/scratch.h"

struct fake_agent {
    char folder[64], path[90], url[100];
    int listener, client, halt[2];
    bool mute;           /* answers nothing */
    char refused_op[32]; /* this one is answered with: */
    char answer[65536];  /* up to the closing brace; "%s": raw, instead of all */
    bool bounds_page;    /* to who wants one, with this descriptor, if it is any: */
    int page;            /* -1: none */
    json_t *asked;       /* an array: all requests that were read */
    bool closed;         /* the client has gone */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changes;
};

static inline void fake_write(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const ssize_t sent = send(fd, text, left, MSG_NOSIGNAL);
        if (sent <= 0) return;
        text += sent;
        left -= (size_t)sent;
    }
}

/* The same, and a descriptor with it. */
static inline void fake_write_with(int fd, const char *text, int passed)
{
    (void)!pass_send(fd, text, strlen(text), passed, MSG_NOSIGNAL); /* short enough to go at once */
}

/* With the mutex held. */
static inline void fake_answer(struct fake_agent *a, const json_t *request)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    char line[70000];
    if (!op || a->mute || !json_object_get(request, "id")) return;
    char *id = json_dumps(json_object_get(request, "id"), JSON_ENCODE_ANY);
    if (a->refused_op[0] && strcmp(op, a->refused_op) == 0) {
        if (a->answer[0] == '{' || a->answer[0] == '!')
            snprintf(line, sizeof line, "%s\n", a->answer + (a->answer[0] == '!'));
        else
            snprintf(line, sizeof line, "{\"id\":%s,%s}\n", id, a->answer);
    } else if (strcmp(op, "hello") == 0 && a->bounds_page && json_is_true(json_object_get(request, "page"))) {
        snprintf(line, sizeof line, "{\"id\":%s,\"ok\":true,\"version\":1,\"page\":true}\n", id);
        if (a->page >= 0) {
            fake_write_with(a->client, line, a->page);
            line[0] = '\0';
        }
    } else if (strcmp(op, "hello") == 0) {
        snprintf(line, sizeof line,
                 "{\"id\":%s,\"ok\":true,\"version\":1,\"member\":\"a\",\"cluster\":\"shop\"}\n", id);
    } else {
        snprintf(line, sizeof line, "{\"id\":%s,\"ok\":true}\n", id);
    }
    free(id);
    fake_write(a->client, line);
}

static inline void fake_hear(struct fake_agent *a, const char *line)
{
    json_t *request = json_loads(line, 0, NULL);
    pthread_mutex_lock(&a->mutex);
    if (request) json_array_append(a->asked, request);
    if (request) fake_answer(a, request);
    pthread_cond_broadcast(&a->changes);
    pthread_mutex_unlock(&a->mutex);
    json_decref(request);
}

/* Serves one client until it goes. False: the test is over. */
static inline bool fake_serve(struct fake_agent *a, int client)
{
    static _Thread_local char in[8192];
    size_t size = 0;
    for (;;) {
        struct pollfd wanted[2] = {{.fd = client, .events = POLLIN}, {.fd = a->halt[0], .events = POLLIN}};
        poll(wanted, 2, -1);
        if (wanted[1].revents) return false;
        const ssize_t got = recv(client, in + size, sizeof in - 1 - size, 0);
        if (got <= 0) return true;
        size += (size_t)got;
        in[size] = '\0';
        for (char *end; (end = strchr(in, '\n'));) {
            *end = '\0';
            fake_hear(a, in);
            size -= (size_t)(end + 1 - in);
            memmove(in, end + 1, size + 1);
        }
    }
}

static inline void *fake_run(void *context)
{
    struct fake_agent *a = context;
    bool on = true;
    while (on) {
        struct pollfd wanted[2] = {{.fd = a->listener, .events = POLLIN}, {.fd = a->halt[0], .events = POLLIN}};
        poll(wanted, 2, -1);
        if (wanted[1].revents) break;
        const int client = accept(a->listener, NULL, NULL);
        if (client < 0) continue;
        pthread_mutex_lock(&a->mutex);
        a->client = client;
        a->closed = false;
        pthread_mutex_unlock(&a->mutex);
        on = fake_serve(a, client);
        pthread_mutex_lock(&a->mutex);
        close(client);
        a->client = -1;
        a->closed = true;
        pthread_cond_broadcast(&a->changes);
        pthread_mutex_unlock(&a->mutex);
    }
    return NULL;
}

/* In a->folder. */
static inline bool fake_begin(struct fake_agent *a)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (pipe(a->halt) != 0) return false;
    snprintf(a->path, sizeof a->path, "%s/agent.sock", a->folder);
    snprintf(a->url, sizeof a->url, "unix:%s", a->path);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", a->path);
    a->client = a->page = -1;
    a->asked = json_array();
    a->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->changes, NULL);
    return bind(a->listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(a->listener, 8) == 0 &&
           pthread_create(&a->thread, NULL, fake_run, a) == 0;
}

static inline bool fake_start(struct fake_agent *a)
{
    memset(a, 0, sizeof *a);
    return scratch_folder(a->folder, sizeof a->folder, "agent") && fake_begin(a);
}

/* After fake_stop(): another agent at the same path. */
static inline bool fake_start_again(struct fake_agent *a)
{
    struct fake_agent fresh = {0};
    memcpy(fresh.folder, a->folder, sizeof fresh.folder);
    *a = fresh;
    return mkdir(a->folder, 0700) == 0 && fake_begin(a);
}

static inline void fake_stop(struct fake_agent *a)
{
    close(a->halt[1]);
    pthread_join(a->thread, NULL);
    close(a->halt[0]);
    close(a->listener);
    unlink(a->path);
    rmdir(a->folder);
    json_decref(a->asked);
    pthread_mutex_destroy(&a->mutex);
    pthread_cond_destroy(&a->changes);
}

/* A line to the client, as it is. */
static inline void fake_say(struct fake_agent *a, const char *line)
{
    pthread_mutex_lock(&a->mutex);
    fake_write(a->client, line);
    fake_write(a->client, "\n");
    pthread_mutex_unlock(&a->mutex);
}

/* The connection ends, as when an agent is killed. */
static inline void fake_hang_up(struct fake_agent *a)
{
    pthread_mutex_lock(&a->mutex);
    shutdown(a->client, SHUT_RDWR);
    pthread_mutex_unlock(&a->mutex);
}

/* From now on `op` is answered so: {…} or !… as it is, else the fields that follow the id. "" op: all is
 * well. */
static inline void fake_refuse(struct fake_agent *a, const char *op, const char *answer)
{
    pthread_mutex_lock(&a->mutex);
    snprintf(a->refused_op, sizeof a->refused_op, "%s", op);
    snprintf(a->answer, sizeof a->answer, "%s", answer);
    pthread_mutex_unlock(&a->mutex);
}

/* From now on: a page, and the descriptor that it is said to be, borrowed; -1: but nothing comes. */
static inline void fake_promise_page(struct fake_agent *a, int page)
{
    pthread_mutex_lock(&a->mutex);
    a->bounds_page = true;
    a->page = page;
    pthread_mutex_unlock(&a->mutex);
}

static inline void fake_set_mute(struct fake_agent *a, bool mute)
{
    pthread_mutex_lock(&a->mutex);
    a->mute = mute;
    pthread_mutex_unlock(&a->mutex);
}

/* Waits for a request with this op; a copy of the last one, to be freed. NULL: none came. */
static inline json_t *fake_asked(struct fake_agent *a, const char *op)
{
    struct timespec limit;
    json_t *found = NULL;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += give_up_ms() / 1000;
    pthread_mutex_lock(&a->mutex);
    for (int error = 0; !found && error == 0;) {
        for (size_t i = json_array_size(a->asked); i-- > 0 && !found;) {
            json_t *request = json_array_get(a->asked, i);
            const char *its = json_string_value(json_object_get(request, "op"));
            if (its && strcmp(its, op) == 0) found = json_deep_copy(request);
        }
        if (!found) error = pthread_cond_timedwait(&a->changes, &a->mutex, &limit);
    }
    pthread_mutex_unlock(&a->mutex);
    return found;
}

/* Waits until the client has gone. */
static inline bool fake_is_left(struct fake_agent *a)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += give_up_ms() / 1000;
    pthread_mutex_lock(&a->mutex);
    for (int error = 0; !a->closed && error == 0;)
        error = pthread_cond_timedwait(&a->changes, &a->mutex, &limit);
    const bool closed = a->closed;
    pthread_mutex_unlock(&a->mutex);
    return closed;
}

#endif
