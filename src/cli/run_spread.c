/*
 * --spread: who leads a group that another should lead hands it over. It is the leader that moves, so no group ever has two;
 * few at a time, and only to a member that has been there for a while.
 */
#define _GNU_SOURCE
#include <string.h>

#include "run.h"

#define SECOND UINT64_C(1000000000)

static const uint64_t interval_ns = SECOND, settle_ns = 3 * SECOND;
enum { MOVES_MAX = 8, TURNS = 3 }; /* in an interval; where all is well, a group is looked at every third */

static bool is_to_be_looked_at(const struct run *run, unsigned turn)
{
    if (run->state != RUN_WORK || run->stop_asked || run->yields || !run_leads(run)) return false;
    return run->watch.better[0] || (size_t)(run - run->runner->runs) % TURNS == turn % TURNS;
}

/* Its work goes on until STOP comes. */
static bool move(struct run *run, const char *to)
{
    if (elector_transfer(run->runner->elector, run->group, to) != ELECTOR_OK) return false;
    run->yields = true;
    if (!run->request->quiet) run_say(run, "moving to %s", to);
    return true;
}

void run_spread(struct runner *runner)
{
    const uint64_t now_ns = supervise_now_ns();
    unsigned moves = 0;
    if (!runner->request->spread || runner->broken || !runner->elector || now_ns < runner->spread_ns) return;
    runner->spread_ns = now_ns + interval_ns;
    runner->spread_turn++;
    for (size_t i = 0; i < runner->count && moves < MOVES_MAX; i++) {
        struct run *run = &runner->runs[i];
        char name[ELECTOR_NAME_MAX + 1];
        uint64_t priority = 0;
        if (!is_to_be_looked_at(run, runner->spread_turn)) continue;
        const bool found = run_find_successor(run, name, &priority);
        if (!runner->wire) break; /* it does not answer: whoever is next would wait as long */
        if (spread_is_due(&run->watch, found ? name : NULL, priority, run->priority, now_ns, settle_ns) &&
            move(run, name))
            moves++;
    }
}
