/* Real-time scheduling: who gets it, who does not inherit it, and that nobody keeps a processor by it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/kernel/realtime.h"

/* Each test is a process of its own: what it becomes, it stays. */
static void in_a_process(int (*tell)(void))
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)alarm(20);
        _exit(tell());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    if (WIFSIGNALED(status)) fail_msg("signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status)) fail_msg("not so, line %d", WEXITSTATUS(status));
}

enum { CANNOT = 77 };
#define EXPECT(what) \
    if (!(what)) return __LINE__ % 70 + 1 /* an exit code, not 77 */

static void set_limit(int which, rlim_t both)
{
    const struct rlimit limit = {both, both};
    (void)setrlimit((__rlimit_resource_t)which, &limit);
}

static rlim_t limit_of(int which)
{
    struct rlimit limit = {0};
    (void)getrlimit((__rlimit_resource_t)which, &limit);
    return limit.rlim_cur;
}

static long locked_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmLck:", 6) == 0) kb = strtol(line + 6, NULL, 10);
    if (file) fclose(file);
    return kb;
}

/* An ordinary user's process: limits count, capabilities do not. */
static bool become_ordinary(rlim_t priority, rlim_t memory)
{
    set_limit(RLIMIT_RTPRIO, priority);
    set_limit(RLIMIT_MEMLOCK, memory);
    return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
}

static bool is_realtime(int priority)
{
    struct sched_param now = {0};
    return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO && sched_getparam(0, &now) == 0 &&
           now.sched_priority == priority;
}

static int ask_without_privilege(void)
{
    char text[300];
    if (!become_ordinary(0, 65536)) return CANNOT;
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_ALONE);
    EXPECT(got.scheduling_error == EPERM && got.memory_error == EPERM);
    EXPECT(sched_getscheduler(0) == SCHED_OTHER);
    EXPECT(
        strcmp(
            realtime_describe(&got, text, sizeof text),
            "SCHED_FIFO (Operation not permitted; LimitRTPRIO=12 grants it) and locked memory (Operation not "
            "permitted; LimitMEMLOCK=infinity grants it)") == 0);
    return 0;
}

static void who_may_not_goes_on_without(void **state)
{
    in_a_process(ask_without_privilege);
}

static int ask_with_limits(void)
{
    char text[300];
    if (!become_ordinary(12, RLIM_INFINITY)) return CANNOT;
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_ALONE);
    if (limit_of(RLIMIT_RTPRIO) != 12 || limit_of(RLIMIT_MEMLOCK) != RLIM_INFINITY) return CANNOT;
    EXPECT(got.scheduling_error == 0 && got.memory_error == 0);
    EXPECT(strcmp(realtime_describe(&got, text, sizeof text), "") == 0);
    EXPECT(is_realtime(10));
#ifndef ELECTOR_SANITIZED /* which locks nothing */
    EXPECT(locked_kb() > 0);
#endif
    return 0;
}

static void limits_of_a_service_are_enough(void **state)
{
    in_a_process(ask_with_limits);
}

static int ask_within_a_limit(void)
{
    if (!become_ordinary(12, 512 << 20)) return CANNOT;
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_ALONE);
    EXPECT(got.memory_error == EPERM);
    EXPECT(locked_kb() == 0);
    return 0;
}

static void memory_is_not_locked_where_growing_would_fail(void **state)
{
    in_a_process(ask_within_a_limit);
}

/* As the guardian: it begins as root, and gives up what let it lock more than its limit. */
static int ask_and_give_up(void)
{
    set_limit(RLIMIT_MEMLOCK, 65536);
    const struct realtime got = realtime_begin(REALTIME_GUARDIAN, REALTIME_WITH_CHILDREN);
    if (got.memory_error) return CANNOT;
    if (setresuid(65534, 65534, 65534) != 0) return CANNOT;
    void *more = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(more != MAP_FAILED);
    return 0;
}

static void who_gives_up_its_privileges_can_still_grow(void **state)
{
    in_a_process(ask_and_give_up);
}

/* ---- Children ---- */

static void *look(void *policy)
{
    *(int *)policy = sched_getscheduler(0);
    return NULL;
}

static void *leave_and_look(void *policy)
{
    realtime_leave();
    return look(policy);
}

static void *join_and_look(void *policy)
{
    realtime_join();
    return look(policy);
}

static int policy_of_thread(void *(*run)(void *))
{
    pthread_t thread;
    int policy = -1;
    if (pthread_create(&thread, NULL, run, &policy) == 0) pthread_join(thread, NULL);
    return policy;
}

/* What a child is before it ends that, and whether it is as an ordinary one afterwards. */
static bool child_is(int policy, rlim_t before)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        const bool is_so = sched_getscheduler(0) == policy && locked_kb() == 0;
        realtime_end();
        _exit(!is_so || sched_getscheduler(0) != SCHED_OTHER || limit_of(RLIMIT_RTTIME) != before);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static int look_at_children(void)
{
    const rlim_t before = limit_of(RLIMIT_RTTIME);
    const struct realtime got = realtime_begin(REALTIME_KEEPER, REALTIME_ALONE);
    if (got.scheduling_error) return CANNOT;
    EXPECT(is_realtime(12));
    EXPECT(limit_of(RLIMIT_RTTIME) == (rlim_t)REALTIME_BURST_MS * 1000);
    EXPECT(policy_of_thread(look) == SCHED_OTHER);
    EXPECT((policy_of_thread(join_and_look) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO);
    EXPECT(child_is(SCHED_OTHER, before));
    EXPECT(is_realtime(12));
    return 0;
}

static void children_and_threads_are_ordinary(void **state)
{
    in_a_process(look_at_children);
}

static int look_at_heirs(void)
{
    const rlim_t before = limit_of(RLIMIT_RTTIME);
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_WITH_CHILDREN);
    if (got.scheduling_error) return CANNOT;
    EXPECT(policy_of_thread(look) == SCHED_FIFO);
    EXPECT(policy_of_thread(leave_and_look) == SCHED_OTHER);
    EXPECT(child_is(SCHED_FIFO, before));
    const pid_t child = fork(); /* a keeper of `elector run`: its own child has the limit of before them both */
    if (child == 0) {
        const struct realtime keeper = realtime_begin(REALTIME_KEEPER, REALTIME_ALONE);
        _exit(keeper.scheduling_error || !is_realtime(12) || !child_is(SCHED_OTHER, before));
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}

static void heirs_are_as_prompt_until_they_leave(void **state)
{
    in_a_process(look_at_heirs);
}

/* ---- A thread that hangs ---- */

/* One processor for all: whoever keeps it, keeps it from the others. */
static bool pin(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static int run_in_a_circle(void)
{
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_ALONE);
    if (got.scheduling_error || !pin()) return CANNOT;
    EXPECT(!realtime_resume());
    while (is_realtime(10)) {} /* the alarm ends it */
    EXPECT(realtime_resume());
    EXPECT(is_realtime(10));
    EXPECT(limit_of(RLIMIT_RTTIME) == (rlim_t)REALTIME_BURST_MS * 1000);
    EXPECT(!realtime_resume());
    while (is_realtime(10)) {} /* a second time */
    return 0;
}

static void who_never_waits_becomes_ordinary(void **state)
{
    in_a_process(run_in_a_circle);
}

/* A process of the agent's priority that never waits, and cannot be made ordinary; beside it whoever is to end it. */
static int interrupt_who_hangs(void)
{
    int ready[2], status = 0;
    if (!pin() || pipe(ready) != 0) return CANNOT;
    const struct realtime got = realtime_begin(
        REALTIME_GUARDIAN, REALTIME_ALONE); /* first: once the other hangs, it would not come to it */
    if (got.scheduling_error) return CANNOT;
    const pid_t child = fork();
    if (child == 0) {
        const struct sched_param priority = {.sched_priority = REALTIME_AGENT};
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGXCPU, SIG_IGN);
        if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) _exit(1);
        (void)!write(ready[1], "", 1);
        for (;;) {}
    }
    char byte;
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) return CANNOT;
    EXPECT(kill(child, SIGKILL) == 0); /* we run, so we have interrupted it */
    EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    return 0;
}

static void a_guardian_interrupts_an_agent_that_hangs(void **state)
{
    in_a_process(interrupt_who_hangs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_not_goes_on_without),
        cmocka_unit_test(limits_of_a_service_are_enough),
        cmocka_unit_test(memory_is_not_locked_where_growing_would_fail),
        cmocka_unit_test(who_gives_up_its_privileges_can_still_grow),
        cmocka_unit_test(children_and_threads_are_ordinary),
        cmocka_unit_test(heirs_are_as_prompt_until_they_leave),
        cmocka_unit_test(who_never_waits_becomes_ordinary),
        cmocka_unit_test(a_guardian_interrupts_an_agent_that_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
