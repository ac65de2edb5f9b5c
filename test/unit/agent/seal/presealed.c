/* What is sealed in advance: a nonce space of its own, opened once, and by nobody but who it is for. */
#include "lib/host/seal_bench.h"

/* As node `from` would hand it to its guardian. */
static struct packet seal_dead(uint32_t from, uint32_t to, const char *text)
{
    struct packet p = {.from = from, .to = to};
    p.size = seal_obituary(nodes[from], now, to, (const uint8_t *)text, strlen(text), p.bytes);
    return p;
}

static uint64_t counter_of(const struct packet *p)
{
    return el_get(p->bytes + 8, 8);
}

static void without_a_session_there_is_none(void **state)
{
    begin();
    assert_int_equal(seal_in_use(nodes[1], now, 2), 0);
    assert_int_equal(seal_dead(1, 2, "gone").size, 0);
}

static void is_heard_as_what_it_is_and_once(void **state)
{
    connect_both();
    const struct packet p = seal_dead(1, 2, "gone");
    assert_int_equal(p.size, SEAL_DATA_SIZE + 4);
    const unsigned proofs_before = proofs;
    hand_over(&p);
    was_heard("1 is dead, 2 hears: 1>2 gone; ");
    assert_int_equal(proofs, proofs_before); /* it came from a guardian, which hears nothing */
    hand_over(&p);
    hand_over(&p);
    was_heard("");
    assert_int_equal(stats(2).replayed, 2);
    assert_int_equal(wired, 0); /* nobody answers the dead */
}

static void counters_are_apart_from_those_of_the_living(void **state)
{
    connect_both();
    const struct packet first = seal_dead(1, 2, "first"), second = seal_dead(1, 2, "second");
    say(1, 2, "alive");
    assert_true(counter_of(&first) & SEAL_IN_ADVANCE && counter_of(&second) & SEAL_IN_ADVANCE);
    assert_int_not_equal(counter_of(&first), counter_of(&second));
    assert_false(counter_of(&wire[0]) & SEAL_IN_ADVANCE);
    carry();
    was_heard("1>2 alive; ");
    hand_over(&second); /* and what lives is heard after it, as if it had not come */
    say(1, 2, "still");
    carry();
    was_heard("1 is dead, 2 hears: 1>2 second; 1>2 still; ");
    hand_over(&first); /* which was to wait for longer */
    hand_over(&second);
    was_heard("1 is dead, 2 hears: 1>2 first; ");
}

static void is_bound_to_its_peer_and_its_bytes(void **state)
{
    connect_both();
    start(3);
    say(1, 3, "hello");
    carry();
    heard[0] = 0;
    struct packet p = seal_dead(1, 2, "gone");
    p.to = 3;
    hand_over(&p);
    p.to = 2;
    p.bytes[p.size - 1] ^= 1;
    hand_over(&p);
    p.bytes[p.size - 1] ^= 1;
    el_put(p.bytes + 8, counter_of(&p) & ~SEAL_IN_ADVANCE, 8); /* as if it had been said alive */
    hand_over(&p);
    was_heard("");
    assert_int_equal(stats(2).forged, 2);
}

static void is_sealed_anew_with_each_session(void **state)
{
    connect_both();
    const uint64_t session = seal_in_use(nodes[1], now, 2);
    const struct packet old = seal_dead(1, 2, "old");
    for (int i = 0; i < 125; i++) { /* past the age at which keys change */
        say(1, 2, "beat");
        pass(1000);
    }
    heard[0] = 0;
    assert_int_not_equal(seal_in_use(nodes[1], now, 2), session);
    const struct packet fresh = seal_dead(1, 2, "fresh");
    hand_over(&old); /* the session before is kept for a while */
    hand_over(&fresh);
    was_heard("1 is dead, 2 hears: 1>2 old; 1 is dead, 2 hears: 1>2 fresh; ");
}

/* Sealed in one life, sent in the next: nobody is buried by it. */
static void ends_with_the_life_that_it_speaks_of(void **state)
{
    connect_both();
    const struct packet p = seal_dead(1, 2, "gone");
    start(1);
    say(1, 2, "again");
    carry();
    was_heard("1>2 again; ");
    hand_over(&p);
    was_heard("");
    assert_int_equal(stats(2).strangers, 1);
}

static void begin_in_plain(void)
{
    begin();
    for (uint32_t node = 1; node <= 2; node++) {
        struct seal_config c = config_of(node);
        c.plain = true;
        start_with(node, &c);
    }
    say(1, 2, "hello");
    carry();
    was_heard("1>2 hello; ");
}

static void the_same_in_plain(void **state)
{
    begin_in_plain();
    const struct packet first = seal_dead(1, 2, "first"), second = seal_dead(1, 2, "second");
    hand_over(&second);
    hand_over(&second);
    hand_over(&first);
    hand_over(&first);
    was_heard("1 is dead, 2 hears: 1>2 second; 1 is dead, 2 hears: 1>2 first; ");
    say(1, 2, "alive");
    carry();
    was_heard("1>2 alive; ");
}

static void of_an_unknown_or_earlier_life_in_plain_it_is_nothing(void **state)
{
    begin_in_plain();
    const struct packet p = seal_dead(1, 2, "gone");
    struct seal_config c = config_of(1);
    c.plain = true;
    start_with(1, &c);
    const struct packet early = seal_dead(1, 2, "early"); /* nothing of this life was heard yet */
    hand_over(&early);
    say(1, 2, "again");
    carry();
    hand_over(&p);
    was_heard("1>2 again; ");
    assert_int_equal(stats(2).strangers, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_session_there_is_none),
        cmocka_unit_test(is_heard_as_what_it_is_and_once),
        cmocka_unit_test(counters_are_apart_from_those_of_the_living),
        cmocka_unit_test(is_bound_to_its_peer_and_its_bytes),
        cmocka_unit_test(is_sealed_anew_with_each_session),
        cmocka_unit_test(ends_with_the_life_that_it_speaks_of),
        cmocka_unit_test(the_same_in_plain),
        cmocka_unit_test(of_an_unknown_or_earlier_life_in_plain_it_is_nothing),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    finish();
    return failed;
}
