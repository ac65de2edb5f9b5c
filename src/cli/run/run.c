/* elector run: campaigns, and runs a command while it leads. One loop around signals, time, the library and the work. */
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

#include "cli/cli.h"

enum { FORCED_POLL_MS = 20 };

static const uint64_t no_wait_ns = 2000000000, too_late_ns = 50000000;

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

void run_say(const struct run *run, const char *format, ...)
{
    va_list arguments;
    char text[768];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "elector run: %s: %s\n", run->group, text);
}

/* ---- Signals -------------------------------------------------------------------------------------- */

static bool ends_the_run(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT;
}

/* What runs decides itself what a signal means; where nothing does, the end is ours. */
static void on_signal(struct run *run, int signal)
{
    const bool works = run->state == RUN_WORK || run->state == RUN_STOPPING;
    const bool ends = ends_the_run(signal) || (signal == SIGHUP && !run->work.keeper);
    if (ends) run->ending_signal = signal;
    if (works && run->work.keeper) {
        supervise_signal(&run->work, signal);
    } else if (ends && run->state == RUN_WORK) {
        run_stop(run, RUN_LOSES);
    } else if (ends && run->state == RUN_READY) {
        run_end_tenure(run, RUN_LOSES);
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
    while (read(runner->signals, &info, sizeof info) == (ssize_t)sizeof info)
        forward(runner, (int)info.ssi_signo);
}

/* They wait in a descriptor; the command gets them as we found them. */
static bool catch_signals(struct runner *runner)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    struct sigaction pipe, before;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        /* What was ignored before us (nohup, a shell's background) stays so, for the command too. */
        if (sigaction(forwarded[i], NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaddset(&set, forwarded[i]);
    }
    runner->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGTTOU); /* to give the terminal back and forth from the background */
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

static uint64_t next_event_ns(const struct run *run)
{
    uint64_t at_ns = 0;
    switch (run->state) {
    case RUN_WORK: at_ns = run_earlier(run->term_at_ns, run->look_at_ns); break;
    case RUN_READY: at_ns = run_earlier(run->next_ns, run_earlier(run->term_at_ns, run->look_at_ns)); break;
    case RUN_STOPPING:
    case RUN_LEAVING: at_ns = run->next_ns; break;
    case RUN_CAMPAIGN: at_ns = run_earlier(run->penalised_until_ns, run->runner->give_up_ns); break;
    case RUN_UNHEALTHY: at_ns = run->runner->give_up_ns; break;
    case RUN_DISCONNECTED:
    case RUN_ON_LOST:
    case RUN_DONE: break;
    }
    return run->hooks.helper.pid && !run->hooks.helper.killed ? run_earlier(at_ns, run->hooks.helper.until_ns)
                                                              : at_ns;
}

/* The clock of the deadline, which also counts while the machine sleeps. */
static void set_timer(const struct runner *runner)
{
    const struct run_request *request = runner->request;
    uint64_t at_ns = 0;
    for (size_t i = 0; i < runner->count; i++) at_ns = run_earlier(at_ns, next_event_ns(&runner->runs[i]));
    if (is_disconnected(runner))
        at_ns = run_earlier(at_ns, run_earlier(runner->connect_ns, runner->give_up_ns));
    if (request->health)
        at_ns = run_earlier(at_ns, runner->check.pid ? runner->check.until_ns : runner->check_ns);
    if (request->spread && runner->elector && !runner->broken) at_ns = run_earlier(at_ns, runner->spread_ns);
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000)}};
    timerfd_settime(runner->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void wait_for_events(struct runner *runner)
{
    struct pollfd polled[4 + 2 * RUN_GROUPS_MAX];
    const bool listens = runner->elector && !runner->broken;
    int timeout_ms = listens ? elector_timeout_ms(runner->elector) : -1;
    nfds_t count = 0;
    uint64_t times;
    polled[count++] = (struct pollfd){.fd = runner->signals, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = runner->timer, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = listens ? elector_fd(runner->elector) : -1, .events = POLLIN};
    polled[count++] = (struct pollfd){.fd = runner->check.pid ? runner->check.fd : -1, .events = POLLIN};
    for (size_t i = 0; i < runner->count; i++) {
        const struct run *run = &runner->runs[i];
        if (run->work.keeper && !run->work.abandoned)
            polled[count++] = (struct pollfd){.fd = run->work.socket, .events = POLLIN};
        if (run->hooks.helper.pid)
            polled[count++] = (struct pollfd){.fd = run->hooks.helper.fd, .events = POLLIN};
        if (run->work.abandoned) timeout_ms = FORCED_POLL_MS;
    }
    set_timer(runner);
    poll(polled, count, timeout_ms);
    const ssize_t size = read(runner->timer, &times, sizeof times);
    (void)size; /* the clock is asked, not the timer */
}

/* ---- The states ----------------------------------------------------------------------------------- */

static void begin_tenure(struct run *run)
{
    struct runner *runner = run->runner;
    run->token = elector_token(runner->elector, run->group);
    run->deadline_ns = run->lease_ns = run->term_at_ns = run->kill_at_ns = run->look_at_ns = 0;
    run->backoff_ns = 0;
    run->quick_failures = 0;
    run->hands_over = run->told_alone = false;
    run->tried_at_failure = 0;
    run->watch.better[0] = '\0';
    run->elected_ns = supervise_now_ns();
    runner->give_up_ns = 0; /* it was elected; later it waits as long as it takes */
    run->state = RUN_READY;
    run->next_ns = 0;
    run_read_deadline(run);
    if (!run->request->quiet) run_say(run, "leading with token %llu", (unsigned long long)run->token);
    run_find_member_id(run);
    run_notify_elected(run);
}

static void give_up(struct run *run)
{
    if (!run->request->quiet)
        run_say(run, "not elected%s", run->another_leads ? ": another leads" : " in time");
    run_finish(run, run->request->exit_code >= 0 ? run->request->exit_code : RUN_EXIT_NOT_ELECTED);
}

static bool has_waited_long_enough(const struct run *run)
{
    const uint64_t give_up_ns = run->runner->give_up_ns;
    if (!give_up_ns) return false;
    return supervise_now_ns() >= give_up_ns || (run->request->no_wait && run->another_leads);
}

static void step_campaign(struct run *run)
{
    const struct runner *runner = run->runner;
    const uint64_t now_ns = supervise_now_ns();
    if (runner->broken || !runner->healthy) {
        run_campaign_again(run);
    } else if (elector_is_leader(runner->elector, run->group) && elector_token(runner->elector, run->group)) {
        begin_tenure(run);
    } else if (has_waited_long_enough(run)) {
        give_up(run);
    } else if (run->penalised_until_ns && now_ns >= run->penalised_until_ns) {
        run->penalised_until_ns = 0;
        run_campaign_again(run); /* with its priority */
    }
}

static void step_unhealthy(struct run *run)
{
    if (run->runner->broken)
        run_campaign_again(run);
    else if (run->runner->healthy)
        run_campaign(run);
    else if (has_waited_long_enough(run))
        give_up(run);
}

/* Of a lock nobody knows who waits for it: it is left to whoever does. */
static void hand_over_unhealthy(struct run *run)
{
    static const char why[] = "the health check fails";
    if (run->tried_at_failure == run->runner->failures) return;
    run->tried_at_failure = run->runner->failures; /* once for each check */
    if (run_has_agent(run->runner)) {
        (void)run_hand_over(run, why);
        return;
    }
    if (!run->request->quiet) run_say(run, "%s; giving up", why);
    run_penalise(run);
    if (run->state == RUN_WORK)
        run_stop(run, RUN_GIVES_UP);
    else
        run_end_tenure(run, RUN_GIVES_UP);
}

static bool may_work(const struct run *run)
{
    return run_leads(run) && !run->stop_asked && (!run->term_at_ns || supervise_now_ns() < run->term_at_ns);
}

static void step_work(struct run *run)
{
    if (may_work(run)) {
        if (!run->runner->healthy)
            hand_over_unhealthy(run);
        else
            run->tried_at_failure = 0, run->told_alone = false;
        return;
    }
    if (!run->request->quiet) {
        const char *why = run->reason[0] ? run->reason : "the deadline nears and nobody has moved it on";
        run_say(run, "%s (%s); stopping the command", run->stop_asked ? "handing over" : "no longer leading",
                why);
    }
    run_stop(run, run->stop_asked ? RUN_HANDS_OVER : RUN_LOSES);
}

/* --on-elected comes first. */
static void step_ready(struct run *run)
{
    if (!may_work(run)) {
        run_end_tenure(run, run->stop_asked ? RUN_HANDS_OVER : RUN_LOSES);
    } else if (!run->runner->healthy) {
        hand_over_unhealthy(run);
    } else if (supervise_now_ns() >= run->next_ns && !run_hook_is_pending(run, RUN_HOOK_ELECTED)) {
        run_start(run);
        if (run->state == RUN_READY) run->next_ns = supervise_now_ns() + too_late_ns;
    }
}

static void step_on_lost(struct run *run)
{
    if (!run_hook_is_pending(run, RUN_HOOK_LOST) || !run_leads(run)) run_release(run);
}

/* What was lost may be ours again in the same breath, and then nobody tells of the loss any more. */
static void step_leaving(struct run *run)
{
    const bool again = elector_is_leader(run->runner->elector, run->group);
    if (again && !run->ending_signal && !run->request->once) {
        run->state = RUN_CAMPAIGN;
    } else if (again || run->lost || supervise_now_ns() >= run->next_ns) {
        run_campaign_again(run);
    }
}

static void step(struct run *run)
{
    switch (run->state) {
    case RUN_DISCONNECTED:
        if (has_waited_long_enough(run)) give_up(run);
        break;
    case RUN_UNHEALTHY: step_unhealthy(run); break;
    case RUN_CAMPAIGN: step_campaign(run); break;
    case RUN_WORK: step_work(run); break;
    case RUN_STOPPING: run_kill_when_due(run); break;
    case RUN_READY: step_ready(run); break;
    case RUN_ON_LOST: step_on_lost(run); break;
    case RUN_LEAVING: step_leaving(run); break;
    case RUN_DONE: break;
    }
}

/* True: all of it has ended, and the last hook, too. */
static bool step_all(struct runner *runner)
{
    bool is_done = true;
    for (size_t i = 0; i < runner->count; i++) {
        struct run *run = &runner->runs[i];
        enum run_state before;
        do {
            before = run->state;
            step(run);
        } while (run->state != before);
        run_poll_hooks(run);
        is_done = is_done && run->state == RUN_DONE && run->hooks.count == 0;
    }
    return is_done;
}

int run_loop(struct runner *runner)
{
    const struct run_request *request = runner->request;
    if (request->has_wait) runner->give_up_ns = supervise_now_ns() + request->wait_ns;
    if (request->no_wait) runner->give_up_ns = supervise_now_ns() + no_wait_ns;
    runner->healthy = !request->health;
    for (;;) {
        run_poll_health(runner);
        if (is_disconnected(runner) && supervise_now_ns() >= runner->connect_ns) run_connect(runner);
        if (step_all(runner)) break;
        if (runner->broken && is_disconnected(runner)) run_close_line(runner);
        run_spread(runner);
        wait_for_events(runner);
        read_signals(runner);
        run_dispatch(runner);
        for (size_t i = 0; i < runner->count; i++) {
            run_read_deadline(&runner->runs[i]);
            run_read_keeper(&runner->runs[i]);
            run_poll_hooks(&runner->runs[i]);
        }
    }
    helper_kill(&runner->check);
    run_close_queries(runner);
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
    supervise_spare_children(helper_is_running);
    return run_loop(runner);
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
    if (status == CLI_YES)
        status = run_find_url(&request, runner.url, sizeof runner.url) ? start(&runner) : CLI_CANNOT_TELL;
    spread_free(&runner.spread);
    free(runner.runs);
    run_free_request(&request);
    return status;
}
