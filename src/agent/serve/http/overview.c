/* /overview: what the live page shows beside groups. Its size and its cost depend on the numbers of members
 * and of sections of the configuration alone. */
#define _GNU_SOURCE
#include "agent/serve/http/internal.h"
#include "base/clock.h"

static json_t *describe_histogram(const struct metrics_histogram *histogram)
{
    json_t *bounds = json_array(), *counts = json_array();
    for (uint32_t i = 0; bounds && i < METRICS_BOUNDS; i++)
        json_array_append_new(bounds, json_integer((json_int_t)(metrics_bounds_ns[i] / NS_PER_US)));
    for (uint32_t i = 0; counts && i <= METRICS_BOUNDS; i++)
        json_array_append_new(counts, json_integer((json_int_t)histogram->counts[i]));
    return json_pack("{so so sI}", "bounds_us", bounds, "counts", counts, "sum_us",
                     (json_int_t)(histogram->sum_ns / NS_PER_US));
}

/* The first round trip to a peer may include the handshake: a beat that was lost, and the wait for the next. */
enum { ROUND_TRIPS_LEAST = 8 };

static json_t *median_us(const struct metrics_histogram *histogram)
{
    const uint64_t median = metrics_median_ns(histogram, ROUND_TRIPS_LEAST);
    return median ? json_integer((json_int_t)(median / NS_PER_US)) : json_null();
}

/* The names of the members whom this peer says that it hears; NULL: it has not said. */
static json_t *describe_hears(const struct http_setup *with, el_node peer)
{
    uint64_t hears;
    if (!with->serve->exchange || !exchange_hears(with->serve->exchange, peer, &hears)) return NULL;
    json_t *names = json_array();
    for (el_node member = 1; member <= with->config->member_count && member <= 64; member++)
        if (hears >> (member - 1) & 1)
            json_array_append_new(names, serve_text(with->config->members[member - 1].name));
    return names;
}

/* Adds what only HTTP knows of each peer. */
static void add_peers(const struct http *http, const json_t *members)
{
    const struct http_setup *with = &http->with;
    for (el_node peer = 1; peer <= with->config->member_count; peer++) {
        json_t *member = json_array_get(members, peer - 1);
        if (!member || peer == with->config->self) continue;
        const bool is_connected = with->seal && seal_is_connected(with->seal, peer);
        json_object_set_new(member, "connected", json_boolean(is_connected));
        json_object_set_new(member, "round_trip_us", median_us(&with->metrics->peers[peer - 1].round_trips));
        json_t *hears = describe_hears(with, peer);
        if (hears) json_object_set_new(member, "hears", hears);
    }
}

static json_t *describe_dropped(const struct http *http)
{
    const struct seal_stats stats = http->with.seal ? seal_stats_of(http->with.seal) : (struct seal_stats){0};
    return json_pack("{sI sI sI sI sI}", "stranger", (json_int_t)stats.strangers, "forged",
                     (json_int_t)stats.forged, "replayed", (json_int_t)stats.replayed, "malformed",
                     (json_int_t)stats.malformed, "rate_limited", (json_int_t)stats.rate_limited);
}

/* NULL: there are none, or several, or only some may know. */
static json_t *describe_waiting_group(const struct http *http)
{
    const struct leaderships *all = &http->with.serve->leaderships;
    if (all->waiting != 1) return NULL;
    const struct leadership *o = leadership_at(all, all->waiting_numbers);
    return http_may_tell(http, o) ? json_string(host_name(o->group)) : NULL;
}

static json_t *describe_groups(const struct http *http)
{
    const struct http_setup *with = &http->with;
    const struct leaderships *all = &with->serve->leaderships;
    return json_pack("{sI sI sI sI so*}", "count", (json_int_t)leaderships_used(all), "led",
                     (json_int_t)with->metrics->led, "led_here", (json_int_t)with->metrics->led_here, "waiting",
                     (json_int_t)all->waiting, "waiting_group", describe_waiting_group(http));
}

/* NULL: not known, or there is no lease. */
static json_t *describe_stall(const struct http_setup *with)
{
    const uint64_t stall_ns = with->stall_ns ? with->stall_ns(with->config) : UINT64_MAX;
    return stall_ns == UINT64_MAX ? NULL : json_integer((json_int_t)(stall_ns / NS_PER_US));
}

/* Only for clients of this host: another has no use for them. */
static void add_paths(const struct http *http, json_t *line)
{
    json_object_set_new(line, "socket", serve_text(http->with.config->socket));
    if (http->config_path) json_object_set_new(line, "config", serve_text(http->config_path));
}

json_t *http_describe(struct http *http)
{
    const struct http_setup *with = &http->with;
    const struct metrics *metrics = with->metrics;
    const uint64_t since = metrics->writes_since_ns, now = host_clock(with->host);
    const char *unhealthy = host_has_failed(with->host) ? "disk" : http->unhealthy;
    json_t *line = serve_begin_status(with->serve);
    if (!line) return NULL;
    add_peers(http, json_object_get(line, "members"));
    json_t *more =
        json_pack("{ss sI sI so sI so so sI so* so*}", "version", metrics->version, "now_ms",
                  (json_int_t)(clock_wall_ns() / NS_PER_MS), "started_ms", (json_int_t)metrics->started_ms,
                  "groups", describe_groups(http), "leader_changes", (json_int_t)metrics->leader_changes,
                  "failovers", describe_histogram(&metrics->failovers), "dropped", describe_dropped(http),
                  "writing_ms", (json_int_t)(since && now > since ? (now - since) / NS_PER_MS : 0), "unhealthy",
                  unhealthy ? json_string(unhealthy) : NULL, "stall_us", describe_stall(with));
    if (more) json_object_update(line, more);
    json_decref(more);
    if (http->is_local) add_paths(http, line);
    return line;
}
