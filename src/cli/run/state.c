/* Does the work of each state of a run, and changes the state: the table in run.h, in code. */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/run/run.h"
#include "client/engine.h"

static const uint64_t start_again_ns = 50000000;

/* ---- Transitions ---------------------------------------------------------------------------------- */

#define TO(state) (1U << RUN_##state)

static const unsigned next[RUN_STATES] = {
    [RUN_DISCONNECTED] = TO(DISCONNECTED) | TO(UNHEALTHY) | TO(CAMPAIGN) | TO(DONE),
    [RUN_UNHEALTHY] = TO(DISCONNECTED) | TO(CAMPAIGN) | TO(DONE),
    [RUN_CAMPAIGN] = TO(DISCONNECTED) | TO(UNHEALTHY) | TO(CAMPAIGN) | TO(READY) | TO(DONE),
    [RUN_READY] = TO(WORK) | TO(ON_LOST),
    [RUN_WORK] = TO(STOPPING),
    [RUN_STOPPING] = TO(READY) | TO(ON_LOST),
    [RUN_ON_LOST] = TO(LEAVING) | TO(DISCONNECTED) | TO(UNHEALTHY) | TO(CAMPAIGN) | TO(DONE),
    [RUN_LEAVING] = TO(DISCONNECTED) | TO(UNHEALTHY) | TO(CAMPAIGN) | TO(DONE),
    [RUN_DONE] = 0,
};

bool run_may_enter(enum run_state from, enum run_state to)
{
    return next[from] >> to & 1;
}

void run_enter(struct run *run, enum run_state state)
{
    if (!run_may_enter(run->state, state)) __builtin_trap();
    run->state = state;
}

void run_resign(const struct run *run)
{
    if (run->is_unrenewed)
        engine_resign_unrenewed(run->runner->elector, run->group);
    else
        elector_resign(run->runner->elector, run->group);
}

/* The connection lives on if other groups need it, so the candidacy must end by itself. */
void run_finish(struct run *run, int exit_code)
{
    const struct runner *runner = run->runner;
    run_enter(run, RUN_DONE);
    run->exit_code = exit_code;
    if (runner->elector && !runner->broken) run_resign(run);
}

/* ---- Before the tenure ---------------------------------------------------------------------------- */

static void begin_tenure(struct run *run)
{
    struct runner *runner = run->runner;
    run->token = elector_token(runner->elector, run->group);
    run->deadline_ns = run->lease_ns = run->read_deadline_ns = 0;
    run->stop = (struct stop_times){0};
    run->backoff_ns = 0;
    run->quick_failures = 0;
    run->hands_over = run->told_alone = run->exited = run->is_unrenewed = false;
    run->asking = (struct run_asking){.stage = RUN_ASKS_NOBODY};
    run->tried_at_failure = 0;
    run->watch.better[0] = '\0';
    run->elected_ns = supervise_now_ns();
    runner->give_up_ns = 0; /* --wait is for the first election alone */
    run_enter(run, RUN_READY);
    run->next_ns = 0;
    run_read_deadline(run);
    if (!run->request->quiet) run_say(run, "leading with token %llu", (unsigned long long)run->token);
    run_notify_elected(run);
}

static bool has_waited_long_enough(const struct run *run)
{
    const uint64_t give_up_ns = run->runner->give_up_ns;
    if (!give_up_ns) return false;
    return supervise_now_ns() >= give_up_ns || (run->request->no_wait && run->another_leads);
}

static void give_up(struct run *run)
{
    if (!run->request->quiet)
        run_say(run, "not elected%s", run->another_leads ? ": another leads" : " in time");
    run_finish(run, run->request->exit_code >= 0 ? run->request->exit_code : RUN_EXIT_NOT_ELECTED);
}

static void step_disconnected(struct run *run)
{
    if (has_waited_long_enough(run)) give_up(run);
}

static void step_unhealthy(struct run *run)
{
    if (run->runner->broken)
        run_campaign_again(run);
    else if (run_is_measured(run) && run->request->has_rank && !run->runner->is_ranked)
        run_finish(run, CLI_CANNOT_TELL);
    else if (run->runner->healthy && run_is_measured(run))
        run_campaign(run);
    else if (has_waited_long_enough(run))
        give_up(run);
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
        run_campaign_again(run); /* with its own priority */
    }
}

/* ---- The tenure ----------------------------------------------------------------------------------- */

/* Once for each failed check. A lock does not tell who waits for it, and a store may know
 * no transfer, so these are resigned. */
static void hand_over_unhealthy(struct run *run)
{
    if (run->tried_at_failure == run->runner->failures) return;
    run->tried_at_failure = run->runner->failures;
    if (run_can_transfer(run->runner)) {
        run_hand_over(run, RUN_ASKS_FOR_HEALTH);
        return;
    }
    if (!run->request->quiet) run_say(run, "the health check fails; resigning");
    run_penalise(run);
    if (run->state == RUN_WORK)
        run_stop(run);
    else
        run_end_tenure(run);
}

/* --on-elected of this tenure, and --on-lost of the last one, which may still run. */
static bool has_hook_to_wait_for(const struct run *run)
{
    return run_hook_is_pending(run, RUN_HOOK_ELECTED) || run_hook_is_pending(run, RUN_HOOK_LOST) ||
           run->work.is_finishing;
}

bool run_waits_for_time_alone(const struct run *run)
{
    return !run->hands_over && !run_is_asking(run) && !has_hook_to_wait_for(run);
}

/* If the check fails and nobody else campaigns, the command is started: a weak worker is better than none. */
static void step_ready(struct run *run)
{
    if (run_must_stop(run)) {
        run->is_unrenewed = run_is_unrenewed(run);
        run_end_tenure(run);
        return;
    }
    if (!run->runner->healthy) hand_over_unhealthy(run);
    if (run->state != RUN_READY || !run_waits_for_time_alone(run) || supervise_now_ns() < run->next_ns) return;
    run_start(run);
    if (run->state == RUN_READY) run->next_ns = supervise_now_ns() + start_again_ns;
}

static void step_work(struct run *run)
{
    if (run_must_stop(run)) {
        run->is_unrenewed = run_is_unrenewed(run);
        if (!run->request->quiet || run->was_removed)
            run_say(run, "%s (%s); stopping the command",
                    run->stop_asked ? "handing over" : "no longer leading",
                    run->reason[0] ? run_without_group(run, run->reason)
                                   : "no-quorum: the lease was not renewed and is about to end");
        run_stop(run);
    } else if (!run->runner->healthy) {
        hand_over_unhealthy(run);
    } else {
        run->tried_at_failure = 0;
        run->told_alone = false;
    }
}

/* --on-lost, if there is one, runs before another leads, as long as the lease lasts. */
void run_end_tenure(struct run *run)
{
    run_enter(run, RUN_ON_LOST);
    run_notify_lost(run);
    run_poll_hooks(run);
    if (run->work.is_open && !run_hook_is_pending(run, RUN_HOOK_LOST)) supervise_finish(&run->work);
}

static void step_on_lost(struct run *run)
{
    struct runner *runner = run->runner;
    if (run_hook_is_pending(run, RUN_HOOK_LOST) && run_leads(run)) return;
    if (run->exited && (run->request->once || !run_is_to_restart(run))) {
        run_finish(run, run->status);
    } else if (run->stop_asked && !runner->broken && runner->elector) {
        run_leave(run);
    } else {
        run_campaign_again(run);
    }
}

/* If this host is elected again at once, the library does not report the loss. */
static void step_leaving(struct run *run)
{
    const bool again = elector_is_leader(run->runner->elector, run->group);
    if (again && !run->ending_signal && !run->request->once) {
        run_enter(run, RUN_CAMPAIGN);
    } else if (again || run->lost || supervise_now_ns() >= run->next_ns) {
        run_campaign_again(run);
    }
}

static void step_done(struct run *run)
{
    (void)run;
}

void run_step(struct run *run)
{
    static void (*const steps[RUN_STATES])(struct run *) = {
        [RUN_DISCONNECTED] = step_disconnected,
        [RUN_UNHEALTHY] = step_unhealthy,
        [RUN_CAMPAIGN] = step_campaign,
        [RUN_READY] = step_ready,
        [RUN_WORK] = step_work,
        [RUN_STOPPING] = run_kill_when_due,
        [RUN_ON_LOST] = step_on_lost,
        [RUN_LEAVING] = step_leaving,
        [RUN_DONE] = step_done,
    };
    enum run_state before;
    run_go_on_asking(run);
    do {
        before = run->state;
        steps[before](run);
    } while (run->state != before);
}
