/* Ended children that nobody else waits for: of process 1 of a container, and of a subreaper. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/children.h"

static pid_t known;

static bool is_known(const void *context, pid_t child)
{
    return child == known;
}

static pid_t make_ended(void)
{
    siginfo_t info;
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    assert_true(pid > 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    return pid;
}

static void what_nobody_knows_is_reaped_and_the_rest_is_left_to_its_owner(void **state)
{
    int status;
    known = make_ended();
    const pid_t first = make_ended(), second = make_ended();
    children_reap_unknown(is_known, NULL);
    assert_int_equal(waitpid(first, &status, WNOHANG), -1);
    assert_int_equal(waitpid(second, &status, WNOHANG), -1);
    assert_int_equal(waitpid(known, &status, WNOHANG), known);
}

static void who_lives_is_not_waited_for(void **state)
{
    known = 0;
    const pid_t living = fork();
    if (living == 0) {
        pause();
        _exit(0);
    }
    (void)make_ended();
    children_reap_unknown(is_known, NULL); /* or the test hangs */
    assert_int_equal(kill(living, SIGKILL), 0);
    assert_int_equal(waitpid(living, NULL, 0), living);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_knows_is_reaped_and_the_rest_is_left_to_its_owner),
        cmocka_unit_test(who_lives_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
