/*
 * The host's promises, seen by a toy that notes down whatever happens to it. A test gives its nodes an errand,
 * which they run when they are asked to call an election, and then compares what they noted:
 * "TIME:NODE NOTE VALUES". One unit of time is one message delay.
 */
#include "bench.h"

#define T UINT64_C(1000000)

/* ---- The toy ---- */

struct toy {
    el_node leader;
    uint32_t electing;
    uint64_t heard;
};

enum { LETTER = 1, CROWN, BALL };
enum { FIRST, SECOND, WATCH };
enum { GOT, RANG, SUSPECTS, TRUSTS, STARTED, CHOSE, UNSENT };

static void (*errand)(struct toy *me, const struct el_config *cfg, struct el_outbox *out);

static struct el_action *act(struct el_outbox *out, enum el_action_type type)
{
    struct el_action *action = &out->actions[out->count++];
    *action = (struct el_action){.type = type, .timer = EL_NO_TIMER};
    return action;
}

static void note(struct el_outbox *out, uint32_t what, uint64_t first, uint64_t second)
{
    struct el_action *action = act(out, EL_NOTE);
    action->note = what;
    action->values[0] = first;
    action->values[1] = second;
}

static struct el_action *post(struct el_outbox *out, const struct el_config *cfg, el_node to, uint8_t kind,
                              el_node subject, uint64_t more)
{
    struct el_action *action = act(out, EL_SEND);
    action->msg = (struct el_msg){.from = cfg->self, .to = to, .subject = subject, .kind = kind, .more = more};
    return action;
}

static void arm(struct el_outbox *out, uint32_t timer, uint32_t slot, uint64_t tenths)
{
    struct el_action *action = act(out, EL_ARM);
    action->timer = timer;
    action->slot = slot;
    action->min = action->max = tenths * T / 10;
}

static void toy_start(void *state, const struct el_config *cfg, const struct el_start *start,
                      struct el_outbox *out)
{
    struct toy *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) note(out, STARTED, start->durable.epoch, me->heard);
}

static void toy_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct toy *me = state;
    me->heard++;
    if (m->kind == CROWN) {
        me->leader = m->subject;
        return;
    }
    note(out, GOT, m->more, m->from);
    if (m->kind == BALL) post(out, cfg, m->from, BALL, cfg->self, m->more);
}

static void toy_unsent(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    note(out, UNSENT, m->more, m->to);
}

static void toy_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                      struct el_outbox *out)
{
    note(out, RANG, timer, slot);
}

static void toy_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    note(out, SUSPECTS, peer, 0);
}

static void toy_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    note(out, TRUSTS, peer, 0);
}

static void toy_chosen(void *state, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out)
{
    note(out, CHOSE, chosen, 0);
    if (chosen) act(out, EL_CHOOSE)->n = chosen; /* until it is 0 */
}

static void toy_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (errand) errand(state, cfg, out);
}

static void toy_arrival(void *state, const struct el_config *cfg, const struct el_msg *m, el_duration elapsed,
                        struct el_outbox *out)
{
    note(out, GOT, m->aux / (T / 10), elapsed / (T / 10)); /* both in tenths of a delay */
}

static void toy_view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct toy *me = state;
    view->leader = me->leader;
    view->role = me->leader == cfg->self ? EL_LEADER
                 : me->leader            ? EL_FOLLOWER
                 : me->electing          ? EL_ELECTING
                                         : EL_IDLE;
    view->term = 0;
    view->timer = EL_NO_TIMER;
    view->slot = 0;
}

static const char *const toy_kinds[] = {NULL, "Letter", "Crown", "Ball"};
static const char *const toy_timers[] = {"first", "second", "watch"};
static const struct el_note_text toy_notes[] = {
    [GOT] = {"got", "got #1 from @2"},          [RANG] = {"rang", "rang #1"},
    [SUSPECTS] = {"suspects", "suspects @1"},   [TRUSTS] = {"trusts", "trusts @1"},
    [STARTED] = {"started", "started with #1"}, [CHOSE] = {"chose", "chose #1"},
    [UNSENT] = {"unsent", "did not reach @2"},
};

static const struct el_algorithm toy_made = {.name = "toy",
                                             .kinds = toy_kinds,
                                             .kind_count = 3,
                                             .timers = toy_timers,
                                             .timer_count = 3,
                                             .notes = toy_notes,
                                             .note_count = 7,
                                             .claims =
                                                 EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
                                             .state_bytes = sizeof(struct toy),
                                             .outbox_fixed = 300,
                                             .on_start = toy_start,
                                             .on_message = toy_message,
                                             .on_unsent = toy_unsent,
                                             .on_timer = toy_timer,
                                             .on_suspect = toy_suspect,
                                             .on_trust = toy_trust,
                                             .on_chosen = toy_chosen,
                                             .on_campaign = toy_campaign,
                                             .view = toy_view,
                                             .stopwatch = WATCH};
static struct el_algorithm toy; /* a test may change it before it plays */
static uint64_t event_max;

static int bring_a_new_toy(void **state)
{
    toy = toy_made;
    errand = NULL;
    event_max = 0;
    return 0;
}

static int put_it_away(void **state)
{
    bench_clear();
    return 0;
}

static void toys(const char *settings)
{
    struct sim_error error;
    bench_clear();
    snprintf(bench.text, sizeof bench.text, "bully; %s", settings);
    bench_settle(__FILE__, __LINE__);
    if (sim_plan_build(&bench.plan, &bench.settings, &error) != 0)
        bench_fail(__FILE__, __LINE__, "%s", error.text);
    bench.plan.algorithm = &toy; /* bully has no options that would have to be freed */
    if (event_max) bench.plan.event_max = event_max;
    bench.world = sim_world_new(&bench.plan, SIM_KEEP_ALL);
    assert_non_null(bench.world);
    bench.result = sim_world_run(bench.world);
    assert_false(bench.result->out_of_memory);
}

/* What the toys noted, in order. */
static void story_is(const char *expected, int line)
{
    char text[4096] = "", when[SIM_TIME_TEXT];
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_NOTED) continue;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s:%u %s %llu", used ? "; " : "",
                 sim_time_text(&bench.plan, r->time, when), r->node, toy_notes[r->note].name,
                 (unsigned long long)r->values[0]);
        const size_t end = strlen(text);
        if (r->values[1]) snprintf(text + end, sizeof text - end, " %llu", (unsigned long long)r->values[1]);
    }
    if (strcmp(text, expected) != 0)
        bench_fail(__FILE__, line, "expected\n    %s\n  but\n    %s", expected, text);
}
#define story(expected) story_is(expected, __LINE__)

static bool happened(uint32_t faults)
{
    return (bench.result->faults & faults) == faults;
}

/* ---- Errands ---- */

static void write_to_two(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, cfg->self, 7);
}

static void write_to_all(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, LETTER, cfg->self, 7);
}

static void write_a_hundred(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (uint64_t i = 1; i <= 100; i++) post(out, cfg, 2, LETTER, cfg->self, i);
}

static void throw_a_ball(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, BALL, cfg->self, 1);
}

/* Node 1 writes to 2; node 2 sets an alarm for when the letter comes. */
static void write_or_set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (cfg->self == 1) post(out, cfg, 2, LETTER, 1, 7);
    if (cfg->self == 2) arm(out, FIRST, 0, 10);
}

static void set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 40);
}

static void crown_itself(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = cfg->self;
}

static void crown_itself_for_all(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = cfg->self;
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, CROWN, cfg->self, 0);
}

static void crown_three_for_all(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = 3;
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, CROWN, 3, 0);
}

static void save(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    act(out, EL_SAVE)->durable = (struct el_durable){.epoch = 41};
    act(out, EL_SAVE)->durable = (struct el_durable){.epoch = 42};
}

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

/* ---- Breaks ---- */

static void a_cut_goes_one_way(void **state)
{
    errand = write_to_all;
    toys("nodes 2; initiator all; cut 1>2");
    story("1:1 got 7 2");
    assert_int_equal(bench.result->lost, 1);
    sent_in_all(2);
    assert_true(happened(EL_PARTITIONS));
    assert_false(happened(EL_LOSSES));
}

static void whoever_is_on_no_side_reaches_everybody(void **state)
{
    errand = write_to_all;
    toys("nodes 3; initiator all; partition 1|3");
    story("1:2 got 7 1; 1:1 got 7 2; 1:3 got 7 2; 1:2 got 7 3");
    assert_int_equal(bench.result->lost, 2);
}

static void what_is_under_way_when_a_link_breaks_still_arrives(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@0,1@2,1@4; partition 1|2@0.5..3");
    story("1:2 got 7 1; 5:2 got 7 1"); /* not the second */
}

static void breaks_may_overlap(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@2,1@4; cut 1>2@0..3; partition 1|2@1..3.5");
    story("5:2 got 7 1");
    toys("nodes 2; initiator 1@2,1@4; cut 1>2@0..3; partition 1|2@1..5");
    story("");
}

/* ---- Standing still ---- */

static void at_one_instant_messages_come_before_timers(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1");
    story("1:2 got 7 1; 1:2 rang 0");
}

static void a_paused_node_reacts_later_and_to_what_is_overdue_first(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1; pause 2@0.5..3");
    story("3:2 rang 0; 3:2 got 7 1");
    assert_true(happened(EL_PAUSES));
}

static void a_timer_that_is_due_when_a_pause_ends_is_not_overdue(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1; pause 2@0.5..1");
    story("1:2 got 7 1; 1:2 rang 0");
}

static void requests_and_suspicions_wait_as_well(void **state)
{
    errand = write_to_two;
    toys("nodes 3; initiator 1@1; pause 1@0..4; crash 3@0; detect 1");
    story("1:2 suspects 3; 4:1 suspects 3; 5:2 got 7 1");
}

static void one_that_dies_while_paused_is_dead(void **state)
{
    errand = write_or_set_an_alarm;
    toys("nodes 2; initiator 2,1; pause 2@0.5..3; crash 2@2");
    story("");
    assert_int_equal(bench.result->to_the_dead, 1);
    toys("nodes 2; initiator 2,1; pause 2@0.5..3; crash 2@2; restart 2@2.5");
    story("2.5:2 started 0; 3:2 got 7 1"); /* awake, but what was put off stays so */
}

/* ---- Clocks and timers ---- */

static void a_fast_clock_makes_timers_short(void **state)
{
    errand = set_an_alarm;
    toys("nodes 3; initiator all; clock 1=2,3=0.5");
    story("2:1 rang 0; 4:2 rang 0; 8:3 rang 0");
    assert_true(happened(EL_CLOCKS));
}

static void arm_again(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 10);
    arm(out, FIRST, 0, 30); /* replaces it */
    arm(out, FIRST, 1, 20); /* another slot is another timer */
    arm(out, SECOND, 0, 5);
    struct el_action *off = act(out, EL_DISARM);
    off->timer = SECOND;
    off->slot = 0;
    off = act(out, EL_DISARM); /* never armed, no error */
    off->timer = WATCH;
    off->slot = 0;
}

static void timers_are_replaced_and_disarmed(void **state)
{
    errand = arm_again;
    toys("nodes 1; initiator 1");
    story("2:1 rang 0 1; 3:1 rang 0");
    assert_true(bench.result->came_to_rest);
}

static void arm_in_a_range(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (uint32_t slot = 0; slot <= cfg->cluster->count; slot++) {
        arm(out, FIRST, slot, 20);
        out->actions[out->count - 1].max = 4 * T;
    }
}

static void a_range_of_time_is_drawn_from(void **state)
{
    errand = arm_in_a_range;
    toys("nodes 100; initiator 1");
    const struct sim_trace *trace = sim_world_trace(bench.world);
    sim_time first = SIM_NEVER, last = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_NOTED) continue;
        if (r->time < first) first = r->time;
        last = r->time;
    }
    assert_in_range(first, 2 * T, 2 * T + T / 4);
    assert_in_range(last, 4 * T - T / 4, 4 * T);
}

static void move_timers(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    static const struct {
        uint32_t timer, to;
    } moves[] = {{FIRST, SECOND}, {WATCH, FIRST}, {FIRST, WATCH}};
    arm(out, FIRST, 0, 30);
    arm(out, SECOND, 0, 10);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        struct el_action *move = act(out, EL_MOVE);
        move->timer = moves[i].timer;
        move->slot = 0;
        move->to = moves[i].to;
    }
}

static void a_timer_takes_over_what_is_left_of_another(void **state)
{
    errand = move_timers;
    toys("nodes 1; initiator 1");
    story("3:1 rang 1"); /* and moving what is not armed does nothing */
    assert_true(bench.result->came_to_rest);
}

static void move_to_a_new_timer(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 30);
    struct el_action *move = act(out, EL_MOVE);
    move->timer = FIRST;
    move->slot = 0;
    move->to = WATCH;
}

static void a_timer_that_never_was_may_take_over(void **state)
{
    errand = move_to_a_new_timer;
    toys("nodes 1; initiator 1");
    story("3:1 rang 2");
}

/* Each letter carries what is left of the first timer; the addressee has a stopwatch for its sender. */
static void write_with_what_is_left(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (cfg->self == 2) {
        arm(out, WATCH, 1, 1);
        return;
    }
    if (me->electing++ == 0) arm(out, FIRST, 0, 40);
    struct el_action *action = post(out, cfg, 2, LETTER, 1, 0);
    action->timer = FIRST;
    action->slot = 0;
}

static void a_message_carries_what_is_left_of_a_timer(void **state)
{
    errand = write_with_what_is_left;
    toy.on_arrival = toy_arrival;
    toys("nodes 2; initiator 1@0,1@1.5,1@4,1@6");
    story("1:2 got 40; 2.5:2 got 25; 4:1 rang 0; 5:2 got 0; 7:2 got 0");
    toys("nodes 2; initiator 1@0,1@1.5; clock 1=2");
    story("1:2 got 40; 2:1 rang 0; 2.5:2 got 10"); /* on its own clock */
}

static void a_stopwatch_counts_past_its_firing(void **state)
{
    errand = write_with_what_is_left;
    toy.on_arrival = toy_arrival;
    toys("nodes 2; initiator 2@0,1@0,1@1.5; clock 2=2");
    story("0.05:2 rang 2 1; 1:2 got 40 20; 2.5:2 got 25 50; 4:1 rang 0");
}

static void a_crash_voids_the_timers(void **state)
{
    errand = set_an_alarm;
    toys("nodes 2; initiator 1; crash 1@1; restart 1@2");
    story("2:1 started 0");
    toys("nodes 2; initiator 1,1@2.5; crash 1@1; restart 1@2");
    story("2:1 started 0; 6.5:1 rang 0");
}

/* ---- Death and return ---- */

static void whoever_comes_back_has_an_empty_memory(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1; crash 2@2; restart 2@3");
    story("1:2 got 7 1; 3:2 started 0"); /* it has forgotten the letter */
    assert_true(happened(EL_CRASHES | EL_RESTARTS));
    assert_true(sim_world_alive(bench.world, 2));
}

static void what_was_saved_last_survives(void **state)
{
    errand = save;
    toys("nodes 2; initiator 2; crash 2@2; restart 2@3; crash 2@4; restart 2@5");
    story("3:2 started 42; 5:2 started 42");
}

static void the_dead_call_no_elections(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@2; crash 1@1");
    story("");
    assert_false(sim_world_alive(bench.world, 1));
    took(0);
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

/* ---- The detector ---- */

static void a_death_is_noticed_after_the_delay(void **state)
{
    toys("nodes 3; initiator none; crash 2@1; detect 2");
    story("3:1 suspects 2; 3:3 suspects 2");
    assert_false(happened(EL_UNNOTICED));
    toys("nodes 2; initiator none; crash 2@1; detect 0");
    story("1:1 suspects 2");
    toys("nodes 2; initiator none; crash 2@1");
    story("");
    assert_true(happened(EL_UNNOTICED));
}

static void a_return_is_noticed_as_well(void **state)
{
    toys("nodes 3; initiator none; crash 2@1; restart 2@5; detect 2");
    story("3:1 suspects 2; 3:3 suspects 2; 5:2 started 0; 7:1 trusts 2; 7:3 trusts 2");
}

static void a_short_absence_goes_unnoticed(void **state)
{
    toys("nodes 2; initiator none; crash 2@1; restart 2@2; detect 2");
    story("2:2 started 0");
}

static void whoever_comes_back_learns_who_is_dead(void **state)
{
    toys("nodes 3; initiator none; crash 3@0; crash 2@2; restart 2@4; detect 1");
    story("1:1 suspects 3; 1:2 suspects 3; 3:1 suspects 2; 4:2 started 0; 5:1 trusts 2; 5:2 suspects 3");
}

static void a_detector_may_miss_a_death(void **state)
{
    toys("nodes 3; initiator none; crash 3@1; detect 1; miss 1:3");
    story("2:2 suspects 3");
    assert_true(happened(EL_UNNOTICED));
    toys("nodes 3; initiator none; crash 3@1; detect 1; miss all:3");
    story("");
    toys("nodes 3; initiator none; crash 3@1; crash 2@4; detect 1; miss 1:all");
    story("2:2 suspects 3");
    toys("nodes 3; initiator none; crash 3@1; detect 1; miss 1:2");
    story("2:1 suspects 3; 2:2 suspects 3");
    assert_false(happened(EL_UNNOTICED));
}

static void a_false_suspicion_begins_and_ends(void **state)
{
    toys("nodes 3; initiator none; false-suspect 1:3@1..4");
    story("1:1 suspects 3; 4:1 trusts 3");
    assert_true(happened(EL_FALSE_SUSPICIONS));
    toys("nodes 3; initiator none; false-suspect all:3@1");
    story("1:1 suspects 3; 1:2 suspects 3");
    toys("nodes 3; initiator none; false-suspect all:3@1; crash 2@0; detect 9");
    story("1:1 suspects 3; 9:1 suspects 2; 9:3 suspects 2"); /* the dead suspect nobody */
}

static void a_suspicion_is_told_once(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1; crash 2@2; detect 1");
    story("1:1 suspects 2");
    toys("nodes 2; initiator none; false-suspect 1:2@1,1:2@2");
    story("1:1 suspects 2");
}

static void a_broken_link_looks_like_a_death(void **state)
{
    toys("nodes 2; initiator none; cut 2>1@1..5; detect 1");
    story("2:1 suspects 2; 6:1 trusts 2"); /* 2 still hears 1 */
    toys("nodes 3; initiator none; partition 1|3@1..5; detect 1");
    story("2:3 suspects 1; 2:1 suspects 3; 6:3 trusts 1; 6:1 trusts 3");
}

static void one_that_dies_while_its_detector_looks_is_told_nothing(void **state)
{
    toys("nodes 2; initiator none; crash 2@1; crash 1@1.5; detect 1");
    story("");
    toys("nodes 2; initiator none; crash 2@1; crash 1@1.5; restart 1@1.8; detect 1");
    story("1.8:1 started 0; 2.8:1 suspects 2"); /* by its new incarnation's detector */
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

/* ---- Oracles ---- */

/* There is one violation of this kind, of these nodes. */
static void blames(uint32_t kind, const char *nodes)
{
    const struct sim_violation *found = NULL;
    char text[64] = "";
    for (uint32_t i = 0; i < bench.result->violation_count; i++) {
        if (bench.result->violations[i].kind != kind) continue;
        assert_null(found); /* reported once */
        found = &bench.result->violations[i];
        const struct sim_record *r = sim_trace_at(sim_world_trace(bench.world), found->record);
        assert_non_null(r);
        assert_int_equal(r->what, SIM_VIOLATED);
        assert_int_equal(r->number, i);
    }
    if (!found) bench_fail(__FILE__, __LINE__, "nobody is blamed");
    for (uint32_t i = 0; i < found->node_count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%u", i ? "," : "", found->nodes[i]);
    }
    assert_string_equal(text, nodes);
}

static void blames_only(uint32_t kind, const char *nodes)
{
    assert_int_equal(bench.result->violation_kinds, kind);
    blames(kind, nodes);
}

static void two_leaders_are_seen_at_once(void **state)
{
    errand = crown_itself;
    toys("nodes 2; initiator 1@1,2@3; until 3.5");
    assert_true(bench.result->violation_kinds & EL_TWO_LEADERS);
    assert_int_equal(bench.result->violations[0].kind, EL_TWO_LEADERS);
    assert_int_equal(bench.result->violations[0].time, 3 * T);
    toy.claims = EL_CLAIMS_GROUPS;
    toys("nodes 2; initiator 1@1,2@3");
    assert_int_equal(bench.result->violation_kinds, 0);
}

static void agreement_on_the_best_is_flawless(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3");
    elected(3);
    follows(1, 3);
}

static void whoever_knows_no_leader_is_named(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3; cut 3>2");
    blames(EL_NO_LEADER, "2");
    errand = NULL;
    toys("nodes 9; initiator 3");
    blames_only(EL_NO_LEADER, "1,2,3,4,5,6,7,8"); /* the first so many */
    assert_false(bench.result->agreed);
}

static void nobody_is_blamed_before_anybody_called(void **state)
{
    toys("nodes 3; initiator none");
    assert_int_equal(bench.result->violation_count, 0);
    toys("nodes 3; initiator none; crash 2@0; detect 1"); /* not a leader */
    assert_int_equal(bench.result->violation_count, 0);
}

static void a_dead_leader_is_named_by_those_who_follow_it(void **state)
{
    toys("nodes 3; leader 3; crash 3@0; detect 1");
    blames_only(EL_DEAD_LEADER, "1,2");
    assert_true(bench.result->agreed);
    assert_int_equal(bench.result->leader, 3);
}

static void those_who_disagree_are_named(void **state)
{
    errand = crown_three_for_all;
    toys("nodes 3; initiator 1; cut 1>3"); /* 1 and 2 follow 3, which does not know */
    assert_int_equal(bench.result->violation_kinds, EL_NO_LEADER | EL_DISAGREEMENT);
    toys("nodes 3; leader 2; initiator 1; cut 1>2; cut 1>3");
    blames_only(EL_DISAGREEMENT, "1,2,3");
}

static void in_groups_only_a_headless_one_is_blamed(void **state)
{
    errand = crown_three_for_all;
    toy.claims = EL_CLAIMS_GROUPS;
    toys("nodes 4; leader 2; initiator 1; cut 1>2; cut 1>3; cut 1>4");
    blames_only(EL_DISAGREEMENT, "1"); /* it follows 3, which follows 2 */
}

static void a_better_one_that_was_passed_over_is_named(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 2");
    blames_only(EL_NOT_BEST, "3");
    toys("nodes 3; initiator 2; crash 3@0");
    assert_int_equal(bench.result->violation_kinds, 0);
    toys("nodes 3; initiator 2; attr 2=1");
    elected(2);
    toy.claims = EL_CLAIMS_AGREEMENT;
    toys("nodes 3; initiator 2");
    elected(2);
}

static void an_endless_run_is_blamed_on_nobody(void **state)
{
    errand = throw_a_ball;
    toys("nodes 2; initiator 1; horizon 5; leader 2");
    blames_only(EL_ENDLESS, "");
}

static void what_is_not_claimed_is_not_judged(void **state)
{
    toy.claims = EL_CLAIMS_ONE_LEADER;
    toys("nodes 3; initiator 1");
    assert_int_equal(bench.result->violation_count, 0);
}

static void the_dead_are_not_judged(void **state)
{
    toys("nodes 2; initiator 1; crash 1@1,2@1");
    assert_false(bench.result->agreed);
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 2@1; crash 3@0,1@3");
    elected(2);
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

static void write_numbered(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, cfg->self, ++me->electing);
}

static void a_pause_keeps_the_order_of_a_link(void **state)
{
    errand = write_numbered;
    toys("nodes 2; initiator 1@0,1@0.5; pause 2@0.9..1.5");
    story("1.5:2 got 1 1; 1.5:2 got 2 1");
}

static void pauses_may_overlap(void **state)
{
    errand = write_to_two;
    toys("nodes 2; initiator 1@4; pause 2@0..3; pause 2@1..9");
    story("9:2 got 7 1");
}

static void a_copy_to_the_dead_counts_once(void **state)
{
    errand = write_to_two;
    toy.needs = EL_NEEDS_HOP_ACKS;
    toys("nodes 2; initiator 1; crash 2@0; dup 1");
    sent_in_all(0);
    assert_int_equal(bench.result->failed_hops, 1);
}

static void the_end_of_a_false_suspicion_does_not_raise_the_dead(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1..5; crash 2@2; detect 1");
    story("1:1 suspects 2");
}

static void a_paused_one_is_told_when_it_goes_on(void **state)
{
    toys("nodes 3; initiator none; false-suspect all:3@1; pause 1@0..4");
    story("1:2 suspects 3; 4:1 suspects 3");
    toys("nodes 3; initiator none; crash 3@1; detect 1; pause 1@0..4");
    story("2:2 suspects 3; 4:1 suspects 3");
}

static void false_suspicions_may_overlap(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1..3; false-suspect 1:2@2..6");
    story("1:1 suspects 2; 6:1 trusts 2");
}

static void a_healed_link_does_not_end_a_false_suspicion(void **state)
{
    toys("nodes 2; initiator none; false-suspect 1:2@1..9; partition 1|2@2..4; detect 1");
    story("1:1 suspects 2; 3:2 suspects 1; 5:2 trusts 1; 9:1 trusts 2");
}

static void who_knows_no_leader_does_not_disagree(void **state)
{
    errand = crown_itself_for_all;
    toys("nodes 3; initiator 3; cut 3>2");
    blames_only(EL_NO_LEADER, "2");
}

static void a_slow_detector_makes_no_endless_run(void **state)
{
    toys("nodes 2; initiator none; crash 2@1; detect 5000");
    story("5001:1 suspects 2");
    assert_true(bench.result->came_to_rest);
}

static void a_command_after_the_horizon_makes_no_endless_run(void **state)
{
    toys("nodes 2; initiator none; crash 2@100; horizon 5");
    assert_int_equal(bench.result->violation_kinds, 0);
}

#define check(test) cmocka_unit_test_setup_teardown(test, bring_a_new_toy, put_it_away)

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(a_pause_keeps_the_order_of_a_link),
        check(pauses_may_overlap),
        check(a_copy_to_the_dead_counts_once),
        check(the_end_of_a_false_suspicion_does_not_raise_the_dead),
        check(a_paused_one_is_told_when_it_goes_on),
        check(false_suspicions_may_overlap),
        check(a_healed_link_does_not_end_a_false_suspicion),
        check(who_knows_no_leader_does_not_disagree),
        check(a_slow_detector_makes_no_endless_run),
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
        check(a_cut_goes_one_way),
        check(whoever_is_on_no_side_reaches_everybody),
        check(what_is_under_way_when_a_link_breaks_still_arrives),
        check(breaks_may_overlap),
        check(at_one_instant_messages_come_before_timers),
        check(a_paused_node_reacts_later_and_to_what_is_overdue_first),
        check(a_timer_that_is_due_when_a_pause_ends_is_not_overdue),
        check(requests_and_suspicions_wait_as_well),
        check(one_that_dies_while_paused_is_dead),
        check(a_fast_clock_makes_timers_short),
        check(timers_are_replaced_and_disarmed),
        check(a_range_of_time_is_drawn_from),
        check(a_timer_takes_over_what_is_left_of_another),
        check(a_timer_that_never_was_may_take_over),
        check(a_message_carries_what_is_left_of_a_timer),
        check(a_stopwatch_counts_past_its_firing),
        check(a_crash_voids_the_timers),
        check(whoever_comes_back_has_an_empty_memory),
        check(what_was_saved_last_survives),
        check(the_dead_call_no_elections),
        check(a_choice_is_answered_at_once_and_may_lead_to_another),
        check(a_death_is_noticed_after_the_delay),
        check(a_return_is_noticed_as_well),
        check(a_short_absence_goes_unnoticed),
        check(whoever_comes_back_learns_who_is_dead),
        check(a_detector_may_miss_a_death),
        check(a_false_suspicion_begins_and_ends),
        check(a_suspicion_is_told_once),
        check(a_broken_link_looks_like_a_death),
        check(one_that_dies_while_its_detector_looks_is_told_nothing),
        check(a_run_ends_at_rest),
        check(a_run_may_be_stopped_and_judged),
        check(a_run_that_is_busy_at_its_horizon_is_endless),
        check(elections_are_told_apart_by_the_rest_between_them),
        check(faults_are_named),
        check(two_leaders_are_seen_at_once),
        check(agreement_on_the_best_is_flawless),
        check(whoever_knows_no_leader_is_named),
        check(nobody_is_blamed_before_anybody_called),
        check(a_dead_leader_is_named_by_those_who_follow_it),
        check(those_who_disagree_are_named),
        check(in_groups_only_a_headless_one_is_blamed),
        check(a_better_one_that_was_passed_over_is_named),
        check(an_endless_run_is_blamed_on_nobody),
        check(what_is_not_claimed_is_not_judged),
        check(the_dead_are_not_judged),
        check(a_plan_gives_the_same_records_every_time),
        check(keeping_no_records_changes_nothing),
        check(causes_come_before_their_effects),
        check(a_node_costs_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
