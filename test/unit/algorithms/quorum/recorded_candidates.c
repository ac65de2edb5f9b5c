/*
 * Candidates (M22 to M24) while the members change: who is one is decided by the record in force. Members 1 to 3 vote by
 * record 1, 4 is a candidate, 5 an observer.
 */
#include "lib/node/quorum.h"

#include "algorithms/quorum/era.h"
#include "algorithms/quorum/group.h"

enum { COUNT = 5 };
static const uint8_t roles[COUNT] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_VOTELESS, EL_OBSERVER};
static struct el_record records[2];

/* Sets of members are octal: 07 is 1 to 3, 010 is 4, 020 is 5. */

static void begins_as(el_node self, struct el_record next)
{
    sit_in_quorum(COUNT, self);
    records[0] = records[1] = next;
    seat.cluster.roles = roles;
    seat.cluster.records = records;
    seat.cluster.record_count = 2;
    starts();
}

static void installs(uint64_t number)
{
    is_told(QUORUM_FACT_RECORD, number);
}

/* By record 2, which begins no era. */
static void hears_of_2(el_node from, struct el_msg msg)
{
    hears_from(from, quorum_marked(msg, 0, 1, 0));
}

static struct quorum_tenant tenant(el_node id)
{
    return (struct quorum_tenant){.id = id, .incarnation = 1, .term = TERM(2, id)};
}

static void tells(el_node from, struct quorum_told told)
{
    hears_from(from, quorum_make_told(told));
}

static bool said_to(el_node to, uint8_t kind)
{
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SEND && seat.out.actions[i].msg.kind == kind &&
            seat.out.actions[i].msg.to == to)
            return true;
    return false;
}

static const struct el_record five_leads = {07, 031};

/* ---- Where records may follow ---- */

/* As in a cluster that never changes. */
static void a_candidate_speaks_to_voters_alone_and_rests(void **state)
{
    begins_as(4, five_leads);
    said_with_beats("save; Beat>1; Beat>2; Beat>3");
    timer_did(QUORUM_PULSE, 0, "arm 1000000000");
    tells(1, (struct quorum_told){.leader = 2, .incarnation = 1, .term = TERM(2, 2)});
    sees("follows 2");
    hears_from(5, quorum_make_release(tenant(5), EL_NOBODY, 0));
    noted("drops-unentitled");
}

static void voters_tell_it(void **state)
{
    begins_as(1, five_leads);
    beats(4, 1, QUORUM_LIVE | QUORUM_AT_REST);
    said("Ack>4 echo 1 epoch 0; Told>4");
}

/* It may have voted in an earlier life, by a record that is lost with its disk. So it keeps a silence, as a voter does. */
static void a_candidate_keeps_its_silence(void **state)
{
    sit_in_quorum(COUNT, 4);
    records[0] = records[1] = five_leads;
    seat.cluster.roles = roles;
    seat.cluster.records = records;
    seat.cluster.record_count = 2;
    comes_back_with(1, WHOLE(1), PROMISE, 0);
    noted("keeps-silent");
}

/* ---- One that becomes a candidate ---- */

/* It beats nobody before it knows the record, so that nobody would answer it: voters beat it until it says that it has it. */
static void voters_beat_a_new_candidate_until_it_has_the_record(void **state)
{
    begins_as(1, five_leads);
    installs(2);
    assert_true(said_to(5, QUORUM_BEAT));
    assert_false(said_to(5, QUORUM_TOLD));
    hears_from(5, (struct el_msg){.kind = QUORUM_ACK, .aux = 2});
    times_out("pulse");
    assert_true(said_to(5, QUORUM_BEAT));
    hears_of_2(5, (struct el_msg){.kind = QUORUM_BEAT, .aux = 1, .flags = QUORUM_LIVE | QUORUM_AT_REST});
    assert_true(said_to(5, QUORUM_ACK) && said_to(5, QUORUM_TOLD));
    times_out("pulse");
    assert_false(said_to(5, QUORUM_BEAT));
}

static void the_same_after_a_restart(void **state)
{
    sit_in_quorum(COUNT, 1);
    records[0] = records[1] = five_leads;
    seat.cluster.roles = roles;
    seat.cluster.records = records;
    seat.cluster.record_count = 2;
    comes_back_with(1, WHOLE(1), PROMISE, 1 << 1 << 1);
    assert_true(said_to(5, QUORUM_BEAT));
}

static void an_observer_becomes_a_candidate(void **state)
{
    begins_as(5, five_leads);
    said_with_beats("save");
    installs(2);
    said_with_beats("save; Beat>1; Beat>2; Beat>3");
    timer_did(QUORUM_PULSE, 0, "arm 1000000000");
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    tells(1, (struct quorum_told){.place = 1});
    times_out("stand");
    sees("elects");
    said("Vote>1 2.5; Vote>2 2.5; Vote>3 2.5");
}

/* A member that led without a vote by an earlier record, and does not any more, is an observer. */
static void a_candidate_becomes_an_observer(void **state)
{
    begins_as(4, (struct el_record){07, 021});
    installs(2);
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    tells(1, (struct quorum_told){.place = 1});
    timer_did(QUORUM_STAND, 0, "");
}

/* ---- One that gets a vote ---- */

/* From now on it hears the leader itself. What it was told would stand for ever: voters tell it nothing more. */
static void a_candidate_that_gets_a_vote_forgets_what_it_was_told(void **state)
{
    begins_as(4, (struct el_record){013, 031});
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    tells(1, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(2, 5)});
    sees("follows 5");
    installs(2);
    sees("idle");
    timer_did(QUORUM_PULSE, 0, "arm 15");
    tells(1, (struct quorum_told){.leader = 5, .incarnation = 1, .term = TERM(2, 5)});
    sees("idle");
    claims(5, 3, TERM(2, 5), EL_NOBODY, 0);
    sees("follows 5");
}

static void it_votes_from_then_on(void **state)
{
    begins_as(4, (struct el_record){013, 011});
    asks(1, TERM(2, 1), 1, 0);
    said("");
    installs(2);
    asks(1, TERM(2, 1), 2, 0);
    said("Grant>1 2.1 echo 2 epoch 0"); /* its ceiling is on disk since it began */
}

/* ---- One that loses its vote ---- */

/* M15: it may have promised, and may still have to release something. So it keeps its sessions, also with candidates. */
static void a_voter_that_loses_its_vote_keeps_its_sessions(void **state)
{
    begins_as(4, (struct el_record){03, 015});
    installs(2);
    assert_true(said_to(3, QUORUM_BEAT));
    hears_from(3, quorum_make_release(tenant(3), EL_NOBODY, 0));
    not_noted("drops-unentitled");
    begins_as(3, (struct el_record){03, 015});
    installs(2);
    timer_did(QUORUM_PULSE, 0, "arm 15");
}

/* ---- Handing over ---- */

/* The leader knows of a candidate what its record says, not what record 1 said. */
static void a_leader_hands_over_by_its_record(void **state)
{
    begins_as(4, five_leads);
    for (el_node voter = 1; voter <= 3; voter++) acks(voter, 1, 0, 0);
    tells(1, (struct quorum_told){.place = 1});
    times_out("stand");
    grants(1, TERM(2, 4), 2, 0, 0);
    grants(2, TERM(2, 4), 2, 0, 0);
    sees("leads");
    requests(EL_TRANSFER, 5);
    sees("leads");
    installs(2);
    requests(EL_TRANSFER, 2);
    sees("leads");
    requests(EL_TRANSFER, 5);
    noted("hands-over");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_candidate_speaks_to_voters_alone_and_rests),
        cmocka_unit_test(voters_tell_it),
        cmocka_unit_test(a_candidate_keeps_its_silence),
        cmocka_unit_test(voters_beat_a_new_candidate_until_it_has_the_record),
        cmocka_unit_test(the_same_after_a_restart),
        cmocka_unit_test(an_observer_becomes_a_candidate),
        cmocka_unit_test(a_candidate_becomes_an_observer),
        cmocka_unit_test(a_candidate_that_gets_a_vote_forgets_what_it_was_told),
        cmocka_unit_test(it_votes_from_then_on),
        cmocka_unit_test(a_voter_that_loses_its_vote_keeps_its_sessions),
        cmocka_unit_test(a_leader_hands_over_by_its_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
