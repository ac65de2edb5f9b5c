/*
 * SWIM with Lifeguard, rule by rule: what node 1 of five thinks of the others and of its own health, and which rumours
 * it believes, tells and refutes.
 */
#include "lib/node/swim_members.h"

enum { HASTY = 1 };

static void fails_to_reach_two(void)
{
    pings_two();
    times_out("timeout");
    for (el_node relay = 3; relay <= 5; relay++) hears(relay, "Nack 2 e1");
    times_out("period");
}

/* ---- Suspicion ---- */

#define SUSPICION_OF_TWO "arm suspicion@2 24000; arm suspicion-1@2 11382; arm suspicion-2@2 4000"

static void suspects_whom_nobody_reaches(void **state)
{
    sit_among(5);
    fails_to_reach_two();
    did("note suspects 2; " SUSPICION_OF_TWO "; send 2 Suspect 2 r1; arm period 1000; choose below 3");
    draws(0);
    did("arm timeout 200; send 3 Ping 3 e2 m0x100000002 f6");
}

/* log10(64) is 1.806; the longest is six times the shortest, and ln 2 / ln 3 of the way is 0.63093. */
static void suspicions_last_longer_among_many(void **state)
{
    sit_among(64);
    option("period", SECOND);
    hears(3, "Suspect 2 r3");
    did("note suspects 2; arm suspicion@2 43348318572; arm suspicion-1@2 20556856375; arm suspicion-2@2 7224719762");
}

static void among_few_nobody_waits_for_confirmations(void **state)
{
    sit_among(3);
    hears(3, "Suspect 2 r3");
    did("note suspects 2; arm suspicion@2 4000");
    times_out_for("suspicion", 2);
    did("disarm suspicion@2; disarm suspicion-1@2; disarm suspicion-2@2; note buries 2; accuse 2");
}

#define BURIES_TWO "disarm suspicion@2; disarm suspicion-1@2; disarm suspicion-2@2; note buries 2; accuse 2"
#define CLEARS_TWO "disarm suspicion@2; disarm suspicion-1@2; disarm suspicion-2@2; note clears 2"

static void an_unconfirmed_suspicion_lasts_longest(void **state)
{
    sit_among(5);
    hears(3, "Suspect 2 r3");
    times_out_for("suspicion-2", 2);
    did("");
    times_out_for("suspicion-1", 2);
    did("");
    hears(4, "Suspect 2 r3"); /* the same accuser, told by another */
    did("");
    times_out_for("suspicion", 2);
    did(BURIES_TWO);
}

static void confirmations_shorten_it(void **state)
{
    sit_among(5);
    hears(3, "Suspect 2 r3");
    hears(3, "Suspect 2 r4");
    did("note confirms 2 4");
    times_out_for("suspicion-2", 2);
    did("");
    times_out_for("suspicion-1", 2);
    did(BURIES_TWO);
    sit_among(5);
    hears(3, "Suspect 2 r3");
    hears(3, "Suspect 2 r4");
    hears(3, "Suspect 2 r5");
    did("note confirms 2 5");
    hears(3, "Suspect 2 r1"); /* more than enough */
    did("");
    times_out_for("suspicion-2", 2);
    did(BURIES_TWO);
}

static void a_confirmation_may_come_late(void **state)
{
    sit_among(5);
    hears(3, "Suspect 2 r3");
    times_out_for("suspicion-2", 2);
    times_out_for("suspicion-1", 2);
    hears(4, "Suspect 2 r4");
    did("note confirms 2 4; " BURIES_TWO);
}

static void its_own_failure_confirms_a_rumour(void **state)
{
    sit_among(5);
    hears(3, "Suspect 2 r3");
    fails_to_reach_two();
    did("note confirms 2 1; arm period 1000; choose below 3");
}

static void may_report_suspicions_at_once(void **state)
{
    sit_among(5);
    option("hasty", HASTY);
    hears(3, "Suspect 2 r3");
    did("note suspects 2; " SUSPICION_OF_TWO "; accuse 2");
    times_out_for("suspicion", 2);
    did("disarm suspicion@2; disarm suspicion-1@2; disarm suspicion-2@2; note buries 2");
    hears(2, "Alive 2 e1");
    did(CLEARS_TWO "; clear 2");
}

static void the_dead_are_dead_whatever_is_suspected(void **state)
{
    sit_among(5);
    hears(3, "Dead 2");
    did(BURIES_TWO);
    hears(3, "Dead 2 e4");
    did("");
    hears(3, "Suspect 2 e4 r3");
    did("");
    pings_two(); /* they are pinged on, and told */
    did("arm timeout 200; send 2 Ping 2 e1 m2 f7");
    times_out("timeout");
    times_out("period");
    did("note doubts 3; arm period 4000; choose below 3");
}

/* ---- Incarnations ---- */

static void a_higher_incarnation_is_alive(void **state)
{
    sit_among(5);
    hears(3, "Suspect 2 e4 r3");
    hears(4, "Alive 2 e4");
    did("");
    hears(4, "Alive 2 e5");
    did(CLEARS_TWO);
    hears(4, "Suspect 2 e4 r4");
    did("");
    hears(4, "Dead 2 e4");
    did("");
    hears(4, "Suspect 2 e5 r4");
    did("note suspects 2; " SUSPICION_OF_TWO);
    hears(4, "Suspect 2 e6 r4"); /* it refuted, and was accused again */
    did("note suspects 2; " SUSPICION_OF_TWO);
    hears(4, "Dead 2 e6");
    did(BURIES_TWO);
    hears(4, "Alive 2 e6");
    did("");
    hears(4, "Alive 2 e7");
    did(CLEARS_TWO "; clear 2");
}

static void an_answer_to_our_own_ping_clears(void **state)
{
    sit_among(5);
    hears(3, "Dead 2 e4");
    pings_two();
    hears(2, "Ack 2 e1");
    did("disarm timeout; " CLEARS_TWO "; clear 2");
    sit_among(5);
    hears(3, "Dead 2 e4");
    pings_two();
    times_out("timeout");
    hears(3, "Ack 2 e1 r1"); /* others reach it; that says nothing of us, nor refutes anything */
    did("disarm timeout");
    hears(3, "Ping 1 e1 a5 m2 f5");
    did(CLEARS_TWO "; clear 2; send 3 Ack 1 e1 a5 m2 f5");
}

static void refutes_what_is_said_of_it(void **state)
{
    sit_among(5);
    hears(3, "Suspect 1 r3");
    did("note refutes 1; note doubts 1; send 3 Alive 1 e1");
    hears(3, "Suspect 1 r3"); /* it has not heard yet */
    did("send 3 Alive 1 e1");
    hears(4, "Dead 1 e7");
    did("note refutes 8; note doubts 2; send 4 Alive 1 e8");
    hears(4, "Alive 1 e12"); /* about ourselves we know better */
    did("");
    hears(5, "Ping 1 e3");
    did("send 5 Ack 1 e3 a8 m1 f5");
}

/* ---- Rumours ---- */

static void a_rumour_is_told_a_few_times(void **state)
{
    sit_among(5);
    hears(3, "Alive 2 e1");
    for (int i = 0; i < 4; i++) {
        hears(4, "Ping 1 e1");
        did("send 4 Ack 1 e1 a1 m2 f5");
    }
    hears(4, "Ping 1 e1");
    did("send 4 Ack 1 e1");
    sit_among(64);
    hears(3, "Alive 2 e1");
    for (int i = 0; i < 8; i++) hears(4, "Ping 1 e1");
    did("send 4 Ack 1 e1 a1 m2 f5");
    hears(4, "Ping 1 e1");
    did("send 4 Ack 1 e1");
}

static void the_newest_is_told_first_and_never_to_whom_it_praises(void **state)
{
    sit_among(5);
    hears(3, "Alive 2 e1");
    hears(4, "Ping 1 e1");
    hears(3, "Alive 4 e1");
    hears(5, "Ping 1 e1");
    did("send 5 Ack 1 e1 a1 m4 f5");
    hears(4, "Ping 1 e1");
    did("send 4 Ack 1 e1 a1 m2 f5");
}

static void the_accused_is_told_as_often_as_it_calls(void **state)
{
    sit_among(5);
    hears(3, "Suspect 2 r3");
    for (int i = 0; i < 9; i++) {
        hears(2, "Ping 1 e1");
        did("send 2 Ack 1 e1 m0x300000002 f6");
    }
}

static void carried_rumours_count_like_messages(void **state)
{
    sit_among(5);
    hears(3, "Ping 1 e1 m0x300000002 f6");
    did("note suspects 2; " SUSPICION_OF_TWO "; send 3 Ack 1 e1 m0x300000002 f6");
    hears(4, "Ack 4 e1 m2 f7");
    did(BURIES_TWO);
    hears(4, "PingRequest 2 e1 a1 m2 f5");
    did(CLEARS_TWO "; clear 2; note relays 2 4; arm relay@4 200; send 2 Ping 2 e1 r4");
    hears(4, "Nack 3 e1 m2 f7"); /* which carries none */
    did("");
}

static void nonsense_is_dropped(void **state)
{
    static const char *const lies[] = {
        "Suspect 2",                      /* nobody accuses */
        "Suspect 2 r2",                   /* it accuses itself */
        "Suspect 2 r6",                   /* nobody of that name */
        "Suspect 2 r0x100000003",         /* nor of that */
        "Suspect 2 e0x10000000000000 r3", /* an incarnation that nobody lives to see */
        "Ack 3 e9 f6",                    /* about nobody */
        "Ack 3 e9 m6 f7",
        "Ack 3 e9 m2 f4", /* no rumour */
        "Ack 3 e9 m2 f8",
        "Ack 3 e9 a0xffffffffffffffff m2 f7",
    };
    sit_among(5);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        hears(3, lies[i]);
        did("note nonsense 3");
    }
    hears(3, "Suspect 1 e0xfffffffffffff r3"); /* the last incarnation that can be refuted */
    did("note refutes 4503599627370496; note doubts 1; send 3 Alive 1 e4503599627370496");
}

/* ---- Local health ---- */

static void missing_nacks_make_it_doubt_itself(void **state)
{
    sit_among(5);
    pings_two();
    times_out("timeout");
    hears(3, "Nack 2 e1");
    hears(3, "Nack 2 e1");
    hears(4, "Nack 2 e7"); /* of another probe */
    times_out("period");
    did("note doubts 2; note suspects 2; " SUSPICION_OF_TWO
        "; send 2 Suspect 2 r1; arm period 3000; choose below 3");
    draws(0);
    did("arm timeout 600; send 3 Ping 3 e2 m0x100000002 f6");
    hears(3, "Ack 3 e2");
    times_out("period");
    did("arm period 2000; choose below 2");
}

static void with_nobody_to_ask_each_failure_is_a_doubt(void **state)
{
    sit_among(2);
    for (uint32_t i = 1; i <= 10; i++) {
        pings_two();
        times_out("timeout");
        did("note asks 2 0");
    }
    times_out("period");
    did("note doubts 8; arm period 9000; choose below 1");
}

/* A member that hears nobody would accuse one each period, and all of them after 30 s, if it did not doubt. */
static void a_deaf_member_is_slow_to_accuse(void **state)
{
    crowd_of(6);
    live(10 * SECOND);
    for (el_node peer = 1; peer < 6; peer++) cuts(peer, 6, true);
    live(24 * SECOND);
    assert_string_equal(suspicions(), "1:6 2:6 3:6 4:6 5:6");
    live(12 * SECOND);
    const bool *accused = crowd.suspected[6];
    assert_in_range(accused[1] + accused[2] + accused[3] + accused[4] + accused[5], 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suspects_whom_nobody_reaches),
        cmocka_unit_test(suspicions_last_longer_among_many),
        cmocka_unit_test(among_few_nobody_waits_for_confirmations),
        cmocka_unit_test(an_unconfirmed_suspicion_lasts_longest),
        cmocka_unit_test(confirmations_shorten_it),
        cmocka_unit_test(a_confirmation_may_come_late),
        cmocka_unit_test(its_own_failure_confirms_a_rumour),
        cmocka_unit_test(may_report_suspicions_at_once),
        cmocka_unit_test(the_dead_are_dead_whatever_is_suspected),
        cmocka_unit_test(a_higher_incarnation_is_alive),
        cmocka_unit_test(an_answer_to_our_own_ping_clears),
        cmocka_unit_test(refutes_what_is_said_of_it),
        cmocka_unit_test(a_rumour_is_told_a_few_times),
        cmocka_unit_test(the_newest_is_told_first_and_never_to_whom_it_praises),
        cmocka_unit_test(the_accused_is_told_as_often_as_it_calls),
        cmocka_unit_test(carried_rumours_count_like_messages),
        cmocka_unit_test(nonsense_is_dropped),
        cmocka_unit_test(missing_nacks_make_it_doubt_itself),
        cmocka_unit_test(with_nobody_to_ask_each_failure_is_a_doubt),
        cmocka_unit_test(a_deaf_member_is_slow_to_accuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
