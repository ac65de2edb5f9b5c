/*
 * The failure detector: whom it reports as dead or back, to whom and when,
 * what it misses, and what it is wrong about.
 */
#include "lib/sim/toy.h"

static void a_death_is_noticed_after_the_delay(void **state)
{
    toys("nodes 3; initiator none; crash 2@1; detect 2");
    story("3:1 suspects 2; 3:3 suspects 2");
    assert_false(happened(EL_UNNOTICED));
    toys("nodes 2; initiator none; crash 2@1; detect 0");
    story("1:1 suspects 2");
    toys("nodes 2; initiator none; crash 2@1");
    story("");
    assert_true(happened(EL_UNNOTICED));
}

static void a_return_is_noticed_as_well(void **state)
{
    toys("nodes 3; initiator none; crash 2@1; restart 2@5; detect 2");
    story("3:1 suspects 2; 3:3 suspects 2; 5:2 started 0; 7:1 trusts 2; 7:3 trusts 2");
}

static void a_short_absence_goes_unnoticed(void **state)
{
    toys("nodes 2; initiator none; crash 2@1; restart 2@2; detect 2");
    story("2:2 started 0");
}

static void whoever_comes_back_learns_who_is_dead(void **state)
{
    toys("nodes 3; initiator none; crash 3@0; crash 2@2; restart 2@4; detect 1");
    story("1:1 suspects 3; 1:2 suspects 3; 3:1 suspects 2; 4:2 started 0; 5:1 trusts 2; 5:2 suspects 3");
}

static void a_detector_may_miss_a_death(void **state)
{
    toys("nodes 3; initiator none; crash 3@1; detect 1; miss 1:3");
    story("2:2 suspects 3");
    assert_true(happened(EL_UNNOTICED));
    toys("nodes 3; initiator none; crash 3@1; detect 1; miss all:3");
    story("");
    toys("nodes 3; initiator none; crash 3@1; crash 2@4; detect 1; miss 1:all");
    story("2:2 suspects 3");
    toys("nodes 3; initiator none; crash 3@1; detect 1; miss 1:2");
    story("2:1 suspects 3; 2:2 suspects 3");
    assert_false(happened(EL_UNNOTICED));
}

static void a_false_suspicion_begins_and_ends(void **state)
{
    toys("nodes 3; initiator none; false-suspect 1:3@1..4");
    story("1:1 suspects 3; 4:1 trusts 3");
    assert_true(happened(EL_FALSE_SUSPICIONS));
    toys("nodes 3; initiator none; false-suspect all:3@1");
    story("1:1 suspects 3; 1:2 suspects 3");
    toys("nodes 3; initiator none; false-suspect all:3@1; crash 2@0; detect 9");
    story("1:1 suspects 3; 9:1 suspects 2; 9:3 suspects 2"); /* the dead suspect nobody */
}

static void a_suspicion_is_told_once(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1; crash 2@2; detect 1");
    story("1:1 suspects 2");
    toys("nodes 2; initiator none; false-suspect 1:2@1,1:2@2");
    story("1:1 suspects 2");
}

static void a_broken_link_looks_like_a_death(void **state)
{
    toys("nodes 2; initiator none; cut 2>1@1..5; detect 1");
    story("2:1 suspects 2; 6:1 trusts 2"); /* 2 still hears 1 */
    toys("nodes 3; initiator none; partition 1|3@1..5; detect 1");
    story("2:3 suspects 1; 2:1 suspects 3; 6:3 trusts 1; 6:1 trusts 3");
}

static void one_that_dies_while_its_detector_looks_is_told_nothing(void **state)
{
    toys("nodes 2; initiator none; crash 2@1; crash 1@1.5; detect 1");
    story("");
    toys("nodes 2; initiator none; crash 2@1; crash 1@1.5; restart 1@1.8; detect 1");
    story("1.8:1 started 0; 2.8:1 suspects 2"); /* by its new incarnation's detector */
}

/* ---- What was once wrong ---- */

static void the_end_of_a_false_suspicion_does_not_raise_the_dead(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1..5; crash 2@2; detect 1");
    story("1:1 suspects 2");
}

static void a_paused_one_is_told_when_it_goes_on(void **state)
{
    toys("nodes 3; initiator none; false-suspect all:3@1; pause 1@0..4");
    story("1:2 suspects 3; 4:1 suspects 3");
    toys("nodes 3; initiator none; crash 3@1; detect 1; pause 1@0..4");
    story("2:2 suspects 3; 4:1 suspects 3");
}

static void false_suspicions_may_overlap(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1..3; false-suspect 1:2@2..6");
    story("1:1 suspects 2; 6:1 trusts 2");
}

static void a_healed_link_does_not_end_a_false_suspicion(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1..9; partition 1|2@2..4; detect 1");
    story("1:1 suspects 2; 3:2 suspects 1; 5:2 trusts 1; 9:1 trusts 2");
}

static void a_slow_detector_makes_no_endless_run(void **state)
{
    toys("nodes 2; initiator none; crash 2@1; detect 5000");
    story("5001:1 suspects 2");
    assert_true(bench.result->came_to_rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(the_end_of_a_false_suspicion_does_not_raise_the_dead),
        check(a_paused_one_is_told_when_it_goes_on),
        check(false_suspicions_may_overlap),
        check(a_healed_link_does_not_end_a_false_suspicion),
        check(a_slow_detector_makes_no_endless_run),
        check(a_death_is_noticed_after_the_delay),
        check(a_return_is_noticed_as_well),
        check(a_short_absence_goes_unnoticed),
        check(whoever_comes_back_learns_who_is_dead),
        check(a_detector_may_miss_a_death),
        check(a_false_suspicion_begins_and_ends),
        check(a_suspicion_is_told_once),
        check(a_broken_link_looks_like_a_death),
        check(one_that_dies_while_its_detector_looks_is_told_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
