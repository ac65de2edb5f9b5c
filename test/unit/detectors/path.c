/* The timeout-free heartbeat: node 2 of five, then crowds with broken links, and what it costs. */
#include "lib/node/crowd.h"
#include "lib/node/node.h"

static void sit_among(uint32_t count, el_node self, uint64_t neighbours)
{
    sit_down(el_detector_named("path"), count, self);
    option("interval", 1000);
    option("neighbours", neighbours);
    option("lag", 3);
    starts();
}

/* ---- Neighbours ---- */

static void beats_to_the_nearest_on_either_side(void **state)
{
    sit_among(5, 2, 1);
    did("arm beat 1000; send 1,3 Heartbeat 2 {2}");
    times_out("beat");
    did("arm beat 1000; send 1,3 Heartbeat 2 {2}");
    sit_among(7, 1, 2);
    did("arm beat 1000; send 2,3,6,7 Heartbeat 1 {1}");
    sit_among(4, 4, 2); /* both ways round to the same member: told once */
    did("arm beat 1000; send 1,2,3 Heartbeat 4 {4}");
    sit_among(5, 2, UINT64_MAX);
    did("arm beat 1000; send 1,3,4,5 Heartbeat 2 {2}");
    sit_among(2, 1, 1);
    did("arm beat 1000; send 2 Heartbeat 1 {1}");
    sit_among(1, 1, 1);
    did("arm beat 1000");
}

static void has_fewer_neighbours_where_more_would_be_a_flood(void **state)
{
    sit_among(8, 4, 0);
    did("arm beat 1000; send 2,3,5,6 Heartbeat 4 {4}");
    sit_among(9, 4, 0);
    did("arm beat 1000; send 3,5 Heartbeat 4 {4}");
    sit_among(64, 64, 0);
    did("arm beat 1000; send 1,63 Heartbeat 64 {64}");
}

static void no_interval_overflows(void **state)
{
    sit_down(el_detector_named("path"), 2, 1);
    option("interval", UINT64_MAX);
    starts();
    did("arm beat 9007199254740992; send 2 Heartbeat 1 {1}");
}

/* ---- Paths ---- */

static void passes_a_beat_on_to_those_it_has_not_been_to(void **state)
{
    sit_among(5, 2, 2);
    hears(3, "Heartbeat 4 {3,4}");
    did("send 1,5 Heartbeat 4 {2,3,4}");
    hears(5, "Heartbeat 4 {1,3,4,5}");
    did("");
}

static void drops_what_has_been_here(void **state)
{
    sit_among(5, 2, 2);
    hears(3, "Heartbeat 4 {2,3,4}");
    did("note came-back 3");
}

static void believes_in_members_only(void **state)
{
    sit_among(3, 2, 1);
    hears(3, "Heartbeat 3 {1,3,7,64}");
    did("");
    hears(3, "Heartbeat 3"); /* whoever sends it is on the path */
    did("send 1 Heartbeat 3 {2,3}");
}

/* ---- Verdicts ---- */

static void suspects_whose_counter_stands_still_while_others_grow(void **state)
{
    sit_among(4, 1, 1);
    hears(4, "Heartbeat 3 {3,4}");
    hears(2, "Heartbeat 2 {2}");
    hears(4, "Heartbeat 4 {4}");
    for (int round = 1; round < 3; round++) { /* 3 is not heard of any more */
        hears(2, "Heartbeat 2 {2}");
        did("send 4 Heartbeat 2 {1,2}");
        hears(4, "Heartbeat 4 {4}");
        did("send 2 Heartbeat 4 {1,4}");
    }
    hears(2, "Heartbeat 2 {2}");
    did("note accuses 3 1; accuse 3; send 4 Heartbeat 2 {1,2}");
    hears(2, "Heartbeat 2 {2}");
    did("send 4 Heartbeat 2 {1,2}");
    hears(4, "Heartbeat 3 {3,4}");
    did("note returns 3; clear 3; send 2 Heartbeat 3 {1,3,4}");
}

static void copies_of_a_beat_make_no_round(void **state)
{
    sit_among(4, 1, 2);
    for (int i = 0; i < 50; i++) hears(2, "Heartbeat 3 {2,3}");
    for (int i = 0; i < 50; i++) hears(3, "Heartbeat 2 {2,3}");
    did("send 4 Heartbeat 2 {1,2,3}"); /* 4 was never heard of, but who knows how long that was */
}

static void the_slower_are_not_behind(void **state)
{
    sit_among(4, 1, 2);
    for (int i = 0; i < 20; i++) { /* 2 beats twice as fast as 3 and 4 */
        hears(2, "Heartbeat 2 {2}");
        hears(2, "Heartbeat 2 {2}");
        hears(3, "Heartbeat 3 {3}");
        did("send 2,4 Heartbeat 3 {1,3}");
        hears(4, "Heartbeat 4 {4}");
        did("send 2,3 Heartbeat 4 {1,4}");
    }
}

static void a_lag_of_one_would_accuse_the_living(void **state)
{
    sit_among(3, 1, 1);
    option("lag", 0);
    for (int i = 0; i < 5; i++) {
        hears(2, "Heartbeat 2 {2}");
        did("send 3 Heartbeat 2 {1,2}");
        hears(3, "Heartbeat 3 {3}");
        did("send 2 Heartbeat 3 {1,3}");
    }
    hears(3, "Heartbeat 3 {3}");
    hears(3, "Heartbeat 3 {3}");
    did("note accuses 2 5; accuse 2; send 2 Heartbeat 3 {1,3}");
}

static void of_two_neither_can_suspect_the_other(void **state)
{
    sit_among(2, 1, 1);
    for (int i = 0; i < 50; i++) times_out("beat");
    did("arm beat 1000; send 2 Heartbeat 1 {1}");
}

/* ---- A crowd ---- */

static void crowd_of(uint32_t count, uint64_t neighbours)
{
    gather("path", count);
    crowd_option("interval", SECOND);
    crowd_option("neighbours", neighbours);
    crowd_option("lag", 5);
    all_start();
}

static void all_live_and_nobody_is_suspected(void **state)
{
    for (uint32_t count = 2; count <= 8; count++) {
        crowd_of(count, 0);
        live(20 * SECOND);
        assert_int_equal(crowd.accusations, 0);
    }
}

static void a_crash_is_noticed_by_all_and_forgotten_when_it_is_over(void **state)
{
    crowd_of(6, 1);
    live(10 * SECOND);
    kills(3);
    live(10 * SECOND);
    assert_string_equal(suspicions(), "1:3 2:3 4:3 5:3 6:3");
    revives(3);
    live(2 * SECOND);
    assert_string_equal(suspicions(), "");
}

/* On a full mesh, 1 and 4 cannot reach each other, nor can 2 be heard by 3: nobody minds. */
static void broken_links_are_gone_around(void **state)
{
    crowd_of(5, 4);
    parts(1, 4, true);
    cuts(2, 3, true);
    live(40 * SECOND);
    assert_int_equal(crowd.accusations, 0);
    kills(2);
    live(10 * SECOND);
    assert_string_equal(suspicions(), "1:2 3:2 4:2 5:2");
}

static void one_broken_link_of_a_ring_is_gone_around(void **state)
{
    crowd_of(6, 1);
    parts(1, 2, true);
    live(40 * SECOND);
    assert_int_equal(crowd.accusations, 0);
    parts(4, 5, true); /* now it is two arcs, 2..4 and 5..1 */
    live(10 * SECOND);
    assert_string_equal(suspicions(),
                        "1:2 1:3 1:4 2:1 2:5 2:6 3:1 3:5 3:6 4:1 4:5 4:6 5:2 5:3 5:4 6:2 6:3 6:4");
}

/* There are no timeouts that a delay could exceed. */
static void no_delay_is_too_long(void **state)
{
    crowd_of(4, 3);
    live(20 * SECOND);
    crowd.delay = 7 * SECOND;
    live(100 * SECOND);
    assert_int_equal(crowd.accusations, 0);
}

/* Beats of the far take more hops. If all grow slow at once, those come late, until they come steadily again. */
static void the_far_seem_to_stop_while_hops_grow_slow(void **state)
{
    crowd_of(6, 1);
    live(20 * SECOND);
    crowd.delay = 7 * SECOND;
    live(12 * SECOND);
    assert_string_equal(suspicions(),
                        "1:3 1:4 1:5 2:4 2:5 2:6 3:1 3:5 3:6 4:1 4:2 4:6 5:1 5:2 5:3 6:2 6:3 6:4");
    live(30 * SECOND);
    assert_string_equal(suspicions(), "");
    const uint64_t accusations = crowd.accusations;
    live(60 * SECOND);
    assert_int_equal(crowd.accusations, accusations);
}

static void cut_off_from_all_it_suspects_nobody(void **state)
{
    crowd_of(4, 2);
    live(10 * SECOND);
    for (el_node peer = 2; peer <= 4; peer++) parts(1, peer, true);
    live(50 * SECOND);
    assert_string_equal(suspicions(), "2:1 3:1 4:1");
}

static uint64_t sends_of_one_beat(uint32_t count, uint64_t neighbours)
{
    crowd_of(count, neighbours);
    live(SECOND - 1);
    assert_int_equal(crowd.sent % count, 0);
    return crowd.sent / count;
}

/* Every path that visits nobody twice: on a mesh the sum of (N-1)! / k! over k < N - 1. */
static void on_a_full_mesh_the_traffic_explodes(void **state)
{
    static const uint64_t mesh[] = {15, 64, 325, 1956}, sparse[] = {15, 64, 132, 264};
    for (uint32_t count = 4; count <= 7; count++) {
        assert_int_equal(sends_of_one_beat(count, 1), 2 * (count - 1));
        assert_int_equal(sends_of_one_beat(count, 2), sparse[count - 4]);
        assert_int_equal(sends_of_one_beat(count, count - 1), mesh[count - 4]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beats_to_the_nearest_on_either_side),
        cmocka_unit_test(has_fewer_neighbours_where_more_would_be_a_flood),
        cmocka_unit_test(no_interval_overflows),
        cmocka_unit_test(passes_a_beat_on_to_those_it_has_not_been_to),
        cmocka_unit_test(drops_what_has_been_here),
        cmocka_unit_test(believes_in_members_only),
        cmocka_unit_test(suspects_whose_counter_stands_still_while_others_grow),
        cmocka_unit_test(copies_of_a_beat_make_no_round),
        cmocka_unit_test(the_slower_are_not_behind),
        cmocka_unit_test(a_lag_of_one_would_accuse_the_living),
        cmocka_unit_test(of_two_neither_can_suspect_the_other),
        cmocka_unit_test(all_live_and_nobody_is_suspected),
        cmocka_unit_test(a_crash_is_noticed_by_all_and_forgotten_when_it_is_over),
        cmocka_unit_test(broken_links_are_gone_around),
        cmocka_unit_test(one_broken_link_of_a_ring_is_gone_around),
        cmocka_unit_test(no_delay_is_too_long),
        cmocka_unit_test(the_far_seem_to_stop_while_hops_grow_slow),
        cmocka_unit_test(cut_off_from_all_it_suspects_nobody),
        cmocka_unit_test(on_a_full_mesh_the_traffic_explodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
