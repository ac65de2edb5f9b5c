/* Reading recorded arrivals: one time a line, strictly increasing. Errors name line and column. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/measure/qos.h"
#include "sim/plan/parse.h"

enum { SIZE_MAX_READ = 1 << 26, LINE_SHOWN = 24 };

struct reader {
    struct sim_arrivals *arrivals;
    size_t capacity;
    const char *path;
    struct sim_error *error;
    uint32_t line;
    uint64_t first, last; /* times as written, in nanoseconds */
    uint32_t last_line;
};

static int fail_at(const struct reader *r, size_t column, const char *what)
{
    snprintf(r->error->text, sizeof r->error->text, "%.200s:%u:%zu: %s", r->path, r->line, column, what);
    return -1;
}

static int fail(const struct reader *r, const char *what)
{
    snprintf(r->error->text, sizeof r->error->text, "%.200s: %s", r->path, what);
    return -1;
}

/* The error quotes the unexpected text, as far as it is printable. */
static int fail_expected(const struct reader *r, size_t column, const char *at, const char *end)
{
    char what[160], shown[LINE_SHOWN + 1] = "";
    for (size_t i = 0; at + i < end && i < LINE_SHOWN; i++) {
        shown[i] = at[i];
        if ((unsigned char)at[i] < ' ' || (unsigned char)at[i] > '~') shown[i] = '?';
    }
    snprintf(what, sizeof what,
             "expected a time in milliseconds such as 1042.5, and nothing behind it but a # comment, not '%s'",
             shown);
    return fail_at(r, column, what);
}

static int keep(struct reader *r, size_t column, uint64_t time)
{
    struct sim_arrivals *a = r->arrivals;
    if (a->count && time <= r->last) {
        char what[120];
        snprintf(what, sizeof what, "not after the arrival before it, in line %u; times increase strictly",
                 r->last_line);
        return fail_at(r, column, what);
    }
    if (a->count == 0) r->first = time;
    if (time - r->first > SIM_TIME_MAX)
        return fail_at(r, column,
                       "more than a hundred days after the first arrival; times are in milliseconds");
    if (a->count == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 1024;
        sim_time *times = realloc(a->times, capacity * sizeof *times);
        if (!times) return fail(r, "out of memory");
        a->times = times;
        r->capacity = capacity;
    }
    a->times[a->count++] = time - r->first;
    r->last = time;
    r->last_line = r->line;
    return 0;
}

/* Six decimals of a millisecond are nanoseconds. The line ends with a NUL at `end` and may contain others. */
static int read_line(struct reader *r, const char *line, const char *end)
{
    const char *at = line;
    uint64_t time = 0;
    r->line++;
    skip_space(&at);
    if (at == end || *at == '#') return 0;
    const char *start = at;
    const size_t column = (size_t)(start - line) + 1;
    if (!parse_millionths(&at, &time)) return fail_expected(r, column, start, end);
    skip_space(&at);
    if (at != end && *at != '#') return fail_expected(r, (size_t)(at - line) + 1, at, end);
    return keep(r, column, time);
}

static int read_text(struct reader *r, char *text, size_t size)
{
    for (char *line = text; line < text + size;) {
        char *end = memchr(line, '\n', (size_t)(text + size - line));
        char *next = end ? end + 1 : text + size;
        if (!end) end = text + size;
        if (end > line && end[-1] == '\r') end--;
        *end = '\0';
        if (read_line(r, line, end) != 0) return -1;
        line = next;
    }
    return r->arrivals->count >= 2 ? 0 : fail(r, "fewer than two arrivals; one to a line, in milliseconds");
}

static int read_file(struct reader *r, FILE *file)
{
    char *text = malloc(SIZE_MAX_READ + 1);
    if (!text) return fail(r, "out of memory");
    const size_t size = fread(text, 1, SIZE_MAX_READ, file);
    const int status = ferror(file)            ? fail(r, strerror(errno))
                       : size == SIZE_MAX_READ ? fail(r, "larger than a recording may be (64 MiB)")
                                               : read_text(r, text, size);
    free(text);
    return status;
}

int sim_arrivals_read(struct sim_arrivals *arrivals, const char *path, struct sim_error *error)
{
    struct reader reader = {.arrivals = arrivals, .path = path, .error = error};
    const bool standard = strcmp(path, "-") == 0;
    *arrivals = (struct sim_arrivals){0};
    FILE *file = standard ? stdin : fopen(path, "r");
    if (!file) return fail(&reader, strerror(errno));
    const int status = read_file(&reader, file);
    if (!standard) fclose(file);
    if (status != 0) sim_arrivals_free(arrivals);
    return status;
}

void sim_arrivals_free(struct sim_arrivals *arrivals)
{
    free(arrivals->times);
    *arrivals = (struct sim_arrivals){0};
}
