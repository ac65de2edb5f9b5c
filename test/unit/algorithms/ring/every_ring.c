/* What the rings have in common, all of them or a family: node 3 of five, between 2 and 4. */
#include "lib/node/node.h"

enum { CLASSICS = 4, CLAIMS = 2, LAPS = 2, ALL = CLASSICS + CLAIMS + LAPS };

/* First those of the classical papers, which hear nothing of detectors; then those that pass claims on or go two laps. */
static const char *const all[ALL] = {"lelann",     "hirschberg-sinclair", "peterson",     "itai-rodeh",
                                     "ring-basic", "chang-roberts",       "ring-collect", "ring-max"};
static const uint8_t all_ordinary[] = {EL_ORDINARY, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY, EL_ORDINARY};

static void is_idle_until_somebody_calls(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        sit(all[i], 5, 3);
        starts();
        did("");
        sees("idle");
    }
}

static void starts_under_an_incumbent(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        sit(all[i], 5, 3);
        starts_under(4);
        did("");
        sees("follows 4");
        sit(all[i], 5, 3);
        starts_under(3);
        sees("leads");
    }
}

static void whoever_is_alone_leads_at_once(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        sit(all[i], 1, 1);
        starts();
        campaigns();
        did("note alone");
        sees("leads");
    }
}

static void whoever_is_alone_and_may_not_lead_does_not(void **state)
{
    for (size_t i = 0; i < CLASSICS; i++) {
        sit(all[i], 1, 1);
        seat.cluster.roles = all_ordinary;
        starts();
        campaigns();
        did("note alone");
        sees("idle");
    }
}

static void a_second_call_while_it_takes_part_changes_nothing(void **state)
{
    for (size_t i = 0; i < CLASSICS; i++) {
        sit(all[i], 5, 3);
        starts();
        campaigns();
        if (seat.out.actions[0].type == EL_CHOOSE) draws(0);
        campaigns();
        did("note takes-part");
        sees("elects");
    }
}

static void detectors_are_not_listened_to(void **state)
{
    for (size_t i = 0; i < CLASSICS; i++) {
        sit(all[i], 5, 3);
        starts_under(5);
        suspects(5);
        did("");
        suspects(4);
        did("");
        trusts(4);
        did("");
        sees("follows 5");
    }
}

static void nobody_resigns_or_hands_over(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        sit(all[i], 5, 3);
        starts_under(3);
        requests(EL_RESIGN, EL_NOBODY);
        did("note declined");
        requests(EL_TRANSFER, 5);
        did("note declined");
        sees("leads");
    }
}

static void without_a_leader_there_is_nothing_to_tell_who_comes_back(void **state)
{
    for (size_t i = 0; i < ALL; i++) {
        sit(all[i], 5, 3);
        starts();
        suspects(4);
        trusts(4);
        did("");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_idle_until_somebody_calls),
        cmocka_unit_test(starts_under_an_incumbent),
        cmocka_unit_test(whoever_is_alone_leads_at_once),
        cmocka_unit_test(whoever_is_alone_and_may_not_lead_does_not),
        cmocka_unit_test(a_second_call_while_it_takes_part_changes_nothing),
        cmocka_unit_test(detectors_are_not_listened_to),
        cmocka_unit_test(nobody_resigns_or_hands_over),
        cmocka_unit_test(without_a_leader_there_is_nothing_to_tell_who_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
