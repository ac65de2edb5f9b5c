/*
 * --spread: hands over each group that another member should lead (assignment.h), at most 8 per second, and only
 * after that member has been the right one for 3 s. Only the leader moves a group, so no group ever has two.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/clock.h"
#include "cli/run/run.h"
#include "client/engine.h"

static const uint64_t interval_ns = NS_PER_S;
enum {
    MOVES_MAX = 8,
    TURNS = 3
}; /* per interval; a group that is where it belongs is checked every third one */

static bool is_due_for_a_look(const struct run *run, size_t group, unsigned turn)
{
    return run->watch.better[0] || group % TURNS == turn % TURNS;
}

static bool may_move(const struct run *run)
{
    return run->state == RUN_WORK && !run->stop_asked && !run->hands_over && run_leads(run);
}

/* The command runs until the agent asks us to stop. */
static bool move(struct run *run, const char *to, uint64_t now_ns)
{
    if (engine_transfer(run->runner->elector, run->group, to) != ELECTOR_OK) return false;
    run->hands_over = true;
    spread_note_move(&run->watch, now_ns);
    if (!run->request->quiet) run_say(run, "%s should lead this group (--spread); handing over", to);
    return true;
}

/* Who should lead a group instead of us; NULL: nobody. */
static const char *find_better_owner(const struct runner *runner, size_t group)
{
    const char *owner = may_move(&runner->runs[group]) ? spread_owner(&runner->spread, group) : NULL;
    return owner && strcmp(owner, runner->id) != 0 ? owner : NULL;
}

/* Reads the candidates of all groups, also of those that another member leads: all are assigned together. */
void run_spread(struct runner *runner)
{
    const uint64_t now_ns = supervise_now_ns();
    unsigned moves = 0;
    if (!runner->request->spread || runner->broken || !runner->elector || now_ns < runner->spread_ns) return;
    runner->spread_ns = now_ns + interval_ns;
    runner->spread_turn++;
    if (!run_has_agent(runner)) return;
    for (size_t i = 0; i < runner->count; i++) {
        if (!is_due_for_a_look(&runner->runs[i], i, runner->spread_turn)) continue;
        if (!run_read_candidates(&runner->runs[i], &runner->spread, i))
            return; /* no answer: do not wait again */
    }
    spread_assign(&runner->spread);
    for (size_t i = 0; i < runner->count; i++) {
        struct run *run = &runner->runs[i];
        const char *owner = find_better_owner(runner, i);
        const bool is_due = spread_should_move(&run->watch, owner, now_ns);
        if (is_due && moves < MOVES_MAX && move(run, owner, now_ns)) moves++;
    }
}
