/* The other candidates: asks the agent who they are, and hands over to the best of them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/run/run.h"
#include "client/engine.h"

static const uint64_t long_ns = 60 * NS_PER_S; /* a tenure that clears earlier penalties */
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

struct best {
    const char *self;
    char *name; /* ELECTOR_NAME_MAX + 1 bytes */
    uint64_t *priority;
    bool found;
};

/* Among equals the last, as the agent prefers: members are sorted by id. */
static void weigh(void *context, const elector_candidate *candidate)
{
    struct best *best = context;
    if (strcmp(candidate->member, best->self) == 0) return;
    if (best->found && candidate->priority < *best->priority) return;
    snprintf(best->name, ELECTOR_NAME_MAX + 1, "%s", candidate->member);
    *best->priority = candidate->priority;
    best->found = true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): weigh() writes through both */
bool run_find_successor(struct run *run, char *name, uint64_t *priority)
{
    struct best best = {.self = run->runner->id, .name = name, .priority = priority};
    if (!run_can_transfer(run->runner)) return false;
    return engine_candidates(run->runner->elector, run->group, weigh, &best) == ELECTOR_OK && best.found;
}

struct assigned {
    struct spread *spread;
    size_t group;
};

static void add_candidate(void *context, const elector_candidate *candidate)
{
    const struct assigned *to = context;
    spread_add_candidate(to->spread, to->group, candidate->member, candidate->priority);
}

bool run_read_candidates(struct run *run, struct spread *spread, size_t group)
{
    struct assigned to = {spread, group};
    spread_clear_candidates(spread, group);
    return engine_candidates(run->runner->elector, run->group, add_candidate, &to) == ELECTOR_OK;
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

bool run_hand_over(struct run *run, const char *why)
{
    char name[ELECTOR_NAME_MAX + 1];
    uint64_t priority = 0;
    if (run->hands_over) return true;
    const bool found = run_find_successor(run, name, &priority);
    if (found && engine_transfer(run->runner->elector, run->group, name) == ELECTOR_OK) {
        run->hands_over = true;
        if (!run->request->quiet) run_say(run, "%s; handing over to %s", why, name);
        run_penalise(run);
        return true;
    }
    if (!run->told_alone && !run->request->quiet)
        run_say(run, "%s; leading on, since %s", why,
                found ? run_without_group(run, elector_message(run->runner->elector))
                      : "nobody else campaigns");
    run->told_alone = true;
    return false;
}
