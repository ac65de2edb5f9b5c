/*
 * Hirschberg and Sinclair's ring, rule by rule: node 3 of five, between 2 and 4. Of a message, e is the run, a
 * the phase, m the hops left, and f1 says that it travels backwards.
 */
#include "lib/node/node.h"

static const uint8_t last_two_ordinary[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_ORDINARY};

static void probes_both_neighbours_first(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    did("send 4 Probe 3 e1 m1; send 2 Probe 3 e1 m1 f1");
    sees("elects");
    sit("hirschberg-sinclair", 5, 5);
    starts();
    campaigns();
    did("send 1 Probe 5 e1 m1; send 4 Probe 5 e1 m1 f1");
    sit("hirschberg-sinclair", 5, 1);
    starts();
    campaigns();
    did("send 2 Probe 1 e1 m1; send 5 Probe 1 e1 m1 f1");
}

static void passes_a_stronger_probe_on_as_far_as_it_is_to_go(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(2, "Probe 5 e1 a2 m4");
    did("note forwards 5 3; send 4 Probe 5 e1 a2 m3");
    hears(4, "Probe 5 e1 a2 m2 f1");
    did("note forwards 5 1; send 2 Probe 5 e1 a2 m1 f1");
}

static void the_last_one_replies_the_way_the_probe_came(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(2, "Probe 5 e1 a1 m1");
    did("note replies 5; send 2 Reply 5 e1 a1 f1");
    hears(4, "Probe 5 e1 a1 m1 f1");
    did("note replies 5; send 4 Reply 5 e1 a1");
}

static void swallows_a_weaker_probe_however_far_it_is_to_go(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(4, "Probe 1 e1 a2 m4 f1");
    did("note swallows 1");
    hears(2, "Probe 2 e1 m1");
    did("note swallows 2");
}

static void carries_a_reply_to_its_owner(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(2, "Reply 5 e1 a1");
    did("note carries 5; send 4 Reply 5 e1 a1");
    hears(4, "Reply 1 e1 a1 f1");
    did("note carries 1; send 2 Reply 1 e1 a1 f1");
}

static void two_replies_allow_the_next_phase(void **state)
{
    sit("hirschberg-sinclair", 9, 3);
    starts();
    campaigns();
    hears(4, "Reply 3 e1 f1");
    did("note half");
    hears(4, "Reply 3 e1 f1");
    did("note half"); /* twice from one side is not from both */
    hears(2, "Reply 3 e1");
    did("note advances 1 2; send 4 Probe 3 e1 a1 m2; send 2 Probe 3 e1 a1 m2 f1");
    hears(2, "Reply 3 e1 a1");
    did("note half");
    hears(4, "Reply 3 e1 f1");
    did("note late"); /* of the phase before */
    hears(4, "Reply 3 e1 a1 f1");
    did("note advances 2 4; send 4 Probe 3 e1 a2 m4; send 2 Probe 3 e1 a2 m4 f1");
}

static void a_probe_that_comes_home_has_won(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(2, "Probe 3 e1 a3 m4");
    did("note came-home; send 4 Elected 3 e1");
    sees("leads");
    hears(4, "Probe 3 e1 a3 m4 f1");
    did("note other-home");
    hears(4, "Reply 3 e1 f1");
    did("note late");
    hears(2, "Elected 3 e1");
    did("");
    sees("leads");
}

static void learns_who_won_and_passes_it_on(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(2, "Elected 5 e1");
    did("note learns 5; send 4 Elected 5 e1");
    sees("follows 5");
    hears(4, "Probe 5 e1 a3 m4 f1");
    did("note forwards 5 3; send 2 Probe 5 e1 a3 m3 f1"); /* its other probe is still under way */
    sees("follows 5");
}

static void a_message_of_a_later_run_wakes(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts_under(5);
    hears(2, "Probe 2 e2 m1");
    did("note woken; send 4 Probe 3 e2 m1; send 2 Probe 3 e2 m1 f1; note swallows 2");
    sees("elects");
    hears(2, "Probe 5 e3 m1");
    did("note woken; send 4 Probe 3 e3 m1; send 2 Probe 3 e3 m1 f1; note replies 5; send 2 Reply 5 e3 f1");
    hears(2, "Reply 5 e4 a1");
    did("note woken; send 4 Probe 3 e4 m1; send 2 Probe 3 e4 m1 f1; note carries 5; send 4 Reply 5 e4 a1");
}

static void the_news_of_a_later_run_is_enough(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts_under(5);
    hears(2, "Elected 4 e7");
    did("note learns 4; send 4 Elected 4 e7");
    sees("follows 4");
    campaigns();
    did("send 4 Probe 3 e8 m1; send 2 Probe 3 e8 m1 f1");
}

static void whatever_is_of_an_earlier_run_is_dropped(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts_under(5);
    campaigns();
    did("send 4 Probe 3 e2 m1; send 2 Probe 3 e2 m1 f1");
    hears(2, "Probe 5 e1 m1");
    did("note outdated 1");
    hears(2, "Reply 3 e1");
    did("note outdated 1");
    hears(2, "Elected 5 e1");
    did("note outdated 1");
    sees("elects");
}

static void a_late_probe_does_not_begin_another_election(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    campaigns();
    hears(2, "Elected 5 e1");
    hears(4, "Probe 1 e1 m1 f1");
    did("note swallows 1");
    sees("follows 5");
}

static void a_probe_all_around_cannot_be_answered(void **state)
{
    sit("hirschberg-sinclair", 4, 3);
    starts();
    campaigns();
    hears(2, "Reply 3 e1 a2");
    did("note malformed");
    hears(2, "Reply 4 e1 a40");
    did("note malformed");
    hears(2, "Reply 4 e1 a64");
    did("note malformed");
    hears(2, "Reply 4 e1 a1");
    did("note carries 4; send 4 Reply 4 e1 a1");
}

static void there_are_two_directions_and_no_probe_of_no_hops(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    hears(2, "Probe 5 e1 m1 f2");
    did("note malformed");
    hears(2, "Probe 5 e1");
    did("note malformed");
    sees("idle");
}

static void a_run_that_has_no_next_one_is_refused(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    starts();
    hears(2, "Elected 5 e9007199254740991");
    did("note malformed");
    hears(2, "Elected 5 e9007199254740990");
    did("note learns 5; send 4 Elected 5 e9007199254740990");
    campaigns();
    did("send 4 Probe 3 e9007199254740991 m1; send 2 Probe 3 e9007199254740991 m1 f1");
}

static void two_on_a_ring_are_neighbours_twice(void **state)
{
    sit("hirschberg-sinclair", 2, 2);
    starts();
    campaigns();
    did("send 1 Probe 2 e1 m1; send 1 Probe 2 e1 m1 f1");
    hears(1, "Reply 2 e1 f1");
    did("note half");
    hears(1, "Reply 2 e1");
    did("note advances 1 2; send 1 Probe 2 e1 a1 m2; send 1 Probe 2 e1 a1 m2 f1");
}

static void probes_rank_candidates_first_and_then_by_attribute(void **state)
{
    static const uint64_t attributes[] = {9, 0, 7, 0, 0};
    sit("hirschberg-sinclair", 5, 3);
    seat.cluster.attributes = attributes;
    starts();
    campaigns();
    did("send 4 Probe 3 e1 r7 m1; send 2 Probe 3 e1 r7 m1 f1");
    hears(2, "Probe 5 e1 m1");
    did("note swallows 5");
    hears(2, "Probe 1 e1 r9 m1");
    did("note replies 1; send 2 Reply 1 e1 r9 f1");
    sit("hirschberg-sinclair", 5, 3);
    seat.cluster.roles = last_two_ordinary;
    starts();
    campaigns();
    hears(2, "Probe 5 e1 m1");
    did("note swallows 5");
}

static void a_prober_that_comes_back_begins_with_the_first_run(void **state)
{
    sit("hirschberg-sinclair", 5, 3);
    comes_back();
    did("send 4 Probe 3 e1 m1; send 2 Probe 3 e1 m1 f1");
    sees("elects");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_both_neighbours_first),
        cmocka_unit_test(passes_a_stronger_probe_on_as_far_as_it_is_to_go),
        cmocka_unit_test(the_last_one_replies_the_way_the_probe_came),
        cmocka_unit_test(swallows_a_weaker_probe_however_far_it_is_to_go),
        cmocka_unit_test(carries_a_reply_to_its_owner),
        cmocka_unit_test(two_replies_allow_the_next_phase),
        cmocka_unit_test(a_probe_that_comes_home_has_won),
        cmocka_unit_test(learns_who_won_and_passes_it_on),
        cmocka_unit_test(a_message_of_a_later_run_wakes),
        cmocka_unit_test(the_news_of_a_later_run_is_enough),
        cmocka_unit_test(whatever_is_of_an_earlier_run_is_dropped),
        cmocka_unit_test(a_late_probe_does_not_begin_another_election),
        cmocka_unit_test(a_probe_all_around_cannot_be_answered),
        cmocka_unit_test(there_are_two_directions_and_no_probe_of_no_hops),
        cmocka_unit_test(a_run_that_has_no_next_one_is_refused),
        cmocka_unit_test(two_on_a_ring_are_neighbours_twice),
        cmocka_unit_test(probes_rank_candidates_first_and_then_by_attribute),
        cmocka_unit_test(a_prober_that_comes_back_begins_with_the_first_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
