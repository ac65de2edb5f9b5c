/* The textbooks' best and worst cases, by name. */
#include "check/check.h"
#include "lib/sim/bench.h"
#include "sim/output/transcript.h"

static void the_bullys_best_case_is_n_minus_2_messages_in_one_t(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        play("bully; nodes %u; case best", n);
        elected(n - 1);
        sent_in_all(n - 2);
        took(1);
    }
}

static void the_bullys_worst_case_is_quadratic_in_four_t(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        play("bully; nodes %u; case worst", n);
        elected(n - 1);
        sent("Election", n * (n - 1) / 2);
        sent_in_all(n * n - n - 1);
        took(4);
    }
}

static void a_ring_takes_2n_at_best_and_3n_minus_1_at_worst(void **state)
{
    for (unsigned n = 2; n <= SOME; n++) {
        play("chang-roberts; nodes %u; case best", n);
        sent_in_all(2 * n);
        took(2 * n);
        play("chang-roberts; nodes %u; case worst", n);
        sent_in_all(3 * n - 1);
        took(3 * n - 1);
    }
    play("chang-roberts; ids 3,32,5,80,6,12; case worst"); /* the successor of 80, not of the last */
    sent_in_all(17);
}

static void attributes_count_before_ids(void **state)
{
    play("bully; nodes 4; attr 1=9,2=8; case best");
    elected(2);
    took(1);
}

/* ---- The checker's properties, as expectations ---- */

static bool breaks(const char *story, const char *property)
{
    play("%s; expect broken %s", story, property);
    return sim_expectation_holds(&bench.plan, bench.result, &bench.plan.expects[0]);
}

static void every_property_of_the_checker_can_be_expected_to_break(void **state)
{
    for (int i = 0; i < CHECK_PROPERTIES; i++)
        assert_false(breaks("bully; nodes 3; initiator 1", check_property_name((enum check_property)i)));
}

static void each_story_breaks_its_own_property(void **state)
{
    const char *const endless = "chang-roberts; ids 3,32,5,80,6,12; initiator 3; crash 80@3.5",
                      *const two = "bully; nodes 5; leader 5; partition 1,2,3|4,5@1; detect 2",
                      *const groups = "invitation; nodes 4; leader 4; partition 1,2|3,4@0; detect 1";
    assert_true(breaks(endless, "rests") && breaks(endless, "elects") && breaks(endless, "agreement"));
    assert_false(breaks(endless, "one-leader"));
    assert_true(breaks(two, "one-leader") && breaks(two, "agreement") && breaks(two, "elects"));
    assert_false(breaks(two, "rests"));
    assert_true(breaks(groups, "agreement")); /* two groups, each with its own leader */
    assert_false(breaks(groups, "groups"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bullys_best_case_is_n_minus_2_messages_in_one_t),
        cmocka_unit_test(the_bullys_worst_case_is_quadratic_in_four_t),
        cmocka_unit_test(a_ring_takes_2n_at_best_and_3n_minus_1_at_worst),
        cmocka_unit_test(attributes_count_before_ids),
        cmocka_unit_test(every_property_of_the_checker_can_be_expected_to_break),
        cmocka_unit_test(each_story_breaks_its_own_property),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
