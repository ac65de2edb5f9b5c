/* Building a plan from settings: first who takes part, then the network, then what happens when. */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

enum { COUNT_MAX = 1u << 24, DELAY_MAX_S = 1000, ID_LIST_SHOWN = 12 };
static const sim_time default_unit = 1000000; /* T is a millisecond, until --delay says otherwise */

/* Everything a reader of one setting needs. */
struct builder {
    struct sim_plan *plan;
    const struct sim_settings *settings;
    const struct sim_setting *now; /* the setting being read */
    struct sim_error *error;
};

/* ---- Errors ---- */

static int fail_at(struct builder *b, const char *at, const char *format, ...)
{
    char what[320], where[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const struct sim_setting *s = b->now;
    if (!s) {
        snprintf(where, sizeof where, "%s", b->settings->file ? b->settings->file : "");
    } else if (s->line) {
        const size_t offset = at ? (size_t)(at - s->value) : 0;
        snprintf(where, sizeof where, "%.100s:%u:%zu: %s", b->settings->file, s->line, s->column + offset,
                 s->key);
    } else {
        snprintf(where, sizeof where, "--%s %.100s", s->key, s->value);
    }
    snprintf(b->error->text, sizeof b->error->text, "%s%s%s", where, *where ? ": " : "", what);
    return -1;
}

static int out_of_memory(struct builder *b)
{
    return fail_at(b, NULL, "out of memory");
}

static int unknown_id(struct builder *b, const char *at, uint64_t id)
{
    char list[200] = "";
    size_t used = 0;
    const struct el_cluster *cluster = &b->plan->cluster;
    for (el_node n = 1; n <= cluster->count && n <= ID_LIST_SHOWN && used < sizeof list - 24; n++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%llu", n > 1 ? ", " : "",
                                 (unsigned long long)el_id(cluster, n));
    return fail_at(b, at, "no node has the id %llu; the ids are %s%s", (unsigned long long)id, list,
                   cluster->count > ID_LIST_SHOWN ? ", …" : "");
}

/* ---- Settings by key ---- */

static const struct sim_setting *last_of(const struct builder *b, const char *key)
{
    const struct sim_setting *found = NULL;
    for (size_t i = 0; i < b->settings->count; i++)
        if (strcmp(b->settings->list[i].key, key) == 0) found = &b->settings->list[i];
    return found;
}

typedef int reader(struct builder *b, const char *value);

/* Reads the last setting of this key, if there is one. */
static int once(struct builder *b, const char *key, reader *read)
{
    b->now = last_of(b, key);
    const int status = b->now ? read(b, b->now->value) : 0;
    if (status == 0) b->now = NULL;
    return status;
}

/* Reads every setting of this key, in order. */
static int each(struct builder *b, const char *key, reader *read)
{
    for (size_t i = 0; i < b->settings->count; i++) {
        b->now = &b->settings->list[i];
        if (strcmp(b->now->key, key) == 0 && read(b, b->now->value) != 0) return -1;
    }
    b->now = NULL;
    return 0;
}

/* ---- Pieces of values ---- */

static int read_node(struct builder *b, const char **at, el_node *node)
{
    uint64_t id = 0;
    skip_space(at);
    const char *start = *at;
    if (!parse_number(at, &id)) return fail_at(b, start, "expected the id of a node, not '%.20s'", start);
    *node = sim_plan_node(b->plan, id);
    return *node ? 0 : unknown_id(b, start, id);
}

static int read_node_or_all(struct builder *b, const char **at, el_node *node)
{
    *node = EL_NOBODY;
    return parse_text(at, "all") ? 0 : read_node(b, at, node);
}

static int read_time(struct builder *b, const char **at, sim_time *time)
{
    if (**at == '-') return fail_at(b, *at, "a time cannot be before 0");
    if (!parse_time(at, b->plan->unit, time, NULL))
        return fail_at(b, *at, "expected a time such as 4, 2.5 or 150ms, not '%.20s'", *at);
    return 0;
}

static int read_at(struct builder *b, const char **at, sim_time *time)
{
    if (!parse_char(at, '@')) return fail_at(b, *at, "say when: ID@T, with T in message delays or as 150ms");
    return read_time(b, at, time);
}

/* "@T..T"; without "@" from the beginning, without ".." for ever. */
static int read_span(struct builder *b, const char **at, sim_time *from, sim_time *until)
{
    *from = 0;
    *until = SIM_NEVER;
    if (**at != '@') return 0;
    if (read_at(b, at, from) != 0) return -1;
    const char *start = *at;
    if (!parse_text(at, "..")) return 0;
    if (read_time(b, at, until) != 0) return -1;
    return *until > *from ? 0 : fail_at(b, start, "a span must end after it begins");
}

/* True after a comma; false at the end. Anything else is an error. */
static int read_more(struct builder *b, const char **at, bool *more)
{
    skip_space(at);
    *more = parse_char(at, ',');
    if (*more || **at == '\0') return 0;
    return fail_at(b, *at, "did not expect '%.20s' here", *at);
}

static int read_whole(struct builder *b, const char *value, uint64_t *number)
{
    const char *at = value;
    if (parse_number(&at, number) && parse_end(&at)) return 0;
    return fail_at(b, value, "expected a whole number");
}

/* Room for one more in an array that doubles; NULL if memory ran out. */
static void *one_more(void *array_in_out, size_t *count, size_t size)
{
    void **array = array_in_out;
    if ((*count & (*count - 1)) == 0) { /* 0, 1, 2, 4, 8 … are full */
        void *wider = realloc(*array, (*count ? 2 * *count : 1) * size);
        if (!wider) return NULL;
        *array = wider;
    }
    return (char *)*array + (*count)++ * size;
}

/* ---- Who takes part ---- */

static int read_algorithm(struct builder *b, const char *value)
{
    b->plan->algorithm = el_algorithm_named(value);
    if (b->plan->algorithm) return 0;
    return fail_at(b, value, "there is no algorithm of that name; `elector algorithms` lists them");
}

static int read_nodes(struct builder *b, const char *value)
{
    uint64_t count = 0;
    if (read_whole(b, value, &count) != 0) return -1;
    if (count == 0) return fail_at(b, value, "an election needs at least one node");
    if (count > COUNT_MAX) return fail_at(b, value, "at most %u nodes", (unsigned)COUNT_MAX);
    b->plan->cluster.count = (uint32_t)count;
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int refuse_duplicate_ids(struct builder *b, const uint64_t *ids, size_t count)
{
    uint64_t *sorted = malloc(count * sizeof *sorted);
    if (!sorted) return out_of_memory(b);
    memcpy(sorted, ids, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_ids);
    int status = 0;
    for (size_t i = 1; i < count && status == 0; i++)
        if (sorted[i] == sorted[i - 1])
            status =
                fail_at(b, NULL, "the id %llu is there twice; ids must differ", (unsigned long long)sorted[i]);
    free(sorted);
    return status;
}

static int read_ids(struct builder *b, const char *value)
{
    uint64_t *ids = NULL;
    size_t count = 0;
    bool more = true;
    const char *at = value;
    int status = 0;
    while (status == 0 && more) {
        skip_space(&at);
        uint64_t *id = one_more(&ids, &count, sizeof *ids);
        if (!id) {
            status = out_of_memory(b);
        } else if (!parse_number(&at, id)) {
            status = fail_at(b, at, "expected ids separated by commas, not '%.20s'", at);
        } else if (*id == SIM_NO_ID || count > COUNT_MAX) {
            status = fail_at(b, at, "that is too large");
        } else {
            status = read_more(b, &at, &more);
        }
    }
    if (status == 0) status = refuse_duplicate_ids(b, ids, count);
    if (status != 0) {
        free(ids);
        return -1;
    }
    b->plan->cluster.ids = b->plan->ids = ids;
    b->plan->cluster.count = (uint32_t)count;
    return 0;
}

static int read_attr(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    if (!plan->attributes) plan->attributes = calloc(plan->cluster.count, sizeof *plan->attributes);
    if (!plan->attributes) return out_of_memory(b);
    plan->cluster.attributes = plan->attributes;
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        uint64_t attribute = 0;
        if (read_node(b, &at, &node) != 0) return -1;
        if (!parse_char(&at, '=') || !parse_number(&at, &attribute))
            return fail_at(b, at, "expected ID=VALUE with a whole number as VALUE");
        plan->attributes[node - 1] = attribute;
        if (read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_leader(struct builder *b, const char *value)
{
    const char *at = value;
    if (read_node(b, &at, &b->plan->incumbent) != 0) return -1;
    return parse_end(&at) ? 0 : fail_at(b, at, "one leader, please");
}

static int read_membership(struct builder *b)
{
    if (once(b, "algorithm", read_algorithm) != 0) return -1;
    if (!b->plan->algorithm)
        return fail_at(b, NULL, "no algorithm is named; say which, for instance chang-roberts");
    const struct sim_setting *ids = last_of(b, "ids"), *nodes = last_of(b, "nodes");
    if (!ids && !nodes) return fail_at(b, NULL, "how many nodes? Give --nodes N or --ids A,B,…");
    /* The later of the two counts, so that the command line overrules a scenario. */
    const bool by_ids = !nodes || (ids && ids > nodes);
    if ((by_ids ? once(b, "ids", read_ids) : once(b, "nodes", read_nodes)) != 0) return -1;
    const uint32_t count_max = b->plan->algorithm->count_max;
    if (count_max && b->plan->cluster.count > count_max) {
        b->now = by_ids ? ids : nodes;
        return fail_at(b, NULL, "a message of %s can speak of at most %u members", b->plan->algorithm->name,
                       count_max);
    }
    return each(b, "attr", read_attr) != 0 || once(b, "leader", read_leader) != 0 ? -1 : 0;
}

/* ---- The algorithm's own options ---- */

static int read_choice(struct builder *b, const struct el_option *option, const char *value, uint64_t *number)
{
    const char *choices = option->kind == EL_FLAG ? "off|on" : option->choices;
    uint64_t index = 0;
    for (const char *at = choices;; index++) {
        const size_t length = strcspn(at, "|");
        if (strlen(value) == length && strncmp(at, value, length) == 0) {
            *number = index;
            return 0;
        }
        if (at[length] == '\0') break;
        at += length + 1;
    }
    return fail_at(b, value, "'%s' is one of %s", option->name, choices);
}

static int read_members(struct builder *b, struct el_value *made, const char *value)
{
    el_node *members = NULL;
    size_t count = 0;
    bool more = true;
    int status = 0;
    for (const char *at = value; status == 0 && more;) {
        el_node *member = one_more(&members, &count, sizeof *members);
        if (!member) {
            status = out_of_memory(b);
        } else if ((status = read_node(b, &at, member)) == 0) {
            status = read_more(b, &at, &more);
        }
    }
    if (status != 0) {
        free(members);
        return -1;
    }
    free((void *)(uintptr_t)made->members);
    made->members = members;
    made->member_count = (uint32_t)count;
    return 0;
}

static int apply_roles(struct builder *b, const struct el_value *candidates)
{
    struct sim_plan *plan = b->plan;
    if (!plan->roles) plan->roles = malloc(plan->cluster.count);
    if (!plan->roles) return out_of_memory(b);
    memset(plan->roles, EL_ORDINARY, plan->cluster.count);
    for (uint32_t i = 0; i < candidates->member_count; i++)
        plan->roles[candidates->members[i] - 1] = EL_CANDIDATE;
    plan->cluster.roles = plan->roles;
    return 0;
}

static int set_option(struct builder *b, const struct el_option *option, struct el_value *made,
                      const char *value)
{
    const char *at = value;
    switch (option->kind) {
    case EL_FLAG:
    case EL_CHOICE: return read_choice(b, option, value, &made->number);
    case EL_NUMBER: return read_whole(b, value, &made->number);
    case EL_DURATION:
        if (read_time(b, &at, &made->number) != 0) return -1;
        return parse_end(&at) ? 0 : fail_at(b, at, "expected a time and nothing behind it");
    case EL_MEMBERS: return read_members(b, made, value);
    case EL_ROLES: return read_members(b, made, value) != 0 ? -1 : apply_roles(b, made);
    }
    return 0;
}

static int read_set(struct builder *b, const char *value)
{
    const struct el_algorithm *algorithm = b->plan->algorithm;
    char names[160] = "";
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        const char *at = value;
        if (parse_text(&at, option->name) && parse_char(&at, '='))
            return set_option(b, option, &b->plan->options[i], at);
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", option->name);
    }
    if (algorithm->option_count == 0) return fail_at(b, value, "%s has no options of its own", algorithm->name);
    return fail_at(b, value, "%s has the options %s, set as KEY=VALUE", algorithm->name, names);
}

static int read_options(struct builder *b)
{
    struct sim_plan *plan = b->plan;
    plan->options = calloc(plan->algorithm->option_count + 1, sizeof *plan->options);
    if (!plan->options) return out_of_memory(b);
    plan->cluster.options = plan->options;
    for (uint32_t i = 0; i < plan->algorithm->option_count; i++) {
        const struct el_option *option = &plan->algorithm->options[i];
        if (option->preset && set_option(b, option, &plan->options[i], option->preset) != 0) return -1;
    }
    return each(b, "set", read_set);
}

/* ---- The network ---- */

static int read_delay(struct builder *b, const char *value)
{
    struct sim_delay made = {0};
    const char *at = value;
    bool real = false;
    const bool exponential = parse_text(&at, "exp:");
    if (!parse_time_range(&at, b->plan->unit, &made.min, &made.max, &real) || !parse_end(&at))
        return fail_at(b, value, "a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10");
    if (exponential) {
        made.shape = SIM_DELAY_EXPONENTIAL;
        made.mean = made.min;
        if (made.max == made.min) made.max = 10 * made.mean;
        made.min = 0;
    } else {
        made.shape = made.min == made.max ? SIM_DELAY_FIXED : SIM_DELAY_RANGE;
    }
    if (made.max < made.min || made.max < made.mean)
        return fail_at(b, value, "the range ends before it begins");
    if (made.max == 0) return fail_at(b, value, "a message must take some time");
    if (made.max > (sim_time)DELAY_MAX_S * 1000000000) return fail_at(b, value, "at most %d s", DELAY_MAX_S);
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
    return fail_at(b, value, "a probability is a number from 0 to 1, or a percentage such as 5%%");
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

static int read_only_time(struct builder *b, const char *value, sim_time *time)
{
    const char *at = value;
    if (read_time(b, &at, time) != 0) return -1;
    return parse_end(&at) ? 0 : fail_at(b, at, "expected a time and nothing behind it");
}

static int read_bound(struct builder *b, const char *value)
{
    if (read_only_time(b, value, &b->plan->cluster.transmit_max) != 0) return -1;
    return b->plan->cluster.transmit_max
               ? 0
               : fail_at(b, value, "nobody can believe in messages that take no time");
}

static int read_detect(struct builder *b, const char *value)
{
    return read_only_time(b, value, &b->plan->detect);
}

static int read_until(struct builder *b, const char *value)
{
    return read_only_time(b, value, &b->plan->until);
}

static int read_horizon(struct builder *b, const char *value)
{
    return read_only_time(b, value, &b->plan->horizon);
}

static int read_seed(struct builder *b, const char *value)
{
    return read_whole(b, value, &b->plan->seed);
}

static int read_clock(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    if (!plan->rates) {
        plan->rates = malloc((plan->cluster.count + 1) * sizeof *plan->rates);
        if (!plan->rates) return out_of_memory(b);
        for (uint32_t i = 0; i <= plan->cluster.count; i++) plan->rates[i] = 1000000;
    }
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        uint64_t rate = 0;
        if (read_node(b, &at, &node) != 0) return -1;
        if (!parse_char(&at, '=') || !parse_millionths(&at, &rate) || rate < 1000 || rate > 1000000000)
            return fail_at(b, at, "expected ID=RATE with a rate from 0.001 to 1000");
        plan->rates[node] = (uint32_t)rate;
        if (read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_miss(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_miss *miss = one_more(&b->plan->misses, &b->plan->miss_count, sizeof *miss);
        if (!miss) return out_of_memory(b);
        *miss = (struct sim_miss){0};
        if (read_node_or_all(b, &at, &miss->node) != 0) return -1;
        if (!parse_char(&at, ':')) return fail_at(b, at, "expected A:B, whose detector and whom it misses");
        if (read_node_or_all(b, &at, &miss->peer) != 0) return -1;
        if (read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

/* ---- What happens when ---- */

static struct sim_command *add_command(struct builder *b, enum sim_command_type type, sim_time at)
{
    struct sim_command *command = one_more(&b->plan->commands, &b->plan->command_count, sizeof *command);
    if (command) *command = (struct sim_command){.at = at, .type = type};
    return command;
}

static int read_initiator(struct builder *b, const char *value)
{
    const char *at = value;
    if (strcmp(value, "none") == 0) return 0;
    if (parse_text(&at, "all")) {
        sim_time when = 0;
        if (*at == '@' && read_at(b, &at, &when) != 0) return -1;
        if (!parse_end(&at)) return fail_at(b, at, "did not expect '%.20s' here", at);
        for (el_node node = 1; node <= b->plan->cluster.count; node++) {
            struct sim_command *command = add_command(b, SIM_DO_CAMPAIGN, when);
            if (!command) return out_of_memory(b);
            command->node = node;
        }
        return 0;
    }
    for (bool more = true; more;) {
        struct sim_command *command = add_command(b, SIM_DO_CAMPAIGN, 0);
        if (!command) return out_of_memory(b);
        if (read_node(b, &at, &command->node) != 0) return -1;
        if (*at == '@' && read_at(b, &at, &command->at) != 0) return -1;
        if (read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_timed_nodes(struct builder *b, const char *value, enum sim_command_type type)
{
    bool more = true;
    for (const char *at = value; more;) {
        struct sim_command *command = add_command(b, type, 0);
        if (!command) return out_of_memory(b);
        if (read_node(b, &at, &command->node) != 0 || read_at(b, &at, &command->at) != 0 ||
            read_more(b, &at, &more) != 0)
            return -1;
    }
    return 0;
}

static int read_crash(struct builder *b, const char *value)
{
    return read_timed_nodes(b, value, SIM_DO_CRASH);
}

static int read_restart(struct builder *b, const char *value)
{
    return read_timed_nodes(b, value, SIM_DO_RESTART);
}

static int read_pause(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        sim_time from = 0, until = 0;
        if (read_node(b, &at, &node) != 0 || read_span(b, &at, &from, &until) != 0) return -1;
        if (until == SIM_NEVER) return fail_at(b, at, "a pause has an end: ID@T..T; one without is a crash");
        struct sim_command *pause = add_command(b, SIM_DO_PAUSE, from);
        if (!pause) return out_of_memory(b);
        pause->node = node;
        pause->until = until;
        struct sim_command *resume = add_command(b, SIM_DO_RESUME, until);
        if (!resume) return out_of_memory(b);
        resume->node = node;
        if (read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int add_break(struct builder *b, struct sim_break made, sim_time from, sim_time until)
{
    struct sim_break *place = one_more(&b->plan->breaks, &b->plan->break_count, sizeof *place);
    if (!place) {
        free(made.side);
        return out_of_memory(b);
    }
    const size_t length = strcspn(b->now->value, "@");
    made.text = malloc(length + 1);
    if (made.text) {
        memcpy(made.text, b->now->value, length);
        made.text[length] = '\0';
    }
    *place = made;
    const uint32_t number = (uint32_t)b->plan->break_count - 1;
    struct sim_command *part = add_command(b, SIM_DO_PART, from);
    if (!made.text || !part) return out_of_memory(b);
    part->break_number = number;
    if (until == SIM_NEVER) return 0;
    struct sim_command *heal = add_command(b, SIM_DO_HEAL, until);
    if (!heal) return out_of_memory(b);
    heal->break_number = number;
    return 0;
}

static int read_partition(struct builder *b, const char *value)
{
    struct sim_break made = {.side = calloc(b->plan->cluster.count + 1, 1)};
    if (!made.side) return out_of_memory(b);
    const char *at = value;
    uint32_t side = 1;
    int status = 0;
    for (;;) {
        el_node node = EL_NOBODY;
        const char *start = at;
        if ((status = read_node(b, &at, &node)) != 0) break;
        if (made.side[node]) {
            status =
                fail_at(b, start, "%llu is on two sides", (unsigned long long)el_id(&b->plan->cluster, node));
            break;
        }
        made.side[node] = (uint8_t)side;
        skip_space(&at);
        if (parse_char(&at, ',')) continue;
        if (!parse_char(&at, '|')) break;
        if (++side > UINT8_MAX) {
            status = fail_at(b, at, "at most %d sides", UINT8_MAX);
            break;
        }
    }
    sim_time from = 0, until = 0;
    if (status == 0 && side < 2) status = fail_at(b, at, "a partition has sides: A,B|C,D");
    if (status == 0) status = read_span(b, &at, &from, &until);
    if (status == 0 && !parse_end(&at)) status = fail_at(b, at, "did not expect '%.20s' here", at);
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
    if (read_node(b, &at, &made.from) != 0) return -1;
    if (!parse_char(&at, '>')) return fail_at(b, at, "expected A>B: messages from A to B are lost");
    if (read_node(b, &at, &made.to) != 0 || read_span(b, &at, &from, &until) != 0) return -1;
    if (!parse_end(&at)) return fail_at(b, at, "did not expect '%.20s' here", at);
    if (made.from == made.to) return fail_at(b, value, "a node has no link to itself");
    return add_break(b, made, from, until);
}

static int read_false_suspect(struct builder *b, const char *value)
{
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY, peer = EL_NOBODY;
        sim_time from = 0, until = 0;
        if (read_node_or_all(b, &at, &node) != 0) return -1;
        if (!parse_char(&at, ':')) return fail_at(b, at, "expected A:B@T: A suspects B");
        if (read_node(b, &at, &peer) != 0 || read_span(b, &at, &from, &until) != 0) return -1;
        if (node == peer) return fail_at(b, value, "nobody suspects itself");
        for (int end = 0; end < (until == SIM_NEVER ? 1 : 2); end++) {
            struct sim_command *command =
                add_command(b, end ? SIM_DO_TRUST : SIM_DO_SUSPECT, end ? until : from);
            if (!command) return out_of_memory(b);
            command->node = node;
            command->peer = peer;
        }
        if (read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

/* Nobody was named, and nothing else would start an election: the first that is not dead by then does. */
static int add_default_initiator(struct builder *b)
{
    struct sim_plan *plan = b->plan;
    bool something_starts_it = false;
    for (size_t i = 0; i < plan->command_count; i++) {
        const enum sim_command_type type = plan->commands[i].type;
        if (type == SIM_DO_RESTART || type == SIM_DO_SUSPECT) something_starts_it = true;
        if (type == SIM_DO_CRASH && plan->detect != SIM_NEVER) something_starts_it = true;
    }
    if (last_of(b, "initiator") || (plan->incumbent && something_starts_it)) return 0;
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        bool dead = false;
        for (size_t i = 0; i < plan->command_count; i++)
            if (plan->commands[i].type == SIM_DO_CRASH && plan->commands[i].at == 0 &&
                plan->commands[i].node == node)
                dead = true;
        if (dead) continue;
        struct sim_command *command = add_command(b, SIM_DO_CAMPAIGN, 0);
        if (!command) return out_of_memory(b);
        command->node = node;
        return 0;
    }
    return 0;
}

static int compare_commands(const void *a, const void *b)
{
    const struct sim_command *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* By time, in the order given where times are equal. */
static void sort_commands(struct sim_plan *plan)
{
    for (size_t i = 0; i < plan->command_count; i++) plan->commands[i].order = i;
    if (plan->command_count)
        qsort(plan->commands, plan->command_count, sizeof *plan->commands, compare_commands);
}

/* Only the living die, and only the dead come back. */
static int refuse_impossible_deaths(struct builder *b)
{
    const struct sim_plan *plan = b->plan;
    bool *dead = calloc(plan->cluster.count + 1, sizeof *dead);
    if (!dead) return out_of_memory(b);
    int status = 0;
    for (size_t i = 0; i < plan->command_count && status == 0; i++) {
        const struct sim_command *command = &plan->commands[i];
        if (command->type != SIM_DO_CRASH && command->type != SIM_DO_RESTART) continue;
        const bool crash = command->type == SIM_DO_CRASH;
        if (dead[command->node] == crash) {
            char text[SIM_TIME_TEXT];
            status =
                fail_at(b, NULL, "%llu cannot %s at %s: it is %s then",
                        (unsigned long long)el_id(&plan->cluster, command->node), crash ? "crash" : "restart",
                        sim_time_text(plan, command->at, text), crash ? "dead already" : "not dead");
        }
        dead[command->node] = crash;
    }
    free(dead);
    return status;
}

/* ---- What is expected ---- */

static int expect_messages(struct builder *b, struct sim_expect *expect, const char *at)
{
    const struct el_algorithm *algorithm = b->plan->algorithm;
    for (uint32_t kind = 1; kind <= algorithm->kind_count; kind++) {
        const char *past = at;
        if (parse_text(&past, algorithm->kinds[kind]) && *past == ' ') {
            expect->kind = kind;
            at = past;
        }
    }
    skip_space(&at);
    expect->type = SIM_EXPECT_MESSAGES;
    if (parse_number(&at, &expect->value) && parse_end(&at)) return 0;
    return fail_at(b, at, "expected [KIND] N with a kind of message of %s", algorithm->name);
}

static int expect_violation(struct builder *b, struct sim_expect *expect, const char *at)
{
    expect->type = SIM_EXPECT_VIOLATION;
    for (uint32_t kind = 1; kind <= EL_ENDLESS; kind <<= 1)
        if (strcmp(el_violation_name((enum el_violation)kind), at) == 0) expect->kind = kind;
    if (expect->kind) return 0;
    return fail_at(b, at,
                   "a violation is two-leaders, disagreement, no-leader, dead-leader, not-best or endless");
}

static int read_expect(struct builder *b, const char *value)
{
    struct sim_expect *expect = one_more(&b->plan->expects, &b->plan->expect_count, sizeof *expect);
    if (!expect) return out_of_memory(b);
    *expect = (struct sim_expect){.text = value};
    const char *at = value;
    el_node node = EL_NOBODY;
    if (strcmp(value, "agreement") == 0) {
        expect->type = SIM_EXPECT_AGREEMENT;
    } else if (strcmp(value, "no agreement") == 0) {
        expect->type = SIM_EXPECT_NO_AGREEMENT;
    } else if (strcmp(value, "no violation") == 0) {
        expect->type = SIM_EXPECT_NO_VIOLATION;
    } else if (strcmp(value, "leader none") == 0) {
        expect->type = SIM_EXPECT_LEADER;
        expect->value = SIM_NO_ID;
    } else if (parse_text(&at, "leader ")) {
        expect->type = SIM_EXPECT_LEADER;
        if (read_node(b, &at, &node) != 0) return -1;
        expect->value = el_id(&b->plan->cluster, node);
    } else if (parse_text(&at, "messages ")) {
        return expect_messages(b, expect, at);
    } else if (parse_text(&at, "failed-hops ")) {
        expect->type = SIM_EXPECT_FAILED_HOPS;
        return read_whole(b, at, &expect->value);
    } else if (parse_text(&at, "turnaround ")) {
        expect->type = SIM_EXPECT_TURNAROUND;
        return read_only_time(b, at, &expect->value);
    } else if (parse_text(&at, "violation ")) {
        return expect_violation(b, expect, at);
    } else {
        return fail_at(
            b, value,
            "expect one of: leader ID|none, agreement, no agreement, messages [KIND] N, failed-hops N, "
            "turnaround T, violation KIND, no violation");
    }
    return 0;
}

/* ---- All together ---- */

static void choose_horizon(struct sim_plan *plan)
{
    const uint64_t n = plan->cluster.count;
    const uint64_t square = 10 * n * n + 200, line = 100 * n + 1000000;
    const uint64_t delays = n < 65536 && square < line ? square : line;
    const sim_time last = plan->command_count ? plan->commands[plan->command_count - 1].at : 0;
    const sim_time one =
        plan->delay.max > plan->cluster.transmit_max ? plan->delay.max : plan->cluster.transmit_max;
    plan->horizon = last + delays * one;
}

static int build(struct builder *b)
{
    struct sim_plan *plan = b->plan;
    static const struct {
        const char *key;
        reader *read;
        bool repeated;
    } readers[] = {
        {"loss", read_loss, false},
        {"dup", read_dup, false},
        {"reorder", read_reorder, false},
        {"bound", read_bound, false},
        {"detect", read_detect, false},
        {"until", read_until, false},
        {"horizon", read_horizon, false},
        {"seed", read_seed, false},
        {"clock", read_clock, true},
        {"miss", read_miss, true},
        {"crash", read_crash, true},
        {"restart", read_restart, true},
        {"pause", read_pause, true},
        {"partition", read_partition, true},
        {"cut", read_cut, true},
        {"false-suspect", read_false_suspect, true},
        {"initiator", read_initiator, true},
        {"expect", read_expect, true},
    };
    if (read_membership(b) != 0 || once(b, "delay", read_delay) != 0 || read_options(b) != 0) return -1;
    plan->cluster.transmit_max = plan->delay.max;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if ((readers[i].repeated ? each : once)(b, readers[i].key, readers[i].read) != 0) return -1;
    }
    if (add_default_initiator(b) != 0) return -1;
    sort_commands(plan);
    if (refuse_impossible_deaths(b) != 0) return -1;
    if (plan->horizon == SIM_NEVER) choose_horizon(plan);
    return 0;
}

int sim_plan_build(struct sim_plan *plan, const struct sim_settings *settings, struct sim_error *error)
{
    *plan = (struct sim_plan){
        .seed = 1,
        .unit = default_unit,
        .in_units = true,
        .delay = {SIM_DELAY_FIXED, default_unit, default_unit, 0},
        .detect = SIM_NEVER,
        .until = SIM_NEVER,
        .horizon = SIM_NEVER,
        .event_max = UINT64_C(2000000000),
    };
    struct builder b = {.plan = plan, .settings = settings, .error = error};
    if (build(&b) == 0) return 0;
    sim_plan_free(plan);
    return -1;
}

void sim_plan_free(struct sim_plan *plan)
{
    free(plan->ids);
    free(plan->attributes);
    free(plan->roles);
    for (uint32_t i = 0; plan->options && i < plan->algorithm->option_count; i++)
        free((void *)(uintptr_t)plan->options[i].members);
    free(plan->options);
    for (size_t i = 0; i < plan->break_count; i++) {
        free(plan->breaks[i].side);
        free(plan->breaks[i].text);
    }
    free(plan->breaks);
    free(plan->commands);
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
    const uint64_t unit = plan->in_units ? plan->unit : 1000000;
    const uint64_t thousandths = time / unit * 1000 + time % unit * 1000 / unit;
    const unsigned long long whole = thousandths / 1000, rest = thousandths % 1000;
    int length = snprintf(text, SIM_TIME_TEXT, "%llu.%03llu", whole, rest);
    while (text[length - 1] == '0') text[--length] = '\0';
    if (text[length - 1] == '.') text[--length] = '\0';
    if (!plan->in_units) snprintf(text + length, SIM_TIME_TEXT - (size_t)length, " ms");
    return text;
}
