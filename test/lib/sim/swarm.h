/*
 * Random fault runs, over the algorithms that a test names. Each run switches about half of the fault classes off (swarm
 * testing), so that rare combinations meet. Whatever happens, a run must end, and every violation must be of
 * a kind that the algorithm's own table of weaknesses names for a fault that really occurred. Runs are
 * numbered: ELECTOR_RUN=n repeats one and prints it, ELECTOR_RUNS=n sets how many there are.
 */
#ifndef ELECTOR_TEST_LIB_SIM_SWARM_H
#define ELECTOR_TEST_LIB_SIM_SWARM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sim/environment.h"
#include "sim/measure/trial.h"
#include "sim/output/transcript.h"
#include "sim/plan/parse.h"

enum { NODES_MAX = 9, EVENTS_MAX = 400000, NOTES_ALGORITHMS_MAX = 64, RUNS_WITH_ALL_ROLES = 5000 };
enum { FAILURES_MAX = 5 }; /* a swarm ends with so many */
/* From so many runs on, every note must have been reached. */
#ifndef RUNS_FOR_ALL_NOTES
#define RUNS_FOR_ALL_NOTES 50000
#endif

struct story {
    struct sim_settings settings;
    struct sim_random dice;
    uint32_t nodes;
    unsigned position[NODES_MAX + 1]; /* by id */
    bool obituaries;                  /* a death may become known for certain */
    bool
        ordinary; /* somebody votes and never leads; then no log is longer than others, as it could not lead by it */
    bool leaderless; /* nobody may lead */
    double scale;    /* how long the algorithm's own times are, so that faults meet its steps */
};

static uint64_t below(struct story *s, uint64_t n)
{
    return sim_random_below(&s->dice, n);
}

static bool one_in(struct story *s, uint64_t n)
{
    return below(s, n) == 0;
}

static void set(struct story *s, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set(struct story *s, const char *key, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(sim_settings_add(&s->settings, key, text, 0, 0));
}

/* The ids 1..N, in ring order or shuffled. */
static void set_ids(struct story *s)
{
    unsigned ids[NODES_MAX] = {0};
    char list[8 * NODES_MAX] = "";
    const bool shuffled = one_in(s, 2);
    for (unsigned i = 0; i < s->nodes; i++) {
        const uint64_t place = shuffled ? below(s, i + 1) : i;
        ids[i] = ids[place];
        ids[place] = i + 1;
    }
    for (unsigned i = 0; i < s->nodes; i++) {
        const size_t used = strlen(list);
        s->position[ids[i]] = i + 1;
        snprintf(list + used, sizeof list - used, "%s%u", i ? "," : "", ids[i]);
    }
    set(s, "ids", "%s", list);
}

static unsigned node(struct story *s)
{
    return (unsigned)below(s, s->nodes) + 1;
}

/* Half-integer times meet messages under way, whole ones meet their arrival. */
static double moment(struct story *s)
{
    return (double)below(s, (uint64_t)(80 * s->scale)) / 2;
}

/* A quarter of the longest time that the algorithm waits by its own options, in message delays. */
static double scale_of(const struct el_algorithm *algorithm)
{
    const sim_time unit = 1000000;
    sim_time longest = 4 * unit;
    for (uint32_t i = 0; algorithm->beats && i < algorithm->option_count; i++) {
        const char *at = algorithm->options[i].preset;
        sim_time time = 0;
        if (algorithm->options[i].kind == EL_DURATION && at && parse_time(&at, unit, &time, NULL) &&
            time > longest)
            longest = time;
    }
    return (double)longest / (double)(4 * unit);
}

/* Its first life is over, nothing of it works any more, and most of the others are told. */
static void add_obituary(struct story *s, unsigned dead, double died)
{
    const unsigned long long value = (unsigned long long)s->position[dead] << 48 | 1;
    for (unsigned n = 1; n <= s->nodes; n++)
        if (n != dead && !one_in(s, 4))
            set(s, "fact", "%u:obituary=%llu@%.1f", n, value, died + (double)below(s, 8) / 2);
}

static void add_deaths(struct story *s)
{
    for (unsigned n = 1; n <= s->nodes; n++) {
        if (!one_in(s, 4)) continue;
        double at = moment(s);
        set(s, "crash", "%u@%.1f", n, at);
        if (s->obituaries && one_in(s, 3)) add_obituary(s, n, at);
        if (one_in(s, 3)) continue;
        at += 0.5 + moment(s) / 2;
        set(s, one_in(s, 8) ? "wipe" : "restart", "%u@%.1f", n, at);
        if (one_in(s, 4)) set(s, "crash", "%u@%.1f", n, at + 1 + moment(s) / 4);
    }
}

static void add_breaks(struct story *s)
{
    char sides[128] = "";
    const double at = moment(s);
    if (s->nodes < 2) return;
    const uint32_t split = 1 + (uint32_t)below(s, s->nodes - 1);
    for (unsigned n = 1; n <= s->nodes; n++) {
        const size_t used = strlen(sides);
        snprintf(sides + used, sizeof sides - used, "%s%u", n == 1 ? "" : n == split + 1 ? "|" : ",", n);
    }
    const unsigned a = node(s), b = node(s);
    if (one_in(s, 2)) set(s, "partition", one_in(s, 2) ? "%s@%.1f" : "%s@%.1f..%.1f", sides, at, 60 * s->scale);
    if (one_in(s, 2) && a != b) set(s, "cut", "%u>%u@%.1f..%.1f", a, b, at, at + 1 + moment(s));
}

static void add_suspicions(struct story *s)
{
    const unsigned a = node(s), b = node(s);
    const double at = moment(s);
    if (a == b) return;
    if (one_in(s, 2)) {
        set(s, "false-suspect", "%u:%u@%.1f..%.1f", a, b, at, at + 0.5 + moment(s));
    } else {
        set(s, "false-suspect", "all:%u@%.1f", b, at);
    }
}

/* A machine that learns of deaths by itself, and may accuse the living. */
static void add_detector_machine(struct story *s)
{
    const unsigned interval = 4 + (unsigned)below(s, 8);
    if (one_in(s, 2)) {
        set(s, "detector", "heartbeat:interval=%u,threshold=3", interval);
    } else {
        set(s, "detector", "phi:8,interval=%u,min-deviation=1", interval);
    }
}

static void add_detector(struct story *s)
{
    if (s->scale < 2 && one_in(s, 4)) { /* beside slow elections it would be all that happens */
        add_detector_machine(s);
        return;
    }
    set(s, "detect", "%.1f", (double)below(s, 8) / 2);
    if (one_in(s, 5)) set(s, "miss", "%u:%u", node(s), node(s));
    if (one_in(s, 8)) set(s, "miss", "all:%u", node(s));
}

static void add_calls(struct story *s)
{
    if (one_in(s, 4)) set(s, "initiator", "all@%.1f", (double)below(s, 4));
    for (uint64_t i = below(s, 4); i > 0; i--) set(s, "initiator", "%u@%.1f", node(s), moment(s));
    if (!one_in(s, 3)) set(s, "initiator", "%u", node(s));
}

/* What only some algorithms know of; others decline. */
static void add_requests(struct story *s, const struct el_algorithm *algorithm)
{
    if (one_in(s, 3)) set(s, "resign", one_in(s, 2) ? "leader@%.1f" : "1@%.1f", moment(s));
    if (one_in(s, 2)) set(s, "transfer", "%u@%.1f", node(s), moment(s));
    for (unsigned n = 1; algorithm->fact_count && !s->ordinary && one_in(s, 2) && n <= s->nodes; n++)
        set(s, "fact", "%u:%s=%u@%.1f", n, algorithm->facts[below(s, algorithm->fact_count)],
            (unsigned)below(s, 3), one_in(s, 2) ? 0 : moment(s));
}

static void add_clocks(struct story *s)
{
    static const char *const rates[] = {"1.5", "0.5", "1.005", "0.995", "1.004", "0.996"};
    const bool inside = one_in(s, 2); /* of the drift bound */
    for (unsigned n = 1; n <= s->nodes; n++)
        if (one_in(s, 2)) set(s, "clock", "%u=%s", n, rates[inside ? 2 + below(s, 4) : below(s, 6)]);
    if (!inside && one_in(s, 2))
        set(s, "jump", one_in(s, 2) ? "%u@%.1f=+%.1f" : "%u@%.1f=-%.1f", node(s), moment(s), moment(s));
}

/* One member that never leads, or only such members: then there is nobody to elect, and nobody may lead. */
static void add_ordinary(struct story *s)
{
    const bool everybody = one_in(s, 4);
    const unsigned first = everybody ? 1 : node(s), last = everybody ? s->nodes : first;
    for (unsigned n = first; n <= last; n++) set(s, "ordinary", "%u", n);
    s->ordinary = true;
    s->leaderless = everybody;
}

static void invent(struct story *s, const struct el_algorithm *algorithm, uint64_t run)
{
    sim_random_seed(&s->dice, run, 77);
    s->scale = scale_of(algorithm);
    for (uint32_t i = 0; i < algorithm->fact_count; i++)
        s->obituaries = s->obituaries || strcmp(algorithm->facts[i], "obituary") == 0;
    s->nodes = 1 + (uint32_t)below(s, NODES_MAX);
    set(s, "algorithm", "%s", algorithm->name);
    set_ids(s);
    set(s, "seed", "%llu", (unsigned long long)run);
    if (one_in(s, 3))
        for (unsigned n = 1; n <= s->nodes; n++) set(s, "attr", "%u=%u", n, (unsigned)below(s, 4));
    if (!algorithm->roleless && one_in(s, 8)) {
        add_ordinary(s);
    } else if (one_in(s, 2)) {
        const unsigned leader = node(s);
        const bool is_store = algorithm->store && s->position[leader] == s->nodes;
        if (!is_store) set(s, "leader", "%u", leader);
    }
    if (!algorithm->beats || one_in(s, 4)) add_calls(s);
    if (one_in(s, 2)) add_deaths(s);
    if (one_in(s, 2)) add_detector(s);
    if (one_in(s, 4)) add_breaks(s);
    if (one_in(s, 4)) add_suspicions(s);
    if (one_in(s, 5)) set(s, "loss", "0.%02u", (unsigned)below(s, 40));
    if (one_in(s, 5)) set(s, "dup", "0.%02u", (unsigned)below(s, 40));
    if (one_in(s, 5)) set(s, "reorder", "0.%02u", (unsigned)below(s, 60));
    if (one_in(s, 3)) set(s, "delay", one_in(s, 2) ? "0.2..1" : "exp:0.3..2");
    if (one_in(s, 8)) set(s, "bound", "0.%u", 1 + (unsigned)below(s, 9));
    if (one_in(s, 6)) set(s, "pause", "%u@%.1f..%.1f", node(s), 2 * s->scale, 3 * s->scale + moment(s));
    if (one_in(s, 6)) add_clocks(s);
    if (one_in(s, 3)) add_requests(s, algorithm);
    if (one_in(s, 3)) set(s, "disk", one_in(s, 2) ? "1..5" : "exp:2..40");
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        if (option->kind == EL_FLAG && one_in(s, 3))
            set(s, "set", "%s=%s", option->name, strcmp(option->preset, "on") == 0 ? "off" : "on");
        if (option->kind == EL_NUMBER && algorithm->store && one_in(s, 2))
            set(s, "set", "%s=1", option->name); /* two in a row may end a claim */
        if (option->kind == EL_MEMBERS && one_in(s, 3))
            set(s, "set", "%s=%u,%u", option->name, node(s), node(s));
        if (option->kind == EL_OBSERVERS && one_in(s, 4)) set(s, "set", "%s=%u", option->name, node(s));
        if (option->kind == EL_ROLES && !s->leaderless && one_in(s, 2))
            set(s, "set", "%s=%u,%u", option->name, node(s), node(s));
        if (option->kind == EL_DURATION && !algorithm->beats && one_in(s, 4))
            set(s, "set", "%s=%u", option->name, 1 + (unsigned)below(s, 5));
    }
}

/* Violations that no fault of this run excuses. */
static uint32_t unexcused(const struct el_algorithm *algorithm, const struct sim_result *result)
{
    return result->violation_kinds & ~sim_excused(algorithm, result->faults);
}

static void print_story(const struct sim_settings *settings)
{
    fprintf(stderr, "elector sim %s", settings->list[0].value);
    for (size_t i = 1; i < settings->count; i++)
        fprintf(stderr, " --%s '%s'", settings->list[i].key, settings->list[i].value);
    fputc('\n', stderr);
}

struct tally {
    const struct el_algorithm *const *all;
    uint32_t count;
    uint64_t notes[NOTES_ALGORITHMS_MAX];
    uint64_t violated, failed, skipped;
    uint64_t leaderless; /* runs in which nobody may lead */
    uint64_t faults[32];
};

static struct el_hash hash_of(const struct sim_world *world)
{
    const struct sim_trace *trace = sim_world_trace(world);
    return el_fingerprint(trace->records, trace->count * sizeof *trace->records);
}

static void run_one(uint64_t run, struct tally *tally, bool told)
{
    const uint64_t which = tally->count ? run % tally->count : 0;
    const struct el_algorithm *algorithm = tally->all[which];
    if (!algorithm) {
        fail_msg("there is nothing to run");
        return;
    }
    struct story s = {0};
    struct sim_plan plan;
    struct sim_error error;
    invent(&s, algorithm, run);
    if (told) print_story(&s.settings);
    if (sim_plan_build(&plan, &s.settings, &error) != 0) { /* a second crash before the restart, and the like */
        tally->skipped++;
        sim_settings_free(&s.settings);
        return;
    }
    plan.event_max = EVENTS_MAX;
    const bool check_bytes = run % 16 == 0;
    struct sim_world *world = sim_world_new(&plan, told || check_bytes ? SIM_KEEP_ALL : 0);
    assert_non_null(world);
    const struct sim_result *result = sim_world_run(world);
    assert_false(result->out_of_memory);
    tally->notes[which] |= result->notes;
    tally->leaderless += s.leaderless;
    if (s.leaderless) assert_int_equal(result->leaders_max, 0);
    tally->violated += result->violation_kinds != 0;
    for (uint32_t bit = 0; bit < 32; bit++) tally->faults[bit] += result->faults >> bit & 1u;
    if (check_bytes) {
        struct sim_world *again = sim_world_new(&plan, SIM_KEEP_ALL);
        sim_world_run(again);
        const struct el_hash a = hash_of(world), b = hash_of(again);
        assert_true(a.high == b.high && a.low == b.low);
        sim_world_free(again);
    }
    if (getenv("ELECTOR_PAIRS"))
        printf("PAIR %s %x %x %llu\n", algorithm->name, result->faults, result->violation_kinds,
               (unsigned long long)run);
    const uint32_t bad = unexcused(algorithm, result);
    if (bad) {
        tally->failed++;
        fprintf(stderr, "run %llu: violations 0x%x are not excused by the faults 0x%x\n",
                (unsigned long long)run, bad, result->faults);
        print_story(&s.settings);
    }
    if (told) {
        sim_write_transcript(stderr, world, (struct sim_style){0});
        sim_write_summary(stderr, world, result, (struct sim_style){0});
        sim_write_violations(stderr, world, result, (struct sim_style){0});
    }
    sim_world_free(world);
    sim_plan_free(&plan);
    sim_settings_free(&s.settings);
}

/* What only hostile bytes, or members that disagree on the ranks, can bring about; the unit tests send those. */
static bool needs_hostile_bytes(const char *algorithm, const char *note)
{
    static const char *const names[][2] = {
        {NULL, "malformed"},
        {NULL, "bad-ballot"},
        {NULL, "out-of-numbers"},
        {"zookeeper-fle", "refuses"},
        {NULL, "bad-list"},
        {NULL, "bad-set"},
        {"bully", "objects"},
        {"bully-modified", "objects"},
        {"next-in-line", "objects"},
        {"multi-paxos", "duel"}, /* takes back-off=none, and may never end */
        {"quorum", "drops-echo"},
        {"quorum", "drops-epoch"},         /* takes very late answers: swarm/quorum */
        {"zookeeper-recipe", "finds-key"}, /* takes a third create */
        {"etcd-election", "loses-note"},   /* its store reports nothing */
        {"etcd-election", "is-late"},
        {NULL, "lost-key"}, /* takes a store that lies, or a hand that deletes keys */
        {"quorum", "drops-clock"},
        {"quorum", "drops-unentitled"}, /* takes a liar: unit speakers, walk */
        {"quorum", "lags"},             /* takes records of the members, which swarm/members draws */
        {"quorum", "installs"},
        {"quorum", "drops-era"},
        {"quorum", "settled"},
        {"quorum", "is-sole"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((!names[i][0] || strcmp(algorithm, names[i][0]) == 0) && strcmp(note, names[i][1]) == 0)
            return true;
    return false;
}

static uint64_t unreached_notes(const struct tally *tally)
{
    uint64_t unreached = 0;
    for (uint32_t i = 0; i < tally->count; i++) {
        const struct el_algorithm *algorithm = tally->all[i];
        for (uint32_t note = 0; note < algorithm->note_count; note++) {
            if (tally->notes[i] >> note & 1u ||
                needs_hostile_bytes(algorithm->name, algorithm->notes[note].name))
                continue;
            fprintf(stderr, "%s: no run reached the note '%s'\n", algorithm->name, algorithm->notes[note].name);
            unreached++;
        }
    }
    return unreached;
}

static bool all_are_roleless(const struct tally *tally)
{
    for (uint32_t i = 0; i < tally->count; i++)
        if (!tally->all[i]->roleless) return false;
    return true;
}

/* Runs them in turn; whatever goes wrong must be named in the algorithm's own table. */
static inline void swarm(const struct el_algorithm *const *all, uint32_t count, uint64_t runs_default)
{
    struct tally tally = {.all = all, .count = count};
    struct runs runs = runs_of("ELECTOR_RUNS", runs_default);
    /* cmocka ends a test at its first failure then, and so do we. */
    const uint64_t failures_max = getenv("CMOCKA_TEST_ABORT") ? 1 : FAILURES_MAX;
    for (uint64_t run = runs.first; runs_go_on(&runs, run) && tally.failed < failures_max; run++)
        run_one(run, &tally, runs.only_one);
    fprintf(stderr, "%llu runs (%llu could not be staged), %llu with a violation; runs by fault:",
            (unsigned long long)runs.count, (unsigned long long)tally.skipped,
            (unsigned long long)tally.violated);
    for (uint32_t bit = 0; 1u << bit < EL_FAULTS_END; bit++)
        fprintf(stderr, "%s %s %llu", bit ? "," : "", el_fault_name((enum el_fault)(1u << bit)),
                (unsigned long long)tally.faults[bit]);
    fputc('\n', stderr);
    fprintf(stderr, "%llu runs in which nobody may lead\n", (unsigned long long)tally.leaderless);
    assert_int_equal(tally.failed, 0);
    assert_true(tally.leaderless > 0 || runs.count < RUNS_WITH_ALL_ROLES || all_are_roleless(&tally));
    if (runs.count >= RUNS_FOR_ALL_NOTES) assert_int_equal(unreached_notes(&tally), 0);
}

#endif
