/*
 * Sentences of the documentation of etcd, ZooKeeper and Kubernetes, for every number of candidates up to eight; and what users of
 * their clients have reported, which must not happen here.
 */
#include "lib/sim/bench.h"

static const char *const queues[] = {"etcd-election", "zookeeper-recipe"};
static const char *const all[] = {"etcd-election", "zookeeper-recipe", "kubernetes-lease"};
enum { QUEUES = 2, ALL = 3, CANDIDATES_MAX = 8 };

static void ends_under(el_node leader)
{
    if (!bench.result->agreed || bench.result->leader != leader || bench.result->violation_count)
        bench_fail(__FILE__, __LINE__, "all should follow %u, and follow %u; %u violations", leader,
                   bench.result->leader, bench.result->violation_count);
}

/* "The nodes become leader in the order in which they joined the election." */
static void candidates_lead_in_the_order_of_their_keys(void **state)
{
    for (int i = 0; i < QUEUES; i++)
        for (unsigned n = 1; n <= CANDIDATES_MAX; n++)
            for (unsigned dead = 0; dead < n; dead++) {
                char crashes[200] = "";
                for (unsigned k = 1; k <= dead; k++)
                    snprintf(crashes + strlen(crashes), sizeof crashes - strlen(crashes), "; crash %u@%u", k,
                             3000 * k);
                play("%s; nodes %u%s; until 30000", queues[i], n + 1, crashes);
                ends_under(dead + 1);
            }
}

/* ZooKeeper, Recipes: "when a client is notified that the znode it is watching goes away, it runs a new election": one client. */
static void one_that_leaves_wakes_one(void **state)
{
    for (unsigned n = 2; n <= CANDIDATES_MAX; n++) {
        play("zookeeper-recipe; nodes %u; set observe=off; resign leader@300; until 400", n + 1);
        assert_int_equal(bench.result->sent[bench_kind(__FILE__, __LINE__, "WatchEvent")], 1);
        const uint32_t looks = n; /* each looks once more when its session is proved to live */
        assert_int_equal(bench.result->sent[bench_kind(__FILE__, __LINE__, "GetChildren")], looks + 1);
        play("zookeeper-recipe; nodes %u; set observe=off; set herd=on; resign leader@300; until 400", n + 1);
        assert_int_equal(bench.result->sent[bench_kind(__FILE__, __LINE__, "WatchEvent")], n - 1);
        assert_int_equal(bench.result->sent[bench_kind(__FILE__, __LINE__, "GetChildren")], looks + n - 1);
    }
}

/* ZooKeeper, Programmer's Guide: a session that reconnects within its timeout stays valid; so does its leader. */
static void a_session_that_reconnects_in_time_keeps_its_leader(void **state)
{
    for (int i = 0; i < ALL; i++)
        for (unsigned cut = 300; cut <= 900; cut += 50) {
            /* The last renewal that counts may be a heartbeat and a report old, and the next takes as long. */
            const unsigned length = strcmp(all[i], "zookeeper-recipe") == 0 ? 300 : 500;
            play("%s; nodes 4; leader 1; partition 1|2,3,4@%u..%u; until 5000", all[i], cut, cut + length);
            ends_under(1);
            assert_int_equal(bench.result->leaders_max, 1);
        }
}

/* Curator, CURATOR-202, ghosts: a create or a delete whose answer is lost leaves no node that blocks the queue for ever. */
static void no_lost_answer_leaves_a_node_that_blocks_all(void **state)
{
    for (int i = 0; i < ALL; i++)
        for (el_node victim = 1; victim <= 3; victim++)
            for (unsigned half = 0; half < 20; half++) {
                play("%s; nodes 4; cut 4>%u@%u.%c..%u.%c; until 6000", all[i], victim, half / 2,
                     half % 2 ? '5' : '0', (half + 2) / 2, half % 2 ? '5' : '0');
                if (!bench.result->agreed || bench.result->violation_count)
                    bench_fail(__FILE__, __LINE__, "nobody leads");
                play("%s; nodes 4; leader %u; cut 4>%u@%u..%u; resign leader@300; until 6000", all[i], victim,
                     victim, 290 + half, 320 + half);
                if (!bench.result->agreed || bench.result->violation_count)
                    bench_fail(__FILE__, __LINE__, "nobody leads after a resignation");
            }
}

/* etcd#19597, CURATOR-202: one whose session ended while it waited, or led, stands again by itself, and leads when it is its turn. */
static void one_whose_session_ended_stands_again(void **state)
{
    for (int i = 0; i < ALL; i++) {
        play("%s; nodes 3; leader 1; pause 2@500..4000; crash 1@8000; until 16000", all[i]);
        ends_under(2);
        play("%s; nodes 3; leader 1; partition 2|1,3@500..4000; crash 1@8000; until 16000", all[i]);
        ends_under(2);
        play("%s; nodes 2; leader 1; partition 1|2@500..1350; until 8000", all[i]);
        assert_true(bench.result->agreed && bench.result->leader == 1);
        assert_int_equal(bench.result->violation_kinds, 0);
    }
}

/* etcd, Kubernetes: the revision of a key, and the version of an object, never fall; so each leader's token is the highest so far. */
static void tokens_rise_over_restarts_of_everything(void **state)
{
    for (int i = 0; i < ALL; i++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            play(
                "%s; nodes 4; seed %u; delay 0.5..1; crash 4@%u; restart 4@%u; crash 1@4000; restart 1@%u; crash 4@9000; "
                "wipe 4@%u; until 20000",
                all[i], seed, 400 + 37 * seed, 900 + 91 * seed, 4100 + 150 * seed, 9050 + 77 * seed);
            assert_int_equal(bench.result->violation_kinds & ~(uint32_t)EL_DEMOTED, 0);
        }
}

/* client-go: a release lets another acquire at once; a crash costs a whole lease. */
static void a_release_costs_round_trips_and_a_crash_a_lease(void **state)
{
    play("kubernetes-lease; nodes 4; leader 1; resign leader@500; until 5000");
    assert_true(bench.result->agreed && bench.result->leader == 2);
    assert_in_range(bench.result->turnaround / bench.plan.unit, 1, 10);
    play("kubernetes-lease; nodes 4; leader 1; crash leader@500; until 5000");
    assert_true(bench.result->agreed && bench.result->leader == 2);
    assert_in_range(bench.result->turnaround / bench.plan.unit, 1200, 1800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_lead_in_the_order_of_their_keys),
        cmocka_unit_test(one_that_leaves_wakes_one),
        cmocka_unit_test(a_session_that_reconnects_in_time_keeps_its_leader),
        cmocka_unit_test(no_lost_answer_leaves_a_node_that_blocks_all),
        cmocka_unit_test(one_whose_session_ended_stands_again),
        cmocka_unit_test(tokens_rise_over_restarts_of_everything),
        cmocka_unit_test(a_release_costs_round_trips_and_a_crash_a_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
