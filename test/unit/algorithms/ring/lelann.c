/* LeLann's ring, rule by rule: node 3 of five, whose successor is 4. */
#include "lib/node/node.h"

static const uint8_t last_two_ordinary[] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_ORDINARY};
static const uint8_t all_ordinary[] = {EL_ORDINARY, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY};

static void sends_its_token_and_reads_the_others(void **state)
{
    sit("lelann", 5, 3);
    starts();
    campaigns();
    did("send 4 Token 3");
    sees("elects");
    hears(2, "Token 5");
    did("note reads-better 5; send 4 Token 5");
    hears(2, "Token 1");
    did("note reads 1 5; send 4 Token 1");
    hears(2, "Token 4");
    did("note reads 4 5; send 4 Token 4");
    hears(2, "Token 3");
    did("note home 5");
    sees("follows 5");
}

static void woken_by_a_token_sends_its_own_first(void **state)
{
    sit("lelann", 5, 3);
    starts_under(5);
    hears(2, "Token 1");
    did("note woken 1; send 4 Token 3; note reads 1 3; send 4 Token 1");
    sees("elects");
    hears(2, "Token 2");
    did("note reads 2 3; send 4 Token 2");
    hears(2, "Token 3");
    did("note home 3");
    sees("leads");
}

static void forgets_the_last_election_when_the_next_begins(void **state)
{
    sit("lelann", 5, 3);
    starts();
    campaigns();
    hears(2, "Token 5");
    hears(2, "Token 3");
    sees("follows 5");
    campaigns();
    did("send 4 Token 3");
    sees("elects");
    hears(2, "Token 3");
    did("note home 3");
    sees("leads");
}

static void drops_a_token_of_its_own_that_it_does_not_expect(void **state)
{
    sit("lelann", 5, 3);
    starts_under(5);
    hears(2, "Token 3");
    did("note stray");
    sees("follows 5");
}

static void comes_back_and_calls(void **state)
{
    sit("lelann", 5, 5);
    comes_back();
    did("send 1 Token 5");
    sees("elects");
}

static void ranks_by_the_attribute_that_travels(void **state)
{
    static const uint64_t attributes[] = {9, 0, 7, 0, 0};
    sit("lelann", 5, 3);
    seat.cluster.attributes = attributes;
    starts();
    campaigns();
    did("send 4 Token 3 r7");
    hears(2, "Token 5");
    did("note reads 5 3; send 4 Token 5");
    hears(2, "Token 1 r9");
    did("note reads-better 1; send 4 Token 1 r9");
}

static void puts_any_candidate_above_those_who_may_not_lead(void **state)
{
    sit("lelann", 5, 3);
    seat.cluster.roles = last_two_ordinary;
    starts();
    campaigns();
    hears(2, "Token 5");
    did("note reads 5 3; send 4 Token 5");
    sit("lelann", 5, 4);
    seat.cluster.roles = last_two_ordinary;
    starts();
    campaigns();
    did("send 5 Token 4");
    hears(3, "Token 5");
    did("note reads-better 5; send 5 Token 5");
    hears(3, "Token 1");
    did("note reads-better 1; send 5 Token 1");
    hears(3, "Token 4");
    did("note home 1");
    sees("follows 1");
}

static void elects_nobody_where_nobody_may_lead(void **state)
{
    sit("lelann", 5, 3);
    seat.cluster.roles = all_ordinary;
    starts();
    campaigns();
    hears(2, "Token 5");
    hears(2, "Token 3");
    did("note home 5");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_its_token_and_reads_the_others),
        cmocka_unit_test(woken_by_a_token_sends_its_own_first),
        cmocka_unit_test(forgets_the_last_election_when_the_next_begins),
        cmocka_unit_test(drops_a_token_of_its_own_that_it_does_not_expect),
        cmocka_unit_test(comes_back_and_calls),
        cmocka_unit_test(ranks_by_the_attribute_that_travels),
        cmocka_unit_test(puts_any_candidate_above_those_who_may_not_lead),
        cmocka_unit_test(elects_nobody_where_nobody_may_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
