/*
 * SWIM with Lifeguard, rule by rule: node 1 of five, a period of 1000 and a timeout of 200; then crowds.
 * A rumour in a message is f(lags) 5 alive, 6 suspect, 7 dead; m(ore) is about whom, and who accuses in its upper
 * half; a(ux) is the incarnation.
 */
#include "crowd.h"
#include "node.h"

enum { HASTY = 1 };

static void sit_among(uint32_t count)
{
    sit_down(el_detector_named("swim"), count, 1);
    option("period", 1000);
    option("timeout", 200);
    option("indirect", 3);
    option("shortest", 4);
    option("longest", 6);
    starts();
}

/* The order is 2, 3, 4, 5 as long as the first is drawn. */
static void pings_two(void)
{
    times_out("period");
    draws(0);
}

static void fails_to_reach_two(void)
{
    pings_two();
    times_out("timeout");
    for (el_node relay = 3; relay <= 5; relay++) hears(relay, "Nack 2 e1");
    times_out("period");
}

/* ---- Probes ---- */

static void starts_at_some_moment_of_the_period(void **state)
{
    sit_among(5);
    did("arm period 0..1000");
    sit_among(1);
    did("");
}

static void pings_one_a_period(void **state)
{
    sit_among(5);
    times_out("period");
    did("arm period 1000; choose below 4");
    draws(0);
    did("arm timeout 200; send 2 Ping 2 e1");
    hears(2, "Ack 2 e1");
    did("disarm timeout");
}

static void pings_everybody_once_in_a_shuffled_round(void **state)
{
    sit_among(5);
    times_out("period");
    draws(2);
    did("arm timeout 200; send 4 Ping 4 e1");
    hears(4, "Ack 4 e1");
    times_out("period");
    did("arm period 1000; choose below 3");
    draws(0);
    did("arm timeout 200; send 3 Ping 3 e2");
    hears(3, "Ack 3 e2");
    times_out("period");
    did("arm period 1000; choose below 2");
    draws(1);
    did("arm timeout 200; send 5 Ping 5 e3");
    hears(5, "Ack 5 e3");
    times_out("period");
    did("arm period 1000; choose below 1");
    draws(0);
    did("arm timeout 200; send 2 Ping 2 e4");
    hears(2, "Ack 2 e4");
    times_out("period");
    did("arm period 1000; choose below 4");
    draws(0);
    did("arm timeout 200; send 4 Ping 4 e5");
}

static void answers_a_ping(void **state)
{
    sit_among(5);
    hears(3, "Ping 1 e17");
    did("send 3 Ack 1 e17");
    hears(3, "Ping 1 e17 r4"); /* made for 4 */
    did("send 3 Ack 1 e17 r4");
}

static void asks_others_when_no_answer_comes(void **state)
{
    sit_among(5);
    pings_two();
    times_out("timeout");
    did("send 3,4,5 PingRequest 2 e1; note asks 2 3");
    hears(4, "Ack 2 e1 r1");
    did("disarm timeout");
    times_out("period");
    did("arm period 1000; choose below 3");
}

static void asks_only_as_many_as_it_may_and_none_it_suspects(void **state)
{
    sit_among(5);
    option("indirect", 1);
    hears(5, "Suspect 3 r5");
    pings_two();
    times_out("timeout");
    did("send 4 PingRequest 2 e1 m0x500000003 f6; note asks 2 1");
}

static void an_answer_to_another_probe_is_none(void **state)
{
    sit_among(5);
    pings_two();
    hears(2, "Ack 2 e2");
    did("");
    hears(3, "Ack 3 e1");
    did("");
    hears(3, "Ack 2 e1"); /* says who? */
    did("");
    hears(2, "Ack 2 e1");
    did("disarm timeout");
    hears(2, "Ack 2 e1");
    did("");
}

static void pings_for_others(void **state)
{
    sit_among(5);
    hears(3, "PingRequest 4 e9");
    did("note relays 4 3; arm relay@3 200; send 4 Ping 4 e9 r3");
    hears(4, "Ack 4 e9 r3 a7 m4 f5");
    did("disarm suspicion@4; disarm suspicion-1@4; disarm suspicion-2@4; disarm relay@3; send 3 Ack 4 e9 r3 a7 m4 f5");
    hears(4, "Ack 4 e9 r3");
    did("");
    hears(3, "PingRequest 4 e10");
    hears(5, "Ack 5 e10 r3"); /* not whom it asked for */
    did("");
    hears(4, "Ack 4 e9 r3"); /* an earlier one */
    did("");
    times_out_for("relay", 3);
    did("note sorry 4 3; send 3 Nack 4 e10");
    hears(4, "Ack 4 e10 r3");
    did("");
}

static void nobody_honest_asks_for_that(void **state)
{
    sit_among(5);
    hears(3, "PingRequest 1 e9");
    did("");
    hears(3, "PingRequest 3 e9");
    did("");
    hears(3, "Ack 3 e9 r4000000000");
    did("");
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

/* ---- A crowd ---- */

static void crowd_of(uint32_t count)
{
    gather("swim", count);
    crowd_option("period", SECOND);
    crowd_option("timeout", 200 * MILLISECOND);
    crowd_option("indirect", 3);
    crowd_option("shortest", 4);
    crowd_option("longest", 6);
    all_start();
}

static void nobody_is_accused_while_all_live(void **state)
{
    for (uint32_t count = 1; count <= 12; count++) {
        crowd_of(count);
        live(60 * SECOND);
        assert_int_equal(crowd.accusations, 0);
        assert_true(crowd.sent <=
                    UINT64_C(122) * count); /* a ping and an ack each period, however many there are */
    }
}

static void all_learn_of_a_crash_and_of_the_return(void **state)
{
    for (uint32_t count = 3; count <= 8; count++) {
        crowd_of(count);
        live(10 * SECOND);
        kills(2);
        live(60 * SECOND);
        assert_int_equal(crowd.accusations, count - 1);
        for (el_node by = 1; by <= count; by++) assert_int_equal(crowd.suspected[by][2], by != 2);
        revives(2); /* as incarnation 0, which everybody holds for dead */
        live(30 * SECOND);
        assert_string_equal(suspicions(), "");
        live(200 * SECOND);
        assert_int_equal(crowd.accusations, count - 1);
    }
}

/* 1 and 2 cannot reach each other; others can reach both. */
static void a_broken_link_is_gone_around(void **state)
{
    crowd_of(5);
    parts(1, 2, true);
    live(300 * SECOND);
    assert_int_equal(crowd.accusations, 0);
}

static void a_partition_heals(void **state)
{
    crowd_of(5);
    live(10 * SECOND);
    for (el_node a = 1; a <= 2; a++)
        for (el_node b = 3; b <= 5; b++) parts(a, b, true);
    live(120 * SECOND);
    assert_string_equal(suspicions(), "1:3 1:4 1:5 2:3 2:4 2:5 3:1 3:2 4:1 4:2 5:1 5:2");
    for (el_node a = 1; a <= 2; a++)
        for (el_node b = 3; b <= 5; b++) parts(a, b, false);
    live(60 * SECOND);
    assert_string_equal(suspicions(), "");
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
        cmocka_unit_test(starts_at_some_moment_of_the_period),
        cmocka_unit_test(pings_one_a_period),
        cmocka_unit_test(pings_everybody_once_in_a_shuffled_round),
        cmocka_unit_test(answers_a_ping),
        cmocka_unit_test(asks_others_when_no_answer_comes),
        cmocka_unit_test(asks_only_as_many_as_it_may_and_none_it_suspects),
        cmocka_unit_test(an_answer_to_another_probe_is_none),
        cmocka_unit_test(pings_for_others),
        cmocka_unit_test(nobody_honest_asks_for_that),
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
        cmocka_unit_test(nobody_is_accused_while_all_live),
        cmocka_unit_test(all_learn_of_a_crash_and_of_the_return),
        cmocka_unit_test(a_broken_link_is_gone_around),
        cmocka_unit_test(a_partition_heals),
        cmocka_unit_test(a_deaf_member_is_slow_to_accuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
