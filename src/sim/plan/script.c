/*
 * Parsing a script, which lists every move of a run in order. Settings that only affect runs without a script
 * (delays, losses, detectors, times of crashes) are refused.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "sim/plan/builder.h"

/* ---- Pieces ---- */

static int expect_space(struct builder *b, const char **at, const char *what)
{
    if (**at != ' ' && **at != '\t') return build_fail_at(b, *at, "expected %s here", what);
    skip_space(at);
    return 0;
}

/* True if `*at` is this name, ended by the end of the text, a blank or `stop`. */
static bool read_name(const char **at, const char *name, char stop)
{
    const char *past = *at;
    if (!parse_text(&past, name)) return false;
    if (*past != '\0' && *past != ' ' && *past != '\t' && *past != stop) return false;
    *at = past;
    return true;
}

enum { NAMES_TEXT = 200 };

/* "a, b or c" */
static void list_names(char list[NAMES_TEXT], const char *const *names, uint32_t first, uint32_t end)
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = first; i < end && used < NAMES_TEXT; i++) {
        const char *between = i == first ? "" : i + 1 == end ? " or " : ", ";
        used += (size_t)snprintf(list + used, NAMES_TEXT - used, "%s%s", between, names[i]);
    }
}

static int read_pair(struct builder *b, const char **at, char between, el_node *first, el_node *second)
{
    const char *start = *at;
    if (build_read_node(b, at, first) != 0) return -1;
    if (!parse_char(at, between)) return build_fail_at(b, *at, "expected A%cB", between);
    if (build_read_node(b, at, second) != 0) return -1;
    return *first != *second ? 0 : build_fail_at(b, start, "the two nodes must differ");
}

/* ---- Steps ---- */

typedef int step_reader(struct builder *b, const char **at, struct sim_step *step);

static int read_member(struct builder *b, const char **at, struct sim_step *step)
{
    return build_read_node(b, at, &step->command.node);
}

static int read_restart(struct builder *b, const char **at, struct sim_step *step)
{
    if (build_read_node(b, at, &step->command.node) != 0) return -1;
    skip_space(at);
    step->command.wiped = parse_text(at, "wiped");
    return 0;
}

static int read_pause(struct builder *b, const char **at, struct sim_step *step)
{
    step->command.until = SIM_NEVER;
    return read_member(b, at, step);
}

static int read_opinion(struct builder *b, const char **at, struct sim_step *step)
{
    return read_pair(b, at, ':', &step->command.node, &step->command.peer);
}

static int read_transfer(struct builder *b, const char **at, struct sim_step *step)
{
    const char *start = *at;
    if (build_read_node(b, at, &step->command.node) != 0 || expect_space(b, at, "to whom it hands over") != 0 ||
        build_read_node(b, at, &step->command.peer) != 0)
        return -1;
    return step->command.node != step->command.peer ? 0 : build_fail_at(b, start, "the two nodes must differ");
}

static int read_fact(struct builder *b, const char **at, struct sim_step *step)
{
    return build_read_fact(b, at, &step->command);
}

static int read_message(struct builder *b, const char **at, struct sim_step *step)
{
    const struct el_algorithm *algorithm = b->plan->algorithm;
    if (step->type == SIM_STEP_RETURN && !(algorithm->needs & EL_NEEDS_HOP_ACKS))
        return build_fail_at(b, NULL, "%s does not learn of failed hops; use lose instead", algorithm->name);
    if (read_pair(b, at, '>', &step->from, &step->to) != 0 || expect_space(b, at, "a kind of message") != 0)
        return -1;
    for (uint32_t kind = 1; kind <= algorithm->kind_count && !step->kind; kind++)
        if (read_name(at, algorithm->kinds[kind], '#')) step->kind = kind;
    if (!step->kind) {
        char list[NAMES_TEXT];
        list_names(list, algorithm->kinds, 1, algorithm->kind_count + 1);
        return build_fail_at(b, *at, "a message of %s is %s, not '%.20s'", algorithm->name, list, *at);
    }
    step->place = 1;
    skip_space(at);
    if (*at[0] != '#') return 0;
    const char *start = (*at)++;
    if (units_read_number(at, &step->place) && step->place > 0) return 0;
    return build_fail_at(b, start, "expected #2 for the second oldest, and so on");
}

static int read_timer(struct builder *b, const char **at, struct sim_step *step)
{
    const struct el_algorithm *algorithm = b->plan->algorithm;
    uint64_t slot = 0;
    if (algorithm->timer_count == 0) return build_fail_at(b, NULL, "%s has no timers", algorithm->name);
    if (build_read_node(b, at, &step->node) != 0 || expect_space(b, at, "a timer's name") != 0) return -1;
    step->timer = EL_NO_TIMER;
    for (uint32_t i = 0; i < algorithm->timer_count && step->timer == EL_NO_TIMER; i++)
        if (read_name(at, algorithm->timers[i], ':')) step->timer = i;
    if (step->timer == EL_NO_TIMER) {
        char list[NAMES_TEXT];
        list_names(list, algorithm->timers, 0, algorithm->timer_count);
        return build_fail_at(b, *at, "a timer of %s is %s, not '%.20s'", algorithm->name, list, *at);
    }
    if (!parse_char(at, ':')) return 0;
    const char *start = *at;
    if (!units_read_number(at, &slot) || slot > b->plan->cluster.count)
        return build_fail_at(b, start, "expected a slot from 0 to %u", b->plan->cluster.count);
    step->slot = (uint32_t)slot;
    return 0;
}

static int read_wait(struct builder *b, const char **at, struct sim_step *step)
{
    const char *start = *at;
    if (build_read_time(b, at, &step->wait) != 0) return -1;
    return step->wait ? 0 : build_fail_at(b, start, "expected a time above 0");
}

static int read_loop(struct builder *b, const char **at, struct sim_step *step)
{
    (void)at;
    for (const struct sim_step *other = b->plan->steps; other < step; other++)
        if (other->type == SIM_STEP_LOOP) return build_fail_at(b, NULL, "a run has one loop at most");
    return 0;
}

static const struct verb {
    const char *word;
    step_reader *read;
    enum sim_step_type type;
    enum sim_command_type command;
    bool reacts; /* a node takes a step, in which it can choose or die */
} verbs[] = {
    {"campaign", read_member, SIM_STEP_COMMAND, SIM_DO_CAMPAIGN, true},
    {"deliver", read_message, SIM_STEP_DELIVER, 0, true},
    {"return", read_message, SIM_STEP_RETURN, 0, true},
    {"lose", read_message, SIM_STEP_LOSE, 0, false},
    {"copy", read_message, SIM_STEP_COPY, 0, false},
    {"fire", read_timer, SIM_STEP_FIRE, 0, true},
    {"suspect", read_opinion, SIM_STEP_COMMAND, SIM_DO_SUSPECT, true},
    {"trust", read_opinion, SIM_STEP_COMMAND, SIM_DO_TRUST, true},
    {"crash", read_member, SIM_STEP_COMMAND, SIM_DO_CRASH, false},
    {"restart", read_restart, SIM_STEP_COMMAND, SIM_DO_RESTART, true},
    {"pause", read_pause, SIM_STEP_COMMAND, SIM_DO_PAUSE, false},
    {"resume", read_member, SIM_STEP_COMMAND, SIM_DO_RESUME, false},
    {"resign", read_member, SIM_STEP_COMMAND, SIM_DO_RESIGN, true},
    {"transfer", read_transfer, SIM_STEP_COMMAND, SIM_DO_TRANSFER, true},
    {"fact", read_fact, SIM_STEP_COMMAND, SIM_DO_FACT, true},
    {"wait", read_wait, SIM_STEP_WAIT, 0, false},
    {"loop", read_loop, SIM_STEP_LOOP, 0, false},
};

static const struct verb *read_verb(struct builder *b, const char **at)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (read_name(at, verbs[i].word, '\0')) return &verbs[i];
    build_fail_at(
        b, *at,
        "a step is campaign, deliver, return, lose, copy, fire, suspect, trust, crash, restart, pause, "
        "resume, resign, transfer, fact, wait or loop, not '%.20s'",
        *at);
    return NULL;
}

static int read_choices(struct builder *b, const char **at, struct sim_step *step)
{
    do {
        uint64_t number = 0;
        const char *start = *at;
        if (!units_read_number(at, &number) || number > UINT32_MAX)
            return build_fail_at(b, start, "expected choosing=N,…: the numbers it draws, in order");
        uint32_t *choice = build_one_more(&step->choices, &step->choice_count, sizeof *choice);
        if (!choice) return build_out_of_memory(b);
        *choice = (uint32_t)number;
    } while (parse_char(at, ','));
    return 0;
}

/* "dying=1", "choosing=2,0", before the step itself */
static int read_manner(struct builder *b, const char **at, struct sim_step *step)
{
    for (;;) {
        const char *start = *at;
        if (!step->dying && parse_text(at, "dying=")) {
            step->dying = true;
            if (!units_read_number(at, &step->acts))
                return build_fail_at(b, start,
                                     "expected dying=N: how many SENDs and SAVEs it still carries out");
        } else if (!step->choice_count && parse_text(at, "choosing=")) {
            if (read_choices(b, at, step) != 0) return -1;
        } else {
            return 0;
        }
        if (expect_space(b, at, "the step itself") != 0) return -1;
    }
}

static int read_step(struct builder *b, const char *value)
{
    struct sim_step *step = build_one_more(&b->plan->steps, &b->plan->step_count, sizeof *step);
    if (!step) return build_out_of_memory(b);
    *step = (struct sim_step){.source = b->now};
    const char *at = value;
    if (read_manner(b, &at, step) != 0) return -1;
    const char *start = at;
    const struct verb *verb = read_verb(b, &at);
    if (!verb) return -1;
    if (!verb->reacts && (step->dying || step->choice_count))
        return build_fail_at(b, start, "no node takes a step in '%s', so dying and choosing do not apply",
                             verb->word);
    step->type = verb->type;
    if (step->type == SIM_STEP_COMMAND)
        step->command = (struct sim_command){.type = verb->command, .source = b->now};
    skip_space(&at);
    if (verb->read(b, &at, step) != 0) return -1;
    return parse_end(&at) ? 0 : build_fail_at(b, at, "did not expect '%.20s' here", at);
}

/* ---- All of them ---- */

bool build_is_scripted(const struct builder *b)
{
    return build_last_of(b, "script") || build_last_of(b, "step");
}

static int read_script(struct builder *b, const char *value)
{
    const bool steps = strcmp(value, "steps") == 0, ticks = strcmp(value, "ticks") == 0;
    if (!steps && !ticks) return build_fail_at(b, value, "a script is steps or ticks");
    b->plan->script = steps ? SIM_BY_STEPS : SIM_BY_TICKS;
    return 0;
}

static int refuse_what_happens_by_itself(struct builder *b)
{
    static const char *const allowed[] = {"algorithm", "nodes", "ids",    "attr",  "ordinary",
                                          "leader",    "fact",  "record", "clock", "drift",
                                          "set",       "bound", "script", "step",  "expect"};
    for (size_t i = 0; i < b->settings->count; i++) {
        bool found = false;
        b->now = &b->settings->list[i];
        for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
            found |= strcmp(b->now->key, allowed[k]) == 0;
        if (!found)
            return build_fail_at(
                b, NULL,
                "cannot be used in a scripted run, where only steps happen; besides steps there may be "
                "members, clocks, facts, options and the initial leader");
    }
    for (size_t i = 0; i < b->plan->command_count; i++) {
        b->now = b->plan->commands[i].source;
        if (b->plan->commands[i].at)
            return build_fail_at(b, NULL, "in a scripted run a fact is known from the start, or is a step");
    }
    b->now = NULL;
    return 0;
}

/* A loop of steps that only let time pass is refused. */
static int refuse_empty_loop(struct builder *b)
{
    const struct sim_step *loop = NULL;
    bool moves = false;
    for (size_t i = 0; i < b->plan->step_count; i++) {
        const struct sim_step *step = &b->plan->steps[i];
        if (step->type == SIM_STEP_LOOP) loop = step;
        moves |= loop && step->type != SIM_STEP_LOOP && step->type != SIM_STEP_WAIT;
    }
    if (!loop || moves) return 0;
    b->now = loop->source;
    return build_fail_at(b, NULL, "the loop has no steps in which anything happens");
}

static int refuse_endless_time(struct builder *b)
{
    sim_time total = 0;
    for (size_t i = 0; i < b->plan->step_count; i++) {
        const struct sim_step *step = &b->plan->steps[i];
        b->now = step->source;
        total += step->type == SIM_STEP_WAIT ? step->wait : b->plan->delay.max;
        if (total > SIM_TIME_MAX) return build_fail_at(b, NULL, "the waits add up to more than a hundred days");
    }
    b->now = NULL;
    return 0;
}

int build_script(struct builder *b)
{
    if (refuse_what_happens_by_itself(b) != 0) return -1;
    if (!build_last_of(b, "script")) {
        b->now = build_last_of(b, "step");
        return build_fail_at(b, NULL, "a script begins with 'script steps' or 'script ticks'");
    }
    if (build_once(b, "script", read_script) != 0 || build_each(b, "step", read_step) != 0) return -1;
    return refuse_empty_loop(b) != 0 ? -1 : refuse_endless_time(b);
}
