/*
 * Quorum under faults at its own pace: leases of 40 T, messages that take up to four leases, clocks at the edge of a wide
 * bound, lives that end every few leases, wiped and slow disks, pauses, one-way cuts, hand-overs and obituaries.
 * Whether a leader is found is judged elsewhere. Here there are never two, never two in a term, and terms rise.
 *
 * Environment: ELECTOR_RUNS how many, ELECTOR_FIRST_RUN where to begin, ELECTOR_RUN only that one, told in full.
 */
#include "algorithms/quorum/quorum.h"
#include "lib/sim/environment.h"
#include "lib/sim/story.h"
#include "sim/output/transcript.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 200 };
#else
enum { RUNS = 6000 };
#endif
enum { RUNS_FOR_NOTES = 6000, TIME = 800, MEMBERS_MAX = 5, LEASE = 40 };

static bool slow_disks;

static double within(double length)
{
    return (double)below(&story.dice, (unsigned)(10 * length)) / 10;
}

/* Most of the others are told, each at its own time. */
static void tell_of_death(unsigned id, unsigned incarnation, double at)
{
    for (unsigned n = 1; n <= story.nodes; n++)
        if (n != id && !one_in(4))
            tell("; fact %u:obituary=%llu@%.1f", n,
                 (unsigned long long)id << QUORUM_OBITUARY_SHIFT | incarnation,
                 at + (one_in(2) ? 0 : within(LEASE)));
}

/* Lives are counted as long as each is on disk at once: then it can be said which one is over. */
static void tell_of_lives(unsigned id)
{
    bool counted = !slow_disks;
    unsigned incarnation = 1;
    double at = within(8 * LEASE);
    while (at < TIME) {
        tell("; crash %u@%.1f", id, at);
        if (counted && one_in(3)) tell_of_death(id, incarnation, at);
        if (one_in(8)) return;
        at += 0.2 + within(one_in(2) ? 3 : 2 * LEASE);
        const bool wiped = one_in(6);
        tell("; %s %u@%.1f", wiped ? "wipe" : "restart", id, at);
        counted = counted && !wiped;
        incarnation++;
        at += 1 + within(6 * LEASE);
    }
}

static void tell_of_cuts(void)
{
    for (unsigned cuts = below(&story.dice, 6); cuts > 0; cuts--) {
        const double at = within(TIME), until = at + 1 + within(5 * LEASE);
        const unsigned from = member(), to = member();
        if (from != to) tell("; cut %u>%u@%.1f..%.1f", from, to, at, until);
        if (from != to && one_in(2)) tell("; cut %u>%u@%.1f..%.1f", to, from, at, until);
    }
}

static void tell_of_the_network(void)
{
    static const char *const delays[] = {"1", "0.2..1", "0.1..20", "exp:3..160", "exp:10..160"};
    tell("; delay %s; bound 1", delays[below(&story.dice, 5)]);
    if (one_in(3)) tell("; loss 0.%02u", below(&story.dice, 30));
    if (one_in(3)) tell("; dup 0.%02u", below(&story.dice, 40));
    if (one_in(2)) tell("; reorder 0.%02u", below(&story.dice, 90));
}

static void tell_of_clocks(void)
{
    static const char *const rates[] = {"0.95", "1.05", "1.02", "0.98"};
    tell("; drift 0.05");
    for (unsigned id = 1; id <= story.nodes; id++)
        if (one_in(2)) tell("; clock %u=%s", id, rates[below(&story.dice, 4)]);
}

static void invent(uint64_t run)
{
    begin_story(run, 79, 2, MEMBERS_MAX);
    tell(
        "quorum; nodes %u; seed %llu; until %u; set lease=%u; set beat=6; set margin=1; set re-ask=5; set stagger=5; "
        "set block=4",
        story.nodes, (unsigned long long)run, TIME, LEASE);
    if (one_in(4)) tell("; set preempt=on");
    if (story.nodes >= 3 && one_in(3))
        tell("; set candidates=%s%u", story.nodes >= 4 && one_in(2) ? "3," : "", story.nodes);
    if (one_in(2)) tell("; leader %u", member());
    slow_disks = one_in(3);
    if (slow_disks) tell("; disk exp:2..30");
    tell_of_the_network();
    tell_of_clocks();
    tell_of_cuts();
    for (unsigned id = 1; id <= story.nodes; id++)
        if (!one_in(3)) tell_of_lives(id);
    for (unsigned pauses = below(&story.dice, 6); pauses > 0; pauses--) {
        const double at = within(TIME);
        tell("; pause %u@%.1f..%.1f", member(), at, at + 0.1 + within(3 * LEASE));
    }
    for (unsigned requests = below(&story.dice, 8); requests > 0; requests--) {
        tell("; transfer %u@%.1f", member(), within(TIME));
        if (one_in(2)) tell("; resign leader@%.1f", within(TIME));
        if (one_in(3)) tell("; initiator %u@%.1f", member(), within(TIME));
    }
}

static uint64_t times_won(void)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    uint64_t won = 0;
    for (uint64_t i = 1; i <= trace->count; i++)
        won += sim_trace_at(trace, i)->what == SIM_NOTED && sim_trace_at(trace, i)->note == QUORUM_WINS;
    return won;
}

static void there_is_one_leader_and_terms_rise(void **state)
{
    const uint32_t never = EL_TWO_LEADERS | EL_SAME_TERM | EL_TOKEN_FELL;
    struct runs runs = runs_of("ELECTOR_RUNS", RUNS);
    uint64_t won = 0, notes = 0;
    for (uint64_t run = runs.first; runs_go_on(&runs, run); run++) {
        invent(run);
        play_and_record("%s", story.text);
        won += times_won();
        notes |= bench.result->notes;
        if (runs.only_one) sim_write_transcript(stderr, bench.world, (struct sim_style){0});
        if (bench.result->violation_kinds & never)
            bench_fail(__FILE__, __LINE__, "run %llu: violations 0x%x", (unsigned long long)run,
                       bench.result->violation_kinds & never);
    }
    print_message("%llu runs, in which a group was won %llu times\n", (unsigned long long)runs.count,
                  (unsigned long long)won);
    if (runs.count < RUNS) return;
    assert_true(won > 2 * runs.count); /* or nothing was at stake */
    if (runs.count >= RUNS_FOR_NOTES) assert_true(notes >> QUORUM_DROPS_EPOCH & 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_is_one_leader_and_terms_rise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
