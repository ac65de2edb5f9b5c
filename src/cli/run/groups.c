/* See groups.h. A name is built in one buffer from the left; a brace recurses once for each of its words. */
#include "cli/run/groups.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/config.h"

enum { DIGITS_MAX = 9 };

struct expansion {
    struct run_groups *groups;
    const char *text; /* all of it, for messages */
    char *problem;
    size_t size;
    char name[RUN_GROUP_MAX + 1];
};

static bool complain(const struct expansion *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool complain(const struct expansion *e, const char *format, ...)
{
    char why[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (strcmp(e->text, e->name) == 0) /* the message names it already */
        snprintf(e->problem, e->size, "%s", why);
    else
        snprintf(e->problem, e->size, "'%.80s': %s", e->text, why);
    return false;
}

static bool add(const struct expansion *e)
{
    struct run_groups *groups = e->groups;
    if (!group_name_is_valid_up_to(e->name, RUN_GROUP_MAX)) /* an agent takes shorter ones only, and says so */
        return complain(
            e,
            "'%.40s' is not a valid group name: 1 to %d letters, digits and . _ - : /, not beginning with - or .; "
            "with locks up to %d",
            e->name, GROUP_NAME_MAX, RUN_GROUP_MAX);
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->names[i], e->name) == 0) return complain(e, "%s is named twice", e->name);
    if (groups->count == RUN_GROUPS_MAX) return complain(e, "more than %d groups", RUN_GROUPS_MAX);
    snprintf(groups->names[groups->count++], sizeof groups->names[0], "%s", e->name);
    return true;
}

static bool expand(struct expansion *, size_t used, const char *rest, const char *end);

/* Appends a word at `used`, and expands the rest. */
static bool append(struct expansion *e, size_t used, const char *word, size_t length, const char *rest,
                   const char *end)
{
    if (used + length > RUN_GROUP_MAX) return complain(e, "a name has at most %d characters", RUN_GROUP_MAX);
    memcpy(e->name + used, word, length);
    e->name[used + length] = '\0';
    return expand(e, used + length, rest, end);
}

/* "007" within a brace; false: not a number. */
static bool read_number(const char *from, const char *to, long *number)
{
    char digits[DIGITS_MAX + 1] = "";
    const size_t length = (size_t)(to - from);
    if (length == 0 || length > DIGITS_MAX) return false;
    memcpy(digits, from, length);
    if (strspn(digits, "0123456789") != length) return false;
    *number = strtol(digits, NULL, 10);
    return true;
}

static bool expand_range(struct expansion *e, size_t used, const char *open, const char *dots,
                         const char *close, const char *end)
{
    long first, last;
    if (!read_number(open, dots, &first) || !read_number(dots + 2, close, &last) || last < first)
        return complain(e, "a range is {FIRST..LAST}: rising whole numbers of at most %d digits", DIGITS_MAX);
    const int width = *open == '0' ? (int)(dots - open) : 1;
    for (long number = first; number <= last; number++) {
        char word[DIGITS_MAX + 3];
        const int length = snprintf(word, sizeof word, "%0*ld", width, number);
        if (!append(e, used, word, (size_t)length, close + 1, end))
            return false; /* as soon as there are too many */
    }
    return true;
}

static bool expand_words(struct expansion *e, size_t used, const char *open, const char *close, const char *end)
{
    for (const char *word = open; word <= close;) {
        const char *comma = memchr(word, ',', (size_t)(close - word));
        if (!comma) comma = close;
        if (!append(e, used, word, (size_t)(comma - word), close + 1, end)) return false;
        word = comma + 1;
    }
    return true;
}

static const char *find_dots(const char *from, const char *to)
{
    for (; from + 1 < to; from++)
        if (from[0] == '.' && from[1] == '.') return from;
    return NULL;
}

/* Expands `rest` up to `end`, after the `used` characters of the name. */
static bool expand(struct expansion *e, size_t used, const char *rest, const char *end)
{
    const char *open = memchr(rest, '{', (size_t)(end - rest));
    const char *stray = memchr(rest, '}', (size_t)((open ? open : end) - rest));
    if (stray) return complain(e, "a } without {");
    if (open && open != rest) return append(e, used, rest, (size_t)(open - rest), open, end);
    if (!open && rest != end) return append(e, used, rest, (size_t)(end - rest), end, end);
    if (!open) return add(e);
    const char *inside = open + 1, *close = memchr(inside, '}', (size_t)(end - inside));
    const char *again = memchr(inside, '{', (size_t)((close ? close : end) - inside));
    if (!close || again) return complain(e, "a { without }, or nested braces");
    const char *dots = find_dots(inside, close);
    if (dots) return expand_range(e, used, inside, dots, close, end);
    return expand_words(e, used, inside, close, end);
}

bool run_groups_add(struct run_groups *groups, const char *text, char *problem, size_t size)
{
    struct expansion e = {.groups = groups, .text = text, .size = size};
    e.problem = problem;
    for (const char *from = text;;) {
        const char *end = from;
        bool inside = false;
        for (; *end && (inside || *end != ','); end++) {
            if (*end == '{') inside = true;
            if (*end == '}') inside = false;
        }
        e.name[0] = '\0';
        if (!expand(&e, 0, from, end)) return false;
        if (!*end) return true;
        from = end + 1;
    }
}
