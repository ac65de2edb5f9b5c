/* Building a plan from settings: first the members, then the network, then the commands and their times. */
#include "sim/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sim/plan/builder.h"

enum { DELAY_MAX_S = 1000, DRIFT_DEFAULT = 5000, DRIFT_MAX = 500000 };
static const sim_time default_unit = NS_PER_MS; /* T is 1 ms unless the delay is given in real time */

/* ---- The network ---- */

/* "5", "0.5..2", "exp:1..10" */
static int read_spread(struct builder *b, const char *value, struct sim_delay *spread, bool *real)
{
    struct sim_delay made = {0};
    const char *at = value;
    const bool exponential = parse_text(&at, "exp:");
    if (!parse_time_range(&at, b->plan->unit, &made.min, &made.max, real) || !parse_end(&at))
        return build_fail_at(b, value, "a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10");
    if (exponential) {
        made.shape = SIM_DELAY_EXPONENTIAL;
        made.mean = made.min;
        if (made.max == made.min) made.max = 10 * made.mean;
        made.min = 0;
    } else {
        made.shape = made.min == made.max ? SIM_DELAY_FIXED : SIM_DELAY_RANGE;
    }
    if (made.max < made.min || made.max < made.mean)
        return build_fail_at(b, value, "the range ends before it begins");
    if (made.max > DELAY_MAX_S * NS_PER_S) return build_fail_at(b, value, "at most %d s", DELAY_MAX_S);
    *spread = made;
    return 0;
}

static int read_disk(struct builder *b, const char *value)
{
    bool real = false;
    return read_spread(b, value, &b->plan->disk, &real);
}

static int read_delay(struct builder *b, const char *value)
{
    struct sim_delay made = {0};
    bool real = false;
    if (read_spread(b, value, &made, &real) != 0) return -1;
    if (made.max == 0) return build_fail_at(b, value, "a message must take some time");
    b->plan->delay = made;
    if (real) {
        b->plan->unit = made.max;
        b->plan->in_units = false;
    }
    return 0;
}

static int read_chance(struct builder *b, const char *value, sim_chance *chance)
{
    const char *at = value;
    if (parse_chance(&at, chance) && parse_end(&at)) return 0;
    return build_fail_at(b, value, "a probability is a number from 0 to 1, or a percentage such as 5%%");
}

static int read_loss(struct builder *b, const char *value)
{
    return read_chance(b, value, &b->plan->loss);
}

static int read_dup(struct builder *b, const char *value)
{
    return read_chance(b, value, &b->plan->duplicate);
}

static int read_reorder(struct builder *b, const char *value)
{
    return read_chance(b, value, &b->plan->reorder);
}

static int read_bound(struct builder *b, const char *value)
{
    if (build_read_only_time(b, value, &b->plan->cluster.transmit_max) != 0) return -1;
    return b->plan->cluster.transmit_max ? 0 : build_fail_at(b, value, "the bound must be above 0");
}

static int read_detect(struct builder *b, const char *value)
{
    return build_read_only_time(b, value, &b->plan->detect);
}

static int read_until(struct builder *b, const char *value)
{
    return build_read_only_time(b, value, &b->plan->until);
}

static int read_horizon(struct builder *b, const char *value)
{
    return build_read_only_time(b, value, &b->plan->horizon);
}

static int read_settle(struct builder *b, const char *value)
{
    return build_read_only_time(b, value, &b->plan->settle);
}

static int read_drift(struct builder *b, const char *value)
{
    const char *at = value;
    uint64_t millionths = 0;
    if (!parse_millionths(&at, &millionths) || !parse_end(&at) || millionths > DRIFT_MAX)
        return build_fail_at(b, value, "a drift bound is a number from 0 to 0.5, such as 0.005");
    b->plan->cluster.drift = (uint32_t)millionths;
    return 0;
}

/* A time above 0. */
static int read_period(struct builder *b, const char *value, sim_time *period)
{
    if (build_read_only_time(b, value, period) != 0) return -1;
    return *period ? 0 : build_fail_at(b, value, "expected a time above 0");
}

static int read_resource(struct builder *b, const char *value)
{
    return read_period(b, value, &b->plan->work);
}

static int read_quality(struct builder *b, const char *value)
{
    return read_period(b, value, &b->plan->mercy);
}

static int read_seed(struct builder *b, const char *value)
{
    return build_read_whole(b, value, &b->plan->seed);
}

static int read_clock(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    if (!plan->rates) {
        plan->rates = malloc((plan->cluster.count + 1) * sizeof *plan->rates);
        if (!plan->rates) return build_out_of_memory(b);
        for (uint32_t i = 0; i <= plan->cluster.count; i++) plan->rates[i] = 1000000;
    }
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        uint64_t rate = 0;
        if (build_read_node(b, &at, &node) != 0) return -1;
        if (!parse_char(&at, '=') || !parse_millionths(&at, &rate) || rate < 1000 || rate > 1000000000)
            return build_fail_at(b, at, "expected ID=RATE with a rate from 0.001 to 1000");
        plan->rates[node] = (uint32_t)rate;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_miss(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_miss *miss = build_one_more(&b->plan->misses, &b->plan->miss_count, sizeof *miss);
        if (!miss) return build_out_of_memory(b);
        *miss = (struct sim_miss){0};
        if (build_read_node_or_all(b, &at, &miss->node) != 0) return -1;
        if (!parse_char(&at, ':'))
            return build_fail_at(b, at, "expected A:B: A's detector never notices B's crash");
        if (build_read_node_or_all(b, &at, &miss->peer) != 0) return -1;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

/* ---- All together ---- */

static sim_time longest_option(const struct el_algorithm *algorithm, const struct el_value *options)
{
    sim_time longest = 0;
    for (uint32_t i = 0; algorithm && i < algorithm->option_count; i++)
        if (algorithm->options[i].kind == EL_DURATION && options[i].number > longest)
            longest = options[i].number;
    return longest;
}

static sim_time on_the_slowest_clock(const struct sim_plan *plan, sim_time time)
{
    uint64_t slowest = 1000000;
    for (el_node node = 1; plan->rates && node <= plan->cluster.count; node++)
        if (plan->rates[node] < slowest) slowest = plan->rates[node];
    return time / slowest * 1000000 + time % slowest * 1000000 / slowest;
}

/* The longest time that an algorithm may wait for something, on the slowest clock. */
static sim_time longest_wait(const struct sim_plan *plan)
{
    sim_time wait = plan->delay.max > plan->cluster.transmit_max ? plan->delay.max : plan->cluster.transmit_max;
    const sim_time own = longest_option(plan->algorithm, plan->options),
                   detector = longest_option(plan->detector, plan->detector_options);
    if (own > wait) wait = own;
    if (detector > wait) wait = detector;
    if (plan->disk.max > wait) wait = plan->disk.max;
    for (size_t i = 0; i < plan->slow_count; i++)
        if (plan->delay.max + plan->slows[i].extra > wait) wait = plan->delay.max + plan->slows[i].extra;
    return on_the_slowest_clock(plan, wait);
}

/* A run that is still busy this long after the last command counts as endless. */
static void choose_horizon(struct sim_plan *plan)
{
    const uint64_t n = plan->cluster.count;
    const uint64_t square = 10 * n * n + 200, line = 100 * n + 1000000;
    const uint64_t waits = n < 65536 && square < line ? square : line;
    const sim_time one = longest_wait(plan);
    plan->horizon = one < SIM_TIME_MAX / waits ? waits * one : SIM_TIME_MAX;
    if (plan->algorithm->beats || plan->detector) plan->horizon += plan->settle;
    if (plan->command_count) plan->horizon += plan->commands[plan->command_count - 1].at;
    if (plan->detect != SIM_NEVER) plan->horizon += plan->detect;
}

/* The time without a change after which no further change is to be expected. */
static void choose_settle(struct sim_plan *plan)
{
    enum { WAITS = 10, DETECTOR_WAITS = 30 };
    const sim_time one = longest_wait(plan);
    const uint64_t waits = plan->detector ? DETECTOR_WAITS : WAITS;
    plan->settle = one < SIM_TIME_MAX / waits ? waits * one : SIM_TIME_MAX;
    for (size_t i = 0; i < plan->command_count; i++) { /* a clock set back delays its timers by that much */
        const struct sim_command *command = &plan->commands[i];
        if (command->type != SIM_DO_JUMP || command->leap >= 0) continue;
        const sim_time lost = on_the_slowest_clock(plan, (sim_time)-command->leap);
        plan->settle = lost < SIM_TIME_MAX - plan->settle ? plan->settle + lost : SIM_TIME_MAX;
    }
}

static int build(struct builder *b)
{
    struct sim_plan *plan = b->plan;
    static const struct {
        const char *key;
        build_reader *read;
        bool repeated;
    } readers[] = {
        {"loss", read_loss, false},       {"dup", read_dup, false},           {"reorder", read_reorder, false},
        {"bound", read_bound, false},     {"detect", read_detect, false},     {"until", read_until, false},
        {"horizon", read_horizon, false}, {"seed", read_seed, false},         {"clock", read_clock, true},
        {"miss", read_miss, true},        {"disk", read_disk, false},         {"drift", read_drift, false},
        {"settle", read_settle, false},   {"resource", read_resource, false}, {"quality", read_quality, false},
    };
    if (build_members(b) != 0 || build_once(b, "delay", read_delay) != 0 || build_options(b) != 0 ||
        build_records(b) != 0)
        return -1;
    plan->cluster.transmit_max = plan->delay.max;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if ((readers[i].repeated ? build_each : build_once)(b, readers[i].key, readers[i].read) != 0) return -1;
    }
    if (build_detector(b) != 0 || build_check_times(b) != 0 || build_story(b) != 0 ||
        build_expectations(b) != 0)
        return -1;
    plan->detector_seed = plan->seed;
    if (plan->settle == SIM_NEVER) choose_settle(plan);
    if (plan->horizon == SIM_NEVER) choose_horizon(plan);
    return 0;
}

int sim_plan_build_for(struct sim_plan *plan, const struct el_algorithm *algorithm,
                       const struct sim_settings *settings, struct sim_error *error)
{
    *plan = (struct sim_plan){
        .algorithm = algorithm,
        .seed = 1,
        .unit = default_unit,
        .in_units = true,
        .delay = {SIM_DELAY_FIXED, default_unit, default_unit, 0},
        .detect = SIM_NEVER,
        .until = SIM_NEVER,
        .settle = SIM_NEVER,
        .cluster.drift = DRIFT_DEFAULT,
        .horizon = SIM_NEVER,
        .event_max = UINT64_C(300000000),
    };
    plan->settings = settings;
    struct builder b = {.plan = plan, .settings = settings, .error = error};
    if (build(&b) == 0) return 0;
    sim_plan_free(plan);
    return -1;
}

int sim_plan_build(struct sim_plan *plan, const struct sim_settings *settings, struct sim_error *error)
{
    return sim_plan_build_for(plan, NULL, settings, error);
}

void sim_plan_free(struct sim_plan *plan)
{
    free(plan->ids);
    free(plan->attributes);
    free(plan->roles);
    free(plan->records);
    for (uint32_t i = 0; plan->member_lists && i < plan->algorithm->option_count; i++)
        free(plan->member_lists[i]);
    free(plan->member_lists);
    free(plan->options);
    free(plan->detector_options);
    for (size_t i = 0; i < plan->break_count; i++) {
        free(plan->breaks[i].side);
        free(plan->breaks[i].text);
    }
    free(plan->breaks);
    free(plan->slows);
    free(plan->commands);
    for (size_t i = 0; i < plan->step_count; i++) free(plan->steps[i].choices);
    free(plan->steps);
    free(plan->misses);
    free(plan->rates);
    free(plan->expects);
    *plan = (struct sim_plan){0};
}

el_node sim_plan_node(const struct sim_plan *plan, uint64_t id)
{
    if (!plan->cluster.ids) return id >= 1 && id <= plan->cluster.count ? (el_node)id : EL_NOBODY;
    for (el_node node = 1; node <= plan->cluster.count; node++)
        if (plan->cluster.ids[node - 1] == id) return node;
    return EL_NOBODY;
}

const char *sim_time_text(const struct sim_plan *plan, sim_time time, char text[SIM_TIME_TEXT])
{
    const uint64_t unit = plan->in_units ? plan->unit : NS_PER_MS;
    const uint64_t thousandths = time / unit * 1000 + time % unit * 1000 / unit;
    const unsigned long long whole = thousandths / 1000, rest = thousandths % 1000;
    int length = snprintf(text, SIM_TIME_TEXT, "%llu.%03llu", whole, rest);
    while (text[length - 1] == '0') text[--length] = '\0';
    if (text[length - 1] == '.') text[--length] = '\0';
    if (!plan->in_units) snprintf(text + length, SIM_TIME_TEXT - (size_t)length, " ms");
    return text;
}
