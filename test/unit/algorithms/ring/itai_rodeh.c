/*
 * Itai and Rodeh's anonymous ring, rule by rule: node 3 of five, whose successor is 4. Of a token, e is the round,
 * r the number drawn, a the hops made, and f1 says that the number is shared.
 */
#include "lib/node/node.h"

static const uint8_t last_two_ordinary[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_ORDINARY};
static const uint8_t all_ordinary[] = {EL_ORDINARY, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY};

static void draws_before_it_sends(void **state)
{
    sit("itai-rodeh", 5, 3);
    starts();
    campaigns();
    did("choose below 5");
    sees("elects");
    draws(3);
    did("note drew 4 1; send 4 Token 3 e1 r4 a1");
    sees("elects");
}

static void woken_by_a_token_it_draws_sends_and_only_then_reads(void **state)
{
    sit("itai-rodeh", 5, 3);
    starts_under(5);
    hears(2, "Token 2 e1 r2 a1");
    did("choose below 5");
    sees("elects");
    draws(0);
    did("note drew 1 1; send 4 Token 3 e1 r1 a1; note silenced 2 1; send 4 Token 3 e1 r2 a2");
    hears(2, "Token 2 e1 r5 a3");
    did("note passes 5 1; send 4 Token 3 e1 r5 a4");
}

static void the_token_that_woke_it_is_read_once(void **state)
{
    sit("itai-rodeh", 5, 3);
    starts();
    hears(2, "Token 2 e1 r2 a1");
    draws(4);
    did("note drew 5 1; send 4 Token 3 e1 r5 a1; note purges 2 1");
    hears(2, "Token 2 e1 r5 a5 f1");
    did("note tied 5; choose below 5");
    draws(1);
    did("note drew 2 2; send 4 Token 3 e2 r2 a1");
}

/* Active in round 1 with the number 3. */
static void sit_with_three(void)
{
    sit("itai-rodeh", 5, 3);
    starts();
    campaigns();
    draws(2);
}

static void a_greater_number_silences_it(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e1 r4 a2");
    did("note silenced 4 1; send 4 Token 3 e1 r4 a3");
    hears(2, "Token 2 e1 r1 a2");
    did("note passes 1 1; send 4 Token 3 e1 r1 a3");
    campaigns();
    did("note takes-part");
}

static void a_later_round_counts_more_than_a_number(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e2 r1 a2");
    did("note silenced 1 2; send 4 Token 3 e2 r1 a3");
    sit_with_three();
    hears(2, "Token 2 e1 r3 a5 f1");
    draws(0);
    did("note drew 1 2; send 4 Token 3 e2 r1 a1");
    hears(2, "Token 2 e1 r5 a2");
    did("note purges 5 1");
}

static void a_smaller_number_is_taken_off_the_ring(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e1 r2 a4");
    did("note purges 2 1");
}

static void the_same_number_in_anothers_token_is_marked(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e1 r3 a4");
    did("note twin 3; send 4 Token 3 e1 r3 a5 f1");
    sees("elects");
}

static void a_token_that_comes_home_unmarked_has_won(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e1 r3 a5");
    did("note unique 3; send 4 Elected 3");
    sees("leads");
    hears(2, "Elected 3");
    did("");
    sees("leads");
    campaigns();
    did("choose below 5");
    draws(0);
    did("note drew 1 1; send 4 Token 3 e1 r1 a1");
}

static void a_token_that_comes_home_marked_begins_a_round(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e1 r3 a5 f1");
    did("note tied 3; choose below 5");
    draws(1);
    did("note drew 2 2; send 4 Token 3 e2 r2 a1");
}

static void learns_the_winners_name_from_the_news(void **state)
{
    sit_with_three();
    hears(2, "Elected 5");
    did("note learns 5; send 4 Elected 5");
    sees("follows 5");
}

static void a_token_once_around_that_is_not_its_own_is_dropped(void **state)
{
    sit_with_three();
    hears(2, "Token 2 e1 r4 a5");
    did("note spent");
    sees("elects");
    hears(2, "Token 2 e1 r4 a4");
    hears(2, "Token 2 e1 r3 a5"); /* its own, but it has been silenced */
    did("note spent");
    sit("itai-rodeh", 5, 3);
    starts_under(4);
    hears(2, "Token 2 e1 r3 a5");
    did("note spent");
    sees("follows 4");
}

static void a_token_makes_between_one_and_n_hops(void **state)
{
    sit("itai-rodeh", 5, 3);
    starts();
    hears(2, "Token 2 e1 r3");
    did("note malformed");
    hears(2, "Token 2 e1 r3 a6");
    did("note malformed");
    sees("idle");
}

static void a_number_nobody_asked_for_means_nothing(void **state)
{
    sit("itai-rodeh", 5, 3);
    starts();
    draws(2);
    did("");
    sees("idle");
    sit_with_three();
    draws(4);
    did("");
    hears(2, "Token 2 e1 r3 a5");
    did("note unique 3; send 4 Elected 3");
}

static void a_member_that_may_not_lead_relays(void **state)
{
    sit("itai-rodeh", 5, 4);
    seat.cluster.roles = last_two_ordinary;
    starts_under(1);
    hears(3, "Token 3 e1 r2 a1");
    did("note passes 2 1; send 5 Token 4 e1 r2 a2");
    sees("elects");
    hears(3, "Elected 5"); /* which no honest member says */
    sees("idle");
}

static void its_call_is_below_all_numbers_that_are_drawn(void **state)
{
    sit("itai-rodeh", 5, 4);
    seat.cluster.roles = last_two_ordinary;
    starts_under(1);
    campaigns();
    did("send 5 Token 4 e1 a1");
    sees("elects");
    hears(3, "Token 3 e1 r1 a1");
    did("note silenced 1 1; send 5 Token 4 e1 r1 a2");
    sit("itai-rodeh", 5, 3);
    starts();
    hears(2, "Token 2 e1 a3");
    draws(0);
    did("note drew 1 1; send 4 Token 3 e1 r1 a1; note purges 0 1");
}

static void a_call_that_comes_home_has_met_no_candidate(void **state)
{
    sit("itai-rodeh", 5, 4);
    seat.cluster.roles = all_ordinary;
    starts();
    campaigns();
    hears(3, "Token 3 e1 a5 f1");
    did("");
    sees("idle");
}

static void whoever_comes_back_to_an_anonymous_ring_draws(void **state)
{
    sit("itai-rodeh", 5, 3);
    comes_back();
    did("choose below 5");
    draws(4);
    did("note drew 5 1; send 4 Token 3 e1 r5 a1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_before_it_sends),
        cmocka_unit_test(woken_by_a_token_it_draws_sends_and_only_then_reads),
        cmocka_unit_test(the_token_that_woke_it_is_read_once),
        cmocka_unit_test(a_greater_number_silences_it),
        cmocka_unit_test(a_later_round_counts_more_than_a_number),
        cmocka_unit_test(a_smaller_number_is_taken_off_the_ring),
        cmocka_unit_test(the_same_number_in_anothers_token_is_marked),
        cmocka_unit_test(a_token_that_comes_home_unmarked_has_won),
        cmocka_unit_test(a_token_that_comes_home_marked_begins_a_round),
        cmocka_unit_test(learns_the_winners_name_from_the_news),
        cmocka_unit_test(a_token_once_around_that_is_not_its_own_is_dropped),
        cmocka_unit_test(a_token_makes_between_one_and_n_hops),
        cmocka_unit_test(a_number_nobody_asked_for_means_nothing),
        cmocka_unit_test(a_member_that_may_not_lead_relays),
        cmocka_unit_test(its_call_is_below_all_numbers_that_are_drawn),
        cmocka_unit_test(a_call_that_comes_home_has_met_no_candidate),
        cmocka_unit_test(whoever_comes_back_to_an_anonymous_ring_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
