/*
 * A bench for elections. A test runs one, given as options of `elector sim`, and then states the expected
 * result:
 *
 *     play("bully; nodes %u; leader %u; crash %u@0; initiator %u", n, n, n, caller);
 *     sent("Election", (k + 1) * (k + 2) / 2);
 *     took(4);
 *     elected(n - 1);
 *
 * All checks refer to the last run. A check that fails ends the test and prints the run, with its seed, as
 * options for `elector sim`. Nodes are ids; times are in T, one message delay.
 */
#ifndef ELECTOR_TEST_LIB_SIM_BENCH_H
#define ELECTOR_TEST_LIB_SIM_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/world/world.h"

/* How far "for all N" goes: to what one word of bits can hold, less far where every load is watched. */
#ifdef ELECTOR_SANITIZED
enum { MANY = 24, SOME = 9, FEW = 6 };
#else
enum { MANY = 64, SOME = 16, FEW = 7 };
#endif
enum { BENCH_TEXT = 8192, BENCH_LISTS = 4, BENCH_WORD = 24 };

static struct {
    struct sim_settings settings;
    struct sim_plan plan;
    struct sim_world *world;
    const struct sim_result *result;
    char text[BENCH_TEXT]; /* the play, as typed */
} bench;

/* ---- Failing ---- */

__attribute__((format(printf, 3, 4), noreturn)) static inline void bench_fail(const char *file, int line,
                                                                              const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error("%s\n  in: elector sim %s; seed %llu\n", what, bench.text, (unsigned long long)bench.plan.seed);
    _fail(file, line);
    __builtin_unreachable();
}

/* ---- Playing ---- */

static inline void bench_clear(void)
{
    sim_world_free(bench.world);
    sim_plan_free(&bench.plan);
    sim_settings_free(&bench.settings);
    bench.world = NULL;
    bench.result = NULL;
}

/* "bully; nodes 5; initiator 2": the algorithm, then keys and their values. */
static inline void bench_settle(const char *file, int line)
{
    char text[BENCH_TEXT];
    memcpy(text, bench.text, sizeof text);
    const char *key = "algorithm";
    for (char *at = text, *end; at; at = end) {
        end = strchr(at, ';');
        if (end) *end++ = '\0';
        at += strspn(at, " ");
        char *value = at;
        if (at != text) {
            key = at;
            value += strcspn(value, " ");
            if (*value) *value++ = '\0';
        }
        if (*key && !sim_settings_add(&bench.settings, key, value, 0, 0))
            bench_fail(file, line, "out of memory");
    }
}

__attribute__((format(printf, 4, 5))) static inline void bench_play(const char *file, int line, uint64_t keep,
                                                                    const char *format, ...)
{
    bench_clear();
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(bench.text, sizeof bench.text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof bench.text)
        bench_fail(file, line, "the play is too long for the bench");
    bench_settle(file, line);
    struct sim_error error;
    if (sim_plan_build(&bench.plan, &bench.settings, &error) != 0) bench_fail(file, line, "%s", error.text);
    bench.world = sim_world_new(&bench.plan, keep);
    if (!bench.world) bench_fail(file, line, "out of memory");
    bench.result = sim_world_run(bench.world);
    if (bench.result->out_of_memory) bench_fail(file, line, "out of memory");
}

#define play(...) bench_play(__FILE__, __LINE__, 0, __VA_ARGS__)
/* The same, and bench.world keeps its trace. */
#define play_and_record(...) bench_play(__FILE__, __LINE__, SIM_KEEP_ALL, __VA_ARGS__)

/* ---- What came of it ---- */

static inline uint64_t bench_id(el_node node)
{
    return node == EL_NOBODY ? 0 : el_id(&bench.plan.cluster, node);
}

static inline uint32_t bench_kind(const char *file, int line, const char *name)
{
    for (uint32_t kind = 1; kind <= bench.plan.algorithm->kind_count; kind++)
        if (strcmp(bench.plan.algorithm->kinds[kind], name) == 0) return kind;
    bench_fail(file, line, "there is no kind of message '%s'", name);
}

static inline void bench_equal(const char *file, int line, const char *what, uint64_t is, unsigned expected)
{
    if (is != expected)
        bench_fail(file, line, "%s: expected %u, got %llu", what, expected, (unsigned long long)is);
}

static inline void bench_time(const char *file, int line, const char *what, sim_time is, unsigned delays)
{
    char text[SIM_TIME_TEXT];
    if (is != delays * bench.plan.unit)
        bench_fail(file, line, "%s: expected %u T, got %s T", what, delays,
                   sim_time_text(&bench.plan, is, text));
}

static inline void bench_flawless(const char *file, int line)
{
    if (!bench.result->came_to_rest) bench_fail(file, line, "it did not come to rest");
    if (bench.result->violation_count)
        bench_fail(file, line, "violation: %s", el_violation_name(bench.result->violations[0].kind));
}

static inline void bench_ended_on(const char *file, int line, unsigned id)
{
    if (!bench.result->agreed) bench_fail(file, line, "expected agreement on %u, got none", id);
    bench_equal(file, line, "leader", bench_id(bench.result->leader), id);
}

static inline void bench_elected(const char *file, int line, unsigned id)
{
    bench_flawless(file, line);
    bench_ended_on(file, line, id);
}

static inline void bench_violated(const char *file, int line, uint32_t kinds)
{
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1)
        if ((kinds & kind) && !(bench.result->violation_kinds & kind))
            bench_fail(file, line, "expected the violation %s", el_violation_name((enum el_violation)kind));
}

static inline uint32_t bench_note(const char *file, int line, const char *name)
{
    for (uint32_t note = 0; note < bench.plan.algorithm->note_count; note++)
        if (strcmp(bench.plan.algorithm->notes[note].name, name) == 0) return note;
    bench_fail(file, line, "there is no note '%s'", name);
}

static inline const struct sim_phase *bench_last_phase(const char *file, int line)
{
    if (bench.result->phase_count == 0) bench_fail(file, line, "there was no election");
    return &bench.result->phases[bench.result->phase_count - 1];
}

/* When the last node changed its mind about who leads. Needs a recorded play. */
static inline sim_time bench_last_view(const char *file, int line)
{
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = trace->count; i > 0; i--)
        if (sim_trace_at(trace, i)->what == SIM_VIEWED) return sim_trace_at(trace, i)->time;
    bench_fail(file, line, "nobody was elected, or the play was not recorded");
}

static inline uint64_t bench_leader_of(const char *file, int line, unsigned id)
{
    const el_node node = sim_plan_node(&bench.plan, id);
    if (node == EL_NOBODY) bench_fail(file, line, "there is no node %u", id);
    return bench_id(sim_world_leader_of(bench.world, node));
}

/* So many messages of this kind; of all kinds together. Failed hops of a ring do not count as messages. */
#define sent(kind, count) \
    bench_equal(__FILE__, __LINE__, kind, bench.result->sent[bench_kind(__FILE__, __LINE__, kind)], count)
#define sent_in_all(count) bench_equal(__FILE__, __LINE__, "messages", bench.result->sent[0], count)
#define failed_hops(count) bench_equal(__FILE__, __LINE__, "failed hops", bench.result->failed_hops, count)
/* From the first start or suspicion to the last delivery. */
#define took(delays) bench_time(__FILE__, __LINE__, "turnaround", bench.result->turnaround, delays)
/* Of several elections in one play, the last: what it cost, and how long it took. */
#define last_sent_in_all(count) \
    bench_equal(__FILE__, __LINE__, "messages at last", bench_last_phase(__FILE__, __LINE__)->messages, count)
#define last_took(delays)                                                                                 \
    bench_time(__FILE__, __LINE__, "turnaround at last",                                                  \
               bench_last_phase(__FILE__, __LINE__)->ended - bench_last_phase(__FILE__, __LINE__)->began, \
               delays)
/* The same, until the last node knew who leads; whatever still arrives then is of no use. */
#define last_known_after(delays)            \
    bench_time(__FILE__, __LINE__, "known", \
               bench_last_view(__FILE__, __LINE__) - bench_last_phase(__FILE__, __LINE__)->began, delays)
/* Everybody alive names this leader, and nothing that the algorithm claims was ever violated. */
#define elected(id) bench_elected(__FILE__, __LINE__, id)
/* Everybody alive names this leader, whatever happened before. */
#define ended_on(id) bench_ended_on(__FILE__, __LINE__, id)
/* Came to rest, and nothing that the algorithm claims was ever violated. */
#define kept_its_claims() bench_flawless(__FILE__, __LINE__)
/* All of these happened (el_violation). */
#define violated(kinds) bench_violated(__FILE__, __LINE__, kinds)
/* Whom a node names at the end; 0: nobody. */
#define follows(id, leader) \
    bench_equal(__FILE__, __LINE__, "leader of " #id, bench_leader_of(__FILE__, __LINE__, id), leader)
/* Somebody made that note. */
#define noted(name)                               \
    bench_equal(__FILE__, __LINE__, "note " name, \
                bench.result->notes >> bench_note(__FILE__, __LINE__, name) & 1, 1)

/* ---- Lists and dice ---- */

/* "A,B,C", each with a word behind it: list(ids, 3, "@0"). Valid until the fourth list after it. */
static inline const char *list(const unsigned *numbers, unsigned count, const char *behind)
{
    static char texts[BENCH_LISTS][BENCH_TEXT / BENCH_LISTS];
    static unsigned next;
    char *text = texts[next++ % BENCH_LISTS];
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof *texts - used, "%s%u%s", i ? "," : "", numbers[i], behind);
        assert_in_range(used, 0, sizeof *texts - 1);
    }
    return text;
}

/* "2,3,4": all numbers from the first to the last. */
static inline const char *span(unsigned first, unsigned last)
{
    unsigned numbers[MANY] = {0};
    for (unsigned i = 0; first + i <= last; i++) numbers[i] = first + i;
    return list(numbers, last + 1 - first, "");
}

static inline unsigned below(struct sim_random *dice, unsigned n)
{
    return (unsigned)sim_random_below(dice, n);
}

static inline void bench_swap(unsigned *numbers, unsigned a, unsigned b)
{
    const unsigned moved = numbers[a];
    numbers[a] = numbers[b];
    numbers[b] = moved;
}

/* 1..count in random order. */
static inline void shuffle(struct sim_random *dice, unsigned *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) numbers[i] = i + 1;
    for (unsigned i = count; i > 1; i--) bench_swap(numbers, i - 1, below(dice, i));
}

/* The next permutation in lexicographic order; false after the last. */
static inline bool permute(unsigned *numbers, unsigned count)
{
    unsigned i = count - 1; /* where the descending end begins */
    while (i > 0 && numbers[i - 1] >= numbers[i]) i--;
    if (i == 0) return false;
    unsigned k = count - 1;
    while (numbers[k] <= numbers[i - 1]) k--;
    bench_swap(numbers, i - 1, k);
    for (unsigned low = i, high = count - 1; low < high; low++, high--) bench_swap(numbers, low, high);
    return true;
}

#endif
