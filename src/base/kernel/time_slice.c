/* See time_slice.h. */
#define _GNU_SOURCE
#include "base/kernel/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kernel/internal.h"

enum { SLICE_NS = 100000 };

static void set(uint64_t runtime_ns)
{
    struct scheduling own = {0};
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER) return;
    own.runtime_ns = runtime_ns;
    (void)syscall(SYS_sched_setattr, 0, &own, 0);
}

void time_slice_shorten(void)
{
    set(SLICE_NS);
}

void time_slice_reset(void)
{
    set(0); /* the kernel's own */
}
