/*
 * A disk that takes its time: messages and claims wait for what they rest on, timers do not, and who dies
 * meanwhile finds the old record or the new one.
 */
#include "lib/sim/toy.h"

static void save(struct el_outbox *out, uint64_t epoch)
{
    act(out, EL_SAVE)->durable = (struct el_durable){.epoch = epoch};
}

static void save_and_write(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1, 1); /* rests on nothing */
    save(out, 41);
    post(out, cfg, 2, LETTER, 1, 2);
    post(out, cfg, 2, LETTER, 1, 3);
}

static void messages_wait_for_the_record_and_keep_their_order(void **state)
{
    errand = save_and_write;
    toys("nodes 2; initiator 1; disk 3");
    story("1:2 got 1 1; 4:2 got 2 1; 4:2 got 3 1");
    assert_true(bench.result->came_to_rest);
    toys("nodes 2; initiator 1");
    story("1:2 got 1 1; 1:2 got 2 1; 1:2 got 3 1");
}

static void save_first_and_write_later(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->electing++ == 0)
        save(out, 41);
    else
        post(out, cfg, 2, LETTER, 1, me->electing);
}

static void messages_of_later_steps_wait_too(void **state)
{
    errand = save_first_and_write_later;
    toys("nodes 2; initiator 1@0,1@1,1@2.5,1@4; disk 3");
    story("4:2 got 2 1; 4:2 got 3 1; 5:2 got 4 1");
}

static void save_twice_and_write_between(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    save(out, 41);
    post(out, cfg, 2, LETTER, 1, 1);
    save(out, 42);
    post(out, cfg, 2, LETTER, 1, 2);
}

static void records_are_written_one_after_the_other(void **state)
{
    errand = save_twice_and_write_between;
    toys("nodes 2; initiator 1; disk 3; crash 1@9; restart 1@10");
    story("4:2 got 1 1; 7:2 got 2 1; 10:1 started 42");
}

static void save_and_set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    save(out, 41);
    arm(out, FIRST, 0, 10);
}

static void timers_do_not_wait(void **state)
{
    errand = save_and_set_an_alarm;
    toys("nodes 2; initiator 1; disk 3");
    story("1:1 rang 0");
}

static void save_and_tell_what_is_left(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 40);
    save(out, 41);
    struct el_action *action = post(out, cfg, 2, LETTER, 1, 0);
    action->timer = FIRST;
    action->slot = 0;
}

static void what_is_left_of_a_timer_is_read_when_the_message_leaves(void **state)
{
    errand = save_and_tell_what_is_left;
    toy.on_arrival = toy_arrival;
    toys("nodes 2; initiator 1; disk 3");
    story("4:2 got 10; 4:1 rang 0"); /* of four delays, one */
    toys("nodes 2; initiator 1; disk 5");
    story("4:1 rang 0; 6:2 got 0");
}

/* ---- Claims ---- */

static void save_and_crown_itself(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    save(out, 41);
    me->leader = cfg->self;
}

/* When the node last changed its mind, and about whom. */
static sim_time named(el_node node, el_node leader)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = trace->count; i > 0; i--) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_VIEWED || r->node != node) continue;
        assert_int_equal(r->peer, leader);
        return r->time;
    }
    return SIM_NEVER;
}

static void a_claim_waits_for_what_it_rests_on(void **state)
{
    errand = save_and_crown_itself;
    toys("nodes 1; initiator 1@1; disk 3");
    assert_int_equal(named(1, 1), 4 * T);
    elected(1);
    toys("nodes 1; initiator 1@1,1@2; disk 3"); /* for all of it */
    assert_int_equal(named(1, 1), 7 * T);
    toys("nodes 1; initiator 1@1; disk 3; until 3");
    follows(1, 0);
    assert_int_equal(bench.result->leaders_max, 0);
}

static void save_and_follow_two(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    save(out, 41);
    me->leader = 2;
}

static void following_or_letting_go_does_not_wait(void **state)
{
    errand = save_and_follow_two;
    toys("nodes 2; leader 1; initiator 1@1; disk 3");
    assert_int_equal(named(1, 2), 1 * T);
}

static void who_gives_up_before_the_record_is_there_never_led(void **state)
{
    errand = save_and_crown_itself;
    toys("nodes 2; initiator 1@1; crash 1@2; disk 3");
    assert_int_equal(bench.result->leaders_max, 0);
}

/* ---- Death ---- */

static void save_numbered(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    save(out, 41 + me->electing++);
}

static uint64_t found_after_restart(void)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = trace->count; i > 0; i--) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what == SIM_NOTED && r->note == STARTED) return r->values[0];
    }
    return UINT64_MAX;
}

static void who_dies_finds_the_old_record_or_the_new_one(void **state)
{
    unsigned old = 0, new = 0;
    errand = save_numbered;
    for (unsigned seed = 1; seed <= 40; seed++) {
        char text[200];
        snprintf(text, sizeof text, "nodes 1; initiator 1@0,1@5; disk 3; crash 1@7; restart 1@20; seed %u",
                 seed);
        toys(text);
        const uint64_t found = found_after_restart();
        old += found == 41;
        new += found == 42;
    }
    assert_int_equal(old + new, 40);
    assert_in_range(old, 8, 32);
    toys("nodes 1; initiator 1@0,1@5; disk 3; crash 1@8.5; restart 1@20");
    assert_int_equal(found_after_restart(), 42);
}

static void what_the_dead_had_to_say_is_not_said(void **state)
{
    errand = save_and_write;
    toys("nodes 2; initiator 1; disk 3; crash 1@2");
    story("1:2 got 1 1");
    assert_true(bench.result->came_to_rest);
    toys("nodes 2; initiator 1; disk 3; crash 1@2; restart 1@2.5; seed 1");
    assert_int_equal(bench.result->sent[LETTER], 1); /* nor by who comes back before */
    assert_true(bench.result->came_to_rest);
}

/* ---- Wiped ---- */

static void note_how(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    if (start->how != EL_FRESH) note(out, STARTED, start->durable.epoch, start->how);
}

static void who_was_wiped_is_lost_until_it_saves_again(void **state)
{
    toy.on_start = note_how;
    errand = save_numbered;
    toys("nodes 1; initiator 1; crash 1@1; wipe 1@2; crash 1@3; restart 1@4");
    story("2:1 started 0 2; 4:1 started 0 2"); /* EL_LOST twice */
    assert_true(happened(EL_WIPES));
    toys("nodes 1; initiator 1,1@2.5; crash 1@1; wipe 1@2; crash 1@3; restart 1@4");
    story("2:1 started 0 2; 4:1 started 41 1");
    toys("nodes 1; initiator 1,1@2.5; crash 1@1; wipe 1@2; crash 1@9; restart 1@10; disk 3");
    story("2:1 started 0 2; 10:1 started 41 1");
    toys("nodes 1; initiator 1; crash 1@1; restart 1@2");
    assert_false(happened(EL_WIPES));
}

/* ---- Standing still ---- */

static void a_disk_goes_on_while_the_process_stands_still(void **state)
{
    errand = save_and_write;
    toys("nodes 2; initiator 1; disk 3; pause 1@1..9");
    story("1:2 got 1 1; 10:2 got 2 1; 10:2 got 3 1"); /* but who stands still sends nothing */
    toys("nodes 2; initiator 1; disk 3; pause 1@1..2");
    story("1:2 got 1 1; 4:2 got 2 1; 4:2 got 3 1");
}

static void write_when_it_rings(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                                struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1, 9);
}

static void save_write_and_set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    save_and_set_an_alarm(me, cfg, out);
    post(out, cfg, 2, LETTER, 1, 1);
}

static void who_wakes_sends_first_what_waited_for_the_disk(void **state)
{
    errand = save_write_and_set_an_alarm;
    toy.on_timer = write_when_it_rings; /* overdue, so it comes before the news of the disk */
    toys("nodes 2; initiator 1; disk 3; pause 1@0.5..9");
    story("10:2 got 1 1; 10:2 got 9 1");
    assert_true(bench.result->came_to_rest);
}

/* ---- What was once wrong ---- */

/* The first saves, then writes; the second throws it a ball, which is there when the disk is. */
static void save_then_write_or_throw(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (cfg->self == 2) {
        post(out, cfg, 1, BALL, 2, 5);
    } else if (me->electing++ == 0) {
        save(out, 41);
    } else {
        post(out, cfg, 2, LETTER, 1, 1);
    }
}

static void what_is_sent_as_the_disk_is_done_does_not_overtake_what_waited(void **state)
{
    errand = save_then_write_or_throw;
    toys("nodes 2; initiator 1@0,2@0,1@0.5; disk 1; until 2.5");
    story("1:1 got 5 2; 2:2 got 1 1; 2:2 got 5 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(messages_wait_for_the_record_and_keep_their_order),
        check(messages_of_later_steps_wait_too),
        check(records_are_written_one_after_the_other),
        check(timers_do_not_wait),
        check(what_is_left_of_a_timer_is_read_when_the_message_leaves),
        check(a_claim_waits_for_what_it_rests_on),
        check(following_or_letting_go_does_not_wait),
        check(who_gives_up_before_the_record_is_there_never_led),
        check(who_dies_finds_the_old_record_or_the_new_one),
        check(what_the_dead_had_to_say_is_not_said),
        check(who_was_wiped_is_lost_until_it_saves_again),
        check(a_disk_goes_on_while_the_process_stands_still),
        check(who_wakes_sends_first_what_waited_for_the_disk),
        check(what_is_sent_as_the_disk_is_done_does_not_overtake_what_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
