/* Shared by time_slice.c and realtime.c: how a thread is scheduled. */
#ifndef ELECTOR_BASE_KERNEL_INTERNAL_H
#define ELECTOR_BASE_KERNEL_INTERNAL_H

#include <stdint.h>

/* The first version of the kernel's struct sched_attr, whose header cannot be included beside <sched.h>. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

#endif
