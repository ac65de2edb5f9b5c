/* The loop asks for no memory when a recording goes on in its other half. */
#include "lib/host/recordings.h"

#include "agent/recorder/internal.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define COUNTS 0 /* the sanitizer has the allocator */
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS 0
#endif
#endif
#ifndef COUNTS
#define COUNTS 1
#endif

static unsigned asked_for;

#if COUNTS
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier): the library's names are reserved */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
    asked_for++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    asked_for++;
    return __libc_calloc(number, size);
}

void *realloc(void *at, size_t size)
{
    asked_for++;
    return __libc_realloc(at, size);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier) */
#endif

static void a_small_host_is_packed_in_memory_that_is_there(void **state)
{
    char text[200];
    recorded_size = MIB;
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++)
        for (char name[] = "a"; *name <= 'z'; ++*name)
            host_stand(host_find(members[node].host, name, text, sizeof text), true, 0);
    pass(5000);
    assert_true(!COUNTS || asked_for > 0);
    asked_for = 0;
    for (el_node node = 1; node <= MEMBERS; node++)
        assert_true(recorder_keep_state(members[node].recorder, members[node].host, false));
    assert_int_equal(asked_for, 0);
    close_recorded();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_host_is_packed_in_memory_that_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
