/* Random faults against quorum alone, more of them than it gets among the others: no violation but those it names. */
#include "swarm.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS_DEFAULT = 4000 };
#else
enum { RUNS_DEFAULT = 60000 };
#endif

static void only_what_quorum_names_goes_wrong(void **state)
{
    const struct el_algorithm *quorum = el_algorithm_named("quorum");
    swarm(&quorum, 1, RUNS_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_quorum_names_goes_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
