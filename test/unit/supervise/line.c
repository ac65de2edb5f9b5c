/* Keepers and the guardian at the other end of their line: when it asks, everything ends, and only then it is told so. */
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/guardian/guardian.h"
#include "supervise/supervise.h"

#include "lib/scratch.h"

enum { WORKS = 2 };
static char marks[WORKS][96], script[256];
static struct supervise_line *line;
static int guardian;     /* the other end */
static pid_t supervisor; /* 0: we are */
static struct supervise works[WORKS];

static int begin(void **state)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    line = supervise_line_new(ends[0]);
    guardian = ends[1];
    for (int i = 0; i < WORKS; i++)
        snprintf(marks[i], sizeof marks[i], "%s/elector-line-%d-%d", scratch_root(), (int)getpid(), i);
    return line ? 0 : -1;
}

/* Also where a test has failed nothing is left behind. */
static int end(void **state)
{
    int value;
    if (supervisor) kill(supervisor, SIGKILL);
    supervisor = 0;
    for (int i = 0; i < WORKS; i++) {
        supervise_abandon_keeper(&works[i]);
        while (works[i].keeper && supervise_read(&works[i], &value) != SUPERVISE_EMPTY) usleep(1000);
    }
    supervise_line_free(line);
    if (guardian >= 0) close(guardian);
    for (int i = 0; i < WORKS; i++) unlink(marks[i]);
    return 0;
}

static void start(int which)
{
    static char shell[] = "sh", option[] = "-c";
    char *const words[] = {shell, option, script, NULL};
    const char *mark = marks[which];
    const struct supervise_command command = {.about = "test", .words = words, .line = line};
    snprintf(script, sizeof script, "setsid sleep 60 & echo $! > %s.new; mv %s.new %s; exec sleep 60", mark,
             mark, mark);
    assert_int_equal(supervise_start(&works[which], &command, 0), 0);
}

/* What the command has started beside itself, in a session of its own. */
static pid_t grandchild(int which)
{
    char text[32] = "";
    for (int i = 0; i < 10000 && access(marks[which], F_OK) != 0; i++) usleep(1000);
    FILE *file = fopen(marks[which], "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    unlink(marks[which]);
    return (pid_t)strtol(text, NULL, 10);
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static void await_end(int which)
{
    int value;
    for (int i = 0; i < 10000; i++) {
        if (supervise_read(&works[which], &value) == SUPERVISE_EMPTY) return;
        usleep(1000);
    }
    fail_msg("it does not end");
}

/* Only once it has stopped is it certain that the next word does not wake it. */
static void stop(pid_t keeper)
{
    siginfo_t info;
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    assert_int_equal(waitid(P_PID, (id_t)keeper, &info, WSTOPPED), 0);
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
    start(0);
    const pid_t far = grandchild(0);
    assert_false(is_answered(0));
    ask();
    assert_true(is_answered(10000));
    assert_true(is_gone(far));
    assert_true(atomic_load(&works[0].page->overdue)); /* not of its own accord */
    await_end(0);
}

/* One keeper reads the word, all obey it, and the last one answers for all. */
static void of_many_all_are_dead(void **state)
{
    start(0);
    start(1);
    const pid_t first = grandchild(0), second = grandchild(1), keeper = works[0].keeper;
    stop(keeper);
    ask();
    await_end(1);
    assert_true(is_gone(second));
    assert_false(is_gone(first));
    assert_false(is_answered(0));
    kill(keeper, SIGCONT);
    assert_true(is_answered(10000));
    assert_true(is_gone(first));
    assert_true(atomic_load(&works[0].page->overdue));
    await_end(0);
}

static void who_ended_before_is_not_waited_for(void **state)
{
    start(0);
    start(1);
    (void)grandchild(0);
    (void)grandchild(1);
    supervise_kill(&works[0]);
    await_end(0);
    assert_false(is_answered(0));
    ask();
    assert_true(is_answered(10000));
    await_end(1);
}

/* What its keeper has left behind is counted until the supervisor has ended it. */
static void a_keeper_that_died_is_counted_out_by_the_supervisor(void **state)
{
    start(0);
    start(1);
    const pid_t far = grandchild(0);
    (void)grandchild(1);
    kill(works[0].keeper, SIGKILL);
    ask();
    await_end(1);
    assert_false(is_answered(0));
    assert_false(is_gone(far));
    await_end(0);
    assert_true(is_gone(far));
    assert_true(is_answered(10000));
}

/* Nobody is left to begin anything: the last keeper says so unasked. */
static void keepers_of_a_dead_supervisor_answer(void **state)
{
    supervisor = fork();
    if (supervisor == 0) {
        start(0);
        start(1);
        (void)pause();
    }
    const pid_t first = grandchild(0), second = grandchild(1);
    assert_false(is_answered(0));
    kill(supervisor, SIGKILL);
    assert_true(is_answered(10000));
    assert_true(is_gone(first) && is_gone(second));
}

static void a_supervisor_that_begins_nothing_more_answers(void **state)
{
    start(0);
    (void)grandchild(0);
    supervise_kill(&works[0]);
    await_end(0);
    assert_false(is_answered(0));
    supervise_line_end(line);
    assert_true(is_answered(0));
}

static void nothing_begins_after_the_end(void **state)
{
    ask();
    start(0);
    await_end(0);
    assert_true(is_answered(10000));
    start(0); /* another keeper, of a supervisor that has not heard of it yet */
    await_end(0);
    assert_int_not_equal(access(marks[0], F_OK), 0);
}

static void nothing_begins_once_the_agent_and_its_guardian_are_gone(void **state)
{
    close(guardian);
    guardian = -1;
    start(0);
    await_end(0);
    assert_int_not_equal(access(marks[0], F_OK), 0);
}

/* Then the deadline decides, as it does without a guardian. */
static void what_runs_goes_on_when_they_are_gone(void **state)
{
    start(0);
    start(1);
    const pid_t first = grandchild(0), second = grandchild(1);
    close(guardian);
    guardian = -1;
    usleep(50000);
    assert_int_equal(kill(first, 0), 0);
    assert_int_equal(kill(second, 0), 0);
    supervise_kill(&works[0]);
    supervise_kill(&works[1]);
    await_end(0);
    await_end(1);
    assert_true(is_gone(first) && is_gone(second));
}

/* An open keeper runs its last hook before the guardian is answered. */
static void the_last_hook_comes_before_the_answer(void **state)
{
    static char shell[] = "sh", option[] = "-c", nothing[] = "A=B";
    char hook[160], work[160];
    char *const last[] = {shell, option, hook, NULL}, *const words[] = {shell, option, work, NULL};
    const struct supervise_command command = {.about = "test",
                                              .words = words,
                                              .last = {"the last hook", last, {nothing, nothing}},
                                              .hook_timeout_ns = UINT64_C(60000000000),
                                              .line = line};
    int value = 0;
    snprintf(hook, sizeof hook, "sleep 0.1; : > %s", marks[0]);
    snprintf(work, sizeof work, ": > %s; exec sleep 60", marks[1]);
    assert_int_equal(supervise_open(&works[0], &command, 0), 0);
    assert_int_equal(supervise_start(&works[0], &command, 0), 0);
    for (int i = 0; i < 10000 && access(marks[1], F_OK) != 0; i++) usleep(1000);
    assert_int_equal(send(guardian, GUARDIAN_LINE_END, sizeof GUARDIAN_LINE_END - 1, 0),
                     sizeof GUARDIAN_LINE_END - 1);
    assert_true(is_answered(10000));
    assert_int_equal(access(marks[0], F_OK), 0);
    for (int i = 0; i < 10000 && works[0].keeper; i++) {
        if (supervise_read(&works[0], &value) == SUPERVISE_CLOSED) break;
        usleep(1000);
    }
    assert_int_equal(works[0].keeper, 0);
    assert_int_equal(value, 0);
    supervise_reap_keeper(&works[0]);
}

#define ON_LINE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_LINE(all_is_dead_before_it_says_so),
        ON_LINE(of_many_all_are_dead),
        ON_LINE(who_ended_before_is_not_waited_for),
        ON_LINE(a_keeper_that_died_is_counted_out_by_the_supervisor),
        ON_LINE(keepers_of_a_dead_supervisor_answer),
        ON_LINE(a_supervisor_that_begins_nothing_more_answers),
        ON_LINE(nothing_begins_after_the_end),
        ON_LINE(nothing_begins_once_the_agent_and_its_guardian_are_gone),
        ON_LINE(what_runs_goes_on_when_they_are_gone),
        ON_LINE(the_last_hook_comes_before_the_answer),
    };
    (void)supervise_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
