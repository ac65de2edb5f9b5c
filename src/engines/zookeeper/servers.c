/*
 * What each server of ZooKeeper says of itself: the word `srvr` on a connection of its own. It is the one word that servers answer
 * unless they are told otherwise (4lw.commands.whitelist).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/zookeeper/internal.h"

enum { WITHIN_MS = 2500, ANSWER_MAX = 2048 };

struct word {           /* lives until its handles are closed */
    struct servers *of; /* NULL: nobody waits any more */
    uint32_t server;
    uint16_t port;
    uv_getaddrinfo_t look;
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    bool is_looking, has_tcp;
    char in[ANSWER_MAX];
    size_t size;
};

struct servers {
    uv_timer_t timer;
    void *context;
    void (*done)(void *context, const struct server_answer *);
    struct word *words[CLIENT_SERVERS_MAX];
    struct server_answer answers[CLIENT_SERVERS_MAX];
    uint32_t count, waits;
};

void server_read(struct server_answer *answer, const char *text)
{
    static const struct {
        const char *mode;
        enum server_state state;
    } modes[] = {{"leader", SERVER_LEADS},
                 {"follower", SERVER_FOLLOWS},
                 {"standalone", SERVER_ALONE},
                 {"observer", SERVER_OBSERVES}};
    const char *version = strstr(text, "Zookeeper version: "), *mode = strstr(text, "Mode: ");
    answer->state = SERVER_ANSWERS;
    answer->text[0] = '\0';
    if (version) {
        version += strlen("Zookeeper version: ");
        snprintf(answer->text, sizeof answer->text, "%.*s", (int)strcspn(version, "-, \n"), version);
    }
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++)
        if (strncmp(mode + strlen("Mode: "), modes[i].mode, strlen(modes[i].mode)) == 0)
            answer->state = modes[i].state;
    if (strstr(text, "not currently serving requests")) answer->state = SERVER_LOOKS;
}

/* ---- One server ---- */

static void on_word_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void drop(struct word *w)
{
    w->of = NULL;
    if (w->has_tcp)
        uv_close((uv_handle_t *)&w->tcp, on_word_closed);
    else if (w->is_looking)
        (void)uv_cancel((uv_req_t *)&w->look); /* it is freed when its answer comes */
    else
        free(w);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void end_all(struct servers *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->words[i]) drop(s->words[i]);
    s->count = 0;
    uv_close((uv_handle_t *)&s->timer, on_closed);
}

/* `error` of libuv; 0: what came in is the answer. */
static void conclude(struct word *w, int error)
{
    struct servers *s = w->of;
    if (!s) return;
    struct server_answer *answer = &s->answers[w->server];
    w->in[w->size] = '\0';
    if (error)
        snprintf(answer->text, sizeof answer->text, "%s", uv_strerror(error));
    else
        server_read(answer, w->in);
    s->words[w->server] = NULL;
    drop(w);
    if (--s->waits) return;
    s->done(s->context, s->answers);
    end_all(s);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    struct word *w = handle->data;
    (void)suggested;
    *room = uv_buf_init(w->in + w->size, (unsigned)(sizeof w->in - 1 - w->size));
}

static void on_bytes(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
    struct word *w = stream->data;
    (void)room;
    if (size > 0) w->size += (size_t)size;
    const bool is_full = w->size == sizeof w->in - 1;
    if (size < 0 || is_full) conclude(w, size == UV_EOF || is_full || w->size ? 0 : (int)size);
}

static void on_written(uv_write_t *write, int status)
{
    struct word *w = write->data;
    if (status < 0) conclude(w, status);
}

static void on_connected(uv_connect_t *connect, int status)
{
    static char word[] = "srvr";
    struct word *w = connect->data;
    uv_buf_t out = uv_buf_init(word, 4);
    if (!w->of) return;
    w->write.data = w;
    if (status == 0) status = uv_read_start((uv_stream_t *)&w->tcp, on_room, on_bytes);
    if (status == 0) status = uv_write(&w->write, (uv_stream_t *)&w->tcp, &out, 1, on_written);
    if (status != 0) conclude(w, status);
}

static void on_address(uv_getaddrinfo_t *look, int status, struct addrinfo *found)
{
    struct word *w = look->data;
    w->is_looking = false;
    if (!w->of) {
        free(w);
    } else {
        if (status == 0) status = uv_tcp_init(look->loop, &w->tcp);
        w->has_tcp = status == 0;
        w->tcp.data = w->connect.data = w;
        if (status == 0 && found->ai_family == AF_INET)
            ((struct sockaddr_in *)(void *)found->ai_addr)->sin_port = htons(w->port);
        if (status == 0 && found->ai_family == AF_INET6)
            ((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_port = htons(w->port);
        if (status == 0) status = uv_tcp_connect(&w->connect, &w->tcp, found->ai_addr, on_connected);
        if (status != 0) conclude(w, status);
    }
    uv_freeaddrinfo(found);
}

/* ---- All of them ---- */

static void on_time(uv_timer_t *timer)
{
    struct servers *s = timer->data;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->words[i])
            snprintf(s->answers[i].text, sizeof s->answers[i].text,
                     "no answer in time; is it overloaded or frozen?");
    s->done(s->context, s->answers);
    end_all(s);
}

static bool begin(struct servers *s, uint32_t server, const struct client_server *at, uv_loop_t *loop)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct word *w = calloc(1, sizeof *w);
    if (!w) return false;
    *w = (struct word){.of = s, .server = server, .port = at->port};
    w->look.data = w;
    if (uv_getaddrinfo(loop, &w->look, on_address, at->host, NULL, &hints) != 0) {
        free(w);
        return false;
    }
    w->is_looking = true;
    s->words[server] = w;
    return true;
}

struct servers *servers_ask(uv_loop_t *loop, const struct client_settings *settings, void *context,
                            void (*done)(void *context, const struct server_answer *))
{
    struct servers *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->context = context;
    s->done = done;
    s->count = settings->server_count;
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
    for (uint32_t i = 0; i < s->count; i++) {
        snprintf(s->answers[i].text, sizeof s->answers[i].text, "its address cannot be looked up");
        s->waits += begin(s, i, &settings->servers[i], loop);
    }
    uv_timer_start(&s->timer, on_time, s->waits ? WITHIN_MS : 0, 0);
    return s;
}

void servers_forget(struct servers *s)
{
    if (s) end_all(s);
}
