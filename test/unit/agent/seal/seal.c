/* Sealed traffic between nodes that mean well, over a wire that does not. */
#include "lib/host/seal_bench.h"

static void first_payload_arrives_after_a_handshake(void **state)
{
    begin();
    assert_false(seal_is_connected(nodes[1], 2));
    say(1, 2, "hello");
    assert_int_equal(wired, 1);
    assert_int_equal(wire[0].bytes[0], SEAL_INITIATION);
    assert_int_equal(wire[0].size, SEAL_INITIATION_SIZE);
    carry_one();
    assert_false(seal_is_connected(nodes[2], 1)); /* it may have been a replay */
    assert_int_equal(wire[0].bytes[0], SEAL_ANSWER);
    carry();
    was_heard("1>2 hello; ");
    say(2, 1, "back");
    carry();
    was_heard("2>1 back; ");
    for (uint32_t i = 1; i <= 2; i++) {
        assert_int_equal(stats(i).handshakes, 1);
        assert_int_equal(stats(i).sent, 1);
        assert_int_equal(stats(i).received, 1);
        assert_int_equal(dropped(i), 0);
    }
}

/* The host learns where the peer is before it has to answer there. */
static void a_peer_has_proved_itself_before_it_is_answered(void **state)
{
    begin();
    say(1, 2, "hello");
    assert_int_equal(wire[0].bytes[0], SEAL_INITIATION);
    carry_one();
    assert_int_equal(proofs, 1);
    assert_int_equal(wire[0].bytes[0], SEAL_ANSWER);
    assert_int_equal(wire[0].proofs, 1);
    carry_one();
    assert_int_equal(proofs, 2);
    assert_int_equal(wire[0].bytes[0], SEAL_DATA);
    assert_int_equal(wire[0].proofs, 2);
    carry_one();
    assert_int_equal(proofs, 3);
    was_heard("1>2 hello; ");
    finish();
}

static void any_size_arrives_whole(void **state)
{
    connect_both();
    uint8_t payload[SEAL_PAYLOAD_MAX];
    memset(payload, 'x', sizeof payload);
    for (size_t size = 1; size <= sizeof payload; size += size < 10 ? 1 : 571) {
        seal_send(nodes[1], now, 2, payload, size);
        assert_int_equal(wire[0].size, size + SEAL_DATA_SIZE);
        for (size_t i = SEAL_DATA_HEAD; i + 8 <= wire[0].size; i++)
            assert_memory_not_equal(wire[0].bytes + i, "xxxxxxxx", 8);
        carry();
        assert_int_equal(strlen(heard), size + strlen("1>2 ; "));
        heard[0] = 0;
    }
    assert_int_equal(dropped(2), 0);
}

static void a_lost_initiation_is_sent_again(void **state)
{
    begin();
    say(1, 2, "hello");
    (void)take(0);
    pass(249);
    was_heard("");
    pass(1);
    was_heard("1>2 hello; ");
}

static void a_lost_answer_is_asked_for_again(void **state)
{
    begin();
    say(1, 2, "hello");
    carry_one();
    (void)take(0);
    pass(250);
    was_heard("1>2 hello; ");
    say(2, 1, "back");
    carry();
    was_heard("2>1 back; ");
}

static void a_late_answer_to_an_earlier_try_is_of_no_use(void **state)
{
    begin();
    say(1, 2, "hello");
    carry_one();
    const struct packet late = take(0);
    now += 250 * NS_PER_MS;
    tick_all();
    hand_over(&late);
    assert_int_equal(stats(1).strangers, 1);
    carry();
    was_heard("1>2 hello; ");
}

static void a_lost_first_packet_leaves_both_able_to_talk(void **state)
{
    begin();
    say(1, 2, "hello");
    carry_one();
    carry_one();
    assert_int_equal(wire[0].bytes[0], SEAL_DATA);
    (void)take(0);
    assert_false(seal_is_connected(nodes[2], 1));
    say(2, 1, "back"); /* not sealed with what nobody confirmed */
    assert_int_equal(wire[0].bytes[0], SEAL_INITIATION);
    carry();
    was_heard("2>1 back; ");
    say(1, 2, "again");
    carry();
    was_heard("1>2 again; ");
}

static void answered_with_nothing_left_to_say_it_still_confirms(void **state)
{
    begin();
    say(1, 2, "hello");
    now += 2 * NS_PER_S + 1;
    carry();
    was_heard(""); /* too old */
    assert_true(seal_is_connected(nodes[2], 1));
    assert_int_equal(stats(1).sent, 0);
}

static void retries_double_up_to_five_seconds(void **state)
{
    static const uint64_t waits_ms[] = {250, 500, 1000, 2000, 4000, 5000, 5000, 5000};
    begin();
    say(1, 2, "hello");
    for (size_t i = 0; i < sizeof waits_ms / sizeof *waits_ms; i++) {
        assert_int_equal(wired, i + 1);
        now += waits_ms[i] * NS_PER_MS - 1;
        say(1, 2, "hello"); /* there is something to send */
        assert_true(seal_tick(nodes[1], now) == now + 1);
        assert_int_equal(wired, i + 1);
        now += 1;
        assert_true(seal_tick(nodes[1], now) > now);
    }
}

static void retries_end_when_there_is_nothing_to_send(void **state)
{
    begin();
    say(1, 2, "hello");
    for (unsigned i = 0; i < 600; i++) {
        now += 100 * NS_PER_MS;
        seal_tick(nodes[1], now);
    }
    assert_int_equal(wired, 5); /* at 0, 0.25, 0.75, 1.75 and 3.75 s */
    assert_true(seal_tick(nodes[1], now) == UINT64_MAX);
    say(1, 2, "more");
    assert_int_equal(wired, 6);
}

static void the_last_sixteen_wait_for_a_session(void **state)
{
    begin();
    char text[8];
    for (unsigned i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "%u", i);
        say(1, 2, text);
    }
    carry();
    was_heard(
        "1>2 4; 1>2 5; 1>2 6; 1>2 7; 1>2 8; 1>2 9; 1>2 10; 1>2 11; 1>2 12; 1>2 13; 1>2 14; 1>2 15; 1>2 16; "
        "1>2 17; 1>2 18; 1>2 19; ");
}

static void none_that_waited_two_seconds_is_sent(void **state)
{
    begin();
    say(1, 2, "old");
    now += 1;
    say(1, 2, "young");
    now += 2 * NS_PER_S;
    carry();
    was_heard("1>2 young; ");
}

static void both_may_begin_at_once(void **state)
{
    begin();
    say(1, 2, "one");
    say(2, 1, "two");
    const uint64_t begun_by_1 = el_get(wire[0].bytes + 4, 4);
    carry();
    assert_non_null(strstr(heard, "1>2 one; "));
    assert_non_null(strstr(heard, "2>1 two; "));
    assert_int_equal(deliveries, 2);
    assert_int_equal(dropped(1) + dropped(2), 0);
    assert_int_equal(stats(1).handshakes, 2); /* both are kept */
    assert_int_equal(stats(2).handshakes, 2);
    pass(500);
    say(2, 1, "three"); /* under the one that 1 began */
    assert_int_equal(el_get(wire[0].bytes + 4, 4), begun_by_1);
    const struct packet to_1 = wire[0];
    carry();
    say(1, 2, "four");
    assert_int_not_equal(el_get(wire[0].bytes + 4, 4), el_get(to_1.bytes + 4, 4));
    carry();
    assert_int_equal(deliveries, 4);
    assert_int_equal(dropped(1) + dropped(2), 0);
}

static void both_at_once_with_any_one_packet_lost_still_connect(void **state)
{
    for (unsigned lost = 0; lost < 6; lost++) {
        begin();
        say(1, 2, "one");
        say(2, 1, "two");
        for (unsigned i = 0; wired > 0; i++) {
            if (i == lost)
                (void)take(0);
            else
                carry_one();
        }
        pass(1000);
        deliveries = 0;
        say(1, 2, "three");
        say(2, 1, "four");
        pass(1000);
        assert_int_equal(deliveries, 2);
    }
}

/* Talks both ways for so long, and says how many handshakes it took. */
static uint64_t chat(uint64_t seconds)
{
    const uint64_t before = stats(1).handshakes;
    for (uint64_t i = 0; i < seconds * 4; i++) {
        deliveries = 0;
        heard[0] = 0;
        say(1, 2, "a");
        say(2, 1, "b");
        pass(250);
        assert_int_equal(deliveries, 2);
    }
    assert_int_equal(dropped(1) + dropped(2), 0);
    return stats(1).handshakes - before;
}

static void keys_are_renewed_under_traffic_without_a_loss(void **state)
{
    connect_both();
    assert_int_equal(chat(119), 0);
    assert_int_equal(chat(2), 1);
    assert_int_equal(chat(480), 4);
}

static void packets_under_the_old_keys_are_heard_after_the_new(void **state)
{
    connect_both();
    chat(119);
    say(2, 1, "slow");
    const struct packet slow = take(0);
    heard[0] = 0;
    assert_int_equal(chat(2), 1);
    heard[0] = 0;
    hand_over(&slow);
    was_heard("2>1 slow; ");
}

static void the_other_side_renews_if_the_first_is_silent(void **state)
{
    connect_both();
    for (unsigned i = 0; i < 310; i++) {
        say(2, 1, "b");
        pass(500);
    }
    assert_int_equal(deliveries, 312);
    assert_int_equal(stats(1).handshakes, 2);
    assert_int_equal(dropped(1) + dropped(2), 0);
}

static void a_session_is_dropped_after_three_minutes(void **state)
{
    connect_both();
    say(1, 2, "late");
    const struct packet late = take(0);
    now += 180 * NS_PER_S;
    hand_over(&late);
    was_heard("");
    assert_int_equal(stats(2).strangers, 1);
    tick_all();
    assert_false(seal_is_connected(nodes[1], 2) || seal_is_connected(nodes[2], 1));
    for (unsigned i = 0; i < SEAL_CHANNELS; i++) {
        const struct seal_channel gone = {0};
        assert_memory_equal(&nodes[1]->peers[1].channels[i], &gone, sizeof gone);
    }
    say(1, 2, "anew");
    carry();
    was_heard("1>2 anew; ");
}

static void who_only_hears_says_so(void **state)
{
    connect_both();
    for (unsigned i = 0; i < 60; i++) {
        say(1, 2, "a");
        pass(500);
    }
    assert_int_equal(deliveries, 62);
    assert_int_equal(stats(1).handshakes, 1);
    assert_int_equal(stats(2).sent, 1);
}

static void who_has_answered_owes_nothing(void **state)
{
    connect_both();
    now += NS_PER_S;
    tick_all();
    assert_int_equal(wired, 1);
    assert_int_equal(wire[0].from, 1); /* it heard the last word */
    assert_int_equal(wire[0].size, SEAL_DATA_SIZE);
}

static void after_a_success_retries_are_quick_again(void **state)
{
    begin();
    for (unsigned i = 0; i < 40; i++) {
        say(1, 2, "hello");
        now += 250 * NS_PER_MS;
        seal_tick(nodes[1], now);
        wired = 0;
    }
    now += 5 * NS_PER_S;
    say(1, 2, "hello");
    carry();
    was_heard("1>2 hello; ");
    now += 180 * NS_PER_S;
    say(1, 2, "again");
    (void)take(0);
    pass(250);
    was_heard("1>2 again; ");
}

static void the_second_answer_of_a_tie_is_waited_for(void **state)
{
    begin();
    say(1, 2, "one");
    say(2, 1, "two");
    carry_one();
    carry_one();
    const struct packet slow = take(0); /* the answer to 1 */
    assert_int_equal(slow.to, 1);
    carry();
    was_heard("2>1 two; 1>2 one; ");
    now += 100 * NS_PER_MS;
    tick_all();
    hand_over(&slow);
    assert_int_equal(dropped(1), 0);
    assert_int_equal(stats(1).handshakes, 2);
}

static void silence_on_both_sides_stays_silence(void **state)
{
    connect_both();
    pass(2000);
    now += NS_PER_S;
    for (unsigned i = 0; i < 150; i++) {
        now += NS_PER_S;
        tick_all();
        assert_int_equal(wired, 0);
    }
}

static void a_peer_that_starts_again_is_heard_at_once(void **state)
{
    connect_both();
    start(2);
    say(2, 1, "risen");
    carry();
    say(1, 2, "welcome");
    carry();
    was_heard("2>1 risen; 1>2 welcome; ");
}

static void a_peer_that_starts_again_and_waits_is_found(void **state)
{
    connect_both();
    start(2);
    for (unsigned i = 0; i < 8; i++) {
        heard[0] = 0;
        say(1, 2, "there?");
        pass(500);
    }
    was_heard("1>2 there?; ");
    assert_int_equal(stats(1).handshakes, 2);
}

static void three_nodes_do_not_mix(void **state)
{
    connect_both();
    start(3);
    say(3, 1, "x");
    say(1, 2, "y");
    say(3, 2, "z");
    carry();
    assert_int_equal(deliveries, 5);
    say(1, 3, "w");
    carry();
    was_heard("1>2 y; 3>1 x; 3>2 z; 1>3 w; ");
}

static void keys_hide_the_names_of_groups(void **state)
{
    uint8_t id[SEAL_CLUSTER_ID] = {1}, other[SEAL_CLUSTER_ID] = {2};
    assert_true(seal_group_key(id, "jobs") == seal_group_key(id, "jobs"));
    assert_true(seal_group_key(id, "jobs") != seal_group_key(id, "jobz"));
    assert_true(seal_group_key(id, "jobs") != seal_group_key(other, "jobs"));
    assert_true(seal_group_key(id, "") != 0);
}

static void a_pair_of_keys_fits_together(void **state)
{
    uint8_t secret[SEAL_KEY], public_key[SEAL_KEY], again[SEAL_KEY];
    assert_true(seal_keygen(secret, public_key));
    seal_public_of(secret, again);
    assert_memory_equal(public_key, again, SEAL_KEY);
    assert_memory_not_equal(secret, public_key, SEAL_KEY);
    seal_free(NULL);
}

/* ---- A machine that was restored ---- */

static uint32_t index_of(const struct packet *p)
{
    return (uint32_t)el_get(p->bytes + 4, 4);
}

/* Node 1 is restored as it was before it sealed what 2 has heard; meanwhile 2 has seen later handshakes of it. */
static void who_was_restored_seals_nothing_with_an_old_counter(void **state)
{
    static uint8_t memory[sizeof(struct seal) + NODES * sizeof(struct seal_peer)];
    connect_both();
    memcpy(memory, nodes[1], sizeof memory);
    say(1, 2, "before");
    const struct packet old = wire[0];
    carry();
    now += 121 * NS_PER_S;
    say(1, 2, "rekeyed");
    pass(1000);
    was_heard("1>2 before; 1>2 rekeyed; ");
    memcpy(nodes[1], memory, sizeof memory);
    seal_renew(nodes[1], now);
    assert_int_equal(wired, 1); /* the handshake begins at once */
    say(1, 2, "after");
    carry();
    was_heard("1>2 after; ");
    say(1, 2, "and on");
    assert_int_equal(wired, 1);
    assert_true(index_of(&wire[0]) != index_of(&old));
    carry();
    say(2, 1, "back");
    carry();
    was_heard("1>2 and on; 2>1 back; ");
    assert_int_equal(dropped(1) + dropped(2), 0);
}

static void to_renew_needlessly_loses_nothing(void **state)
{
    connect_both();
    for (unsigned i = 0; i < 5; i++) {
        now += NS_PER_S;
        say(1, 2, "a");
        carry();
        seal_renew(nodes[1 + i % 2], now);
        say(1, 2, "b");
        say(2, 1, "c");
        pass(600); /* what was sealed with the old channel is sent again by those who need it */
        assert_true(seal_is_connected(nodes[1], 2) && seal_is_connected(nodes[2], 1));
    }
    heard[0] = 0;
    say(1, 2, "x");
    say(2, 1, "y");
    carry();
    was_heard("1>2 x; 2>1 y; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_payload_arrives_after_a_handshake),
        cmocka_unit_test(a_peer_has_proved_itself_before_it_is_answered),
        cmocka_unit_test(any_size_arrives_whole),
        cmocka_unit_test(a_lost_initiation_is_sent_again),
        cmocka_unit_test(a_lost_answer_is_asked_for_again),
        cmocka_unit_test(a_late_answer_to_an_earlier_try_is_of_no_use),
        cmocka_unit_test(a_lost_first_packet_leaves_both_able_to_talk),
        cmocka_unit_test(answered_with_nothing_left_to_say_it_still_confirms),
        cmocka_unit_test(retries_double_up_to_five_seconds),
        cmocka_unit_test(retries_end_when_there_is_nothing_to_send),
        cmocka_unit_test(the_last_sixteen_wait_for_a_session),
        cmocka_unit_test(none_that_waited_two_seconds_is_sent),
        cmocka_unit_test(both_may_begin_at_once),
        cmocka_unit_test(both_at_once_with_any_one_packet_lost_still_connect),
        cmocka_unit_test(keys_are_renewed_under_traffic_without_a_loss),
        cmocka_unit_test(packets_under_the_old_keys_are_heard_after_the_new),
        cmocka_unit_test(the_other_side_renews_if_the_first_is_silent),
        cmocka_unit_test(a_session_is_dropped_after_three_minutes),
        cmocka_unit_test(who_only_hears_says_so),
        cmocka_unit_test(who_has_answered_owes_nothing),
        cmocka_unit_test(after_a_success_retries_are_quick_again),
        cmocka_unit_test(the_second_answer_of_a_tie_is_waited_for),
        cmocka_unit_test(silence_on_both_sides_stays_silence),
        cmocka_unit_test(a_peer_that_starts_again_is_heard_at_once),
        cmocka_unit_test(a_peer_that_starts_again_and_waits_is_found),
        cmocka_unit_test(three_nodes_do_not_mix),
        cmocka_unit_test(keys_hide_the_names_of_groups),
        cmocka_unit_test(a_pair_of_keys_fits_together),
        cmocka_unit_test(who_was_restored_seals_nothing_with_an_old_counter),
        cmocka_unit_test(to_renew_needlessly_loses_nothing),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    finish();
    return failed;
}
