/* Strangers, forgers and those who play packets again: none changes anything, and none gets an answer. */
#include "lib/host/seal_bench.h"

/* Hands it to a node, and nothing comes of it but a count. */
static void is_dropped(const struct packet *p)
{
    const uint64_t before = dropped(p->to);
    const size_t on_wire = wired;
    const unsigned heard_before = deliveries, proofs_before = proofs;
    seal_receive(nodes[p->to], now, p->from, p->bytes, p->size);
    assert_int_equal(wired, on_wire);
    assert_int_equal(deliveries, heard_before);
    assert_int_equal(proofs, proofs_before);
    assert_int_equal(dropped(p->to), before + 1);
}

static struct packet with_bit_changed(struct packet p, size_t at)
{
    p.bytes[at] ^= (uint8_t)(1 << at % 7);
    return p;
}

static void lengths_are_exact(const struct packet *p)
{
    struct packet other = *p;
    for (other.size = 0; other.size <= p->size + 16; other.size++)
        if (other.size != p->size) is_dropped(&other);
}

static void no_byte_of_an_initiation_may_change(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet good = take(0);
    for (size_t i = 0; i < good.size; i++) {
        const struct packet bad = with_bit_changed(good, i);
        is_dropped(&bad);
    }
    lengths_are_exact(&good);
    assert_int_equal(stats(2).rate_limited, 0); /* none came as far as a curve operation */
    hand_over(&good);
    carry();
    was_heard("1>2 hello; ");
}

/* Who knows the public keys can make the mac; who was let in once and knows the cluster key, also the tag. */
static void no_byte_may_change_even_with_the_macs_made_right(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet good = take(0);
    for (size_t i = 4; i < SEAL_INITIATION_MAC; i++) {
        struct packet bad = with_bit_changed(good, i);
        seal_mac(nodes[2]->mac_key, bad.bytes, SEAL_INITIATION_MAC, bad.bytes + SEAL_INITIATION_MAC);
        is_dropped(&bad);
        assert_int_equal(stats(2).rate_limited, 0);
    }
    for (size_t i = SEAL_INITIATION_HEAD; i < SEAL_INITIATION_TAG; i++) {
        struct packet bad = with_bit_changed(good, i);
        seal_mac(nodes[2]->tag_keys[0], bad.bytes, SEAL_INITIATION_TAG, bad.bytes + SEAL_INITIATION_TAG);
        seal_mac(nodes[2]->mac_key, bad.bytes, SEAL_INITIATION_MAC, bad.bytes + SEAL_INITIATION_MAC);
        now += NS_PER_S;
        is_dropped(&bad);
        assert_int_equal(stats(2).rate_limited, 0);
    }
    assert_int_equal(stats(2).forged, SEAL_INITIATION_NOISE);
}

static void no_byte_of_an_answer_may_change(void **state)
{
    begin();
    say(1, 2, "hello");
    carry_one();
    const struct packet good = take(0);
    for (size_t i = 0; i < good.size; i++) {
        struct packet bad = with_bit_changed(good, i);
        is_dropped(&bad);
        if (i < SEAL_ANSWER_HEAD || i >= SEAL_ANSWER_TAG) continue;
        seal_mac(nodes[1]->tag_keys[0], bad.bytes, SEAL_ANSWER_TAG, bad.bytes + SEAL_ANSWER_TAG);
        is_dropped(&bad);
    }
    lengths_are_exact(&good);
    hand_over(&good);
    is_dropped(&good); /* once is enough */
    carry();
    was_heard("1>2 hello; ");
}

static void no_byte_of_a_data_packet_may_change(void **state)
{
    connect_both();
    say(1, 2, "data");
    const struct packet good = take(0);
    for (size_t i = 0; i < good.size; i++) {
        const struct packet bad = with_bit_changed(good, i);
        is_dropped(&bad);
    }
    lengths_are_exact(&good);
    hand_over(&good);
    was_heard("1>2 data; ");
    is_dropped(&good);
    assert_int_equal(stats(2).replayed, 1);
}

/* From a member, but more than a payload may be. */
static void more_than_fits_is_dropped(void **state)
{
    connect_both();
    const uint8_t payload[SEAL_PAYLOAD_MAX + 1] = {0};
    seal_channel_send(nodes[1], now, 2, seal_channel_best(nodes[1], now, 2), payload, sizeof payload);
    const struct packet p = take(0);
    is_dropped(&p);
    assert_int_equal(stats(2).malformed, 1);
}

static void what_is_sent_back_to_its_sender_is_dropped(void **state)
{
    begin();
    say(1, 2, "hello");
    struct packet p = wire[0];
    p.to = 1;
    is_dropped(&p);
    carry();
    say(1, 2, "data");
    p = take(0);
    p.to = 1;
    is_dropped(&p);
    say(2, 1, "data");
    p = take(0);
    el_put(p.bytes + 4, nodes[2]->peers[0].channels[0].mine, 4);
    p.to = 2;
    is_dropped(&p);
}

/* A node 2 that differs: what 1 hears of it, and says to it. */
static void is_not_heard(const struct seal_config *config)
{
    begin();
    start_with(2, config);
    say(2, 1, "let me in");
    const struct packet p = take(0);
    is_dropped(&p);
    assert_int_equal(stats(1).strangers, 1);
    say(1, 2, "who are you");
    const struct packet q = take(0);
    is_dropped(&q);
    pass(3000);
    was_heard("");
    assert_false(seal_is_connected(nodes[1], 2) || seal_is_connected(nodes[2], 1));
}

static void a_stranger_gets_no_answer(void **state)
{
    begin();
    struct seal_config c = config_of(2);
    uint8_t public_key[SEAL_KEY];
    assert_true(seal_keygen(c.secret_key, public_key));
    is_not_heard(&c);
}

static void another_cluster_key_gets_no_answer(void **state)
{
    begin();
    struct seal_config c = config_of(2);
    c.cluster_keys[0][31] ^= 1;
    is_not_heard(&c);
}

static void another_cluster_gets_no_answer(void **state)
{
    begin();
    struct seal_config c = config_of(2);
    c.cluster_id[15] ^= 1;
    is_not_heard(&c);
}

static void a_member_is_who_its_key_says(void **state)
{
    begin();
    struct seal_config c = config_of(2);
    memcpy(c.secret_key, secrets[2], SEAL_KEY);
    start_with(2, &c);
    say(2, 1, "I am 2");
    carry_one();
    assert_int_equal(wired, 1);
    assert_int_equal(wire[0].to, 3); /* the answer goes to where that key is at home */
    wire[0].to = 2;
    carry();
    was_heard("3>1 I am 2; ");
    assert_false(seal_is_connected(nodes[1], 2));
}

static void a_replayed_initiation_displaces_nothing(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet first = wire[0];
    carry();
    was_heard("1>2 hello; ");
    for (unsigned i = 0; i < 10; i++) {
        now += NS_PER_S;
        is_dropped(&first);
    }
    assert_int_equal(stats(2).replayed, 10);
    say(2, 1, "back");
    carry();
    was_heard("2>1 back; ");
    assert_int_equal(dropped(1), 0);
}

/* One that was seen on the wire is sent for ever: whoever comes then gets in all the same. */
static void what_is_played_back_keeps_nobody_out(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet first = wire[0];
    carry();
    was_heard("1>2 hello; ");
    for (unsigned i = 0; i < 1000; i++) is_dropped(&first);
    start(1);
    say(1, 2, "again");
    carry();
    was_heard("1>2 again; ");
    assert_int_equal(stats(2).replayed, 1000);
    assert_int_equal(stats(2).rate_limited, 0);
}

static void an_older_initiation_of_the_same_start_is_dropped(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet held_back = take(0);
    pass(250);
    was_heard("1>2 hello; ");
    is_dropped(&held_back);
    assert_int_equal(stats(2).replayed, 1);
}

static void an_initiation_of_an_earlier_start_is_dropped(void **state)
{
    connect_both();
    now += 175 * NS_PER_S;
    say(1, 2, "held back");
    const struct packet held_back = take(0);
    start(1);
    say(1, 2, "anew");
    carry();
    was_heard("1>2 anew; ");
    is_dropped(&held_back);
    assert_int_equal(stats(2).replayed, 1);
}

/* After our own start we cannot know it for a replay; but it is never sealed with. */
static void a_replay_to_one_that_started_again_takes_nothing_over(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet first = wire[0];
    carry();
    start(2);
    hand_over(&first);
    const struct packet answer = take(0);
    is_dropped(&answer);
    assert_false(seal_is_connected(nodes[2], 1));
    say(2, 1, "risen");
    carry();
    say(1, 2, "welcome");
    carry();
    was_heard("1>2 hello; 2>1 risen; 1>2 welcome; ");
    now += NS_PER_S;
    hand_over(&first);
    say(2, 1, "still");
    carry();
    was_heard("2>1 still; ");
}

static void five_at_once_from_one_peer_and_then_five_a_second(void **state)
{
    begin();
    for (unsigned i = 0; i < 12; i++) {
        start(1);
        say(1, 2, "again");
        const struct packet p = take(0);
        hand_over(&p);
        const bool answered = i < 5 || i == 8;
        assert_int_equal(wired, answered);
        wired = 0;
        if (i == 7) now += 200 * NS_PER_MS;
    }
    assert_int_equal(stats(2).rate_limited, 6);
}

/* With the cluster key, but without the secret of the member whom it names: the last byte is not the member's. */
static struct packet forged_initiation(const struct packet *good, unsigned number)
{
    struct packet bad = *good;
    el_put(bad.bytes + SEAL_INITIATION_TAG - 8, number, 8);
    seal_mac(nodes[2]->tag_keys[0], bad.bytes, SEAL_INITIATION_TAG, bad.bytes + SEAL_INITIATION_TAG);
    seal_mac(nodes[2]->mac_key, bad.bytes, SEAL_INITIATION_MAC, bad.bytes + SEAL_INITIATION_MAC);
    return bad;
}

static void ten_at_once_from_one_address_and_then_ten_a_second(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet good = take(0);
    for (unsigned i = 0; i < 30; i++) {
        struct packet bad = forged_initiation(&good, i);
        bad.from = SEAL_ELSEWHERE + 7;
        is_dropped(&bad);
        if (i == 20) now += 200 * NS_PER_MS;
    }
    assert_int_equal(stats(2).forged, 12);
    assert_int_equal(stats(2).rate_limited, 18);
}

/* Whoever names a member, from wherever, does not use up what that member may ask for. */
static void a_flood_with_the_cluster_key_keeps_no_member_out(void **state)
{
    begin();
    say(1, 2, "hello");
    const struct packet good = take(0);
    for (unsigned i = 0; i < 20000; i++) {
        struct packet bad = i % 2 ? forged_initiation(&good, i) : good;
        bad.from = i % 3 ? SEAL_ELSEWHERE + 1 + i % 1000 : 3; /* or from the address of another member */
        if (i % 4 == 0) bad.size = i % SEAL_INITIATION_SIZE;
        if (i % 4 == 2) bad.bytes[i % SEAL_INITIATION_SIZE] ^= 1;
        is_dropped(&bad);
        if (i % 100 == 0) now += NS_PER_MS;
    }
    assert_true(stats(2).forged > 50);
    assert_true(stats(2).rate_limited > 100);
    hand_over(&good);
    assert_int_equal(wired, 1);
    carry();
    was_heard("1>2 hello; ");
}

/* More of its initiations than are remembered come again, all genuine: the limit is charged for none. */
static void a_flood_of_replays_from_elsewhere_keeps_no_member_out(void **state)
{
    enum { RECORDED = 2 * SEAL_TAGS };
    static struct packet recorded[RECORDED];
    begin();
    for (unsigned i = 0; i < RECORDED; i++) {
        now += 10 * NS_PER_S;
        say(1, 2, "hello");
        recorded[i] = take(0);
    }
    hand_over(&recorded[RECORDED - 1]);
    carry();
    now += NS_PER_S;
    for (unsigned round = 0; round < 4; round++)
        for (unsigned i = 0; i < RECORDED; i++) {
            recorded[i].from = SEAL_ELSEWHERE + 1 + i;
            is_dropped(&recorded[i]);
        }
    assert_true(stats(2).rate_limited > 100);
    for (unsigned i = 0; i < 5; i++) {
        start(1);
        say(1, 2, "again");
        const struct packet p = take(0);
        hand_over(&p);
        assert_int_equal(wired, 1);
        wired = 0;
    }
}

static void set_keys(uint32_t node, const char *ring)
{
    uint8_t keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY];
    for (size_t i = 0; ring[i]; i++) memset(keys[i], ring[i], SEAL_KEY);
    seal_set_cluster_keys(nodes[node], (const uint8_t(*)[SEAL_KEY])keys, (uint32_t)strlen(ring));
}

/* With a new start of either side at every step, so that the keys are in fact used. */
static void keys_are_added_used_and_retired_without_a_loss(void **state)
{
    static const char *const steps[][2] = {{"k", "k"},   {"kn", "k"}, {"kn", "kn"}, {"nk", "kn"},
                                           {"nk", "nk"}, {"n", "nk"}, {"n", "n"}};
    for (unsigned fresh = 0; fresh < 3; fresh++) {
        connect_both();
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            if (fresh > 0) start(fresh);
            set_keys(1, steps[i][0]);
            set_keys(2, steps[i][1]);
            now += (fresh == 0 ? 121 : 1) * NS_PER_S;
            deliveries = 0;
            say(fresh == 2 ? 2 : 1, fresh == 2 ? 1 : 2, "a");
            carry();
            say(fresh == 2 ? 1 : 2, fresh == 2 ? 2 : 1, "b");
            carry();
            assert_int_equal(deliveries, 2);
            assert_int_equal(dropped(1) + dropped(2), 0);
        }
    }
}

static void a_retired_key_opens_nothing(void **state)
{
    begin();
    set_keys(2, "n");
    say(1, 2, "hello");
    const struct packet p = take(0);
    is_dropped(&p);
    set_keys(1, "n"); /* and the handshake under way is begun again at once */
    pass(1);
    was_heard("1>2 hello; ");
}

static void sessions_go_on_when_their_key_is_retired(void **state)
{
    connect_both();
    set_keys(1, "n");
    set_keys(2, "n");
    say(1, 2, "on");
    carry();
    was_heard("1>2 on; ");
    assert_int_equal(stats(1).handshakes, 1);
}

static void noise_of_any_kind_is_dropped(void **state)
{
    connect_both();
    uint64_t dice = 1;
    struct packet p = {.to = 2};
    for (unsigned i = 0; i < 20000; i++) {
        for (size_t at = 0; at < 200; at += 8) {
            dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            el_put(p.bytes + at, dice ^ dice >> 29, 8);
        }
        static const size_t sizes[] = {SEAL_INITIATION_SIZE, SEAL_ANSWER_SIZE, SEAL_DATA_SIZE + 9, 31};
        p.size = sizes[i % 4];
        if (i % 3) el_put(p.bytes, (uint64_t)(1 + i % 4 % 3) | SEAL_VERSION << 8, 4);
        if (i % 5 == 0) el_put(p.bytes + 4, nodes[2]->peers[0].channels[0].mine, 4);
        is_dropped(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_of_an_initiation_may_change),
        cmocka_unit_test(no_byte_may_change_even_with_the_macs_made_right),
        cmocka_unit_test(no_byte_of_an_answer_may_change),
        cmocka_unit_test(no_byte_of_a_data_packet_may_change),
        cmocka_unit_test(more_than_fits_is_dropped),
        cmocka_unit_test(what_is_sent_back_to_its_sender_is_dropped),
        cmocka_unit_test(a_stranger_gets_no_answer),
        cmocka_unit_test(another_cluster_key_gets_no_answer),
        cmocka_unit_test(another_cluster_gets_no_answer),
        cmocka_unit_test(a_member_is_who_its_key_says),
        cmocka_unit_test(a_replayed_initiation_displaces_nothing),
        cmocka_unit_test(what_is_played_back_keeps_nobody_out),
        cmocka_unit_test(an_older_initiation_of_the_same_start_is_dropped),
        cmocka_unit_test(an_initiation_of_an_earlier_start_is_dropped),
        cmocka_unit_test(a_replay_to_one_that_started_again_takes_nothing_over),
        cmocka_unit_test(five_at_once_from_one_peer_and_then_five_a_second),
        cmocka_unit_test(ten_at_once_from_one_address_and_then_ten_a_second),
        cmocka_unit_test(a_flood_with_the_cluster_key_keeps_no_member_out),
        cmocka_unit_test(a_flood_of_replays_from_elsewhere_keeps_no_member_out),
        cmocka_unit_test(keys_are_added_used_and_retired_without_a_loss),
        cmocka_unit_test(a_retired_key_opens_nothing),
        cmocka_unit_test(sessions_go_on_when_their_key_is_retired),
        cmocka_unit_test(noise_of_any_kind_is_dropped),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    finish();
    return failed;
}
