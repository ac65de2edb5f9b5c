/* What hosts make of an obituary: that life is over, exactly that one, and who waits need not wait for its lease. */
#include "hosts.h"

/* All stand, one leads, and all know it. */
static el_node elect(void)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    assert_true(leader() != 0);
    return leader();
}

static struct wire_payload obituary_of(el_node node)
{
    struct wire_payload payload;
    assert_true(host_obituary(members[node].host, &payload));
    assert_true(wire_may_pass(payload.bytes, payload.size, true));
    return payload;
}

/* To everybody else, as if a guardian had sent it. */
static void bury(el_node node, const struct wire_payload *payload)
{
    for (el_node to = 1; to <= MEMBERS; to++)
        if (to != node && members[to].alive)
            host_receive(members[to].host, node, payload->bytes, payload->size);
}

/* The lease of the preset, as the group has it. */
static uint64_t lease_ms(void)
{
    return host_longest_lease_ns(members[leader() == 1 ? 2 : 1].host) / MILLISECOND;
}

static void who_is_buried_is_followed_at_once(void **state)
{
    const el_node first = elect();
    const struct wire_payload payload = obituary_of(first);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    bury(first, &payload);
    pass(quarter); /* whoever waits for its lease waits for longer */
    assert_true(leader() != 0 && leader() != first);
    close_world();
}

static void without_it_the_lease_is_waited_for(void **state)
{
    const el_node first = elect();
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    pass(quarter);
    assert_int_equal(leader(), 0);
    close_world();
}

/* One that is told tells the others. */
static void one_word_is_enough(void **state)
{
    const el_node first = elect(), second = first == 1 ? 2 : 1;
    const struct wire_payload payload = obituary_of(first);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    host_receive(members[second].host, first, payload.bytes, payload.size);
    pass(quarter);
    assert_true(leader() != 0);
    close_world();
}

static struct wire_payload about(el_node from, int64_t later)
{
    struct wire_payload truth = obituary_of(from), payload;
    struct wire_entry entry;
    uint64_t digest;
    struct wire_place at = WIRE_FIRST;
    assert_true(wire_head(truth.bytes, truth.size, &digest));
    wire_begin(&payload, digest);
    while (wire_next(truth.bytes, truth.size, &at, &entry) == WIRE_ENTRY) {
        entry.number = (uint64_t)((int64_t)entry.number + later);
        assert_true(wire_add(&payload, &entry));
    }
    return payload;
}

/* The member was started again, and leads: what is said of its earlier life, then or once more, does not touch it. */
static void a_new_life_is_not_buried_with_the_old(void **state)
{
    el_node first = elect();
    const struct wire_payload old = obituary_of(first);
    const uint64_t token = last_token;
    die(first);
    bury(first, &old);
    start(first);
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, node == first);
    pass(20000); /* silence, and the others resign by not standing */
    for (el_node node = 1; node <= MEMBERS && leader() != first; node++) {
        char text[200];
        if (leads(node) && node != first)
            (void)host_resign(host_find(members[node].host, "billing", text, sizeof text));
        pass(10000);
    }
    assert_int_equal(leader(), first);
    assert_true(last_token > token);
    const unsigned before = elections;
    bury(first, &old); /* all of them hear it again, while it leads */
    pass(5000);
    assert_int_equal(leader(), first);
    assert_int_equal(elections, before);
    close_world();
}

static void another_number_frees_nothing(void **state)
{
    for (int64_t later = -1; later <= 1; later += 2) {
        const el_node first = elect();
        const struct wire_payload payload = about(first, later);
        const uint64_t quarter = lease_ms() / 4;
        die(first);
        bury(first, &payload);
        pass(quarter);
        assert_int_equal(leader(), 0);
        pass(20000);
        assert_true(leader() != 0);
        close_world();
    }
}

/* A member speaks of itself alone: what one says is nothing about another, though the number be the same. */
static void nobody_buries_another(void **state)
{
    const el_node first = elect(), liar = first == 1 ? 2 : 1, third = 6 - first - liar;
    const struct wire_payload payload = obituary_of(first);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    host_receive(members[third].host, liar, payload.bytes, payload.size);
    pass(quarter);
    assert_int_equal(leader(), 0);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_buried_is_followed_at_once),
        cmocka_unit_test(without_it_the_lease_is_waited_for),
        cmocka_unit_test(one_word_is_enough),
        cmocka_unit_test(a_new_life_is_not_buried_with_the_old),
        cmocka_unit_test(another_number_frees_nothing),
        cmocka_unit_test(nobody_buries_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
