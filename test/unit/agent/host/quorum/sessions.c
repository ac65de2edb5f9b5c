/* Groups on shared sessions: what is one group's, what is a member's, and what bears upon all groups at once. */
#include "lib/host/plain_groups.h"

enum { HUNDREDS = 300, THOUSANDS = 2500 };

static uint64_t voters_of(unsigned group)
{
    const el_node leader = leader_of(group);
    require(leader);
    const struct session_group *at = group_of(leader, group);
    return session_of(at)->cells[at->cell].voters;
}

/* A group that one host's letters do not speak of. */
static struct {
    uint64_t key;
    el_node from, to;
} unspoken;

static bool is_spoken(const struct payload_entry *entry)
{
    return entry->type != PAYLOAD_MESSAGE || entry->group != unspoken.key;
}

static bool leaves_it_out(struct letter *letter)
{
    if (letter->from == unspoken.from && letter->to == unspoken.to) strip(letter, is_spoken);
    return true;
}

static void silence(unsigned group, el_node from, el_node to)
{
    unspoken.key = world.watched[group].key;
    unspoken.from = from;
    unspoken.to = to;
    world.takes = leaves_it_out;
}

/* ---- Leading ---- */

static void each_group_has_a_leader_of_its_own(void **state)
{
    open_world(3);
    unsigned groups[3];
    for (unsigned i = 0; i < 3; i++) {
        const char *const names[] = {"one", "two", "three"};
        groups[i] = watch(names[i]);
        stand((el_node)i + 1, groups[i], true, 0);
    }
    pass(3000);
    for (unsigned i = 0; i < 3; i++)
        for (el_node node = 1; node <= 3; node++)
            assert_int_equal(host_view_of(&group_of(node, groups[i])->base).leader, i + 1);
    assert_true(let_go(2, groups[1], EL_NOBODY));
    pass(1000);
    assert_int_equal(leader_of(groups[0]), 1);
    assert_int_equal(leader_of(groups[2]), 3);
    close_world();
}

/* Q9, Q11, Q12: who helped another in one group must be asked again for all others. */
static void a_voter_that_let_go_in_one_group_backs_no_other_until_it_joins(void **state)
{
    open_world(3);
    const unsigned a = watch("a"), b = watch("b");
    stand(1, a, true, 0);
    stand(1, b, true, 0);
    pass(3000);
    stand(3, a, true, 0);
    assert_int_equal(voters_of(a), 7);
    assert_int_equal(voters_of(b), 7);
    cut_both_ways(1, 3, true);
    pass(2500); /* 3 gave its vote in a to itself, and backs nobody in b */
    assert_int_equal(leader_of(a), 1);
    assert_int_equal(voters_of(a), 3);
    assert_int_equal(world.hosts[3].host->sessions->peers[0].epoch, 1);
    silence(b, 1, 3);
    cut_both_ways(1, 3, false);
    pass(2500);
    assert_int_equal(voters_of(a), 7);
    assert_int_equal(voters_of(b), 3);
    world.takes = NULL;
    pass(1000);
    assert_int_equal(voters_of(b), 7);
    close_world();
}

/* The vote overtakes the answers to beats, which then bring nothing new. */
static void a_number_that_comes_with_one_vote_is_news_for_all_groups(void **state)
{
    open_world(3);
    const unsigned a = watch("a"), b = watch("b");
    stand(1, a, true, 0);
    stand(1, b, true, 0);
    pass(3000);
    const struct session_group *led = group_of(1, a);
    struct session *voter = world.hosts[3].host->sessions;
    struct payload payload;
    payload_begin(&payload, world.hosts[3].host->members);
    const uint64_t epoch = ++voter->peers[0].epoch;
    assert_true(
        payload_add(&payload, &(struct payload_entry){.type = PAYLOAD_MESSAGE,
                                                      .group = led->base.key,
                                                      .settings = voter->runner.settings,
                                                      .msg = {.kind = QUORUM_GRANT,
                                                              .from = 3,
                                                              .to = 1,
                                                              .subject = 3,
                                                              .epoch = session_expand(led)->quorum.standing,
                                                              .aux = voter->peers[0].seen,
                                                              .rank = epoch,
                                                              .more = voter->me.incarnation,
                                                              .extra = {session_of(led)->me.incarnation}}}));
    host_receive(world.hosts[1].host, 3, payload.bytes, payload.size);
    after_event(1);
    pass(1000);
    assert_int_equal(voters_of(a), 7);
    assert_int_equal(voters_of(b), 7);
    close_world();
}

static void a_lapse_ends_the_groups_of_one_cell_and_no_other(void **state)
{
    open_world(3);
    const unsigned a = watch("a"), b = watch("b"), c = watch("c");
    for (unsigned i = a; i <= c; i++) stand(1, i, true, 0);
    pass(3000);
    silence(b, 1, 3);
    die(3);
    start(3); /* in its new life it backs what it is asked to join, when it has kept silent */
    pass(3000);
    assert_int_equal(voters_of(a), 7);
    assert_int_equal(voters_of(b), 3);
    assert_int_equal(voters_of(c), 7);
    const uint64_t changes = world.changes;
    cut_both_ways(1, 2, true);
    pass(2000);
    assert_int_equal(leader_of(a), 1);
    assert_int_equal(leader_of(c), 1);
    assert_int_equal(leader_of(b), 0);
    assert_int_equal(voters_of(a), 5);
    assert_true(world.changes > changes);
    assert_int_equal(world.watched[a].begun, 1);
    close_world();
}

static unsigned roles_of_leaders(const struct session *s)
{
    unsigned leading = 0;
    for (uint32_t i = 0; i < s->group_count; i++) leading += session_group_at(s, i + 1)->role == QUORUM_LEADER;
    return leading;
}

/* More than are told at once: what ends a claim is seen by all of them before anything else happens. */
static void a_lapse_ends_thousands_at_once(void **state)
{
    open_world(3);
    stand_for_plain(1, 0, THOUSANDS);
    pass(3000);
    const struct session *s = world.hosts[1].host->sessions;
    assert_int_equal(roles_of_leaders(s), THOUSANDS);
    cut_both_ways(1, 2, true);
    cut_both_ways(1, 3, true);
    const uint64_t end = world.now + 3000 * MS;
    while (roles_of_leaders(s) == THOUSANDS && step(end)) {}
    assert_int_equal(roles_of_leaders(s), 0);
    close_world();
}

/* ---- Heirs ---- */

static el_node heir_of(unsigned group)
{
    return session_claim_of(group_of(leader_of(group), group)).heir;
}

static void the_heir_is_the_best_that_stands_and_is_linked(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    pass(3000);
    assert_int_equal(heir_of(group), 0);
    stand(2, group, true, 5);
    pass(300);
    assert_int_equal(heir_of(group), 2);
    stand(3, group, true, 9);
    pass(300);
    assert_int_equal(heir_of(group), 3);
    cut_both_ways(1, 3, true);
    pass(1500);
    assert_int_equal(heir_of(group), 2);
    cut_both_ways(1, 3, false);
    pass(1000);
    assert_int_equal(heir_of(group), 3);
    assert_int_equal(session_expand(group_of(2, group))->quorum.claim_heir, 3); /* as the others read */
    stand(3, group, false, 0);
    pass(300);
    assert_int_equal(heir_of(group), 2);
    die(2);
    start(2); /* and stands no more */
    pass(1500);
    assert_int_equal(heir_of(group), 0);
    assert_int_equal(leader_of(group), 1);
    close_world();
}

/* ---- The dead ---- */

static void an_obituary_frees_all_groups_of_that_life_for_their_heirs(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    stand_for_plain(1, 0, HUNDREDS);
    pass(3000);
    stand(3, group, true, 0);
    stand_for_plain(2, 0, HUNDREDS);
    pass(1000);
    assert_int_equal(heir_of(group), 3);
    assert_int_equal(plain_led(1, 0, HUNDREDS), HUNDREDS);
    const uint64_t incarnation = world.hosts[1].host->sessions->me.incarnation;
    const unsigned life = world.hosts[1].life;
    die(1);
    bury(2, world.hosts[2].host->sessions, 1, life, incarnation);
    bury(3, world.hosts[3].host->sessions, 1, life, incarnation);
    pass(100); /* no lease is waited for */
    assert_int_equal(leader_of(group), 3);
    assert_int_equal(plain_led(2, 0, HUNDREDS), HUNDREDS);

    start(1);
    pass(2000);
    stand(1, group, true, 0);
    pass(100);
    assert_true(let_go(3, group, 1));
    pass(300);
    assert_int_equal(leader_of(group), 1);
    const unsigned begun = world.watched[group].begun;
    session_bury(world.hosts[2].host->sessions, 1, incarnation); /* the old news again */
    session_bury(world.hosts[3].host->sessions, 1, incarnation);
    pass(2000);
    assert_int_equal(leader_of(group), 1);
    assert_int_equal(world.watched[group].begun, begun);
    close_world();
}

/* More groups than are told at once; the second death comes while they are being told of the first. */
static void news_in_the_middle_of_news_lose_nothing(void **state)
{
    open_world(5);
    stand_for_plain(1, 0, THOUSANDS);
    pass(1000);
    stand_for_plain(4, THOUSANDS, THOUSANDS);
    pass(3000);
    stand_for_plain(2, 0, 2 * THOUSANDS);
    pass(2000);
    assert_int_equal(plain_led(1, 0, THOUSANDS), THOUSANDS);
    assert_int_equal(plain_led(4, THOUSANDS, THOUSANDS), THOUSANDS);
    const uint64_t first = world.hosts[1].host->sessions->me.incarnation,
                   second = world.hosts[4].host->sessions->me.incarnation;
    die(1);
    die(4);
    struct session *s = world.hosts[2].host->sessions;
    s->cursor = 0;
    session_bury(s, 4, second);
    session_tell_changes(s, THOUSANDS); /* which are not the dead one's */
    assert_true(s->left > 0);
    session_bury(s, 1, first);
    for (el_node other = 3; other <= 5; other += 2) {
        session_bury(world.hosts[other].host->sessions, 4, second);
        session_bury(world.hosts[other].host->sessions, 1, first);
    }
    session_tell_changes(s, UINT32_MAX);
    for (uint32_t i = 0; i < s->group_count; i++) /* it is the heir of all of them */
        assert_int_equal(session_expand(session_group_at(s, i + 1))->quorum.holder.id, 2);
    for (el_node node = 2; node <= 5; node++) {
        if (node == 4) continue;
        host_flush(world.hosts[node].host);
        after_event(node);
    }
    pass(500); /* shorter than a lease: nobody waits for a promise to end */
    assert_int_equal(plain_led(2, 0, 2 * THOUSANDS), 2 * THOUSANDS);
    close_world();
}

/* More obituaries than there is room for, of lives that are long over: what the last one does is done in full. */
static void many_obituaries_at_once_disarm_what_they_should(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    pass(3000);
    struct session *s = session_at(2, group);
    const uint64_t incarnation = s->peers[0].incarnation;
    for (uint32_t i = 0; i < CONFIG_MEMBERS_MAX; i++)
        s->obituaries[s->obituary_count++] = (struct quorum_obituary){3, 0};
    die(1);
    session_bury(s, 1, incarnation);
    assert_int_equal(s->timers[QUORUM_PROMISED][1], UINT64_MAX);
    assert_int_equal(s->timers[QUORUM_LINKED][1], UINT64_MAX);
    close_world();
}

/* ---- Turns ---- */

static unsigned releases;

static bool counts_releases(const struct payload_entry *entry)
{
    releases += entry->type == PAYLOAD_MESSAGE && entry->msg.kind == QUORUM_RELEASE;
    return true;
}

static bool counts(struct letter *letter)
{
    if (letter->from == 2) strip(letter, counts_releases);
    return true;
}

/* Its own voter has given them to the heir: it would ask for what it cannot get, be refused, and tell everybody so. */
static void who_has_waited_for_its_turn_does_not_ask_for_what_it_gave_away(void **state)
{
    const unsigned count = SESSION_STANDING_MAX + THOUSANDS;
    open_world(3);
    stand_for_plain(1, 0, count);
    pass(3000);
    stand_for_plain(2, 0, count);
    stand_for_plain(3, 0, count);
    pass(2000);
    assert_int_equal(plain_led(1, 0, count), count);
    die(1);
    world.takes = counts;
    releases = 0;
    pass(4000);
    assert_int_equal(plain_led(2, 0, count) + plain_led(3, 0, count), count);
    assert_true(releases <= 2 * SESSION_HOPELESS_MAX);
    close_world();
}

static void a_timer_that_was_taken_back_has_no_turn_any_more(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    pass(3000);
    stand(3, group, true, 0);
    pass(1000);
    const struct session_group *at = group_of(3, group);
    struct session *s = session_at(3, group);
    s->standing += SESSION_STANDING_MAX; /* as if so many asked for votes */
    die(1);
    const uint64_t end = world.now + 2000 * MS;
    while (!at->waits_for_turn && step(end)) {}
    assert_true(at->is_due);
    world.cut[2][3] = true;
    while (at->role != QUORUM_CANDIDATE && step(end)) {}
    const uint64_t term = session_expand(at)->quorum.standing; /* the heir's, by its own vote */
    assert_true(term > 0);
    s->standing -= SESSION_STANDING_MAX;
    (void)host_tick(world.hosts[3].host);
    assert_false(at->waits_for_turn);
    assert_int_equal(session_expand(at)->quorum.standing, term);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_group_has_a_leader_of_its_own),
        cmocka_unit_test(a_voter_that_let_go_in_one_group_backs_no_other_until_it_joins),
        cmocka_unit_test(a_number_that_comes_with_one_vote_is_news_for_all_groups),
        cmocka_unit_test(a_lapse_ends_the_groups_of_one_cell_and_no_other),
        cmocka_unit_test(a_lapse_ends_thousands_at_once),
        cmocka_unit_test(the_heir_is_the_best_that_stands_and_is_linked),
        cmocka_unit_test(an_obituary_frees_all_groups_of_that_life_for_their_heirs),
        cmocka_unit_test(news_in_the_middle_of_news_lose_nothing),
        cmocka_unit_test(many_obituaries_at_once_disarm_what_they_should),
        cmocka_unit_test(who_has_waited_for_its_turn_does_not_ask_for_what_it_gave_away),
        cmocka_unit_test(a_timer_that_was_taken_back_has_no_turn_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
