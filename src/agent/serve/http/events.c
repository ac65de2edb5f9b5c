/* /events: all leaders, then every change; /events?from=now: only the changes. A reader that is too slow gets the
 * present state instead of all changes. With most=N a reader gets at most N changes a second: if there are more, it is
 * told so, and the rest of that second is left out. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/serve/http/internal.h"
#include "base/clock.h"

struct http_reader {
    struct http_reader *next;
    struct http *http;
    struct MHD_Connection *connection;
    struct change_list_reader place;
    struct http_text text;
    bool is_asleep; /* suspended: there is nothing to send */
    bool wants_comment;
    uint64_t most; /* changes that it wants in a second; 0: all */
    uint64_t told; /* changes since second_began_ns, */
    uint64_t second_began_ns;
    bool is_muted; /* there were more: what changes until the second is over is left out */
};

/* Another second begins with the first change after the last one is over. */
static void count_seconds(struct http_reader *reader)
{
    const uint64_t now = host_clock(reader->http->with.host);
    if (now - reader->second_began_ns < NS_PER_S) return;
    reader->is_muted = false;
    reader->told = 0;
    reader->second_began_ns = now;
}

static void skip(struct http_reader *reader)
{
    change_list_skip(&reader->http->with.serve->change_list, &reader->place);
}

static json_t *describe_many(const struct http_reader *reader)
{
    return json_pack("{sI}", "most", (json_int_t)reader->most);
}

/* False: out of memory. If there is nothing to send, the text stays empty. */
static bool make_text(struct http_reader *reader)
{
    struct serve *serve = reader->http->with.serve;
    uint32_t number;
    if (reader->most) count_seconds(reader);
    while (change_list_next(&serve->change_list, &reader->place, &number)) {
        const struct leadership *o = leadership_at(&serve->leaderships, number);
        if (leadership_is_free(o) || !http_may_tell(reader->http, o)) continue;
        if (reader->most && reader->told == reader->most) {
            reader->is_muted = true;
            skip(reader);
            return http_set_json(&reader->text, "event: many\ndata: ", describe_many(reader), "\n\n");
        }
        reader->told++;
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

static void wake(struct http_reader *reader)
{
    if (!reader->is_asleep) return;
    reader->is_asleep = false;
    MHD_resume_connection(reader->connection);
    http_go_round_soon(reader->http); /* libmicrohttpd resumes it only in MHD_run() */
}

void http_wake_readers(struct http *http)
{
    for (struct http_reader *reader = http->readers; reader; reader = reader->next) wake(reader);
}

void http_on_change(void *context)
{
    struct http *http = context;
    for (struct http_reader *reader = http->readers; reader; reader = reader->next) {
        if (reader->is_muted) count_seconds(reader);
        if (reader->is_muted)
            skip(reader);
        else
            wake(reader);
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

static struct http_reader *begin(struct http *http, struct MHD_Connection *c, uint64_t most)
{
    struct http_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->http = http;
    reader->connection = c;
    reader->most = most;
    reader->wants_comment = true; /* so that the headers go out at once */
    reader->next = http->readers;
    http->readers = reader;
    http->reader_count++;
    change_list_join(&http->with.serve->change_list, &reader->place);
    return reader;
}

const char *http_read_events(struct MHD_Connection *c, uint64_t *most)
{
    *most = 0;
    const bool is_number = http_read_number(c, "most", HTTP_CHANGES_MAX, most);
    return is_number && (*most > 0 || !http_value_of(c, "most")) ? NULL : "`most` is a number from 1 to 10000";
}

enum MHD_Result http_events(struct http *http, struct MHD_Connection *c, uint64_t most)
{
    const char *from = http_value_of(c, "from");
    struct http_reader *reader = begin(http, c, most);
    if (reader && from && strcmp(from, "now") == 0)
        change_list_skip(&http->with.serve->change_list, &reader->place);
    struct MHD_Response *response = NULL;
    if (reader) response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, HTTP_PIECE, pour, reader, end);
    if (reader && !response) end(reader);
    const enum MHD_Result result = http_answer(http, c, MHD_HTTP_OK, "text/event-stream", response);
    if (result == MHD_YES) http_set_stage(http, c, HTTP_READS_ON);
    return result;
}
