/* Reads numbers and times that people type: decimals are exact, units are required, overflow is an error. */
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_digits(const char *text, uint64_t base, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    if (*text == '\0') return false;
    for (; *text; text++) {
        if (!is_digit(*text)) return false;
        const uint64_t digit = (uint64_t)(*text - '0');
        if (digit >= base || digit > most || value > (most - digit) / base) return false;
        value = value * base + digit;
    }
    *number = value;
    return true;
}

bool units_number(const char *text, uint64_t most, uint64_t *number)
{
    return read_digits(text, 10, most, number);
}

bool units_size(const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB"};
    const size_t digits = strspn(text, "0123456789");
    char number[24];
    uint64_t value;
    if (digits >= sizeof number) return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    for (unsigned i = 0; i < 4; i++) {
        const unsigned shift = 10 * i;
        if (strcmp(text + digits, names[i]) != 0) continue;
        if (!units_number(number, most >> shift, &value) || value << shift < least) return false;
        *bytes = value << shift;
        return true;
    }
    return false;
}

bool units_octal(const char *text, uint64_t most, uint64_t *number)
{
    return read_digits(text, 8, most, number);
}

/* Reads a decimal times `scale`, a power of ten, and moves *at past it. False if a fraction would remain. */
static bool read_decimal(const char **at, uint64_t scale, uint64_t *scaled)
{
    const char *p = *at;
    uint64_t value = 0;
    if (!is_digit(*p)) return false;
    for (; is_digit(*p); p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX / scale - digit) / 10) return false;
        value = value * 10 + digit;
    }
    value *= scale;
    if (*p == '.' && !is_digit(p[1])) return false;
    if (*p == '.')
        for (p++; is_digit(*p); p++) {
            scale /= 10;
            const uint64_t part = (uint64_t)(*p - '0') * scale;
            if ((scale == 0 && *p != '0') || value > UINT64_MAX - part) return false;
            value += part;
        }
    *scaled = value;
    *at = p;
    return true;
}

bool units_time(const char *text, el_duration *time)
{
    const char *suffix = text + strspn(text, "0123456789.");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const char *at = text;
        if (strcmp(suffix, units[i].name) != 0) continue;
        return read_decimal(&at, units[i].ns, time) && at == suffix && *time > 0 && *time <= UNITS_TIME_MAX;
    }
    return false;
}

bool units_millionths(const char *text, uint32_t most, uint32_t *millionths)
{
    uint64_t value = 0;
    if (!read_decimal(&text, 1000000, &value) || *text || value > most) return false;
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
