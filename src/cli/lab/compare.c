/* elector compare: every algorithm through the same trials. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/lab/compare.h"

enum { NODES_DEFAULT = 6, NODES_MAX = SIM_TRIAL_NODES_MAX / 2, RUNS_MAX = 1000000 };

static const char help[] =
    "Usage: elector compare [--nodes N] [--runs N] [--seed S] [--output text|json]\n\n"
    "Puts every algorithm through the same trials, many seeded runs each, and holds what happens against\n"
    "what the algorithm says of itself (`elector algorithms NAME`). In every run the ring order is random.\n\n"
    "  messages        the highest leads and dies, and the lowest calls an election, or, where all beat,\n"
    "                  they notice by themselves: messages until the last one knows, on average\n"
    "  ×               how many times as many there are with twice the nodes: ×2 is linear, ×4 quadratic\n"
    "  T               how long that takes, from the call (or the death) on, in message delays\n"
    "  survives        how many may die at once, the leader among them, and a leader is still elected\n"
    "  crash-safe      some die, at any time, and that is noticed: in no run are there two leaders, nor, in\n"
    "                  the end, disagreement, a dead leader, or none although one can be\n"
    "  partition-safe  two or three sides cannot reach each other, for a while or for ever: never two leaders\n"
    "                  at one instant; where a majority elects for a term, never two in one term, since the\n"
    "                  old leader, which may not have heard yet, can do nothing without that majority\n"
    "                  (to elect nobody is safe, too)\n"
    "  restart-safe    like crash-safe, and who died comes back with its memory empty, though not its disk\n"
    "  stable          while a leader lives, a better one comes back or somebody calls an election: the\n"
    "                  leader stays, and nobody leads beside it\n\n"
    "A cell says yes if no run broke it and the algorithm promises that; yes* if it promises less; and no,\n"
    "with the share of runs that did, otherwise. If a run breaks what an algorithm promises, there is a ! in\n"
    "the cell, the run is told as a command that repeats it, and the exit code is 1.\n\n"
    "  --nodes N            how many nodes (otherwise 6)\n"
    "  --runs N             how many runs for each cell (otherwise as many as take a second or two)\n"
    "  --seed S             another seed, other runs (otherwise 1)\n"
    "  --output text|json   a table for people, or for programs";

/* ---- Measuring ---- */

static int measure_trials(const struct sim_trial_terms *terms, struct compare_row *row, struct sim_error *error)
{
    for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
        if (sim_measure_trouble(row->algorithm, (enum sim_trouble)trouble, terms, &row->trials[trouble], error))
            return -1;
    return 0;
}

static int measure_row(const struct sim_trial_terms *terms, struct compare_row *row, struct sim_error *error)
{
    const struct el_algorithm *algorithm = row->algorithm;
    struct sim_trial_terms doubled = *terms;
    doubled.nodes *= 2;
    if (algorithm->count_max && terms->nodes > algorithm->count_max) return 0;
    row->ran = true;
    if (sim_measure_cost(algorithm, terms, &row->cost, error) != 0) return -1;
    const bool speaks_of_twice = !algorithm->count_max || doubled.nodes <= algorithm->count_max;
    if (speaks_of_twice && sim_measure_cost(algorithm, &doubled, &row->twice, error) != 0) return -1;
    if (sim_measure_survived(algorithm, terms, &row->survived, error) != 0) return -1;
    return measure_trials(terms, row, error);
}

static int measure(struct comparison *comparison, struct sim_error *error)
{
    const struct el_algorithm *const *all = el_algorithms(&comparison->count);
    comparison->rows = calloc(comparison->count, sizeof *comparison->rows);
    if (!comparison->rows) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < comparison->count; i++) {
        comparison->rows[i].algorithm = all[i];
        if (measure_row(&comparison->terms, &comparison->rows[i], error) != 0) return -1;
    }
    return 0;
}

/* ---- The verb ---- */

static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    return text && units_number(text, most, number) && *number >= least;
}

/* What a run costs grows about with the square of the nodes. */
static uint64_t affordable_runs(uint32_t nodes)
{
    enum { BUDGET = 7200, LEAST = 8, MOST = 200 };
    const uint64_t runs = BUDGET / ((uint64_t)nodes * nodes);
    return runs < LEAST ? LEAST : runs > MOST ? MOST : runs;
}

static int compare(struct sim_trial_terms terms, bool json)
{
    struct comparison comparison = {.terms = terms};
    struct sim_error error = {""};
    int status = CLI_CANNOT_TELL;
    if (measure(&comparison, &error) != 0) {
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
    uint64_t nodes = NODES_DEFAULT, runs = 0, seed = 1;
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
        } else if (cli_option(argc, argv, &at, "output", &value)) {
            if (!cli_output("compare", value, &json)) return CLI_USAGE;
        } else {
            return cli_usage_error("compare", "unknown option %s; see `elector compare --help`", argv[at]);
        }
    }
    const uint32_t count = (uint32_t)nodes;
    const struct sim_trial_terms terms = {
        .nodes = count, .runs = runs ? runs : affordable_runs(count), .seed = seed};
    return compare(terms, json);
}
