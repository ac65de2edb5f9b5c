/*
 * "The holder's time is over before anybody else's begins": leases never overlap in true time while every clock
 * keeps the bound on drift, however unlucky its direction; and when clocks leave the bound, they do.
 *
 * Gray, Cheriton: Leases, SOSP 1989, section 5 (a clock that fails by running fast at the granter or slow at the
 * holder is the dangerous one); Burrows 2006, section 2.8; Trencseni et al. 2012, section 4.
 */
#include <stdlib.h>

#include "lib/sim/bench.h"

#ifdef ELECTOR_SANITIZED
enum { SEEDS = 60 };
#else
enum { SEEDS = 400 };
#endif
enum { NODES = 5, LEASE_US = 400000, BEAT_US = 100000 };

static const char *const by_lease[] = {"chubby", "paxos-lease"};
enum { ALGORITHMS = sizeof by_lease / sizeof *by_lease };

/* How the clocks of a run go. In the worst direction, the holder's is slow and those of the granters are fast. */
struct clocks {
    const char *name;
    const char *slow, *fast;
    const char *drift; /* the bound that all believe in */
    const char *leap;  /* of the holder's clock, just after it was cut off */
};

static const struct clocks at_the_edge = {"1 ± 0.005, bound 0.005", "0.995", "1.005", "0.005", NULL};
static const struct clocks outside = {"1 ± 0.1, bound 0.005", "0.9", "1.1", "0.005", NULL};
static const struct clocks at_a_wide_edge = {"1 ± 0.1, bound 0.1", "0.9", "1.1", "0.1", NULL};
static const struct clocks inside_again = {"1 ± 0.1, bound 0.15", "0.9", "1.1", "0.15", NULL};
static const struct clocks leaping = {"true, holder set back by 50 ms", "1", "1", "0.005", "-50ms"};

/* What came of all seeds. */
struct tally {
    unsigned runs, overlaps, takeovers;
    sim_time closest; /* from the end of the first holder's lease to the next, where they do not overlap */
};

/* ---- The stories ---- */

static double rate_of(const char *text)
{
    char *end = NULL;
    const double rate = strtod(text, &end);
    assert_true(end > text);
    return rate;
}

static const char *worst_clocks(const struct clocks *clocks)
{
    static char text[200];
    snprintf(text, sizeof text, "clock 1=%s,2=%s,3=%s,4=%s,5=%s; drift %s", clocks->slow, clocks->fast,
             clocks->fast, clocks->fast, clocks->fast, clocks->drift);
    return text;
}

/* The holder is cut off just after it asked for more, when the promises are as young as they can be; messages
 * take next to no time, so nothing but the arithmetic keeps the leases apart. */
static void cut_off_after_a_renewal(const char *algorithm, const struct clocks *clocks, struct sim_random *dice)
{
    const double beat = BEAT_US / rate_of(clocks->slow);
    const unsigned renewals = 1 + below(dice, 8);
    const unsigned cut = (unsigned)(renewals * beat) + below(dice, 300);
    char leap[64] = "";
    if (clocks->leap) snprintf(leap, sizeof leap, "; jump 1@%uus=%s", cut + 1, clocks->leap);
    play_and_record("%s; nodes %u; leader 1; delay 10..50us; set lease=%uus; set heartbeat=%uus; "
                    "set retry=250us; %s; partition 1|%s@%uus; until %uus; seed %u%s",
                    algorithm, NODES, LEASE_US, BEAT_US, worst_clocks(clocks), span(2, NODES), cut,
                    cut + 3 * LEASE_US, 1 + below(dice, 1000000), leap);
}

/* A message may be under way for as long as a lease, and arrive when it is over. */
static void messages_are_late(const char *algorithm, const struct clocks *clocks, struct sim_random *dice)
{
    char cuts[200] = "";
    for (unsigned i = 0, at = below(dice, LEASE_US); i < 3; i++, at += LEASE_US + below(dice, LEASE_US)) {
        const size_t used = strlen(cuts);
        const unsigned alone = i == 0 ? 1 : 1 + below(dice, NODES), other = alone % NODES + 1;
        snprintf(cuts + used, sizeof cuts - used, "; partition %u|%u,%u,%u,%u@%uus..%uus", alone, other,
                 other % NODES + 1, (other + 1) % NODES + 1, (other + 2) % NODES + 1, at, at + LEASE_US);
    }
    play_and_record(
        "%s; nodes %u; leader 1; delay exp:%u..%uus; bound 5ms; set lease=%uus; set heartbeat=%uus; "
        "set retry=20ms; %s%s; until 4s; seed %u",
        algorithm, NODES, 2000 + below(dice, 30000), LEASE_US, LEASE_US, BEAT_US, worst_clocks(clocks), cuts,
        1 + below(dice, 1000000));
}

/* The holder stands still, as a process does that is swapped out, and wakes when its lease is nearly over or long
 * over; some of the granters stand still, too, and the disk is slow. */
static void processes_stand_still(const char *algorithm, const struct clocks *clocks, struct sim_random *dice)
{
    const unsigned from = below(dice, 3 * BEAT_US), length = LEASE_US / 2 + below(dice, LEASE_US);
    const unsigned granter = 2 + below(dice, NODES - 1), again = from + length + below(dice, LEASE_US);
    play_and_record("%s; nodes %u; leader 1; delay 0.1..2ms; disk 0..2ms; set lease=%uus; set heartbeat=%uus; "
                    "set retry=10ms; %s; pause 1@%uus..%uus; pause %u@%uus..%uus; pause 1@%uus..%uus; "
                    "until 4s; seed %u",
                    algorithm, NODES, LEASE_US, BEAT_US, worst_clocks(clocks), from, from + length, granter,
                    from + below(dice, BEAT_US), from + length / 2 + BEAT_US, again,
                    again + LEASE_US + below(dice, LEASE_US), 1 + below(dice, 1000000));
}

typedef void story(const char *algorithm, const struct clocks *clocks, struct sim_random *dice);

/* ---- What came of them ---- */

/* Somebody else led: how long after the first holder let go; SIM_NEVER if that never could say so. */
static bool taken_over(sim_time *gap)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    sim_time let_go = 0;
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_VIEWED) continue;
        if (r->node == 1 && r->peer != 1 && let_go == 0) let_go = r->time;
        if (r->node == 1 || r->peer != r->node) continue;
        *gap = let_go ? r->time - let_go : SIM_NEVER;
        return true;
    }
    return false;
}

static struct tally tell(const char *name, story *play_it, const char *algorithm, const struct clocks *clocks)
{
    struct tally tally = {.closest = SIM_NEVER};
    struct sim_random dice;
    sim_random_seed(&dice, 1, 0);
    for (; tally.runs < SEEDS; tally.runs++) {
        play_it(algorithm, clocks, &dice);
        const bool overlap = (bench.result->violation_kinds & EL_TWO_LEADERS) != 0;
        sim_time gap = 0;
        tally.overlaps += overlap;
        if (!taken_over(&gap)) continue;
        tally.takeovers++;
        if (!overlap && gap < tally.closest) tally.closest = gap;
    }
    print_message("%-11s %-24s %-31s %u runs, taken over in %u, leases overlap in %u", algorithm, name,
                  clocks->name, tally.runs, tally.takeovers, tally.overlaps);
    if (tally.closest != SIM_NEVER) print_message(", closest %.3f ms", (double)tally.closest / 1e6);
    print_message("\n");
    return tally;
}

/* ---- The sentences ---- */

static void never_overlap(const struct clocks *clocks)
{
    for (unsigned i = 0; i < ALGORITHMS; i++) {
        const struct tally cut = tell("cut off after a renewal", cut_off_after_a_renewal, by_lease[i], clocks);
        assert_int_equal(cut.overlaps, 0);
        assert_true(cut.takeovers > cut.runs / 10 * 9); /* or nothing was at stake */
        const struct tally late = tell("messages are late", messages_are_late, by_lease[i], clocks);
        assert_int_equal(late.overlaps, 0);
        assert_true(late.takeovers > late.runs / 4);
        const struct tally still = tell("processes stand still", processes_stand_still, by_lease[i], clocks);
        assert_int_equal(still.overlaps, 0);
        assert_true(still.takeovers > still.runs / 4);
    }
}

static void leases_never_overlap_while_the_clocks_keep_the_bound(void **state)
{
    never_overlap(&at_the_edge);
}

static void they_do_when_the_clocks_leave_it(void **state)
{
    for (unsigned i = 0; i < ALGORITHMS; i++) {
        const struct tally cut =
            tell("cut off after a renewal", cut_off_after_a_renewal, by_lease[i], &outside);
        assert_true(cut.overlaps > 0);
        assert_true(bench.result->faults & EL_DRIFTS);
        assert_true(tell("messages are late", messages_are_late, by_lease[i], &outside).overlaps > 0);
        assert_true(tell("processes stand still", processes_stand_still, by_lease[i], &outside).overlaps > 0);
    }
}

static void they_do_when_the_holders_clock_is_set_back(void **state)
{
    for (unsigned i = 0; i < ALGORITHMS; i++)
        assert_true(tell("cut off after a renewal", cut_off_after_a_renewal, by_lease[i], &leaping).overlaps >
                    0);
}

static void a_wider_bound_makes_the_same_clocks_safe_again(void **state)
{
    never_overlap(&at_a_wide_edge);
    assert_false(bench.result->faults & EL_DRIFTS);
    never_overlap(&inside_again);
}

/* The bound costs what it must and no more: with the clocks at its edge, the next leader begins when the old one's
 * time is over, give or take the messages. */
static void at_the_edge_of_the_bound_hardly_any_time_is_wasted(void **state)
{
    for (unsigned i = 0; i < ALGORITHMS; i++) {
        const struct tally tally =
            tell("cut off after a renewal", cut_off_after_a_renewal, by_lease[i], &at_the_edge);
        assert_in_range(tally.closest, 0, 500000);
    }
}

static int put_away(void **state)
{
    bench_clear();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leases_never_overlap_while_the_clocks_keep_the_bound),
        cmocka_unit_test(they_do_when_the_clocks_leave_it),
        cmocka_unit_test(they_do_when_the_holders_clock_is_set_back),
        cmocka_unit_test(a_wider_bound_makes_the_same_clocks_safe_again),
        cmocka_unit_test(at_the_edge_of_the_bound_hardly_any_time_is_wasted),
    };
    return cmocka_run_group_tests(tests, NULL, put_away);
}
