/* See settings.h. */
#include "agent/settings.h"

#include <stdlib.h>
#include <string.h>

#include "core/machine.h"

bool settings_duration(const char *text, el_duration *duration)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", UINT64_C(60000000000)}};
    uint64_t whole = 0, part = 0, scale = 1;
    const char *at = text;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (whole > 10000000000) return false;
        whole = whole * 10 + (uint64_t)(*at - '0');
    }
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && scale < 1000000; at++) {
            part = part * 10 + (uint64_t)(*at - '0');
            scale *= 10;
        }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(at, units[i].name) != 0) continue;
        if (whole > UINT64_C(1000000000000000000) / units[i].ns) return false;
        *duration = whole * units[i].ns + part * units[i].ns / scale;
        return true;
    }
    return false;
}

static bool read_choice(const char *choices, const char *value, uint64_t *number)
{
    uint64_t index = 0;
    for (const char *at = choices;; index++) {
        const size_t length = strcspn(at, "|");
        if (strlen(value) == length && strncmp(at, value, length) == 0) {
            *number = index;
            return true;
        }
        if (at[length] == '\0') return false;
        at += length + 1;
    }
}

static bool read_number(const char *value, uint64_t *number)
{
    char *end = NULL;
    if (*value < '0' || *value > '9') return false;
    *number = strtoull(value, &end, 10);
    return *end == '\0' && *number < EL_EPOCH_MAX;
}

static bool read_value(const struct el_option *option, const char *text, struct el_value *value)
{
    switch (option->kind) {
    case EL_FLAG: return read_choice("off|on", text, &value->number);
    case EL_CHOICE: return read_choice(option->choices, text, &value->number);
    case EL_NUMBER: return read_number(text, &value->number);
    case EL_DURATION: return settings_duration(text, &value->number);
    case EL_MEMBERS:
    case EL_ROLES:
    case EL_OBSERVERS: break; /* roles are written beside the members */
    }
    return false;
}

static const char *kind_of(const struct el_option *option)
{
    switch (option->kind) {
    case EL_FLAG: return "on or off";
    case EL_CHOICE: return option->choices;
    case EL_NUMBER: return "a whole number";
    case EL_DURATION: return "a time, such as 150ms or 2s";
    case EL_MEMBERS:
    case EL_ROLES:
    case EL_OBSERVERS: break;
    }
    return "not to be set here: a member's role is written beside the member";
}

static bool set(const struct el_algorithm *algorithm, const char *name, const char *text,
                struct el_value *values, char *reason, size_t size)
{
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        if (strcmp(algorithm->options[i].name, name) != 0) continue;
        if (read_value(&algorithm->options[i], text, &values[i])) return true;
        snprintf(reason, size, "%s = %s: %s is %s", name, text, name, kind_of(&algorithm->options[i]));
        return false;
    }
    snprintf(reason, size, "%s has no option '%s'; `elector algorithms %s` lists them", algorithm->name, name,
             algorithm->name);
    return false;
}

static uint64_t sum_of(const struct config *config, const struct el_value *values, const struct el_part *parts)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t one = 0;
        if (parts[i].times == 0) continue;
        if (parts[i].of == EL_OF_ROUND_TRIP)
            one = 2 * config->transmit_max;
        else if (parts[i].of == EL_OF_TRANSMIT)
            one = config->transmit_max;
        else
            one = values[parts[i].of].number;
        sum += parts[i].times * one;
    }
    return sum;
}

static void write_parts(const struct el_algorithm *algorithm, const struct el_part *parts, char *text,
                        size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < 3 && used < size; i++) {
        if (parts[i].times == 0) continue;
        const char *plus = used ? " + " : "", *name = el_part_name(algorithm, &parts[i]);
        if (parts[i].times == 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", plus, name);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%u x %s", plus, parts[i].times, name);
    }
}

static bool fits_together(const struct config *config, const struct el_algorithm *algorithm,
                          const struct el_value *values, char *text, size_t size)
{
    for (uint32_t i = 0; i < algorithm->inequality_count; i++) {
        const struct el_inequality *rule = &algorithm->inequalities[i];
        char less[96], more[96];
        if (sum_of(config, values, rule->less) < sum_of(config, values, rule->more)) continue;
        write_parts(algorithm, rule->less, less, sizeof less);
        write_parts(algorithm, rule->more, more, sizeof more);
        snprintf(text, size, "%s must be less than %s, or %s", less, more, rule->why);
        return false;
    }
    return true;
}

bool settings_read(const struct config *config, const struct config_group *group,
                   const struct el_algorithm *algorithm, struct el_value values[SETTINGS_MAX], char *text,
                   size_t size)
{
    el_require(algorithm->option_count <= SETTINGS_MAX);
    memset(values, 0, SETTINGS_MAX * sizeof *values);
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (algorithm->options[i].preset &&
            !read_value(&algorithm->options[i], algorithm->options[i].preset, &values[i])) {
            snprintf(text, size, "%s: its own preset of %s cannot be read", algorithm->name,
                     algorithm->options[i].name);
            return false;
        }
    for (uint32_t i = 0; group && i < group->option_count; i++)
        if (!set(algorithm, group->options[i][0], group->options[i][1], values, text, size)) return false;
    return fits_together(config, algorithm, values, text, size);
}

uint64_t settings_number(const struct el_algorithm *algorithm, const struct el_value *values, const char *name,
                         uint64_t otherwise)
{
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (strcmp(algorithm->options[i].name, name) == 0) return values[i].number;
    return otherwise;
}
