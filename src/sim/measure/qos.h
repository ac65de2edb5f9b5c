/*
 * The quality of service of a failure detector: how soon it notices a crash, how often and for how long it is
 * wrong about the living, and what that costs. Measured in simulated worlds, or on recorded arrivals.
 *
 * Reference: Chen, Toueg, Aguilera, On the quality of service of failure detectors, IEEE Transactions on
 * Computers 51(5), 2002. Their T_D, T_M, T_MR and P_A are means over a long time, and so they are here: T_MR is
 * the time watched for each mistake, T_M the time mistaken for each, hence P_A = 1 - T_M / T_MR exactly.
 */
#ifndef ELECTOR_SIM_MEASURE_QOS_H
#define ELECTOR_SIM_MEASURE_QOS_H

#include "sim/world/world.h"

/* What may be asked for, so that sums of nanoseconds fit into a word. */
enum { SIM_QOS_NODES_MAX = 64, SIM_QOS_RUNS_MAX = 1000, SIM_QOS_HOURS_MAX = 1000 };

/* Sums, from which the means follow. All that is zero has not been measured. */
struct sim_qos {
    /* One live peer, watched by one live member: summed over all such pairs. */
    sim_time watched;  /* for so long */
    sim_time mistaken; /* of which it was suspected */
    uint64_t mistakes; /* a suspicion that lasts at either end of the time watched counts as one */

    /* One crash, seen by one survivor: from the crash to the suspicion that is not taken back. */
    uint64_t noticed, unnoticed;
    sim_time detection_sum, detection_max;
    sim_time patience; /* so long at least was waited before a crash counted as unnoticed */

    uint64_t messages;  /* sent while nobody crashed ... */
    sim_time node_time; /* ... in so long, summed over all nodes */
};

/* Means; those in nanoseconds are 0 where there is nothing to divide by. */
sim_time sim_qos_detection(const struct sim_qos *qos);  /* T_D */
sim_time sim_qos_recurrence(const struct sim_qos *qos); /* T_MR */
sim_time sim_qos_duration(const struct sim_qos *qos);   /* T_M */
double sim_qos_mistakes_per_hour(const struct sim_qos *qos);
double sim_qos_accuracy(const struct sim_qos *qos); /* P_A */
double sim_qos_messages_per_second(const struct sim_qos *qos);

enum sim_measured {
    SIM_MEASURED,
    SIM_NO_MEMORY,
    SIM_TOO_MUCH, /* more would happen than one run may take, see event_max of a plan */
};

/* An election that never takes place: the host of detectors that are watched for their own sake. */
extern const struct el_algorithm sim_watcher;

/*
 * Runs the plan's detector: once for `watch`, without a crash, and `runs` times with one crash at a random moment
 * of a random node. All are left alone first, until they know each other's habits. The plan's own commands
 * (pauses) count in the first run only, which begins with them.
 */
enum sim_measured sim_qos_simulate(struct sim_qos *qos, const struct sim_plan *plan, sim_time watch,
                                   uint32_t runs);

/* ---- Recorded arrivals ---- */

/* When the heartbeats of one peer arrived, after the first of them. */
struct sim_arrivals {
    sim_time *times; /* strictly increasing; the first is 0 */
    size_t count;    /* at least two */
};

/*
 * One time to a line, in milliseconds with decimals, on whatever clock; # begins a comment. "-" is standard input.
 * 0, or -1 with the error filled in.
 */
int sim_arrivals_read(struct sim_arrivals *arrivals, const char *path, struct sim_error *error);
void sim_arrivals_free(struct sim_arrivals *arrivals);

/* Some detectors judge by arrivals alone; others need a conversation, which no recording can hold. */
bool sim_qos_can_replay(const struct el_algorithm *detector);

/*
 * The plan's detector watches that one peer, from the first arrival to the last, when it is held to have crashed.
 * The plan must be of two members. Messages are not counted.
 */
enum sim_measured sim_qos_replay(struct sim_qos *qos, const struct sim_plan *plan,
                                 const struct sim_arrivals *arrivals);

/* ---- The book that both keep ---- */

/* Who suspects whom, and since when. */
struct sim_book {
    struct sim_qos *qos;
    uint32_t count;
    sim_time from, until; /* mistakes count within these */
    sim_time *since;      /* [count * count], by who suspects, then whom; SIM_NEVER: trusted */
};

/* False if memory ran out. */
bool sim_book_open(struct sim_book *book, struct sim_qos *qos, uint32_t count, sim_time from, sim_time until);
/* A sim_listener; `whose` is the book. */
void sim_book_verdict(void *context, sim_time now, el_node node, el_node peer, bool suspected);
/* Mistakes that last are booked as far as they go. */
void sim_book_close(struct sim_book *book);
/* The peer had crashed at that time: does every survivor suspect it? And how long each took. */
bool sim_book_all_noticed(const struct sim_book *book, el_node peer);
void sim_book_crash(struct sim_book *book, el_node peer, el_node survivor, sim_time crashed);
void sim_book_free(struct sim_book *book);

#endif
