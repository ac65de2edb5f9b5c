/* Giving up in a quorum group for want of links: then it is links that are waited for, and not time (Q22). */
#include "lib/node/quorum.h"

static void loses_its_links(void)
{
    times_out_for("linked", 1);
    times_out_for("linked", 3);
    times_out("re-ask");
    noted("gives-up");
    timer_did(QUORUM_STAND, 0, "arm 25..100");
}

static void who_lacked_links_stands_in_its_turn_when_they_are_back(void **state)
{
    stands(3, 2);
    loses_its_links();
    acks(1, 2, 0, 0);
    noted("waits");
    said("");
    timer_did(QUORUM_STAND, 0, "arm 10..15");
    times_out_for("linked", 1);
    acks(1, 2, 0, 0); /* whoever comes and goes does not begin it anew */
    timer_did(QUORUM_STAND, 0, "");
    times_out("stand");
    said("Vote>1 3.2; Vote>3 3.2");
}

/* 3 leads, and was restarted. That 1 does not know yet; and the new life of 3 has not answered. */
static void who_was_refused_by_few_and_lacked_links_waits_for_those(void **state)
{
    stands(3, 2);
    peers.life[3] = 2;
    beats(3, 1, 0);
    refuses(1, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    noted("has-no-chance");
    timer_did(QUORUM_STAND, 0, "arm 25..100");
    times_out_for("recent", 1); /* news, but no link */
    timer_did(QUORUM_STAND, 0, "");
    acks(3, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "arm 10..15");
    times_out("stand");
    said("Vote>1 3.2; Vote>3 3.2");
    refuses(1, TERM(3, 2), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    sees("elects"); /* two are left */
}

static void one_link_of_several_that_are_missing_is_not_enough(void **state)
{
    stands(5, 1);
    for (el_node peer = 3; peer <= 5; peer++) times_out_for("linked", peer);
    times_out("re-ask");
    noted("gives-up");
    times_out_for("linked", 2);
    acks(3, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "");
    acks(4, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "arm 40..45");
}

static void links_that_do_not_come_are_not_waited_for_for_ever(void **state)
{
    stands(3, 2);
    times_out_for("linked", 3);
    refuses(1, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 3, 0);
    noted("has-no-chance");
    timer_did(QUORUM_STAND, 0, "arm 25..100");
    times_out_for("recent", 3);
    times_out("stand");
    said("Vote>1 3.2; Vote>3 3.2");
}

/* Links were missing, too, but it is for the sake of another that it waits. */
static void who_made_way_waits_its_time_whatever_links_come(void **state)
{
    stands(3, 2);
    times_out_for("linked", 1);
    times_out_for("linked", 3);
    refuses(1, TERM(2, 2), QUORUM_HELD | QUORUM_FRESH, 3, 0);
    noted("yields");
    acks(1, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "");

    stands(5, 2);
    for (el_node peer = 3; peer <= 5; peer++) times_out_for("linked", peer);
    times_out("re-ask");
    noted("gives-up");
    grants(1, TERM(5, 2), 2, 0, 0); /* unasked: that it once lacked links is over */
    noted("is-pushed");
    refuses(1, TERM(5, 2), QUORUM_HELD | QUORUM_FRESH, 3, 0);
    noted("yields");
    acks(1, 2, 0, 0);
    acks(3, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "");
}

static void at_its_deadline_it_waits_for_links_only_if_it_lacks_them(void **state)
{
    stands(3, 2);
    times_out_for("linked", 3);
    times_out("deadline");
    timer_did(QUORUM_STAND, 0, "arm 25..100");
    acks(3, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "");

    stands(3, 2);
    times_out_for("linked", 1);
    times_out_for("linked", 3);
    times_out("deadline");
    acks(3, 2, 0, 0);
    timer_did(QUORUM_STAND, 0, "arm 10..15");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lacked_links_stands_in_its_turn_when_they_are_back),
        cmocka_unit_test(who_was_refused_by_few_and_lacked_links_waits_for_those),
        cmocka_unit_test(one_link_of_several_that_are_missing_is_not_enough),
        cmocka_unit_test(links_that_do_not_come_are_not_waited_for_for_ever),
        cmocka_unit_test(who_made_way_waits_its_time_whatever_links_come),
        cmocka_unit_test(at_its_deadline_it_waits_for_links_only_if_it_lacks_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
