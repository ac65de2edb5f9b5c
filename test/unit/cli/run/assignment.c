/* Rendezvous hashing with bounded loads: even shares, and little moves without need; and groups written short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/run/assignment.h"
#include "cli/run/groups.h"

enum { GROUPS_MAX = 256, MEMBERS_MAX = 9, NOBODY = MEMBERS_MAX };

static const char *const members[MEMBERS_MAX] = {"a", "b", "c", "d", "e", "north", "south", "db-1", "db-2"};

static char names[GROUPS_MAX][32];
static struct spread host;

static int name_groups(void **state)
{
    for (int i = 0; i < GROUPS_MAX; i++) snprintf(names[i], sizeof names[i], "shard-%d", i);
    return 0;
}

static int forget_host(void **state)
{
    spread_free(&host);
    return 0;
}

/* What a host knows that stands for groups `first` to `end`. */
static void begin_from(size_t first, size_t end)
{
    spread_free(&host);
    assert_true(spread_init(&host, end - first));
    for (size_t i = first; i < end; i++) spread_set_name(&host, i - first, names[i]);
}

static void begin(size_t groups)
{
    begin_from(0, groups);
}

static void stand_with(size_t group, size_t member, uint64_t asked)
{
    spread_add_candidate(&host, group, members[member],
                         asked ? spread_priority(asked, members[member], host.groups[group].name) : 0);
}

static void stand(size_t group, size_t member)
{
    stand_with(group, member, 100);
}

static size_t owner(size_t group)
{
    const char *name = spread_owner(&host, group);
    size_t i = 0;
    while (name && i < MEMBERS_MAX && strcmp(members[i], name) != 0) i++;
    return name ? i : NOBODY;
}

/* All that are there stand for all: the first `count` members, without `absent`. */
static void share_out(size_t groups, size_t count, size_t absent, size_t *owners)
{
    begin(groups);
    for (size_t i = 0; i < groups; i++)
        for (size_t m = 0; m < count; m++)
            if (m != absent) stand(i, m);
    spread_assign(&host);
    for (size_t i = 0; i < groups; i++) owners[i] = owner(i);
}

static void judge_evenness(const size_t *owners, size_t groups, size_t count, size_t absent)
{
    size_t led[MEMBERS_MAX] = {0}, most = 0, least = groups;
    for (size_t i = 0; i < groups; i++) {
        assert_in_range(owners[i], 0, count - 1);
        led[owners[i]]++;
    }
    for (size_t m = 0; m < count; m++) {
        if (m == absent) continue;
        most = led[m] > most ? led[m] : most;
        least = led[m] < least ? led[m] : least;
    }
    if (absent < count) assert_int_equal(led[absent], 0);
    if (most - least > 1) fail_msg("%zu groups on %zu members: %zu to %zu", groups, count, least, most);
}

static void shares_are_even(void **state)
{
    size_t owners[GROUPS_MAX];
    for (size_t count = 1; count <= MEMBERS_MAX; count++)
        for (size_t groups = 1; groups <= GROUPS_MAX; groups += 1 + groups / 8)
            for (size_t absent = 0; absent <= (count > 1 ? count - 1 : 0); absent++) {
                share_out(groups, count, count > 1 ? absent : NOBODY, owners);
                judge_evenness(owners, groups, count, count > 1 ? absent : NOBODY);
            }
}

/*
 * Its own must move, groups / members. What else does is bounded here by what was seen: in all a quarter of that again, and never
 * more than as much again and three.
 */
static void who_leaves_moves_little_but_its_own(void **state)
{
    size_t before[GROUPS_MAX], after[GROUPS_MAX], moved_in_all = 0, own_in_all = 0;
    for (size_t count = 2; count <= MEMBERS_MAX; count++)
        for (size_t groups = 8; groups <= GROUPS_MAX; groups += 1 + groups / 8)
            for (size_t absent = 0; absent < count; absent++) {
                size_t moved = 0, own = 0;
                share_out(groups, count, NOBODY, before);
                share_out(groups, count, absent, after);
                for (size_t i = 0; i < groups; i++) {
                    moved += before[i] != after[i];
                    own += before[i] == absent;
                }
                if (moved > 2 * own + 3)
                    fail_msg("of %zu groups on %zu members %zu move, not %zu", groups, count, moved, own);
                moved_in_all += moved;
                own_in_all += own;
            }
    assert_true(moved_in_all * 4 <= own_in_all * 5);
}

/* Hosts hear of each other in any order, and write their groups in any. */
static void all_come_to_the_same(void **state)
{
    enum { GROUPS = 50, COUNT = 5 };
    size_t one[GROUPS];
    share_out(GROUPS, COUNT, NOBODY, one);
    spread_free(&host);
    assert_true(spread_init(&host, GROUPS));
    for (size_t i = 0; i < GROUPS; i++) spread_set_name(&host, i, names[GROUPS - 1 - i]);
    for (size_t i = GROUPS; i-- > 0;)
        for (size_t m = COUNT; m-- > 0;) stand(i, m);
    spread_assign(&host);
    for (size_t i = 0; i < GROUPS; i++) assert_int_equal(owner(GROUPS - 1 - i), one[i]);
}

/* a has the first 16 groups, b and c have 32: about those that a has, all three agree. */
static void hosts_with_different_groups_agree(void **state)
{
    size_t by_a[16];
    share_out(16, 3, NOBODY, by_a);
    begin(32);
    for (size_t i = 0; i < 32; i++)
        for (size_t m = i < 16 ? 0 : 1; m < 3; m++) stand(i, m);
    spread_assign(&host);
    for (size_t i = 0; i < 16; i++) assert_int_equal(owner(i), by_a[i]);
    size_t led[3] = {0};
    for (size_t i = 16; i < 32; i++) led[owner(i)]++;
    assert_int_equal(led[0], 0);
    assert_int_equal(led[1], 8);
    assert_int_equal(led[2], 8);
}

static void who_is_asked_for_goes_before_the_heaviest(void **state)
{
    begin(16);
    for (size_t i = 0; i < 16; i++) stand(i, 0), stand_with(i, 1, 101), stand(i, 2);
    spread_assign(&host);
    for (size_t i = 0; i < 16; i++) assert_int_equal(owner(i), 1);
}

/* Another has it, and shares are as even as they were. */
static void who_is_under_a_penalty_is_passed_over(void **state)
{
    size_t before[16], after[16];
    share_out(16, 3, NOBODY, before);
    begin(16);
    for (size_t i = 0; i < 16; i++)
        for (size_t m = 0; m < 3; m++) stand_with(i, m, i == 5 && m == before[5] ? 0 : 100);
    spread_assign(&host);
    for (size_t i = 0; i < 16; i++) after[i] = owner(i);
    assert_int_not_equal(after[5], before[5]);
    judge_evenness(after, 16, 3, NOBODY);
    begin(4);
    for (size_t i = 0; i < 4; i++) stand_with(i, 0, 0), stand_with(i, 1, 0);
    spread_assign(&host);
    for (size_t i = 0; i < 4; i++) after[i] = owner(i);
    judge_evenness(after, 4, 2, NOBODY);
}

/* Only one may have what nobody else stands for, whatever it has. */
static void a_share_is_no_limit_where_there_is_nobody_else(void **state)
{
    begin(9);
    for (size_t i = 0; i < 9; i++)
        for (size_t m = 0; m < 3; m++) stand_with(i, m, i < 6 && m > 0 ? 99 : 100);
    spread_assign(&host);
    for (size_t i = 0; i < 6; i++) assert_int_equal(owner(i), 0);
    for (size_t i = 6; i < 9; i++) assert_int_not_equal(owner(i), 0);
    /* And of those that are full the one with fewer has it. */
    size_t owners[200];
    begin(200);
    for (size_t i = 0; i < 200; i++)
        for (size_t m = 0; m < 3; m++) stand_with(i, m, (i < 199) == (m < 2) ? 100 : 99);
    spread_assign(&host);
    for (size_t i = 0; i < 200; i++) owners[i] = owner(i);
    judge_evenness(owners, 199, 2, NOBODY);
    assert_int_equal(owners[199], 2);
}

static void what_is_not_known_is_not_dealt(void **state)
{
    size_t of_15[15];
    share_out(15, 3, NOBODY, of_15);
    begin(16);
    for (size_t i = 0; i < 16; i++)
        for (size_t m = 0; m < 3; m++) stand(i, m);
    spread_clear_candidates(&host, 15);
    spread_assign(&host);
    assert_null(spread_owner(&host, 15));
    for (size_t i = 0; i < 15; i++) assert_int_equal(owner(i), of_15[i]);
}

/* A table that is full of members of the past is begun anew. */
static void members_come_and_go(void **state)
{
    begin(1);
    for (int i = 0; i < 3 * SPREAD_MEMBERS_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "member-%d", i);
        spread_clear_candidates(&host, 0);
        spread_add_candidate(&host, 0, name, 7);
        spread_assign(&host);
        assert_string_equal(spread_owner(&host, 0), name);
    }
}

static void a_weight_never_outweighs_a_priority(void **state)
{
    for (int group = 0; group < 4096; group++) {
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

/* So are the shares; test/cluster has the same. */
static void shares_do_not_change(void **state)
{
    size_t owners[16];
    char text[17] = "";
    share_out(16, 3, NOBODY, owners);
    for (size_t i = 0; i < 16; i++) text[i] = *members[owners[i]];
    assert_string_equal(text, "cbbccacbcaacabab");
    share_out(16, 3, 2, owners);
    for (size_t i = 0; i < 16; i++) text[i] = *members[owners[i]];
    assert_string_equal(text, "abbabaabaababbab");
}

#define SECOND UINT64_C(1000000000)

static void moves_only_to_who_stays(void **state)
{
    struct spread_watch watch = {0};
    assert_false(spread_should_move(&watch, NULL, 10 * SECOND));
    assert_false(spread_should_move(&watch, "b", 10 * SECOND));
    assert_false(spread_should_move(&watch, "b", 13 * SECOND - 1));
    assert_true(spread_should_move(&watch, "b", 13 * SECOND));
    assert_false(spread_should_move(&watch, "c", 13 * SECOND)); /* another: it begins anew */
    assert_false(spread_should_move(&watch, NULL, 15 * SECOND));
    assert_false(spread_should_move(&watch, "c", 17 * SECOND)); /* it was away */
    assert_true(spread_should_move(&watch, "c", 20 * SECOND));
}

/* Two that disagree for long soon hardly move it, and are forgiven after an hour. */
static void to_and_fro_becomes_slow(void **state)
{
    struct spread_watch watch = {0};
    uint64_t now_ns = 10 * SECOND;
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t settle_ns = 3 * SECOND << (i < 7 ? i : 7);
        assert_false(spread_should_move(&watch, "b", now_ns));
        assert_false(spread_should_move(&watch, "b", now_ns + settle_ns - 1));
        assert_true(spread_should_move(&watch, "b", now_ns += settle_ns));
        spread_note_move(&watch, now_ns);
    }
    now_ns += 3600 * SECOND;
    assert_false(spread_should_move(&watch, "b", now_ns));
    assert_true(spread_should_move(&watch, "b", now_ns + 3 * SECOND));
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
    char longer[ELECTOR_GROUP_MAX + 2]; /* one more than a name may have */
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(expand(longer)[0], '!');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_even),
        cmocka_unit_test(who_leaves_moves_little_but_its_own),
        cmocka_unit_test(all_come_to_the_same),
        cmocka_unit_test(hosts_with_different_groups_agree),
        cmocka_unit_test(who_is_asked_for_goes_before_the_heaviest),
        cmocka_unit_test(who_is_under_a_penalty_is_passed_over),
        cmocka_unit_test(a_share_is_no_limit_where_there_is_nobody_else),
        cmocka_unit_test(what_is_not_known_is_not_dealt),
        cmocka_unit_test(members_come_and_go),
        cmocka_unit_test(a_weight_never_outweighs_a_priority),
        cmocka_unit_test(names_do_not_run_together),
        cmocka_unit_test(weights_do_not_change),
        cmocka_unit_test(shares_do_not_change),
        cmocka_unit_test(moves_only_to_who_stays),
        cmocka_unit_test(to_and_fro_becomes_slow),
        cmocka_unit_test(names_are_written_short),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, name_groups, forget_host);
}
