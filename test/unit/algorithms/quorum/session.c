/* The session half of quorum: lives, beats, promises, leases, silence, and what a lost record takes. */
#include "lib/node/quorum.h"

/* ---- Starting ---- */

static void a_first_life_has_promised_nothing_and_speaks_at_once(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    saved(1, WHOLE(1 + BLOCK), PROMISE, 0);
    asks(2, TERM(2, 2), 1, 0);
    said("Grant>2 2.2 echo 1 epoch 0");
}

static void a_number_is_saved_before_anything_is_sent(void **state)
{
    sit_in_quorum(2, 1);
    comes_back_with(7, WHOLE(9), PROMISE, 0);
    saved(8, WHOLE(9), PROMISE, 0);
    said_with_beats("save; Beat>2");
}

static void a_later_life_is_silent_for_the_longest_promise_of_all(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), UINT64_C(3) * PROMISE, 0);
    noted("keeps-silent");
    timer_did(QUORUM_SILENCE, 0, "arm 303");
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE / 2, 0);
    timer_did(QUORUM_SILENCE, 0, "arm 101");
}

static void the_silent_grant_nothing_not_even_to_a_leader_and_remember_who_asked(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    peers.ours = 2;
    asks(2, TERM(9, 2), 4, 0);
    said("Refuse>2 9.2 silent");
    asks(3, TERM(3, 3), 4, QUORUM_JOIN);
    said("Refuse>3 3.3 silent");
    times_out("silence");
    noted("speaks");
    said(
        "save; Grant>3 3.3 echo 4 epoch 0 join"); /* who leads goes first, though its term is below the floor */
}

static void the_silent_beat_and_promise(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    peers.ours = 2;
    beats(2, 1, QUORUM_LIVE);
    said("Ack>2 echo 1 epoch 0 promise");
}

static void a_first_record_that_was_never_written_uses_no_number_twice(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(0, 0, 0, 0);
    saved(2, WHOLE(1), PROMISE, 0);
}

static void a_later_life_grants_only_above_what_earlier_ones_may_have_granted(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    times_out("silence");
    saved(2, WHOLE(5 + BLOCK), PROMISE, 0); /* not on the way of a vote */
    peers.ours = 2;
    asks(2, TERM(5, 2), 1, 0);
    said("Refuse>2 5.2 floor 5.1023");
    asks(2, TERM(6, 2), 2, 0);
    said("Grant>2 6.2 echo 2 epoch 0");
}

static void a_block_of_terms_is_saved_before_the_first_of_them_is_granted(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    asks(2, TERM(5, 2), 1, 0);
    said("Grant>2 5.2 echo 1 epoch 0");
    asks(2, TERM(6, 2), 2, 0);
    said("save; Grant>2 6.2 echo 2 epoch 0");
    saved(1, WHOLE(10), PROMISE, 0);
    asks(2, TERM(10, 2), 3, 0);
    said("Grant>2 10.2 echo 3 epoch 0");
}

/* ---- Who speaks, and to whom ---- */

static void an_earlier_life_is_not_heard(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    peers.life[2] = 5;
    beats(2, 1, 0);
    noted("meets");
    peers.life[2] = 4;
    asks(2, TERM(2, 2), 9, 0);
    noted("drops-old");
    said("");
}

static void what_is_meant_for_another_life_is_not_heard(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    peers.ours = 1;
    grants(2, TERM(9, 1), 0, 0, 0);
    noted("drops-stray");
    said("");
    beats(2, 7, QUORUM_LIVE);
    said("Ack>2 echo 0 epoch 0"); /* only that we are another now */
}

/* An old beat was long under way: each knows the other by a life that is over, and nobody would ever hear the other. */
static void two_who_know_each_other_by_earlier_lives_find_each_other(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    peers.ours = 0;
    beats(2, 7, 0);
    peers.life[2] = 2;
    peers.ours = 1;
    beats(2, 1, QUORUM_LIVE);
    noted("meets");
    noted("drops-stray");
    said("Ack>2 echo 0 epoch 0");
    assert_true(quorum_to_incarnation(&seat.out.actions[seat.out.count - 1].msg) == 2);
}

/* The message itself is dropped. But its sender has restarted, so the leader that we followed is no more. */
static void a_leader_that_restarted_is_missed_although_its_message_is_dropped(void **state)
{
    begins(3, 1);
    gets_linked(1);
    claims(2, 7, TERM(2, 2), EL_NOBODY, 0);
    times_out("stand");
    sees("follows 2");
    peers.life[2] = 2;
    peers.ours = 9;
    acks(2, 0, 0, 0);
    noted("meets");
    noted("drops-stray");
    noted("waits");
}

static void a_release_is_heard_from_every_life_and_by_every_life(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    asks(2, TERM(2, 2), 1, 0);
    peers.life[2] = 2;
    beats(2, 1, 0);
    peers.life[2] = 1; /* an earlier life, and it addresses an earlier one */
    peers.ours = 9;
    releases(2, 1, TERM(2, 2), 0, 0);
    noted("is-released");
}

static void a_dead_life_is_not_heard_again(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    beats(2, 1, 0);
    learns_of_the_end_of(2, 1);
    noted("buries");
    beats(2, 2, QUORUM_LIVE);
    noted("drops-old");
    said("");
    peers.life[2] = 2;
    beats(2, 1, QUORUM_LIVE);
    said("Ack>2 echo 1 epoch 0 promise");
}

/* ---- Promises ---- */

static void a_promise_is_for_those_who_hear_us(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    beats(2, 1, 0);
    said("Ack>2 echo 1 epoch 0");
    timer_did(QUORUM_PROMISED, 2, "");
    beats(2, 2, QUORUM_LIVE);
    said("Ack>2 echo 2 epoch 0 promise");
    timer_did(QUORUM_PROMISED, 2, "arm 101");
}

static void an_old_beat_renews_nothing_but_a_vote_does_not_make_a_beat_old(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    beats(2, 4, QUORUM_LIVE);
    beats(2, 4, QUORUM_LIVE);
    said("Ack>2 echo 4 epoch 0");
    timer_did(QUORUM_PROMISED, 2, "");
    asks(2, TERM(2, 2), 9, 0);
    beats(2, 5, QUORUM_LIVE);
    said("Ack>2 echo 9 epoch 0 promise");
    timer_did(QUORUM_PROMISED, 2, "arm 101");
}

static void a_new_life_does_not_free_what_the_old_one_was_promised(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    asks(2, TERM(2, 2), 1, 0);
    peers.life[2] = 2;
    beats(2, 1, QUORUM_LIVE);
    timer_did(QUORUM_PROMISED, 2, "arm 101"); /* to the new life, which has nothing here */
    asks(3, TERM(3, 3), 1, 0);
    said("Refuse>3 3.3 held by 2; Check>2 2.2");
    asks(2, TERM(4, 2), 2, 0);
    said("Refuse>2 4.2 held by 2; Check>2 2.2");
    times_out_for("promised", 2);
    said("");
    times_out_for("owed", 2);
    said("Grant>3 3.3 echo 1 epoch 0"); /* who ranks higher of those who asked */
}

/* Otherwise who starts again and again, and beats in between, holds for ever what it held in its first life. */
static void a_life_that_was_granted_nothing_leaves_nothing_to_stand_by(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    asks(2, TERM(2, 2), 1, 0);
    peers.life[2] = 2;
    beats(2, 1, 0);
    timer_did(QUORUM_PROMISED, 2, "move to owed");
    beats(2, 2, QUORUM_LIVE);
    peers.life[2] = 3;
    beats(2, 1, 0);
    timer_did(QUORUM_PROMISED, 2, "disarm");
    asks(3, TERM(3, 3), 1, 0);
    said("Refuse>3 3.3 held by 2; Check>2 2.2"); /* of what the first one is owed, something is left */
    times_out_for("owed", 2);
    said("Grant>3 3.3 echo 1 epoch 0");
    peers.life[3] = 2;
    beats(3, 1, 0);
    timer_did(QUORUM_PROMISED, 3, "move to owed");
}

/* ---- Liars ---- */

/* As a term it would wrap around in the record, and as one that was granted it could never be exceeded. */
static void a_word_that_no_term_can_be_is_not_heard(void **state)
{
    const uint64_t wild[] = {quorum_term(quorum_counter(UINT64_MAX), 1), EL_EPOCH_MAX + 1,
                             TERM(1 << 10, 1) << 40 | 1};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        sit_in_quorum(3, 1);
        starts();
        gets_linked(1);
        asks(2, TERM(2, 2), 1, 0);
        claims(2, 2, TERM(2, 2), 1, wild[i]);
        did("");
        releases(2, 1, TERM(2, 2), 1, wild[i]); /* an heir, ourselves */
        did("");
        times_out_for("promised", 2);
        said("");
        times_out("stand");
        said("Vote>2 3.1; Vote>3 3.1");
    }
}

static void no_block_is_so_long_that_its_end_comes_before_its_beginning(void **state)
{
    const uint64_t blocks[] = {UINT64_MAX, UINT64_MAX / 2, UINT64_C(1) << 54};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sit_in_quorum(3, 1);
        option("block", blocks[i]);
        starts();
        assert_int_equal(seat.out.actions[0].type, EL_SAVE);
        assert_true(seat.out.actions[0].durable.word[0] == EL_EPOCH_MAX - 1);
    }
}

/* ---- Leases ---- */

static void a_lease_counts_from_the_sending_of_what_is_echoed(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    timer_did(QUORUM_PROBE, 2, "arm 100");
    acks(2, 0, 0, QUORUM_PROMISE); /* sent before that beat arrived */
    timer_did(QUORUM_PROBE, 2, "");
    acks(2, 1, 0, QUORUM_PROMISE);
    timer_did(QUORUM_PROBE, 2, "move to lease");
    acks(2, 1, 0, QUORUM_PROMISE);
    timer_did(QUORUM_PROBE, 2, "");
}

static void an_answer_without_a_promise_is_worth_no_lease(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    acks(2, 1, 0, 0);
    timer_did(QUORUM_PROBE, 2, "");
    timer_did(QUORUM_LINKED, 2, "arm 100");
}

static void an_answer_to_what_was_never_sent_is_dropped(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    acks(2, 2, 0, QUORUM_PROMISE);
    noted("drops-echo");
    timer_did(QUORUM_LINKED, 2, "");
}

static void a_probe_that_two_beats_did_not_answer_gives_way_to_a_newer(void **state)
{
    sit_in_quorum(2, 1);
    starts();
    times_out("pulse");
    timer_did(QUORUM_PROBE, 2, "");
    times_out("pulse");
    timer_did(QUORUM_PROBE, 2, "arm 100");
    acks(2, 2, 0, QUORUM_PROMISE);
    timer_did(QUORUM_PROBE, 2, "");
    acks(2, 3, 0, QUORUM_PROMISE);
    timer_did(QUORUM_PROBE, 2, "move to lease");
}

/* A voter that gave our group away said so by a number; what it had promised before is over. */
static void an_answer_from_before_a_voter_let_go_is_ignored_whole(void **state)
{
    leads_in_three();
    acks(3, 2, 1, QUORUM_PROMISE);
    times_out("pulse");
    acks(3, 3, 0, QUORUM_PROMISE);
    noted("drops-epoch");
    timer_did(QUORUM_PROBE, 3, "");
}

static void a_voter_that_let_go_of_us_supports_us_no_more(void **state)
{
    leads_in_three();
    acks(2, 2, 1, QUORUM_PROMISE); /* number 1: it has granted something of ours to another */
    timer_did(QUORUM_LEASE, 2, "disarm");
    noted("lapses");
    sees("idle");
}

static void a_voter_that_restarts_promises_on_until_its_old_lease_ends(void **state)
{
    leads_in_three();
    bounded_by(2);
    peers.life[2] = 2;
    beats(2, 1, QUORUM_LIVE);
    sees("leads");
    bounded_by(2);
    times_out("pulse");
    acks(2, 3, 0, QUORUM_PROMISE); /* of the new life, which has granted us nothing */
    timer_did(QUORUM_PROBE, 2, "");
    bounded_by(2);
    times_out_for("lease", 2);
    noted("lapses");
}

/* ---- A lost record ---- */

static void who_lost_its_record_is_mute_until_it_knows_the_time(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_without_its_record();
    noted("lost-its-record");
    said_with_beats("");
    peers.ours = 0;
    beats(2, 1, 0);
    said("");
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    saved(1000, WHOLE(1000), PROMISE, 1);
    said_with_beats("save; Beat>2; Beat>3");
}

static void who_lost_its_record_asks_after_its_silence_and_counts_the_learned(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    peers.ours = 1000;
    tells_floor(2, 0, TERM(2000, 2), QUORUM_LEARNED); /* nobody had asked */
    times_out("silence");
    said("AskFloor>2; AskFloor>3");
    tells_floor(2, 1, TERM(2000, 2), QUORUM_LEARNED); /* to another question */
    asks(2, TERM(3000, 2), 1, 0);
    said("Refuse>2 3000.2 silent");
    tells_floor(2, 2, TERM(2000, 2), QUORUM_LEARNED);
    not_noted("learns-floor"); /* of the majority {1, 3} nobody has answered */
    times_out("pulse");
    said("AskFloor>3");
    tells_floor(3, 2, TERM(1500, 2), QUORUM_LEARNED);
    noted("learns-floor");
    saved(1000, WHOLE(3000 + BLOCK), PROMISE, 0);
    asks(3, TERM(3000, 3), 1, 0);
    said("Refuse>3 3000.3 held by 2; Check>2 3000.2");
}

static void answers_of_others_who_know_no_floor_count_only_if_all_answer(void **state)
{
    sit_in_quorum(5, 1);
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    peers.ours = 1000;
    times_out("silence");
    for (el_node peer = 2; peer <= 4; peer++) {
        tells_floor(peer, 2, TERM(7, 2), peer == 2 ? 0 : QUORUM_LEARNED);
        not_noted("learns-floor");
    }
    tells_floor(5, 2, TERM(7, 2), 0);
    noted("learns-floor");
}

static void that_the_floor_is_unknown_outlives_a_restart(void **state)
{
    sit_in_quorum(3, 1);
    comes_back_with(1000, WHOLE(1000), PROMISE, 1);
    times_out("silence");
    said("AskFloor>2; AskFloor>3");
    times_out("stand"); /* though nothing armed it: nor may it stand */
    said("");
}

static void who_is_alone_has_only_the_clock(void **state)
{
    sit_in_quorum(1, 1);
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    times_out("silence");
    noted("learns-floor");
    times_out("stand"); /* first it listens, then its turn comes */
    times_out("stand");
    sees("leads");
    in_term(TERM(1001, 1));
}

static void a_floor_is_told_to_who_asks(void **state)
{
    sit_in_quorum(3, 1);
    starts();
    hears_from(2, (struct el_msg){.kind = QUORUM_FLOOR_ASKED, .aux = 77});
    did("note meets 2 1; arm recent@2 45; arm heard@2 100; send 2 TellFloor 1 a77 m1 w1 x2047 f1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_life_has_promised_nothing_and_speaks_at_once),
        cmocka_unit_test(a_number_is_saved_before_anything_is_sent),
        cmocka_unit_test(a_later_life_is_silent_for_the_longest_promise_of_all),
        cmocka_unit_test(the_silent_grant_nothing_not_even_to_a_leader_and_remember_who_asked),
        cmocka_unit_test(the_silent_beat_and_promise),
        cmocka_unit_test(a_first_record_that_was_never_written_uses_no_number_twice),
        cmocka_unit_test(a_later_life_grants_only_above_what_earlier_ones_may_have_granted),
        cmocka_unit_test(a_block_of_terms_is_saved_before_the_first_of_them_is_granted),
        cmocka_unit_test(an_earlier_life_is_not_heard),
        cmocka_unit_test(what_is_meant_for_another_life_is_not_heard),
        cmocka_unit_test(two_who_know_each_other_by_earlier_lives_find_each_other),
        cmocka_unit_test(a_leader_that_restarted_is_missed_although_its_message_is_dropped),
        cmocka_unit_test(a_release_is_heard_from_every_life_and_by_every_life),
        cmocka_unit_test(a_dead_life_is_not_heard_again),
        cmocka_unit_test(a_promise_is_for_those_who_hear_us),
        cmocka_unit_test(an_old_beat_renews_nothing_but_a_vote_does_not_make_a_beat_old),
        cmocka_unit_test(a_new_life_does_not_free_what_the_old_one_was_promised),
        cmocka_unit_test(a_life_that_was_granted_nothing_leaves_nothing_to_stand_by),
        cmocka_unit_test(a_word_that_no_term_can_be_is_not_heard),
        cmocka_unit_test(no_block_is_so_long_that_its_end_comes_before_its_beginning),
        cmocka_unit_test(a_lease_counts_from_the_sending_of_what_is_echoed),
        cmocka_unit_test(an_answer_without_a_promise_is_worth_no_lease),
        cmocka_unit_test(an_answer_to_what_was_never_sent_is_dropped),
        cmocka_unit_test(a_probe_that_two_beats_did_not_answer_gives_way_to_a_newer),
        cmocka_unit_test(an_answer_from_before_a_voter_let_go_is_ignored_whole),
        cmocka_unit_test(a_voter_that_let_go_of_us_supports_us_no_more),
        cmocka_unit_test(a_voter_that_restarts_promises_on_until_its_old_lease_ends),
        cmocka_unit_test(who_lost_its_record_is_mute_until_it_knows_the_time),
        cmocka_unit_test(who_lost_its_record_asks_after_its_silence_and_counts_the_learned),
        cmocka_unit_test(answers_of_others_who_know_no_floor_count_only_if_all_answer),
        cmocka_unit_test(that_the_floor_is_unknown_outlives_a_restart),
        cmocka_unit_test(who_is_alone_has_only_the_clock),
        cmocka_unit_test(a_floor_is_told_to_who_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
