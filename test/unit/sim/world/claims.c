/* The end of a leader's claim, as a listener hears it: the laboratory page draws leases from it. */
#include "lib/sim/bench.h"

struct heard {
    unsigned count;
    uint64_t record;
    el_node leader;
    sim_time end;
    bool in_order;
};

static void hear(void *context, uint64_t record, el_node leader, sim_time end)
{
    struct heard *heard = context;
    heard->in_order = heard->in_order && record >= heard->record && end >= heard->end;
    heard->count++;
    heard->record = record;
    heard->leader = leader;
    heard->end = end;
}

static struct heard listen(const char *algorithm)
{
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error;
    struct heard heard = {.in_order = true};
    assert_true(sim_settings_add(&settings, "algorithm", algorithm, 0, 0));
    assert_true(sim_settings_add(&settings, "nodes", "3", 0, 0));
    assert_true(sim_settings_add(&settings, "leader", "1", 0, 0));
    assert_true(sim_settings_add(&settings, "until", "1000", 0, 0));
    assert_int_equal(sim_plan_build(&plan, &settings, &error), 0);
    struct sim_world *world = sim_world_new(&plan, SIM_KEEP_ALL);
    assert_non_null(world);
    sim_world_listen_to_claims(world, hear, &heard);
    sim_world_run(world);
    assert_true(heard.record <= sim_world_trace(world)->count);
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return heard;
}

static void a_lease_is_told_each_time_it_is_renewed(void **state)
{
    const struct heard heard = listen("chubby");
    assert_true(heard.count > 1);
    assert_true(heard.in_order);
    assert_int_equal(heard.leader, 1);
    assert_true(heard.end > 1000 * UINT64_C(1000000)); /* it outlives the run */
}

static void a_claim_that_nothing_bounds_is_not_told(void **state)
{
    assert_int_equal(listen("bully").count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_told_each_time_it_is_renewed),
        cmocka_unit_test(a_claim_that_nothing_bounds_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
