/*
 * Deciding records of the membership, rule by rule (docs/members.md): what node 3 of five proposes, promises and votes
 * for, what it does when its disk was lost, and which messages it drops. Ballots are 16 · counter + position - 1. A record
 * is a word whose lowest bits are its voters: 0x1001f is one in which 1 to 5 vote.
 */
#include "algorithms/members/decision.h"
#include "lib/node/node.h"

enum { ALL = 0x1f, OTHER = 0x1001f, LESS = 0x20007 };

static void sit_as(el_node self)
{
    sit("members", 5, self);
    option("ballot", 80);
    option("silence", 100);
}

static const struct decision *me(void)
{
    return (const void *)seat.state;
}

static void a_fresh_member_knows_record_1_and_says_nothing(void **state)
{
    (void)state;
    sit_as(3);
    starts();
    did("");
    assert_int_equal(me()->version, 1);
    assert_int_equal(decision_voters(me()->record), ALL);
}

/* The record that node 3 makes of the first if nothing is asked to change. */
static uint64_t own(void)
{
    return decision_result(me()->record, ALL, 3);
}

static void prepare(void)
{
    sit_as(3);
    starts();
    campaigns();
    did("note opens 18 2; save e1; arm try 80; send 1,2,4,5 Prepare 3 e2 a18");
}

static void with_a_majority_of_promises_it_proposes_its_own(void **state)
{
    (void)state;
    prepare();
    hears(1, "Promise 1 e2 a18");
    did("");
    hears(1, "Promise 1 e2 a18");
    did("note stale 1");
    hears(2, "Promise 2 e2 a18");
    assert_int_equal(me()->phase, DECISION_ACCEPTING);
    assert_int_equal(me()->value, own());
    assert_int_equal(me()->accepted, 18);
}

static void it_proposes_what_the_highest_ballot_voted_for(void **state)
{
    (void)state;
    prepare();
    hears(1, "Promise 1 e2 a18 m17 w0x20007");
    hears(2, "Promise 2 e2 a18 m16 w0x1001f");
    assert_int_equal(me()->value, LESS);
}

/* M6: on disk before a word is said that bears it. */
static void saves_a_record_before_it_tells_of_it(void **state)
{
    (void)state;
    prepare();
    const uint64_t record = own();
    hears(1, "Promise 1 e2 a18");
    hears(2, "Promise 2 e2 a18");
    hears(4, "Accepted 4 e2 a18");
    hears(5, "Accepted 5 e2 a18");
    assert_int_equal(me()->version, 2);
    bool is_saved = false;
    uint32_t told = 0;
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        if (action->type == EL_SAVE) is_saved = action->durable.epoch == 2 && action->durable.word[0] == record;
        told += action->type == EL_SEND;
        assert_true(action->type != EL_SEND || is_saved);
    }
    assert_int_equal(told, 4);
}

static void votes_unless_it_promised_a_higher_ballot(void **state)
{
    (void)state;
    sit_as(3);
    starts();
    hears(2, "Prepare 2 e2 a33");
    did("note promises 2 33; save e1; send 2 Promise 3 e2 a33");
    hears(1, "Prepare 1 e2 a16");
    did("note refuses 1 33");
    hears(1, "Accept 1 e2 a16 m0x1001f");
    did("note refuses 1 33");
    hears(2, "Accept 2 e2 a33 m0x1001f");
    did("note votes 2 33; save e1; send 2 Accepted 3 e2 a33");
    hears(2, "Accept 2 e2 a33 m0x1001f");
    did("note refuses 2 33");
}

static void comes_back_with_its_promise_and_its_vote(void **state)
{
    (void)state;
    sit_as(3);
    starts();
    hears(2, "Accept 2 e2 a33 m0x1001f");
    struct el_event event = {.type = EL_START};
    event.start.how = EL_RESTORED;
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SAVE) event.start.durable = seat.out.actions[i].durable;
    const uint64_t record = me()->record;
    sit_as(3);
    seat_step(&event);
    assert_int_equal(me()->record, record);
    assert_int_equal(me()->promised, 33);
    hears(1, "Accept 1 e2 a16 m0x20007");
    did("note refuses 1 33");
    hears(1, "Prepare 1 e2 a48");
    did("note promises 1 48; save e1; send 1 Promise 3 e2 a48 m33 w65567");
}

static void votes_on_no_record_whose_predecessor_it_has_not(void **state)
{
    (void)state;
    sit_as(3);
    starts();
    hears(2, "Prepare 2 e3 a33");
    did("note behind 2 2; send 2 Want 3 e1");
    hears(2, "Accept 2 e3 a33 m0x1001f");
    did("note behind 2 2; send 2 Want 3 e1");
}

static void installs_any_later_record_and_never_goes_back(void **state)
{
    (void)state;
    sit_as(3);
    starts();
    hears(2, "Record 2 e7 m0x20007");
    assert_int_equal(me()->version, 7);
    hears(2, "Record 2 e6 m0x1001f");
    did("");
    assert_int_equal(me()->record, LESS);
    hears(4, "Prepare 4 e7 a19");
    did("note tells 4 7; send 4 Record 3 e7 m0x20007");
}

static void who_has_no_vote_answers_no_ballot(void **state)
{
    (void)state;
    sit_as(5);
    starts();
    hears(2, "Record 2 e2 m0x20007");
    hears(2, "Prepare 2 e3 a33");
    did("note keeps-out 2");
    campaigns();
    did("note barred");
}

/* ---- A lost disk ---- */

static void lose_the_disk(void)
{
    sit_as(3);
    struct el_event event = {.type = EL_START};
    event.start.how = EL_LOST;
    event.start.durable.epoch = 9;
    seat_step(&event);
    did("note lost; save e1; arm silence 100");
}

static void asks_after_its_silence_and_is_mute_for_two_records(void **state)
{
    (void)state;
    lose_the_disk();
    hears(1, "Record 1 e1 m0x1001f r9 f2");
    did("note stale 1"); /* it has not asked yet */
    times_out("silence");
    did("arm ask 80; send 1,2,4,5 Want 3 e1 r9 f1");
    hears(1, "Record 1 e1 m0x1001f r8 f2");
    did("note stale 1"); /* an answer to its earlier life */
    hears(1, "Record 1 e1 m0x1001f r9 f2");
    hears(1, "Record 1 e1 m0x1001f r9 f2");
    hears(2, "Record 2 e1 m0x1001f r9 f2");
    assert_true(me()->speaks_from == DECISION_LEARNING);
    hears(4, "Record 4 e1 m0x1001f r9 f2");
    assert_int_equal(me()->speaks_from, 3);
    hears(1, "Prepare 1 e2 a16");
    did("note keeps-out 1");
    hears(1, "Record 1 e2 m0x1001f");
    hears(1, "Prepare 1 e3 a16");
    did("note keeps-out 1");
    hears(1, "Record 1 e3 m0x1001f");
    assert_int_equal(me()->speaks_from, 0);
    hears(1, "Prepare 1 e4 a16");
    did("note promises 1 16; save e3; send 1 Promise 3 e4 a16");
}

/* A record that comes while it learns does not count towards the two. */
static void what_comes_while_it_learns_does_not_count(void **state)
{
    (void)state;
    lose_the_disk();
    times_out("silence");
    hears(1, "Record 1 e2 m0x1001f r9 f2");
    hears(1, "Record 1 e2 m0x1001f r9 f2");
    hears(2, "Record 2 e2 m0x1001f r9 f2");
    hears(4, "Record 4 e1 m0x1001f r9 f2");
    assert_int_equal(me()->version, 2);
    assert_int_equal(me()->speaks_from, 4);
}

static void a_learner_answers_no_learner(void **state)
{
    (void)state;
    lose_the_disk();
    hears(2, "Want 2 e1 r7 f1");
    did("");
}

static void who_was_asked_to_propose_ends_muteness(void **state)
{
    (void)state;
    sit_as(3);
    starts();
    hears(2, "Want 2 e1 m3 r7 f5"); /* it was never asked to propose anything */
    assert_int_equal(me()->owed, 0);
    campaigns();
    hears(1, "Promise 1 e2 a18");
    hears(2, "Promise 2 e2 a18");
    hears(4, "Accepted 4 e2 a18");
    hears(5, "Accepted 5 e2 a18");
    hears(2, "Want 2 e1 m3 r7 f5");
    assert_int_equal(me()->owed, 3);
    times_out("try");
    assert_int_equal(me()->phase, DECISION_PREPARING);
}

static void drops_what_no_member_says(void **state)
{
    (void)state;
    static const char *const nonsense[] = {
        "Prepare 1 e2 a17",           /* another's ballot */
        "Prepare 1 e2 a0",            /* no ballot */
        "Prepare 1 e2 a0x1000000",    /* too large */
        "Accept 1 e2 a16 m0",         /* a record without a voter */
        "Accept 1 e2 a16 m0x10040",   /* of a host that does not exist */
        "Promise 1 e2 a18 m19 w0x1f", /* a vote above the ballot */
        "Promise 1 e2 a18 m17 w0",    /* a vote for nothing */
        "Record 1 e2 m0x10000",       /* nobody votes */
        "Record 1 e1 m0x1f w1 x2",    /* voted above its promise */
        "Want 1 e1 m4 f4",            /* mute for three records */
        "Prepare 2 e2 a16",           /* about somebody else */
        "Prepare 1 e0 a16",           /* no record */
    };
    sit_as(3);
    starts();
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        hears(1, nonsense[i]);
        did("note nonsense 1");
    }
}

/* Whatever is heard in whatever order: within its outbox (node.h sees to that), forward only, and true to itself. */
static void survives_any_messages(void **state)
{
    (void)state;
    static const char *const timers[] = {"try", "ask", "silence"};
    uint64_t dice = 7;
    sit_as(3);
    starts();
    for (uint32_t round = 0; round < 200000; round++) {
        const uint64_t version = me()->version, promised = me()->promised;
        uint64_t word[9];
        for (uint32_t i = 0; i < 9; i++) {
            dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
            word[i] = dice >> 33;
        }
        if (word[0] % 16 == 0) campaigns();
        if (word[0] % 16 == 1) times_out(timers[word[1] % 3]);
        if (word[0] % 16 > 1) {
            struct el_event event = {.type = EL_MESSAGE};
            event.msg =
                (struct el_msg){.kind = (uint8_t)(1 + word[1] % 7), .to = 3, .flags = (uint8_t)(word[7] % 8)};
            event.msg.from = event.msg.subject = 1 + (el_node)(word[2] % 2 + word[8] % 2 * 3);
            event.msg.epoch = version + word[3] % 3;
            event.msg.aux = (1 + word[4] % 40) << 4 | (word[8] % 8 ? event.msg.from - 1 : word[5] % 16);
            event.msg.more = word[0] % 3 ? word[6] : (word[6] % 32 | 0x10000);
            event.msg.extra[0] = word[7] % 3 ? word[5] : (word[5] % 32 | 0x20000);
            seat_step(&event);
        }
        assert_true(me()->version > version || (me()->version == version && me()->promised >= promised));
        assert_true(me()->accepted <= me()->promised && decision_voters(me()->record));
    }
    assert_true(me()->version > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_member_knows_record_1_and_says_nothing),
        cmocka_unit_test(with_a_majority_of_promises_it_proposes_its_own),
        cmocka_unit_test(it_proposes_what_the_highest_ballot_voted_for),
        cmocka_unit_test(saves_a_record_before_it_tells_of_it),
        cmocka_unit_test(votes_unless_it_promised_a_higher_ballot),
        cmocka_unit_test(comes_back_with_its_promise_and_its_vote),
        cmocka_unit_test(votes_on_no_record_whose_predecessor_it_has_not),
        cmocka_unit_test(installs_any_later_record_and_never_goes_back),
        cmocka_unit_test(who_has_no_vote_answers_no_ballot),
        cmocka_unit_test(asks_after_its_silence_and_is_mute_for_two_records),
        cmocka_unit_test(what_comes_while_it_learns_does_not_count),
        cmocka_unit_test(a_learner_answers_no_learner),
        cmocka_unit_test(who_was_asked_to_propose_ends_muteness),
        cmocka_unit_test(drops_what_no_member_says),
        cmocka_unit_test(survives_any_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
