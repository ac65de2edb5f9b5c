#define _GNU_SOURCE
#include "base/clock.h"

#include <sys/timerfd.h>
#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_boottime_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

uint64_t clock_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_arm(int timerfd, uint64_t at_ns)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at_ns / NS_PER_S), .tv_nsec = (long)(at_ns % NS_PER_S)}};
    (void)timerfd_settime(timerfd, TFD_TIMER_ABSTIME, &when, NULL);
}
