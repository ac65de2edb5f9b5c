/* The end of a leader's claim and the views of all nodes, as listeners hear them: the laboratory page draws leases, roles and
 * terms from them. */
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

enum { NODES = 3 };

struct seen {
    struct el_view last[NODES + 1];
    unsigned electing, at_the_beginning;
    uint64_t first_electing; /* its record */
    uint64_t first_sent;     /* the first message's */
};

static void see(void *context, uint64_t record, el_node node, const struct el_view *view)
{
    struct seen *seen = context;
    seen->electing += view->role == EL_ELECTING && seen->last[node].role != EL_ELECTING;
    if (view->role == EL_ELECTING && !seen->first_electing) seen->first_electing = record;
    seen->at_the_beginning += record == 0;
    seen->last[node] = *view;
}

/* A run of three nodes. What was seen last of each live node must be what it believes at the end. */
static struct seen watch(const char *algorithm, size_t count, const char *const lines[][2])
{
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error;
    struct seen seen = {0};
    assert_true(sim_settings_add(&settings, "algorithm", algorithm, 0, 0));
    assert_true(sim_settings_add(&settings, "nodes", "3", 0, 0));
    for (size_t i = 0; i < count; i++) assert_true(sim_settings_add(&settings, lines[i][0], lines[i][1], 0, 0));
    assert_int_equal(sim_plan_build(&plan, &settings, &error), 0);
    struct sim_world *world = sim_world_new(&plan, SIM_KEEP_ALL);
    assert_non_null(world);
    sim_world_listen_to_views(world, see, &seen);
    sim_world_run(world);
    const struct sim_trace *trace = sim_world_trace(world);
    for (uint64_t i = trace->count; i > 0; i--)
        if (sim_trace_at(trace, i)->what == SIM_SENT) seen.first_sent = i;
    for (el_node node = 1; node <= NODES; node++) {
        struct el_view view = {0};
        sim_world_view(world, node, &view);
        assert_int_equal(seen.last[node].role, view.role);
        assert_int_equal(seen.last[node].leader, view.leader);
        assert_int_equal(seen.last[node].term, view.term);
    }
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return seen;
}

static void a_node_that_stands_without_having_known_a_leader_is_seen_electing(void **state)
{
    const char *const lines[][2] = {{"until", "1000"}};
    const struct seen seen = watch("raft", 1, lines);
    assert_true(seen.electing > 0);
    assert_in_range(seen.first_electing, 1, seen.first_sent); /* at once, not with its next step */
}

static void a_term_that_rises_without_a_leader_is_seen(void **state)
{
    const char *const lines[][2] = {
        {"until", "2000"}, {"crash", "1@0"}, {"crash", "2@0"}, {"set", "prevote=off"}};
    const struct seen seen = watch("raft", 4, lines);
    assert_int_equal(seen.last[3].role, EL_ELECTING);
    assert_true(seen.last[3].term > 1);
}

static void the_first_views_are_from_the_beginning(void **state)
{
    const char *const lines[][2] = {{"initiator", "none"}};
    const struct seen seen = watch("invitation", 1, lines);
    assert_true(seen.at_the_beginning >= NODES);
    for (el_node node = 1; node <= NODES; node++) assert_int_equal(seen.last[node].role, EL_LEADER);
}

static void a_dead_node_believes_nothing(void **state)
{
    const char *const lines[][2] = {{"crash", "2@500"}};
    const struct seen seen = watch("raft", 1, lines);
    assert_int_equal(seen.last[2].role, EL_IDLE);
    assert_int_equal(seen.last[2].leader, EL_NOBODY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_stands_without_having_known_a_leader_is_seen_electing),
        cmocka_unit_test(a_term_that_rises_without_a_leader_is_seen),
        cmocka_unit_test(the_first_views_are_from_the_beginning),
        cmocka_unit_test(a_dead_node_believes_nothing),
        cmocka_unit_test(a_lease_is_told_each_time_it_is_renewed),
        cmocka_unit_test(a_claim_that_nothing_bounds_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
