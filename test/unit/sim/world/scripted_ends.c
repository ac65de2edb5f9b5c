/* Playing a script: whoever dies in a step, what is drawn in it, what is judged at the end, and loops. */
#include "lib/sim/scripted.h"

/* ---- Death ---- */

static void save(struct el_outbox *out, uint64_t epoch)
{
    act(out, EL_SAVE)->durable = (struct el_durable){.epoch = epoch};
}

static void save_and_write(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, 1, 1);
    save(out, 41);
    note(out, RANG, 9, 0);
    post(out, cfg, 2, LETTER, 1, 2);
    save(out, 42);
    arm(out, FIRST, 0, 10);
}

static void whoever_dies_has_done_the_first_so_many_things(void **state)
{
    errand = save_and_write;
    toy.needs = 0;
    staged(TWO "step dying=0 campaign 1; step restart 1", "1:1 started 0");
    assert_int_equal(bench.result->sent[0], 0);
    assert_true(bench.result->came_to_rest);
    assert_true(faults_are(EL_CRASHES | EL_RESTARTS));
    staged(TWO "step dying=1 campaign 1; step restart 1; step deliver 1>2 Letter",
           "1:1 started 0; 2:2 got 1 1");
    assert_int_equal(bench.result->sent[0], 1);
    staged(TWO "step dying=2 campaign 1; step restart 1", "0:1 rang 9; 1:1 started 41");
    assert_int_equal(bench.result->sent[0], 1);
    staged(TWO "step dying=3 campaign 1; step restart 1", "0:1 rang 9; 1:1 started 41");
    assert_int_equal(bench.result->sent[0], 2);
    staged(TWO "step dying=4 campaign 1; step restart 1", "0:1 rang 9; 1:1 started 42");
    assert_int_equal(bench.result->sent[0], 2);
    stuck(TWO "step dying=5 campaign 1", "f:3:6: step: there are only 4 SENDs and SAVEs to carry out, not 5");
    staged(TWO "step dying=4 campaign 1; step restart 1 wiped", "0:1 rang 9; 1:1 started 0");
    assert_true(happened(EL_WIPES));
}

static void death_comes_in_any_kind_of_step(void **state)
{
    errand = throw_a_ball; /* who gets it throws it back */
    staged(TWO "step campaign 1; step dying=0 deliver 1>2 Ball", "1:2 got 1 1");
    assert_false(sim_world_alive(bench.world, 2));
    assert_true(bench.result->came_to_rest);
    staged(TWO "step campaign 1; step dying=1 deliver 1>2 Ball; step deliver 2>1 Ball",
           "1:2 got 1 1; 2:1 got 1 2");
    staged(TWO "step crash 1; step dying=0 restart 1; step restart 1", "1:1 started 0; 2:1 started 0");
    errand = set_an_alarm;
    staged(TWO "step campaign 1; step dying=0 fire 1 first", "1:1 rang 0");
    assert_false(sim_world_alive(bench.world, 1));
    staged(TWO "step dying=0 suspect 2:1", "0:2 suspects 1");
    assert_false(sim_world_alive(bench.world, 2));
}

static void what_the_dying_claim_nobody_hears(void **state)
{
    errand = crown_itself_for_all;
    staged(THREE "leader 3; step dying=1 campaign 1; step deliver 1>2 Crown", "");
    assert_int_equal(bench.result->leaders_max, 1); /* 3 */
    assert_int_equal(sim_world_leader_of(bench.world, 2), 1);
    staged(THREE "leader 3; step campaign 1; step crash 1", "");
    assert_int_equal(bench.result->leaders_max, 2);
}

static void crash_and_return_have_an_order(void **state)
{
    stuck(TWO "step crash 1; step crash 1", "f:4:6: step: 1 is dead already");
    stuck(TWO "step restart 1", "f:3:6: step: 1 is not dead");
    stuck(TWO "step crash 1; step campaign 1", "f:4:6: step: 1 is dead");
    stuck(TWO "step crash 1; step suspect 1:2", "f:4:6: step: 1 is dead");
}

/* ---- Choices ---- */

static void choose_below_five(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    act(out, EL_CHOOSE)->n = 5;
}

static void the_script_answers_every_choice(void **state)
{
    errand = choose_below_five; /* then below that, until it is 0 */
    staged(TWO "step choosing=4,2,0 campaign 1; step choosing=0 campaign 2",
           "0:1 chose 4; 0:1 chose 2; 0:1 chose 0; 1:2 chose 0");
    stuck(TWO "step campaign 1", "f:3:6: step: it draws a number below 5: put choosing=N before the step");
    stuck(TWO "step choosing=3 campaign 1",
          "f:3:6: step: it draws a number below 3 once more: put choosing=N before the step");
    stuck(TWO "step choosing=5 campaign 1", "f:3:6: step: it draws a number below 5, not 5");
    stuck(TWO "step choosing=0,0 campaign 1", "f:3:6: step: it draws 1 number, not 2");
    errand = NULL;
    stuck(TWO "step choosing=0 campaign 1", "f:3:6: step: it draws 0 numbers, not 1");
}

/* ---- The end ---- */

static void rest_is_judged_only_at_rest(void **state)
{
    errand = crown_itself_for_all;
    staged(TWO "step campaign 2; step deliver 2>1 Crown", "");
    assert_true(violations_are(0));
    assert_true(bench.result->agreed);
    staged(TWO "step campaign 2; step lose 2>1 Crown", "");
    assert_true(violations_are(EL_NO_LEADER));
    staged(TWO "step campaign 2", ""); /* 1 may still hear of it */
    assert_true(violations_are(0));
    assert_false(bench.result->agreed);
    staged(TWO "leader 1; step campaign 2", ""); /* but what has happened has happened */
    assert_true(violations_are(EL_TWO_LEADERS));
}

static void a_loop_leads_back_to_where_it_began(void **state)
{
    toy.on_message = NULL; /* a ball that nobody counts */
    errand = write_to_two;
    staged(TWO "step campaign 1; step loop; step campaign 1; step deliver 1>2 Letter", "");
    assert_true(violations_are(EL_ENDLESS));
    assert_int_equal(bench.result->violations[0].step, 2);
    assert_false(bench.result->came_to_rest);
    staged(TWO "step loop; step suspect 1:2; step trust 1:2", "0:1 suspects 2; 1:1 trusts 2");
    assert_true(violations_are(EL_ENDLESS));
    staged(TWO "step loop; step crash 1; step restart 1", "1:1 started 0");
    assert_true(violations_are(EL_ENDLESS | EL_NO_LEADER)); /* each time at rest, too */
}

static void a_loop_that_leads_elsewhere_is_refused(void **state)
{
    const char *elsewhere = "f:3:6: step: the steps after it do not return to the state that the run had here";
    stuck(TWO "step loop; step suspect 1:2", elsewhere);
    stuck(TWO "step loop; step crash 1", elsewhere);
    stuck(TWO "step loop; step pause 1", elsewhere);
    stuck(TWO "step loop; step crash 1; step restart 1 wiped", elsewhere);
    errand = write_to_two;
    stuck(TWO "step loop; step campaign 1", elsewhere);                          /* in flight */
    stuck(TWO "step loop; step campaign 1; step deliver 1>2 Letter", elsewhere); /* 2 has heard one more */
    errand = set_an_alarm;
    stuck(TWO "step loop; step campaign 1", elsewhere); /* armed */
    errand = save_and_write;
    stuck(TWO "step loop; step dying=2 campaign 1; step restart 1; step lose 1>2 Letter",
          elsewhere); /* saved */
}

static void write_two(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (uint64_t i = 1; i <= 2; i++) post(out, cfg, 2, LETTER, cfg->self, i);
}

static void the_order_in_flight_makes_no_other_scene(void **state)
{
    errand = write_two;
    toy.on_message = NULL;
    staged(TWO "step campaign 1; step loop; step campaign 1; step lose 1>2 Letter; step lose 1>2 Letter #3",
           "");
    assert_true(violations_are(EL_ENDLESS)); /* 2 1, as it was 1 2 */
}

static void by_ticks_what_is_left_of_a_timer_belongs_to_the_scene(void **state)
{
    errand = set_an_alarm; /* for four delays */
    staged("nodes 2; script ticks; step campaign 1; step loop; step wait 3; step campaign 1", "");
    assert_true(violations_are(EL_ENDLESS));
    stuck("nodes 2; script ticks; step campaign 1; step loop; step wait 3; step suspect 1:2; step trust 1:2",
          "f:4:6: step: the steps after it do not return to the state that the run had here");
    staged(TWO "step campaign 1; step loop; step wait 3; step suspect 1:2; step trust 1:2",
           "4:1 suspects 2; 5:1 trusts 2");
    assert_true(violations_are(EL_ENDLESS));
}

/* ---- Real elections ---- */

static void a_script_can_tell_an_ordinary_story(void **state)
{
    play("bully; nodes 3; leader 3; script steps; step crash 3; step suspect 1:3; step suspect 2:3; "
         "step deliver 1>2 Election; step deliver 2>1 Answer; step lose 1>3 Election; step lose 2>3 Election; "
         "step fire 2 answers; step deliver 2>1 Coordinator; step fire 1 settled; step fire 2 settled");
    assert_string_equal(bench.result->error.text, "");
    elected(2);
    assert_int_equal(bench.result->sent[0], 5);
}

static void requests_and_facts_reach_their_node(void **state)
{
    play_and_record("raft; nodes 3; leader 1; fact 3:log-index=4; script steps; step fact 2:log-index=9; "
                    "step transfer 1 2; step resign 3");
    const struct sim_trace *trace = sim_world_trace(bench.world);
    unsigned told = 0, requested = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what == SIM_TOLD) assert_int_equal(r->number, told++ ? 9 : 4);
        requested += r->what == SIM_REQUESTED;
    }
    assert_int_equal(told, 2);
    assert_int_equal(requested, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        check(whoever_dies_has_done_the_first_so_many_things),
        check(death_comes_in_any_kind_of_step),
        check(what_the_dying_claim_nobody_hears),
        check(crash_and_return_have_an_order),
        check(the_script_answers_every_choice),
        check(rest_is_judged_only_at_rest),
        check(a_loop_leads_back_to_where_it_began),
        check(a_loop_that_leads_elsewhere_is_refused),
        check(the_order_in_flight_makes_no_other_scene),
        check(by_ticks_what_is_left_of_a_timer_belongs_to_the_scene),
        check(a_script_can_tell_an_ordinary_story),
        check(requests_and_facts_reach_their_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
