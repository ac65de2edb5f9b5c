/* elector compare: every algorithm through the same trials. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/lab/compare.h"

enum { NODES_DEFAULT = 6, NODES_MAX = SIM_TRIAL_NODES_MAX / 2, RUNS_MAX = 1000000, THREADS_MAX = 64 };

static const char help[] =
    "Usage: elector compare [--nodes N] [--runs N] [--seed S] [--threads N] [--output text|json]\n\n"
    "Puts every algorithm through the same trials, with many seeded runs each, and compares the results with\n"
    "its own claims (`elector algorithms NAME`). In every run the ring order is random.\n\n"
    "  messages        mean number of messages until the last node knows the new leader. The leader, the\n"
    "                  highest, crashes; the lowest calls an election, or heartbeats reveal the crash\n"
    "  ×               the factor by which messages grow with twice the nodes: ×2 is linear, ×4 quadratic\n"
    "  T               how long that takes from the call (or the crash) on, in message delays\n"
    "  survives        how many may crash at once, the leader included, with a leader still elected\n"
    "  crash-safe      some nodes crash at any time, and detectors report it: no run has two leaders or ends\n"
    "                  with disagreement, a dead leader, or no leader although there can be one\n"
    "  partition-safe  two or three sides cannot reach each other, for some time or for ever: never two leaders\n"
    "                  at one instant. If a majority elects for a term: never two leaders in one term, since the\n"
    "                  old leader can do nothing without that majority\n"
    "  restart-safe    like crash-safe, and crashed nodes restart with empty memory and their saved record\n"
    "  stable          while a leader lives, a better one restarts or somebody calls an election: the leader\n"
    "                  stays, and nobody else leads\n\n"
    "A cell says yes if no run broke the property and the algorithm promises it; yes* if no run broke it and\n"
    "the algorithm promises less; vacuous if no side of a partition elected a leader in any run;\n"
    "otherwise no, with the share of runs that broke it. If a run breaks a promise, the cell has a !, the\n"
    "command that repeats the run is printed, and the exit code is 1.\n\n"
    "  --nodes N            number of nodes (default 6)\n"
    "  --runs N             runs for each cell (default: as many as take a second or two)\n"
    "  --seed S             seed of all random choices (default 1)\n"
    "  --threads N          number of threads (default: one for each processor); the answer does not depend on it\n"
    "  --output text|json   a table, or JSON";

/* ---- The verb ---- */

static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    return text && units_number(text, most, number) && *number >= least;
}

/* The time of a run grows about with the square of the number of nodes. */
static uint64_t affordable_runs(uint32_t nodes)
{
    enum { BUDGET = 7200, LEAST = 8, MOST = 200 };
    const uint64_t runs = BUDGET / ((uint64_t)nodes * nodes);
    return runs < LEAST ? LEAST : runs > MOST ? MOST : runs;
}

static int compare(struct sim_trial_terms terms, unsigned threads, bool json)
{
    struct comparison comparison = {.terms = terms};
    struct sim_error error = {""};
    int status = CLI_CANNOT_TELL;
    if (compare_measure(&comparison, threads, isatty(STDERR_FILENO), &error) != 0) {
        fprintf(stderr, "elector compare: %s\n", error.text);
    } else if (!(json ? compare_write_json : compare_write_text)(stdout, &comparison)) {
        status = cli_out_of_memory("compare");
    } else {
        status = cli_finish("compare", stdout, compare_contradicts(&comparison) ? CLI_NO : CLI_YES);
    }
    free(comparison.rows);
    return status;
}

int cli_compare(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t nodes = NODES_DEFAULT, runs = 0, seed = 1, threads = processors > 0 ? (uint64_t)processors : 1;
    bool json = false;
    for (int at = 1; at < argc; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--help") == 0) {
            puts(help);
            return cli_finish("compare", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &at, "nodes", &value)) {
            if (!read_number(value, 2, NODES_MAX, &nodes))
                return cli_usage_error("compare", "--nodes takes a number from 2 to %d", NODES_MAX);
        } else if (cli_option(argc, argv, &at, "runs", &value)) {
            if (!read_number(value, 1, RUNS_MAX, &runs))
                return cli_usage_error("compare", "--runs takes a number from 1 to %d", RUNS_MAX);
        } else if (cli_option(argc, argv, &at, "seed", &value)) {
            if (!read_number(value, 0, EL_EPOCH_MAX - 1 - RUNS_MAX, &seed))
                return cli_usage_error("compare", "--seed takes a whole number below 2^53 - %d", RUNS_MAX);
        } else if (cli_option(argc, argv, &at, "threads", &value)) {
            if (!read_number(value, 1, THREADS_MAX, &threads))
                return cli_usage_error("compare", "--threads takes a number from 1 to %d", THREADS_MAX);
        } else if (cli_option(argc, argv, &at, "output", &value)) {
            if (!cli_output("compare", value, &json)) return CLI_USAGE;
        } else {
            return cli_unknown("compare", cli_compare, argv[at]);
        }
    }
    const uint32_t count = (uint32_t)nodes;
    const struct sim_trial_terms terms = {
        .nodes = count, .runs = runs ? runs : affordable_runs(count), .seed = seed};
    return compare(terms, (unsigned)(threads < THREADS_MAX ? threads : THREADS_MAX), json);
}
