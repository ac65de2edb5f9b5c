/* Control groups of those who were killed are removed by whoever comes next. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/tree.h"

static char folder[PATH_MAX];

/* Where they are made; false: this system lets us make none. */
static bool find_folder(void)
{
    struct supervise_tree tree = {0};
    supervise_cgroup_make(&tree);
    snprintf(folder, sizeof folder, "%s", tree.cgroup);
    supervise_cgroup_remove(&tree);
    char *end = strrchr(folder, '/');
    if (end) *end = '\0';
    return end;
}

static const char *group_of(pid_t maker)
{
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/elector-run-%d-1", folder, (int)maker);
    return path;
}

static pid_t dead_process(void)
{
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void what_the_dead_left_is_removed_and_nothing_else(void **state)
{
    struct supervise_tree tree = {0};
    if (!find_folder()) {
        print_message("skip  %s: no control group may be made here\n", __func__);
        skip();
    }
    const pid_t dead = dead_process(), alive = getppid();
    assert_int_equal(mkdir(group_of(dead), 0755), 0);
    const bool is_ours = mkdir(group_of(alive), 0755) == 0;
    supervise_cgroup_make(&tree);
    assert_true(tree.cgroup[0]);
    assert_int_equal(access(group_of(dead), F_OK), -1);
    assert_int_equal(access(group_of(alive), F_OK), 0);
    if (is_ours) rmdir(group_of(alive));
    supervise_cgroup_remove(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_dead_left_is_removed_and_nothing_else)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
