/* Writes Prometheus' text format, version 0.0.4. Names of members and clusters need no escaping
 * (base/group_name.h). */
#define _GNU_SOURCE
#include <inttypes.h>

#include "agent/metrics/metrics.h"
#include "base/clock.h"

static const unsigned codes[METRICS_CODES] = {200, 400, 403, 404, 405, 503};

void metrics_answered(struct metrics *metrics, unsigned code)
{
    for (uint32_t i = 0; i < METRICS_CODES; i++)
        if (codes[i] == code) metrics->answers[i]++;
}

void metrics_write_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
    metrics_write_head(out, name, "gauge", help);
    fprintf(out, "%s %" PRIu64 "\n", name, value);
}

static void write_counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    metrics_write_head(out, name, "counter", help);
    fprintf(out, "%s %" PRIu64 "\n", name, value);
}

/* Writes the exact decimal, without trailing zeros. */
static void write_seconds(FILE *out, uint64_t ns)
{
    uint64_t rest = ns % NS_PER_S;
    int digits = 9;
    fprintf(out, "%" PRIu64, ns / NS_PER_S);
    if (rest == 0) return;
    for (; rest % 10 == 0; rest /= 10) digits--;
    fprintf(out, ".%0*" PRIu64, digits, rest);
}

/* `label` may be "". */
static void write_histogram(FILE *out, const char *name, const char *label,
                            const struct metrics_histogram *histogram)
{
    const char *comma = *label ? "," : "", *open = *label ? "{" : "", *close = *label ? "}" : "";
    uint64_t count = 0;
    for (uint32_t i = 0; i < METRICS_BOUNDS; i++) {
        count += histogram->counts[i];
        fprintf(out, "%s_bucket{%s%sle=\"", name, label, comma);
        write_seconds(out, metrics_bounds_ns[i]);
        fprintf(out, "\"} %" PRIu64 "\n", count);
    }
    count += histogram->counts[METRICS_BOUNDS];
    fprintf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, label, comma, count);
    fprintf(out, "%s_sum%s%s%s ", name, open, label, close);
    write_seconds(out, histogram->sum_ns);
    fprintf(out, "\n%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, count);
}

/* ---- Peers ---- */

struct peer {
    const struct metrics_peer *counted;
    uint64_t heard_ns;
    bool is_connected, differs;
};

static void write_sent(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    fprintf(out, "%s{%s} %" PRIu64 "\n", name, label, peer->counted->sent_bytes);
}

static void write_received(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    fprintf(out, "%s{%s} %" PRIu64 "\n", name, label, peer->counted->received_bytes);
}

static void write_unsent(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    fprintf(out, "%s{%s} %" PRIu64 "\n", name, label, peer->counted->unsent);
}

static void write_refused(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    fprintf(out, "%s{%s} %" PRIu64 "\n", name, label, peer->counted->refused);
}

static void write_round_trips(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    write_histogram(out, name, label, &peer->counted->round_trips);
}

static void write_connected(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    fprintf(out, "%s{%s} %d\n", name, label, peer->is_connected);
}

static void write_differs(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    fprintf(out, "%s{%s} %d\n", name, label, peer->differs);
}

/* A member that was never heard has no line. */
static void write_silence(FILE *out, const char *name, const char *label, const struct peer *peer)
{
    if (peer->heard_ns == UINT64_MAX) return;
    fprintf(out, "%s{%s} ", name, label);
    write_seconds(out, peer->heard_ns);
    fputc('\n', out);
}

static const struct {
    const char *name, *type, *label, *help;
    void (*write)(FILE *out, const char *name, const char *label, const struct peer *);
} families[] = {
    {"elector_network_peer_sent_bytes_total", "counter", "to", "Bytes of datagrams sent to a member.",
     write_sent},
    {"elector_network_peer_received_bytes_total", "counter", "from",
     "Bytes of authentic datagrams with a payload, from a member.", write_received},
    {"elector_network_peer_sent_failures_total", "counter", "to",
     "Datagrams to a member that this host refused to send.", write_unsent},
    {"elector_network_peer_refused_messages_total", "counter", "from",
     "Messages of a member that it may not send, or with a term that no clock has reached.", write_refused},
    {"elector_network_peer_round_trip_time_seconds", "histogram", "to",
     "Time from asking a member for a promise to its answer.", write_round_trips},
    {"elector_network_peer_connected", "gauge", "to", "Whether there is a sealed channel with a member.",
     write_connected},
    {"elector_network_peer_silence_seconds", "gauge", "from", "How long ago a member was last heard.",
     write_silence},
    {"elector_network_peer_differs", "gauge", "from",
     "Whether a member has other settings or another list of members, so that it does not count.",
     write_differs},
};

static void write_peers(const struct metrics *metrics, const struct metrics_gauges *gauges, FILE *out)
{
    const struct config *config = gauges->config;
    if (config->member_count == 1) return;
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        metrics_write_head(out, families[k].name, families[k].type, families[k].help);
        for (uint32_t i = 0; i < config->member_count; i++) {
            const struct peer peer = {&metrics->peers[i], gauges->heard_ns[i], gauges->is_connected[i],
                                      gauges->differs[i]};
            char label[CONFIG_NAME_MAX + 16];
            if (i + 1 == config->self) continue;
            snprintf(label, sizeof label, "%s=\"%s\"", families[k].label, config->members[i].name);
            families[k].write(out, families[k].name, label, &peer);
        }
    }
}

/* ---- The rest ---- */

static void write_server(const struct metrics *metrics, const struct metrics_gauges *gauges, FILE *out)
{
    const struct config *config = gauges->config;
    metrics_write_head(out, "elector_build_info", "gauge", "The version of this agent.");
    fprintf(out, "elector_build_info{version=\"%s\"} 1\n", metrics->version);
    metrics_write_head(out, "elector_member_info", "gauge", "The cluster and the member of this agent.");
    fprintf(out, "elector_member_info{cluster=\"%s\",member=\"%s\"} 1\n", config->cluster,
            config->members[config->self - 1].name);
    write_gauge(out, "elector_server_has_leader", "1 unless a group with a candidate here has no leader.",
                gauges->unled_wanted == 0);
    write_gauge(out, "elector_server_is_leader", "Whether this member leads any group.", metrics->led_here > 0);
    write_counter(out, "elector_server_leader_changes_seen_total", "New leaders, and leaders in a new term.",
                  metrics->leader_changes);
    write_gauge(out, "elector_groups", "Groups known to this agent.", gauges->groups);
    write_gauge(out, "elector_groups_led", "Groups whose leader is known to this agent.", metrics->led);
    write_gauge(out, "elector_groups_waiting", "Groups with a candidate here, but without a leader.",
                gauges->unled_wanted);
    write_gauge(out, "elector_offices_held", "Groups that this member leads.", metrics->led_here);
    write_gauge(out, "elector_client_sessions", "Clients connected to the agent's socket.", gauges->clients);
    metrics_write_head(out, "elector_failover_seconds", "histogram",
                       "From the loss of a leader to the next one, as seen here.");
    write_histogram(out, "elector_failover_seconds", "", &metrics->failovers);
    metrics_write_head(out, "elector_disk_record_fsync_duration_seconds", "histogram",
                       "Duration of writing and syncing the state file.");
    write_histogram(out, "elector_disk_record_fsync_duration_seconds", "", &metrics->fsyncs);
    metrics_write_head(out, "elector_disk_record_waiting_seconds", "gauge",
                       "How long the write of the state file that is under way has taken; 0: none is.");
    fputs("elector_disk_record_waiting_seconds ", out);
    write_seconds(out, gauges->writing_ns);
    fputc('\n', out);
    metrics_write_head(out, "elector_loop_turn_seconds", "histogram",
                       "How long the agent was busy between two waits.");
    write_histogram(out, "elector_loop_turn_seconds", "", &metrics->turns.histogram);
    metrics_write_head(out, "elector_loop_turn_longest_seconds", "gauge",
                       "The longest of these turns since the start.");
    fputs("elector_loop_turn_longest_seconds ", out);
    write_seconds(out, metrics->turns.longest_ns);
    fputs("\n", out);
    metrics_write_head(out, "elector_loop_turn_longest_own_seconds", "gauge",
                       "The longest, without the time in which other processes had the processor.");
    fputs("elector_loop_turn_longest_own_seconds ", out);
    write_seconds(out, metrics->turns.longest_own_ns);
    fputc('\n', out);
    metrics_write_head(out, "elector_loop_late_seconds", "histogram",
                       "How much later than asked the agent's loop went on.");
    write_histogram(out, "elector_loop_late_seconds", "", &metrics->lateness.histogram);
    metrics_write_head(out, "elector_loop_late_longest_seconds", "gauge", "The most in the last hour.");
    fputs("elector_loop_late_longest_seconds ", out);
    write_seconds(out, gauges->longest_lateness_ns);
    fputc('\n', out);
}

static void write_network(const struct seal_stats *seal, FILE *out)
{
    const struct {
        const char *reason;
        uint64_t count;
    } drops[] = {{"forged", seal->forged},
                 {"malformed", seal->malformed},
                 {"rate_limited", seal->rate_limited},
                 {"replayed", seal->replayed},
                 {"stranger", seal->strangers}};
    write_counter(out, "elector_network_datagrams_sent_total", "Datagrams with a payload that were sent.",
                  seal->sent);
    write_counter(out, "elector_network_datagrams_received_total",
                  "Authentic datagrams with a payload that were received.", seal->received);
    write_counter(out, "elector_network_handshakes_total", "Handshakes completed.", seal->handshakes);
    metrics_write_head(out, "elector_network_datagrams_dropped_total", "counter",
                       "Datagrams that were dropped, by reason.");
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++)
        fprintf(out, "elector_network_datagrams_dropped_total{reason=\"%s\"} %" PRIu64 "\n", drops[i].reason,
                drops[i].count);
}

static void write_http(const struct metrics *metrics, const struct metrics_gauges *gauges, FILE *out)
{
    metrics_write_head(out, "elector_http_requests_total", "counter", "HTTP answers by status code.");
    for (uint32_t i = 0; i < METRICS_CODES; i++)
        fprintf(out, "elector_http_requests_total{code=\"%u\"} %" PRIu64 "\n", codes[i], metrics->answers[i]);
    write_counter(out, "elector_http_cut_off_total", "HTTP connections closed because of a timeout.",
                  metrics->cut_off);
    write_gauge(out, "elector_http_event_readers", "Readers of /events.", gauges->event_readers);
}

static void write_process(const struct metrics *metrics, FILE *out)
{
    metrics_write_head(out, "process_start_time_seconds", "gauge",
                       "When this agent was started, in seconds since 1970.");
    fprintf(out, "process_start_time_seconds ");
    write_seconds(out, metrics->started_ms * NS_PER_MS);
    fputc('\n', out);
    metrics_write_head(out, "process_cpu_seconds_total", "counter", "Processor time that this agent has used.");
    fprintf(out, "process_cpu_seconds_total ");
    write_seconds(out, clock_cpu_ns());
    fputc('\n', out);
}

void metrics_write(const struct metrics *metrics, const struct metrics_gauges *gauges, FILE *out)
{
    write_server(metrics, gauges, out);
    write_peers(metrics, gauges, out);
    write_network(&gauges->seal, out);
    write_http(metrics, gauges, out);
    write_process(metrics, out);
}
