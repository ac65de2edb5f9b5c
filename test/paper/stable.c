/*
 * The stable leader: a live and timely leader stays, whoever else comes and goes.
 *
 * Aguilera, Delporte-Gallet, Fauconnier, Toueg, Stable leader election, DISC 2001.
 */
#include "lib/sim/bench.h"

enum { DELTA = 50, FEW_DEAD = 4 }; /* more of them pass for rest: nobody changes its mind for ten delta */

static void all_start_and_the_first_owner_leads_after_delta(void **state)
{
    for (unsigned n = 2; n <= SOME; n++) {
        play("stable; nodes %u", n);
        took(DELTA + 1);
        elected(1);
    }
}

/* The first of them says OK before it dies, and that is heard one delay later. */
static void with_the_first_j_owners_dead_the_next_leads_after_2_j_plus_1_delta(void **state)
{
    static const unsigned dead[FEW_DEAD] = {1, 2, 3, 4};
    for (unsigned n = 3; n <= SOME; n++)
        for (unsigned j = 1; j + 1 < n && j <= FEW_DEAD; j++) {
            play("stable; nodes %u; crash %s", n, list(dead, j, "@0"));
            took((2 * j + 1) * DELTA + 2);
            elected(j + 1);
        }
}

/* The bully's coordinator would give way. */
static void whoever_comes_back_does_not_displace_the_leader(void **state)
{
    for (unsigned n = 3; n <= SOME; n++)
        for (unsigned back = 1; back <= n; back++) {
            if (back == 2) continue;
            play("stable; nodes %u; leader 2; crash %u@100; restart %u@400", n, back, back);
            elected(2);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_start_and_the_first_owner_leads_after_delta),
        cmocka_unit_test(with_the_first_j_owners_dead_the_next_leads_after_2_j_plus_1_delta),
        cmocka_unit_test(whoever_comes_back_does_not_displace_the_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
