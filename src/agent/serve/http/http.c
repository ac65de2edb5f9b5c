/* See http.h. Drives libmicrohttpd's epoll and timeout from the agent's loop. */
#define _GNU_SOURCE
#include "agent/serve/http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/serve/http/internal.h"
#include "base/log/log.h"

enum { BACKLOG = 64, SEND_BUFFER = 65536, CUT_MAX = 64 /* connections that are cut and not closed yet */ };

/* ---- Answers ---- */

bool http_set_text(struct http_text *text, const char *bytes)
{
    *text = (struct http_text){.bytes = strdup(bytes), .size = strlen(bytes)};
    if (!text->bytes) text->size = 0;
    return text->bytes != NULL;
}

bool http_set_json(struct http_text *text, const char *before, json_t *line, const char *after)
{
    char *json = line ? json_dumps(line, JSON_COMPACT) : NULL;
    const int size = json ? asprintf(&text->bytes, "%s%s%s", before, json, after) : -1;
    free(json);
    json_decref(line);
    text->at = 0;
    text->size = size < 0 ? 0 : (size_t)size;
    if (size < 0) text->bytes = NULL;
    return size >= 0;
}

size_t http_pour(struct http_text *text, char *to, size_t room)
{
    const size_t left = text->size - text->at, size = left < room ? left : room;
    if (text->size == 0) return 0;
    memcpy(to, text->bytes + text->at, size);
    text->at += size;
    if (text->at == text->size) {
        free(text->bytes);
        *text = (struct http_text){0};
    }
    return size;
}

enum MHD_Result http_answer(struct http *http, struct MHD_Connection *c, unsigned code, const char *type,
                            struct MHD_Response *response)
{
    if (!response) return MHD_NO;
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    const enum MHD_Result result = MHD_queue_response(c, code, response);
    MHD_destroy_response(response); /* libmicrohttpd holds a reference while it sends */
    if (result == MHD_YES) metrics_answered(http->with.metrics, code);
    if (result == MHD_YES) http_set_stage(http, c, HTTP_HEARS);
    return result;
}

/* ---- The loop ---- */

static void go_round(struct http *http);

static void on_timer(uv_timer_t *timer)
{
    go_round(timer->data);
}

static void on_again(uv_idle_t *again)
{
    go_round(again->data);
}

/* The host's overdue timers first, so that no answer says what is no longer true. */
static void go_round(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG idle_ms;
    if (!http->daemon) return;
    (void)host_tick(http->with.host);
    http_begin_round(http);
    (void)MHD_run(http->daemon);
    uint64_t wait_ms = http->waiting ? 0 : http_cut_overdue(http);
    if (MHD_get_timeout(http->daemon, &idle_ms) == MHD_YES && idle_ms < wait_ms) wait_ms = idle_ms;
    if (wait_ms != UINT64_MAX && wait_ms > 0)
        (void)uv_timer_start(&http->timer, on_timer, wait_ms, 0);
    else
        (void)uv_timer_stop(&http->timer);
    if (wait_ms == 0)
        http_go_round_soon(http);
    else
        (void)uv_idle_stop(&http->again);
}

void http_go_round_soon(struct http *http)
{
    (void)uv_idle_start(&http->again, on_again);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    go_round(poll->data);
}

static void on_keep_alive(uv_timer_t *timer)
{
    http_comment(timer->data);
}

/* ---- Listening ---- */

static const char *hint_of(int error)
{
    switch (error) {
    case EADDRINUSE: return ": another process has this port; let `http` name another, or off";
    case EADDRNOTAVAIL: return ": this host has no such address; let `http` name another, or off";
    case EACCES: return ": ports below 1024 need a privilege; let `http` name another";
    default: return "; let `http` name another address, or off";
    }
}

static int listen_at(const struct sockaddr_storage *address)
{
    const int one = 1, room = SEND_BUFFER;
    const int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room); /* accepted sockets inherit it */
    if (address->ss_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)address, config_address_size(address)) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int http_listen(const struct sockaddr_storage *address, char *text, size_t size)
{
    char where[80];
    const int fd = listen_at(address), error = errno;
    if (fd >= 0) return fd;
    config_write_address(address, where, sizeof where);
    snprintf(text, size, "cannot listen for HTTP on %s: %s%s", where, strerror(error), hint_of(error));
    return -1;
}

/* Leaves escapes in paths: http_group_of() decodes them, and detects wrong ones. */
static size_t leave_escaped(void *context, struct MHD_Connection *c, char *text)
{
    (void)context, (void)c;
    return strlen(text);
}

static void on_completed(void *context, struct MHD_Connection *c, void **seen,
                         enum MHD_RequestTerminationCode how)
{
    struct http *http = context;
    (void)seen;
    if (how == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED) http->with.metrics->cut_off++;
    http_set_stage(http, c, HTTP_ASKS);
}

unsigned http_patience_s(const struct http *http)
{
    return http->with.timeout_s ? http->with.timeout_s : HTTP_TIMEOUT_S;
}

static struct MHD_Daemon *start(struct http *http, int fd)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, fd, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS_MAX + CUT_MAX, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_REQUEST_MAX, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, http_patience_s(http), NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)leave_escaped, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, http},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)http_on_connection, http},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_on_request, http,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/* ---- Creating and freeing ---- */

static void on_closed(uv_handle_t *handle)
{
    struct http *http = handle->data;
    if (--http->handles > 0) return;
    free(http->config_path);
    free(http);
}

static bool watch(struct http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    http->poll.data = http;
    if (!info || uv_poll_init(http->loop, &http->poll, info->epoll_fd) != 0) return false;
    http->handles++;
    (void)uv_poll_start(&http->poll, UV_READABLE, on_readable); /* cannot fail: the handle is not closing */
    return true;
}

/* False: `text` says why. */
static bool begin(struct http *http, char *text, size_t size)
{
    struct sockaddr_storage bound = {0};
    socklen_t room = sizeof bound;
    const int fd = http_listen(&http->with.config->http, text, size);
    if (fd < 0) return false;
    if (getsockname(fd, (struct sockaddr *)&bound, &room) == 0) http->port = config_port(&bound);
    http->daemon = start(http, fd);
    if (http->daemon && watch(http)) return true;
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    else
        close(fd);
    http->daemon = NULL;
    snprintf(text, size, "libmicrohttpd does not start; set `http = off` to run without it");
    return false;
}

/* While it fails, `status` says why. */
static bool try_to_begin(struct http *http)
{
    char *error = http->with.serve->http_error;
    const bool is_begun = begin(http, error, sizeof http->with.serve->http_error);
    if (is_begun) error[0] = '\0';
    return is_begun;
}

static void on_retry(uv_timer_t *timer)
{
    struct http *http = timer->data;
    char where[80];
    if (!try_to_begin(http)) return;
    (void)uv_timer_stop(timer);
    config_write_address(&http->with.config->http, where, sizeof where);
    log_event(LOG_INFO_LEVEL, NULL, "HTTP is served at %s now", where);
}

struct http *http_new(uv_loop_t *loop, const struct http_setup *setup)
{
    const uint64_t every_ms = UINT64_C(1000) * HTTP_KEEP_ALIVE_S;
    const uint32_t retry_ms = setup->retry_ms ? setup->retry_ms : HTTP_RETRY_MS;
    struct http *http = calloc(1, sizeof *http);
    if (!http) return NULL;
    http->with = *setup;
    http->loop = loop;
    http->is_local = config_is_loopback(&setup->config->http);
    http->config_path = realpath(setup->config->path, NULL);
    http->timer.data = http->keep_alive.data = http->retry.data = http->again.data = http;
    (void)uv_timer_init(loop, &http->timer); /* these cannot fail */
    (void)uv_idle_init(loop, &http->again);
    (void)uv_timer_init(loop, &http->keep_alive);
    (void)uv_timer_init(loop, &http->retry);
    http->handles = 4;
    (void)uv_timer_start(&http->keep_alive, on_keep_alive, every_ms, every_ms);
    if (!try_to_begin(http)) {
        log_event(LOG_WARN_LEVEL, NULL, "%s; running without HTTP, and trying again every %u ms",
                  setup->serve->http_error, retry_ms);
        (void)uv_timer_start(&http->retry, on_retry, retry_ms, retry_ms);
    }
    setup->serve->change_list.context = http;
    setup->serve->change_list.moved = http_on_change;
    return http;
}

bool http_is_served(const struct http *http)
{
    return http->daemon != NULL;
}

uint16_t http_port(const struct http *http)
{
    return http->port;
}

void http_set_unhealthy(struct http *http, const char *why)
{
    http->unhealthy = why;
}

void http_free(struct http *http)
{
    if (!http) return;
    http->with.serve->change_list.moved = NULL;
    http_wake_readers(http); /* MHD_stop_daemon() needs all connections resumed */
    http_begin_round(http);
    uv_close((uv_handle_t *)&http->timer, on_closed);
    uv_close((uv_handle_t *)&http->keep_alive, on_closed);
    uv_close((uv_handle_t *)&http->retry, on_closed);
    uv_close((uv_handle_t *)&http->again, on_closed);
    if (!http->daemon) return;
    (void)uv_poll_stop(&http->poll);
    MHD_stop_daemon(http->daemon); /* ends all readers */
    uv_close((uv_handle_t *)&http->poll, on_closed);
}
