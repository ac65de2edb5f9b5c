/*
 * Members of quorum that change, under faults: sets of voters drawn at random, some of which may lead and some of
 * which lead without a vote, up to four changes, records that are lost on their way or come late, and beside that lives that
 * end, wiped and slow disks, pauses, cuts and clocks at the edge of a bound. There are never two leaders, never
 * two in a term, and terms rise.
 *
 * And without any fault but the change: a leader that may still lead leads on, in the same term; and after faults have
 * ended, all that live come to know that the last era is sole.
 *
 * Environment: ELECTOR_RUNS how many, ELECTOR_FIRST_RUN where to begin, ELECTOR_RUN only that one, told in full;
 * ELECTOR_SECONDS how long, for all three tests.
 */
#include "algorithms/quorum/quorum.h"
#include "lib/sim/environment.h"
#include "lib/sim/story.h"
#include "sim/internal.h"
#include "sim/output/transcript.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 150 };
#else
enum { RUNS = 2000 };
#endif
enum { TIME = 800, MEMBERS_MAX = 6, LEASE = 40, CHANGES_MAX = 4 };

static double within(double length)
{
    return (double)below(&story.dice, (unsigned)(10 * length)) / 10;
}

/* One to five of the members. */
static uint64_t some_members(void)
{
    uint64_t set = 0;
    while (!set)
        for (unsigned id = 1; id <= story.nodes; id++)
            if (one_in(2)) set |= el_bit(id);
    return set;
}

static void tell_of_set(const char *before, uint64_t set)
{
    for (unsigned id = 1; id <= story.nodes; id++)
        if (set & el_bit(id)) {
            tell("%s%u", before, id);
            before = ",";
        }
}

/* The voters of record 1 and those of each change; `keeps`: may lead by all of them. Returns how many changes. */
static unsigned tell_of_records(unsigned keeps)
{
    const uint64_t first = some_members() | (keeps ? el_bit(keeps) : 0);
    const uint64_t others = ~first & (el_bit(story.nodes + 1) - 1);
    const unsigned changes = 1 + below(&story.dice, CHANGES_MAX);
    if (others) tell_of_set("; set observers=", others);
    for (unsigned i = 0; i < changes; i++) {
        const uint64_t voters = some_members();
        tell_of_set("; record ", voters);
        const uint64_t leaders = one_in(2) ? voters : some_members();
        tell_of_set("/", leaders | (keeps ? el_bit(keeps) : 0));
    }
    return changes;
}

static void tell_of_changes(unsigned changes, double time)
{
    for (unsigned i = 0; i < changes; i++) tell("; change %.1f", within(time));
}

static void tell_of_lives(unsigned id)
{
    double at = within(8 * LEASE);
    while (at < TIME) {
        tell("; crash %u@%.1f", id, at);
        if (one_in(8)) return;
        at += 0.2 + within(one_in(2) ? 3 : 2 * LEASE);
        tell("; %s %u@%.1f", one_in(6) ? "wipe" : "restart", id, at);
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

static void begin(uint64_t run, unsigned stream, unsigned until)
{
    begin_story(run, stream, 2, MEMBERS_MAX);
    tell(
        "quorum; nodes %u; seed %llu; until %u; set lease=%u; set beat=6; set margin=1; set re-ask=5; set stagger=5; "
        "set block=4",
        story.nodes, (unsigned long long)run, until, LEASE);
}

static void invent(uint64_t run)
{
    begin(run, 83, TIME);
    tell_of_changes(tell_of_records(0), TIME);
    if (one_in(3)) tell("; disk exp:2..30");
    tell_of_the_network();
    tell_of_clocks();
    tell_of_cuts();
    for (unsigned id = 1; id <= story.nodes; id++)
        if (one_in(3)) tell_of_lives(id);
    for (unsigned pauses = below(&story.dice, 4); pauses > 0; pauses--) {
        const double at = within(TIME);
        tell("; pause %u@%.1f..%.1f", member(), at, at + 0.1 + within(3 * LEASE));
    }
    for (unsigned requests = below(&story.dice, 8); requests > 0; requests--) {
        tell("; transfer %u@%.1f", member(), within(TIME));
        if (one_in(2)) tell("; resign leader@%.1f", within(TIME));
    }
}

static uint64_t times_noted(uint32_t note)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    uint64_t times = 0;
    for (uint64_t i = 1; i <= trace->count; i++)
        times += sim_trace_at(trace, i)->what == SIM_NOTED && sim_trace_at(trace, i)->note == note;
    return times;
}

static void look_at_it(const struct runs *runs)
{
    if (runs->only_one) sim_write_transcript(stderr, bench.world, (struct sim_style){0});
}

/* A soak's time is for all three tests; this one has so many percent of it. */
static struct runs runs_for(uint64_t count, uint64_t percent)
{
    struct runs runs = runs_of("ELECTOR_RUNS", count);
    if (runs.end_ns != UINT64_MAX) runs.end_ns = end_of(seconds_of_soak() * percent / 100);
    return runs;
}

static void there_is_one_leader_and_terms_rise(void **state)
{
    const uint32_t never = EL_TWO_LEADERS | EL_SAME_TERM | EL_TOKEN_FELL;
    struct runs runs = runs_for(RUNS, 60);
    uint64_t won = 0, installed = 0, soles = 0;
    for (uint64_t run = runs.first; runs_go_on(&runs, run); run++) {
        invent(run);
        play_and_record("%s", story.text);
        won += times_noted(QUORUM_WINS);
        installed += times_noted(QUORUM_INSTALLS);
        soles += times_noted(QUORUM_IS_SOLE);
        look_at_it(&runs);
        if (bench.result->violation_kinds & never)
            bench_fail(__FILE__, __LINE__, "run %llu: violations 0x%x", (unsigned long long)run,
                       bench.result->violation_kinds & never);
    }
    print_message("%llu runs, %llu wins, %llu times a record was installed, %llu times an era became sole\n",
                  (unsigned long long)runs.count, (unsigned long long)won, (unsigned long long)installed,
                  (unsigned long long)soles);
    if (runs.count < RUNS) return;
    assert_true(won > runs.count && installed > 2 * runs.count && soles > runs.count);
}

/* Nothing but changes: the leader, which may lead by every record, keeps its term. */
static void a_change_alone_interrupts_no_lease(void **state)
{
    struct runs runs = runs_for(RUNS, 20);
    for (uint64_t run = runs.first; runs_go_on(&runs, run); run++) {
        begin(run, 89, 2 * TIME);
        const unsigned leader = member();
        tell_of_changes(tell_of_records(leader), TIME);
        tell("; leader %u; delay 0.2..1", leader);
        play_and_record("%s", story.text);
        look_at_it(&runs);
        const uint64_t lapses = times_noted(QUORUM_LAPSES) + times_noted(QUORUM_WINS);
        if (lapses || bench.result->violation_kinds || bench.result->leader != leader)
            bench_fail(__FILE__, __LINE__, "run %llu: led by %u, not by %u; violations 0x%x",
                       (unsigned long long)run, (unsigned)bench.result->leader, leader,
                       bench.result->violation_kinds);
    }
}

/* Every life that ends is followed by another, with its record. */
static void tell_of_restarts(void)
{
    for (unsigned id = 1; id <= story.nodes; id++) {
        if (one_in(3)) continue;
        const double at = within(TIME);
        tell("; crash %u@%.1f; restart %u@%.1f", id, at, id, at + 0.2 + within(3 * LEASE));
    }
}

static void all_have_installed_the_last_record(uint64_t run)
{
    struct sim_world *world = bench.world;
    const struct sim_machine *machine = &world->machines[SIM_ELECTION];
    for (el_node node = 1; node <= story.nodes; node++) {
        const struct el_config cfg = {machine->cluster, node};
        struct el_membership known = {0};
        el_quorum.membership(sim_state(machine, node), &cfg, &known);
        if (known.record != world->plan->record_count || !known.is_sole)
            bench_fail(__FILE__, __LINE__, "run %llu: %u has record %u of %zu, and its era is%s sole",
                       (unsigned long long)run, node, known.record + 1, world->plan->record_count + 1,
                       known.is_sole ? "" : " not");
    }
}

/* Links come back and members come back: all changes are made, and are over everywhere. */
static void a_change_ends_when_majorities_can_talk(void **state)
{
    struct runs runs = runs_for(RUNS / 3, 20);
    for (uint64_t run = runs.first; runs_go_on(&runs, run); run++) {
        begin(run, 97, 8 * TIME);
        const unsigned leader = member();
        tell_of_changes(tell_of_records(leader), TIME);
        tell("; delay 0.2..1; settle %u", 5 * TIME / 2); /* a candidate at rest beats once a second (M23) */
        if (one_in(2)) tell("; loss 0.05");
        tell_of_restarts();
        tell_of_cuts();
        play_and_record("%s", story.text);
        look_at_it(&runs);
        all_have_installed_the_last_record(run);
        if (bench.result->leaders_max > 1 || !bench.result->agreed)
            bench_fail(__FILE__, __LINE__, "run %llu: not all follow one leader", (unsigned long long)run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_one_leader_and_terms_rise),
        cmocka_unit_test(a_change_alone_interrupts_no_lease),
        cmocka_unit_test(a_change_ends_when_majorities_can_talk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
