/*
 * The modified bully. N members, the leader N among them dead; k live members outrank the initiator.
 *
 * Kordafshari et al., Modified bully election algorithm in distributed systems, 2005; Petrov, Database
 * Internals, chapter 10. The counts are derived from the rules.
 */
#include "lib/sim/bench.h"

static void polling_the_dead_leader_costs_2k_plus_n_in_4t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n - 1; caller++) {
            const unsigned k = n - 1 - caller;
            play("bully-modified; nodes %u; leader %u; crash %u@0; initiator %u", n, n, n, caller);
            sent("Election", k + 1);
            sent("Alive", k);
            sent("Grant", 1);
            sent("Elected", n - 2);
            sent_in_all(2 * k + n);
            took(4);
            elected(n - 1);
        }
}

static void the_second_highest_that_polls_the_dead_leader_costs_n_minus_1(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        play("bully-modified; nodes %u; leader %u; crash %u@0; initiator %u", n, n, n, n - 1);
        sent("Election", 1);
        sent("Elected", n - 2);
        sent_in_all(n - 1);
        took(3);
        elected(n - 1);
    }
}

static void leaving_out_the_dead_leader_saves_one_message(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            const unsigned k = n - 1 - caller;
            play("bully-modified; nodes %u; crash %u@0; detect 0; set exclude-suspects=on; initiator %u@1", n,
                 n, caller);
            sent("Election", k);
            sent_in_all(k ? 2 * k + n - 1 : n - 2);
            last_took(k ? 4 : 1);
            elected(n - 1);
        }
}

static void it_never_costs_more_than_the_bully(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            play("bully; nodes %u; leader %u; crash %u@0; initiator %u", n, n, n, caller);
            const uint64_t of_bully = bench.result->sent[0];
            play("bully-modified; nodes %u; leader %u; crash %u@0; initiator %u", n, n, n, caller);
            assert_in_range(bench.result->sent[0], 1, of_bully);
        }
}

static void of_six_the_sixth_dead_the_third_starts_and_the_fifth_leads(void **state)
{
    play("bully-modified; nodes 6; leader 6; crash 6@0; initiator 3");
    sent_in_all(10);
    took(4);
    elected(5);
}

static void two_members_of_which_one_is_dead_take_one_poll(void **state)
{
    play("bully-modified; nodes 2; leader 2; crash 2@0; initiator 1");
    sent_in_all(1);
    took(2);
    elected(1);
}

static void a_grant_that_nobody_uses_goes_to_the_next_best(void **state)
{
    for (unsigned n = 4; n <= MANY; n++)
        for (unsigned caller = 1; caller < n - 2; caller++) {
            play("bully-modified; nodes %u; leader %u; crash %u@0,%u@1.5; initiator %u", n, n, n, n - 1,
                 caller);
            noted("grant-failed");
            elected(n - 2);
        }
}

static void a_partition_has_a_leader_on_each_side(void **state)
{
    play("bully-modified; nodes 5; leader 5; partition 1,2,3|4,5@1; detect 1; initiator none");
    violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
    for (unsigned id = 1; id <= 3; id++) follows(id, 3);
    for (unsigned id = 4; id <= 5; id++) follows(id, 5);
}

static void too_short_a_patience_elects_a_lower_one_while_a_higher_lives(void **state)
{
    play("bully-modified; nodes 5; bound 0.4; initiator 3");
    violated(EL_TWO_LEADERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polling_the_dead_leader_costs_2k_plus_n_in_4t),
        cmocka_unit_test(the_second_highest_that_polls_the_dead_leader_costs_n_minus_1),
        cmocka_unit_test(leaving_out_the_dead_leader_saves_one_message),
        cmocka_unit_test(it_never_costs_more_than_the_bully),
        cmocka_unit_test(of_six_the_sixth_dead_the_third_starts_and_the_fifth_leads),
        cmocka_unit_test(two_members_of_which_one_is_dead_take_one_poll),
        cmocka_unit_test(a_grant_that_nobody_uses_goes_to_the_next_best),
        cmocka_unit_test(a_partition_has_a_leader_on_each_side),
        cmocka_unit_test(too_short_a_patience_elects_a_lower_one_while_a_higher_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
