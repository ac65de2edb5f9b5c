/* The store of examples/: who has been replaced writes no more, whatever it believes, and races are lost by the old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define FENCED_STORE_ALONE
#include "../../../examples/fenced_store.c" // NOLINT(bugprone-suspicious-include): an example is one file

static void a_stale_token_is_refused(void **state)
{
    struct fenced_store store;
    char value[256];
    store_init(&store);
    assert_true(store_write(&store, 33, "first"));
    assert_true(store_write(&store, 33, "again")); /* the same leader */
    assert_true(store_write(&store, 34, "second"));
    assert_false(store_write(&store, 33, "late"));
    assert_false(store_write(&store, 0, "nobody"));
    assert_true(store_read(&store, 34, value, sizeof value));
    assert_string_equal(value, "second");
}

static void what_a_new_leader_has_read_no_old_one_changes(void **state)
{
    struct fenced_store store;
    char value[256];
    store_init(&store);
    assert_true(store_write(&store, 33, "first"));
    assert_true(store_read(&store, 34, value, sizeof value)); /* before it has written anything */
    assert_false(store_write(&store, 33, "late"));
    assert_false(store_read(&store, 33, value, sizeof value));
    assert_true(store_read(&store, 34, value, sizeof value));
    assert_string_equal(value, "first");
}

enum { WRITES = 20000 };
static struct fenced_store raced;

static void *write_much(void *context)
{
    const uint64_t token = *(const uint64_t *)context;
    char value[32];
    snprintf(value, sizeof value, "%" PRIu64, token);
    for (int i = 0; i < WRITES; i++) (void)store_write(&raced, token, value);
    return NULL;
}

static void of_two_that_race_the_newer_is_last(void **state)
{
    pthread_t old_leader, new_leader;
    const uint64_t older = 7, newer = 8;
    char value[256];
    store_init(&raced);
    assert_int_equal(pthread_create(&old_leader, NULL, write_much, (void *)(uintptr_t)&older), 0);
    assert_int_equal(pthread_create(&new_leader, NULL, write_much, (void *)(uintptr_t)&newer), 0);
    pthread_join(old_leader, NULL);
    pthread_join(new_leader, NULL);
    assert_true(store_read(&raced, newer, value, sizeof value));
    assert_string_equal(value, "8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stale_token_is_refused),
        cmocka_unit_test(what_a_new_leader_has_read_no_old_one_changes),
        cmocka_unit_test(of_two_that_race_the_newer_is_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
