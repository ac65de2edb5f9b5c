/* Who votes by a record, and that majorities of electorates that follow each other meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "algorithms/quorum/electorate.h"

enum { COUNT = 5, SETS = 1 << COUNT };

static struct el_record records[3];
static struct el_cluster cluster = {.count = COUNT, .records = records, .record_count = 3};

static bool is_majority(const struct quorum_electorate *e, uint64_t members)
{
    struct quorum_tally tally = {0, 0};
    for (el_node node = 1; node <= COUNT; node++)
        if (members & el_bit(node)) quorum_count(e, &tally, node);
    return quorum_is_majority(e, tally);
}

/* No two members can be elected by voters that do not meet. */
static bool always_meet(const struct quorum_electorate *a, const struct quorum_electorate *b)
{
    for (uint64_t some = 0; some < SETS; some++) {
        const uint64_t others = ~some & (SETS - 1);
        if (is_majority(a, some) && is_majority(b, others)) return false;
    }
    return true;
}

static void record_1_is_the_configuration(void **state)
{
    static const uint8_t roles[COUNT] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE, EL_OBSERVER, EL_OBSERVER};
    cluster.roles = roles;
    assert_int_equal(quorum_voters_by(&cluster, 0), 7);
    assert_int_equal(quorum_leaders_by(&cluster, 0), 5);
    const struct quorum_electorate first = {.cluster = &cluster, .majority = 2};
    for (uint64_t members = 0; members < SETS; members++)
        assert_int_equal(is_majority(&first, members), quorum_size(members & 7) >= 2);
    cluster.roles = NULL;
}

static void a_candidate_leads_and_is_in_no_set_of_voters(void **state)
{
    static const uint8_t roles[COUNT] = {EL_CANDIDATE, EL_ORDINARY, EL_VOTELESS, EL_WITHDRAWN, EL_OBSERVER};
    cluster.roles = roles;
    assert_int_equal(quorum_voters_by(&cluster, 0), 3);
    assert_int_equal(quorum_leaders_by(&cluster, 0), 5);
    const struct quorum_electorate first = {.cluster = &cluster, .majority = 2};
    for (uint64_t members = 0; members < SETS; members++)
        assert_int_equal(is_majority(&first, members), (members & 3) == 3);
    cluster.roles = NULL;
}

static void a_record_with_other_voters_begins_an_era(void **state)
{
    records[0] = (struct el_record){31, 3}; /* as all vote at first: others may lead */
    records[1] = (struct el_record){7, 7};
    records[2] = (struct el_record){7, 1};
    assert_false(quorum_begins_era(&cluster, 0));
    assert_false(quorum_begins_era(&cluster, 1));
    assert_true(quorum_begins_era(&cluster, 2));
    assert_false(quorum_begins_era(&cluster, 3));
    assert_int_equal(quorum_era_number(&cluster, 3), 1);
}

/* All pairs of sets of voters: a joint era meets itself, the eras beside it, and the joint era that follows. */
static void joint_eras_meet_their_neighbours(void **state)
{
    for (uint64_t from = 1; from < SETS; from++)
        for (uint64_t now = 1; now < SETS; now++) {
            records[0] = (struct el_record){from, from};
            records[1] = (struct el_record){now, now};
            records[2] = (struct el_record){from ^ now ? from ^ now : now, now};
            const struct quorum_electorate joint = quorum_electorate_of(&cluster, 2, true),
                                           before = quorum_electorate_of(&cluster, 1, false),
                                           after = quorum_electorate_of(&cluster, 2, false),
                                           next = quorum_electorate_of(&cluster, 3, true);
            assert_true(always_meet(&joint, &joint));
            assert_true(always_meet(&joint, &before));
            assert_true(always_meet(&joint, &after));
            assert_true(always_meet(&joint, &next));
        }
}

static void sole_eras_need_not_meet(void **state)
{
    records[0] = (struct el_record){7, 7};
    records[1] = (struct el_record){24, 24};
    const struct quorum_electorate before = quorum_electorate_of(&cluster, 1, false),
                                   after = quorum_electorate_of(&cluster, 2, false);
    assert_false(always_meet(&before, &after));
}

static void a_member_without_a_vote_counts_nowhere(void **state)
{
    records[0] = (struct el_record){7, 7};
    records[1] = (struct el_record){12, 31};
    const struct quorum_electorate e = quorum_electorate_of(&cluster, 2, true);
    struct quorum_tally tally = {0, 0};
    quorum_count(&e, &tally, 5);
    assert_int_equal(tally.now + tally.from, 0);
    assert_false(quorum_elects(&e, 5));
    assert_true(quorum_elects(&e, 1)); /* it leaves, and helps to the end */
    quorum_count(&e, &tally, 3);
    assert_int_equal(tally.now, 1);
    assert_int_equal(tally.from, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_1_is_the_configuration),
        cmocka_unit_test(a_candidate_leads_and_is_in_no_set_of_voters),
        cmocka_unit_test(a_record_with_other_voters_begins_an_era),
        cmocka_unit_test(joint_eras_meet_their_neighbours),
        cmocka_unit_test(sole_eras_need_not_meet),
        cmocka_unit_test(a_member_without_a_vote_counts_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
