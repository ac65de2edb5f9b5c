/* Where `elector run` campaigns if nobody says: the signs of an agent, and the folder for locks. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/url.h"

#include "lib/scratch.h"

static char root[64], path[4096];
static const char *problem;

static int make_root(void **state)
{
    return scratch_folder(root, sizeof root, "url") ? 0 : -1;
}

static int drop(const char *name, const struct stat *status, int kind, struct FTW *where)
{
    return remove(name);
}

static int remove_root(void **state)
{
    return nftw(root, drop, 16, FTW_DEPTH | FTW_PHYS);
}

/* Below the root; the folders above it are made too. */
static const char *made(const char *name, mode_t mode)
{
    static char full[300];
    snprintf(full, sizeof full, "%s%s", root, name);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    assert_int_equal(mkdir(full, mode), 0);
    assert_int_equal(chmod(full, mode), 0);
    return full;
}

/* ---- Signs ---- */

static void a_host_without_an_agent_has_no_sign_of_one(void **state)
{
    assert_false(url_finds_agent(root, path, sizeof path));
    made("/etc/systemd/system/multi-user.target.wants", 0755);
    made("/usr/lib/systemd/system/elector-agent.service", 0755); /* installed everywhere: no sign */
    assert_false(url_finds_agent(root, path, sizeof path));
}

static void each_sign_is_seen(void **state)
{
    static const char *const signs[] = {
        "/run/elector",
        "/etc/elector/elector.conf",
        "/var/lib/elector",
        "/etc/systemd/system/elector-agent.service",
        "/etc/systemd/system/multi-user.target.wants/elector-agent.service",
        "/run/systemd/system/elector-agent.service",
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        char full[300];
        snprintf(full, sizeof full, "%s", made(signs[i], 0755));
        assert_true(url_finds_agent(root, path, sizeof path));
        assert_string_equal(path, full);
        assert_int_equal(rmdir(full), 0);
        assert_int_equal(symlink("/nowhere", full),
                         0); /* as `systemctl enable` makes, and its target is gone */
        assert_true(url_finds_agent(root, path, sizeof path));
        assert_int_equal(unlink(full), 0);
    }
}

static void a_sign_that_cannot_be_looked_at_is_one(void **state)
{
    char folder[300];
    snprintf(folder, sizeof folder, "%s", made("/etc/elector", 0));
    assert_int_equal(chmod(root, 0755), 0);
    if (getuid() == 0) assert_int_equal(seteuid(65534), 0);
    const bool found = url_finds_agent(root, path, sizeof path);
    if (getuid() == 0) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(found);
}

static void a_path_that_does_not_fit_is_a_sign(void **state)
{
    char small[8];
    assert_true(url_finds_agent(root, small, sizeof small));
}

/* ---- The folder for locks ---- */

static bool makes(void)
{
    return url_makes_lock_folder(root, geteuid(), path, sizeof path, &problem);
}

static void the_folder_is_made_and_found_again(void **state)
{
    char expected[200];
    struct stat status;
    snprintf(expected, sizeof expected, "%s/.local/state/elector", root);
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    setenv("HOME", "/nowhere", 1);
    for (int i = 0; i < 2; i++) {
        assert_true(makes());
        assert_null(problem);
        assert_string_equal(path, expected);
    }
    assert_int_equal(stat(expected, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void refuses(const char *why, const char *where)
{
    assert_false(makes());
    assert_non_null(strstr(problem, why));
    assert_string_equal(path + strlen(root), where);
}

static void others_must_not_write_to_it(void **state)
{
    made("/.local/state/elector", 0775);
    refuses("others can write", "/.local/state/elector");
}

static void symbolic_links_are_not_followed(void **state)
{
    char link[200];
    snprintf(link, sizeof link, "%s/.local/state/elector", root);
    made("/elsewhere", 0700);
    made("/.local/state", 0700);
    assert_int_equal(symlink("../../elsewhere", link), 0);
    refuses("symbolic link", "/.local/state/elector");
    assert_int_equal(unlink(link), 0);
    snprintf(link, sizeof link, "%s/.local/state", root);
    assert_int_equal(rmdir(link), 0);
    assert_int_equal(symlink("../elsewhere", link), 0);
    refuses("symbolic link", "/.local/state");
}

static void a_folder_of_somebody_else_is_refused(void **state)
{
    made("/.local/state", 0700);
    assert_false(url_makes_lock_folder(root, geteuid() + 1, path, sizeof path, &problem));
    assert_non_null(strstr(problem, "belongs to somebody else"));
}

static void a_home_that_is_none_is_refused(void **state)
{
    assert_false(url_makes_lock_folder("/nonexistent", geteuid(), path, sizeof path, &problem));
    assert_non_null(strstr(problem, "No such file"));
    assert_string_equal(path, "/nonexistent");
    assert_false(url_makes_lock_folder("", geteuid(), path, sizeof path, &problem));
    assert_non_null(strstr(problem, "not an absolute path"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TEST(a_host_without_an_agent_has_no_sign_of_one),
        TEST(each_sign_is_seen),
        TEST(a_sign_that_cannot_be_looked_at_is_one),
        TEST(a_path_that_does_not_fit_is_a_sign),
        TEST(the_folder_is_made_and_found_again),
        TEST(others_must_not_write_to_it),
        TEST(symbolic_links_are_not_followed),
        TEST(a_folder_of_somebody_else_is_refused),
        TEST(a_home_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
