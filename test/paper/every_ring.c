/*
 * What holds for every ring, whether it passes claims on or goes two laps:
 * the maximum of the living wins, and what becomes of it when detectors or links fail.
 */
#include "lib/sim/rings.h"

static void whoever_calls_on_whatever_ring_the_maximum_wins(void **state)
{
    unsigned ids[FEW], callers[32];
    each_ring_of(rings) for (unsigned n = 2; n <= FEW - 2; n++)
    {
        for (unsigned i = 0; i < n; i++) ids[i] = i + 1;
        do {
            for (unsigned set = 1; set < 1u << n; set++) {
                const unsigned j = members_of(set, callers);
                play("%s; ids %s; initiator %s", *ring, list(ids, n, ""), list(callers, j, ""));
                elected(n);
            }
        } while (permute(ids, n));
    }
}

/* A failed attempt costs a round trip, which the patience of 3N - 1 hops does not allow for. */
static void the_dead_that_nobody_noticed_may_cost_patience_but_not_the_election(void **state)
{
    struct sim_random dice;
    unsigned dead[MANY];
    sim_random_seed(&dice, 7, 0);
    each_ring_of(rings) for (unsigned n = 3; n <= MANY / 2; n++) for (unsigned deaths = 1; deaths <= n - 2;
                                                                      deaths++)
    {
        unsigned best = 0;
        shuffle(&dice, dead, n); /* the first so many die; the next one calls */
        for (unsigned i = deaths; i < n; i++) best = dead[i] > best ? dead[i] : best;
        play("%s; nodes %u; crash %s; initiator %u", *ring, n, list(dead, deaths, "@0"), dead[deaths]);
        elected(best);
    }
}

static void each_leader_may_die_in_turn_until_one_node_is_left(void **state)
{
    each_ring_of(rings) for (unsigned n = 2; n <= SOME; n++)
    {
        char crashes[BENCH_TEXT / 4] = "";
        size_t used = 0;
        for (unsigned node = n; node > 1; node--)
            used += (size_t)snprintf(crashes + used, sizeof crashes - used, "%s%u@%u", used ? "," : "", node,
                                     20 * n * (n + 1 - node));
        play("%s; nodes %u; initiator 1; crash %s; detect 1", *ring, n, crashes);
        elected(1);
        assert_int_equal(bench.result->phase_count, n);
        for (unsigned i = 0; i < n; i++)
            bench_equal(__FILE__, __LINE__, "leader in between", bench_id(bench.result->phases[i].leader),
                        n - i);
    }
}

static void the_last_one_alive_finds_nobody_and_leads(void **state)
{
    each_ring_of(rings) for (unsigned n = 2; n <= MANY; n++)
    {
        unsigned dead[MANY];
        for (unsigned i = 0; i < n - 1; i++) dead[i] = i + 2;
        play("%s; nodes %u; crash %s; initiator 1", *ring, n, list(dead, n - 1, "@0"));
        sent_in_all(0);
        failed_hops(n - 1);
        elected(1);
    }
}

static void a_ring_closed_over_a_live_leader_elects_another_beside_it(void **state)
{
    each_ring_of(rings)
    {
        play("%s; " LECTURE_RING "; leader 80; false-suspect all:80@1", *ring);
        violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
        follows(80, 80);
        follows(3, 32);
        follows(6, 32);
    }
}

static void a_dead_leader_stays_elected_where_nobody_notices(void **state)
{
    each_ring_of(rings)
    {
        play("%s; " LECTURE_RING "; initiator 3; crash 80@50; detect 1; miss all:80", *ring);
        violated(EL_DEAD_LEADER);
        ended_on(80);
    }
}

static void each_arc_of_a_cut_ring_has_its_own_leader(void **state)
{
    each_ring_of(rings)
    {
        play("%s; nodes 6; leader 6; partition 1,2,3|4,5,6@1; detect 1; initiator none", *ring);
        violated(EL_TWO_LEADERS | EL_DISAGREEMENT);
        follows(1, 3);
        follows(2, 3);
        follows(3, 3);
        follows(4, 6);
        follows(5, 6);
        follows(6, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_calls_on_whatever_ring_the_maximum_wins),
        cmocka_unit_test(the_dead_that_nobody_noticed_may_cost_patience_but_not_the_election),
        cmocka_unit_test(each_leader_may_die_in_turn_until_one_node_is_left),
        cmocka_unit_test(the_last_one_alive_finds_nobody_and_leads),
        cmocka_unit_test(a_ring_closed_over_a_live_leader_elects_another_beside_it),
        cmocka_unit_test(a_dead_leader_stays_elected_where_nobody_notices),
        cmocka_unit_test(each_arc_of_a_cut_ring_has_its_own_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
