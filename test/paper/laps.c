/*
 * The rings of two laps, of which one gathers and one tells: ring-collect and ring-max. N members,
 * of which M live. Tanenbaum and van Steen, Distributed Systems; Petrov, Database Internals, chapter 10.
 */
#include "lib/sim/rings.h"

static void two_laps_cost_2m_messages_and_one_failed_attempt_per_dead_node_and_lap(void **state)
{
    struct sim_random dice;
    unsigned dead[MANY];
    sim_random_seed(&dice, 6, 0);
    each_ring_of(of_laps) for (unsigned n = 3; n <= MANY; n++) for (unsigned deaths = 1; deaths <= n - 2;
                                                                    deaths += 1 + deaths / 2)
    {
        shuffle(&dice, dead, n); /* the first so many die; the others call */
        for (unsigned i = deaths; i < n; i += 1 + n / 8) {
            const unsigned m = n - deaths;
            unsigned best = 0;
            for (unsigned k = deaths; k < n; k++) best = dead[k] > best ? dead[k] : best;
            play("%s; nodes %u; crash %s; initiator %u", *ring, n, list(dead, deaths, "@0"), dead[i]);
            sent("Elect", m);
            sent("Elected", m);
            failed_hops(2 * deaths);
            took(2 * m + 2 * 2 * deaths); /* an attempt fails after a round trip */
            elected(best);
        }
    }
}

static void two_laps_of_the_living_cost_2n_whoever_calls(void **state)
{
    each_ring_of(of_laps) for (unsigned n = 2; n <= MANY; n++) for (unsigned caller = 1; caller <= n; caller++)
    {
        play("%s; nodes %u; initiator %u", *ring, n, caller);
        sent("Elect", n);
        sent("Elected", n);
        failed_hops(0);
        took(2 * n);
        elected(n);
    }
}

static void a_detector_that_knows_the_dead_saves_the_attempts(void **state)
{
    each_ring_of(of_laps) for (unsigned n = 3; n <= MANY; n++) for (unsigned caller = 1; caller < n; caller++)
    {
        play("%s; nodes %u; crash %u@0; detect 0; initiator %u@1", *ring, n, n, caller);
        sent_in_all(2 * (n - 1));
        failed_hops(0);
        last_took(2 * (n - 1));
        elected(n - 1);
    }
}

/* The set grows by one a hop; 5 finds 6 dead, and 1 is next. */
static void the_set_grows_around_a_dead_node(void **state)
{
    static const struct {
        unsigned from, to;
        uint64_t set;
    } hops[] = {{3, 4, 0x04}, {4, 5, 0x0C}, {5, 6, 0x1C}, {5, 1, 0x1C}, {1, 2, 0x1D}, {2, 3, 0x1F}};
    play_and_record("ring-collect; nodes 6; crash 6@0; initiator 3");
    const struct sim_trace *trace = sim_world_trace(bench.world);
    unsigned hop = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_SENT || r->kind != 1) continue;
        assert_in_range(hop, 0, sizeof hops / sizeof *hops - 1);
        assert_int_equal(r->node, hops[hop].from);
        assert_int_equal(r->peer, hops[hop].to);
        assert_int_equal(r->values[1], hops[hop].set);
        hop++;
    }
    assert_int_equal(hop, sizeof hops / sizeof *hops);
    sent_in_all(10);
    failed_hops(2);
    elected(5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_laps_cost_2m_messages_and_one_failed_attempt_per_dead_node_and_lap),
        cmocka_unit_test(two_laps_of_the_living_cost_2n_whoever_calls),
        cmocka_unit_test(a_detector_that_knows_the_dead_saves_the_attempts),
        cmocka_unit_test(the_set_grows_around_a_dead_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
