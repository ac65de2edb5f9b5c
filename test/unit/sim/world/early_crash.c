/*
 * Members that begin under a leader, and die before their disks have heard of it. When they come back they know of no
 * term; the one that their leader has must not be given to another. And who leads already is said to those who begin
 * only: one that comes back has its own record to go by.
 */
#include "lib/node/node.h"

#include "sim/world/world.h"

enum { SEEDS = 60 };

static void set(struct sim_settings *settings, const char *key, const char *value)
{
    assert_true(sim_settings_add(settings, key, value, 0, 0));
}

static uint32_t violations(const char *algorithm, unsigned seed)
{
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error;
    char text[16];
    snprintf(text, sizeof text, "%u", seed);
    set(&settings, "algorithm", algorithm);
    set(&settings, "nodes", "3");
    set(&settings, "leader", "1");
    set(&settings, "disk", "10ms");
    set(&settings, "crash", "2@1ms,3@1ms");
    set(&settings, "restart", "2@2ms,3@2ms");
    set(&settings, "partition", "1|2,3@0");
    set(&settings, "seed", text);
    if (sim_plan_build(&plan, &settings, &error) != 0) fail_msg("%s", error.text);
    struct sim_world *world = sim_world_new(&plan, 0);
    assert_non_null(world);
    const uint32_t kinds = sim_world_run(world)->violation_kinds;
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return kinds;
}

static void the_first_term_is_given_to_nobody_else(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned seed = 1; seed <= SEEDS && all[i]->majority; seed++)
            if (violations(all[i]->name, seed) & EL_SAME_TERM)
                fail_msg("%s, seed %u: two leaders of one term", all[i]->name, seed);
}

static void who_comes_back_is_told_of_no_incumbent(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i]->claims & EL_CLAIMS_GROUPS) continue; /* there everybody begins as the leader of itself */
        struct el_event event = {.type = EL_START};
        sit_down(all[i], 3, 2);
        for (uint32_t k = 0; k < all[i]->option_count && k < SEAT_OPTIONS; k++) seat.options[k].number = 1000;
        event.start = (struct el_start){.how = EL_RESTORED, .incumbent = 2};
        seat_step(&event);
        struct el_view view;
        all[i]->view(seat.state, &seat.cfg, &view);
        assert_int_not_equal(view.role, EL_LEADER);
    }
}

static void an_ordinary_member_is_no_incumbent(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE};
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i]->claims & EL_CLAIMS_GROUPS || all[i]->roleless) continue;
        sit_down(all[i], 3, 2);
        for (uint32_t k = 0; k < all[i]->option_count && k < SEAT_OPTIONS; k++) seat.options[k].number = 1000;
        seat.cluster.roles = roles;
        starts_under(2);
        struct el_view view;
        all[i]->view(seat.state, &seat.cfg, &view);
        assert_int_not_equal(view.role, EL_LEADER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_term_is_given_to_nobody_else),
        cmocka_unit_test(who_comes_back_is_told_of_no_incumbent),
        cmocka_unit_test(an_ordinary_member_is_no_incumbent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
