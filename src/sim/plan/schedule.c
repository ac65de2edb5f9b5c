/* The commands of a plan and their times: calls for election, crashes, pauses, broken links, false
 * suspicions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sim/plan/builder.h"

struct sim_command *build_add_command(struct builder *b, enum sim_command_type type, sim_time at)
{
    struct sim_command *command = build_one_more(&b->plan->commands, &b->plan->command_count, sizeof *command);
    if (command) *command = (struct sim_command){.at = at, .type = type, .source = b->now};
    return command;
}

static int read_initiator(struct builder *b, const char *value)
{
    const char *at = value;
    if (strcmp(value, "none") == 0) return 0;
    if (parse_text(&at, "all")) {
        sim_time when = 0;
        if (*at == '@' && build_read_at(b, &at, &when) != 0) return -1;
        if (!parse_end(&at)) return build_fail_at(b, at, "did not expect '%.20s' here", at);
        for (el_node node = 1; node <= b->plan->cluster.count; node++) {
            struct sim_command *command = build_add_command(b, SIM_DO_CAMPAIGN, when);
            if (!command) return build_out_of_memory(b);
            command->node = node;
        }
        return 0;
    }
    for (bool more = true; more;) {
        struct sim_command *command = build_add_command(b, SIM_DO_CAMPAIGN, 0);
        if (!command) return build_out_of_memory(b);
        if (build_read_node(b, &at, &command->node) != 0) return -1;
        if (*at == '@' && build_read_at(b, &at, &command->at) != 0) return -1;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_timed_nodes(struct builder *b, const char *value, enum sim_command_type type, bool leader_too)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_command *command = build_add_command(b, type, 0);
        if (!command) return build_out_of_memory(b);
        if ((leader_too ? build_read_node_or_leader : build_read_node)(b, &at, &command->node) != 0 ||
            build_read_at(b, &at, &command->at) != 0 || build_read_more(b, &at, &more) != 0)
            return -1;
    }
    return 0;
}

static int read_crash(struct builder *b, const char *value)
{
    return read_timed_nodes(b, value, SIM_DO_CRASH, true);
}

static int read_restart(struct builder *b, const char *value)
{
    return read_timed_nodes(b, value, SIM_DO_RESTART, false);
}

static int read_wipe(struct builder *b, const char *value)
{
    const size_t first = b->plan->command_count;
    if (read_timed_nodes(b, value, SIM_DO_RESTART, false) != 0) return -1;
    for (size_t i = first; i < b->plan->command_count; i++) b->plan->commands[i].wiped = true;
    return 0;
}

static int read_resign(struct builder *b, const char *value)
{
    return read_timed_nodes(b, value, SIM_DO_RESIGN, true);
}

static int read_transfer(struct builder *b, const char *value)
{
    const size_t first = b->plan->command_count;
    if (read_timed_nodes(b, value, SIM_DO_TRANSFER, false) != 0) return -1;
    for (size_t i = first; i < b->plan->command_count; i++) {
        struct sim_command *command = &b->plan->commands[i];
        command->peer = command->node;
        command->node = EL_NOBODY;
    }
    return 0;
}

static int read_fact_name(struct builder *b, const char **at, uint32_t *fact)
{
    const struct el_algorithm *algorithm = b->plan->algorithm;
    for (*fact = 0; *fact < algorithm->fact_count; ++*fact) {
        const char *past = *at;
        if (!parse_text(&past, algorithm->facts[*fact]) || *past != '=') continue;
        *at = past + 1;
        return 0;
    }
    char names[120] = "";
    for (uint32_t i = 0; i < algorithm->fact_count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", algorithm->facts[i]);
    }
    if (algorithm->fact_count == 0) return build_fail_at(b, *at, "%s takes no facts", algorithm->name);
    return build_fail_at(b, *at, "%s takes the facts %s, as NAME=N", algorithm->name, names);
}

int build_read_fact(struct builder *b, const char **at, struct sim_command *command)
{
    if (build_read_node(b, at, &command->node) != 0) return -1;
    if (!parse_char(at, ':')) return build_fail_at(b, *at, "expected ID:NAME=N, a process and what it is told");
    if (read_fact_name(b, at, &command->fact) != 0) return -1;
    if (!units_read_number(at, &command->value) || command->value >= EL_EPOCH_MAX)
        return build_fail_at(b, *at, "expected a whole number below 2^53");
    return 0;
}

static int read_fact(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_command *command = build_add_command(b, SIM_DO_FACT, 0);
        if (!command) return build_out_of_memory(b);
        if (build_read_fact(b, &at, command) != 0) return -1;
        if (*at == '@' && build_read_at(b, &at, &command->at) != 0) return -1;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_jump(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_command *command = build_add_command(b, SIM_DO_JUMP, 0);
        sim_time far = 0;
        if (!command) return build_out_of_memory(b);
        if (build_read_node(b, &at, &command->node) != 0 || build_read_at(b, &at, &command->at) != 0) return -1;
        const bool forward = parse_text(&at, "=+");
        if (!forward && !parse_text(&at, "=-"))
            return build_fail_at(b, at, "expected ID@T=+D or ID@T=-D: how far the clock jumps");
        if (build_read_time(b, &at, &far) != 0) return -1;
        command->leap = forward ? (int64_t)far : -(int64_t)far;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_change(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_command *command = build_add_command(b, SIM_DO_CHANGE, 0);
        if (!command) return build_out_of_memory(b);
        if (build_read_time(b, &at, &command->at) != 0 || build_read_more(b, &at, &more) != 0) return -1;
        if (++b->plan->change_count > b->plan->record_count)
            return build_fail_at(b, at, "each change needs a --record: who votes from then on");
    }
    return 0;
}

static int read_pause(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        sim_time from = 0, until = 0;
        if (build_read_node(b, &at, &node) != 0 || build_read_span(b, &at, &from, &until) != 0) return -1;
        if (until == SIM_NEVER)
            return build_fail_at(b, at,
                                 "a pause needs an end: ID@T..T; for a process that does not resume use crash");
        struct sim_command *pause = build_add_command(b, SIM_DO_PAUSE, from);
        if (!pause) return build_out_of_memory(b);
        pause->node = node;
        pause->until = until;
        struct sim_command *resume = build_add_command(b, SIM_DO_RESUME, until);
        if (!resume) return build_out_of_memory(b);
        resume->node = node;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int add_break(struct builder *b, struct sim_break made, sim_time from, sim_time until)
{
    struct sim_break *place = build_one_more(&b->plan->breaks, &b->plan->break_count, sizeof *place);
    if (!place) {
        free(made.side);
        return build_out_of_memory(b);
    }
    const size_t length = strcspn(b->now->value, "@");
    made.text = malloc(length + 1);
    if (made.text) {
        memcpy(made.text, b->now->value, length);
        made.text[length] = '\0';
    }
    *place = made;
    const uint32_t number = (uint32_t)b->plan->break_count - 1;
    struct sim_command *part = build_add_command(b, SIM_DO_PART, from);
    if (!made.text || !part) return build_out_of_memory(b);
    part->break_number = number;
    if (until == SIM_NEVER) return 0;
    struct sim_command *heal = build_add_command(b, SIM_DO_HEAL, until);
    if (!heal) return build_out_of_memory(b);
    heal->break_number = number;
    return 0;
}

static int read_partition(struct builder *b, const char *value)
{
    struct sim_break made = {.side = calloc(b->plan->cluster.count + 1, 1)};
    if (!made.side) return build_out_of_memory(b);
    const char *at = value;
    uint32_t side = 1;
    int status = 0;
    for (;;) {
        el_node node = EL_NOBODY;
        const char *start = at;
        if ((status = build_read_node(b, &at, &node)) != 0) break;
        if (made.side[node]) {
            status = build_fail_at(b, start, "%llu is on two sides",
                                   (unsigned long long)el_id(&b->plan->cluster, node));
            break;
        }
        made.side[node] = (uint8_t)side;
        skip_space(&at);
        if (parse_char(&at, ',')) continue;
        if (!parse_char(&at, '|')) break;
        if (++side > UINT8_MAX) {
            status = build_fail_at(b, at, "at most %d sides", UINT8_MAX);
            break;
        }
    }
    sim_time from = 0, until = 0;
    if (status == 0 && side < 2) status = build_fail_at(b, at, "a partition has sides: A,B|C,D");
    if (status == 0) status = build_read_span(b, &at, &from, &until);
    if (status == 0 && !parse_end(&at)) status = build_fail_at(b, at, "did not expect '%.20s' here", at);
    if (status != 0) {
        free(made.side);
        return -1;
    }
    return add_break(b, made, from, until);
}

static int read_cut(struct builder *b, const char *value)
{
    struct sim_break made = {0};
    sim_time from = 0, until = 0;
    const char *at = value;
    if (build_read_node(b, &at, &made.from) != 0) return -1;
    if (!parse_char(&at, '>')) return build_fail_at(b, at, "expected A>B: messages from A to B are lost");
    if (build_read_node(b, &at, &made.to) != 0 || build_read_span(b, &at, &from, &until) != 0) return -1;
    if (!parse_end(&at)) return build_fail_at(b, at, "did not expect '%.20s' here", at);
    if (made.from == made.to) return build_fail_at(b, value, "a node has no link to itself");
    return add_break(b, made, from, until);
}

static int read_slow(struct builder *b, const char *value)
{
    struct sim_slow made = {0};
    const char *at = value;
    if (build_read_node(b, &at, &made.from) != 0) return -1;
    if (!parse_char(&at, '>'))
        return build_fail_at(b, at, "expected A>B=D: messages from A to B take D longer");
    if (build_read_node(b, &at, &made.to) != 0) return -1;
    if (!parse_char(&at, '=')) return build_fail_at(b, at, "expected =D: how much longer messages take");
    if (build_read_time(b, &at, &made.extra) != 0 || build_read_span(b, &at, &made.begin, &made.end) != 0)
        return -1;
    if (!parse_end(&at)) return build_fail_at(b, at, "did not expect '%.20s' here", at);
    if (made.from == made.to) return build_fail_at(b, value, "a node has no link to itself");
    struct sim_slow *place = build_one_more(&b->plan->slows, &b->plan->slow_count, sizeof *place);
    if (!place) return build_out_of_memory(b);
    *place = made;
    return 0;
}

static int add_accusation(struct builder *b, el_node node, el_node peer, sim_time from, sim_time until)
{
    struct sim_command *begin = build_add_command(b, SIM_DO_SUSPECT, from);
    if (!begin) return build_out_of_memory(b);
    begin->node = node;
    begin->peer = peer;
    if (until == SIM_NEVER) return 0;
    struct sim_command *end = build_add_command(b, SIM_DO_TRUST, until);
    if (!end) return build_out_of_memory(b);
    end->node = node;
    end->peer = peer;
    return 0;
}

static int read_false_suspect(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY, peer = EL_NOBODY;
        sim_time from = 0, until = 0;
        if (build_read_node_or_all(b, &at, &node) != 0) return -1;
        if (!parse_char(&at, ':')) return build_fail_at(b, at, "expected A:B@T: A suspects B");
        if (build_read_node(b, &at, &peer) != 0 || build_read_span(b, &at, &from, &until) != 0) return -1;
        if (node == peer) return build_fail_at(b, value, "a node cannot suspect itself");
        for (el_node each = 1; each <= b->plan->cluster.count; each++) {
            const bool meant = node == EL_NOBODY ? each != peer : each == node;
            if (meant && add_accusation(b, each, peer, from, until) != 0) return -1;
        }
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static bool dies_at_once(const struct sim_plan *plan, el_node node)
{
    for (size_t i = 0; i < plan->command_count; i++)
        if (plan->commands[i].type == SIM_DO_CRASH && plan->commands[i].at == 0 &&
            plan->commands[i].node == node)
            return true;
    return false;
}

/* True if some detector will notice a death, so that nobody has to be told to call an election. */
static bool is_watched(const struct sim_plan *plan)
{
    for (size_t i = 0; i < plan->command_count; i++)
        if (plan->commands[i].type == SIM_DO_RESTART || plan->commands[i].type == SIM_DO_SUSPECT) return true;
    return plan->detect != SIM_NEVER || plan->detector;
}

/* If no initiator is named, the first live member calls an election when the run begins. Not if a leader is in
 * office: then somebody must have a reason. Its death at the beginning is one, unless a detector sees to that. */
static int add_default_initiator(struct builder *b)
{
    const struct sim_plan *plan = b->plan;
    if (plan->algorithm->beats) return 0; /* it starts by itself */
    if (build_last_of(b, "initiator") || build_last_of(b, "case")) return 0;
    if (plan->incumbent && (!dies_at_once(plan, plan->incumbent) || is_watched(plan))) return 0;
    el_node node = 1;
    while (node <= plan->cluster.count && dies_at_once(plan, node)) node++;
    if (node > plan->cluster.count) return 0;
    struct sim_command *command = build_add_command(b, SIM_DO_CAMPAIGN, 0);
    if (!command) return build_out_of_memory(b);
    command->node = node;
    return 0;
}

static int compare_commands(const void *a, const void *b)
{
    const struct sim_command *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* By time; at equal times in the order given. */
static void sort_commands(struct sim_plan *plan)
{
    for (size_t i = 0; i < plan->command_count; i++) plan->commands[i].order = i;
    if (plan->command_count)
        qsort(plan->commands, plan->command_count, sizeof *plan->commands, compare_commands);
}

/* Only a live node can crash, and only a dead one can restart. */
static int refuse_impossible_deaths(struct builder *b)
{
    const struct sim_plan *plan = b->plan;
    bool *dead = calloc(plan->cluster.count + 1, sizeof *dead);
    if (!dead) return build_out_of_memory(b);
    int status = 0;
    for (size_t i = 0; i < plan->command_count && status == 0; i++) {
        const struct sim_command *command = &plan->commands[i];
        if (command->type != SIM_DO_CRASH && command->type != SIM_DO_RESTART) continue;
        if (command->node == EL_NOBODY) break; /* "leader": the node is not known before the run */
        const bool crash = command->type == SIM_DO_CRASH;
        if (dead[command->node] == crash) {
            char text[SIM_TIME_TEXT];
            b->now = command->source;
            status = build_fail_at(b, NULL, "%llu cannot %s at %s: it is %s then",
                                   (unsigned long long)el_id(&plan->cluster, command->node),
                                   crash ? "crash" : "restart", sim_time_text(plan, command->at, text),
                                   crash ? "dead already" : "not dead");
        }
        dead[command->node] = crash;
    }
    free(dead);
    return status;
}

int build_story(struct builder *b)
{
    static const struct {
        const char *key;
        build_reader *read;
    } readers[] = {
        {"crash", read_crash},
        {"restart", read_restart},
        {"pause", read_pause},
        {"partition", read_partition},
        {"cut", read_cut},
        {"slow", read_slow},
        {"false-suspect", read_false_suspect},
        {"initiator", read_initiator},
        {"wipe", read_wipe},
        {"resign", read_resign},
        {"transfer", read_transfer},
        {"fact", read_fact},
        {"change", read_change},
        {"jump", read_jump},
    };
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (build_each(b, readers[i].key, readers[i].read) != 0) return -1;
    if (build_case(b) != 0) return -1;
    if (build_is_scripted(b)) return build_script(b);
    if (add_default_initiator(b) != 0) return -1;
    sort_commands(b->plan);
    return refuse_impossible_deaths(b);
}
