/* The results of `elector compare`: how they are measured (compare_measure.c) and written (compare_write.c). */
#ifndef ELECTOR_CLI_LAB_COMPARE_H
#define ELECTOR_CLI_LAB_COMPARE_H

#include <stdio.h>

#include "sim/measure/trial.h"

struct compare_row {
    const struct el_algorithm *algorithm;
    bool ran;                    /* false: more members than the algorithm's count_max */
    struct sim_cost cost, twice; /* twice: of twice as many nodes; runs 0 if not measured */
    uint32_t survived;
    struct sim_trial trials[SIM_TROUBLES];
};

struct comparison {
    struct sim_trial_terms terms;
    struct compare_row *rows;
    uint32_t count;
};

/* Fills the rows, with this many threads: the results do not depend on how many. `tells`: progress to stderr. 0, or -1
 * with the error filled in. */
int compare_measure(struct comparison *comparison, unsigned threads, bool tells, struct sim_error *error);

/* True if some run has a violation that the algorithm's table of weaknesses does not list. */
bool compare_contradicts(const struct comparison *comparison);

/* False if memory ran out. */
bool compare_write_text(FILE *out, const struct comparison *comparison);
bool compare_write_json(FILE *out, const struct comparison *comparison);

#endif
