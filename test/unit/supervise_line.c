/* A keeper and the guardian at the other end of its line: when it is asked, everything ends, and only then it says so. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/guardian.h"
#include "cli/supervise.h"

static char mark[64], script[256];
static int line, guardian; /* its ends */
static struct supervise work;

static int begin(void **state)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    line = ends[0];
    guardian = ends[1];
    snprintf(mark, sizeof mark, "/tmp/elector-line-%d", (int)getpid());
    snprintf(script, sizeof script, "setsid sleep 600 & echo $! > %s.new; mv %s.new %s; exec sleep 600", mark,
             mark, mark);
    return 0;
}

static int end(void **state)
{
    close(line);
    if (guardian >= 0) close(guardian);
    unlink(mark);
    return 0;
}

static void start(void)
{
    static char shell[] = "sh", option[] = "-c";
    char *const words[] = {shell, option, script, NULL};
    const struct supervise_command command = {.about = "test", .words = words, .line = line};
    assert_int_equal(supervise_start(&work, &command, 0), 0);
}

/* What the command has started beside itself, in a session of its own. */
static pid_t grandchild(void)
{
    char text[32] = "";
    for (int i = 0; i < 10000 && access(mark, F_OK) != 0; i++) usleep(1000);
    FILE *file = fopen(mark, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    return (pid_t)strtol(text, NULL, 10);
}

static void await_end(void)
{
    int value;
    for (int i = 0; i < 3000; i++) {
        if (supervise_read(&work, &value) == SUPERVISE_EMPTY) return;
        usleep(1000);
    }
    fail_msg("it does not end");
}

static void ask(void)
{
    assert_int_equal(send(guardian, GUARDIAN_LINE_END, strlen(GUARDIAN_LINE_END), MSG_NOSIGNAL),
                     strlen(GUARDIAN_LINE_END));
}

static bool is_answered(int timeout_ms)
{
    char word[16] = "";
    struct pollfd polled = {.fd = guardian, .events = POLLIN};
    if (poll(&polled, 1, timeout_ms) <= 0) return false;
    return recv(guardian, word, sizeof word, MSG_DONTWAIT) > 0 && strcmp(word, GUARDIAN_LINE_OVER) == 0;
}

static void all_is_dead_before_it_says_so(void **state)
{
    start();
    const pid_t far = grandchild();
    assert_false(is_answered(0));
    ask();
    assert_true(is_answered(10000));
    assert_int_equal(kill(far, 0), -1);
    assert_int_equal(errno, ESRCH);
    assert_true(atomic_load(&work.page->overdue)); /* not of its own accord */
    await_end();
}

static void nothing_begins_after_the_end(void **state)
{
    ask();
    start();
    await_end();
    assert_true(is_answered(10000));
    start(); /* another keeper, of a supervisor that has not heard of it yet */
    await_end();
    assert_int_not_equal(access(mark, F_OK), 0);
}

static void nothing_begins_once_the_agent_and_its_guardian_are_gone(void **state)
{
    close(guardian);
    guardian = -1;
    start();
    await_end();
    assert_int_not_equal(access(mark, F_OK), 0);
}

/* Then the deadline decides, as it does without a guardian. */
static void what_runs_goes_on_when_they_are_gone(void **state)
{
    start();
    const pid_t far = grandchild();
    close(guardian);
    guardian = -1;
    usleep(50000);
    assert_int_equal(kill(far, 0), 0);
    supervise_kill(&work);
    await_end();
    assert_int_equal(kill(far, 0), -1);
}

#define ON_LINE(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_LINE(all_is_dead_before_it_says_so),
        ON_LINE(nothing_begins_after_the_end),
        ON_LINE(nothing_begins_once_the_agent_and_its_guardian_are_gone),
        ON_LINE(what_runs_goes_on_when_they_are_gone),
    };
    (void)supervise_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
