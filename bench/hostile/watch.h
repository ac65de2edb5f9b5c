/* While an attack goes on, the bench looks at more than leases: the agent's memory; whether HTTP answers; whether a member
 * that restarts gets in. */
#ifndef ELECTOR_BENCH_HOSTILE_WATCH_H
#define ELECTOR_BENCH_HOSTILE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/cluster.h"
#include "hostile/attacks.h"

bool watch_restarts(const char *attack); /* b is restarted again and again */
void watch_begin(struct cluster *, const struct victim *, const char *attack);
void watch_on(void);       /* a step; call it again and again */
void watch_end(FILE *out); /* writes `good` or `bad`, the memory that the agent took, and a sentence */

/* The answer to a GET, until the next call; "": none in time. */
const char *ask_http(const struct sockaddr_in *, const char *path, uint32_t timeout_ms);
double read_metric(const char *answer, const char *name); /* with the space that ends it; -1: it is not there */

#endif
