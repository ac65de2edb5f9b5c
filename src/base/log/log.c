/* See log.h. */
#define _DEFAULT_SOURCE
#include "base/log/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/group_name.h"
#include "base/log/outlet.h"

static _Atomic bool as_json, is_verbose, is_terse; /* the outlet's thread reads them, too */

bool log_is_verbose(void)
{
    return is_verbose;
}

/* ---- A line that is written bit by bit. What does not fit is left out, but never the end of the line. ---- */

enum {
    END_MAX = 4, /* a quote, a brace, a newline, and the zero */
    WAITING_MAX = 32
};

struct event {
    uint64_t wall_ns;
    enum log_level level;
    bool has_group;
    char group[2 * GROUP_NAME_MAX];
    char text[512];
};

struct line {
    char text[OUTLET_LINE_MAX];
    size_t size;
};

static bool add(struct line *line, const char *text, size_t size, size_t kept)
{
    if (line->size + size + kept > sizeof line->text) return false;
    memcpy(line->text + line->size, text, size);
    line->size += size;
    return true;
}

static void add_text(struct line *line, const char *text)
{
    (void)add(line, text, strlen(text), END_MAX);
}

/* Escapes quotes, backslashes and control characters, so that no text can forge a second line or field. */
static bool add_escaped(struct line *line, unsigned char c)
{
    char text[8] = {(char)c};
    int size = 1;
    if (c == '"' || c == '\\')
        size = snprintf(text, sizeof text, "\\%c", c);
    else if (c < 0x20 || c == 0x7F)
        size = snprintf(text, sizeof text, "\\u%04x", c);
    return add(line, text, (size_t)size, END_MAX);
}

static void add_quoted(struct line *line, const char *text)
{
    add_text(line, "\"");
    while (*text && add_escaped(line, (unsigned char)*text)) text++;
    (void)add(line, "\"", 1, END_MAX - 1);
}

static void compose(struct line *line, const struct event *event)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    const uint64_t now = event->wall_ns;
    const time_t seconds = (time_t)(now / NS_PER_S);
    const bool json = as_json;
    char when[32], head[96];
    struct tm broken;
    gmtime_r(&seconds, &broken);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &broken);
    snprintf(head, sizeof head, json ? "{\"ts\":\"%s.%03ldZ\",\"level\":\"%s\"" : "ts=%s.%03ldZ level=%s", when,
             (long)(now % NS_PER_S / NS_PER_MS), names[event->level]);
    line->size = 0;
    add_text(line, head);
    if (event->has_group) {
        add_text(line, json ? ",\"group\":" : " group=");
        add_quoted(line, event->group);
    }
    add_text(line, json ? ",\"msg\":" : " msg=");
    add_quoted(line, event->text);
    (void)add(line, json ? "}\n" : "\n", json ? 2 : 1, 0);
}

/* ---- To the outlet ---- */

static size_t tell_of_lost(char *text, size_t size, uint64_t lost)
{
    struct line line;
    struct event event = {.level = LOG_WARN_LEVEL, .wall_ns = clock_wall_ns()};
    snprintf(event.text, sizeof event.text, "%llu lines of this log are lost: standard error was blocked",
             (unsigned long long)lost);
    compose(&line, &event);
    if (line.size > size) return 0;
    memcpy(text, line.text, line.size);
    return line.size;
}

void log_set(bool json, bool verbose)
{
    as_json = json;
    is_verbose = verbose;
    outlet_set_notice(tell_of_lost);
}

void log_only_warnings(void)
{
    is_terse = true;
}

static void put(const struct event *event)
{
    struct line line;
    compose(&line, event);
    outlet_put(line.text, line.size);
}

/* ---- Events that wait ---- */

/* Of the one thread that defers. */
static _Thread_local bool defers;
static struct event waiting[WAITING_MAX];
static uint32_t waiting_count;
static uint64_t waits_since_ns;

static void put_waiting(void)
{
    for (uint32_t i = 0; i < waiting_count; i++) put(&waiting[i]);
    waiting_count = 0;
}

void log_defer(bool wanted)
{
    if (defers) put_waiting();
    defers = wanted;
}

uint64_t log_tick(uint64_t now_ns)
{
    const uint64_t due = waits_since_ns + LOG_DEFER_MS * NS_PER_MS;
    if (!defers || waiting_count == 0) return UINT64_MAX;
    if (now_ns < due) return due;
    put_waiting();
    return UINT64_MAX;
}

void log_event(enum log_level level, const char *group, const char *format, ...)
{
    struct event here = {0}, *event = defers ? &waiting[waiting_count] : &here;
    va_list arguments;
    if (level == LOG_DEBUG_LEVEL && !is_verbose) return;
    if (level == LOG_INFO_LEVEL && is_terse) return;
    event->level = level;
    event->wall_ns = clock_wall_ns();
    event->has_group = group;
    if (group) snprintf(event->group, sizeof event->group, "%s", group);
    va_start(arguments, format);
    vsnprintf(event->text, sizeof event->text, format, arguments);
    va_end(arguments);
    if (!defers) {
        put(event);
        return;
    }
    if (waiting_count++ == 0) waits_since_ns = clock_boottime_ns();
    if (level == LOG_ERROR_LEVEL || waiting_count == WAITING_MAX) put_waiting();
}
