/* What time does to groups on shared sessions: their timers, what they cost at rest, and when their claims end. */
#include "lib/host/plain_groups.h"

enum { HUNDREDS = 300, THOUSANDS = 2500 };

static void the_earliest_timer_of_thousands_is_known(void **state)
{
    open_world(3);
    cut_both_ways(1, 2, true);
    cut_both_ways(1, 3, true);
    stand_for_plain(1, 0, THOUSANDS);
    struct session *s = world.hosts[1].host->sessions;
    for (unsigned round = 0; round < 20000; round++) {
        struct session_group *group = session_group_at(s, (uint32_t)dice(s->group_count) + 1);
        uint64_t *timers = session_expand(group)->timers;
        timers[dice(SESSION_GROUP_TIMERS)] = one_in(3) ? UINT64_MAX : world.now + dice(1000 * MS);
        session_compact(group);
        session_heap_update(group, session_first_due(timers));
    }
    uint32_t armed = 0;
    for (uint32_t i = 0; i < s->group_count; i++)
        armed += session_first_due(session_expand(session_group_at(s, i + 1))->timers) != UINT64_MAX;
    assert_int_equal(s->heap_count, armed);
    for (uint32_t i = 0; i < s->heap_count; i++) {
        const struct session_group *group = s->heap[i].group;
        assert_int_equal(group->place, i + 1);
        assert_int_equal(s->heap[i].due, session_first_due(session_expand(group)->timers));
        assert_true(s->heap[(i ? i - 1 : 0) / 2].due <= s->heap[i].due);
    }
    close_world();
}

/* Whoever looks at a group that has no words does not live to tell. */
static void take_words_away(bool away)
{
    static struct {
        uint16_t units;
        uint8_t folded[SESSION_COMPACTED];
    } kept[4][HUNDREDS];
    for (el_node node = 1; node <= 3; node++) {
        struct session *s = world.hosts[node].host->sessions;
        require(!s->next && s->group_count <= HUNDREDS);
        s->work.group = NULL;
        for (uint32_t i = 0; i < s->group_count; i++) {
            struct session_group *group = session_group_at(s, i + 1);
            if (away) kept[node][i].units = group->units_aside;
            if (away) memcpy(kept[node][i].folded, group->folded, sizeof group->folded);
            group->units_aside = (away ? 1u : kept[node][i].units) & 0x1ffu; /* aside, where there is nothing */
            memset(group->folded, 0, sizeof group->folded);
            if (!away) memcpy(group->folded, kept[node][i].folded, sizeof group->folded);
        }
    }
}

static void groups_at_rest_cost_nothing(void **state)
{
    enum { GROUPS = 20 };
    open_world(3);
    pass(500);
    stand_for_plain(1, 0, GROUPS);
    stand_for_plain(2, GROUPS, GROUPS);
    pass(4000);
    assert_int_equal(plain_led(1, 0, GROUPS), GROUPS);
    assert_int_equal(plain_led(2, GROUPS, GROUPS), GROUPS);
    world.changes = 0;
    take_words_away(true);
    pass(2000);
    take_words_away(false);
    assert_int_equal(world.changes, 0);
    assert_int_equal(plain_led(1, 0, GROUPS), GROUPS);
    close_world();
}

/* It may be over when its first group comes to it, before anybody has looked. */
static void a_cell_that_is_renewed_shows_its_groups_whether_or_not_it_was_seen_to_end(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    pass(3000);
    struct session_group *led = group_of(1, group);
    struct session *s = session_of(led);
    s->cells[led->cell].deadline = s->cells[led->cell].lease_end = clock_of(&world.hosts[1]) - 1;
    host_group_show(&led->base);
    assert_int_not_equal(led->base.shown_role, EL_LEADER);
    session_renew_cells(s);
    assert_int_equal(led->base.shown_role, EL_LEADER);
    close_world();
}

/* Whatever asks others for promises renews the leader's own: otherwise it would let go, after a pause, before its deadline. */
static void no_promise_outlasts_the_leaders_own(void **state)
{
    open_world(3);
    const unsigned led = watch("a"), other = watch("b");
    stand(1, led, true, 0);
    pass(3000);
    const struct session *s = session_at(1, led);
    const uint64_t before = s->timers[QUORUM_LEASE][2];
    stand(1, other, true, 0); /* it asks for votes between two beats */
    while (s->timers[QUORUM_LEASE][2] == before) require(step(world.now + 100 * MS));
    assert_true(s->timers[QUORUM_LEASE][1] >= s->timers[QUORUM_LEASE][2]);
    assert_true(s->timers[QUORUM_LEASE][1] >= s->timers[QUORUM_LEASE][3]);
    close_world();
}

/* A deadline that has passed is passed; that the lease is renewed after it gives nobody the token again by surprise. */
static void who_was_paused_past_its_deadline_is_shown_so(void **state)
{
    for (uint64_t ms = 700; ms < 1300; ms += 25) {
        open_world(3);
        const unsigned group = watch("a");
        stand(1, group, true, 0);
        pass(3000);
        const uint64_t changes = world.changes;
        const uint64_t deadline = host_view_of(&group_of(1, group)->base).deadline_ns;
        world.hosts[1].paused_until = world.now + ms * MS;
        pass(ms);
        after_event(1);
        if (deadline <= clock_of(&world.hosts[1]))
            assert_true(world.changes > changes); /* its clients were told */
        pass(3000);
        assert_int_equal(leader_of(group), 1);
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_timer_of_thousands_is_known),
        cmocka_unit_test(groups_at_rest_cost_nothing),
        cmocka_unit_test(a_cell_that_is_renewed_shows_its_groups_whether_or_not_it_was_seen_to_end),
        cmocka_unit_test(no_promise_outlasts_the_leaders_own),
        cmocka_unit_test(who_was_paused_past_its_deadline_is_shown_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
