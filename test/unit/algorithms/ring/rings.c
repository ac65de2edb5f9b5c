/* The two rings of the lectures, rule by rule: node 3 of five, whose successor is 4. */
#include "lib/node/node.h"

static const char *const both[] = {"ring-basic", "chang-roberts"};

static void a_call_sends_its_own_claim_clockwise(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        did("");
        sees("idle");
        campaigns();
        did("send 4 Election 3");
        sees("elects");
    }
}

static void the_last_sends_to_the_first(void **state)
{
    sit("chang-roberts", 5, 5);
    starts();
    campaigns();
    did("send 1 Election 5");
}

static void forwards_a_stronger_claim(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts_under(4);
        sees("follows 4");
        hears(2, "Election 5");
        did("note forwards 5; send 4 Election 5");
        sees("elects");
    }
}

static void outbids_a_weaker_claim(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Election 1");
        did("note outbids 1; send 4 Election 3");
        sees("elects");
    }
}

static void swallows_a_weaker_claim_while_it_takes_part(void **state)
{
    sit("chang-roberts", 5, 3);
    starts();
    campaigns();
    hears(2, "Election 1");
    did("note swallows 1");
    hears(2, "Election 5");
    did("note forwards 5; send 4 Election 5");
    hears(2, "Election 1");
    did("note swallows 1");
}

static void the_basic_ring_forgets_that_it_takes_part(void **state)
{
    sit("ring-basic", 5, 3);
    starts();
    campaigns();
    hears(2, "Election 1");
    did("note outbids 1; send 4 Election 3");
    campaigns();
    did("send 4 Election 3");
}

static void a_participant_does_not_call_again(void **state)
{
    sit("chang-roberts", 5, 3);
    starts();
    campaigns();
    campaigns();
    did("");
}

static void a_claim_that_comes_home_has_won(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        campaigns();
        hears(2, "Election 3");
        did("note came-home; send 4 Elected 3");
        sees("leads");
        hears(2, "Elected 3");
        did("");
        sees("leads");
    }
}

static void learns_the_leader_and_passes_it_on(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        campaigns();
        hears(2, "Elected 5");
        did("note learns 5; send 4 Elected 5");
        sees("follows 5");
    }
}

static void objects_to_a_leader_it_outranks(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Elected 1");
        did("note objects 1; send 4 Election 3");
        sees("elects");
    }
}

static void the_attribute_comes_before_the_id_and_travels(void **state)
{
    static const uint64_t attributes[] = {9, 0, 7, 0, 0};
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        seat.cluster.attributes = attributes;
        starts();
        hears(2, "Election 1 r9");
        did("note forwards 1; send 4 Election 1 r9");
        sit(both[i], 5, 3);
        seat.cluster.attributes = attributes;
        starts();
        hears(2, "Election 5");
        did("note outbids 5; send 4 Election 3 r7");
        hears(2, "Election 3 r7");
        did("note came-home; send 4 Elected 3 r7");
    }
}

static void ids_rank_whatever_the_order_on_the_ring(void **state)
{
    static const uint64_t ids[] = {3, 32, 5, 80, 6};
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        seat.cluster.ids = ids;
        starts();
        hears(2, "Election 2");
        did("note forwards 2; send 4 Election 2");
        hears(2, "Elected 4");
        did("note learns 4; send 4 Elected 4");
    }
}

static void sends_past_a_suspected_successor(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        suspects(4);
        did("");
        suspects(5);
        did("");
        campaigns();
        did("send 1 Election 3");
    }
}

static void drops_a_claim_of_the_dead_but_heeds_its_call(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        suspects(5);
        hears(2, "Election 5");
        did("note ignores-gone 5; send 4 Election 3");
        hears(2, "Election 5");
        did("note ignores-gone 5");
        hears(2, "Elected 5");
        did("note ignores-gone 5");
    }
}

static void does_not_follow_the_dead(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        suspects(5);
        hears(2, "Elected 5");
        did("note ignores-gone 5");
        sees("idle");
    }
}

static void starts_over_when_the_leader_is_gone(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts_under(5);
        suspects(1);
        did("");
        sees("follows 5");
        suspects(5);
        did("note starts-over 5; send 4 Election 3");
        sees("elects");
    }
}

static void starts_over_when_anybody_dies_in_an_election(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Election 5");
        suspects(1);
        did("note starts-over 1; send 4 Election 3");
    }
}

static void a_failed_hop_is_tried_beyond(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        campaigns();
        fails_to_reach(4, "Election 3");
        did("note skips 4; send 5 Election 3");
        fails_to_reach(5, "Election 3");
        did("note skips 5; send 1 Election 3");
        fails_to_reach(2, "Election 3");
        did("note skips 2; note alone");
        sees("leads");
    }
}

static void a_failed_hop_about_the_dead_is_not_tried_again(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Election 5");
        suspects(5);
        fails_to_reach(4, "Election 5");
        did("note skips 4; note ignores-gone 5");
    }
}

static void whoever_is_alone_leads(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 3, 2);
        starts();
        suspects(3);
        suspects(1);
        campaigns();
        did("note alone");
        sees("leads");
    }
}

static void tells_a_successor_that_comes_back_who_leads(void **state)
{
    static const uint64_t attributes[] = {0, 0, 0, 0, 8};
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        seat.cluster.attributes = attributes;
        starts_under(5);
        suspects(4);
        trusts(4);
        did("send 4 Elected 5 r8");
        suspects(1);
        trusts(1);
        did("");
    }
}

static void whoever_comes_back_calls_an_election(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        comes_back();
        did("send 4 Election 3");
        sees("elects");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_sends_its_own_claim_clockwise),
        cmocka_unit_test(the_last_sends_to_the_first),
        cmocka_unit_test(forwards_a_stronger_claim),
        cmocka_unit_test(outbids_a_weaker_claim),
        cmocka_unit_test(swallows_a_weaker_claim_while_it_takes_part),
        cmocka_unit_test(the_basic_ring_forgets_that_it_takes_part),
        cmocka_unit_test(a_participant_does_not_call_again),
        cmocka_unit_test(a_claim_that_comes_home_has_won),
        cmocka_unit_test(learns_the_leader_and_passes_it_on),
        cmocka_unit_test(objects_to_a_leader_it_outranks),
        cmocka_unit_test(the_attribute_comes_before_the_id_and_travels),
        cmocka_unit_test(ids_rank_whatever_the_order_on_the_ring),
        cmocka_unit_test(sends_past_a_suspected_successor),
        cmocka_unit_test(drops_a_claim_of_the_dead_but_heeds_its_call),
        cmocka_unit_test(does_not_follow_the_dead),
        cmocka_unit_test(starts_over_when_the_leader_is_gone),
        cmocka_unit_test(starts_over_when_anybody_dies_in_an_election),
        cmocka_unit_test(a_failed_hop_is_tried_beyond),
        cmocka_unit_test(a_failed_hop_about_the_dead_is_not_tried_again),
        cmocka_unit_test(whoever_is_alone_leads),
        cmocka_unit_test(tells_a_successor_that_comes_back_who_leads),
        cmocka_unit_test(whoever_comes_back_calls_an_election),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
