/* What hosts make of an obituary: that life is over, exactly that one, and who waits need not wait for its lease. */
#include "lib/host/hosts.h"

/* All stand, one leads, and all know it. */
static el_node elect(void)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    assert_true(leader() != 0);
    return leader();
}

static struct payload obituary_of(el_node node)
{
    struct payload payload;
    assert_true(host_obituary(members[node].host, &payload));
    assert_true(payload_may_pass(payload.bytes, payload.size, true));
    return payload;
}

/* To everybody else, as if a guardian had sent it. */
static void bury(el_node node, const struct payload *payload)
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
    const struct payload payload = obituary_of(first);
    const uint64_t quarter = lease_ms() / 4;
    const el_node other = first == 1 ? 2 : 1;
    die(first);
    assert_true(host_hears(members[other].host, first));
    bury(first, &payload);
    assert_false(host_hears(members[other].host, first)); /* nor does `status` show it any longer */
    pass(quarter);                                        /* whoever waits for its lease waits for longer */
    assert_true(leader() != 0 && leader() != first);
    close_world();
}

static void without_it_the_lease_is_waited_for(void **state)
{
    const el_node first = elect();
    const uint64_t quarter = lease_ms() / 4;
    const el_node other = first == 1 ? 2 : 1;
    die(first);
    pass(quarter);
    assert_int_equal(leader(), 0);
    assert_true(host_hears(members[other].host, first)); /* it may only be slow */
    pass(2 * quarter + 1);
    assert_false(host_hears(members[other].host, first));
    close_world();
}

/* No member is believed about another, so the guardian tells each. One of three, told alone, frees only its own vote. */
static void what_one_was_told_the_others_do_not_know(void **state)
{
    const el_node first = elect(), second = first == 1 ? 2 : 1;
    const struct payload payload = obituary_of(first);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    host_receive(members[second].host, first, payload.bytes, payload.size);
    pass(10); /* longer than until a guardian tells it again */
    assert_int_equal(leader(), 0);
    host_receive(members[6 - first - second].host, first, payload.bytes, payload.size);
    pass(quarter);
    assert_true(leader() != 0);
    close_world();
}

static struct payload about(el_node from, int64_t later)
{
    struct payload truth = obituary_of(from), payload;
    struct payload_entry entry;
    uint64_t digest;
    struct payload_place at = PAYLOAD_FIRST;
    assert_true(payload_head(truth.bytes, truth.size, &digest));
    payload_begin(&payload, digest);
    while (payload_next(truth.bytes, truth.size, &at, &entry) == PAYLOAD_ENTRY) {
        entry.number = (uint64_t)((int64_t)entry.number + later);
        assert_true(payload_add(&payload, &entry));
    }
    return payload;
}

/* The member was started again, and leads: what is said of its earlier life, then or once more, does not touch it. */
static void a_new_life_is_not_buried_with_the_old(void **state)
{
    el_node first = elect();
    const struct payload old = obituary_of(first);
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
        const struct payload payload = about(first, later);
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
    const struct payload payload = obituary_of(first);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    host_receive(members[third].host, liar, payload.bytes, payload.size);
    pass(quarter);
    assert_int_equal(leader(), 0);
    close_world();
}

/* The next life would have the same number, and nothing that it says would be counted. */
static void a_life_that_is_not_on_disk_has_no_obituary(void **state)
{
    struct payload payload;
    open_world();
    members[1].disk_is_stuck = members[2].disk_fails = true;
    pass(500);
    assert_non_null(members[1].writing);
    assert_false(host_obituary(members[1].host, &payload));
    assert_true(host_has_failed(members[2].host));
    assert_false(host_obituary(members[2].host, &payload));
    assert_true(host_obituary(members[3].host, &payload));
    members[1].disk_is_stuck = false;
    pass(500);
    assert_true(host_obituary(members[1].host, &payload));
    close_world();
}

/* What a second write would have added does not matter: the life is known to be one of its own. */
static void who_cannot_write_any_more_still_has_one(void **state)
{
    struct payload payload;
    open_world();
    pass(500);
    die(1);
    start(1);
    pass(100);
    members[1].disk_fails = true;
    pass(3000); /* it has kept silent, and takes its next block of terms */
    assert_true(host_has_failed(members[1].host));
    assert_true(host_obituary(members[1].host, &payload));
    close_world();
}

/* ---- Of one group ---- */

static struct host_group *group_of(el_node node)
{
    char text[200];
    return host_find(members[node].host, "billing", text, sizeof text);
}

static struct payload release_of(el_node node, uint64_t term)
{
    const struct host_tenure tenure = {group_of(node), term};
    struct payload payload;
    assert_true(host_death_releases(members[node].host, &tenure, 1, &payload));
    assert_true(payload_may_pass(payload.bytes, payload.size, true));
    return payload;
}

static void a_group_whose_work_is_over_is_led_on_at_once(void **state)
{
    const el_node first = elect();
    const struct payload payload = release_of(first, last_token);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    bury(first, &payload);
    pass(quarter);
    assert_true(leader() != 0 && leader() != first);
    close_world();
}

/* What was sealed for one tenure is worth nothing in the next, whoever of its clients has it. */
static void a_release_of_an_earlier_tenure_frees_nothing(void **state)
{
    const el_node first = elect();
    const struct payload old = release_of(first, last_token - 1);
    const uint64_t quarter = lease_ms() / 4;
    die(first);
    bury(first, &old);
    pass(quarter);
    assert_int_equal(leader(), 0);
    close_world();
}

static void a_release_of_another_life_group_or_member_frees_nothing(void **state)
{
    for (int which = 0; which < 4; which++) {
        const el_node first = elect(), liar = first == 1 ? 2 : 1, third = 6 - first - liar;
        struct payload truth = release_of(first, last_token), payload;
        struct payload_entry entry;
        uint64_t digest;
        struct payload_place at = PAYLOAD_FIRST;
        const uint64_t quarter = lease_ms() / 4;
        assert_true(payload_head(truth.bytes, truth.size, &digest));
        assert_int_equal(payload_next(truth.bytes, truth.size, &at, &entry), PAYLOAD_ENTRY);
        entry.incarnation += which == 0;
        entry.group += which == 1;
        entry.settings += which == 2;
        payload_begin(&payload, digest);
        assert_true(payload_add(&payload, &entry));
        die(first);
        if (which < 3)
            bury(first, &payload);
        else
            host_receive(members[third].host, liar, payload.bytes, payload.size);
        pass(quarter);
        assert_int_equal(leader(), 0);
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_buried_is_followed_at_once),
        cmocka_unit_test(without_it_the_lease_is_waited_for),
        cmocka_unit_test(what_one_was_told_the_others_do_not_know),
        cmocka_unit_test(a_new_life_is_not_buried_with_the_old),
        cmocka_unit_test(another_number_frees_nothing),
        cmocka_unit_test(nobody_buries_another),
        cmocka_unit_test(a_life_that_is_not_on_disk_has_no_obituary),
        cmocka_unit_test(who_cannot_write_any_more_still_has_one),
        cmocka_unit_test(a_group_whose_work_is_over_is_led_on_at_once),
        cmocka_unit_test(a_release_of_an_earlier_tenure_frees_nothing),
        cmocka_unit_test(a_release_of_another_life_group_or_member_frees_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
