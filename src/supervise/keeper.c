/*
 * The keeper's process: starts the command, and kills it with all its descendants when the supervisor dies, when its
 * time is up (kill_when_time_is_up()), or when the guardian asks for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervise/supervise.h"

enum { KILL_AGAIN_MS = 20, CANNOT_EXECUTE = 126, NOT_FOUND = 127 };

struct keeper {
    struct supervise *work;
    const struct supervise_command *command;
    int signals, timer;
    uint64_t timer_at_ns;
    bool killing, reported_exit;
    bool line_ended; /* it was closed or has ended */
};

static void report(const struct keeper *keeper, int kind, int value)
{
    const struct supervise_message message = {kind, value};
    const ssize_t sent = send(keeper->work->socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* on_order() notices a supervisor that is gone */
}

/* ---- The command, up to where it executes --------------------------------------------------------- */

static void restore_signals(const struct supervise_command *command)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    if (!command->ignores_pipe) sigaction(SIGPIPE, &usual, NULL);
    sigprocmask(SIG_SETMASK, &command->signals, NULL);
}

static bool is_time_up(const struct supervise_page *page)
{
    const uint64_t at_ns = atomic_load(&page->kill_at_ns);
    return at_ns && supervise_now_ns() >= at_ns;
}

/*
 * Order matters: write our process id to the page, ask the kernel to kill us when the keeper dies, then check that
 * the keeper lives. If it has died before, either we notice, or the supervisor finds our process id.
 */
static _Noreturn void become_command(const struct keeper *keeper, pid_t parent)
{
    struct supervise_page *page = keeper->work->page;
    setpgid(0, 0);
    atomic_store(&page->command, getpid());
    supervise_cgroup_join(&keeper->work->tree);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(CANNOT_EXECUTE);
    if (keeper->command->takes_terminal) tcsetpgrp(STDIN_FILENO, getpid());
    restore_signals(keeper->command);
    if (is_time_up(page)) { /* supervisor or keeper was stopped meanwhile */
        atomic_store(&page->overdue, true);
        _exit(CANNOT_EXECUTE);
    }
    execvp(keeper->command->words[0], keeper->command->words);
    const int error = errno;
    atomic_store(&page->exec_error, error);
    _exit(error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

static void start_command(struct keeper *keeper)
{
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) become_command(keeper, self);
    if (child < 0) {
        atomic_store(&keeper->work->page->exec_error, errno);
        return;
    }
    setpgid(child, child); /* as the child does: a signal may come before the child runs */
    keeper->work->tree.leader = child;
}

/* ---- Stopping it -------------------------------------------------------------------------------------- */

/* SIGCONT, since a stopped process does not handle SIGTERM. */
static void stop_all(const struct keeper *keeper)
{
    supervise_tree_signal_all(&keeper->work->tree, SIGTERM);
    supervise_tree_signal_all(&keeper->work->tree, SIGCONT);
}

static void mark_overdue(const struct keeper *keeper)
{
    atomic_store(&keeper->work->page->overdue, true);
}

static void kill_all(struct keeper *keeper)
{
    keeper->killing = true;
    supervise_tree_signal_all(&keeper->work->tree, SIGKILL);
}

static void on_orphaned(struct keeper *keeper)
{
    if (!keeper->killing)
        dprintf(STDERR_FILENO, "%s: elector run died; killing the command\n", keeper->command->about);
    close(keeper->work->socket);
    keeper->work->socket = -1;              /* poll skips it */
    supervise_line_end(keeper->work->line); /* nobody is left to start a command */
    kill_all(keeper);
}

static void on_order(struct keeper *keeper)
{
    struct supervise_message message;
    const ssize_t size = recv(keeper->work->socket, &message, sizeof message, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size != (ssize_t)sizeof message) {
        on_orphaned(keeper);
    } else if (message.kind == SUPERVISE_KILL_ALL) {
        kill_all(keeper);
    } else if (message.kind == SUPERVISE_STOP_ALL) {
        stop_all(keeper);
    } else {
        supervise_tree_signal(&keeper->work->tree, message.kind);
    }
}

static void read_line(struct keeper *keeper)
{
    if (keeper->line_ended) return;
    const enum supervise_word word = supervise_line_read(keeper->work->line);
    keeper->line_ended = word != SUPERVISE_SILENCE;
    if (word != SUPERVISE_END) return; /* if agent and guardian are gone, the deadline decides */
    mark_overdue(keeper);              /* so that the supervisor does not take it for an exit of the command */
    kill_all(keeper);
}

/* ---- Time ----------------------------------------------------------------------------------------- */

static void set_timer(struct keeper *keeper, uint64_t at_ns)
{
    keeper->timer_at_ns = at_ns;
    clock_arm(keeper->timer, at_ns);
}

/* The supervisor moves the time in the page without a message: read it when the known time has passed. */
static void kill_when_time_is_up(struct keeper *keeper)
{
    const uint64_t at_ns = atomic_load(&keeper->work->page->kill_at_ns);
    if (is_time_up(keeper->work->page) && !keeper->killing) {
        mark_overdue(keeper);
        kill_all(keeper);
    }
    if (at_ns != keeper->timer_at_ns) set_timer(keeper, at_ns);
}

/* ---- The loop ------------------------------------------------------------------------------------- */

static void drain(int descriptor)
{
    char bytes[1024];
    while (read(descriptor, bytes, sizeof bytes) > 0) {}
}

static void report_exit(struct keeper *keeper)
{
    const struct supervise_tree *tree = &keeper->work->tree;
    const int error = atomic_load(&keeper->work->page->exec_error);
    keeper->reported_exit = true;
    if (error) {
        report(keeper, SUPERVISE_FAILED, error);
    } else {
        report(keeper, SUPERVISE_EXITED,
               tree->leader_code == CLD_EXITED ? tree->leader_status : 128 + tree->leader_status);
    }
}

static void reap_and_report(struct keeper *keeper)
{
    struct supervise_tree *tree = &keeper->work->tree;
    supervise_tree_reap(tree);
    if (tree->leader_stopped_by) {
        report(keeper, SUPERVISE_STOPPED, tree->leader_stopped_by);
        tree->leader_stopped_by = 0;
    }
    if (!keeper->reported_exit && (tree->leader_ended || tree->empty)) report_exit(keeper);
}

/* Our own group, so that keys pressed at the terminal do not reach us. All signals but SIGKILL and SIGSTOP are blocked. */
static void set_up(struct keeper *keeper)
{
    sigset_t all, children;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "elector-keeper", 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    keeper->signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    keeper->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

/* So that a reader of the command's output sees its end when the command exits. */
static void release_output(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return;
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    close(nothing);
}

_Noreturn void supervise_run_keeper(struct supervise *work, const struct supervise_command *command)
{
    struct keeper keeper = {.work = work, .command = command};
    const struct supervise_line *line = work->line;
    set_up(&keeper);
    read_line(&keeper);
    if (keeper.signals < 0 || keeper.timer < 0) {
        atomic_store(&work->page->exec_error, errno);
    } else if (keeper.line_ended) {
        atomic_store(&work->page->overdue, true);
    } else {
        start_command(&keeper);
    }
    release_output();
    reap_and_report(&keeper);
    while (!work->tree.empty) {
        const bool was_killing = keeper.killing;
        struct pollfd polled[] = {{.fd = work->socket, .events = POLLIN},
                                  {.fd = keeper.signals, .events = POLLIN},
                                  {.fd = keeper.timer, .events = POLLIN},
                                  {.fd = line && !keeper.line_ended ? line->socket : -1, .events = POLLIN}};
        kill_when_time_is_up(&keeper);
        poll(polled, sizeof polled / sizeof *polled, keeper.killing ? KILL_AGAIN_MS : -1);
        if (polled[3].revents) read_line(&keeper); /* first: other members wait for the answer */
        if (polled[1].revents) drain(keeper.signals);
        if (polled[2].revents) drain(keeper.timer);
        if (polled[0].revents) on_order(&keeper);
        reap_and_report(&keeper);
        if (was_killing && !work->tree.empty) supervise_tree_signal_all(&work->tree, SIGKILL);
    }
    supervise_line_remove_work(work->line, &work->page->is_counted);
    report(&keeper, SUPERVISE_EMPTY, 0);
    supervise_cgroup_remove(&work->tree); /* last: it is slow */
    _exit(0);
}
