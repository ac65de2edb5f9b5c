/* See log.h. */
#define _DEFAULT_SOURCE
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static bool as_json, is_verbose;

void log_set(bool json, bool verbose)
{
    as_json = json;
    is_verbose = verbose;
}

bool log_is_verbose(void)
{
    return is_verbose;
}

/* Escapes quotes, backslashes and control characters, so that no text can forge a second line or field. */
static void put_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

void log_event(enum log_level level, const char *group, const char *format, ...)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    char text[512], when[32], line[2048];
    const uint64_t now = clock_wall_ns();
    const time_t seconds = (time_t)(now / NS_PER_S);
    struct tm broken;
    va_list arguments;
    if (level == LOG_DEBUG_LEVEL && !is_verbose) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gmtime_r(&seconds, &broken);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &broken);
    FILE *to = fmemopen(line, sizeof line, "w"); /* one write per line: others write to stderr too */
    if (!to) return;
    fprintf(to, as_json ? "{\"ts\":\"%s.%03ldZ\",\"level\":\"%s\"" : "ts=%s.%03ldZ level=%s", when,
            (long)(now % NS_PER_S / NS_PER_MS), names[level]);
    if (group) {
        fputs(as_json ? ",\"group\":" : " group=", to);
        put_quoted(to, group);
    }
    fputs(as_json ? ",\"msg\":" : " msg=", to);
    put_quoted(to, text);
    fputs(as_json ? "}\n" : "\n", to);
    const long size = ftell(to);
    fclose(to);
    if (size > 0) fwrite(line, 1, (size_t)size, stderr);
}
