/*
 * What is counted, where it happens, on the agent's one thread. Plain numbers that only rise, unless it is said; whoever asks
 * is answered by metrics_write(), in Prometheus' text format. docs/http.md has what each of them means.
 */
#ifndef ELECTOR_AGENT_METRICS_METRICS_H
#define ELECTOR_AGENT_METRICS_METRICS_H

#include <stdio.h>

#include "agent/config/config.h"

enum { METRICS_BOUNDS = 19, METRICS_CODES = 6 };

/* One for all: from what a round trip on one host takes to what no failover should. */
extern const uint64_t metrics_bounds_ns[METRICS_BOUNDS];

struct metrics_histogram {
    uint64_t counts[METRICS_BOUNDS + 1]; /* up to each bound, and above the last */
    uint64_t sum_ns;
};

struct metrics_peer {
    uint64_t sent_bytes, received_bytes, unsent; /* whole datagrams */
    struct metrics_histogram round_trips;
};

struct metrics {
    const char *version;
    uint64_t started_ms; /* wall clock */
    struct metrics_peer peers[CONFIG_MEMBERS_MAX];
    struct metrics_histogram fsyncs, failovers;
    uint64_t leader_changes;
    uint32_t led, led_here; /* groups, now; these rise and fall */
    uint64_t answers[METRICS_CODES];
    uint64_t cut_off; /* HTTP clients that neither asked nor read */
};

/* What is not counted but asked for, when somebody wants to know. */
struct metrics_scene {
    const struct config *config;
    struct seal_stats seal;
    uint64_t heard_ns[CONFIG_MEMBERS_MAX]; /* ago; UINT64_MAX: never */
    bool is_connected[CONFIG_MEMBERS_MAX];
    uint32_t groups, unled_wanted; /* groups without a leader for which somebody stands here */
    uint32_t clients, event_readers;
};

void metrics_observe(struct metrics_histogram *, uint64_t ns);
/* Of an answer over HTTP; codes that are not in the table are not counted. */
void metrics_answered(struct metrics *, unsigned code);

/* All but what is told of each group. */
void metrics_write(const struct metrics *, const struct metrics_scene *, FILE *out);
/* The head of a family, of which lines follow. */
void metrics_write_head(FILE *out, const char *name, const char *type, const char *help);

#endif
