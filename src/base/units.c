/* Reads numbers and times that people type: decimals are exact, units are required, overflow is an error. */
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_digits(const char **at, uint64_t base, uint64_t *number)
{
    const char *p = *at;
    uint64_t value = 0;
    for (; is_digit(*p) && (uint64_t)(*p - '0') < base; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    if (p == *at) return false;
    *number = value;
    *at = p;
    return true;
}

bool units_read_number(const char **at, uint64_t *number)
{
    return read_digits(at, 10, number);
}

/* As many digits behind the point count as cannot overflow. */
bool units_read_decimal(const char **at, uint64_t scale, uint64_t *scaled, bool *exact)
{
    const char *p = *at;
    uint64_t whole = 0, fraction = 0, power = 1;
    bool is_cut = false;
    if (*p != '.' && !units_read_number(&p, &whole)) return false;
    if (p == *at && !is_digit(p[1])) return false;
    if (*p == '.' && is_digit(p[1])) {
        for (p++; is_digit(*p); p++) {
            if (power <= UINT64_MAX / scale / 10)
                fraction = fraction * 10 + (uint64_t)(*p - '0'), power *= 10;
            else if (*p != '0')
                is_cut = true;
        }
    }
    if (whole > UINT64_MAX / 2 / scale) return false;
    *scaled = whole * scale + fraction * scale / power;
    if (exact) *exact = !is_cut && fraction * scale % power == 0;
    *at = p;
    return true;
}

bool units_read_unit(const char **at, uint64_t *ns)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i].name);
        if (strncmp(*at, units[i].name, length) != 0) continue;
        *ns = units[i].ns;
        *at += length;
        return true;
    }
    return false;
}

/* ---- The whole text ---- */

bool units_number(const char *text, uint64_t most, uint64_t *number)
{
    return units_read_number(&text, number) && *text == '\0' && *number <= most;
}

bool units_octal(const char *text, uint64_t most, uint64_t *number)
{
    return read_digits(&text, 8, number) && *text == '\0' && *number <= most;
}

bool units_size(const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB"};
    uint64_t value;
    if (!units_read_number(&text, &value)) return false;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned shift = 10 * i;
        if (strcmp(text, names[i]) != 0) continue;
        if (value > most >> shift || value << shift < least) return false;
        *bytes = value << shift;
        return true;
    }
    return false;
}

/* Up to `end`, with a digit first, and nothing finer than 1 / `scale`. */
static bool read_exactly(const char *text, const char *end, uint64_t scale, uint64_t *scaled)
{
    bool exact = false;
    return is_digit(*text) && units_read_decimal(&text, scale, scaled, &exact) && exact && text == end;
}

bool units_time(const char *text, el_duration *time)
{
    const char *unit = text + strspn(text, "0123456789."), *end = unit;
    uint64_t ns;
    return units_read_unit(&end, &ns) && *end == '\0' && read_exactly(text, unit, ns, time) && *time > 0 &&
           *time <= UNITS_TIME_MAX;
}

bool units_millionths(const char *text, uint32_t most, uint32_t *millionths)
{
    uint64_t value = 0;
    if (!read_exactly(text, text + strlen(text), 1000000, &value) || value > most) return false;
    *millionths = (uint32_t)value;
    return true;
}

bool units_switch(const char *text, bool *on)
{
    *on = strcmp(text, "on") == 0;
    return *on || strcmp(text, "off") == 0;
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

bool units_option(const struct el_option *option, const char *value, uint64_t *number, char *reason,
                  size_t size)
{
    const char *choices = option->kind == EL_FLAG ? "off|on" : option->choices;
    switch (option->kind) {
    case EL_FLAG:
    case EL_CHOICE:
        if (read_choice(choices, value, number)) return true;
        snprintf(reason, size, "'%s' is one of %s, not '%s'", option->name, choices, value);
        return false;
    case EL_NUMBER:
        if (units_number(value, EL_EPOCH_MAX, number)) return true;
        snprintf(reason, size, "'%s' is a whole number below 2^53, not '%s'", option->name, value);
        return false;
    case EL_DURATION:
        if (units_time(value, number)) return true;
        snprintf(reason, size, "'%s' is a time with its unit, such as 150ms or 2s, not '%s'", option->name,
                 value);
        return false;
    case EL_MEMBERS: break;
    case EL_ROLES:
    case EL_OBSERVERS:
    case EL_VOTELESS_LIST:
        snprintf(reason, size, "'%s' follows from the members; write `role = ` in their sections",
                 option->name);
        return false;
    }
    snprintf(reason, size, "'%s' is a list of members, which cannot be set here", option->name);
    return false;
}

const char *units_write_time(el_duration time, char text[UNITS_TIME_TEXT])
{
    size_t i = sizeof units / sizeof *units - 1;
    while (i > 0 && time < units[i].ns) i--;
    uint64_t fraction = time % units[i].ns, place = units[i].ns / 10;
    int used = snprintf(text, UNITS_TIME_TEXT, "%" PRIu64, time / units[i].ns);
    if (fraction) used += snprintf(text + used, UNITS_TIME_TEXT - (size_t)used, ".");
    for (; fraction; fraction %= place, place /= 10)
        used += snprintf(text + used, UNITS_TIME_TEXT - (size_t)used, "%d", (int)(fraction / place));
    snprintf(text + used, UNITS_TIME_TEXT - (size_t)used, "%s", units[i].name);
    return text;
}
