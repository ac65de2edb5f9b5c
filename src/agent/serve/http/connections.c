/*
 * The places of HTTP clients. A slow client must cost nobody else anything: a request has a deadline, however
 * busily its bytes trickle in, and a new client takes the place of the slowest.
 *
 * A connection is cut by shutdown(): libmicrohttpd sees its end and closes it. So more sockets than places may
 * be open for a moment, and libmicrohttpd's own limit is above ours.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/serve/http/internal.h"
#include "base/clock.h"

static struct http_connection *place_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void unlink_place(struct http *http, struct http_connection *place)
{
    *(place->older ? &place->older->newer : &http->oldest) = place->newer;
    *(place->newer ? &place->newer->older : &http->newest) = place->older;
}

static void put_last(struct http *http, struct http_connection *place)
{
    place->older = http->newest;
    place->newer = NULL;
    *(http->newest ? &http->newest->newer : &http->oldest) = place;
    http->newest = place;
}

static void cut(struct http *http, struct http_connection *place)
{
    place->is_cut = true;
    http->with.metrics->cut_off++;
    (void)shutdown(place->fd, SHUT_RDWR);
}

/* ---- Room for a new one ---- */

static bool is_from(const struct http_connection *place, const struct sockaddr_storage *from)
{
    const struct sockaddr_in *a4 = (const struct sockaddr_in *)&place->from,
                             *b4 = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)&place->from,
                              *b6 = (const struct sockaddr_in6 *)from;
    if (place->from.ss_family != from->ss_family) return false;
    if (from->ss_family == AF_INET) return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    return memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
}

/* Those of one address, or of all if it is NULL. */
static uint32_t count_places(const struct http *http, const struct sockaddr_storage *from)
{
    uint32_t count = 0;
    for (const struct http_connection *place = http->oldest; place; place = place->newer)
        count += !place->is_cut && (!from || is_from(place, from));
    return count;
}

static struct http_connection *find_oldest(const struct http *http, const struct sockaddr_storage *from,
                                           enum http_stage stage)
{
    for (struct http_connection *place = http->oldest; place; place = place->newer)
        if (!place->is_cut && place->stage == stage && (!from || is_from(place, from))) return place;
    return NULL;
}

static void make_room(struct http *http, const struct sockaddr_storage *from, uint32_t most)
{
    if (count_places(http, from) < most) return;
    struct http_connection *place = find_oldest(http, from, HTTP_ASKS);
    if (!place) place = find_oldest(http, from, HTTP_HEARS);
    if (place) cut(http, place); /* there is one: HTTP_READERS_MAX is below both limits */
}

/* ---- Rounds ---- */

bool http_may_go_on(struct http *http, struct MHD_Connection *c, size_t used)
{
    struct http_connection *place = place_of(c);
    if (clock_boottime_ns() - http->round_began_ns >= HTTP_ROUND_US * NS_PER_US) http->is_over = true;
    if (!http->is_over || !place) return true;
    if (used > 0 || place->waits) return false;
    place->waits = true;
    place->next_waiting = http->waiting;
    http->waiting = place;
    MHD_suspend_connection(c);
    return false;
}

static void stop_waiting(struct http *http, const struct http_connection *place)
{
    struct http_connection **at = &http->waiting;
    while (*at && *at != place) at = &(*at)->next_waiting;
    if (*at) *at = place->next_waiting;
}

void http_begin_round(struct http *http)
{
    http->round_began_ns = clock_boottime_ns();
    http->is_over = false;
    while (http->waiting) {
        struct http_connection *place = http->waiting;
        http->waiting = place->next_waiting;
        place->waits = false;
        MHD_resume_connection(place->connection);
    }
}

/* ---- Their lives ---- */

static void begin(struct http *http, struct MHD_Connection *c, void **place)
{
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD),
                                   *from = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct http_connection *new = fd &&from ? calloc(1, sizeof *new) : NULL;
    *place = new;
    if (!new) {
        if (fd) (void)shutdown(fd->connect_fd, SHUT_RDWR);
        return;
    }
    new->connection = c;
    new->fd = fd->connect_fd;
    new->since_ms = uv_now(http->loop);
    memcpy(&new->from, from->client_addr,
           from->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    make_room(http, &new->from, HTTP_OF_ONE_ADDRESS_MAX);
    make_room(http, NULL, HTTP_CONNECTIONS_MAX);
    put_last(http, new);
}

void http_on_connection(void *context, struct MHD_Connection *c, void **place,
                        enum MHD_ConnectionNotificationCode what)
{
    struct http *http = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        begin(http, c, place);
    } else if (*place) {
        stop_waiting(http, *place);
        unlink_place(http, *place);
        free(*place);
        *place = NULL;
    }
}

void http_set_stage(struct http *http, struct MHD_Connection *c, enum http_stage stage)
{
    struct http_connection *place = place_of(c);
    if (!place) return;
    if (stage == HTTP_ASKS) { /* again: the deadline of its next request */
        unlink_place(http, place);
        place->since_ms = uv_now(http->loop);
        put_last(http, place);
    }
    place->stage = stage;
}

uint64_t http_cut_overdue(struct http *http)
{
    const uint64_t now = uv_now(http->loop), patience = UINT64_C(1000) * http_patience_s(http);
    for (;;) {
        struct http_connection *place = find_oldest(http, NULL, HTTP_ASKS);
        if (!place) return UINT64_MAX;
        if (now - place->since_ms < patience) return patience - (now - place->since_ms);
        cut(http, place);
    }
}
