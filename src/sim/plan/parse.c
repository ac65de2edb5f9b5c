/* See parse.h. Numbers and units are read by base/units. */
#include "sim/plan/parse.h"

#include <string.h>

#include "base/units.h"

void skip_space(const char **at)
{
    while (**at == ' ' || **at == '\t') ++*at;
}

bool parse_end(const char **at)
{
    skip_space(at);
    return **at == '\0';
}

bool parse_char(const char **at, char expected)
{
    if (**at != expected) return false;
    ++*at;
    return true;
}

bool parse_text(const char **at, const char *expected)
{
    const size_t length = strlen(expected);
    if (strncmp(*at, expected, length) != 0) return false;
    *at += length;
    return true;
}

bool parse_millionths(const char **at, uint64_t *millionths)
{
    return units_read_decimal(at, 1000000, millionths, NULL);
}

bool parse_chance(const char **at, sim_chance *chance)
{
    const char *p = *at;
    uint64_t value = 0;
    if (!units_read_decimal(&p, SIM_CERTAIN, &value, NULL)) return false;
    if (parse_char(&p, '%')) value /= 100;
    if (value > SIM_CERTAIN) return false;
    *chance = value;
    *at = p;
    return true;
}

/* Reads the unit after a number, in ns, and moves past it. False: the unit is the simulation's own, T or
 * none. */
static bool read_unit(const char **at, sim_time unit, uint64_t *scale)
{
    if (units_read_unit(at, scale)) return true;
    parse_char(at, 'T');
    *scale = unit;
    return false;
}

bool parse_time(const char **at, sim_time unit, sim_time *time, bool *real)
{
    const char *suffix = *at, *number = *at;
    uint64_t scale = 0;
    if (!units_read_decimal(&suffix, 1, time, NULL)) return false;
    const bool is_real = read_unit(&suffix, unit, &scale);
    if (!units_read_decimal(&number, scale, time, NULL) || *time > SIM_TIME_MAX) return false;
    if (real) *real = is_real;
    *at = suffix;
    return true;
}

bool parse_time_range(const char **at, sim_time unit, sim_time *min, sim_time *max, bool *real)
{
    const char *first = *at, *p = *at;
    if (!parse_time(&p, unit, min, real)) return false;
    *max = *min;
    if (parse_text(&p, "..")) {
        const char *second = p;
        const bool first_real = *real;
        uint64_t scale = 0, ignored = 0;
        if (!parse_time(&p, unit, max, real)) return false;
        if (*real && !first_real) { /* in "5..15ms" the unit applies to both numbers */
            units_read_decimal(&second, 1, &ignored, NULL);
            read_unit(&second, unit, &scale);
            if (!units_read_decimal(&first, scale, min, NULL)) return false;
        }
        *real = *real || first_real;
    }
    *at = p;
    return true;
}
