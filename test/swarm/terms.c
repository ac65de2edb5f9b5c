/*
 * Random faults against the elections that need a majority, or beat for ever: crashes, wiped and slow disks,
 * cuts, pauses, clocks inside the drift bound and outside it, hand-overs. Never two leaders in a term; never two
 * leases at once while the clocks keep the bound.
 */
#include "lib/sim/swarm.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS_DEFAULT = 1500 };
#else
enum { RUNS_DEFAULT = 50000 };
#endif

static void only_what_is_named_goes_wrong_and_every_note_is_reached(void **state)
{
    const struct el_algorithm *chosen[NOTES_ALGORITHMS_MAX] = {NULL};
    uint32_t count = 0, found = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        if ((all[i]->beats || all[i]->majority) && !all[i]->store) chosen[found++] = all[i];
    swarm(chosen, found, RUNS_DEFAULT);
}

/* The tables may excuse a missing leader; nothing excuses two in a term. */
static void no_table_excuses_two_leaders_in_a_term(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < all[i]->break_count; k++)
            assert_false(all[i]->breaks[k].violations & EL_SAME_TERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_named_goes_wrong_and_every_note_is_reached),
        cmocka_unit_test(no_table_excuses_two_leaders_in_a_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
