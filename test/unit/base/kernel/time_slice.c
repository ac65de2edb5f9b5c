/* The slices that the kernel tells, of this thread and of one that it starts. Before Linux 6.12 it tells 0 in each case. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kernel/time_slice.h"

static uint64_t slice_ns(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } own = {0};
    assert_int_equal(syscall(SYS_sched_getattr, 0, &own, sizeof own, 0), 0);
    return own.policy == SCHED_OTHER ? own.runtime_ns : 0;
}

static void a_slice_is_short_until_it_is_reset(void **state)
{
    const uint64_t usual = slice_ns();
    time_slice_shorten();
    assert_true(slice_ns() == 0 || slice_ns() == 100000);
    assert_true(usual == 0 || slice_ns() < usual);
    time_slice_reset();
    assert_int_equal(slice_ns(), usual);
}

static void one_with_another_policy_keeps_it(void **state)
{
    const pid_t child = fork();
    if (child == 0) {
        const struct sched_param none = {0};
        if (sched_setscheduler(0, SCHED_BATCH, &none) != 0) _exit(1);
        time_slice_shorten();
        _exit(sched_getscheduler(0) == SCHED_BATCH ? 0 : 2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_short_until_it_is_reset),
        cmocka_unit_test(one_with_another_policy_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
