/*
 * The rings of the classical papers: what an election costs, exactly. All need every process alive and every
 * message delivered; what becomes of them otherwise is told at the end.
 *
 * Le Lann, Distributed systems: towards a formal approach, IFIP 1977. Hirschberg and Sinclair, Decentralized
 * extrema-finding in circular configurations of processors, CACM 23(11), 1980. Dolev, Klawe and Rodeh, An
 * O(n log n) unidirectional distributed algorithm for extrema finding in a circle, J. Algorithms 3(3), 1982.
 * Peterson, An O(n log n) unidirectional algorithm for the circular extrema problem, TOPLAS 4(4), 1982. Itai
 * and Rodeh, Symmetry breaking in distributed networks, Information and Computation 88(1), 1990.
 */
#include "lib/sim/rings.h"

static const char *const of_ranks[] = {"lelann", "hirschberg-sinclair", "peterson"};
static const char *const classics[] = {"lelann", "hirschberg-sinclair", "peterson", "itai-rodeh"};

static unsigned log2_floor(unsigned n)
{
    unsigned log = 0;
    while (n >> (log + 1)) log++;
    return log;
}

static unsigned log2_ceiling(unsigned n)
{
    return n > 1 ? log2_floor(n - 1) + 1 : 0;
}

/* Does something on every ring of n, for all small n. */
static void on_every_ring(void (*check)(const unsigned *ids, unsigned n))
{
    unsigned ids[FEW];
    for (unsigned n = 2; n <= FEW; n++) {
        for (unsigned i = 0; i < n; i++) ids[i] = i + 1;
        do check(ids, n);
        while (permute(ids, n));
    }
}

/* And on some rings of every n. */
static void on_many_rings(void (*check)(const unsigned *ids, unsigned n))
{
    struct sim_random dice;
    unsigned ids[MANY];
    sim_random_seed(&dice, 11, 0);
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned round = 0; round < 4; round++) {
            shuffle(&dice, ids, n);
            check(ids, n);
        }
}

/* ---- All that rank: the same for every caller ---- */

static void whoever_calls_it_is_the_best_and_costs_the_same(void **state)
{
    unsigned ids[FEW], callers[32];
    each_ring_of(of_ranks) for (unsigned n = 2; n <= FEW - 2; n++)
    {
        for (unsigned i = 0; i < n; i++) ids[i] = i + 1;
        do {
            play("%s; ids %s; initiator all", *ring, list(ids, n, ""));
            elected(n);
            const uint64_t cost = bench.result->sent[0];
            for (unsigned set = 1; set < 1u << n; set++) {
                const unsigned j = members_of(set, callers);
                play("%s; ids %s; initiator %s", *ring, list(ids, n, ""), list(callers, j, ""));
                elected(n);
                sent_in_all((unsigned)cost);
            }
        } while (permute(ids, n));
    }
}

static void elections_called_at_any_time_over_slow_and_fast_links_end_well(void **state)
{
    struct sim_random dice;
    unsigned ids[SOME];
    sim_random_seed(&dice, 12, 0);
    each_ring_of(classics) for (unsigned n = 2; n <= SOME; n++) for (unsigned round = 0; round < 8; round++)
    {
        shuffle(&dice, ids, n);
        play("%s; ids %s; seed %u; delay 0.1..1; initiator %u,%u@%u,%u@%u,%u@%u; leader 1", *ring,
             list(ids, n, ""), round, 1 + below(&dice, n), 1 + below(&dice, n), below(&dice, n),
             1 + below(&dice, n), 1 + below(&dice, 4 * n), 1 + below(&dice, n), 1 + below(&dice, 8 * n));
        kept_its_claims();
        assert_true(bench.result->agreed);
    }
}

static void a_second_election_costs_as_much_as_the_first(void **state)
{
    each_ring_of(of_ranks) for (unsigned n = 2; n <= SOME; n++)
    {
        play("%s; nodes %u; initiator 1", *ring, n);
        const uint64_t once = bench.result->sent[0];
        play("%s; nodes %u; initiator 1,1@1000,%u@2000", *ring, n, n);
        elected(n);
        sent_in_all((unsigned)(3 * once));
    }
}

/* ---- LeLann: jN messages for j initiators, and whoever is woken is one ---- */

static void lelann_costs_a_lap_for_each_member_and_no_announcement(void **state)
{
    for (unsigned n = 2; n <= MANY; n++) {
        play("lelann; nodes %u; initiator all", n);
        sent_in_all(n * n);
        took(n);
        elected(n);
        play("lelann; nodes %u; initiator %u", n, 1 + n / 2);
        sent("Token", n * n);
        took(2 * n - 1);
        elected(n);
    }
}

/* ---- Hirschberg and Sinclair ---- */

/* How far a probe gets from `place` in steps of +1 or -1: to the first who outranks it, or `reach`, or home. */
static unsigned hops_of_probe(const unsigned *ids, unsigned n, unsigned place, int step, unsigned reach,
                              bool *swallowed)
{
    unsigned at = place;
    *swallowed = false;
    for (unsigned hops = 1;; hops++) {
        at = (at + n + (unsigned)step) % n;
        if (ids[at] > ids[place]) *swallowed = true;
        if (*swallowed || hops == reach || at == place) return hops;
    }
}

static unsigned cost_of_all_probes(const unsigned *ids, unsigned n)
{
    unsigned cost = 0;
    for (unsigned place = 0; place < n; place++) {
        bool stays = true;
        for (unsigned reach = 1; stays; reach *= 2) {
            for (int step = -1; step <= 1; step += 2) {
                bool swallowed = false;
                const unsigned hops = hops_of_probe(ids, n, place, step, reach, &swallowed);
                const bool home = hops == n && !swallowed;
                cost += hops + (swallowed || home ? 0 : hops); /* a reply goes all the way back */
                stays = stays && !swallowed && !home;
            }
        }
    }
    return cost;
}

static void probe_costs(const unsigned *ids, unsigned n)
{
    play("hirschberg-sinclair; ids %s; initiator all", list(ids, n, ""));
    elected(n);
    sent("Elected", n);
    sent_in_all(cost_of_all_probes(ids, n) + n);
    assert_in_range(bench.result->sent[0] - n, 1, 8 * n * (1 + log2_ceiling(n)));
}

static void probes_and_replies_cost_what_their_reach_says_and_less_than_8n_a_phase(void **state)
{
    on_every_ring(probe_costs);
    on_many_rings(probe_costs);
}

static void probing_the_ring_of_the_lectures_costs_64(void **state)
{
    play("hirschberg-sinclair; " LECTURE_RING "; initiator all");
    sent("Probe", 44);
    sent("Reply", 20);
    sent("Elected", 6);
    elected(80);
}

static void probes_need_no_order_and_bear_copies(void **state)
{
    for (unsigned n = 2; n <= SOME; n++)
        for (unsigned seed = 0; seed < 32; seed++) {
            play(
                "hirschberg-sinclair; nodes %u; seed %u; reorder 0.5; dup 0.3; initiator all; initiator 1@5,%u@100",
                n, seed, n);
            elected(n);
        }
}

/* ---- Peterson; Dolev, Klawe and Rodeh ---- */

/* Phases until one claim is left: in each, a claim stays if it is above the ones before and after it. */
static unsigned phases_of(const unsigned *ids, unsigned n)
{
    unsigned claims[MANY], phases = 0;
    memcpy(claims, ids, n * sizeof *ids);
    for (unsigned left = n; left > 1; phases++) {
        unsigned stay[MANY] = {0}, kept = 0;
        for (unsigned i = 0; i < left; i++) {
            const unsigned before = claims[(i + left - 1) % left], after = claims[(i + 1) % left];
            if (claims[i] > before && claims[i] > after) stay[kept++] = claims[i];
        }
        memcpy(claims, stay, kept * sizeof *stay);
        left = kept;
    }
    return phases;
}

static void phase_costs(const unsigned *ids, unsigned n)
{
    const unsigned phases = phases_of(ids, n);
    assert_in_range(phases, 1, log2_floor(n));
    play("peterson; ids %s; initiator all", list(ids, n, ""));
    elected(n);
    sent("First", n * (phases + 1));
    sent("Second", n * phases);
    sent("Elected", n);
    sent_in_all(n * (2 * phases + 1) + n);
}

static void phases_cost_2n_and_the_last_claim_a_lap(void **state)
{
    on_every_ring(phase_costs);
    on_many_rings(phase_costs);
}

static void the_schedule_does_not_matter_to_phases(void **state)
{
    struct sim_random dice;
    unsigned ids[SOME];
    sim_random_seed(&dice, 13, 0);
    for (unsigned n = 2; n <= SOME; n++)
        for (unsigned seed = 0; seed < 8; seed++) {
            shuffle(&dice, ids, n);
            play("peterson; ids %s; seed %u; delay 0.1..1; initiator %u", list(ids, n, ""), seed, ids[0]);
            elected(n);
            sent_in_all(n * (2 * phases_of(ids, n) + 1) + n);
        }
}

static void phases_on_the_ring_of_the_lectures_cost_30(void **state)
{
    play("peterson; " LECTURE_RING "; initiator all");
    sent("First", 18);
    sent("Second", 12);
    sent("Elected", 6);
    elected(80);
}

/* ---- Itai and Rodeh ---- */

enum { SEEDS = 4000 };

/* Tokens of an election that all call, on average; it always ends, with one leader. */
static double mean_tokens(unsigned n, unsigned *wins)
{
    double mean = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        play("itai-rodeh; nodes %u; initiator all; seed %u", n, seed);
        kept_its_claims();
        sent("Elected", n);
        mean += (double)bench.result->sent[bench_kind(__FILE__, __LINE__, "Token")] / SEEDS;
        wins[bench.result->leader - 1]++;
    }
    return mean;
}

/* Equal numbers, one time in two, cost 4 hops and a new round; otherwise 2 hops and 1. So 3 + 4 on average. */
static void two_without_a_name_need_7_tokens_on_average(void **state)
{
    unsigned wins[2] = {0};
    const double mean = mean_tokens(2, wins);
    assert_true(mean > 6.6 && mean < 7.4);
}

static void six_without_a_name_need_about_23_tokens_and_any_of_them_may_win(void **state)
{
    unsigned wins[6] = {0};
    const double mean = mean_tokens(6, wins);
    assert_true(mean > 22 && mean < 24);
    for (unsigned i = 0; i < 6; i++) assert_in_range(wins[i], SEEDS / 6 - 120, SEEDS / 6 + 120);
}

static void ranks_and_ids_mean_nothing_on_an_anonymous_ring(void **state)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        play("itai-rodeh; nodes 6; initiator all; seed %u", seed);
        const uint64_t sent_then = bench.result->sent[0];
        const el_node leader_then = bench.result->leader;
        play("itai-rodeh; ids 60,50,40,30,20,10; attr 40=7; initiator all; seed %u", seed);
        assert_int_equal(bench.result->sent[0], sent_then);
        assert_int_equal(bench.result->leader, leader_then);
    }
}

static void the_anonymous_ring_ends_whoever_calls(void **state)
{
    unsigned callers[32];
    for (unsigned n = 2; n <= SOME / 2; n++)
        for (unsigned set = 1; set < 1u << n; set++) {
            const unsigned j = members_of(set, callers);
            play("itai-rodeh; nodes %u; seed %u; initiator %s", n, set, list(callers, j, ""));
            kept_its_claims();
            assert_true(bench.result->agreed);
        }
}

/* ---- What they cannot bear ---- */

static void one_dead_process_ends_every_election(void **state)
{
    each_ring_of(classics)
    {
        play("%s; " LECTURE_RING "; crash 5@0; detect 1; initiator all@1", *ring);
        violated(EL_NO_LEADER);
    }
}

static void a_dead_leader_stays_elected_although_all_know(void **state)
{
    each_ring_of(classics)
    {
        play("%s; " LECTURE_RING "; leader 80; crash 80@0; detect 1; initiator none", *ring);
        violated(EL_DEAD_LEADER);
        ended_on(80);
    }
}

static void tokens_that_overtake_each_other_make_lelann_decide_too_early(void **state)
{
    bool seen = false;
    for (unsigned seed = 0; seed < 64 && !seen; seed++) {
        play("lelann; nodes 5; seed %u; reorder 0.3; initiator all; until 200", seed);
        seen = bench.result->violation_kinds & EL_TWO_LEADERS;
    }
    assert_true(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_calls_it_is_the_best_and_costs_the_same),
        cmocka_unit_test(elections_called_at_any_time_over_slow_and_fast_links_end_well),
        cmocka_unit_test(a_second_election_costs_as_much_as_the_first),
        cmocka_unit_test(lelann_costs_a_lap_for_each_member_and_no_announcement),
        cmocka_unit_test(probes_and_replies_cost_what_their_reach_says_and_less_than_8n_a_phase),
        cmocka_unit_test(probing_the_ring_of_the_lectures_costs_64),
        cmocka_unit_test(probes_need_no_order_and_bear_copies),
        cmocka_unit_test(phases_cost_2n_and_the_last_claim_a_lap),
        cmocka_unit_test(the_schedule_does_not_matter_to_phases),
        cmocka_unit_test(phases_on_the_ring_of_the_lectures_cost_30),
        cmocka_unit_test(two_without_a_name_need_7_tokens_on_average),
        cmocka_unit_test(six_without_a_name_need_about_23_tokens_and_any_of_them_may_win),
        cmocka_unit_test(ranks_and_ids_mean_nothing_on_an_anonymous_ring),
        cmocka_unit_test(the_anonymous_ring_ends_whoever_calls),
        cmocka_unit_test(one_dead_process_ends_every_election),
        cmocka_unit_test(a_dead_leader_stays_elected_although_all_know),
        cmocka_unit_test(tokens_that_overtake_each_other_make_lelann_decide_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
