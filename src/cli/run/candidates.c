/*
 * The other candidates: asks the agent who they are, and hands over to the best of them. An agent that hangs answers nothing, so
 * nothing here waits: the answers are events. The command runs on meanwhile, and is stopped in time like any other.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/run/run.h"
#include "client/engine.h"

static const uint64_t long_ns = 60 * NS_PER_S;  /* a tenure that clears earlier penalties */
static const uint64_t answer_ns = 5 * NS_PER_S; /* within which the agent answers */
enum { PENALTIES_MAX = 6 };

/* ---- Questions to the agent ---- */

bool run_has_agent(const struct runner *runner)
{
    return engine_speaks_lines(runner->url);
}

bool run_can_transfer(const struct runner *runner)
{
    return run_has_agent(runner) && runner->elector && !engine_lacks(runner->elector, "transfer");
}

static void ask_nobody(struct run *run)
{
    run->asking = (struct run_asking){.stage = RUN_ASKS_NOBODY};
}

static void begin_asking(struct run *run, enum run_asking_stage stage, enum run_asking_cause cause)
{
    run->asking.stage = stage;
    run->asking.cause = cause;
    run->asking.until_ns = supervise_now_ns() + answer_ns;
}

/* Among equals the last, as the agent prefers: members are sorted by id. */
static void note_best(struct run *run, const elector_event *event)
{
    struct run_asking *asking = &run->asking;
    asking->stage = event->status == ELECTOR_OK ? RUN_KNOWS_CANDIDATES : RUN_IS_REFUSED;
    snprintf(asking->refusal, sizeof asking->refusal, "%s", event->text);
    for (size_t i = 0; event->status == ELECTOR_OK && i < event->candidate_count; i++) {
        const elector_candidate *candidate = event->candidates[i];
        if (strcmp(candidate->member, run->runner->id) == 0) continue;
        if (asking->to[0] && candidate->priority < asking->priority) continue;
        snprintf(asking->to, sizeof asking->to, "%s", candidate->member);
        asking->priority = candidate->priority;
    }
}

static void note_transfer(struct run *run, const elector_event *event)
{
    run->asking.stage = event->status == ELECTOR_OK ? RUN_IS_RELIEVED : RUN_IS_REFUSED;
    snprintf(run->asking.refusal, sizeof run->asking.refusal, "%s", event->text);
}

void run_hear_answer(struct run *run, const elector_event *event)
{
    if (event->call == ELECTOR_CALL_CANDIDATES) {
        run_note_candidates(run, event);
        if (run->asking.stage == RUN_ASKS_FOR_CANDIDATES) note_best(run, event);
    } else if (event->call == ELECTOR_CALL_TRANSFER && run->asking.stage == RUN_ASKS_FOR_TRANSFER) {
        note_transfer(run, event);
    }
}

/* ---- Penalties and hand-over ---- */

void run_penalise(struct run *run)
{
    const uint64_t now_ns = supervise_now_ns(), penalty_ns = run->request->penalty_ns;
    if (!penalty_ns) return;
    if (now_ns - run->elected_ns >= long_ns) run->penalties = 0;
    if (run->penalties < PENALTIES_MAX) run->penalties++;
    run->penalised_until_ns = now_ns + (penalty_ns << (run->penalties - 1));
}

static const char *why(const struct run *run)
{
    static const char *const causes[] = {
        [RUN_ASKS_FOR_HEALTH] = "the health check fails",
        [RUN_ASKS_FOR_FAILURES] = "the command failed 3 times within 10 s of its start",
        [RUN_ASKS_FOR_SPREAD] = "",
    };
    return causes[run->asking.cause];
}

/* Reported once. */
static void lead_on(struct run *run, const char *since)
{
    if (run->asking.cause != RUN_ASKS_FOR_SPREAD && !run->told_alone) {
        run->told_alone = true;
        if (!run->request->quiet)
            run_say(run, "%s; leading on, since %s", why(run), run_without_group(run, since));
    }
    ask_nobody(run);
}

void run_hand_over(struct run *run, enum run_asking_cause cause)
{
    if (run->hands_over || run->asking.stage != RUN_ASKS_NOBODY) return;
    begin_asking(run, RUN_ASKS_FOR_CANDIDATES, cause);
    if (!run_can_transfer(run->runner)) {
        run->asking.stage = RUN_KNOWS_CANDIDATES; /* none */
        run_go_on_asking(run);
    } else if (elector_candidates(run->runner->elector, run->group) != ELECTOR_OK) {
        lead_on(run, elector_message(run->runner->elector));
    }
}

bool run_hand_over_to(struct run *run, const char *to, enum run_asking_cause cause)
{
    snprintf(run->asking.to, sizeof run->asking.to, "%s", to);
    begin_asking(run, RUN_ASKS_FOR_TRANSFER, cause);
    if (elector_transfer(run->runner->elector, run->group, run->asking.to) == ELECTOR_OK) return true;
    lead_on(run, elector_message(run->runner->elector));
    return false;
}

/* One with priority 0 is under a penalty, too. */
static void choose(struct run *run)
{
    char to[ELECTOR_NAME_MAX + 1];
    const bool is_for_failures = run->asking.cause == RUN_ASKS_FOR_FAILURES;
    if (is_for_failures && (!run->asking.to[0] || run->asking.priority == 0)) {
        ask_nobody(run);
        return;
    }
    if (!run->asking.to[0]) {
        lead_on(run, "nobody else campaigns");
        return;
    }
    snprintf(to, sizeof to, "%s", run->asking.to);
    (void)run_hand_over_to(run, to, run->asking.cause);
}

/* The command runs until the agent asks us to stop. */
static void be_relieved(struct run *run)
{
    run->hands_over = true;
    if (run->asking.cause == RUN_ASKS_FOR_SPREAD) {
        spread_note_move(&run->watch, supervise_now_ns());
        if (!run->request->quiet)
            run_say(run, "%s should lead this group (--spread); handing over", run->asking.to);
    } else {
        if (!run->request->quiet) run_say(run, "%s; handing over to %s", why(run), run->asking.to);
        run_penalise(run);
    }
    if (run->asking.cause == RUN_ASKS_FOR_FAILURES) run->quick_failures = 0;
    ask_nobody(run);
}

/* A tenure that is over is handed over by nobody. One whose command is stopping hears the answer, but asks nothing new. */
static bool may_go_on(const struct run *run)
{
    return run->state == RUN_READY || run->state == RUN_WORK ||
           (run->state == RUN_STOPPING && run->asking.stage != RUN_KNOWS_CANDIDATES);
}

void run_go_on_asking(struct run *run)
{
    if (!may_go_on(run)) ask_nobody(run);
    switch (run->asking.stage) {
    case RUN_ASKS_NOBODY: break;
    case RUN_ASKS_FOR_CANDIDATES:
    case RUN_ASKS_FOR_TRANSFER:
        if (supervise_now_ns() >= run->asking.until_ns)
            lead_on(run, "the agent does not answer; does it hang?");
        break;
    case RUN_KNOWS_CANDIDATES: choose(run); break;
    case RUN_IS_RELIEVED: be_relieved(run); break;
    case RUN_IS_REFUSED: lead_on(run, run->asking.refusal); break;
    }
}

bool run_is_asking(const struct run *run)
{
    return run->asking.stage != RUN_ASKS_NOBODY;
}
