/*
 * sim/measure runs many worlds and adds up their results. Trials (here) measure what an election costs and
 * which faults it survives, over many seeded runs, and compare that with the algorithm's own claims. Each run
 * is a story in settings, so `elector sim` can repeat it. qos.h measures failure detectors; tradeoff.h draws
 * them. This room may know plans and worlds, and not who calls it. Start reading with sim_measure_cost in
 * trial.c.
 */
#ifndef ELECTOR_SIM_MEASURE_TRIAL_H
#define ELECTOR_SIM_MEASURE_TRIAL_H

#include "sim/plan/plan.h"

/* A story names every node in one line, which has a few hundred characters. */
enum { SIM_TRIAL_NODES_MAX = 64 };

struct sim_trial_terms {
    uint32_t nodes; /* 2..SIM_TRIAL_NODES_MAX, at most the algorithm's count_max */
    uint64_t runs;  /* at least 1 */
    uint64_t seed;  /* the same seed gives the same stories to every algorithm */
};

/* ---- What it costs ---- */

/* Situations that need a leader. If one does not lead to a leader in every run, the next is tried. */
enum sim_need {
    SIM_ONE_NOTICES, /* the best leads and crashes; the lowest calls (with `beats`, all notice by themselves) */
    SIM_ALL_NOTICE,  /* the same, and every detector reports it after 2 T */
    SIM_NOBODY_DIES, /* nobody leads yet; the lowest calls an election */
    SIM_NEEDS,
};

struct sim_cost {
    enum sim_need need; /* the first in which every run ended with a leader; SIM_NEEDS: none */
    uint64_t runs;
    uint64_t messages;   /* of all runs together, until the last view changed */
    uint64_t turnaround; /* the same, in thousandths of T */
};

/* ---- What it survives ---- */

enum sim_trouble {
    SIM_CRASHES,    /* some crash, mostly with the leader among them, and every crash is noticed */
    SIM_PARTITIONS, /* two or three sides that cannot reach each other; some heal */
    SIM_RESTARTS,   /* some crash and restart with empty memory */
    SIM_COMEBACKS,  /* while a leader lives, a better one restarts, or somebody calls an election */
    SIM_TROUBLES,
};

struct sim_trial {
    uint64_t runs, broken;
    uint64_t idle; /* runs in which nobody began to lead while links were broken */
    bool promised; /* its claims and its table of weaknesses exclude a broken run */
    /* Runs with a violation that the table does not list, and the first such violation. */
    uint64_t unexcused;
    uint64_t run;
    uint32_t violations, faults;
};

/* True if the trial shows nothing: no side of a partition ever elected a leader, so no two could. */
static inline bool sim_trial_is_vacuous(const struct sim_trial *trial, enum sim_trouble trouble)
{
    return trouble == SIM_PARTITIONS && trial->broken == 0 && trial->idle == trial->runs;
}

/* The set of enum el_violation that the algorithm admits under these faults. */
uint32_t sim_excused(const struct el_algorithm *algorithm, uint32_t faults);

/* Each returns 0, or -1 with the error filled in. It runs the registered algorithm of that name. */
int sim_measure_cost(const struct el_algorithm *algorithm, const struct sim_trial_terms *terms,
                     struct sim_cost *cost, struct sim_error *error);
/* How many nodes may crash at once, the leader first, with a new leader elected: tries 1, 2, … until none
 * is. */
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
