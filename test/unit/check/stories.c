/*
 * Counterexamples that the checker found lie in scenarios/. Each must break what it says, and nothing that the
 * algorithm's own table does not excuse: otherwise the algorithm has a defect, or its table does.
 */
#include <glob.h>

#include "lib/node/record.h"
#include "sim/internal.h"
#include "sim/measure/trial.h"

static void play(const char *path)
{
    struct sim_settings settings = {0};
    struct sim_plan plan = {0};
    struct sim_error error;
    if (sim_settings_read(&settings, path, &error) != 0 || sim_plan_build(&plan, &settings, &error) != 0) {
        fail_msg("%s: %s", path, error.text);
        return;
    }
    plan.judged = 0; /* what the algorithm does not claim needs no excuse */
    struct sim_world *world = sim_world_new(&plan, 0);
    assert_non_null(world);
    const struct sim_result *result = sim_world_run(world);
    uint32_t faults = result->faults;
    /* By steps a timer has no length: that it ran out is a clock outside of every bound. */
    if (plan.script == SIM_BY_STEPS && world->stage.fired) faults |= EL_DRIFTS;
    const uint32_t bad = result->violation_kinds & ~sim_excused(plan.algorithm, faults);
    if (bad) fail_msg("%s: violations 0x%x are not excused by the faults 0x%x", path, bad, faults);
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&settings);
}

static void every_counterexample_is_excused_by_its_faults(void **state)
{
    glob_t found;
    assert_int_equal(glob(ELECTOR_SOURCE_DIR "/scenarios/check/*.scenario", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 20);
    for (size_t i = 0; i < found.gl_pathc; i++) play(found.gl_pathv[i]);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_counterexample_is_excused_by_its_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
