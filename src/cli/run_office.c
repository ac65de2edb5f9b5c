/* elector run and the library: to campaign, to hear, and to know until when. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/guardian.h"
#include "cli.h"
#include "engines/engine.h"
#include "run.h"

#define SECOND UINT64_C(1000000000)

static const uint64_t leaving_ns = 5 * SECOND;
static const uint64_t first_retry_ns = SECOND / 10, last_retry_ns = 5 * SECOND;

static const char *group_of(const struct run *run)
{
    return run->request->group;
}

void run_finish(struct run *run, int exit_code)
{
    run->state = RUN_DONE;
    run->exit_code = exit_code;
}

static void on_event(void *whose, const elector_event *event)
{
    struct run *run = whose;
    if (strcmp(event->group, group_of(run)) != 0) return;
    switch (event->type) {
    case ELECTOR_ELECTED: run->lost = run->stop_asked = false; break;
    case ELECTOR_STOP: run->stop_asked = true; break;
    case ELECTOR_LOST_OFFICE: run->lost = true; break;
    case ELECTOR_NEW_LEADER:
        run->another_leads = event->leader.name[0] && !event->leader.is_me;
        if (run->another_leads && run->request->verbose) run_say(run, "%s leads", event->leader.name);
        break;
    }
    if ((event->type == ELECTOR_STOP || event->type == ELECTOR_LOST_OFFICE) && event->reason)
        snprintf(run->reason, sizeof run->reason, "%s", event->reason);
}

/* ---- Connections ---------------------------------------------------------------------------------- */

void run_let_go(struct run *run)
{
    if (run->command.line < 0) return;
    const ssize_t sent =
        send(run->command.line, GUARDIAN_LINE_OVER, sizeof GUARDIAN_LINE_OVER - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    close(run->command.line);
    run->command.line = -1;
}

/* An agent that knows no such thing, or a lock, does without. */
static void lay_line(struct run *run)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    run->command.line = ends[0];
    if (engine_work(run->elector, ends[1]) != ELECTOR_OK) run_let_go(run);
    close(ends[1]);
}

static void disconnect(struct run *run)
{
    run_let_go(run);
    elector_close(run->elector);
    run->elector = NULL;
    run->broken = false;
    run->token = 0;
}

/* Nobody answers. Said once, and again only if it is wanted. */
static void try_later(struct run *run, const char *why)
{
    const bool first = run->retry_ns == 0;
    if ((first && !run->request->quiet) || run->request->verbose) run_say(run, "%s; trying again", why);
    run->retry_ns = first ? first_retry_ns : 2 * run->retry_ns;
    if (run->retry_ns > last_retry_ns) run->retry_ns = last_retry_ns;
    disconnect(run);
    run->state = RUN_APART;
    run->next_ns = supervise_now_ns() + run->retry_ns;
}

/* What will not be better the next time ends it. */
static void on_failure(struct run *run, elector_status status)
{
    const char *why = run->elector ? elector_message(run->elector) : "out of memory";
    const bool may_come = status == ELECTOR_UNAVAILABLE || status == ELECTOR_LOST || status == ELECTOR_TIMEOUT;
    if (may_come && !run->request->no_wait) {
        try_later(run, why);
        return;
    }
    run_say(run, "%s", why);
    disconnect(run);
    run_finish(run, status == ELECTOR_INVALID ? CLI_USAGE : CLI_CANNOT_TELL);
}

static bool measure(struct run *run, uint64_t *priority)
{
    char problem[256] = "";
    *priority = run->request->priority;
    if (!run->request->ranked || rank_measure(&run->request->rank, priority, problem, sizeof problem))
        return true;
    run_say(run, "--rank: %s", problem);
    return false;
}

static void campaign(struct run *run)
{
    elector_options options;
    elector_term term = {0};
    elector_options_init(&options);
    options.value = run->request->value;
    options.preempt_after_ms =
        run->request->preempt_after_ns == UINT64_MAX ? ELECTOR_NEVER : run->request->preempt_after_ns / 1000000;
    if (!measure(run, &options.priority)) {
        run_finish(run, CLI_CANNOT_TELL);
        return;
    }
    run->lost = run->stop_asked = run->another_leads = false;
    run->reason[0] = '\0';
    if (run->request->verbose)
        run_say(run, "campaigning with priority %llu", (unsigned long long)options.priority);
    const elector_status status = elector_campaign(run->elector, group_of(run), &options, 0, &term);
    if (status != ELECTOR_OK && status != ELECTOR_TIMEOUT) {
        on_failure(run, status);
        return;
    }
    run->state = RUN_CAMPAIGN;
    run->retry_ns = 0;
    if (run->request->no_wait || run->request->verbose) elector_observe(run->elector, group_of(run));
}

void run_connect(struct run *run)
{
    const elector_status status = elector_open(run->url, &run->elector);
    if (status != ELECTOR_OK) {
        on_failure(run, status);
        return;
    }
    elector_on_event(run->elector, on_event, run);
    lay_line(run);
    campaign(run);
}

void run_dispatch(struct run *run)
{
    if (!run->elector || run->broken) return;
    const elector_status status = elector_dispatch(run->elector);
    if (status != ELECTOR_LOST && status != ELECTOR_UNAVAILABLE) return;
    if (run->state == RUN_CAMPAIGN) {
        on_failure(run, status);
        return;
    }
    run->broken = run->lost = true;
    snprintf(run->reason, sizeof run->reason, "%s", elector_message(run->elector));
}

/* The work is done with; the library says when another may have it. */
void run_leave(struct run *run)
{
    run->state = RUN_LEAVING;
    run->next_ns = supervise_now_ns() + leaving_ns;
    elector_stopped(run->elector, group_of(run));
}

/* Out of office, and nothing runs any more. Who was told to end does. */
void run_rejoin(struct run *run)
{
    const struct run_request *request = run->request;
    run->token = 0;
    if (run->ending_signal) {
        run_finish(run, 128 + run->ending_signal);
    } else if (request->once) {
        run_finish(run, request->exit_code >= 0 ? request->exit_code : RUN_LOST);
    } else if (!run->elector || run->broken) {
        try_later(run, run->reason[0] ? run->reason : "the connection is lost");
    } else {
        elector_resign(run->elector,
                       group_of(run)); /* a candidacy that still stands; the new one is measured anew */
        campaign(run);
    }
}

/* ---- The deadline --------------------------------------------------------------------------------- */

bool run_leads(const struct run *run)
{
    return run->elector && !run->broken && elector_is_leader(run->elector, group_of(run)) &&
           elector_token(run->elector, group_of(run)) == run->token;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * KILL comes a tenth of the lease before the deadline, a second at most; TERM as long before KILL as a stop may take,
 * but not so long that a renewal which is merely late ends the work: a quarter of the lease at most. The length of a
 * lease is the most that was ever left, since what is left when we look may be little because we looked late.
 */
static void move_on(struct run *run, uint64_t deadline_ns, uint64_t now_ns)
{
    run->deadline_ns = deadline_ns;
    run->term_at_ns = run->kill_at_ns = 0;
    if (deadline_ns != 0 && deadline_ns != UINT64_MAX) {
        if (deadline_ns > now_ns && deadline_ns - now_ns > run->lease_ns) run->lease_ns = deadline_ns - now_ns;
        run->kill_at_ns = deadline_ns - least(least(run->lease_ns / 10, SECOND), deadline_ns - 1);
        run->term_at_ns = run->kill_at_ns -
                          least(least(run->request->stop_timeout_ns, run->lease_ns / 4), run->kill_at_ns - 1);
    }
    supervise_until(&run->work, run->kill_at_ns);
}

/* Nobody tells that the deadline has moved on, so it is looked at eight times a lease, long before KILL is due. */
void run_renew(struct run *run)
{
    if (!run_leads(run)) return;
    const uint64_t deadline_ns = elector_deadline(run->elector, group_of(run)), now_ns = supervise_now_ns();
    if (deadline_ns != run->deadline_ns) move_on(run, deadline_ns, now_ns);
    run->look_at_ns = run->kill_at_ns ? now_ns + run->lease_ns / 8 : 0;
}
