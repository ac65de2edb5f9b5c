/*
 * Trials: what an election costs and what it survives, measured over many seeded runs, and whether that is
 * what the algorithm says of itself. A run is a story in settings, so each can be told by `elector sim`.
 */
#ifndef ELECTOR_SIM_MEASURE_TRIAL_H
#define ELECTOR_SIM_MEASURE_TRIAL_H

#include "sim/plan/plan.h"

/* A story names every node in a line of a few hundred characters. */
enum { SIM_TRIAL_NODES_MAX = 64 };

struct sim_trial_terms {
    uint32_t nodes; /* 2..SIM_TRIAL_NODES_MAX, and no more than the algorithm can speak of */
    uint64_t runs;  /* at least 1 */
    uint64_t seed;  /* the same seed gives the same stories to every algorithm */
};

/* ---- What it costs ---- */

/* How a leader is needed. What one story does not lead to a leader, the next may. */
enum sim_need {
    SIM_ONE_NOTICES, /* the best leads and dies; the lowest calls (or all notice by themselves: `beats`) */
    SIM_ALL_NOTICE,  /* the same, and every detector reports it after 2 T */
    SIM_NOBODY_DIES, /* nobody leads yet; the lowest calls */
    SIM_NEEDS,
};

struct sim_cost {
    enum sim_need need; /* the first in which every run ended with a leader; SIM_NEEDS: none did */
    uint64_t runs;
    uint64_t messages;   /* of all runs together, until the last view changed */
    uint64_t turnaround; /* the same, in thousandths of T */
};

/* ---- What it survives ---- */

enum sim_trouble {
    SIM_CRASHES,    /* some die, the leader mostly among them, and every death is noticed */
    SIM_PARTITIONS, /* two or three sides that cannot reach each other; some heal */
    SIM_RESTARTS,   /* some die and come back, their memory empty */
    SIM_COMEBACKS,  /* while a leader lives, a better one comes back, or somebody calls an election */
    SIM_TROUBLES,
};

struct sim_trial {
    uint64_t runs, broken;
    bool promised; /* by what it claims and by its table of weaknesses, no run could be broken */
    /* Runs with a violation that the table does not excuse, and what the first of them shows. */
    uint64_t unexcused;
    uint64_t run;
    uint32_t violations, faults;
};

/* Each: 0, or -1 with the error filled in. What is run is the registered algorithm of that name. */
/* What the algorithm says may go wrong under these faults: a set of enum el_violation. */
uint32_t sim_excused(const struct el_algorithm *algorithm, uint32_t faults);

int sim_measure_cost(const struct el_algorithm *algorithm, const struct sim_trial_terms *terms,
                     struct sim_cost *cost, struct sim_error *error);
/* How many may die at once, the leader first, with a leader elected after: for 1, for 2, … until none is. */
int sim_measure_survived(const struct el_algorithm *algorithm, const struct sim_trial_terms *terms,
                         uint32_t *deaths, struct sim_error *error);
int sim_measure_trouble(const struct el_algorithm *algorithm, enum sim_trouble trouble,
                        const struct sim_trial_terms *terms, struct sim_trial *trial, struct sim_error *error);

/* ---- The stories ---- */

/* Fill empty settings. False if memory ran out. */
bool sim_story_of_need(struct sim_settings *settings, const struct el_algorithm *algorithm, enum sim_need need,
                       const struct sim_trial_terms *terms, uint64_t run);
bool sim_story_of_deaths(struct sim_settings *settings, const struct el_algorithm *algorithm,
                         const struct sim_trial_terms *terms, uint32_t deaths);
bool sim_story_of_trouble(struct sim_settings *settings, const struct el_algorithm *algorithm,
                          enum sim_trouble trouble, const struct sim_trial_terms *terms, uint64_t run);

#endif
