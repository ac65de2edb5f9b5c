/*
 * A guardian that hangs: its program comes from a disk that does not answer, or its process cannot be killed. The loop waits for
 * neither. Calls of the system stand aside for ours, which hang on demand.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdatomic.h>

#include "lib/give_up.h"
#include "lib/host/guardian_client.h"

static atomic_bool spawning_hangs, is_spawning;
static bool cannot_be_killed;
static int longest_wait_ms; /* that poll() was asked for */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the library's names are reserved */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[], char *const environment[])
{
    static int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const[], char *const[]);
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "posix_spawn");
    atomic_store(&is_spawning, true);
    for (int i = 0; atomic_load(&spawning_hangs) && i < give_up_ms(); i++) usleep(1000);
    const int error = real(pid, path, actions, attributes, words, environment);
    atomic_store(&is_spawning, false);
    return error;
}

int kill(pid_t pid, int number)
{
    static int (*real)(pid_t, int);
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "kill");
    return cannot_be_killed && number == SIGKILL ? 0 : real(pid, number);
}

int poll(struct pollfd *polled, nfds_t count, int timeout)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "poll");
    if (timeout > longest_wait_ms) longest_wait_ms = timeout;
    return real(polled, count, timeout);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    static pid_t (*real)(pid_t, int *, int);
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "waitpid");
    assert_true(options & WNOHANG); /* the loop's: it would wait for ever for one that cannot be killed */
    return real(pid, status, options);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void tick(void)
{
    (void)guardian_client_tick(obituary);
    go_round();
}

static void await_the_start(void)
{
    for (int i = 0; !atomic_load(&is_spawning) && i < give_up_ms(); i++) usleep(1000);
    assert_true(atomic_load(&is_spawning));
}

static void the_loop_goes_on_while_a_program_is_read(void **state)
{
    atomic_store(&spawning_hangs, true);
    tick();
    await_the_start();
    (void)lead(join(), "g"); /* clients are served meanwhile */
    for (int i = 0; i < 20; i++) tick();
    read_log();
    assert_string_equal(told, "");
    assert_true(guardian_client_may_be(obituary, 1)); /* it may be any of our children */
    assert_true(guardian_client_tick(obituary) <= t.now + 10 * MS);
    atomic_store(&spawning_hangs, false);
    was_told(BEGUN "watch 2; connection 2; ");
    assert_true(longest_wait_ms < 10);
}

/* It is not wanted any more when it comes. */
static void one_that_comes_too_late_is_told_nothing(void **state)
{
    atomic_store(&spawning_hangs, true);
    tick();
    await_the_start();
    t.config.guardian = false; /* read anew */
    assert_int_equal(guardian_client_tick(obituary), UINT64_MAX);
    assert_false(guardian_client_may_be(obituary, 1));
    atomic_store(&spawning_hangs, false);
    for (int i = 0; atomic_load(&is_spawning) && i < give_up_ms(); i++) usleep(1000);
    for (int i = 0; i < give_up_ms() && waitid(P_ALL, 0, NULL, WEXITED | WNOHANG) == 0; i++) usleep(1000);
    read_log();
    assert_null(strstr(told, "begin"));
}

/* As if it were in a call that cannot be interrupted. */
static void the_loop_waits_for_none_that_cannot_be_killed(void **state)
{
    was_told(BEGUN);
    const pid_t pid = (pid_t)strtol(told, NULL, 10);
    longest_wait_ms = 0;
    cannot_be_killed = true;
    assert_int_equal(kill(pid, SIGSTOP), 0);
    t.config.guardian = false; /* read anew: it is told goodbye, and does not go */
    assert_int_equal(guardian_client_tick(obituary), UINT64_MAX);
    assert_true(longest_wait_ms < 10);
    cannot_be_killed = false;
    assert_int_equal(kill(pid, SIGKILL), 0);
    for (int i = 0; i < give_up_ms() && waitpid(pid, NULL, WNOHANG) == 0; i++) usleep(1000);
}

int main(int argc, char **argv)
{
    if (argc > 1) return strcmp(argv[1], "guardian") == 0 ? write_all_down() : 2;
    const struct CMUnitTest tests[] = {
        GUARDED(the_loop_goes_on_while_a_program_is_read),
        GUARDED(one_that_comes_too_late_is_told_nothing),
        GUARDED(the_loop_waits_for_none_that_cannot_be_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
