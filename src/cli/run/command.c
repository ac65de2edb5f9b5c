/* Starts the command, handles its exit, and decides about a restart. deadline.c stops it. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/run/run.h"
#include "client/engine.h"

static const uint64_t first_backoff_ns = NS_PER_S / 10, last_backoff_ns = 30 * NS_PER_S,
                      steady_ns = 60 * NS_PER_S;
static const uint64_t quick_ns = 10 * NS_PER_S;

enum { QUICK_FAILURES_MAX = 3 };

/* ---- Before the campaign --------------------------------------------------------------------------- */

/* 0, or the errno with which execvp() would fail. */
static int look_at(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (!S_ISREG(status.st_mode)) return EACCES;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* As execvp(): in each folder of PATH, of which an empty one is this one. */
static int look_for(const char *name)
{
    const char *folder = getenv("PATH");
    char path[PATH_MAX];
    int error = ENOENT;
    if (strchr(name, '/')) return look_at(name);
    for (folder = folder ? folder : "/bin:/usr/bin";; folder++) {
        const int length = (int)strcspn(folder, ":");
        const int size = snprintf(path, sizeof path, "%.*s%s%s", length, folder, length ? "/" : "", name);
        const int found = size > 0 && (size_t)size < sizeof path ? look_at(path) : ENAMETOOLONG;
        if (found == 0) return 0;
        if (found == EACCES) error = EACCES;
        folder += length;
        if (!*folder) return error;
    }
}

int run_look_for_command(const struct run_request *request)
{
    const bool is_sure =
        request->command && !request->hooks[RUN_HOOK_ELECTED]; /* the hook may bring it: a mount */
    const int error = is_sure ? look_for(request->command[0]) : 0;
    if (!error) return CLI_YES;
    fprintf(stderr, "elector run: cannot run %s: %s; not campaigning for %s\n", request->command[0],
            strerror(error), request->groups->names[0]);
    return error == ENOENT || error == ENOTDIR ? 127 : 126;
}

/* ---- Start ------------------------------------------------------------------------------------- */

static void set_number(const char *name, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    setenv(name, text, 1);
}

void run_set_environment(struct run *run, uint64_t token, uint64_t deadline_ns)
{
    setenv("ELECTOR_GROUP", run->group, 1);
    setenv("ELECTOR_ID", run->runner->id, 1);
    setenv("ELECTOR_SOCKET", run->runner->url, 1);
    set_number("ELECTOR_TOKEN", token);
    set_number("ELECTOR_DEADLINE_NS", deadline_ns == UINT64_MAX ? 0 : deadline_ns);
}

static void describe_hooks(struct runner *runner)
{
    static char elected[] = "ELECTOR_EVENT=elected", lost[] = "ELECTOR_EVENT=lost",
                nobody[] = "ELECTOR_LEADER=";
    struct helper_words *const *hooks = runner->request->hooks;
    struct supervise_command *command = &runner->command;
    snprintf(runner->leader_variable, sizeof runner->leader_variable, "ELECTOR_LEADER=%s", runner->id);
    command->first = (struct supervise_hook){"--on-elected", NULL, {elected, runner->leader_variable}};
    command->last = (struct supervise_hook){"--on-lost", NULL, {lost, nobody}};
    if (hooks[RUN_HOOK_ELECTED]) command->first.words = hooks[RUN_HOOK_ELECTED]->list;
    if (hooks[RUN_HOOK_LOST]) command->last.words = hooks[RUN_HOOK_LOST]->list;
    command->hook_timeout_ns = runner->request->hook_timeout_ns;
    command->end_variable = "ELECTOR_DEADLINE_NS";
}

static void describe_tenure(const struct run *run)
{
    struct supervise_command *command = &run->runner->command;
    snprintf(command->about, sizeof command->about, "elector run: %s", run->group);
    command->connection = run_has_agent(run->runner) ? engine_socket(run->runner->elector) : 0;
}

int run_open_keeper(struct run *run)
{
    struct supervise_command *command = &run->runner->command;
    if (!run_has_tenure_hooks(run->request) || run->work.keeper) return 0;
    run_set_environment(run, run->token, run_lease_end(run));
    describe_hooks(run->runner);
    describe_tenure(run);
    const int error = supervise_open(&run->work, command, run->stop.kill_at_ns);
    supervise_set_end(&run->work, run_lease_end(run));
    return error;
}

/* Checks the clock last, so that no command starts after SIGTERM is due. */
void run_start(struct run *run)
{
    run_read_deadline(run);
    run_set_environment(run, run->token, run_lease_end(run));
    const uint64_t now_ns = supervise_now_ns();
    if (run_must_stop(run)) return;
    struct supervise_command *command = &run->runner->command;
    run->has_terminal = command->words && run->runner->count == 1 && isatty(STDIN_FILENO) &&
                        tcgetpgrp(STDIN_FILENO) == getpgrp();
    command->takes_terminal = run->has_terminal;
    describe_tenure(run);
    int error = run_open_keeper(run);
    if (!error && command->words) error = supervise_start(&run->work, command, run->stop.kill_at_ns);
    if (error) {
        run_say(run, "cannot create a process for the command: %s; giving up this group", strerror(error));
        run->exited = run->exec_failed = true; /* for good, as if it could not be executed */
        run->status = CLI_CANNOT_TELL;
        run_end_tenure(run);
        return;
    }
    run_enter(run, RUN_WORK);
    run->started_ns = now_ns;
    run->exec_failed = run->killed = run->exited = false;
    run->status = 0;
}

/* ---- Exit and restart ----------------------------------------------------------------------------- */

bool run_is_to_restart(const struct run *run)
{
    if (run->exec_failed || run->ending_signal) return false;
    return run->request->restart == RUN_ALWAYS || (run->request->restart == RUN_ON_FAILURE && run->status != 0);
}

static void restart_later(struct run *run)
{
    const uint64_t now_ns = supervise_now_ns();
    if (now_ns - run->started_ns >= steady_ns) run->backoff_ns = 0;
    run->backoff_ns = run->backoff_ns ? 2 * run->backoff_ns : first_backoff_ns;
    if (run->backoff_ns > last_backoff_ns) run->backoff_ns = last_backoff_ns;
    if (!run->request->quiet)
        run_say(run, "the command ended with %d; starting it again in %.1f s", run->status,
                (double)run->backoff_ns / 1e9);
    run_enter(run, RUN_READY);
    run->exited = false;
    run->next_ns = now_ns + run->backoff_ns;
}

/* A command that fails three times, each within 10 s of its start, may do better on another host. */
static void count_failure(struct run *run)
{
    const bool quick = run->status != 0 && supervise_now_ns() - run->started_ns < quick_ns;
    run->quick_failures = quick ? run->quick_failures + 1 : 0;
    if (run->quick_failures < QUICK_FAILURES_MAX || !run->request->penalty_ns) return;
    run_hand_over(run, RUN_ASKS_FOR_FAILURES);
}

/* Only now may another host lead. */
static void on_nothing_left(struct run *run, int left_killed)
{
    if (left_killed > 0 && run->exited && !run->killed)
        run_say(run, "the command ended with %d, and left %d process%s behind: ended by SIGTERM", run->status,
                left_killed, left_killed == 1 ? "" : "es");
    if (run->has_terminal && tcgetpgrp(STDIN_FILENO) == run->pid) tcsetpgrp(STDIN_FILENO, getpgrp());
    run->has_terminal = false;
    if (run->state == RUN_WORK) run_enter(run, RUN_STOPPING); /* the report of its exit was lost */
    if (run->exited && run_leads(run) && run_is_to_restart(run)) {
        restart_later(run);
        count_failure(run);
    } else {
        run_end_tenure(run);
    }
}

/* The command exited or was killed; what it has left behind must end, too. */
static void on_command_exit(struct run *run, int status)
{
    const bool is_overdue = atomic_load(&run->work.page->overdue);
    run->status = status;
    if (is_overdue && !run->killed)
        run_say(run, "the keeper has killed the command: the lease was about to end, or the agent has died");
    if (run->state != RUN_WORK) return;
    run->exited = !is_overdue;
    run_stop(run);
}

static void on_exec_failed(struct run *run, int error)
{
    run->exec_failed = true;
    run_say(run, "cannot run %s: %s", run->request->command[0], strerror(error));
    on_command_exit(run, error == ENOENT ? 127 : 126);
}

/* A command has a terminal only if there is one group. */
void run_suspend(struct runner *runner, int signal)
{
    const struct run *first = &runner->runs[0];
    for (size_t i = 0; i < runner->count; i++) supervise_signal(&runner->runs[i].work, signal);
    if (first->has_terminal && tcgetpgrp(STDIN_FILENO) == first->pid) tcsetpgrp(STDIN_FILENO, getpgrp());
    raise(SIGSTOP);
    /* Continued by SIGCONT, perhaps much later. */
    if (first->has_terminal && tcgetpgrp(STDIN_FILENO) == getpgrp()) tcsetpgrp(STDIN_FILENO, first->pid);
    for (size_t i = 0; i < runner->count; i++) {
        run_read_deadline(&runner->runs[i]);
        supervise_signal(&runner->runs[i].work, SIGCONT);
    }
}

/* A keeper that ends unasked has ended the tenure, and has run --on-lost. */
static void on_keeper_closed(struct run *run, int status)
{
    struct run_hooks *hooks = &run->hooks;
    const bool is_asked = hooks->in_keeper && hooks->list[0].kind == RUN_HOOK_LOST;
    if (hooks->in_keeper) run_on_hook_end(run, status);
    if (is_asked || run->state == RUN_DONE) return;
    if (status != SUPERVISE_KEEPER_DIED) {
        run_on_lost_unasked(run, status);
        run->exited = false;
        if (run->state == RUN_WORK) run_enter(run, RUN_STOPPING);
        if (run->state == RUN_READY || run->state == RUN_STOPPING) run_end_tenure(run);
    } else if (run->state == RUN_WORK) { /* there are hooks only, and nothing else can happen to them */
        const int error = run_open_keeper(run);
        if (error) run_say(run, "cannot create a process for the hooks: %s", strerror(error));
    }
}

static void on_program_exit(struct run *run, int status)
{
    if (run->hooks.in_keeper)
        run->hooks.status = status;
    else
        on_command_exit(run, status);
}

void run_read_keeper(struct run *run)
{
    int value = 0;
    for (;;) {
        if (run->work.page) run->pid = atomic_load(&run->work.page->command);
        switch (supervise_read(&run->work, &value)) {
        case SUPERVISE_NOTHING: return;
        case SUPERVISE_FAILED: on_exec_failed(run, value); break;
        case SUPERVISE_EXITED: on_program_exit(run, value); break;
        case SUPERVISE_STOPPED:
            if (run->has_terminal && (value == SIGTSTP || value == SIGTTIN || value == SIGTTOU))
                run_suspend(run->runner, 0);
            break;
        case SUPERVISE_EMPTY:
            if (run->hooks.in_keeper)
                run_on_hook_end(run, run->hooks.status);
            else
                on_nothing_left(run, value);
            return;
        case SUPERVISE_CLOSED: on_keeper_closed(run, value); return;
        }
    }
}
