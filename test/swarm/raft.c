/*
 * Raft under random faults, at its own pace: timeouts of 20..40 T, beats every 5 T, and faults for 200 T, so that
 * they meet elections, hand-overs and disks at work. Whatever happens, a term has one leader; and whatever else
 * goes wrong stands in the table of what may.
 *
 * Environment: ELECTOR_RUNS how many, ELECTOR_FIRST_RUN where to begin, ELECTOR_RUN only that one, told in full.
 */
#include "lib/sim/environment.h"
#include "lib/sim/story.h"
#include "sim/measure/trial.h"
#include "sim/output/transcript.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 1000 };
#else
enum { RUNS = 20000 };
#endif
enum { TIME = 200, MEMBERS_MAX = 7 };

static double moment(void)
{
    return (double)below(&story.dice, 10 * TIME) / 10;
}

/* Dies and comes back, perhaps several times, perhaps without what it had saved. */
static void tell_of_deaths(unsigned id)
{
    double at = moment() / 4;
    for (unsigned lives = 1 + below(&story.dice, 5); lives > 0 && at < TIME; lives--) {
        tell("; crash %u@%.1f", id, at);
        at += 0.2 + moment() / 10;
        if (lives > 1) tell("; %s %u@%.1f", one_in(6) ? "wipe" : "restart", id, at);
        at += 0.2 + moment() / 4;
    }
}

/* Two stand almost at once, and a voter dies and comes back between their requests. */
static void tell_of_a_duel(void)
{
    const double at = moment();
    const double death = at + 0.2 + (double)below(&story.dice, 30) / 10;
    const unsigned voter = member();
    tell("; initiator %u@%.1f,%u@%.1f", member(), at, member(), at + (double)below(&story.dice, 20) / 10);
    tell("; crash %u@%.1f; %s %u@%.1f", voter, death, one_in(3) ? "wipe" : "restart", voter, death + 0.2);
}

static void tell_of_cuts(void)
{
    const double at = moment(), until = at + 1 + moment() / 2;
    char sides[2][64] = {"", ""};
    for (unsigned id = 1; id <= story.nodes; id++) {
        char *side = sides[below(&story.dice, 2)];
        snprintf(side + strlen(side), 64 - strlen(side), "%s%u", *side ? "," : "", id);
    }
    if (one_in(2) && sides[0][0] && sides[1][0])
        tell("; partition %s|%s@%.1f..%.1f", sides[0], sides[1], at, until);
    for (unsigned cuts = below(&story.dice, 4); cuts > 0; cuts--) {
        const unsigned from = member(), to = member();
        if (from == to) continue;
        tell("; cut %u>%u@%.1f", from, to, at);
        if (!one_in(4)) tell("..%.1f", until);
    }
}

static void tell_of_the_network(void)
{
    static const char *const delays[] = {"1", "0.2..1", "0.1..3", "exp:0.5..4"};
    tell("; delay %s; bound 4", delays[below(&story.dice, 4)]);
    if (one_in(3)) tell("; loss 0.%02u", below(&story.dice, 40));
    if (one_in(3)) tell("; dup 0.%02u", below(&story.dice, 40));
    if (one_in(3)) tell("; reorder 0.%02u", below(&story.dice, 60));
}

static void invent(uint64_t run)
{
    begin_story(run, 78, 1, MEMBERS_MAX);
    tell("raft; nodes %u; seed %llu; set election=20; set heartbeat=5", story.nodes, (unsigned long long)run);
    if (one_in(3)) tell("; set prevote=off");
    if (one_in(3)) tell("; set check-quorum=off");
    if (one_in(2)) tell("; leader %u", member());
    tell_of_the_network();
    if (one_in(2)) tell("; disk 0..%u", 1 + below(&story.dice, 2));
    const bool duel = one_in(2);
    if (duel) tell_of_a_duel();
    for (unsigned id = 1; id <= story.nodes; id++) {
        if (!duel && one_in(3)) tell_of_deaths(id);
        if (one_in(8)) tell("; clock %u=%s", id, one_in(2) ? "1.5" : "0.6");
        if (one_in(8)) tell("; fact %u:log-index=%u@%.1f", id, below(&story.dice, 3), moment());
        if (one_in(8)) tell("; fact %u:log-term=%u@%.1f", id, below(&story.dice, 3), moment());
    }
    if (one_in(2)) tell_of_cuts();
    if (one_in(4)) tell("; detect %u", below(&story.dice, 8));
    if (one_in(4)) tell("; jump %u@%.1f=%s%u", member(), moment(), one_in(2) ? "+" : "-", 1 + member());
    for (unsigned pauses = below(&story.dice, 3); pauses > 0; pauses--) {
        const double at = moment();
        tell("; pause %u@%.1f..%.1f", member(), at, at + 0.1 + moment() / 4);
    }
    for (unsigned calls = below(&story.dice, 3); calls > 0; calls--) {
        tell("; initiator %u@%.1f", member(), moment());
        tell("; transfer %u@%.1f", member(), moment());
        if (one_in(2)) tell("; resign leader@%.1f", moment());
    }
}

static void a_term_has_one_leader_and_only_what_is_named_goes_wrong(void **state)
{
    struct runs runs = runs_of("ELECTOR_RUNS", RUNS);
    uint64_t notes = 0;
    for (uint64_t run = runs.first; runs_go_on(&runs, run); run++) {
        invent(run);
        play_and_record("%s", story.text);
        notes |= bench.result->notes;
        if (runs.only_one) sim_write_transcript(stderr, bench.world, (struct sim_style){0});
        const uint32_t bad =
            bench.result->violation_kinds & ~sim_excused(bench.plan.algorithm, bench.result->faults);
        if (bad)
            bench_fail(__FILE__, __LINE__, "run %llu: violations 0x%x are not excused by the faults 0x%x",
                       (unsigned long long)run, bad, bench.result->faults);
    }
    if (runs.count < RUNS) return;
    for (uint32_t note = 0; note < bench.plan.algorithm->note_count; note++)
        if (!(notes >> note & 1))
            bench_fail(__FILE__, __LINE__, "no run reached '%s'", bench.plan.algorithm->notes[note].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_term_has_one_leader_and_only_what_is_named_goes_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
