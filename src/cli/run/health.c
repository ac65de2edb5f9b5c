/*
 * --health-cmd: one check for all groups of this runner, every --health-interval, whether it leads or not. It sets
 * `healthy`; state.c acts on it: an unhealthy host does not campaign, and hands over if it leads.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"

static void on_result(struct runner *runner, int status)
{
    const struct run_request *request = runner->request;
    const struct run *any = &runner->runs[0];
    const bool first = runner->failures == 0;
    char text[80];
    if (status == 0) {
        if (!runner->healthy && !request->quiet && !first) run_say(any, "the health check passes again");
        runner->failures = 0;
        runner->healthy = true;
        return;
    }
    runner->failures++;
    const bool fails = runner->healthy && runner->failures >= request->health_failures;
    if (fails) runner->healthy = false;
    if (!request->quiet && (first || fails || request->verbose))
        run_say(any, "the health check %s%s", helper_describe(status, text, sizeof text),
                runner->healthy ? "" : "; not campaigning until it passes");
}

static void start(struct runner *runner, uint64_t now_ns)
{
    struct run *any = &runner->runs[0];
    run_set_environment(any, any->token, any->deadline_ns);
    if (runner->count > 1) unsetenv("ELECTOR_GROUP"); /* the check is for all groups */
    setenv("ELECTOR_EVENT", "health", 1);
    const int error = helper_start(&runner->check, runner->request->health, &runner->command.signals,
                                   now_ns + runner->request->health_timeout_ns);
    unsetenv("ELECTOR_EVENT");
    runner->check_ns = now_ns + runner->request->health_interval_ns;
    if (!error) return;
    run_say(any, "--health-cmd: cannot create a process: %s; counted as a failure", strerror(error));
    on_result(runner, -1);
}

void run_poll_health(struct runner *runner)
{
    int status = 0;
    const uint64_t now_ns = supervise_now_ns();
    if (!runner->request->health) return;
    if (helper_poll(&runner->check, now_ns, &status)) on_result(runner, status);
    if (!runner->check.pid && now_ns >= runner->check_ns) start(runner, now_ns);
}
