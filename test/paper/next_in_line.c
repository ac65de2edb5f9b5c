/*
 * Next in line. N members, the leader N among them dead; its alternatives are the best-ranked others, at most
 * four of them.
 *
 * Gholipour et al., A new approach for election algorithm in distributed systems, 2009; Petrov, Database
 * Internals, chapter 10. The counts are derived from the rules.
 */
#include "lib/sim/bench.h"

enum { ALTERNATIVES = 4 };

/* The leader and the first so many alternatives are dead. Everybody else may call. */
static const char *the_first_are_dead(unsigned n, unsigned alternatives)
{
    unsigned dead[ALTERNATIVES + 1];
    for (unsigned i = 0; i <= alternatives; i++) dead[i] = n - i;
    return list(dead, alternatives + 1, "@0");
}

static void if_the_ath_alternative_is_the_first_alive_it_costs_a_plus_1_plus_n_minus_2_in_2a_t(void **state)
{
    for (unsigned a = 1; a <= ALTERNATIVES; a++)
        for (unsigned n = a + 2; n <= MANY; n++)
            for (unsigned caller = 1; caller < n - a; caller++) {
                play("next-in-line; nodes %u; leader %u; crash %s; initiator %u", n, n,
                     the_first_are_dead(n, a - 1), caller);
                sent("Ask", a);
                sent("Alive", 1);
                sent("Elected", n - 2);
                sent_in_all(a + 1 + (n - 2));
                took(2 * a);
                elected(n - a);
            }
}

static void the_first_in_line_that_notices_itself_tells_n_minus_2_in_1t(void **state)
{
    for (unsigned n = 3; n <= MANY; n++) {
        play("next-in-line; nodes %u; leader %u; crash %u@0; initiator %u", n, n, n, n - 1);
        sent("Elected", n - 2);
        sent_in_all(n - 2);
        took(1);
        elected(n - 1);
    }
}

static void the_ath_in_line_that_notices_itself_asks_only_those_before_it(void **state)
{
    for (unsigned a = 2; a <= ALTERNATIVES; a++)
        for (unsigned n = a + 2; n <= MANY; n++) {
            play("next-in-line; nodes %u; leader %u; crash %s; initiator %u", n, n,
                 the_first_are_dead(n, a - 1), n - a);
            sent("Ask", a - 1);
            sent_in_all(a - 1 + (n - 2));
            took(2 * (a - 1) + 1);
            elected(n - a);
        }
}

static void six_with_the_alternatives_five_and_four_dies_and_the_third_notices(void **state)
{
    play("next-in-line; nodes 6; leader 6; set alternatives=5,4; crash 6@0; initiator 3");
    sent_in_all(6);
    took(2);
    elected(5);
    play("next-in-line; nodes 6; leader 6; set alternatives=5,4; crash 6@0,5@0; initiator 3");
    sent_in_all(7);
    took(4);
    elected(4);
}

static void the_list_decides_and_not_the_rank(void **state)
{
    play("next-in-line; nodes 6; leader 6; set alternatives=2,5; crash 6@0; initiator 3");
    sent_in_all(6);
    took(2);
    ended_on(2);
    violated(EL_NOT_BEST);
}

static void an_exhausted_list_leaves_the_bully(void **state)
{
    for (unsigned n = 4; n <= MANY; n++)
        for (unsigned caller = 1; caller < n - 2; caller++) {
            const unsigned k = n - 3 - caller; /* above the caller and alive; three are dead */
            play("next-in-line; nodes %u; leader %u; set alternatives=%u,%u; crash %s; initiator %u", n, n,
                 n - 1, n - 2, the_first_are_dead(n, 2), caller);
            sent("Ask", 2);
            sent("Election", (k + 1) * (k + 2) / 2 + 2 * (k + 1));
            sent("Answer", k * (k + 1) / 2);
            sent("Coordinator", n - 4);
            elected(n - 3);
        }
}

/* The first list names one, who leads and dies. Without a list of its own the bully would have to decide. */
static void the_new_leader_publishes_a_new_list(void **state)
{
    for (unsigned n = 4; n <= MANY; n++) {
        play("next-in-line; nodes %u; leader %u; set alternatives=%u; crash %u@0,%u@10; initiator 1,1@20", n, n,
             n - 1, n, n - 1);
        last_sent_in_all(n); /* one question, one answer, N - 2 told */
        last_took(2);
        elected(n - 2);
    }
}

/* 3 has missed the second list. It finds its way through the first to 2, while 2 asks 4 by the second. */
static void two_that_notice_with_different_lists_elect_two_leaders(void **state)
{
    play(
        "next-in-line; nodes 6; leader 6; set alternatives=5,2; cut 5>3@0; crash 6@0,5@4; initiator 1,3@4,2@6");
    violated(EL_TWO_LEADERS);
    play("next-in-line; nodes 6; leader 6; set alternatives=5,2; crash 6@0,5@4; initiator 1,3@4,2@4");
    elected(4);
}

static void a_partition_has_a_leader_on_each_side(void **state)
{
    play("next-in-line; nodes 5; leader 5; partition 1,2,3|4,5@1; detect 1; initiator none");
    violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
    for (unsigned id = 1; id <= 3; id++) follows(id, 3);
    for (unsigned id = 4; id <= 5; id++) follows(id, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_the_ath_alternative_is_the_first_alive_it_costs_a_plus_1_plus_n_minus_2_in_2a_t),
        cmocka_unit_test(the_first_in_line_that_notices_itself_tells_n_minus_2_in_1t),
        cmocka_unit_test(the_ath_in_line_that_notices_itself_asks_only_those_before_it),
        cmocka_unit_test(six_with_the_alternatives_five_and_four_dies_and_the_third_notices),
        cmocka_unit_test(the_list_decides_and_not_the_rank),
        cmocka_unit_test(an_exhausted_list_leaves_the_bully),
        cmocka_unit_test(the_new_leader_publishes_a_new_list),
        cmocka_unit_test(two_that_notice_with_different_lists_elect_two_leaders),
        cmocka_unit_test(a_partition_has_a_leader_on_each_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
