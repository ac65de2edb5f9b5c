/*
 * Stops the command before the lease ends, so that it never runs together with the next leader's.
 *
 *   1. run_read_deadline() reads the end of the lease and computes when SIGTERM and SIGKILL are due (supervise/stop_times.h):
 *      SIGKILL is due a tenth of the lease before its end, but at most 1 s before; SIGTERM at most a quarter of the lease
 *      before that.
 *      It tells the keeper the time of SIGKILL: the keeper kills then by itself, in case this process hangs.
 *   2. run_must_stop() is asked after every event: is SIGTERM due?
 *   3. run_stop() sends SIGTERM, and run_kill_when_due() sends SIGKILL.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "cli/run/run.h"

static const uint64_t keeper_timeout_ns = NS_PER_S, kill_again_ns = NS_PER_S / 50;

bool run_leads(const struct run *run)
{
    const struct runner *runner = run->runner;
    return runner->elector && !runner->broken && elector_is_leader(runner->elector, run->group) &&
           elector_token(runner->elector, run->group) == run->token;
}

uint64_t run_lease_end(const struct run *run)
{
    return run->stop.kill_at_ns ? run->deadline_ns : 0;
}

/* The length of the lease is the longest time left that was seen: less is left when we look late. */
static void set_deadline(struct run *run, uint64_t deadline_ns, uint64_t now_ns)
{
    run->deadline_ns = deadline_ns;
    if (deadline_ns != UINT64_MAX && deadline_ns > now_ns && deadline_ns - now_ns > run->lease_ns)
        run->lease_ns = deadline_ns - now_ns;
    run->stop = supervise_stop_times(deadline_ns, run->lease_ns, run->request->stop_timeout_ns);
    supervise_set_kill_time(&run->work, run->stop.kill_at_ns);
    supervise_set_end(&run->work, run_lease_end(run));
}

/* No event tells of a renewal, so the deadline is read eight times per lease. */
void run_read_deadline(struct run *run)
{
    if (!run->token || !run_leads(run)) return;
    const uint64_t deadline_ns = elector_deadline(run->runner->elector, run->group);
    const uint64_t now_ns = supervise_now_ns();
    if (deadline_ns != run->deadline_ns) set_deadline(run, deadline_ns, now_ns);
    run->read_deadline_ns = run->stop.kill_at_ns ? now_ns + run->lease_ns / 8 : 0;
}

static bool is_term_due(const struct run *run)
{
    return run->stop.term_at_ns && supervise_now_ns() >= run->stop.term_at_ns;
}

bool run_must_stop(const struct run *run)
{
    return !run_leads(run) || run->stop_asked || is_term_due(run);
}

bool run_is_unrenewed(const struct run *run)
{
    return run_leads(run) && !run->stop_asked && is_term_due(run);
}

void run_stop(struct run *run)
{
    supervise_stop(&run->work);
    run_enter(run, RUN_STOPPING);
    run->stopping_ns = supervise_now_ns();
    if (!supervise_is_running(&run->work)) run_end_tenure(run); /* there are only hooks, and no command */
}

/* The keeper may kill first, at the same time. Then it says so (command.c). */
static void say_kill(const struct run *run, uint64_t now_ns)
{
    const bool is_timeout = now_ns - run->stopping_ns >= run->request->stop_timeout_ns;
    run_say(run, "SIGKILL to %s, %.1f s after SIGTERM: it %s",
            run->exited ? "what the command has left behind" : "the command",
            (double)(now_ns - run->stopping_ns) / 1e9,
            is_timeout ? "has not stopped within --stop-timeout" : "runs, and the lease is about to end");
}

/*
 * SIGKILL follows after --stop-timeout, or earlier if the lease ends before. While the lease is renewed, its end moves on.
 * The keeper kills. If it has not within 1 s, it hangs, and we kill it and everything below it ourselves.
 */
void run_kill_when_due(struct run *run)
{
    const uint64_t now_ns = supervise_now_ns();
    if (!run->killed)
        run->next_ns = run_earlier(run->stopping_ns + run->request->stop_timeout_ns, run->stop.kill_at_ns);
    if (now_ns < run->next_ns) return;
    if (run->killed) {
        if (!run->work.abandoned)
            run_say(run,
                    "the keeper has not killed the command within 1 s; killing keeper and command directly");
        supervise_abandon_keeper(&run->work);
        run->next_ns = now_ns + kill_again_ns;
        return;
    }
    say_kill(run, now_ns);
    supervise_kill(&run->work);
    run->killed = true;
    run->next_ns = now_ns + keeper_timeout_ns;
}
