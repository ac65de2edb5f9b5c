/* The textbooks' best and worst cases, by name. */
#include "lib/sim/bench.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bullys_best_case_is_n_minus_2_messages_in_one_t),
        cmocka_unit_test(the_bullys_worst_case_is_quadratic_in_four_t),
        cmocka_unit_test(a_ring_takes_2n_at_best_and_3n_minus_1_at_worst),
        cmocka_unit_test(attributes_count_before_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
