/*
 * The quality of service of a failure detector: how soon it reports a crash, how often and for how long it
 * suspects live members, and how many messages it needs. Measured in simulated worlds, or on recorded
 * arrivals.
 *
 * Reference: Chen, Toueg, Aguilera, On the quality of service of failure detectors, IEEE Transactions on
 * Computers 51(5), 2002. T_D, T_M, T_MR and P_A are means over a long time, as in the paper: T_MR is the time
 * watched per mistake, T_M the duration of a mistake, hence P_A = 1 - T_M / T_MR exactly.
 */
#ifndef ELECTOR_SIM_MEASURE_QOS_H
#define ELECTOR_SIM_MEASURE_QOS_H

#include "sim/world/world.h"

/* Limits that keep sums of nanoseconds within a word. */
enum { SIM_QOS_NODES_MAX = 64, SIM_QOS_RUNS_MAX = 1000, SIM_QOS_HOURS_MAX = 1000 };

/* Sums, from which the means follow. A sum of 0 has not been measured. */
struct sim_qos {
    /* One live peer, watched by one live member: summed over all such pairs. */
    sim_time watched;  /* total time */
    sim_time mistaken; /* the part of it with a suspicion */
    uint64_t mistakes; /* number of suspicions, also of those that overlap either end of the time watched */

    /* One crash, seen by one survivor: from the crash to the suspicion that is not withdrawn. */
    uint64_t noticed, unnoticed;
    sim_time detection_sum, detection_max;
    sim_time patience; /* the shortest wait after which a crash counted as unnoticed */

    uint64_t messages;  /* sent in the run without crashes ... */
    sim_time node_time; /* ... and its duration, summed over all nodes */
};

/* Means; those in nanoseconds are 0 if the divisor is 0. */
sim_time sim_qos_detection(const struct sim_qos *qos);  /* T_D */
sim_time sim_qos_recurrence(const struct sim_qos *qos); /* T_MR */
sim_time sim_qos_duration(const struct sim_qos *qos);   /* T_M */
double sim_qos_mistakes_per_hour(const struct sim_qos *qos);
double sim_qos_accuracy(const struct sim_qos *qos); /* P_A */
double sim_qos_messages_per_second(const struct sim_qos *qos);

enum sim_measured {
    SIM_MEASURED,
    SIM_NO_MEMORY,
    SIM_TOO_MUCH, /* a run would exceed the plan's event_max */
};

/* An algorithm without an election, for runs that only measure a detector. */
extern const struct el_algorithm sim_watcher;

/*
 * Runs the plan's detector: once for `watch` without a crash, and `runs` times with one crash of a random
 * node at a random time. Each run has a warm-up, in which detectors learn the intervals. The plan's own
 * commands (pauses) apply to the first run only.
 */
enum sim_measured sim_qos_simulate(struct sim_qos *qos, const struct sim_plan *plan, sim_time watch,
                                   uint32_t runs);

/* ---- Recorded arrivals ---- */

/* Arrival times of one peer's heartbeats, relative to the first. */
struct sim_arrivals {
    sim_time *times; /* strictly increasing; the first is 0 */
    size_t count;    /* at least two */
};

/*
 * Reads one time a line, in milliseconds with decimals, on any clock; # begins a comment. "-" is standard
 * input. Returns 0, or -1 with the error filled in.
 */
int sim_arrivals_read(struct sim_arrivals *arrivals, const char *path, struct sim_error *error);
void sim_arrivals_free(struct sim_arrivals *arrivals);

/* True if the detector judges by arrivals alone. Detectors that exchange messages cannot be replayed. */
bool sim_qos_can_replay(const struct el_algorithm *detector);

/*
 * The plan's detector watches that one peer from the first arrival to the last, at which the peer counts as
 * crashed. The plan must have two members. Messages are not counted.
 */
enum sim_measured sim_qos_replay(struct sim_qos *qos, const struct sim_plan *plan,
                                 const struct sim_arrivals *arrivals);

/* ---- The tally, used by simulation and replay ---- */

/* Current suspicions and when they began. */
struct sim_tally {
    struct sim_qos *qos;
    uint32_t count;
    sim_time from, until; /* mistakes count between these times */
    sim_time *since;      /* [count * count], by suspecting node, then by suspect; SIM_NEVER: trusted */
};

/* False if memory ran out. */
bool sim_tally_open(struct sim_tally *tally, struct sim_qos *qos, uint32_t count, sim_time from,
                    sim_time until);
/* A sim_listener; `context` is the tally. */
void sim_tally_verdict(void *context, sim_time now, el_node node, el_node peer, bool suspected);
/* Counts mistakes that still last, up to the end of the time watched. */
void sim_tally_close(struct sim_tally *tally);
/* After a crash of the peer: true if every survivor suspects it. Then, how long each survivor took. */
bool sim_tally_all_noticed(const struct sim_tally *tally, el_node peer);
void sim_tally_crash(struct sim_tally *tally, el_node peer, el_node survivor, sim_time crashed);
void sim_tally_free(struct sim_tally *tally);

#endif
