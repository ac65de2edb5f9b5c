/* The other candidates: asks the agent who they are, and hands over to the best of them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/run/run.h"
#include "client/json_lines.h"

static const uint64_t answer_ns = NS_PER_S;

static const char scheme[] = "unix:";
static const uint64_t long_ns = 60 * NS_PER_S; /* a tenure that clears earlier penalties */
enum { PENALTIES_MAX = 6 };

/* ---- Questions to the agent ---- */

bool run_has_agent(const struct runner *runner)
{
    return strncmp(runner->url, scheme, strlen(scheme)) == 0;
}

/* NULL: no answer. Otherwise to be freed. Over a connection of its own, which is closed again: a question is rare, and an agent has
 * thousands of these processes. */
static json_t *ask(const struct runner *runner, json_t *question)
{
    json_t *answer = NULL;
    struct json_lines *lines = malloc(sizeof *lines);
    if (!lines || json_lines_open(lines, runner->url + strlen(scheme)) != ELECTOR_OK)
        json_decref(question);
    else if (json_lines_ask(lines, question, supervise_now_ns() + answer_ns, &answer) != ELECTOR_OK)
        answer = NULL;
    if (lines) json_lines_close(lines);
    free(lines);
    return answer;
}

bool run_ask_member_id(struct runner *runner)
{
    if (!run_has_agent(runner)) return true;
    json_t *answer = ask(runner, json_pack("{ss si}", "op", "hello", "version", 1));
    const char *member = json_lines_text(answer, "member", ELECTOR_NAME_MAX);
    if (member) snprintf(runner->id, sizeof runner->id, "%s", member);
    json_decref(answer);
    return runner->id[0] != '\0';
}

/* Among equals the last, as the agent prefers: members are sorted by id. */
static bool best_of(const json_t *standing, const char *self, char *name, uint64_t *priority)
{
    size_t i;
    const json_t *one;
    bool found = false;
    json_array_foreach(standing, i, one)
    {
        const char *member = json_lines_text(one, "member", ELECTOR_NAME_MAX);
        uint64_t its = 0;
        if (!member || !json_lines_number(one, "priority", 0, &its) || strcmp(member, self) == 0) continue;
        if (found && its < *priority) continue;
        snprintf(name, ELECTOR_NAME_MAX + 1, "%s", member);
        *priority = its;
        found = true;
    }
    return found;
}

/* Borrowed from *answer, which is to be freed. */
static const json_t *ask_candidates(struct run *run, json_t **answer)
{
    *answer = ask(run->runner, json_pack("{ss ss}", "op", "status", "group", run->group));
    return json_object_get(json_array_get(json_object_get(*answer, "groups"), 0), "standing");
}

bool run_find_successor(struct run *run, char *name, uint64_t *priority)
{
    json_t *answer = NULL;
    if (!run_has_agent(run->runner)) return false;
    const bool found = best_of(ask_candidates(run, &answer), run->runner->id, name, priority);
    json_decref(answer);
    return found;
}

bool run_read_candidates(struct run *run, struct spread *spread, size_t group)
{
    json_t *answer = NULL;
    const json_t *standing = ask_candidates(run, &answer), *one;
    size_t i;
    spread_clear_candidates(spread, group);
    json_array_foreach(standing, i, one)
    {
        const char *member = json_lines_text(one, "member", ELECTOR_NAME_MAX);
        uint64_t priority = 0;
        if (member && json_lines_number(one, "priority", 0, &priority))
            spread_add_candidate(spread, group, member, priority);
    }
    const bool is_answered = answer != NULL;
    json_decref(answer);
    return is_answered;
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
    if (found && elector_transfer(run->runner->elector, run->group, name) == ELECTOR_OK) {
        run->hands_over = true;
        if (!run->request->quiet) run_say(run, "%s; handing over to %s", why, name);
        run_penalise(run);
        return true;
    }
    if (!run->told_alone && !run->request->quiet)
        run_say(run, "%s; leading on, since %s", why,
                found ? elector_message(run->runner->elector) : "nobody else campaigns");
    run->told_alone = true;
    return false;
}
