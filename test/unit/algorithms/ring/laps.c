/* The rings of two laps, rule by rule: node 3 of five. Elect carries the initiator in m, Elected the closer. */
#include "lib/node/node.h"

static const char *const both[] = {"ring-collect", "ring-max"};

static void a_call_begins_a_numbered_lap(void **state)
{
    sit("ring-collect", 5, 3);
    starts();
    campaigns();
    did("send 4 Elect 3 {3} e1 m3");
    sees("elects");
    sit("ring-max", 5, 3);
    starts();
    campaigns();
    did("send 4 Elect 3 e1 m3");
    sees("elects");
}

static void adds_itself_to_the_set(void **state)
{
    sit("ring-collect", 5, 3);
    starts();
    hears(2, "Elect 2 {1,2} e1 m1");
    did("note adds; send 4 Elect 2 {1,2,3} e1 m1");
    sees("elects");
}

static void adds_itself_only_if_it_is_better(void **state)
{
    static const uint64_t attributes[] = {4, 0, 4, 0, 3};
    sit("ring-max", 5, 3);
    seat.cluster.attributes = attributes;
    starts();
    hears(2, "Elect 1 e1 r4 m1");
    did("note adds; send 4 Elect 3 e1 r4 a1 m1");
    hears(2, "Elect 5 e1 r3 a1 m1");
    did("note adds; send 4 Elect 3 e1 r4 a2 m1");
    hears(2, "Elect 4 e1 r5 a1 m4");
    did("send 4 Elect 4 e1 r5 a2 m4");
}

static void closes_the_lap_when_it_finds_itself_in_the_set(void **state)
{
    sit("ring-collect", 5, 3);
    starts();
    campaigns();
    hears(2, "Elect 3 {1,2,3,5} e1 m3");
    did("note closes 5; send 4 Elected 5 e1 m3");
    sees("follows 5");
}

static void closes_the_lap_of_an_initiator_that_died(void **state)
{
    sit("ring-collect", 5, 3);
    starts();
    hears(2, "Elect 1 {2,3,4} e4 m1");
    did("note closes 4; send 4 Elected 4 e4 m3");
    sit("ring-max", 5, 3);
    starts();
    hears(2, "Elect 5 e1 a3 m1");
    did("send 4 Elect 5 e1 a4 m1");
    hears(2, "Elect 5 e2 a4 m1"); /* five hops: it must have come around */
    did("note closes 5; send 4 Elected 5 e2 m3");
}

static void closes_its_own_lap(void **state)
{
    sit("ring-max", 5, 3);
    starts();
    campaigns();
    hears(2, "Elect 4 e1 r6 a2 m3");
    did("note closes 4; send 4 Elected 4 e1 m3");
    sees("follows 4");
}

static void the_closer_may_be_the_leader(void **state)
{
    sit("ring-collect", 5, 5);
    starts();
    hears(4, "Elect 5 {1,2,3,4,5} e1 m5");
    did("note closes 5; send 1 Elected 5 e1 m5");
    sees("leads");
}

static void learns_the_result_and_passes_it_on(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        campaigns();
        hears(2, "Elected 5 e1 m2");
        did("note learns 5; send 4 Elected 5 e1 m2");
        sees("follows 5");
    }
}

static void takes_the_announcement_off_where_it_began(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Elected 5 e1 m2");
        hears(2, "Elected 5 e1 m2");
        did("note stops");
        sees("follows 5");
    }
}

static void the_newest_result_prevails(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Elected 5 e7 m2");
        hears(2, "Elected 4 e6 m5");
        did("note outdated 4");
        hears(2, "Elected 4 e7 m1");
        did("note outdated 4");
        sees("follows 5");
        hears(2, "Elected 4 e7 m4");
        did("note learns 4; send 4 Elected 4 e7 m4");
        hears(2, "Elected 5 e8 m1");
        did("note learns 5; send 4 Elected 5 e8 m1");
        sees("follows 5");
    }
}

static void a_result_without_a_number_is_news_to_a_node_without_one(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Elected 5 m1");
        did("note learns 5; send 4 Elected 5 m1");
    }
}

static void a_lap_is_numbered_above_all_that_its_members_know(void **state)
{
    sit("ring-collect", 5, 3);
    starts();
    hears(2, "Elected 5 e7 m2");
    campaigns();
    did("send 4 Elect 3 {3} e8 m3");
    hears(2, "Elect 2 {2} e2 m2");
    did("note adds; send 4 Elect 2 {2,3} e8 m2");
    hears(2, "Elect 2 {2} e9 m2");
    did("note adds; send 4 Elect 2 {2,3} e9 m2");
}

static void objects_to_a_leader_it_outranks(void **state)
{
    sit("ring-collect", 5, 3);
    starts();
    hears(2, "Elected 2 e4 m2");
    did("note objects 2; send 4 Elect 3 {3} e5 m3");
    sees("elects");
    sit("ring-max", 5, 3);
    starts();
    hears(2, "Elected 2 e4 m2");
    did("note objects 2; send 4 Elect 3 e5 m3");
}

static void does_not_follow_the_dead(void **state)
{
    sit("ring-max", 5, 3);
    starts();
    suspects(5);
    hears(2, "Elected 5 e4 m2");
    did("note leader-gone 5; send 4 Elect 3 e5 m3");
    hears(2, "Elect 5 e5 a4 m2");
    did("note leader-gone 5; send 4 Elect 3 e5 m3");
    sees("elects");
    trusts(5);
    did("");
    hears(2, "Elect 5 e5 a4 m2");
    did("note closes 5; send 4 Elected 5 e5 m3");
}

static void drops_messages_that_name_nobody(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        hears(2, "Elect 2 e1");
        did("note malformed");
        hears(2, "Elect 2 e1 m6");
        did("note malformed");
        hears(2, "Elected 2 e1 m0x100000001");
        did("note malformed");
        sees("idle");
    }
}

static void starts_over_when_the_leader_dies_or_the_lap_may_have(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts_under(5);
        suspects(1);
        did("");
        sees("follows 5");
    }
    sit("ring-collect", 5, 3);
    starts_under(5);
    suspects(5);
    did("note starts-over 5; send 4 Elect 3 {3} e1 m3");
    suspects(1);
    did("note starts-over 1; send 4 Elect 3 {3} e1 m3");
    suspects(4);
    did("note starts-over 4; send 2 Elect 3 {3} e1 m3");
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
        did("send 4 Elected 5 r8 m3");
        suspects(1);
        trusts(1); /* not its successor */
        did("");
        hears(2, "Elected 5 e6 r8 m2");
        suspects(4);
        trusts(4);
        did("send 4 Elected 5 e6 r8 m2");
    }
}

static void a_failed_hop_is_tried_beyond(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 5, 3);
        starts();
        fails_to_reach(4, "Elected 5 e1 m3");
        did("note skips 4; send 5 Elected 5 e1 m3");
        fails_to_reach(2, "Elected 3 e1 m3");
        did("note skips 2; note alone");
        sees("leads");
    }
}

static void whoever_is_alone_leads(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        sit(both[i], 2, 2);
        starts();
        suspects(1);
        hears(1, "Elect 2 {2} e1 m2");
        did("note closes 2; note alone");
        sees("leads");
    }
}

static void whoever_comes_back_calls_an_election(void **state)
{
    sit("ring-collect", 5, 3);
    comes_back();
    did("send 4 Elect 3 {3} e1 m3");
    sit("ring-max", 5, 3);
    comes_back();
    did("send 4 Elect 3 e1 m3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_begins_a_numbered_lap),
        cmocka_unit_test(adds_itself_to_the_set),
        cmocka_unit_test(adds_itself_only_if_it_is_better),
        cmocka_unit_test(closes_the_lap_when_it_finds_itself_in_the_set),
        cmocka_unit_test(closes_the_lap_of_an_initiator_that_died),
        cmocka_unit_test(closes_its_own_lap),
        cmocka_unit_test(the_closer_may_be_the_leader),
        cmocka_unit_test(learns_the_result_and_passes_it_on),
        cmocka_unit_test(takes_the_announcement_off_where_it_began),
        cmocka_unit_test(the_newest_result_prevails),
        cmocka_unit_test(a_result_without_a_number_is_news_to_a_node_without_one),
        cmocka_unit_test(a_lap_is_numbered_above_all_that_its_members_know),
        cmocka_unit_test(objects_to_a_leader_it_outranks),
        cmocka_unit_test(does_not_follow_the_dead),
        cmocka_unit_test(drops_messages_that_name_nobody),
        cmocka_unit_test(starts_over_when_the_leader_dies_or_the_lap_may_have),
        cmocka_unit_test(tells_a_successor_that_comes_back_who_leads),
        cmocka_unit_test(a_failed_hop_is_tried_beyond),
        cmocka_unit_test(whoever_is_alone_leads),
        cmocka_unit_test(whoever_comes_back_calls_an_election),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
