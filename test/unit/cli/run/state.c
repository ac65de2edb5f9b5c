/* The states of elector run: the table in run.h is the code, nothing else changes a state, and a wrong transition traps. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/run.h"
#include "lib/node/trap.h"

static const char *const names[RUN_STATES] = {[RUN_DISCONNECTED] = "DISCONNECTED",
                                              [RUN_UNHEALTHY] = "UNHEALTHY",
                                              [RUN_CAMPAIGN] = "CAMPAIGN",
                                              [RUN_READY] = "READY",
                                              [RUN_WORK] = "WORK",
                                              [RUN_STOPPING] = "STOPPING",
                                              [RUN_ON_LOST] = "ON_LOST",
                                              [RUN_LEAVING] = "LEAVING",
                                              [RUN_DONE] = "DONE"};

static bool documented[RUN_STATES][RUN_STATES];

static int state_of(const char *name)
{
    for (int i = 0; i < RUN_STATES; i++)
        if (strcmp(names[i], name) == 0) return i;
    fail_msg("%s is no state", name);
    return -1;
}

/* Rows such as " *   READY -> WORK  ...". */
static int read_header(void **state)
{
    char line[256], from[32], to[32];
    FILE *file = fopen(ELECTOR_SOURCE_DIR "/src/cli/run/run.h", "re");
    if (!file) return -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, " * %31s -> %31s", from, to) == 2) documented[state_of(from)][state_of(to)] = true;
    return fclose(file);
}

static void the_table_in_the_header_is_the_code(void **state)
{
    for (int from = 0; from < RUN_STATES; from++)
        for (int to = 0; to < RUN_STATES; to++)
            if (run_may_enter((enum run_state)from, (enum run_state)to) != documented[from][to])
                fail_msg("%s -> %s: run.h says %s", names[from], names[to],
                         documented[from][to] ? "yes" : "no");
}

static struct run run;
static enum run_state wanted;

static void enter(void)
{
    run_enter(&run, wanted);
}

static void any_other_transition_traps(void **state)
{
    for (int from = 0; from < RUN_STATES; from++) {
        for (int to = 0; to < RUN_STATES; to++) {
            run.state = (enum run_state)from;
            wanted = (enum run_state)to;
            if (traps(enter) == documented[from][to])
                fail_msg("%s -> %s: %s", names[from], names[to], documented[from][to] ? "traps" : "no trap");
            if (!documented[from][to]) continue;
            enter();
            assert_int_equal(run.state, to);
        }
    }
}

static void mark_reachable(int from, bool *reached)
{
    if (reached[from]) return;
    reached[from] = true;
    for (int to = 0; to < RUN_STATES; to++)
        if (documented[from][to]) mark_reachable(to, reached);
}

static void every_state_is_reached_and_has_an_end(void **state)
{
    for (int from = 0; from < RUN_STATES; from++) {
        bool reached[RUN_STATES] = {false};
        mark_reachable(from, reached);
        assert_true(reached[RUN_DONE]);
        for (int to = 0; from == RUN_DISCONNECTED && to < RUN_STATES; to++) assert_true(reached[to]);
    }
}

/* A tenure ends only when no process of the command is left. */
static void work_is_always_stopped_first(void **state)
{
    for (int to = 0; to < RUN_STATES; to++)
        assert_int_equal(run_may_enter(RUN_WORK, (enum run_state)to), to == RUN_STOPPING);
    for (int to = 0; to < RUN_STATES; to++)
        assert_int_equal(run_may_enter(RUN_STOPPING, (enum run_state)to), to == RUN_READY || to == RUN_ON_LOST);
}

static size_t assignments_in(const char *path)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) count += strstr(line, "state = ") != NULL;
    fclose(file);
    return count;
}

static void nothing_but_run_enter_changes_a_state(void **state)
{
    glob_t files;
    size_t count = 0;
    assert_int_equal(glob(ELECTOR_SOURCE_DIR "/src/cli/run/*.c", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) count += assignments_in(files.gl_pathv[i]);
    globfree(&files);
    assert_int_equal(count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_in_the_header_is_the_code),   cmocka_unit_test(any_other_transition_traps),
        cmocka_unit_test(every_state_is_reached_and_has_an_end), cmocka_unit_test(work_is_always_stopped_first),
        cmocka_unit_test(nothing_but_run_enter_changes_a_state),
    };
    return cmocka_run_group_tests(tests, read_header, NULL);
}
