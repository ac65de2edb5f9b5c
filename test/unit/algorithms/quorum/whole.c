/* Quorum as a whole: how long each way of losing a leader takes, in message delays, and what it costs. */
#include <stdlib.h>

#include "lib/sim/bench.h"

#include "algorithms/quorum/quorum.h"

enum { PROMISE = 1011 }; /* of 1 s, at a drift of 0.005, in T */

/* When whoever leads at the end took office. */
static sim_time took_office(void)
{
    const el_node leader = sim_world_leading(bench.world);
    assert_int_not_equal(leader, EL_NOBODY);
    return bench.result->ended - sim_world_tenure(bench.world, leader);
}

#define led_after(id, delays) \
    elected(id);              \
    bench_time(__FILE__, __LINE__, "takes office", took_office() - 500 * bench.plan.unit, delays)

static void of_three_a_transfer_takes_one_delay_and_of_five_two(void **state)
{
    for (unsigned n = 2; n <= 5; n++) {
        play("quorum; nodes %u; leader %u; transfer 1@500", n, n);
        led_after(1, n <= 3 ? 1 : 2);
        play("quorum; nodes %u; leader %u; resign leader@500", n, n);
        led_after(n - 1, n <= 3 ? 1 : 2);
    }
}

/* The guardian of the dead tells every member. */
static void an_obituary_takes_one_delay(void **state)
{
    for (unsigned n = 3; n <= 5; n++) {
        char told[256] = "";
        for (unsigned to = 1; to < n; to++)
            snprintf(told + strlen(told), sizeof told - strlen(told), "; fact %u:obituary=%llu@500", to,
                     (unsigned long long)n << 48 | 1);
        play("quorum; nodes %u; leader %u; crash %u@500%s", n, n, n, told);
        led_after(n - 1, 1);
        sent("Obituary", 0);
    }
}

/* Those who were not told keep their promise to the dead, whatever the others know. */
static void an_obituary_told_to_a_minority_changes_nothing(void **state)
{
    play("quorum; nodes 5; leader 5; crash 5@500; fact 1:obituary=%llu@500; fact 2:obituary=%llu@500",
         5ULL << 48 | 1, 5ULL << 48 | 1);
    elected(4);
    assert_true(took_office() - 500 * bench.plan.unit > (PROMISE - 155) * bench.plan.unit);
}

static void without_one_the_promises_must_end(void **state)
{
    for (unsigned n = 3; n <= 7; n++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            play("quorum; nodes %u; leader %u; crash %u@500; seed %u", n, n, n, seed);
            elected(n - 1);
            const sim_time waited = took_office() - 500 * bench.plan.unit;
            assert_true(waited > (PROMISE - 155) * bench.plan.unit); /* the last beat was so long ago at most */
            assert_true(waited <= (PROMISE + 3) * bench.plan.unit);
        }
}

static void a_minority_that_restarts_changes_nothing(void **state)
{
    play("quorum; nodes 5; leader 5; crash 1@500; restart 1@520; crash 2@900; restart 2@930");
    elected(5);
    assert_true(took_office() == 0);
    sent("Release", 0);
}

static void after_all_have_restarted_terms_go_on_rising(void **state)
{
    for (unsigned n = 1; n <= 5; n++) {
        char deaths[400] = "";
        for (unsigned id = 1; id <= n; id++)
            snprintf(deaths + strlen(deaths), sizeof deaths - strlen(deaths),
                     "; crash %u@500; restart %u@510; crash %u@3000; wipe %u@3001", id, id, id, id);
        play("quorum; nodes %u%s", n, deaths);
        elected(n);
        assert_true(took_office() <= (3001 + PROMISE + 60) * bench.plan.unit);
    }
}

/* Its lives are long enough to be promised something; the short ones too short for what the first one was promised to
 * end, in the long ones that ends, and it could ask for it again. */
static void a_leader_that_dies_again_and_again_does_not_keep_its_group(void **state)
{
    static const unsigned ways[][2] = {{450, 50}, {1300, 300}};
    for (unsigned way = 0; way < 2; way++) {
        char deaths[400] = "";
        for (unsigned at = 500; at < 5000; at += ways[way][0])
            snprintf(deaths + strlen(deaths), sizeof deaths - strlen(deaths), "; crash 3@%u; restart 3@%u", at,
                     at + ways[way][1]);
        play("quorum; nodes 3; leader 3%s", deaths);
        elected(2);
        assert_true(took_office() <= (500 + PROMISE + 3) * bench.plan.unit); /* as soon as it may */
    }
}

/* The first lacked a link for the tenth of a second in which only one had met the leader's new life; the second all of them,
 * for longer than a lease. Before, both waited for a quarter of ten minutes at least. */
static void where_leases_are_long_links_that_were_missing_are_waited_for_and_not_time(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play("quorum; nodes 3; ordinary 1; leader 3; set lease=600s; crash 3@600; restart 3@610; "
             "cut 3>1@600..700; cut 3>2@611..700; fact 1:obituary=%llu@1000; fact 2:obituary=%llu@1000; "
             "until 3000; seed %u",
             3ULL << 48 | 1, 3ULL << 48 | 1, seed);
        assert_int_equal(sim_world_leading(bench.world), 2);
        assert_true(took_office() <= 1250 * bench.plan.unit);
        play("quorum; nodes 3; leader 3; set lease=600s; set beat=5s; set re-ask=30s; crash 3@100000; "
             "partition 1|2@200000..900000; until 960000; seed %u",
             seed);
        assert_int_equal(sim_world_leading(bench.world), 2);
        assert_true(took_office() >= 900000 * bench.plan.unit);
        assert_true(took_office() <= 910000 * bench.plan.unit); /* two beats */
    }
}

static void who_is_cut_off_for_an_hour_disturbs_nobody(void **state)
{
    play("quorum; nodes 5; leader 3; partition 5|1,2,3,4@100..3600100");
    elected(3);
    assert_true(took_office() == 0);
    assert_true(bench.result->sent[QUORUM_VOTE] < 60); /* it stood once, until its links were gone */
}

static void a_better_one_that_is_back_leads_only_where_pre_emption_is_on(void **state)
{
    play("quorum; nodes 3; leader 2");
    elected(2);
    play("quorum; nodes 3; leader 2; set preempt=on");
    ended_on(3);
}

/* Its own beat renews it, and after a pause was due before the end of the claim: it must not come first. */
static void who_is_alone_and_stands_still_for_too_long_leads_in_a_new_term(void **state)
{
    play("quorum; nodes 1; pause 1@600..2000");
    elected(1);
    assert_true(took_office() > 2000 * bench.plan.unit);
}

static void observers_are_told_and_never_counted(void **state)
{
    play("quorum; nodes 5; set observers=4,5; crash 1@500");
    elected(3);
    play("quorum; nodes 5; set observers=4,5; crash 1@500; crash 2@1500");
    assert_int_equal(bench.result->violation_kinds, 0);
    assert_int_equal(sim_world_leading(bench.world), EL_NOBODY); /* one voter of three is left */
}

static void a_witness_makes_two_into_a_majority(void **state)
{
    play("quorum; nodes 3; ordinary 2; leader 3; crash 3@500");
    elected(1);
    play("quorum; nodes 2; leader 2; crash 2@500");
    assert_int_equal(bench.result->violation_kinds, 0);
    assert_int_equal(sim_world_leading(bench.world), EL_NOBODY);
}

static void a_steady_leader_costs_a_beat_and_its_answer_for_each_pair(void **state)
{
    play("quorum; nodes 5; leader 5; until 9999");
    sent("Beat", 67 * 20);
    sent("Ack", 67 * 20);
    sent_in_all(2 * 67 * 20);
}

/* The heart of it, on the clocks' worst side: the holder's slow, the voters' fast, both at the bound. */
static void leases_do_not_overlap_at_the_edge_of_the_bound_and_do_beyond(void **state)
{
    unsigned overlaps = 0;
    for (unsigned seed = 1; seed <= 60; seed++) {
        play("quorum; nodes 3; leader 1; clock 1=0.995,2=1.005,3=1.005; partition 1|2,3@%u; seed %u",
             500 + seed * 3, seed);
        assert_int_equal(bench.result->leaders_max, 1);
        play("quorum; nodes 3; leader 1; clock 1=0.9,2=1.1,3=1.1; partition 1|2,3@%u; seed %u", 500 + seed * 3,
             seed);
        overlaps += bench.result->leaders_max > 1;
    }
    assert_true(overlaps > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_three_a_transfer_takes_one_delay_and_of_five_two),
        cmocka_unit_test(an_obituary_takes_one_delay),
        cmocka_unit_test(an_obituary_told_to_a_minority_changes_nothing),
        cmocka_unit_test(without_one_the_promises_must_end),
        cmocka_unit_test(a_minority_that_restarts_changes_nothing),
        cmocka_unit_test(after_all_have_restarted_terms_go_on_rising),
        cmocka_unit_test(a_leader_that_dies_again_and_again_does_not_keep_its_group),
        cmocka_unit_test(where_leases_are_long_links_that_were_missing_are_waited_for_and_not_time),
        cmocka_unit_test(who_is_cut_off_for_an_hour_disturbs_nobody),
        cmocka_unit_test(a_better_one_that_is_back_leads_only_where_pre_emption_is_on),
        cmocka_unit_test(who_is_alone_and_stands_still_for_too_long_leads_in_a_new_term),
        cmocka_unit_test(observers_are_told_and_never_counted),
        cmocka_unit_test(a_witness_makes_two_into_a_majority),
        cmocka_unit_test(a_steady_leader_costs_a_beat_and_its_answer_for_each_pair),
        cmocka_unit_test(leases_do_not_overlap_at_the_edge_of_the_bound_and_do_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
