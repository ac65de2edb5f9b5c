/* Measuring a detector in simulated worlds: one long run without crashes, and many with one crash each. */
#include "sim/measure/qos.h"

enum {
    WARM_UP = 4,  /* in units of pace_of: detectors learn the intervals before the measurement */
    PATIENCE = 64 /* in the same units: the longest wait until a crash counts as unnoticed */
};
enum { STREAM_OF_RUNS = 1000 };                           /* separate from a world's streams */
static const sim_time pace_max = UINT64_C(3600000000000); /* an hour, so that sums fit */

/* The plan's time to settle, about 30 heartbeats, limited to pace_max. */
static sim_time pace_of(const struct sim_plan *plan)
{
    return plan->settle < pace_max ? plan->settle : pace_max;
}

static enum sim_measured run(const struct sim_plan *plan, struct sim_tally *tally, uint64_t *sent)
{
    struct sim_world *world = sim_world_new(plan, 0);
    if (!world) return SIM_NO_MEMORY;
    sim_world_listen(world, sim_tally_verdict, tally);
    const struct sim_result *result = sim_world_run(world);
    const enum sim_measured status = result->out_of_memory         ? SIM_NO_MEMORY
                                     : result->ended < plan->until ? SIM_TOO_MUCH
                                                                   : SIM_MEASURED;
    *sent = result->detector_sent;
    sim_world_free(world);
    return status;
}

/* A copy of the plan that runs until exactly this time, even if it is at rest earlier. */
static struct sim_plan lasting(const struct sim_plan *plan, sim_time until)
{
    struct sim_plan made = *plan;
    made.until = until;
    made.settle = SIM_NEVER;
    return made;
}

/* ---- Mistakes ---- */

static enum sim_measured watch_the_living(struct sim_qos *qos, const struct sim_plan *plan, sim_time watch)
{
    const uint64_t count = plan->cluster.count;
    const sim_time from = WARM_UP * pace_of(plan);
    const struct sim_plan made = lasting(plan, from + watch);
    struct sim_tally tally;
    if (!sim_tally_open(&tally, qos, plan->cluster.count, from, made.until)) return SIM_NO_MEMORY;
    const enum sim_measured status = run(&made, &tally, &qos->messages);
    sim_tally_close(&tally);
    sim_tally_free(&tally);
    qos->watched = count * (count - 1) * watch;
    qos->node_time = count * made.until;
    return status;
}

/* ---- Crashes ---- */

struct crash {
    uint64_t seed;
    struct sim_command command;
};

static struct crash draw_crash(struct sim_random *dice, const struct sim_plan *plan)
{
    const sim_time pace = pace_of(plan);
    struct crash crash = {.command = {.type = SIM_DO_CRASH}};
    crash.seed = sim_random_next(dice);
    crash.command.node = (el_node)(1 + sim_random_below(dice, plan->cluster.count));
    crash.command.at = WARM_UP * pace + sim_random_below(dice, pace);
    return crash;
}

/* Runs for `wait` after the crash. Afterwards the tally says which survivors suspect the victim. */
static enum sim_measured run_crash(struct sim_tally *tally, const struct sim_plan *plan, struct crash *crash,
                                   sim_time wait)
{
    struct sim_plan made = lasting(plan, crash->command.at + wait);
    uint64_t sent = 0;
    made.seed = crash->seed;
    made.commands = &crash->command;
    made.command_count = 1;
    return run(&made, tally, &sent);
}

/* Repeats the run with a longer wait until every survivor has noticed or the longest wait is reached. */
static enum sim_measured watch_a_crash(struct sim_qos *qos, const struct sim_plan *plan, struct crash *crash)
{
    const uint32_t count = plan->cluster.count;
    const sim_time patience = PATIENCE * pace_of(plan);
    const el_node victim = crash->command.node;
    enum sim_measured status = SIM_MEASURED;
    if (qos->patience == 0) qos->patience = pace_of(plan);
    for (bool settled = false; !settled && status == SIM_MEASURED;) {
        struct sim_tally tally;
        if (!sim_tally_open(&tally, qos, count, 0, 0)) return SIM_NO_MEMORY;
        status = run_crash(&tally, plan, crash, qos->patience);
        settled = sim_tally_all_noticed(&tally, victim) || qos->patience >= patience;
        for (el_node survivor = 1; survivor <= count && settled && status == SIM_MEASURED; survivor++)
            if (survivor != victim) sim_tally_crash(&tally, victim, survivor, crash->command.at);
        if (!settled) qos->patience *= 4;
        sim_tally_free(&tally);
    }
    return status;
}

enum sim_measured sim_qos_simulate(struct sim_qos *qos, const struct sim_plan *plan, sim_time watch,
                                   uint32_t runs)
{
    struct sim_random dice;
    *qos = (struct sim_qos){0};
    sim_random_seed(&dice, plan->seed, STREAM_OF_RUNS);
    enum sim_measured status = watch_the_living(qos, plan, watch);
    for (uint32_t i = 0; i < runs && status == SIM_MEASURED; i++) {
        struct crash crash = draw_crash(&dice, plan);
        status = watch_a_crash(qos, plan, &crash);
    }
    return status;
}
