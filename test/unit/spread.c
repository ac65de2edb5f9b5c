/* Rendezvous hashing: even shares, and nothing moves without need; and groups written short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/run_groups.h"
#include "cli/spread.h"

enum { GROUPS = 4096, MEMBERS_MAX = 9 };

static const char *const members[MEMBERS_MAX] = {"a", "b", "c", "d", "e", "north", "south", "db-1", "db-2"};

/* Of the first `count` members, without `absent`: the heaviest. */
static size_t leader_of(int group, size_t count, size_t absent)
{
    char name[32];
    size_t best = MEMBERS_MAX;
    uint64_t most = 0;
    snprintf(name, sizeof name, "shard-%d", group);
    for (size_t i = 0; i < count; i++) {
        const uint64_t priority = spread_priority(100, members[i], name);
        if (i == absent || (best != MEMBERS_MAX && priority < most)) continue;
        best = i;
        most = priority;
    }
    return best;
}

static void shares_are_even(void **state)
{
    for (size_t count = 1; count <= MEMBERS_MAX; count++) {
        int shares[MEMBERS_MAX] = {0};
        for (int group = 0; group < GROUPS; group++) shares[leader_of(group, count, MEMBERS_MAX)]++;
        const int even = GROUPS / (int)count;
        for (size_t i = 0; i < count; i++) { /* five deviations are below a quarter of a share of 455 */
            if (shares[i] < even * 3 / 4 || shares[i] > even * 5 / 4 + 1)
                fail_msg("of %zu members %s leads %d of %d groups", count, members[i], shares[i], GROUPS);
        }
    }
}

static void who_leaves_moves_nothing_but_its_own(void **state)
{
    for (size_t absent = 0; absent < MEMBERS_MAX; absent++)
        for (int group = 0; group < GROUPS; group++) {
            const size_t before = leader_of(group, MEMBERS_MAX, MEMBERS_MAX);
            const size_t after = leader_of(group, MEMBERS_MAX, absent);
            if (before != absent) assert_int_equal(after, before);
            if (before == absent) assert_int_not_equal(after, absent);
        }
}

static void who_joins_takes_only_for_itself(void **state)
{
    for (size_t count = 1; count < MEMBERS_MAX; count++)
        for (int group = 0; group < GROUPS; group++) {
            const size_t before = leader_of(group, count, MEMBERS_MAX);
            const size_t after = leader_of(group, count + 1, MEMBERS_MAX);
            assert_true(after == before || after == count);
        }
}

static void a_weight_never_outweighs_a_priority(void **state)
{
    for (int group = 0; group < GROUPS; group++) {
        char name[32];
        snprintf(name, sizeof name, "shard-%d", group);
        assert_true(spread_weight("a", name) < UINT64_C(1) << SPREAD_BITS);
        assert_true(spread_priority(8, "a", name) > spread_priority(7, "b", name));
        assert_true(spread_priority(SPREAD_PRIORITY_MAX, "a", name) < UINT64_C(1) << 53);
    }
}

static void names_do_not_run_together(void **state)
{
    assert_true(spread_weight("ab", "c") != spread_weight("a", "bc"));
}

/* Both sides of an upgrade must agree, so what a name weighs is for ever. */
static void weights_do_not_change(void **state)
{
    assert_int_equal(spread_weight("a", "shard-0"), 283761);
    assert_int_equal(spread_weight("db-2", "shard-63"), 291628);
}

static void moves_only_to_who_stays(void **state)
{
    struct spread_watch watch = {0};
    assert_false(spread_is_due(&watch, NULL, 0, 5, 1000, 100));
    assert_false(spread_is_due(&watch, "b", 5, 5, 500, 100));
    assert_false(spread_is_due(&watch, "b", 5, 5, 1000, 100)); /* as good is not better, however long */
    assert_false(spread_is_due(&watch, "b", 6, 5, 1000, 100));
    assert_false(spread_is_due(&watch, "b", 6, 5, 1099, 100));
    assert_true(spread_is_due(&watch, "b", 6, 5, 1100, 100));
    assert_false(spread_is_due(&watch, "c", 7, 5, 1100, 100)); /* another: it begins anew */
    assert_false(spread_is_due(&watch, NULL, 0, 5, 1150, 100));
    assert_false(spread_is_due(&watch, "c", 7, 5, 1220, 100)); /* it was away */
    assert_true(spread_is_due(&watch, "c", 7, 5, 1320, 100));
}

/* ---- Names ---- */

static const char *expand(const char *text)
{
    static char all[4096];
    static struct run_groups groups;
    char problem[300] = "";
    size_t used = 0;
    groups = (struct run_groups){0};
    all[0] = '\0';
    if (!run_groups_add(&groups, text, problem, sizeof problem)) {
        snprintf(all, sizeof all, "! %s", problem);
        return all;
    }
    for (size_t i = 0; i < groups.count; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? " " : "", groups.names[i]);
    return all;
}

static void names_are_written_short(void **state)
{
    assert_string_equal(expand("billing"), "billing");
    assert_string_equal(expand("a,b,c"), "a b c");
    assert_string_equal(expand("s-{0..3}"), "s-0 s-1 s-2 s-3");
    assert_string_equal(expand("s{08..11}x"), "s08x s09x s10x s11x");
    assert_string_equal(expand("{eu,us}/{1..2}"), "eu/1 eu/2 us/1 us/2");
    assert_string_equal(expand("a{,b},c"), "a ab c");
    assert_string_equal(expand("{7..7}"), "7");
}

static void mistakes_are_told(void **state)
{
    static const char *const wrong[] = {"",
                                        ",",
                                        "a,",
                                        "{",
                                        "}",
                                        "a{b",
                                        "a}b",
                                        "a{b{c}}",
                                        "a{1..}",
                                        "a{..1}",
                                        "{2..1}",
                                        "{1..x}",
                                        "a,a",
                                        "{1,1}",
                                        "-a",
                                        ".a",
                                        "a b",
                                        "{0..256}",
                                        "{a}{",
                                        "a{}}",
                                        "{1..2..3}",
                                        "{-1..2}",
                                        "{0..9999999999}",
                                        "a{0..99}{0..99}",
                                        "{1..999999999}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (expand(wrong[i])[0] != '!') fail_msg("'%s' is accepted as %s", wrong[i], expand(wrong[i]));
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(expand(longer)[0], '!');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_even),
        cmocka_unit_test(who_leaves_moves_nothing_but_its_own),
        cmocka_unit_test(who_joins_takes_only_for_itself),
        cmocka_unit_test(a_weight_never_outweighs_a_priority),
        cmocka_unit_test(names_do_not_run_together),
        cmocka_unit_test(weights_do_not_change),
        cmocka_unit_test(moves_only_to_who_stays),
        cmocka_unit_test(names_are_written_short),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
