/* Groups: which section applies, and whether an algorithm's options and times are consistent. */
#include <string.h>

#include "agent/config/internal.h"
#include "base/closest.h"
#include "base/units.h"

/* ---- Which section applies ---- */

size_t config_fit(const char *pattern, const char *name)
{
    const size_t length = strlen(pattern);
    if (strcmp(pattern, name) == 0) return CONFIG_NAME_MAX + 2;
    if (length == 0 || pattern[length - 1] != '*' || strncmp(pattern, name, length - 1) != 0) return 0;
    return length;
}

const struct config_group *config_group_of(const struct config *config, const char *group)
{
    const struct config_group *best = NULL;
    size_t best_fit = 0;
    for (uint32_t i = 0; i < config->group_count; i++) {
        const size_t fits = config_fit(config->groups[i].name, group);
        if (fits <= best_fit) continue;
        best = &config->groups[i];
        best_fit = fits;
    }
    return best;
}

/* ---- Options ---- */

static const struct el_option *option_named(const struct el_algorithm *algorithm, const char *name)
{
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (strcmp(algorithm->options[i].name, name) == 0) return &algorithm->options[i];
    return NULL;
}

void config_values(const struct config_profile *profile, const struct config_group *section,
                   const struct el_algorithm *algorithm, struct el_value *values)
{
    char ignored[200];
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        const char *preset = config_default(profile, algorithm, option);
        values[i] = (struct el_value){0};
        if (preset) units_option(option, preset, &values[i].number, ignored, sizeof ignored);
    }
    for (uint32_t i = 0; section && i < section->option_count; i++) {
        const struct el_option *option = option_named(algorithm, section->options[i][0]);
        uint64_t number = 0;
        if (option && units_option(option, section->options[i][1], &number, ignored, sizeof ignored))
            values[option - algorithm->options].number = number;
    }
}

static bool refuse_option(struct config_reading *r, uint32_t line, const struct el_algorithm *algorithm,
                          const char *name)
{
    static const char *const others[] = {"algorithm", "allow", "allow-read", "allow-control"};
    char names[240] = "algorithm, allow, allow-read, allow-control";
    struct closest closest = closest_to(name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        closest_offer(&closest, others[i], strlen(others[i]));
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", algorithm->options[i].name);
        closest_offer(&closest, algorithm->options[i].name, strlen(algorithm->options[i].name));
    }
    return config_fail(r, line, "%s has no option '%s'%s%s%s a group of it has %s", algorithm->name, name,
                       closest.best[0] ? "; did you mean '" : ";", closest.best, closest.best[0] ? "'?" : "",
                       names);
}

static bool check_options(struct config_reading *r, uint32_t index)
{
    const struct config_group *section = &r->config->groups[index];
    for (uint32_t i = 0; i < section->option_count; i++) {
        const struct el_option *option = option_named(section->algorithm, section->options[i][0]);
        const uint32_t line = r->option_lines[index][i];
        uint64_t number = 0;
        char reason[200];
        if (!option) return refuse_option(r, line, section->algorithm, section->options[i][0]);
        if (!units_option(option, section->options[i][1], &number, reason, sizeof reason))
            return config_fail(r, line, "%s", reason);
    }
    return true;
}

/* ---- Inequalities between times ---- */

static bool check_times(struct config_reading *r, uint32_t line, const struct config_group *section)
{
    struct config_inequality one;
    for (uint32_t i = 0; config_inequality(r->config, section, i, &one); i++)
        if (!one.holds)
            return config_fail(r, line, "%s needs %s, but %s: %s", one.algorithm, one.names, one.values,
                               one.why);
    return true;
}

/* ---- Members ---- */

static bool has_option(const struct el_algorithm *algorithm, enum el_option_kind kind)
{
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (algorithm->options[i].kind == kind) return true;
    return false;
}

static bool check_roles(struct config_reading *r, uint32_t line, const struct el_algorithm *algorithm)
{
    const struct config *config = r->config;
    if (algorithm->store)
        return config_fail(r, line,
                           "%s elects on a store, and agents have none; choose quorum here, and use %s in "
                           "`elector sim` and `elector check`",
                           algorithm->name, algorithm->name);
    if (algorithm->count_max && config->member_count > algorithm->count_max)
        return config_fail(r, line,
                           "%s works with at most %u members, and there are %u; choose another algorithm",
                           algorithm->name, algorithm->count_max, config->member_count);
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *member = &config->members[i];
        if (member->role == CONFIG_CANDIDATE && !has_option(algorithm, EL_VOTELESS_LIST))
            return config_fail(
                r, line,
                "%s supports no candidates without a vote, and '%s' is one; choose quorum, or make it a voter",
                algorithm->name, member->name);
        if (member->role == CONFIG_OBSERVER && !has_option(algorithm, EL_OBSERVERS))
            return config_fail(r, line,
                               "%s supports no observers, and '%s' is one; choose quorum, or make it a voter",
                               algorithm->name, member->name);
        if (member->role == CONFIG_WITNESS && algorithm->roleless)
            return config_fail(r, line,
                               "%s supports no witnesses, and '%s' is one; choose quorum, or make it a voter",
                               algorithm->name, member->name);
    }
    return true;
}

bool config_check_groups(struct config_reading *r)
{
    const struct config *config = r->config;
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct config_group *section = &config->groups[i];
        if (!check_options(r, i) || !check_roles(r, r->group_lines[i], section->algorithm) ||
            !check_times(r, r->group_lines[i], section))
            return false;
    }
    const struct el_algorithm *quorum = el_algorithm_named("quorum");
    if (config_group_of(config, "*")) return true; /* [group *] was checked above */
    return check_roles(r, 0, quorum) && check_times(r, r->transmit_line, NULL);
}
