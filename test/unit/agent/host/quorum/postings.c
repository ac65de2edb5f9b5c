/* Boards: what a member says of its groups gets to all others, whatever the network makes of it. */
#include "lib/host/plain_groups.h"

enum { SOME = 40, MANY = 3000 };

/* ---- What is lost, late or doubled ---- */

static unsigned posting_letters, lost_letter;

static bool has_entry(const struct letter *letter, enum payload_type type)
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    bool has = false;
    while (payload_next(letter->bytes, letter->size, &at, &entry) == PAYLOAD_ENTRY)
        has = has || entry.type == type;
    return has;
}

static bool loses_one_of_postings(struct letter *letter)
{
    if (letter->from != 1 || letter->to != 2 || !has_entry(letter, PAYLOAD_POSTING)) return true;
    return posting_letters++ != lost_letter;
}

static unsigned known_at(el_node node, el_node who, unsigned count)
{
    unsigned known = 0;
    for (unsigned i = 0; i < count; i++) known += host_stands(plain_group(node, i), who, NULL);
    return known;
}

/* Two of five: nobody is elected, and nothing posted but what is asked for. */
static void open_minority(enum config_role second)
{
    prepare_world(5, 0);
    for (el_node node = 1; node <= 5; node++) world.hosts[node].config.members[1].role = second;
    start(1);
    start(2);
    pass(500);
}

static void whichever_letter_is_lost_comes_again(void **state)
{
    for (lost_letter = 0; lost_letter < 8; lost_letter++) {
        open_minority(CONFIG_VOTER);
        posting_letters = 0;
        world.takes = loses_one_of_postings;
        stand_for_plain(1, 0, SOME);
        pass(400);
        assert_int_equal(known_at(2, 1, SOME), SOME);
        close_world();
    }
}

/* A witness neither beats nor has anything to post: it must say by itself that it is behind. */
static void who_never_beats_hears_again_what_it_missed(void **state)
{
    for (enum config_role role = CONFIG_WITNESS; role <= CONFIG_OBSERVER; role++) {
        open_minority(role);
        posting_letters = lost_letter = 0;
        world.takes = loses_one_of_postings;
        stand_for_plain(1, 0, 1);
        pass(500);
        assert_int_equal(known_at(2, 1, 1), 1);
        close_world();
    }
}

static bool is_no_posting(const struct payload_entry *entry)
{
    return entry->type != PAYLOAD_POSTING;
}

static bool loses_postings(struct letter *letter)
{
    strip(letter, is_no_posting);
    return true;
}

static void two_that_are_behind_each_other_do_not_talk_without_end(void **state)
{
    open_minority(CONFIG_VOTER);
    world.takes = loses_postings;
    stand_for_plain(1, 0, SOME);
    stand_for_plain(2, SOME, SOME);
    world.sent = 0;
    pass(2000);
    assert_true(world.sent < 1000);
    world.takes = NULL;
    pass(400);
    assert_int_equal(known_at(2, 1, SOME), SOME);
    close_world();
}

/* What a letter brings, not when it comes, decides. */
static void what_is_late_or_doubled_changes_nothing(void **state)
{
    open_world(3);
    pass(500);
    world.delay_min = MS / 10;
    world.delay_max = 60 * MS;
    world.twice = 60;
    bool stands[SOME] = {0};
    for (unsigned i = 0; i < 600; i++) {
        const unsigned which = (unsigned)dice(SOME);
        stands[which] = !stands[which];
        host_stand(plain_group(1, which), stands[which], i);
        after_event(1);
        pass(dice(4));
    }
    pass(1000);
    for (unsigned i = 0; i < SOME; i++) { /* who leads wanted to */
        const bool wants = stands[i] || plain_led(1, i, 1);
        for (el_node node = 2; node <= 3; node++)
            assert_int_equal(host_stands(plain_group(node, i), 1, NULL), wants);
    }
    close_world();
}

/* ---- Many ---- */

static void thousands_get_there_and_a_lost_one_makes_no_flood(void **state)
{
    uint64_t sent[2];
    for (unsigned i = 0; i < 2; i++) {
        open_minority(CONFIG_VOTER);
        posting_letters = 0;
        lost_letter = i ? 0 : UINT32_MAX;
        world.takes = loses_one_of_postings;
        world.sent = 0;
        stand_for_plain(1, 0, MANY);
        pass(1500);
        assert_int_equal(known_at(2, 1, MANY), MANY);
        sent[i] = world.sent;
        close_world();
    }
    assert_true(sent[1] < sent[0] + sent[0] / 32);
}

static void who_comes_back_is_told_everything(void **state)
{
    open_world(3);
    pass(500);
    stand_for_plain(1, 0, MANY);
    stand_for_plain(3, 0, SOME);
    pass(1500);
    die(2);
    pass(300);
    start(2);
    pass(1500);
    assert_int_equal(world.hosts[2].host->group_count, MANY);
    assert_int_equal(known_at(2, 1, MANY), MANY);
    assert_int_equal(known_at(2, 3, MANY), SOME);
    close_world();
}

/* ---- Lives ---- */

static struct letter old_letter;

static bool keeps_a_posting(struct letter *letter)
{
    if (letter->from == 1 && letter->to == 2 && has_entry(letter, PAYLOAD_POSTING)) old_letter = *letter;
    return true;
}

static void what_an_earlier_life_said_is_gone(void **state)
{
    open_world(3);
    const unsigned group = watch("billing");
    pass(500);
    world.takes = keeps_a_posting;
    stand(1, group, true, 7);
    pass(2000);
    assert_true(leads(1, group));
    die(1);
    world.takes = NULL;
    start(1);
    pass(800);
    for (el_node node = 2; node <= 3; node++) assert_false(host_stands(&group_of(node, group)->base, 1, NULL));
    old_letter.at = world.now;
    post(&old_letter); /* it was on its way for long */
    pass(10);
    assert_false(host_stands(&group_of(2, group)->base, 1, NULL));
    assert_int_equal(host_view_of(&group_of(2, group)->base).leader, 0);
    stand(2, group, true, 0);
    pass(3000);
    assert_int_equal(leader_of(group), 2);
    close_world();
}

/* ---- Who says what it must not ---- */

static void say(el_node from, el_node to, struct payload_entry entry)
{
    struct payload payload;
    const struct session *s = world.hosts[from].host->sessions;
    entry.type = PAYLOAD_POSTING;
    entry.settings = s->runner.settings;
    entry.incarnation = s->me.incarnation;
    entry.length = (uint8_t)strlen(entry.text);
    payload_begin(&payload, world.hosts[from].host->members);
    assert_true(payload_add(&payload, &entry));
    host_receive(world.hosts[to].host, from, payload.bytes, payload.size);
    after_event(to);
}

static void what_was_read_before_is_not_read_again(void **state)
{
    open_minority(CONFIG_VOTER);
    struct host_group *group = plain_group(1, 0);
    host_stand(group, true, 0);
    after_event(1);
    pass(400);
    assert_true(host_stands(plain_group(2, 0), 1, NULL));
    const uint64_t then = world.hosts[1].host->sessions->version;
    host_stand(group, false, 0);
    after_event(1);
    pass(400);
    assert_false(host_stands(plain_group(2, 0), 1, NULL));
    say(1, 2,
        (struct payload_entry){
            .version = then, .group = host_key(group), .flags = PAYLOAD_STANDS, .text = "plain0"});
    assert_false(host_stands(plain_group(2, 0), 1, NULL));
    close_world();
}

static uint64_t key(const char *name)
{
    return seal_group_key(world.hosts[1].config.cluster_id, name);
}

static void a_liar_makes_no_group_and_breaks_nothing(void **state)
{
    open_world(3);
    const unsigned group = watch("billing");
    stand(1, group, true, 0);
    pass(2000);
    const uint32_t count = world.hosts[2].host->group_count;
    uint64_t version = world.hosts[1].host->sessions->version;
    say(3, 2, (struct payload_entry){.version = version + 1, .group = 5, .text = "nosuch"});
    say(3, 2, (struct payload_entry){.version = version + 2, .group = key("no such"), .text = "no such"});
    say(3, 2, (struct payload_entry){.version = version + 3, .group = key(""), .text = ""});
    say(3, 2, (struct payload_entry){.version = version + 4, .group = key("billing"), .text = "other"});
    assert_int_equal(world.hosts[2].host->group_count, count);
    version += 5;
    for (uint64_t term = 1; term; term = term < UINT64_MAX / 2 ? 2 * term : 0, version++)
        say(3, 2,
            (struct payload_entry){.version = version,
                                   .group = key("billing"),
                                   .text = "billing",
                                   .term = EL_EPOCH_MAX,
                                   .heir_term = term,
                                   .heir = (uint32_t)term});
    say(3, 2,
        (struct payload_entry){
            .version = UINT64_MAX, .group = key("billing"), .text = "billing", .term = 9, .heir = 4});
    pass(1000);
    assert_true(leads(1, group));
    assert_int_equal(host_view_of(&group_of(2, group)->base).leader, 1);
    close_world();
}

static void a_group_of_other_settings_is_complained_of_and_not_counted(void **state)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++) { /* all have both, but 3 puts the group under the other */
        world.hosts[node].config.group_count = 1;
        world.hosts[node].config.groups[0] =
            (struct config_group){.options = {{"lease", "2s"}}, .option_count = 1};
        snprintf(world.hosts[node].config.groups[0].name, 16, "%s", node == 3 ? "billing" : "other");
    }
    start_all();
    const unsigned group = watch("billing");
    stand(3, group, true, 9);
    pass(3000);
    assert_int_equal(leader_of(group), 0);
    assert_true(world.warnings > 0);
    stand(1, group, true, 0);
    pass(3000);
    assert_int_equal(leader_of(group), 1);
    assert_false(host_stands(&group_of(2, group)->base, 3, NULL));
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_letter_is_lost_comes_again),
        cmocka_unit_test(who_never_beats_hears_again_what_it_missed),
        cmocka_unit_test(two_that_are_behind_each_other_do_not_talk_without_end),
        cmocka_unit_test(what_is_late_or_doubled_changes_nothing),
        cmocka_unit_test(thousands_get_there_and_a_lost_one_makes_no_flood),
        cmocka_unit_test(who_comes_back_is_told_everything),
        cmocka_unit_test(what_an_earlier_life_said_is_gone),
        cmocka_unit_test(what_was_read_before_is_not_read_again),
        cmocka_unit_test(a_liar_makes_no_group_and_breaks_nothing),
        cmocka_unit_test(a_group_of_other_settings_is_complained_of_and_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
