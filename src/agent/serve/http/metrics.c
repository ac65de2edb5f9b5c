/* /metrics: reads the gauges, and writes all metrics. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>

#include "agent/serve/http/internal.h"

enum { GROUPS_AT_ONCE = 64 };

static void read_gauges(const struct http *http, struct metrics_gauges *gauges)
{
    const struct http_setup *with = &http->with;
    const struct leaderships *leaderships = &with->serve->leaderships;
    gauges->config = with->config;
    gauges->groups = leaderships_used(leaderships);
    gauges->unled_wanted = leaderships->waiting;
    gauges->clients = with->serve->connection_count;
    gauges->event_readers = http->reader_count;
    const uint64_t since = with->metrics->writes_since_ns, now = host_clock(with->host);
    gauges->writing_ns = since && now > since ? now - since : 0;
    gauges->longest_lateness_ns = metrics_longest_lateness_ns(&with->metrics->lateness, now);
    for (el_node peer = 1; peer <= with->config->member_count; peer++) {
        gauges->heard_ns[peer - 1] = serve_heard(with->serve, peer);
        gauges->differs[peer - 1] = serve_differs(with->serve, peer);
        gauges->is_connected[peer - 1] =
            with->seal && peer != with->config->self && seal_is_connected(with->seal, peer);
    }
    if (with->seal) gauges->seal = seal_stats_of(with->seal);
}

/* ---- Groups ---- */

static uint64_t has_leader(const struct http *http, const struct leadership *o)
{
    (void)http;
    return o->seen_leader != EL_NOBODY;
}

static uint64_t is_leader(const struct http *http, const struct leadership *o)
{
    return o->seen_leader == http->with.config->self;
}

static uint64_t token(const struct http *http, const struct leadership *o)
{
    (void)http;
    return o->seen_token;
}

static uint64_t candidates(const struct http *http, const struct leadership *o)
{
    (void)http;
    return o->candidate_count;
}

static uint32_t count_secret(const struct http *http)
{
    const struct leaderships *leaderships = &http->with.serve->leaderships;
    uint32_t count = 0;
    for (uint32_t i = 0; http->with.config->restricts_reading && i < leaderships->count; i++)
        count += !leadership_is_free(leadership_at(leaderships, i)) &&
                 !http_may_tell(http, leadership_at(leaderships, i));
    return count;
}

/* One line per group and metric, unless there are more than `http-groups`: each would be a time series. */
static const struct {
    const char *name, *help;
    uint64_t (*value)(const struct http *, const struct leadership *);
} families[] = {
    {"elector_group_has_leader", "Whether this agent knows a leader of the group.", has_leader},
    {"elector_group_is_leader", "Whether this member leads the group.", is_leader},
    {"elector_group_token", "The token of the group's leader; 0: no leader.", token},
    {"elector_group_candidates", "Candidates for the group at this agent.", candidates},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* An answer that is being written: first all that is no group's, then family after family. */
struct scrape {
    struct http *http;
    struct MHD_Connection *connection;
    bool has_begun;
    size_t family;
    uint32_t next;  /* number of a leadership */
    uint32_t count; /* of places to look at, when it began; 0: none */
    struct http_text text;
};

static void write_first(struct scrape *s, FILE *out)
{
    struct metrics_gauges gauges = {0};
    const struct leaderships *all = &s->http->with.serve->leaderships;
    const uint32_t groups = leaderships_used(all);
    const bool lists = groups <= s->http->with.config->http_groups;
    s->has_begun = true;
    s->count = lists ? all->count : 0;
    read_gauges(s->http, &gauges);
    metrics_write(s->http->with.metrics, &gauges, out);
    metrics_write_head(out, "elector_groups_not_listed", "gauge",
                       "Groups without metrics of their own; see http-groups and allow-read.");
    fprintf(out, "elector_groups_not_listed %u\n", lists ? count_secret(s->http) : groups);
}

static void write_some_groups(struct scrape *s, FILE *out)
{
    const struct leaderships *leaderships = &s->http->with.serve->leaderships;
    const uint32_t end = s->count - s->next > GROUPS_AT_ONCE ? s->next + GROUPS_AT_ONCE : s->count;
    if (s->next == 0) metrics_write_head(out, families[s->family].name, "gauge", families[s->family].help);
    for (; s->next < end; s->next++) {
        const struct leadership *o = leadership_at(leaderships, s->next);
        if (leadership_is_free(o) || !http_may_tell(s->http, o)) continue;
        fprintf(out, "%s{group=\"%s\"} %" PRIu64 "\n", families[s->family].name, host_name(o->group),
                families[s->family].value(s->http, o));
    }
    if (s->next < s->count) return;
    s->next = 0;
    s->family++;
}

static bool is_done(const struct scrape *s)
{
    return s->has_begun && (s->count == 0 || s->family == FAMILIES);
}

/* False: out of memory. It may be empty, if all these groups are secret. */
static bool make_text(struct scrape *s)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (!out) return false;
    if (s->has_begun)
        write_some_groups(s, out);
    else
        write_first(s, out);
    const bool is_written = fclose(out) == 0;
    if (is_written && size > 0)
        s->text = (struct http_text){.bytes = bytes, .size = size};
    else
        free(bytes);
    return is_written;
}

static ssize_t pour(void *context, uint64_t at, char *to, size_t room)
{
    struct scrape *s = context;
    size_t used = 0;
    (void)at;
    while (used < room && (s->text.size > 0 || !is_done(s))) {
        if (s->text.size == 0 && !http_may_go_on(s->http, s->connection, used)) return (ssize_t)used;
        if (s->text.size == 0 && !make_text(s)) return MHD_CONTENT_READER_END_WITH_ERROR;
        used += http_pour(&s->text, to + used, room - used);
    }
    return used ? (ssize_t)used : MHD_CONTENT_READER_END_OF_STREAM;
}

static void end(void *context)
{
    struct scrape *s = context;
    free(s->text.bytes);
    free(s);
}

enum MHD_Result http_metrics(struct http *http, struct MHD_Connection *c)
{
    struct scrape *s = calloc(1, sizeof *s);
    struct MHD_Response *response = NULL;
    if (s) *s = (struct scrape){.http = http, .connection = c};
    if (s && make_text(s)) /* before this answer is counted */
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, HTTP_PIECE, pour, s, end);
    if (s && !response) end(s);
    return http_answer(http, c, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", response);
}
