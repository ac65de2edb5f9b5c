/* Options of the algorithm and of the detector, and the inequalities between their durations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/plan/builder.h"

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
    return build_fail_at(b, value, "'%s' is one of %s", option->name, choices);
}

/* Only an election has options that are lists. */
static int read_members(struct builder *b, const struct el_option *option, struct el_value *made,
                        const char *value)
{
    el_node *members = NULL;
    size_t count = 0;
    bool more = true;
    int status = 0;
    for (const char *at = value; status == 0 && more;) {
        el_node *member = build_one_more(&members, &count, sizeof *members);
        if (!member) {
            status = build_out_of_memory(b);
        } else if ((status = build_read_node(b, &at, member)) == 0) {
            status = build_read_more(b, &at, &more);
        }
    }
    if (status == 0 && option->most && count > option->most)
        status = build_fail_at(b, value, "'%s' names at most %u members", option->name, option->most);
    if (status != 0) {
        free(members);
        return -1;
    }
    el_node **place = &b->plan->member_lists[made - b->plan->options];
    free(*place);
    made->members = *place = members;
    made->member_count = (uint32_t)count;
    return 0;
}

static int apply_roles(struct builder *b, const struct el_value *candidates)
{
    struct sim_plan *plan = b->plan;
    if (!plan->roles) plan->roles = malloc(plan->cluster.count);
    if (!plan->roles) return build_out_of_memory(b);
    memset(plan->roles, EL_ORDINARY, plan->cluster.count);
    for (uint32_t i = 0; i < candidates->member_count; i++)
        plan->roles[candidates->members[i] - 1] = EL_CANDIDATE;
    plan->cluster.roles = plan->roles;
    return 0;
}

static int apply_role(struct builder *b, const struct el_value *members, enum el_role_kind role)
{
    struct sim_plan *plan = b->plan;
    if (!plan->roles) plan->roles = calloc(plan->cluster.count, 1); /* all candidates */
    if (!plan->roles) return build_out_of_memory(b);
    for (uint32_t i = 0; i < members->member_count; i++) plan->roles[members->members[i] - 1] = (uint8_t)role;
    plan->cluster.roles = plan->roles;
    return 0;
}

/* The last member is the store, and a leader only by mistake. */
static int apply_store(struct builder *b)
{
    struct sim_plan *plan = b->plan;
    if (!plan->roles) plan->roles = calloc(plan->cluster.count, 1); /* all candidates */
    if (!plan->roles) return build_out_of_memory(b);
    plan->roles[plan->cluster.count - 1] = EL_STORE;
    plan->cluster.roles = plan->roles;
    if (plan->incumbent != plan->cluster.count) return 0;
    b->now = build_last_of(b, "leader");
    return build_fail_at(b, NULL, "the last member is the store of %s, and never leads", plan->algorithm->name);
}

static int set_option(struct builder *b, const struct el_option *option, struct el_value *made,
                      const char *value)
{
    const char *at = value;
    switch (option->kind) {
    case EL_FLAG:
    case EL_CHOICE: return read_choice(b, option, value, &made->number);
    case EL_NUMBER: return build_read_whole(b, value, &made->number);
    case EL_DURATION:
        if (build_read_time(b, &at, &made->number) != 0) return -1;
        if (made->number == 0) return build_fail_at(b, value, "\'%s\' is a time above 0", option->name);
        return parse_end(&at) ? 0 : build_fail_at(b, at, "expected a time and nothing behind it");
    case EL_MEMBERS: return read_members(b, option, made, value);
    case EL_ROLES: return read_members(b, option, made, value) != 0 ? -1 : apply_roles(b, made);
    case EL_OBSERVERS: return read_members(b, option, made, value) != 0 ? -1 : apply_role(b, made, EL_OBSERVER);
    case EL_VOTELESS_LIST:
        return read_members(b, option, made, value) != 0 ? -1 : apply_role(b, made, EL_VOTELESS);
    }
    return 0;
}

/* Reads "KEY=VALUE", where KEY is an option of this algorithm. */
static int read_key_value(struct builder *b, const struct el_algorithm *algorithm, struct el_value *options,
                          const char *value)
{
    char names[160] = "";
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        const char *at = value;
        if (parse_text(&at, option->name) && parse_char(&at, '='))
            return set_option(b, option, &options[i], at);
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", option->name);
    }
    if (algorithm->option_count == 0)
        return build_fail_at(b, value, "%s has no options of its own", algorithm->name);
    return build_fail_at(b, value, "%s has the options %s, set as KEY=VALUE", algorithm->name, names);
}

static int read_set(struct builder *b, const char *value)
{
    return read_key_value(b, b->plan->algorithm, b->plan->options, value);
}

static int preset(struct builder *b, const struct el_algorithm *algorithm, struct el_value *options)
{
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        if (option->preset && set_option(b, option, &options[i], option->preset) != 0) return -1;
    }
    return 0;
}

int build_options(struct builder *b)
{
    struct sim_plan *plan = b->plan;
    plan->options = calloc(plan->algorithm->option_count + 1, sizeof *plan->options);
    plan->member_lists = calloc(plan->algorithm->option_count + 1, sizeof *plan->member_lists);
    if (!plan->options || !plan->member_lists) return build_out_of_memory(b);
    plan->cluster.options = plan->options;
    if (preset(b, plan->algorithm, plan->options) != 0 || build_each(b, "set", read_set) != 0) return -1;
    return plan->algorithm->store ? apply_store(b) : 0;
}

/* ---- A detector machine ---- */

static int unknown_detector(struct builder *b, const char *value)
{
    char names[120] = "";
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_detectors(&count);
    for (uint32_t i = 0; i < count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", all[i]->name);
    }
    return build_fail_at(b, value, "there is no detector of that name; there are %s", names);
}

/* One piece of "8" or "interval=50ms": a value alone is that of the first option. */
static int read_detector_option(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    if (strchr(value, '=') || plan->detector->option_count == 0)
        return read_key_value(b, plan->detector, plan->detector_options, value);
    return set_option(b, &plan->detector->options[0], &plan->detector_options[0], value);
}

static int set_detector_options(struct builder *b, char *options)
{
    for (char *piece = options; piece;) {
        char *next = strchr(piece, ',');
        if (next) *next++ = '\0';
        if (read_detector_option(b, piece) != 0) return -1;
        piece = next;
    }
    return 0;
}

/* "NAME", "NAME:VALUE", "NAME:KEY=VALUE,KEY=VALUE", in a copy that may be cut up */
static int read_detector_from(struct builder *b, char *text)
{
    struct sim_plan *plan = b->plan;
    char *options = strchr(text, ':');
    if (options) *options++ = '\0';
    plan->detector = el_detector_named(text);
    if (!plan->detector) return unknown_detector(b, text);
    const uint32_t count_max = plan->detector->count_max;
    if (count_max && plan->cluster.count > count_max)
        return build_fail_at(b, text, "%s takes at most %u members", text, count_max);
    plan->detector_options = calloc(plan->detector->option_count + 1, sizeof *plan->detector_options);
    if (!plan->detector_options) return build_out_of_memory(b);
    if (preset(b, plan->detector, plan->detector_options) != 0) return -1;
    if (set_detector_options(b, options) != 0) return -1;
    plan->detector_cluster = plan->cluster;
    plan->detector_cluster.options = plan->detector_options;
    return 0;
}

static int read_detector(struct builder *b, const char *value)
{
    char text[200];
    if (snprintf(text, sizeof text, "%s", value) >= (int)sizeof text)
        return build_fail_at(b, value, "the detector's text is too long");
    const struct sim_setting *typed = b->now;
    struct sim_setting cut = *typed; /* so that errors point into the parts */
    cut.value = text;
    b->now = &cut;
    b->whole = value;
    const int status = read_detector_from(b, text);
    b->now = typed;
    b->whole = NULL;
    return status;
}

int build_detector(struct builder *b)
{
    return build_once(b, "detector", read_detector);
}

/* ---- Times that must fit together ---- */

static uint64_t value_of(const struct el_cluster *cluster, const struct el_part *part)
{
    if (part->of == EL_OF_ROUND_TRIP) return part->times * (2 * cluster->transmit_max + cluster->process_max);
    if (part->of == EL_OF_TRANSMIT) return part->times * cluster->transmit_max;
    return part->times * cluster->options[part->of].number;
}

static uint64_t sum_of(const struct el_cluster *cluster, const struct el_part parts[3])
{
    uint64_t sum = 0;
    for (int i = 0; i < 3 && parts[i].times; i++) sum += value_of(cluster, &parts[i]);
    return sum;
}

/* "2 heartbeat + round trip" and "2 * 50 ms + 2 ms = 102 ms" */
static void write_side(const struct builder *b, const struct el_algorithm *algorithm,
                       const struct el_cluster *cluster, const struct el_part parts[3], char names[100],
                       char values[100])
{
    size_t named = 0, valued = 0;
    char time[SIM_TIME_TEXT];
    names[0] = values[0] = '\0';
    int count = 0;
    for (; count < 3 && parts[count].times; count++) {
        const struct el_part *part = &parts[count], once = {1, part->of};
        const char *plus = count ? " + " : "";
        sim_time_text(b->plan, value_of(cluster, &once), time);
        char factor[16] = "";
        if (part->times > 1) snprintf(factor, sizeof factor, "%u × ", part->times);
        named +=
            (size_t)snprintf(names + named, 100 - named, "%s%s%s", plus, factor, el_part_name(algorithm, part));
        valued += (size_t)snprintf(values + valued, 100 - valued, "%s%s%s", plus, factor, time);
        if (named >= 100 || valued >= 100) return;
    }
    if (count > 1 || parts[0].times > 1)
        snprintf(values + valued, 100 - valued, " = %s", sim_time_text(b->plan, sum_of(cluster, parts), time));
}

/* The setting that the user can change: the first option of a side, or the bound on message delays. */
static const char *lever(const struct el_algorithm *algorithm, const struct el_part parts[3])
{
    for (int i = 0; i < 3 && parts[i].times; i++)
        if (parts[i].of < algorithm->option_count) return algorithm->options[parts[i].of].name;
    return "bound";
}

static int check_times(struct builder *b, const struct el_algorithm *algorithm,
                       const struct el_cluster *cluster)
{
    for (uint32_t i = 0; algorithm && i < algorithm->inequality_count; i++) {
        const struct el_inequality *rule = &algorithm->inequalities[i];
        if (sum_of(cluster, rule->less) < sum_of(cluster, rule->more)) continue;
        char less[2][100], more[2][100];
        write_side(b, algorithm, cluster, rule->less, less[0], less[1]);
        write_side(b, algorithm, cluster, rule->more, more[0], more[1]);
        return build_fail_at(b, NULL, "%s needs %s < %s, but %s is not below %s%s: %s; raise %s or lower %s",
                             algorithm->name, less[0], more[0], less[1], more[1],
                             b->plan->in_units ? " (in message delays)" : "", rule->why,
                             lever(algorithm, rule->more), lever(algorithm, rule->less));
    }
    return 0;
}

int build_check_times(struct builder *b)
{
    if (check_times(b, b->plan->algorithm, &b->plan->cluster) != 0) return -1;
    return check_times(b, b->plan->detector, &b->plan->detector_cluster);
}
