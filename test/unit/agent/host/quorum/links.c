/* Many groups that gave up for want of links: where leases last for minutes they stand again when a link is back, in turns. */
#include "lib/host/plain_groups.h"

enum { GROUPS = 1000 };

static struct {
    bool lets_one_pass; /* of what 3 says, to 2 */
    unsigned votes, releases;
} wire;

static bool counts(const struct payload_entry *entry)
{
    wire.votes += entry->type == PAYLOAD_MESSAGE && entry->msg.kind == QUORUM_VOTE;
    wire.releases += entry->type == PAYLOAD_MESSAGE && entry->msg.kind == QUORUM_RELEASE;
    return true;
}

static bool takes(struct letter *letter)
{
    if (letter->from == 2) strip(letter, counts);
    if (letter->from != 3 || !world.cut[3][1]) return true;
    if (letter->to != 2 || !wire.lets_one_pass) return false;
    wire.lets_one_pass = false;
    return true;
}

static unsigned wanting_links(void)
{
    const struct session *s = world.hosts[2].host->sessions;
    unsigned wanting = 0;
    for (uint32_t number = 1; number <= s->group_count; number++)
        wanting += session_expand(session_group_at(s, number))->quorum.links_wanted != 0;
    return wanting;
}

static void the_third_leads_all(void)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++) set_lease(node, "600s");
    start_all();
    stand_for_plain(3, 0, GROUPS);
    pass(3000);
    stand_for_plain(2, 0, GROUPS);
    pass(2000);
    assert_int_equal(plain_led(3, 0, GROUPS), GROUPS);
    world.takes = takes;
}

/* Only the second learns of it, by one word; the first stands by the old life. */
static void the_third_is_back_in_another_life(void)
{
    die(3);
    world.cut[3][1] = wire.lets_one_pass = true;
    start(3);
}

/* The old life holds them all, and claims nothing any more: nobody makes way for it. */
static void all_give_up_for_want_of_a_link(void)
{
    wire.votes = wire.releases = 0;
    the_third_is_back_in_another_life();
    pass(300);
    assert_int_equal(wanting_links(), GROUPS);
    assert_int_equal(wire.votes, 2 * GROUPS); /* one stand each */
    assert_int_equal(wire.releases, 2 * GROUPS);
}

static void a_link_makes_all_that_lacked_it_stand_again_in_turns(void **state)
{
    the_third_leads_all();
    const struct session *s = world.hosts[2].host->sessions;
    all_give_up_for_want_of_a_link();
    wire.votes = wire.releases = 0;
    world.cut[3][1] = false;
    const uint64_t end = world.now + 1000 * MS;
    while (wanting_links() && step(end)) {}
    pass(100); /* less than until they ask again */
    assert_int_equal(wanting_links(), 0);
    assert_int_equal(s->standing, SESSION_HOPELESS_MAX);
    assert_int_equal(wire.votes, 2 * SESSION_HOPELESS_MAX);
    assert_int_equal(wire.releases, 0);
    close_world();
}

static void who_has_the_links_it_lacked_leads_as_soon_as_the_work_is_known_to_be_over(void **state)
{
    the_third_leads_all();
    const uint64_t old = world.hosts[2].host->sessions->peers[2].incarnation;
    all_give_up_for_want_of_a_link();
    world.cut[3][1] = false;
    pass(1000);
    for (el_node node = 1; node <= 2; node++) bury(node, world.hosts[node].host->sessions, 3, 1, old);
    pass(2000); /* and not a quarter of ten minutes */
    assert_int_equal(plain_led(2, 0, GROUPS), GROUPS);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_makes_all_that_lacked_it_stand_again_in_turns),
        cmocka_unit_test(who_has_the_links_it_lacked_leads_as_soon_as_the_work_is_known_to_be_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
