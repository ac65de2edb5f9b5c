/*
 * Candidates and ordinary processes. N members, the leader N among them dead; the one that notices waits delta
 * for each live place before it, then polls c candidates, of which a are alive.
 *
 * Murshed and Allen, Enhanced bully algorithm for leader node election in synchronous distributed systems,
 * Computers 2012; Petrov, Database Internals, chapter 10. The counts are derived from the rules.
 */
#include "lib/sim/bench.h"

static void polling_c_of_which_a_live_costs_c_plus_a_plus_n_minus_2_in_delta_plus_3t(void **state)
{
    struct sim_random dice;
    unsigned others[MANY];
    sim_random_seed(&dice, 1, 0);
    for (unsigned n = 4; n <= MANY; n++)
        for (unsigned caller = 1; caller < n; caller++) {
            shuffle(&dice, others,
                    n - 1); /* first the dead candidates, then the live ones, then the ordinary */
            const unsigned live = 1 + below(&dice, n - 2);
            const unsigned dead = below(&dice, n - 1 - live);
            unsigned best = 0, polled = 0, alive = 0;
            bool caller_is_dead = false;
            for (unsigned i = 0; i < dead; i++) caller_is_dead = caller_is_dead || others[i] == caller;
            if (caller_is_dead) continue;
            for (unsigned i = 0; i < dead + live; i++) {
                polled += others[i] != caller;
                alive += others[i] != caller && i >= dead;
                if (i >= dead && others[i] > best) best = others[i];
            }
            const unsigned delta = 3 * (n - 1 - caller);
            play(
                "candidate-ordinary; nodes %u; leader %u; crash %u@0; %s%s; initiator %u; set candidates=%u,%s",
                n, n, n, dead ? "crash " : "", list(others, dead, "@0"), caller, n,
                list(others, dead + live, ""));
            sent("Poll", polled);
            sent("Alive", alive);
            sent("Elected", n - 2);
            sent_in_all(polled + alive + (n - 2));
            took(polled ? delta + 3 : delta + 1);
            elected(best);
        }
}

static void delta_is_the_wait_for_each_place_in_line(void **state)
{
    for (unsigned delta = 1; delta <= 5; delta++)
        for (unsigned n = 3; n <= SOME; n++)
            for (unsigned caller = 1; caller < n; caller++) {
                play("candidate-ordinary; nodes %u; leader %u; crash %u@0; initiator %u; set delta=%u", n, n, n,
                     caller, delta);
                sent_in_all((n - 2) + (n - 2) + (n - 2));
                took(delta * (n - 1 - caller) + 3);
                elected(n - 1);
            }
}

static void four_is_ordinary_and_two_wins_below_it(void **state)
{
    play("candidate-ordinary; nodes 6; leader 6; set candidates=1,2,6; crash 6@0; initiator 4");
    sent("Poll", 2);
    sent("Alive", 2);
    sent("Elected", 4);
    took(3 + 3); /* 5 comes before 4: delta is 3 T */
    elected(2);
}

static void if_all_notice_at_once_the_first_in_line_is_done_before_the_second_begins(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        play("candidate-ordinary; nodes %u; leader %u; crash %u@0; detect 0", n, n, n);
        sent_in_all((n - 2) + (n - 2) + (n - 2));
        took(3);
        elected(n - 1);
    }
}

static void if_the_first_in_line_are_dead_the_next_begins_after_its_delta(void **state)
{
    for (unsigned n = 5; n <= MANY; n++) {
        play("candidate-ordinary; nodes %u; leader %u; crash %u@0,%u@0,%u@0; detect 0", n, n, n, n - 1, n - 2);
        sent("Poll", n - 2);
        sent("Alive", n - 4);
        sent("Elected", n - 2);
        took(2 * 3 + 3);
        elected(n - 3);
    }
}

/* "Greater than a round trip" is what the paper asks of delta; but a run takes three transmissions. */
static void a_delta_of_just_more_than_a_round_trip_lets_two_run_in_parallel(void **state)
{
    play("candidate-ordinary; nodes 6; leader 6; set candidates=1,2,6; crash 6@0; detect 0; set delta=2.5");
    sent("Poll", 2 * 2);
    play("candidate-ordinary; nodes 6; leader 6; set candidates=1,2,6; crash 6@0; detect 0; set delta=3");
    sent("Poll", 2);
    elected(2);
}

static void without_a_live_candidate_there_is_no_leader_and_that_is_said(void **state)
{
    for (unsigned n = 4; n <= MANY; n++) {
        play("candidate-ordinary; nodes %u; leader %u; set candidates=1,2,%u; crash 1@0,2@0,%u@0; detect 0", n,
             n, n, n);
        noted("no-candidate");
        sent("Poll", 2 * (n - 3)); /* each of the living, in turn */
        sent_in_all(2 * (n - 3));
        kept_its_claims();
        for (unsigned id = 3; id < n; id++) follows(id, 0);
    }
}

static void a_candidate_that_comes_back_ends_the_time_without_a_leader(void **state)
{
    play("candidate-ordinary; nodes 4; leader 4; set candidates=1,4; crash 4@0,1@0; detect 1; restart 1@100; "
         "initiator none");
    ended_on(1);
}

static void a_partition_has_a_leader_on_each_side(void **state)
{
    play("candidate-ordinary; nodes 5; leader 5; partition 1,2,3|4,5@1; detect 1; initiator none");
    violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
    for (unsigned id = 1; id <= 3; id++) follows(id, 3);
    for (unsigned id = 4; id <= 5; id++) follows(id, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polling_c_of_which_a_live_costs_c_plus_a_plus_n_minus_2_in_delta_plus_3t),
        cmocka_unit_test(delta_is_the_wait_for_each_place_in_line),
        cmocka_unit_test(four_is_ordinary_and_two_wins_below_it),
        cmocka_unit_test(if_all_notice_at_once_the_first_in_line_is_done_before_the_second_begins),
        cmocka_unit_test(if_the_first_in_line_are_dead_the_next_begins_after_its_delta),
        cmocka_unit_test(a_delta_of_just_more_than_a_round_trip_lets_two_run_in_parallel),
        cmocka_unit_test(without_a_live_candidate_there_is_no_leader_and_that_is_said),
        cmocka_unit_test(a_candidate_that_comes_back_ends_the_time_without_a_leader),
        cmocka_unit_test(a_partition_has_a_leader_on_each_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
