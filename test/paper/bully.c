/*
 * The bully. N members, the leader N among them dead; k live members outrank the initiator; T is one delay, and
 * an answer is awaited for 2 T.
 *
 * Garcia-Molina, Elections in a distributed computing system, IEEE Trans. Computers 31(1), 1982; Coulouris et
 * al., Distributed Systems, section 15.3.5.
 */
#include "lib/sim/bench.h"

/* The leader is dead; the caller, and nobody else, notices. */
static void one_notices_that_the_leader_died(unsigned n, unsigned caller, const char *more)
{
    play("bully; nodes %u; leader %u; crash %u@0; initiator %u%s", n, n, n, caller, more);
}

/* All detectors agree that the highest is dead, nobody leads yet, and then one calls. */
static void one_calls_and_all_suspect_the_highest(unsigned n, unsigned caller)
{
    play_and_record("bully; nodes %u; crash %u@0; detect 0; set exclude-suspects=on; initiator %u@1", n, n,
                    caller);
}

/* ---- What an election costs ---- */

static void polling_the_dead_leader_costs_k_plus_1_squared_and_n_minus_2(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            const unsigned k = n - 1 - caller;
            one_notices_that_the_leader_died(n, caller, "");
            sent("Election", (k + 1) * (k + 2) / 2);
            sent("Answer", k * (k + 1) / 2);
            sent("Coordinator", n - 2);
            sent_in_all((k + 1) * (k + 1) + n - 2);
            took(k ? 4 : 3);
            elected(n - 1);
        }
}

/* The second highest announces itself as soon as it is polled, while others are still polling it. */
static void excluding_the_suspects_costs_k_times_k_plus_1_and_n_minus_2(void **state)
{
    for (unsigned n = 3; n <= MANY / 2; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            const unsigned k = n - 1 - caller;
            one_calls_and_all_suspect_the_highest(n, caller);
            sent("Election", k * (k + 1) / 2);
            sent("Answer", k * (k + 1) / 2);
            last_known_after(k ? 2 : 1);
            elected(n - 1);
            sent("Coordinator", n - 2);
            sent_in_all(k * (k + 1) + n - 2);
        }
}

static void at_worst_the_lowest_starts_and_n_times_n_minus_1_by_2_are_polled_in_4t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        one_notices_that_the_leader_died(n, 1, "");
        sent("Election", n * (n - 1) / 2);
        sent("Answer", (n - 1) * (n - 2) / 2);
        sent("Coordinator", n - 2);
        sent_in_all(n * n - n - 1);
        took(4);
        elected(n - 1);
    }
}

static void at_best_the_second_highest_notices_and_tells_n_minus_2_in_1t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        one_calls_and_all_suspect_the_highest(n, n - 1);
        sent("Coordinator", n - 2);
        sent_in_all(n - 2);
        last_took(1);
        elected(n - 1);
    }
}

static void the_second_highest_notices_by_its_own_detector_and_tells_n_minus_2_in_1t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        play("bully; nodes %u; leader %u; crash %u@5; false-suspect %u:%u@6; set exclude-suspects=on", n, n, n,
             n - 1, n);
        sent("Coordinator", n - 2);
        sent_in_all(n - 2);
        took(1);
        elected(n - 1);
    }
}

static void answer_and_poll_one_after_the_other_take_5t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            const unsigned k = n - 1 - caller;
            one_notices_that_the_leader_died(n, caller, "; set serial=on");
            sent_in_all((k + 1) * (k + 1) + n - 2);
            took(k ? 5 : 3);
            elected(n - 1);
        }
}

static void when_everybody_notices_at_once_all_poll_and_it_takes_3t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        play("bully; nodes %u; leader %u; crash %u@0; detect 0", n, n, n);
        sent("Election", n * (n - 1) / 2);
        sent("Answer", (n - 1) * (n - 2) / 2);
        sent("Coordinator", n - 2);
        took(3);
        elected(n - 1);
    }
}

static void a_live_leader_that_is_polled_says_again_that_it_leads(void **state)
{
    for (unsigned n = 2; n <= SOME; n++)
        for (unsigned caller = 1; caller <= n; caller++) {
            play("bully; nodes %u; leader %u; initiator %u", n, n, caller);
            elected(n);
        }
}

static void two_members_of_which_one_is_dead_take_one_poll(void **state)
{
    play("bully; nodes 2; leader 2; crash 2@0; initiator 1");
    sent("Election", 1);
    sent_in_all(1);
    took(2);
    elected(1);
}

static void whoever_is_dead_the_best_of_the_living_wins(void **state)
{
    struct sim_random dice;
    unsigned dead[MANY];
    sim_random_seed(&dice, 1, 0);
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned deaths = 1; deaths < n; deaths += 1 + deaths / 2) {
            unsigned best = 0;
            shuffle(&dice, dead, n);
            for (unsigned i = deaths; i < n; i++) best = dead[i] > best ? dead[i] : best;
            play("bully; nodes %u; crash %s; initiator %u", n, list(dead, deaths, "@0"), dead[deaths]);
            elected(best);
        }
}

/* ---- Stories ---- */

static void of_six_the_sixth_dead_the_third_starts_and_the_fifth_leads(void **state)
{
    play("bully; nodes 6; leader 6; crash 6@0; initiator 3");
    sent_in_all(13);
    took(4);
    elected(5);
}

static void of_five_the_fifth_dead_the_second_starts_and_the_fourth_leads(void **state)
{
    play("bully; nodes 5; leader 5; crash 5@0; initiator 2");
    sent("Election", 6);
    sent("Answer", 3);
    sent("Coordinator", 3);
    took(4);
    elected(4);
}

static void one_that_answers_and_dies_is_waited_for_in_vain_and_then_passed_over(void **state)
{
    play("bully; nodes 5; leader 5; crash 5@0; initiator 2; crash 4@2.5");
    noted("no-coordinator");
    elected(3);
    play("bully; nodes 5; leader 5; crash 5@0; initiator 2; crash 4@1.5");
    elected(3);
}

static void one_that_announces_itself_and_dies_is_held_until_it_is_suspected(void **state)
{
    play("bully; nodes 5; leader 5; crash 5@0; initiator 2; crash 4@30");
    violated(EL_DEAD_LEADER);
    ended_on(4);
    play("bully; nodes 5; leader 5; crash 5@0,4@30; initiator 2; false-suspect 1:4@40,2:4@40,3:4@40");
    elected(3);
}

static void a_recovered_leader_takes_over_from_a_healthy_one(void **state)
{
    play("bully; nodes 6; leader 6; crash 6@0; initiator 3; restart 6@10");
    last_sent_in_all(5);
    last_took(1);
    ended_on(6);
}

static void a_recovered_process_below_the_leader_does_not(void **state)
{
    play("bully; nodes 6; leader 6; crash 2@0; restart 2@10; initiator none");
    ended_on(6);
}

static void an_unstable_leader_costs_an_election_each_time_it_comes_back(void **state)
{
    static const unsigned leaders[] = {5, 6, 5, 6, 5, 6};
    play("bully; nodes 6; leader 6; detect 1; crash 6@0,6@100,6@200; restart 6@50,6@150,6@250; initiator none");
    assert_int_equal(bench.result->phase_count, 6);
    for (unsigned i = 0; i < 6; i++)
        bench_equal(__FILE__, __LINE__, "leader in between", bench.result->phases[i].leader, leaders[i]);
}

/* ---- How it breaks ---- */

static void a_partition_has_a_leader_on_each_side(void **state)
{
    play("bully; nodes 5; leader 5; partition 1,2,3|4,5@1; detect 1; initiator none");
    violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
    for (unsigned id = 1; id <= 3; id++) follows(id, 3);
    for (unsigned id = 4; id <= 5; id++) follows(id, 5);
}

static void any_partition_has_a_leader_on_each_side(void **state)
{
    for (unsigned n = 2; n <= MANY / 2; n++)
        for (unsigned cut = 1; cut < n; cut++) {
            play("bully; nodes %u; leader %u; partition %s|%s@1; detect 1; initiator none", n, n, span(1, cut),
                 span(cut + 1, n));
            violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
            for (unsigned id = 1; id <= n; id++) follows(id, id <= cut ? cut : n);
        }
}

static void too_short_a_patience_elects_a_lower_one_while_a_higher_lives(void **state)
{
    for (unsigned n = 3; n <= SOME; n++)
        for (unsigned caller = 2; caller < n; caller++) {
            play("bully; nodes %u; bound 0.4; initiator %u", n, caller);
            violated(EL_TWO_LEADERS);
        }
}

static void patience_for_just_a_round_trip_is_enough(void **state)
{
    for (unsigned n = 2; n <= SOME; n++)
        for (unsigned caller = 1; caller <= n; caller++)
            for (unsigned seed = 1; seed <= SOME; seed++) {
                play("bully; nodes %u; delay 0..1; initiator %u; seed %u", n, caller, seed);
                elected(n);
            }
}

static void one_replaced_under_its_old_id_in_an_election_makes_two_coordinators(void **state)
{
    play("bully; nodes 4; crash 4@0; initiator 3; restart 4@1.5");
    violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
    follows(1, 3);
    follows(2, 3);
    follows(3, 4);
    follows(4, 4);
}

static void an_inaccurate_detector_deposes_a_live_leader(void **state)
{
    play("bully; nodes 5; leader 5; false-suspect 4:5@1; set exclude-suspects=on");
    violated(EL_TWO_LEADERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polling_the_dead_leader_costs_k_plus_1_squared_and_n_minus_2),
        cmocka_unit_test(excluding_the_suspects_costs_k_times_k_plus_1_and_n_minus_2),
        cmocka_unit_test(at_worst_the_lowest_starts_and_n_times_n_minus_1_by_2_are_polled_in_4t),
        cmocka_unit_test(at_best_the_second_highest_notices_and_tells_n_minus_2_in_1t),
        cmocka_unit_test(the_second_highest_notices_by_its_own_detector_and_tells_n_minus_2_in_1t),
        cmocka_unit_test(answer_and_poll_one_after_the_other_take_5t),
        cmocka_unit_test(when_everybody_notices_at_once_all_poll_and_it_takes_3t),
        cmocka_unit_test(a_live_leader_that_is_polled_says_again_that_it_leads),
        cmocka_unit_test(two_members_of_which_one_is_dead_take_one_poll),
        cmocka_unit_test(whoever_is_dead_the_best_of_the_living_wins),
        cmocka_unit_test(of_six_the_sixth_dead_the_third_starts_and_the_fifth_leads),
        cmocka_unit_test(of_five_the_fifth_dead_the_second_starts_and_the_fourth_leads),
        cmocka_unit_test(one_that_answers_and_dies_is_waited_for_in_vain_and_then_passed_over),
        cmocka_unit_test(one_that_announces_itself_and_dies_is_held_until_it_is_suspected),
        cmocka_unit_test(a_recovered_leader_takes_over_from_a_healthy_one),
        cmocka_unit_test(a_recovered_process_below_the_leader_does_not),
        cmocka_unit_test(an_unstable_leader_costs_an_election_each_time_it_comes_back),
        cmocka_unit_test(a_partition_has_a_leader_on_each_side),
        cmocka_unit_test(any_partition_has_a_leader_on_each_side),
        cmocka_unit_test(too_short_a_patience_elects_a_lower_one_while_a_higher_lives),
        cmocka_unit_test(patience_for_just_a_round_trip_is_enough),
        cmocka_unit_test(one_replaced_under_its_old_id_in_an_election_makes_two_coordinators),
        cmocka_unit_test(an_inaccurate_detector_deposes_a_live_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
