/* The ring for many initiators, rule by rule: node 3 of five. A pair is (e: run, m: initiator). */
#include "lib/node/node.h"

/* (3N - 1)(Ttrans + Tprocess) */
enum { PATIENCE = 154 };

static void a_call_opens_a_run(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    sees("idle");
    campaigns();
    did("arm patience 154; send 4 Election 3 e1 m3");
    sees("elects");
    campaigns();
    did("");
}

static void forwards_a_stronger_claim(void **state)
{
    sit("ring-initiator", 5, 3);
    starts_under(5);
    hears(2, "Election 5 e1 m2");
    did("arm patience 154; note forwards 5; send 4 Election 5 e1 m2");
    sees("elects");
}

static void outbids_a_weaker_claim_once(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    hears(2, "Election 1 e1 m1");
    did("arm patience 154; note outbids 1; send 4 Election 3 e1 m1");
    hears(2, "Election 2 e1 m1");
    did("note swallows 2");
    sees("elects");
}

static void a_run_of_no_number_counts_where_none_was_seen(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    hears(2, "Election 5 m2");
    did("arm patience 154; note forwards 5; send 4 Election 5 m2");
}

static void only_the_highest_pair_passes(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    campaigns();
    hears(2, "Election 5 e1 m2");
    did("note suppresses 1 2");
    hears(2, "Election 5 m4");
    did("note suppresses 0 4");
    hears(2, "Election 1 e1 m4");
    did("arm patience 154; note outbids 1; send 4 Election 3 e1 m4");
    hears(2, "Election 5 e2 m1");
    did("arm patience 154; note forwards 5; send 4 Election 5 e2 m1");
}

static void a_claim_that_comes_home_has_won(void **state)
{
    static const uint64_t attributes[] = {0, 0, 6, 0, 0};
    sit("ring-initiator", 5, 3);
    seat.cluster.attributes = attributes;
    starts();
    campaigns();
    did("arm patience 154; send 4 Election 3 e1 r6 m3");
    hears(2, "Election 3 e1 r6 m3");
    did("note came-home; disarm patience; send 4 Elected 3 e1 r6 m3");
    sees("leads");
    hears(2, "Elected 3 e1 r6 m3");
    did("");
    sees("leads");
}

static void a_claim_seen_twice_has_lost_its_owner(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    hears(2, "Election 5 e1 m2");
    hears(2, "Election 5 e1 m2");
    did("note seen-twice 5; arm patience 154; send 4 Election 3 e2 m3");
    hears(2, "Elected 5 e2 m3");
    did("note learns 5; disarm patience; send 4 Elected 5 e2 m3");
    sees("follows 5");
    hears(2, "Elected 5 e2 m3");
    did("note seen-twice 5; arm patience 154; send 4 Election 3 e3 m3");
    sees("elects");
}

static void objects_to_a_leader_it_outranks(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    hears(2, "Elected 1 e1 m1");
    did("arm patience 154; note objects 1; arm patience 154; send 4 Election 3 e2 m3");
}

static void reopens_for_whoever_missed_its_runs(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    hears(2, "Elected 5 e3 m4");
    hears(2, "Elected 5 e2 m4");
    did("note suppresses 2 4");
    hears(2, "Election 1 e3 m1");
    did("note suppresses 3 1");
    sees("follows 5");
    hears(2, "Election 1 e1 m1");
    did("note reopens 1 1; arm patience 154; send 4 Election 3 e4 m3");
    sees("elects");
}

static void drops_messages_whose_initiator_does_not_exist(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    hears(2, "Election 5 e1");
    did("note malformed");
    hears(2, "Elected 5 e1 m6");
    did("note malformed");
    sees("idle");
}

static void drops_a_claim_of_the_dead_but_heeds_its_call(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    suspects(4);
    did("");
    hears(2, "Elected 4 e1 m2");
    did("note ignores-gone 4");
    hears(2, "Election 4 e1 m2");
    did("note ignores-gone 4; arm patience 154; send 5 Election 3 e1 m3");
    hears(2, "Election 4 e1 m2");
    did("note ignores-gone 4");
    trusts(4);
    did("");
    hears(2, "Election 4 e1 m4");
    did("arm patience 154; note forwards 4; send 4 Election 4 e1 m4");
}

static void starts_over_when_its_claim_or_leader_is_gone(void **state)
{
    sit("ring-initiator", 5, 3);
    starts_under(5);
    suspects(1);
    did("");
    suspects(5);
    did("note starts-over 5; arm patience 154; send 4 Election 3 e1 m3");
    hears(2, "Election 4 e1 m3");
    did("note forwards 4; send 4 Election 4 e1 m3");
    suspects(4);
    did("note starts-over 4; arm patience 154; send 2 Election 3 e2 m3");
}

static void patience_doubles_up_to_eight_times(void **state)
{
    static const char *const expected[] = {
        "note out-of-patience; arm patience 308; send 4 Election 3 e2 m3",
        "note out-of-patience; arm patience 616; send 4 Election 3 e3 m3",
        "note out-of-patience; arm patience 1232; send 4 Election 3 e4 m3",
        "note out-of-patience; arm patience 2464; send 4 Election 3 e5 m3",
        "note out-of-patience; arm patience 4928; send 4 Election 3 e6 m3",
        "note out-of-patience; arm patience 9856; send 4 Election 3 e7 m3",
        "note out-of-patience; arm patience 19712; send 4 Election 3 e8 m3",
        "note out-of-patience; arm patience 39424; send 4 Election 3 e9 m3",
        "note out-of-patience; arm patience 39424; send 4 Election 3 e10 m3",
    };
    assert_int_equal(PATIENCE << 8, 39424);
    sit("ring-initiator", 5, 3);
    starts();
    campaigns();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        times_out("patience");
        did(expected[i]);
    }
    hears(2, "Elected 5 e10 m3");
    hears(2, "Election 1 e1 m1");
    did("note reopens 1 1; arm patience 154; send 4 Election 3 e11 m3"); /* a result restores it */
}

static void a_failed_hop_is_tried_beyond_unless_it_is_out_of_date(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    campaigns();
    fails_to_reach(4, "Election 3 e1 m3");
    did("note skips 4; send 5 Election 3 e1 m3");
    hears(2, "Election 5 e2 m1");
    fails_to_reach(5, "Election 3 e1 m3");
    did("note skips 5; note suppresses 1 3");
    fails_to_reach(2, "Election 5 e2 m1");
    did("note skips 2; note alone; disarm patience");
    sees("leads");
}

static void whoever_is_alone_leads(void **state)
{
    sit("ring-initiator", 1, 1);
    starts();
    campaigns();
    did("arm patience 22; note alone; disarm patience");
    sees("leads");
}

static void whoever_comes_back_calls_an_election(void **state)
{
    sit("ring-initiator", 5, 3);
    comes_back();
    did("arm patience 154; send 4 Election 3 e1 m3");
}

static void knows_no_other_request(void **state)
{
    sit("ring-initiator", 5, 3);
    starts();
    requests(EL_TRANSFER, 4);
    did("note declined");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_opens_a_run),
        cmocka_unit_test(forwards_a_stronger_claim),
        cmocka_unit_test(outbids_a_weaker_claim_once),
        cmocka_unit_test(a_run_of_no_number_counts_where_none_was_seen),
        cmocka_unit_test(only_the_highest_pair_passes),
        cmocka_unit_test(a_claim_that_comes_home_has_won),
        cmocka_unit_test(a_claim_seen_twice_has_lost_its_owner),
        cmocka_unit_test(objects_to_a_leader_it_outranks),
        cmocka_unit_test(reopens_for_whoever_missed_its_runs),
        cmocka_unit_test(drops_messages_whose_initiator_does_not_exist),
        cmocka_unit_test(drops_a_claim_of_the_dead_but_heeds_its_call),
        cmocka_unit_test(starts_over_when_its_claim_or_leader_is_gone),
        cmocka_unit_test(patience_doubles_up_to_eight_times),
        cmocka_unit_test(a_failed_hop_is_tried_beyond_unless_it_is_out_of_date),
        cmocka_unit_test(whoever_is_alone_leads),
        cmocka_unit_test(whoever_comes_back_calls_an_election),
        cmocka_unit_test(knows_no_other_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
