/* elector run: campaigns, and runs a command while it leads. One loop around signals, time, the library and the work. */
#define _GNU_SOURCE
#include "run.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli.h"

enum { FORCED_POLL_MS = 20 };

static const uint64_t no_wait_ns = 2000000000, too_late_ns = 50000000;

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

void run_say(const struct run *run, const char *format, ...)
{
    va_list arguments;
    char text[768];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "elector run: %s: %s\n", run->request->group, text);
}

/* ---- Signals -------------------------------------------------------------------------------------- */

static bool wants_an_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT;
}

static void on_signal(struct run *run, int signal)
{
    const bool works = run->state == RUN_WORK || run->state == RUN_STOPPING;
    if (wants_an_end(signal)) run->ending_signal = signal;
    if (signal == SIGTSTP) {
        run_suspend(run, signal);
    } else if (works) {
        supervise_signal(&run->work, signal);
    } else if (wants_an_end(signal) || signal == SIGHUP) {
        run_finish(run, 128 + signal);
    }
}

static void read_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) == (ssize_t)sizeof info) on_signal(run, (int)info.ssi_signo);
}

/* They wait in a descriptor; the command gets them as we found them. */
static bool take_signals(struct run *run)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    struct sigaction pipe;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) sigaddset(&set, passed_on[i]);
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGTTOU); /* to give the terminal back and forth from the background */
    sigprocmask(SIG_BLOCK, &set, &run->command.signals);
    sigaction(SIGPIPE, &ignore, &pipe);
    run->command.ignores_pipe = pipe.sa_handler == SIG_IGN;
    sigaction(SIGCHLD, &usual, NULL);
    return run->signals >= 0;
}

/* ---- Time ----------------------------------------------------------------------------------------- */

static uint64_t sooner(uint64_t a, uint64_t b)
{
    if (a == 0 || b == 0) return a + b;
    return a < b ? a : b;
}

/* The clock of the deadline, which also counts while the machine sleeps. */
static void set_timer(const struct run *run)
{
    uint64_t at_ns = run->state == RUN_WORK ? sooner(run->term_at_ns, run->look_at_ns) : run->next_ns;
    if (run->state == RUN_CAMPAIGN) at_ns = 0;
    if (run->state == RUN_CAMPAIGN || run->state == RUN_APART) at_ns = sooner(at_ns, run->give_up_ns);
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000)}};
    timerfd_settime(run->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void wait_for_something(struct run *run)
{
    const bool listens = run->elector && !run->broken;
    struct pollfd polled[] = {
        {.fd = run->signals, .events = POLLIN},
        {.fd = run->timer, .events = POLLIN},
        {.fd = listens ? elector_fd(run->elector) : -1, .events = POLLIN},
        {.fd = run->work.keeper && !run->work.forced ? run->work.socket : -1, .events = POLLIN}};
    int timeout_ms = listens ? elector_timeout_ms(run->elector) : -1;
    if (run->work.forced) timeout_ms = FORCED_POLL_MS;
    uint64_t times;
    set_timer(run);
    poll(polled, sizeof polled / sizeof *polled, timeout_ms);
    const ssize_t size = read(run->timer, &times, sizeof times);
    (void)size; /* the clock is asked, not the timer */
}

/* ---- The states ----------------------------------------------------------------------------------- */

static void begin_to_lead(struct run *run)
{
    run->token = elector_token(run->elector, run->request->group);
    run->deadline_ns = run->lease_ns = run->term_at_ns = run->kill_at_ns = run->look_at_ns = 0;
    run->backoff_ns = 0;
    run->give_up_ns = 0; /* it was elected; later it waits as long as it takes */
    run->state = RUN_PAUSE;
    run->next_ns = 0;
    run_renew(run);
    if (!run->request->quiet) run_say(run, "leading with token %llu", (unsigned long long)run->token);
}

static void give_up(struct run *run)
{
    if (!run->request->quiet)
        run_say(run, "not elected%s", run->another_leads ? ": another leads" : " in time");
    run_finish(run, run->request->exit_code >= 0 ? run->request->exit_code : RUN_NOT_ELECTED);
}

static void in_campaign(struct run *run)
{
    const struct run_request *request = run->request;
    if (elector_is_leader(run->elector, request->group) && elector_token(run->elector, request->group)) {
        begin_to_lead(run);
    } else if (run->give_up_ns &&
               (supervise_now_ns() >= run->give_up_ns || (request->no_wait && run->another_leads))) {
        give_up(run);
    }
}

static void at_work(struct run *run)
{
    const bool leads = run_leads(run);
    if (leads && !run->stop_asked && (!run->term_at_ns || supervise_now_ns() < run->term_at_ns)) return;
    if (!run->request->quiet) {
        const char *why = run->reason[0] ? run->reason : "the deadline nears and nobody has moved it on";
        run_say(run, "%s (%s); stopping the command", run->stop_asked ? "handing over" : "no longer leading",
                why);
    }
    run_stop(run, run->stop_asked ? RUN_HANDS_OVER : RUN_LOSES);
}

static void in_pause(struct run *run)
{
    if (!run_leads(run)) {
        run_rejoin(run);
    } else if (run->stop_asked) {
        run_leave(run);
    } else if (supervise_now_ns() >= run->next_ns) {
        run_start(run);
        if (run->state == RUN_PAUSE) run->next_ns = supervise_now_ns() + too_late_ns;
    }
}

/* What was lost may be ours again in the same breath, and then nobody tells of the loss any more. */
static void in_leaving(struct run *run)
{
    const bool again = elector_is_leader(run->elector, run->request->group);
    if (again && !run->ending_signal && !run->request->once) {
        run->state = RUN_CAMPAIGN;
    } else if (again || run->lost || supervise_now_ns() >= run->next_ns) {
        run_rejoin(run);
    }
}

static void go_on(struct run *run)
{
    const uint64_t now_ns = supervise_now_ns();
    switch (run->state) {
    case RUN_APART:
        if (run->give_up_ns && now_ns >= run->give_up_ns) {
            give_up(run);
        } else if (now_ns >= run->next_ns) {
            run_connect(run);
        }
        break;
    case RUN_CAMPAIGN: in_campaign(run); break;
    case RUN_WORK: at_work(run); break;
    case RUN_STOPPING: run_press(run); break;
    case RUN_PAUSE: in_pause(run); break;
    case RUN_LEAVING: in_leaving(run); break;
    case RUN_DONE: break;
    }
}

int run_loop(struct run *run)
{
    const struct run_request *request = run->request;
    if (request->waits) run->give_up_ns = supervise_now_ns() + request->wait_ns;
    if (request->no_wait) run->give_up_ns = supervise_now_ns() + no_wait_ns;
    run_connect(run);
    for (;;) {
        const enum run_state before = run->state;
        go_on(run);
        if (run->state == RUN_DONE) break;
        if (run->state != before) continue;
        wait_for_something(run);
        read_signals(run);
        run_dispatch(run);
        run_renew(run);
        run_read_news(run);
    }
    run_let_go(run);
    elector_close(run->elector);
    return run->exit_code;
}

/* ---- The verb ------------------------------------------------------------------------------------- */

int cli_run(int argc, char **argv)
{
    struct run_request request;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") != 0) continue;
        run_write_help();
        return cli_finish("run", stdout, CLI_YES);
    }
    const int status = run_read_request(&request, argc, argv);
    if (status != CLI_YES) return status;
    char about[sizeof "elector run: " + 256];
    struct run run = {.request = &request, .command.line = -1};
    if (!run_find_url(&request, run.url, sizeof run.url)) return CLI_CANNOT_TELL;
    snprintf(about, sizeof about, "elector run: %.255s", request.group);
    run.command.about = about;
    run.command.words = request.command;
    run.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (run.timer < 0 || !take_signals(&run) || !supervise_init()) {
        run_say(&run, "this kernel has no signalfd, timerfd or child subreapers; Linux 4 or newer is needed");
        return CLI_CANNOT_TELL;
    }
    return run_loop(&run);
}
