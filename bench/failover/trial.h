/*
 * What the processes of a failover trial share. The driver ends leaders; candidates, one for each member, are small
 * programs over libelector that stamp what they see. All stamps are CLOCK_BOOTTIME, which processes of a host share.
 */
#ifndef ELECTOR_BENCH_TRIAL_H
#define ELECTOR_BENCH_TRIAL_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "common/cluster.h"

enum report_kind {
    REPORT_STANDS = 1,
    REPORT_ELECTED, /* at: when its descriptor became readable with the news */
    REPORT_ASKED,   /* at: when it began to resign, or to hand over */
    REPORT_FAILED,  /* the order could not be carried out; the candidate has said why */
};

/* One line of a candidate to the driver, written at once, so that lines stay whole. */
struct report {
    uint32_t kind, member;
    uint64_t token, at_ns;
};

/* One order of the driver to a candidate: 'c' campaign, 'r' resign, 't' hand over to a member. */
struct order {
    char what;
    char to[8];
};

/* candidate.c: never returns. Ends itself when its agent is gone, as an application does whose work must end then. */
_Noreturn void candidate_run(uint32_t member, const char *url, const char *group, int orders, int reports);

/* roundtrip.c: between two processes over loopback, one at a time, one each ms. */
void measure_round_trips(uint32_t count);
/* From kill -9 of a process to the end of its connection: what nobody can be faster than. */
void measure_deaths(uint32_t count);

/* floor.c: starts the shortest chain of processes for this kind of failover. The floor is measured at its end. */
enum floor_kind { FLOOR_NONE, FLOOR_WORKER, FLOOR_AGENT, FLOOR_AGENT_AND_WORK, FLOOR_ASKED };
struct floor;
struct floor *floor_begin(enum floor_kind);
uint64_t floor_end(struct floor *); /* in ns; frees it */

/* For table.awk: one line for each trial. */
static inline void print_sample(const char *system, const char *what, uint64_t ns)
{
    printf("%s %s %llu\n", system, what, (unsigned long long)ns);
    fflush(stdout);
}

#endif
