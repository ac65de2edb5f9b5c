/* /metrics: reads the gauges, and writes all metrics. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>

#include "agent/serve/http/internal.h"

static uint32_t count_waiting(const struct leaderships *leaderships)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < leaderships->count; i++)
        count += leadership_at(leaderships, i)->seen_leader == EL_NOBODY &&
                 leadership_at(leaderships, i)->candidate_count > 0;
    return count;
}

static void read_gauges(const struct http *http, struct metrics_gauges *gauges)
{
    const struct http_setup *with = &http->with;
    const struct leaderships *leaderships = &with->serve->leaderships;
    gauges->config = with->config;
    gauges->groups = leaderships->count;
    /* Usually all groups have a leader; then 100,000 leaderships need not be searched. */
    gauges->unled_wanted = with->metrics->led < leaderships->count ? count_waiting(leaderships) : 0;
    gauges->clients = with->serve->connection_count;
    gauges->event_readers = http->reader_count;
    const uint64_t since = with->metrics->writes_since_ns, now = host_clock(with->host);
    gauges->writing_ns = since && now > since ? now - since : 0;
    for (el_node peer = 1; peer <= with->config->member_count; peer++) {
        gauges->heard_ns[peer - 1] = host_heard(with->host, peer);
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
        count += !http_may_tell(http, leadership_at(leaderships, i));
    return count;
}

/* One line per group and metric, unless there are more than `http-groups`: each would be a time series. */
static void write_groups(const struct http *http, FILE *out)
{
    static const struct {
        const char *name, *help;
        uint64_t (*value)(const struct http *, const struct leadership *);
    } families[] = {
        {"elector_group_has_leader", "Whether this agent knows a leader of the group.", has_leader},
        {"elector_group_is_leader", "Whether this member leads the group.", is_leader},
        {"elector_group_token", "The token of the group's leader; 0: no leader.", token},
        {"elector_group_candidates", "Candidates for the group at this agent.", candidates},
    };
    const struct leaderships *leaderships = &http->with.serve->leaderships;
    const bool lists = leaderships->count <= http->with.config->http_groups;
    metrics_write_head(out, "elector_groups_not_listed", "gauge",
                       "Groups without metrics of their own; see http-groups and allow-read.");
    fprintf(out, "elector_groups_not_listed %u\n", lists ? count_secret(http) : leaderships->count);
    for (size_t k = 0; lists && leaderships->count > 0 && k < sizeof families / sizeof *families; k++) {
        metrics_write_head(out, families[k].name, "gauge", families[k].help);
        for (uint32_t i = 0; i < leaderships->count; i++) {
            const struct leadership *o = leadership_at(leaderships, i);
            if (!http_may_tell(http, o)) continue;
            fprintf(out, "%s{group=\"%s\"} %" PRIu64 "\n", families[k].name, host_name(o->group),
                    families[k].value(http, o));
        }
    }
}

enum MHD_Result http_metrics(struct http *http, struct MHD_Connection *c)
{
    struct metrics_gauges gauges = {0};
    char *bytes = NULL;
    size_t size = 0;
    struct MHD_Response *response = NULL;
    FILE *out = open_memstream(&bytes, &size);
    if (out) {
        read_gauges(http, &gauges);
        metrics_write(http->with.metrics, &gauges, out);
        write_groups(http, out);
        if (fclose(out) == 0) response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
        if (!response) free(bytes);
    }
    return http_answer(http, c, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", response);
}
