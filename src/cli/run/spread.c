/*
 * --spread: hands over each group that another member should lead (assignment.h), at most 8 per second, and only
 * after that member has been the right one for 3 s. Only the leader moves a group, so no group ever has two.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/clock.h"
#include "cli/run/run.h"

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
    return run->state == RUN_WORK && !run->stop_asked && !run->hands_over && !run_is_asking(run) &&
           run_leads(run);
}

/* Who should lead a group instead of us; NULL: nobody. */
static const char *find_better_owner(const struct runner *runner, size_t group)
{
    const char *owner = may_move(&runner->runs[group]) ? spread_owner(&runner->spread, group) : NULL;
    return owner && strcmp(owner, runner->id) != 0 ? owner : NULL;
}

void run_note_candidates(struct run *run, const elector_event *event)
{
    struct runner *runner = run->runner;
    const size_t group = (size_t)(run - runner->runs);
    if (!runner->request->spread || !run->is_looked_at) return;
    run->is_looked_at = false;
    runner->spread_awaited--;
    if (event->status != ELECTOR_OK) runner->spread_fails = true;
    spread_clear_candidates(&runner->spread, group);
    for (size_t i = 0; event->status == ELECTOR_OK && i < event->candidate_count; i++)
        spread_add_candidate(&runner->spread, group, event->candidates[i]->member,
                             event->candidates[i]->priority);
}

/* Asks for the candidates of all groups, also of those that another member leads: all are assigned together. */
static void look(struct runner *runner)
{
    runner->spread_turn++;
    runner->spread_fails = false;
    for (size_t i = 0; i < runner->count && !runner->spread_fails; i++) {
        struct run *run = &runner->runs[i];
        if (!is_due_for_a_look(run, i, runner->spread_turn)) continue;
        if (elector_candidates(runner->elector, run->group) != ELECTOR_OK) {
            runner->spread_fails = true;
        } else {
            run->is_looked_at = true;
            runner->spread_awaited++;
        }
    }
    runner->spread_looks = true;
}

/* All have been answered. */
static void assign(struct runner *runner)
{
    const uint64_t now_ns = supervise_now_ns();
    unsigned moves = 0;
    runner->spread_looks = false;
    if (runner->spread_fails) return;
    spread_assign(&runner->spread);
    for (size_t i = 0; i < runner->count; i++) {
        struct run *run = &runner->runs[i];
        const char *owner = find_better_owner(runner, i);
        const bool is_due = spread_should_move(&run->watch, owner, now_ns);
        if (is_due && moves < MOVES_MAX && run_hand_over_to(run, owner, RUN_ASKS_FOR_SPREAD)) moves++;
    }
}

void run_forget_answers(struct runner *runner)
{
    for (size_t i = 0; i < runner->count; i++) runner->runs[i].is_looked_at = false;
    runner->spread_awaited = 0;
    runner->spread_looks = false;
}

/* An agent that hangs is asked no more until it has answered. */
void run_spread(struct runner *runner)
{
    const uint64_t now_ns = supervise_now_ns();
    if (!runner->request->spread || runner->broken || !runner->elector || runner->connecting_until_ns) return;
    if (runner->spread_looks && runner->spread_awaited == 0) assign(runner);
    if (now_ns < runner->spread_ns) return;
    runner->spread_ns = now_ns + interval_ns;
    if (run_has_agent(runner) && !runner->spread_looks) look(runner);
}
