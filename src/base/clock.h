/* The host's clocks in nanoseconds, and the units of time. Code that decides takes time as an argument instead. */
#ifndef ELECTOR_BASE_CLOCK_H
#define ELECTOR_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

uint64_t clock_boottime_ns(void);  /* also advances while the host is suspended: leases are measured by it */
uint64_t clock_monotonic_ns(void); /* does not */
uint64_t clock_wall_ns(void);      /* since 1970; 0 for anything earlier */
uint64_t clock_cpu_ns(void);       /* that this process has computed for */

/* Lets a timerfd of CLOCK_BOOTTIME expire at `at_ns`, at once if that has passed; 0 disarms it. */
void clock_arm(int timerfd, uint64_t at_ns);

#endif
