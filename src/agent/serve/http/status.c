/* /status: the same as `elector status --output json`, generated one group at a time. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>

#include "agent/serve/http/internal.h"
#include "base/clock.h"

enum stage { HEAD, GROUPS, TAIL, END };

struct walk {
    struct http *http;
    struct MHD_Connection *connection;
    enum stage stage;
    uint32_t next; /* number of a leadership */
    bool has_told; /* a group: the next one needs a comma */
    uint64_t worst_ns;
    struct http_text text;
};

/* Leaves the text empty for a group that may not be told. */
static bool make_group(struct walk *w)
{
    const struct serve *serve = w->http->with.serve;
    const struct leadership *o = leadership_at(&serve->leaderships, w->next++);
    if (leadership_is_free(o) || !http_may_tell(w->http, o) || serve_is_forgotten(w->http->with.serve, o))
        return true;
    const char *comma = w->has_told ? "," : "";
    w->has_told = true;
    const uint64_t failover = host_worst_failover_ns(o->group);
    if (failover > w->worst_ns) w->worst_ns = failover;
    return http_set_json(&w->text, comma, serve_describe_group(serve, o), "");
}

static bool make_tail(struct walk *w)
{
    char end[64];
    snprintf(end, sizeof end, "],\"worst_failover_ms\":%" PRIu64 "}\n",
             (w->worst_ns + NS_PER_MS - 1) / NS_PER_MS); /* rounded up: it is a bound */
    return http_set_text(&w->text, end);
}

/* False: out of memory. */
static bool make_text(struct walk *w)
{
    const struct serve *serve = w->http->with.serve;
    switch (w->stage) {
    case HEAD:
        w->stage = GROUPS;
        if (!http_set_json(&w->text, "", serve_begin_status(serve), "")) return false;
        w->text.size -= 2; /* removes "]}": the groups follow */
        return true;
    case GROUPS:
        if (w->next < serve->leaderships.count) return make_group(w);
        w->stage = TAIL;
        return make_tail(w);
    case TAIL:
    case END: break;
    }
    w->stage = END;
    return true;
}

static ssize_t pour(void *context, uint64_t at, char *to, size_t room)
{
    struct walk *w = context;
    size_t used = 0;
    (void)at;
    while (used < room && w->stage != END) {
        if (w->text.size == 0 && !http_may_go_on(w->http, w->connection, used)) return (ssize_t)used;
        if (w->text.size == 0 && !make_text(w)) return MHD_CONTENT_READER_END_WITH_ERROR;
        used += http_pour(&w->text, to + used, room - used);
    }
    return used ? (ssize_t)used : MHD_CONTENT_READER_END_OF_STREAM;
}

static void end(void *context)
{
    struct walk *w = context;
    free(w->text.bytes);
    free(w);
}

enum MHD_Result http_status(struct http *http, struct MHD_Connection *c)
{
    struct walk *w = calloc(1, sizeof *w);
    struct MHD_Response *response = NULL;
    if (w) w->http = http;
    if (w) w->connection = c;
    if (w) response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, HTTP_PIECE, pour, w, end);
    if (w && !response) end(w);
    return http_answer(http, c, MHD_HTTP_OK, "application/json", response);
}
