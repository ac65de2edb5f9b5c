/*
 * Election by multicast. N members, of which M live; k live members outrank the initiator.
 *
 * The step before the bully in the distributed-systems lectures after Coulouris et al., section 15.3.
 */
#include "lib/sim/bench.h"

/* The leader is dead; the caller, and nobody else, notices. */
static void one_notices_that_the_leader_died(unsigned n, unsigned caller, const char *mode)
{
    play("multicast; nodes %u; leader %u; crash %u@0; initiator %u; set mode=%s", n, n, n, caller, mode);
}

static uint64_t replies(void)
{
    return bench.result->sent[bench_kind(__FILE__, __LINE__, "Agree")] +
           bench.result->sent[bench_kind(__FILE__, __LINE__, "Disagree")];
}

static void each_of_k_plus_1_asks_all_and_is_told_by_all_the_living(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            const unsigned m = n - 1, k = m - caller;
            one_notices_that_the_leader_died(n, caller, "timeout");
            sent("Election", (k + 1) * (n - 1));
            sent("Disagree", k * (k + 1) / 2);
            bench_equal(__FILE__, __LINE__, "replies", replies(), (k + 1) * (m - 1));
            sent("Coordinator", n - 1);
            took(k ? 4 : 3);
            elected(n - 1);
        }
}

static void where_silence_is_consent_only_those_above_reply(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            const unsigned k = n - 1 - caller;
            one_notices_that_the_leader_died(n, caller, "disagree");
            sent("Election", (k + 1) * (n - 1));
            sent("Agree", 0);
            sent("Disagree", k * (k + 1) / 2);
            sent("Coordinator", n - 1);
            took(k ? 4 : 3);
            elected(n - 1);
        }
}

static void where_all_must_agree_one_crash_blocks_for_ever(void **state)
{
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            one_notices_that_the_leader_died(n, caller, "all");
            sent("Coordinator", 0);
            violated(EL_NO_LEADER);
            assert_true(bench.result->came_to_rest);
        }
}

static void one_crash_below_blocks_as_well_where_all_must_agree(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        play("multicast; nodes %u; crash 1@0; initiator %u; set mode=all", n, n);
        sent("Agree", n - 2);
        sent("Coordinator", 0);
        violated(EL_NO_LEADER);
    }
}

static void while_all_live_every_version_elects_the_highest(void **state)
{
    static const char *const modes[] = {"timeout", "all", "disagree"};
    for (unsigned mode = 0; mode < 3; mode++)
        for (unsigned n = 2; n <= MANY; n++)
            for (unsigned caller = 1; caller <= n; caller++) {
                const unsigned k = n - caller;
                play("multicast; nodes %u; initiator %u; set mode=%s", n, caller, modes[mode]);
                sent("Election", (k + 1) * (n - 1));
                sent("Disagree", k * (k + 1) / 2);
                if (mode != 2) bench_equal(__FILE__, __LINE__, "replies", replies(), (k + 1) * (n - 1));
                sent("Coordinator", n - 1);
                took(k ? 4 : 3);
                elected(n);
            }
}

static void two_members_of_which_one_is_dead_wait_for_the_timeout(void **state)
{
    one_notices_that_the_leader_died(2, 1, "timeout");
    sent("Election", 1);
    sent("Coordinator", 1);
    took(2);
    elected(1);
}

static void one_that_disagrees_and_dies_is_passed_over(void **state)
{
    play("multicast; nodes 5; leader 5; crash 5@0; initiator 2; crash 4@2.5");
    noted("no-coordinator");
    elected(3);
}

static void a_partition_has_a_leader_on_each_side(void **state)
{
    play("multicast; nodes 5; leader 5; partition 1,2,3|4,5@1; detect 1; initiator none");
    violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
    for (unsigned id = 1; id <= 3; id++) follows(id, 3);
    for (unsigned id = 4; id <= 5; id++) follows(id, 5);
}

static void too_short_a_patience_elects_a_lower_one_while_a_higher_lives(void **state)
{
    play("multicast; nodes 5; bound 0.4; initiator 3");
    violated(EL_TWO_LEADERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_k_plus_1_asks_all_and_is_told_by_all_the_living),
        cmocka_unit_test(where_silence_is_consent_only_those_above_reply),
        cmocka_unit_test(where_all_must_agree_one_crash_blocks_for_ever),
        cmocka_unit_test(one_crash_below_blocks_as_well_where_all_must_agree),
        cmocka_unit_test(while_all_live_every_version_elects_the_highest),
        cmocka_unit_test(two_members_of_which_one_is_dead_wait_for_the_timeout),
        cmocka_unit_test(one_that_disagrees_and_dies_is_passed_over),
        cmocka_unit_test(a_partition_has_a_leader_on_each_side),
        cmocka_unit_test(too_short_a_patience_elects_a_lower_one_while_a_higher_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
