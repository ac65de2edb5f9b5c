/*
 * Invitation: groups merge, and only "a group agrees on its leader" is claimed.
 *
 * Garcia-Molina, Elections in a distributed computing system, IEEE Trans. Computers 31(1), 1982; Stoller, on
 * leader election in asynchronous distributed systems, 1999; Petrov, Database Internals, chapter 10.
 */
#include "lib/sim/bench.h"

enum { LATE = 20000 }; /* by then the groups have formed */

static void one_by_one_a_leader_gathers_all_with_2_times_n_minus_1(void **state)
{
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned caller = 1; caller <= n; caller++) {
            play("invitation; nodes %u; initiator %u", n, caller);
            sent("Invite", n - 1);
            sent("Accept", n - 1);
            sent_in_all(2 * (n - 1));
            if (caller == 1) took(2 * (n - 1)); /* the lowest rank invites without a pause */
            elected(caller);
        }
}

/* In round r the leader of each second group of 2^(r-1) invites its neighbour's; all of them at one time. */
static void balanced_mergers_of_2_to_the_p_cost_n_by_2_log_n_plus_n_minus_1(void **state)
{
    for (unsigned n = 2, p = 1; n <= MANY; n *= 2, p++) {
        char starts[BENCH_TEXT / 4] = "";
        size_t used = 0;
        for (unsigned size = 1, round = 0; size < n; size *= 2, round++)
            for (unsigned leader = 1; leader <= n; leader += 2 * size)
                if (round == 0 || leader > 1) /* 1, the lowest, goes on by itself */
                    used += (size_t)snprintf(starts + used, sizeof starts - used, "%s%u@%u", used ? "," : "",
                                             leader, 2 * round);
        play("invitation; nodes %u; initiator %s", n, starts);
        sent("Invite", n - 1);
        sent("Accept", n - 1);
        sent_in_all(n / 2 * p + n - 1);
        took(2 * p);
        elected(1);
    }
}

static void two_pairs_become_four_under_the_first(void **state)
{
    play("invitation; nodes 4; initiator 1,3");
    sent_in_all(7);
    took(4);
    elected(1);
}

/* 1..m form a group, and the rest another one, while the network is cut. Then it heals, and 1 invites. */
static void two_groups_meet(unsigned n, unsigned m, unsigned other_leader)
{
    play("invitation; nodes %u; partition %s|%s@0..%d; initiator 1,%u,1@%d", n, span(1, m), span(m + 1, n),
         LATE, other_leader, LATE + 1);
}

static void absorbing_a_group_of_g_costs_g_plus_1(void **state)
{
    for (unsigned n = 2; n <= MANY / 2; n++)
        for (unsigned g = 1; 2 * g <= n; g++) {
            const unsigned m = n - g;
            two_groups_meet(n, m, m + 1);
            last_sent_in_all(g + 1);
            last_took(2);
            elected(1);
        }
}

static void a_redirect_to_the_leader_costs_2_more(void **state)
{
    for (unsigned n = 4; n <= MANY / 2; n++)
        for (unsigned g = 2; 2 * g <= n; g++) {
            const unsigned m = n - g;
            two_groups_meet(n, m, m + 2);
            sent("Redirect", 1);
            last_sent_in_all(g + 1 + 2);
            last_took(4);
            elected(1);
        }
}

static void the_leader_of_the_larger_group_stays_whoever_invites(void **state)
{
    for (unsigned n = 3; n <= MANY / 2; n++)
        for (unsigned g = n / 2 + 1; g < n; g++) {
            const unsigned m = n - g;
            two_groups_meet(n, m, m + 1);
            last_sent_in_all(1 + m + 1); /* the invitation is answered by another */
            last_took(3);
            elected(m + 1);
        }
}

static void of_two_that_invite_each_other_the_better_rank_stays(void **state)
{
    play("invitation; nodes 2; initiator 1,2");
    elected(2);
    play("invitation; nodes 2; attr 1=7; initiator 1,2");
    elected(1);
    play("invitation; nodes 2; attr 1=7,2=7; initiator 1,2");
    elected(2);
}

static void whoever_invites_whom_and_when_a_group_agrees_on_its_leader(void **state)
{
    struct sim_random dice;
    unsigned ids[MANY];
    sim_random_seed(&dice, 1, 0);
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned round = 0; round < 4 * SOME; round++) {
            char starts[BENCH_TEXT / 4] = "";
            size_t used = 0;
            shuffle(&dice, ids, n);
            for (unsigned id = 1; id <= n; id++)
                used += (size_t)snprintf(starts + used, sizeof starts - used, "%s%u@%u", id > 1 ? "," : "", id,
                                         round % 2 ? 0 : below(&dice, 2 * n));
            play("invitation; ids %s; initiator %s", list(ids, n, ""), starts);
            kept_its_claims();
        }
}

static void several_leaders_are_no_fault_but_the_definition(void **state)
{
    play("invitation; nodes 5; partition 1,2,3|4,5@0; initiator 1,4");
    kept_its_claims();
    for (unsigned id = 1; id <= 3; id++) follows(id, 1);
    for (unsigned id = 4; id <= 5; id++) follows(id, 4);
}

static void a_member_whose_leader_is_silent_founds_its_own_group(void **state)
{
    play("invitation; nodes 3; leader 3; crash 3@0; initiator 1");
    sent("AreYouThere", 1);
    noted("founds");
    follows(1, 1);
}

static void a_member_whose_leader_is_there_stays(void **state)
{
    for (unsigned n = 2; n <= MANY; n++) {
        play("invitation; nodes %u; leader %u; initiator 1", n, n);
        sent("AreYouThere", 1);
        sent("IAm", 1);
        sent_in_all(2);
        elected(n);
    }
}

static void those_whose_leader_died_gather_again(void **state)
{
    for (unsigned n = 2; n <= MANY; n++) {
        play("invitation; nodes %u; leader %u; crash %u@0; detect 1", n, n, n);
        kept_its_claims();
        ended_on(1); /* the lowest rank invites first */
        sent_in_all(2 * (n - 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one_a_leader_gathers_all_with_2_times_n_minus_1),
        cmocka_unit_test(balanced_mergers_of_2_to_the_p_cost_n_by_2_log_n_plus_n_minus_1),
        cmocka_unit_test(two_pairs_become_four_under_the_first),
        cmocka_unit_test(absorbing_a_group_of_g_costs_g_plus_1),
        cmocka_unit_test(a_redirect_to_the_leader_costs_2_more),
        cmocka_unit_test(the_leader_of_the_larger_group_stays_whoever_invites),
        cmocka_unit_test(of_two_that_invite_each_other_the_better_rank_stays),
        cmocka_unit_test(whoever_invites_whom_and_when_a_group_agrees_on_its_leader),
        cmocka_unit_test(several_leaders_are_no_fault_but_the_definition),
        cmocka_unit_test(a_member_whose_leader_is_silent_founds_its_own_group),
        cmocka_unit_test(a_member_whose_leader_is_there_stays),
        cmocka_unit_test(those_whose_leader_died_gather_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
