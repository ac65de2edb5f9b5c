/*
 * When a run is over where something always beats: when nothing has changed for long. The toy beats every delay.
 */
#include "lib/sim/toy.h"

static void beat_for_ever(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                          struct el_outbox *out)
{
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, CROWN, cfg->cluster->count, 0);
    arm(out, FIRST, 0, 10);
}

static void start_beating(void *state, const struct el_config *cfg, const struct el_start *start,
                          struct el_outbox *out)
{
    toy_start(state, cfg, start, out);
    arm(out, FIRST, 0, 10);
}

static void beat_without_a_word(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                                struct el_outbox *out)
{
    arm(out, FIRST, 0, 10);
}

static int bring_a_beating_toy(void **state)
{
    bring_a_new_toy(state);
    toy.beats = true;
    toy.on_start = start_beating;
    toy.on_timer = beat_for_ever;
    return 0;
}

static void ends_at(double delays)
{
    assert_true(bench.result->came_to_rest);
    assert_int_equal(bench.result->ended, (sim_time)(delays * (double)T));
}

static void a_run_ends_when_nothing_has_changed_for_long(void **state)
{
    toys("nodes 3; initiator none; settle 20");
    ends_at(22); /* at 2 all knew the leader */
    elected(3);
    took(2);
    toys("nodes 3; initiator none; settle 50");
    ends_at(52);
}

static void without_changes_it_ends_at_once_after_that(void **state)
{
    toy.on_timer = beat_without_a_word;
    toys("nodes 3; leader 3; initiator none; settle 20");
    ends_at(20);
    assert_int_equal(bench.result->violation_kinds, 0);
}

static void commands_are_changes_and_all_of_them_are_waited_for(void **state)
{
    toys("nodes 3; initiator none; settle 20; crash 1@70");
    ends_at(90);
    toys("nodes 3; initiator none; settle 20; pause 1@3..12");
    ends_at(32);
}

static void suspicions_are_changes(void **state)
{
    toys("nodes 3; initiator none; settle 20; crash 1@3; detect 9");
    ends_at(32);
}

static void what_is_judged_is_the_rest_after_the_last_command(void **state)
{
    errand = crown_itself_for_all;
    toy.on_timer = beat_without_a_word;
    toys("nodes 3; initiator 3@60; settle 20"); /* nobody leads at the first rest */
    elected(3);
    toys("nodes 3; initiator none; settle 20");
    violated(EL_NO_LEADER);
}

static void what_beats_for_ever_without_saying_so_is_endless(void **state)
{
    toy.beats = false;
    toys("nodes 3; initiator 1; settle 20; horizon 100");
    violated(EL_ENDLESS);
}

static void change_its_mind(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                            struct el_outbox *out)
{
    struct toy *me = state;
    me->leader = me->leader == 1 ? 2 : 1;
    arm(out, FIRST, 0, 100);
}

static void one_that_changes_its_mind_for_ever_is_endless(void **state)
{
    toy.on_timer = change_its_mind;
    toy.claims = 0;
    toys("nodes 3; initiator none; settle 20; horizon 1000"); /* every ten delays */
    violated(EL_ENDLESS);
}

static void each_beat_counts_as_a_message_and_none_after_the_last_change_as_cost(void **state)
{
    toys("nodes 3; initiator none; settle 20");
    assert_true(bench.result->sent[0] > 100);
    last_sent_in_all(6); /* one beat of all, until it was known */
}

static void a_detector_beside_keeps_a_quiet_election_from_ending_at_once(void **state)
{
    bring_a_new_toy(state);
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3@1; detector heartbeat; settle 20");
    assert_true(bench.result->came_to_rest);
    assert_in_range(bench.result->ended, 22 * T, 1000 * T);
    elected(3);
    took(1);
}

#define beating(test) cmocka_unit_test_setup_teardown(test, bring_a_beating_toy, put_it_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        beating(a_run_ends_when_nothing_has_changed_for_long),
        beating(without_changes_it_ends_at_once_after_that),
        beating(commands_are_changes_and_all_of_them_are_waited_for),
        beating(suspicions_are_changes),
        beating(what_is_judged_is_the_rest_after_the_last_command),
        beating(what_beats_for_ever_without_saying_so_is_endless),
        beating(one_that_changes_its_mind_for_ever_is_endless),
        beating(each_beat_counts_as_a_message_and_none_after_the_last_change_as_cost),
        beating(a_detector_beside_keeps_a_quiet_election_from_ending_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
