/*
 * --on-elected, --on-lost and --on-leader: the hooks of one group, one at a time, in the order of the events. A hook
 * that fails or hangs is reported and changes nothing else. Put what must succeed before this host may lead into the
 * command or into --health-cmd.
 *
 * The keeper of the tenure runs --on-elected and --on-lost, so that --on-lost runs even if this process is killed or
 * hangs. --on-leader belongs to no tenure and is a child of this process.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"

static const uint64_t keeper_grace_ns = UINT64_C(2000000000);

static const char *const names[] = {
    [RUN_HOOK_ELECTED] = "elected", [RUN_HOOK_LOST] = "lost", [RUN_HOOK_LEADER] = "leader"};

/*
 * There is always room for the lost that follows an elected: an elected leaves two places free, a leader one. Only
 * the latest leader counts, so a leader replaces one that is waiting.
 */
static bool add(struct run *run, const struct run_hook *hook)
{
    struct run_hooks *hooks = &run->hooks;
    if (!run->request->hooks[hook->kind]) return true;
    const size_t first_waiting = hooks->helper.pid || hooks->in_keeper ? 1 : 0;
    if (hook->kind == RUN_HOOK_LEADER && hooks->count > first_waiting &&
        hooks->list[hooks->count - 1].kind == RUN_HOOK_LEADER)
        hooks->count--;
    const size_t kept = hook->kind == RUN_HOOK_ELECTED ? 2 : hook->kind == RUN_HOOK_LEADER ? 1 : 0;
    if (hooks->count + kept >= RUN_HOOKS_WAITING) {
        run_say(run, "--on-%s skipped: %zu hooks are waiting already", names[hook->kind], hooks->count);
        return false;
    }
    hooks->list[hooks->count++] = *hook;
    return true;
}

/* This host is named as the leader only after elected, another host only after lost. */
static void add_heard_leader(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    if (!hooks->has_heard || hooks->heard.is_me != hooks->announced) return;
    hooks->has_heard = false;
    (void)add(run, &hooks->heard);
}

void run_notify_elected(struct run *run)
{
    struct run_hook hook = {.kind = RUN_HOOK_ELECTED, .token = run->token, .deadline_ns = run->deadline_ns};
    snprintf(hook.leader, sizeof hook.leader, "%s", run->runner->id);
    run->hooks.announced = add(run, &hook);
    add_heard_leader(run);
}

static bool one_runs(const struct run_hooks *hooks)
{
    return hooks->helper.pid || hooks->in_keeper;
}

static bool forget_waiting(struct run_hooks *hooks, enum run_hook_kind kind)
{
    for (size_t i = one_runs(hooks) ? 1 : 0; i < hooks->count; i++) {
        if (hooks->list[i].kind != kind) continue;
        memmove(hooks->list + i, hooks->list + i + 1, (--hooks->count - i) * sizeof *hooks->list);
        return true;
    }
    return false;
}

/*
 * The tenure is over: no need to set it up. False: --on-elected has not begun; it is forgotten, and needs no --on-lost.
 */
static bool end_elected(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    if (forget_waiting(hooks, RUN_HOOK_ELECTED)) return false;
    if (one_runs(hooks) && hooks->list[0].kind == RUN_HOOK_ELECTED) {
        if (hooks->in_keeper) supervise_kill(&run->work);
        helper_kill(&hooks->helper);
    }
    return true;
}

void run_notify_lost(struct run *run)
{
    const struct run_hook hook = {.kind = RUN_HOOK_LOST, .token = run->token};
    if (!run->hooks.announced) return;
    run->hooks.announced = false;
    if (!end_elected(run)) return;
    (void)add(run, &hook);
    add_heard_leader(run);
}

void run_notify_leader(struct run *run, const elector_leader *leader)
{
    struct run_hooks *hooks = &run->hooks;
    const bool is_known = hooks->heard.token == leader->token && strcmp(hooks->heard.leader, leader->name) == 0;
    if (!leader->name[0] || is_known) return;
    hooks->heard = (struct run_hook){.kind = RUN_HOOK_LEADER, .token = leader->token, .is_me = leader->is_me};
    snprintf(hooks->heard.leader, sizeof hooks->heard.leader, "%s", leader->name);
    hooks->has_heard = true;
    add_heard_leader(run);
}

static void remove_first(struct run_hooks *hooks)
{
    memmove(hooks->list, hooks->list + 1, --hooks->count * sizeof *hooks->list);
}

bool run_has_tenure_hooks(const struct run_request *request)
{
    return request->hooks[RUN_HOOK_ELECTED] || request->hooks[RUN_HOOK_LOST];
}

/* False: there is no keeper, so that this process must run the hook itself. */
static bool start_in_keeper(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    const enum run_hook_kind kind = hooks->list[0].kind;
    if (kind == RUN_HOOK_LEADER) return false;
    if (kind == RUN_HOOK_ELECTED && run_open_keeper(run) != 0) return false;
    if (!run->work.keeper || run->work.abandoned) return false;
    if (kind == RUN_HOOK_ELECTED)
        supervise_start_first(&run->work);
    else
        supervise_finish(&run->work);
    hooks->in_keeper = true;
    hooks->status = SUPERVISE_WAS_KILLED;
    hooks->keeper_limit_ns = supervise_now_ns() + run->request->hook_timeout_ns + keeper_grace_ns;
    return true;
}

static void start(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    const struct run_hook *hook = &hooks->list[0];
    const uint64_t now_ns = supervise_now_ns();
    if (start_in_keeper(run)) return;
    run_set_environment(run, hook->token, hook->deadline_ns);
    setenv("ELECTOR_EVENT", names[hook->kind], 1);
    setenv("ELECTOR_LEADER", hook->leader, 1);
    const int error = helper_start(&hooks->helper, run->request->hooks[hook->kind],
                                   &run->runner->command.signals, now_ns + run->request->hook_timeout_ns);
    unsetenv("ELECTOR_EVENT");
    unsetenv("ELECTOR_LEADER");
    if (!error) return;
    run_say(run, "--on-%s skipped: cannot create a process: %s", names[hook->kind], strerror(error));
    remove_first(hooks);
}

static void tell_of_end(const struct run *run, enum run_hook_kind kind, int status)
{
    char text[80];
    if (status != 0)
        run_say(run, "--on-%s %s", names[kind], helper_describe(status, text, sizeof text));
    else if (run->request->verbose)
        run_say(run, "--on-%s has succeeded", names[kind]);
}

static void on_end(struct run *run, int status)
{
    tell_of_end(run, run->hooks.list[0].kind, status);
    remove_first(&run->hooks);
}

void run_on_lost_unasked(struct run *run, int status)
{
    run->hooks.announced = false;
    (void)forget_waiting(&run->hooks, RUN_HOOK_LOST);
    if (run->request->hooks[RUN_HOOK_LOST]) tell_of_end(run, RUN_HOOK_LOST, status);
    add_heard_leader(run);
}

/* Without its keeper --on-lost begins again, as a hook of this process. */
void run_on_hook_end(struct run *run, int status)
{
    struct run_hooks *hooks = &run->hooks;
    hooks->in_keeper = false;
    hooks->keeper_limit_ns = 0;
    if (status != SUPERVISE_KEEPER_DIED)
        on_end(run, status);
    else if (hooks->list[0].kind == RUN_HOOK_ELECTED)
        on_end(run, SUPERVISE_WAS_KILLED);
}

/* The tenure's keeper is on its way out, and the next tenure needs its place. */
static bool must_wait(const struct run *run)
{
    return run->hooks.list[0].kind == RUN_HOOK_ELECTED && run->work.is_finishing;
}

void run_poll_hooks(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    int status = 0;
    if (helper_poll(&hooks->helper, supervise_now_ns(), &status)) on_end(run, status);
    if (hooks->keeper_limit_ns && supervise_now_ns() >= hooks->keeper_limit_ns) {
        hooks->keeper_limit_ns = 0;
        supervise_abandon_keeper(&run->work);
    }
    while (!one_runs(hooks) && hooks->count > 0 && !must_wait(run)) start(run);
}

bool run_hook_is_pending(const struct run *run, enum run_hook_kind event)
{
    for (size_t i = 0; i < run->hooks.count; i++)
        if (run->hooks.list[i].kind == event) return true;
    return false;
}
