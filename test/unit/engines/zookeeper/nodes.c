/* The candidates of a group: their order, and what anybody may have written into their nodes. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "engines/zookeeper/internal.h"

static enum nodes_verdict take(struct nodes *nodes, const char *const *names, int count)
{
    const struct layout *other = NULL;
    const struct String_vector children = {count, (char **)(uintptr_t)names};
    return nodes_take(nodes, layout_named("kazoo"), &children, &other);
}

static void orders_by_sequence_and_not_by_name(void **state)
{
    static const char *const names[] = {"z__lock__0000000001", "notes", "a__lock__0000000003",
                                        "m__lock__0000000002"};
    struct nodes nodes = {0};
    assert_int_equal(take(&nodes, names, 4), NODES_FINE);
    assert_int_equal(nodes.count, 3);
    assert_string_equal(nodes.all[0].name, "z__lock__0000000001");
    assert_string_equal(nodes_before(&nodes, nodes_of(&nodes, "a__"))->name, "m__lock__0000000002");
    assert_null(nodes_before(&nodes, &nodes.all[0]));
    assert_null(nodes_of(&nodes, ""));
    nodes_free(&nodes);
}

static void keeps_what_it_has_read(void **state)
{
    static const char *const before[] = {"a__lock__0000000001", "b__lock__0000000002"};
    struct nodes nodes = {0};
    (void)take(&nodes, before, 2);
    node_read(&nodes.all[1], layout_named("kazoo"), "it", 2, 7);
    assert_int_equal(take(&nodes, &before[1], 1), NODES_FINE);
    assert_true(nodes.all[0].is_read);
    assert_int_equal(nodes.all[0].czxid, 7);
    nodes_free(&nodes);
}

static void too_slow(int number)
{
    _exit(number);
}

/* Any client that may create nodes there can create many. A look at all pairs of these takes 12 s of a processor, and this
 * look a tenth of one: the limit ends the test between the two. */
static void many_nodes_are_taken_at_once(void **state)
{
    enum { MANY = 100000, ROOM = 32, SECONDS = 3 };
    struct rlimit usual, limit;
    assert_int_equal(getrlimit(RLIMIT_CPU, &usual), 0);
    limit = usual;
    limit.rlim_cur = (rlim_t)(clock() / CLOCKS_PER_SEC) + SECONDS;
    assert_true(signal(SIGXCPU, too_slow) != SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
    char *text = malloc((size_t)MANY * ROOM), **names = malloc(MANY * sizeof *names);
    struct nodes nodes = {0};
    for (int i = 0; i < MANY; i++) {
        names[i] = text + (size_t)i * ROOM;
        snprintf(names[i], ROOM, "x__lock__%010d", (i * 7919) % MANY); /* in another order */
    }
    assert_int_equal(take(&nodes, (const char *const *)names, MANY), NODES_FINE);
    node_read(&nodes.all[MANY - 1], layout_named("kazoo"), "it", 2, 7);
    assert_int_equal(take(&nodes, (const char *const *)names, MANY), NODES_FINE);
    assert_true(nodes.all[MANY - 1].is_read);
    assert_int_equal(setrlimit(RLIMIT_CPU, &usual), 0);
    nodes_free(&nodes);
    free(names);
    free(text);
}

static void refuses_and_keeps_the_old_ones(void **state)
{
    static const char *const good[] = {"a__lock__0000000001"};
    static const char *const foreign[] = {"a__lock__0000000001", "_c_x-latch-0000000002"};
    static const char *const used_up[] = {"a__lock__-000000001"};
    struct nodes nodes = {0};
    (void)take(&nodes, good, 1);
    assert_int_equal(take(&nodes, foreign, 2), NODES_OTHER_LAYOUT);
    assert_int_equal(nodes.count, 1);
    assert_int_equal(take(&nodes, used_up, 1), NODES_FINE); /* nine digits are no number of ZooKeeper's */
    assert_int_equal(nodes.count, 0);
    nodes_free(&nodes);
}

static void reads_name_and_value_of_ours_alone(void **state)
{
    struct node ours = {.name = "656c6563050687088b90a0b0c0d0e0f10__lock__0000000001"};
    struct node theirs = {.name = "d33ec138f60a4e68bc7d5c2bdba03115__lock__0000000042"};
    node_read(&ours, layout_named("kazoo"), "a web 80", 8, 1);
    assert_string_equal(ours.who, "a");
    assert_string_equal(ours.who + ours.value_at, "web 80");
    node_read(&theirs, layout_named("kazoo"), "a web 80", 8, 1);
    assert_string_equal(theirs.who, "a web 80");
    assert_string_equal(theirs.who + theirs.value_at, "");
}

static void makes_hostile_bytes_harmless(void **state)
{
    char data[2048];
    struct node node = {.name = "656c6563050687088b90a0b0c0d0e0f10__lock__0000000001"};
    memset(data, 'x', sizeof data);
    node_read(&node, layout_named("kazoo"), data, sizeof data, 1);
    assert_int_equal(strlen(node.who), 63);
    data[3] = ' ';
    data[0] = '\x1b';
    data[1] = '\0';
    node_read(&node, layout_named("kazoo"), data, sizeof data, 1);
    assert_string_equal(node.who, "??x");
    assert_int_equal(strlen(node.who + node.value_at), 255);
    node_read(&node, layout_named("kazoo"), "", 0, 1);
    assert_string_equal(node.who + node.value_at, "");
}

static void writes_what_it_reads(void **state)
{
    char data[NODE_DATA];
    assert_int_equal(node_write(data, "a", ""), 1);
    assert_memory_equal(data, "a", 1);
    assert_int_equal(node_write(data, "a", "b c"), 5);
    assert_memory_equal(data, "a b c", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_by_sequence_and_not_by_name),
        cmocka_unit_test(keeps_what_it_has_read),
        cmocka_unit_test(many_nodes_are_taken_at_once),
        cmocka_unit_test(refuses_and_keeps_the_old_ones),
        cmocka_unit_test(reads_name_and_value_of_ours_alone),
        cmocka_unit_test(makes_hostile_bytes_harmless),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
