/*
 * The host's promises about messages, hops and their order, about choice, about the end of a run,
 * and that the same plan gives the same run. What goes wrong on purpose is in faults.c.
 */
#include "lib/sim/toy.h"

/* ---- Messages ---- */

static void a_message_takes_one_delay(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@3");
    story("4:2 got 7 1");
    sent_in_all(1);
    assert_int_equal(bench.result->sent[LETTER], 1);
    assert_int_equal(bench.result->delivered, 1);
    assert_int_equal(bench.result->lost + bench.result->copies + bench.result->to_the_dead, 0);
    assert_int_equal(bench.result->notes, 1 << GOT);
    took(1);
}

static void messages_to_the_dead_are_counted_all_the_same(void **state)
{
    errand = write_to_all;
    toys("nodes 3; initiator 1; crash 2@0");
    story("1:3 got 7 1");
    sent_in_all(2);
    assert_int_equal(bench.result->delivered, 1);
    assert_int_equal(bench.result->to_the_dead, 1);
    failed_hops(0);
    assert_true(happened(EL_CRASHES | EL_UNNOTICED));
}

static void where_hops_are_acknowledged_failed_ones_are_counted_apart(void **state)
{
    errand = write_to_all;
    toy.needs = EL_NEEDS_HOP_ACKS;
    toys("nodes 3; initiator 1; crash 2@0");
    story("1:3 got 7 1; 2:1 unsent 7 2"); /* there and back */
    sent_in_all(1);
    assert_int_equal(bench.result->sent[LETTER], 1);
    failed_hops(1);
    toys("nodes 3; initiator 1; cut 1>2");
    story("1:3 got 7 1; 2:1 unsent 7 2"); /* given up after a round trip */
    sent_in_all(1);
    failed_hops(1);
}

static void a_failed_hop_is_not_told_to_the_dead_or_the_reborn(void **state)
{
    errand = write_to_two;
    toy.needs = EL_NEEDS_HOP_ACKS;
    toys("nodes 2; initiator 1; cut 1>2; crash 1@1");
    story("");
    failed_hops(1);
    toys("nodes 2; initiator 1; cut 1>2; crash 1@1; restart 1@1.5");
    story("1.5:1 started 0");
    failed_hops(1);
}

static void write_a_hundred(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (uint64_t i = 1; i <= 100; i++) post(out, cfg, 2, LETTER, cfg->self, i);
}

static void a_lost_message_does_not_arrive(void **state)
{
    errand = write_a_hundred;
    toys("nodes 2; initiator 1; loss 1");
    story("");
    sent_in_all(100);
    assert_int_equal(bench.result->lost, 100);
    assert_true(happened(EL_LOSSES));
    toys("nodes 2; initiator 1; loss 0.5");
    assert_in_range(bench.result->lost, 30, 70);
    assert_int_equal(bench.result->lost + bench.result->delivered, 100);
    toys("nodes 2; initiator 1; loss 0");
    assert_int_equal(bench.result->lost, 0);
    assert_false(happened(EL_LOSSES));
}

static void a_copied_message_arrives_twice(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1; dup 1");
    story("1:2 got 7 1; 1:2 got 7 1");
    sent_in_all(1);
    assert_int_equal(bench.result->copies, 1);
    assert_int_equal(bench.result->delivered, 2);
    assert_true(happened(EL_DUPLICATES));
}

/* How often a letter with a lower number comes after one with a higher. */
static unsigned disorder(void)
{
    unsigned found = 0;
    uint64_t last = 0;
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_NOTED) continue;
        found += r->values[0] < last;
        last = r->values[0];
    }
    assert_int_equal(bench.result->delivered, 100);
    return found;
}

static void a_link_keeps_order_whatever_its_delay(void **state)
{
    static const char *const delays[] = {"1", "0..2", "0.1..50", "exp:1", "exp:1..40"};
    errand = write_a_hundred;
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        for (int seed = 0; seed < 20; seed++) {
            char settings[64];
            snprintf(settings, sizeof settings, "nodes 2; initiator 1; delay %s; seed %d", delays[i], seed);
            toys(settings);
            assert_int_equal(disorder(), 0);
            assert_false(happened(EL_REORDERS));
        }
}

static void a_link_that_reorders_does_not(void **state)
{
    errand = write_a_hundred;
    toys("nodes 2; initiator 1; reorder 1");
    assert_true(disorder() > 10);
    assert_true(happened(EL_REORDERS));
    toys("nodes 2; initiator 1; reorder 0.1; delay 0.5..1");
    assert_true(disorder() > 0);
}

static void delays_stay_in_their_range(void **state)
{
    errand = write_to_two;
    for (int seed = 0; seed < 200; seed++) {
        char settings[64];
        snprintf(settings, sizeof settings, "nodes 2; initiator 1; delay 2..3; seed %d", seed);
        toys(settings);
        assert_in_range(bench.result->turnaround, 2 * T, 3 * T);
        snprintf(settings, sizeof settings, "nodes 2; initiator 1; delay exp:1..2; seed %d", seed);
        toys(settings);
        assert_in_range(bench.result->turnaround, 0, 2 * T);
    }
}

static void switching_loss_on_does_not_move_the_delays(void **state)
{
    errand = write_a_hundred;
    toys("nodes 2; initiator 1; delay 1..9; seed 5");
    const sim_time before = bench.result->turnaround;
    toys("nodes 2; initiator 1; delay 1..9; seed 5; dup 0.000001; loss 0.000001");
    assert_int_equal(bench.result->turnaround, before);
}

/* ---- Choice ---- */

static void choose(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    act(out, EL_CHOOSE)->n = 1000;
}

static void a_choice_is_answered_at_once_and_may_lead_to_another(void **state)
{
    unsigned first_differs = 0;
    uint64_t first = 0;
    errand = choose;
    for (int seed = 0; seed < 20; seed++) {
        char settings[64];
        snprintf(settings, sizeof settings, "nodes 1; initiator 1; seed %d", seed);
        toys(settings);
        const struct sim_trace *trace = sim_world_trace(bench.world);
        uint64_t last = 1000;
        for (uint64_t i = 1; i <= trace->count; i++) {
            const struct sim_record *r = sim_trace_at(trace, i);
            if (r->what != SIM_NOTED) continue;
            assert_true(r->values[0] < last);
            if (last == 1000) first_differs += r->values[0] != first;
            if (last == 1000) first = r->values[0];
            last = r->values[0];
        }
        assert_int_equal(last, 0);
    }
    assert_true(first_differs > 10);
}

/* ---- The end ---- */

static void a_run_ends_at_rest(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1");
    assert_true(bench.result->came_to_rest);
    assert_int_equal(bench.result->ended, T);
    errand = NULL;
    toys("nodes 2; initiator none");
    assert_true(bench.result->came_to_rest);
    assert_int_equal(bench.result->events, 0);
    took(0);
}

static void a_run_may_be_stopped_and_judged(void **state)
{
    errand = throw_a_ball;
    toys("nodes 2; initiator 1; until 5");
    assert_false(bench.result->came_to_rest);
    assert_int_equal(bench.result->ended, 5 * T);
    assert_int_equal(bench.result->delivered, 5);
    assert_int_equal(bench.result->violation_kinds & EL_ENDLESS, 0);
}

static void a_run_that_is_busy_at_its_horizon_is_endless(void **state)
{
    errand = throw_a_ball;
    toys("nodes 2; initiator 1; horizon 5");
    violated(EL_ENDLESS);
    assert_int_equal(bench.result->ended, 5 * T);
    assert_int_equal(bench.result->delivered, 5);
    event_max = 10;
    toys("nodes 2; initiator 1");
    violated(EL_ENDLESS);
    assert_int_equal(bench.result->events, 10);
    toys("nodes 2; initiator 1; until 100000");
    violated(EL_ENDLESS); /* it did not get there */
}

static void elections_are_told_apart_by_the_rest_between_them(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3@2,3@10; seed 1");
    assert_int_equal(bench.result->phase_count, 2);
    assert_int_equal(bench.result->phases[0].began, 2 * T);
    assert_int_equal(bench.result->phases[0].ended, 3 * T);
    assert_int_equal(bench.result->phases[0].messages, 2);
    assert_int_equal(bench.result->phases[0].leader, 3);
    assert_int_equal(bench.result->phases[1].began, 10 * T);
    assert_int_equal(bench.result->phases[1].ended, 11 * T);
    last_sent_in_all(2);
    sent_in_all(4);
    took(9); /* from the first start to the last delivery */
    elected(3);
}

static void faults_are_named(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 2; initiator 2; bound 0.5");
    assert_true(happened(EL_LATENESS));
    toys("nodes 2; initiator 2; leader 2");
    assert_true(happened(EL_NEEDLESS_CALLS));
    toys("nodes 2; initiator 2");
    assert_int_equal(bench.result->faults, 0);
}

/* ---- The same again ---- */

static void a_plan_gives_the_same_records_every_time(void **state)
{
    static const char plan[] =
        "bully; nodes 6; leader 6; crash 6@1; restart 6@9; detect 1; delay 0.2..1.5; loss 0.05; "
        "dup 0.05; reorder 0.05; pause 3@2..4; clock 2=1.1; seed 3";
    play_and_record(plan);
    const struct sim_trace *trace = sim_world_trace(bench.world);
    const struct el_hash once = el_fingerprint(trace->records, trace->count * sizeof *trace->records);
    const uint64_t count = trace->count;
    play_and_record(plan);
    trace = sim_world_trace(bench.world);
    const struct el_hash twice = el_fingerprint(trace->records, trace->count * sizeof *trace->records);
    assert_int_equal(trace->count, count);
    assert_true(count > 20);
    assert_int_equal(once.high, twice.high);
    assert_int_equal(once.low, twice.low);
}

static void keeping_no_records_changes_nothing(void **state)
{
    static const char plan[] = "chang-roberts; nodes 9; crash 4@2; detect 1; delay 0.5..1; initiator all";
    play_and_record(plan);
    const struct sim_result kept = *bench.result;
    play(plan);
    assert_int_equal(bench.result->sent[0], kept.sent[0]);
    assert_int_equal(bench.result->turnaround, kept.turnaround);
    assert_int_equal(bench.result->events, kept.events);
    assert_int_equal(bench.result->leader, kept.leader);
    assert_int_equal(bench.result->notes, kept.notes);
    assert_int_equal(sim_world_trace(bench.world)->count, 0);
}

static void causes_come_before_their_effects(void **state)
{
    play_and_record("bully; nodes 5; leader 5; crash 5@0; detect 1; initiator 2");
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        assert_true(r->cause < i);
        if (r->what == SIM_DELIVERED) assert_int_equal(sim_trace_at(trace, r->cause)->what, SIM_SENT);
        if (i > 1) assert_true(r->time >= sim_trace_at(trace, i - 1)->time);
    }
}

static void a_node_costs_little(void **state)
{
    play("chang-roberts; nodes 3");
    assert_in_range(sim_world_bytes_per_node(bench.world), 16, 256);
}

/* ---- What was once wrong ---- */

static void a_copy_to_the_dead_counts_once(void **state)
{
    errand = write_to_two;
    toy.needs = EL_NEEDS_HOP_ACKS;
    toys("nodes 2; initiator 1; crash 2@0; dup 1");
    sent_in_all(0);
    assert_int_equal(bench.result->failed_hops, 1);
}

static void a_command_after_the_horizon_makes_no_endless_run(void **state)
{
    toys("nodes 2; initiator none; crash 2@100; horizon 5");
    assert_int_equal(bench.result->violation_kinds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(a_copy_to_the_dead_counts_once),
        check(a_command_after_the_horizon_makes_no_endless_run),
        check(a_message_takes_one_delay),
        check(messages_to_the_dead_are_counted_all_the_same),
        check(where_hops_are_acknowledged_failed_ones_are_counted_apart),
        check(a_failed_hop_is_not_told_to_the_dead_or_the_reborn),
        check(a_lost_message_does_not_arrive),
        check(a_copied_message_arrives_twice),
        check(a_link_keeps_order_whatever_its_delay),
        check(a_link_that_reorders_does_not),
        check(delays_stay_in_their_range),
        check(switching_loss_on_does_not_move_the_delays),
        check(a_choice_is_answered_at_once_and_may_lead_to_another),
        check(a_run_ends_at_rest),
        check(a_run_may_be_stopped_and_judged),
        check(a_run_that_is_busy_at_its_horizon_is_endless),
        check(elections_are_told_apart_by_the_rest_between_them),
        check(faults_are_named),
        check(a_plan_gives_the_same_records_every_time),
        check(keeping_no_records_changes_nothing),
        check(causes_come_before_their_effects),
        check(a_node_costs_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
