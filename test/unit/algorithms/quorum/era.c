/* Members that change while groups are led: what one member does with a record, and with answers of other eras. */
#include "lib/node/quorum.h"

#include "algorithms/quorum/era.h"

enum { SETTLES = QUORUM_PROMISE | QUORUM_HAS_SETTLED };
/* Phases: twice the era, less one while it is joint. */
enum { JOINT = 1, SOLE = 2 };

static uint8_t roles[4];
static struct el_record records[2];

static void sit_with(uint32_t count, el_node self, uint64_t observers, struct el_record next)
{
    sit_in_quorum(count, self);
    for (el_node node = 1; node <= 4; node++)
        roles[node - 1] = observers & el_bit(node) ? EL_OBSERVER : EL_CANDIDATE;
    records[0] = next;
    records[1] = (struct el_record){el_bit(3), el_bit(3)};
    seat.cluster.roles = roles;
    seat.cluster.records = records;
    seat.cluster.record_count = 2;
}

static void installs(uint64_t number, uint64_t floor)
{
    is_told(QUORUM_FACT_RECORD, floor << EL_RECORD_SHIFT | number);
}

static void hears_in(el_node from, uint64_t phase, uint64_t floor, struct el_msg msg)
{
    hears_from(from, quorum_marked(msg, phase, (phase + 1) / 2, floor));
}

static void acks_in(uint64_t phase, el_node from, uint64_t echo, uint8_t flags)
{
    hears_in(from, phase, 0, (struct el_msg){.kind = QUORUM_ACK, .aux = echo, .flags = flags});
}

static void grants_in(uint64_t phase, el_node from, uint64_t term, uint64_t echo, bool join)
{
    hears_in(from, phase, 0, quorum_make_grant(term, echo, 0, join));
}

static bool acknowledges_as_settled(el_node to, uint64_t seq)
{
    beats(to, seq, QUORUM_LIVE);
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SEND && seat.out.actions[i].msg.kind == QUORUM_ACK)
            return seat.out.actions[i].msg.flags & QUORUM_HAS_SETTLED;
    return false;
}

static void bounded_by_former(el_node slot)
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    assert_int_equal(view.role, EL_LEADER);
    assert_int_equal(view.timer, QUORUM_FORMER);
    assert_int_equal(view.slot, slot);
}

#define ALL (el_bit(1) | el_bit(2) | el_bit(3))
/* That one votes, and all may lead. */
#define ONLY(node) ((struct el_record){el_bit(node), ALL | el_bit(4)})

/* ---- Installing: M6, M7 ---- */

static void leads_alone_and_installs_three(void)
{
    sit_with(3, 1, el_bit(2) | el_bit(3), (struct el_record){ALL, ALL});
    starts();
    acks(2, 1, 0, 0);
    acks(3, 1, 0, 0);
    times_out("stand");
    sees("leads");
    installs(2, 0);
}

static void a_record_is_on_disk_before_a_word_is_said_that_bears_it(void **state)
{
    leads_alone_and_installs_three();
    noted("installs");
    said("save");
    saved(1, WHOLE(1 + BLOCK), PROMISE, (1 << 1 | JOINT) << 1);
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SEND) assert_int_equal(quorum_record(&seat.out.actions[i].msg), 1);
}

static void what_is_older_or_unknown_is_not_installed(void **state)
{
    leads_alone_and_installs_three();
    installs(2, 0);
    not_noted("installs");
    installs(1, 0);
    not_noted("installs");
    installs(4, 0); /* there are three */
    not_noted("installs");
    said("");
}

static void a_leader_leads_on_by_former_leases_which_nothing_renews(void **state)
{
    leads_alone_and_installs_three();
    timer_did(QUORUM_LEASE, 1, "move to former");
    bounded_by_former(1);
    times_out("pulse");
    bounded_by_former(1);
    times_out_for("former", 1);
    noted("lapses");
    sees("idle");
}

static void new_voters_that_join_in_time_take_over(void **state)
{
    leads_alone_and_installs_three();
    times_out("re-ask");
    said("Vote>2 2.1 join; Vote>3 2.1 join");
    grants_in(JOINT, 2, TERM(2, 1), 4, true);
    bounded_by(2);
    times_out_for("former", 1);
    sees("leads");
}

/* It leads by 1 and 2, and both sets have a majority among these: nothing is interrupted and nothing is asked. */
static void a_record_that_takes_nothing_away_leaves_the_leases_as_they_are(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    starts();
    gets_linked(1);
    times_out("stand");
    grants(2, TERM(2, 1), 2, 0, 0);
    installs(2, 0);
    timer_did(QUORUM_LEASE, 2, "");
    bounded_by(2);
}

static void a_longer_lease_is_not_given_up_for_a_shorter_one(void **state)
{
    sit_with(3, 1, 0, ONLY(3));
    starts();
    gets_linked(1);
    times_out("stand");
    grants(2, TERM(2, 1), 2, 0, 0);
    grants(3, TERM(2, 1), 2, 0, 0);
    times_out("pulse");
    acks(2, 4, 0, QUORUM_PROMISE); /* newer than that of 3 */
    installs(2, 0);
    bounded_by_former(2);
}

static void a_new_voter_pushes_no_heir_of_a_leader_that_will_ask_it_to_join(void **state)
{
    sit_with(3, 2, el_bit(2) | el_bit(3), (struct el_record){ALL, ALL});
    starts_under(1);
    claims(1, 1, TERM(1, 1), 3, TERM(2, 3));
    acks(3, 0, 0, 0);
    times_out_for("promised", 1);
    installs(2, 0);
    noted("installs");
    not_noted("pushes");
}

static void a_group_that_is_won_after_the_record_has_no_former_lease(void **state)
{
    sit_with(3, 1, 0, ONLY(3));
    starts();
    gets_linked(1);
    times_out("stand");
    grants(2, TERM(2, 1), 2, 0, 0);
    installs(2, 0);
    bounded_by_former(2); /* 3 has not granted it */
    requests(EL_RESIGN, EL_NOBODY);
    releases(3, 1, TERM(4, 3), EL_NOBODY, 0); /* the heir declines */
    times_out("stand");
    noted("stands");
    grants(2, TERM(5, 1), 4, 0, 0);
    sees("elects");
    grants_in(JOINT, 3, TERM(5, 1), 4, false);
    sees("leads");
    times_out_for("lease", 3);
    noted("lapses"); /* though former leases of 1 and 2 run */
}

static void in_a_joint_era_a_majority_of_both_is_needed(void **state)
{
    sit_with(3, 1, 0, ONLY(3));
    starts();
    gets_linked(1);
    installs(2, 0);
    times_out("stand");
    grants(2, TERM(2, 1), 3, 0, 0); /* of the old voters 1 and 2 */
    sees("elects");
    grants_in(JOINT, 3, TERM(2, 1), 3, false);
    sees("leads");
}

static void the_new_voters_alone_are_not_enough_while_it_is_joint(void **state)
{
    sit_with(3, 3, 0, ONLY(3));
    starts();
    gets_linked(1);
    installs(2, 0);
    times_out("stand");
    sees("elects"); /* 3 is its only voter, and has granted */
    grants(2, TERM(2, 3), 3, 0, 0);
    sees("leads");
}

static void who_is_no_voter_does_not_count_itself(void **state)
{
    sit_with(3, 1, 0, (struct el_record){el_bit(2) | el_bit(3), ALL});
    starts();
    gets_linked(1);
    installs(2, 0);
    hears_in(2, SOLE, WHOLE(1), quorum_make_beat(1, true, (struct quorum_claim){0}));
    noted("is-sole");
    times_out("stand");
    grants_in(SOLE, 2, TERM(2, 1), 3, false);
    sees("elects");
    grants_in(SOLE, 3, TERM(2, 1), 3, false);
    sees("leads");
}

/* ---- M8, M9 ---- */

static void an_answer_of_a_later_era_is_neither_a_vote_nor_a_lease(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    starts();
    gets_linked(1);
    times_out("stand");
    grants_in(JOINT, 2, TERM(2, 1), 2, false);
    noted("lags");
    noted("drops-era");
    timer_did(QUORUM_PROBE, 2, "");
    sees("elects");
    acks_in(JOINT, 2, 2, QUORUM_PROMISE);
    noted("drops-era");
    timer_did(QUORUM_PROBE, 2, "");
    installs(2, 0);
    grants_in(JOINT, 2, TERM(2, 1), 2, false);
    sees("leads");
}

static void an_answer_of_an_earlier_era_counts(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    starts();
    gets_linked(1);
    installs(2, 0);
    times_out("stand");
    grants(2, TERM(2, 1), 3, 0, 0);
    sees("leads");
}

/* ---- M10, M11, M12 ---- */

static void a_voter_is_settled_one_promise_after_it_installed_the_era(void **state)
{
    sit_with(3, 2, 0, ONLY(3));
    starts();
    installs(2, 0);
    timer_did(QUORUM_SETTLING, 0, "arm 101");
    assert_false(acknowledges_as_settled(1, 1));
    times_out("settling");
    noted("settled");
    assert_true(acknowledges_as_settled(1, 2));
}

static void a_voter_that_restarts_is_settled_when_its_silence_ends(void **state)
{
    sit_with(3, 2, 0, ONLY(3));
    comes_back_with(1, WHOLE(5), PROMISE, (1 << 1 | JOINT) << 1);
    peers.ours = 2;
    assert_false(acknowledges_as_settled(1, 1));
    times_out("silence");
    assert_true(acknowledges_as_settled(1, 2));
}

static void a_voter_without_a_floor_is_not_settled(void **state)
{
    sit_with(3, 2, 0, ONLY(3));
    comes_back_with(1, WHOLE(5), PROMISE, (1 << 1 | JOINT) << 1 | 1);
    peers.ours = 2;
    times_out("silence");
    assert_false(acknowledges_as_settled(1, 1));
}

static void waits_for_all_to_settle(void)
{
    sit_with(4, 1, el_bit(4), ONLY(4)); /* of the old voters 1, 2 and 3 two must have settled */
    starts();
    gets_linked(1);
    installs(2, 0);
}

static void a_majority_of_the_old_voters_makes_it_sole(void **state)
{
    waits_for_all_to_settle();
    acks_in(JOINT, 4, 2, SETTLES); /* a new one counts for nothing */
    acks_in(JOINT, 2, 2, SETTLES);
    not_noted("is-sole");
    peers.clock = TERM(9, 3);
    acks_in(JOINT, 3, 2, SETTLES);
    noted("is-sole");
    saved(1, TERM(9, 3), PROMISE, 1 << 1 << 1); /* and its floor: the highest clock */
    timer_did(QUORUM_SETTLING, 0, "disarm");
}

static void it_is_an_old_voter_itself(void **state)
{
    waits_for_all_to_settle();
    acks_in(JOINT, 2, 2, SETTLES);
    times_out("settling");
    noted("is-sole");
}

/* 1 and 2 vote by the record before, 3 by the last one. */
static void that_it_is_sole_is_believed_of_who_takes_part_only(void **state)
{
    sit_with(4, 3, 0, (struct el_record){el_bit(1) | el_bit(2), el_bit(1) | el_bit(2)});
    starts();
    installs(3, 0);
    hears_in(4, UINT64_C(2) * SOLE, TERM(2, 1), quorum_make_ack(0, 0, false));
    not_noted("is-sole");
    hears_in(1, UINT64_C(2) * SOLE, TERM(2, 1), quorum_make_ack(0, 0, false));
    noted("is-sole");
}

static void settled_is_good_for_one_lease(void **state)
{
    waits_for_all_to_settle();
    acks_in(JOINT, 2, 2, SETTLES);
    times_out_for("lease", 2);
    acks_in(JOINT, 3, 2, SETTLES);
    not_noted("is-sole");
}

static void settled_in_an_answer_older_than_the_lease_counts_for_nothing(void **state)
{
    waits_for_all_to_settle();
    times_out("pulse");
    acks_in(JOINT, 2, 3, QUORUM_PROMISE); /* the lease counts from beat 2 */
    acks_in(JOINT, 3, 3, SETTLES);
    acks_in(JOINT, 2, 1, SETTLES);
    not_noted("is-sole");
}

static void settled_of_an_earlier_era_counts_for_nothing(void **state)
{
    waits_for_all_to_settle();
    acks_in(JOINT, 2, 2, SETTLES);
    acks_in(0, 3, 2, SETTLES);
    not_noted("is-sole");
}

static void nobody_wins_in_a_term_up_to_the_floor(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    starts();
    gets_linked(1);
    installs(2, 0);
    times_out("stand");
    hears_in(2, SOLE, TERM(5, 3), quorum_make_beat(1, true, (struct quorum_claim){0}));
    noted("is-sole");
    grants_in(SOLE, 2, TERM(2, 1), 3, false);
    noted("rises");
    said("Vote>2 6.1");
    sees("elects");
    grants_in(SOLE, 2, TERM(6, 1), 4, false);
    sees("leads");
}

static void a_record_carries_the_floor_of_the_era_before(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    starts();
    gets_linked(1);
    times_out("stand");
    installs(3, TERM(5, 3)); /* it skips one */
    grants(2, TERM(2, 1), 2, 0, 0);
    grants(3, TERM(2, 1), 2, 0, 0);
    noted("rises");
    sees("elects");
}

static void the_floor_survives_a_restart(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    comes_back_with(1, TERM(9, 3), PROMISE, 1 << 1 << 1);
    peers.ours = 2;
    times_out("silence");
    times_out("pulse");
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SEND && seat.out.actions[i].msg.kind == QUORUM_BEAT)
            assert_int_equal(quorum_era_floor_in(&seat.out.actions[i].msg), TERM(9, 3));
}

/* The next record may give it a vote. */
static void a_candidate_keeps_a_silence_where_records_may_follow(void **state)
{
    sit_with(3, 3, 0, (struct el_record){ALL, ALL});
    roles[2] = EL_VOTELESS;
    comes_back_with(1, WHOLE(5), PROMISE, 0);
    noted("keeps-silent");
}

/* ---- M13 to M16 ---- */

static void who_leaves_votes_until_the_era_is_sole(void **state)
{
    sit_with(3, 1, 0, (struct el_record){el_bit(2) | el_bit(3), ALL});
    starts();
    installs(2, 0);
    asks(2, TERM(2, 2), 1, 0);
    said("Grant>2 2.2 echo 1 epoch 0");
    hears_in(2, SOLE, TERM(2, 2), quorum_make_beat(2, true, (struct quorum_claim){0}));
    asks(2, TERM(3, 2), 3, 0);
    said("");
    beats(2, 4, QUORUM_LIVE);
    said("Ack>2 echo 4 epoch 0");
}

static void lost_and_told_of_the_record(struct el_record next)
{
    sit_with(4, 1, el_bit(4), next);
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    peers.ours = 1000;
    installs(2, 0);
    times_out("silence");
}

static uint64_t nonce(void)
{
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SEND && seat.out.actions[i].msg.kind == QUORUM_FLOOR_ASKED)
            return seat.out.actions[i].msg.aux;
    return 0;
}

/* Old voters 1, 2, 3; new ones 1, 2, 4: of each set two others are asked, since any majority has one of them. */
static void a_lost_floor_is_learned_from_each_set_in_force(void **state)
{
    const uint64_t next = el_bit(1) | el_bit(2) | el_bit(4);
    lost_and_told_of_the_record((struct el_record){next, next});
    const uint64_t asked = nonce();
    tells_floor(2, asked, TERM(5, 2), QUORUM_LEARNED);
    tells_floor(3, asked, TERM(5, 2), QUORUM_LEARNED);
    not_noted("learns-floor"); /* enough of the old ones */
    tells_floor(4, asked, TERM(5, 2), QUORUM_LEARNED);
    noted("learns-floor");
}

static void the_new_voters_alone_do_not_know_the_floor(void **state)
{
    const uint64_t next = el_bit(1) | el_bit(2) | el_bit(4);
    lost_and_told_of_the_record((struct el_record){next, next});
    const uint64_t asked = nonce();
    tells_floor(2, asked, TERM(5, 2), QUORUM_LEARNED);
    tells_floor(4, asked, TERM(5, 2), QUORUM_LEARNED);
    not_noted("learns-floor");
    tells_floor(3, asked, TERM(5, 2), QUORUM_LEARNED);
    noted("learns-floor");
}

static void a_later_record_in_an_answer_comes_first_and_the_question_is_asked_anew(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    peers.ours = 1000;
    times_out("silence");
    const uint64_t asked = nonce();
    peers.clock = TERM(5, 2);
    hears_in(2, SOLE, TERM(5, 2), quorum_make_tell_floor(asked, true));
    noted("lags");
    tells_floor(3, asked, TERM(5, 2), QUORUM_LEARNED);
    not_noted("learns-floor");
    installs(2, 0);
    assert_true(nonce() > asked);
}

static void that_all_others_have_answered_is_not_enough_where_records_are(void **state)
{
    sit_with(3, 1, 0, ONLY(2));
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    peers.ours = 1000;
    times_out("silence");
    const uint64_t asked = nonce();
    tells_floor(2, asked, TERM(5, 2), 0);
    tells_floor(3, asked, TERM(5, 2), 0);
    not_noted("learns-floor");
}

/* 1 leads, and is no member by the record. */
static void a_promise_outlives_membership(void **state)
{
    sit_with(3, 2, 0, (struct el_record){el_bit(2) | el_bit(3), el_bit(2) | el_bit(3)});
    starts();
    asks(1, TERM(2, 1), 1, 0);
    installs(2, 0);
    hears_in(3, SOLE, TERM(2, 1), quorum_make_ack(0, 0, false));
    noted("is-sole");
    asks(3, TERM(3, 3), 1, 0);
    said("Refuse>3 3.3 held by 1; Check>1 2.1");
    releases(1, 1, TERM(2, 1), EL_NOBODY, 0);
    noted("is-released");
    said("Grant>3 3.3 echo 1 epoch 0");
}

static void who_may_not_lead_is_given_nothing_new(void **state)
{
    sit_with(3, 2, 0, (struct el_record){ALL, el_bit(2) | el_bit(3)});
    starts();
    asks(3, TERM(2, 3), 1, 0);
    asks(1, TERM(3, 1), 1, 0); /* remembered */
    installs(2, 0);
    asks(1, TERM(4, 1), 2, 0);
    said("");
    beats(1, 3, QUORUM_LIVE);
    said("Ack>1 echo 3 epoch 0");
    releases(3, 1, TERM(2, 3), EL_NOBODY, 0);
    noted("is-released");
    not_noted("pushes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_on_disk_before_a_word_is_said_that_bears_it),
        cmocka_unit_test(what_is_older_or_unknown_is_not_installed),
        cmocka_unit_test(a_leader_leads_on_by_former_leases_which_nothing_renews),
        cmocka_unit_test(new_voters_that_join_in_time_take_over),
        cmocka_unit_test(a_record_that_takes_nothing_away_leaves_the_leases_as_they_are),
        cmocka_unit_test(a_longer_lease_is_not_given_up_for_a_shorter_one),
        cmocka_unit_test(a_new_voter_pushes_no_heir_of_a_leader_that_will_ask_it_to_join),
        cmocka_unit_test(a_group_that_is_won_after_the_record_has_no_former_lease),
        cmocka_unit_test(in_a_joint_era_a_majority_of_both_is_needed),
        cmocka_unit_test(the_new_voters_alone_are_not_enough_while_it_is_joint),
        cmocka_unit_test(who_is_no_voter_does_not_count_itself),
        cmocka_unit_test(an_answer_of_a_later_era_is_neither_a_vote_nor_a_lease),
        cmocka_unit_test(an_answer_of_an_earlier_era_counts),
        cmocka_unit_test(a_voter_is_settled_one_promise_after_it_installed_the_era),
        cmocka_unit_test(a_voter_that_restarts_is_settled_when_its_silence_ends),
        cmocka_unit_test(a_voter_without_a_floor_is_not_settled),
        cmocka_unit_test(a_majority_of_the_old_voters_makes_it_sole),
        cmocka_unit_test(it_is_an_old_voter_itself),
        cmocka_unit_test(that_it_is_sole_is_believed_of_who_takes_part_only),
        cmocka_unit_test(settled_is_good_for_one_lease),
        cmocka_unit_test(settled_in_an_answer_older_than_the_lease_counts_for_nothing),
        cmocka_unit_test(settled_of_an_earlier_era_counts_for_nothing),
        cmocka_unit_test(nobody_wins_in_a_term_up_to_the_floor),
        cmocka_unit_test(a_record_carries_the_floor_of_the_era_before),
        cmocka_unit_test(the_floor_survives_a_restart),
        cmocka_unit_test(a_candidate_keeps_a_silence_where_records_may_follow),
        cmocka_unit_test(who_leaves_votes_until_the_era_is_sole),
        cmocka_unit_test(a_lost_floor_is_learned_from_each_set_in_force),
        cmocka_unit_test(the_new_voters_alone_do_not_know_the_floor),
        cmocka_unit_test(a_later_record_in_an_answer_comes_first_and_the_question_is_asked_anew),
        cmocka_unit_test(that_all_others_have_answered_is_not_enough_where_records_are),
        cmocka_unit_test(a_promise_outlives_membership),
        cmocka_unit_test(who_may_not_lead_is_given_nothing_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
