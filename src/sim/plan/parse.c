/* Reading numbers and times as people type them: decimals are exact, nothing overflows silently. */
#include "sim/plan/parse.h"

#include <string.h>

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool parse_number(const char **at, uint64_t *number)
{
    const char *p = *at;
    uint64_t value = 0;
    if (!is_digit(*p)) return false;
    for (; is_digit(*p); p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *number = value;
    *at = p;
    return true;
}

/* A decimal times `scale`, rounded down. As many digits behind the point count as cannot overflow. */
static bool parse_decimal(const char **at, uint64_t scale, uint64_t *scaled)
{
    const char *p = *at;
    uint64_t whole = 0, fraction = 0, power = 1;
    if (*p != '.' && !parse_number(&p, &whole)) return false;
    if (p[0] == '.' && is_digit(p[1])) {
        for (p++; is_digit(*p); p++)
            if (power <= UINT64_MAX / scale / 10) fraction = fraction * 10 + (uint64_t)(*p - '0'), power *= 10;
    } else if (*p == '.' && p == *at) {
        return false;
    }
    if (whole > UINT64_MAX / 2 / scale) return false;
    *scaled = whole * scale + fraction * scale / power;
    *at = p;
    return true;
}

bool parse_millionths(const char **at, uint64_t *millionths)
{
    return parse_decimal(at, 1000000, millionths);
}

bool parse_chance(const char **at, sim_chance *chance)
{
    const char *p = *at;
    uint64_t value = 0;
    if (!parse_decimal(&p, SIM_CERTAIN, &value)) return false;
    if (parse_char(&p, '%')) value /= 100;
    if (value > SIM_CERTAIN) return false;
    *chance = value;
    *at = p;
    return true;
}

/* The unit behind a number: how many nanoseconds it stands for. Moves past it. */
static bool read_unit(const char **at, sim_time unit, uint64_t *scale)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!parse_text(at, units[i].name)) continue;
        *scale = units[i].ns;
        return true;
    }
    parse_char(at, 'T');
    *scale = unit;
    return false;
}

bool parse_time(const char **at, sim_time unit, sim_time *time, bool *real)
{
    const char *suffix = *at, *number = *at;
    uint64_t scale = 0;
    if (!parse_decimal(&suffix, 1, time)) return false;
    const bool is_real = read_unit(&suffix, unit, &scale);
    if (!parse_decimal(&number, scale, time) || *time > SIM_TIME_MAX) return false;
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
        if (*real && !first_real) { /* in "5..15ms" the unit stands for both */
            parse_decimal(&second, 1, &ignored);
            read_unit(&second, unit, &scale);
            if (!parse_decimal(&first, scale, min)) return false;
        }
        *real = *real || first_real;
    }
    *at = p;
    return true;
}
