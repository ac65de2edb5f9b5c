/* The voter's half of a quorum group: granting, refusing, being released, and giving the vote away unasked. */
#include "lib/node/quorum.h"

/* ---- Granting and refusing ---- */

static void a_voter_refuses_all_others_while_its_promise_lives(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    said("Grant>2 2.2 echo 1 epoch 0");
    timer_did(QUORUM_PROMISED, 2, "arm 101");
    asks(3, TERM(9, 3), 1, 0);
    said("Refuse>3 9.3 held by 2; Check>2 2.2");
    asks(3, TERM(9, 3), 2, QUORUM_JOIN); /* even one who leads: that cannot be, unless a clock is wrong */
    said("Refuse>3 9.3 held by 2; Check>2 2.2");
}

static void refusing_does_not_raise_a_term(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    asks(3, TERM(9, 3), 1, 0);
    releases(3, 1, TERM(9, 3), 0, 0);
    times_out_for("promised", 2);
    asks(3, TERM(3, 3), 2, 0);
    said("Grant>3 3.3 echo 2 epoch 0");
}

static void a_refusal_says_whether_the_holder_is_there_and_leads(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    beats(2, 2, QUORUM_LIVE);
    asks(3, TERM(9, 3), 1, 0);
    said("Refuse>3 9.3 held by 2 fresh; Check>2 2.2");
    claims(2, 3, TERM(2, 2), 2, 0);
    asks(3, TERM(9, 3), 1, 0);
    said("Refuse>3 9.3 held by 2 fresh active; Check>2 2.2");
    times_out_for("recent", 2);
    asks(3, TERM(9, 3), 1, 0);
    said("Refuse>3 9.3 held by 2 active; Check>2 2.2");
    beats(2, 4, 0); /* it no longer hears us, and claims nothing */
    asks(3, TERM(9, 3), 1, 0);
    said("Refuse>3 9.3 held by 2; Check>2 2.2");
}

static void a_term_is_granted_once(void **state)
{
    begins(3, 1);
    asks(3, TERM(3, 3), 1, 0);
    times_out_for("promised", 3);
    asks(2, TERM(3, 2), 1, 0);
    said("Refuse>2 3.2 floor 3.3");
    asks(2, TERM(4, 2), 1, 0);
    said("Grant>2 4.2 echo 1 epoch 0");
}

static void the_holder_is_granted_again_but_no_lower_term(void **state)
{
    begins(3, 1);
    asks(2, TERM(3, 2), 1, 0);
    asks(2, TERM(3, 2), 2, 0);
    said("Grant>2 3.2 echo 2 epoch 0");
    asks(2, TERM(4, 2), 3, 0);
    said("Grant>2 4.2 echo 3 epoch 0");
    asks(2, TERM(3, 2), 4, 0);
    said("Refuse>2 3.2 floor 4.2");
}

static void another_life_of_the_holder_is_another(void **state)
{
    begins(3, 1);
    asks(2, TERM(3, 2), 1, 0);
    peers.life[2] = 2;
    asks(2, TERM(4, 2), 1, 0);
    said("Refuse>2 4.2 held by 2; Check>2 3.2");
}

/* A leader need not have a term above our floor: none above its own can be in use while it leads. */
static void a_leader_joins_below_the_floor_and_that_is_no_vote(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    peers.ours = 2;
    times_out("silence");
    asks(2, TERM(3, 2), 1, 0);
    said("Refuse>2 3.2 floor 5.1023");
    asks(2, TERM(3, 2), 2, QUORUM_JOIN);
    said("Grant>2 3.2 echo 2 epoch 0 join");
    noted("joins");
    times_out_for("promised", 2);
    asks(3, TERM(6, 3), 1, 0);
    said("Grant>3 6.3 echo 1 epoch 0"); /* the term had not been raised, nor lowered */
}

static void who_may_not_lead_is_granted_nothing(void **state)
{
    static const uint8_t roles[] = {EL_CANDIDATE, EL_ORDINARY, EL_OBSERVER};
    sit_in_quorum(3, 1);
    seat.cluster.roles = roles;
    starts();
    asks(2, TERM(2, 2), 1, 0);
    said("");
    asks(3, TERM(2, 3), 1, 0);
    said("");
}

static void an_observer_neither_votes_nor_beats_nor_promises(void **state)
{
    static const uint8_t roles[] = {EL_OBSERVER, EL_CANDIDATE, EL_CANDIDATE};
    sit_in_quorum(3, 1);
    seat.cluster.roles = roles;
    starts();
    said_with_beats("save");
    beats(2, 1, QUORUM_LIVE);
    said("Ack>2 echo 1 epoch 0");
    asks(2, TERM(2, 2), 2, 0);
    said("");
    claims(2, 3, TERM(2, 2), 2, 0);
    sees("follows 2");
}

/* ---- Letting go ---- */

static void who_is_let_go_of_learns_it_from_a_number(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    times_out_for("promised", 2);
    said(""); /* nobody asked: the record stays, and a later beat revives it */
    beats(2, 2, QUORUM_LIVE);
    asks(3, TERM(3, 3), 1, 0);
    said("Refuse>3 3.3 held by 2 fresh; Check>2 2.2");
    times_out_for("promised", 2);
    said("Grant>3 3.3 echo 1 epoch 0");
    noted("granted-away");
    beats(2, 3, QUORUM_LIVE);
    said("Ack>2 echo 3 epoch 1 promise");
}

static void who_released_us_is_not_let_go_of(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    releases(2, 1, TERM(2, 2), 0, 0);
    asks(3, TERM(3, 3), 1, 0);
    said("Grant>3 3.3 echo 1 epoch 0");
    not_noted("granted-away");
    beats(2, 3, QUORUM_LIVE);
    said("Ack>2 echo 3 epoch 0 promise");
}

static void who_died_in_an_earlier_life_is_not_let_go_of_in_this(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    peers.life[2] = 2;
    beats(2, 1, 0);
    times_out_for("owed", 2);
    asks(3, TERM(3, 3), 1, 0);
    said("Grant>3 3.3 echo 1 epoch 0");
    not_noted("granted-away");
}

/* ---- Releases ---- */

static void a_release_frees_exactly_what_it_names(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    asks(2, TERM(3, 2), 2, 0);
    releases(2, 1, TERM(2, 2), 0, 0); /* an earlier term */
    not_noted("is-released");
    releases(2, 2, TERM(3, 2), 0, 0); /* another life */
    not_noted("is-released");
    releases(3, 1, TERM(3, 2), 0, 0); /* another member */
    not_noted("is-released");
    releases(2, 1, TERM(3, 2), 0, 0);
    noted("is-released");
}

static void a_term_that_was_granted_stays_granted_after_its_release(void **state)
{
    begins(3, 1);
    asks(3, TERM(3, 3), 1, 0);
    releases(3, 1, TERM(3, 3), 0, 0);
    asks(2, TERM(3, 2), 1, 0);
    said("Refuse>2 3.2 floor 3.3");
}

static void an_obituary_frees_exactly_that_life(void **state)
{
    begins(3, 1);
    asks(2, TERM(2, 2), 1, 0);
    asks(3, TERM(3, 3), 1, 0);
    learns_of_the_end_of(2, 2);
    said("");
    learns_of_the_end_of(2, 1);
    said("Grant>3 3.3 echo 1 epoch 0");
}

static void a_member_knows_better_than_its_obituary(void **state)
{
    begins(3, 1);
    learns_of_the_end_of(1, 1);
    not_noted("buries");
}

/* ---- Giving the vote away unasked ---- */

static void when_a_promise_lapses_the_best_asker_gets_the_vote(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    asks(2, TERM(3, 2), 1, 0);
    asks(3, TERM(4, 3), 1, 0);
    asks(2, TERM(5, 2), 2, 0); /* ranks lower */
    times_out_for("promised", 4);
    noted("pushes");
    said("Grant>3 4.3 echo 1 epoch 0");
}

static void who_leads_goes_before_who_ranks_higher(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    asks(2, TERM(1, 2), 1, QUORUM_JOIN);
    asks(3, TERM(4, 3), 1, 0);
    times_out_for("promised", 4);
    said("Grant>2 1.2 echo 1 epoch 0 join");
}

static void who_asked_long_ago_goes_before_nobody(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    asks(3, TERM(4, 3), 1, 0);
    timer_did(QUORUM_ASKED, 0, "arm 50");
    times_out("asked");
    asks(2, TERM(5, 2), 1, 0);
    times_out_for("promised", 4);
    said("Grant>2 5.2 echo 1 epoch 0");
}

static void asking_gives_no_right_to_a_spent_term(void **state)
{
    begins(4, 1);
    asks(4, TERM(9, 4), 1, 0);
    asks(3, TERM(4, 3), 1, 0);
    times_out_for("promised", 4);
    said("");
}

static void who_asked_in_an_earlier_life_gets_nothing(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    asks(3, TERM(4, 3), 1, 0);
    peers.life[3] = 2;
    beats(3, 1, 0);
    times_out_for("promised", 4);
    said("");
}

static void who_gives_up_is_no_longer_remembered(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    asks(3, TERM(4, 3), 1, 0);
    releases(3, 1, TERM(4, 3), 0, 0);
    times_out_for("promised", 4);
    said("");
}

static void the_heir_that_a_release_names_gets_the_vote(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    beats(3, 1, QUORUM_LIVE);
    asks(2, TERM(3, 2), 1, 0); /* though another has asked */
    releases(4, 1, TERM(2, 4), 3, TERM(5, 3));
    said("Grant>3 5.3 echo 1 epoch 0");
}

static void an_heir_that_is_not_there_gets_nothing(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    beats(3, 1, QUORUM_LIVE);
    times_out_for("recent", 3);
    releases(4, 1, TERM(2, 4), 3, TERM(5, 3));
    said("");
}

static void an_heir_gets_it_in_its_own_name_and_above_what_is_spent(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    beats(3, 1, QUORUM_LIVE);
    releases(4, 1, TERM(2, 4), 3, TERM(5, 2));
    said("");
    begins(4, 1);
    asks(4, TERM(5, 4), 1, 0);
    beats(3, 1, QUORUM_LIVE);
    releases(4, 1, TERM(5, 4), 3, TERM(5, 3));
    said("");
}

static void the_heir_that_a_leader_had_published_gets_the_vote_when_it_is_dead(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    beats(3, 1, QUORUM_LIVE);
    claims(4, 2, TERM(2, 4), 3, TERM(5, 3));
    learns_of_the_end_of(4, 1);
    said("Grant>3 5.3 echo 1 epoch 0");
}

static void and_when_its_promise_lapses(void **state)
{
    begins(4, 1);
    asks(4, TERM(2, 4), 1, 0);
    claims(4, 2, TERM(2, 4), 3, TERM(5, 3));
    times_out_for("recent", 4);
    beats(3, 1, QUORUM_LIVE);
    times_out_for("promised", 4);
    said("Grant>3 5.3 echo 1 epoch 0");
    noted("granted-away");
}

static void but_only_the_heir_of_that_very_term(void **state)
{
    begins(4, 1);
    claims(4, 2, TERM(2, 4), 3, TERM(5, 3));
    beats(3, 1, QUORUM_LIVE);
    asks(4, TERM(4, 4), 3, 0);
    times_out_for("promised", 4);
    said("");
}

/* ---- Who leads ---- */

static void a_claim_is_believed_while_its_author_is_heard(void **state)
{
    begins(3, 1);
    claims(2, 1, TERM(2, 2), 2, 0);
    sees("follows 2");
    in_term(TERM(2, 2));
    times_out_for("recent", 2);
    sees("idle");
    beats(3, 1, 0);
    claims(2, 2, TERM(2, 2), 2, 0);
    sees("follows 2");
    beats(2, 3, QUORUM_LIVE); /* and no longer claims it */
    sees("idle");
}

static void the_latest_claim_counts(void **state)
{
    begins(3, 1);
    claims(2, 1, TERM(5, 2), 2, 0);
    claims(3, 1, TERM(4, 3), 3, 0);
    sees("follows 2");
    claims(3, 2, TERM(6, 3), 3, 0);
    sees("follows 3");
}

static void an_earlier_life_leads_no_more(void **state)
{
    begins(3, 1);
    claims(2, 1, TERM(5, 2), 2, 0);
    peers.life[2] = 2;
    beats(2, 1, 0);
    sees("idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_voter_refuses_all_others_while_its_promise_lives),
        cmocka_unit_test(refusing_does_not_raise_a_term),
        cmocka_unit_test(a_refusal_says_whether_the_holder_is_there_and_leads),
        cmocka_unit_test(a_term_is_granted_once),
        cmocka_unit_test(the_holder_is_granted_again_but_no_lower_term),
        cmocka_unit_test(another_life_of_the_holder_is_another),
        cmocka_unit_test(a_leader_joins_below_the_floor_and_that_is_no_vote),
        cmocka_unit_test(who_may_not_lead_is_granted_nothing),
        cmocka_unit_test(an_observer_neither_votes_nor_beats_nor_promises),
        cmocka_unit_test(who_is_let_go_of_learns_it_from_a_number),
        cmocka_unit_test(who_released_us_is_not_let_go_of),
        cmocka_unit_test(who_died_in_an_earlier_life_is_not_let_go_of_in_this),
        cmocka_unit_test(a_release_frees_exactly_what_it_names),
        cmocka_unit_test(a_term_that_was_granted_stays_granted_after_its_release),
        cmocka_unit_test(an_obituary_frees_exactly_that_life),
        cmocka_unit_test(a_member_knows_better_than_its_obituary),
        cmocka_unit_test(when_a_promise_lapses_the_best_asker_gets_the_vote),
        cmocka_unit_test(who_leads_goes_before_who_ranks_higher),
        cmocka_unit_test(who_asked_long_ago_goes_before_nobody),
        cmocka_unit_test(asking_gives_no_right_to_a_spent_term),
        cmocka_unit_test(who_asked_in_an_earlier_life_gets_nothing),
        cmocka_unit_test(who_gives_up_is_no_longer_remembered),
        cmocka_unit_test(the_heir_that_a_release_names_gets_the_vote),
        cmocka_unit_test(an_heir_that_is_not_there_gets_nothing),
        cmocka_unit_test(an_heir_gets_it_in_its_own_name_and_above_what_is_spent),
        cmocka_unit_test(the_heir_that_a_leader_had_published_gets_the_vote_when_it_is_dead),
        cmocka_unit_test(and_when_its_promise_lapses),
        cmocka_unit_test(but_only_the_heir_of_that_very_term),
        cmocka_unit_test(a_claim_is_believed_while_its_author_is_heard),
        cmocka_unit_test(the_latest_claim_counts),
        cmocka_unit_test(an_earlier_life_leads_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
