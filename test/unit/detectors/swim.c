/* SWIM, rule by rule: how node 1 of five pings, asks others to, and does it for others; then crowds. */
#include "lib/node/swim_members.h"

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

/* ---- A crowd ---- */

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
        cmocka_unit_test(nobody_is_accused_while_all_live),
        cmocka_unit_test(all_learn_of_a_crash_and_of_the_return),
        cmocka_unit_test(a_broken_link_is_gone_around),
        cmocka_unit_test(a_partition_heals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
