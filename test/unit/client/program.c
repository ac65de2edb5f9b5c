/* The program of an engine is started only from where nobody else could have put it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/program.h"
#include "lib/scratch.h"

static char folder[128], path[160], reason[512];

static int make(void **state)
{
    if (!scratch_folder(folder, sizeof folder, "program")) return -1;
    snprintf(path, sizeof path, "%s/elector-engine", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    return fd < 0 ? -1 : close(fd);
}

static int drop(void **state)
{
    return unlink(path) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void refuses(const char *where, const char *why)
{
    reason[0] = '\0';
    assert_false(program_is_trusted(where, reason, sizeof reason));
    if (!strstr(reason, why)) fail_msg("%s", reason);
}

static void trusts_what_only_we_can_write(void **state)
{
    assert_int_equal(chmod(path, 0755), 0);
    assert_true(program_is_trusted(path, reason, sizeof reason));
}

static void refuses_a_folder_that_others_can_write_to(void **state)
{
    static const mode_t modes[] = {01777, 0777, 0775, 0702};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(folder, modes[i]), 0);
        refuses(path, "others can write to ");
    }
    assert_int_equal(chmod(folder, 0755), 0);
}

static void refuses_a_file_that_others_can_write_to(void **state)
{
    assert_int_equal(chmod(path, 0775), 0);
    refuses(path, path);
    assert_int_equal(chmod(path, 0757), 0);
    refuses(path, "others can write to ");
    assert_int_equal(chmod(path, 0755), 0);
}

/* A link in a folder of ours says nothing about the folder that it points into. */
static void refuses_a_link_into_a_folder_of_others(void **state)
{
    char ours[128], link_path[160];
    assert_true(scratch_folder(ours, sizeof ours, "ours"));
    snprintf(link_path, sizeof link_path, "%s/elector-engine", ours);
    assert_int_equal(symlink(path, link_path), 0);
    assert_true(program_is_trusted(link_path, reason, sizeof reason));
    assert_int_equal(chmod(folder, 01777), 0);
    refuses(link_path, folder);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(unlink(link_path), 0);
    refuses(link_path, "cannot look at");
    assert_int_equal(rmdir(ours), 0);
}

static void refuses_what_belongs_to_somebody_else(void **state)
{
    if (geteuid() != 0) skip();
    assert_int_equal(chown(path, 65533, (gid_t)-1), 0);
    refuses(path, "belongs to user 65533");
    assert_int_equal(chown(path, 0, (gid_t)-1), 0);
    assert_int_equal(chown(folder, 65533, (gid_t)-1), 0);
    refuses(path, "belongs to user 65533");
    assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusts_what_only_we_can_write),
        cmocka_unit_test(refuses_a_folder_that_others_can_write_to),
        cmocka_unit_test(refuses_a_file_that_others_can_write_to),
        cmocka_unit_test(refuses_a_link_into_a_folder_of_others),
        cmocka_unit_test(refuses_what_belongs_to_somebody_else),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
