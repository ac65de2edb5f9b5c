/*
 * Scripted runs of toys: every move is a step. Checks the toys' notes, and the error of an impossible step.
 */
#ifndef ELECTOR_TEST_LIB_SIM_SCRIPTED_H
#define ELECTOR_TEST_LIB_SIM_SCRIPTED_H

#include "lib/sim/toy.h"

/* Toys on a stage: settings as lines of the file "f". */
static inline void stage(const char *text)
{
    struct sim_error error;
    char line[256];
    uint32_t number = 0;
    bench_clear();
    snprintf(bench.text, sizeof bench.text, "%s", text);
    bench.settings.file = "f";
    for (const char *at = text; at; at = strchr(at, ';') ? strchr(at, ';') + 2 : NULL) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, ";"), at);
        char *value = line + strcspn(line, " ");
        if (*value) *value++ = '\0';
        assert_true(sim_settings_add(&bench.settings, line, value, ++number, (uint32_t)(value - line) + 1));
    }
    if (sim_plan_build_for(&bench.plan, &toy, &bench.settings, &error) != 0)
        bench_fail(__FILE__, __LINE__, "%s", error.text);
    bench.world = sim_world_new(&bench.plan, SIM_KEEP_ALL);
    assert_non_null(bench.world);
    bench.result = sim_world_run(bench.world);
    assert_false(bench.result->out_of_memory);
}

static inline void staged_is(const char *file, int line, const char *text, const char *expected)
{
    stage(text);
    if (bench.result->error.text[0]) bench_fail(file, line, "%s", bench.result->error.text);
    story_is(file, line, expected);
}
#define staged(text, expected) staged_is(__FILE__, __LINE__, text, expected)

/* The last step is impossible, and this is said of it. */
static inline void stuck_is(const char *file, int line, const char *text, const char *expected)
{
    stage(text);
    if (strcmp(bench.result->error.text, expected) != 0)
        bench_fail(file, line, "expected\n    %s\n  but\n    %s", expected, bench.result->error.text);
}
#define stuck(text, expected) stuck_is(__FILE__, __LINE__, text, expected)

#define TWO "nodes 2; script steps; "
#define THREE "nodes 3; script steps; "

static inline bool violations_are(uint32_t kinds)
{
    return bench.result->violation_kinds == kinds;
}

static inline bool faults_are(uint32_t faults)
{
    return bench.result->faults == faults;
}

#endif
