/* Memory for keys: what the kernel says of it (proc(5), smaps). */
#define _GNU_SOURCE
#include "agent/seal/key_memory.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#ifdef ELECTOR_SANITIZED /* the sanitizers make mlock() do nothing, and say that it has worked */
#define LOCKED " dd"
#else
#define LOCKED " lo"
#endif

enum { SIZE = 3 * 4096 + 8, NOT_MAPPED = 50 };

/* The flags of the mapping that has this address; "": there is none. */
static const char *flags_at(const void *address)
{
    static char line[512];
    bool is_inside = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *rest = NULL;
        const uintptr_t start = strtoul(line, &rest, 16);
        if (*rest == '-')
            is_inside = start <= (uintptr_t)address && (uintptr_t)address < strtoul(rest + 1, NULL, 16);
        else if (is_inside && strncmp(line, "VmFlags:", 8) == 0)
            break;
        line[0] = '\0';
    }
    fclose(file);
    return line;
}

static bool has_flags(const void *address, const char *first, const char *second, const char *third)
{
    const char *flags = flags_at(address);
    return strstr(flags, first) && strstr(flags, second) && strstr(flags, third);
}

static void every_byte_is_locked_and_left_out_of_dumps_and_forks(void **state)
{
    bool is_locked = false;
    char *memory = key_memory_new(SIZE, &is_locked);
    assert_non_null(memory);
    assert_true(is_locked);
    for (size_t i = 0; i < SIZE; i += 512) {
        assert_int_equal(memory[i], 0);
        assert_true(has_flags(memory + i, LOCKED, " dd", " dc"));
    }
    assert_true(has_flags(memory + SIZE - 1, LOCKED, " dd", " dc"));
    key_memory_free(memory);
    key_memory_free(NULL);
}

static void a_forked_process_does_not_have_it(void **state)
{
    bool is_locked = false;
    int status = 0;
    char *memory = key_memory_new(64, &is_locked);
    assert_non_null(memory);
    const pid_t child = fork();
    if (child == 0) _exit(flags_at(memory)[0] ? 0 : NOT_MAPPED);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), NOT_MAPPED);
    key_memory_free(memory);
}

#ifndef ELECTOR_SANITIZED
/* Without privileges, and with a limit of nothing: it says so, and works. */
static void says_when_it_cannot_be_locked(void **state)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        bool is_locked = true;
        if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (getuid() == 0 && setuid(65534) != 0)) _exit(1);
        char *memory = key_memory_new(64, &is_locked);
        if (!memory || is_locked) _exit(2);
        memset(memory, 7, 64);
        if (!strstr(flags_at(memory), " dd")) _exit(3);
        key_memory_free(memory);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_locked_and_left_out_of_dumps_and_forks),
        cmocka_unit_test(a_forked_process_does_not_have_it),
#ifndef ELECTOR_SANITIZED
        cmocka_unit_test(says_when_it_cannot_be_locked),
#endif
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
