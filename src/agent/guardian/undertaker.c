/* See undertaker.h. */
#define _GNU_SOURCE
#include "agent/guardian/undertaker.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

enum { STACK = 16 * 1024, NAP_NS = 50 * 1000, NAPS_MOST = 20000 };
enum { BEGINS, IS_READY, HAS_FAILED };

static _Alignas(64) char stack[STACK];
static atomic_int state;

/*
 * In the agent's memory, beside it: even errno is the agent's. So only system calls, and those that may fail come before the
 * agent goes on. Of several threads the last one closes the descriptors, therefore a pidfd, which tells of the end of all; a
 * signal at the parent's death (PR_SET_PDEATHSIG) tells of one thread's, and could come too early.
 */
__attribute__((no_sanitize("address", "undefined"))) static int wait_for_the_end(void *agent)
{
    (void)syscall(SYS_prctl, PR_SET_NAME, "elector-remains", 0, 0, 0);
    const bool is_closed = syscall(SYS_close_range, 0, UINT_MAX, 0) == 0;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, *(const pid_t *)agent, 0), .events = POLLIN};
    const bool is_ready = is_closed && end.fd >= 0 && syscall(SYS_getppid) == *(const pid_t *)agent;
    atomic_store(&state, is_ready ? IS_READY : HAS_FAILED);
    if (is_ready) (void)syscall(SYS_ppoll, &end, 1, NULL, NULL, 0);
    (void)syscall(SYS_exit, 0);
    __builtin_unreachable();
}

static bool is_ready_in_time(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (int i = 0; i < NAPS_MOST && atomic_load(&state) == BEGINS; i++) nanosleep(&nap, NULL);
    return atomic_load(&state) == IS_READY;
}

pid_t undertaker_begin(void)
{
    static pid_t agent;
    const struct sched_param none = {0};
    sigset_t all, before;
    agent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* which it inherits */
    pid_t pid = clone(wait_for_the_end, stack + STACK, CLONE_VM, &agent);
    const int error = pid < 0 ? errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid > 0 && is_ready_in_time()) {
        (void)sched_setscheduler(pid, SCHED_IDLE, &none); /* what it will do is in nobody's way */
        return pid;
    }
    log_event(LOG_WARN_LEVEL, NULL,
              "cannot share memory with a process that outlives this one%s%s; should it crash, others will "
              "know a little later",
              error ? ": " : "", error ? strerror(error) : "");
    if (pid > 0) undertaker_end(pid);
    return 0;
}

void undertaker_end(pid_t pid)
{
    if (pid <= 0) return;
    kill(pid, SIGKILL); /* it is our child and not waited for: nobody else has that number */
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR) {}
}
