/*
 * --on-elected, --on-lost and --on-leader: the hooks of one group, one at a time, in the order of the events. A hook
 * that fails or hangs is reported and changes nothing else. Put what must succeed before this host may lead into the
 * command or into --health-cmd.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"

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
    const size_t first_waiting = hooks->helper.pid ? 1 : 0;
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

void run_notify_lost(struct run *run)
{
    const struct run_hook hook = {.kind = RUN_HOOK_LOST, .token = run->token};
    if (!run->hooks.announced) return;
    run->hooks.announced = false;
    if (run->hooks.helper.pid && run->hooks.list[0].kind == RUN_HOOK_ELECTED)
        helper_kill(&run->hooks.helper); /* the tenure is over: no need to set it up */
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

static void start(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    const struct run_hook *hook = &hooks->list[0];
    const uint64_t now_ns = supervise_now_ns();
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

void run_poll_hooks(struct run *run)
{
    struct run_hooks *hooks = &run->hooks;
    int status = 0;
    char text[80];
    if (helper_poll(&hooks->helper, supervise_now_ns(), &status)) {
        const char *name = names[hooks->list[0].kind];
        if (status != 0)
            run_say(run, "--on-%s %s", name, helper_describe(status, text, sizeof text));
        else if (run->request->verbose)
            run_say(run, "--on-%s has succeeded", name);
        remove_first(hooks);
    }
    while (!hooks->helper.pid && hooks->count > 0) start(run);
}

bool run_hook_is_pending(const struct run *run, enum run_hook_kind event)
{
    for (size_t i = 0; i < run->hooks.count; i++)
        if (run->hooks.list[i].kind == event) return true;
    return false;
}
