/* The connection to the library: connects, campaigns, hears of events, and resigns. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel/realtime.h"
#include "cli/cli.h"
#include "cli/run/run.h"
#include "client/engine.h"

static const uint64_t leaving_ns = 5 * NS_PER_S, connecting_ns = 5 * NS_PER_S;
static const uint64_t first_retry_ns = NS_PER_S / 10, last_retry_ns = 5 * NS_PER_S;

/* ---- Connections ---------------------------------------------------------------------------------- */

void run_close_line(struct runner *runner)
{
    supervise_forget_line(runner->command.line); /* an --on-lost may still run */
    supervise_line_end(runner->command.line);
    supervise_line_free(runner->command.line);
    runner->command.line = NULL;
}

/* For an agent's guardian (supervise/line.h). Locks and older agents have none. */
static void open_line(struct runner *runner)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    runner->command.line = supervise_line_new(ends[0]);
    if (!runner->command.line || engine_work(runner->elector, ends[1]) != ELECTOR_OK) run_close_line(runner);
    close(ends[1]);
}

static void disconnect(struct runner *runner)
{
    run_close_line(runner);
    run_forget_answers(runner);
    elector_close(runner->elector);
    runner->elector = NULL;
    runner->broken = false;
}

/* Each new reason is reported, and with --verbose each failure. That a store cannot be used is an error, so --quiet does not hide it;
 * that the agent is not there yet is none. */
static bool is_worth_telling(const struct run *run, bool is_first, const char *why)
{
    struct runner *runner = run->runner;
    const bool is_new = is_first || strncmp(runner->refusal, why, sizeof runner->refusal - 1) != 0;
    const bool is_error =
        engine_is_store(runner->url) || (runner->elector && engine_has_store(runner->elector));
    snprintf(runner->refusal, sizeof runner->refusal, "%s", why);
    return run->request->verbose || (is_new && (is_error || !run->request->quiet));
}

/* Doubles the delay from 0.1 s to 5 s. */
static void set_retry_time(struct run *run, const char *why)
{
    struct runner *runner = run->runner;
    const bool first = runner->retry_ns == 0;
    runner->retry_ns = first ? first_retry_ns : 2 * runner->retry_ns;
    if (runner->retry_ns > last_retry_ns) runner->retry_ns = last_retry_ns;
    if (is_worth_telling(run, first, why))
        run_say(run, "%s; trying again in %.1f s", why, (double)runner->retry_ns / 1e9);
    runner->connect_ns = supervise_now_ns() + runner->retry_ns;
}

static void wait_to_connect(struct run *run, const char *why)
{
    if (!run->runner->connect_ns) set_retry_time(run, why); /* one attempt and one message for all groups */
    run->token = 0;
    run_enter(run, RUN_DISCONNECTED);
}

/* Retries what may succeed later; any other error ends the run. */
static void on_failure(struct run *run, elector_status status, const char *why)
{
    struct runner *runner = run->runner;
    const bool may_succeed_later =
        status == ELECTOR_UNAVAILABLE || status == ELECTOR_LOST || status == ELECTOR_TIMEOUT;
    if (may_succeed_later && !run->request->no_wait) {
        runner->broken = true;
        wait_to_connect(run, why);
        return;
    }
    run_say(run, "%s", why);
    run_finish(run, cli_status_code(status));
}

/* 0 under a penalty, behind all other candidates. */
static uint64_t find_priority(struct run *run)
{
    const uint64_t priority = run->request->has_rank ? run->runner->rank : run->request->priority;
    if (run->penalised_until_ns && supervise_now_ns() >= run->penalised_until_ns) run->penalised_until_ns = 0;
    if (run->penalised_until_ns) return 0;
    return run->request->spread ? spread_priority(priority, run->runner->id, run->group) : priority;
}

static void campaign(struct run *run)
{
    elector_options options;
    elector_options_init(&options, sizeof options);
    options.value = run->request->value;
    options.preempt_after_ms = run->request->preempt_after_ns == UINT64_MAX
                                   ? ELECTOR_NEVER
                                   : run->request->preempt_after_ns / NS_PER_MS;
    options.watchdog_ms = (run->request->watchdog_ns + NS_PER_MS - 1) / NS_PER_MS;
    options.stop_within_ms = run->request->stop_timeout_ns / NS_PER_MS;
    if (run->request->spread)
        options.preempt_after_ms =
            ELECTOR_NEVER; /* the candidate of the highest weight may have its share already */
    options.priority = find_priority(run);
    run->lost = run->stop_asked = run->another_leads = false;
    run->was_removed = false;
    run->reason[0] = '\0';
    if (run->request->verbose)
        run_say(run, "campaigning with priority %llu%s", (unsigned long long)options.priority,
                run->penalised_until_ns ? ", penalised after a short tenure" : "");
    const elector_status status = elector_campaign(run->runner->elector, run->group, &options, 0, NULL);
    if (status != ELECTOR_OK && status != ELECTOR_TIMEOUT) {
        on_failure(run, status, elector_message(run->runner->elector));
        return;
    }
    run_enter(run, RUN_CAMPAIGN);
    run->runner->retry_ns = 0;
}

void run_campaign(struct run *run)
{
    if (run->runner->healthy && run_is_measured(run))
        campaign(run);
    else
        run_enter(run, RUN_UNHEALTHY);
}

static void observe(struct run *run)
{
    const struct run_request *request = run->request;
    if (request->no_wait || request->verbose || request->hooks[RUN_HOOK_LEADER])
        elector_observe(run->runner->elector, run->group);
}

static struct run *find(struct runner *runner, const char *group)
{
    for (size_t i = 0; i < runner->count; i++)
        if (strcmp(runner->runs[i].group, group) == 0) return &runner->runs[i];
    return NULL;
}

static void on_event(void *context, const elector_event *event)
{
    struct run *run = find(context, event->group);
    if (!run) return;
    switch (event->type) {
    case ELECTOR_ELECTED: run->lost = run->stop_asked = false; break;
    case ELECTOR_STOP: run->stop_asked = true; break;
    case ELECTOR_LOST_OFFICE:
        run->lost = true;
        run->was_removed = event->reason == ELECTOR_REASON_REMOVED;
        break;
    case ELECTOR_NEW_LEADER:
        run->another_leads = event->leader->name[0] && !event->leader->is_me;
        if (run->another_leads && run->request->verbose) run_say(run, "%s leads", event->leader->name);
        run_notify_leader(run, event->leader);
        break;
    case ELECTOR_DONE:
        if (event->call == ELECTOR_CALL_CAMPAIGN && event->status != ELECTOR_OK && run->state == RUN_CAMPAIGN)
            on_failure(run, event->status, event->text);
        run_hear_answer(run, event);
        break;
    case ELECTOR_CONNECTED:
    case ELECTOR_DISCONNECTED: break; /* elector_dispatch() says so, too */
    }
    if (event->type == ELECTOR_STOP || event->type == ELECTOR_LOST_OFFICE)
        snprintf(run->reason, sizeof run->reason, "%s", event->text);
}

/* The agent's leases are so short that this process must be as prompt as the agent. */
static void follow_in_realtime(struct run *run)
{
    struct runner *runner = run->runner;
    char text[300];
    if (runner->command.is_realtime || !engine_is_realtime(runner->elector)) return;
    runner->command.is_realtime = true;
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_WITH_CHILDREN);
    if (*realtime_describe(&got, text, sizeof text))
        run_say(
            run,
            "the agent's profile is realtime, and this process works without %s: when this host is busy, the command "
            "may be stopped although nothing has failed",
            text);
}

/* What was asked for would do nothing there: that must not look as if it did. */
static bool ranks_in_vain(struct runner *runner)
{
    const struct run_request *request = runner->request;
    const bool ranks = request->has_priority || request->has_rank || request->spread;
    if (!ranks || !engine_lacks(runner->elector, "priority")) return false;
    fprintf(
        stderr,
        "elector run: %s knows no priorities, who stands first leads first: leave --priority, --rank and --spread "
        "out\n",
        runner->url);
    for (size_t i = 0; i < runner->count; i++) run_finish(&runner->runs[i], CLI_USAGE);
    return true;
}

/* TIMEOUT: there is no answer yet. */
static elector_status try_to_connect(struct runner *runner)
{
    if (!runner->connecting_until_ns) {
        disconnect(runner);
        runner->connect_ns = 0;
        runner->connecting_until_ns = supervise_now_ns() + connecting_ns;
        const elector_status status = elector_open(runner->url, &runner->elector);
        if (status != ELECTOR_OK) return status;
    }
    return engine_try_connection(runner->elector);
}

void run_connect(struct runner *runner)
{
    struct run *any = NULL;
    for (size_t i = 0; i < runner->count && !any; i++)
        if (runner->runs[i].state == RUN_DISCONNECTED) any = &runner->runs[i];
    if (!any && runner->connecting_until_ns) { /* all have ended meanwhile */
        runner->connecting_until_ns = 0;
        disconnect(runner);
    }
    if (!any) return;
    const elector_status status = try_to_connect(runner);
    if (status == ELECTOR_TIMEOUT && supervise_now_ns() < runner->connecting_until_ns) return;
    runner->connecting_until_ns = 0;
    if (status != ELECTOR_OK) {
        if (status == ELECTOR_TIMEOUT)
            on_failure(any, ELECTOR_UNAVAILABLE, "the agent does not answer; does it hang?");
        else
            on_failure(any, status, elector_message(runner->elector));
        for (size_t i = 0; any->state == RUN_DONE && i < runner->count; i++)
            if (runner->runs[i].state == RUN_DISCONNECTED) run_finish(&runner->runs[i], any->exit_code);
        return;
    }
    if (ranks_in_vain(runner)) return;
    follow_in_realtime(any);
    elector_on_event(runner->elector, on_event, runner);
    open_line(runner);
    snprintf(runner->id, sizeof runner->id, "%s", elector_member(runner->elector));
    for (size_t i = 0; i < runner->count && !runner->broken; i++) {
        struct run *run = &runner->runs[i];
        if (run->state != RUN_DISCONNECTED) continue;
        run_measure(run);
        run_campaign(run);
        if (run->state == RUN_CAMPAIGN || run->state == RUN_UNHEALTHY) observe(run);
    }
}

/* When the connection breaks, runs with a command stop it first (state.c); the others wait for the next connection. */
void run_dispatch(struct runner *runner)
{
    if (!runner->elector || runner->broken || runner->connecting_until_ns) return;
    elector_status status = elector_dispatch(runner->elector);
    const bool has_line_ended =
        supervise_line_is_ended(runner->command.line); /* no command can be started over it */
    const char *why =
        has_line_ended ? "the connection to the agent has ended" : elector_message(runner->elector);
    if (has_line_ended) status = ELECTOR_LOST;
    if (status != ELECTOR_LOST && status != ELECTOR_UNAVAILABLE) return;
    runner->broken = true;
    for (size_t i = 0; i < runner->count; i++) {
        struct run *run = &runner->runs[i];
        if (run->state == RUN_DONE || run->state == RUN_DISCONNECTED) continue;
        run->lost = true;
        snprintf(run->reason, sizeof run->reason, "%s", why);
        if (run->state == RUN_CAMPAIGN || run->state == RUN_UNHEALTHY) on_failure(run, status, run->reason);
    }
}

void run_leave(struct run *run)
{
    run_enter(run, RUN_LEAVING);
    run->next_ns = supervise_now_ns() + leaving_ns;
    elector_stopped(run->runner->elector, run->group);
}

/* The tenure or the candidacy is over, and no command runs. After a signal, or with --once, so is the run. */
void run_campaign_again(struct run *run)
{
    const struct run_request *request = run->request;
    run->token = 0;
    if (run->ending_signal) {
        run_finish(run, 128 + run->ending_signal);
    } else if (request->once) {
        run_finish(run, request->exit_code >= 0 ? request->exit_code : RUN_EXIT_LOST);
    } else if (!run->runner->elector || run->runner->broken) {
        wait_to_connect(run, run->reason[0] ? run->reason : "the connection is lost");
    } else {
        /* Ends the old candidacy. The new one measures the priority again. */
        run_resign(run);
        run_measure(run);
        run_campaign(run);
    }
}
