/* What the benches share: three agents on loopback, as processes, and the clock. */
#ifndef ELECTOR_BENCH_CLUSTER_H
#define ELECTOR_BENCH_CLUSTER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/clock.h"

enum { MEMBERS = 3, PIDS_MAX = 64 };

static inline void pause_us(uint64_t us)
{
    const struct timespec span = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&span, NULL);
}

/* Three agents that `elector init` has made files for, in FOLDER/a, b and c. */
struct cluster {
    const char *program, *folder;
    pid_t agents[MEMBERS];
};
extern const char *const member_names[MEMBERS];
void cluster_url(const struct cluster *, uint32_t member, char *url, size_t size);
void cluster_start(struct cluster *, uint32_t member); /* and waits until it answers; exits if it does not */
void cluster_kill(struct cluster *, uint32_t member);  /* kill -9 of the agent alone */
/* All processes of a member but its candidates: the agent, and whatever it has started. */
int cluster_processes(const struct cluster *, uint32_t member, pid_t pids[PIDS_MAX]);
void cluster_end(struct cluster *); /* nothing that it started is left */

#endif
