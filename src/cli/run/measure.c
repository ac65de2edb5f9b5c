/*
 * --rank: measures the priority before each campaign, in a process of its own, because a disk or a command may hang. A
 * measurement that fails changes nothing if an earlier one has succeeded.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/run/run.h"

static const uint64_t limit_ns = 5 * NS_PER_S;

static void fail(struct runner *runner, const char *problem)
{
    const struct run *any = &runner->runs[0];
    if (runner->is_ranked)
        run_say(any, "--rank: %s; campaigning with the last value, %llu", problem,
                (unsigned long long)runner->rank);
    else
        run_say(any, "--rank: %s", problem);
}

void run_measure(struct run *run)
{
    struct runner *runner = run->runner;
    if (!run->request->has_rank) return;
    run->wanted_measurement = runner->measurements + 1;
    if (runner->measuring.pid) return; /* it serves this run, too */
    const int error =
        helper_start_function(&runner->measuring, rank_measure, &run->request->rank, &runner->command.signals,
                              supervise_now_ns() + limit_ns, &runner->measured_fd);
    if (!error) return;
    runner->measurements++;
    fail(runner, strerror(error));
}

bool run_is_measured(const struct run *run)
{
    return run->runner->measurements >= run->wanted_measurement;
}

void run_poll_measurement(struct runner *runner)
{
    char problem[256] = "";
    int status = 0;
    if (!helper_poll(&runner->measuring, supervise_now_ns(), &status)) return;
    runner->measurements++;
    if (rank_read(&runner->request->rank, status, runner->measured_fd, &runner->rank, problem, sizeof problem))
        runner->is_ranked = true;
    else
        fail(runner, problem);
    close(runner->measured_fd);
}
