/* See metrics.h: how long the loop is busy between two waits, and how much of that is the agent's own doing. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <sys/resource.h>
#include <time.h>

#include "agent/metrics/metrics.h"
#include "base/clock.h"

static uint64_t processor_ns(void)
{
    struct timespec used = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
}

static long sleeps(void)
{
    struct rusage used = {0};
    (void)getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

void metrics_turn(struct metrics *metrics, uint64_t now_ns, uint64_t waited_ns)
{
    struct metrics_turns *turns = &metrics->turns;
    const struct metrics_turns before = *turns;
    turns->ended_ns = now_ns;
    turns->waited_ns = waited_ns;
    turns->processor_ns = processor_ns();
    turns->sleeps = sleeps();
    if (before.ended_ns == 0) return;
    const uint64_t waited = waited_ns - before.waited_ns, all = now_ns - before.ended_ns - waited;
    const bool has_slept = turns->sleeps - before.sleeps > (waited > 0); /* besides the wait itself */
    const uint64_t own = has_slept ? all : turns->processor_ns - before.processor_ns;
    metrics_observe(&turns->histogram, all);
    if (all > turns->longest_ns) turns->longest_ns = all;
    if (own > turns->longest_own_ns) turns->longest_own_ns = own;
}
