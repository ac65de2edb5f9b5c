/*
 * Generating the stories of a trial. A story depends only on its seed, and every algorithm meets the same
 * faults, at times scaled to its own timeouts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sim/measure/trial.h"
#include "sim/plan/parse.h"

enum { LINE = 1024, STREAM = 4096 };

struct story {
    struct sim_settings *settings;
    const struct el_algorithm *algorithm;
    struct sim_random dice;
    uint32_t nodes;
    uint64_t wait; /* the algorithm's longest timeout by its default options, in T */
    bool ok;
};

/* ---- Pieces ---- */

static void set(struct story *s, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set(struct story *s, const char *key, const char *format, ...)
{
    char text[LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->ok = s->ok && sim_settings_add(s->settings, key, text, 0, 0);
}

static uint32_t below(struct story *s, uint64_t n)
{
    return (uint32_t)sim_random_below(&s->dice, n);
}

static uint64_t longest_wait(const struct el_algorithm *algorithm)
{
    enum { ROUND_TRIPS = 4 };
    const sim_time unit = NS_PER_MS;
    sim_time longest = ROUND_TRIPS * unit;
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const char *at = algorithm->options[i].preset;
        sim_time time = 0;
        const bool is_time = algorithm->options[i].kind == EL_DURATION && at;
        if (is_time && parse_time(&at, unit, &time, NULL) && time > longest) longest = time;
    }
    return longest / unit;
}

/* Half-integer times fall between arrivals, whole ones coincide with them. */
struct moment {
    uint64_t halves;
};

static struct moment within(struct story *s, uint64_t waits)
{
    return (struct moment){below(s, 2 * waits * s->wait)};
}

static struct moment after(struct story *s, struct moment m, uint64_t waits)
{
    return (struct moment){m.halves + 1 + within(s, waits).halves};
}

#define AT "%llu.%c"
#define AT_OF(m) (unsigned long long)((m).halves / 2), (m).halves % 2 ? '5' : '0'

/* The store is a member more, the last; no story kills it, and a partition has it on one side. */
static uint32_t members_of(const struct story *s)
{
    return s->nodes + s->algorithm->store;
}

/* 1..count in random order. */
static void shuffle(struct story *s, uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = below(s, i + 1);
        numbers[i] = numbers[place];
        numbers[place] = i + 1;
    }
}

static void begin(struct story *s, uint64_t seed)
{
    uint32_t ids[SIM_TRIAL_NODES_MAX + 1] = {0};
    char ring[LINE] = "";
    shuffle(s, ids, s->nodes);
    if (s->algorithm->store) ids[s->nodes] = s->nodes + 1;
    for (uint32_t i = 0; i < members_of(s); i++) {
        const size_t used = strlen(ring);
        snprintf(ring + used, sizeof ring - used, "%s%u", i ? "," : "", ids[i]);
    }
    set(s, "algorithm", "%s", s->algorithm->name);
    set(s, "ids", "%s", ring);
    set(s, "seed", "%llu", (unsigned long long)seed);
}

/*
 * An algorithm without timers of its own needs a detector. One with timers and without a majority may wait
 * for all dead nodes, one by one, before its view changes; that must not count as rest.
 */
static void see_to_deaths(struct story *s)
{
    enum { WAITS_EACH = 4, MORE = 10 };
    if (!s->algorithm->beats) {
        set(s, "detect", "2");
        set(s, "initiator", "none");
    } else if (!s->algorithm->majority) {
        const uint64_t waits = (uint64_t)WAITS_EACH * (s->nodes + MORE);
        set(s, "settle", "%llu", (unsigned long long)waits * s->wait);
    }
}

static struct story new_story(struct sim_settings *settings, const struct el_algorithm *algorithm,
                              const struct sim_trial_terms *terms, uint64_t stream, uint64_t run)
{
    struct story s = {.settings = settings,
                      .algorithm = algorithm,
                      .nodes = terms->nodes,
                      .wait = longest_wait(algorithm),
                      .ok = true};
    sim_random_seed(&s.dice, terms->seed + run, STREAM + stream);
    begin(&s, terms->seed + run);
    return s;
}

/* ---- What it costs ---- */

bool sim_story_of_need(struct sim_settings *settings, const struct el_algorithm *algorithm, enum sim_need need,
                       const struct sim_trial_terms *terms, uint64_t run)
{
    struct story s = new_story(settings, algorithm, terms, 0, run);
    if (need != SIM_NOBODY_DIES) {
        set(&s, "leader", "%u", s.nodes);
        set(&s, "crash", "%u@0", s.nodes);
    }
    if (need == SIM_ALL_NOTICE || algorithm->beats) {
        see_to_deaths(&s);
    } else {
        set(&s, "initiator", "1");
    }
    return s.ok;
}

bool sim_story_of_deaths(struct sim_settings *settings, const struct el_algorithm *algorithm,
                         const struct sim_trial_terms *terms, uint32_t deaths)
{
    struct story s = new_story(settings, algorithm, terms, 0, 0);
    set(&s, "leader", "%u", s.nodes);
    for (uint32_t i = 0; i < deaths; i++) set(&s, "crash", "%u@0", s.nodes - i);
    see_to_deaths(&s);
    return s.ok;
}

/* ---- What it survives ---- */

/* Picks some of the nodes, never all, mostly with the leader among them. Returns how many. */
static uint32_t choose_victims(struct story *s, uint32_t leader, uint32_t *victims)
{
    const uint32_t count = 1 + below(s, s->nodes - 1);
    shuffle(s, victims, s->nodes);
    if (below(s, 4) == 0) return count;
    uint32_t at = 0;
    while (victims[at] != leader) at++;
    victims[at] = victims[0];
    victims[0] = leader;
    return count;
}

static void add_deaths(struct story *s, uint32_t leader, bool come_back)
{
    uint32_t victims[SIM_TRIAL_NODES_MAX] = {0};
    const uint32_t count = choose_victims(s, leader, victims);
    for (uint32_t i = 0; i < count; i++) {
        const struct moment death = within(s, 3), comeback = after(s, death, 1 + below(s, 4));
        set(s, "crash", "%u@" AT, victims[i], AT_OF(death));
        if (come_back) set(s, "restart", "%u@" AT, victims[i], AT_OF(comeback));
    }
}

/* No side is empty; in half of the stories one node of each side calls an election. */
static void add_partition(struct story *s)
{
    uint32_t order[SIM_TRIAL_NODES_MAX] = {0}, side[SIM_TRIAL_NODES_MAX + 2] = {0};
    const uint32_t sides = 2 + (s->nodes > 2 ? below(s, 2) : 0);
    char text[LINE] = "", heal[32] = "";
    shuffle(s, order, s->nodes);
    for (uint32_t i = 0; i < s->nodes; i++) side[order[i]] = i < sides ? i : below(s, sides);
    if (s->algorithm->store) side[s->nodes + 1] = below(s, sides);
    for (uint32_t of = 0; of < sides; of++) {
        const char *before = of ? "|" : "";
        for (uint32_t id = 1; id <= members_of(s); id++) {
            if (side[id] != of) continue;
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%u", before, id);
            before = ",";
        }
    }
    const struct moment cut = within(s, 3), healed = after(s, cut, 8);
    if (below(s, 2) == 0) snprintf(heal, sizeof heal, ".." AT, AT_OF(healed));
    set(s, "partition", "%s@" AT "%s", text, AT_OF(cut), heal);
    if (below(s, 2) == 0) return;
    for (uint32_t i = 0; i < sides; i++) {
        const struct moment call = after(s, cut, 2);
        set(s, "initiator", "%u@" AT, order[i], AT_OF(call));
    }
}

static void add_comeback(struct story *s, uint32_t leader)
{
    const struct moment first = within(s, 3), then = after(s, first, 4);
    if (below(s, 2) == 0) {
        const uint32_t better = leader + 1 + below(s, s->nodes - leader);
        set(s, "crash", "%u@" AT, better, AT_OF(first));
        set(s, "restart", "%u@" AT, better, AT_OF(then));
    } else {
        const uint32_t other = 1 + below(s, s->nodes - 1);
        set(s, "initiator", "%u@" AT, other < leader ? other : other + 1, AT_OF(first));
    }
}

bool sim_story_of_trouble(struct sim_settings *settings, const struct el_algorithm *algorithm,
                          enum sim_trouble trouble, const struct sim_trial_terms *terms, uint64_t run)
{
    struct story s = new_story(settings, algorithm, terms, 1 + (uint64_t)trouble, run);
    const uint32_t leader = 1 + below(&s, trouble == SIM_COMEBACKS ? s.nodes - 1 : s.nodes);
    set(&s, "leader", "%u", leader);
    set(&s, "delay", "0.5..1");
    see_to_deaths(&s);
    switch (trouble) {
    case SIM_CRASHES: add_deaths(&s, leader, false); break;
    case SIM_PARTITIONS: add_partition(&s); break;
    case SIM_RESTARTS: add_deaths(&s, leader, true); break;
    case SIM_COMEBACKS: add_comeback(&s, leader); break;
    case SIM_TROUBLES: break;
    }
    return s.ok;
}
