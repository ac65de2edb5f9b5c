/* Who shares an agent's memory: it keeps nothing else of it, and outlives it by as long as it takes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/guardian/undertaker.h"

static int line; /* our end of a connection to the agent, which it had before its undertaker began */
static pid_t agent, undertaker;

/* ---- The bench: an agent ---- */

static volatile sig_atomic_t handled;
static void handle(int number)
{
    (void)number;
    handled = 1;
}

/* As it is asked: `c`lose the connection, say whether a `h`andler ran, say whether there are `k`ids, leave in good `o`rder. */
static void live(int fd, pid_t pid)
{
    char word;
    while (recv(fd, &word, 1, 0) == 1) {
        if (word == 'c') {
            close(fd);
            pause();
        }
        if (word == 'o') undertaker_end(pid);
        if (word == 'h') word = handled ? 'y' : 'n';
        if (word == 'k') word = waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD ? 'n' : 'y';
        (void)!send(fd, &word, 1, MSG_NOSIGNAL);
    }
    _exit(0);
}

static char ask(char word)
{
    assert_int_equal(send(line, &word, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(line, &word, 1, 0), 1);
    return word;
}

/* A system call that is not to be had here; 0: all are. */
static void refuse(uint32_t number)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (!number) return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(2);
}

static void begin_without(uint32_t number)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    agent = fork();
    assert_true(agent >= 0);
    if (agent == 0) {
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (number) close(STDERR_FILENO); /* on which it says that there is none */
        (void)signal(SIGUSR1, handle);
        refuse(number);
        const pid_t pid = undertaker_begin();
        (void)!send(ends[1], &pid, sizeof pid, MSG_NOSIGNAL);
        live(ends[1], pid);
    }
    close(ends[1]);
    line = ends[0];
    assert_int_equal(recv(line, &undertaker, sizeof undertaker, MSG_WAITALL), sizeof undertaker);
}

static void put_down(void)
{
    if (agent == 0) return;
    kill(agent, SIGKILL);
    assert_int_equal(waitpid(agent, NULL, 0), agent);
    agent = 0;
}

static int end(void **state)
{
    put_down();
    if (undertaker > 0) kill(undertaker, SIGKILL); /* ours by now: see main */
    while (waitpid(-1, NULL, __WALL) > 0) {}
    undertaker = 0;
    close(line);
    return 0;
}

static int begin(void **state)
{
    begin_without(0);
    if (undertaker > 0) return 0;
    (void)end(state);
    return -1;
}

static bool has_come(int fd)
{
    const char *wanted = getenv("ELECTOR_GIVE_UP_S");
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    return poll(&polled, 1, wanted ? 1000 * (int)strtol(wanted, NULL, 10) : 60000) == 1;
}

static bool has_ended(int fd)
{
    char word;
    return has_come(fd) && recv(fd, &word, 1, MSG_DONTWAIT) <= 0;
}

/* Once the agent has. */
static void it_ends(void)
{
    const int process = (int)syscall(SYS_pidfd_open, undertaker, 0);
    const bool has_ended = has_come(process);
    close(process);
    assert_true(has_ended);
    assert_int_equal(waitpid(undertaker, NULL, 0), undertaker);
    undertaker = 0;
}

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static int count_descriptors(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *one = readdir(folder); one; one = readdir(folder)) count += one->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* A number of /proc/PID/status. */
static unsigned long long status_of(pid_t pid, const char *field, int base)
{
    char path[64], text[256];
    unsigned long long number = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(text, sizeof text, file))
        if (strncmp(text, field, strlen(field)) == 0) number = strtoull(text + strlen(field), NULL, base);
    fclose(file);
    return number;
}

static bool is_deaf_to(pid_t pid, int number)
{
    return status_of(pid, "SigBlk:", 16) >> (number - 1) & 1;
}

/* ---- What it keeps ---- */

static void it_keeps_no_descriptor_of_the_agent(void **state)
{
    assert_int_equal(count_descriptors(undertaker), 1); /* the agent's pidfd */
    assert_int_equal(send(line, "c", 1, MSG_NOSIGNAL), 1);
    assert_true(has_ended(line));
    assert_true(is_there(undertaker));
}

/* Stopped, so that what happens is not by its doing. */
static void the_memory_is_left_when_all_else_of_the_agent_is_gone(void **state)
{
    kill(undertaker, SIGSTOP);
    put_down();
    assert_true(has_ended(line));
    assert_true(status_of(undertaker, "VmRSS:", 10) > 0);
    kill(undertaker, SIGCONT);
    it_ends();
}

/* ---- How it ends ---- */

static void it_ends_with_the_agent(void **state)
{
    put_down();
    it_ends();
}

static void in_good_order_nothing_is_left_of_it(void **state)
{
    assert_int_equal(ask('o'), 'o');
    assert_false(is_there(undertaker));
    undertaker = 0;
    assert_int_equal(ask('k'), 'n');
}

/* Who stops a whole service means the agent, and no handler of the agent's is to run for another. */
static void signals_are_not_for_it(void **state)
{
    static const int signals[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_true(is_deaf_to(undertaker, signals[i]));
        kill(undertaker, signals[i]);
    }
    assert_int_equal(ask('h'), 'n');
    kill(agent, SIGUSR1); /* which are for the agent as before */
    assert_int_equal(ask('h'), 'y');
}

/* ---- Where there is none ---- */

static void goes_on_without(uint32_t number)
{
    begin_without(number);
    assert_int_equal(undertaker, 0);
    assert_int_equal(ask('k'), 'n');
    put_down();
    assert_true(has_ended(line));
}

static void where_none_can_begin_the_agent_goes_on(void **state)
{
    goes_on_without(SYS_clone);
}

static void one_that_cannot_let_go_of_descriptors_is_none(void **state)
{
    goes_on_without(SYS_close_range);
}

static void one_that_cannot_know_of_the_end_is_none(void **state)
{
    goes_on_without(SYS_pidfd_open);
}

static void how_urgent_it_is_is_nothing_it_needs(void **state)
{
    begin_without(SYS_sched_setscheduler);
    assert_true(undertaker > 0);
    it_ends_with_the_agent(state);
}

int main(void)
{
#define BESIDE_AN_AGENT(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        BESIDE_AN_AGENT(it_keeps_no_descriptor_of_the_agent),
        BESIDE_AN_AGENT(the_memory_is_left_when_all_else_of_the_agent_is_gone),
        BESIDE_AN_AGENT(it_ends_with_the_agent),
        BESIDE_AN_AGENT(in_good_order_nothing_is_left_of_it),
        BESIDE_AN_AGENT(signals_are_not_for_it),
        cmocka_unit_test_teardown(where_none_can_begin_the_agent_goes_on, end),
        cmocka_unit_test_teardown(one_that_cannot_let_go_of_descriptors_is_none, end),
        cmocka_unit_test_teardown(one_that_cannot_know_of_the_end_is_none, end),
        cmocka_unit_test_teardown(how_urgent_it_is_is_nothing_it_needs, end),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
