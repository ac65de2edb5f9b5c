/* What an agent's filter forbids, what it leaves, and how a test hears of it. Each attempt is made in a process of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/confine/confine.h"
#include "lib/scratch.h"

enum { WAS_ALLOWED = 0, NOT_CONFINED = 100 };

/* ---- Attempts: 0, or the error that the call gave ---- */

static int error_of(long result)
{
    return result < 0 ? errno : WAS_ALLOWED;
}

static int traces(void)
{
    return error_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}
static int reads_memory_of_others(void)
{
    return error_of(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}
static int takes_descriptors_of_others(void)
{
    return error_of(syscall(SYS_pidfd_getfd, -1, 0, 0));
}
static int mounts(void)
{
    return error_of(mount("none", "/nowhere", "tmpfs", 0, NULL));
}
static int leaves_its_namespace(void)
{
    return error_of(unshare(CLONE_NEWUTS));
}
static int loads_a_module(void)
{
    return error_of(syscall(SYS_init_module, NULL, 0, ""));
}
static int loads_bpf(void)
{
    return error_of(syscall(SYS_bpf, 0, NULL, 0));
}
static int reads_keyrings(void)
{
    return error_of(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
}
static int measures(void)
{
    return error_of(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}
static int catches_faults(void)
{
    return error_of(syscall(SYS_userfaultfd, 0));
}
static int queues_io(void)
{
    return error_of(syscall(SYS_io_uring_setup, 1, NULL));
}
static int becomes_another(void)
{
    return error_of(setuid(getuid()));
}
static int sets_the_clock(void)
{
    return error_of(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL));
}
static int listens_to_the_wire(void)
{
    return error_of(socket(AF_PACKET, SOCK_RAW, 0));
}
static int asks_the_kernel_to_encrypt(void)
{
    return error_of(socket(AF_ALG, SOCK_SEQPACKET, 0));
}
static int types_on_a_terminal(void)
{
    return error_of(ioctl(STDIN_FILENO, TIOCSTI, "x"));
}
static int lets_others_trace_it(void)
{
    return error_of(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));
}
static int limits_others(void)
{
    return error_of(syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, NULL));
}

static int clones_into_a_namespace(void)
{
    const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) _exit(0);
    return error_of(child);
}

static const struct {
    const char *name;
    int (*attempt)(void);
} forbidden[] = {
#define ATTEMPT(name) \
    {                 \
#name, name   \
    }
    ATTEMPT(traces),
    ATTEMPT(reads_memory_of_others),
    ATTEMPT(takes_descriptors_of_others),
    ATTEMPT(mounts),
    ATTEMPT(leaves_its_namespace),
    ATTEMPT(clones_into_a_namespace),
    ATTEMPT(loads_a_module),
    ATTEMPT(loads_bpf),
    ATTEMPT(reads_keyrings),
    ATTEMPT(measures),
    ATTEMPT(catches_faults),
    ATTEMPT(becomes_another),
    ATTEMPT(sets_the_clock),
    ATTEMPT(listens_to_the_wire),
    ATTEMPT(asks_the_kernel_to_encrypt),
    ATTEMPT(types_on_a_terminal),
    ATTEMPT(lets_others_trace_it),
    ATTEMPT(limits_others),
#undef ATTEMPT
};

/* The exit status of a confined process that makes the attempt. */
static int status_of(int (*attempt)(void))
{
    char text[160];
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(confine_calls(text, sizeof text) ? attempt() : NOT_CONFINED);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int confined(int (*attempt)(void))
{
    const int status = status_of(attempt);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- Tests ---- */

static int nothing(void)
{
    return WAS_ALLOWED;
}

static void a_forbidden_call_fails_and_costs_nothing_else(void **state)
{
    unsetenv("ELECTOR_SECCOMP_REPORT");
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        const int error = confined(forbidden[i].attempt);
        if (error != ENOSYS) fail_msg("%s: %s", forbidden[i].name, error ? strerror(error) : "was allowed");
    }
}

static void a_test_hears_of_a_forbidden_call(void **state)
{
    char path[100], line[100] = "", expected[100];
    snprintf(path, sizeof path, "%s/calls", scratch_root());
    setenv("ELECTOR_SECCOMP_REPORT", path, 1);
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        assert_int_equal(confined(forbidden[i].attempt), 128 + SIGSYS);
        FILE *file = fopen(path, "r");
        if (!file || !fgets(line, sizeof line, file)) fail_msg("%s: nothing is reported", forbidden[i].name);
        if (file) fclose(file);
        assert_int_equal(unlink(path), 0);
        if (i > 0) continue;
        snprintf(expected, sizeof expected, ": forbidden system call %d\n", SYS_ptrace);
        assert_non_null(strstr(line, expected));
    }
    assert_int_equal(confined(queues_io), ENOSYS); /* a library asks for it: no news */
    assert_int_equal(access(path, F_OK), -1);
}

static void *run(void *context)
{
    *(int *)context = reads_memory_of_others();
    return NULL;
}

static int uses_what_an_agent_needs(void)
{
    pthread_t thread;
    int seen = WAS_ALLOWED, status = 0;
    if (pthread_create(&thread, NULL, run, &seen) != 0 || pthread_join(thread, NULL) != 0) return 1;
    if (seen != ENOSYS) return 2; /* a thread has the filter too */
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "confine", "--as-guardian", (char *)NULL);
        _exit(3);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 4;
    if (WEXITSTATUS(status) != ENOSYS) return 5; /* and so does what it executes */
    static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (socket(families[i], SOCK_DGRAM, 0) < 0 && errno == ENOSYS) return 6;
    return WAS_ALLOWED;
}

static void an_agent_keeps_what_it_needs(void **state)
{
    unsetenv("ELECTOR_SECCOMP_REPORT");
    assert_int_equal(confined(uses_what_an_agent_needs), WAS_ALLOWED);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *run_later(void *context)
{
    pthread_mutex_lock(&turn);
    return run(context);
}

/* Such as the thread that writes the log: it began before. */
static void a_thread_that_runs_already_is_confined(void **state)
{
    char text[160];
    int status = 0;
    unsetenv("ELECTOR_SECCOMP_REPORT");
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        int seen = WAS_ALLOWED;
        pthread_mutex_lock(&turn);
        if (pthread_create(&thread, NULL, run_later, &seen) != 0) _exit(1);
        if (!confine_calls(text, sizeof text)) _exit(NOT_CONFINED);
        pthread_mutex_unlock(&turn);
        pthread_join(thread, NULL);
        _exit(seen);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ENOSYS);
}

static int is_closed(void)
{
    struct rlimit core;
    confine_memory();
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0
               ? 0
               : 1;
}

static void its_memory_is_not_dumped(void **state)
{
    assert_int_equal(confined(is_closed), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forbidden_call_fails_and_costs_nothing_else),
        cmocka_unit_test(a_test_hears_of_a_forbidden_call),
        cmocka_unit_test(an_agent_keeps_what_it_needs),
        cmocka_unit_test(a_thread_that_runs_already_is_confined),
        cmocka_unit_test(its_memory_is_not_dumped),
    };
    (void)argv;
    if (argc > 1) return reads_memory_of_others();
    if (confined(nothing) == NOT_CONFINED) { /* a sanitized build has none */
#ifndef ELECTOR_SANITIZED
        puts("skip confine: the kernel takes no seccomp filter");
#endif
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
