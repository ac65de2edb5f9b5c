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
#include "base/log/outlet.h"

static _Atomic bool as_json, is_verbose; /* the outlet's thread reads them, too */

bool log_is_verbose(void)
{
    return is_verbose;
}

/* ---- A line that is written bit by bit. What does not fit is left out, but never the end of the line. ---- */

enum { END_MAX = 4 }; /* a quote, a brace, a newline, and the zero */

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

static void compose(struct line *line, enum log_level level, const char *group, const char *text)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    const uint64_t now = clock_wall_ns();
    const time_t seconds = (time_t)(now / NS_PER_S);
    const bool json = as_json;
    char when[32], head[96];
    struct tm broken;
    gmtime_r(&seconds, &broken);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &broken);
    snprintf(head, sizeof head, json ? "{\"ts\":\"%s.%03ldZ\",\"level\":\"%s\"" : "ts=%s.%03ldZ level=%s", when,
             (long)(now % NS_PER_S / NS_PER_MS), names[level]);
    line->size = 0;
    add_text(line, head);
    if (group) {
        add_text(line, json ? ",\"group\":" : " group=");
        add_quoted(line, group);
    }
    add_text(line, json ? ",\"msg\":" : " msg=");
    add_quoted(line, text);
    (void)add(line, json ? "}\n" : "\n", json ? 2 : 1, 0);
}

/* ---- To the outlet ---- */

static size_t tell_of_lost(char *text, size_t size, uint64_t lost)
{
    struct line line;
    char words[80];
    snprintf(words, sizeof words, "%llu lines of this log are lost: standard error was blocked",
             (unsigned long long)lost);
    compose(&line, LOG_WARN_LEVEL, NULL, words);
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

void log_event(enum log_level level, const char *group, const char *format, ...)
{
    struct line line;
    char text[512];
    va_list arguments;
    if (level == LOG_DEBUG_LEVEL && !is_verbose) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    compose(&line, level, group, text);
    outlet_put(line.text, line.size);
}
