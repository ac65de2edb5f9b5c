/* See realtime.h. */
#define _GNU_SOURCE
#include "base/kernel/realtime.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kernel/internal.h"

enum { RESET_ON_FORK = 1, US_PER_MS = 1000 }; /* the former is SCHED_FLAG_RESET_ON_FORK */

static struct {
    enum realtime_priority priority; /* 0: realtime_begin() was not called */
    enum realtime_heirs heirs;
    struct rlimit before; /* of RLIMIT_RTTIME */
    bool has_limit;
    atomic_bool has_run_too_long;
} own;

static int schedule(uint32_t policy, uint32_t priority, uint64_t flags)
{
    const struct scheduling wanted = {
        .size = sizeof wanted, .policy = policy, .flags = flags, .priority = priority};
    return syscall(SYS_sched_setattr, 0, &wanted, 0) == 0 ? 0 : errno;
}

static int become_realtime(void)
{
    return schedule(SCHED_FIFO, own.priority, own.heirs == REALTIME_ALONE ? RESET_ON_FORK : 0);
}

/* ---- No thread runs for ever ---- */

/* The kernel sends it to the thread that has run for too long. */
static void on_too_long(int number)
{
    const int error = errno;
    (void)number;
    (void)schedule(SCHED_OTHER, 0, own.heirs == REALTIME_ALONE ? RESET_ON_FORK : 0);
    atomic_store(&own.has_run_too_long, true);
    errno = error;
}

static void limit_bursts(void)
{
    struct rlimit limit = own.before;
    limit.rlim_cur = (rlim_t)REALTIME_BURST_MS * US_PER_MS;
    if (limit.rlim_cur < own.before.rlim_cur) own.has_limit = setrlimit(RLIMIT_RTTIME, &limit) == 0;
}

bool realtime_resume(void)
{
    if (!own.priority || !atomic_exchange(&own.has_run_too_long, false)) return false;
    limit_bursts(); /* the kernel has raised it */
    (void)become_realtime();
    return true;
}

void realtime_join(void)
{
    const bool is_ordinary = (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER;
    if (own.priority && is_ordinary) (void)become_realtime();
}

void realtime_leave(void)
{
    if (own.priority) (void)schedule(SCHED_OTHER, 0, 0);
}

void realtime_end(void)
{
    realtime_leave();
    if (own.has_limit) (void)setrlimit(RLIMIT_RTTIME, &own.before);
}

static int begin_scheduling(enum realtime_priority priority, enum realtime_heirs heirs)
{
    struct sigaction action = {.sa_handler = on_too_long};
    const bool is_child = own.priority; /* of a process that has lowered the limit */
    own.priority = priority;
    own.heirs = heirs;
    if (!is_child && getrlimit(RLIMIT_RTTIME, &own.before) != 0) return errno;
    if (sigaction(SIGXCPU, &action, NULL) != 0) return errno;
    limit_bursts();
    return become_realtime();
}

/* ---- Memory ---- */

static bool may_lock_any_memory(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &head, has) != 0) return false;
    return has[CAP_IPC_LOCK / 32].effective >> CAP_IPC_LOCK % 32 & 1;
}

/*
 * Not within a limit: a process that grew beyond it would be refused memory. What is mapped later is locked when it is first
 * used: to fill the 8 MB of a new thread's stack takes 30 ms on some virtual machines. So does filling what a child shares with
 * its parent until it writes; there the parent's lock keeps the pages in memory. The guardian gives its capabilities up: what it
 * maps later counts against the limit then, so it locks only what it has.
 */
static int lock_memory(enum realtime_priority priority, bool is_child)
{
    struct rlimit limit;
    const int later = MCL_FUTURE | MCL_ONFAULT;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return errno;
    const bool is_limited = limit.rlim_cur != RLIM_INFINITY;
    if (is_limited && !may_lock_any_memory()) return EPERM;
    if (is_limited && priority == REALTIME_GUARDIAN) return mlockall(MCL_CURRENT) == 0 ? 0 : errno;
    if (is_child) return mlockall(MCL_CURRENT | later) == 0 ? 0 : errno;
    return mlockall(MCL_CURRENT) == 0 && mlockall(later) == 0 ? 0 : errno;
}

/* Memory first: it takes a while, in which others of our priority would wait. */
struct realtime realtime_begin(enum realtime_priority priority, enum realtime_heirs heirs)
{
    struct realtime got = {.memory_error = lock_memory(priority, own.priority)};
    got.scheduling_error = begin_scheduling(priority, heirs);
    return got;
}

const char *realtime_describe(const struct realtime *got, char *text, size_t size)
{
    char scheduling[120] = "", memory[120] = "";
    if (got->scheduling_error)
        snprintf(scheduling, sizeof scheduling, "SCHED_FIFO (%s; LimitRTPRIO=%d grants it)",
                 strerror(got->scheduling_error), (int)REALTIME_KEEPER);
    if (got->memory_error)
        snprintf(memory, sizeof memory, "locked memory (%s; LimitMEMLOCK=infinity grants it)",
                 strerror(got->memory_error));
    snprintf(text, size, "%s%s%s", scheduling, *scheduling && *memory ? " and " : "", memory);
    return text;
}
