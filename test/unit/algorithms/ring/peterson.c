/* The ring of Peterson and of Dolev, Klawe and Rodeh, rule by rule: node 3 of five, whose successor is 4. */
#include "lib/node/node.h"

static const uint8_t last_two_ordinary[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_ORDINARY};

static void sends_its_own_claim_and_then_the_one_before(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    did("send 4 First 3");
    sees("elects");
    hears(2, "First 2");
    did("note hands-on 3; send 4 Second 2");
}

static void takes_over_a_claim_that_is_above_both_its_neighbours(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "First 5");
    did("note hands-on 3; send 4 Second 5");
    hears(2, "Second 4");
    did("note takes-over 5; send 4 First 5");
    hears(2, "First 4");
    did("note hands-on 5; send 4 Second 4");
}

static void gives_up_when_its_own_claim_is_above_the_one_before(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "First 2");
    hears(2, "Second 1");
    did("note gives-up 3");
    sees("elects");
}

static void gives_up_when_the_farther_claim_is_above_the_nearer(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "First 4");
    hears(2, "Second 5");
    did("note gives-up 3");
    campaigns();
    did("note takes-part");
    hears(2, "First 5");
    did("note passes; send 4 First 5");
    hears(2, "Second 4");
    did("note passes; send 4 Second 4");
}

static void whoever_sees_its_claim_return_names_the_owner(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "First 5");
    hears(2, "Second 4");
    hears(2, "First 5");
    did("note returned 5; send 4 Elected 5 m3");
    sees("follows 5");
    hears(2, "Elected 5 m3");
    did("");
    sees("follows 5");
}

static void the_owner_learns_that_it_leads(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "Elected 3 m1");
    did("note learns 3; send 4 Elected 3 m1");
    sees("leads");
}

static void its_own_news_may_return_when_it_has_called_again(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "First 3");
    did("note returned 3; send 4 Elected 3 m3");
    campaigns();
    did("send 4 First 3");
    hears(2, "Elected 3 m3");
    did("");
    sees("elects");
}

static void woken_by_a_claim_it_stands_for_itself_first(void **state)
{
    sit("peterson", 5, 3);
    starts_under(5);
    hears(2, "First 2");
    did("note woken; send 4 First 3; note hands-on 3; send 4 Second 2");
    sees("elects");
}

static void a_claim_out_of_turn_is_dropped(void **state)
{
    sit("peterson", 5, 3);
    starts();
    campaigns();
    hears(2, "Second 2");
    did("note out-of-turn 2");
    hears(2, "First 2");
    hears(2, "First 1");
    did("note out-of-turn 1");
    sit("peterson", 5, 3);
    starts();
    hears(2, "Second 2");
    did("note woken; send 4 First 3; note out-of-turn 2");
}

static void news_must_come_from_a_member(void **state)
{
    sit("peterson", 5, 3);
    starts();
    hears(2, "Elected 5");
    did("note malformed");
    hears(2, "Elected 5 m6");
    did("note malformed");
    sees("idle");
    hears(2, "Elected 5 m5");
    did("note learns 5; send 4 Elected 5 m5");
    hears(2, "Elected 4 m1");
    did("note learns 4; send 4 Elected 4 m1");
}

static void claims_rank_candidates_first_and_then_by_attribute(void **state)
{
    static const uint64_t attributes[] = {9, 0, 7, 0, 0};
    sit("peterson", 5, 3);
    seat.cluster.attributes = attributes;
    comes_back();
    did("send 4 First 3 r7");
    hears(2, "First 1 r9");
    did("note hands-on 3; send 4 Second 1 r9");
    hears(2, "Second 5");
    did("note takes-over 1; send 4 First 1 r9");
    hears(2, "First 1 r9");
    did("note returned 1; send 4 Elected 1 r9 m3");
    sit("peterson", 5, 3);
    seat.cluster.roles = last_two_ordinary;
    starts();
    campaigns();
    hears(2, "First 5");
    hears(2, "Second 4");
    did("note gives-up 3");
    hears(2, "Elected 5 m1"); /* which no honest member says */
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_its_own_claim_and_then_the_one_before),
        cmocka_unit_test(takes_over_a_claim_that_is_above_both_its_neighbours),
        cmocka_unit_test(gives_up_when_its_own_claim_is_above_the_one_before),
        cmocka_unit_test(gives_up_when_the_farther_claim_is_above_the_nearer),
        cmocka_unit_test(whoever_sees_its_claim_return_names_the_owner),
        cmocka_unit_test(the_owner_learns_that_it_leads),
        cmocka_unit_test(its_own_news_may_return_when_it_has_called_again),
        cmocka_unit_test(woken_by_a_claim_it_stands_for_itself_first),
        cmocka_unit_test(a_claim_out_of_turn_is_dropped),
        cmocka_unit_test(news_must_come_from_a_member),
        cmocka_unit_test(claims_rank_candidates_first_and_then_by_attribute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
