/* Groups on shared sessions: what must be on disk before anything is said, and what other settings must not forget. */
#include "lib/host/plain_groups.h"

/* ---- The disk ---- */

static void save_every_term(void)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++) {
        world.hosts[node].config.group_count = 1;
        world.hosts[node].config.groups[0] =
            (struct config_group){.name = "a", .options = {{"block", "1"}}, .option_count = 1};
    }
}

static bool has_said_who_it_is(struct letter *letter)
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    while (payload_next(letter->bytes, letter->size, &at, &entry) == PAYLOAD_ENTRY)
        if (world.hosts[letter->from].host->writes_done == 0) fail_msg("says what is not on disk");
    return true;
}

static void nothing_is_said_before_it_is_on_disk(void **state)
{
    prepare_world(3, 0);
    world.takes = has_said_who_it_is;
    for (el_node node = 1; node <= 3; node++) world.hosts[node].is_stuck = true;
    start_all();
    const unsigned group = watch("a");
    for (el_node node = 1; node <= 3; node++) stand(node, group, true, 0);
    pass(2000);
    for (el_node node = 1; node <= 3; node++) world.hosts[node].is_stuck = false;
    pass(3000);
    assert_int_not_equal(leader_of(group), 0);
    close_world();
}

static void who_is_not_on_disk_answers_nobody(void **state)
{
    prepare_world(3, 0);
    world.takes = has_said_who_it_is;
    world.hosts[1].is_stuck = true;
    start_all();
    const unsigned group = watch("a");
    for (el_node node = 2; node <= 3; node++) stand(node, group, true, 0);
    pass(2000);
    assert_int_not_equal(leader_of(group), 0);
    assert_int_equal(world.hosts[1].host->writes_done, 0);
    world.hosts[1].is_stuck = false;
    pass(2000);
    assert_true(world.hosts[1].host->sessions->postings[1].read > 0);
    close_world();
}

/* A disk may hang for long. What waits for it is bounded, and is sent when it answers. */
static void who_waits_for_the_disk_holds_only_so_much(void **state)
{
    prepare_world(3, 0);
    world.hosts[1].is_stuck = true;
    start_all();
    const unsigned group = watch("a");
    for (el_node node = 1; node <= 3; node++) stand(node, group, true, node == 1 ? 9 : 0);
    const struct session *s = world.hosts[1].host->sessions;
    pass(60000);
    assert_int_equal(s->held_count, SESSION_HELD_LEAST + 3);
    assert_true(s->held_room < 3 * SESSION_HELD_LEAST);
    assert_int_equal(world.warnings, 1);
    world.hosts[1].is_stuck = false;
    pass(3000);
    assert_int_equal(s->held_count, 0);
    assert_true(s->held_room <= SESSION_HELD_LEAST);
    const el_node first = leader_of(group);
    die(first);
    pass(5000);
    assert_int_not_equal(leader_of(group), 0); /* which takes a majority of the two that are left */
    close_world();
}

static void a_vote_waits_for_the_disk_and_so_does_who_won(void **state)
{
    for (el_node stuck = 1; stuck <= 2; stuck++) { /* the one who wins; or all who would vote for it */
        save_every_term();
        start_all();
        const unsigned group = watch("a");
        stand(1, group, true, 0);
        pass(2000);
        assert_true(let_go(1, group, EL_NOBODY));
        pass(100);
        world.hosts[stuck].is_stuck = true;
        if (stuck == 2) world.hosts[3].is_stuck = true;
        pass(3000); /* the next term is not on record, and must be before it is granted */
        assert_non_null(world.hosts[stuck].writing);
        assert_int_equal(leader_of(group), 0);
        assert_int_equal(world.watched[group].begun, 1); /* nor was anybody meanwhile */
        assert_int_equal(host_view_of(&group_of(2, group)->base).leader, 0);
        world.hosts[1].is_stuck = world.hosts[2].is_stuck = world.hosts[3].is_stuck = false;
        pass(3000);
        assert_int_equal(leader_of(group), 1);
        close_world();
    }
}

/* A disk that takes longer than a lease costs nobody what does not wait for it. */
static void beats_do_not_wait_for_votes(void **state)
{
    save_every_term();
    for (el_node node = 1; node <= 3; node++)
        snprintf(world.hosts[node].config.groups[0].name, sizeof world.hosts[node].config.groups[0].name, "*");
    start_all();
    const unsigned old = watch("a"), young = watch("b");
    stand(1, old, true, 0);
    pass(3000);
    const unsigned begun = world.watched[old].begun;
    for (el_node node = 1; node <= 3; node++) world.hosts[node].is_stuck = true;
    stand(1, young, true, 0);
    stand(2, young, true, 0);
    pass(5000);
    for (el_node node = 1; node <= 3; node++) assert_non_null(world.hosts[node].writing);
    assert_int_equal(leader_of(old), 1);
    assert_int_equal(world.watched[old].begun, begun);
    assert_int_equal(leader_of(young), 0);
    for (el_node node = 1; node <= 3; node++) world.hosts[node].is_stuck = false;
    pass(3000);
    assert_int_not_equal(leader_of(young), 0);
    close_world();
}

static bool is_on_disk(el_node node, uint64_t term)
{
    const struct hosted *h = &world.hosts[node];
    struct el_durable durable = {0};
    return h->disk && record_get(h->disk, h->host->sessions->key, &durable) && durable.word[0] >= term;
}

/* Votes, but no promises to join, and claims, which rest upon their own vote. */
static bool says_what_is_on_disk(struct letter *letter)
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry e;
    while (payload_next(letter->bytes, letter->size, &at, &e) == PAYLOAD_ENTRY) {
        const bool is_vote =
            e.type == PAYLOAD_MESSAGE && e.msg.kind == QUORUM_GRANT && !(e.msg.flags & QUORUM_JOIN);
        if (is_vote) require(is_on_disk(letter->from, e.msg.epoch));
        if (e.type == PAYLOAD_POSTING && e.term) require(is_on_disk(letter->from, e.term));
    }
    return true;
}

/* One term after another is used, so that a write is always under way and another wanted: what is on disk is said, and
 * nothing else, and the first do not wait for the last. */
static void where_one_thing_after_another_is_saved_each_is_said_in_its_time(void **state)
{
    enum { MANY = 600 };
    save_every_term();
    for (el_node node = 1; node <= 3; node++)
        snprintf(world.hosts[node].config.groups[0].name, sizeof world.hosts[node].config.groups[0].name, "*");
    world.keeps_disks = true;
    world.write_min = world.write_max = 20 * MS;
    world.takes = says_what_is_on_disk;
    start_all();
    pass(3000);
    unsigned led = 0;
    for (unsigned i = 0; i < MANY; i++) { /* a millisecond each */
        stand_for_plain(1, i, 1);
        pass(1);
        for (unsigned j = 0; j <= i; j++) {
            const struct host_group *group = plain_group(1, j);
            if (host_view_of(group).role != EL_LEADER) continue;
            require(is_on_disk(1, host_view_of(group).token));
            led += i + 1 == MANY;
        }
    }
    assert_true(led > MANY / 2);
    for (el_node node = 1; node <= 3; node++) {
        record_close(world.hosts[node].disk);
        world.hosts[node].disk = NULL;
    }
    close_world();
}

static void who_cannot_save_leads_nothing(void **state)
{
    save_every_term();
    start_all();
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    pass(3000);
    assert_int_equal(leader_of(group), 1);
    stand(2, group, true, 0);
    pass(500);
    world.hosts[1].fails = true;
    for (unsigned i = 0; i < 4 && !host_has_failed(world.hosts[1].host); i++) {
        const el_node leader = leader_of(group);
        if (leader) (void)let_go(leader, group, leader == 1 ? 2 : 1);
        pass(1500);
    }
    assert_true(host_has_failed(world.hosts[1].host));
    assert_false(leads(1, group));
    pass(3000);
    assert_int_equal(leader_of(group), 2);
    close_world();
}

/* ---- A cluster that was founded with a floor ---- */

static const uint64_t founded = UINT64_C(1) << 50;

/* As `elector init` does. */
static void found_with_floor(el_node node)
{
    struct hosted *h = &world.hosts[node];
    const struct record_identity identity = {.cluster_id = {7}, .member = node};
    const struct el_durable floor = {.word = {founded}};
    struct record *record;
    char text[TEXT];
    assert_int_equal(record_open(&record, h->path, &identity, text, sizeof text), RECORD_READY);
    assert_true(record_put(record, session_past_key(&h->config), &floor));
    struct record_image *image = record_image_of(record);
    assert_int_equal(record_write(record, image), 0);
    free(image);
    record_close(record);
}

static uint64_t token_of(el_node node, const char *group)
{
    char text[TEXT];
    return host_view_of(host_find(world.hosts[node].host, group, text, sizeof text)).token;
}

/* At once: a founder has promised nothing, and is not silent. In all sessions, whatever their settings are. */
static void a_founder_elects_at_once_and_above_the_floor(void **state)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++) {
        found_with_floor(node);
        world.hosts[node].config.group_count = 1;
        world.hosts[node].config.groups[0] =
            (struct config_group){.name = "b", .options = {{"lease", "2s"}}, .option_count = 1};
    }
    start_all();
    const unsigned a = watch("a"), b = watch("b");
    for (el_node node = 1; node <= 3; node++) stand(node, a, true, 0);
    for (el_node node = 1; node <= 3; node++) stand(node, b, true, 0);
    pass(700); /* less than a promise */
    assert_int_not_equal(leader_of(a), 0);
    assert_int_not_equal(leader_of(b), 0);
    assert_true(token_of(leader_of(a), "a") > founded);
    assert_true(token_of(leader_of(b), "b") > founded);
    close_world();
}

static bool is_silent(el_node node, bool lost)
{
    bool is_lost;
    const uint64_t until = host_silent_until(world.hosts[node].host, &is_lost);
    assert_int_equal(is_lost, lost);
    return until > host_clock(world.hosts[node].host);
}

static void a_voter_tells_until_when_it_is_silent(void **state)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++) found_with_floor(node);
    start_all();
    pass(100);
    for (el_node node = 1; node <= 3; node++) assert_false(is_silent(node, false)); /* founders are not */
    die(3);
    start(3);
    pass(500); /* less than a promise */
    assert_true(is_silent(3, false));
    assert_false(is_silent(1, false));
    pass(3000);
    assert_false(is_silent(3, false));
    close_world();
}

/* ---- Other settings ---- */

static void other_settings_forget_no_token(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    for (el_node node = 1; node <= 3; node++) stand(node, group, true, 0);
    pass(3000);
    for (unsigned i = 0; i < 5; i++) {
        const el_node leader = leader_of(group);
        assert_true(let_go(leader, group, leader % 3 + 1));
        pass(1000);
    }
    for (el_node node = 1; node <= 3; node++) die(node);
    pass(3000);
    for (el_node node = 1; node <= 3; node++) {
        set_lease(node, "2s");
        start(node);
        stand(node, group, true, 0);
    }
    pass(6000); /* tokens are looked at all the time */
    assert_int_not_equal(leader_of(group), 0);
    close_world();
}

/* One after another, as they are restarted: the second must keep what it promised in its earlier life. */
static void settings_are_changed_one_by_one_and_two_never_lead(void **state)
{
    open_world(3);
    const unsigned group = watch("a");
    stand(1, group, true, 0);
    pass(3000);
    assert_int_equal(leader_of(group), 1);
    set_lease(3, "2s");
    die(3);
    start(3);
    pass(4000);
    stand(3, group, true, 0);
    assert_int_equal(leader_of(group), 1);
    set_lease(2, "2s");
    die(2);
    start(2);
    stand(2, group, true, 0);
    pass(6000);
    assert_int_not_equal(leader_of(group), 0);
    assert_int_not_equal(leader_of(group), 1);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_before_it_is_on_disk),
        cmocka_unit_test(who_is_not_on_disk_answers_nobody),
        cmocka_unit_test(who_waits_for_the_disk_holds_only_so_much),
        cmocka_unit_test(a_vote_waits_for_the_disk_and_so_does_who_won),
        cmocka_unit_test(beats_do_not_wait_for_votes),
        cmocka_unit_test(where_one_thing_after_another_is_saved_each_is_said_in_its_time),
        cmocka_unit_test(who_cannot_save_leads_nothing),
        cmocka_unit_test(a_founder_elects_at_once_and_above_the_floor),
        cmocka_unit_test(a_voter_tells_until_when_it_is_silent),
        cmocka_unit_test(other_settings_forget_no_token),
        cmocka_unit_test(settings_are_changed_one_by_one_and_two_never_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
