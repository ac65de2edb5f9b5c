/*
 * A failure detector that is a machine of its own, beside the election: its verdicts reach the election, what it
 * is wrong about is counted, and neither of the two disturbs the other's dice.
 */
#include "lib/sim/toy.h"

/* How often `node` was told that it suspects (or trusts again) `peer`. */
static unsigned told(uint32_t what, el_node node, el_node peer)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    unsigned count = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        count += r->what == SIM_NOTED && r->note == what && r->node == node && r->values[0] == peer;
    }
    return count;
}

static const char *const detectors[] = {"heartbeat", "phi", "swim", "path"};
enum { DETECTORS = sizeof detectors / sizeof *detectors };

static void toys_with(const char *detector, const char *settings)
{
    char text[400];
    snprintf(text, sizeof text, "nodes 4; delay 1..2ms; initiator none; detector %s; %s", detector, settings);
    toys(text);
}

static void a_death_reaches_the_election_once(void **state)
{
    for (size_t i = 0; i < DETECTORS; i++) {
        toys_with(detectors[i], "crash 2@3s");
        for (el_node node = 1; node <= 4; node++) assert_int_equal(told(SUSPECTS, node, 2), node != 2);
        assert_false(happened(EL_UNNOTICED));
        assert_false(happened(EL_FALSE_SUSPICIONS));
        assert_true(bench.result->detector_sent > 0);
        sent_in_all(0); /* its messages are counted apart */
    }
}

static void a_return_reaches_it_too(void **state)
{
    for (size_t i = 0; i < DETECTORS; i++) {
        toys_with(detectors[i], "crash 2@3s; restart 2@30s");
        assert_int_equal(told(TRUSTS, 1, 2), 1);
        assert_int_equal(told(TRUSTS, 3, 2), 1);
    }
}

static void a_death_not_yet_noticed_at_the_end_is_unnoticed(void **state)
{
    toys_with("heartbeat", "crash 2@3s; until 3001ms");
    assert_int_equal(told(SUSPECTS, 1, 2), 0);
    assert_true(happened(EL_UNNOTICED));
}

static void who_merely_stands_still_is_suspected_falsely(void **state)
{
    for (size_t i = 0; i < DETECTORS; i++) {
        toys_with(detectors[i], "pause 2@3s..30s");
        assert_true(told(SUSPECTS, 1, 2) > 0);
        assert_true(told(TRUSTS, 1, 2) > 0);
        assert_true(happened(EL_FALSE_SUSPICIONS));
    }
}

static void who_cannot_be_heard_is_suspected_rightly(void **state)
{
    toys_with("heartbeat", "partition 1,2|3,4@3s");
    assert_int_equal(told(SUSPECTS, 1, 3), 1);
    assert_int_equal(told(SUSPECTS, 1, 2), 0);
    assert_false(happened(EL_FALSE_SUSPICIONS));
}

static void a_suspicion_by_command_and_by_the_machine_is_one(void **state)
{
    toys_with("heartbeat", "false-suspect 1:2@3s..20s; crash 2@4s");
    assert_int_equal(told(SUSPECTS, 1, 2), 1);
    assert_int_equal(told(TRUSTS, 1, 2), 0); /* the end of the one is not the end of the other */
    assert_int_equal(told(SUSPECTS, 3, 2), 1);
}

static void an_election_reacts_to_it(void **state)
{
    for (size_t i = 0; i < DETECTORS; i++) {
        play("bully; nodes 4; delay 1..2ms; leader 4; crash 4@3s; detector %s", detectors[i]);
        kept_its_claims();
        ended_on(3);
    }
}

/* ---- Dice ---- */

/* All records of these kinds, as one number. */
static uint64_t print_of(uint32_t kinds)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    uint64_t print = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (!(kinds >> r->what & 1)) continue;
        const uint64_t said[] = {print, r->time, r->what, r->node, r->peer};
        print = el_fingerprint(said, sizeof said).low;
    }
    return print;
}

#define VERDICTS (1u << SIM_SUSPECTED | 1u << SIM_TRUSTED)
#define TRAFFIC (1u << SIM_SENT | 1u << SIM_DELIVERED | 1u << SIM_DROPPED)

static void what_the_detector_meets_does_not_depend_on_the_election(void **state)
{
    static const char world[] = "detector phi; delay exp:2..40ms; loss 20%; crash 2@5s; until 20s";
    play_and_record("bully; nodes 5; initiator 1; %s", world);
    const uint64_t verdicts = print_of(VERDICTS), sent = bench.result->detector_sent;
    assert_true(verdicts != 0);
    play_and_record("chang-roberts; nodes 5; initiator all; %s", world);
    assert_int_equal(print_of(VERDICTS), verdicts);
    assert_int_equal(bench.result->detector_sent, sent);
}

static void what_the_election_meets_does_not_depend_on_the_detector(void **state)
{
    errand = write_to_all;
    static const char world[] = "nodes 5; initiator all; delay exp:2..40ms; loss 20%; seed 5; until 1s";
    toys(world);
    const uint64_t traffic = print_of(TRAFFIC);
    char text[400];
    snprintf(text, sizeof text, "%s; detector phi", world);
    toys(text);
    assert_true(bench.result->detector_sent > 0);
    assert_int_equal(print_of(TRAFFIC), traffic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(a_death_reaches_the_election_once),
        check(a_return_reaches_it_too),
        check(a_death_not_yet_noticed_at_the_end_is_unnoticed),
        check(who_merely_stands_still_is_suspected_falsely),
        check(who_cannot_be_heard_is_suspected_rightly),
        check(a_suspicion_by_command_and_by_the_machine_is_one),
        check(an_election_reacts_to_it),
        check(what_the_detector_meets_does_not_depend_on_the_election),
        check(what_the_election_meets_does_not_depend_on_the_detector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
