/*
 * Candidates: members that may lead and have no vote (M22 to M24). They talk to voters only. So what one of them knows of the
 * others, voters have told it: who leads, by which value, who wants to lead, its place in line, whom to name its heir.
 *
 * Members 1 to 3 vote and never lead, 4 to 6 are candidates.
 */
#include "lib/host/plain_groups.h"

enum { VOTERS = 3, CANDIDATES = 3, FIRST = VOTERS + 1, LAST = VOTERS + CANDIDATES };

static unsigned watched;

static void prepare_candidates(void)
{
    prepare_world(LAST, 0);
    for (el_node node = 1; node <= LAST; node++)
        for (el_node each = 1; each <= LAST; each++)
            world.hosts[node].config.members[each - 1].role =
                each <= VOTERS ? CONFIG_WITNESS : CONFIG_CANDIDATE;
    watched = watch("work");
}

static void open_candidates(void)
{
    prepare_candidates();
    start_all();
    pass(1500);
    for (el_node node = 1; node <= LAST; node++) (void)group_of(node, watched);
}

static const char *value_at(el_node node)
{
    const struct host_view view = host_view_of(&group_of(node, watched)->base);
    return view.value ? view.value : "";
}

static el_node followed_by(el_node node)
{
    return host_view_of(&group_of(node, watched)->base).leader;
}

static bool wants(el_node at, el_node who)
{
    return host_stands(&group_of(at, watched)->base, who, NULL);
}

/* ---- What is under way ---- */

static bool is_told(const struct payload_entry *entry)
{
    return entry->type == PAYLOAD_TOLD;
}

static bool holds(const struct letter *letter, bool (*is_sought)(const struct payload_entry *))
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    bool has = false;
    while (payload_next(letter->bytes, letter->size, &at, &entry) == PAYLOAD_ENTRY)
        has = has || is_sought(&entry);
    return has;
}

static unsigned told_letters, lost_letter;

static bool loses_one_that_tells(struct letter *letter)
{
    if (letter->to < FIRST || !holds(letter, is_told)) return true;
    return told_letters++ != lost_letter;
}

static bool is_no_vote(const struct payload_entry *entry)
{
    return entry->type != PAYLOAD_MESSAGE || entry->msg.kind != QUORUM_VOTE;
}

static bool loses_votes(struct letter *letter)
{
    strip(letter, is_no_vote);
    return true;
}

static unsigned between_candidates;

static bool counts_what_candidates_say(struct letter *letter)
{
    between_candidates += letter->from >= FIRST && letter->to >= FIRST;
    return true;
}

/* ---- Who leads ---- */

static void all_know_a_leader_that_they_do_not_hear(void **state)
{
    open_candidates();
    world.takes = counts_what_candidates_say;
    between_candidates = 0;
    stand(FIRST, watched, true, 0);
    pass(500);
    host_proclaim(&group_of(FIRST, watched)->base, "first");
    pass(500);
    assert_true(leads(FIRST, watched));
    for (el_node node = 1; node <= LAST; node++) {
        assert_int_equal(followed_by(node), FIRST);
        assert_string_equal(value_at(node), "first");
    }
    assert_int_equal(between_candidates, 0);
    close_world();
}

/* The leader and its term are as they were: only the value is news. */
static void another_value_is_told(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(500);
    for (unsigned i = 0; i < 3; i++) {
        char value[8];
        snprintf(value, sizeof value, "v%u", i);
        host_proclaim(&group_of(FIRST, watched)->base, value);
        after_event(FIRST);
        pass(500);
        assert_string_equal(value_at(LAST), value);
    }
    close_world();
}

static void whichever_letter_that_tells_is_lost_comes_again(void **state)
{
    for (lost_letter = 0; lost_letter < 9; lost_letter++) {
        open_candidates();
        told_letters = 0;
        world.takes = loses_one_that_tells;
        stand(FIRST, watched, true, 0);
        pass(1500);
        assert_true(leads(FIRST, watched));
        for (el_node node = 1; node <= LAST; node++) assert_int_equal(followed_by(node), FIRST);
        close_world();
    }
}

/* One voter is enough to know it by. What the others have told counts no more once they are not heard. */
static void a_leader_is_known_by_the_voters_that_are_heard(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1500);
    die(1);
    pass(3500);
    assert_int_equal(followed_by(LAST), FIRST);
    cut_both_ways(LAST, 2, true);
    pass(3500);
    assert_int_equal(followed_by(LAST), FIRST);
    cut_both_ways(LAST, 3, true);
    pass(3500);
    assert_int_equal(followed_by(LAST), EL_NOBODY);
    cut_both_ways(LAST, 2, false);
    pass(3500);
    assert_int_equal(followed_by(LAST), FIRST);
    close_world();
}

/* ---- Who wants to lead ---- */

/* By a set that voters tell, of those with whom we have no session; the word of the others counts for themselves. */
static void all_know_who_wants_to_lead(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1000);
    stand(FIRST + 1, watched, true, 0);
    pass(1500);
    for (el_node node = 1; node <= LAST; node++) {
        assert_true(wants(node, FIRST));
        assert_true(wants(node, FIRST + 1));
        assert_false(wants(node, LAST));
        assert_false(wants(node, 1));
    }
    stand(FIRST + 1, watched, false, 0);
    pass(1500);
    for (el_node node = 1; node <= LAST; node++) assert_false(wants(node, FIRST + 1));
    close_world();
}

/* It is not heard: a voter that misses it tells nobody of its wish. */
static void the_wish_of_the_dead_is_told_no_more(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1000);
    stand(FIRST + 1, watched, true, 0);
    pass(1500);
    assert_true(wants(LAST, FIRST + 1));
    die(FIRST + 1);
    pass(5000);
    assert_true(leads(FIRST, watched));
    host_proclaim(&group_of(FIRST, watched)->base, "news");
    after_event(FIRST);
    pass(1500);
    assert_false(wants(LAST, FIRST + 1));
    close_world();
}

/* A voter speaks for itself, also to a candidate that another voter tells of it. */
static void what_is_told_of_voters_does_not_count(void **state)
{
    prepare_candidates();
    for (el_node node = 1; node <= LAST; node++) world.hosts[node].config.members[0].role = CONFIG_VOTER;
    start_all();
    pass(1500);
    stand(1, watched, true, 0);
    pass(1500);
    assert_int_equal(followed_by(LAST), 1);
    assert_true(wants(LAST, 1));
    stand(FIRST, watched, true, 0); /* voters 2 and 3 tell LAST of FIRST alone */
    pass(1500);
    assert_true(wants(LAST, 1));
    assert_true(wants(LAST, FIRST));
    assert_true(wants(1, FIRST));
    close_world();
}

/* ---- When a group comes free ---- */

static void another_candidate_leads_after_a_death(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1000);
    for (el_node node = FIRST + 1; node <= LAST; node++) stand(node, watched, true, 0);
    pass(1500);
    die(FIRST);
    pass(4000);
    const el_node next = leader_of(watched);
    assert_true(next > FIRST);
    for (el_node node = 1; node <= LAST; node++)
        if (node != FIRST) assert_int_equal(followed_by(node), next);
    close_world();
}

/* Its requests for votes are lost, and it gives up, and asks again. */
static void a_candidate_whose_request_is_lost_asks_again(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1000);
    stand(LAST, watched, true, 0);
    pass(1000);
    world.takes = loses_votes;
    die(FIRST);
    pass(6000);
    assert_int_equal(leader_of(watched), EL_NOBODY);
    world.takes = NULL;
    pass(2500);
    assert_int_equal(leader_of(watched), LAST);
    close_world();
}

/* The leader has no session with the candidate to which it hands over: voters do. */
static void hands_over_to_a_candidate_that_it_does_not_hear(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1000);
    for (el_node node = FIRST + 1; node <= LAST; node++) stand(node, watched, true, 0);
    pass(1500);
    assert_true(leads(FIRST, watched));
    assert_true(let_go(FIRST, watched, LAST));
    pass(1500);
    assert_int_equal(leader_of(watched), LAST);
    for (el_node node = 1; node <= LAST; node++) assert_int_equal(followed_by(node), LAST);
    close_world();
}

/* ---- Groups that are dropped ---- */

/* The last group takes the number of the one that goes, and what was told of it with it. */
static void what_was_told_goes_with_the_group(void **state)
{
    enum { MANY = 40 };
    open_candidates();
    for (unsigned i = 0; i < MANY; i++) (void)plain_group(1, i);
    for (unsigned i = 0; i < MANY; i++) stand_for_plain(FIRST + i % CANDIDATES, i, 1);
    pass(3000);
    for (unsigned i = 0; i < MANY; i++) assert_true(plain_led(FIRST + i % CANDIDATES, i, 1));
    struct session *s = session_at(1, watched);
    const uint32_t number = group_of(1, watched)->number;
    assert_true(number <= s->group_count && s->news);
    struct session_group *last = session_group_at(s, s->group_count);
    const uint32_t told = s->news[last->number - 1];
    assert_true(host_forget(&group_of(1, watched)->base)); /* nobody uses it */
    assert_int_equal(last->number, number);
    assert_int_equal(s->news[number - 1], told);
    close_world();
}

/* ---- A restart, and a lost record ---- */

static void a_candidate_that_restarts_is_told_what_it_missed(void **state)
{
    open_candidates();
    stand(FIRST, watched, true, 0);
    pass(1000);
    for (unsigned wiped = 0; wiped < 2; wiped++) {
        die(LAST);
        pass(300);
        if (wiped) unlink(world.hosts[LAST].path);
        start(LAST);
        (void)group_of(LAST, watched);
        pass(4000);
        assert_int_equal(followed_by(LAST), FIRST);
        assert_true(wants(LAST, FIRST));
    }
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_know_a_leader_that_they_do_not_hear),
        cmocka_unit_test(another_value_is_told),
        cmocka_unit_test(whichever_letter_that_tells_is_lost_comes_again),
        cmocka_unit_test(a_leader_is_known_by_the_voters_that_are_heard),
        cmocka_unit_test(all_know_who_wants_to_lead),
        cmocka_unit_test(the_wish_of_the_dead_is_told_no_more),
        cmocka_unit_test(what_is_told_of_voters_does_not_count),
        cmocka_unit_test(another_candidate_leads_after_a_death),
        cmocka_unit_test(a_candidate_whose_request_is_lost_asks_again),
        cmocka_unit_test(hands_over_to_a_candidate_that_it_does_not_hear),
        cmocka_unit_test(what_was_told_goes_with_the_group),
        cmocka_unit_test(a_candidate_that_restarts_is_told_what_it_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
