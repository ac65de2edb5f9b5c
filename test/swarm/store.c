/*
 * Random faults against the elections on a store: the store crashes, restarts, loses its data, is cut off and paused, and
 * so are the candidates; answers are lost after the write took place. Never two leaders while the clocks keep the
 * bound, never a token twice, and tokens rise, whatever happens to the store.
 */
#define RUNS_FOR_ALL_NOTES 12000
#include "lib/sim/swarm.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS_DEFAULT = 600 };
#else
enum { RUNS_DEFAULT = 12000 };
#endif

static void only_what_is_named_goes_wrong_and_every_note_is_reached(void **state)
{
    const struct el_algorithm *chosen[NOTES_ALGORITHMS_MAX] = {NULL};
    uint32_t count = 0, found = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        if (all[i]->store) chosen[found++] = all[i];
    assert_int_equal(found, 3);
    swarm(chosen, found, RUNS_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_named_goes_wrong_and_every_note_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
