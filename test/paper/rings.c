/*
 * The rings that pass claims on: ring-basic, chang-roberts and ring-initiator. N members, of which M live; one
 * initiator stands d hops before the maximum.
 *
 * Chang and Roberts, An improved algorithm for decentralized extrema-finding in circular configurations of
 * processes, CACM 22(5), 1979; Coulouris et al., Distributed Systems, section 15.3.5; Tanenbaum and van Steen,
 * Distributed Systems, the ring algorithm; Petrov, Database Internals, chapter 10.
 */
#include "lib/sim/rings.h"

/* ---- One initiator ---- */

/* Position 0..n-1 of a number. */
static unsigned place_of(const unsigned *numbers, unsigned n, unsigned number)
{
    unsigned place = 0;
    while (place < n - 1 && numbers[place] != number) place++;
    return place;
}

static void one_initiator_costs_d_plus_2n_messages_and_as_much_time(void **state)
{
    each_ring_of(of_claims) for (unsigned n = 2; n <= MANY; n++) for (unsigned caller = 1; caller <= n;
                                                                      caller++)
    {
        const unsigned d = n - caller;
        play("%s; nodes %u; initiator %u", *ring, n, caller);
        sent("Election", d + n);
        sent("Elected", n);
        took(d + 2 * n);
        elected(n);
    }
}

static void the_order_of_the_others_does_not_matter_to_one_initiator(void **state)
{
    struct sim_random dice;
    unsigned ids[MANY];
    sim_random_seed(&dice, 1, 0);
    each_ring_of(of_claims) for (unsigned n = 2; n <= MANY; n++) for (unsigned place = 0; place < n; place++)
    {
        shuffle(&dice, ids, n);
        const unsigned d = (place_of(ids, n, n) + n - place) % n;
        play("%s; ids %s; initiator %u", *ring, list(ids, n, ""), ids[place]);
        sent("Election", d + n);
        sent("Elected", n);
        took(d + 2 * n);
        elected(n);
    }
}

static void the_worst_initiator_is_the_successor_of_the_maximum_with_3n_minus_1(void **state)
{
    each_ring_of(of_claims) for (unsigned n = 2; n <= MANY; n++)
    {
        play("%s; nodes %u; initiator 1", *ring, n);
        sent_in_all(3 * n - 1);
        took(3 * n - 1);
        elected(n);
    }
}

static void the_best_initiator_is_the_maximum_with_2n(void **state)
{
    each_ring_of(of_claims) for (unsigned n = 2; n <= MANY; n++)
    {
        play("%s; nodes %u; initiator %u", *ring, n, n);
        sent_in_all(2 * n);
        took(2 * n);
        elected(n);
    }
}

/* ---- The basic ring with many initiators ---- */

static void basic_elections_run_side_by_side_and_each_costs_its_own(void **state)
{
    unsigned callers[32];
    for (unsigned n = 2; n <= SOME / 2; n++)
        for (unsigned set = 1; set < 1u << n; set++) {
            const unsigned j = members_of(set, callers), d_max = n - callers[0];
            unsigned cost = 0;
            for (unsigned i = 0; i < j; i++) cost += (n - callers[i]) + 2 * n;
            play("ring-basic; nodes %u; initiator %s", n, list(callers, j, ""));
            sent_in_all(cost);
            sent("Elected", j * n);
            took(d_max + 2 * n);
            elected(n);
        }
}

static void the_cost_of_basic_elections_adds_up_at_any_time(void **state)
{
    struct sim_random dice;
    sim_random_seed(&dice, 2, 0);
    for (unsigned n = 2; n <= MANY; n++) {
        char starts[BENCH_TEXT / 4] = "";
        size_t used = 0;
        unsigned cost = 0;
        for (unsigned caller = 1; caller <= n; caller += 1 + below(&dice, 3)) {
            const unsigned at = below(&dice, 4 * n);
            used +=
                (size_t)snprintf(starts + used, sizeof starts - used, "%s%u@%u", used ? "," : "", caller, at);
            cost += (n - caller) + 2 * n;
        }
        play("ring-basic; nodes %u; initiator %s", n, starts);
        sent_in_all(cost);
        elected(n);
    }
}

/* ---- Chang and Roberts: all at once ---- */

static void all_at_once_on_an_ascending_ring_cost_3n_minus_1(void **state)
{
    for (unsigned n = 2; n <= MANY; n++) {
        play("chang-roberts; nodes %u; initiator all", n);
        sent("Election", 2 * n - 1);
        sent("Elected", n);
        took(2 * n);
        elected(n);
    }
}

static void all_at_once_on_a_descending_ring_cost_n_times_n_plus_3_by_2(void **state)
{
    unsigned ids[MANY];
    for (unsigned n = 2; n <= MANY; n++) {
        for (unsigned i = 0; i < n; i++) ids[i] = n - i;
        play("chang-roberts; ids %s; initiator all", list(ids, n, ""));
        sent("Election", n * (n + 1) / 2);
        sent_in_all(n * (n + 3) / 2);
        took(2 * n);
        elected(n);
    }
}

/* Each claim travels until it meets a greater one; the greatest travels once around. */
static unsigned hops_of_all_claims(const unsigned *ids, unsigned n)
{
    unsigned hops = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned k = 1;
        while (k < n && ids[(i + k) % n] < ids[i]) k++;
        hops += k;
    }
    return hops;
}

static void all_at_once_take_2n_on_any_ring_and_each_claim_dies_at_the_next_greater(void **state)
{
    struct sim_random dice;
    unsigned ids[MANY];
    sim_random_seed(&dice, 3, 0);
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned round = 0; round < SOME; round++) {
            shuffle(&dice, ids, n);
            play("chang-roberts; ids %s; initiator all", list(ids, n, ""));
            sent("Election", hops_of_all_claims(ids, n));
            sent("Elected", n);
            took(2 * n);
            elected(n);
        }
}

static void the_mean_over_all_rings_is_exactly_n_times_the_harmonic_number(void **state)
{
    unsigned ids[FEW];
    for (unsigned n = 2; n <= FEW; n++) {
        uint64_t total = 0, factorial = 1, expected = 0;
        for (unsigned i = 0; i < n; i++) {
            ids[i] = i + 1;
            factorial *= i + 1;
        }
        do {
            play("chang-roberts; ids %s; initiator all", list(ids, n, ""));
            elected(n);
            took(2 * n);
            total += bench.result->sent[1];
        } while (permute(ids, n));
        for (unsigned i = 1; i <= n; i++) expected += factorial / i * n; /* n! n H_n */
        assert_int_equal(total, expected);
    }
}

static void the_mean_over_many_large_rings_is_close_to_n_times_the_harmonic_number(void **state)
{
    enum { RINGS = 500 };
    struct sim_random dice;
    unsigned ids[MANY];
    sim_random_seed(&dice, 4, 0);
    for (unsigned n = MANY / 4; n <= MANY; n *= 2) {
        double harmonic = 0, mean = 0;
        for (unsigned i = 1; i <= n; i++) harmonic += 1.0 / i;
        for (unsigned i = 0; i < RINGS; i++) {
            shuffle(&dice, ids, n);
            play("chang-roberts; ids %s; initiator all", list(ids, n, ""));
            elected(n);
            mean += (double)bench.result->sent[1] / RINGS;
        }
        assert_true(mean > 0.97 * n * harmonic && mean < 1.03 * n * harmonic);
    }
}

static void one_lost_message_ends_every_election_since_the_flags_stay_set(void **state)
{
    for (unsigned n = 2; n <= MANY; n++) {
        play("chang-roberts; nodes %u; loss 1; initiator 1@0,1@10,1@20", n);
        sent_in_all(1);
        violated(EL_NO_LEADER);
    }
}

/* ---- Many initiators and repeated elections ---- */

/* Every node comes to name this leader once, and never another. */
static void everybody_learned_once(unsigned leader)
{
    unsigned learned[MANY + 1] = {0};
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_VIEWED || r->peer == EL_NOBODY) continue;
        assert_int_equal(bench_id(r->peer), leader);
        learned[r->node]++;
    }
    for (unsigned node = 1; node <= bench.plan.cluster.count; node++)
        if (learned[node] != 1)
            bench_fail(__FILE__, __LINE__, "node %u learned who leads %u times", node, learned[node]);
}

static void of_two_overlapping_elections_one_lap_of_news_completes(void **state)
{
    for (unsigned n = 2; n <= SOME; n++)
        for (unsigned first = 1; first <= n; first++)
            for (unsigned second = 1; second <= n; second++)
                for (unsigned later = 0; later < n && second != first; later++) {
                    play_and_record("ring-initiator; nodes %u; initiator %u,%u@%u", n, first, second, later);
                    sent("Elected", n);
                    everybody_learned_once(n);
                    elected(n);
                }
}

static void of_overlapping_elections_by_all_one_lap_of_news_completes(void **state)
{
    struct sim_random dice;
    unsigned ids[MANY];
    sim_random_seed(&dice, 5, 0);
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned round = 0; round < SOME; round++) {
            char starts[BENCH_TEXT / 4] = "";
            size_t used = 0;
            shuffle(&dice, ids, n);
            for (unsigned i = 0; i < n; i++)
                used += (size_t)snprintf(starts + used, sizeof starts - used, "%s%u@%u", i ? "," : "", i + 1,
                                         round == 0 ? 0 : below(&dice, n));
            play_and_record("ring-initiator; ids %s; initiator %s", list(ids, n, ""), starts);
            sent("Elected", n);
            everybody_learned_once(n);
            elected(n);
        }
}

static void a_later_election_by_anybody_completes_as_the_first_did(void **state)
{
    each_ring_of(of_claims) for (unsigned n = 2; n <= MANY; n++) for (unsigned second = 1; second <= n;
                                                                      second++)
    {
        const unsigned first = 1 + 7 * second % n;
        play("%s; nodes %u; initiator %u,%u@%u", *ring, n, first, second, 3 * n);
        last_sent_in_all((n - second) + 2 * n);
        last_took((n - second) + 2 * n);
        elected(n);
    }
}

/* A cache of initiators alone, without a run number, would block every election after the highest's. */
static void the_highest_initiator_may_die_unnoticed_and_the_others_still_elect(void **state)
{
    for (unsigned n = 3; n <= MANY; n++)
        for (unsigned second = 1; second < n; second++) {
            const unsigned m = n - 1, d = m - second;
            play("ring-initiator; nodes %u; initiator %u,%u@%u; crash %u@%u", n, n, second, 4 * n, n, 3 * n);
            last_sent_in_all(d + 2 * m);
            elected(m);
        }
}

/* ---- The ring of the lectures ---- */

static void claims_of_n3_grow_to_80_on_the_ring_of_the_lectures(void **state)
{
    static const unsigned claims[] = {3, 32, 32, 80, 80, 80, 80, 80, 80};
    each_ring_of(of_claims)
    {
        play_and_record("%s; " LECTURE_RING "; initiator 3", *ring);
        const struct sim_trace *trace = sim_world_trace(bench.world);
        unsigned hop = 0;
        for (uint64_t i = 1; i <= trace->count; i++) {
            const struct sim_record *r = sim_trace_at(trace, i);
            if (r->what == SIM_SENT && r->kind == 1) assert_int_equal(bench_id(r->subject), claims[hop++]);
        }
        sent("Election", 9);
        sent("Elected", 6);
        took(15);
        elected(80);
    }
}

static void n6_is_the_worst_and_n80_the_best_to_start_on_the_ring_of_the_lectures(void **state)
{
    each_ring_of(of_claims)
    {
        play("%s; " LECTURE_RING "; initiator 6", *ring);
        sent_in_all(17);
        elected(80);
        play("%s; " LECTURE_RING "; initiator 80", *ring);
        sent_in_all(12);
        elected(80);
    }
}

static void all_six_start_on_the_ring_of_the_lectures(void **state)
{
    play("chang-roberts; " LECTURE_RING "; initiator all");
    sent("Election", 13);
    sent("Elected", 6);
    took(12);
    elected(80);
    play("chang-roberts; ids 3,5,6,12,32,80; initiator all");
    sent_in_all(17);
    elected(80);
    play("chang-roberts; ids 80,32,12,6,5,3; initiator all");
    sent_in_all(27);
    elected(80);
}

static void two_start_on_the_ring_of_the_lectures(void **state)
{
    play("ring-basic; " LECTURE_RING "; initiator 3,6");
    sent_in_all(32);
    sent("Elected", 12);
    elected(80);
    play("chang-roberts; " LECTURE_RING "; initiator 3,6");
    sent_in_all(18);
    elected(80);
}

static void a_claim_whose_owner_died_circulates_for_ever(void **state)
{
    play("ring-basic; " LECTURE_RING "; initiator 3; crash 80@3.5");
    violated(EL_ENDLESS);
    play("chang-roberts; " LECTURE_RING "; initiator 3; crash 80@3.5");
    violated(EL_ENDLESS | EL_NO_LEADER);
}

static void behind_a_claim_that_circulates_later_elections_are_swallowed(void **state)
{
    play("chang-roberts; " LECTURE_RING "; initiator 3; crash 80@3.5; until 100");
    const unsigned alone = (unsigned)bench.result->sent[0];
    play("chang-roberts; " LECTURE_RING "; initiator 3,12@50,6@60,32@70; crash 80@3.5; until 100");
    sent_in_all(alone);
    violated(EL_NO_LEADER);
}

static void a_detector_or_a_claim_seen_twice_ends_the_circling(void **state)
{
    each_ring_of(of_claims)
    {
        play("%s; " LECTURE_RING "; initiator 3; crash 80@3.5; detect 4", *ring);
        elected(32);
    }
    play("ring-initiator; " LECTURE_RING "; initiator 3; crash 80@3.5");
    noted("seen-twice");
    elected(32);
}

static void n80_finishes_as_initiator_and_dies_and_n3_is_not_blocked(void **state)
{
    play("ring-initiator; " LECTURE_RING "; initiator 80,3@30; crash 80@20");
    elected(32);
    play("ring-initiator; " LECTURE_RING "; initiator 80,3@30; crash 80@20; detect 1; miss all:80");
    elected(32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_initiator_costs_d_plus_2n_messages_and_as_much_time),
        cmocka_unit_test(the_order_of_the_others_does_not_matter_to_one_initiator),
        cmocka_unit_test(the_worst_initiator_is_the_successor_of_the_maximum_with_3n_minus_1),
        cmocka_unit_test(the_best_initiator_is_the_maximum_with_2n),
        cmocka_unit_test(basic_elections_run_side_by_side_and_each_costs_its_own),
        cmocka_unit_test(the_cost_of_basic_elections_adds_up_at_any_time),
        cmocka_unit_test(all_at_once_on_an_ascending_ring_cost_3n_minus_1),
        cmocka_unit_test(all_at_once_on_a_descending_ring_cost_n_times_n_plus_3_by_2),
        cmocka_unit_test(all_at_once_take_2n_on_any_ring_and_each_claim_dies_at_the_next_greater),
        cmocka_unit_test(the_mean_over_all_rings_is_exactly_n_times_the_harmonic_number),
        cmocka_unit_test(the_mean_over_many_large_rings_is_close_to_n_times_the_harmonic_number),
        cmocka_unit_test(one_lost_message_ends_every_election_since_the_flags_stay_set),
        cmocka_unit_test(of_two_overlapping_elections_one_lap_of_news_completes),
        cmocka_unit_test(of_overlapping_elections_by_all_one_lap_of_news_completes),
        cmocka_unit_test(a_later_election_by_anybody_completes_as_the_first_did),
        cmocka_unit_test(the_highest_initiator_may_die_unnoticed_and_the_others_still_elect),
        cmocka_unit_test(claims_of_n3_grow_to_80_on_the_ring_of_the_lectures),
        cmocka_unit_test(n6_is_the_worst_and_n80_the_best_to_start_on_the_ring_of_the_lectures),
        cmocka_unit_test(all_six_start_on_the_ring_of_the_lectures),
        cmocka_unit_test(two_start_on_the_ring_of_the_lectures),
        cmocka_unit_test(a_claim_whose_owner_died_circulates_for_ever),
        cmocka_unit_test(behind_a_claim_that_circulates_later_elections_are_swallowed),
        cmocka_unit_test(a_detector_or_a_claim_seen_twice_ends_the_circling),
        cmocka_unit_test(n80_finishes_as_initiator_and_dies_and_n3_is_not_blocked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
