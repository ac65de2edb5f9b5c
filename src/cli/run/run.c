/* The verb, and its loop around signals, time, the library and the commands. */
#define _GNU_SOURCE
#include "cli/run/run.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel/realtime.h"
#include "base/log/outlet.h"
#include "cli/cli.h"
#include "client/program.h"

enum { ABANDONED_POLL_MS = 20 };

static const uint64_t no_wait_ns = 2000000000;

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

const char *run_without_group(const struct run *run, const char *text)
{
    const size_t length = strlen(run->group);
    const bool is_named = strncmp(text, run->group, length) == 0 && strncmp(text + length, ": ", 2) == 0;
    return is_named ? text + length + 2 : text;
}

void run_say(const struct run *run, const char *format, ...)
{
    va_list arguments;
    char text[768], line[1024];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const int size =
        snprintf(line, sizeof line, "elector run: %s: %s\n", run->group, run_without_group(run, text));
    if (size > 0) outlet_put(line, (size_t)size < sizeof line ? (size_t)size : sizeof line);
}

/* An engine is started by the library, and becomes our child because we adopt orphans. It outlives us by a moment, to give
 * up what we held in its store. */
static bool is_not_the_commands(pid_t child)
{
    return helper_is_running(child) || program_runs_in(child);
}

static size_t tell_of_lost(char *text, size_t size, uint64_t lost)
{
    const int length = snprintf(text, size, "elector run: %llu lines are lost: standard error was blocked\n",
                                (unsigned long long)lost);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* ---- Signals -------------------------------------------------------------------------------------- */

static bool ends_the_run(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT;
}

/* A command that runs decides what a signal means. Without one, INT, TERM, QUIT and HUP end the run. */
static void on_signal(struct run *run, int signal)
{
    const bool works =
        (run->state == RUN_WORK || run->state == RUN_STOPPING) && supervise_is_running(&run->work);
    const bool ends = ends_the_run(signal) || (signal == SIGHUP && !works);
    if (ends) run->ending_signal = signal;
    if (works) {
        supervise_signal(&run->work, signal);
    } else if (ends && run->state == RUN_WORK) {
        run_stop(run);
    } else if (ends && run->state == RUN_READY) {
        run_end_tenure(run);
    } else if (ends && run->state != RUN_ON_LOST && run->state != RUN_DONE) {
        run_finish(run, 128 + signal);
    }
}

static void forward(struct runner *runner, int signal)
{
    if (signal == SIGTSTP)
        run_suspend(runner, signal);
    else
        for (size_t i = 0; i < runner->count; i++) on_signal(&runner->runs[i], signal);
}

static void read_signals(struct runner *runner)
{
    struct signalfd_siginfo info;
    while (read(runner->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            supervise_reap_orphans();
        else
            forward(runner, (int)info.ssi_signo);
    }
}

/* Signals are read from a descriptor. The command gets the mask and dispositions that we were started with. */
static bool catch_signals(struct runner *runner)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    struct sigaction pipe, before;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        /* What was ignored before us (nohup, a shell's background) stays ignored, for the command, too. */
        if (sigaction(forwarded[i], NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaddset(&set, forwarded[i]);
    }
    sigaddset(&set, SIGCHLD);
    runner->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGTTOU); /* so that tcsetpgrp() works from the background */
    sigprocmask(SIG_BLOCK, &set, &runner->command.signals);
    sigaction(SIGPIPE, &ignore, &pipe);
    runner->command.ignores_pipe = pipe.sa_handler == SIG_IGN;
    sigaction(SIGCHLD, &usual, NULL);
    return runner->signals >= 0;
}

/* ---- Time ----------------------------------------------------------------------------------------- */

uint64_t run_earlier(uint64_t a, uint64_t b)
{
    if (a == 0 || b == 0) return a + b;
    return a < b ? a : b;
}

static bool is_disconnected(const struct runner *runner)
{
    for (size_t i = 0; i < runner->count; i++)
        if (runner->runs[i].state != RUN_DISCONNECTED && runner->runs[i].state != RUN_DONE) return false;
    return true;
}

/* The timeout of one that runs, else the time of the next. One that was killed tells by its descriptor when it has ended. */
static uint64_t next_helper_ns(const struct helper_command *helper, uint64_t next_ns)
{
    if (!helper->pid) return next_ns;
    return helper->killed ? 0 : helper->until_ns;
}

static uint64_t next_event_ns(const struct run *run)
{
    uint64_t at_ns = 0;
    switch (run->state) {
    case RUN_WORK: at_ns = run_earlier(run->stop.term_at_ns, run->read_deadline_ns); break;
    case RUN_READY:
        at_ns = run_earlier(run->stop.term_at_ns, run->read_deadline_ns);
        if (run_waits_for_time_alone(run)) at_ns = run_earlier(at_ns, run->next_ns);
        break;
    case RUN_STOPPING: at_ns = run_earlier(run->next_ns, run->read_deadline_ns); break;
    case RUN_LEAVING: at_ns = run->next_ns; break;
    case RUN_CAMPAIGN: at_ns = run_earlier(run->penalised_until_ns, run->runner->give_up_ns); break;
    case RUN_UNHEALTHY: at_ns = run->runner->give_up_ns; break;
    case RUN_DISCONNECTED:
    case RUN_ON_LOST:
    case RUN_DONE: break;
    }
    if (run_is_asking(run)) at_ns = run_earlier(at_ns, run->asking.until_ns);
    at_ns = run_earlier(at_ns, run->hooks.keeper_limit_ns);
    return run_earlier(at_ns, next_helper_ns(&run->hooks.helper, 0));
}

/* On CLOCK_BOOTTIME, as the deadlines: it counts while the machine sleeps. */
static void set_timer(const struct runner *runner)
{
    const struct run_request *request = runner->request;
    uint64_t at_ns = 0;
    for (size_t i = 0; i < runner->count; i++) at_ns = run_earlier(at_ns, next_event_ns(&runner->runs[i]));
    if (is_disconnected(runner))
        at_ns = run_earlier(at_ns, run_earlier(runner->connect_ns, runner->give_up_ns));
    at_ns = run_earlier(at_ns, runner->connecting_until_ns);
    if (request->health) at_ns = run_earlier(at_ns, next_helper_ns(&runner->check, runner->check_ns));
    at_ns = run_earlier(at_ns, next_helper_ns(&runner->measuring, 0));
    if (request->spread && runner->elector && !runner->broken) at_ns = run_earlier(at_ns, runner->spread_ns);
    if (request->watchdog_ns) at_ns = run_earlier(at_ns, supervise_now_ns() + request->watchdog_ns / 4);
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000)}};
    timerfd_settime(runner->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void wait_for_events(struct runner *runner)
{
    struct pollfd polled[5 + 2 * RUN_GROUPS_MAX];
    const bool listens = runner->elector && !runner->broken;
    int timeout_ms = listens ? elector_timeout_ms(runner->elector) : -1;
    nfds_t count = 0;
    uint64_t times;
    polled[count++] = (struct pollfd){.fd = runner->signals, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = runner->timer, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = listens ? elector_fd(runner->elector) : -1, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = runner->check.pid ? runner->check.fd : -1, .events = POLLIN};
    polled[count++] =
        (struct pollfd){.fd = runner->measuring.pid ? runner->measuring.fd : -1, .events = POLLIN};
    for (size_t i = 0; i < runner->count; i++) {
        const struct run *run = &runner->runs[i];
        if (run->work.keeper && !run->work.abandoned)
            polled[count++] = (struct pollfd){.fd = run->work.socket, .events = POLLIN};
        if (run->hooks.helper.pid)
            polled[count++] = (struct pollfd){.fd = run->hooks.helper.fd, .events = POLLIN};
        if (run->work.abandoned) timeout_ms = ABANDONED_POLL_MS;
    }
    set_timer(runner);
    (void)realtime_resume();
    poll(polled, count, timeout_ms);
    const ssize_t size = read(runner->timer, &times, sizeof times);
    (void)size; /* every step reads the clock */
}

/* True: all runs are done, and no hook is left. A run that finds the connection broken concerns those before it, too. */
static bool step_all(struct runner *runner)
{
    bool is_done, was_broken;
    do {
        was_broken = runner->broken;
        is_done = true;
        for (size_t i = 0; i < runner->count; i++) {
            struct run *run = &runner->runs[i];
            run_step(run);
            run_poll_hooks(run);
            is_done = is_done && run->state == RUN_DONE && run->hooks.count == 0;
        }
    } while (runner->broken && !was_broken);
    return is_done;
}

static int loop(struct runner *runner)
{
    const struct run_request *request = runner->request;
    if (request->has_wait) runner->give_up_ns = supervise_now_ns() + request->wait_ns;
    if (request->no_wait) runner->give_up_ns = supervise_now_ns() + no_wait_ns;
    runner->healthy = !request->health;
    for (;;) {
        run_poll_health(runner);
        run_poll_measurement(runner);
        if (is_disconnected(runner) && supervise_now_ns() >= runner->connect_ns) run_connect(runner);
        if (step_all(runner)) break;
        if (runner->broken && is_disconnected(runner)) run_close_line(runner);
        run_spread(runner);
        wait_for_events(runner);
        read_signals(runner);
        run_dispatch(runner);
        if (runner->elector && !runner->broken) elector_alive(runner->elector);
        for (size_t i = 0; i < runner->count; i++) {
            run_read_deadline(&runner->runs[i]);
            run_read_keeper(&runner->runs[i]);
            run_poll_hooks(&runner->runs[i]);
        }
    }
    helper_kill(&runner->check);
    helper_kill(&runner->measuring);
    run_close_line(runner);
    elector_close(runner->elector);
    for (size_t i = 0; i < runner->count; i++)
        if (runner->runs[i].exit_code != CLI_YES) return runner->runs[i].exit_code;
    return CLI_YES;
}

/* ---- The verb ------------------------------------------------------------------------------------- */

static int start(struct runner *runner)
{
    const struct run_groups *groups = runner->request->groups;
    runner->runs = calloc(groups->count, sizeof *runner->runs);
    if (!runner->runs) return cli_out_of_memory("run");
    runner->count = groups->count;
    for (size_t i = 0; i < groups->count; i++) {
        struct run *run = &runner->runs[i];
        *run = (struct run){.runner = runner, .request = runner->request, .group = groups->names[i]};
    }
    if (runner->request->spread && !spread_init(&runner->spread, groups->count))
        return cli_out_of_memory("run");
    for (size_t i = 0; runner->request->spread && i < groups->count; i++)
        spread_set_name(&runner->spread, i, groups->names[i]);
    runner->command.words = runner->request->command;
    runner->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (runner->timer < 0 || !catch_signals(runner) || !supervise_init()) {
        run_say(&runner->runs[0],
                "this kernel has no signalfd, timerfd or child subreapers; Linux 5.3 or newer is needed");
        return CLI_CANNOT_TELL;
    }
    outlet_set_notice(tell_of_lost);
    supervise_spare_children(is_not_the_commands);
    return loop(runner);
}

int cli_run(int argc, char **argv)
{
    struct run_request request;
    struct runner runner = {.request = &request};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") != 0) continue;
        run_write_help();
        return cli_finish("run", stdout, CLI_YES);
    }
    int status = run_read_request(&request, argc, argv);
    if (status == CLI_YES) status = run_look_for_command(&request);
    if (status == CLI_YES)
        status = run_find_url(&request, runner.url, sizeof runner.url) ? start(&runner) : CLI_CANNOT_TELL;
    spread_free(&runner.spread);
    free(runner.runs);
    run_free_request(&request);
    return status;
}
