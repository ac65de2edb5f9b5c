/* A command whose time is over before it begins, since its supervisor was stopped in between: it never runs. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervise/supervise.h"

#include "lib/scratch.h"

static char mark[96];

/* In the command's process, in place of the command. */
int execvp(const char *file, char *const words[]) /* NOLINT: glibc names them otherwise */
{
    FILE *made = fopen(mark, "we");
    if (made) fclose(made);
    _exit(0);
}

static int run(uint64_t kill_at_ns)
{
    char word[] = "true";
    char *const words[] = {word, NULL};
    const struct supervise_command command = {.about = "test", .words = words};
    struct supervise work = {0};
    int value = 0;
    assert_int_equal(supervise_start(&work, &command, kill_at_ns), 0);
    while (supervise_read(&work, &value) != SUPERVISE_EMPTY) usleep(1000);
    return access(mark, F_OK);
}

static void what_is_late_never_runs(void **state)
{
    for (int i = 0; i < 200; i++) assert_int_not_equal(run(1), 0);
    assert_int_equal(run(supervise_now_ns() + UINT64_C(60000000000)), 0);
    assert_int_equal(unlink(mark), 0);
    assert_int_equal(run(0), 0);
    assert_int_equal(unlink(mark), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_late_never_runs)};
    snprintf(mark, sizeof mark, "%s/elector-late-%d", scratch_root(), (int)getpid());
    (void)supervise_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
