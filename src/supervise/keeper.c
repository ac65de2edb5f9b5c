/*
 * The keeper's process: starts the command, and kills it with all its descendants when the supervisor dies, when its
 * time is up (obey_the_clock()), or when the guardian asks for it. An open keeper runs the hooks of a tenure, too.
 *
 * Nothing here waits for a reader of standard error: what there is to say is said last (say_farewell()).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel/realtime.h"
#include "base/log/outlet.h"
#include "supervise/helper_command.h"
#include "supervise/supervise.h"

enum { KILL_AGAIN_MS = 20, HANGS_AFTER_MS = 1000, CANNOT_EXECUTE = 126, NOT_FOUND = 127 };

enum program { NOTHING, FIRST_HOOK, COMMAND, LAST_HOOK };

struct keeper {
    struct supervise *work;
    const struct supervise_command *command;
    int signals, timer;
    uint64_t timer_at_ns;
    enum program program; /* the latest that was started */
    uint64_t until_ns;    /* when to kill it; 0: it is no hook */
    bool takes_terminal;
    bool killing, reported_exit, reported_empty;
    bool is_ending;    /* the tenure is over: run the last hook and exit */
    bool is_alone;     /* and nobody has ordered that */
    bool was_orphaned; /* while the tenure lasted */
    bool had_command, is_too_late;
    bool owes_last; /* the last hook has not begun */
    int last_status;
    bool line_ended; /* it was closed or has ended */
};

static void report(const struct keeper *keeper, int kind, int value)
{
    const struct supervise_message message = {kind, value};
    const ssize_t sent = send(keeper->work->socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* on_order() notices a supervisor that is gone */
}

static bool is_hook(enum program program)
{
    return program == FIRST_HOOK || program == LAST_HOOK;
}

static const struct supervise_hook *hook_of(const struct keeper *keeper)
{
    return keeper->program == FIRST_HOOK ? &keeper->command->first : &keeper->command->last;
}

/* ---- A program, up to where it executes ------------------------------------------------------------- */

static void restore_signals(const struct keeper *keeper)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    if (is_hook(keeper->program) || !keeper->command->ignores_pipe) sigaction(SIGPIPE, &usual, NULL);
    sigprocmask(SIG_SETMASK, &keeper->command->signals, NULL);
}

static void set_end_variable(const struct keeper *keeper)
{
    char text[24];
    if (!keeper->work->is_open || !keeper->command->end_variable) return;
    snprintf(text, sizeof text, "%" PRIu64, atomic_load(&keeper->work->page->end_at_ns));
    setenv(keeper->command->end_variable, text, 1);
}

static void prepare_hook(const struct supervise_hook *hook)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    for (size_t i = 0; i < sizeof hook->variables / sizeof *hook->variables; i++)
        if (hook->variables[i]) putenv(hook->variables[i]);
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
static _Noreturn void become_program(const struct keeper *keeper, pid_t parent)
{
    struct supervise_page *page = keeper->work->page;
    const bool is_command = keeper->program == COMMAND;
    char *const *words = is_command ? keeper->command->words : hook_of(keeper)->words;
    setpgid(0, 0);
    atomic_store(&page->command, getpid());
    supervise_cgroup_join(&keeper->work->tree);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(CANNOT_EXECUTE);
    if (is_command && keeper->takes_terminal) tcsetpgrp(STDIN_FILENO, getpid());
    if (!is_command) prepare_hook(hook_of(keeper));
    set_end_variable(keeper);
    realtime_end();
    restore_signals(keeper);
    if (keeper->program != LAST_HOOK && is_time_up(page)) { /* supervisor or keeper was stopped meanwhile */
        atomic_store(&page->overdue, true);
        _exit(CANNOT_EXECUTE);
    }
    execvp(words[0], words);
    const int error = errno;
    atomic_store(&page->exec_error, error);
    _exit(error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

static void start_program(struct keeper *keeper, enum program program)
{
    struct supervise_tree *tree = &keeper->work->tree;
    const pid_t self = getpid();
    keeper->program = program;
    keeper->killing = keeper->reported_exit = keeper->reported_empty = false;
    keeper->had_command = keeper->had_command || program == COMMAND;
    keeper->until_ns = is_hook(program) ? supervise_now_ns() + keeper->command->hook_timeout_ns : 0;
    tree->leader = tree->leader_stopped_by = 0;
    tree->leader_ended = tree->leader_reaped = tree->empty = false;
    tree->left_killed = 0;
    const pid_t child = fork();
    if (child == 0) become_program(keeper, self);
    if (child < 0) {
        atomic_store(&keeper->work->page->exec_error, errno);
        return;
    }
    setpgid(child, child); /* as the child does: a signal may come before the child runs */
    tree->leader = child;
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

/* The lease bounds a last hook that nobody has ordered, unless the lease had ended before. */
static void bound_last_hook(struct keeper *keeper)
{
    const uint64_t end_at_ns = atomic_load(&keeper->work->page->end_at_ns);
    keeper->is_too_late = end_at_ns && end_at_ns <= supervise_now_ns();
    if (end_at_ns && !keeper->is_too_late && end_at_ns < keeper->until_ns) keeper->until_ns = end_at_ns;
}

/* Ends the tenure without an order. A last hook that runs already goes on. */
static void end_alone(struct keeper *keeper)
{
    keeper->is_ending = keeper->is_alone = true;
    if (keeper->program == LAST_HOOK)
        bound_last_hook(keeper);
    else
        kill_all(keeper);
}

static void on_orphaned(struct keeper *keeper)
{
    keeper->was_orphaned = !keeper->killing || keeper->work->is_open;
    close(keeper->work->socket);
    keeper->work->socket = -1;              /* poll skips it */
    supervise_line_end(keeper->work->line); /* nobody is left to start a command */
    end_alone(keeper);
}

/* The order came too late: the tenure is over. The supervisor waits for these reports. */
static void refuse_to_start(struct keeper *keeper, bool is_hook)
{
    mark_overdue(keeper);
    report(keeper, SUPERVISE_EXITED, is_hook ? SUPERVISE_WAS_KILLED : 128 + SIGKILL);
    report(keeper, SUPERVISE_EMPTY, 0);
}

static void start_by_order(struct keeper *keeper, const struct supervise_message *message)
{
    const bool is_first = message->kind == SUPERVISE_START_FIRST;
    if (keeper->is_ending) {
        refuse_to_start(keeper, is_first);
        return;
    }
    atomic_store(&keeper->work->page->exec_error, 0);
    atomic_store(&keeper->work->page->overdue, false);
    keeper->takes_terminal = message->value;
    start_program(keeper, is_first ? FIRST_HOOK : COMMAND);
}

static void obey(struct keeper *keeper, const struct supervise_message *message)
{
    switch (message->kind) {
    case SUPERVISE_START:
    case SUPERVISE_START_FIRST: start_by_order(keeper, message); break;
    case SUPERVISE_FINISH: keeper->is_ending = true; break;
    case SUPERVISE_KILL_ALL:
        if (keeper->program != LAST_HOOK) kill_all(keeper);
        break;
    case SUPERVISE_STOP_ALL:
        if (keeper->program != LAST_HOOK) stop_all(keeper);
        break;
    default: supervise_tree_signal(&keeper->work->tree, message->kind); break;
    }
}

static void on_order(struct keeper *keeper)
{
    struct supervise_message message;
    const ssize_t size = recv(keeper->work->socket, &message, sizeof message, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size != (ssize_t)sizeof message)
        on_orphaned(keeper);
    else
        obey(keeper, &message);
}

static void read_line(struct keeper *keeper)
{
    if (keeper->line_ended) return;
    const enum supervise_word word = supervise_line_read(keeper->work->line);
    keeper->line_ended = word != SUPERVISE_SILENCE;
    if (word != SUPERVISE_END) return; /* if agent and guardian are gone, the deadline decides */
    mark_overdue(keeper);              /* so that the supervisor does not take it for an exit of the command */
    end_alone(keeper);
}

/* ---- Time ----------------------------------------------------------------------------------------- */

static void obey_the_clock(struct keeper *keeper)
{
    if (!keeper->is_ending && !keeper->killing && is_time_up(keeper->work->page)) {
        mark_overdue(keeper);
        end_alone(keeper);
    }
    if (keeper->until_ns && !keeper->killing && supervise_now_ns() >= keeper->until_ns) kill_all(keeper);
}

/* The supervisor moves the time in the page without a message: read it again when the known time has passed. */
static void set_timer(struct keeper *keeper)
{
    const uint64_t kill_at_ns = keeper->is_ending ? 0 : atomic_load(&keeper->work->page->kill_at_ns);
    uint64_t at_ns = keeper->until_ns;
    if (kill_at_ns && (!at_ns || kill_at_ns < at_ns)) at_ns = kill_at_ns;
    if (keeper->killing) at_ns = 0;
    if (at_ns == keeper->timer_at_ns) return;
    keeper->timer_at_ns = at_ns;
    clock_arm(keeper->timer, at_ns);
}

/* ---- The loop ------------------------------------------------------------------------------------- */

static void drain(int descriptor)
{
    char bytes[1024];
    while (read(descriptor, bytes, sizeof bytes) > 0) {}
}

/* As waitpid() tells it. */
static int hook_status(const struct keeper *keeper)
{
    const struct supervise_tree *tree = &keeper->work->tree;
    const int error = atomic_load(&keeper->work->page->exec_error);
    if (error) return (error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE) << 8;
    if (keeper->killing) return SUPERVISE_WAS_KILLED;
    return tree->leader_code == CLD_EXITED ? tree->leader_status << 8 : tree->leader_status;
}

static void report_exit(struct keeper *keeper)
{
    const struct supervise_tree *tree = &keeper->work->tree;
    const int error = atomic_load(&keeper->work->page->exec_error);
    keeper->reported_exit = true;
    if (keeper->program == LAST_HOOK) {
        keeper->last_status = hook_status(keeper);
    } else if (keeper->program == FIRST_HOOK) {
        report(keeper, SUPERVISE_EXITED, hook_status(keeper));
    } else if (error) {
        report(keeper, SUPERVISE_FAILED, error);
    } else {
        report(keeper, SUPERVISE_EXITED,
               tree->leader_code == CLD_EXITED ? tree->leader_status : 128 + tree->leader_status);
    }
    if (is_hook(keeper->program) && !tree->empty) kill_all(keeper); /* what it has left behind */
}

static void reap_and_report(struct keeper *keeper)
{
    struct supervise_tree *tree = &keeper->work->tree;
    supervise_tree_reap(tree);
    if (tree->leader_stopped_by && keeper->program == COMMAND)
        report(keeper, SUPERVISE_STOPPED, tree->leader_stopped_by);
    tree->leader_stopped_by = 0;
    if (!keeper->reported_exit && (tree->leader_ended || tree->empty)) report_exit(keeper);
}

static int left_killed(const struct keeper *keeper)
{
    return keeper->program == COMMAND ? (int)keeper->work->tree.left_killed : 0;
}

/* Nothing runs. True: nothing more is to be done. */
static bool go_on(struct keeper *keeper)
{
    if (!keeper->work->is_open || keeper->program == LAST_HOOK) return true;
    if (!keeper->reported_empty) report(keeper, SUPERVISE_EMPTY, left_killed(keeper));
    keeper->reported_empty = true;
    keeper->killing = false;
    if (!keeper->is_ending) return false;
    if (!keeper->owes_last) return true;
    keeper->owes_last = false;
    atomic_store(&keeper->work->page->exec_error, 0);
    start_program(keeper, LAST_HOOK);
    if (keeper->is_alone) bound_last_hook(keeper);
    reap_and_report(keeper);
    return keeper->work->tree.empty; /* no process could be created */
}

static void wait_for_events(struct keeper *keeper)
{
    const struct supervise_line *line = keeper->work->line;
    struct pollfd polled[] = {{.fd = keeper->work->socket, .events = POLLIN},
                              {.fd = keeper->signals, .events = POLLIN},
                              {.fd = keeper->timer, .events = POLLIN},
                              {.fd = line && !keeper->line_ended ? line->socket : -1, .events = POLLIN}};
    const bool was_killing = keeper->killing;
    poll(polled, sizeof polled / sizeof *polled, keeper->killing ? KILL_AGAIN_MS : -1);
    if (polled[3].revents) read_line(keeper); /* first: other members wait for the answer */
    if (polled[1].revents) drain(keeper->signals);
    if (polled[2].revents) drain(keeper->timer);
    if (polled[0].revents) on_order(keeper);
    reap_and_report(keeper);
    if (was_killing && keeper->killing && !keeper->work->tree.empty)
        supervise_tree_signal_all(&keeper->work->tree, SIGKILL);
}

/* Our own group, so that keys pressed at the terminal do not reach us. All signals are blocked but SIGKILL, SIGSTOP and the one that
 * ends a real-time burst. */
static void set_up(struct keeper *keeper)
{
    sigset_t all, children;
    if (keeper->command->is_realtime)
        (void)realtime_begin(REALTIME_KEEPER, REALTIME_ALONE); /* the supervisor has said what is refused */
    sigfillset(&all);
    if (keeper->command->is_realtime) sigdelset(&all, SIGXCPU);
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

/*
 * We had to kill at the deadline, and the supervisor does not take notice: it hangs. Its agent would renew the lease for
 * ever, though nobody works. So the last keeper ends the connection, which they all share with the supervisor. The line
 * is ended before that: a supervisor that wakes up at this moment starts no command over this connection.
 */
static void disconnect_if_supervisor_hangs(const struct keeper *keeper)
{
    const struct supervise *work = keeper->work;
    struct pollfd polled = {.fd = work->socket, .events = POLLIN};
    if (!atomic_load(&work->page->overdue) || !work->line || work->socket < 0 ||
        keeper->command->connection <= 0)
        return;
    if (poll(&polled, 1, HANGS_AFTER_MS) != 0) return; /* it has closed its end, or is gone */
    supervise_line_end(work->line);
    if (atomic_load(&work->line->works) == 0) shutdown(keeper->command->connection, SHUT_RDWR);
}

/* Nobody waits for this: leadership is released when the descriptors are closed. */
static _Noreturn void say_farewell(const struct keeper *keeper)
{
    const struct supervise_command *command = keeper->command;
    char text[512] = "", status[80];
    int size = 0;
    if (keeper->was_orphaned)
        size = snprintf(text, sizeof text, "%s: elector run died%s", command->about,
                        keeper->had_command ? "; killed the command" : "");
    if (size > 0 && keeper->program == LAST_HOOK)
        size += snprintf(text + size, sizeof text - (size_t)size, "; %s %s%s", command->last.name,
                         helper_describe(keeper->last_status, status, sizeof status),
                         keeper->is_too_late ? ", after the end of the lease" : "");
    if (size > 0) snprintf(text + size, sizeof text - (size_t)size, "\n");
    outlet_last_words(text, 0);
}

static void begin(struct keeper *keeper)
{
    struct supervise *work = keeper->work;
    set_up(keeper);
    read_line(keeper);
    work->tree.empty = work->is_open;
    keeper->reported_exit = keeper->reported_empty = work->is_open; /* there is no program yet */
    keeper->owes_last = work->is_open && keeper->command->last.words && !keeper->line_ended;
    if (keeper->signals < 0 || keeper->timer < 0) {
        atomic_store(&work->page->exec_error, errno);
        keeper->is_ending = true;
    } else if (keeper->line_ended) {
        atomic_store(&work->page->overdue, true);
        keeper->is_ending = true;
    } else if (!work->is_open) {
        keeper->takes_terminal = keeper->command->takes_terminal;
        start_program(keeper, COMMAND);
    }
    if (!work->is_open) release_output();
}

_Noreturn void supervise_run_keeper(struct supervise *work, const struct supervise_command *command)
{
    struct keeper keeper = {.work = work, .command = command};
    begin(&keeper);
    reap_and_report(&keeper);
    for (;;) {
        obey_the_clock(&keeper);
        if (work->tree.empty && go_on(&keeper)) break;
        set_timer(&keeper);
        (void)realtime_resume();
        wait_for_events(&keeper);
    }
    if (work->is_open) release_output();
    supervise_line_remove_work(work->line, &work->page->is_counted);
    if (work->is_open)
        report(&keeper, SUPERVISE_CLOSED, keeper.last_status);
    else
        report(&keeper, SUPERVISE_EMPTY, left_killed(&keeper));
    disconnect_if_supervisor_hangs(&keeper);
    supervise_cgroup_remove(&work->tree); /* it is slow */
    say_farewell(&keeper);
}
