/*
 * Random runs, told again as scripts: whatever the simulator lets happen, step by step, leads to the same
 * end. So a script is as good as a run, and a step does what the simulator does by itself.
 */
#include "lib/sim/bench.h"

#include "sim/world/random.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 1000 };
#else
enum { RUNS = 20000 };
#endif
enum { FLIGHT_MAX = 4096 };

static struct sim_random dice;

static unsigned any_of(unsigned n)
{
    return (unsigned)sim_random_below(&dice, n);
}

static bool one_in(unsigned n)
{
    return any_of(n) == 0;
}

/* ---- A run ---- */

static char run[1024];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    const size_t used = strlen(run);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run + used, sizeof run - used, format, arguments);
    va_end(arguments);
}

/* What both the run and its script have; then what only the run has. Returns the length of the first part. */
static size_t make_up_a_run(const struct el_algorithm *algorithm, unsigned number)
{
    const unsigned nodes = 2 + any_of(4), scale = algorithm->beats ? 300 : 8;
    const bool hops = algorithm->needs & EL_NEEDS_HOP_ACKS;
    run[0] = '\0';
    say("%s; nodes %u", algorithm->name, nodes);
    if (one_in(2)) say("; leader %u", nodes - algorithm->store);
    if (one_in(3)) say("; clock %u=1.004", 1 + any_of(nodes));
    const size_t members = strlen(run);
    say("; seed %u; delay %s; until %u", number, one_in(2) ? "1" : "0.5..3", 5 * scale);
    if (one_in(2)) say("; initiator %u@%u", 1 + any_of(nodes), any_of(scale));
    if (one_in(3)) say("; loss 0.1");
    if (one_in(3) && !hops) say("; dup 0.2"); /* of two copies, only one tells its sender */
    if (one_in(3)) say("; reorder 0.2");
    if (one_in(2)) say("; detect %u", 1 + any_of(4));
    if (one_in(3)) say("; false-suspect %u:%u@%u..%u", 1, nodes, any_of(scale), 2 * scale);
    if (one_in(3)) say("; pause %u@%u..%u", 1 + any_of(nodes), any_of(scale), scale + any_of(scale));
    if (one_in(4)) say("; transfer %u@%u", 1 + any_of(nodes), any_of(2 * scale));
    if (one_in(4)) say("; resign leader@%u", any_of(2 * scale));
    if (one_in(4) && algorithm->fact_count) say("; fact 1:%s=3@%u", algorithm->facts[0], any_of(scale));
    if (one_in(2)) {
        const unsigned node = 1 + any_of(nodes), time = any_of(scale);
        say("; crash %u@%u.5", node, time);
        if (one_in(2)) say("; %s %u@%u", one_in(3) ? "wipe" : "restart", node, time + 1 + any_of(scale));
    }
    return members;
}

/* ---- Its script ---- */

static struct sim_settings script;
static uint64_t flight[FLIGHT_MAX]; /* the records in which they were sent */
static size_t flight_count, steps;
static sim_time shown;

__attribute__((format(printf, 2, 3))) static void step(sim_time now, const char *format, ...)
{
    char text[120];
    if (now != shown) {
        snprintf(text, sizeof text, "wait %lluns", (unsigned long long)(now - shown));
        assert_true(sim_settings_add(&script, "step", text, 0, 0));
    }
    shown = now;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(sim_settings_add(&script, "step", text, 0, 0));
    steps++;
}

static void send_off(uint64_t sent)
{
    assert_true(flight_count < FLIGHT_MAX);
    flight[flight_count++] = sent;
}

/* What becomes of a message, which is named by its place among those like it. */
static void meet(const struct sim_record *r, const char *fate)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    const struct sim_record *sent = sim_trace_at(trace, r->number);
    unsigned place = 1;
    size_t i = 0;
    for (; i < flight_count && flight[i] != r->number; i++) {
        const struct sim_record *other = sim_trace_at(trace, flight[i]);
        place += other->node == sent->node && other->peer == sent->peer && other->kind == sent->kind;
    }
    assert_true(i < flight_count);
    step(r->time, "%s %u>%u %s #%u", fate, sent->node, sent->peer, bench.plan.algorithm->kinds[sent->kind],
         place);
    if (strcmp(fate, "copy") == 0) {
        send_off(r->number);
        return;
    }
    memmove(&flight[i], &flight[i + 1], (--flight_count - i) * sizeof *flight);
}

static bool comes_back(uint64_t index)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    const uint64_t sent = sim_trace_at(trace, index)->number;
    for (uint64_t i = index + 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what == SIM_RETURNED && r->number == sent) return true;
    }
    return false;
}

/* In a run, the network loses and copies as a node sends; in its script, when the node has sent all. */
static uint64_t put_off[FLIGHT_MAX];
static size_t put_off_count;

static void catch_up(void)
{
    for (size_t i = 0; i < put_off_count; i++) {
        const struct sim_record *r = sim_trace_at(sim_world_trace(bench.world), put_off[i]);
        meet(r, r->what == SIM_COPIED ? "copy" : "lose");
    }
    put_off_count = 0;
}

static bool belongs_to_a_step(const struct sim_record *r)
{
    return r->what == SIM_SENT || r->what == SIM_NOTED || r->what == SIM_VIEWED || r->what == SIM_SAVED ||
           r->what == SIM_VIOLATED || r->what == SIM_COPIED ||
           (r->what == SIM_DROPPED && r->reason == SIM_LOST);
}

static void retell_record(uint64_t index)
{
    const struct sim_record *r = sim_trace_at(sim_world_trace(bench.world), index);
    const struct el_algorithm *algorithm = bench.plan.algorithm;
    if (!belongs_to_a_step(r)) catch_up();
    if (r->what == SIM_COPIED || (r->what == SIM_DROPPED && r->reason == SIM_LOST)) {
        assert_true(put_off_count < FLIGHT_MAX);
        put_off[put_off_count++] = index;
        return;
    }
    switch ((enum sim_what)r->what) {
    case SIM_SENT: send_off(index); return;
    case SIM_DELIVERED: meet(r, "deliver"); return;
    case SIM_RETURNED: meet(r, "return"); return;
    case SIM_DROPPED:
        if (!comes_back(index)) meet(r, "lose");
        return;
    case SIM_TIMED_OUT:
        step(r->time, "fire %u %s:%llu", r->node, algorithm->timers[r->kind], (unsigned long long)r->number);
        return;
    case SIM_CAMPAIGNED: step(r->time, "campaign %u", r->node); return;
    case SIM_SUSPECTED: step(r->time, "suspect %u:%u", r->node, r->peer); return;
    case SIM_TRUSTED: step(r->time, "trust %u:%u", r->node, r->peer); return;
    case SIM_CRASHED: step(r->time, "crash %u", r->node); return;
    case SIM_RESTARTED: step(r->time, "restart %u%s", r->node, r->number ? " wiped" : ""); return;
    case SIM_PAUSED: step(r->time, "pause %u", r->node); return;
    case SIM_RESUMED: step(r->time, "resume %u", r->node); return;
    case SIM_REQUESTED:
        if (r->kind == EL_RESIGN) {
            step(r->time, "resign %u", r->node);
        } else {
            step(r->time, "transfer %u %u", r->node, r->peer);
        }
        return;
    case SIM_TOLD:
        step(r->time, "fact %u:%s=%llu", r->node, algorithm->facts[r->kind], (unsigned long long)r->number);
        return;
    default: return;
    }
}

/* The first settings of the run are its script's as well. */
static void retell(size_t members)
{
    size_t common = 1;
    for (const char *p = run; p < run + members; p++) common += *p == ';';
    sim_settings_free(&script);
    flight_count = put_off_count = 0;
    shown = 0;
    for (size_t i = 0; i < common; i++)
        assert_true(sim_settings_add(&script, bench.settings.list[i].key, bench.settings.list[i].value, 0, 0));
    assert_true(sim_settings_add(&script, "script", "ticks", 0, 0));
    for (uint64_t i = 1; i <= sim_world_trace(bench.world)->count; i++) retell_record(i);
    catch_up();
}

/* ---- The same end ---- */

static void same_end(void)
{
    struct sim_plan plan;
    struct sim_error error;
    if (sim_plan_build(&plan, &script, &error) != 0) bench_fail(__FILE__, __LINE__, "%s", error.text);
    struct sim_world *world = sim_world_new(&plan, 0);
    assert_non_null(world);
    const struct sim_result *told = sim_world_run(world), *first = bench.result;
    const uint32_t at_once = EL_TWO_LEADERS | EL_SAME_TERM;
    const uint32_t faults = EL_CRASHES | EL_RESTARTS | EL_WIPES | EL_DUPLICATES | EL_PAUSES | EL_CLOCKS |
                            EL_DRIFTS | EL_NEEDLESS_CALLS;
    if (told->error.text[0]) bench_fail(__FILE__, __LINE__, "%s", told->error.text);
    for (el_node node = 1; node <= plan.cluster.count; node++) {
        bench_equal(__FILE__, __LINE__, "alive", sim_world_alive(world, node),
                    sim_world_alive(bench.world, node));
        bench_equal(__FILE__, __LINE__, "leader", sim_world_leader_of(world, node),
                    sim_world_leader_of(bench.world, node));
    }
    for (uint32_t kind = 0; kind < SIM_KINDS_MAX; kind++)
        bench_equal(__FILE__, __LINE__, "sent", told->sent[kind], (unsigned)first->sent[kind]);
    bench_equal(__FILE__, __LINE__, "delivered", told->delivered, (unsigned)first->delivered);
    bench_equal(__FILE__, __LINE__, "notes", (unsigned)told->notes, (unsigned)first->notes);
    bench_equal(__FILE__, __LINE__, "later notes", (unsigned)(told->notes >> 32),
                (unsigned)(first->notes >> 32));
    bench_equal(__FILE__, __LINE__, "faults", told->faults & faults, first->faults & faults);
    bench_equal(__FILE__, __LINE__, "leaders at once", told->leaders_max, first->leaders_max);
    bench_equal(__FILE__, __LINE__, "violations", told->violation_kinds & at_once,
                first->violation_kinds & at_once);
    sim_world_free(world);
    sim_plan_free(&plan);
}

static void a_run_and_its_script_come_to_the_same_end(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (unsigned number = 1; number <= RUNS; number++) {
        const struct el_algorithm *algorithm = all[number % count];
        if (algorithm->on_chosen) continue; /* what was drawn is not in the records */
        sim_random_seed(&dice, number, 0);
        const size_t members = make_up_a_run(algorithm, number);
        play_and_record("%s", run);
        retell(members);
        same_end();
    }
    assert_true(steps > RUNS);
    print_message("%zu steps\n", steps);
    sim_settings_free(&script);
    bench_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_and_its_script_come_to_the_same_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
