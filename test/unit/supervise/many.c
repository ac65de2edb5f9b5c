/* Several works of one supervisor, and what "nothing is left" means: of this one, all of it, and nothing of the others. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/supervise.h"

#include "lib/scratch.h"

/* Each test has its own works, which are static: supervise.c still lists those of a test that failed. */
enum { LIMIT_MS = 15000 };

static char folder[64];

static void nap(int *ms, const char *what)
{
    poll(NULL, 0, 1);
    if (++*ms > LIMIT_MS) fail_msg("not in time: %s", what);
}

/* A command that leaves a child in a session of its own, twice orphaned, whose number is in the file; then it does `then`. */
static void start(struct supervise *work, const char *name, const char *then)
{
    char text[512], shell[] = "sh", option[] = "-c";
    snprintf(
        text, sizeof text,
        "(setsid sh -c 'trap \"\" TERM; echo $$ >%s/%s.new; mv %s/%s.new %s/%s; while :; do sleep 1; done' &);"
        "until [ -e %s/%s ]; do sleep 0.01; done; %s",
        folder, name, folder, name, folder, name, folder, name, then);
    char *const words[] = {shell, option, text, NULL};
    struct supervise_command command = {.about = "test", .words = words};
    assert_int_equal(supervise_start(work, &command, 0), 0);
}

static pid_t orphan_of(const char *name)
{
    char path[128], line[32];
    int ms = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    while (access(path, F_OK) != 0) nap(&ms, "the orphan begins");
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    const long pid = strtol(line, NULL, 10);
    assert_true(pid > 0);
    return (pid_t)pid;
}

/* Not even as a zombie: whoever says that nothing is left has reaped it. */
static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static void await_empty(struct supervise *work)
{
    int value, ms = 0;
    for (;;) {
        const enum supervise_report news = supervise_read(work, &value);
        if (news == SUPERVISE_EMPTY) return;
        if (news == SUPERVISE_EXITED) supervise_kill(work);
        if (news == SUPERVISE_NOTHING) nap(&ms, "nothing is left");
    }
}

static void finish(struct supervise *work)
{
    supervise_kill(work);
    await_empty(work);
    supervise_reap_keeper(work);
}

/* Each test has its own works, which are static: supervise.c still lists those of a test that failed. */
static void who_ends_leaves_nobody_behind(void **state)
{
    static struct supervise work;
    start(&work, "orphan", "exit 3");
    const pid_t orphan = orphan_of("orphan");
    int value = 0, ms = 0;
    while (supervise_read(&work, &value) != SUPERVISE_EXITED) nap(&ms, "it exits");
    assert_int_equal(value, 3);
    poll(NULL, 0, 50);
    assert_int_equal(supervise_read(&work, &value), SUPERVISE_NOTHING); /* one is left */
    assert_true(is_there(orphan));
    supervise_kill(&work);
    await_empty(&work);
    assert_false(is_there(orphan));
    supervise_reap_keeper(&work);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void a_dead_keeper_costs_its_own_work_only(void **state)
{
    static struct supervise works[3];
    static const char *const names[] = {"x", "y", "z"};
    pid_t orphans[3];
    for (int i = 0; i < 3; i++) {
        start(&works[i], names[i], "while :; do sleep 1; done");
        orphans[i] = orphan_of(names[i]);
    }
    kill(works[1].keeper, SIGKILL);
    await_empty(&works[1]);
    assert_false(is_there(orphans[1]));
    int value = 0;
    for (int i = 0; i < 3; i += 2) {
        assert_true(is_there(orphans[i]));
        assert_int_equal(supervise_read(&works[i], &value), SUPERVISE_NOTHING);
    }
    finish(&works[0]);
    assert_false(is_there(orphans[0]));
    assert_true(is_there(orphans[2]));
    finish(&works[2]);
    assert_false(is_there(orphans[2]));
}

static pid_t beside;

static bool is_beside(pid_t pid)
{
    return pid == beside;
}

/* A hook or a check of the supervisor's is no part of the work. */
static void children_of_our_own_are_spared(void **state)
{
    static struct supervise work;
    start(&work, "own", "while :; do sleep 1; done");
    const pid_t orphan = orphan_of("own");
    beside = fork();
    if (beside == 0) {
        pause();
        _exit(0);
    }
    supervise_spare_children(is_beside);
    supervise_abandon_keeper(&work);
    await_empty(&work);
    supervise_spare_children(NULL);
    assert_false(is_there(orphan));
    assert_int_equal(waitpid(beside, NULL, WNOHANG), 0); /* it lives */
    kill(beside, SIGKILL);
    assert_int_equal(waitpid(beside, NULL, 0), beside);
}

/* Each keeper ends its work when the supervisor is gone, also where another keeper hangs. */
static void all_end_with_the_supervisor(void **state)
{
    static const char *const names[] = {"p", "q", "r"};
    int ends[2];
    pid_t last = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t supervisor = fork();
    if (supervisor == 0) {
        static struct supervise works[3];
        for (int i = 0; i < 3; i++) start(&works[i], names[i], "while :; do sleep 1; done");
        if (write(ends[1], &works[2].keeper, sizeof last) != (ssize_t)sizeof last) _exit(1);
        pause();
        _exit(0);
    }
    pid_t orphans[3];
    for (int i = 0; i < 3; i++) orphans[i] = orphan_of(names[i]);
    assert_int_equal(read(ends[0], &last, sizeof last), sizeof last);
    close(ends[0]);
    close(ends[1]);
    kill(last, SIGSTOP);
    kill(supervisor, SIGKILL);
    for (int i = 0, ms = 0; i < 2; i++)
        while (is_there(orphans[i])) nap(&ms, "all but the last has ended");
    kill(last, SIGCONT);
    for (int ms = 0; is_there(orphans[2]);) nap(&ms, "all has ended");
    assert_int_equal(waitpid(supervisor, NULL, 0), supervisor);
}

static int set_up(void **state)
{
    return scratch_folder(folder, sizeof folder, "many") && supervise_init() ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"orphan", "x", "y", "z", "own", "p", "q", "r"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_ends_leaves_nobody_behind),
        cmocka_unit_test(a_dead_keeper_costs_its_own_work_only),
        cmocka_unit_test(children_of_our_own_are_spared),
        cmocka_unit_test(all_end_with_the_supervisor),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
