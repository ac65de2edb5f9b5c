/* Groups that nobody uses any more are dropped, and no leader and no token is lost or doubled by it. */
#include "lib/host/session_groups.h"

enum { ROUNDS = 40 };

static bool forget(el_node node, unsigned watched)
{
    struct session_group *group = group_at(node, watched);
    if (!group) return true;
    (void)host_tick(world.hosts[node].host);
    const bool is_forgotten = host_forget(&group->base);
    after_event(node);
    assert_int_equal(group_at(node, watched) == NULL, is_forgotten);
    return is_forgotten;
}

/* Led, and then left by its only candidate. */
static unsigned use_and_leave(el_node node, const char *name)
{
    const unsigned watched = watch(name);
    stand(node, watched, true, 0);
    pass(1500);
    assert_int_equal(leader_of(watched), node);
    stand(node, watched, false, 0);
    assert_true(let_go(node, watched, EL_NOBODY));
    return watched;
}

static uint64_t token_now(unsigned watched)
{
    return world.watched[watched].token;
}

static void a_group_that_is_used_stays(void **state)
{
    open_world(3);
    const unsigned a = watch("a");
    stand(1, a, true, 0);
    pass(1500);
    assert_int_equal(leader_of(a), 1);
    for (el_node node = 1; node <= 3; node++) assert_false(forget(node, a));
    assert_int_equal(leader_of(a), 1);
    close_world();
}

static void tokens_rise_however_often_all_forget_it(void **state)
{
    open_world(3);
    for (unsigned round = 0; round < ROUNDS; round++) {
        world.watched_count = 0;
        const unsigned a = use_and_leave(1 + round % 3, "a"); /* take_leadership() below sees every token */
        const uint64_t token = token_now(a);
        pass(300);
        for (el_node node = 1; node <= 3; node++) assert_true(forget(node, a));
        world.watched_count = 0;
        (void)watch("a");
        world.watched[0].token = token;
        stand(2, 0, true, 0);
        pass(1500);
        assert_int_equal(leader_of(0), 2);
        assert_true(token_now(0) > token);
        stand(2, 0, false, 0);
        assert_true(let_go(2, 0, EL_NOBODY));
        pass(300);
        for (el_node node = 1; node <= 3; node++) assert_true(forget(node, 0));
    }
    assert_int_equal(world.hosts[1].host->group_count, 0);
    close_world();
}

/* A voter that forgot a term would grant it, or a lower one, again. */
static void what_one_voter_forgets_it_does_not_grant_again(void **state)
{
    open_world(3);
    const unsigned a = use_and_leave(1, "a");
    const uint64_t term = session_expand(group_of(3, a))->quorum.term;
    pass(300);
    assert_true(term > 0 && forget(3, a));
    const struct quorum_group *again = &session_expand(group_of(3, a))->quorum;
    assert_true(again->term >= term && again->done >= term);
    close_world();
}

static bool loses_releases(struct letter *letter)
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    while (payload_next(letter->bytes, letter->size, &at, &entry) == PAYLOAD_ENTRY)
        if (entry.type == PAYLOAD_MESSAGE && entry.msg.kind == QUORUM_RELEASE) return false;
    return true;
}

/* The promise lives as long as its holder does. So the voter asks it, and drops the group after the answer. */
static void a_promise_that_lives_is_kept_until_its_holder_gives_it_back(void **state)
{
    open_world(3);
    world.takes = loses_releases;
    const unsigned a = use_and_leave(1, "a");
    pass(300);
    const struct quorum_tenant *holder = &session_expand(group_of(3, a))->quorum.holder;
    assert_int_equal(holder->id, 1);
    world.takes = NULL;
    assert_false(forget(3, a));
    assert_int_equal(holder->id, 1);
    pass(300);
    assert_true(forget(3, a));
    close_world();
}

/* A later beat would revive a lapsed promise. So the voter takes it back for good: by its epoch the holder knows (Q9). */
static void a_promise_that_has_lapsed_is_taken_back(void **state)
{
    open_world(3);
    world.takes = loses_releases;
    const unsigned a = use_and_leave(1, "a");
    pass(300);
    struct session *s = session_at(3, a);
    const uint64_t epoch = s->peers[0].epoch;
    world.cut[1][3] = world.cut[3][1] = true;
    pass(2000);
    assert_true(forget(3, a));
    assert_int_equal(s->peers[0].epoch, epoch + 1);
    close_world();
}

static void stand_for_many(el_node node, unsigned count, bool stands)
{
    char name[16], text[TEXT];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "job-%u", i);
        struct host_group *group = host_find(world.hosts[node].host, name, text, sizeof text);
        assert_non_null(group);
        host_stand(group, stands, 0);
        if (!stands) (void)host_resign(group);
    }
    after_event(node);
}

/* The last takes the number of the one that went: every reference to it must follow. */
static void the_others_are_found_in_any_order(void **state)
{
    enum { MANY = 300 };
    char name[16];
    open_world(3);
    stand_for_many(2, MANY, true);
    pass(3000);
    stand_for_many(2, MANY, false);
    pass(1000);
    struct host *host = world.hosts[2].host;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "job-%u", i * 7 % MANY);
        assert_true(host_forget(host_known(host, name)));
        assert_null(host_known(host, name));
        assert_int_equal(host->group_count, MANY - 1 - i);
        for (unsigned j = i + 1; j < MANY; j += 13) {
            snprintf(name, sizeof name, "job-%u", j * 7 % MANY);
            assert_string_equal(host_name(host_known(host, name)), name);
        }
        pass(3);
    }
    close_world();
}

/* Names made up for each job: more than there may be at a time, and the memory of all is that of a few. */
static void names_do_not_run_out(void **state)
{
    enum { LOT = 1000, LOTS = 10 };
    char name[16], text[TEXT];
    struct host_group *group;
    open_world(1);
    pass(3000);
    struct host *host = world.hosts[1].host;
    world.hosts[1].config.group_limit = LOT;
    for (unsigned lot = 0; lot < LOTS; lot++) {
        for (unsigned i = 0; i < LOT; i++) {
            snprintf(name, sizeof name, "job-%u", lot * LOT + i);
            group = host_find(host, name, text, sizeof text);
            assert_non_null(group);
            host_stand(group, true, 0);
        }
        assert_null(host_find(host, "one-more", text, sizeof text));
        assert_non_null(strstr(text, "there are 1000 groups here, the most that may be (`group-limit` in"));
        pass(200);
        for (group = host_next(host, NULL); group; group = host_next(host, group)) {
            assert_int_equal(host_view_of(group).role, EL_LEADER);
            host_stand(group, false, 0);
            (void)host_resign(group);
        }
        pass(200);
        while ((group = host_next(host, NULL))) assert_true(host_forget(group));
    }
    assert_int_equal(host->group_count, 0);
    assert_true(host->sessions->slab.block_count < 10);
    close_world();
}

/* It has not died: when it is back, it drops what it had read, and what we left is no longer ours there. */
static void who_was_out_of_touch_reads_anew(void **state)
{
    open_world(3);
    const unsigned a = watch("a"), b = watch("b");
    stand(1, a, true, 0);
    stand(1, b, true, 0);
    pass(1500);
    assert_int_equal(leader_of(a), 1);
    world.cut[1][3] = world.cut[3][1] = true;
    pass(2000);
    stand(1, a, false, 0);
    assert_true(let_go(1, a, EL_NOBODY));
    pass(300);
    assert_true(forget(1, a));
    assert_true(host_stands(&group_of(3, a)->base, 1, NULL));
    world.cut[1][3] = world.cut[3][1] = false;
    pass(2000);
    assert_false(host_stands(&group_of(3, a)->base, 1, NULL));
    assert_int_equal(host_view_of(&group_of(3, a)->base).leader, EL_NOBODY);
    assert_true(host_stands(&group_of(3, b)->base, 1, NULL));
    assert_int_equal(host_view_of(&group_of(3, b)->base).leader, 1);
    stand(3, a, true, 0);
    pass(2000);
    assert_int_equal(leader_of(a), 3);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_that_is_used_stays),
        cmocka_unit_test(tokens_rise_however_often_all_forget_it),
        cmocka_unit_test(what_one_voter_forgets_it_does_not_grant_again),
        cmocka_unit_test(a_promise_that_lives_is_kept_until_its_holder_gives_it_back),
        cmocka_unit_test(a_promise_that_has_lapsed_is_taken_back),
        cmocka_unit_test(the_others_are_found_in_any_order),
        cmocka_unit_test(names_do_not_run_out),
        cmocka_unit_test(who_was_out_of_touch_reads_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
