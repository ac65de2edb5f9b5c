/*
 * Raft: what an election costs and how long it takes, who can lead when the network is cut, how often votes split,
 * and what a hand-over spares. T is one delay; timeouts are 150..300 T and beats come every 50 T, as in the paper,
 * if T is a millisecond.
 *
 * Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm, 2014; Ongaro, Consensus: Bridging
 * Theory and Practice, 2014.
 */
#include "lib/sim/bench.h"

/* ---- Reading the trace ---- */

struct reign {
    uint64_t id, term;
    sim_time began;
};

static const struct sim_record *record_at(uint64_t number)
{
    return sim_trace_at(sim_world_trace(bench.world), number);
}

static bool begins_to_lead(const struct sim_record *record)
{
    return record->what == SIM_VIEWED && record->peer == record->node;
}

/* The last that came to lead; nobody if none did after the beginning. */
static struct reign last_reign(void)
{
    for (uint64_t i = sim_world_trace(bench.world)->count; i > 0; i--) {
        const struct sim_record *record = record_at(i);
        if (begins_to_lead(record)) return (struct reign){bench_id(record->node), record->number, record->time};
    }
    return (struct reign){0};
}

static bool stops_leading(const struct sim_record *record, el_node leader)
{
    return record->node == leader && (record->what == SIM_CRASHED || record->what == SIM_VIEWED);
}

/* From the moment the first leader stopped leading until the last began. */
static sim_time time_without_a_leader(void)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    const struct reign last = last_reign();
    for (uint64_t i = 1; i <= trace->count; i++)
        if (stops_leading(record_at(i), bench.plan.incumbent)) return last.began - record_at(i)->time;
    bench_fail(__FILE__, __LINE__, "the first leader never stopped leading");
}

static unsigned how_often(const char *note)
{
    const uint32_t number = bench_note(__FILE__, __LINE__, note);
    unsigned count = 0;
    for (uint64_t i = 1; i <= sim_world_trace(bench.world)->count; i++)
        count += record_at(i)->what == SIM_NOTED && record_at(i)->note == number;
    return count;
}

#define led_after(delays) bench_time(__FILE__, __LINE__, "led", last_reign().began, delays)

static void nothing_wrong(void)
{
    assert_int_equal(bench.result->violation_kinds, 0);
}

/* ---- What an election costs ---- */

static void one_candidate_asks_n_minus_1_leads_in_2t_and_all_know_in_3t(void **state)
{
    for (unsigned n = 2; n <= MANY / 2; n++) {
        const unsigned candidate = n / 2 + 1;
        play_and_record("raft; nodes %u; set prevote=off; initiator %u@0", n, candidate);
        sent("Vote", n - 1);
        sent("Grant", n - 1);
        led_after(2);
        last_known_after(3);
        assert_int_equal(last_reign().term, 1);
        elected(candidate);
    }
}

static void a_pre_vote_costs_as_much_again_and_2t_more(void **state)
{
    for (unsigned n = 2; n <= MANY / 2; n++) {
        play_and_record("raft; nodes %u; initiator 1@0", n);
        sent("PreVote", n - 1);
        sent("PreGrant", n - 1);
        sent("Vote", n - 1);
        sent("Grant", n - 1);
        led_after(4);
        last_known_after(5);
        elected(1);
    }
}

/* q is a majority of all members, dead ones too. */
static void q_minus_1_grants_are_enough_and_fewer_are_not(void **state)
{
    for (unsigned n = 3; n <= SOME; n++)
        for (unsigned dead = n - (n / 2 + 1); dead <= n - (n / 2 + 1) + 1; dead++) {
            unsigned ids[MANY];
            for (unsigned i = 0; i < dead; i++) ids[i] = n - i;
            play_and_record("raft; nodes %u; set prevote=off; crash %s; initiator 1@0; until 100", n,
                            list(ids, dead, "@0"));
            sent("Vote", n - 1);
            sent("Grant", n - 1 - dead);
            follows(1, n - dead > n / 2 ? 1 : 0);
            assert_int_equal(bench.result->violation_kinds, 0);
        }
}

/* The candidate saves before it asks, the voters before they answer. */
static void two_writes_to_disk_come_on_top(void **state)
{
    for (unsigned write = 1; write <= 5; write++) {
        play_and_record("raft; nodes 5; set prevote=off; disk %u; initiator 2@0", write);
        led_after(2 + 2 * write);
        elected(2);
    }
}

/* ---- Networks that are cut ---- */

static void only_the_side_with_the_majority_leads(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        for (unsigned leader = 1; leader <= 5; leader++) {
            play_and_record("raft; nodes 5; leader %u; partition 1,2|3,4,5@210; seed %u", leader, seed);
            const unsigned on_the_side_of_three = (unsigned)last_reign().id;
            if (leader <= 2) {
                nothing_wrong(); /* it stepped down by itself, as one must that is not heard */
                noted("lost-quorum");
                assert_in_range(on_the_side_of_three, 3, 5);
                assert_in_range(last_reign().term, 2, 20);
            } else {
                kept_its_claims();
                assert_int_equal(on_the_side_of_three, 0); /* nobody came to lead after the first */
            }
            for (unsigned id = 1; id <= 2; id++) follows(id, 0);
            for (unsigned id = 3; id <= 5; id++) follows(id, leader <= 2 ? on_the_side_of_three : leader);
        }
}

static void a_cut_into_halves_leaves_no_leader(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play("raft; nodes 4; leader 1; partition 1,2|3,4@210; seed %u", seed);
        nothing_wrong();
        for (unsigned id = 1; id <= 4; id++) follows(id, 0);
    }
}

/* Plain Raft lets a cut-off leader believe that it leads: harmless to the log, not to whom it serves. */
static void without_check_quorum_a_cut_off_leader_never_notices(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play_and_record("raft; nodes 5; leader 1; set check-quorum=off; partition 1,2|3,4,5@210; seed %u",
                        seed);
        kept_its_claims();
        follows(1, 1);
        follows(2, 1);
        assert_in_range(last_reign().id, 3, 5);
    }
}

/* It steps down within two timeouts of the cut, and perhaps after another has been elected. */
static void a_cut_off_leader_steps_down_within_two_timeouts(void **state)
{
    unsigned overlaps = 0;
    for (unsigned cut = 200; cut < 350; cut += 10) {
        play_and_record("raft; nodes 5; leader 1; partition 1,2|3,4,5@%u; seed %u", cut, cut);
        sim_time down = 0;
        for (uint64_t i = 1; i <= sim_world_trace(bench.world)->count && !down; i++)
            if (stops_leading(record_at(i), 1)) down = record_at(i)->time;
        assert_in_range(down, (cut + 100) * bench.plan.unit, (cut + 300) * bench.plan.unit);
        overlaps += last_reign().began < down;
    }
    assert_in_range(overlaps, 1, 14); /* so it is no lease */
}

static void who_was_cut_off_disturbs_nobody_when_it_returns(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play_and_record("raft; nodes 5; leader 1; partition 5|1,2,3,4@210..2000; seed %u", seed);
        elected(1);
        assert_int_equal(last_reign().id, 0);
    }
}

/* It has raised the term by itself; who lives in a later term cannot follow, and says so. */
static void without_pre_vote_its_return_costs_the_leader_its_leadership(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play_and_record("raft; nodes 5; leader 1; set prevote=off; partition 5|1,2,3,4@210..2000; seed %u",
                        seed);
        nothing_wrong();
        assert_in_range(last_reign().term, 5, 20);
    }
}

/* Asked by a candidate that is terms ahead, it answers in the term that it was asked for. */
static void a_voter_that_is_terms_behind_is_counted(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play_and_record("raft; nodes 3; leader 1; partition 3|1,2@10..1000; transfer 2@200; transfer 1@300; "
                        "transfer 2@400; crash 2@999; seed %u",
                        seed);
        kept_its_claims();
        assert_in_range(last_reign().term, 5, 9);
    }
}

/* ---- Logs ---- */

static void who_has_the_longest_log_wins_in_the_end(void **state)
{
    for (unsigned seed = 1; seed <= 40; seed++) {
        play(
            "raft; nodes 5; set prevote=%s; crash 4@0,5@0; fact 2:log-term=3,1:log-index=9,3:log-index=10; seed %u",
            seed % 2 ? "on" : "off", seed);
        elected(2); /* all three must vote, and nobody else is given all three votes */
    }
}

/* ---- Split votes ---- */

#ifdef ELECTOR_SANITIZED
enum { ELECTIONS = 2000, TOLERANCE = 50 };
#else
enum { ELECTIONS = 20000, TOLERANCE = 15 };
#endif

struct shares {
    unsigned alone;     /* nobody else stood before it was voted on */
    unsigned one_round; /* somebody led the first term */
};

/*
 * The leader of five dies, and four timeouts run, drawn from a window W of 150 ms. In thousandths of the
 * elections.
 */
static struct shares hold_elections(const char *delay)
{
    struct shares shares = {0};
    for (unsigned seed = 1; seed <= ELECTIONS; seed++) {
        play_and_record(
            "raft; nodes 5; leader 5; crash 5@120ms; set prevote=off; delay %s; until 490ms; seed %u", delay,
            seed);
        shares.alone += how_often("stands") == 1;
        shares.one_round += last_reign().term == 2;
    }
    shares.alone = 1000 * shares.alone / ELECTIONS;
    shares.one_round = 1000 * shares.one_round / ELECTIONS;
    return shares;
}

/*
 * For n timeouts uniform over W, the earliest leads the second by v with P = (1 - v/W)^n. What v is: not the time
 * to win, but the time until the request arrives, for who has voted waits anew. With one delay of 15 ms, v/W is
 * 0.1 and P is 0.656 for n = 4.
 *
 * The formula speaks of rivals and not of lost elections: it ignores that a rival need not split the vote. With
 * equal delays the earlier request comes first everywhere, so one rival takes nothing but its own vote, and the
 * earliest still has 3 of 5. It fails only if two rivals stand within v: then the third-earliest timeout is
 * closer than v, and P = (1 - v/W)^4 + 4 v/W (1 - v/W)^3 = 0.948 that it is not. With delays that vary there are
 * fewer rivals, since requests arrive sooner, but a rival's may arrive first and takes votes.
 */
static void votes_split_as_often_as_the_timeouts_are_close(void **state)
{
    const struct shares fixed = hold_elections("15ms"), varied = hold_elections("1ms..15ms");
    print_message("split votes, n = 4, v/W = 0.1, %u elections: no rival %.3f (formula 0.656), decided in one "
                  "round %.3f (two rivals needed: 0.948)\n",
                  ELECTIONS, fixed.alone / 1000.0, fixed.one_round / 1000.0);
    print_message("  with delays of 1..15 ms: no rival %.3f, decided in one round %.3f\n",
                  varied.alone / 1000.0, varied.one_round / 1000.0);
    assert_in_range(fixed.alone, 656 - TOLERANCE, 656 + TOLERANCE);
    assert_in_range(fixed.one_round, 948 - TOLERANCE, 948 + TOLERANCE);
    assert_in_range(varied.alone, 656 + TOLERANCE, 900);
    assert_in_range(varied.one_round, varied.alone, 1000);
}

/* ---- Handing over ---- */

static void a_hand_over_spares_the_timeout(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        play_and_record("raft; nodes 5; leader 1; transfer 2@210; seed %u", seed);
        elected(2);
        assert_int_equal(last_reign().term, 2);
        assert_int_equal(time_without_a_leader(),
                         1 * bench.plan.unit); /* it leads until it votes for its heir */
        play_and_record("raft; nodes 5; leader 1; resign leader@210; seed %u", seed);
        elected(5);
        assert_int_equal(last_reign().term, 2);
        assert_int_equal(time_without_a_leader(), 3 * bench.plan.unit);
        play_and_record("raft; nodes 5; leader 1; crash leader@210; seed %u", seed);
        kept_its_claims();
        assert_in_range(last_reign().term, 2, 9);
        /* the last beat was heard at 201, the shortest timeout is 150, and 4 T go to the two rounds */
        assert_in_range(time_without_a_leader(), 145 * bench.plan.unit, 1000 * bench.plan.unit);
    }
}

/* ---- Records ---- */

static void who_has_lost_its_record_is_missed(void **state)
{
    play("raft; nodes 3; leader 1; crash 3@210; wipe 3@220; crash 1@400");
    follows(2, 0); /* its own vote is the only one */
    follows(3, 0);
    noted("mute");
    play("raft; nodes 3; leader 1; crash 3@210; restart 3@220; crash 1@400");
    ended_on((unsigned)bench_id(bench.result->leader));
}

static void times_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *option, *delay, *why;
    } bad[] = {
        {"election=100", "50", "votes would arrive after the candidate has given up"},
        {"heartbeat=149", "1", "followers would stand between two heartbeats"},
        {"heartbeat=60", "45", "a leader would miss its majority between two answers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sim_settings settings = {0};
        struct sim_plan plan;
        struct sim_error error;
        assert_true(sim_settings_add(&settings, "algorithm", "raft", 0, 0));
        assert_true(sim_settings_add(&settings, "nodes", "2", 0, 0));
        assert_true(sim_settings_add(&settings, "set", bad[i].option, 0, 0));
        assert_true(sim_settings_add(&settings, "delay", bad[i].delay, 0, 0));
        assert_int_not_equal(sim_plan_build(&plan, &settings, &error), 0);
        assert_non_null(strstr(error.text, bad[i].why));
        sim_settings_free(&settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_candidate_asks_n_minus_1_leads_in_2t_and_all_know_in_3t),
        cmocka_unit_test(a_pre_vote_costs_as_much_again_and_2t_more),
        cmocka_unit_test(q_minus_1_grants_are_enough_and_fewer_are_not),
        cmocka_unit_test(two_writes_to_disk_come_on_top),
        cmocka_unit_test(only_the_side_with_the_majority_leads),
        cmocka_unit_test(a_cut_into_halves_leaves_no_leader),
        cmocka_unit_test(without_check_quorum_a_cut_off_leader_never_notices),
        cmocka_unit_test(a_cut_off_leader_steps_down_within_two_timeouts),
        cmocka_unit_test(who_was_cut_off_disturbs_nobody_when_it_returns),
        cmocka_unit_test(without_pre_vote_its_return_costs_the_leader_its_leadership),
        cmocka_unit_test(a_voter_that_is_terms_behind_is_counted),
        cmocka_unit_test(who_has_the_longest_log_wins_in_the_end),
        cmocka_unit_test(votes_split_as_often_as_the_timeouts_are_close),
        cmocka_unit_test(a_hand_over_spares_the_timeout),
        cmocka_unit_test(who_has_lost_its_record_is_missed),
        cmocka_unit_test(times_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
