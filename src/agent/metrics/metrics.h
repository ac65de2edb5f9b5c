/*
 * The metrics room holds the agent's counters and writes them for Prometheus. It knows the configuration and the seal's statistics, and nothing of the rest of the
 * agent. Other rooms increment the counters of struct metrics where events happen, all on the agent's one
 * thread; agent/serve/http fills in struct metrics_gauges when somebody asks. prometheus.c writes both in
 * Prometheus' text format.
 *
 * A new counter needs a field of struct metrics, the code that increments it, its lines in prometheus.c, and its
 * meaning in docs/http.md. A new gauge needs a field of struct metrics_gauges, and its line in read_gauges() of
 * agent/serve/http/metrics.c. That file also writes the metrics of single groups, from struct leadership.
 */
#ifndef ELECTOR_AGENT_METRICS_METRICS_H
#define ELECTOR_AGENT_METRICS_METRICS_H

#include <stdio.h>

#include "agent/config/config.h"

enum { METRICS_BOUNDS = 19, METRICS_CODES = 6, METRICS_MINUTES = 60, METRICS_STEPS = 30 };

/* The bounds of all histograms: from a round trip on one host to a failover that is much too slow. */
extern const uint64_t metrics_bounds_ns[METRICS_BOUNDS];

struct metrics_histogram {
    uint64_t counts[METRICS_BOUNDS + 1]; /* up to each bound; the last: above all */
    uint64_t sum_ns;
};

/* How much later than asked the loop went on: it was not woken, or was busy. */
struct metrics_lateness {
    struct metrics_histogram histogram;
    uint64_t
        longest_ns[METRICS_MINUTES]; /* in each minute of the last hour; the minute modulo METRICS_MINUTES */
    uint64_t minute;                 /* the newest with a place there */
    uint64_t asked_ns;               /* when it is to go on next, or did; 0: not known yet */
    uint64_t still_ns, still_until;  /* the longest of the last 10 s, and when it ended */
};

/* How much later than a beat after the last one the leases of this member were renewed, in the last hour. A lease is kept if
 * that is less than what it has beyond a beat and its margin. A lease that was lost counts as renewed a lease late, or more. */
struct metrics_renewals {
    uint32_t counts[METRICS_MINUTES][METRICS_STEPS]; /* up to metrics_step_ns() each; the last: above all */
    uint64_t longest_ns[METRICS_MINUTES];
    uint32_t lost[METRICS_MINUTES]; /* of those in counts: leases that were lost */
    uint64_t minute;                /* the newest with a place there */
};

/* Turns of the loop, each from the end of one wait to the next. The last four fields are as the last turn left them. */
struct metrics_turns {
    struct metrics_histogram histogram;
    uint64_t longest_ns; /* also while others had the processor */
    uint64_t
        longest_own_ns; /* only while the agent computed. A turn in which it slept, in a call that blocks, counts whole */
    uint64_t ended_ns, waited_ns, processor_ns;
    long sleeps;
};

struct metrics_peer {
    uint64_t sent_bytes, received_bytes, unsent; /* of whole datagrams */
    uint64_t refused; /* messages of quorum that it may not send (algorithms/quorum/speakers.h) */
    struct metrics_histogram round_trips;
};

struct metrics {
    const char *version;
    uint64_t started_ms; /* wall clock */
    struct metrics_peer peers[CONFIG_MEMBERS_MAX];
    struct metrics_histogram fsyncs, failovers;
    uint64_t writes_since_ns; /* CLOCK_BOOTTIME when the write of the state file under way began; 0: none is */
    uint64_t leader_changes;
    uint32_t led, led_here; /* gauges: groups with a known leader, and groups that this member leads */
    uint64_t answers[METRICS_CODES];
    uint64_t cut_off; /* HTTP connections closed because of a timeout */
    struct metrics_turns turns;
    struct metrics_lateness lateness;
    struct metrics_renewals renewals;
};

/* Values that are not counted, but read when somebody asks. */
struct metrics_gauges {
    const struct config *config;
    struct seal_stats seal;
    uint64_t heard_ns[CONFIG_MEMBERS_MAX]; /* how long ago; UINT64_MAX: never */
    bool is_connected[CONFIG_MEMBERS_MAX];
    bool differs[CONFIG_MEMBERS_MAX]; /* other settings, or another list of members */
    uint32_t groups, unled_wanted;    /* unled_wanted: groups with a candidate here, but without a leader */
    uint32_t clients, event_readers;
    uint64_t writing_ns;          /* how long the write of the state file under way has taken */
    uint64_t longest_lateness_ns; /* in the last hour */
};

void metrics_observe(struct metrics_histogram *, uint64_t ns);
/* The bound below which half of what was observed is, or the last bound. 0: fewer than `least` were observed. */
uint64_t metrics_median_ns(const struct metrics_histogram *, uint64_t least);
/* A turn ends now: call it in the loop's thread before each wait. `waited`: how long the loop has waited since it began. */
void metrics_turn(struct metrics *, uint64_t now_ns, uint64_t waited_ns);
/* The loop went on at `now`, and had asked to at `asked`. Neither allocates nor waits. */
void metrics_woke(struct metrics_lateness *, uint64_t now, uint64_t asked);
/* A lease was renewed, so much too late. Neither allocates nor waits. */
void metrics_renewed(struct metrics_renewals *, uint64_t now, uint64_t late_ns);
/* A lease was lost: it counts as renewed so late. */
void metrics_lost(struct metrics_renewals *, uint64_t now, uint64_t late_ns);
/* The upper end of a step: 0.25 ms, then half as much again and a third more by turns, up to 4.1 s. The last has none: UINT64_MAX. */
uint64_t metrics_step_ns(uint32_t step);
/* Adds up the 60 minutes that end with this one; returns the longest. */
uint64_t metrics_renewals_of_hour(const struct metrics_renewals *, uint64_t now,
                                  uint64_t counts[METRICS_STEPS]);
uint64_t metrics_lost_in_hour(const struct metrics_renewals *, uint64_t now);
/* For how long the loop stood still, if it went on at `since` or later, or is about to; 0: it did not. */
uint64_t metrics_stood_still_ns(const struct metrics_lateness *, uint64_t now, uint64_t since);
/* The most in the 60 minutes that end with this one. */
uint64_t metrics_longest_lateness_ns(const struct metrics_lateness *, uint64_t now);
/* Counts an HTTP answer; codes that are not in the table are ignored. */
void metrics_answered(struct metrics *, unsigned code);

/* Writes all metrics except those of single groups (agent/serve/http/metrics.c). */
void metrics_write(const struct metrics *, const struct metrics_gauges *, FILE *out);
/* Writes the HELP and TYPE lines of a metric. */
void metrics_write_head(FILE *out, const char *name, const char *type, const char *help);

#endif
