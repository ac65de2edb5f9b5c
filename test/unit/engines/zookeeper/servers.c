/* What a server of ZooKeeper answers to `srvr`. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "engines/zookeeper/internal.h"

static struct server_answer answer;

static enum server_state state_of(const char *text)
{
    server_read(&answer, text);
    return answer.state;
}

static void reads_mode_and_version(void **state)
{
    assert_int_equal(
        state_of("Zookeeper version: 3.8.0-1, built on 2023-02-04 12:00 UTC\nLatency min/avg/max: 0/0.0/0\n"
                 "Zxid: 0x100000000\nMode: follower\nNode count: 5\n"),
        SERVER_FOLLOWS);
    assert_string_equal(answer.text, "3.8.0");
    assert_int_equal(state_of("Zookeeper version: 3.4.13, built on\nMode: leader\n"), SERVER_LEADS);
    assert_string_equal(answer.text, "3.4.13");
    assert_int_equal(state_of("Mode: standalone\n"), SERVER_ALONE);
    assert_int_equal(state_of("Mode: observer\n"), SERVER_OBSERVES);
}

static void a_server_without_a_majority_looks(void **state)
{
    assert_int_equal(state_of("This ZooKeeper instance is not currently serving requests\n"), SERVER_LOOKS);
}

static void one_that_may_not_tell_only_answers(void **state)
{
    assert_int_equal(state_of("srvr is not executed because it is not in the whitelist.\n"), SERVER_ANSWERS);
    assert_int_equal(state_of(""), SERVER_ANSWERS);
    assert_int_equal(state_of("Mode: some new one\n"), SERVER_ANSWERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_mode_and_version),
        cmocka_unit_test(a_server_without_a_majority_looks),
        cmocka_unit_test(one_that_may_not_tell_only_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
