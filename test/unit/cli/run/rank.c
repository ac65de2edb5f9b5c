/* --rank: what is accepted, and what it measures. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/run/rank.h"
#include "supervise/helper_command.h"

#include "lib/scratch.h"

static void knows_six_kinds(void **state)
{
    struct rank rank;
    assert_true(rank_parse("ip", &rank) && rank.kind == RANK_IP && !rank.argument);
    assert_true(rank_parse("cpu", &rank) && rank.kind == RANK_CPU && !rank.argument);
    assert_true(rank_parse("uptime", &rank) && rank.kind == RANK_UPTIME && !rank.argument);
    assert_true(rank_parse("disk:/var", &rank) && rank.kind == RANK_DISK);
    assert_string_equal(rank.argument, "/var");
    assert_true(rank_parse("files:a:b", &rank) && rank.kind == RANK_FILES);
    assert_string_equal(rank.argument, "a:b");
    assert_true(rank_parse("cmd:echo 5", &rank) && rank.kind == RANK_CMD);
    assert_string_equal(rank.argument, "echo 5");
}

static void refuses_all_others(void **state)
{
    static const char *const wrong[] = {"",     "i",     "ipp",  "ip:",    "ip:eth0", "cpu:1",
                                        "disk", "disk:", "cmd:", "cmd:  ", "files",   "uptime:3",
                                        "IP",   ":",     "luck", " ip"};
    struct rank rank;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (rank_parse(wrong[i], &rank)) fail_msg("'%s' is accepted", wrong[i]);
}

static void a_number_is_digits_below_2_53(void **state)
{
    static const char *const wrong[] = {"",
                                        " ",
                                        "-1",
                                        "+1",
                                        "1.5",
                                        "0x10",
                                        "1 2",
                                        "1e3",
                                        "abc",
                                        "12a",
                                        "9007199254740992",
                                        "99999999999999999999999"};
    uint64_t number = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (rank_number(wrong[i], &number)) fail_msg("'%s' is accepted", wrong[i]);
    assert_int_equal(number, 7); /* untouched */
    assert_true(rank_number("0", &number) && number == 0);
    assert_true(rank_number(" \t042 \r", &number) && number == 42);
    assert_true(rank_number("9007199254740991", &number) && number == RANK_MAX);
}

static bool measure_within(const char *text, uint64_t *number, char *problem, uint64_t limit_ns)
{
    struct rank rank;
    struct helper_command helper = {0};
    sigset_t none;
    int status = 0, output = -1;
    sigemptyset(&none);
    assert_true(rank_parse(text, &rank));
    problem[0] = '\0';
    const uint64_t until_ns = clock_boottime_ns() + limit_ns;
    assert_int_equal(helper_start_function(&helper, rank_measure, &rank, &none, until_ns, &output), 0);
    while (!helper_poll(&helper, clock_boottime_ns(), &status)) poll(NULL, 0, 1);
    const bool measured = rank_read(&rank, status, output, number, problem, 256);
    close(output);
    return measured;
}

static bool measure(const char *text, uint64_t *number, char *problem)
{
    return measure_within(text, number, problem, 60 * NS_PER_S);
}

static void measures_this_host(void **state)
{
    char problem[256];
    uint64_t number = 0;
    assert_true(measure("cpu", &number, problem) && number > 0);
    assert_true(measure("uptime", &number, problem) && number > 0);
    assert_true(measure("disk:/", &number, problem));
    if (measure("ip", &number, problem)) { /* there may be none */
        assert_true(number > 0 && number <= UINT32_MAX);
    } else {
        assert_non_null(strstr(problem, "loopback"));
    }
}

static void counts_the_files_of_a_folder(void **state)
{
    char folder[64], text[128], problem[256];
    uint64_t number = 99;
    assert_true(scratch_folder(folder, sizeof folder, "rank"));
    snprintf(text, sizeof text, "files:%s", folder);
    assert_true(measure(text, &number, problem));
    assert_int_equal(number, 0);
    for (int name = 'a'; name <= 'c'; name++) {
        snprintf(text, sizeof text, "%s/%c", folder, name);
        FILE *file = fopen(text, "w");
        assert_non_null(file);
        fclose(file);
    }
    snprintf(text, sizeof text, "files:%s", folder);
    assert_true(measure(text, &number, problem));
    assert_int_equal(number, 3);
    for (int name = 'a'; name <= 'c'; name++) {
        snprintf(text, sizeof text, "%s/%c", folder, name);
        unlink(text);
    }
    rmdir(folder);
    snprintf(text, sizeof text, "files:%s", folder);
    assert_false(measure(text, &number, problem));
    assert_non_null(strstr(problem, folder));
    snprintf(text, sizeof text, "disk:%s", folder);
    assert_false(measure(text, &number, problem));
}

static void a_command_says_it_in_its_first_line(void **state)
{
    char problem[256];
    uint64_t number = 0;
    assert_true(measure("cmd:echo   17", &number, problem));
    assert_int_equal(number, 17);
    assert_true(measure("cmd:seq 3 2000", &number, problem));
    assert_int_equal(number, 3);
    assert_true(measure("cmd:printf 5", &number, problem)); /* no newline */
    assert_int_equal(number, 5);
    assert_false(measure("cmd:echo $HOME", &number, problem)); /* there is no shell */
    assert_non_null(strstr(problem, "whole number"));
    assert_false(measure("cmd:true", &number, problem));
    assert_false(measure("cmd:false", &number, problem));
    assert_string_equal(problem, "the command failed with 1");
    assert_false(measure("cmd:/none/such", &number, problem));
    assert_string_equal(problem, "the command failed with 127");
}

static void a_command_that_says_nothing_is_ended(void **state)
{
    char problem[256];
    uint64_t number = 0;
    assert_false(measure_within("cmd:sleep 100000", &number, problem, NS_PER_S / 10));
    assert_string_equal(problem, "it took too long, and was killed");
    assert_false(measure_within("cmd:cat /dev/zero", &number, problem, NS_PER_S / 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_six_kinds),
        cmocka_unit_test(refuses_all_others),
        cmocka_unit_test(a_number_is_digits_below_2_53),
        cmocka_unit_test(measures_this_host),
        cmocka_unit_test(counts_the_files_of_a_folder),
        cmocka_unit_test(a_command_says_it_in_its_first_line),
        cmocka_unit_test(a_command_that_says_nothing_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
