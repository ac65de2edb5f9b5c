/* /events: all leaders, then every change; /events?from=now: only the changes. A reader that is too slow gets the
 * present state instead of all changes. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/serve/http/internal.h"

struct http_reader {
    struct http_reader *next;
    struct http *http;
    struct MHD_Connection *connection;
    struct change_list_reader place;
    struct http_text text;
    bool is_asleep; /* suspended: there is nothing to send */
    bool wants_comment;
};

/* False: out of memory. If there is nothing to send, the text stays empty. */
static bool make_text(struct http_reader *reader)
{
    struct serve *serve = reader->http->with.serve;
    uint32_t number;
    while (change_list_next(&serve->change_list, &reader->place, &number)) {
        const struct leadership *o = leadership_at(&serve->leaderships, number);
        if (leadership_is_free(o) || !http_may_tell(reader->http, o)) continue;
        json_t *line = serve_leader_event(serve, o);
        if (line) json_object_del(line, "event"); /* all events here are of one kind */
        return http_set_json(&reader->text, "data: ", line, "\n\n");
    }
    const bool comments = reader->wants_comment;
    reader->wants_comment = false;
    return !comments || http_set_text(&reader->text, ":\n\n");
}

static ssize_t pour(void *context, uint64_t at, char *to, size_t room)
{
    struct http_reader *reader = context;
    size_t used = 0;
    (void)at;
    while (used < room) {
        if (reader->text.size == 0 && !http_may_go_on(reader->http, reader->connection, used))
            return (ssize_t)used;
        if (reader->text.size == 0 && !make_text(reader)) return MHD_CONTENT_READER_END_WITH_ERROR;
        if (reader->text.size == 0) break;
        used += http_pour(&reader->text, to + used, room - used);
    }
    if (used == 0) {
        reader->is_asleep = true;
        MHD_suspend_connection(reader->connection);
    }
    return (ssize_t)used;
}

void http_wake_readers(void *context)
{
    struct http *http = context;
    for (struct http_reader *reader = http->readers; reader; reader = reader->next) {
        if (!reader->is_asleep) continue;
        reader->is_asleep = false;
        MHD_resume_connection(reader->connection);
        http_go_round_soon(http); /* libmicrohttpd resumes it only in MHD_run() */
    }
}

void http_comment(struct http *http)
{
    for (struct http_reader *reader = http->readers; reader; reader = reader->next)
        reader->wants_comment = true;
    http_wake_readers(http);
}

static void end(void *context)
{
    struct http_reader *reader = context, **at = &reader->http->readers;
    while (*at != reader) at = &(*at)->next;
    *at = reader->next;
    reader->http->reader_count--;
    change_list_leave(&reader->http->with.serve->change_list, &reader->place);
    free(reader->text.bytes);
    free(reader);
}

static struct http_reader *begin(struct http *http, struct MHD_Connection *c)
{
    struct http_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->http = http;
    reader->connection = c;
    reader->wants_comment = true; /* so that the headers go out at once */
    reader->next = http->readers;
    http->readers = reader;
    http->reader_count++;
    change_list_join(&http->with.serve->change_list, &reader->place);
    return reader;
}

enum MHD_Result http_events(struct http *http, struct MHD_Connection *c)
{
    const char *from = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "from");
    struct http_reader *reader = begin(http, c);
    if (reader && from && strcmp(from, "now") == 0)
        change_list_skip(&http->with.serve->change_list, &reader->place);
    struct MHD_Response *response = NULL;
    if (reader) response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, HTTP_PIECE, pour, reader, end);
    if (reader && !response) end(reader);
    const enum MHD_Result result = http_answer(http, c, MHD_HTTP_OK, "text/event-stream", response);
    if (result == MHD_YES) http_set_stage(http, c, HTTP_READS_ON);
    return result;
}
