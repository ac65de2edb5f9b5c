/* What was delivered is not delivered again: the window, and packets out of order, sealed and plain. */
#include "lib/host/seal_bench.h"

static void each_counter_is_accepted_once(void **state)
{
    static struct replay_window r;
    assert_true(replay_window_accept(&r, 0));
    assert_false(replay_window_accept(&r, 0));
    assert_true(replay_window_accept(&r, 5));
    for (uint64_t i = 1; i < 5; i++) assert_true(replay_window_accept(&r, i));
    for (uint64_t i = 0; i <= 5; i++) assert_false(replay_window_accept(&r, i));
}

static void the_window_ends_2047_behind(void **state)
{
    for (uint64_t high = 3000; high < 3200; high++) { /* wherever in a word */
        struct replay_window r = {0};
        assert_true(replay_window_accept(&r, high));
        assert_false(replay_window_accept(&r, high - 2048));
        assert_true(replay_window_accept(&r, high - 2047));
        assert_false(replay_window_accept(&r, high - 2047));
        assert_true(replay_window_accept(&r, high - 2046));
        assert_true(replay_window_accept(&r, high - 1));
    }
}

static void leaps_forget_nothing_and_invent_nothing(void **state)
{
    static const uint64_t leaps[] = {1, 63, 64, 65, 1000, 2047, 2048, 2049, 2111, 2112, 2113, 4224, 100000};
    for (size_t i = 0; i < sizeof leaps / sizeof *leaps; i++) {
        struct replay_window r = {0};
        for (uint64_t c = 10000; c < 12048; c++) assert_true(replay_window_accept(&r, c));
        const uint64_t high = 12047 + leaps[i];
        assert_true(replay_window_accept(&r, high));
        for (uint64_t c = high - 2047; c < high; c++) assert_int_equal(replay_window_accept(&r, c), c > 12047);
    }
}

/* Against a plain list of what was seen. */
static void agrees_with_a_list(void **state)
{
    static bool seen[20000];
    struct replay_window r = {0};
    uint64_t high = 0, dice = 1;
    for (unsigned i = 0; i < 200000; i++) {
        dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t back = (dice >> 33) % 2200, next = high + (dice >> 60 == 0 ? 80 : 1);
        const uint64_t c = dice >> 58 & 1 || back > next ? next : next - back;
        if (c >= 20000) break;
        const bool right = !seen[c] && (c >= high || high - c < 2048);
        assert_int_equal(replay_window_accept(&r, c), right);
        if (right) seen[c] = true;
        if (c > high) high = c;
    }
    assert_true(high > 10000);
}

static void the_last_counters_are_no_trap(void **state)
{
    struct replay_window r = {0};
    assert_false(replay_window_accept(&r, UINT64_MAX));
    assert_true(replay_window_accept(&r, UINT64_MAX - 1));
    assert_false(replay_window_accept(&r, UINT64_MAX - 1));
    assert_true(replay_window_accept(&r, UINT64_MAX - 2));
    assert_false(replay_window_accept(&r, 0));
}

static void packets_arrive_in_any_order_and_once(void **state)
{
    connect_both();
    for (unsigned i = 0; i < 50; i++) say(1, 2, "x");
    static struct packet kept[50];
    for (unsigned i = 0; i < 50; i++) kept[i] = take(0);
    deliveries = 0;
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 50; i++) hand_over(&kept[i * 7 % 50]);
    assert_int_equal(deliveries, 50);
    assert_int_equal(stats(2).replayed, 50);
    assert_int_equal(wired, 0);
}

static void a_session_hears_2047_behind_but_not_2048(void **state)
{
    connect_both();
    for (unsigned i = 0; i < 2049; i++) say(1, 2, "x");
    deliveries = 0;
    hand_over(&wire[2048]);
    hand_over(&wire[0]);
    assert_int_equal(deliveries, 1);
    assert_int_equal(stats(2).replayed, 1);
    hand_over(&wire[1]);
    assert_int_equal(deliveries, 2);
    hand_over(&wire[1]);
    assert_int_equal(deliveries, 2);
}

static void what_is_forged_does_not_move_the_window(void **state)
{
    connect_both();
    say(1, 2, "x");
    struct packet far = wire[0];
    el_put(far.bytes + 8, 1000000, 8);
    deliveries = 0;
    hand_over(&far);
    assert_int_equal(stats(2).forged, 1);
    carry();
    assert_int_equal(deliveries, 1);
}

static void start_plain(uint32_t node)
{
    struct seal_config c = config_of(node);
    c.plain = true;
    c.public_keys = NULL;
    c.cluster_key_count = 0;
    start_with(node, &c);
}

static void plain_packets_arrive_once(void **state)
{
    begin();
    start_plain(1);
    start_plain(2);
    assert_false(seal_is_connected(nodes[2], 1));
    say(1, 2, "hello");
    const struct packet first = wire[0];
    carry();
    hand_over(&first);
    was_heard("1>2 hello; ");
    assert_int_equal(stats(2).replayed, 1);
    assert_true(seal_is_connected(nodes[2], 1));
    say(2, 1, "back");
    carry();
    was_heard("2>1 back; ");
    assert_true(seal_tick(nodes[1], now) == UINT64_MAX);
    for (unsigned i = 0; i < 2049; i++) say(1, 2, "x");
    deliveries = 0;
    hand_over(&wire[2048]);
    hand_over(&wire[0]);
    hand_over(&wire[1]);
    assert_int_equal(deliveries, 2);
}

static void plain_packets_of_an_earlier_start_are_dropped(void **state)
{
    begin();
    start_plain(1);
    start_plain(2);
    say(1, 2, "a");
    say(1, 2, "b");
    carry_one();
    const struct packet late = take(0);
    start_plain(1);
    say(1, 2, "c");
    carry();
    hand_over(&late);
    was_heard("1>2 a; 1>2 c; ");
    assert_int_equal(stats(2).replayed, 1);
}

static void plain_rubbish_is_dropped(void **state)
{
    begin();
    start_plain(1);
    start_plain(2);
    say(1, 2, "x");
    const struct packet good = take(0);
    for (size_t i = 0; i < SEAL_PLAIN_HEAD; i++) {
        if (i >= 8 && i < 32) continue; /* another start or count, for all that anybody can tell */
        struct packet bad = good;
        bad.bytes[i] ^= 0x82;
        hand_over(&bad);
    }
    for (size_t size = 0; size < SEAL_PLAIN_HEAD; size++) seal_receive(nodes[2], now, 1, good.bytes, size);
    was_heard("");
    assert_int_equal(dropped(2), 16 + SEAL_PLAIN_HEAD);
    assert_int_equal(wired, 0);
    hand_over(&good);
    was_heard("1>2 x; ");
    struct seal_config other = config_of(1);
    other.plain = true;
    other.cluster_id[0] ^= 1;
    start_with(1, &other);
    say(1, 2, "x");
    carry();
    was_heard("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counter_is_accepted_once),
        cmocka_unit_test(the_window_ends_2047_behind),
        cmocka_unit_test(leaps_forget_nothing_and_invent_nothing),
        cmocka_unit_test(agrees_with_a_list),
        cmocka_unit_test(the_last_counters_are_no_trap),
        cmocka_unit_test(packets_arrive_in_any_order_and_once),
        cmocka_unit_test(a_session_hears_2047_behind_but_not_2048),
        cmocka_unit_test(what_is_forged_does_not_move_the_window),
        cmocka_unit_test(plain_packets_arrive_once),
        cmocka_unit_test(plain_packets_of_an_earlier_start_are_dropped),
        cmocka_unit_test(plain_rubbish_is_dropped),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    finish();
    return failed;
}
