/* The inequalities between the times of a group: those of its algorithm, and that `elector run` can kill its command in time. */
#define _GNU_SOURCE
#include <string.h>

#include "agent/config/internal.h"
#include "base/units.h"

enum { VALUES_MAX = 32 };

struct side {
    uint64_t sum;
    char names[120], values[160];
};

static uint64_t value_of(const struct config *config, const struct el_value *values, uint32_t of)
{
    if (of == EL_OF_ROUND_TRIP) return 2 * config->transmit_max + CONFIG_PROCESS_MAX;
    return of == EL_OF_TRANSMIT ? config->transmit_max : values[of].number;
}

/* Writes one side: "2 × beat + round trip" and "2 × 150ms + 21ms = 321ms". */
static void add_up(const struct config *config, const struct el_algorithm *algorithm,
                   const struct el_value *values, const struct el_part parts[3], struct side *side)
{
    char time[UNITS_TIME_TEXT];
    *side = (struct side){0};
    uint32_t count = 0;
    for (; count < 3 && parts[count].times; count++) {
        const struct el_part *part = &parts[count];
        const uint64_t once = value_of(config, values, part->of);
        const size_t named = strlen(side->names), valued = strlen(side->values);
        const char *plus = count ? " + " : "";
        char factor[16] = "";
        if (part->times > 1) snprintf(factor, sizeof factor, "%u × ", part->times);
        snprintf(side->names + named, sizeof side->names - named, "%s%s%s", plus, factor,
                 el_part_name(algorithm, part));
        snprintf(side->values + valued, sizeof side->values - valued, "%s%s%s", plus, factor,
                 units_write_time(once, time));
        side->sum += part->times * once;
    }
    const size_t valued = strlen(side->values);
    if (count > 1 || parts[0].times > 1)
        snprintf(side->values + valued, sizeof side->values - valued, " = %s",
                 units_write_time(side->sum, time));
}

/* The key that the user can change: the first option of a side, or `transmit`. */
static const char *lever(const struct el_algorithm *algorithm, const struct el_part parts[3])
{
    for (int i = 0; i < 3 && parts[i].times; i++)
        if (parts[i].of < algorithm->option_count) return algorithm->options[parts[i].of].name;
    return "transmit";
}

static void tell(struct config_inequality *one, const struct side *less, const struct side *more)
{
    one->holds = less->sum < more->sum;
    snprintf(one->names, sizeof one->names, "%s < %s", less->names, more->names);
    snprintf(one->values, sizeof one->values, "%s %s %s", less->values, one->holds ? "<" : "is not below",
             more->values);
}

/* `elector run` kills its command a tenth of what clients see of the lease before that ends, and they see a margin less
 * (supervise/stop_times.h). What is left is for the kill. */
static void kill_in_time(const struct el_algorithm *quorum, const struct el_value *values,
                         struct config_inequality *one)
{
    uint64_t lease = 0, margin = 0;
    char kill[UNITS_TIME_TEXT], first[UNITS_TIME_TEXT], second[UNITS_TIME_TEXT], sum[UNITS_TIME_TEXT];
    struct side less = {.sum = CONFIG_KILL_MAX, .names = "kill"},
                more = {.names = "margin + (lease - margin) / 10"};
    for (uint32_t i = 0; i < quorum->option_count; i++) {
        if (strcmp(quorum->options[i].name, "lease") == 0) lease = values[i].number;
        if (strcmp(quorum->options[i].name, "margin") == 0) margin = values[i].number;
    }
    const uint64_t tenth = lease > margin ? (lease - margin) / 10 : 0;
    more.sum = margin + tenth;
    snprintf(less.values, sizeof less.values, "%s", units_write_time(less.sum, kill));
    snprintf(more.values, sizeof more.values, "%s + %s = %s", units_write_time(margin, first),
             units_write_time(tenth, second), units_write_time(more.sum, sum));
    tell(one, &less, &more);
    snprintf(one->why, sizeof one->why,
             "a command of `elector run` could run on while another host leads; raise margin or lease");
}

bool config_inequality(const struct config *config, const struct config_group *section, uint32_t number,
                       struct config_inequality *one)
{
    const struct el_algorithm *algorithm =
        section && section->algorithm ? section->algorithm : el_algorithm_named("quorum");
    struct el_value values[VALUES_MAX];
    struct side less, more;
    const bool is_quorum = strcmp(algorithm->name, "quorum") == 0;
    if (number >= algorithm->inequality_count + is_quorum || algorithm->option_count > VALUES_MAX) return false;
    *one = (struct config_inequality){.algorithm = algorithm->name};
    config_values(config->profile, section, algorithm, values);
    if (number == algorithm->inequality_count) {
        kill_in_time(algorithm, values, one);
        return true;
    }
    const struct el_inequality *rule = &algorithm->inequalities[number];
    add_up(config, algorithm, values, rule->less, &less);
    add_up(config, algorithm, values, rule->more, &more);
    tell(one, &less, &more);
    snprintf(one->why, sizeof one->why, "%s; raise %s or lower %s", rule->why, lever(algorithm, rule->more),
             lever(algorithm, rule->less));
    return true;
}
