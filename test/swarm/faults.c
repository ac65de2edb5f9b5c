/* Random faults against the elections that come to rest; what goes wrong must be what their tables name. */
#include "lib/sim/swarm.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS_DEFAULT = 3000 };
#else
enum { RUNS_DEFAULT = 60000 };
#endif

static void only_what_is_named_goes_wrong_and_every_note_is_reached(void **state)
{
    const struct el_algorithm *resting[NOTES_ALGORITHMS_MAX] = {NULL};
    uint32_t count = 0, found = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        if (!all[i]->beats && !all[i]->majority) resting[found++] = all[i];
    swarm(resting, found, RUNS_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_named_goes_wrong_and_every_note_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
