/* Running the stories of a trial, and judging the results. */
#include "sim/measure/trial.h"

#include <stdio.h>

#include "sim/world/world.h"

/* The faults of each kind of trouble, and the violations that break such a run. */
static const struct {
    uint32_t faults, violations;
} rules[SIM_TROUBLES] = {
    [SIM_CRASHES] = {EL_CRASHES, EL_TWO_LEADERS | EL_SAME_TERM | EL_DISAGREEMENT | EL_DEAD_LEADER |
                                     EL_NO_LEADER | EL_ENDLESS},
    [SIM_PARTITIONS] = {EL_PARTITIONS, EL_TWO_LEADERS | EL_SAME_TERM},
    [SIM_RESTARTS] = {EL_CRASHES | EL_RESTARTS, EL_TWO_LEADERS | EL_SAME_TERM | EL_DISAGREEMENT |
                                                    EL_DEAD_LEADER | EL_NO_LEADER | EL_ENDLESS},
    [SIM_COMEBACKS] = {EL_RESTARTS | EL_NEEDLESS_CALLS, EL_DEMOTED},
};

/* ---- The algorithm's own claims ---- */

uint32_t sim_excused(const struct el_algorithm *algorithm, uint32_t faults)
{
    uint32_t violations = 0;
    for (uint32_t i = 0; i < algorithm->break_count; i++)
        if (algorithm->breaks[i].faults & faults) violations |= algorithm->breaks[i].violations;
    return violations;
}

/*
 * An old leader that has not heard of the new one does no harm if it acts in the name of a term and needs a
 * majority for every action: the majority knows the newer term.
 */
static bool is_fenced(const struct el_algorithm *algorithm)
{
    return algorithm->majority && !algorithm->store && algorithm->claims & EL_CLAIMS_ONE_PER_TERM;
}

static bool is_promised(const struct el_algorithm *algorithm, enum sim_trouble trouble)
{
    const uint32_t claims = algorithm->claims;
    bool claimed = false;
    switch (trouble) {
    case SIM_CRASHES:
    case SIM_RESTARTS: claimed = claims & (EL_CLAIMS_AGREEMENT | EL_CLAIMS_GROUPS); break;
    case SIM_PARTITIONS: claimed = claims & EL_CLAIMS_ONE_LEADER || is_fenced(algorithm); break;
    case SIM_COMEBACKS: claimed = claims & EL_CLAIMS_STABLE; break;
    case SIM_TROUBLES: break;
    }
    return claimed && !(sim_excused(algorithm, rules[trouble].faults) & rules[trouble].violations);
}

/* ---- One run ---- */

struct run {
    struct sim_settings settings;
    struct sim_plan plan;
    struct sim_world *world;
    const struct sim_result *result;
};

static int out_of_memory(struct sim_error *error)
{
    snprintf(error->text, sizeof error->text, "out of memory");
    return -1;
}

static void end_run(struct run *run)
{
    sim_world_free(run->world);
    sim_plan_free(&run->plan);
    sim_settings_free(&run->settings);
}

/* Builds and runs the plan, if the settings are complete (`told`). */
static int play(struct run *run, bool told, struct sim_error *error)
{
    if (!told) return out_of_memory(error);
    if (sim_plan_build(&run->plan, &run->settings, error) != 0) return -1;
    run->world = sim_world_new(&run->plan, 0);
    run->result = run->world ? sim_world_run(run->world) : NULL;
    return run->result && !run->result->out_of_memory ? 0 : out_of_memory(error);
}

static bool ended_with_a_leader(const struct run *run)
{
    return run->result->agreed && sim_world_alive(run->world, run->result->leader) &&
           !sim_is_endless(run->result);
}

/* ---- What it costs ---- */

static void add_cost(struct sim_cost *cost, const struct run *run)
{
    const struct sim_result *result = run->result;
    for (size_t i = 0; i < result->phase_count; i++) cost->messages += result->phases[i].messages;
    cost->turnaround += result->turnaround * 1000 / run->plan.unit;
    cost->runs++;
}

/* Sums up the runs, as long as each ends with a leader. */
static int meet_need(const struct el_algorithm *algorithm, const struct sim_trial_terms *terms,
                     struct sim_cost *cost, struct sim_error *error)
{
    bool met = true;
    int status = 0;
    for (uint64_t i = 0; i < terms->runs && met && status == 0; i++) {
        struct run run = {0};
        status = play(&run, sim_story_of_need(&run.settings, algorithm, cost->need, terms, i), error);
        met = status == 0 && ended_with_a_leader(&run);
        if (met) add_cost(cost, &run);
        end_run(&run);
    }
    return status;
}

int sim_measure_cost(const struct el_algorithm *algorithm, const struct sim_trial_terms *terms,
                     struct sim_cost *cost, struct sim_error *error)
{
    for (int need = 0; need < SIM_NEEDS; need++) {
        *cost = (struct sim_cost){.need = (enum sim_need)need};
        if (meet_need(algorithm, terms, cost, error) != 0) return -1;
        if (cost->runs == terms->runs) return 0;
    }
    *cost = (struct sim_cost){.need = SIM_NEEDS};
    return 0;
}

int sim_measure_survived(const struct el_algorithm *algorithm, const struct sim_trial_terms *terms,
                         uint32_t *deaths, struct sim_error *error)
{
    for (*deaths = 0; *deaths + 1 < terms->nodes; ++*deaths) {
        struct run run = {0};
        const bool told = sim_story_of_deaths(&run.settings, algorithm, terms, *deaths + 1);
        const int status = play(&run, told, error);
        const bool elected = status == 0 && ended_with_a_leader(&run);
        end_run(&run);
        if (!elected) return status;
    }
    return 0;
}

/* ---- What it survives ---- */

static bool kept_its_leader(const struct run *run)
{
    return !run->result->deposed && run->result->leaders_max == 1 &&
           sim_world_leading(run->world) == run->plan.incumbent;
}

static bool is_broken(const struct run *run, const struct el_algorithm *algorithm, enum sim_trouble trouble)
{
    const struct sim_result *result = run->result;
    if (trouble == SIM_COMEBACKS) return !kept_its_leader(run);
    if (result->violation_kinds & rules[trouble].violations) return true;
    return trouble == SIM_PARTITIONS && !is_fenced(algorithm) && result->leaders_max > 1;
}

static void add_run(struct sim_trial *trial, const struct run *run, const struct el_algorithm *algorithm,
                    enum sim_trouble trouble, uint64_t number)
{
    const struct sim_result *result = run->result;
    const uint32_t unexcused = result->violation_kinds & ~sim_excused(algorithm, result->faults);
    trial->runs++;
    trial->broken += is_broken(run, algorithm, trouble);
    trial->idle += result->elected_apart == 0;
    if (!unexcused || trial->unexcused++ > 0) return;
    trial->run = number;
    trial->violations = unexcused;
    trial->faults = result->faults;
}

int sim_measure_trouble(const struct el_algorithm *algorithm, enum sim_trouble trouble,
                        const struct sim_trial_terms *terms, struct sim_trial *trial, struct sim_error *error)
{
    *trial = (struct sim_trial){.promised = is_promised(algorithm, trouble)};
    int status = 0;
    for (uint64_t i = 0; i < terms->runs && status == 0; i++) {
        struct run run = {0};
        status = play(&run, sim_story_of_trouble(&run.settings, algorithm, trouble, terms, i), error);
        if (status == 0) add_run(trial, &run, algorithm, trouble, i);
        end_run(&run);
    }
    return status;
}
