/* The groups of an engine: found by name, forgotten, and what becomes of the others. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "algorithms/registry.h"
#include "engines/internal.h"

enum { GROUPS = 2000, EXTRA = GROUPS / 3 };

static bool may_forget;
static unsigned observed, forgotten;
static char text[200];

static void observe(void *opened, struct host_group *group)
{
    observed++;
}

static bool forget(void *opened, struct host_group *group)
{
    forgotten += may_forget;
    return may_forget;
}

static const struct store_kind kind = {.observe = observe, .forget = forget, .algorithm = &el_etcd_election};
static struct config config;
static struct engine engine = {.kind = &kind};

/* Of engine.c, which has the loop. */
el_duration engine_time(const struct engine *e, const char *option)
{
    return 0;
}

static uint64_t now(void *context)
{
    return 1;
}

static int begin(void **state)
{
    engine.host = host_new(&config, NULL, (struct host_hooks){.now = now});
    engine.host->engine = &engine;
    may_forget = true;
    observed = forgotten = 0;
    return 0;
}

static int end(void **state)
{
    host_free(engine.host);
    return 0;
}

static const char *name_of(unsigned number)
{
    static char name[32];
    snprintf(name, sizeof name, "job-%u", number);
    return name;
}

static struct host_group *make(unsigned number)
{
    struct host_group *group = host_find(engine.host, name_of(number), text, sizeof text);
    assert_non_null(group);
    return group;
}

/* Each group that is left is found by its name and by its number; no other is. */
static void expect(unsigned modulus)
{
    unsigned left = 0;
    for (unsigned i = 0; i < GROUPS; i++) {
        const struct host_group *group = host_known(engine.host, name_of(i));
        if (i % modulus == 0) {
            assert_null(group);
            continue;
        }
        assert_non_null(group);
        assert_string_equal(host_name(group), name_of(i));
        left++;
    }
    for (struct host_group *each = host_next(engine.host, NULL); each; each = host_next(engine.host, each)) {
        assert_ptr_equal(host_known(engine.host, host_name(each)), each);
        left--;
    }
    assert_int_equal(left, 0);
}

static void others_are_found_when_some_are_forgotten(void **state)
{
    for (unsigned i = 0; i < GROUPS; i++) make(i);
    for (unsigned i = 0; i < GROUPS; i += 3) assert_true(host_forget(host_known(engine.host, name_of(i))));
    expect(3);
    for (unsigned i = GROUPS; i < GROUPS + EXTRA; i++)
        make(i); /* which get the places; the table does not grow */
    for (unsigned i = GROUPS; i < GROUPS + EXTRA; i++)
        assert_true(host_forget(host_known(engine.host, name_of(i))));
    expect(3);
    for (unsigned i = 0; i < GROUPS; i++)
        if (i % 3) assert_true(host_forget(host_known(engine.host, name_of(i))));
    expect(1);
    make(7);
    assert_int_equal(observed, GROUPS + EXTRA + 1);
}

static void a_group_that_the_store_still_works_on_stays(void **state)
{
    struct host_group *group = make(1);
    may_forget = false;
    assert_false(host_forget(group));
    assert_ptr_equal(host_known(engine.host, name_of(1)), group);
}

static void one_that_stands_stays(void **state)
{
    struct host_group *group = make(1);
    group->stands = true;
    assert_false(host_forget(group));
    assert_int_equal(forgotten, 0);
    group->stands = false;
    assert_true(host_forget(group));
}

/* Names made up for each job: as many as one likes, if they are forgotten. */
static void places_are_free_again(void **state)
{
    for (unsigned i = 0; i < ENGINE_GROUPS_MAX; i++) make(i);
    assert_null(host_find(engine.host, "more", text, sizeof text));
    assert_non_null(strstr(text, "there are 16384 groups already"));
    assert_true(host_forget(host_known(engine.host, name_of(5))));
    assert_non_null(host_find(engine.host, "more", text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(others_are_found_when_some_are_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(a_group_that_the_store_still_works_on_stays, begin, end),
        cmocka_unit_test_setup_teardown(one_that_stands_stays, begin, end),
        cmocka_unit_test_setup_teardown(places_are_free_again, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
