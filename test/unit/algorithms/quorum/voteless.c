/*
 * Members that lead and do not vote (M22 to M24): users call their role candidate. Members 1 to 3 are witnesses, so that none of
 * them stands; 4 and 5 are candidates, 6 is an observer.
 */
#include "lib/node/quorum.h"

#include "algorithms/quorum/group.h"

enum { COUNT = 6, REST = 1000000000 };
static const uint8_t roles[COUNT] = {EL_ORDINARY, EL_ORDINARY, EL_ORDINARY,
                                     EL_VOTELESS, EL_VOTELESS, EL_OBSERVER};

static void begins_as(el_node self)
{
    sit_in_quorum(COUNT, self);
    seat.cluster.roles = roles;
    starts();
}

static void tells(el_node from, struct quorum_told told)
{
    hears_from(from, quorum_make_told(told));
}

static void stands_as_4(void)
{
    begins_as(4);
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    tells(1, (struct quorum_told){.place = 1});
    times_out("stand");
    sees("elects");
}

static void leads_as_4(void)
{
    stands_as_4();
    grants(1, TERM(2, 4), 2, 0, 0);
    grants(2, TERM(2, 4), 2, 0, 0);
    sees("leads");
}

/* ---- M22 ---- */

static void a_candidate_speaks_to_voters_alone(void **state)
{
    begins_as(4);
    said_with_beats("save; Beat>1; Beat>2; Beat>3");
    leads_as_4();
    requests(EL_RESIGN, EL_NOBODY);
    said("Release>1 2.4; Release>2 2.4; Release>3 2.4");
}

static void it_does_not_vote_for_itself(void **state)
{
    stands_as_4();
    said("Vote>1 2.4; Vote>2 2.4; Vote>3 2.4");
    grants(1, TERM(2, 4), 2, 0, 0);
    sees("elects");
    grants(2, TERM(2, 4), 2, 0, 0);
    sees("leads");
    bounded_by(2); /* the older of the two: its own promise is none */
}

static void it_gives_nobody_its_vote(void **state)
{
    begins_as(4);
    asks(5, TERM(2, 5), 1, 0);
    said("");
    asks(1, TERM(2, 1), 1, 0);
    said("");
}

static void nothing_that_a_candidate_grants_counts(void **state)
{
    stands_as_4();
    grants(1, TERM(2, 4), 2, 0, 0);
    grants(5, TERM(2, 4), 2, 0, 0);
    acks(5, 1, 0, QUORUM_PROMISE);
    noted("drops-unentitled");
    sees("elects");
}

static void it_keeps_no_silence_after_a_restart(void **state)
{
    sit_in_quorum(COUNT, 4);
    seat.cluster.roles = roles;
    comes_back_with(1, WHOLE(1), PROMISE, 0);
    timer_did(QUORUM_SILENCE, 0, "");
    not_noted("keeps-silent");
}

static void a_voter_answers_its_beats_and_sends_it_none(void **state)
{
    begins_as(1);
    said_with_beats("save; Told>6");
    beats(4, 1, QUORUM_LIVE);
    said("Ack>4 echo 1 epoch 0 promise; Told>4");
}

/* ---- M23 ---- */

static void at_rest_it_beats_seldom_and_asks_for_no_promise(void **state)
{
    begins_as(4);
    timer_did(QUORUM_PULSE, 0, "arm 1000000000");
    timer_did(QUORUM_PROBE, 1, "");
    begins_as(1);
    beats(4, 1, QUORUM_LIVE | QUORUM_AT_REST);
    said("Ack>4 echo 1 epoch 0; Told>4");
    timer_did(QUORUM_PROMISED, 4, "");
    timer_did(QUORUM_RECENT, 4, "arm 3000000000");
}

static void once_it_stands_it_beats_as_often_as_a_voter(void **state)
{
    stands_as_4();
    timer_did(QUORUM_PULSE, 0, "arm 15");
    times_out("pulse");
    timer_did(QUORUM_PULSE, 0, "arm 15");
}

static void what_it_asked_before_its_rest_proves_no_lease(void **state)
{
    stands_as_4();
    times_out("deadline");
    times_out("stand");
    timer_did(QUORUM_PROBE, 1, "arm 100");
    grants(1, TERM(2, 4), 2, 0, 0);
    timer_did(QUORUM_LEASE, 1, "");
}

static void a_lease_of_before_its_rest_wins_nothing(void **state)
{
    leads_as_4();
    requests(EL_RESIGN, EL_NOBODY);
    grants(1, TERM(9, 4), 2, 0, 0); /* unasked: in answer to what it said before */
    grants(2, TERM(9, 4), 2, 0, 0);
    sees("elects");
    grants(1, TERM(9, 4), 4, 0, 0);
    grants(2, TERM(9, 4), 4, 0, 0);
    sees("leads");
}

/* ---- M24 ---- */

static void it_stands_only_when_a_voter_tells_its_place(void **state)
{
    begins_as(4);
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    timer_did(QUORUM_STAND, 0, "");
    tells(1, (struct quorum_told){.place = 0});
    timer_did(QUORUM_STAND, 0, "");
    tells(2, (struct quorum_told){.place = 3});
    timer_did(QUORUM_STAND, 0, "arm 20..25");
}

static void a_leader_counts_while_one_voter_names_it(void **state)
{
    begins_as(4);
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    tells(1, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(2, 5)});
    sees("follows 5");
    tells(2, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(2, 5)});
    tells(1, (struct quorum_told){.place = 1});
    sees("follows 5");
    timer_did(QUORUM_STAND, 0, "");
    tells(2, (struct quorum_told){.place = 1});
    sees("idle");
    timer_did(QUORUM_STAND, 0, "arm 0..5");
}

static void a_voter_that_is_silent_names_nobody(void **state)
{
    begins_as(4);
    tells(1, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(2, 5)});
    sees("follows 5");
    times_out_for("recent", 1);
    sees("idle");
}

static void an_older_leader_is_no_news(void **state)
{
    begins_as(4);
    tells(1, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(3, 5)});
    tells(2, (struct quorum_told){.leader = 1, .incarnation = 1, .term = TERM(2, 1)});
    sees("follows 5");
    tells(1, (struct quorum_told){0});
    sees("idle");
}

static void a_free_group_is_told_at_once(void **state)
{
    begins_as(1);
    beats(4, 1, QUORUM_LIVE);
    beats(5, 1, QUORUM_LIVE);
    asks(5, TERM(2, 5), 2, 0);
    claims(5, 3, TERM(2, 5), 5, 0);
    releases(5, 1, TERM(2, 5), EL_NOBODY, 0);
    said("Told>4; Told>5");
}

static void its_heir_is_whom_a_majority_of_voters_suggests(void **state)
{
    leads_as_4();
    const struct quorum_told told = {.leader = 4, .incarnation = 1, .term = TERM(2, 4), .heir = 5};
    tells(1, told);
    times_out("pulse");
    not_noted("names-heir");
    acks(2, 3, 0, QUORUM_PROMISE);
    tells(2, told);
    times_out("pulse");
    noted("names-heir");
}

static void no_other_candidate_is_believed(void **state)
{
    begins_as(4);
    tells(5, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(2, 5)});
    noted("drops-unentitled");
    tells(1, (struct quorum_told){
                 .leader = 5, .incarnation = 1, .term = TERM(2, 4)}); /* a term of another's name */
    noted("drops-unentitled");
    tells(1, (struct quorum_told){.leader = 6, .incarnation = 1, .term = TERM(2, 6)}); /* an observer */
    noted("drops-unentitled");
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_candidate_speaks_to_voters_alone),
        cmocka_unit_test(it_does_not_vote_for_itself),
        cmocka_unit_test(it_gives_nobody_its_vote),
        cmocka_unit_test(nothing_that_a_candidate_grants_counts),
        cmocka_unit_test(it_keeps_no_silence_after_a_restart),
        cmocka_unit_test(a_voter_answers_its_beats_and_sends_it_none),
        cmocka_unit_test(at_rest_it_beats_seldom_and_asks_for_no_promise),
        cmocka_unit_test(once_it_stands_it_beats_as_often_as_a_voter),
        cmocka_unit_test(what_it_asked_before_its_rest_proves_no_lease),
        cmocka_unit_test(a_lease_of_before_its_rest_wins_nothing),
        cmocka_unit_test(it_stands_only_when_a_voter_tells_its_place),
        cmocka_unit_test(a_leader_counts_while_one_voter_names_it),
        cmocka_unit_test(a_voter_that_is_silent_names_nobody),
        cmocka_unit_test(an_older_leader_is_no_news),
        cmocka_unit_test(a_free_group_is_told_at_once),
        cmocka_unit_test(its_heir_is_whom_a_majority_of_voters_suggests),
        cmocka_unit_test(no_other_candidate_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
