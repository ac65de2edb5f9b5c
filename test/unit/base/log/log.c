/* The log: whole lines whatever is escaped, and no wait for a reader that has stopped. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/log/log.h"
#include "base/log/outlet.h"

enum { LIMIT_MS = 20000, MANY = 60000 };

/* Each test is told by a child, whose standard error is ours to read: the outlet begins once in a process. */
struct child {
    pid_t pid;
    int output;
};

static struct child begin(int output, int input, void (*tell)(void))
{
    struct child child = {.pid = fork(), .output = output};
    if (child.pid == 0) {
        close(output);
        if (dup2(input, STDERR_FILENO) < 0) _exit(9);
        tell();
        exit(0);
    }
    assert_true(child.pid > 0);
    close(input);
    return child;
}

static struct child in_pipe(void (*tell)(void))
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    return begin(ends[0], ends[1], tell);
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == pid;
}

static void await_end(pid_t pid)
{
    int status = 0;
    for (int ms = 0; !has_ended(pid); ms++) {
        poll(NULL, 0, 1);
        if (ms > LIMIT_MS) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            fail_msg("it waits for a reader");
        }
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* All that it wrote, up to the end. */
static char *read_all(struct child *child)
{
    size_t room = 1 << 22, size = 0;
    char *text = malloc(room);
    assert_non_null(text);
    for (ssize_t got = 1; got > 0 && size + 1 < room; size += got > 0 ? (size_t)got : 0)
        got = read(child->output, text + size, room - 1 - size);
    text[size] = '\0';
    close(child->output);
    return text;
}

/* ---- Whole lines ---- */

static void tell_of_control_characters(void)
{
    char text[512];
    memset(text, '\001', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    log_set(true, false);
    log_event(LOG_INFO_LEVEL, "g\n", "%s", text);
    log_set(false, false);
    log_event(LOG_INFO_LEVEL, NULL, "%s", text);
}

static void escapes_do_not_leave_the_line(void **state)
{
    struct child child = in_pipe(tell_of_control_characters);
    char *text = read_all(&child), *second = strchr(text, '\n');
    await_end(child.pid);
    assert_non_null(second);
    *second++ = '\0';
    const char *message = strstr(text, ",\"group\":\"g\\u000a\",\"msg\":\"");
    assert_non_null(message);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "\\u0001")); at++) count++;
    assert_int_equal(count, 511);
    assert_string_equal(text + strlen(text) - 2, "\"}");
    for (const char *at = second; *at && *at != '\n'; at++) assert_in_range(*at, ' ', '~');
    assert_string_equal(second + strlen(second) - 2, "\"\n");
    assert_null(strstr(second, "\n\n"));
    free(text);
}

/* ---- A reader that has stopped ---- */

static void tell_much(void)
{
    log_set(false, false);
    for (int i = 0; i < MANY; i++) log_event(LOG_INFO_LEVEL, NULL, "line %d of many", i);
}

/* Lines in order without a gap, then the number of those that are lost: together all. */
static void check_lines(const char *text)
{
    unsigned long long told = 0, lost = 0;
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        const char *line = strstr(at, "msg=\"");
        assert_non_null(line);
        if (strncmp(line + 5, "line ", 5) == 0) {
            assert_int_equal(strtoull(line + 10, NULL, 10), told + lost);
            told++;
        } else {
            lost += strtoull(line + 5, NULL, 10);
        }
    }
    assert_true(told > 100);
    assert_int_equal(told + lost, MANY);
}

static void nobody_waits_for_a_full_pipe(void **state)
{
    struct child child = in_pipe(tell_much);
    await_end(child.pid); /* nobody reads */
    char *text = read_all(&child);
    assert_true(strlen(text) >= 4096);
    free(text);
}

static int barrier[2];

static void tell_much_and_stay(void)
{
    tell_much();
    if (write(barrier[1], "x", 1) != 1) _exit(8);
    poll(NULL, 0, -1);
}

static void lost_lines_are_counted(void **state)
{
    char byte, *text = calloc(1, 1 << 22);
    size_t size = 0;
    assert_non_null(text);
    assert_int_equal(pipe2(barrier, O_CLOEXEC), 0);
    struct child child = in_pipe(tell_much_and_stay);
    assert_int_equal(read(barrier[0], &byte, 1), 1); /* all is said, and nothing was read */
    while (!strstr(text + (size > 512 ? size - 512 : 0), "are lost")) {
        const ssize_t got = read(child.output, text + size, (1 << 22) - 1 - size);
        assert_true(got > 0);
        size += (size_t)got;
    }
    kill(child.pid, SIGKILL);
    waitpid(child.pid, NULL, 0);
    close(child.output);
    close(barrier[0]);
    close(barrier[1]);
    check_lines(text);
    free(text);
}

static void nobody_waits_for_a_stopped_terminal(void **state)
{
    int terminal, side;
    assert_int_equal(openpty(&terminal, &side, NULL, NULL, NULL), 0);
    fcntl(terminal, F_SETFD, FD_CLOEXEC);
    assert_int_equal(tcflow(side, TCOOFF), 0); /* as Ctrl-S does */
    struct child child = begin(terminal, side, tell_much);
    await_end(child.pid);
    close(terminal);
}

static void one_line_is_there_at_exit(void **state)
{
    for (int i = 0; i < 20; i++) {
        struct child child = in_pipe(tell_of_control_characters);
        char *text = read_all(&child);
        await_end(child.pid);
        assert_string_equal(text + strlen(text) - 2, "\"\n");
        free(text);
    }
}

/* ---- Lines that wait ---- */

static void log_late(void)
{
    static const char mark[] = "mark\n";
    log_set(false, false);
    log_defer(true);
    log_event(LOG_INFO_LEVEL, NULL, "late");
    poll(NULL, 0, 50); /* were the thread awake, the line would be written by now */
    if (write(STDERR_FILENO, mark, sizeof mark - 1) < 0) _exit(8);
}

static void log_late_and_tick(void)
{
    log_late();
    const uint64_t due = log_tick(0);
    if (due == UINT64_MAX || log_tick(due) != UINT64_MAX || log_tick(0) != UINT64_MAX) _exit(7);
    poll(NULL, 0, -1);
}

static void log_late_and_end(void)
{
    log_late();
    log_defer(false);
}

static void log_late_and_fail(void)
{
    log_late();
    log_event(LOG_ERROR_LEVEL, NULL, "failed");
    poll(NULL, 0, -1);
}

/* What it wrote until the word; then it is killed. */
static char *read_until(struct child child, const char *word)
{
    char *text = calloc(1, 4096);
    assert_non_null(text);
    for (size_t size = 0; !strstr(text, word);) {
        const ssize_t got = read(child.output, text + size, 4095 - size);
        assert_true(got > 0);
        size += (size_t)got;
    }
    kill(child.pid, SIGKILL);
    waitpid(child.pid, NULL, 0);
    close(child.output);
    return text;
}

static void check_is_late(char *text)
{
    const char *mark = strstr(text, "mark\n"), *late = strstr(text, "msg=\"late\"\n");
    assert_non_null(mark);
    assert_non_null(late);
    assert_true(mark < late);
    free(text);
}

static void deferred_lines_wait_for_their_tick(void **state)
{
    check_is_late(read_until(in_pipe(log_late_and_tick), "late"));
}

static void deferred_lines_wait_for_the_end_of_it(void **state)
{
    struct child child = in_pipe(log_late_and_end);
    char *text = read_all(&child);
    await_end(child.pid);
    check_is_late(text);
}

static void an_error_takes_deferred_lines_along(void **state)
{
    check_is_late(read_until(in_pipe(log_late_and_fail), "failed"));
}

static void log_much_late(void)
{
    log_set(false, false);
    log_defer(true);
    for (int i = 0; i < MANY; i++) log_event(LOG_INFO_LEVEL, NULL, "line %d of many", i);
    poll(NULL, 0, -1);
}

static void too_many_lines_wait_no_longer(void **state)
{
    free(read_until(in_pipe(log_much_late), "line 1 of"));
}

/* ---- Last words ---- */

static void say_last_words(void)
{
    outlet_last_words("the end\n", 0);
}

static void fill_and_say_last_words(void)
{
    sigset_t all;
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
    while (write(STDERR_FILENO, "x", 1) == 1) {}
    fcntl(STDERR_FILENO, F_SETFL, 0);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    outlet_last_words("the end\n", 0);
}

static void last_words_are_heard_or_end(void **state)
{
    struct child child = in_pipe(say_last_words);
    char *text = read_all(&child);
    await_end(child.pid);
    assert_string_equal(text, "the end\n");
    free(text);
    child = in_pipe(fill_and_say_last_words);
    int ms = 0;
    while (!has_ended(child.pid)) {
        poll(NULL, 0, 1);
        if (++ms > LIMIT_MS) fail_msg("it waits for a reader");
    }
    assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
    close(child.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_do_not_leave_the_line),
        cmocka_unit_test(nobody_waits_for_a_full_pipe),
        cmocka_unit_test(lost_lines_are_counted),
        cmocka_unit_test(nobody_waits_for_a_stopped_terminal),
        cmocka_unit_test(one_line_is_there_at_exit),
        cmocka_unit_test(deferred_lines_wait_for_their_tick),
        cmocka_unit_test(deferred_lines_wait_for_the_end_of_it),
        cmocka_unit_test(an_error_takes_deferred_lines_along),
        cmocka_unit_test(too_many_lines_wait_no_longer),
        cmocka_unit_test(last_words_are_heard_or_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
